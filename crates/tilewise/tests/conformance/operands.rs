//! One operation, its operands given in all ways in which a kernel can get them: from buffers thread by thread, from
//! buffers as lanes of a SIMD value, as scalar arguments, as constants, and mixed. All ways must give the same bits.

use std::fmt::Debug;

use tilewise::ir::Scalar;
use tilewise::prelude::*;

use crate::harness::{Need, assert_same, has, vector, zeros};

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

#[kernel]
fn by_scalar<A: Element, R: Element>(out: &mut TileTensor<R, 1>, scalar: A, operation: impl Fn(A) -> R) {
    out[0] = operation(scalar);
}

#[kernel]
fn by_constant<A: Element, R: Element>(
    out: &mut TileTensor<R, 1>,
    #[comptime] constants: Vec<A>,
    operation: impl Fn(A) -> R,
) {
    for (i, plain) in comptime(constants.into_iter().enumerate()) {
        out[i] = operation(constant(plain));
    }
}

#[kernel]
fn pair_by_thread<A: Element, B: Element, R: Element>(
    out: &mut TileTensor<R, 1>,
    a: &TileTensor<A, 1>,
    b: &TileTensor<B, 1>,
    operation: impl Fn(A, B) -> R,
) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < a.dim(0) {
        out[i] = operation(a[i], b[i]);
    }
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

#[kernel]
fn pair_by_scalars<A: Element, B: Element, R: Element>(
    out: &mut TileTensor<R, 1>,
    scalar_a: A,
    scalar_b: B,
    operation: impl Fn(A, B) -> R,
) {
    out[0] = operation(scalar_a, scalar_b);
}

/// A row of `out` is what two buffers, two constants, a constant and a buffer, a buffer and a constant give.
#[kernel]
fn pair_by_constants<A: Element, B: Element, R: Element>(
    out: &mut TileTensor<R, 2>,
    a: &TileTensor<A, 1>,
    b: &TileTensor<B, 1>,
    #[comptime] constants: Vec<(A, B)>,
    operation: impl Fn(A, B) -> R,
) {
    for (i, (plain_a, plain_b)) in comptime(constants.into_iter().enumerate()) {
        out[[i, 0]] = operation(a[i], b[i]);
        out[[i, 1]] = operation(constant(plain_a), constant(plain_b));
        out[[i, 2]] = operation(constant(plain_a), b[i]);
        out[[i, 3]] = operation(a[i], constant(plain_b));
    }
}

/// How many constants a kernel has: one for each would take a GPU's compiler minutes.
const CONSTANTS: usize = 16;

/// How many there are where a compiler is slow.
const FEW_CONSTANTS: usize = 2;

/// The operands that are given as constants: all, in as many kernels as that takes, or some in one kernel, or none.
fn as_constants<'a, T>(ctx: &DeviceContext, scalar: Scalar, inputs: &'a [T]) -> std::slice::Chunks<'a, T> {
    if scalar == Scalar::F64 && !has(ctx, Need::FusedDoubles) {
        return inputs[..0].chunks(CONSTANTS);
    }
    if inputs.len() > FEW_CONSTANTS && !has(ctx, Need::FastCompiler) {
        return inputs[..FEW_CONSTANTS].chunks(FEW_CONSTANTS);
    }
    inputs.chunks(CONSTANTS)
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
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(by_scalar(&mut out, input, operation), grid_dim(1), block_dim(1))?;
        assert_same(&out.to_host()?, &[result], &format!("scalar {input:?} against buffers"));
    }
    let mut rest = &results[..];
    for inputs in as_constants(ctx, A::SCALAR, inputs) {
        let (expected, behind) = rest.split_at(inputs.len());
        rest = behind;
        let mut out = zeros(ctx, inputs.len())?;
        let launch = by_constant(&mut out, inputs.to_vec(), operation);
        ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
        assert_same(&out.to_host()?, expected, &format!("constants {inputs:?} against buffers"));
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
    let (left, right): (Vec<A>, Vec<B>) = inputs.iter().copied().unzip();
    let (left, right) = (vector(ctx, &left)?, vector(ctx, &right)?);
    let mut out = zeros(ctx, inputs.len())?;
    let launch = pair_by_thread(&mut out, &left, &right, operation);
    ctx.enqueue_function(launch, grid_dim(inputs.len().div_ceil(32)), block_dim(32))?;
    let results = out.to_host()?.into_vec();
    let mut rest = &results[..];
    for inputs in as_constants(ctx, A::SCALAR, inputs) {
        let (expected, behind) = rest.split_at(inputs.len());
        rest = behind;
        let (left, right): (Vec<A>, Vec<B>) = inputs.iter().copied().unzip();
        let (left, right) = (vector(ctx, &left)?, vector(ctx, &right)?);
        let mut out = ctx.zeros(row_major([inputs.len(), 4]))?;
        let launch = pair_by_constants(&mut out, &left, &right, inputs.to_vec(), operation);
        ctx.enqueue_function(launch, grid_dim(1), block_dim(1))?;
        for (((a, b), ways), &result) in inputs.iter().zip(out.to_host()?.chunks(4)).zip(expected) {
            assert_same(ways, &[result; 4], &format!("{a:?} and {b:?} in all ways against threads"));
        }
    }
    for (&(a, b), &result) in inputs.iter().zip(&results) {
        let mut out = zeros(ctx, 1)?;
        ctx.enqueue_function(pair_by_scalars(&mut out, a, b, operation), grid_dim(1), block_dim(1))?;
        assert_same(&out.to_host()?, &[result], &format!("scalars {a:?} and {b:?} against buffers"));
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
