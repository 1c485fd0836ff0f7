//! [`HostBuffer`]: elements in memory of the host.

use std::fmt;
use std::ops::{Deref, DerefMut};

use tilewise_stage::Element;

use crate::error::Result;
use crate::storage::host_vec;

/// Elements in memory of the host: what `to_host` returns. It is used as a slice.
///
/// It is shown as `HostBuffer([1.0, 2.0])`, each element by its [`Debug`](fmt::Debug); of more than 1000 elements the
/// first three and the last three.
///
/// ```
/// use tilewise_runtime::DeviceContext;
///
/// let ctx = DeviceContext::new()?;
/// let mut host = ctx.enqueue_create_host_buffer::<f32>(4096)?;
/// for (i, x) in host.iter_mut().enumerate() {
///     *x = i as f32;
/// }
/// assert_eq!(host.to_string(), "HostBuffer([0.0, 1.0, 2.0, ..., 4093.0, 4094.0, 4095.0])");
/// assert_eq!(host.iter().sum::<f32>(), 8_386_560.0);
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
#[derive(Clone, Eq)]
pub struct HostBuffer<T>(Vec<T>);

/// A buffer of more elements is abridged when it is shown.
const SHOWN: usize = 1000;

/// How many elements an abridged buffer shows at either end.
const ENDS: usize = 3;

impl<T: Element> HostBuffer<T> {
    /// A buffer of `len` elements, all bits zero: 0, `false`.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is not enough memory.
    pub(crate) fn zeroed(len: usize) -> Result<HostBuffer<T>> {
        let mut values = host_vec(len)?;
        values.resize(len, T::from_bits(0));
        Ok(HostBuffer(values))
    }
}

impl<T> HostBuffer<T> {
    /// The elements as a vector.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Default for HostBuffer<T> {
    fn default() -> HostBuffer<T> {
        HostBuffer(Vec::new())
    }
}

impl<T> From<Vec<T>> for HostBuffer<T> {
    fn from(values: Vec<T>) -> HostBuffer<T> {
        HostBuffer(values)
    }
}

impl<T> Deref for HostBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for HostBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> IntoIterator for HostBuffer<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a HostBuffer<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut HostBuffer<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl<T: PartialEq> PartialEq for HostBuffer<T> {
    fn eq(&self, other: &HostBuffer<T>) -> bool {
        self.0 == other.0
    }
}

macro_rules! equal_to {
    ($([$($generics:tt)*] $other:ty;)*) => {$(
        impl<T: PartialEq, $($generics)*> PartialEq<$other> for HostBuffer<T> {
            fn eq(&self, other: &$other) -> bool {
                self.0[..] == other[..]
            }
        }
    )*};
}

equal_to! {
    [] [T];
    [] &[T];
    [] Vec<T>;
    [const N: usize] [T; N];
    [const N: usize] &[T; N];
}

impl<T: fmt::Debug> fmt::Display for HostBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: fmt::Debug>(f: &mut fmt::Formatter<'_>, values: &[T]) -> fmt::Result {
            for (i, value) in values.iter().enumerate() {
                write!(f, "{}{value:?}", if i == 0 { "" } else { ", " })?;
            }
            Ok(())
        }
        f.write_str("HostBuffer([")?;
        if self.0.len() > SHOWN {
            list(f, &self.0[..ENDS])?;
            f.write_str(", ..., ")?;
            list(f, &self.0[self.0.len() - ENDS..])?;
        } else {
            list(f, &self.0)?;
        }
        f.write_str("])")
    }
}

/// As [`Display`](fmt::Display).
impl<T: fmt::Debug> fmt::Debug for HostBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_as_in_the_tutorials() {
        assert_eq!(HostBuffer::from(vec![140.0f32]).to_string(), "HostBuffer([140.0])");
        assert_eq!(HostBuffer::<f32>::default().to_string(), "HostBuffer([])");
        assert_eq!(format!("{:?}", HostBuffer::from(vec![true, false])), "HostBuffer([true, false])");
        let many: Vec<f32> = (0..1024).map(|i| (4 * i + 1) as f32).collect();
        assert_eq!(
            HostBuffer::from(many).to_string(),
            "HostBuffer([1.0, 5.0, 9.0, ..., 4085.0, 4089.0, 4093.0])"
        );
    }

    #[test]
    fn a_thousand_elements_are_all_shown() {
        assert!(!HostBuffer::from(vec![0u8; 1000]).to_string().contains("..."));
        assert!(HostBuffer::from(vec![0u8; 1001]).to_string().contains("0, ..., 0"));
    }

    #[test]
    fn compared_with_anything_like_a_slice() {
        let buffer = HostBuffer::from(vec![1, 2]);
        assert_eq!(buffer, [1, 2]);
        assert_eq!(buffer, vec![1, 2]);
        assert_eq!(buffer, [1, 2][..]);
        assert_ne!(buffer, [1, 2, 3]);
    }
}
