//! The attribute and function macros of tilewise kernels.
//!
//! They rewrite a Rust function so that, run on the host, it describes a kernel (crate `tilewise-stage`). Their whole
//! job is syntax that Rust cannot overload: comparisons, `&&`, `as`, indexing, assignment, control flow, `println!`.
//! Everything else is passed through. A macro goes through three steps: parse (syn), check (errors on the user's own
//! tokens), expand (calls of `::tilewise::__private`).
//!
//! Use them through the crate `tilewise`, which documents the language.

mod body;
mod closure;
mod device;
mod kernel;
mod signature;

use proc_macro::TokenStream;

/// Makes a function a kernel: calling it gives a `Launch`, which `DeviceContext::enqueue_function` runs.
///
/// Parameters: `&TileTensor<T, R>` (read), `&mut TileTensor<T, R>` (written), numbers and `bool` (one value for the
/// launch), and anything with `#[comptime]` before it (a plain value while the kernel is described).
///
/// ```ignore
/// #[kernel]
/// fn scale(output: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, factor: f32) {
///     let i = block_dim().x * block_idx().x + thread_idx().x;
///     if i < a.dim(0) {
///         output[i] = factor * a[i];
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attribute.into(), item.into()).into()
}

/// Makes a function, a method, a whole `impl` or `trait`, a struct or a fieldless enum usable in kernels.
///
/// Functions are described in place at each call. Fields of a struct become values of the kernel; an enum becomes a
/// number.
#[proc_macro_attribute]
pub fn device(attribute: TokenStream, item: TokenStream) -> TokenStream {
    device::expand(attribute.into(), item.into()).into()
}

/// A kernel as a closure over tensors of the host, for `elementwise`.
///
/// The list names what the kernel works on: tensors that it writes with `mut`, tensors that it reads, and numbers that
/// may change from launch to launch. Other variables of the host are constants of the kernel.
///
/// ```ignore
/// elementwise(&ctx, 4, [n], kernel!([mut output, a, b] |[i]| output[i] = a[i] + b[i]))?;
/// elementwise(&ctx, 4, [n], kernel!([mut output, a, b] |width, [i]| {
///     output.store(i, a.load(i, width) + b.load(i, width));
/// }))?;
/// ```
///
/// With `|[i]|` the index stands for all lanes of the SIMD width; with `|width, [i]|` it is that of the first lane.
#[proc_macro]
pub fn kernel_closure(input: TokenStream) -> TokenStream {
    closure::expand(input.into()).into()
}
