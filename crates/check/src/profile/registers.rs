//! How many registers a thread of a kernel takes, estimated from the IR.
//!
//! Only the assembler of the GPU knows it. The estimate is the most that is live at once in the optimised kernel, in registers
//! of 32 bits, and [`OVERHEAD`] for addresses and the like. A multiprocessor gives registers in steps of [`STEP`] for a thread,
//! so what counts for occupancy is the step.

use tilewise_ir::{Block, Builtin, Inst, Kernel, MemRef, Op, Scalar, Type, Value, pass};

/// Registers that no value of the IR is in.
const OVERHEAD: u32 = 8;

/// In what steps a thread gets registers.
const STEP: u32 = 8;

/// The fewest and the most registers that are said.
const RANGE: (u32, u32) = (16, 255);

/// The estimate for a kernel that has been prepared to be profiled.
pub(super) fn estimate(kernel: &Kernel) -> u32 {
    let mut kernel = kernel.clone();
    remove_own(&mut kernel);
    pass::optimize(&mut kernel);
    let mut lives = Lives { spans: vec![None; kernel.values.len()], position: 0, used: Vec::new() };
    lives.block(&kernel.body);
    let mut changes = vec![0i64; lives.position as usize + 2];
    for (value, span) in lives.spans.iter().enumerate() {
        if let Some((first, last)) = *span {
            let width = width(kernel.ty(Value(value as u32)));
            changes[first as usize] += width;
            changes[last as usize] -= width;
        }
    }
    let mut live = 0;
    let most = changes.iter().map(|change| {
        live += change;
        live
    });
    let most = u32::try_from(most.max().unwrap_or(0)).unwrap_or(u32::MAX);
    most.saturating_add(OVERHEAD).clamp(RANGE.0, RANGE.1).next_multiple_of(STEP).min(RANGE.1)
}

/// Takes the accesses out that were put in to be watched.
fn remove_own(kernel: &mut Kernel) {
    let own: Vec<bool> = kernel
        .allocs
        .iter()
        .map(|alloc| alloc.name == pass::marks::NAME || alloc.name == pass::witness::NAME)
        .collect();
    let is_own = |inst: &Inst| {
        inst.op.access().is_some_and(|access| match access.mem {
            MemRef::Alloc(alloc) => own[alloc.0 as usize],
            MemRef::Param(_) => false,
        })
    };
    fn remove(block: &mut Block, is_own: &impl Fn(&Inst) -> bool) {
        block.insts.retain(|inst| !is_own(inst));
        block.insts.iter_mut().flat_map(|inst| &mut inst.blocks).for_each(|nested| remove(nested, is_own));
    }
    remove(&mut kernel.body, &is_own);
}

/// Registers of a value. An index fits in one where the numbers of a launch are as they mostly are.
fn width(ty: Type) -> i64 {
    let one = match ty.scalar {
        Scalar::Bool => 0,
        Scalar::Index => 1,
        scalar => (scalar.size().div_ceil(4)) as i64,
    };
    one * i64::from(ty.lanes)
}

/// From where to where values live, as positions of operations.
struct Lives {
    /// By value; `None` for one that needs no register.
    spans: Vec<Option<(u32, u32)>>,
    position: u32,
    /// For each loop around here: where it starts, and what it uses that comes from outside.
    used: Vec<(u32, Vec<Value>)>,
}

impl Lives {
    fn block(&mut self, block: &Block) {
        for inst in &block.insts {
            self.position += 1;
            let start = self.position;
            inst.args.iter().for_each(|&arg| self.read(arg));
            let is_loop = matches!(inst.op, Op::Loop(_) | Op::For(_));
            if is_loop {
                self.used.push((start, Vec::new()));
            }
            for nested in &inst.blocks {
                nested.params.iter().for_each(|&param| self.define(param));
                self.block(nested);
            }
            if is_loop && let Some((_, used)) = self.used.pop() {
                let carried = inst.blocks.iter().flat_map(|nested| &nested.params);
                used.iter().chain(carried).for_each(|&value| self.read(value));
            }
            if !is_free(inst) {
                inst.results.iter().for_each(|&result| self.define(result));
            }
        }
    }

    fn define(&mut self, value: Value) {
        self.spans[value.0 as usize] = Some((self.position, self.position));
    }

    /// The value is read here, and in each round of a loop around here that it comes from outside of.
    fn read(&mut self, value: Value) {
        let Some((first, last)) = &mut self.spans[value.0 as usize] else { return };
        *last = self.position;
        let first = *first;
        if let Some((_, used)) = self.used.iter_mut().find(|(start, _)| *start >= first) {
            used.push(value);
        }
    }
}

/// Whether what an operation gives lies outside the registers of a thread: constants, and numbers of the launch.
fn is_free(inst: &Inst) -> bool {
    match inst.op {
        Op::Const(_) | Op::Scalar(_) | Op::Extent(..) | Op::Stride(..) => true,
        Op::Builtin(builtin, _) => builtin != Builtin::ThreadIdx,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> u32 {
        let text = format!(
            "kernel @k(%out: tensor<f64, 1, mut>, %in: tensor<f64, 1>) {{
               %t = thread_idx.x
               {body}
               return
             }}"
        );
        estimate(&text.parse().unwrap_or_else(|error| panic!("{error}\n{text}")))
    }

    #[test]
    fn a_small_kernel_takes_the_fewest() {
        assert_eq!(of("%v = load %in[%t] : f64\nstore %out[%t], %v"), 16);
    }

    #[test]
    fn what_is_live_at_once_counts() {
        // Twelve values of 64 bits, the thread's index, and what goes on top.
        let loads: String =
            (0..12).map(|i| format!("%c{i} = const index {i}\n%v{i} = load %in[%c{i}] : f64\n")).collect();
        let stores: String = (0..12).map(|i| format!("store %out[%t], %v{i}\n")).collect();
        assert_eq!(of(&format!("{loads}{stores}")), (12u32 * 2 + 1 + OVERHEAD).next_multiple_of(STEP));
    }

    #[test]
    fn what_a_loop_uses_lives_through_it() {
        let inside = |used: &str| {
            let loads: String = (0..12)
                .map(|i| format!("%c{i} = const index {i}\n%v{i} = load %in[%c{i}] : f64\n"))
                .collect();
            let sum: String = (1..12)
                .map(|i| {
                    let before = if i == 1 { "%v0".to_owned() } else { format!("%s{}", i - 1) };
                    format!("%s{i} = add {before}, %v{i}\n")
                })
                .collect();
            let n = "%one = const index 1\n%many = const index 1000\n";
            of(&format!(
                "{loads}{n}for ^l %i = %one to %many step %one {{\n{sum}store %out[%i], {used}\ncontinue ^l\n}}"
            ))
        };
        assert!(inside("%s11") >= 24 + OVERHEAD);
    }
}
