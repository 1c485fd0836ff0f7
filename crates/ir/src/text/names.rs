//! Names of the enums of [`op`](crate::op) in the text, both ways.

use crate::kernel::Space;
use crate::op::{AtomicOp, Axis, BinaryOp, Builtin, CompareOp, Ordering, Scope, Shuffle, UnaryOp};
use std::fmt;

macro_rules! names {
    ($($enum:ident { $($variant:ident = $name:literal,)+ })+) => { $(
        impl $enum {
            /// All of them, in the order of the enum.
            pub const ALL: &[$enum] = &[$($enum::$variant),+];

            /// The name in the text of the IR.
            pub const fn name(self) -> &'static str {
                match self {
                    $($enum::$variant => $name,)+
                }
            }

            /// The one with this [`name`](Self::name).
            pub fn from_name(name: &str) -> Option<$enum> {
                match name {
                    $($name => Some($enum::$variant),)+
                    _ => None,
                }
            }
        }

        impl fmt::Display for $enum {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )+ };
}

names! {
    UnaryOp {
        Neg = "neg",
        Not = "not",
        Abs = "abs",
        Signum = "signum",
        Sqrt = "sqrt",
        Rsqrt = "rsqrt",
        Recip = "recip",
        Exp = "exp",
        Exp2 = "exp2",
        Log = "log",
        Log2 = "log2",
        Sin = "sin",
        Cos = "cos",
        Tanh = "tanh",
        Floor = "floor",
        Ceil = "ceil",
        Round = "round",
        RoundEven = "round_even",
        Trunc = "trunc",
        CountOnes = "count_ones",
        LeadingZeros = "leading_zeros",
        TrailingZeros = "trailing_zeros",
        IsNan = "is_nan",
        IsInf = "is_inf",
    }
    BinaryOp {
        Add = "add",
        Sub = "sub",
        Mul = "mul",
        Div = "div",
        Rem = "rem",
        Min = "min",
        Max = "max",
        And = "and",
        Or = "or",
        Xor = "xor",
        Shl = "shl",
        Shr = "shr",
        Pow = "pow",
        Atan2 = "atan2",
    }
    CompareOp {
        Eq = "eq",
        Ne = "ne",
        Lt = "lt",
        Le = "le",
        Gt = "gt",
        Ge = "ge",
    }
    AtomicOp {
        Add = "add",
        Min = "min",
        Max = "max",
        And = "and",
        Or = "or",
        Xor = "xor",
        Exchange = "exchange",
    }
    Shuffle {
        Idx = "idx",
        Up = "up",
        Down = "down",
        Xor = "xor",
    }
    Scope {
        Block = "block",
        Device = "device",
        System = "system",
    }
    Ordering {
        Relaxed = "relaxed",
        Acquire = "acquire",
        Release = "release",
        AcqRel = "acq_rel",
        SeqCst = "seq_cst",
    }
    Builtin {
        ThreadIdx = "thread_idx",
        BlockIdx = "block_idx",
        BlockDim = "block_dim",
        GridDim = "grid_dim",
    }
    Axis {
        X = "x",
        Y = "y",
        Z = "z",
    }
    Space {
        Shared = "shared",
        Local = "local",
    }
}
