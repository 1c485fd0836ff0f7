//! The numbers of a launch: the key by which a compiled variant of its kernel is found.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use tilewise_ir::Const;
use tilewise_ir::analysis::{ArgNumbers, LaunchNumbers};

use crate::device::{ArgValue, DeviceLaunch};
use crate::launch::TensorValue;

/// The largest alignment of an address that is told apart.
const MAX_ALIGN: u32 = 256;

/// An argument whose value is to become known: the numbers of a tensor, or a scalar.
pub(crate) enum Argument<'a> {
    /// A scalar.
    Scalar(Const),
    /// A tensor, and the address of its first element.
    Tensor(&'a TensorValue, u64),
}

/// A launch with the addresses of its tensors.
#[cfg_attr(
    not(any(feature = "cuda", feature = "wgpu")),
    allow(
        dead_code,
        reason = "the CPU device has no variants; the numbers alone are asked for by `inspect`"
    )
)]
pub(crate) struct Numbers<'a> {
    launch: &'a DeviceLaunch<'a>,
    /// The address of the first element of a tensor.
    address: fn(&TensorValue) -> u64,
}

#[cfg_attr(
    not(any(feature = "cuda", feature = "wgpu")),
    allow(
        dead_code,
        reason = "the CPU device has no variants; the numbers alone are asked for by `inspect`"
    )
)]
impl<'a> Numbers<'a> {
    pub(crate) fn new(launch: &'a DeviceLaunch<'a>, address: fn(&TensorValue) -> u64) -> Numbers<'a> {
        Numbers { launch, address }
    }

    /// A hash of all that [`LaunchNumbers`] has.
    pub(crate) fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        (self.launch.grid, self.launch.block).hash(&mut hasher);
        for argument in self.arguments() {
            match argument {
                Argument::Scalar(value) => value.bits.hash(&mut hasher),
                Argument::Tensor(tensor, address) => {
                    tensor.extents.iter().for_each(|n| n.hash(&mut hasher));
                    tensor.strides.iter().for_each(|n| n.hash(&mut hasher));
                    alignment(address).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    /// Whether these are the numbers.
    pub(crate) fn are(&self, numbers: &LaunchNumbers) -> bool {
        numbers.grid == self.launch.grid
            && numbers.block == self.launch.block
            && numbers.args.len() == self.launch.args.len()
            && self.arguments().zip(&numbers.args).all(|(argument, known)| match (argument, known) {
                (Argument::Scalar(value), ArgNumbers::Scalar(known)) => value == *known,
                (Argument::Tensor(tensor, address), ArgNumbers::Tensor { extents, strides, align }) => {
                    tensor.extents == *extents && tensor.strides == *strides && alignment(address) == *align
                }
                (Argument::Scalar(_), ArgNumbers::Tensor { .. })
                | (Argument::Tensor(..), ArgNumbers::Scalar(_)) => false,
            })
    }

    /// The numbers as a value of their own.
    pub(crate) fn to_launch_numbers(&self) -> LaunchNumbers {
        launch_numbers(self.launch.grid, self.launch.block, self.launch.args, self.address)
    }

    fn arguments(&self) -> impl Iterator<Item = Argument<'a>> {
        arguments(self.launch.args, self.address)
    }
}

/// The numbers of a launch; `address` gives that of a tensor's first element.
pub(crate) fn launch_numbers(
    grid: [u32; 3],
    block: [u32; 3],
    args: &[&ArgValue],
    address: fn(&TensorValue) -> u64,
) -> LaunchNumbers {
    let args = arguments(args, address).map(|argument| match argument {
        Argument::Scalar(value) => ArgNumbers::Scalar(value),
        Argument::Tensor(tensor, address) => ArgNumbers::Tensor {
            extents: tensor.extents.clone(),
            strides: tensor.strides.clone(),
            align: alignment(address),
        },
    });
    LaunchNumbers { grid, block, args: args.collect() }
}

fn arguments<'a>(
    args: &'a [&ArgValue],
    address: fn(&TensorValue) -> u64,
) -> impl Iterator<Item = Argument<'a>> {
    args.iter().map(move |arg| match arg {
        // No fact depends on the value of a float, so all of them are one number.
        ArgValue::Scalar(value) if value.scalar.is_float() => Argument::Scalar(Const { bits: 0, ..*value }),
        ArgValue::Scalar(value) => Argument::Scalar(*value),
        ArgValue::Tensor(tensor) => Argument::Tensor(tensor, address(tensor)),
    })
}

/// The largest power of two that divides an address, but at most [`MAX_ALIGN`].
fn alignment(address: u64) -> u32 {
    1 << address.trailing_zeros().min(MAX_ALIGN.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;
    use tilewise_ir::Scalar;

    use super::*;
    use crate::context::DeviceContext;
    use crate::output::Output;

    #[test]
    fn alignment_is_a_power_of_two_up_to_256() {
        assert_eq!(alignment(0), 256, "no memory is as good as any");
        assert_eq!(alignment(1), 1);
        assert_eq!(alignment(0x1004), 4);
        assert_eq!(alignment(0x1000), 256);
    }

    #[test]
    fn numbers_tell_launches_apart() {
        let ctx = DeviceContext::open("cpu").unwrap();
        let buffer = ctx.enqueue_create_buffer::<f32>(8).unwrap();
        let tensor = |offset, extent| {
            ArgValue::Tensor(TensorValue {
                storage: buffer.storage.clone(),
                offset,
                extents: smallvec![extent],
                strides: smallvec![1],
            })
        };
        let index = |n| ArgValue::Scalar(Const::index(n));
        let float = |x| ArgValue::Scalar(Const::f32(x));
        let launches = [
            ([1, 1, 1], [32, 1, 1], [tensor(0, 8), index(3), float(1.0)]),
            ([2, 1, 1], [32, 1, 1], [tensor(0, 8), index(3), float(1.0)]),
            ([1, 1, 1], [64, 1, 1], [tensor(0, 8), index(3), float(1.0)]),
            ([1, 1, 1], [32, 1, 1], [tensor(0, 7), index(3), float(1.0)]),
            ([1, 1, 1], [32, 1, 1], [tensor(1, 7), index(3), float(1.0)]),
            ([1, 1, 1], [32, 1, 1], [tensor(0, 8), index(4), float(1.0)]),
        ];
        let (stream, output) = (ctx.stream(), Output::default());
        let with = |i: usize, f: &dyn Fn(&Numbers<'_>)| {
            let (grid, block, args) = &launches[i];
            let args: Vec<&ArgValue> = args.iter().collect();
            let (grid, block) = (*grid, *block);
            let (stream, output) = (&**stream, &output);
            let launch = DeviceLaunch {
                stream,
                grid,
                block,
                args: &args,
                output,
                threads: None,
                max_rounds: None,
                watching: None,
            };
            f(&Numbers::new(&launch, |tensor| 4096 + 4 * tensor.offset));
        };
        for i in 0..launches.len() {
            with(i, &|a| {
                let known = a.to_launch_numbers();
                for j in 0..launches.len() {
                    with(j, &|b| {
                        assert_eq!(b.are(&known), i == j, "{i} and {j}");
                        assert_eq!(b.hash() == a.hash(), i == j, "{i} and {j}");
                    });
                }
            });
        }
        with(0, &|a| {
            let known = a.to_launch_numbers();
            assert_eq!(known.args[1], ArgNumbers::Scalar(Const::index(3)));
            assert_eq!(known.args[2], ArgNumbers::Scalar(Const { scalar: Scalar::F32, bits: 0 }));
            let ArgNumbers::Tensor { align, .. } = &known.args[0] else { panic!("{known:?}") };
            assert_eq!(*align, 256);
        });
    }
}
