//! `f64`: against results of many digits, in `reference.txt`, which `reference.py` prints.

use std::collections::BTreeMap;

use tilewise_ir::Scalar;

use crate::function::{Function, is_binary};

/// The documented bounds in units in the last place.
const BOUNDS: [(&str, f64); 9] = [
    ("exp", 1.0),
    ("exp2", 1.0),
    ("log", 1.0),
    ("log2", 1.0),
    ("sin", 1.0),
    ("cos", 1.0),
    ("tanh", 2.0),
    ("pow", 1.0),
    ("atan2", 2.0),
];

/// A line of the file.
struct Reference {
    args: [u64; 2],
    /// The result, rounded to nearest.
    result: u64,
    /// How far the exact result is above the rounded one, in units in the last place.
    rest: f64,
}

fn references() -> BTreeMap<&'static str, Vec<Reference>> {
    let mut by_function: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in include_str!("reference.txt").lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let bits = |field: &str| u64::from_str_radix(field, 16).unwrap();
        let [args @ .., result, rest] = &fields[1..] else { panic!("{line}") };
        let reference = Reference {
            args: [bits(args[0]), args.get(1).map_or(0, |y| bits(y))],
            result: bits(result),
            rest: rest.parse::<f64>().unwrap() / 256.0,
        };
        by_function.entry(fields[0]).or_default().push(reference);
    }
    by_function
}

/// Numbers in the order of their values, one after the other.
fn ordinal(bits: u64) -> i64 {
    let magnitude = (bits & (u64::MAX >> 1)) as i64;
    if bits >> 63 == 1 { -magnitude } else { magnitude }
}

#[test]
fn against_many_digits() {
    let references = references();
    assert_eq!(references.len(), BOUNDS.len());
    for (name, bound) in BOUNDS {
        let lines = &references[name];
        let operands = |n: usize| lines.iter().map(|line| line.args[n]).collect::<Vec<u64>>();
        let second = if is_binary(name) { operands(1) } else { Vec::new() };
        let results = Function::new(name, Scalar::F64).run(&operands(0), &second);
        let mut worst = (0.0, [0.0; 2]);
        for (line, &got) in lines.iter().zip(&results) {
            assert!(!f64::from_bits(got).is_nan(), "{name} of {:x?} is NaN", line.args);
            let error = ((ordinal(got) - ordinal(line.result)) as f64 - line.rest).abs();
            if error > worst.0 {
                worst = (error, line.args.map(f64::from_bits));
            }
        }
        let (error, [x, y]) = worst;
        println!("{name:>6} f64: {error:.3} ulp at {x:e}, {y:e}");
        assert!(error <= bound, "{name}({x:e}, {y:e}) is {error} ulp off, bound {bound}");
    }
}
