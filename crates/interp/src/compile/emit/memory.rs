//! Memory operations: addresses, checks of bounds, and what is known of them already.

use tilewise_ir::{Access as IrAccess, Inst, MemRef, Op, Scope, Space, Value};

use super::{Emitter, Known};
use crate::code::{Access, AccessOp, Bound, Held, Instr, Memory};
use crate::compile::index::Position;
use crate::compile::live::{lanes_of, sum};
use crate::compile::uniform::constant;

impl Emitter<'_, '_> {
    pub(super) fn access(&mut self, inst: &Inst, access: &IrAccess, position: Position) {
        let kernel = self.index.kernel;
        let elem = kernel.mem_elem(access.mem).expect("an access names a tensor or an allocation");
        let values = inst.op.access_args().expect("an access has operands");
        let moved = match inst.op {
            Op::Load(_) | Op::AtomicLoad(..) => self.ty(inst.results[0]),
            _ => self.ty(inst.args[1]),
        };
        let components = moved.lanes;
        let lanes = (components / elem.lanes).max(1);
        let memory = match access.mem {
            MemRef::Param(p) => Memory::Global(p.0),
            MemRef::Alloc(a) => match kernel.allocs[a.0 as usize].space {
                Space::Shared => Memory::Shared(a.0),
                Space::Local => Memory::Local(a.0),
            },
        };
        let (mut bounds, mut held) = (Vec::new(), Vec::new());
        for (number, pair) in inst.args[values..].as_chunks::<2>().0.iter().enumerate() {
            let lanes = lanes_of(access, number, lanes);
            let (dim, along) = (access.bounds[number], lanes > 1);
            match self.held(pair[0], pair[1], lanes) {
                Some((index, extent)) => held.push(Held { index, extent, dim, along }),
                None => bounds.push(self.bound(pair[0], pair[1], lanes, dim, along)),
            }
        }
        let offset = self.address(inst.args[0]);
        let useful = matches!(inst.op, Op::Load(_) | Op::Store(_))
            && !matches!(memory, Memory::Local(_))
            && components == 1
            && offset.base.is_varying();
        let pattern = useful.then(|| {
            let base = sum(self.index, self.uniform, inst.args[0]).base;
            self.find_out(Known::Pattern(base), |emitter| {
                let slot = emitter.code.patterns as u32;
                emitter.code.patterns += 1;
                emitter.code.body.push(Instr::Classify { slot, base: offset.base });
                slot
            })
        });
        let value = |i: usize| self.reg(inst.args[i]);
        let kind = match inst.op {
            Op::Store(_) => AccessOp::Store { value: value(1) },
            Op::AtomicStore(_, _, ordering) => AccessOp::AtomicStore { value: value(1), ordering },
            Op::AtomicRmw(op, _, _, ordering) => {
                let value = value(1);
                AccessOp::Rmw { op, dst: self.define(inst.results[0], position), value, ordering }
            }
            Op::AtomicCas(_, _, ordering) => {
                let (expected, desired) = (value(1), value(2));
                AccessOp::Cas { dst: self.define(inst.results[0], position), expected, desired, ordering }
            }
            Op::AtomicLoad(_, _, ordering) => {
                AccessOp::AtomicLoad { dst: self.define(inst.results[0], position), ordering }
            }
            _ => AccessOp::Load { dst: self.define(inst.results[0], position) },
        };
        let scope = match inst.op {
            Op::AtomicLoad(_, scope, _)
            | Op::AtomicStore(_, scope, _)
            | Op::AtomicRmw(_, _, scope, _)
            | Op::AtomicCas(_, scope, _) => scope,
            _ => Scope::Device,
        };
        let number = self.code.accesses.len() as u32;
        self.code.accesses.push(Access {
            kind,
            mem: access.mem,
            memory,
            scalar: elem.scalar,
            per_element: elem.lanes,
            components,
            offset,
            pattern,
            bounds,
            held,
            span: inst.span,
            number,
            scope,
            align: access.align,
        });
        self.code.body.push(Instr::Access(number));
    }

    /// A constant index and extent for which the check holds.
    fn held(&self, index: Value, extent: Value, lanes: u8) -> Option<(u64, u64)> {
        let (index, extent) = (constant(self.index, index)?.bits, constant(self.index, extent)?.bits);
        (index as u128 + lanes as u128 <= extent as u128).then_some((index, extent))
    }

    /// A check of an index.
    fn bound(&mut self, index: Value, extent: Value, lanes: u8, dim: u8, along: bool) -> Bound {
        let known = Known::Check(index, extent, lanes);
        let (address, extent) = (self.address(index), self.reg(extent));
        let flag = self.find_out(known, |emitter| {
            let flag = emitter.code.flags as u32;
            emitter.code.flags += 1;
            emitter.code.body.push(Instr::Check { flag, index: address, extent, lanes });
            flag
        });
        Bound { index: address, extent, dim, along, flag }
    }
}
