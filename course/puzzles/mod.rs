//! The puzzles, a folder each.
//!
//! In a folder `problem.rs` is the learner's file, with a gap; `solution.rs` is the same file with the gap filled, which
//! `tests/files.rs` checks; `mod.rs` has the tips and says how both are run. A new puzzle is a folder and its two lines
//! here.

mod p12_dot_product;
mod p16_matmul;
mod p23_functional;

use crate::puzzle::Puzzle;

/// All puzzles, in the order of the course.
pub(crate) static PUZZLES: [Puzzle; 3] =
    [p12_dot_product::PUZZLE, p16_matmul::PUZZLE, p23_functional::PUZZLE];
