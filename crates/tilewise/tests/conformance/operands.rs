//! One operation, its operands given in all ways in which a kernel can get them: from buffers thread by thread, from
//! buffers as lanes of a SIMD value, as scalar arguments, as constants, and mixed. All ways must give the same bits.

use std::fmt::Debug;

use tilewise::prelude::*;

use crate::harness::{assert_same, vector, zeros};

/// A constant of the kernel.
#[device]
pub(crate) fn constant<T: Element>(value: T) -> T {
    value
}

#[kernel]
fn by_thread<A: Element, R: Element>(
    out: &mut TileTensor<R, 1>,
    a: &TileTensor<A, 1>,
    operation: impl Fn(A) -> R,
) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < a.dim(0) {
        out[i] = operation(a[i]);
    }
}

#[kernel]
fn by_lanes<A: Element, R: Element>(
    out: &mut TileTensor<R, 1>,
    a: &TileTensor<A, 1>,
    #[comptime] lanes: usize,
    operation: impl Fn(A) -> R,
) {
    out.store(0, operation(a.load(0, lanes)));
}

/// `out` is what a scalar argument gives, then what a constant gives.
#[kernel]
fn alone<A: Element, R: Element>(
    out: &mut TileTensor<R, 1>,
    scalar: A,
    #[comptime] plain: A,
    operation: impl Fn(A) -> R,
) {
    out[0] = operation(scalar);
    out[1] = operation(constant(plain));
}

#[kernel]
fn pair_by_lanes<A: Element, B: Element, R: Element>(
    out: &mut TileTensor<R, 1>,
    a: &TileTensor<A, 1>,
    b: &TileTensor<B, 1>,
    #[comptime] lanes: usize,
    operation: impl Fn(A, B) -> R,
) {
    out.store(0, operation(a.load(0, lanes), b.load(0, lanes)));
}

/// `out` is what two buffers, two scalars, two constants, a constant and a buffer, a buffer and a constant give.
#[kernel]
fn pair<A: Element, B: Element, R: Element>(
    out: &mut TileTensor<R, 1>,
    a: &TileTensor<A, 1>,
    b: &TileTensor<B, 1>,
    scalar_a: A,
    scalar_b: B,
    #[comptime] plain_a: A,
    #[comptime] plain_b: B,
    operation: impl Fn(A, B) -> R,
) {
    out[0] = operation(a[0], b[0]);
    out[1] = operation(scalar_a, scalar_b);
    out[2] = operation(constant(plain_a), constant(plain_b));
    out[3] = operation(constant(plain_a), b[0]);
    out[4] = operation(a[0], constant(plain_b));
}

/// Results of `operation` on each of `inputs`, the same in all ways but as lanes: for operations that branch.
pub(crate) fn unary_branching<A: Element + Debug, R: Element + Debug>(
    ctx: &DeviceContext,
    operation: impl Fn(Val<A>) -> Val<R> + Copy,
    inputs: &[A],
) -> tilewise::Result<Vec<R>> {
    let a = vector(ctx, inputs)?;
    let mut out = zeros(ctx, inputs.len())?;
    let launch = by_thread(&mut out, &a, operation);
    ctx.enqueue_function(launch, grid_dim(inputs.len().div_ceil(32)), block_dim(32))?;
    let results = out.to_host()?.into_vec();
    for (&input, &result) in inputs.iter().zip(&results) {
        let mut out = zeros(ctx, 2)?;
        ctx.enqueue_function(alone(&mut out, input, input, operation), grid_dim(1), block_dim(1))?;
        assert_same(&out.to_host()?, &[result; 2], &format!("scalar and constant {input:?} against buffers"));
    }
    Ok(results)
}

/// Results of `operation` on each of `inputs`, the same in all ways.
pub(crate) fn unary<A: Element + Debug, R: Element + Debug>(
    ctx: &DeviceContext,
    operation: impl Fn(Val<A>) -> Val<R> + Copy,
    inputs: &[A],
) -> tilewise::Result<Vec<R>> {
    let results = unary_branching(ctx, operation, inputs)?;
    for (inputs, results) in inputs.chunks(8).zip(results.chunks(8)) {
        let mut out = zeros(ctx, inputs.len())?;
        let a = vector(ctx, inputs)?;
        ctx.enqueue_function(by_lanes(&mut out, &a, inputs.len(), operation), grid_dim(1), block_dim(1))?;
        assert_same(&out.to_host()?, results, &format!("{inputs:?} as lanes against threads"));
    }
    Ok(results)
}

/// Results of `operation` on each of `inputs`, the same in all ways but as lanes: for operations that branch.
pub(crate) fn binary_branching<A: Element + Debug, B: Element + Debug, R: Element + Debug>(
    ctx: &DeviceContext,
    operation: impl Fn(Val<A>, Val<B>) -> Val<R> + Copy,
    inputs: &[(A, B)],
) -> tilewise::Result<Vec<R>> {
    let mut results = Vec::new();
    for &(a, b) in inputs {
        let (left, right) = (vector(ctx, &[a])?, vector(ctx, &[b])?);
        let mut out = zeros(ctx, 5)?;
        let launch = pair(&mut out, &left, &right, a, b, a, b, operation);
        ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
        let ways = out.to_host()?;
        assert_same(&ways, &[ways[0]; 5], &format!("{a:?} and {b:?} in all ways against buffers"));
        results.push(ways[0]);
    }
    Ok(results)
}

/// Results of `operation` on each of `inputs`, the same in all ways.
pub(crate) fn binary<A: Element + Debug, B: Element + Debug, R: Element + Debug>(
    ctx: &DeviceContext,
    operation: impl Fn(Val<A>, Val<B>) -> Val<R> + Copy,
    inputs: &[(A, B)],
) -> tilewise::Result<Vec<R>> {
    let results = binary_branching(ctx, operation, inputs)?;
    for (inputs, results) in inputs.chunks(8).zip(results.chunks(8)) {
        let (left, right): (Vec<A>, Vec<B>) = inputs.iter().copied().unzip();
        let (left, right) = (vector(ctx, &left)?, vector(ctx, &right)?);
        let mut out = zeros(ctx, inputs.len())?;
        let launch = pair_by_lanes(&mut out, &left, &right, inputs.len(), operation);
        ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
        assert_same(&out.to_host()?, results, &format!("{inputs:?} as lanes against one by one"));
    }
    Ok(results)
}
