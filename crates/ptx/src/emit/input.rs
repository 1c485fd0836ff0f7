//! What a launch gives: arguments, and the numbers of the thread. Each is read once, at the start of the function,
//! and only if it is used.

use tilewise_ir::{Axis, Builtin, Const, Inst, Op, ParamId, ParamKind, Scalar};

use super::code::{Class, Line, Operand, Reg};
use super::{Emitter, asm};
use crate::Arg;

/// A number of the launch in a register of some class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Input {
    Arg(Arg, Class),
    Special(&'static str, Axis),
    /// The thread's place in its warp.
    LaneId,
    /// The lanes that its warp has at the start, as bits.
    Lanes,
}

impl Emitter<'_> {
    /// Writes to the start of the function.
    pub(super) fn in_prologue(&mut self, input: Input, write: impl FnOnce(&mut Self) -> Reg) -> Reg {
        if let Some(&reg) = self.inputs.get(&input) {
            return reg;
        }
        let lines = std::mem::take(&mut self.lines);
        let reg = write(self);
        let mut new = std::mem::replace(&mut self.lines, lines);
        self.prologue.append(&mut new);
        self.inputs.insert(input, reg);
        reg
    }

    /// The name of a parameter of the entry.
    fn parameter(&mut self, arg: Arg) -> String {
        let position = self.args.iter().position(|&known| known == arg).unwrap_or_else(|| {
            self.args.push(arg);
            self.args.len() - 1
        });
        format!("param_{position}")
    }

    pub(super) fn builtin(&mut self, builtin: Builtin, axis: Axis) -> Operand {
        let name = match builtin {
            Builtin::ThreadIdx => "tid",
            Builtin::BlockIdx => "ctaid",
            Builtin::BlockDim => "ntid",
            Builtin::GridDim => "nctaid",
        };
        if let Some(block) = self.facts.block {
            let threads = block[axis as usize];
            match builtin {
                Builtin::BlockDim => return Operand::Imm(Const::index(threads.into())),
                Builtin::ThreadIdx if threads == 1 => return Operand::Imm(Const::index(0)),
                Builtin::ThreadIdx | Builtin::BlockIdx | Builtin::GridDim => {}
            }
        }
        let reg = self.in_prologue(Input::Special(name, axis), |emitter| {
            let reg = emitter.reg(Class::B32);
            let axis = ["x", "y", "z"][axis as usize];
            asm!(emitter, "mov.u32 {reg}, %{name}.{axis}");
            reg
        });
        reg.into()
    }

    /// A scalar parameter, an extent or a stride.
    pub(super) fn argument(&mut self, inst: &Inst) {
        let Some(result) = inst.result() else { return };
        let arg = match inst.op {
            Op::Scalar(param) => Arg::Scalar(param),
            Op::Extent(param, dim) => Arg::Extent(param, dim),
            Op::Stride(param, dim) => Arg::Stride(param, dim),
            _ => return,
        };
        let (scalar, class) = (self.ty(result).scalar, self.class(result));
        let reg = self.in_prologue(Input::Arg(arg, class), |emitter| {
            let parameter = emitter.parameter(arg);
            let reg = emitter.reg(class);
            match scalar {
                Scalar::Bool => {
                    let byte = emitter.reg(Class::B32);
                    asm!(emitter, "ld.param.u8 {byte}, [{parameter}]");
                    asm!(emitter, "setp.ne.u32 {reg}, {byte}, 0");
                }
                Scalar::Index => {
                    let bits = if class == Class::B32 { 32 } else { 64 };
                    asm!(emitter, "ld.param.u{bits} {reg}, [{parameter}]");
                }
                _ => asm!(emitter, "ld.param.{} {reg}, [{parameter}]", memory_type(scalar)),
            }
            reg
        });
        self.define(result, [Operand::Reg(reg)].into_iter().collect());
    }

    /// The address of a tensor in global memory.
    pub(super) fn data(&mut self, param: ParamId) -> Reg {
        let arg = Arg::Data(param);
        self.in_prologue(Input::Arg(arg, Class::B64), |emitter| {
            let parameter = emitter.parameter(arg);
            let generic = emitter.reg(Class::B64);
            let reg = emitter.reg(Class::B64);
            asm!(emitter, "ld.param.u64 {generic}, [{parameter}]");
            asm!(emitter, "cvta.to.global.u64 {reg}, {generic}");
            reg
        })
    }

    /// The number of the launch, or the address of the reports.
    pub(super) fn for_reports(&mut self, arg: Arg) -> Reg {
        self.in_prologue(Input::Arg(arg, Class::B64), |emitter| {
            let parameter = emitter.parameter(arg);
            let reg = emitter.reg(Class::B64);
            asm!(emitter, "ld.param.u64 {reg}, [{parameter}]");
            reg
        })
    }

    /// The declarations of the entry's parameters.
    pub(super) fn parameters(&self) -> Vec<String> {
        let declare = |(n, &arg): (usize, &Arg)| {
            let bits = match arg {
                Arg::Scalar(param) => match self.kernel.params[param.0 as usize].kind {
                    ParamKind::Scalar(scalar) => 8 * scalar.size(),
                    ParamKind::Tensor { .. } => 64,
                },
                Arg::Data(_) | Arg::Extent(..) | Arg::Stride(..) | Arg::Reports | Arg::Launch => 64,
            };
            format!(".param .b{bits} param_{n}")
        };
        self.args.iter().enumerate().map(declare).collect()
    }

    /// Appends the prologue to `lines`.
    pub(super) fn take_prologue(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.prologue)
    }
}

/// The type of a scalar in loads and stores, which extends small integers.
pub(super) fn memory_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool | Scalar::U8 => "u8",
        Scalar::I8 => "s8",
        Scalar::I16 => "s16",
        Scalar::U16 => "u16",
        Scalar::I32 | Scalar::U32 => "u32",
        Scalar::I64 | Scalar::U64 | Scalar::Index => "u64",
        Scalar::F16 | Scalar::BF16 => "b16",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
    }
}
