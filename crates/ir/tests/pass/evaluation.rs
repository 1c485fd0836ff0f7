//! Constant evaluation gives what the reference gives.

use crate::support::arithmetic;
use crate::support::random::Random;
use tilewise_ir::{BinaryOp, CompareOp, Const, Scalar, UnaryOp, eval, verify};

/// Values of a scalar: all of them if there are few, else those of interest and some others.
fn values(scalar: Scalar, count: usize) -> Vec<Const> {
    let bits = scalar.bits();
    if bits <= 8 {
        return (0..1 << bits).map(|b| Const { scalar, bits: b }).collect();
    }
    let mut random = Random::new(u64::from(bits));
    let mut all: Vec<u64> = vec![0, 1, 2, 3, 4, 5, 7, 10, 100, u64::MAX, u64::MAX - 1];
    all.extend((0..bits).flat_map(|i| [1 << i, (1u64 << i).wrapping_sub(1), u64::MAX << i]));
    if scalar.is_float() {
        for i in -40..40 {
            let value = f64::from(i) / 4.0;
            all.extend(
                [value, value * 1e4, value * 1e-38, value * 1e38]
                    .map(|v| arithmetic::from_f64(scalar, v, 0.0)),
            );
        }
    }
    while all.len() < count {
        all.push(random.bits() >> random.below(64));
        all.push(random.bits());
    }
    all.into_iter().map(|bits| Const::from_bits(scalar, bits)).collect()
}

fn is_nan(constant: Const) -> bool {
    constant.as_float().is_some_and(f64::is_nan)
}

#[test]
fn unary() {
    for scalar in Scalar::ALL {
        for op in UnaryOp::ALL.iter().copied().filter(|&op| verify::unary_exists(op, scalar)) {
            let mut known = 0;
            for a in values(scalar, 2000) {
                if let Some(result) = eval::unary(op, a) {
                    let expected = arithmetic::unary(op, scalar, a.bits);
                    assert_eq!(result.bits, expected, "{op} {a:x?}");
                    assert!(!is_nan(result));
                    known += 1;
                }
            }
            let is_exact = !matches!(
                op,
                UnaryOp::Rsqrt
                    | UnaryOp::Recip
                    | UnaryOp::Exp
                    | UnaryOp::Exp2
                    | UnaryOp::Log
                    | UnaryOp::Log2
                    | UnaryOp::Sin
                    | UnaryOp::Cos
                    | UnaryOp::Tanh
            );
            assert_eq!(known > 0, is_exact, "{op} {scalar}");
        }
    }
}

#[test]
fn binary() {
    for scalar in Scalar::ALL {
        for op in BinaryOp::ALL.iter().copied().filter(|&op| verify::binary_exists(op, scalar)) {
            for a in values(scalar, 300) {
                for b in values(scalar, 300) {
                    let Some(result) = eval::binary(op, a, b) else { continue };
                    let expected =
                        arithmetic::binary(op, scalar, a.bits, b.bits).expect("no division by zero");
                    assert_eq!(result.bits, expected, "{op} {a:x?} {b:x?}");
                    assert!(!is_nan(result));
                }
            }
        }
    }
}

#[test]
fn compare() {
    for scalar in Scalar::ALL {
        for &op in CompareOp::ALL {
            for a in values(scalar, 200) {
                for b in values(scalar, 200) {
                    let expected = arithmetic::compare(op, scalar, a.bits, b.bits);
                    assert_eq!(eval::compare(op, a, b), Some(expected), "{op} {a:x?} {b:x?}");
                }
            }
        }
    }
}

#[test]
fn mul_add() {
    let mut random = Random::new(7);
    for scalar in Scalar::ALL.into_iter().filter(|s| s.is_float()) {
        let values = values(scalar, 3000);
        for _ in 0..200_000 {
            let [a, b, c] = [0; 3].map(|_| random.pick(&values));
            let expected = arithmetic::mul_add(scalar, a.bits, b.bits, c.bits);
            match eval::mul_add(a, b, c) {
                Some(result) => assert_eq!(result.bits, expected, "{a:x?} {b:x?} {c:x?}"),
                None => assert!(is_nan(Const { scalar, bits: expected })),
            }
        }
    }
}

#[test]
fn cast() {
    for from in Scalar::ALL {
        for to in Scalar::ALL {
            for a in values(from, 5000) {
                let expected = arithmetic::cast(from, to, a.bits);
                match eval::cast(a, to) {
                    Some(result) => {
                        assert_eq!(result, Const { scalar: to, bits: expected }, "{a:x?} to {to}")
                    }
                    None => assert!(is_nan(a) && to.is_float()),
                }
            }
        }
    }
}

#[test]
fn halves_are_exact() {
    for scalar in [Scalar::F16, Scalar::BF16] {
        for bits in 0..1 << 16 {
            let constant = Const { scalar, bits };
            let value = constant.as_float().expect("a float");
            if !value.is_nan() {
                assert_eq!(value.to_bits(), arithmetic::to_f64(scalar, bits).to_bits());
                assert_eq!(eval::float(scalar, value), Some(constant));
            }
        }
    }
}

#[test]
fn nothing_uncertain_is_folded() {
    let zero = |scalar| Const::from_bits(scalar, 0);
    assert_eq!(eval::binary(BinaryOp::Div, Const::index(1), zero(Scalar::Index)), None);
    assert_eq!(eval::binary(BinaryOp::Rem, Const::index(1), zero(Scalar::Index)), None);
    assert_eq!(eval::binary(BinaryOp::Div, Const::f32(0.0), Const::f32(0.0)), None);
    assert_eq!(eval::binary(BinaryOp::Min, Const::f32(0.0), Const::f32(-0.0)), None);
    assert_eq!(eval::binary(BinaryOp::Pow, Const::f32(2.0), Const::f32(2.0)), None);
    assert_eq!(eval::unary(UnaryOp::Exp, Const::f32(0.0)), None);
    assert_eq!(eval::unary(UnaryOp::Sqrt, Const::f32(-1.0)), None);
    assert_eq!(eval::binary(BinaryOp::Add, Const::index(1), Const::int(Scalar::U64, 1)), None);
    assert_eq!(eval::bitcast(Const::bool(true), Scalar::U8), None);
}
