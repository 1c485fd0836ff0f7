//! Pieces of PTX: registers, operands, lines.

use std::fmt;

use tilewise_ir::{Const, Scalar, Span};

/// The kinds of virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    /// A truth value.
    Pred,
    /// A half.
    B16,
    /// An integer of up to 32 bits, extended by the sign of its type.
    B32,
    /// An integer of 64 bits.
    B64,
    /// An `f32`.
    F32,
    /// An `f64`.
    F64,
}

impl Class {
    /// All classes, in the order of declaration in a function.
    pub(crate) const ALL: [Class; 6] =
        [Class::Pred, Class::B16, Class::B32, Class::B64, Class::F32, Class::F64];

    /// The type in declarations and moves.
    pub(crate) fn ty(self) -> &'static str {
        match self {
            Class::Pred => "pred",
            Class::B16 => "b16",
            Class::B32 => "b32",
            Class::B64 => "b64",
            Class::F32 => "f32",
            Class::F64 => "f64",
        }
    }

    /// What names of registers begin with.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Class::Pred => "%p",
            Class::B16 => "%h",
            Class::B32 => "%r",
            Class::B64 => "%rd",
            Class::F32 => "%f",
            Class::F64 => "%fd",
        }
    }

    /// The class of registers for a scalar; an index has a wide one.
    pub(crate) fn of(scalar: Scalar) -> Class {
        match scalar {
            Scalar::Bool => Class::Pred,
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::U8 | Scalar::U16 | Scalar::U32 => Class::B32,
            Scalar::I64 | Scalar::U64 | Scalar::Index => Class::B64,
            Scalar::F16 | Scalar::BF16 => Class::B16,
            Scalar::F32 => Class::F32,
            Scalar::F64 => Class::F64,
        }
    }
}

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reg {
    pub(crate) class: Class,
    pub(crate) number: u32,
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class.prefix(), self.number)
    }
}

/// A register or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Reg(Reg),
    /// Shown as a literal of its type. Halves and truth values have none: they are put into registers first.
    Imm(Const),
}

impl Operand {
    /// The constant, if it is one.
    pub(crate) fn constant(self) -> Option<Const> {
        match self {
            Operand::Reg(_) => None,
            Operand::Imm(constant) => Some(constant),
        }
    }

    /// A literal of 32 bits.
    pub(crate) fn u32(value: u32) -> Operand {
        Operand::Imm(Const { scalar: Scalar::U32, bits: value.into() })
    }

    /// A literal of 64 bits.
    pub(crate) fn u64(value: u64) -> Operand {
        Operand::Imm(Const { scalar: Scalar::U64, bits: value })
    }

    /// Whether it is an index of which 32 bits are enough: a narrow register or a small constant.
    pub(crate) fn is_narrow(self) -> bool {
        match self {
            Operand::Reg(reg) => reg.class == Class::B32,
            Operand::Imm(constant) => constant.bits <= u32::MAX.into(),
        }
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Operand::Reg(reg) => reg.fmt(f),
            Operand::Imm(Const { scalar, bits }) => match scalar {
                Scalar::F32 => write!(f, "0f{bits:08X}"),
                Scalar::F64 => write!(f, "0d{bits:016X}"),
                Scalar::I64 | Scalar::U64 | Scalar::Index => match bits as i64 {
                    i64::MIN => f.write_str("0x8000000000000000"),
                    signed => signed.fmt(f),
                },
                Scalar::Bool | Scalar::F16 | Scalar::BF16 => bits.fmt(f),
                Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::U8 | Scalar::U16 | Scalar::U32 => {
                    (Const { scalar, bits }).as_int().unwrap_or_default().fmt(f)
                }
            },
        }
    }
}

/// A place to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Target(pub(crate) u32);

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$L{}", self.0)
    }
}

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jump {
    To(Target),
    Return,
}

/// A condition of an instruction: the register, and whether it has to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    pub(crate) pred: Reg,
    pub(crate) when: bool,
}

/// A line of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Label(Target),
    Jump(Option<Guard>, Jump),
    /// An instruction, with its semicolon.
    Text(String),
    /// The user's position of what follows.
    Position(Span),
}

impl Line {
    /// Whether something is done here.
    pub(crate) fn is_code(&self) -> bool {
        !matches!(self, Line::Position(_))
    }
}
