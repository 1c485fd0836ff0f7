//! [`explain`]: which bounds checks of a launch are proved away, by what, and which have to stay.

use std::fmt;

use tilewise_check::render::Sources;
use tilewise_ir::analysis::{
    self, AccessExplanation, ArgNumbers, BoundExplanation, Doubt, Explanation, LaunchNumbers, Proof,
};
use tilewise_ir::{AccessKind, Kernel, Location, pass};

use crate::device::ArgValue;
use crate::error::Result;
use crate::launch::dims::{BlockDim, GridDim};
use crate::launch::{Launch, LaunchParam};

/// What [`explain`] finds out about a launch. It prints as a listing of the kernel's source with a note at each access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchExplanation {
    /// Name of the kernel.
    pub kernel: String,
    /// Blocks of the grid: x, y, z.
    pub grid: [usize; 3],
    /// Threads of a block: x, y, z.
    pub block: [usize; 3],
    /// The accesses of the optimised kernel, and the branches that the launch decides.
    pub explanation: Explanation,
}

/// Explains a launch without running it: for each access whether its bounds checks are proved (by what) or checked (why
/// they could not be proved), how it is aligned, and how wide its loads or stores are on a GPU. It needs no GPU.
///
/// Whoever wants a launch explained that is made elsewhere, as by [`elementwise`](crate::elementwise), uses
/// [`DeviceContext::with_explain`](crate::DeviceContext::with_explain).
///
/// ```
/// use tilewise_runtime::{LaunchBuilder, block_dim, explain, grid_dim};
///
/// let launch = LaunchBuilder::new("wait").describe(tilewise_stage::barrier);
/// let explanation = explain(launch, grid_dim(2), block_dim(64))?;
/// assert_eq!(explanation.checks_left(), 0);
/// assert_eq!(explanation.to_string(), "wait: 2 x 1 x 1 blocks of 64 x 1 x 1 threads\n  no access of memory\n");
/// # Ok::<(), tilewise_runtime::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Stage`](crate::Error::Stage) names the place in the kernel that is wrong.
pub fn explain(launch: Launch<'_>, grid: GridDim, block: BlockDim) -> Result<LaunchExplanation> {
    let (kernel, params) = launch.into_parts()?;
    Ok(LaunchExplanation::new(&kernel, &params, grid.to_array(), block.to_array()))
}

impl LaunchExplanation {
    /// Explains a kernel as described. A launch without threads is explained as one of a thread.
    pub(crate) fn new(
        described: &Kernel,
        params: &[LaunchParam],
        grid: [usize; 3],
        block: [usize; 3],
    ) -> LaunchExplanation {
        let mut kernel = described.clone();
        pass::prepare(&mut kernel);
        pass::optimize(&mut kernel);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).max(1);
        let args = params.iter().map(|param| argument(&param.value)).collect();
        let numbers = LaunchNumbers { grid: grid.map(count), block: block.map(count), args };
        let explanation = analysis::explain(&kernel, &numbers);
        LaunchExplanation { kernel: described.name.clone(), grid, block, explanation }
    }

    /// How many bounds have to be checked while the kernel runs.
    pub fn checks_left(&self) -> usize {
        self.bounds().filter(|bound| bound.verdict.is_err()).count()
    }

    /// How many bounds are proved.
    pub fn checks_proved(&self) -> usize {
        self.bounds().filter(|bound| bound.verdict.is_ok()).count()
    }

    fn bounds(&self) -> impl Iterator<Item = &BoundExplanation> {
        self.explanation.accesses.iter().flat_map(|access| &access.bounds)
    }
}

/// The numbers of an argument. A buffer starts at a multiple of 256 bytes on every device.
fn argument(value: &ArgValue) -> ArgNumbers {
    match value {
        ArgValue::Scalar(value) => ArgNumbers::Scalar(*value),
        ArgValue::Tensor(tensor) => {
            let start = tensor.offset * tensor.storage.scalar().size() as u64;
            ArgNumbers::Tensor {
                extents: tensor.extents.clone(),
                strides: tensor.strides.clone(),
                align: 1 << start.trailing_zeros().min(8),
            }
        }
    }
}

// ---- the listing ----

impl fmt::Display for LaunchExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y, z], [a, b, c]) = (self.grid, self.block);
        writeln!(f, "{}: {x} x {y} x {z} blocks of {a} x {b} x {c} threads", self.kernel)?;
        let notes = self.notes();
        if notes.is_empty() {
            return writeln!(f, "  no access of memory");
        }
        let width = notes.iter().filter_map(|(place, _)| place.as_ref()).map(|(_, line)| digits(*line)).max();
        let width = width.unwrap_or(1);
        let (mut sources, mut file) = (Sources::new(None), None);
        for (place, notes) in &notes {
            match place {
                Some((name, line)) => {
                    if file != Some(name) {
                        writeln!(f, "  {name}")?;
                        file = Some(name);
                    }
                    let text = sources.text(name);
                    let number = line.saturating_sub(1) as usize;
                    let text = text.as_deref().and_then(|text| text.lines().nth(number));
                    writeln!(f, "  {line:width$} | {}", text.unwrap_or_default())?;
                }
                None => writeln!(f, "  {:width$} | (no position)", "")?,
            }
            for line in notes.iter().flat_map(|(note, count)| note.lines(*count)) {
                writeln!(f, "  {:width$} |     {line}", "")?;
            }
        }
        let (proved, left) = (self.checks_proved(), self.checks_left());
        let checks = |n: usize| if n == 1 { "1 check".to_owned() } else { format!("{n} checks") };
        writeln!(
            f,
            "  {} proved, {} left",
            checks(proved),
            if left == 0 { "none".to_owned() } else { checks(left) }
        )
    }
}

/// A line of a file.
type Place = Option<(String, u32)>;

/// What there is to say of a line: in text, and how often.
type Notes = Vec<(Note, usize)>;

#[derive(PartialEq)]
enum Note {
    /// A branch whose condition is always this.
    Decided(bool),
    /// An access, or several that differ in their indices alone, as an unrolled loop makes them.
    Access(AccessExplanation),
}

impl LaunchExplanation {
    /// The notes of each line, lines in order, equal notes once.
    fn notes(&self) -> Vec<(Place, Notes)> {
        let mut found: Vec<(Place, Notes)> = Vec::new();
        let mut add = |location: &Option<Location>, note: Note| {
            let place = location.as_ref().map(|l| (l.file.clone(), l.line));
            match found.iter_mut().find(|(other, _)| *other == place) {
                Some((_, notes)) => match notes.iter_mut().find(|(other, _)| other.is_like(&note)) {
                    Some((other, count)) => {
                        other.widen(&note);
                        *count += 1;
                    }
                    None => notes.push((note, 1)),
                },
                None => found.push((place, vec![(note, 1)])),
            }
        };
        let Explanation { accesses, decided } = &self.explanation;
        decided.iter().for_each(|branch| add(&branch.location, Note::Decided(branch.truth)));
        accesses.iter().for_each(|access| add(&access.location, Note::Access(access.clone())));
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found
    }
}

impl Note {
    /// Whether two notes are one, but for the indices.
    fn is_like(&self, other: &Note) -> bool {
        let (Note::Access(a), Note::Access(b)) = (self, other) else { return self == other };
        let is_like = |(a, b): (&BoundExplanation, &BoundExplanation)| {
            (a.dim, a.last, a.extent, &a.verdict) == (b.dim, b.last, b.extent, &b.verdict)
        };
        (a.access, &a.memory, a.ty, a.align, a.bounds.len())
            == (b.access, &b.memory, b.ty, b.align, b.bounds.len())
            && a.bounds.iter().zip(&b.bounds).all(is_like)
    }

    /// Takes the indices of a note that is like this one in.
    fn widen(&mut self, other: &Note) {
        let (Note::Access(to), Note::Access(from)) = (self, other) else { return };
        for (to, from) in to.bounds.iter_mut().zip(&from.bounds) {
            to.index = (to.index.0.min(from.index.0), to.index.1.max(from.index.1));
        }
    }

    /// The lines of a note that is true so often.
    fn lines(&self, count: usize) -> Vec<String> {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        match self {
            Note::Decided(truth) => {
                vec![format!("the condition is {truth} in every thread: no branch is left{times}")]
            }
            Note::Access(access) => {
                let (kind, memory) = (access.access, &access.memory);
                let width = width(access.ty.size() as u64, access.align.into(), kind);
                let first = format!("{kind} `{memory}`: {width}{times}");
                let bounds = access.bounds.iter().map(|bound| format!("  {}", describe(bound)));
                [first].into_iter().chain(bounds).collect()
            }
        }
    }
}

/// How an access of `size` bytes at a multiple of `align` is made.
fn width(size: u64, align: u64, kind: AccessKind) -> String {
    // The widest instructions for global memory move 16 bytes.
    let widest = if kind == AccessKind::Atomic { size } else { size.min(align.max(1)).min(16) };
    let unit = if widest.is_power_of_two() { widest } else { widest.next_power_of_two() / 2 };
    match size / unit.max(1) {
        0 | 1 => format!("{size} bytes, aligned to {align}"),
        count => format!("{size} bytes as {count} times {unit}, aligned to {align}"),
    }
}

/// A bound in a line.
fn describe(bound: &BoundExplanation) -> String {
    let BoundExplanation { dim, index, last, extent, .. } = bound;
    let interval = |&(lo, hi): &(i128, i128)| match hi {
        hi if lo == hi => lo.to_string(),
        hi if hi >= u64::MAX.into() => format!("{lo} or more"),
        hi => format!("{lo} to {hi}"),
    };
    let lanes = if *last > 0 { format!(", and {last} more for the other lanes,") } else { String::new() };
    let (index, extent) = (interval(index), interval(extent));
    let index = format!("dimension {dim}: index {index}{lanes}");
    match &bound.verdict {
        Ok(Proof::Launch) => format!("{index} below {extent}: proved by the launch's numbers"),
        Ok(Proof::Condition) => format!("{index} below {extent}: proved by a condition around it"),
        Ok(Proof::Difference) => {
            format!("{index}, extent {extent}: proved by how index and extent depend on each other")
        }
        Ok(Proof::NeverReached) => format!("dimension {dim}: no thread gets here"),
        Err(Doubt::Loaded { memory, location }) => {
            let at = location.as_ref().map(|l| format!(" in line {}", l.line)).unwrap_or_default();
            format!(
                "{index}, extent {extent}: CHECKED, the index depends on what is read from `{memory}`{at}"
            )
        }
        Err(Doubt::Carried) => {
            format!(
                "{index}, extent {extent}: CHECKED, the index changes in a loop and no bound of it was found"
            )
        }
        Err(Doubt::Reaches) => format!("{index}, extent {extent}: CHECKED, the index may reach the extent"),
    }
}

fn digits(line: u32) -> usize {
    line.to_string().len()
}
