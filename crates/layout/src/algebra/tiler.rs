//! [`Tiler`]: what a composition, division or product applies, and to which modes.

use crate::error::{LayoutError, Result};
use crate::{Int, IntTuple, Layout, fixed};

/// The right operand of [`composition`](crate::composition), of the divisions and of the
/// products: one layout for the whole, or a tiler for each mode.
///
/// It is seldom written out, because much converts to it:
///
/// - a [`Layout`] applies to the whole left layout as a function of one integer;
/// - an integer `n` is the layout `n:1`;
/// - a tuple or array applies each entry to the mode at its place;
/// - `()` keeps a mode as it is.
///
/// ```
/// use tilewise_layout::{Layout, Tiler, fixed, logical_divide, row_major};
///
/// let matrix = row_major((8, 12));
/// let by_shape = logical_divide(&matrix, (4, 3))?;
/// assert_eq!(by_shape.to_string(), "((4,2),(3,4)):((12,48),(1,3))");
///
/// // Every second row, and the columns as they are.
/// let by_layout = logical_divide(&matrix, (Layout::new(4, 2)?, ()))?;
/// assert_eq!(by_layout.to_string(), "((4,2),12):((24,12),1)");
/// # Ok::<(), tilewise_layout::LayoutError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tiler {
    /// Leaves the mode as it is.
    Keep,
    /// Applies this layout.
    Layout(Layout),
    /// Applies each tiler to the mode at its place.
    Modes(Vec<Tiler>),
}

/// Checks that there are no more tilers than modes.
pub(super) fn check_rank(layout: &Layout, tilers: &[Tiler]) -> Result<()> {
    if tilers.len() <= layout.rank() {
        return Ok(());
    }
    Err(LayoutError::TooManyModes { modes: tilers.len(), layout: Box::new(layout.clone()) })
}

impl From<Layout> for Tiler {
    fn from(layout: Layout) -> Tiler {
        Tiler::Layout(layout)
    }
}

impl From<&Layout> for Tiler {
    fn from(layout: &Layout) -> Tiler {
        Tiler::Layout(layout.clone())
    }
}

impl From<&Tiler> for Tiler {
    fn from(tiler: &Tiler) -> Tiler {
        tiler.clone()
    }
}

impl From<()> for Tiler {
    fn from((): ()) -> Tiler {
        Tiler::Keep
    }
}

impl From<usize> for Tiler {
    fn from(n: usize) -> Tiler {
        Tiler::from(Int::from(n))
    }
}

impl From<Int> for Tiler {
    fn from(n: Int) -> Tiler {
        Tiler::Layout(Layout::unchecked(n.into(), fixed(1).into()))
    }
}

/// A shape: each of its integers `n` is the layout `n:1`.
impl From<IntTuple> for Tiler {
    fn from(shape: IntTuple) -> Tiler {
        match shape {
            IntTuple::Int(n) => Tiler::from(n),
            IntTuple::Tuple(modes) => Tiler::Modes(modes.into_iter().map(Tiler::from).collect()),
        }
    }
}

impl From<&IntTuple> for Tiler {
    fn from(shape: &IntTuple) -> Tiler {
        Tiler::from(shape.clone())
    }
}

impl<T: Into<Tiler>, const N: usize> From<[T; N]> for Tiler {
    fn from(modes: [T; N]) -> Tiler {
        Tiler::Modes(modes.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Tiler>> From<Vec<T>> for Tiler {
    fn from(modes: Vec<T>) -> Tiler {
        Tiler::Modes(modes.into_iter().map(Into::into).collect())
    }
}

macro_rules! from_tuple {
    ($($name:ident)+) => {
        impl<$($name: Into<Tiler>),+> From<($($name,)+)> for Tiler {
            #[allow(non_snake_case)] // each variable has the name of its type
            fn from(($($name,)+): ($($name,)+)) -> Tiler {
                Tiler::Modes(vec![$($name.into()),+])
            }
        }
    };
}

from_tuple!(A);
from_tuple!(A B);
from_tuple!(A B C);
from_tuple!(A B C D);
from_tuple!(A B C D E);
from_tuple!(A B C D E F);
