//! Accesses of neighbouring elements become one access of several lanes, where that is proved to be aligned.
//!
//! ```text
//! %x = load %a[%i]              %v = load %a[%i] : f32x2
//! %j = add %i, 1                %x = extract %v, 0
//! %y = load %a[%j]       =>     %y = extract %v, 1
//! store %out[%i], %x            %j = add %i, 1
//! store %out[%j], %y            %w = pack %x, %y
//!                               store %out[%i], %w
//! ```
//!
//! Which accesses may be moved together, [`adjacent`] finds. A load of several lanes stands where the first of its loads
//! was, a store where the last of its stores was. Loops are to be unrolled before, and bounds that hold to be out.
//!
//! For GPUs, whose threads read 16 bytes with one instruction if their address is a multiple of 16.

use crate::analysis::adjacent::{self, Run, WIDEST};
use crate::analysis::{AccessFacts, Facts};
use crate::kernel::{Block, Inst, Kernel, Value};
use crate::op::{Access, Op};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Runs the pass on a kernel and facts about it, which are then about what the kernel has become. Gives whether it has
/// changed.
///
/// ```
/// use tilewise_ir::{Kernel, analysis::{ArgNumbers, LaunchNumbers, analyze}, pass};
///
/// let mut kernel: Kernel = "
///     kernel @k(%out: tensor<f32, 1, mut>) {
///       %0 = const f32 1.0
///       %1 = const index 2
///       %2 = const index 1
///       %3 = thread_idx.x
///       %4 = mul %3, %1
///       store %out[%4], %0
///       %5 = add %4, %2
///       store %out[%5], %0
///       return
///     }
/// ".parse()?;
/// let out = ArgNumbers::Tensor {
///     extents: [64].into_iter().collect(),
///     strides: [1].into_iter().collect(),
///     align: 256,
/// };
/// let numbers =
///     LaunchNumbers { grid: [1, 1, 1], block: [32, 1, 1], args: [out].into_iter().collect() };
/// let mut facts = analyze(&kernel, &numbers);
/// assert!(pass::vectorize::run(&mut kernel, &mut facts));
/// assert!(kernel.to_string().contains("pack %0, %0"));
/// assert_eq!((facts.accesses.len(), facts.accesses[0].align), (1, 8));
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
pub fn run(kernel: &mut Kernel, facts: &mut Facts) -> bool {
    let mut vectors = vectors(kernel, facts);
    if vectors.is_empty() {
        return false;
    }
    let mut lanes = FxHashMap::default();
    for (n, vector) in vectors.iter().enumerate() {
        lanes.extend(vector.accesses.iter().enumerate().map(|(lane, &access)| (access, (n, lane))));
    }
    let mut number = 0;
    kernel.body.visit(&mut |inst| {
        if inst.op.access().is_some() {
            if let Some(&(n, lane)) = lanes.get(&number) {
                vectors[n].set_lane(lane, inst);
            }
            number += 1;
        }
    });
    let mut body = std::mem::take(&mut kernel.body);
    let accesses = std::mem::take(&mut facts.accesses);
    let mut rewriter = Rewriter { kernel, vectors, lanes, next: 0, before: accesses, after: Vec::new() };
    rewriter.block(&mut body);
    facts.accesses = rewriter.after;
    facts.narrow.resize(kernel.values.len(), false);
    facts.fits.resize(kernel.values.len(), false);
    facts.decided.resize(kernel.values.len(), None);
    kernel.body = body;
    true
}

/// Accesses that become one.
#[derive(Debug)]
struct Vector {
    is_store: bool,
    /// Their numbers, in the order of lanes.
    accesses: SmallVec<[usize; 4]>,
    /// What they read or write, in the order of lanes.
    values: SmallVec<[Value; 4]>,
    /// Offset of the first lane.
    offset: Option<Value>,
}

impl Vector {
    /// Takes note of the access that becomes a lane.
    fn set_lane(&mut self, lane: usize, inst: &Inst) {
        let value = if self.is_store { inst.args.get(1).copied() } else { inst.result() };
        if let Some(value) = value {
            self.values[lane] = value;
        }
        if lane == 0 {
            self.offset = inst.args.first().copied();
        }
    }

    /// The number of the access in whose place it is.
    fn place(&self) -> Option<usize> {
        if self.is_store { self.accesses.iter().copied().max() } else { self.accesses.first().copied() }
    }
}

/// The vectors that the runs of a kernel become.
fn vectors(kernel: &Kernel, facts: &Facts) -> Vec<Vector> {
    let mut vectors = Vec::new();
    for run in adjacent::runs(kernel) {
        let mut rest = &run.accesses[..];
        while !rest.is_empty() {
            let (accesses, others) = rest.split_at(lanes(&run, rest, facts));
            rest = others;
            if accesses.len() > 1 {
                let values = accesses.iter().map(|_| Value(0)).collect();
                let accesses = accesses.iter().copied().collect();
                vectors.push(Vector { is_store: run.is_store, accesses, values, offset: None });
            }
        }
    }
    vectors
}

/// How many of these accesses, from the first, become a vector: a power of two.
fn lanes(run: &Run, accesses: &[usize], facts: &Facts) -> usize {
    let align = facts.accesses.get(accesses[0]).map_or(0, |access| usize::from(access.align));
    let most = (align.min(WIDEST) / run.size).min(accesses.len());
    // The offset of the first lane has to be there where the first load is.
    let is_first = |lanes: usize| accesses[..lanes].iter().all(|&access| access >= accesses[0]);
    [16, 8, 4, 2].into_iter().find(|&lanes| lanes <= most && (run.is_store || is_first(lanes))).unwrap_or(1)
}

struct Rewriter<'k> {
    kernel: &'k mut Kernel,
    vectors: Vec<Vector>,
    /// By number of an access: its vector, and its lane.
    lanes: FxHashMap<usize, (usize, usize)>,
    /// The number of the next access.
    next: usize,
    /// Facts about the accesses, before and after.
    before: Vec<AccessFacts>,
    after: Vec<AccessFacts>,
}

impl Rewriter<'_> {
    fn block(&mut self, block: &mut Block) {
        let insts = std::mem::take(&mut block.insts);
        block.insts.reserve(insts.len());
        for mut inst in insts {
            if inst.op.access().is_some() {
                let number = self.next;
                self.next += 1;
                match self.lanes.get(&number) {
                    Some(&(n, _)) if self.vectors[n].place() == Some(number) => {
                        self.write(n, &inst, &mut block.insts);
                    }
                    Some(_) => {}
                    None => {
                        self.after.push(self.before.get(number).copied().unwrap_or_default());
                        block.insts.push(inst);
                    }
                }
                continue;
            }
            inst.blocks.iter_mut().for_each(|inner| self.block(inner));
            block.insts.push(inst);
        }
    }

    /// Writes a vector in place of one of its accesses.
    fn write(&mut self, n: usize, inst: &Inst, out: &mut Vec<Inst>) {
        let Vector { values, offset, accesses, .. } = &self.vectors[n];
        let (Some(offset), Some(access)) = (*offset, inst.op.access()) else { return };
        let access = Access::unchecked(access.mem);
        let lane = self.kernel.ty(values[0]);
        let ty = lane.with_lanes(values.len() as u8);
        let vector = self.kernel.new_value(ty);
        if let Op::Store(_) = inst.op {
            out.push(Inst::new(Op::Pack, values.iter().copied(), [vector], inst.span));
            out.push(Inst::new(Op::Store(access), [offset, vector], [], inst.span));
        } else {
            out.push(Inst::new(Op::Load(access), [offset], [vector], inst.span));
            let extract =
                |(n, &value): (usize, &Value)| Inst::new(Op::Extract(n as u8), [vector], [value], inst.span);
            out.extend(values.iter().enumerate().map(extract));
        }
        let known = self.before.get(accesses[0]).copied().unwrap_or_default();
        self.after.push(AccessFacts { in_bounds: 0, align: known.align.min(ty.size() as u16) });
    }
}
