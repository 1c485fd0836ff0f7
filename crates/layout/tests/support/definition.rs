//! What a layout is, straight from its definition: what the tests compare with.

use tilewise_layout::Layout;

/// The offsets of a layout by one-integer coordinates.
pub(crate) fn table(layout: &Layout) -> Vec<usize> {
    (0..layout.size()).map(function(layout)).collect()
}

/// The offset of one-integer coordinate `index`, within the size or beyond.
pub(crate) fn extended(layout: &Layout, index: usize) -> usize {
    function(layout)(index)
}

/// A layout as a function of one integer: take digits with the extents as bases, the first the
/// lowest, the last without limit; multiply each with its stride.
pub(crate) fn function(layout: &Layout) -> impl Fn(usize) -> usize + use<> {
    let modes: Vec<(usize, usize)> =
        layout.flat_modes().into_iter().map(|(extent, stride)| (extent.get(), stride.get())).collect();
    move |index| {
        let Some(((_, last), inner)) = modes.split_last() else { return 0 };
        let (mut rest, mut offset) = (index, 0);
        for (extent, stride) in inner {
            offset += rest % extent * stride;
            rest /= extent;
        }
        offset + rest * last
    }
}
