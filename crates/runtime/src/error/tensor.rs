//! [`TensorError`]: what does not fit a tensor.

use tilewise_layout::Layout;

/// Why a layout, an index or the number of host values does not fit a tensor.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// A layout of another number of modes than the tensor has dimensions.
    #[error(
        "layout {layout} has {modes} modes, the tensor has {rank} dimensions; give one extent for each dimension"
    )]
    Rank {
        /// The layout.
        layout: Box<Layout>,
        /// Number of its modes.
        modes: usize,
        /// Number of dimensions of the tensor.
        rank: usize,
    },

    /// A number of dimensions that no tensor has.
    #[error("a tensor of {rank} dimensions; a tensor has 1 to {limit}")]
    Dimensions {
        /// The number.
        rank: usize,
        /// The most dimensions.
        limit: usize,
    },

    /// A nested mode that is not one extent with one stride.
    #[error(
        "mode {mode} of layout {layout} is {nested}, which is not one extent with one stride; give it as dimensions of \
         its own"
    )]
    NestedMode {
        /// The layout.
        layout: Box<Layout>,
        /// Number of the mode.
        mode: usize,
        /// The mode.
        nested: Box<Layout>,
    },

    /// A layout that puts several indices on one element, where elements are written.
    #[error(
        "layout {layout} puts several indices on one element; only a `view` for reading may do so, choose strides that \
         keep the elements apart"
    )]
    Overlap {
        /// The layout.
        layout: Box<Layout>,
    },

    /// A layout that reaches beyond the memory under it.
    #[error(
        "layout {layout} at offset {offset} takes {needed} elements, there are {available}; use a smaller offset, extents \
         or strides"
    )]
    OutsideStorage {
        /// The layout.
        layout: Box<Layout>,
        /// Offset of its first element.
        offset: usize,
        /// One past the last element that it reaches; saturates.
        needed: usize,
        /// How many elements there are.
        available: usize,
    },

    /// Another number of host values than elements.
    #[error(
        "{values} values for the {elements} elements of layout {layout}; give one value for each element, last \
         dimension fastest"
    )]
    ValueCount {
        /// Number of values on the host.
        values: usize,
        /// Number of elements of the tensor.
        elements: usize,
        /// The tensor's layout.
        layout: Box<Layout>,
    },

    /// Another number of elements in source and destination of a copy.
    #[error("a copy of {source_len} elements to a buffer of {len}; both must have the same length")]
    CopyLength {
        /// Number of elements of the source.
        source_len: usize,
        /// Number of elements of the destination.
        len: usize,
    },

    /// A reshape to another number of elements.
    #[error("{from} has {elements} elements and cannot be reshaped to {to}, which has {to_elements}")]
    ReshapeSize {
        /// The tensor's layout.
        from: Box<Layout>,
        /// Number of its elements.
        elements: usize,
        /// The new layout.
        to: Box<Layout>,
        /// Number of its elements.
        to_elements: usize,
    },

    /// A reshape of elements that do not lie one after the other.
    #[error(
        "{from} is not row-major and cannot be reshaped to {to} without a copy; copy it to a new tensor first"
    )]
    ReshapeStrided {
        /// The tensor's layout.
        from: Box<Layout>,
        /// The new layout.
        to: Box<Layout>,
    },

    /// An index outside the tensor.
    #[error("index {index:?} is outside a tensor of shape {shape:?}; indices start at 0")]
    IndexOutOfRange {
        /// The index.
        index: Vec<usize>,
        /// Extents of the tensor.
        shape: Vec<usize>,
    },
}
