//! `f32` and `f64`.
//!
//! Each instruction names its rounding, so that the assembler does not contract it, and none flushes subnormal
//! numbers.

use tilewise_ir::{BinaryOp, Const, Scalar, UnaryOp};

use super::code::{Class, Operand, Reg};
use super::function::Function;
use super::{Emitter, asm};
use crate::Unsupported;

impl Emitter<'_> {
    /// An operation on `f32` or `f64`.
    pub(super) fn float_unary(
        &mut self,
        op: UnaryOp,
        scalar: Scalar,
        a: Operand,
    ) -> Result<Operand, Unsupported> {
        let a = self.in_register(a);
        let rounded = match op {
            UnaryOp::Floor => Some("rmi"),
            UnaryOp::Ceil => Some("rpi"),
            UnaryOp::RoundEven => Some("rni"),
            UnaryOp::Trunc => Some("rzi"),
            _ => None,
        };
        let result = self.reg(Class::of(scalar));
        if let Some(rounding) = rounded {
            asm!(self, "cvt.{rounding}.{scalar}.{scalar} {result}, {a}");
            return Ok(result.into());
        }
        match op {
            UnaryOp::Neg => asm!(self, "neg.{scalar} {result}, {a}"),
            UnaryOp::Abs => asm!(self, "abs.{scalar} {result}, {a}"),
            UnaryOp::Signum => {
                let (one, nan) = (self.reg(result.class), self.reg(Class::Pred));
                asm!(self, "copysign.{scalar} {one}, {a}, {}", Operand::Imm(Const::one(scalar)));
                asm!(self, "setp.nan.{scalar} {nan}, {a}, {a}");
                asm!(self, "selp.{scalar} {result}, {a}, {one}, {nan}");
            }
            UnaryOp::Sqrt => asm!(self, "sqrt.rn.{scalar} {result}, {a}"),
            // Of `rsqrt.approx` of a constant, the assembler makes another number than the GPU of the same in a register.
            UnaryOp::Rsqrt => {
                let root = self.reg(result.class);
                asm!(self, "sqrt.rn.{scalar} {root}, {a}");
                asm!(self, "rcp.rn.{scalar} {result}, {root}");
            }
            UnaryOp::Recip => asm!(self, "rcp.rn.{scalar} {result}, {a}"),
            UnaryOp::Round => self.round(scalar, a, result),
            UnaryOp::IsNan | UnaryOp::IsInf => {
                let (word, other): (_, Operand) = match op {
                    UnaryOp::IsNan => ("nan", a.into()),
                    _ => ("eq", Operand::Imm(float(scalar, f64::INFINITY))),
                };
                let (magnitude, is) = (self.reg(result.class), self.reg(Class::Pred));
                asm!(self, "abs.{scalar} {magnitude}, {a}");
                asm!(self, "setp.{word}.{scalar} {is}, {magnitude}, {other}");
                return Ok(is.into());
            }
            UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::RoundEven | UnaryOp::Trunc => {}
            UnaryOp::Exp
            | UnaryOp::Exp2
            | UnaryOp::Log
            | UnaryOp::Log2
            | UnaryOp::Sin
            | UnaryOp::Cos
            | UnaryOp::Tanh => return Err(self.no_such_function(op.name(), scalar)),
            // The verifier lets these through for integers only.
            UnaryOp::Not | UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => {}
        }
        Ok(result.into())
    }

    /// To the nearest integer, halves away from zero: the integer part, and one more if the rest, which is exact, is
    /// at least a half.
    fn round(&mut self, scalar: Scalar, a: Reg, result: Reg) {
        let [whole, rest, size, one, next] = [(); 5].map(|()| self.reg(result.class));
        let up = self.reg(Class::Pred);
        asm!(self, "cvt.rzi.{scalar}.{scalar} {whole}, {a}");
        asm!(self, "sub.rn.{scalar} {rest}, {a}, {whole}");
        asm!(self, "abs.{scalar} {size}, {rest}");
        asm!(self, "setp.ge.{scalar} {up}, {size}, {}", Operand::Imm(float(scalar, 0.5)));
        asm!(self, "copysign.{scalar} {one}, {a}, {}", Operand::Imm(Const::one(scalar)));
        asm!(self, "add.rn.{scalar} {next}, {whole}, {one}");
        asm!(self, "selp.{scalar} {result}, {next}, {whole}, {up}");
    }

    /// An operation on `f32` or `f64`.
    pub(super) fn float_binary(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        a: Operand,
        b: Operand,
    ) -> Result<Operand, Unsupported> {
        let word = match op {
            BinaryOp::Add => "add.rn",
            BinaryOp::Sub => "sub.rn",
            BinaryOp::Mul => "mul.rn",
            BinaryOp::Div => "div.rn",
            // Of a NaN and a number, both give the number.
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::Rem => return Ok(self.float_rem(scalar, a, b)),
            BinaryOp::Pow | BinaryOp::Atan2 => return Err(self.no_such_function(op.name(), scalar)),
            // The verifier lets these through for integers only.
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => return Ok(a),
        };
        let result = self.reg(Class::of(scalar));
        asm!(self, "{word}.{scalar} {result}, {a}, {b}");
        Ok(result.into())
    }

    /// The remainder, which is exact: that of two `f32` is the same in `f64`.
    fn float_rem(&mut self, scalar: Scalar, a: Operand, b: Operand) -> Operand {
        let [x, y] = [a, b].map(|operand| {
            let operand = self.in_register(operand);
            if scalar == Scalar::F64 {
                return operand;
            }
            let wide = self.reg(Class::F64);
            asm!(self, "cvt.f64.f32 {wide}, {operand}");
            wide
        });
        let rest = self.reg(Class::F64);
        self.call(Function::Rem, Some((rest, "f64")), &[("f64", x.into()), ("f64", y.into())]);
        if scalar == Scalar::F64 {
            return rest.into();
        }
        let result = self.reg(Class::F32);
        asm!(self, "cvt.rn.f32.f64 {result}, {rest}");
        result.into()
    }

    pub(super) fn no_such_function(&self, name: &str, scalar: Scalar) -> Unsupported {
        self.unsupported(format!("`{name}` of {scalar}, which has to be lowered to arithmetic first,"))
    }
}

/// A constant of type `f32` or `f64`.
fn float(scalar: Scalar, value: f64) -> Const {
    match scalar {
        Scalar::F64 => Const { scalar, bits: value.to_bits() },
        _ => Const::f32(value as f32),
    }
}
