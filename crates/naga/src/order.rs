//! Which barriers have to order memory of tensors.
//!
//! A barrier of a shader orders the memory that it names, and naming that of tensors is not free: a GPU that keeps what it
//! has read of it in a cache of its own has to drop all of that. Most kernels exchange values by shared memory alone.

use rustc_hash::FxHashMap;
use tilewise_ir::{Block, Effect, Inst, Kernel, MemRef, Op};

/// Where memory is accessed: first and last of the operations that do.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: usize,
    last: usize,
}

impl Range {
    fn add(range: &mut Option<Range>, at: usize) {
        let first = range.map_or(at, |range| range.first);
        *range = Some(Range { first, last: at });
    }

    /// Whether something is accessed up to `end`, and something from `start` on.
    fn is_before(range: Option<Range>, end: usize) -> bool {
        range.is_some_and(|range| range.first < end)
    }

    fn is_after(range: Option<Range>, start: usize) -> bool {
        range.is_some_and(|range| range.last > start)
    }
}

#[derive(Debug, Default)]
struct Walk {
    /// Operations that were met.
    at: usize,
    /// All accesses and those that write, for each tensor, and what may be the same.
    accesses: FxHashMap<MemRef, (Option<Range>, Option<Range>)>,
    /// Each barrier, as the operations that may run both before and after it: itself, or the outermost loop around it.
    barriers: Vec<(usize, usize)>,
    in_loop: bool,
}

impl Walk {
    fn block(&mut self, kernel: &Kernel, block: &Block) {
        for inst in &block.insts {
            self.inst(kernel, inst);
        }
    }

    fn inst(&mut self, kernel: &Kernel, inst: &Inst) {
        self.at += 1;
        let (start, barriers) = (self.at, self.barriers.len());
        if let Some(access) = inst.op.access()
            && matches!(access.mem, MemRef::Param(_))
        {
            for mem in kernel.memories().filter(|&mem| kernel.may_be_same(access.mem, mem)) {
                let (all, writes) = self.accesses.entry(mem).or_default();
                Range::add(all, start);
                if inst.op.effect() == Effect::Write {
                    Range::add(writes, start);
                }
            }
        }
        if matches!(inst.op, Op::Barrier | Op::WarpBarrier) {
            self.barriers.push((start, start));
        }
        let outermost = matches!(inst.op, Op::Loop(_) | Op::For(_)) && !self.in_loop;
        self.in_loop |= outermost;
        for block in &inst.blocks {
            self.block(kernel, block);
        }
        if outermost {
            self.in_loop = false;
            self.at += 1;
            for barrier in &mut self.barriers[barriers..] {
                *barrier = (start, self.at);
            }
        }
    }
}

/// For each barrier of a block or a warp, in order, whether a thread may access memory of a tensor before it that one accesses after it, and one
/// of both writes. Only right for kernels that order memory by nothing but barriers: a fence or an atomic operation may
/// pass on what was ordered by a barrier before.
pub(crate) fn barriers_of_tensors(kernel: &Kernel) -> Vec<bool> {
    let mut walk = Walk::default();
    walk.block(kernel, &kernel.body);
    let Walk { accesses, barriers, .. } = walk;
    let exchanged = |&(start, end): &(usize, usize)| {
        accesses.values().any(|&(all, writes)| {
            Range::is_before(writes, end) && Range::is_after(all, start)
                || Range::is_before(all, end) && Range::is_after(writes, start)
        })
    };
    barriers.iter().map(exchanged).collect()
}

#[cfg(test)]
mod tests {
    use super::barriers_of_tensors;

    fn orders(params: &str, body: &str) -> Vec<bool> {
        let kernel = format!("kernel @k({params}) {{\n%0 = thread_idx.x\n{body}\nreturn\n}}");
        barriers_of_tensors(&kernel.parse().expect("the kernel parses"))
    }

    const TWO: &str = "%a: tensor<f32, 1, mut>, %b: tensor<f32, 1, mut>";
    const ALIASED: &str = "%a: tensor<f32, 1, mut, aliased>, %b: tensor<f32, 1, mut, aliased>";

    #[test]
    fn what_is_read_before_and_written_after_elsewhere_is_not_exchanged() {
        assert_eq!(orders(TWO, "%1 = load %a[%0] : f32\nbarrier\nstore %b[%0], %1"), [false]);
    }

    #[test]
    fn a_barrier_between_a_store_and_a_load_exchanges() {
        assert_eq!(
            orders(
                TWO,
                "%1 = load %a[%0] : f32\nstore %b[%0], %1\nbarrier\nbarrier\n%2 = load %b[%0] : f32\nbarrier"
            ),
            [true, true, false]
        );
    }

    #[test]
    fn so_does_one_between_a_load_and_a_store_or_two_stores() {
        assert_eq!(orders(TWO, "%1 = load %a[%0] : f32\nbarrier\nstore %a[%0], %1"), [true]);
        assert_eq!(
            orders(TWO, "%1 = load %b[%0] : f32\nstore %a[%0], %1\nbarrier\nstore %a[%0], %1"),
            [true]
        );
        assert_eq!(orders(TWO, "%1 = load %a[%0] : f32\nbarrier\n%2 = load %a[%0] : f32"), [false]);
    }

    #[test]
    fn tensors_that_may_share_their_storage_are_one() {
        assert_eq!(orders(ALIASED, "%1 = load %a[%0] : f32\nbarrier\nstore %b[%0], %1"), [true]);
    }

    #[test]
    fn in_a_loop_all_comes_before_and_after() {
        let body = "%1 = const index 4\n%2 = const index 0\n%3 = const index 1\n\
            for ^0 %4 = %2 to %1 step %3 {\n%5 = load %a[%0] : f32\nstore %a[%0], %5\nbarrier\ncontinue ^0\n}\nbarrier";
        assert_eq!(orders(TWO, body), [true, false]);
        let body = body.replace("store %a", "store %b");
        assert_eq!(orders(TWO, &body), [true, false]);
    }
}
