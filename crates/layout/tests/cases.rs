//! Single cases with their answers: those that go wrong elsewhere, the messages of refusals,
//! and which integers stay static.

use tilewise_layout::{
    Int, IntTuple, Layout, LayoutError, blocked_product, coalesce, col_major, complement, composition, fixed,
    logical_divide, row_major, try_row_major, zipped_divide,
};

fn layout(text: &str) -> Layout {
    text.parse().unwrap()
}

#[test]
fn composition_without_a_single_stride_is_refused_by_name() {
    // The offsets are 0, 3, 12, 21, 30: no stride gives them.
    let error = composition(&layout("(4,5):(1,10)"), layout("5:3")).unwrap_err();
    assert!(matches!(error, LayoutError::CompositionStride { extent: 4, stride: 3, .. }));
    let message = error.to_string();
    assert!(message.contains("extent 4") && message.contains("stride 3"), "{message}");

    // Two elements always have a stride.
    assert_eq!(composition(&layout("(4,5):(1,10)"), layout("2:6")), Ok(layout("2:12")));
}

#[test]
fn composition_whose_modes_add_up_over_an_extent_is_refused() {
    // A(1 + 3) = A(4) = 10, but A(1) + A(3) = 4.
    let error = composition(&layout("(4,5):(1,10)"), layout("(2,2):(1,3)")).unwrap_err();
    assert!(matches!(error, LayoutError::CompositionCarry { extent: 4, reach: 4, .. }), "{error}");
}

#[test]
fn composition_that_ends_within_a_run_is_refused() {
    let error = composition(&layout("(4,6):(1,100)"), layout("6:1")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "(4,6):(1,100) cannot be composed with 6:1: extent 6 at stride 1 ends within a run of 4 \
         over extent 4 of the left layout; take an extent of at most 4 or a multiple of 4"
    );
}

#[test]
fn coalesce_with_static_and_dynamic_integers() {
    for (text, expected) in [
        ("(2,(3,4)):(1,(2,6))", "24:1"),
        ("(2,1,3):(4,9,8)", "6:4"),
        ("(2,3):(1,4)", "(2,3):(1,4)"),
        ("(1,1):(5,7)", "1:0"),
        ("(_2,(_3,_4)):(_1,(_2,_6))", "24:1"),
    ] {
        assert_eq!(coalesce(&layout(text)).to_string(), expected, "{text}");
    }
    assert_eq!(format!("{:#}", coalesce(&layout("(_2,3):(_1,_2)"))), "6:_1");
}

#[test]
fn complements() {
    for (text, target, expected) in [
        ("6:4", 24, "4:1"),
        ("4:1", 24, "6:4"),
        ("4:2", 24, "(2,3):(1,8)"),
        ("(2,2):(1,6)", 24, "(3,2):(2,12)"),
        ("(2,4):(1,6)", 24, "3:2"),
        ("1:0", 8, "8:1"),
        ("24:1", 24, "1:0"),
        ("(4,6):(1,4)", 24, "1:0"),
    ] {
        assert_eq!(complement(&layout(text), target).unwrap().to_string(), expected, "{text}");
    }
    let overlap = complement(&layout("(3,2):(1,2)"), 12).unwrap_err();
    assert!(matches!(overlap, LayoutError::ComplementOverlap { extent: 2, stride: 2, span: 3, .. }));
    let gap = complement(&layout("(2,2):(1,3)"), 12).unwrap_err();
    assert!(matches!(gap, LayoutError::ComplementGap { extent: 2, stride: 3, span: 2, .. }));
}

#[test]
fn broadcast_needs_storage_for_its_offsets_only() {
    let (row, column) = (layout("(3,4):(0,1)"), layout("(3,4):(1,0)"));
    assert_eq!((row.cosize(), column.cosize()), (4, 3));
    assert_eq!((row.size(), row.offset((2, 3))), (12, Ok(3)));
}

#[test]
fn static_integers_stay_where_all_they_come_from_is_static() {
    // A matrix known at launch, a tile known to the kernel.
    let matrix = row_major((100, 64));
    let tiles = zipped_divide(&matrix, (fixed(4), fixed(8))).unwrap();
    assert_eq!(format!("{tiles:#}"), "((_4,_8),(25,8)):((64,_1),(256,_8))");
    assert_eq!(tiles.static_key(), "((_4,_8),(?,?)):((?,_1),(?,_8))");

    let all = zipped_divide(&row_major((fixed(8), fixed(12))), (fixed(4), fixed(3))).unwrap();
    assert!(all.is_static(), "{all:#}");
    assert!(!all.to_dynamic().is_static());
    assert_eq!(format!("{:#}", row_major([4, 8])), "(4,8):(8,_1)");
    assert_eq!(format!("{:#}", col_major([4, 8])), "(4,8):(_1,4)");
}

#[test]
fn tuples_from_what_is_at_hand() {
    let nested = IntTuple::from((2, (3, 4)));
    assert_eq!(nested, IntTuple::from((2, [3, 4])));
    assert_eq!(nested, "(2,(3,4))".parse().unwrap());
    assert_eq!(IntTuple::from((1, 2, 3, 4, 5, 6)).rank(), 6);
    assert_eq!(IntTuple::from(vec![2, 3]), IntTuple::from(&[2, 3][..]));
    assert_eq!((IntTuple::from(8).depth(), IntTuple::from([8]).depth()), (0, 1));
    assert_eq!(nested.get(1), Some(&IntTuple::from((3, 4))));
    assert_eq!(nested.get(2), None);
    assert!(Int::from(3) < fixed(4) && fixed(4) == 4);
}

#[test]
fn empty_layouts_have_no_offsets() {
    let empty = row_major((0, 5));
    assert_eq!((empty.size(), empty.cosize()), (0, 0));
    assert!(empty.offset((0, 0)).is_err());
    assert_eq!(coalesce(&empty).size(), 0);
    let tiles = zipped_divide(&empty, (4, 4)).unwrap();
    assert_eq!((tiles.mode(0).unwrap().size(), tiles.size()), (16, 0));
    let error = logical_divide(&row_major(8), layout("0:1")).unwrap_err();
    assert!(matches!(error, LayoutError::ComplementEmpty { .. }));
}

#[test]
fn a_shape_too_large_to_count_is_an_error_where_it_matters() {
    let huge = row_major((usize::MAX, 2, 2));
    assert_eq!((huge.size(), huge.cosize()), (usize::MAX, usize::MAX));
    assert!(matches!(huge.check(), Err(LayoutError::Overflow { .. })));
    assert!(matches!(try_row_major((usize::MAX, 2)), Err(LayoutError::Overflow { .. })));
    assert!(matches!(Layout::new(3, usize::MAX), Err(LayoutError::Overflow { .. })));
    assert!(matches!(huge.offset((usize::MAX - 1, 1, 1)), Err(LayoutError::Overflow { .. })));
}

#[test]
fn wrong_coordinates_and_modes_are_named() {
    let a = layout("(2,(3,4)):(1,(2,6))");
    let message = |error: LayoutError| error.to_string();
    assert_eq!(
        message(a.offset((2, 0)).unwrap_err()),
        "coordinate 2 is outside extent 2 (shape 2); coordinates start at 0"
    );
    assert_eq!(
        message(a.offset((0, 0, 0, 0)).unwrap_err()),
        "coordinate (0,0,0,0) does not fit shape (2,(3,4)); give one integer, one for each of the 3 \
         extents, or integers nested like the shape"
    );
    assert_eq!(message(a.mode(2).unwrap_err()), "(2,(3,4)):(1,(2,6)) has no mode 2; its modes are 0 to 1");
    assert!(matches!(a.permute(&[0, 0]), Err(LayoutError::NotAPermutation { .. })));
}

#[test]
fn products_put_blocks_side_by_side() {
    let tiled = blocked_product(&row_major((2, 2)), &row_major((2, 3))).unwrap();
    // Each row of the 4 by 6 result as offsets.
    let rows: Vec<Vec<usize>> =
        (0..4).map(|r| (0..6).map(|c| tiled.offset((r, c)).unwrap()).collect()).collect();
    assert_eq!(rows[0], [0, 1, 4, 5, 8, 9]);
    assert_eq!(rows[1], [2, 3, 6, 7, 10, 11]);
    assert_eq!(rows[2], [12, 13, 16, 17, 20, 21]);
}
