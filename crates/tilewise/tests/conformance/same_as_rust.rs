//! One text, run as Rust on the host and as a kernel on the device: both must give the same.

use std::fmt::Debug;

use tilewise::prelude::*;

use crate::harness::{assert_same, bits, each_device, vector, zeros};
use crate::operands::{binary_branching, unary_branching};

/// Makes a test of each function: it is compiled as it stands and with `#[device]`, and both have to give the same for
/// each of the inputs.
///
/// ```ignore
/// same_as_rust! {
///     fn twice(x: i32) -> i32 {
///         x + x
///     }
///     for [1, -1, 7];
/// }
/// ```
macro_rules! same_as_rust {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident($a:ident: $first:tt $(, $b:ident: $second:tt)?) -> $result:tt { $($body:tt)* }
        for $inputs:expr;
    )*) => {$(
        #[test]
        $(#[$attribute])*
        fn $name() {
            #[allow(unused_assignments, clippy::all, reason = "the text is about the language, not about style")]
            fn in_rust($a: $first $(, $b: $second)?) -> $result { $($body)* }

            #[device]
            fn in_kernel($a: $first $(, $b: $second)?) -> $result { $($body)* }

            same_as_rust!(@compare $inputs, $first $(, $second)?);
        }
    )*};
    (@compare $inputs:expr, $first:tt) => {
        $crate::same_as_rust::one_parameter::<$first, _>(&$inputs, in_rust, in_kernel);
    };
    (@compare $inputs:expr, $first:tt, $second:tt) => {
        $crate::same_as_rust::two_parameters::<$first, $second, _>(&$inputs, in_rust, in_kernel);
    };
}

#[kernel]
fn map<A: Element, R: Element>(out: &mut TileTensor<R, 1>, a: &TileTensor<A, 1>, function: impl Fn(A) -> R) {
    let i = block_dim().x * block_idx().x + thread_idx().x;
    if i < out.dim(0) {
        out[i] = function(a[i]);
    }
}

/// Compares on each input, given in all ways, and on several sizes of grids whose threads take different ways.
pub(crate) fn one_parameter<A: Element + Debug, R: Element + Debug>(
    inputs: &[A],
    in_rust: impl Fn(A) -> R,
    in_kernel: impl Fn(Val<A>) -> Val<R> + Copy,
) {
    let expected: Vec<R> = inputs.iter().map(|&input| in_rust(input)).collect();
    each_device(|ctx| {
        let found = unary_branching(ctx, in_kernel, inputs)?;
        assert_same(&found, &expected, &format!("on {inputs:?}"));
        for (len, block) in [(1, 1), (inputs.len() * 5 + 1, 32), (200, 7)] {
            let cycled: Vec<A> = inputs.iter().copied().cycle().take(len).collect();
            let a = vector(ctx, &cycled)?;
            let mut out = zeros(ctx, len)?;
            let grid = grid_dim(len.div_ceil(block));
            ctx.enqueue_function(map(&mut out, &a, in_kernel), grid, block_dim(block))?;
            let expected: Vec<R> = expected.iter().copied().cycle().take(len).collect();
            assert_same(&out.to_host()?, &expected, &format!("{len} threads in blocks of {block}"));
        }
        Ok(bits(&found))
    });
}

/// Compares on each pair of inputs, given in all ways.
pub(crate) fn two_parameters<A: Element + Debug, B: Element + Debug, R: Element + Debug>(
    inputs: &[(A, B)],
    in_rust: impl Fn(A, B) -> R,
    in_kernel: impl Fn(Val<A>, Val<B>) -> Val<R> + Copy,
) {
    let expected: Vec<R> = inputs.iter().map(|&(a, b)| in_rust(a, b)).collect();
    each_device(|ctx| {
        let found = binary_branching(ctx, in_kernel, inputs)?;
        assert_same(&found, &expected, &format!("on {inputs:?}"));
        Ok(bits(&found))
    });
}
