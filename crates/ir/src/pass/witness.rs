//! Witnesses of index arithmetic that wraps, for checked runs.
//!
//! An index that comes out of `a - b` with `b` above `a` has wrapped around 2^64. If it is used as it is, the access is
//! outside its bounds, and told as such. If it goes through `/`, `%`, `>>`, `min` or `max` first, what comes out may be
//! inside, and wrong: `(i - 1) % n` at `i = 0`. Before each such operation whose result becomes an index of an access,
//! this pass puts a load of [`NAME`], memory of one element that belongs to no user, with a bound that holds exactly if the
//! operand is what it would be in mathematics. Where it does not, the load is a fault, at the position of the subtraction.
//!
//! Sums and differences are looked at as a whole: `(i - 1 + n) % n` is right wherever `i + n` is at least 1. Products are
//! taken as they are, since hashes multiply and wrap on purpose. What goes through a `Select` or through memory is not
//! followed, since nobody may look at it.

use rustc_hash::FxHashMap;

use crate::kernel::{AllocId, Block, Inst, Kernel, MemRef, Space, Value};
use crate::op::{Access, BinaryOp, Op};
use crate::span::Span;
use crate::types::{Const, Scalar, Type};

/// The name of the memory that witnesses load. It is no name that a user can give.
pub const NAME: &str = "index arithmetic";

/// Terms of a sum that are looked at; a longer one is not.
const MOST_TERMS: usize = 16;

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut definitions: FxHashMap<Value, &Inst> = FxHashMap::default();
    let mut indices = Vec::new();
    kernel.body.visit(&mut |inst| {
        if let Some(result) = inst.result() {
            definitions.insert(result, inst);
        }
        if let Some(values) = inst.op.access_args() {
            indices.push(inst.args[0]);
            indices.extend(inst.args[values..].iter().step_by(2));
        }
    });
    // Backwards from the indices, to the operations whose operand must not have wrapped.
    let mut sums: FxHashMap<Value, Vec<Sum>> = FxHashMap::default();
    let mut seen = rustc_hash::FxHashSet::default();
    while let Some(value) = indices.pop() {
        let Some(&inst) = definitions.get(&value) else { continue };
        if kernel.ty(value) != Type::INDEX || !seen.insert(value) {
            continue;
        }
        match inst.op {
            Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => indices.extend(&inst.args),
            Op::Binary(BinaryOp::Div | BinaryOp::Rem | BinaryOp::Shr | BinaryOp::Min | BinaryOp::Max) => {
                indices.extend(&inst.args);
                let found = inst.args.iter().filter_map(|&arg| Sum::of(arg, &definitions));
                sums.entry(value).or_default().extend(found);
            }
            _ => {}
        }
    }
    sums.retain(|_, sums| !sums.is_empty());
    if sums.is_empty() {
        return false;
    }
    let alloc = AllocId(kernel.allocs.len() as u32);
    let elem = Scalar::Bool.ty();
    kernel.allocs.push(crate::kernel::Alloc {
        name: NAME.to_owned(),
        space: Space::Local,
        elem,
        len: 1,
        span: Span::NONE,
    });
    let mut body = std::mem::take(&mut kernel.body);
    let constant = |kernel: &mut Kernel, value: Const| {
        let result = kernel.new_value(value.scalar.ty());
        Inst::new(Op::Const(value), [], [result], Span::NONE)
    };
    let (zero, one) = (constant(kernel, Const::index(0)), constant(kernel, Const::index(1)));
    let filled = constant(kernel, Const::bool(true));
    let store = Op::Store(Access::unchecked(MemRef::Alloc(alloc)));
    let store = Inst::new(store, [zero.results[0], filled.results[0]], [], Span::NONE);
    let writer = Writer { alloc, zero: zero.results[0], one: one.results[0], sums };
    writer.block(kernel, &mut body);
    body.insts.splice(0..0, [zero, one, filled, store]);
    kernel.body = body;
    true
}

/// A sum with at least one term that is subtracted.
#[derive(Debug)]
struct Sum {
    added: Vec<Value>,
    subtracted: Vec<Value>,
    span: Span,
}

impl Sum {
    /// The sum that a value is, if it is one that can go below zero.
    fn of(value: Value, definitions: &FxHashMap<Value, &Inst>) -> Option<Sum> {
        let mut sum = Sum { added: Vec::new(), subtracted: Vec::new(), span: Span::NONE };
        let mut work = vec![(value, true)];
        while let Some((value, added)) = work.pop() {
            if work.len() + sum.added.len() + sum.subtracted.len() > MOST_TERMS {
                return None;
            }
            match definitions.get(&value).map(|inst| (&inst.op, &inst.args, inst.span)) {
                Some((Op::Binary(BinaryOp::Add), args, _)) => {
                    work.extend(args.iter().map(|&arg| (arg, added)))
                }
                Some((Op::Binary(BinaryOp::Sub), args, span)) => {
                    work.extend([(args[0], added), (args[1], !added)]);
                    if sum.span == Span::NONE {
                        sum.span = span;
                    }
                }
                _ if added => sum.added.push(value),
                _ => sum.subtracted.push(value),
            }
        }
        (!sum.subtracted.is_empty()).then_some(sum)
    }
}

struct Writer {
    alloc: AllocId,
    zero: Value,
    one: Value,
    sums: FxHashMap<Value, Vec<Sum>>,
}

impl Writer {
    /// Puts witnesses before the operations that need them.
    fn block(&self, kernel: &mut Kernel, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        for mut inst in insts {
            if let Some(sums) = inst.result().and_then(|result| self.sums.get(&result)) {
                sums.iter().for_each(|sum| self.witness(kernel, sum, &mut block.insts));
            }
            inst.blocks.iter_mut().for_each(|nested| self.block(kernel, nested));
            block.insts.push(inst);
        }
    }

    /// A load that is a fault unless what is subtracted is at most what is added.
    fn witness(&self, kernel: &mut Kernel, sum: &Sum, out: &mut Vec<Inst>) {
        let mut add = |kernel: &mut Kernel, a: Value, b: Value| {
            let result = kernel.new_value(Type::INDEX);
            out.push(Inst::new(Op::Binary(BinaryOp::Add), [a, b], [result], sum.span));
            result
        };
        let subtracted = sum.subtracted.iter().copied().reduce(|a, b| add(kernel, a, b)).unwrap_or(self.zero);
        // One more than what is added.
        let limit = sum.added.iter().fold(self.one, |a, &b| add(kernel, a, b));
        let mut access = Access::unchecked(MemRef::Alloc(self.alloc));
        access.bounds.push(0);
        let result = kernel.new_value(Scalar::Bool.ty());
        out.push(Inst::new(Op::Load(access), [self.zero, subtracted, limit], [result], sum.span));
    }
}
