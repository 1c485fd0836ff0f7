//! Results of pycute, the Python reference model of CuTe, on many layouts: this crate gives the
//! same layouts, integer by integer and with the same nesting.
//!
//! `data/pycute.tsv` says which version made them and what it leaves out. Strides of extents
//! of 1, which reach no offset, are not compared.

use std::collections::BTreeMap;

use tilewise_layout::{
    IntTuple, Layout, Tiler, coalesce, complement, composition, fixed, logical_divide, logical_product,
    right_inverse, zipped_divide,
};

const VECTORS: &str = include_str!("data/pycute.tsv");

#[test]
fn same_layouts_as_pycute() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (operation, operands, expected) =
            (fields[0], &fields[1..fields.len() - 1], fields[fields.len() - 1]);
        let layouts = || operands.iter().map(|text| layout(text));
        let a = layouts().next().unwrap_or_else(|| panic!("{line}"));
        let b = || layouts().nth(1).unwrap_or_else(|| panic!("{line}"));
        let result = match operation {
            "coalesce" => Ok(coalesce(&a)),
            "composition" => composition(&a, b()),
            "complement" => complement(&a, operands[1].parse::<IntTuple>().unwrap()),
            "logical_divide" => logical_divide(&a, b()),
            "zipped_divide" => zipped_divide(&a, layouts().skip(1).collect::<Vec<_>>()),
            "logical_product" => logical_product(&a, b()),
            "right_inverse" => right_inverse(&a),
            _ => panic!("unknown operation: {line}"),
        };
        let result = result.unwrap_or_else(|error| panic!("{line}\n{error}"));
        assert_eq!(reached(&result), reached(&layout(expected)), "{line}");
        *counts.entry(operation).or_default() += 1;
    }
    assert_eq!(counts.len(), 7, "{counts:?}");
    assert!(counts.values().all(|&n| n >= 250), "{counts:?}");
}

/// The kind of an integer changes no value: all the vectors again with static integers.
#[test]
fn same_values_for_static_integers() {
    for line in VECTORS.lines().filter(|line| line.starts_with("composition\t")) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (a, b) = (layout(fields[1]), layout(fields[2]));
        let fixed = composition(&to_static(&a), Tiler::from(to_static(&b))).unwrap();
        assert_eq!(fixed, composition(&a, b).unwrap(), "{line}");
        assert!(fixed.is_static(), "{line}: {fixed:#}");
    }
}

/// A layout as pycute prints it; a complement's target is one integer, which stands for n:1.
fn layout(text: &str) -> Layout {
    match text.parse() {
        Ok(layout) => layout,
        Err(_) => Layout::new(text.parse::<IntTuple>().unwrap(), fixed(1)).unwrap(),
    }
}

fn to_static(layout: &Layout) -> Layout {
    let mut text = String::new();
    let mut inside = false;
    for c in layout.to_string().chars() {
        if c.is_ascii_digit() && !inside {
            text.push('_');
        }
        inside = c.is_ascii_digit();
        text.push(c);
    }
    text.parse().unwrap()
}

/// The layout with stride 0 for each extent of 1.
fn reached(layout: &Layout) -> Layout {
    fn mask(shape: &IntTuple, stride: &IntTuple) -> IntTuple {
        match (shape, stride) {
            (IntTuple::Int(extent), _) if *extent == 1 => fixed(0).into(),
            (IntTuple::Tuple(shapes), IntTuple::Tuple(strides)) => {
                shapes.iter().zip(strides).map(|(s, d)| mask(s, d)).collect::<Vec<_>>().into()
            }
            _ => stride.clone(),
        }
    }
    Layout::new(layout.shape(), mask(layout.shape(), layout.stride())).unwrap()
}
