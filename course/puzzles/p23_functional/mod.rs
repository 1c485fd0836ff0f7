//! Puzzle 23: the same sum of vectors by four patterns, in which a thread does more and more.

mod benchmark;
#[allow(unused_variables, reason = "the gaps leave tiles and indices without a use")]
mod problem;
mod solution;

use crate::puzzle::{Programs, Puzzle, Runs, Variant};

pub(crate) const PUZZLE: Puzzle = Puzzle {
    name: "p23",
    title: "Functional patterns",
    file: "course/puzzles/p23_functional/problem.rs",
    runs: Runs::Variants(&[
        Variant {
            flag: "elementwise",
            about: "a thread adds one SIMD value",
            programs: Programs {
                problem: problem::elementwise_pattern,
                solution: solution::elementwise_pattern,
                hint: ELEMENTWISE,
            },
        },
        Variant {
            flag: "tiled",
            about: "a thread adds a tile, element by element",
            programs: Programs {
                problem: problem::tiled_pattern,
                solution: solution::tiled_pattern,
                hint: TILED,
            },
        },
        Variant {
            flag: "manual-vectorized",
            about: "a thread adds a chunk of SIMD values, whose indices it computes",
            programs: Programs {
                problem: problem::manual_vectorized_pattern,
                solution: solution::manual_vectorized_pattern,
                hint: MANUAL_VECTORIZED,
            },
        },
        Variant {
            flag: "vectorized",
            about: "a thread adds a tile with `vectorize`, which takes care of the rest",
            programs: Programs {
                problem: problem::vectorized_pattern,
                solution: solution::vectorized_pattern,
                hint: VECTORIZED,
            },
        },
        Variant {
            flag: "benchmark",
            about: "the time that each of the four takes, at three sizes",
            programs: Programs {
                problem: problem::benchmark_patterns,
                solution: solution::benchmark_patterns,
                hint: BENCHMARK,
            },
        },
    ]),
};

const ELEMENTWISE: &str = "\
1. `elementwise` makes the launch: its closure runs for idx = 0, simd_width, 2 * simd_width, ...
2. Read a SIMD value of each vector at idx: `a.aligned_load(idx, simd_width)`.
3. Add the two values, and write the sum with `output.store(idx, sum)`.
";

const TILED: &str = "\
1. A tile is a view of its part of the tensor: a_tile[0] is a[tile_id * tile_size]. Nothing is copied.
2. The thread goes through its tile: `for i in 0..output_tile.dim(0)`. The last tile of a vector may
   have fewer elements than tile_size; `dim(0)` is how many there are.
3. Each round adds one element of `a_tile` and one of `b_tile`.
";

const MANUAL_VECTORIZED: &str = "\
1. A chunk has tile_size SIMD values, of SIMD_WIDTH elements each.
2. Loop over them. tile_size is known while the kernel is described, so `for i in comptime(0..tile_size)`
   unrolls the loop.
3. SIMD value i starts at element `tile_id * chunk_size + i * SIMD_WIDTH` of the whole vectors.
4. Load from `a` and `b` there with `aligned_load`, add, and store to `output` at the same place.
";

const VECTORIZED: &str = "\
1. `vectorize(SIMD_WIDTH, n, |width, i| ...)` runs its closure with width = SIMD_WIDTH as long as a
   whole SIMD value fits below n, then with width = 1 for each element that is left.
   Here n is actual_tile_size.
2. In the closure i counts from the start of the tile: the element is `tile_start + i` of the vectors.
3. Load `width` elements of `a` and `b` there, add, store.
   `if global_idx + width <= size` keeps it inside the vectors.
";

const BENCHMARK: &str = "\
Solve the four patterns first: a wrong result is not measured.
With 1M elements look at how many threads there are, and how far apart the accesses of neighbouring
threads lie, more than at how much each thread does.
";
