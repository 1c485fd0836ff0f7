//! Puzzle 16: a matrix product three ways, each of which reads global memory less often.

#[allow(unused_variables, reason = "the gaps leave parameters and indices without a use")]
mod problem;
mod solution;

use crate::puzzle::{Programs, Puzzle, Runs, Variant};

pub(crate) const PUZZLE: Puzzle = Puzzle {
    name: "p16",
    title: "Matrix multiplication",
    file: "course/puzzles/p16_matmul/problem.rs",
    runs: Runs::Variants(&[
        Variant {
            flag: "naive",
            about: "2 by 2: each thread reads a row and a column from global memory",
            programs: Programs { problem: problem::naive, solution: solution::naive, hint: NAIVE },
        },
        Variant {
            flag: "single-block",
            about: "2 by 2: one block copies both matrices to shared memory first",
            programs: Programs {
                problem: problem::single_block,
                solution: solution::single_block,
                hint: SINGLE_BLOCK,
            },
        },
        Variant {
            flag: "tiled",
            about: "9 by 9: each block copies one pair of 3 by 3 tiles after the other",
            programs: Programs { problem: problem::tiled, solution: solution::tiled, hint: TILED },
        },
    ]),
};

const NAIVE: &str = "\
1. There are more threads than elements: only those with row and col below SIZE have work.
2. Keep the sum in a variable, `let mut acc = 0.0;`, and write it to output[[row, col]] at the end.
3. Term k of the sum is a[[row, k]] * b[[k, col]]. SIZE is known while the kernel is described, so the
   loop may be unrolled: `for k in comptime(0..SIZE)`.
";

const SINGLE_BLOCK: &str = "\
1. Allocate a matrix of TPB by TPB in shared memory for `a`, and one for `b`.
2. Each thread that has an element copies it, from [[row, col]] to [[local_row, local_col]].
3. `barrier()` outside the `if`: all threads of the block must reach it.
4. Then as in the naive kernel, with the shared matrices:
   a_shared[[local_row, k]] * b_shared[[k, local_col]].
5. k runs to SIZE, not to TPB: nobody wrote the cells beyond.
";

const TILED: &str = "\
1. Before any loop allocate two tiles of TPB by TPB in shared memory, and a variable for the sum.
2. Go along the row of `a` and down the column of `b` tile by tile: `for tile in comptime(..)`, over
   SIZE / TPB tiles.
3. In each round every thread copies one element of each tile:
   of `a` that in row `tiled_row` and column `tile * TPB + local_col`,
   of `b` that in row `tile * TPB + local_row` and column `tiled_col`.
   For what lies outside the matrix write 0, which adds nothing to a sum.
4. One `barrier()` before the products, so that the tiles are complete; one after them, so that
   nobody overwrites a tile that others still read.
5. After the loop write the sum to output[[tiled_row, tiled_col]], if that is inside.
";
