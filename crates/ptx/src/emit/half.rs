//! The halves, `f16` and `bf16`.
//!
//! What a target has no instruction for is computed in `f32` and rounded. For `+`, `-`, `*`, `/` and the square root
//! that is the same as rounding once, because an `f32` has more than twice the digits.

use tilewise_ir::{BinaryOp, Const, Scalar, UnaryOp};

use super::code::{Class, Operand, Reg};
use super::{Emitter, asm};
use crate::Unsupported;

impl Emitter<'_> {
    pub(super) fn half_unary(
        &mut self,
        op: UnaryOp,
        scalar: Scalar,
        a: Operand,
    ) -> Result<Operand, Unsupported> {
        let infinity = if scalar == Scalar::F16 { 0x7c00 } else { 0x7f80 };
        match op {
            UnaryOp::Neg => {
                let result = self.reg(Class::B16);
                asm!(self, "xor.b16 {result}, {a}, 0x8000");
                Ok(result.into())
            }
            UnaryOp::Abs => Ok(self.half_abs(a).into()),
            UnaryOp::IsNan | UnaryOp::IsInf => {
                let (magnitude, is) = (self.half_abs(a), self.reg(Class::Pred));
                let word = if op == UnaryOp::IsNan { "gt" } else { "eq" };
                asm!(self, "setp.{word}.u16 {is}, {magnitude}, {infinity}");
                Ok(is.into())
            }
            _ => {
                let wide = self.widened(scalar, a);
                let result = match self.float_unary(op, Scalar::F32, wide) {
                    Ok(result) => self.in_register(result),
                    Err(_) => return Err(self.no_such_function(op.name(), scalar)),
                };
                Ok(self.rounded(scalar, result).into())
            }
        }
    }

    fn half_abs(&mut self, a: Operand) -> Reg {
        let result = self.reg(Class::B16);
        asm!(self, "and.b16 {result}, {a}, 0x7fff");
        result
    }

    pub(super) fn half_binary(
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
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            _ => "",
        };
        let native = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                scalar == Scalar::F16 || self.target.has(90, (7, 8))
            }
            BinaryOp::Min | BinaryOp::Max => self.target.has(80, (7, 0)),
            _ => false,
        };
        if native {
            let result = self.reg(Class::B16);
            asm!(self, "{word}.{scalar} {result}, {a}, {b}");
            return Ok(result.into());
        }
        if self.target.has(80, (7, 0)) {
            // A product with one, or a sum with a zero that changes nothing, is exact.
            let constant = |bits| Operand::Imm(Const { scalar, bits });
            let fused = match op {
                BinaryOp::Add => Some((a, constant(0x3f80), b)),
                BinaryOp::Sub => Some((b, constant(0xbf80), a)),
                BinaryOp::Mul => Some((a, b, constant(0x8000))),
                _ => None,
            };
            if let Some((x, y, z)) = fused {
                let (y, z, result) = (self.literal(y), self.literal(z), self.reg(Class::B16));
                asm!(self, "fma.rn.{scalar} {result}, {x}, {y}, {z}");
                return Ok(result.into());
            }
        }
        let (x, y) = (self.widened(scalar, a), self.widened(scalar, b));
        let result = match self.float_binary(op, Scalar::F32, x, y) {
            Ok(result) => self.in_register(result),
            Err(_) => return Err(self.no_such_function(op.name(), scalar)),
        };
        Ok(self.rounded(scalar, result).into())
    }

    /// A half as `f32`.
    pub(super) fn widened(&mut self, scalar: Scalar, a: Operand) -> Operand {
        let (a, result) = (self.in_register(a), self.reg(Class::F32));
        if scalar == Scalar::F16 {
            asm!(self, "cvt.f32.f16 {result}, {a}");
        } else {
            let [low, high] = [(); 2].map(|()| self.reg(Class::B32));
            asm!(self, "cvt.u32.u16 {low}, {a}");
            asm!(self, "shl.b32 {high}, {low}, 16");
            asm!(self, "mov.b32 {result}, {high}");
        }
        result.into()
    }

    /// An `f32` as the nearest half, ties to even.
    pub(super) fn rounded(&mut self, scalar: Scalar, a: Reg) -> Reg {
        let result = self.reg(Class::B16);
        match scalar {
            Scalar::F16 => asm!(self, "cvt.rn.f16.f32 {result}, {a}"),
            _ if self.target.has(80, (7, 0)) => asm!(self, "cvt.rn.bf16.f32 {result}, {a}"),
            _ => self.round_to_bf16(a, result),
        }
        result
    }

    /// The same with integers: adds what carries into the upper half if that has to be rounded up.
    fn round_to_bf16(&mut self, a: Reg, result: Reg) {
        let [bits, odd, carry, sum, upper, chosen] = [(); 6].map(|()| self.reg(Class::B32));
        let nan = self.reg(Class::Pred);
        asm!(self, "mov.b32 {bits}, {a}");
        asm!(self, "bfe.u32 {odd}, {bits}, 16, 1");
        asm!(self, "add.u32 {carry}, {odd}, 32767");
        asm!(self, "add.u32 {sum}, {bits}, {carry}");
        asm!(self, "shr.u32 {upper}, {sum}, 16");
        asm!(self, "setp.nan.f32 {nan}, {a}, {a}");
        asm!(self, "selp.b32 {chosen}, 32704, {upper}, {nan}");
        asm!(self, "cvt.u16.u32 {result}, {chosen}");
    }

    /// `a * b + c` of `bf16` where there is no instruction. The product is exact in `f64`, and the sum is rounded to
    /// odd, so that rounding again is right.
    pub(super) fn bf16_mul_add(&mut self, a: Operand, b: Operand, c: Operand) -> Operand {
        let [x, y, z] = [a, b, c].map(|operand| {
            let (single, double) = (self.widened(Scalar::BF16, operand), self.reg(Class::F64));
            asm!(self, "cvt.f64.f32 {double}, {single}");
            double
        });
        let [below, above, cut, odd] = [(); 4].map(|()| self.reg(Class::F64));
        let [bits, odd_bits] = [(); 2].map(|()| self.reg(Class::B64));
        let inexact = self.reg(Class::Pred);
        asm!(self, "fma.rm.f64 {below}, {x}, {y}, {z}");
        asm!(self, "fma.rp.f64 {above}, {x}, {y}, {z}");
        asm!(self, "fma.rz.f64 {cut}, {x}, {y}, {z}");
        asm!(self, "mov.b64 {bits}, {cut}");
        asm!(self, "or.b64 {odd_bits}, {bits}, 1");
        asm!(self, "mov.b64 {odd}, {odd_bits}");
        asm!(self, "setp.ne.f64 {inexact}, {below}, {above}");
        let sum = self.reg(Class::F64);
        asm!(self, "selp.f64 {sum}, {odd}, {cut}, {inexact}");
        let single = self.round_to_odd(sum);
        self.rounded(Scalar::BF16, single).into()
    }

    /// An `f64` as `f32`, rounded to odd: what is not exact gets an odd last digit.
    pub(super) fn round_to_odd(&mut self, a: Reg) -> Reg {
        let (single, back) = (self.reg(Class::F32), self.reg(Class::F64));
        asm!(self, "cvt.rz.f32.f64 {single}, {a}");
        asm!(self, "cvt.f64.f32 {back}, {single}");
        let inexact = self.reg(Class::Pred);
        // Of a NaN this is false.
        asm!(self, "setp.ne.f64 {inexact}, {back}, {a}");
        self.odd_if(inexact, single)
    }

    /// Sets the last bit of an `f32` if `inexact`.
    pub(super) fn odd_if(&mut self, inexact: Reg, single: Reg) -> Reg {
        let [bits, last, odd] = [(); 3].map(|()| self.reg(Class::B32));
        let result = self.reg(Class::F32);
        asm!(self, "mov.b32 {bits}, {single}");
        asm!(self, "selp.b32 {last}, 1, 0, {inexact}");
        asm!(self, "or.b32 {odd}, {bits}, {last}");
        asm!(self, "mov.b32 {result}, {odd}");
        result
    }
}
