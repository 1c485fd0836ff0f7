//! Types of values: a scalar kind and a number of lanes.

use std::fmt;

/// The kinds of scalar that a kernel computes with.
///
/// `Index` is Rust's `usize` in a kernel: an unsigned integer of 64 bits that a backend may make narrower where it
/// can prove that nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// Truth value; in memory one byte that holds 0 or 1.
    Bool,
    /// Signed integer of 8 bits.
    I8,
    /// Signed integer of 16 bits.
    I16,
    /// Signed integer of 32 bits.
    I32,
    /// Signed integer of 64 bits.
    I64,
    /// Unsigned integer of 8 bits.
    U8,
    /// Unsigned integer of 16 bits.
    U16,
    /// Unsigned integer of 32 bits.
    U32,
    /// Unsigned integer of 64 bits.
    U64,
    /// The type of indices and extents: unsigned, 64 bits.
    Index,
    /// IEEE binary16.
    F16,
    /// bfloat16: the upper half of a binary32.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl Scalar {
    /// All scalars, in the order of the enum.
    pub const ALL: [Scalar; 14] = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::Index,
        Scalar::F16,
        Scalar::BF16,
        Scalar::F32,
        Scalar::F64,
    ];

    /// The name in the text of the IR.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::Index => "index",
            Scalar::F16 => "f16",
            Scalar::BF16 => "bf16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// The scalar with this [`name`](Scalar::name).
    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.name() == name)
    }

    /// Bytes that one element takes in memory.
    pub const fn size(self) -> usize {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::BF16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::Index | Scalar::F64 => 8,
        }
    }

    /// Bits of the value: 1 for `Bool`, else eight times the [`size`](Scalar::size).
    pub const fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            _ => 8 * self.size() as u32,
        }
    }

    /// An integer, signed or not, `Index` included; `Bool` is none.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, Scalar::Bool)
    }

    /// A signed integer.
    pub const fn is_signed_int(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// A floating-point number.
    pub const fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64)
    }

    /// The value of this type with one lane.
    pub const fn ty(self) -> Type {
        Type { scalar: self, lanes: 1 }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a value: a scalar, or a SIMD vector of `lanes` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Kind of each lane.
    pub scalar: Scalar,
    /// Number of lanes, 1 to [`Type::MAX_LANES`]; 1 is a plain scalar.
    pub lanes: u8,
}

impl Type {
    /// The most lanes a vector may have.
    pub const MAX_LANES: u8 = 64;

    /// Truth value of one lane.
    pub const BOOL: Type = Scalar::Bool.ty();
    /// Index of one lane.
    pub const INDEX: Type = Scalar::Index.ty();

    /// A vector type.
    pub const fn vector(scalar: Scalar, lanes: u8) -> Type {
        Type { scalar, lanes }
    }

    /// The same number of lanes of another scalar.
    pub const fn with_scalar(self, scalar: Scalar) -> Type {
        Type { scalar, lanes: self.lanes }
    }

    /// The same scalar with another number of lanes.
    pub const fn with_lanes(self, lanes: u8) -> Type {
        Type { scalar: self.scalar, lanes }
    }

    /// Bytes of all lanes.
    pub const fn size(self) -> usize {
        self.scalar.size() * self.lanes as usize
    }
}

impl fmt::Display for Type {
    /// `f32`, or `f32x4` for a vector.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lanes == 1 {
            write!(f, "{}", self.scalar)
        } else {
            write!(f, "{}x{}", self.scalar, self.lanes)
        }
    }
}

/// A constant of one lane: its scalar type and its bits, zero-extended to 64.
///
/// Equality and hashing are by bits, so `0.0` and `-0.0` differ and a NaN equals itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Const {
    /// Type of the constant.
    pub scalar: Scalar,
    /// The value's bits in the low [`Scalar::bits`]; the rest is zero.
    pub bits: u64,
}

impl Const {
    /// A constant from bits; those above the scalar's width are dropped.
    pub const fn from_bits(scalar: Scalar, bits: u64) -> Const {
        let width = scalar.bits();
        let mask = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        Const { scalar, bits: bits & mask }
    }

    /// A truth value.
    pub const fn bool(value: bool) -> Const {
        Const { scalar: Scalar::Bool, bits: value as u64 }
    }

    /// An index.
    pub const fn index(value: u64) -> Const {
        Const { scalar: Scalar::Index, bits: value }
    }

    /// An `f32`.
    pub const fn f32(value: f32) -> Const {
        Const { scalar: Scalar::F32, bits: value.to_bits() as u64 }
    }

    /// An integer constant of `scalar`, wrapped to its width.
    pub const fn int(scalar: Scalar, value: i128) -> Const {
        Const::from_bits(scalar, value as u64)
    }

    /// The mathematical value of an integer or truth-value constant; `None` for a float.
    pub const fn as_int(self) -> Option<i128> {
        match self.scalar {
            Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => None,
            Scalar::I8 => Some(self.bits as u8 as i8 as i128),
            Scalar::I16 => Some(self.bits as u16 as i16 as i128),
            Scalar::I32 => Some(self.bits as u32 as i32 as i128),
            Scalar::I64 => Some(self.bits as i64 as i128),
            _ => Some(self.bits as i128),
        }
    }

    /// The value of a float constant, widened; `None` for any other.
    pub fn as_float(self) -> Option<f64> {
        match self.scalar {
            Scalar::F16 => Some(half::f16::from_bits(self.bits as u16).to_f64()),
            Scalar::BF16 => Some(half::bf16::from_bits(self.bits as u16).to_f64()),
            Scalar::F32 => Some(f32::from_bits(self.bits as u32) as f64),
            Scalar::F64 => Some(f64::from_bits(self.bits)),
            _ => None,
        }
    }

    /// Whether all bits are zero: `0`, `false`, `+0.0`.
    pub const fn is_zero(self) -> bool {
        self.bits == 0
    }

    /// The number one of a numeric scalar (`true` for `Bool`).
    pub fn one(scalar: Scalar) -> Const {
        let bits = match scalar {
            Scalar::F16 => half::f16::ONE.to_bits() as u64,
            Scalar::BF16 => half::bf16::ONE.to_bits() as u64,
            Scalar::F32 => 1f32.to_bits() as u64,
            Scalar::F64 => 1f64.to_bits(),
            _ => 1,
        };
        Const { scalar, bits }
    }
}
