//! Kernels of ten thousand operations, and of twice as many, of one shape each.

use tilewise::prelude::*;

/// A shape of kernels.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// A launch of a kernel of `n` pieces.
    pub(crate) launch: Describe,
    /// How many pieces make ten thousand operations.
    pub(crate) n: usize,
}

/// A launch of a kernel of so many pieces.
pub(crate) type Describe =
    for<'k> fn(&'k mut DeviceTensor<f32, 1>, &'k DeviceTensor<f32, 1>, usize) -> Launch<'k>;

const fn shape(name: &'static str, n: usize, launch: Describe) -> Shape {
    Shape { name, launch, n }
}

/// The shapes, from plain to nested.
pub(crate) const SHAPES: &[Shape] = &[
    shape("arithmetic", 550, |output, a, n| arithmetic(output, a, n)),
    shape("functions", 40, |output, a, n| functions(output, a, n)),
    shape("loads and stores", 830, |output, a, n| accesses(output, a, n)),
    shape("indices from memory", 620, |output, a, n| gathers(output, a, n)),
    shape("shared memory, barriers", 770, |output, a, n| shared(output, a, n)),
    shape("an array of variables", 1100, |output, a, n| array(output, a, n)),
    shape("branches", 480, |output, a, n| branches(output, a, n)),
    shape("early returns", 830, |output, a, n| returns(output, a, n)),
    shape("branches, 40 deep", 15, |output, a, n| deep(output, a, n)),
    shape("loops in branches in loops", 118, |output, a, n| nests(output, a, n)),
    shape("loops one after another", 830, |output, a, n| loops(output, a, n)),
    shape("unrolled loops", 16, |output, a, n| unrolled(output, a, n)),
];

/// Sums and products that hang on each other, in two variables.
#[kernel]
fn arithmetic(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < output.dim(0) {
        let (mut x, mut y) = (a[i], a[i]);
        for k in comptime(0..n) {
            x = x * y + k as f32;
            y -= x * 0.5;
        }
        output[i] = x + y;
    }
}

/// Functions that a GPU has no instruction for.
#[kernel]
fn functions(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < output.dim(0) {
        let mut x = a[i];
        for k in comptime(0..n) {
            x = (x + k as f32).exp().sin();
        }
        output[i] = x;
    }
}

/// Loads and stores of neighbours, in bounds or not.
#[kernel]
fn accesses(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    for k in comptime(0..n) {
        output[i + k] = a[i + 2 * k] * 2.0 + a[i + 3 * k];
    }
}

/// Each index is what was read before.
#[kernel]
fn gathers(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let mut i = thread_idx().x;
    for k in comptime(0..n) {
        i = (a[i] as usize + k) % 1000;
        output[i] = a[i];
    }
}

/// What neighbours wrote, between barriers.
#[kernel]
fn shared(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let tile = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([256]));
    let i = thread_idx().x;
    tile[i] = a[i];
    barrier();
    for k in comptime(0..n) {
        let x = tile[(i + k) % 256];
        barrier();
        tile[i] += x;
        barrier();
    }
    output[i] = tile[i];
}

/// An array of 16 variables, by numbers that are known.
#[kernel]
fn array(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = thread_idx().x;
    let mut sums = [a[i]; 16];
    for k in comptime(0..n) {
        sums[k % 16] += sums[(7 * k + 3) % 16] * 0.5;
    }
    for k in comptime(0..16) {
        output[16 * i + k] = sums[k];
    }
}

/// Branches one after another, each with an access in it.
#[kernel]
fn branches(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = thread_idx().x;
    let mut x = a[i];
    for k in comptime(0..n) {
        if x > k as f32 {
            x += a[i + k];
        } else {
            x *= 2.0;
        }
    }
    output[i] = x;
}

/// Branches in branches.
#[kernel]
fn deep(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = thread_idx().x;
    let mut x = a[i];
    for k in comptime(0..n) {
        x = nested(a, x, i + k, 40);
    }
    output[i] = x;
}

/// So many branches in each other.
#[device]
fn nested(a: &TileTensor<f32, 1>, x: f32, i: usize, #[comptime] depth: usize) -> f32 {
    if depth == 0 {
        x
    } else if x > depth as f32 {
        nested(a, x + a[i + depth], i, depth - 1)
    } else {
        x * 2.0
    }
}

/// One return after another.
#[kernel]
fn returns(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = thread_idx().x;
    for k in comptime(0..n) {
        if a[i + k] > k as f32 {
            return;
        }
        output[i + k] = 1.0;
    }
}

/// Nests, eight deep, of loops and branches that share variables.
#[kernel]
fn nests(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = thread_idx().x;
    let (mut x, mut count) = (a[i], 0);
    for k in comptime(0..n) {
        let mut left = i + k;
        while left > 0 {
            if x > 1.0 {
                for j in 0..left {
                    if a[j] > x {
                        x += a[j];
                        while x > 100.0 {
                            if count < 1000 {
                                count += 1;
                                x -= a[count];
                            } else {
                                break;
                            }
                        }
                    } else {
                        count += j;
                    }
                }
            }
            left /= 2;
        }
        output[i + k] = x;
    }
}

/// Short loops one after another.
#[kernel]
fn loops(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = thread_idx().x;
    let mut x = a[i];
    for k in comptime(0..n) {
        for j in 0..i {
            x += a[j + k];
        }
    }
    output[i] = x;
}

/// Loops that are unrolled, to a thousand operations each.
#[kernel]
fn unrolled(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] n: usize) {
    let i = thread_idx().x;
    let mut x = a[i];
    for k in comptime(0..n) {
        for j in 0..16 {
            for l in 0..8 {
                x = x * a[i + j + k] + (l as f32);
            }
        }
    }
    output[i] = x;
}
