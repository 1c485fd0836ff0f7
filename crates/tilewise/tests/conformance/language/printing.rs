//! `println!` in kernels, line for line as Rust's.

use std::sync::{Arc, Mutex};

use tilewise::prelude::*;

use crate::harness::{each_device, zeros};

/// The lines that kernels print while `run` runs.
fn printed(
    ctx: &DeviceContext,
    run: impl FnOnce(&DeviceContext) -> tilewise::Result<()>,
) -> tilewise::Result<Vec<String>> {
    let text = Arc::new(Mutex::new(String::new()));
    let ctx = ctx.clone().with_output(text.clone());
    run(&ctx)?;
    ctx.synchronize()?;
    let lines = text.lock().unwrap().lines().map(str::to_owned).collect();
    Ok(lines)
}

/// A kernel and a function of the host that print the same lines.
macro_rules! lines {
    ($(fn $name:ident($($parameter:ident: $ty:ty = $value:expr),*) { $(($($format:tt)*))* })*) => {$(
        #[test]
        fn $name() {
            #[kernel]
            fn in_kernel($($parameter: $ty),*) {
                $(println!($($format)*);)*
            }

            fn in_rust($($parameter: $ty),*) -> Vec<String> {
                vec![$(format!($($format)*)),*]
            }

            each_device(|ctx| {
                let lines = printed(ctx, |ctx| {
                    ctx.enqueue_function(in_kernel($($value),*), grid_dim(1), block_dim(1))
                })?;
                assert_eq!(lines, in_rust($($value),*));
                Ok(())
            });
        }
    )*};
}

lines! {
    fn integers(i: i32 = -42, u: u8 = 200, long: u64 = u64::MAX, least: i64 = i64::MIN) {
        ("{i} {u} {long} {least}")
        ("{i:5}|{i:<5}|{i:^7}|{i:>6}|{i:05}|{i:+}")
        ("{u:5}|{u:<5}|{u:^6}|{u:*>6}|{u:-^7}|{u:+}")
        ("{u:x} {u:X} {u:#x} {u:08b} {u:#b} {u:o} {u:#010x}")
        ("{i:x} {i:b}")
        ("{:?} {:5?} {:e}", i, u, u)
    }

    fn floats(a: f32 = 1.5, b: f32 = -0.1, c: f64 = 1e21, d: f64 = 123456.789, whole: f32 = 3.0) {
        ("{a} {b} {c} {d} {whole}")
        ("{a:?} {b:?} {c:?} {d:?} {whole:?}")
        ("{a:.2} {b:.3} {d:.1} {whole:.0} {d:10.2}|{d:<12.3}|{a:^9.1}|{b:+.2}|{a:08.3}")
        ("{d:e} {a:e} {d:.2e}")
        ("{a:.2?} {whole:.1?}")
    }

    fn special_floats(nan: f32 = f32::NAN, inf: f32 = f32::INFINITY, low: f64 = f64::NEG_INFINITY, zero: f32 = -0.0) {
        ("{nan} {inf} {low} {zero}")
        ("{nan:?} {inf:?} {low:?} {zero:?}")
        ("{nan:6}|{inf:6}|{low:<8}|{zero:.1}|{inf:+}")
    }

    fn extremes(small: f32 = f32::MIN_POSITIVE, large: f32 = f32::MAX, tiny: f64 = 5e-324, third: f64 = 1.0 / 3.0) {
        ("{small} {large} {third}")
        ("{small:?} {large:?} {tiny:?} {third:?}")
        ("{third:.20}")
    }

    fn bools(yes: bool = true, no: bool = false) {
        ("{yes} {no} {yes:?}")
        ("{yes:6}|{no:<7}|{no:>7}|{yes:^6}|{no:*^9}")
    }

    fn forms_of_arguments(x: i32 = 7, y: f32 = 2.5) {
        ("no arguments, {{braces}}")
        ("{} {}", x, y)
        ("{1} {0} {1:?}", x, y)
        ("{x} {} {name:>4}", x + 1, name = x * 2)
        ("{0:>3} {other} {}", x, other = y + 0.5)
        ("{:>4}{:<4}|", x, y)
        ("")
    }

    fn plain_values(x: i32 = 3) {
        ("{} {} {:?} {}", "text", 12, 'c', x)
        ("{:>6}|{:<6}|{:^6}|{:06}|{:+}", "ab", 1, 2, 3, 4)
        ("{:.2} {:?} {}", 1.0f32, 1.0f64, true)
        ("{:x} {:#b}", 255, 5)
    }
}

#[kernel]
fn counted(out: &mut TileTensor<u32, 1>) {
    let (b, t) = (block_idx().x, thread_idx().x);
    for k in 0..t {
        println!("{b}.{t}: round {k}");
    }
    out[t] = t as u32;
}

/// Each thread prints its lines in order; those of a launch come before those of the next.
#[test]
fn threads_print_whole_lines() {
    each_device(|ctx| {
        let lines = printed(ctx, |ctx| {
            let mut out = zeros(ctx, 4)?;
            ctx.enqueue_function(counted(&mut out), grid_dim(3), block_dim(4))?;
            ctx.enqueue_function(counted(&mut out), grid_dim(1), block_dim(2))
        })?;
        assert_eq!(lines.len(), 3 * 6 + 1);
        assert_eq!(lines.last().map(String::as_str), Some("0.1: round 0"));
        for (block, thread) in [(0, 1), (1, 3), (2, 2)] {
            let own: Vec<_> =
                lines[..18].iter().filter(|l| l.starts_with(&format!("{block}.{thread}:"))).collect();
            let expected: Vec<String> = (0..thread).map(|k| format!("{block}.{thread}: round {k}")).collect();
            assert_eq!(own, expected.iter().collect::<Vec<_>>());
        }
        Ok(())
    });
}

#[kernel]
fn lanes(a: &TileTensor<f32, 1>) {
    println!("{} and {:?}", a.load(0, 4), a.load(1, 2));
}

#[test]
fn values_of_several_lanes_are_printed_as_lists() {
    each_device(|ctx| {
        let a = ctx.tensor_from_slice(row_major([4]), &[1.0, 2.5, -3.0, 0.0])?;
        let lines = printed(ctx, |ctx| ctx.enqueue_function(lanes(&a), grid_dim(1), block_dim(1)))?;
        assert_eq!(lines, ["[1, 2.5, -3, 0] and [2.5, -3.0]"]);
        Ok(())
    });
}
