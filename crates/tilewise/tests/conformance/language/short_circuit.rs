//! `&&` and `||`: the right side is evaluated only where it matters.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

same_as_rust! {
    fn values(a: bool, b: bool) -> u32 {
        let and = a && b;
        let or = a || b;
        let both = a && b || !a && !b;
        let nested = (a || b) && !(a && b);
        let mixed = a || true && b;
        and as u32 + 2 * or as u32 + 4 * both as u32 + 8 * nested as u32 + 16 * mixed as u32
    }
    for [(false, false), (false, true), (true, false), (true, true)];

    fn side_effects(x: i32) -> i32 {
        let mut count = 0;
        let a = x > 0 && {
            count += 1;
            x > 5
        };
        let b = a || {
            count += 10;
            x == 0
        };
        if b && {
            count += 100;
            true
        } {
            count += 1000;
        }
        count
    }
    for [-1, 0, 1, 6];

    fn division_is_guarded(x: i32) -> i32 {
        let mut n = 0;
        if x != 0 && 100 / x > 7 {
            n += 1;
        }
        while x == 0 || 100 % x == 0 {
            n += 10;
            if n > 35 {
                break;
            }
        }
        n
    }
    for [0, 7, 10, 100];
}

/// Loads outside the tensor would be faults.
#[kernel]
fn guarded_loads(out: &mut TileTensor<i32, 1>, a: &TileTensor<i32, 1>, n: usize) {
    let i = thread_idx().x;
    if i < n && a[i] > 2 && (i + 1 >= n || a[i + 1] > 2) {
        out[i] = 1;
    }
    let last = i >= n || a[i] == 9;
    if !last {
        out[i] += 10;
    }
}

#[test]
fn loads_on_the_right_side_are_not_made() {
    each_device(|ctx| {
        let a = vector(ctx, &[1, 3, 5, 2, 9])?;
        let mut out = zeros(ctx, 8)?;
        ctx.enqueue_function(guarded_loads(&mut out, &a, 5), grid_dim(1), block_dim(8))?;
        assert_eq!(out.to_host()?, [10, 11, 10, 10, 1, 0, 0, 0]);
        Ok(())
    });
}
