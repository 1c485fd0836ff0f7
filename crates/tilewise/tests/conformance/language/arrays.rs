//! Arrays: in registers where indices are constants, in local memory where they are values.

use tilewise::ir::FaultKind;
use tilewise::prelude::*;

use crate::harness::{each_device, fault, source_line, zeros};

same_as_rust! {
    fn constant_indices(x: i32) -> i32 {
        let mut a = [0; 4];
        a[0] = x;
        a[1] = a[0] * 2;
        a[2] += a[1] + 1;
        a[3] -= 5;
        a[3] *= 2;
        a[0] * 1000 + a[1] * 100 + a[2] * 10 + a[3]
    }
    for [0, 1, -4];

    fn indices_that_are_values(x: usize) -> usize {
        let mut a = [0; 8];
        for i in 0..8 {
            a[i] = i * i;
        }
        a[x] += 100;
        a[7 - x] = a[x] + a[0];
        let mut sum = 0;
        for i in (0..8).rev() {
            sum = sum * 7 + a[i];
        }
        sum
    }
    for [0, 1, 4, 7];

    fn mixed_indices(x: usize) -> i32 {
        let mut a = [1, 2, 3, 4, 5];
        a[x] = 10;
        a[2] = a[x] + a[2];
        let y = a[(x + 1) % 5];
        a[0] * 10_000 + a[2] * 100 + y
    }
    for [0, 1, 2, 3, 4];

    fn plain_arrays_are_indexed_by_values(x: usize) -> i32 {
        let table = [3, 1, 4, 1, 5, 9, 2, 6];
        let squares = [0.0f32, 1.0, 4.0, 9.0];
        table[x] * 10 + table[7 - x] + squares[x % 4] as i32
    }
    for [0, 1, 5, 7];

    fn nested_arrays(x: usize) -> i32 {
        let mut a = [[0; 3]; 2];
        for i in 0..2 {
            for j in 0..3 {
                a[i][j] = (10 * i + j) as i32;
            }
        }
        a[x % 2][x % 3] += 100;
        a[1][x % 3] -= 3;
        a[x % 2][1] *= 2;
        a[0][0] = 7;
        let row = a[x % 2];
        let mut sum = 0;
        for i in 0..2 {
            for j in 0..3 {
                sum = sum * 5 + a[i][j];
            }
        }
        sum + row[0] + row[x % 3]
    }
    for [0, 1, 2, 3, 4, 5];

    /// An index of which a driver of NVIDIA has taken the last bit for 1.
    fn places_by_last_bits(x: u64) -> u32 {
        let mut places = [0u32; 6];
        places[(x % 2 * 3 + x % 3) as usize] = 1;
        let mut sum = 0;
        for i in 0..6 {
            sum = sum * 3 + places[i];
        }
        sum
    }
    for [0, 1, 2, 3, 4, 5, 1 << 40, u64::MAX];

    fn three_deep(x: usize) -> usize {
        let mut a = [[[0; 2]; 3]; 4];
        for i in 0..4 {
            for j in 0..3 {
                for k in 0..2 {
                    a[i][j][k] = 100 * i + 10 * j + k;
                }
            }
        }
        a[x % 4][2][x % 2] = 999;
        a[3][x % 3][1] += 5;
        a[x % 4][x % 3][x % 2] * 1000 + a[3][2][1] + a[1][x % 3][0]
    }
    for [0, 1, 2, 3, 7, 11];

    fn arrays_are_copied(x: i32) -> i32 {
        let mut a = [x, 2, 3];
        let b = a;
        a[0] = 50;
        let mut c = b;
        c[1] += a[0];
        a = c;
        a[2] += b[2];
        a[0] * 10_000 + a[1] * 100 + a[2] + b[0]
    }
    for [0, 1, -3];

    fn arrays_are_iterated(x: i32) -> i32 {
        let mut a = [1, 2, 3];
        a[1] = x;
        let mut sum = 0;
        for v in a {
            sum = sum * 3 + v;
        }
        for v in &a {
            sum = sum * 3 + *v;
        }
        for (k, v) in a.iter().enumerate() {
            sum += *v * (k as i32 + 1);
        }
        sum
    }
    for [0, 5, -8];

    fn rows_are_assigned_whole(x: usize) -> i32 {
        let mut a = [[1, 2], [3, 4], [5, 6]];
        a[x % 3] = [7, 8];
        let first = a[0];
        a[(x + 1) % 3] = first;
        a[0][0] * 100_000 + a[0][1] * 10_000 + a[1][0] * 1000 + a[1][1] * 100 + a[2][0] * 10 + a[2][1]
    }
    for [0, 1, 2];

    fn tuples_in_arrays_in_tuples(x: usize) -> i32 {
        let mut t = ([(1, 2.0f32), (3, 4.0)], 5);
        t.0[0].0 += 10;
        t.1 += x as i32;
        t.0[1].1 *= 2.0;
        let (pair, five) = t;
        pair[0].0 * 100 + pair[1].1 as i32 * 10 + five
    }
    for [0, 3];

    fn sorted(x: u32) -> u32 {
        let mut a = [5, 1, 4, 2, 3];
        a[0] = x;
        for i in 1..5 {
            let v = a[i];
            let mut j = i;
            while j > 0 && a[j - 1] > v {
                a[j] = a[j - 1];
                j -= 1;
            }
            a[j] = v;
        }
        let mut n = 0;
        for i in 0..5 {
            n = n * 10 + a[i];
        }
        n
    }
    for [0, 2, 5, 9];
}

#[kernel]
fn outside(out: &mut TileTensor<i32, 1>, i: usize, j: usize) {
    let mut a = [[1, 2, 3], [4, 5, 6]];
    out[0] = a[i][j];
    a[j][i] = 70;
    out[1] = a[0][0] + a[1][2];
}

/// Outside an array reads give zero and writes do nothing.
#[test]
fn an_index_outside_an_array_is_a_fault() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 2)?;
        ctx.enqueue_function(outside(&mut out, 1, 1), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [5, 7]);

        ctx.enqueue_function(outside(&mut out, 1, 3), grid_dim(1), block_dim(1))?;
        let report = fault(ctx);
        let FaultKind::OutOfBounds { tensor, index: 3, extent: 3, .. } = &report.fault.kind else {
            panic!("{}", report.fault)
        };
        assert_eq!(tensor, "a");
        assert_eq!(source_line(&report.fault), "out[0] = a[i][j];");
        assert_eq!(report.more, 1);
        assert_eq!(out.to_host()?, [0, 7]);
        Ok(())
    });
}
