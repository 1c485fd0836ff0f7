//! What devices can do, and what operations need of them.
//!
//! # Which operation works on which target
//!
//! `yes` is for all types that the operation can have. Vulkan, Direct3D 12 and Metal are what a common GPU can do with
//! them ([`Capabilities::VULKAN`], [`Capabilities::DX12`], [`Capabilities::METAL`]), WebGPU what every device of it can; an
//! adapter may have less or more, and says so when a kernel is launched. `index` is what fits 32 bits; one that does not
//! needs 64-bit integers. Operations of warps go through shared memory on all targets but CUDA, so all threads of a block
//! have to come to them together there, as to a barrier. `bf16`, and `f16` where a target has none, are computed in `f32` and rounded.
//!
#![doc = include_str!("../targets.md")]

use std::fmt;
use tilewise_ir::{BinaryOp, Op, Ordering, Scalar, UnaryOp};

/// What a device can do. What is not here every device can, or it is done by other means: `f16` and `bf16` without
/// [`f16`](Capabilities::f16) are computed in `f32` and rounded, elements of 8 and 16 bits are parts of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// `f16` in arithmetic and in memory.
    pub f16: bool,
    /// `f64`. Counts only together with 64-bit integers, as which its bits are handled.
    pub f64: bool,
    /// 64-bit integers.
    pub int64: bool,
    /// All atomic operations on 64-bit integers, in global and in shared memory.
    pub int64_atomics: bool,
    /// Atomic sums of `f32` in global memory; without them a loop compares and exchanges.
    pub float32_atomics: bool,
    /// The device's `fma` of `f32` and `f64` rounds once. MSL promises it; Vulkan leaves it to the device, and HLSL, whose
    /// `mad` it becomes, to each shader. So the constants below say what is common, and a device is to be asked.
    pub fused_mul_add: bool,
    /// Square roots of `f16` and `f32` are rounded to the nearest. Vulkan lets them be off by more; they are computed in
    /// `f64` then, where the device has it together with 64-bit integers.
    pub exact_sqrt: bool,
    /// Whether exponentials, logarithms, powers and trigonometric functions may be the device's own, with its accuracy and
    /// its treatment of infinities and NaN. If not, a kernel has to be lowered by
    /// [`math`](tilewise_ir::pass::lower::math).
    pub native_functions: bool,
    /// A memory barrier may stand where only some threads come to. SPIR-V and HLSL can say so; WGSL and, through naga, MSL
    /// cannot.
    pub memory_barriers: bool,
    /// Memory barriers are written as atomic operations that change nothing, as which they order memory where the device
    /// orders all memory by atomics. Mesa's software adapter does; a memory barrier has it switch to the next threads of
    /// the block, as a barrier has, and where threads come to different numbers of them it forgets some.
    pub barriers_by_atomics: bool,
    /// A store to one component of a vector in memory leaves the others alone. SPIR-V says so; WGSL, MSL and, in shared
    /// memory, HLSL may write all of the vector, and so undo what other threads store to it.
    pub component_stores: bool,
    /// What the device can be told to leave of floats as it is. Only SPIR-V can tell.
    pub float_controls: FloatControls,
    /// Integers of 32 bits are extended by their sign to 64 as two halves. Mesa's software adapter (22.3) takes no such
    /// number, if it is extended at once, for less than a positive constant.
    pub extends_by_halves: bool,
    /// Constants that are floats are kept from the compiler of the device. That of Mesa's software adapter computes with them
    /// otherwise than the device does: the sign of zero, the last digit.
    pub hides_constants: bool,
    /// What the compiler of the device is known to get wrong is kept from it. NVIDIA's for Vulkan (580.159) takes the last bit of
    /// a number for 1 in an index `x % 2 * 3 + x % 3` of 64 bits, loses the sign of a zero in a choice of -1.0 and -0.0, and gives
    /// `false` for `p || q` beside `p && q` where all threads have the same `p` and `q`.
    pub hides_patterns: bool,
    /// Loops with atomics are left at the end of a round. NVIDIA's compiler for Vulkan (580.159) puts what comes before a `break`
    /// behind the loop, where a thread waits for those that are still in it: one that has taken a lock never gives it back.
    pub breaks_at_the_end: bool,
    /// Bytes of shared memory of a block.
    pub max_shared_bytes: u32,
    /// Threads of a block.
    pub max_threads: u32,
    /// Threads of a block along each axis.
    pub max_block: [u32; 3],
    /// Buffers of tensors and reports that can be bound at once.
    pub max_storage_buffers: u32,
    /// Bytes of a uniform buffer.
    pub max_uniform_bytes: u32,
}

impl Capabilities {
    /// What every WebGPU device can do.
    pub const WEBGPU: Capabilities = Capabilities {
        f16: false,
        f64: false,
        int64: false,
        int64_atomics: false,
        float32_atomics: false,
        fused_mul_add: false,
        exact_sqrt: false,
        native_functions: true,
        memory_barriers: false,
        barriers_by_atomics: false,
        component_stores: false,
        float_controls: FloatControls::NONE,
        extends_by_halves: false,
        hides_constants: false,
        hides_patterns: false,
        breaks_at_the_end: false,
        max_shared_bytes: 16 << 10,
        max_threads: 256,
        max_block: [256, 256, 64],
        max_storage_buffers: 8,
        max_uniform_bytes: 64 << 10,
    };

    /// What a GPU of a computer can do through Vulkan.
    pub const VULKAN: Capabilities = Capabilities {
        exact_sqrt: false,
        native_functions: false,
        max_shared_bytes: 48 << 10,
        max_block: [1024, 1024, 64],
        ..Capabilities::ALL
    };

    /// What a GPU of Apple can do through Metal.
    pub const METAL: Capabilities = Capabilities {
        f16: true,
        int64: true,
        float32_atomics: true,
        fused_mul_add: true,
        max_shared_bytes: 32 << 10,
        max_threads: 1024,
        max_block: [1024; 3],
        // There are 31, and the words of a launch and the sizes of buffers take two.
        max_storage_buffers: 29,
        ..Capabilities::WEBGPU
    };

    /// What a GPU can do through Direct3D 12 with shader model 6.6. There is `f64` as well, which wgpu does not offer.
    pub const DX12: Capabilities = Capabilities {
        f16: true,
        int64: true,
        int64_atomics: true,
        memory_barriers: true,
        max_shared_bytes: 32 << 10,
        max_threads: 1024,
        max_block: [1024, 1024, 64],
        max_storage_buffers: 64,
        ..Capabilities::WEBGPU
    };

    /// Everything that this backend can make use of.
    pub const ALL: Capabilities = Capabilities {
        f16: true,
        f64: true,
        int64: true,
        int64_atomics: true,
        float32_atomics: true,
        fused_mul_add: true,
        exact_sqrt: true,
        native_functions: true,
        memory_barriers: true,
        barriers_by_atomics: false,
        component_stores: true,
        float_controls: FloatControls::ALL,
        extends_by_halves: false,
        hides_constants: false,
        hides_patterns: false,
        breaks_at_the_end: false,
        max_shared_bytes: u32::MAX,
        max_threads: 1024,
        max_block: [1024; 3],
        max_storage_buffers: u32::MAX,
        max_uniform_bytes: 64 << 10,
    };

    /// Whether the device has a feature.
    pub fn has(&self, feature: Feature) -> bool {
        match feature {
            Feature::Int64 => self.int64,
            Feature::Float64 => self.f64 && self.int64,
            Feature::Int64Atomics => self.int64_atomics,
            Feature::MemoryBarriers => self.memory_barriers,
            Feature::NativeFunctions => self.native_functions,
            Feature::Float64Functions => false,
        }
    }

    /// Whether an operation on this scalar (of its first operand, its result if it has no operands, or its memory) runs on
    /// the device.
    ///
    /// ```
    /// use tilewise_ir::{BinaryOp, Op, Scalar};
    /// use tilewise_naga::{Capabilities, Feature};
    ///
    /// let add = Op::Binary(BinaryOp::Add);
    /// assert_eq!(Capabilities::WEBGPU.supports(&add, Scalar::BF16), Ok(()));
    /// assert_eq!(Capabilities::WEBGPU.supports(&add, Scalar::I64), Err(Feature::Int64));
    /// ```
    ///
    /// # Errors
    ///
    /// The first feature that the device lacks.
    pub fn supports(&self, op: &Op, scalar: Scalar) -> Result<(), Feature> {
        needs(op, scalar).into_iter().flatten().find(|&feature| !self.has(feature)).map_or(Ok(()), Err)
    }

    pub(crate) fn to_naga(self) -> naga::valid::Capabilities {
        use naga::valid::Capabilities as Naga;
        // Packing halves into words is a function of every device.
        let mut naga = Naga::default() | Naga::SHADER_FLOAT16_IN_FLOAT32;
        for (has, capability) in [
            (self.f16, Naga::SHADER_FLOAT16),
            (self.f64, Naga::FLOAT64),
            (self.int64, Naga::SHADER_INT64),
            (self.int64_atomics, Naga::SHADER_INT64_ATOMIC_ALL_OPS),
            (self.float32_atomics, Naga::SHADER_FLOAT32_ATOMIC),
            (self.memory_barriers, Naga::MEMORY_DECORATION_COHERENT),
        ] {
            naga.set(capability, has);
        }
        naga
    }
}

/// The widths of floats for which a device keeps a promise if it is asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Widths {
    /// `f16`.
    pub f16: bool,
    /// `f32`.
    pub f32: bool,
    /// `f64`.
    pub f64: bool,
}

impl Widths {
    /// All widths, or none.
    pub const fn all(keeps: bool) -> Widths {
        Widths { f16: keeps, f32: keeps, f64: keeps }
    }

    /// Bits of those for which it is kept.
    pub fn bits(self) -> impl Iterator<Item = u32> {
        [(self.f16, 16), (self.f32, 32), (self.f64, 64)]
            .into_iter()
            .filter(|&(keeps, _)| keeps)
            .map(|(_, bits)| bits)
    }
}

/// Promises about floats that a shader asks for, by the names of SPIR-V's execution modes. A device that is not asked may
/// take arithmetic without infinities and NaN for granted, lose the sign of zero, and count subnormal numbers as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatControls {
    /// Zeros keep their signs, infinities and NaN are as in IEEE 754.
    pub signed_zero_inf_nan_preserve: Widths,
    /// Subnormal numbers are no zeros.
    pub denorm_preserve: Widths,
    /// Results are rounded to the nearest, ties to even.
    pub rounding_mode_rte: Widths,
}

impl FloatControls {
    /// No device can be asked for less.
    pub const NONE: FloatControls = FloatControls {
        signed_zero_inf_nan_preserve: Widths::all(false),
        denorm_preserve: Widths::all(false),
        rounding_mode_rte: Widths::all(false),
    };

    /// All promises for all widths.
    pub const ALL: FloatControls = FloatControls {
        signed_zero_inf_nan_preserve: Widths::all(true),
        denorm_preserve: Widths::all(true),
        rounding_mode_rte: Widths::all(true),
    };
}

/// Something that not every device has, and that nothing else stands in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// 64-bit integers.
    Int64,
    /// `f64`.
    Float64,
    /// Atomic operations on 64-bit integers.
    Int64Atomics,
    /// Memory barriers in divergent control flow.
    MemoryBarriers,
    /// Exponentials, logarithms and the like of the device's own.
    NativeFunctions,
    /// Exponentials, logarithms and the like of `f64`: no device has them, and a kernel is to be lowered by
    /// [`math`](tilewise_ir::pass::lower::math).
    Float64Functions,
}

impl Feature {
    /// All of them.
    pub const ALL: [Feature; 6] = [
        Feature::Int64,
        Feature::Float64,
        Feature::Int64Atomics,
        Feature::MemoryBarriers,
        Feature::NativeFunctions,
        Feature::Float64Functions,
    ];
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::Int64 => "64-bit integers",
            Feature::Float64 => "`f64`",
            Feature::Int64Atomics => "64-bit atomics",
            Feature::MemoryBarriers => "memory barriers in divergent control flow",
            Feature::NativeFunctions => "native functions",
            Feature::Float64Functions => "functions of `f64`",
        })
    }
}

/// What an operation on a scalar needs of a device: see [`Capabilities::supports`].
///
/// `Index` needs nothing by itself: it has 32 bits where that is enough.
pub fn needs(op: &Op, scalar: Scalar) -> [Option<Feature>; 3] {
    let by_type = type_needs(scalar);
    let atomic = (scalar.size() == 8).then_some(Feature::Int64Atomics);
    let ordered = |order: Ordering| (order != Ordering::Relaxed).then_some(Feature::MemoryBarriers);
    match op {
        Op::Unary(op) => [by_type, unary_needs(*op, scalar), None],
        Op::Binary(op) => [by_type, binary_needs(*op, scalar), None],
        Op::AtomicLoad(_, _, order)
        | Op::AtomicStore(_, _, order)
        | Op::AtomicRmw(_, _, _, order)
        | Op::AtomicCas(_, _, order) => [by_type, atomic, ordered(*order)],
        Op::Fence(_, order) => [ordered(*order), None, None],
        Op::Cast(to) | Op::Bitcast(to) => [by_type, type_needs(*to), None],
        Op::Const(_)
        | Op::Builtin(..)
        | Op::Scalar(_)
        | Op::Extent(..)
        | Op::Stride(..)
        | Op::Compare(_)
        | Op::MulAdd
        | Op::Select
        | Op::Splat(_)
        | Op::Pack
        | Op::Extract(_)
        | Op::Load(_)
        | Op::Store(_)
        | Op::Shuffle(_)
        | Op::WarpReduce(_)
        | Op::WarpScan(_) => [by_type, None, None],
        Op::LaneId
        | Op::Ballot
        | Op::WarpBarrier
        | Op::Barrier
        | Op::Print(_)
        | Op::Assert(_)
        | Op::If
        | Op::Loop(_)
        | Op::For(_)
        | Op::Yield
        | Op::Break(_)
        | Op::Continue(_)
        | Op::Return => [None; 3],
    }
}

/// What values of a type need.
fn type_needs(scalar: Scalar) -> Option<Feature> {
    match scalar {
        Scalar::I64 | Scalar::U64 => Some(Feature::Int64),
        Scalar::F64 => Some(Feature::Float64),
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::Index
        | Scalar::F16
        | Scalar::BF16
        | Scalar::F32 => None,
    }
}

fn unary_needs(op: UnaryOp, scalar: Scalar) -> Option<Feature> {
    match op {
        UnaryOp::Exp
        | UnaryOp::Exp2
        | UnaryOp::Log
        | UnaryOp::Log2
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tanh => Some(function_feature(scalar)),
        UnaryOp::Neg
        | UnaryOp::Not
        | UnaryOp::Abs
        | UnaryOp::Signum
        | UnaryOp::Sqrt
        | UnaryOp::Rsqrt
        | UnaryOp::Recip
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::RoundEven
        | UnaryOp::Trunc
        | UnaryOp::CountOnes
        | UnaryOp::LeadingZeros
        | UnaryOp::TrailingZeros
        | UnaryOp::IsNan
        | UnaryOp::IsInf => None,
    }
}

fn function_feature(scalar: Scalar) -> Feature {
    if scalar == Scalar::F64 { Feature::Float64Functions } else { Feature::NativeFunctions }
}

fn binary_needs(op: BinaryOp, scalar: Scalar) -> Option<Feature> {
    match op {
        BinaryOp::Pow | BinaryOp::Atan2 => Some(function_feature(scalar)),
        // The remainder of floats is computed on their bits.
        BinaryOp::Rem => (scalar == Scalar::F64).then_some(Feature::Int64),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr => None,
    }
}
