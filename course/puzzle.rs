//! What the command knows of a puzzle.

use tilewise::{DeviceContext, Result};

use crate::check::Verdict;

/// A puzzle of the course.
pub(crate) struct Puzzle {
    /// What it is run by: `p12`.
    pub(crate) name: &'static str,
    /// What it is about, in a few words.
    pub(crate) title: &'static str,
    /// The learner's file, from the root of the repository.
    pub(crate) file: &'static str,
    /// What can be run.
    pub(crate) runs: Runs,
}

/// What of a puzzle can be run.
pub(crate) enum Runs {
    /// One program, without a flag.
    Plain(Programs),
    /// Several, each by its flag. One must be chosen.
    Variants(&'static [Variant]),
}

/// One of several programs of a puzzle.
pub(crate) struct Variant {
    /// The flag, without its dashes: `single-block`.
    pub(crate) flag: &'static str,
    /// What it does, in a few words.
    pub(crate) about: &'static str,
    /// What it runs.
    pub(crate) programs: Programs,
}

/// The learner's program and its solution.
pub(crate) struct Programs {
    /// That of the learner's file.
    pub(crate) problem: Program,
    /// That of the solution.
    pub(crate) solution: Program,
    /// Tips for filling the gap.
    pub(crate) hint: &'static str,
}

/// Makes the data, runs the kernel, prints and checks the result.
pub(crate) type Program = fn(&DeviceContext) -> Result<Verdict>;

impl Puzzle {
    /// The variants, of which one must be chosen; none for a puzzle that is one program.
    pub(crate) fn variants(&self) -> &'static [Variant] {
        match self.runs {
            Runs::Plain(_) => &[],
            Runs::Variants(variants) => variants,
        }
    }

    /// `--naive, --single-block, --tiled`
    pub(crate) fn flags(&self) -> String {
        let flags: Vec<_> = self.variants().iter().map(|variant| format!("--{}", variant.flag)).collect();
        flags.join(", ")
    }
}
