//! The operations on layouts, a file each.
//!
//! [`composition()`] and [`complement()`] are the two from which division and product are
//! made; [`coalesce()`] brings a layout into the form in which they work.

mod coalesce;
mod complement;
mod composition;
mod divide;
mod inverse;
mod product;
mod tiler;

pub use coalesce::{coalesce, coalesce_by_profile, filter};
pub use complement::complement;
pub use composition::composition;
pub use divide::{flat_divide, logical_divide, tiled_divide, zipped_divide};
pub use inverse::{left_inverse, right_inverse};
pub use product::{
    blocked_product, flat_product, logical_product, raked_product, tile_to_shape, tiled_product,
    zipped_product,
};
pub use tiler::Tiler;
