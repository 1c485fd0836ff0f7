//! Special cases, which are as in Rust's functions; halves, vectors, loops, and that the optimiser changes no bit.

use half::{bf16, f16};
use tilewise_ir::{Kernel, Scalar, pass};

use crate::function::{Function, is_binary, lowered, text};

const NAMES: [&str; 9] = ["exp", "exp2", "log", "log2", "sin", "cos", "tanh", "pow", "atan2"];

/// Rust's function.
macro_rules! std_function {
    ($name:expr, $x:expr, $y:expr) => {
        match $name {
            "exp" => $x.exp(),
            "exp2" => $x.exp2(),
            "log" => $x.ln(),
            "log2" => $x.log2(),
            "sin" => $x.sin(),
            "cos" => $x.cos(),
            "tanh" => $x.tanh(),
            "pow" => $x.powf($y),
            "atan2" => $x.atan2($y),
            name => unreachable!("{name}"),
        }
    };
}

/// Operands for which a result is exact or has its own rule.
const SPECIAL: [f64; 21] = [
    0.0,
    f64::INFINITY,
    f64::NAN,
    1.0,
    2.0,
    3.0,
    4.0,
    5.0,
    0.5,
    1.5,
    2.5,
    0.25,
    1e10,
    1e30,
    1e38,
    1e-30,
    1e-38,
    1e-40,
    9_007_199_254_740_991.0,
    16_777_215.0,
    16_777_216.0,
];

/// Whether a result has to be met in every bit: NaN, infinite, zero, or a small whole number.
fn is_special(value: f64) -> bool {
    value.is_nan() || value.is_infinite() || value.fract() == 0.0 && value.abs() < 1e6
}

#[test]
fn results_that_are_exact() {
    let values: Vec<f64> = SPECIAL.iter().flat_map(|&x| [x, -x]).collect();
    for name in NAMES {
        let pairs: Vec<(f64, f64)> = if is_binary(name) {
            values.iter().flat_map(|&x| values.iter().map(move |&y| (x, y))).collect()
        } else {
            values.iter().map(|&x| (x, 0.0)).collect()
        };
        let (a, b): (Vec<u64>, Vec<u64>) = pairs.iter().map(|&(x, y)| (x.to_bits(), y.to_bits())).unzip();
        let doubles = Function::new(name, Scalar::F64).run(&a, &b);
        let (a, b): (Vec<u32>, Vec<u32>) =
            pairs.iter().map(|&(x, y)| ((x as f32).to_bits(), (y as f32).to_bits())).unzip();
        let singles = Function::new(name, Scalar::F32).run(&a, &b);
        for (i, &(x, y)) in pairs.iter().enumerate() {
            let expected: f64 = std_function!(name, x, y);
            let got = f64::from_bits(doubles[i]);
            if is_special(expected) {
                assert!(same(got, expected), "{name}({x:e}, {y:e}) is {got:e} instead of {expected:e}");
            }
            let (x, y) = (x as f32, y as f32);
            let expected: f32 = std_function!(name, x, y);
            let got = f32::from_bits(singles[i]);
            if is_special(expected.into()) {
                let same = same(got.into(), expected.into());
                assert!(same, "{name}({x:e}, {y:e}) of f32 is {got:e} instead of {expected:e}");
            }
        }
    }
}

/// Angles of the axes and diagonals are multiples of π/4, rounded to nearest.
#[test]
fn angles_of_axes_and_diagonals() {
    let values = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -f64::MAX, 5e-324];
    let pairs = || values.iter().flat_map(|&y| values.iter().map(move |&x| (y, x)));
    let is_exact = |y: f64, x: f64| y.abs() == x.abs() || x == 0.0 || y == 0.0 || (x / y).is_infinite();
    let (a, b): (Vec<u64>, Vec<u64>) = pairs().map(|(y, x)| (y.to_bits(), x.to_bits())).unzip();
    let doubles = Function::new("atan2", Scalar::F64).run(&a, &b);
    let (a, b): (Vec<u32>, Vec<u32>) =
        pairs().map(|(y, x)| ((y as f32).to_bits(), (x as f32).to_bits())).unzip();
    let singles = Function::new("atan2", Scalar::F32).run(&a, &b);
    for (i, (y, x)) in pairs().enumerate() {
        if is_exact(y, x) {
            let got = f64::from_bits(doubles[i]);
            assert!(same(got, y.atan2(x)), "atan2({y:e}, {x:e}) is {got:e} instead of {:e}", y.atan2(x));
        }
        let (y, x) = (y as f32, x as f32);
        if is_exact(y.into(), x.into()) {
            let got = f32::from_bits(singles[i]);
            let same = same(got.into(), y.atan2(x).into());
            assert!(same, "atan2({y:e}, {x:e}) of f32 is {got:e} instead of {:e}", y.atan2(x));
        }
    }
}

/// Equal with the sign of zero; all NaN are the same.
fn same(a: f64, b: f64) -> bool {
    a.is_nan() && b.is_nan() || a.to_bits() == b.to_bits()
}

/// Halves of every kind, as bits, and others in another order.
fn halves() -> (Vec<u16>, Vec<u16>) {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let others = all.iter().map(|x| x.wrapping_mul(40_503).rotate_left(5)).collect();
    (all, others)
}

#[test]
fn halves_are_computed_in_single_and_rounded() {
    let (a, b) = halves();
    for name in NAMES {
        let single = Function::new(name, Scalar::F32);
        let check = |scalar: Scalar, widen: fn(u16) -> f32, narrow: fn(f32) -> f32| {
            let results = Function::new(name, scalar).run(&a, &b);
            let wide = |halves: &[u16]| halves.iter().map(|&x| widen(x).to_bits()).collect::<Vec<u32>>();
            let expected = single.run(&wide(&a), &wide(&b));
            for (i, (&got, &expected)) in results.iter().zip(&expected).enumerate() {
                let (got, expected) = (widen(got), narrow(f32::from_bits(expected)));
                let (x, y) = (widen(a[i]), widen(b[i]));
                assert!(same(got.into(), expected.into()), "{name}({x:e}, {y:e}) of {scalar} is {got:e}");
            }
        };
        check(Scalar::F16, |x| f16::from_bits(x).to_f32(), |x| f16::from_f32(x).to_f32());
        check(Scalar::BF16, |x| bf16::from_bits(x).to_f32(), |x| bf16::from_f32(x).to_f32());
    }
}

/// Some numbers of every size.
fn operands() -> (Vec<u64>, Vec<u64>) {
    let spread = |i: u64, odd: u64| i.wrapping_mul(odd).rotate_left(29).wrapping_mul(odd);
    (0..4096u64).map(|i| (spread(i, 0x9e37_79b9_7f4a_7c15), spread(i, 0xbf58_476d_1ce4_e5b9))).unzip()
}

#[test]
fn lanes_and_the_optimiser_change_nothing() {
    let (a, b) = operands();
    let same = |left: &[u64], right: &[u64]| {
        left.iter().zip(right).all(|(&l, &r)| same(f64::from_bits(l), f64::from_bits(r)))
    };
    for name in NAMES {
        let expected = Function::new(name, Scalar::F64).run(&a, &b);
        let mut vectors = lowered(name, Scalar::F64, 4);
        let got = Function::of(&vectors, Scalar::F64).run_lanes(&a, &b, 4);
        assert!(same(&got, &expected), "{name} of vectors");
        pass::optimize(&mut vectors);
        let got = Function::of(&vectors, Scalar::F64).run_lanes(&a, &b, 4);
        assert!(same(&got, &expected), "{name} of vectors, optimised");
        let mut optimized = lowered(name, Scalar::F64, 1);
        pass::optimize(&mut optimized);
        let got = Function::of(&optimized, Scalar::F64).run(&a, &b);
        assert!(same(&got, &expected), "{name}, optimised");
    }
}

#[test]
fn a_function_in_a_loop_is_replaced_too() {
    let mut kernel: Kernel = "
        kernel @k(%out: tensor<f32, 1, mut>, %a: tensor<f32, 1>, %b: tensor<f32, 1>) {
          %block = block_idx.x
          %threads = block_dim.x
          %thread = thread_idx.x
          %first = mul %block, %threads
          %i = add %first, %thread
          %x = load %a[%i] : f32
          %zero = const i32 0
          %three = const i32 3
          %one = const i32 1
          %r = for ^0 %n = %zero to %three step %one carry (%sum = %x) {
            %next = cos %sum
            continue ^0 %next
          }
          store %out[%i], %r
          return
        }"
    .parse()
    .unwrap_or_else(|error| panic!("{error}"));
    assert!(pass::lower::math::run(&mut kernel));
    let results = Function::of(&kernel, Scalar::F32).run(&[1f32.to_bits(), 2e6f32.to_bits()], &[]);
    for (x, result) in [1f32, 2e6].into_iter().zip(results) {
        let expected = f64::from(x).cos().cos().cos();
        assert!((f64::from(f32::from_bits(result)) - expected).abs() < 2e-7);
    }
}

/// Devices that lack 64-bit numbers have the functions of `f32` all the same.
#[test]
fn functions_of_single_need_nothing_wider() {
    for name in NAMES {
        let text = text(name, Scalar::F32, 2);
        let staged: Kernel = text.parse().unwrap();
        let mut kernel = staged.clone();
        pass::lower::math::run(&mut kernel);
        for ty in &kernel.values[staged.values.len()..] {
            let allowed = [Scalar::Bool, Scalar::I32, Scalar::U32, Scalar::F32];
            assert!(allowed.contains(&ty.scalar), "{name} uses {ty}");
        }
    }
}

#[test]
fn a_kernel_without_functions_is_left_alone() {
    for name in ["sqrt", "floor"] {
        let mut kernel: Kernel = text(name, Scalar::F32, 1).parse().unwrap();
        let before = kernel.clone();
        assert!(!pass::lower::math::run(&mut kernel));
        assert_eq!(kernel, before);
    }
}
