//! `as` between all pairs of types, against Rust's own `as`.

use std::fmt::Debug;

use tilewise::prelude::*;

use crate::harness::{assert_same, each_device, vector};
use crate::operands::{constant, unary};

#[device]
fn convert<A: Element, R: Element>(x: A) -> R {
    x as R
}

/// CAST-1
#[test]
fn floats_to_integers_truncate_and_saturate() {
    let x = [3.99f32, -3.99, 3e9, -3e9, 2_147_483_648.0, f32::NAN, f32::INFINITY, -0.6];
    each_device(|ctx| {
        let signed = unary(ctx, convert::<f32, i32>, &x)?;
        assert_eq!(signed, [3, -3, 2_147_483_647, -2_147_483_648, 2_147_483_647, 0, 2_147_483_647, 0]);
        let unsigned = unary(ctx, convert::<f32, u32>, &x)?;
        assert_eq!(unsigned, [3, 0, 3_000_000_000, 0, 2_147_483_648, 0, 4_294_967_295, 0]);
        assert_eq!(unary(ctx, convert::<f32, u8>, &x)?, [3, 0, 255, 0, 255, 0, 255, 0]);
        assert_eq!(unary(ctx, convert::<f32, i8>, &x)?, [3, -3, 127, -128, 127, 0, 127, 0]);
        Ok(())
    });
}

/// CAST-3
#[test]
fn integers_to_floats_round_to_nearest_even() {
    each_device(|ctx| {
        let rounded = unary(ctx, convert::<u32, f32>, &[16_777_217, 16_777_219, 4_294_967_295])?;
        assert_eq!(rounded, [16_777_216.0, 16_777_220.0, 4_294_967_296.0]);
        assert_eq!(unary(ctx, convert::<i32, f32>, &[-16_777_217])?, [-16_777_216.0]);
        let rounded = unary(ctx, convert::<i64, f64>, &[9_007_199_254_740_993, 9_007_199_254_740_995])?;
        assert_eq!(rounded, [9_007_199_254_740_992.0, 9_007_199_254_740_996.0]);
        Ok(())
    });
}

/// Row 0 is converted thread by thread, row 1 as lanes, row 2 from constants.
#[kernel]
fn convert_all<A: Element, R: Element, const N: usize>(
    out: &mut TileTensor<R, 2>,
    a: &TileTensor<A, 1>,
    #[comptime] plain: [A; N],
) {
    let i = thread_idx().x;
    out[[0, i]] = a[i] as R;
    if i == 0 {
        out.store([1, 0], a.load(0, N) as R);
        for k in comptime(0..N) {
            out[[2, k]] = constant(plain[k]) as R;
        }
    }
}

fn check<A: Element + Debug, R: Element + Debug, const N: usize>(
    ctx: &DeviceContext,
    inputs: [A; N],
    in_rust: impl Fn(A) -> R,
) -> tilewise::Result<()> {
    let mut out = ctx.zeros(row_major([3, N]))?;
    let a = vector(ctx, &inputs)?;
    ctx.enqueue_function(convert_all::<A, R, N>(&mut out, &a, inputs), grid_dim(1), block_dim(N))?;
    let expected = inputs.map(in_rust);
    for (found, way) in out.to_host()?.chunks(N).zip(["buffers", "lanes", "constants"]) {
        let (from, to) = (A::SCALAR, R::SCALAR);
        assert_same(found, &expected, &format!("{inputs:?} from {from} to {to}, {way}"));
    }
    Ok(())
}

/// A test for each source type: its edge values to every other type.
macro_rules! casts {
    ($($name:ident: $inputs:tt to $($to:ident)*;)*) => {$(
        #[test]
        fn $name() {
            each_device(|ctx| {
                $(check(ctx, $inputs, |x| x as $to)?;)*
                Ok(())
            });
        }
    )*};
}

casts! {
    from_bool: [false, true] to u8 u16 u32 u64 usize i8 i16 i32 i64 isize;
    from_u8: [0u8, 1, 127, 128, 255] to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_u16: [0u16, 255, 256, 32_767, 32_768, u16::MAX]
        to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_u32: [0u32, 65_535, 65_536, 16_777_217, 0x7fff_ffff, 0x8000_0000, u32::MAX]
        to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_u64: [0u64, u32::MAX as u64, 1 << 32, (1 << 53) + 1, (1 << 63) - 1, 1 << 63, u64::MAX]
        to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_usize: [0usize, 255, 65_536, 1 << 31, u32::MAX as usize] to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_i8: [0i8, 1, -1, 127, -128] to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_i16: [0i16, -1, 128, -129, i16::MAX, i16::MIN] to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_i32: [0i32, -1, 65_535, -16_777_217, i32::MAX, i32::MIN]
        to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_i64: [0i64, -1, 1 << 31, -(1 << 53) - 1, i64::MAX, i64::MIN]
        to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_f32: [0.0f32, -0.0, 0.5, -1.5, 127.9, 255.5, -128.9, 65_535.9, 2_147_483_648.0, -2_147_483_904.0, 4.3e9, 1.9e19,
        -1e30, 1e-40, f32::INFINITY, f32::NEG_INFINITY, f32::NAN]
        to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
    from_f64: [0.0f64, -0.0, 0.999, -1.5, 256.0, -129.0, 16_777_217.0, 2_147_483_647.5, 9.3e18, -9.3e18, 1.9e19, 3.5e38,
        1e-46, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]
        to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64;
}

/// Halves to numbers go by the number's value, which `f64` holds exactly.
#[test]
fn from_halves() {
    macro_rules! halves {
        ($ctx:ident, $half:ident, $inputs:tt to $($to:ident)*) => {
            $(check($ctx, $inputs.map($half::from_f64), |x| x.to_f64() as $to)?;)*
        };
    }
    each_device(|ctx| {
        halves!(ctx, f16, [0.0, -0.0, 0.5, -1.5, 255.5, -129.0, 65_504.0, 6e-8, f64::INFINITY, f64::NAN]
            to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);
        halves!(ctx, bf16, [0.0, -0.0, 0.5, -1.5, 255.0, -129.0, 3e38, 1e-40, f64::NEG_INFINITY, f64::NAN]
            to u8 u16 u32 u64 usize i8 i16 i32 i64 isize f32 f64);
        Ok(())
    });
}

/// Numbers to halves round once, to nearest even.
#[test]
fn to_halves() {
    macro_rules! halves {
        ($ctx:ident, $half:ident: $($from:ident [$($input:expr),*];)*) => {
            $(check($ctx, [$($input as $from),*], |x| $half::from_f64(x as f64))?;)*
        };
    }
    each_device(|ctx| {
        halves!(ctx, f16:
            u8 [0, 255]; i8 [-128, 127]; u16 [2049, 2051, 65_519, 65_520]; i16 [-32_768, -2049]; u32 [65_536, 4097];
            i32 [-65_520, 12_345]; u64 [65_504, 100_000]; i64 [-3, 65_519]; usize [2050, 65_535];
            f32 [0.1, -0.0, 65_519.996, 65_520.0, 3e-8, 2.980_232_4e-8, f32::INFINITY, f32::NAN];
            f64 [0.1, 1.0 + 1.0 / 2048.0, 65_520.0, 1e-9, f64::NAN];
        );
        halves!(ctx, bf16:
            u8 [0, 255]; i8 [-128, 127]; u16 [257, 259, 65_535]; i16 [-32_768, -385]; u32 [u32::MAX, 16_711_681];
            i32 [i32::MIN, 12_345]; u64 [1_099_511_627_776, 513]; i64 [-3, 1_125_899_906_842_624]; usize [2050, 65_535];
            f32 [0.1, -0.0, 1.003_906_2, 1.011_718_8, 3.4e38, 1e-40, f32::INFINITY, f32::NAN];
            f64 [0.1, 1.003_906_25, 3.4e38, 1e300, f64::NAN];
        );
        check(ctx, [f16::from_f32(0.1), f16::MAX, f16::MIN_POSITIVE_SUBNORMAL], |x| {
            bf16::from_f64(x.to_f64())
        })?;
        check(ctx, [bf16::from_f32(0.1), bf16::MAX, bf16::MIN_POSITIVE], |x| f16::from_f64(x.to_f64()))
    });
}

/// A double just beside the middle of two halves: rounding it to a single first would put it on the middle.
#[test]
fn doubles_to_halves_round_once() {
    each_device(|ctx| {
        let up = f16::from_bits(f16::ONE.to_bits() + 1);
        check(ctx, [1.0 + 1.0 / 2048.0 + 1e-15, -65_519.999_999], |x| if x > 0.0 { up } else { f16::MIN })?;
        let up = bf16::from_bits(bf16::ONE.to_bits() + 1);
        check(ctx, [1.0 + 1.0 / 256.0 + 1e-15, 1.0 + 1.0 / 256.0 - 1e-15], |x| {
            if x > 1.0 + 1.0 / 256.0 { up } else { bf16::ONE }
        })
    });
}

/// Beyond Rust: a number is true unless it is zero.
#[test]
fn to_bool() {
    each_device(|ctx| {
        check(ctx, [0i8, 1, -128, 2], |x| x != 0)?;
        check(ctx, [0u64, 1 << 40, 3], |x| x != 0)?;
        check(ctx, [0.0f32, -0.0, 0.25, f32::NAN], |x| x != 0.0)?;
        check(ctx, [f16::ZERO, f16::ONE], |x| x != f16::ZERO)
    });
}
