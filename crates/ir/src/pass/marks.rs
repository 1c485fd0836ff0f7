//! Marks at the start of each basic block that computes, for profiled runs.
//!
//! How many operations a launch does follows from how many threads come to each basic block. So this pass puts a load of
//! [`NAME`], memory of each thread that belongs to no user, at the start of each: whoever watches accesses sees who comes
//! there, and the number of the element is that of the block. [`basic_blocks`] gives what each of them computes.
//!
//! It runs on the kernel as staged, and what basic blocks compute is read right after it, before any pass moves an operation:
//! [`contract`](crate::pass::contract) makes one of two, at the position of the second.

use rustc_hash::FxHashMap;

use crate::kernel::{Alloc, AllocId, Block, Inst, Kernel, MemRef, Space, Value};
use crate::op::{Access, AtomicOp, Op, UnaryOp, WARP_SIZE};
use crate::span::Span;
use crate::types::{Const, Scalar, Type};

/// The name of the memory that marks load. It is no name that a user can give.
pub const NAME: &str = "basic block";

/// Runs the pass; gives whether the kernel has changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut body = std::mem::take(&mut kernel.body);
    let mut marker = Marker { alloc: AllocId(kernel.allocs.len() as u32), count: 0 };
    marker.block(kernel, &mut body);
    kernel.body = body;
    if marker.count > 0 {
        kernel.allocs.push(Alloc {
            name: NAME.to_owned(),
            space: Space::Local,
            elem: Scalar::Bool.ty(),
            len: marker.count,
            span: Span::NONE,
        });
    }
    marker.count > 0
}

/// How many operations on numbers an instruction does for a thread: arithmetic on floats and integers, each component of a
/// vector counted, a fused multiply-add as two. Indices are no numbers here, and changes of sign, comparisons, selections
/// and conversions are no operations.
pub fn operations(kernel: &Kernel, inst: &Inst) -> u64 {
    let each = match &inst.op {
        Op::Unary(UnaryOp::Neg | UnaryOp::Abs | UnaryOp::IsNan | UnaryOp::IsInf) => 0,
        Op::Unary(_) | Op::Binary(_) => 1,
        Op::MulAdd => 2,
        // Each lane combines what it has with what others have, for each bit of a lane's number.
        Op::WarpReduce(_) | Op::WarpScan(_) => u64::from(WARP_SIZE.ilog2()),
        Op::AtomicRmw(AtomicOp::Exchange, ..) => 0,
        Op::AtomicRmw(..) => 1,
        Op::Const(_)
        | Op::Builtin(..)
        | Op::LaneId
        | Op::Scalar(_)
        | Op::Extent(..)
        | Op::Stride(..)
        | Op::Compare(_)
        | Op::Select
        | Op::Cast(_)
        | Op::Bitcast(_)
        | Op::Splat(_)
        | Op::Pack
        | Op::Extract(_)
        | Op::Load(_)
        | Op::Store(_)
        | Op::AtomicLoad(..)
        | Op::AtomicStore(..)
        | Op::AtomicCas(..)
        | Op::Fence(..)
        | Op::Barrier
        | Op::Shuffle(_)
        | Op::Ballot
        | Op::WarpBarrier
        | Op::Print(_)
        | Op::Assert(_)
        | Op::If
        | Op::Loop(_)
        | Op::For(_)
        | Op::Yield
        | Op::Break(_)
        | Op::Continue(_)
        | Op::Return => 0,
    };
    let Some(result) = inst.result() else { return 0 };
    let Type { scalar, lanes } = kernel.ty(result);
    if matches!(scalar, Scalar::Index | Scalar::Bool) { 0 } else { each * u64::from(lanes) }
}

/// By the number of a basic block: what it computes, as positions with a number of operations for each thread that comes
/// there.
pub type Operations = Vec<Vec<(Span, u64)>>;

/// What each basic block of a kernel with marks computes.
pub fn basic_blocks(kernel: &Kernel) -> Operations {
    let marks = kernel.allocs.iter().find(|alloc| alloc.name == NAME);
    let mut blocks = vec![Vec::new(); marks.map_or(0, |alloc| alloc.len as usize)];
    read(kernel, &kernel.body, &mut blocks);
    blocks
}

fn read(kernel: &Kernel, block: &Block, blocks: &mut [Vec<(Span, u64)>]) {
    let mut constants: FxHashMap<Value, u64> = FxHashMap::default();
    let mut current = None;
    for inst in &block.insts {
        match &inst.op {
            Op::Const(value) => drop(constants.insert(inst.results[0], value.bits)),
            Op::Load(access) if kernel.mem_name(access.mem) == NAME => {
                current = constants.get(&inst.args[0]).map(|&number| number as usize);
            }
            _ => {
                let count = operations(kernel, inst);
                if count > 0
                    && let Some(block) = current.and_then(|number| blocks.get_mut(number))
                {
                    block.push((inst.span, count));
                }
            }
        }
        inst.blocks.iter().for_each(|nested| read(kernel, nested, blocks));
        if ends_basic_block(inst) {
            current = None;
        }
    }
}

/// Whether some threads may not come to what follows, or not at once.
fn ends_basic_block(inst: &Inst) -> bool {
    !inst.blocks.is_empty() || matches!(inst.op, Op::Assert(_))
}

struct Marker {
    alloc: AllocId,
    count: u64,
}

impl Marker {
    fn block(&mut self, kernel: &mut Kernel, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        let (mut start, mut computes) = (0, false);
        for mut inst in insts {
            computes |= operations(kernel, &inst) > 0;
            inst.blocks.iter_mut().for_each(|nested| self.block(kernel, nested));
            let ends = ends_basic_block(&inst);
            block.insts.push(inst);
            if ends {
                if std::mem::take(&mut computes) {
                    self.mark(kernel, block, start);
                }
                start = block.insts.len();
            }
        }
        if computes {
            self.mark(kernel, block, start);
        }
    }

    fn mark(&mut self, kernel: &mut Kernel, block: &mut Block, at: usize) {
        let (number, loaded) = (kernel.new_value(Type::INDEX), kernel.new_value(Scalar::Bool.ty()));
        let constant = Inst::new(Op::Const(Const::index(self.count)), [], [number], Span::NONE);
        let access = Access::unchecked(MemRef::Alloc(self.alloc));
        let load = Inst::new(Op::Load(access), [number], [loaded], Span::NONE);
        block.insts.splice(at..at, [constant, load]);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass;

    fn kernel(body: &str) -> Kernel {
        let text = format!(
            "kernel @k(%out: tensor<f32, 1, mut>, %n: index) {{
               %t = thread_idx.x
               %limit = scalar %n
               %x = load %out[%t] : f32
               {body}
               return
             }}"
        );
        text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn counts(kernel: &Kernel) -> Vec<Vec<u64>> {
        numbers(basic_blocks(kernel))
    }

    fn numbers(operations: Operations) -> Vec<Vec<u64>> {
        operations.into_iter().map(|block| block.into_iter().map(|(_, count)| count).collect()).collect()
    }

    const BRANCH: &str = "%y = mul %x, %x
         %c = lt %t, %limit
         if %c {
           %z = add %y, %x
           store %out[%t], %z
         }
         %i = add %t, %t
         %w = sqrt %y
         store %out[%i], %w";

    #[test]
    fn each_basic_block_that_computes_has_a_mark() {
        let mut kernel = kernel(BRANCH);
        assert!(run(&mut kernel));
        // The inner one first, then what is before it, then what comes after it, where an index is none.
        assert_eq!(counts(&kernel), [[1], [1], [1]]);
        crate::verify::verify(&kernel).expect("valid");
    }

    #[test]
    fn what_follows_a_condition_that_ends_threads_is_another() {
        let mut kernel = kernel(
            "%a = add %x, %x
             %c = lt %t, %limit
             assert %c, \"below\"
             %b = mul %a, %a
             %d = mul %b, %b
             store %out[%t], %d",
        );
        assert!(run(&mut kernel));
        assert_eq!(counts(&kernel), [vec![1], vec![1, 1]]);
    }

    #[test]
    fn a_kernel_that_does_not_compute_stays_as_it_is() {
        let mut kernel = kernel("store %out[%limit], %x");
        let before = kernel.clone();
        assert!(!run(&mut kernel));
        assert_eq!(kernel, before);
        assert!(basic_blocks(&kernel).is_empty());
    }

    #[test]
    fn fusing_changes_no_count_and_no_pass_drops_a_mark() {
        let mut kernel = kernel(BRANCH);
        let operations = pass::prepare_profiled(&mut kernel);
        assert_eq!(kernel.to_string().matches("mul_add").count(), 0, "the product is used twice");
        assert_eq!(numbers(operations), [[1], [1], [1]]);
        assert_eq!(counts(&kernel), [[1], [1], [1]]);
        let mut fused = self::kernel("%y = mul %x, %x\n%z = sub %y, %x\nstore %out[%t], %z");
        let operations = pass::prepare_profiled(&mut fused);
        assert_eq!(fused.to_string().matches("mul_add").count(), 1);
        assert_eq!(numbers(operations), [[1, 1]]);
        assert_eq!(counts(&fused), [[2]]);
    }
}
