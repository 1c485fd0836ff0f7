//! Puzzle 12: a sum over all elements, by a tree in shared memory.

#[allow(unused_variables, reason = "the gap leaves parameters without a use")]
mod problem;
mod solution;

use crate::puzzle::{Programs, Puzzle, Runs};

pub(crate) const PUZZLE: Puzzle = Puzzle {
    name: "p12",
    title: "Dot product",
    file: "course/puzzles/p12_dot_product/problem.rs",
    runs: Runs::Plain(Programs { problem: problem::run, solution: solution::run, hint: HINT }),
};

const HINT: &str = "\
1. Allocate TPB elements in shared memory: `stack_allocation` with `AddressSpace::Shared`.
2. Each thread whose global_i is below size puts one product there:
   a[global_i] * b[global_i] goes to shared[local_i].
3. Wait with `barrier()` until all products are there.
4. Halve the number of sums in each round: for stride 4, 2, 1 the threads below the stride add the
   element that lies a stride further to their own. A `while` loop over `let mut stride` does it.
   Each round ends with a `barrier()`, outside the `if`: all threads must reach it.
5. The sum is in shared[0]. One thread writes it to output[0].
";
