//! Division and remainder.

use tilewise::ir::FaultKind;
use tilewise::prelude::*;

use crate::harness::{each_device, fault, source_line, vector, zeros};
use crate::operands::{binary, constant, unary};

/// DIV-1
#[test]
fn quotients_truncate_and_remainders_have_the_sign_of_the_dividend() {
    let operands = [(-17, 5), (17, -5), (-17, -5), (-1, 7), (2_147_483_647, -2), (-2_147_483_648, 3)];
    each_device(|ctx| {
        let quotients = binary(ctx, |a: Val<i32>, b: Val<i32>| a / b, &operands)?;
        assert_eq!(quotients, [-3, -3, 3, 0, -1_073_741_823, -715_827_882]);
        let remainders = binary(ctx, |a: Val<i32>, b: Val<i32>| a % b, &operands)?;
        assert_eq!(remainders, [-2, 2, -2, -1, 1, -2]);
        let quotients = binary(ctx, |a: Val<i32>, b: Val<i32>| a.div_euclid(b), &operands)?;
        assert_eq!(quotients, [-4, -3, 4, -1, -1_073_741_823, -715_827_883]);
        let remainders = binary(ctx, |a: Val<i32>, b: Val<i32>| a.rem_euclid(b), &operands)?;
        assert_eq!(remainders, [3, 2, 3, 6, 1, 1]);
        Ok(())
    });
}

/// DIV-3
#[test]
fn rounding_up_does_not_overflow() {
    each_device(|ctx| {
        let operands = [(4_294_967_295u32, 256u32), (0, 256), (4_294_967_040, 256)];
        let rounded = binary(ctx, |a: Val<u32>, b: Val<u32>| a.div_ceil(b), &operands)?;
        assert_eq!(rounded, [16_777_216, 0, 16_777_215]);
        Ok(())
    });
}

#[test]
fn the_least_integer_over_minus_one_wraps() {
    each_device(|ctx| {
        let quotient = |a: Val<i32>, b: Val<i32>| a / b;
        assert_eq!(binary(ctx, quotient, &[(i32::MIN, -1)])?, [i32::MIN]);
        let remainder = |a: Val<i8>, b: Val<i8>| a % b;
        assert_eq!(binary(ctx, remainder, &[(i8::MIN, -1)])?, [0]);
        Ok(())
    });
}

/// Quotients and remainders by constants that are powers of two, or that look like one.
#[test]
fn powers_of_two() {
    macro_rules! check {
        ($ctx:ident, $int:ident) => {{
            let values =
                [0, 1, 2, 3, 100, $int::MAX, $int::MAX - 1, $int::MIN, $int::MIN + 1, 0 - ($int::MIN >> 7)];
            for divisor in [1, 2, 1 << ($int::BITS - 2), 1 << ($int::BITS - 1)] {
                let both = |a: Val<$int>| a / constant(divisor) * 7 + a % constant(divisor);
                let expected = values.map(|a: $int| {
                    a.wrapping_div(divisor).wrapping_mul(7).wrapping_add(a.wrapping_rem(divisor))
                });
                assert_eq!(unary($ctx, both, &values)?, expected, "by {divisor}");
            }
        }};
    }
    each_device(|ctx| {
        check!(ctx, i8);
        check!(ctx, i32);
        check!(ctx, i64);
        check!(ctx, u16);
        check!(ctx, u32);
        check!(ctx, u64);
        Ok(())
    });
}

#[kernel]
fn divide(out: &mut TileTensor<i32, 1>, a: &TileTensor<i32, 1>, b: &TileTensor<i32, 1>) {
    let i = thread_idx().x;
    out[i] = a[i] / b[i];
}

#[test]
fn division_by_zero_is_a_fault_of_the_thread_that_divides() {
    each_device(|ctx| {
        let (a, b) = (vector(ctx, &[8, 9, 10, 12])?, vector(ctx, &[2, 3, 0, 4])?);
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(divide(&mut out, &a, &b), grid_dim(1), block_dim(4))?;
        let report = fault(ctx);
        assert_eq!(report.fault.kind, FaultKind::DivisionByZero);
        assert_eq!((report.fault.thread, report.more), ([2, 0, 0], 0));
        assert_eq!(source_line(&report.fault), "out[i] = a[i] / b[i];");
        let out = out.to_host()?;
        assert_eq!((out[0], out[1], out[3]), (4, 3, 3));
        Ok(())
    });
}
