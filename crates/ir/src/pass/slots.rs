//! Removal of results of structures and of the values that loops carry: a result or block parameter together with
//! the operands that feed it.

use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{Label, Op};
use smallvec::SmallVec;

type Mask = SmallVec<[bool; 8]>;

/// Removes each result of an `If`, `Loop` or `For`, and each carried value, for which `unused` holds. Nothing may
/// refer to such a value any more, except the operands that go with it.
///
/// A carried value and a result of `For` are one thing, and go when both are unused.
pub fn remove(kernel: &mut Kernel, unused: impl Fn(Value) -> bool) -> bool {
    let labels = kernel.labels as usize;
    let mut remover = Remover {
        unused: &unused,
        carried: vec![Mask::new(); labels],
        results: vec![Mask::new(); labels],
        changed: false,
    };
    remover.block(&mut kernel.body, &[]);
    remover.changed
}

struct Remover<'a> {
    unused: &'a dyn Fn(Value) -> bool,
    /// By label, for operands of `Continue`.
    carried: Vec<Mask>,
    /// By label, for operands of `Break`.
    results: Vec<Mask>,
    changed: bool,
}

impl Remover<'_> {
    fn block(&mut self, block: &mut Block, yielded: &[bool]) {
        for inst in &mut block.insts {
            match inst.op {
                Op::If => self.branch(inst),
                Op::Loop(label) => self.repeat(inst, label),
                Op::For(label) => self.count(inst, label),
                Op::Yield => retain(&mut inst.args, yielded, 0),
                Op::Break(label) => retain(&mut inst.args, &self.results[label.0 as usize], 0),
                Op::Continue(label) => retain(&mut inst.args, &self.carried[label.0 as usize], 0),
                _ => {}
            }
        }
    }

    fn branch(&mut self, inst: &mut Inst) {
        let mask = self.mask(&inst.results);
        retain(&mut inst.results, &mask, 0);
        for block in &mut inst.blocks {
            self.block(block, &mask);
        }
    }

    fn repeat(&mut self, inst: &mut Inst, label: Label) {
        let body = &mut inst.blocks[0];
        let carried = self.mask(&body.params);
        let results = self.mask(&inst.results);
        retain(&mut inst.args, &carried, 0);
        retain(&mut body.params, &carried, 0);
        retain(&mut inst.results, &results, 0);
        self.carried[label.0 as usize] = carried;
        self.results[label.0 as usize] = results;
        self.block(body, &[]);
    }

    fn count(&mut self, inst: &mut Inst, label: Label) {
        let body = &mut inst.blocks[0];
        let both: SmallVec<[bool; 8]> = body.params[1..]
            .iter()
            .zip(&inst.results)
            .map(|(&param, &result)| (self.unused)(param) && (self.unused)(result))
            .collect();
        self.changed |= both.contains(&true);
        retain(&mut inst.args, &both, 3);
        retain(&mut body.params, &both, 1);
        retain(&mut inst.results, &both, 0);
        self.carried[label.0 as usize] = both.clone();
        self.results[label.0 as usize] = both;
        self.block(body, &[]);
    }

    fn mask(&mut self, values: &[Value]) -> Mask {
        let mask: Mask = values.iter().map(|&value| (self.unused)(value)).collect();
        self.changed |= mask.contains(&true);
        mask
    }
}

/// A list of values of which some can be removed: operands, results, parameters.
trait Values {
    fn retain_values(&mut self, keep: impl FnMut(&mut Value) -> bool);
}

impl Values for Vec<Value> {
    fn retain_values(&mut self, keep: impl FnMut(&mut Value) -> bool) {
        self.retain_mut(keep);
    }
}

impl<const N: usize> Values for SmallVec<[Value; N]>
where
    [Value; N]: smallvec::Array<Item = Value>,
{
    fn retain_values(&mut self, keep: impl FnMut(&mut Value) -> bool) {
        self.retain(keep);
    }
}

/// Removes from `values`, after the first `fixed`, those whose place in `removed` is true.
fn retain(values: &mut impl Values, removed: &[bool], fixed: usize) {
    if !removed.contains(&true) {
        return;
    }
    let mut index = 0;
    values.retain_values(|_| {
        let keep = index < fixed || !removed.get(index - fixed).copied().unwrap_or(false);
        index += 1;
        keep
    });
}
