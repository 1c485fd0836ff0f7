//! Integers and truth values.
//!
//! Integers of 8 and 16 bits are computed in 32 and brought back to the range of their type where they may have left
//! it.

use tilewise_ir::{BinaryOp, CompareOp, Const, Inst, Scalar, SiteKind, UnaryOp};

use super::code::{Class, Operand, Reg};
use super::{Emitter, asm};

/// The type of an integer in arithmetic.
pub(super) fn integer_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8 | Scalar::I16 | Scalar::I32 => "s32",
        Scalar::I64 => "s64",
        Scalar::U64 | Scalar::Index => "u64",
        Scalar::Bool
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::F16
        | Scalar::BF16
        | Scalar::F32
        | Scalar::F64 => "u32",
    }
}

/// Bits of the register of an integer.
pub(super) fn register_bits(scalar: Scalar) -> u32 {
    scalar.bits().max(32)
}

impl Emitter<'_> {
    /// Brings 32 bits into the range of an integer type by dropping what is above.
    pub(super) fn normalize(&mut self, scalar: Scalar, value: Operand) -> Operand {
        match scalar {
            Scalar::I8 | Scalar::I16 => {
                let (value, result) = (self.in_register(value), self.reg(Class::B32));
                asm!(self, "cvt.s32.s{} {result}, {value}", scalar.bits());
                result.into()
            }
            Scalar::U8 | Scalar::U16 => {
                let result = self.reg(Class::B32);
                asm!(self, "and.b32 {result}, {value}, {}", (1 << scalar.bits()) - 1);
                result.into()
            }
            _ => value,
        }
    }

    /// An operation on integers. A divisor is not zero.
    pub(super) fn integer_binary(&mut self, op: BinaryOp, scalar: Scalar, a: Operand, b: Operand) -> Operand {
        let (ty, bits) = (integer_type(scalar), register_bits(scalar));
        let result = self.reg(Class::of(scalar));
        match op {
            BinaryOp::Add => asm!(self, "add.{ty} {result}, {a}, {b}"),
            BinaryOp::Sub => asm!(self, "sub.{ty} {result}, {a}, {b}"),
            BinaryOp::Mul => asm!(self, "mul.lo.{ty} {result}, {a}, {b}"),
            BinaryOp::Div => asm!(self, "div.{ty} {result}, {a}, {b}"),
            BinaryOp::Rem => asm!(self, "rem.{ty} {result}, {a}, {b}"),
            BinaryOp::Min => asm!(self, "min.{ty} {result}, {a}, {b}"),
            BinaryOp::Max => asm!(self, "max.{ty} {result}, {a}, {b}"),
            BinaryOp::And => asm!(self, "and.b{bits} {result}, {a}, {b}"),
            BinaryOp::Or => asm!(self, "or.b{bits} {result}, {a}, {b}"),
            BinaryOp::Xor => asm!(self, "xor.b{bits} {result}, {a}, {b}"),
            BinaryOp::Shl | BinaryOp::Shr => {
                let count = self.shift_count(scalar, b);
                let instruction = match op {
                    BinaryOp::Shl => format!("shl.b{bits}"),
                    _ => format!("shr.{ty}"),
                };
                asm!(self, "{instruction} {result}, {a}, {count}");
            }
            // The verifier lets these through for floats only.
            BinaryOp::Pow | BinaryOp::Atan2 => {}
        }
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Shl => {
                self.normalize(scalar, result.into())
            }
            BinaryOp::Rem
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shr
            | BinaryOp::Pow
            | BinaryOp::Atan2 => result.into(),
        }
    }

    /// The count of a shift, modulo the width of the type; PTX itself would take it as it is.
    fn shift_count(&mut self, scalar: Scalar, count: Operand) -> Operand {
        let mask = scalar.bits() - 1;
        if let Operand::Imm(Const { bits, .. }) = count {
            return Operand::u32(bits as u32 & mask);
        }
        let (count, masked) = (self.low_of(count), self.reg(Class::B32));
        asm!(self, "and.b32 {masked}, {count}, {mask}");
        masked.into()
    }

    pub(super) fn integer_unary(&mut self, op: UnaryOp, scalar: Scalar, a: Operand) -> Operand {
        let (ty, bits) = (integer_type(scalar), register_bits(scalar));
        let result = self.reg(Class::of(scalar));
        let a = self.in_register(a);
        match op {
            UnaryOp::Neg => {
                asm!(self, "sub.{ty} {result}, 0, {a}");
                self.normalize(scalar, result.into())
            }
            UnaryOp::Not => {
                asm!(self, "not.b{bits} {result}, {a}");
                self.normalize(scalar, result.into())
            }
            UnaryOp::Abs if scalar.is_signed_int() => {
                asm!(self, "abs.{ty} {result}, {a}");
                self.normalize(scalar, result.into())
            }
            UnaryOp::Abs => a.into(),
            UnaryOp::Signum => {
                asm!(self, "min.{ty} {result}, {a}, 1");
                if scalar.is_signed_int() {
                    let both = self.reg(Class::of(scalar));
                    asm!(self, "max.{ty} {both}, {result}, -1");
                    return both.into();
                }
                result.into()
            }
            UnaryOp::CountOnes => {
                let a = self.bits_of(scalar, a);
                self.counted(scalar, &format!("popc.b{bits}"), a)
            }
            UnaryOp::LeadingZeros => {
                let a = self.bits_of(scalar, a);
                let count = self.counted(scalar, &format!("clz.b{bits}"), a);
                match bits - scalar.bits() {
                    0 => count,
                    above => self.integer_binary(BinaryOp::Sub, Scalar::U32, count, Operand::u32(above)),
                }
            }
            UnaryOp::TrailingZeros => {
                let mut a = a;
                if scalar.bits() < bits {
                    // Zeros are counted up to the width of the type.
                    let stopped = self.reg(a.class);
                    asm!(self, "or.b{bits} {stopped}, {a}, {}", 1u64 << scalar.bits());
                    a = stopped;
                }
                asm!(self, "brev.b{bits} {result}, {a}");
                self.counted(scalar, &format!("clz.b{bits}"), result)
            }
            // The verifier lets these through for floats only.
            UnaryOp::Sqrt
            | UnaryOp::Rsqrt
            | UnaryOp::Recip
            | UnaryOp::Exp
            | UnaryOp::Exp2
            | UnaryOp::Log
            | UnaryOp::Log2
            | UnaryOp::Sin
            | UnaryOp::Cos
            | UnaryOp::Tanh
            | UnaryOp::Floor
            | UnaryOp::Ceil
            | UnaryOp::Round
            | UnaryOp::RoundEven
            | UnaryOp::Trunc
            | UnaryOp::IsNan
            | UnaryOp::IsInf => result.into(),
        }
    }

    /// The bits of an integer with zeros above.
    pub(super) fn bits_of(&mut self, scalar: Scalar, value: Reg) -> Reg {
        if !matches!(scalar, Scalar::I8 | Scalar::I16) {
            return value;
        }
        let result = self.reg(Class::B32);
        asm!(self, "and.b32 {result}, {value}, {}", (1 << scalar.bits()) - 1);
        result
    }

    /// The result of an instruction that counts bits, which has 32 bits, in the type of its operand.
    fn counted(&mut self, scalar: Scalar, instruction: &str, a: Reg) -> Operand {
        let count = self.reg(Class::B32);
        asm!(self, "{instruction} {count}, {a}");
        match scalar {
            Scalar::I64 | Scalar::U64 | Scalar::Index => {
                let wide = self.reg(Class::B64);
                asm!(self, "cvt.u64.u32 {wide}, {count}");
                wide.into()
            }
            _ => count.into(),
        }
    }

    pub(super) fn bool_binary(&mut self, op: BinaryOp, a: Operand, b: Operand) -> Operand {
        let word = match op {
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            _ => "xor",
        };
        let result = self.reg(Class::Pred);
        asm!(self, "{word}.pred {result}, {a}, {b}");
        result.into()
    }

    pub(super) fn not(&mut self, a: Operand) -> Reg {
        let result = self.reg(Class::Pred);
        asm!(self, "not.pred {result}, {a}");
        result
    }

    pub(super) fn bool_compare(&mut self, op: CompareOp, a: Operand, b: Operand) -> Operand {
        let (op, a, b) = match op {
            CompareOp::Ne => (BinaryOp::Xor, a, b),
            CompareOp::Eq => (BinaryOp::Xor, self.not(a).into(), b),
            CompareOp::Lt => (BinaryOp::And, self.not(a).into(), b),
            CompareOp::Le => (BinaryOp::Or, self.not(a).into(), b),
            CompareOp::Gt => (BinaryOp::And, a, self.not(b).into()),
            CompareOp::Ge => (BinaryOp::Or, a, self.not(b).into()),
        };
        self.bool_binary(op, a, b)
    }

    /// A division or remainder of integers. Where the divisor is zero, it is a fault and the result is zero.
    pub(super) fn division(&mut self, inst: &Inst, op: BinaryOp, never_zero: bool) {
        let scalar = self.ty(inst.args[0]).scalar;
        let Some(result) = inst.result() else { return };
        let narrow = scalar == Scalar::Index && self.is_narrow(result);
        let site = (!never_zero).then(|| self.site(SiteKind::DivisionByZero));
        let lanes = (0..self.ty(result).lanes as usize)
            .map(|lane| {
                let (a, b) = (self.operand(inst.args[0], lane), self.operand(inst.args[1], lane));
                let divided = |emitter: &mut Self| match scalar {
                    Scalar::Index => emitter.index_binary(op, a, b, narrow),
                    _ => emitter.integer_binary(op, scalar, a, b),
                };
                let Some(site) = site else { return divided(self) };
                let (zero, cold, done) = (self.reg(Class::Pred), self.target(), self.target());
                let bits = match b {
                    Operand::Reg(reg) if reg.class == Class::B64 => 64,
                    _ => register_bits(if b.is_narrow() { Scalar::U32 } else { scalar }),
                };
                asm!(self, "setp.eq.b{bits} {zero}, {b}, 0");
                self.jump_if(zero, true, cold);
                let (quotient, lines) = self.capture(divided);
                self.lines.extend(lines);
                let quotient = self.in_register(quotient);
                self.label(done);
                self.cold(|emitter| {
                    emitter.label(cold);
                    emitter.fault(site, &[]);
                    emitter.set(quotient, zero_of(quotient.class));
                    emitter.jump(done);
                });
                quotient.into()
            })
            .collect();
        self.define(result, lanes);
    }
}

/// Zero in a register of a class.
pub(super) fn zero_of(class: Class) -> Operand {
    Operand::Imm(Const {
        scalar: match class {
            Class::Pred => Scalar::Bool,
            Class::B16 => Scalar::F16,
            Class::B32 => Scalar::U32,
            Class::B64 => Scalar::U64,
            Class::F32 => Scalar::F32,
            Class::F64 => Scalar::F64,
        },
        bits: 0,
    })
}
