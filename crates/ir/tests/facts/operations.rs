//! Each operation on ranges of 8 bits: whatever it gives on numbers of the ranges is in the range that it gives.

use tilewise_ir::analysis::{Range, Residue, transfer};
use tilewise_ir::{BinaryOp, CompareOp, Const, Scalar, UnaryOp, eval, verify};

const SCALARS: [Scalar; 3] = [Scalar::Bool, Scalar::I8, Scalar::U8];

/// Intervals between numbers of interest, with and without low bits.
fn ranges(scalar: Scalar) -> Vec<Range> {
    let all = Range::all(scalar);
    let ends: Vec<i128> = [-128, -9, -2, -1, 0, 1, 2, 7, 8, 21, 64, 127, 200, 255]
        .into_iter()
        .filter(|&end| all.contains(end))
        .collect();
    let residues = [Residue::UNKNOWN, Residue::new(1, 1), Residue::new(2, 0), Residue::new(3, 5)];
    let mut ranges = Vec::new();
    for &lo in &ends {
        for &hi in &ends {
            for residue in residues {
                let range = Range::new(lo, hi, residue);
                ranges.extend(range.filter(|range| !ranges.contains(range)));
            }
        }
    }
    ranges
}

fn members(range: Range) -> impl Iterator<Item = i128> {
    (range.lo()..=range.hi()).filter(move |&number| range.contains(number))
}

/// The ends and a few between.
fn sample(range: Range) -> Vec<i128> {
    let all: Vec<i128> = members(range).collect();
    let step = (all.len() / 7).max(1);
    all.iter().copied().step_by(step).chain(all.last().copied()).collect()
}

fn int(scalar: Scalar, number: i128) -> Const {
    Const::int(scalar, number)
}

#[test]
fn unary() {
    for scalar in SCALARS {
        for &op in UnaryOp::ALL.iter().filter(|&&op| verify::unary_exists(op, scalar)) {
            for a in ranges(scalar) {
                let result = transfer::unary(op, scalar, a);
                assert!(result.is_within(Range::all(scalar)), "{op:?} of {a:?} is {result:?}");
                for x in members(a) {
                    let number = eval::unary(op, int(scalar, x)).and_then(Const::as_int);
                    let number = number.expect("it is defined");
                    assert!(result.contains(number), "{op:?} of {x} in {a:?} is {number}, not in {result:?}");
                }
            }
        }
    }
}

#[test]
fn binary() {
    for scalar in SCALARS {
        for &op in BinaryOp::ALL.iter().filter(|&&op| verify::binary_exists(op, scalar)) {
            let ranges = ranges(scalar);
            let samples: Vec<Vec<i128>> = ranges.iter().map(|&range| sample(range)).collect();
            for (&a, xs) in ranges.iter().zip(&samples) {
                for (&b, ys) in ranges.iter().zip(&samples) {
                    let result = transfer::binary(op, scalar, a, b);
                    assert!(result.is_within(Range::all(scalar)), "{op:?} of {a:?} and {b:?}: {result:?}");
                    for &x in xs {
                        for &y in ys {
                            // A division by zero gives zero.
                            let number = eval::binary(op, int(scalar, x), int(scalar, y));
                            let number = number.and_then(Const::as_int).unwrap_or(0);
                            assert!(
                                result.contains(number),
                                "{op:?} of {x} in {a:?} and {y} in {b:?} is {number}, not in {result:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn comparisons() {
    for scalar in SCALARS {
        for &op in CompareOp::ALL {
            for a in ranges(scalar) {
                for b in ranges(scalar) {
                    let result = transfer::compare(op, scalar, a, b);
                    for x in [a.lo(), a.hi()] {
                        for y in [b.lo(), b.hi()] {
                            let holds = eval::compare(op, int(scalar, x), int(scalar, y));
                            assert!(result.contains(holds.expect("it is defined").into()));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn casts() {
    for from in SCALARS {
        for to in Scalar::ALL.into_iter().filter(|to| !to.is_float()) {
            for a in ranges(from) {
                let result = transfer::cast(from, to, a);
                assert!(result.is_within(Range::all(to)));
                for x in members(a) {
                    let number = eval::cast(int(from, x), to).and_then(Const::as_int).expect("defined");
                    assert!(result.contains(number), "{x} in {a:?} as {to} is {number}, not in {result:?}");
                    if verify::bitcast_exists(from, to) {
                        let number = eval::bitcast(int(from, x), to).and_then(Const::as_int);
                        assert!(transfer::bitcast(from, to, a).contains(number.expect("defined")));
                    }
                }
            }
        }
    }
}

/// Numbers at the edges of 64 bits, where products do not fit any type.
#[test]
fn wide_operands() {
    let numbers =
        [0, 1, 2, 3, 63, 64, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 2, (1 << 64) - 1];
    for scalar in [Scalar::I64, Scalar::U64, Scalar::Index] {
        let numbers: Vec<i128> = numbers.iter().filter_map(|&number| int(scalar, number).as_int()).collect();
        let ranges: Vec<Range> = numbers
            .iter()
            .flat_map(|&lo| numbers.iter().filter_map(move |&hi| Range::interval(lo, hi)))
            .collect();
        for &op in BinaryOp::ALL.iter().filter(|&&op| verify::binary_exists(op, scalar)) {
            for &a in &ranges {
                for &b in &ranges {
                    let result = transfer::binary(op, scalar, a, b);
                    for &x in numbers.iter().filter(|&&x| a.contains(x)) {
                        for &y in numbers.iter().filter(|&&y| b.contains(y)) {
                            let number = eval::binary(op, int(scalar, x), int(scalar, y));
                            let number = number.and_then(Const::as_int).unwrap_or(0);
                            assert!(
                                result.contains(number),
                                "{op:?} of {x} in {a:?}, {y} in {b:?}: {number}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn results_are_close() {
    let range = |lo, hi| Range::interval(lo, hi).expect("not empty");
    let index = |op, a, b| transfer::binary(op, Scalar::Index, a, b);
    let multiple_of_4 = Range::new(0, 1020, Residue::new(2, 0)).expect("not empty");
    assert_eq!(index(BinaryOp::Shl, range(0, 255), Range::exact(2)), multiple_of_4);
    assert_eq!(index(BinaryOp::Mul, range(0, 255), Range::exact(4)), multiple_of_4);
    assert_eq!(index(BinaryOp::Div, range(5, 100), range(0, 7)), range(0, 100));
    assert_eq!(index(BinaryOp::Div, range(5, 100), range(2, 5)), range(1, 50));
    assert_eq!(index(BinaryOp::Rem, range(5, 100), Range::exact(32)), range(0, 31));
    assert_eq!(index(BinaryOp::Rem, range(5, 31), Range::exact(32)), range(5, 31));
    assert_eq!(index(BinaryOp::And, Range::all(Scalar::Index), range(0, 7)), range(0, 7));
    assert_eq!(index(BinaryOp::Or, range(1, 4), range(2, 9)), range(2, 15));
    assert_eq!(index(BinaryOp::Sub, range(0, 3), range(4, 5)), range((1 << 64) - 5, (1 << 64) - 1));
    assert_eq!(index(BinaryOp::Sub, range(0, 3), range(0, 5)), Range::all(Scalar::Index));
    assert_eq!(transfer::cast(Scalar::I32, Scalar::U8, range(-3, -1)), range(253, 255));
}
