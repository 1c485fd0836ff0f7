//! Conversions between types: Rust's `as`, and the same bits as another type.

use tilewise_ir::{Const, Inst, Scalar, eval};

use super::code::{Class, Operand, Reg};
use super::integer::{integer_type, register_bits};
use super::{Emitter, asm};

impl Emitter<'_> {
    pub(super) fn cast(&mut self, inst: &Inst, to: Scalar) {
        let Some(result) = inst.result() else { return };
        let (from, narrow) = (self.ty(inst.args[0]).scalar, self.is_narrow(result));
        let lanes = (0..self.ty(result).lanes as usize)
            .map(|lane| {
                let a = self.operand(inst.args[0], lane);
                self.cast_lane(from, to, a, narrow)
            })
            .collect();
        self.define(result, lanes);
    }

    /// One lane. `narrow` is whether 32 bits of the result are enough.
    fn cast_lane(&mut self, from: Scalar, to: Scalar, a: Operand, narrow: bool) -> Operand {
        if from == to {
            return a;
        }
        if let Some(constant) = a.constant().and_then(|constant| eval::cast(constant, to)) {
            return self.literal(Operand::Imm(constant));
        }
        if from == Scalar::Bool {
            return self.bool_as(to, a);
        }
        match (from.is_float(), to.is_float()) {
            _ if to == Scalar::Bool => self.is_not_zero(from, a),
            (true, true) => self.float_to_float(from, to, a),
            (true, false) => self.float_to_integer(from, to, a),
            (false, true) => self.integer_to_float(from, to, a),
            (false, false) => self.integer_to_integer(from, to, a, narrow),
        }
    }

    /// Zero or one.
    pub(super) fn bool_as(&mut self, to: Scalar, a: Operand) -> Operand {
        // An index of zero or one is narrow.
        let class = if to == Scalar::Index { Class::B32 } else { Class::of(to) };
        let [one, zero] = [Const::one(to), Const { scalar: to, bits: 0 }].map(|constant| {
            let constant =
                if to == Scalar::Index { Const { scalar: Scalar::U32, ..constant } } else { constant };
            self.literal(Operand::Imm(constant))
        });
        let result = self.reg(class);
        asm!(self, "selp.{} {result}, {one}, {zero}, {a}", class.ty());
        result.into()
    }

    /// Whether a number is not zero.
    fn is_not_zero(&mut self, from: Scalar, a: Operand) -> Operand {
        let (a, is) = match from {
            Scalar::BF16 => (self.widened(from, a), self.reg(Class::Pred)),
            _ => (a, self.reg(Class::Pred)),
        };
        let a = self.in_register(a);
        match a.class {
            Class::F32 => asm!(self, "setp.neu.f32 {is}, {a}, 0f00000000"),
            Class::F64 => asm!(self, "setp.neu.f64 {is}, {a}, 0d0000000000000000"),
            Class::B16 => {
                let magnitude = self.reg(Class::B16);
                asm!(self, "and.b16 {magnitude}, {a}, 0x7fff");
                asm!(self, "setp.ne.b16 {is}, {magnitude}, 0");
            }
            Class::B32 => asm!(self, "setp.ne.b32 {is}, {a}, 0"),
            Class::B64 => asm!(self, "setp.ne.b64 {is}, {a}, 0"),
            Class::Pred => return a.into(),
        }
        is.into()
    }

    fn integer_to_integer(&mut self, from: Scalar, to: Scalar, a: Operand, narrow: bool) -> Operand {
        if to.size() < 8 {
            let low = self.low_of(a);
            // What is in the range of a smaller type with its kind of sign is in the range of the larger.
            let fits =
                from.size() < to.size() && (to.size() == 4 || to.is_signed_int() || !from.is_signed_int());
            return if fits { low } else { self.normalize(to, low) };
        }
        match from {
            Scalar::I64 | Scalar::U64 => a,
            Scalar::Index => self.wide_of(a),
            _ if to == Scalar::Index && (narrow || !from.is_signed_int()) => self.low_of(a),
            _ if !from.is_signed_int() => self.wide_of(a),
            _ => {
                let (a, result) = (self.in_register(a), self.reg(Class::B64));
                asm!(self, "cvt.s64.s32 {result}, {a}");
                result.into()
            }
        }
    }

    fn integer_to_float(&mut self, from: Scalar, to: Scalar, a: Operand) -> Operand {
        let a = match from {
            Scalar::Index if a.is_narrow() => self.low_of(a),
            Scalar::Index => self.wide_of(a),
            _ => a,
        };
        let a = self.in_register(a);
        let ty = match (from, a.class) {
            (Scalar::Index, Class::B32) => "u32",
            _ => integer_type(from),
        };
        if to != Scalar::BF16 {
            let result = self.reg(Class::of(to));
            asm!(self, "cvt.rn.{to}.{ty} {result}, {a}");
            return result.into();
        }
        // To f32, rounded to odd, so that rounding to fewer digits is right.
        let single = self.reg(Class::F32);
        asm!(self, "cvt.rz.f32.{ty} {single}, {a}");
        let single = if from.size() < 4 {
            single
        } else {
            let (back, inexact) = (self.reg(a.class), self.reg(Class::Pred));
            asm!(self, "cvt.rzi.{ty}.f32 {back}, {single}");
            asm!(self, "setp.ne.{} {inexact}, {back}, {a}", a.class.ty());
            self.odd_if(inexact, single)
        };
        self.rounded(to, single).into()
    }

    /// Towards zero, saturating; a NaN gives zero.
    fn float_to_integer(&mut self, from: Scalar, to: Scalar, a: Operand) -> Operand {
        let (a, from) = match from {
            Scalar::BF16 => (self.widened(from, a), Scalar::F32),
            _ => (a, from),
        };
        let a = self.in_register(a);
        let (ty, result) = (integer_type(to), self.reg(Class::of(to)));
        asm!(self, "cvt.rzi.{ty}.{from} {result}, {a}");
        // Only up to 32 bits, a NaN becomes zero by itself.
        let result = if register_bits(to) == 64 || from == Scalar::F64 {
            let (nan, chosen) = (self.reg(Class::Pred), self.reg(result.class));
            asm!(self, "setp.nan.{from} {nan}, {a}, {a}");
            asm!(self, "selp.{} {chosen}, 0, {result}, {nan}", result.class.ty());
            chosen
        } else {
            result
        };
        self.clamp(to, result).into()
    }

    /// Saturates a number of 32 bits to a smaller type.
    fn clamp(&mut self, to: Scalar, value: Reg) -> Reg {
        let (least, most) = match to {
            Scalar::I8 => (i8::MIN.into(), i8::MAX.into()),
            Scalar::I16 => (i16::MIN.into(), i16::MAX.into()),
            Scalar::U8 => (0, i32::from(u8::MAX)),
            Scalar::U16 => (0, i32::from(u16::MAX)),
            _ => return value,
        };
        let (ty, capped) = (integer_type(to), self.reg(Class::B32));
        asm!(self, "min.{ty} {capped}, {value}, {most}");
        if !to.is_signed_int() {
            return capped;
        }
        let result = self.reg(Class::B32);
        asm!(self, "max.{ty} {result}, {capped}, {least}");
        result
    }

    fn float_to_float(&mut self, from: Scalar, to: Scalar, a: Operand) -> Operand {
        let a = self.in_register(a);
        match (from, to) {
            (Scalar::F64, Scalar::BF16) => {
                let single = self.round_to_odd(a);
                self.rounded(to, single).into()
            }
            (Scalar::F64, Scalar::F16 | Scalar::F32) => {
                let result = self.reg(Class::of(to));
                asm!(self, "cvt.rn.{to}.f64 {result}, {a}");
                result.into()
            }
            (Scalar::F32, Scalar::F16 | Scalar::BF16) => self.rounded(to, a).into(),
            (Scalar::F32, _) => self.widen_float("f32", a),
            (Scalar::F16, Scalar::F64) => self.widen_float("f16", a),
            // A half is exact in f32.
            _ => {
                let single = self.widened(from, a.into());
                let single = self.in_register(single);
                match to {
                    Scalar::F64 => self.widen_float("f32", single),
                    Scalar::F16 | Scalar::BF16 => self.rounded(to, single).into(),
                    _ => single.into(),
                }
            }
        }
    }

    fn widen_float(&mut self, from: &str, a: Reg) -> Operand {
        let result = self.reg(Class::F64);
        asm!(self, "cvt.f64.{from} {result}, {a}");
        result.into()
    }

    pub(super) fn bitcast(&mut self, inst: &Inst, to: Scalar) {
        let Some(result) = inst.result() else { return };
        let from = self.ty(inst.args[0]).scalar;
        let lanes = (0..self.ty(result).lanes as usize)
            .map(|lane| {
                let a = self.operand(inst.args[0], lane);
                self.bitcast_lane(from, to, a)
            })
            .collect();
        self.define(result, lanes);
    }

    fn bitcast_lane(&mut self, from: Scalar, to: Scalar, a: Operand) -> Operand {
        if from == to {
            return a;
        }
        let a = if from == Scalar::Index { self.wide_of(a) } else { a };
        if let Operand::Imm(Const { bits, .. }) = a {
            // The bits of a literal are those of its type, whatever is above in a register.
            return Operand::Imm(Const::from_bits(to, bits));
        }
        let a = self.in_register(a);
        let result = match (a.class, Class::of(to)) {
            (from, to) if from == to => a,
            (Class::B16, Class::B32) => {
                let result = self.reg(Class::B32);
                asm!(self, "cvt.u32.u16 {result}, {a}");
                result
            }
            (Class::B32, Class::B16) => {
                let result = self.reg(Class::B16);
                asm!(self, "cvt.u16.u32 {result}, {a}");
                return result.into();
            }
            (_, class) => {
                let result = self.reg(class);
                asm!(self, "mov.b{} {result}, {a}", 8 * to.size());
                return result.into();
            }
        };
        self.normalize(to, result.into())
    }
}
