//! The laws on random layouts, larger and deeper than those of `laws.rs`; and that no input,
//! however absurd, makes an operation panic.

mod support {
    pub(crate) mod definition;
}

use proptest::collection::vec;
use proptest::prelude::*;
use support::definition::{extended, table};
use tilewise_layout::{
    Int, IntTuple, Layout, Swizzle, blocked_product, coalesce, coalesce_by_profile, col_major, complement,
    composition, filter, flat_divide, left_inverse, logical_divide, logical_product, make_layout,
    make_ordered_layout, raked_product, right_inverse, row_major, tile_to_shape, try_row_major,
    zipped_divide, zipped_product,
};

/// An integer of this range, static or dynamic.
fn int(range: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Int> {
    (range, any::<bool>()).prop_map(|(n, fixed)| if fixed { Int::Static(n) } else { Int::Dynamic(n) })
}

/// A tuple of this range's integers, nested up to three deep.
fn tuple(range: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = IntTuple> {
    let leaf = int(range).prop_map(IntTuple::from);
    leaf.prop_recursive(3, 5, 3, |inner| vec(inner, 1..=3).prop_map(IntTuple::Tuple))
}

/// The nesting of `shape` with the integers of `flat`.
fn nested(shape: &IntTuple, flat: &mut impl Iterator<Item = Int>) -> IntTuple {
    match shape {
        IntTuple::Int(n) => flat.next().unwrap_or(*n).into(),
        IntTuple::Tuple(modes) => IntTuple::Tuple(modes.iter().map(|mode| nested(mode, flat)).collect()),
    }
}

/// A layout of at most 2,048 elements: its strides are compact in a random order, compact with
/// gaps, or any.
fn layout() -> impl Strategy<Value = Layout> {
    let parts = (tuple(1..=8), vec(int(0..=40), 32), vec(0..100_usize, 32), vec(1..=3_usize, 32), 0..3);
    parts.prop_filter_map("too large", |(shape, any, order, gaps, kind)| {
        let flat = shape.flatten();
        if shape.product().ok()?.get() > 2048 {
            return None;
        }
        let mut strides = any;
        if kind < 2 {
            let mut places: Vec<usize> = (0..flat.len()).collect();
            places.sort_by_key(|&i| order[i % order.len()]);
            let mut next = Int::Static(1);
            strides = flat.clone();
            for i in places {
                if kind == 1 {
                    next = next.mul(Int::Static(gaps[i % gaps.len()])).ok()?;
                }
                strides[i] = next;
                next = next.mul(flat[i]).ok()?;
            }
        }
        let stride = nested(&shape, &mut strides.into_iter());
        Layout::new(shape, stride).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn coalesce_keeps_the_function(a in layout()) {
        let c = coalesce(&a);
        prop_assert!(c.size() == a.size() && c.depth() <= 1);
        prop_assert_eq!(table(&c), table(&a));
        let profile: IntTuple = vec![1; a.rank()].into();
        if a.depth() > 0 {
            prop_assert_eq!(table(&coalesce_by_profile(&a, profile).unwrap()), table(&a));
        }
    }

    #[test]
    fn coordinates_and_offsets_agree(a in layout()) {
        prop_assert_eq!(a.cosize(), table(&a).into_iter().max().unwrap() + 1);
        prop_assert_eq!(a.transpose().transpose(), a.clone());
        for (i, offset) in table(&a).into_iter().enumerate() {
            let coord = a.idx2crd(i).unwrap();
            prop_assert_eq!(a.offset(&coord), Ok(offset));
            prop_assert_eq!(a.crd2idx(coord), Ok(i));
        }
    }

    #[test]
    fn text_parses_back(a in layout()) {
        let parsed: Layout = format!("{a:#}").parse().unwrap();
        prop_assert_eq!(parsed.static_key(), a.static_key());
        prop_assert_eq!(parsed, a);
    }

    #[test]
    fn composition_is_a_of_b(a in layout(), b in layout()) {
        if let Ok(result) = composition(&a, &b) {
            prop_assert!(b.shape().is_compatible(result.shape()));
            let expected: Vec<usize> = table(&b).into_iter().map(|i| extended(&a, i)).collect();
            prop_assert_eq!(table(&result), expected);
        }
    }

    #[test]
    fn composition_with_a_part_of_the_same_order(a in layout(), b in layout()) {
        // A reshape of A that keeps its one-integer order is always possible with its own shape.
        let same = composition(&a, col_major(a.shape())).unwrap();
        prop_assert_eq!(table(&same), table(&a));
        // One extent alone takes any layout.
        let line = Layout::new(a.size(), 3).unwrap();
        let expected: Vec<usize> = table(&b).into_iter().map(|i| 3 * i).collect();
        prop_assert_eq!(table(&composition(&line, &b).unwrap()), expected);
    }

    #[test]
    fn complement_fills_each_offset_once(a in layout(), target in 0..3000_usize) {
        if let Ok(rest) = complement(&a, target) {
            let span = filter(&a).flat_modes().iter().map(|(s, d)| s.get() * d.get()).max().unwrap_or(1);
            let places = table(&rest);
            prop_assert!(places.windows(2).all(|w| w[0] < w[1]));
            let tile = table(&filter(&a));
            let mut sums: Vec<usize> =
                places.iter().flat_map(|p| tile.iter().map(move |t| t + p)).collect();
            sums.sort_unstable();
            prop_assert!(sums.into_iter().eq(0..target.next_multiple_of(span.max(1))));
        }
    }

    #[test]
    fn inverses_invert(a in layout()) {
        let right = right_inverse(&a).unwrap();
        for (i, c) in table(&right).into_iter().enumerate() {
            prop_assert_eq!(extended(&a, c), i);
        }
        if a.is_bijective() {
            prop_assert_eq!(right.size(), a.size());
            prop_assert!(a.is_injective() && left_inverse(&a).is_ok());
        }
        if let Ok(left) = left_inverse(&a) {
            for (i, offset) in table(&a).into_iter().enumerate() {
                prop_assert_eq!(extended(&left, offset), i);
            }
        }
    }

    #[test]
    fn divide_is_composition_with_tile_and_rest(a in layout(), b in layout()) {
        if let Ok(divided) = logical_divide(&a, &b) {
            let both = make_layout([b.clone(), complement(&b, a.size()).unwrap()]).unwrap();
            let expected: Vec<usize> = table(&both).into_iter().map(|i| extended(&a, i)).collect();
            prop_assert_eq!(table(&divided), expected);
        }
    }

    #[test]
    fn tiles_of_a_matrix_are_its_elements(
        (rows, columns) in (1..20_usize, 1..20_usize),
        (tile_rows, tile_columns) in (1..8_usize, 1..8_usize),
        by_rows in any::<bool>(),
    ) {
        let shape = [rows, columns];
        let matrix = if by_rows { row_major(shape) } else { col_major(shape) };
        let tiles = zipped_divide(&matrix, [tile_rows, tile_columns]).unwrap();
        let mut seen = vec![0; rows * columns];
        let (tile, rest) = (tiles.mode(0).unwrap(), tiles.mode(1).unwrap());
        for (i, j) in (0..tile.size()).flat_map(|i| (0..rest.size()).map(move |j| (i, j))) {
            let (t, r) = (tile.idx2crd(i).unwrap().flatten(), rest.idx2crd(j).unwrap().flatten());
            let row = t[0].get() + r[0].get() * tile_rows;
            let column = t[1].get() + r[1].get() * tile_columns;
            if row < rows && column < columns {
                let offset = tiles.offset((i, j)).unwrap();
                prop_assert_eq!(Ok(offset), matrix.offset((row, column)));
                seen[offset] += 1;
            }
        }
        prop_assert!(seen.into_iter().all(|n| n == 1), "every element is in exactly one tile");
    }

    #[test]
    fn product_repeats_the_block(a in layout(), b in layout()) {
        prop_assume!(a.size() * b.size() <= 20_000);
        if let Ok(product) = logical_product(&a, &b) {
            let places = complement(&a, a.size() * b.cosize()).unwrap();
            let starts = table(&b).into_iter().map(|j| extended(&places, j));
            let block = table(&a);
            let expected: Vec<usize> =
                starts.flat_map(|s| block.iter().map(move |i| i + s).collect::<Vec<_>>()).collect();
            prop_assert_eq!(table(&product), expected);
            prop_assert!(!(a.is_injective() && b.is_injective()) || product.is_injective());
        }
    }

    #[test]
    fn no_input_panics(
        shape in tuple(0..=usize::MAX),
        stride in tuple(0..=usize::MAX),
        small in layout(),
        n in any::<usize>(),
    ) {
        let strides = stride.flatten();
        let congruent = nested(&shape, &mut strides.iter().copied().cycle());
        let huge = row_major(&shape);
        let _ = (Layout::new(&shape, &stride), try_row_major(&shape), make_ordered_layout(&shape, &stride));
        let mut all = vec![huge, col_major(&shape)];
        all.extend(Layout::new(&shape, &congruent));
        all.extend(Layout::new(shape.rank(), strides[0]));
        for a in &all {
            let _ = (a.size(), a.cosize(), a.check(), a.mode(n), a.permute(&[n, 0]), a.transpose());
            let _ = (a.offset(n), a.offset(&stride), a.extended_offset(n), a.idx2crd(n), a.crd2idx(n));
            let _ = (a.is_row_major(), a.is_bijective(), a.static_key(), format!("{a} {a:?}"));
            let _ = (coalesce(a), filter(a), coalesce_by_profile(a, &stride));
            let _ = (right_inverse(a), left_inverse(a), complement(a, n), complement(a, &stride));
            for (x, y) in [(a, &small), (&small, a), (a, a)] {
                let _ = (composition(x, y), logical_divide(x, y), logical_product(x, y));
                let _ = (blocked_product(x, y), raked_product(x, y), make_layout([x.clone(), y.clone()]));
                let _ = (flat_divide(x, y.shape()), zipped_product(x, y.shape()));
                let _ = (zipped_divide(x, [n, 1]), tile_to_shape(x, y.shape()));
            }
        }
        let _ = Swizzle::new(n as u32, (n >> 32) as u32, n as i32).map(|s| (s.apply(n), s.period()));
    }

    #[test]
    fn no_text_panics(text in "[(),:_0-9 ]{0,12}|.{0,8}") {
        let _ = (text.parse::<Layout>(), text.parse::<IntTuple>());
    }
}
