//! Operations by themselves: counts, types, scalars, lanes, formats and parameters (rules V3, V4, V9 to V12, V14).

use super::error::{Count, ExpectedType, VerifyErrorKind};
use super::{Verifier, scalar};
use crate::kernel::{Inst, MemRef, ParamId, ParamKind};
use crate::op::{Format, Op, Piece, Style};
use crate::text::infer::result_types;
use crate::types::{Const, Scalar, Type};
use smallvec::SmallVec;

impl Verifier<'_> {
    pub(super) fn op(&mut self, inst: &Inst) {
        let counts_fit = self.counts(inst);
        if let Op::Print(format) = &inst.op {
            self.format(inst, format, 0);
        }
        if let Op::Assert(format) = &inst.op {
            self.format(inst, format, 1);
        }
        let types: Option<SmallVec<[Type; 4]>> = inst.args.iter().map(|&arg| self.ty(arg)).collect();
        if let (true, Some(types)) = (counts_fit, types) {
            self.types(inst, &types);
            self.result_types(inst);
            self.block_param_types(inst, &types);
        }
    }

    // ---- counts ----

    /// V3. Whether the number of operands is right.
    fn counts(&mut self, inst: &Inst) -> bool {
        let blocks = match inst.op {
            Op::If => 2,
            Op::Loop(_) | Op::For(_) => 1,
            _ => 0,
        };
        if inst.blocks.len() != blocks {
            let kind = VerifyErrorKind::BlockCount { expected: blocks, found: inst.blocks.len() };
            self.error(kind, Some(inst));
        }
        if let Some(expected) = operand_count(&inst.op)
            && !expected.includes(inst.args.len())
        {
            let kind = VerifyErrorKind::OperandCount { expected, found: inst.args.len() };
            self.error(kind, Some(inst));
            return false;
        }
        let results = match inst.op {
            Op::For(_) => inst.args.len() - 3,
            _ => result_count(&inst.op).unwrap_or(inst.results.len()),
        };
        if inst.results.len() != results {
            let kind = VerifyErrorKind::ResultCount { expected: results, found: inst.results.len() };
            self.error(kind, Some(inst));
        }
        let params = match inst.op {
            Op::Loop(_) => inst.args.len(),
            Op::For(_) => inst.args.len() - 2,
            _ => 0,
        };
        for block in inst.blocks.iter().filter(|block| block.params.len() != params) {
            let kind = VerifyErrorKind::BlockParamCount { expected: params, found: block.params.len() };
            self.error(kind, Some(inst));
        }
        true
    }

    // ---- types ----

    /// V4 and what else depends on the operands' types, of which there are as many as there should be.
    fn types(&mut self, inst: &Inst, types: &[Type]) {
        match &inst.op {
            Op::Const(constant) => {
                if Const::from_bits(constant.scalar, constant.bits) != *constant {
                    let (scalar, bits) = (constant.scalar, constant.bits);
                    self.error(VerifyErrorKind::ConstBits { scalar, bits }, Some(inst));
                }
            }
            Op::Scalar(param) => self.param(inst, *param, None),
            Op::Extent(param, dim) | Op::Stride(param, dim) => self.param(inst, *param, Some(*dim)),
            Op::Unary(op) => {
                self.exists(inst, scalar::unary_exists(*op, types[0].scalar), op.name(), types[0])
            }
            Op::Binary(op) => {
                self.exists(inst, scalar::binary_exists(*op, types[0].scalar), op.name(), types[0]);
                self.expect(inst, 1, types[1], types[0]);
            }
            Op::Compare(_) => self.expect(inst, 1, types[1], types[0]),
            Op::MulAdd => {
                self.exists(inst, types[0].scalar.is_float(), "mul_add", types[0]);
                self.expect(inst, 1, types[1], types[0]);
                self.expect(inst, 2, types[2], types[0]);
            }
            Op::Select => {
                let lanes = types[1].lanes;
                if types[0] != Type::BOOL && types[0] != Type::BOOL.with_lanes(lanes) {
                    self.operand_type(inst, 0, types[0], ExpectedType::BoolOfLanes { lanes });
                }
                self.expect(inst, 2, types[2], types[1]);
            }
            Op::Cast(_) => {}
            Op::Bitcast(to) => {
                if !scalar::bitcast_exists(types[0].scalar, *to) {
                    let kind = VerifyErrorKind::NoSuchBitcast { from: types[0].scalar, to: *to };
                    self.error(kind, Some(inst));
                }
            }
            Op::Splat(_) => self.one_lane(inst, 0, types[0]),
            Op::Pack => {
                self.one_lane(inst, 0, types[0]);
                for (n, &ty) in types.iter().enumerate().skip(1) {
                    self.expect(inst, n, ty, types[0]);
                }
                if types.len() > Type::MAX_LANES.into() {
                    self.error(VerifyErrorKind::Lanes { lanes: types.len() }, Some(inst));
                }
            }
            Op::Extract(lane) => {
                if *lane >= types[0].lanes {
                    self.error(
                        VerifyErrorKind::NoSuchLane { lane: *lane, lanes: types[0].lanes },
                        Some(inst),
                    );
                }
            }
            Op::Load(_)
            | Op::Store(_)
            | Op::AtomicLoad(..)
            | Op::AtomicStore(..)
            | Op::AtomicRmw(..)
            | Op::AtomicCas(..)
            | Op::Fence(..) => self.memory(inst, types),
            Op::Assert(_) | Op::If => self.expect(inst, 0, types[0], Type::BOOL),
            Op::For(_) => {
                if !types[0].scalar.is_int() || types[0].lanes != 1 {
                    self.operand_type(inst, 0, types[0], ExpectedType::OneInteger);
                }
                self.expect(inst, 1, types[1], types[0]);
                self.expect(inst, 2, types[2], types[0]);
            }
            Op::Shuffle(_) => {
                self.one_lane(inst, 0, types[0]);
                self.expect(inst, 1, types[1], Scalar::U32.ty());
            }
            Op::Ballot => self.expect(inst, 0, types[0], Type::BOOL),
            Op::WarpReduce(op) | Op::WarpScan(op) => {
                self.one_lane(inst, 0, types[0]);
                self.exists(inst, scalar::reduction_exists(*op, types[0].scalar), op.name(), types[0]);
            }
            Op::WarpBarrier => self.expect(inst, 0, types[0], Scalar::U32.ty()),
            Op::Builtin(..)
            | Op::LaneId
            | Op::Barrier
            | Op::Print(_)
            | Op::Loop(_)
            | Op::Yield
            | Op::Break(_)
            | Op::Continue(_)
            | Op::Return => {}
        }
    }

    /// V4 for results, where operands determine them.
    fn result_types(&mut self, inst: &Inst) {
        let Some(expected) = result_types(self.kernel, &inst.op, &inst.args, |value| self.ty(value)) else {
            return;
        };
        for (&result, expected) in inst.results.iter().zip(expected) {
            if let Some(found) = self.ty(result).filter(|found| *found != expected) {
                let kind = VerifyErrorKind::ResultType { value: self.name(result), expected, found };
                self.error(kind, Some(inst));
            }
        }
    }

    /// V4 for the parameters of a loop's block.
    fn block_param_types(&mut self, inst: &Inst, types: &[Type]) {
        let Some(block) = inst.blocks.first() else { return };
        let (counter, carried) = match inst.op {
            Op::Loop(_) => (None, types),
            Op::For(_) => (Some(types[0]), &types[3..]),
            _ => return,
        };
        for (&param, expected) in block.params.iter().zip(counter.into_iter().chain(carried.iter().copied()))
        {
            if let Some(found) = self.ty(param).filter(|found| *found != expected) {
                let kind = VerifyErrorKind::BlockParamType { value: self.name(param), expected, found };
                self.error(kind, Some(inst));
            }
        }
    }

    /// That operand `n`, which has type `found`, should have type `expected`.
    pub(super) fn expect(&mut self, inst: &Inst, n: usize, found: Type, expected: Type) {
        if found != expected {
            self.operand_type(inst, n, found, ExpectedType::Exactly { ty: expected });
        }
    }

    fn one_lane(&mut self, inst: &Inst, n: usize, found: Type) {
        if found.lanes != 1 {
            self.operand_type(inst, n, found, ExpectedType::OneLane);
        }
    }

    fn operand_type(&mut self, inst: &Inst, n: usize, found: Type, expected: ExpectedType) {
        let value = self.name(inst.args[n]);
        self.error(VerifyErrorKind::OperandType { operand: n, value, expected, found }, Some(inst));
    }

    /// V9.
    fn exists(&mut self, inst: &Inst, exists: bool, op: &'static str, ty: Type) {
        if !exists {
            self.error(VerifyErrorKind::NoSuchOp { op, scalar: ty.scalar }, Some(inst));
        }
    }

    // ---- parameters and formats ----

    /// V10. `dim` is asked for a tensor.
    fn param(&mut self, inst: &Inst, id: ParamId, dim: Option<u8>) {
        let name = || self.names().mem(MemRef::Param(id)).to_owned();
        let kind = match (self.kernel.params.get(id.0 as usize).map(|param| &param.kind), dim) {
            (None, _) => VerifyErrorKind::NoSuchParam { param: id.0 },
            (Some(ParamKind::Tensor { rank, .. }), Some(dim)) if dim >= *rank => {
                VerifyErrorKind::NoSuchDim { dim, rank: *rank }
            }
            (Some(ParamKind::Scalar(_)), Some(_)) => VerifyErrorKind::NotATensor { name: name() },
            (Some(ParamKind::Tensor { .. }), None) => VerifyErrorKind::NotAScalar { name: name() },
            (Some(ParamKind::Tensor { .. }), Some(_)) | (Some(ParamKind::Scalar(_)), None) => return,
        };
        self.error(kind, Some(inst));
    }

    /// V11. The arguments of the format are the operands from `first` on.
    fn format(&mut self, inst: &Inst, format: &Format, first: usize) {
        let args = inst.args.get(first..).unwrap_or_default();
        let specs = || {
            format.pieces.iter().filter_map(|piece| match piece {
                Piece::Arg(spec) => Some(spec),
                Piece::Text(_) => None,
            })
        };
        if specs().count() != args.len() {
            let kind = VerifyErrorKind::FormatArgs { places: specs().count(), args: args.len() };
            return self.error(kind, Some(inst));
        }
        for (spec, &arg) in specs().zip(args) {
            let Some(Type { scalar, .. }) = self.ty(arg) else { continue };
            let fits = match spec.style {
                Style::Display | Style::Debug => true,
                Style::LowerHex | Style::UpperHex | Style::Binary | Style::Octal => scalar.is_int(),
                Style::LowerExp => scalar != Scalar::Bool,
            };
            if !fits {
                let kind = VerifyErrorKind::FormatStyle { spec: *spec, value: self.name(arg), scalar };
                self.error(kind, Some(inst));
            }
        }
    }
}

/// How many operands an operation has; `None` if other rules say.
fn operand_count(op: &Op) -> Option<Count> {
    Some(match op {
        Op::Const(_)
        | Op::Builtin(..)
        | Op::LaneId
        | Op::Scalar(_)
        | Op::Extent(..)
        | Op::Stride(..)
        | Op::Fence(..)
        | Op::Barrier
        | Op::Return => Count::Exactly(0),
        Op::Unary(_)
        | Op::Cast(_)
        | Op::Bitcast(_)
        | Op::Splat(_)
        | Op::Extract(_)
        | Op::Ballot
        | Op::WarpReduce(_)
        | Op::WarpScan(_)
        | Op::WarpBarrier
        | Op::If => Count::Exactly(1),
        Op::Binary(_) | Op::Compare(_) | Op::Shuffle(_) => Count::Exactly(2),
        Op::MulAdd | Op::Select => Count::Exactly(3),
        Op::Load(access)
        | Op::Store(access)
        | Op::AtomicLoad(access, ..)
        | Op::AtomicStore(access, ..)
        | Op::AtomicRmw(_, access, ..)
        | Op::AtomicCas(access, ..) => Count::Exactly(op.access_args()? + 2 * access.bounds.len()),
        Op::Pack | Op::Assert(_) => Count::AtLeast(1),
        Op::For(_) => Count::AtLeast(3),
        Op::Print(_) | Op::Loop(_) | Op::Yield | Op::Break(_) | Op::Continue(_) => return None,
    })
}

/// How many results an operation has; `None` if its types and blocks say.
fn result_count(op: &Op) -> Option<usize> {
    match op {
        Op::Const(_)
        | Op::Builtin(..)
        | Op::LaneId
        | Op::Scalar(_)
        | Op::Extent(..)
        | Op::Stride(..)
        | Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::MulAdd
        | Op::Select
        | Op::Cast(_)
        | Op::Bitcast(_)
        | Op::Splat(_)
        | Op::Pack
        | Op::Extract(_)
        | Op::Load(_)
        | Op::AtomicLoad(..)
        | Op::AtomicRmw(..)
        | Op::AtomicCas(..)
        | Op::Shuffle(_)
        | Op::Ballot
        | Op::WarpReduce(_)
        | Op::WarpScan(_) => Some(1),
        Op::Store(_)
        | Op::AtomicStore(..)
        | Op::Fence(..)
        | Op::Barrier
        | Op::WarpBarrier
        | Op::Print(_)
        | Op::Assert(_)
        | Op::Yield
        | Op::Break(_)
        | Op::Continue(_)
        | Op::Return => Some(0),
        Op::If | Op::Loop(_) | Op::For(_) => None,
    }
}
