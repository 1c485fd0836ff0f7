//! What is found out about a kernel before code is written: where values come from, which are needed, how large
//! indices can be, and where all threads of a block go the same way.

mod bound;
mod needed;
mod sum;

use rustc_hash::FxHashMap;
use tilewise_ir::analysis::{Facts, Uniform, uniform::Ended};
use tilewise_ir::{Block, Inst, Kernel, Label, Op, Value};

pub(crate) use needed::is_proven;
pub(crate) use sum::Sum;

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Def<'k> {
    /// Result of an operation, by number.
    Result(&'k Inst, usize),
    /// Parameter of the block of a loop, by number.
    Param(&'k Inst, usize),
}

/// What the emitter knows of a kernel.
#[derive(Debug)]
pub(crate) struct Plan<'k> {
    pub(crate) defs: Vec<Option<Def<'k>>>,
    /// Whether a value has an effect in the end.
    pub(crate) needed: Vec<bool>,
    /// For an index of one lane, a number that it never exceeds.
    pub(crate) bounds: Vec<Option<u64>>,
    /// Whether all threads of a block have the same value.
    pub(crate) uniform: Uniform,
    /// Threads of a block along each axis, where they are constants.
    block: Option<[u32; 3]>,
}

impl<'k> Plan<'k> {
    pub(crate) fn new(kernel: &'k Kernel, facts: &Facts) -> Plan<'k> {
        let structure = Structure::new(kernel);
        let mut plan = Plan {
            needed: Vec::new(),
            bounds: bound::analyze(kernel, facts),
            uniform: Uniform::analyze(kernel, Ended::Gone, facts.block),
            defs: structure.defs.clone(),
            block: facts.block,
        };
        plan.needed = needed::analyze(kernel, facts, &structure, &plan);
        plan
    }

    pub(crate) fn is_needed(&self, value: Value) -> bool {
        self.needed[value.0 as usize]
    }

    pub(crate) fn bound(&self, value: Value) -> Option<u64> {
        self.bounds[value.0 as usize]
    }

    /// The operation whose result a value is.
    pub(crate) fn inst(&self, value: Value) -> Option<&'k Inst> {
        match self.defs[value.0 as usize]? {
            Def::Result(inst, _) => Some(inst),
            Def::Param(..) => None,
        }
    }
}

/// How values and jumps hang together.
struct Structure<'k> {
    defs: Vec<Option<Def<'k>>>,
    /// Operations that leave each loop.
    breaks: FxHashMap<Label, Vec<&'k Inst>>,
    /// Operations that go to the next round of each loop.
    continues: FxHashMap<Label, Vec<&'k Inst>>,
}

impl<'k> Structure<'k> {
    fn new(kernel: &'k Kernel) -> Structure<'k> {
        let mut structure = Structure {
            defs: vec![None; kernel.values.len()],
            breaks: FxHashMap::default(),
            continues: FxHashMap::default(),
        };
        kernel.body.visit(&mut |inst| {
            for (n, &result) in inst.results.iter().enumerate() {
                structure.defs[result.0 as usize] = Some(Def::Result(inst, n));
            }
            for block in &inst.blocks {
                for (n, &param) in block.params.iter().enumerate() {
                    structure.defs[param.0 as usize] = Some(Def::Param(inst, n));
                }
            }
            match inst.op {
                Op::Break(label) => structure.breaks.entry(label).or_default().push(inst),
                Op::Continue(label) => structure.continues.entry(label).or_default().push(inst),
                _ => {}
            }
        });
        structure
    }

    fn breaks(&self, label: Label) -> &[&'k Inst] {
        self.breaks.get(&label).map_or(&[], Vec::as_slice)
    }

    fn continues(&self, label: Label) -> &[&'k Inst] {
        self.continues.get(&label).map_or(&[], Vec::as_slice)
    }
}

/// The `Yield` that a block of an `If` ends with, if it does.
fn yielded(block: &Block) -> Option<&Inst> {
    block.insts.last().filter(|inst| inst.op == Op::Yield)
}
