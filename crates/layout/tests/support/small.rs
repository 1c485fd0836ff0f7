//! Small layouts, all of a kind, for the tests that check a law point by point.

use tilewise_layout::{Int, IntTuple, Layout};

/// The nestings that are tried, with their number of extents.
const PROFILES: [&str; 6] = ["0", "(0)", "(0,0)", "(0,0,0)", "(0,(0,0))", "((0,0),0)"];

/// All layouts of at most `leaves` extents with these extents and strides, in all nestings.
pub(crate) fn layouts(leaves: usize, extents: &[usize], strides: &[usize]) -> Vec<Layout> {
    let mut all = Vec::new();
    for profile in PROFILES {
        let profile: IntTuple = profile.parse().unwrap();
        let count = profile.flatten().len();
        if count > leaves {
            continue;
        }
        for shape in choices(extents, count) {
            for stride in choices(strides, count) {
                all.push(Layout::new(nested(&profile, &shape), nested(&profile, &stride)).unwrap());
            }
        }
    }
    all
}

/// Layouts to try an operation of one operand on: up to three extents, with and without gaps,
/// overlaps, broadcasts, extents of 1 and of 0.
pub(crate) fn singles() -> Vec<Layout> {
    let mut all = layouts(3, &[1, 2, 3], &[0, 1, 2, 3, 4, 6]);
    all.extend(layouts(2, &[1, 2, 3, 4, 6], &[0, 1, 2, 3, 4, 5, 6, 8, 12, 24]));
    all.extend(layouts(2, &[0, 3], &[0, 1, 3]));
    all
}

/// Left operands of an operation of two.
pub(crate) fn lefts() -> Vec<Layout> {
    let mut all = layouts(2, &[1, 2, 4, 6], &[0, 1, 2, 5, 6]);
    all.extend(layouts(3, &[2, 3], &[1, 2, 7]));
    all.extend(layouts(2, &[0, 3], &[1, 3]));
    all
}

/// Right operands of an operation of two.
pub(crate) fn rights() -> Vec<Layout> {
    let mut all = layouts(2, &[1, 2, 3, 4], &[0, 1, 2, 3, 4]);
    all.extend(layouts(1, &[5, 6, 8], &[1, 2, 3, 6]));
    all.extend(layouts(2, &[0, 2], &[1, 2]));
    all
}

fn choices(values: &[usize], count: usize) -> Vec<Vec<usize>> {
    (0..count).fold(vec![vec![]], |all, _| {
        all.iter().flat_map(|c| values.iter().map(move |v| [&c[..], &[*v]].concat())).collect()
    })
}

fn nested(profile: &IntTuple, values: &[usize]) -> IntTuple {
    fn fill(profile: &IntTuple, values: &mut impl Iterator<Item = usize>) -> IntTuple {
        match profile {
            IntTuple::Int(_) => Int::from(values.next().unwrap()).into(),
            IntTuple::Tuple(modes) => IntTuple::Tuple(modes.iter().map(|mode| fill(mode, values)).collect()),
        }
    }
    fill(profile, &mut values.iter().copied())
}
