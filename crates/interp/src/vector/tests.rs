//! Every operation on edge values of every type, in every engine: against the constant evaluation of the IR, and where
//! that gives no certain answer (a NaN, a transcendental function) against Rust.

use half::{bf16, f16};
use tilewise_ir::{BinaryOp, CompareOp, Const, Scalar, UnaryOp, eval};

use super::simd::tests::engines;
use super::*;
use crate::column::Registers;

/// Bits of values at which something changes, for each type.
fn edges(scalar: Scalar) -> Vec<u64> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        3.99,
        -0.6,
        100.75,
        -129.0,
        255.9,
        65519.0,
        65520.0,
        2147483648.0,
        -3e9,
        1.8446744073709552e19,
        6e-8,
        1e-45,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    match scalar {
        Scalar::Bool => vec![0, 1],
        Scalar::F16 => floats.iter().map(|&x| f16::from_f64(x).to_bits() as u64).chain([1, 0x3ff]).collect(),
        Scalar::BF16 => floats.iter().map(|&x| bf16::from_f64(x).to_bits() as u64).chain([1]).collect(),
        Scalar::F32 => floats.iter().map(|&x| (x as f32).to_bits() as u64).chain([1]).collect(),
        Scalar::F64 => floats.iter().map(|&x| x.to_bits()).chain([1]).collect(),
        _ => {
            let small = [0i128, 1, 2, 3, 5, 7, 15, 16, 31, 63, 100, -1, -2, -3, -7, -100];
            let large = (6..=64).step_by(1).flat_map(|n| [(1i128 << n) - 1, 1i128 << n, (1i128 << n) + 1]);
            let mut bits: Vec<u64> =
                small.into_iter().chain(large).map(|x| Const::int(scalar, x).bits).collect();
            bits.sort_unstable();
            bits.dedup();
            bits
        }
    }
}

/// Computes an operation on columns of these values, in every engine, and gives the results of each.
fn run(
    operation: impl Fn(&[Reg]) -> Compute,
    result: Scalar,
    columns: &[(Scalar, Vec<u64>)],
) -> Vec<Vec<u64>> {
    let lanes = columns[0].1.len();
    let chunks = lanes.div_ceil(CHUNK);
    let mut registers = Registers::default();
    let regs: Vec<Reg> = columns
        .iter()
        .map(|(scalar, values)| {
            let lane = |chunk: usize, lane: usize| values.get(chunk * CHUNK + lane).copied().unwrap_or(0);
            let column =
                (0..chunks).map(|c| Chunk(std::array::from_fn(|l| lane(c, l)))).collect::<Vec<Chunk<u64>>>();
            if scalar.size() == 8 {
                registers.wide.push(column);
                Reg::varying(registers.wide.len() as u32 - 1)
            } else {
                registers.narrow.push(column.iter().map(|c| Chunk(c.0.map(|x| x as u32))).collect());
                Reg::varying(registers.narrow.len() as u32 - 1)
            }
        })
        .collect();
    let shape = Shape { first: 0, last: chunks, chunks, components: 1, block: chunks, uniform: false };
    let wide = result.size() == 8;
    let all = engines().into_iter().map(|engine| {
        let mut out = Out::default();
        if wide {
            out.wide = vec![Chunk([0x55; CHUNK]); chunks];
        } else {
            out.narrow = vec![Chunk([0x55; CHUNK]); chunks];
        }
        engine.compute(&operation(&regs), wide, &registers, shape, &mut out);
        let narrow = out.narrow.iter().flat_map(|c| c.0.map(u64::from));
        let mut values: Vec<u64> = out.wide.iter().flat_map(|c| c.0).chain(narrow).collect();
        values.truncate(lanes);
        values
    });
    all.collect()
}

/// All pairs of edge values, as two columns.
fn pairs(scalar: Scalar) -> (Vec<u64>, Vec<u64>) {
    let edges = edges(scalar);
    edges.iter().flat_map(|&a| edges.iter().map(move |&b| (a, b))).unzip()
}

/// Equal bits, or both NaN.
fn same(scalar: Scalar, a: u64, b: u64) -> bool {
    let nan = |bits| Const::from_bits(scalar, bits).as_float().is_some_and(f64::is_nan);
    a == b || nan(a) && nan(b)
}

#[test]
fn unary_operations() {
    use UnaryOp::*;
    let exact = [
        Neg,
        Not,
        Abs,
        Signum,
        Sqrt,
        Floor,
        Ceil,
        Round,
        RoundEven,
        Trunc,
        CountOnes,
        LeadingZeros,
        TrailingZeros,
        IsNan,
        IsInf,
    ];
    for (op, scalar) in exact.iter().flat_map(|&op| Scalar::ALL.map(|s| (op, s))) {
        let values = edges(scalar);
        let expected: Vec<_> = values.iter().map(|&a| eval::unary(op, Const::from_bits(scalar, a))).collect();
        let Some(result) = expected.iter().flatten().next().map(|c| c.scalar) else { continue };
        for got in run(|r| Compute::Unary(op, scalar, r[0]), result, &[(scalar, values.clone())]) {
            for ((&a, expected), &got) in values.iter().zip(&expected).zip(&got) {
                let nan = f64::NAN.to_bits();
                let ok = match expected {
                    Some(expected) => expected.bits == got,
                    None => Const::from_bits(scalar, got).as_float().is_some_and(f64::is_nan),
                };
                assert!(ok, "{op:?} {scalar} {a:#x}: {expected:?}, got {got:#x} (NaN is like {nan:#x})");
            }
        }
    }
}

#[test]
fn functions_are_those_of_rust() {
    use UnaryOp::*;
    type Functions = (UnaryOp, fn(f32) -> f32, fn(f64) -> f64);
    let functions: [Functions; 9] = [
        (Exp, f32::exp, f64::exp),
        (Exp2, f32::exp2, f64::exp2),
        (Log, f32::ln, f64::ln),
        (Log2, f32::log2, f64::log2),
        (Sin, f32::sin, f64::sin),
        (Cos, f32::cos, f64::cos),
        (Tanh, f32::tanh, f64::tanh),
        (Recip, f32::recip, f64::recip),
        (Rsqrt, |x| 1.0 / x.sqrt(), |x| 1.0 / x.sqrt()),
    ];
    for (op, single, double) in functions {
        for scalar in [Scalar::F16, Scalar::BF16, Scalar::F32, Scalar::F64] {
            let values = edges(scalar);
            let expected = |bits: u64| match scalar {
                Scalar::F16 => f16::from_f32(single(f16::from_bits(bits as u16).to_f32())).to_bits() as u64,
                Scalar::BF16 => {
                    bf16::from_f32(single(bf16::from_bits(bits as u16).to_f32())).to_bits() as u64
                }
                Scalar::F32 => single(f32::from_bits(bits as u32)).to_bits() as u64,
                _ => double(f64::from_bits(bits)).to_bits(),
            };
            for got in run(|r| Compute::Unary(op, scalar, r[0]), scalar, &[(scalar, values.clone())]) {
                for (&a, &got) in values.iter().zip(&got) {
                    assert!(same(scalar, expected(a), got), "{op:?} {scalar} {a:#x}: {got:#x}");
                }
            }
        }
    }
}

#[test]
fn binary_operations() {
    use BinaryOp::*;
    let exact = [Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr];
    for (op, scalar) in exact.iter().flat_map(|&op| Scalar::ALL.map(|s| (op, s))) {
        let (left, right) = pairs(scalar);
        let constant = |bits| Const::from_bits(scalar, bits);
        let expected: Vec<_> =
            left.iter().zip(&right).map(|(&a, &b)| eval::binary(op, constant(a), constant(b))).collect();
        if expected.iter().all(Option::is_none) {
            continue;
        }
        let columns = [(scalar, left.clone()), (scalar, right.clone())];
        for got in run(|r| Compute::Binary(op, scalar, r[0], r[1]), scalar, &columns) {
            for (i, (&expected, &got)) in expected.iter().zip(&got).enumerate() {
                let (a, b) = (left[i], right[i]);
                let ok = match expected {
                    Some(expected) => expected.bits == got,
                    // A division by zero gives 0.
                    None if scalar.is_int() => b == 0 && got == 0,
                    // Zeros of unlike sign, or a NaN.
                    None if matches!(op, Min | Max) => same(scalar, a, got) || same(scalar, b, got),
                    None => constant(got).as_float().is_some_and(f64::is_nan),
                };
                assert!(ok, "{op:?} {scalar} {a:#x} {b:#x}: {expected:?}, got {got:#x}");
            }
        }
    }
}

#[test]
fn powers_and_angles_are_those_of_rust() {
    for op in [BinaryOp::Pow, BinaryOp::Atan2] {
        let single = if op == BinaryOp::Pow { f32::powf } else { f32::atan2 };
        let double = if op == BinaryOp::Pow { f64::powf } else { f64::atan2 };
        for scalar in [Scalar::F32, Scalar::F64] {
            let (left, right) = pairs(scalar);
            let columns = [(scalar, left.clone()), (scalar, right.clone())];
            for got in run(|r| Compute::Binary(op, scalar, r[0], r[1]), scalar, &columns) {
                for ((&a, &b), &got) in left.iter().zip(&right).zip(&got) {
                    let expected = match scalar {
                        Scalar::F32 => {
                            single(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits() as u64
                        }
                        _ => double(f64::from_bits(a), f64::from_bits(b)).to_bits(),
                    };
                    assert!(same(scalar, expected, got), "{op:?} {scalar} {a:#x} {b:#x}: {got:#x}");
                }
            }
        }
    }
}

#[test]
fn comparisons() {
    use CompareOp::*;
    for (op, scalar) in [Eq, Ne, Lt, Le, Gt, Ge].iter().flat_map(|&op| Scalar::ALL.map(|s| (op, s))) {
        let (left, right) = pairs(scalar);
        let columns = [(scalar, left.clone()), (scalar, right.clone())];
        for got in run(|r| Compute::Compare(op, scalar, r[0], r[1]), Scalar::Bool, &columns) {
            for ((&a, &b), &got) in left.iter().zip(&right).zip(&got) {
                let constants = (Const::from_bits(scalar, a), Const::from_bits(scalar, b));
                let expected = eval::compare(op, constants.0, constants.1).unwrap();
                assert_eq!(got, expected as u64, "{op:?} {scalar} {a:#x} {b:#x}");
            }
        }
    }
}

#[test]
fn casts() {
    for (from, to) in Scalar::ALL.iter().flat_map(|&from| Scalar::ALL.map(|to| (from, to))) {
        let values = edges(from);
        for got in run(|r| Compute::Cast(from, to, r[0]), to, &[(from, values.clone())]) {
            for (&a, &got) in values.iter().zip(&got) {
                let ok = match eval::cast(Const::from_bits(from, a), to) {
                    Some(expected) => same(to, expected.bits, got),
                    None => Const::from_bits(to, got).as_float().is_some_and(f64::is_nan),
                };
                assert!(ok, "{from} {a:#x} as {to}: {got:#x}");
            }
        }
    }
}

#[test]
fn fused_multiply_add_rounds_once() {
    for scalar in [Scalar::F16, Scalar::BF16, Scalar::F32, Scalar::F64] {
        let edges = edges(scalar);
        let odd = |x: u64| Const::from_bits(scalar, x ^ 0x5b).bits;
        let mut columns = [Vec::new(), Vec::new(), Vec::new()];
        for (&a, &b, &c) in edges
            .iter()
            .flat_map(|a| edges.iter().map(move |b| (a, b)))
            .flat_map(|(a, b)| edges.iter().map(move |c| (a, b, c)))
        {
            for values in [[a, b, c], [odd(a), odd(b), c], [odd(a), b, odd(c)]] {
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            }
        }
        let operands = columns.clone().map(|column| (scalar, column));
        for got in run(|r| Compute::MulAdd(scalar, r[0], r[1], r[2]), scalar, &operands) {
            for (i, &got) in got.iter().enumerate() {
                let [a, b, c] = [0, 1, 2].map(|n| Const::from_bits(scalar, columns[n][i]));
                let ok = match eval::mul_add(a, b, c) {
                    Some(expected) => expected.bits == got,
                    None => Const::from_bits(scalar, got).as_float().is_some_and(f64::is_nan),
                };
                assert!(ok, "{a:?} * {b:?} + {c:?}: {got:#x}");
            }
        }
    }
}

#[test]
fn select_takes_either_side() {
    for scalar in [Scalar::U8, Scalar::F64] {
        let columns = [(Scalar::Bool, vec![0, 1, 1]), (scalar, vec![1, 2, 3]), (scalar, vec![4, 5, 6])];
        for got in run(|r| Compute::Select(r[0], true, r[1], r[2]), scalar, &columns) {
            assert_eq!(got, [4, 2, 3]);
        }
    }
}

#[test]
fn within_looks_at_active_lanes_and_does_not_wrap() {
    let mut index = Chunk([3u64; CHUNK]);
    let extent = Chunk([4u64; CHUNK]);
    index.0[7] = u64::MAX;
    index.0[9] = 4;
    let registers = Registers { narrow: Vec::new(), wide: vec![vec![index], vec![extent]] };
    let [index, extent] = [0, 1].map(|r| Source::<u64>::new(&registers, Reg::varying(r), 1));
    for engine in engines() {
        let within =
            |lanes, active: u64| (engine.within)(BoundsCheck { index, plus: 0, extent, lanes }, &[active], 0);
        assert!(!within(1, u64::MAX));
        assert!(!within(1, 1 << 7));
        assert!(within(1, !(1 << 7 | 1 << 9)));
        assert!(within(1, 1 << 1));
        assert!(!within(2, 1 << 1));
        assert!(!within(2, 1 << 7));
        assert!(within(5, 0));
        assert!(!within(6, 1), "more lanes than the extent");
    }
}

#[test]
fn truth_values_become_bits() {
    for bits in [0, u64::MAX, 1, 1 << 63, 0x0123_4567_89ab_cdef, 0xff00_ff00_f0f0_aaaa] {
        let mut chunk = Chunk([0u32; CHUNK]);
        for lane in 0..CHUNK {
            chunk.0[lane] = (bits >> lane & 1) as u32;
        }
        assert_eq!(truth(&chunk), bits);
        // Lanes of other threads hold other values.
        chunk.0[5] = 0xffff_fffe;
        chunk.0[6] = 0x1234_5601;
        assert_eq!(truth(&chunk), bits & !(1 << 5) | 1 << 6);
    }
}

#[test]
fn within_is_exact_at_every_edge() {
    let edges = [0, 1, 2, 5, 63, 64, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
    for (index, plus) in edges.iter().flat_map(|&i| edges.map(|p| (i, p))) {
        for (extent, lanes) in edges.iter().flat_map(|&e| [1u64, 2, 4, 64].map(|l| (e, l))) {
            let registers = Registers {
                narrow: Vec::new(),
                wide: vec![vec![Chunk([index; CHUNK])], vec![Chunk([extent; CHUNK])]],
            };
            let [index_source, extent_source] =
                [0, 1].map(|r| Source::<u64>::new(&registers, Reg::varying(r), 1));
            let expected = index.wrapping_add(plus) as u128 + lanes as u128 <= extent as u128;
            for engine in engines() {
                let check = BoundsCheck { index: index_source, plus, extent: extent_source, lanes };
                let got = (engine.within)(check, &[1 << 40], 0);
                assert_eq!(got, expected, "{index} + {plus}, {lanes} lanes, {extent}");
            }
        }
    }
}

#[test]
fn offsets_lie_in_rows() {
    let chunk = |f: &dyn Fn(u64) -> u64| Chunk(std::array::from_fn(|lane| f(lane as u64)));
    for engine in engines() {
        let pattern = |f: &dyn Fn(u64) -> u64| (engine.pattern)(&chunk(f));
        assert_eq!(pattern(&|lane| lane + 7), Pattern { run: true, rows: true, equal: 0 });
        assert_eq!(pattern(&|lane| lane.wrapping_sub(7)), Pattern { run: true, rows: true, equal: 0 });
        assert_eq!(pattern(&|lane| lane / 16 * 5), Pattern { run: false, rows: true, equal: 0b1111 });
        assert_eq!(pattern(&|lane| lane % 16), Pattern { run: false, rows: true, equal: 0 });
        let mixed = |lane| if lane / 16 == 2 { 9 } else { 3 * lane / 48 * 16 + lane % 16 };
        assert_eq!(pattern(&mixed), Pattern { run: false, rows: true, equal: 0b100 });
        assert!(!pattern(&|lane| if lane == 63 { 0 } else { lane }).rows);
        assert!(!pattern(&|lane| 2 * lane).rows);
    }
}
