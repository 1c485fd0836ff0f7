//! The optimiser as a set of passes: all of [`OPTIMIZE`] and [`SPECIALIZE`], none, or all but some.
//!
//! Leaving a pass out changes no result. It is for who looks for the pass that goes wrong, or measures what one gains.

use super::{FINISH, MAX_ROUNDS, OPTIMIZE, Pass, run, vectorize};
use crate::analysis::Facts;
use crate::kernel::Kernel;
use std::fmt;
use std::str::FromStr;

/// What runs besides [`OPTIMIZE`], for the launches of which some facts hold: [`Decisions`](super::Decisions) are the first
/// four, [`Optimizer::vectorize`] is the last.
pub const SPECIALIZE: [&str; 5] = ["decide", "proved", "coalesce", "partial_unroll", "vectorize"];

/// Which passes of [`OPTIMIZE`] and [`SPECIALIZE`] run.
///
/// ```
/// use tilewise_ir::pass::Optimizer;
///
/// let optimizer: Optimizer = "-licm,-cse".parse()?;
/// assert!(optimizer.has("unroll") && !optimizer.has("licm"));
/// assert_eq!("0".parse(), Ok(Optimizer::OFF));
/// assert_eq!(Optimizer::ON.to_string(), "1");
/// # Ok::<(), tilewise_ir::pass::NoSuchPass>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Optimizer {
    /// A bit for each pass that runs, in the order of the lists.
    passes: u32,
}

/// What chooses no passes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}; `0` is the optimiser off, `1` is it on, `-NAME,-NAME` is it without these passes of {}",
    said(word),
    names()
)]
pub struct NoSuchPass {
    /// The word: `-NAME` of a pass that does not exist, or something that is no such word.
    pub word: String,
}

fn said(word: &str) -> String {
    match word.strip_prefix('-') {
        Some(name) => format!("there is no pass `{name}`"),
        None => format!("`{word}` chooses no passes"),
    }
}

fn names() -> String {
    Optimizer::names().collect::<Vec<_>>().join(", ")
}

impl Optimizer {
    /// All passes.
    pub const ON: Optimizer = Optimizer { passes: (1 << (OPTIMIZE.len() + SPECIALIZE.len())) - 1 };

    /// No pass.
    pub const OFF: Optimizer = Optimizer { passes: 0 };

    /// The names of all passes, in order.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        OPTIMIZE.iter().map(|pass| pass.name).chain(SPECIALIZE)
    }

    /// This one without the pass of a name.
    ///
    /// # Errors
    ///
    /// If no pass has the name.
    pub fn without(self, name: &str) -> Result<Optimizer, NoSuchPass> {
        match Optimizer::names().position(|other| other == name) {
            Some(position) => Ok(Optimizer { passes: self.passes & !(1 << position) }),
            None => Err(NoSuchPass { word: format!("-{name}") }),
        }
    }

    /// Whether it runs any pass.
    pub fn is_on(self) -> bool {
        self != Optimizer::OFF
    }

    /// Whether it runs the pass of this name.
    pub fn has(self, name: &str) -> bool {
        Optimizer::names().position(|other| other == name).is_some_and(|n| self.passes >> n & 1 == 1)
    }

    /// The passes that run in rounds, in order.
    fn passes(self) -> impl Iterator<Item = &'static Pass> + Clone {
        OPTIMIZE.iter().enumerate().filter(move |(n, _)| self.passes >> n & 1 == 1).map(|(_, pass)| pass)
    }

    /// Runs the passes of [`OPTIMIZE`] on a prepared kernel, in rounds until nothing changes. May be run again when more has become known
    /// about a kernel.
    pub fn run(self, kernel: &mut Kernel) {
        self.run_with(kernel, |_, _| {});
    }

    /// [`run`](Optimizer::run), with `observe` called after each pass that has changed the kernel.
    pub fn run_with(self, kernel: &mut Kernel, mut observe: impl FnMut(&Pass, &Kernel)) {
        let count = self.passes().count();
        if count == 0 {
            return;
        }
        // A pass that has seen the kernel as it is would find nothing.
        let mut unchanged = 0;
        for pass in self.passes().cycle().take(count * MAX_ROUNDS) {
            if unchanged == count {
                break;
            }
            unchanged = if run(pass, kernel, &mut observe) { 0 } else { unchanged + 1 };
        }
        run(&FINISH, kernel, &mut observe);
    }

    /// Joins neighbouring accesses, for a device that has vectors of them, after all else. The facts are about the kernel,
    /// then about what it has become; see [`vectorize`].
    pub fn vectorize(self, kernel: &mut Kernel, facts: &mut Facts) {
        if self.has("vectorize") {
            vectorize::run(kernel, facts);
        }
    }
}

/// `0`, `1`, or `-NAME,-NAME`.
impl FromStr for Optimizer {
    type Err = NoSuchPass;

    fn from_str(text: &str) -> Result<Optimizer, NoSuchPass> {
        match text.trim() {
            "0" => Ok(Optimizer::OFF),
            "1" => Ok(Optimizer::ON),
            list => list.split(',').map(str::trim).try_fold(Optimizer::ON, |optimizer, word| {
                let name = word.strip_prefix('-').ok_or_else(|| NoSuchPass { word: word.to_owned() })?;
                optimizer.without(name)
            }),
        }
    }
}

/// As it is parsed.
impl fmt::Display for Optimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Optimizer::ON => f.write_str("1"),
            Optimizer::OFF => f.write_str("0"),
            _ => {
                let missing = Optimizer::names().filter(|name| !self.has(name));
                let words: Vec<String> = missing.map(|name| format!("-{name}")).collect();
                f.write_str(&words.join(","))
            }
        }
    }
}

impl fmt::Debug for Optimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Optimizer({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in ["0", "1", "-simplify", "-cse,-dce"] {
            assert_eq!(text.parse::<Optimizer>().map(|optimizer| optimizer.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_pass_is_refused() {
        for text in ["licm", "-none", "2", "", "-licm,"] {
            assert!(text.parse::<Optimizer>().is_err(), "{text}");
        }
        let error = |text: &str| text.parse::<Optimizer>().unwrap_err().to_string();
        assert_eq!(
            error("-licm,-unknown"),
            "there is no pass `unknown`; `0` is the optimiser off, `1` is it on, `-NAME,-NAME` is it without these passes \
             of simplify, control, carried, promote, unroll, cse, licm, accumulate, dce, decide, proved, coalesce, partial_unroll, vectorize"
        );
        assert!(error("licm").starts_with("`licm` chooses no passes; `0` is the optimiser off, "));
    }

    #[test]
    fn a_pass_that_is_left_out_does_not_run() {
        let kernel: Kernel = "
            kernel @k(%out: tensor<index, 1, mut>) {
              %0 = const index 1
              %1 = const index 2
              %2 = add %0, %1
              store %out[%0], %2
              return
            }
        "
        .parse()
        .unwrap();
        let optimized = |optimizer: Optimizer| {
            let mut kernel = kernel.clone();
            optimizer.run(&mut kernel);
            kernel.to_string()
        };
        assert!(optimized(Optimizer::ON).contains("const index 3"));
        assert!(optimized(Optimizer::ON.without("simplify").unwrap()).contains("add"));
        assert_eq!(optimized(Optimizer::OFF), kernel.to_string());
    }
}
