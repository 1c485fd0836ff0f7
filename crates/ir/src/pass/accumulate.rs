//! Register promotion in loops: an element of memory that every round of a loop updates is a value that the loop carries.
//!
//! ```text
//!                                        %some = lt %lo, %hi
//!                                        if %some {
//!                                            %first = load %out[%i]
//! for ^0 %k = %lo to %hi step %one {         %last = for ^0 %k = ... carry (%sum = %first) {
//!     %sum = load %out[%i]         =>
//!     %next = add %sum, %x                       %next = add %sum, %x
//!     store %out[%i], %next
//!     continue ^0                                continue ^0 %next
//! }                                          }
//!                                            store %out[%i], %last
//!                                        }
//! ```
//!
//! **Which.** A `For` with a constant step above zero that is left at its end alone. In its body,
//!
//! - all accesses of the memory, and of what may be the same, are plain loads and stores of one element, whose offset is
//!   one value from outside the loop, without bounds, at the top level of the body, and one of them is a store;
//! - nothing orders memory or waits (barriers, fences, atomic operations, operations of warps), ends the thread, or may go
//!   on for ever.
//!
//! **Why it is right.** Each round has the store, so where a round is run the element is written, and the load and the store
//! that come instead touch no element that was not touched. Other threads could tell the difference only by a data race,
//! since nothing in the loop orders. Where no round is run, nothing is touched: hence the `If`, unless it is known that
//! there are rounds.
//!
//! It runs after [`licm`](crate::pass::licm), which brings offsets out of loops, and again when bounds are proved.

use crate::kernel::{Block, Inst, Kernel, MemRef, Value};
use crate::op::{Access, CompareOp, Effect, Label, Op};
use crate::pass::constants::Constants;
use crate::pass::rewrite::Substitution;
use crate::span::Span;
use crate::types::Type;

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    // Most kernels store nothing in a loop that can be no fault.
    if !any_in_loop(&kernel.body, false) {
        return false;
    }
    let constants = Constants::of(kernel);
    let mut body = std::mem::take(&mut kernel.body);
    let substitution = Substitution::new(kernel);
    let depths = vec![0; kernel.values.len()];
    let mut promoter = Promoter { kernel, constants, substitution, depths, depth: 0, changed: false };
    promoter.block(&mut body);
    let changed = promoter.changed;
    kernel.body = body;
    changed
}

/// Whether a loop has a store without bounds.
fn any_in_loop(block: &Block, in_loop: bool) -> bool {
    block.insts.iter().any(|inst| match &inst.op {
        Op::Store(access) => in_loop && access.bounds.is_empty(),
        op => {
            let in_loop = in_loop || matches!(op, Op::For(_));
            inst.blocks.iter().any(|inner| any_in_loop(inner, in_loop))
        }
    })
}

/// An element that a loop updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    mem: MemRef,
    offset: Value,
    ty: Type,
}

struct Promoter<'k> {
    kernel: &'k mut Kernel,
    constants: Constants,
    /// What stands in for loads that are gone.
    substitution: Substitution,
    /// By value: how many loops are around its definition.
    depths: Vec<u32>,
    /// How many loops are around.
    depth: u32,
    changed: bool,
}

impl Promoter<'_> {
    fn block(&mut self, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        for mut inst in insts {
            self.substitution.apply(&mut inst);
            let is_loop = matches!(inst.op, Op::For(_) | Op::Loop(_));
            self.depth += u32::from(is_loop);
            for inner in &mut inst.blocks {
                inner.params.iter().for_each(|&param| self.define(param));
                self.block(inner);
            }
            self.depth -= u32::from(is_loop);
            inst.results.iter().for_each(|&result| self.define(result));
            match self.updated(&inst) {
                Some(element) => self.promote(inst, element, &mut block.insts),
                None => block.insts.push(inst),
            }
        }
    }

    fn define(&mut self, value: Value) {
        let n = value.0 as usize;
        if n >= self.depths.len() {
            self.depths.resize(n + 1, 0);
        }
        self.depths[n] = self.depth;
    }

    /// The element that each round of a loop updates, if there is one that may become a value.
    fn updated(&self, inst: &Inst) -> Option<Element> {
        let Op::For(label) = inst.op else { return None };
        let body = &inst.blocks[0];
        let (last, insts) = body.insts.split_last()?;
        let is_positive = self.constants.int(inst.args[2]).is_some_and(|step| step > 0);
        if !is_positive || last.op != Op::Continue(label) || !is_plain(insts, &mut Vec::new()) {
            return None;
        }
        let stores = insts.iter().filter(|inst| matches!(inst.op, Op::Store(_)));
        stores.filter_map(|store| self.element(store)).find(|element| self.is_alone(body, *element))
    }

    /// The element of a plain access without bounds whose offset comes from outside the loop that it stands in.
    fn element(&self, inst: &Inst) -> Option<Element> {
        let (access, value) = match &inst.op {
            Op::Load(access) => (access, inst.result()?),
            Op::Store(access) => (access, inst.args[1]),
            _ => return None,
        };
        let (offset, ty) = (inst.args[0], self.kernel.ty(value));
        let is_outside = self.depths[offset.0 as usize] <= self.depth;
        let is_element = self.kernel.mem_elem(access.mem) == Some(ty);
        let is_plain = access.bounds.is_empty() && usize::from(access.align) <= ty.scalar.size();
        (is_outside && is_element && is_plain).then_some(Element { mem: access.mem, offset, ty })
    }

    /// Whether a body touches an element, and what may be the same, at its top level and as that element alone.
    fn is_alone(&self, body: &Block, element: Element) -> bool {
        let may_be_same = |inst: &Inst| {
            inst.op.access().is_some_and(|access| self.kernel.may_be_same(access.mem, element.mem))
        };
        body.insts.iter().all(|inst| {
            let mut nested = false;
            for inner in &inst.blocks {
                inner.visit(&mut |inst| nested |= may_be_same(inst));
            }
            !nested && (!may_be_same(inst) || self.element(inst) == Some(element))
        })
    }

    /// Writes a loop that carries the element.
    fn promote(&mut self, mut inst: Inst, element: Element, out: &mut Vec<Inst>) {
        self.changed = true;
        let Element { offset, ty, .. } = element;
        let [first, carried, last] = [(); 3].map(|()| self.kernel.new_value(ty));
        self.depth += 1;
        self.define(carried);
        self.depth -= 1;
        [first, last].into_iter().for_each(|value| self.define(value));
        let (access, span) = self.carry(&mut inst.blocks[0], element, carried);
        inst.blocks[0].params.push(carried);
        inst.args.push(first);

        // What the loop gave is what the `If` gives, with values of its own inside.
        let outer = std::mem::take(&mut inst.results);
        let initial: Vec<Value> = inst.args[3..inst.args.len() - 1].to_vec();
        let is_some = match (self.constants.int(inst.args[0]), self.constants.int(inst.args[1])) {
            (Some(lo), Some(hi)) => lo < hi,
            _ => false,
        };
        let load = Inst::new(Op::Load(access.clone()), [offset], [first], span);
        let store = Inst::new(Op::Store(access), [offset, last], [], span);
        if is_some {
            inst.results = outer;
            inst.results.push(last);
            out.extend([load, inst, store]);
            return;
        }
        let inner: Vec<Value> =
            outer.iter().map(|&value| self.kernel.new_value(self.kernel.ty(value))).collect();
        inner.iter().for_each(|&value| self.define(value));
        inst.results = inner.iter().copied().chain([last]).collect();
        let condition = self.kernel.new_value(Type::BOOL);
        self.define(condition);
        let compare =
            Inst::new(Op::Compare(CompareOp::Lt), [inst.args[0], inst.args[1]], [condition], inst.span);
        let position = inst.span;
        let end = |values: Vec<Value>| Inst::new(Op::Yield, values, [], Span::NONE);
        let then = Block { params: vec![], insts: vec![load, inst, store, end(inner)] };
        let otherwise = Block { params: vec![], insts: vec![end(initial)] };
        let mut branch = Inst::new(Op::If, [condition], outer, position);
        branch.blocks = vec![then, otherwise];
        out.extend([compare, branch]);
    }

    /// Takes the accesses of an element out of the body of a loop, which carries it. Gives its last store.
    fn carry(&mut self, body: &mut Block, element: Element, carried: Value) -> (Access, Span) {
        let mut current = carried;
        let mut store = (Access::unchecked(element.mem), Span::NONE);
        let mut insts = std::mem::take(&mut body.insts);
        insts.retain_mut(|inst| {
            self.apply(inst);
            match &inst.op {
                Op::Load(_) if self.element(inst) == Some(element) => {
                    self.substitution.set(inst.results[0], current);
                    false
                }
                Op::Store(access) if self.element(inst) == Some(element) => {
                    (current, store) = (inst.args[1], (access.clone(), inst.span));
                    false
                }
                _ => true,
            }
        });
        if let Some(last) = insts.last_mut() {
            last.args.push(current);
        }
        body.insts = insts;
        store
    }

    /// Substitutes operands, those of nested operations too.
    fn apply(&self, inst: &mut Inst) {
        self.substitution.apply(inst);
        for inner in &mut inst.blocks {
            self.substitution.apply_block(inner);
        }
    }
}

/// Whether operations do nothing that orders memory, waits, ends the thread or may go on for ever, and go nowhere but to
/// the end of the loops in them, whose labels `inner` has.
fn is_plain(insts: &[Inst], inner: &mut Vec<Label>) -> bool {
    insts.iter().all(|inst| match inst.op {
        Op::Break(label) | Op::Continue(label) => inner.contains(&label),
        Op::Return | Op::Loop(_) | Op::Assert(_) => false,
        Op::Store(_) => true,
        _ => match inst.op.effect() {
            Effect::Sync | Effect::Write => false,
            Effect::Pure | Effect::Fault | Effect::Read | Effect::Output | Effect::Terminator => true,
            Effect::Structure => {
                let depth = inner.len();
                if let Op::For(label) = inst.op {
                    inner.push(label);
                }
                let fine = inst.blocks.iter().all(|block| is_plain(&block.insts, inner));
                inner.truncate(depth);
                fine
            }
        },
    })
}
