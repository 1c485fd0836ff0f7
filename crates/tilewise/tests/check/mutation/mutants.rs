//! The mutants of a kernel, as it was described.

use tilewise::ir::{
    AtomicOp, BinaryOp, Block, CompareOp, Const, Inst, Kernel, MemRef, Op, Ordering, Space, Span, Value,
};

/// A change of an operation: its name, and what stands in place of the operation.
type Change = (&'static str, fn(&mut Kernel, &Inst) -> Vec<Inst>);

/// All mutants with one change each.
pub(crate) fn of(kernel: &Kernel) -> Vec<(String, Kernel)> {
    let mut mutants = Vec::new();
    let mut count = 0;
    kernel.body.visit(&mut |_| count += 1);
    for position in 0..count {
        let mut at = None;
        let mut next = 0;
        kernel.body.visit(&mut |inst| {
            if next == position {
                at = Some(inst);
            }
            next += 1;
        });
        let Some(inst) = at else { continue };
        for (name, change) in changes(kernel, inst) {
            let mut mutant = kernel.clone();
            let mut body = std::mem::take(&mut mutant.body);
            let mut left = position;
            replace(&mut body, &mut left, &mut |inst| change(&mut mutant, inst));
            mutant.body = body;
            let line = kernel.spans.get(inst.span).map_or(0, |location| location.line);
            mutants.push((format!("{name} at line {line}"), mutant));
        }
    }
    mutants
}

/// Replaces the operation at a position, in the order outer before inner.
fn replace(block: &mut Block, left: &mut usize, change: &mut dyn FnMut(&Inst) -> Vec<Inst>) -> bool {
    for i in 0..block.insts.len() {
        if *left == 0 {
            let new = change(&block.insts[i]);
            block.insts.splice(i..=i, new);
            return true;
        }
        *left -= 1;
        for nested in &mut block.insts[i].blocks {
            if replace(nested, left, change) {
                return true;
            }
        }
    }
    false
}

/// What can be changed of an operation.
fn changes(kernel: &Kernel, inst: &Inst) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let leaves = |block: &Block| {
        block.insts.last().is_some_and(|last| matches!(last.op, Op::Break(_) | Op::Continue(_)))
    };
    match &inst.op {
        Op::Barrier => changes.push(("no barrier", |_, _| Vec::new())),
        Op::Fence(..) => changes.push(("no fence", |_, _| Vec::new())),
        // The condition of a loop is no guard.
        Op::If if !inst.blocks.iter().any(leaves) => changes.push(("no guard", |kernel, inst| {
            let mut inst = inst.clone();
            let always = constant(kernel, Const::bool(true));
            inst.args[0] = always.results[0];
            vec![always, inst]
        })),
        Op::AtomicLoad(..) | Op::AtomicStore(..) | Op::AtomicRmw(..) | Op::AtomicCas(..) => {
            changes.push(("no atomic", plain));
            if ordering(&inst.op) != Some(Ordering::Relaxed) {
                changes.push(("a weaker ordering", |_, inst| {
                    let mut inst = inst.clone();
                    match &mut inst.op {
                        Op::AtomicLoad(_, _, ordering)
                        | Op::AtomicStore(_, _, ordering)
                        | Op::AtomicRmw(_, _, _, ordering)
                        | Op::AtomicCas(_, _, ordering) => *ordering = Ordering::Relaxed,
                        _ => {}
                    }
                    vec![inst]
                }));
            }
        }
        _ => {}
    }
    if let Some(access) = inst.op.access() {
        let own = match access.mem {
            MemRef::Param(_) => false,
            MemRef::Alloc(alloc) => kernel.allocs[alloc.0 as usize].space == Space::Local,
        };
        if !own {
            changes.push(("an index one too large", shifted));
        }
    }
    changes
}

fn ordering(op: &Op) -> Option<Ordering> {
    match op {
        Op::AtomicLoad(_, _, ordering)
        | Op::AtomicStore(_, _, ordering)
        | Op::AtomicRmw(_, _, _, ordering)
        | Op::AtomicCas(_, _, ordering) => Some(*ordering),
        _ => None,
    }
}

fn constant(kernel: &mut Kernel, value: Const) -> Inst {
    let result = kernel.new_value(value.scalar.ty());
    Inst::new(Op::Const(value), [], [result], Span::NONE)
}

/// The access with the last of its indices one larger.
fn shifted(kernel: &mut Kernel, inst: &Inst) -> Vec<Inst> {
    let mut inst = inst.clone();
    let one = constant(kernel, Const::index(1));
    let mut all = Vec::new();
    let mut add = |kernel: &mut Kernel, value: Value| {
        let result = kernel.new_value(kernel.ty(value));
        all.push(Inst::new(Op::Binary(BinaryOp::Add), [value, one.results[0]], [result], inst.span));
        result
    };
    let offset = add(kernel, inst.args[0]);
    let first = inst.op.access_args().expect("an access");
    let bounds = inst.op.access().expect("an access").bounds.clone();
    let last = bounds.iter().enumerate().max_by_key(|(_, dim)| **dim).map(|(number, _)| first + 2 * number);
    let index = last.map(|at| (at, add(kernel, inst.args[at])));
    inst.args[0] = offset;
    if let Some((at, index)) = index {
        inst.args[at] = index;
    }
    all.insert(0, one);
    all.push(inst);
    all
}

/// The operation in plain steps.
fn plain(kernel: &mut Kernel, inst: &Inst) -> Vec<Inst> {
    let access = inst.op.access().expect("an access").clone();
    let values = inst.op.access_args().expect("an access");
    let bounds: Vec<Value> = inst.args[values..].to_vec();
    let span = inst.span;
    let with = |values: &[Value]| {
        let mut args = vec![inst.args[0]];
        args.extend_from_slice(values);
        args.extend_from_slice(&bounds);
        args
    };
    let load = |result: Value| Inst::new(Op::Load(access.clone()), with(&[]), [result], span);
    let store = |value: Value| Inst::new(Op::Store(access.clone()), with(&[value]), [], span);
    match &inst.op {
        Op::AtomicLoad(..) => vec![load(inst.results[0])],
        Op::AtomicStore(..) => vec![store(inst.args[1])],
        Op::AtomicRmw(op, ..) => {
            let (old, value) = (inst.results[0], inst.args[1]);
            let op = match op {
                AtomicOp::Add => BinaryOp::Add,
                AtomicOp::Min => BinaryOp::Min,
                AtomicOp::Max => BinaryOp::Max,
                AtomicOp::And => BinaryOp::And,
                AtomicOp::Or => BinaryOp::Or,
                AtomicOp::Xor => BinaryOp::Xor,
                AtomicOp::Exchange => return vec![load(old), store(value)],
            };
            let new = kernel.new_value(kernel.ty(old));
            vec![load(old), Inst::new(Op::Binary(op), [old, value], [new], span), store(new)]
        }
        Op::AtomicCas(..) => {
            let (old, expected, desired) = (inst.results[0], inst.args[1], inst.args[2]);
            let same = kernel.new_value(tilewise::ir::Type::BOOL);
            let new = kernel.new_value(kernel.ty(old));
            vec![
                load(old),
                Inst::new(Op::Compare(CompareOp::Eq), [old, expected], [same], span),
                Inst::new(Op::Select, [same, desired, old], [new], span),
                store(new),
            ]
        }
        _ => vec![inst.clone()],
    }
}
