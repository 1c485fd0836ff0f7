//! `while`, `loop`, `for`: over ranges of the device and over values of the host; labels.

use tilewise::ir::FaultKind;
use tilewise::prelude::*;

use crate::harness::{each_device, fault, source_line, zeros};

same_as_rust! {
    fn while_loop(x: u32) -> u32 {
        let mut n = x;
        let mut sum = 0;
        while n > 0 && sum < 1000 {
            sum += n;
            n -= 1;
        }
        sum
    }
    for [0, 1, 10, 100];

    fn while_with_a_changing_condition(x: u32) -> u32 {
        let (mut a, mut b) = (x, 36);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    }
    for [1, 24, 35, 72];

    #[allow(while_true)]
    fn while_true(x: u32) -> u32 {
        let mut n = 0;
        while true {
            n += x;
            if n > 100 {
                break;
            }
        }
        n
    }
    for [1, 7, 200];

    fn loop_with_a_value(x: i32) -> i32 {
        let mut k = x;
        let found = loop {
            k += 3;
            if k % 7 == 0 {
                break k;
            }
            if k > 100 {
                break -1;
            }
        };
        found * 2
    }
    for [0, 1, 2, 99, 98];

    fn loop_with_a_tuple(x: i32) -> i32 {
        let mut k = 0;
        let (a, b) = loop {
            k += 1;
            if k * k > x {
                break (k, k * k - x);
            }
        };
        a * 100 + b
    }
    for [0, 1, 15, 16, 99];

    fn labels(x: i32) -> i32 {
        let mut count = 0;
        'rows: for i in 0..6 {
            'cols: for j in 0..6 {
                let mut k = 0;
                loop {
                    k += 1;
                    if k + i == x {
                        continue 'rows;
                    }
                    if k + j > 5 {
                        continue 'cols;
                    }
                    if i * j == x {
                        break 'rows;
                    }
                    if k > 3 {
                        break;
                    }
                    count += 1;
                }
                while k > 0 {
                    k -= 1;
                    if k == x {
                        break 'cols;
                    }
                    count += 10;
                }
            }
            count += 100;
        }
        count
    }
    for [-1, 0, 1, 2, 3, 4, 8, 100];

    fn labelled_blocks(x: i32) -> i32 {
        let a = 'block: {
            if x < 0 {
                break 'block -1;
            }
            for k in 0..x {
                if k * k > 20 {
                    break 'block k;
                }
            }
            7
        };
        let mut b = 0;
        'outer: {
            b += 1;
            'inner: {
                if x == 2 {
                    break 'outer;
                }
                if x == 3 {
                    break 'inner;
                }
                b += 10;
            }
            b += 100;
        }
        a * 1000 + b
    }
    for [-5, 0, 2, 3, 4, 10];

    fn a_value_breaks_out_of_an_outer_loop(x: i32) -> i32 {
        let r = 'outer: loop {
            let mut k = 0;
            while k < 10 {
                k += 1;
                for z in (0..k).rev() {
                    if z * k == x {
                        break 'outer z * 100 + k;
                    }
                }
            }
            break -1;
        };
        r
    }
    for [0, 6, 12, 72, 90, 91];

    fn ranges(x: i32) -> i32 {
        let mut sum = 0;
        for i in 0..x {
            sum = sum * 3 + i;
        }
        for i in x..=3 {
            sum = sum * 2 + i;
        }
        for i in -2..2 {
            sum += i * x;
        }
        for _ in 0..3 {
            sum += 1;
        }
        sum
    }
    for [-1, 0, 1, 5, 8];

    fn reversed_and_stepped(x: i32) -> i32 {
        let mut sum = 0;
        for i in (0..x).rev() {
            sum = (sum * 3 + i) % 100_003;
        }
        for i in (0..x).step_by(3) {
            sum = (sum * 3 + i) % 100_003;
        }
        for i in (0..x).rev().step_by(2) {
            sum = (sum * 3 + i) % 100_003;
        }
        for i in (0..x).step_by(2).rev() {
            sum = (sum * 3 + i) % 100_003;
        }
        for i in (1..=x).step_by(4) {
            sum = (sum * 3 + i) % 100_003;
        }
        for i in (1..=x).rev() {
            sum = (sum * 3 + i) % 100_003;
        }
        for i in (1..=x).rev().step_by(5) {
            sum = (sum * 3 + i) % 100_003;
        }
        sum
    }
    for [-3, 0, 1, 2, 3, 6, 7, 20];

    fn the_whole_of_i8(x: i8) -> i32 {
        let mut sum = 0;
        for i in i8::MIN..=i8::MAX {
            sum += i as i32 * x as i32;
            sum += 1;
        }
        for i in (i8::MIN..x).rev() {
            sum = sum ^ i as i32;
        }
        for i in (x..=i8::MAX).step_by(100) {
            sum = sum * 3 + i as i32;
        }
        for i in (x..=i8::MAX).step_by(100).rev() {
            sum = sum * 3 + i as i32;
        }
        sum
    }
    for [-128, -1, 0, 100, 127];

    fn the_ends_of_u8(x: u8) -> u32 {
        let mut sum = 0;
        for i in x..=255 {
            sum += i as u32 + 1;
        }
        for i in (x..255).step_by(200) {
            sum = sum * 2 + i as u32;
        }
        for i in (0..=x).rev().step_by(101) {
            sum = sum * 2 + i as u32;
        }
        sum
    }
    for [0, 1, 100, 254, 255];

    fn the_ends_of_i64(x: i64) -> i64 {
        let mut sum = 0;
        for i in i64::MAX - 3..=i64::MAX {
            sum = sum ^ i;
        }
        for i in (i64::MIN..=i64::MIN + x).rev() {
            sum = sum ^ (i >> 1);
        }
        for i in (i64::MIN..i64::MAX).step_by(4_611_686_018_427_387_904) {
            sum = sum ^ (i >> 3);
        }
        sum
    }
    for [0, 1, 2];

    fn the_variable_of_a_range_may_be_changed(x: i32) -> i32 {
        let mut sum = 0;
        for mut i in 0..x {
            i *= 2;
            i += 1;
            sum += i;
        }
        sum
    }
    for [0, 1, 7];

    fn bounds_are_evaluated_once(x: i32) -> i32 {
        let mut end = x;
        let mut rounds = 0;
        for _ in 0..end {
            end += 1;
            rounds += 1;
        }
        rounds * 100 + end
    }
    for [0, 1, 5];

    fn empty_loops_leave_everything(x: u32) -> u32 {
        let mut v = x;
        for i in 5..3 {
            v += i;
        }
        for i in (x..x).rev() {
            v += i;
        }
        while v > 1000 {
            v = 0;
        }
        v
    }
    for [0, 3, 1000];
}

same_as_rust! {
    fn break_and_continue_in_each_kind(x: u32) -> u32 {
        let mut sum = 0;
        for i in 0..10 {
            if i == x {
                continue;
            }
            if i > x + 4 {
                break;
            }
            sum += i;
        }
        let mut k = 0;
        while k < 10 {
            k += 1;
            if k == x {
                continue;
            }
            if k > x + 4 {
                break;
            }
            sum += 100 * k;
        }
        for i in (0..10).rev() {
            if i == x {
                continue;
            }
            if i + 3 < x {
                break;
            }
            sum += 10_000 * i;
        }
        sum
    }
    for [0, 1, 5, 9, 20];
}

#[kernel]
fn stepped_by(out: &mut TileTensor<i32, 1>, step: i32) {
    for i in (0..5).step_by(step) {
        out[0] += i + 1;
    }
    out[1] = 7;
}

#[test]
fn a_step_that_is_not_positive_is_a_fault() {
    each_device(|ctx| {
        for (step, expected) in [(2, [9, 7]), (0, [0, 7]), (-2, [0, 7])] {
            let mut out = zeros(ctx, 2)?;
            ctx.enqueue_function(stepped_by(&mut out, step), grid_dim(1), block_dim(1))?;
            if step <= 0 {
                let fault = fault(ctx).fault;
                assert_eq!(fault.kind, FaultKind::RangeStep { step: step.into() });
                assert_eq!(source_line(&fault), "for i in (0..5).step_by(step) {");
            }
            assert_eq!(out.to_host()?, expected, "step {step}");
        }
        Ok(())
    });
}
