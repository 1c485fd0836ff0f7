//! Layouts of nested shapes and strides, and the algebra on them.
//!
//! A [`Layout`] says where the elements of a tensor are. It has a shape and a stride, and
//! it is a function: it maps a coordinate to the offset of an element, the inner product of
//! coordinate and stride. Written `shape:stride`,
//!
//! - `(3,4):(4,1)` are 3 rows of 4 elements, stored row by row,
//! - `(3,4):(1,3)` is the same, stored column by column,
//! - `(3,4):(0,1)` is one row of 4, seen 3 times,
//! - `((2,2),4):((1,8),2)` has two modes as well, but the first is itself a layout,
//!   `(2,2):(1,8)`: its row coordinate, 0 to 3, goes to the offsets 0, 1, 8 and 9.
//!
//! A nested mode can be indexed by one integer, and so can the whole layout; the first mode
//! is the fastest then. Hence every layout is also a function from 0, 1, ..., size - 1 to
//! offsets, and the operations here are operations on such functions.
//!
//! # A worked example: tiles of a matrix
//!
//! A matrix of 8 rows and 12 columns, stored by rows, is cut into tiles of 4 by 3:
//!
//! ```
//! use tilewise_layout::{fixed, row_major, zipped_divide};
//!
//! let matrix = row_major((8, 12));
//! let tiles = zipped_divide(&matrix, (fixed(4), fixed(3)))?;
//! assert_eq!(tiles.to_string(), "((4,3),(2,4)):((12,1),(48,3))");
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```
//!
//! Mode 0 is a tile: 4 rows that are 12 apart, 3 columns that are 1 apart. Mode 1 says
//! where the tiles start: 2 down, each 48 further (4 rows of 12), 4 across, each 3 further.
//! So the element at row 2, column 1 of the tile at (1, 3) is at
//!
//! ```
//! # use tilewise_layout::{fixed, row_major, zipped_divide};
//! # let matrix = row_major((8, 12));
//! # let tiles = zipped_divide(&matrix, (fixed(4), fixed(3)))?;
//! assert_eq!(tiles.offset(((2, 1), (1, 3)))?, (2 * 12 + 1) + (48 + 3 * 3));
//! assert_eq!(tiles.offset(((2, 1), (1, 3)))?, matrix.offset((4 + 2, 3 * 3 + 1))?);
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```
//!
//! The division is made of three simpler operations. In one dimension, with a tile of every
//! second element out of 8:
//!
//! ```
//! use tilewise_layout::{Layout, complement, composition, logical_divide, make_layout};
//!
//! let data = Layout::new(8, 5)?; // 8 elements, 5 apart
//! let tile = Layout::new(4, 2)?; // elements 0, 2, 4, 6
//! let rest = complement(&tile, 8)?; // where else the tile can be put: at 0 and at 1
//! assert_eq!(rest.to_string(), "2:1");
//!
//! let both = make_layout([tile.clone(), rest])?; // every element once, as (tile, rest)
//! assert_eq!(both.to_string(), "(4,2):(2,1)");
//! assert_eq!(composition(&data, &both)?.to_string(), "(4,2):(10,5)");
//! assert_eq!(composition(&data, &both)?, logical_divide(&data, tile)?);
//! # Ok::<(), tilewise_layout::LayoutError>(())
//! ```
//!
//! # What is in a kernel
//!
//! The integers of a layout are [static](Int::Static) or [dynamic](Int::Dynamic): constants
//! in the code of a kernel, or parameters of its launch. All have values here, so no
//! operation depends on the kind; it only keeps a result static where all it came from is.
//! [`fixed`] makes an integer static, a plain number is dynamic.
//!
//! # Refusals
//!
//! Not every composition or complement is a layout. An operation that cannot express its
//! result returns a [`LayoutError`] that names the extent and the stride in the way; nothing
//! here panics, wraps around, or returns a layout that is only nearly right. Each operation
//! states its law, and the tests check that law, in the same words, point by point.
//!
//! # Sources
//!
//! The names and the notation are those of CuTe: Cris Cecka, "CuTe Layout Representation and
//! Algebra", and the documents `01_layout.md` and `02_layout_algebra.md` in
//! [NVIDIA/cutlass](https://github.com/NVIDIA/cutlass/tree/main/media/docs/cpp/cute). Where
//! CuTe leaves a precondition unchecked, such as that the modes of a composition do not add
//! up beyond an extent, this crate checks it.

#![forbid(unsafe_code)]

mod algebra;
mod coord;
mod error;
mod int;
mod int_tuple;
mod layout;
mod order;
mod swizzle;
mod text;

pub use algebra::{
    Tiler, blocked_product, coalesce, coalesce_by_profile, complement, composition, filter, flat_divide,
    flat_product, left_inverse, logical_divide, logical_product, raked_product, right_inverse, tile_to_shape,
    tiled_divide, tiled_product, zipped_divide, zipped_product,
};
pub use coord::{crd2idx, idx2crd};
pub use error::{LayoutError, Result};
pub use int::{Int, fixed};
pub use int_tuple::IntTuple;
pub use layout::{Layout, make_layout};
pub use order::{col_major, make_ordered_layout, row_major, try_col_major, try_row_major};
pub use swizzle::Swizzle;
