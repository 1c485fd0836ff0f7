//! Why each bounds check of a kernel can go, or has to stay: [`explain`].
//!
//! It is the walk of [`facts`](super::facts) with its reasons kept, for people to read. What it calls proved is what a
//! backend leaves out.

use super::facts::{Decided, LaunchNumbers, analyze};
use super::ranges::Walk;
use crate::fault::AccessKind;
use crate::kernel::{Inst, Kernel, MemRef, Value};
use crate::op::Op;
use crate::span::{Location, Span};
use crate::types::Type;

/// The accesses of a kernel, and the branches that its launch decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// In the order of the operations.
    pub accesses: Vec<AccessExplanation>,
    /// Branches whose condition is the same in every thread and every round, in the order of the operations.
    pub decided: Vec<DecidedBranch>,
}

/// An access: its bounds and its alignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessExplanation {
    /// The user's position.
    pub location: Option<Location>,
    /// What the access does.
    pub access: AccessKind,
    /// The user's name of the tensor or allocation.
    pub memory: String,
    /// What is read or written.
    pub ty: Type,
    /// An entry for each bound that is checked unless it is proved.
    pub bounds: Vec<BoundExplanation>,
    /// A power of two that divides the address of the first lane, in bytes.
    pub align: u16,
}

/// A bound of an access: `index + last < extent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundExplanation {
    /// The dimension, counted from 0.
    pub dim: u8,
    /// The least and the greatest index that the access can have, as far as is known.
    pub index: (i128, i128),
    /// The number of the last lane along the dimension; 0 for an access of one element.
    pub last: i128,
    /// The least and the greatest extent.
    pub extent: (i128, i128),
    /// By what it is proved, or why it is not.
    pub verdict: Result<Proof, Doubt>,
}

/// By what a bound is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    /// The numbers of the launch alone: the index is below the extent wherever it is computed.
    Launch,
    /// A condition that holds where the access is.
    Condition,
    /// A condition on index and extent together, or how they are computed from each other.
    Difference,
    /// No thread gets there.
    NeverReached,
}

/// Why a bound is not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The index comes from memory, and may be anything.
    Loaded {
        /// The user's name of what it is read from.
        memory: String,
        /// Where it is read.
        location: Option<Location>,
    },
    /// The index is carried from round to round of a loop, and no bound of it was found.
    Carried,
    /// Some thread has an index that may reach the extent, as far as is known.
    Reaches,
}

/// A branch of which only one way is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedBranch {
    /// The user's position.
    pub location: Option<Location>,
    /// What the condition always is.
    pub truth: bool,
}

/// Explains a kernel that [`verify`](crate::verify) accepts, for launches with these numbers.
///
/// ```
/// use tilewise_ir::{Kernel, analysis::{ArgNumbers, LaunchNumbers, Proof, explain}};
///
/// let kernel: Kernel = "
///     kernel @k(%out: tensor<f32, 1, mut>) {
///       %0 = const f32 1.0
///       %1 = thread_idx.x
///       %2 = extent %out.0
///       store %out[%1], %0 if (0: %1 < %2)
///       return
///     }
/// ".parse()?;
/// let numbers = LaunchNumbers {
///     grid: [1, 1, 1],
///     block: [32, 1, 1],
///     args: [ArgNumbers::Tensor {
///         extents: [100].into_iter().collect(),
///         strides: [1].into_iter().collect(),
///         align: 256,
///     }].into_iter().collect(),
/// };
/// let bound = &explain(&kernel, &numbers).accesses[0].bounds[0];
/// assert_eq!((bound.index, bound.extent), ((0, 31), (100, 100)));
/// assert_eq!(bound.verdict, Ok(Proof::Launch));
/// # Ok::<(), tilewise_ir::ParseError>(())
/// ```
pub fn explain(kernel: &Kernel, numbers: &LaunchNumbers) -> Explanation {
    let mut walk = Walk::new(kernel, numbers);
    walk.explained = Some(Vec::new());
    walk.block(&kernel.body);
    let Walk { explained, accesses, .. } = walk;
    let mut reached = explained.unwrap_or_default();
    reached.resize_with(accesses.len(), || None);
    let facts = analyze(kernel, numbers);
    let (mut found, mut decided) = (Vec::new(), Vec::new());
    kernel.body.visit(&mut |inst| {
        let location = kernel.spans.get(inst.span);
        if inst.op == Op::If
            && let Some(&Some(Decided::Constant(condition))) = facts.decided.get(inst.args[0].0 as usize)
        {
            decided.push(DecidedBranch { location: location.clone(), truth: !condition.is_zero() });
        }
        let Some(access) = inst.op.access() else { return };
        let number = found.len();
        let never = |&dim| BoundExplanation {
            dim,
            index: (0, 0),
            last: 0,
            extent: (0, 0),
            verdict: Ok(Proof::NeverReached),
        };
        let bounds = reached.get_mut(number).and_then(Option::take);
        found.push(AccessExplanation {
            location,
            access: kind(&inst.op),
            memory: kernel.mem_name(access.mem).to_owned(),
            ty: accessed(kernel, inst, access.mem),
            bounds: bounds.unwrap_or_else(|| access.bounds.iter().map(never).collect()),
            align: accesses.get(number).map_or(1, |facts| facts.align),
        });
    });
    Explanation { accesses: found, decided }
}

fn kind(op: &Op) -> AccessKind {
    match op {
        Op::Load(_) => AccessKind::Load,
        Op::Store(_) => AccessKind::Store,
        _ => AccessKind::Atomic,
    }
}

/// Type of what an access reads or writes.
fn accessed(kernel: &Kernel, inst: &Inst, mem: MemRef) -> Type {
    let value = match inst.op {
        Op::Store(_) | Op::AtomicStore(..) => inst.args.get(1),
        _ => inst.results.first(),
    };
    value.map(|&value| kernel.ty(value)).or_else(|| kernel.mem_elem(mem)).unwrap_or(Type::INDEX)
}

/// How deep the origin of an index is looked for.
const DEPTH: u32 = 24;

impl<'a> Walk<'a> {
    /// Keeps how a bound of an access, the one with this number, is proved here, if somebody has asked.
    pub(super) fn explain_bounds(&mut self, number: usize, bounds: Vec<BoundExplanation>) {
        if let Some(explained) = &mut self.explained {
            if explained.len() <= number {
                explained.resize_with(number + 1, || None);
            }
            explained[number] = Some(bounds);
        }
    }

    pub(super) fn explain_bound(
        &self,
        dim: u8,
        pair: &[Value],
        last: i128,
        proof: Option<Proof>,
    ) -> BoundExplanation {
        let [index, extent] = [0, 1].map(|n| self.range(pair[n]));
        let (index, extent) = ((index.lo(), index.hi()), (extent.lo(), extent.hi()));
        BoundExplanation { dim, index, last, extent, verdict: proof.ok_or_else(|| self.doubt(pair[0])) }
    }

    /// Why no bound of an index is known.
    fn doubt(&self, index: Value) -> Doubt {
        self.origin(index, DEPTH).unwrap_or(Doubt::Reaches)
    }

    /// Where a value comes from that may be anything of its type.
    fn origin(&self, value: Value, depth: u32) -> Option<Doubt> {
        let depth = depth.checked_sub(1)?;
        let Some(inst) = self.definitions[value.0 as usize] else {
            let is_unknown = self.range(value).hi() > i128::from(u32::MAX);
            return is_unknown.then_some(Doubt::Carried);
        };
        match &inst.op {
            Op::Load(access)
            | Op::AtomicLoad(access, ..)
            | Op::AtomicRmw(_, access, ..)
            | Op::AtomicCas(access, ..) => Some(Doubt::Loaded {
                memory: self.kernel.mem_name(access.mem).to_owned(),
                location: self.location(inst.span),
            }),
            _ => inst.args.iter().find_map(|&arg| self.origin(arg, depth)),
        }
    }

    fn location(&self, span: Span) -> Option<Location> {
        self.kernel.spans.get(span)
    }
}
