//! Memory of a context, its elements as values of the host.

use std::sync::Arc;

use tilewise_ir::Scalar;
use tilewise_stage::Element;

use crate::context::{DeviceContext, Shared};
use crate::device::Memory;
use crate::error::{Error, Result};

/// Memory of a device with the context that it belongs to.
///
/// It is shared: by the tensor that owns it and by the launches that use it.
#[derive(Debug)]
pub(crate) struct Storage {
    context: Arc<Shared>,
    memory: Box<dyn Memory>,
    scalar: Scalar,
    len: usize,
}

impl Storage {
    /// Memory for `len` elements of type `T`, all bits zero.
    pub(crate) fn new<T: Element>(ctx: &DeviceContext, len: usize) -> Result<Storage> {
        Storage::of(ctx, T::SCALAR, len)
    }

    /// Memory for `len` elements of this type, all bits zero.
    pub(crate) fn of(ctx: &DeviceContext, scalar: Scalar, len: usize) -> Result<Storage> {
        let context = Arc::clone(ctx.shared());
        let memory = context.device.allocate(&**ctx.stream(), scalar, len)?;
        Ok(Storage { context, memory, scalar, len })
    }

    pub(crate) fn context(&self) -> &Arc<Shared> {
        &self.context
    }

    pub(crate) fn memory(&self) -> &dyn Memory {
        &*self.memory
    }

    /// Type of an element.
    pub(crate) fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Refuses memory of another context; `what` names it.
    pub(crate) fn check_context(&self, user: &Arc<Shared>, what: impl FnOnce() -> String) -> Result<()> {
        if Arc::ptr_eq(&self.context, user) {
            return Ok(());
        }
        Err(Error::WrongContext { what: what(), owner: self.context.to_string(), user: user.to_string() })
    }

    /// The `len` elements from `start` on.
    pub(crate) fn read<T: Element>(&self, start: usize, len: usize) -> Result<Vec<T>> {
        let mut values = host_vec(len)?;
        self.memory.read(start, len, &mut |bytes| decode(bytes, &mut values))?;
        Ok(values)
    }

    /// Sets the elements from `start` on to `values`.
    pub(crate) fn write<T: Element>(&self, start: usize, values: &[T]) -> Result<()> {
        let mut rest = values;
        self.memory.write(start, values.len(), &mut |bytes| {
            let (piece, behind) = rest.split_at(bytes.len() / T::SCALAR.size());
            rest = behind;
            encode(bytes, piece.iter().copied());
        })
    }

    /// Sets the `len` elements from `start` on to what `next` gives, in order.
    pub(crate) fn write_each<T: Element>(
        &self,
        start: usize,
        len: usize,
        mut next: impl FnMut() -> T,
    ) -> Result<()> {
        self.memory.write(start, len, &mut |bytes| encode(bytes, std::iter::repeat_with(&mut next)))
    }

    /// Sets the `len` elements from `start` on to `value`.
    pub(crate) fn fill<T: Element>(&self, start: usize, len: usize, value: T) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        self.memory.fill(start, len, value.to_const().bits)
    }
}

/// An empty vector with room for `len` values.
pub(crate) fn host_vec<T>(len: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(len) {
        Ok(()) => Ok(values),
        Err(_) => Err(Error::OutOfMemory {
            what: format!("a copy of {len} elements on the host"),
            bytes: len as u128 * size_of::<T>() as u128,
            free: None,
        }),
    }
}

/// Appends the values that `bytes` hold.
fn decode<T: Element>(bytes: &[u8], values: &mut Vec<T>) {
    macro_rules! each {
        ($word:ty) => {
            values.extend(bytes.as_chunks().0.iter().map(|c| T::from_bits(<$word>::from_ne_bytes(*c).into())))
        };
    }
    match T::SCALAR.size() {
        1 => each!(u8),
        2 => each!(u16),
        4 => each!(u32),
        _ => each!(u64),
    }
}

/// Fills `bytes` with the first of the values.
fn encode<T: Element>(bytes: &mut [u8], values: impl Iterator<Item = T>) {
    macro_rules! each {
        ($word:ty) => {
            for (chunk, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
                *chunk = (value.to_const().bits as $word).to_ne_bytes();
            }
        };
    }
    match T::SCALAR.size() {
        1 => each!(u8),
        2 => each!(u16),
        4 => each!(u32),
        _ => each!(u64),
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    fn round_trip<T: Element + std::fmt::Debug>(values: &[T]) {
        let mut bytes = vec![0xAA; values.len() * T::SCALAR.size()];
        encode(&mut bytes, values.iter().copied());
        let mut decoded: Vec<T> = Vec::new();
        decode(&bytes, &mut decoded);
        assert_eq!(decoded, values);
    }

    #[test]
    fn every_element_type_round_trips() {
        round_trip(&[true, false, true]);
        round_trip(&[i8::MIN, -1, 0, 7]);
        round_trip(&[i16::MIN, -1, 0, 7]);
        round_trip(&[i32::MIN, -1, 0, 7]);
        round_trip(&[i64::MIN, -1, 0, 7]);
        round_trip(&[isize::MIN, -1, 0, 7]);
        round_trip(&[u8::MAX, 0, 7]);
        round_trip(&[u16::MAX, 0, 7]);
        round_trip(&[u32::MAX, 0, 7]);
        round_trip(&[u64::MAX, 0, 7]);
        round_trip(&[usize::MAX, 0, 7]);
        round_trip(&[f16::MIN, f16::from_f32(0.5), f16::INFINITY]);
        round_trip(&[bf16::MIN, bf16::from_f32(0.5), bf16::INFINITY]);
        round_trip(&[f32::MIN, -0.0, 0.5]);
        round_trip(&[f64::MIN, -0.0, 0.5]);
    }
}
