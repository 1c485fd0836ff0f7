//! Accesses to memory, atomics and fences (rules V8 and V13).

use super::error::VerifyErrorKind;
use super::{MAX_DIMS, Verifier, scalar};
use crate::kernel::{Inst, MemRef, ParamKind, Space};
use crate::op::{Access, Op, Ordering};
use crate::types::Type;

impl Verifier<'_> {
    /// V8 and V13, and V4 for the offset and the bounds. `types` are those of the operands, of which there are as
    /// many as there should be.
    pub(super) fn memory(&mut self, inst: &Inst, types: &[Type]) {
        self.ordering(inst);
        let (Some(access), Some(values)) = (inst.op.access(), inst.op.access_args()) else { return };
        self.expect(inst, 0, types[0], Type::INDEX);
        for (n, &ty) in types.iter().enumerate().skip(values) {
            self.expect(inst, n, ty, Type::INDEX);
        }
        for &dim in access.bounds.iter().chain([&access.lane_dim]) {
            if dim >= MAX_DIMS {
                self.error(VerifyErrorKind::DimTooLarge { dim, limit: MAX_DIMS }, Some(inst));
            }
        }
        if access.align != 0 && !access.align.is_power_of_two() {
            self.error(VerifyErrorKind::Align { align: access.align }, Some(inst));
        }
        if let Some(elem) = self.element(inst, access) {
            self.accessed_types(inst, elem, &types[1..values]);
        }
    }

    /// Type of an element of what is accessed, if it is memory. Also checks that it may be written if it is.
    fn element(&mut self, inst: &Inst, access: &Access) -> Option<Type> {
        let kernel = self.kernel;
        let memory = match access.mem {
            MemRef::Param(param) => match kernel.params.get(param.0 as usize).map(|param| &param.kind) {
                Some(ParamKind::Tensor { elem, mutable, .. }) => Ok((elem.ty(), *mutable)),
                Some(ParamKind::Scalar(_)) => {
                    Err(VerifyErrorKind::NotMemory { name: self.names().mem(access.mem).to_owned() })
                }
                None => Err(VerifyErrorKind::NoSuchMemory { mem: access.mem }),
            },
            MemRef::Alloc(alloc) => match kernel.allocs.get(alloc.0 as usize) {
                Some(alloc) => Ok((alloc.elem, true)),
                None => Err(VerifyErrorKind::NoSuchMemory { mem: access.mem }),
            },
        };
        let (elem, mutable) = match memory {
            Ok(memory) => memory,
            Err(kind) => {
                self.error(kind, Some(inst));
                return None;
            }
        };
        let writes = !matches!(inst.op, Op::Load(_) | Op::AtomicLoad(..));
        if writes && !mutable {
            let name = self.names().mem(access.mem).to_owned();
            self.error(VerifyErrorKind::NotMutable { name }, Some(inst));
        }
        Some(elem)
    }

    /// The types of what is read and written, against that of an element. `values` are the types of the operands
    /// that are written or compared.
    fn accessed_types(&mut self, inst: &Inst, elem: Type, values: &[Type]) {
        match &inst.op {
            Op::Load(_) => {
                let result = inst.results.first().and_then(|&result| self.ty(result));
                self.lanes_of_element(inst, elem, result);
            }
            Op::Store(_) => self.lanes_of_element(inst, elem, values.first().copied()),
            Op::AtomicLoad(..) | Op::AtomicStore(..) | Op::AtomicRmw(..) | Op::AtomicCas(..) => {
                self.atomic(inst, elem);
                for (n, &found) in values.iter().enumerate() {
                    self.expect(inst, 1 + n, found, elem);
                }
            }
            _ => {}
        }
    }

    /// That a load or store of type `accessed` fits elements of type `elem`.
    fn lanes_of_element(&mut self, inst: &Inst, elem: Type, accessed: Option<Type>) {
        if let Some(found) = accessed
            && (found.scalar != elem.scalar || (elem.lanes != 1 && found != elem))
        {
            self.error(VerifyErrorKind::NotTheElement { elem, found }, Some(inst));
        }
    }

    /// V13 for an atomic on elements of type `elem`.
    fn atomic(&mut self, inst: &Inst, elem: Type) {
        let exists = match inst.op {
            Op::AtomicRmw(op, ..) => scalar::rmw_exists(op, elem.scalar),
            _ => scalar::atomic_exists(elem.scalar),
        };
        if !exists || elem.lanes != 1 {
            self.error(VerifyErrorKind::NoSuchAtomic { elem }, Some(inst));
        }
        if let Some(Access { mem: MemRef::Alloc(alloc), .. }) = inst.op.access()
            && self.kernel.allocs[alloc.0 as usize].space == Space::Local
        {
            self.error(VerifyErrorKind::LocalAtomic, Some(inst));
        }
    }

    /// V13 for the ordering.
    fn ordering(&mut self, inst: &Inst) {
        let (op, ordering, fits) = match inst.op {
            Op::AtomicLoad(_, _, order) => {
                ("an atomic load", order, !matches!(order, Ordering::Release | Ordering::AcqRel))
            }
            Op::AtomicStore(_, _, order) => {
                ("an atomic store", order, !matches!(order, Ordering::Acquire | Ordering::AcqRel))
            }
            Op::Fence(_, order) => ("a fence", order, order != Ordering::Relaxed),
            _ => return,
        };
        if !fits {
            self.error(VerifyErrorKind::Ordering { op, ordering }, Some(inst));
        }
    }
}
