//! The law of every public function: its wording here is the one in its documentation, and it
//! is checked point by point on all small layouts.
//!
//! Each entry of the table below is a test. It fails if the documentation does not state the
//! law in the same words; and a public function without an entry fails
//! `every_public_function_has_a_law`.

mod support {
    pub(crate) mod definition;
    pub(crate) mod small;
}

use std::collections::BTreeSet;
use std::path::Path;

use support::definition::{extended, function, table};
use support::small::{layouts, lefts, rights, singles};
use tilewise_layout::{
    Int, IntTuple, Layout, LayoutError, Swizzle, Tiler, blocked_product, coalesce, coalesce_by_profile,
    col_major, complement, composition, fixed, flat_divide, flat_product, left_inverse, logical_divide,
    logical_product, make_layout, make_ordered_layout, raked_product, right_inverse, row_major,
    tile_to_shape, tiled_divide, tiled_product, zipped_divide, zipped_product,
};

macro_rules! laws {
    ($($function:ident: $($wording:literal),+ => $check:expr;)+) => {
        $(
            mod $function {
                #[test]
                fn law() {
                    #[allow(unused_imports)]
                    use super::*;
                    $(assert_documented($wording);)+
                    $check
                }
            }
        )+

        const FUNCTIONS: &[&str] = &[$(stringify!($function)),+];
    };
}

laws! {
    int:
        "A result of arithmetic on `Int`s is static if both operands are, and an error if it does \
         not fit."
        => int_arithmetic();
    cosize:
        "cosize(A) is one more than the largest offset of A, and 0 if A has none."
        => for a in singles() {
            let largest = table(&a).into_iter().max();
            assert_eq!(a.cosize(), largest.map_or(0, |n| n + 1), "{a}");
        };
    make_layout:
        "make_layout(A, B, ...)(i, j, ...) = A(i) + B(j) + ...."
        => for (a, b) in pairs(&short(), &short()) {
            let both = make_layout([a.clone(), b.clone()]).unwrap();
            for (i, j) in grid(a.size(), b.size()) {
                assert_eq!(at(&both, (i, j)), at(&a, i) + at(&b, j), "{a} {b} at {i}, {j}");
            }
        };
    transpose:
        "transpose(A)(cn, ..., c1, c0) = A(c0, c1, ..., cn)."
        => for a in singles() {
            let (t, offsets) = (a.transpose(), table(&a));
            for (i, offset) in offsets.into_iter().enumerate() {
                let coord = by_mode_coordinate(&a, i);
                let reversed: Vec<usize> = coord.iter().rev().copied().collect();
                let reversed: IntTuple = if a.depth() == 0 { coord[0].into() } else { reversed.into() };
                assert_eq!(at(&t, reversed), offset, "{a} at {i}");
            }
        };
    idx2crd:
        "crd2idx(idx2crd(i)) = i and A(idx2crd(i)) = A(i) for every i < size(A)."
        => for a in singles() {
            for (i, offset) in table(&a).into_iter().enumerate() {
                let coord = a.idx2crd(i).unwrap();
                assert!(coord.is_congruent(a.shape()), "{a} at {i}: {coord}");
                assert_eq!(a.crd2idx(&coord), Ok(i), "{a} at {coord}");
                assert_eq!(a.offset(&coord), Ok(offset), "{a} at {coord}");
                assert_eq!(a.offset(i), Ok(offset), "{a} at {i}");
                assert_eq!(a.offset(coord.flatten()), Ok(offset), "{a} at flat {coord}");
                assert_eq!(a.extended_offset(i), Ok(offset), "{a} at {i}");
            }
            assert!(a.idx2crd(a.size()).is_err() && a.offset(a.size()).is_err(), "{a}");
            assert_eq!(a.offsets().collect::<Vec<_>>(), table(&a), "{a}");
        };
    is_injective:
        "is_injective(A) is true exactly if no two of A's offsets are equal."
        => for a in singles() {
            let offsets: BTreeSet<usize> = table(&a).into_iter().collect();
            assert_eq!(a.is_injective(), offsets.len() == a.size(), "{a}");
        };
    is_bijective:
        "is_bijective(A) is true exactly if A's offsets are 0, 1, ..., size(A) - 1 in some order."
        => for a in singles() {
            let mut offsets = table(&a);
            offsets.sort_unstable();
            assert_eq!(a.is_bijective(), offsets.into_iter().eq(0..a.size()), "{a}");
        };
    row_major:
        "row_major(S)(c0, c1, ..., cn) = (...(c0 * s1 + c1) * s2 + ...) * sn + cn for the flat \
         coordinates of S."
        => for a in shapes() {
            let layout = row_major(a.shape());
            assert!(layout.is_row_major(), "{layout}");
            let extents = a.shape().flatten();
            for i in 0..a.size() {
                let coord = a.idx2crd(i).unwrap().flatten();
                let horner = |sum: usize, (c, s): (&Int, &Int)| sum * s.get() + c.get();
                let expected = coord.iter().zip(&extents).fold(0, horner);
                assert_eq!(at(&layout, coord), expected, "{layout} at {i}");
            }
            assert!(layout.stride().flatten().last().is_some_and(|d| d.static_value() == Some(1)));
        };
    col_major:
        "col_major(S)(i) = i for every i < size(S)."
        => for a in shapes() {
            let layout = col_major(a.shape());
            assert!(layout.is_col_major(), "{layout}");
            assert!(table(&layout).into_iter().eq(0..a.size()), "{layout}");
            assert!(layout.stride().flatten().first().is_some_and(|d| d.static_value() == Some(1)));
        };
    make_ordered_layout:
        "make_ordered_layout(S, order) is bijective, and its strides do not decrease where the \
         order increases."
        => for a in layouts(3, &[1, 2, 3], &[0, 1, 5]) {
            let layout = make_ordered_layout(a.shape(), a.stride()).unwrap();
            assert!(layout.is_bijective(), "{layout}");
            let mut ranked: Vec<(Int, Int)> =
                a.stride().flatten().into_iter().zip(layout.stride().flatten()).collect();
            ranked.sort_by_key(|pair| pair.0);
            assert!(ranked.windows(2).all(|w| w[0].0 == w[1].0 || w[0].1 <= w[1].1), "{layout}");
        };
    text:
        "The text of a layout, printed with `{:#}`, parses back to the same layout with the same \
         static integers."
        => for a in singles() {
            let text = format!("{a:#}");
            let parsed: Layout = text.parse().unwrap();
            assert_eq!((&parsed, parsed.static_key()), (&a, a.static_key()), "{text}");
            assert_eq!(a.to_string().parse(), Ok(a));
        };
    swizzle:
        "swizzle(swizzle(i)) = i, and swizzle permutes each aligned block of period() offsets."
        => swizzles();
    coalesce:
        "coalesce(A) has the size of A and a depth of at most 1, and coalesce(A)(i) = A(i) for every \
         i < size(A)."
        => for a in singles() {
            let c = coalesce(&a);
            assert!(c.size() == a.size() && c.depth() <= 1, "{a} {c}");
            assert_eq!(table(&c), table(&a), "{a} {c}");
            let modes = c.flat_modes();
            let joined = |w: &[(Int, Int)]| w[0].0.get() * w[0].1.get() == w[1].1.get();
            assert!(!modes.windows(2).any(joined), "{c} can be coalesced further");
        };
    coalesce_by_profile:
        "coalesce_by_profile(A, (p0, p1, ...)) = make_layout(coalesce_by_profile(A0, p0), \
         coalesce_by_profile(A1, p1), ...), and coalesce_by_profile(A, p) = coalesce(A) for an integer p."
        => for a in singles() {
            assert_eq!(coalesce_by_profile(&a, 1).unwrap(), coalesce(&a));
            if a.depth() > 0 {
                let profile: IntTuple = vec![1; a.rank()].into();
                let modes = make_layout(a.modes().map(|mode| coalesce(&mode))).unwrap();
                assert_eq!(coalesce_by_profile(&a, profile).unwrap(), modes, "{a}");
            }
            let profile: IntTuple = vec![1; a.rank() + 1].into();
            assert!(matches!(
                coalesce_by_profile(&a, profile),
                Err(LayoutError::TooManyModes { .. })
            ));
        };
    filter:
        "filter(A) has the same offsets as A, and no mode with stride 0 or extent 1 unless it is 1:0."
        => for a in singles() {
            let f = tilewise_layout::filter(&a);
            let offsets = |l: &Layout| table(l).into_iter().collect::<BTreeSet<_>>();
            assert_eq!(offsets(&f), offsets(&a), "{a} {f}");
            let trivial = |(extent, stride): &(Int, Int)| *extent == 1 || *stride == 0;
            assert!(f.size() <= 1 || !f.flat_modes().iter().any(trivial), "{a} {f}");
        };
    composition:
        "composition(A, B)(i) = A(B(i)) for every i < size(B), where A goes on beyond its size in its \
         last extent, and every coordinate of B is a coordinate of the result.",
        "composition(A, (B0, B1, ...)) = make_layout(composition(A0, B0), composition(A1, B1), ...)."
        => compositions();
    complement:
        "With R = complement(A, M), the sums filter(A)(i) + R(j) are the offsets below M, rounded up to \
         a multiple of the span of A, each once, and R(j) increases with j."
        => complements();
    right_inverse:
        "A(right_inverse(A)(i)) = i for every i < size(right_inverse(A)), which is size(A) if A is \
         bijective."
        => for a in singles() {
            let inverse = right_inverse(&a).unwrap();
            for (i, c) in table(&inverse).into_iter().enumerate() {
                assert_eq!(at(&a, c), i, "{a} {inverse}");
            }
            assert!(!a.is_bijective() || inverse.size() == a.size(), "{a} {inverse}");
        };
    left_inverse:
        "left_inverse(A)(A(i)) = i for every i < size(A), where left_inverse(A) goes on beyond its size \
         in its last extent."
        => for a in singles() {
            match left_inverse(&a) {
                Ok(inverse) => for (i, offset) in table(&a).into_iter().enumerate() {
                    assert_eq!(extended(&inverse, offset), i, "{a} {inverse}");
                },
                Err(LayoutError::LeftInverse { .. }) => assert!(!a.is_bijective(), "{a}"),
                Err(error) => panic!("{a}: {error}"),
            }
        };
    logical_divide:
        "logical_divide(A, B)(i, j) = A(B(i) + C(j)) with C = complement(B, size(A)), where A goes on \
         beyond its size in its last extent.",
        "logical_divide(A, (B0, B1, ...)) = make_layout(logical_divide(A0, B0), logical_divide(A1, B1), \
         ...), with the modes of A beyond the tilers as they are."
        => {
            accepted(divisions(), 20_000);
            by_mode(|a, t| logical_divide(a, t));
        };
    zipped_divide:
        "Mode 0 of zipped_divide(A, T) is composition(A, T), with 1:0 where T keeps a mode, and \
         zipped_divide(A, T)((i, j), (k, l, m)) = \
         logical_divide(A, T)((i, k), (j, l), m)."
        => {
            zipped(|a, t| logical_divide(a, t), |a, t| zipped_divide(a, t));
            for (a, b) in pairs(&three_modes(), &tilers()) {
                let Ok(zipped) = zipped_divide(&a, &b) else { continue };
                let Tiler::Modes(parts) = &b else { unreachable!() };
                let composed = composition(&a, &b).unwrap();
                let tile = composed.modes().zip(parts).map(|(mode, part)| {
                    if *part == Tiler::Keep { Layout::new(1, 0).unwrap() } else { mode }
                });
                assert_eq!(zipped.mode(0), make_layout(tile), "{a} {b:?}");
            }
        };
    tiled_divide:
        "tiled_divide(A, T)(i, k, l, ...) = zipped_divide(A, T)(i, (k, l, ...))."
        => spread(|a, t| zipped_divide(a, t), |a, t| tiled_divide(a, t), false);
    flat_divide:
        "flat_divide(A, T)(i, j, ..., k, l, ...) = zipped_divide(A, T)((i, j, ...), (k, l, ...))."
        => spread(|a, t| zipped_divide(a, t), |a, t| flat_divide(a, t), true);
    logical_product:
        "logical_product(A, B)(i, j) = A(i) + C(B(j)) with C = complement(A, size(A) * cosize(B)).",
        "logical_product(A, (B0, B1, ...)) = make_layout(logical_product(A0, B0), logical_product(A1, B1), \
         ...), with the modes of A beyond the tilers as they are."
        => {
            accepted(products(), 20_000);
            by_mode(|a, t| logical_product(a, t));
        };
    zipped_product:
        "zipped_product(A, T)((i, j), (k, l, m)) = logical_product(A, T)((i, k), (j, l), m)."
        => zipped(|a, t| logical_product(a, t), |a, t| zipped_product(a, t));
    tiled_product:
        "tiled_product(A, T)(i, k, l, ...) = zipped_product(A, T)(i, (k, l, ...))."
        => spread(|a, t| zipped_product(a, t), |a, t| tiled_product(a, t), false);
    flat_product:
        "flat_product(A, T)(i, j, ..., k, l, ...) = zipped_product(A, T)((i, j, ...), (k, l, ...))."
        => spread(|a, t| zipped_product(a, t), |a, t| flat_product(a, t), true);
    blocked_product:
        "blocked_product(A, B)((i, k), (j, l), ...) = logical_product(A, B)((i, j, ...), (k, l, ...))."
        => paired(blocked_product, |block, tile| [block, tile]);
    raked_product:
        "raked_product(A, B)((k, i), (l, j), ...) = logical_product(A, B)((i, j, ...), (k, l, ...))."
        => paired(raked_product, |block, tile| [tile, block]);
    tile_to_shape:
        "tile_to_shape(A, S) = blocked_product(A, col_major(S / shape(A))), and mode k has the size of \
         mode k of S."
        => for (a, counts) in pairs(&layouts(2, &[1, 2, 3], &[1, 2, 3]), &shapes()) {
            if a.rank() != 2 || counts.shape().flatten().len() != 2 {
                continue;
            }
            let counts = counts.shape().flatten();
            let sizes: Vec<usize> = a.modes().zip(&counts).map(|(m, n)| m.size() * n.get()).collect();
            let tiled = tile_to_shape(&a, sizes.clone());
            assert_eq!(tiled, blocked_product(&a, &col_major(counts)), "{a}");
            let Ok(tiled) = tiled else { continue };
            assert_eq!(tiled.modes().map(|m| m.size()).collect::<Vec<_>>(), sizes, "{a}");
        };
}

/// Public functions without a law of their own, and where they are checked.
const CHECKED_ELSEWHERE: &[(&str, &str)] = &[
    ("crd2idx", "idx2crd"),
    ("fixed", "int"),
    ("try_row_major", "row_major"),
    ("try_col_major", "col_major"),
];

#[test]
fn every_public_function_has_a_law() {
    let root = include_str!("../src/lib.rs");
    let exports = root.split("pub use ").skip(1).map(|text| text.split(';').next().unwrap());
    let names = exports.flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let modules = ["algebra", "coord", "error", "int", "int_tuple", "layout", "order", "swizzle"];
    for name in names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase())) {
        let covered = FUNCTIONS.contains(&name)
            || modules.contains(&name)
            || CHECKED_ELSEWHERE.iter().any(|(n, at)| *n == name && FUNCTIONS.contains(at));
        assert!(covered, "the public function {name} has no entry in the table of laws");
    }
}

/// Checks that the documentation states this law in these words.
fn assert_documented(wording: &str) {
    fn docs(folder: &Path, all: &mut String) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                docs(&path, all);
            } else {
                let text = std::fs::read_to_string(&path).unwrap();
                let lines = text.lines().map(str::trim_start);
                for line in lines.filter(|l| l.starts_with("///") || l.starts_with("//!")) {
                    all.push_str(&line[3..]);
                }
            }
        }
    }
    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
    let mut all = String::new();
    docs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    assert!(words(&all).contains(&words(wording)), "not in the documentation: {wording}");
}

/// The offset of a coordinate that the layout has.
fn at(layout: &Layout, coord: impl Into<IntTuple>) -> usize {
    let coord = coord.into();
    layout.offset(&coord).unwrap_or_else(|error| panic!("{layout} at {coord}: {error}"))
}

/// The one-integer coordinate `i` as one integer for each mode.
fn by_mode_coordinate(layout: &Layout, i: usize) -> Vec<usize> {
    let mut rest = i;
    let mut digit = |mode: Layout| {
        let digit = rest % mode.size();
        rest /= mode.size();
        digit
    };
    layout.modes().map(&mut digit).collect()
}

fn pairs<A: Clone, B: Clone>(a: &[A], b: &[B]) -> Vec<(A, B)> {
    a.iter().flat_map(|a| b.iter().map(move |b| (a.clone(), b.clone()))).collect()
}

fn grid(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(move |i| (0..columns).map(move |j| (i, j)))
}

/// Few layouts, for laws that hold by construction.
fn short() -> Vec<Layout> {
    layouts(2, &[1, 2, 3], &[0, 1, 3])
}

/// Every small shape, as a layout of stride 0.
fn shapes() -> Vec<Layout> {
    let mut all = layouts(3, &[1, 2, 3, 4], &[0]);
    all.extend(layouts(2, &[0, 3], &[0]));
    all
}

/// Layouts of shape (M, N, L), one mode of them nested.
fn three_modes() -> Vec<Layout> {
    let strides = [(1, 8, 100), (60, 6, 1), (3, 60, 1)];
    let shapes = [(8, 6, 2), (6, 9, 1), (4, 4, 3)];
    let mut all = Vec::new();
    for (s, d) in pairs(&shapes, &strides) {
        all.push(Layout::new(s, d).unwrap());
        all.push(Layout::new(((s.0 / 2, 2), s.1, s.2), ((d.0, 500), d.1, d.2)).unwrap());
    }
    all
}

/// Tilers of two modes.
fn tilers() -> Vec<Tiler> {
    let modes = [
        Tiler::Keep,
        Tiler::from(1),
        Tiler::from(2),
        Tiler::from(fixed(4)),
        Tiler::from(Layout::new(2, 2).unwrap()),
        Tiler::from(Layout::new((2, 2), (1, 4)).unwrap()),
        Tiler::from(Layout::new(3, 2).unwrap()),
    ];
    pairs(&modes, &modes).into_iter().map(|(a, b)| Tiler::from([a, b])).collect()
}

type Operation = fn(&Layout, &Tiler) -> Result<Layout, LayoutError>;

/// Checks that enough cases were accepted for the check to mean something.
fn accepted(count: usize, at_least: usize) {
    assert!(count >= at_least, "only {count} cases were accepted");
}

fn int_arithmetic() {
    let kinds = [Int::Static, Int::Dynamic];
    let values = [0, 1, 2, 3, 7, usize::MAX / 2, usize::MAX - 1, usize::MAX];
    for (x, y) in pairs(&values, &values) {
        for (kx, ky) in pairs(&kinds, &kinds) {
            let (a, b) = (kx(x), ky(y));
            let cases = [
                (a.add(b), x.checked_add(y)),
                (a.mul(b), x.checked_mul(y)),
                (a.div(b), x.checked_div(y)),
                (a.rem(b), x.checked_rem(y)),
                (a.div_ceil(b), (y != 0).then(|| x.div_ceil(y))),
            ];
            for (result, expected) in cases {
                assert_eq!(result.as_ref().ok().map(|n| n.get()), expected, "{a} {b}");
                if let Ok(n) = result {
                    assert_eq!(n.is_static(), a.is_static() && b.is_static(), "{a} {b}");
                }
            }
            assert_eq!(a == b, x == y);
        }
    }
    assert!(fixed(3).is_static() && !Int::from(3).is_static());
}

fn swizzles() {
    for bits in 0..4 {
        for (base, shift) in pairs(&[0, 1, 3], &[-4_i32, -3, -1, 0, 1, 2, 3, 4]) {
            let possible = shift.unsigned_abs() >= bits;
            let Ok(swizzle) = Swizzle::new(bits, base, shift) else {
                assert!(!possible, "{bits} {base} {shift}");
                continue;
            };
            assert!(possible, "{swizzle}");
            let period = swizzle.period().unwrap();
            for block in 0..2 {
                let range = block * period..(block + 1) * period;
                let image: BTreeSet<usize> = range.clone().map(|i| swizzle.apply(i)).collect();
                assert!(image.into_iter().eq(range.clone()), "{swizzle}");
                for i in range {
                    assert_eq!(swizzle.apply(swizzle.apply(i)), i, "{swizzle}");
                    let source = i & swizzle.mask();
                    let moved = if shift < 0 { source << -shift } else { source >> shift };
                    assert_eq!(swizzle.apply(i), i ^ moved, "{swizzle} of {i}");
                }
            }
        }
    }
}

fn compositions() {
    let (mut taken, mut refused, mut accidents) = (0, 0, 0);
    for (a, b) in pairs(&lefts(), &rights()) {
        match composition(&a, &b) {
            Ok(result) => {
                taken += 1;
                assert!(b.shape().is_compatible(result.shape()), "{a} o {b} = {result}");
                if b.size() > 0 {
                    let expected: Vec<usize> = table(&b).into_iter().map(function(&a)).collect();
                    assert_eq!(table(&result), expected, "{a} o {b} = {result}");
                }
            }
            Err(LayoutError::CompositionEmpty { .. }) => assert!(a.size() == 0 && b.size() > 0),
            Err(error) => {
                refused += 1;
                assert!(!divides(&a, &b), "{a} o {b}: {error}");
                // Where a run starts from stride 1 or a divisor, a refusal means that there is no
                // such layout at all; elsewhere there may happen to be one.
                if is_a_layout(&a, &b) {
                    accidents += 1;
                    let exact = matches!(
                        error,
                        LayoutError::CompositionShape { extent, stride, .. } if stride < extent
                    );
                    assert!(!exact, "{a} o {b}: {error}");
                }
            }
        }
    }
    assert!(taken > 100_000 && refused > 1_000, "{taken} taken, {refused} refused");
    assert!(accidents * 100 < refused, "{accidents} of {refused} refusals were not necessary");

    for (a, tiler) in pairs(&three_modes(), &tilers()) {
        let Tiler::Modes(parts) = &tiler else { unreachable!() };
        let modes: Result<Vec<_>, _> = a.modes().zip(parts).map(|(m, t)| composition(&m, t)).collect();
        assert_eq!(composition(&a, &tiler), modes.and_then(make_layout), "{a} {tiler:?}");
    }
}

/// Whether A o B meets CuTe's conditions for a B of one extent: stride and extents divide.
fn divides(a: &Layout, b: &Layout) -> bool {
    let a = &lengthened(a);
    let (a, b) = (coalesce(a).flat_modes(), b.flat_modes());
    let [(extent, stride)] = b[..] else { return false };
    let (mut extent, mut stride) = (extent.get(), stride.get());
    for (left, _) in &a[..a.len() - 1] {
        let left = left.get();
        if stride == 0 || extent == 1 {
            return true;
        }
        if stride % left != 0 && left % stride != 0 {
            return false;
        }
        let taken = (left / stride).max(1).min(extent);
        if extent % taken != 0 {
            return false;
        }
        (extent, stride) = (extent / taken, stride.div_ceil(left));
    }
    true
}

/// The layout with its last extent made long: the same function as far as the tests go, and one
/// that goes on beyond the size.
fn lengthened(a: &Layout) -> Layout {
    let mut modes = a.flat_modes();
    if let Some(last) = modes.last_mut() {
        last.0 = 1000.into();
    }
    let (shape, stride): (Vec<Int>, Vec<Int>) = modes.into_iter().unzip();
    Layout::new(shape, stride).unwrap()
}

/// Whether A o B can be written as a layout that B's coordinates fit, found out from the table.
fn is_a_layout(a: &Layout, b: &Layout) -> bool {
    let f = function(a);
    let (modes, offsets) = (b.flat_modes(), table(b));
    // The function is the sum of its functions along each extent ...
    let additive = (0..b.size()).all(|i| {
        let coord = b.idx2crd(i).unwrap().flatten();
        let parts = coord.iter().zip(&modes).map(|(c, (_, stride))| c.get() * stride.get());
        f(offsets[i]) == parts.map(&f).sum::<usize>()
    });
    // ... each of which is one.
    let nested = modes.iter().all(|(extent, stride)| {
        let along: Vec<usize> = (0..extent.get()).map(|i| f(i * stride.get())).collect();
        has_strides(&along)
    });
    additive && nested
}

/// Whether some shape with this many elements has strides that give these offsets.
fn has_strides(offsets: &[usize]) -> bool {
    let n = offsets.len();
    if n < 2 {
        return true;
    }
    (2..=n).filter(|run| n.is_multiple_of(*run)).any(|run| {
        let linear = (0..run).all(|i| offsets[i] == i * offsets[1]);
        let heads: Vec<usize> = offsets.iter().step_by(run).copied().collect();
        let repeats = (0..n).all(|i| offsets[i] == heads[i / run] + offsets[i % run]);
        linear && repeats && has_strides(&heads)
    })
}

fn complements() {
    let mut count = 0;
    for (a, target) in pairs(&singles(), &[0, 1, 5, 8, 12, 24]) {
        match complement(&a, target) {
            Ok(rest) => {
                count += 1;
                let places = table(&rest);
                assert!(places.windows(2).all(|w| w[0] < w[1]), "{a} {rest}");
                let filtered = tilewise_layout::filter(&a);
                let span = filtered.flat_modes().iter().map(|(s, d)| s.get() * d.get()).max();
                let covered = target.next_multiple_of(span.unwrap_or(1).max(1));
                let mut sums: Vec<usize> =
                    pairs(&table(&filtered), &places).into_iter().map(|(x, y)| x + y).collect();
                sums.sort_unstable();
                assert!(sums.into_iter().eq(0..covered), "{a} {target} {rest}");
            }
            Err(LayoutError::ComplementEmpty { .. }) => assert_eq!(a.size(), 0, "{a}"),
            Err(LayoutError::ComplementOverlap { .. } | LayoutError::ComplementGap { .. }) => {
                assert!(!a.is_bijective(), "{a}");
            }
            Err(error) => panic!("{a} {target}: {error}"),
        }
    }
    accepted(count, 20_000);
}

/// Checks that a layout has modes of these sizes.
fn assert_sizes(layout: &Layout, sizes: [usize; 2]) {
    assert!(layout.modes().map(|mode| mode.size()).eq(sizes), "{layout}");
}

/// Checks the law of the logical divide; returns how many divisions there were.
fn divisions() -> usize {
    let mut count = 0;
    for (a, b) in pairs(&lefts(), &rights()) {
        let Ok(divided) = logical_divide(&a, &b) else { continue };
        count += 1;
        let rest = complement(&b, a.size()).unwrap();
        assert_sizes(&divided, [b.size(), rest.size()]);
        let (tile, rest, a_of) = (table(&b), table(&rest), &function(&a));
        let expected = rest.iter().flat_map(|j| tile.iter().map(move |i| a_of(i + j)));
        assert!(table(&divided).into_iter().eq(expected), "{a} {b}: {divided}");
    }
    count
}

/// Checks the law of the logical product; returns how many products there were.
fn products() -> usize {
    let mut count = 0;
    for (a, b) in pairs(&lefts(), &rights()) {
        let Ok(product) = logical_product(&a, &b) else { continue };
        count += 1;
        let places = complement(&a, a.size() * b.cosize()).unwrap();
        assert_sizes(&product, [a.size(), b.size()]);
        let (block, copies) = (table(&a), table(&b));
        let places: Vec<usize> = copies.into_iter().map(|j| at(&places, j)).collect();
        let expected = places.iter().flat_map(|j| block.iter().map(move |i| i + j));
        assert!(table(&product).into_iter().eq(expected), "{a} {b}: {product}");
    }
    count
}

/// Checks that an operation with a tuple of tilers is the operation on each mode.
fn by_mode(operation: Operation) {
    for (a, tiler) in pairs(&three_modes(), &tilers()) {
        let Tiler::Modes(parts) = &tiler else { unreachable!() };
        let modes: Result<Vec<_>, _> = a
            .modes()
            .enumerate()
            .map(|(i, mode)| parts.get(i).map_or(Ok(mode.clone()), |t| operation(&mode, t)))
            .collect();
        assert_eq!(operation(&a, &tiler), modes.and_then(make_layout), "{a} {tiler:?}");
    }
}

/// Checks a zipped operation against its logical one.
fn zipped(logical: Operation, zipped: Operation) {
    let mut count = 0;
    for (a, tiler) in pairs(&three_modes(), &tilers()) {
        let (Ok(logical), Ok(zipped)) = (logical(&a, &tiler), zipped(&a, &tiler)) else {
            assert!(logical(&a, &tiler).is_err() && zipped(&a, &tiler).is_err(), "{a} {tiler:?}");
            continue;
        };
        count += 1;
        assert_eq!(zipped.rank(), 2);
        let Tiler::Modes(parts) = &tiler else { unreachable!() };
        let (tile, rest) = (zipped.mode(0).unwrap(), zipped.mode(1).unwrap());
        for (x, y) in grid(tile.size(), rest.size()) {
            let tile_at = by_mode_coordinate(&tile, x);
            let rest_at = by_mode_coordinate(&rest, y);
            let mut coord: Vec<IntTuple> = Vec::new();
            for (i, &k) in rest_at.iter().enumerate() {
                coord.push(match parts.get(i) {
                    // A mode that is kept has no tile: its coordinate is that of the rest.
                    Some(Tiler::Keep) | None => k.into(),
                    Some(_) => (tile_at[i], k).into(),
                });
            }
            let expected = at(&logical, coord);
            let pair: IntTuple = (tile_at, rest_at).into();
            assert_eq!(at(&zipped, pair), expected, "{a} {tiler:?} at {x}, {y}");
        }
    }
    accepted(count, 200);
}

/// Checks an operation against the zipped one whose modes it spreads.
fn spread(zipped: Operation, spread: Operation, both: bool) {
    let mut count = 0;
    for (a, tiler) in pairs(&three_modes(), &tilers()) {
        let (Ok(zipped), Ok(spread)) = (zipped(&a, &tiler), spread(&a, &tiler)) else {
            assert!(zipped(&a, &tiler).is_err() && spread(&a, &tiler).is_err(), "{a} {tiler:?}");
            continue;
        };
        count += 1;
        let (tile, rest) = (zipped.mode(0).unwrap(), zipped.mode(1).unwrap());
        for (x, y) in grid(tile.size(), rest.size()) {
            let tile_at = by_mode_coordinate(&tile, x);
            let mut coord = if both { tile_at } else { vec![x] };
            coord.extend(by_mode_coordinate(&rest, y));
            assert_eq!(at(&spread, coord), at(&zipped, (x, y)), "{a} {tiler:?} at {x}, {y}");
        }
    }
    accepted(count, 200);
}

/// Checks a product that pairs modes, in the order that `order` gives.
fn paired(
    operation: fn(&Layout, &Layout) -> Result<Layout, LayoutError>,
    order: fn(usize, usize) -> [usize; 2],
) {
    let mut count = 0;
    let two_modes = |all: Vec<Layout>| all.into_iter().filter(|l| l.rank() == 2).collect::<Vec<_>>();
    let mut blocks = two_modes(layouts(2, &[1, 2, 3], &[1, 2, 3, 6]));
    blocks.extend(two_modes(layouts(3, &[2], &[1, 2, 4])));
    for (a, b) in pairs(&blocks, &two_modes(layouts(2, &[1, 2, 4], &[0, 1, 2]))) {
        let (Ok(paired), Ok(logical)) = (operation(&a, &b), logical_product(&a, &b)) else {
            assert!(operation(&a, &b).is_err() && logical_product(&a, &b).is_err(), "{a} {b}");
            continue;
        };
        count += 1;
        for (x, y) in grid(a.size(), b.size()) {
            let (block, tile) = (by_mode_coordinate(&a, x), by_mode_coordinate(&b, y));
            let coord = [order(block[0], tile[0]), order(block[1], tile[1])];
            assert_eq!(at(&paired, coord), at(&logical, (x, y)), "{a} {b} at {x}, {y}");
        }
    }
    accepted(count, 1_000);

    // Of unequal rank: the shorter is extended by modes 1:0.
    let (line, order) = (col_major(4), col_major((2, 3)));
    assert_eq!(operation(&line, &order).unwrap().rank(), 2);
    assert_eq!(operation(&order, &line).unwrap().rank(), 2);
}
