//! The kernel language.
//!
//! A function with [`#[kernel]`](macro@crate::prelude::kernel) is ordinary Rust to read. It **runs on the host when it
//! is launched, and what it does is recorded** (staging): its parameters and variables are then handles to values of
//! the device ([`Val`](crate::prelude::Val)), and each operator, index, branch or loop on them becomes an operation of
//! the kernel. What is not such a value is plain Rust that runs while the kernel is described, so generics, closures,
//! iterators and helper functions all work.
//!
//! ```
//! use tilewise::prelude::*;
//!
//! /// `y = a * x + y`, one element a thread.
//! #[kernel]
//! fn saxpy(y: &mut TileTensor<f32, 1>, x: &TileTensor<f32, 1>, a: f32) {
//!     let i = block_dim().x * block_idx().x + thread_idx().x;
//!     if i < y.dim(0) {
//!         y[i] += a * x[i];
//!     }
//! }
//!
//! let ctx = DeviceContext::new()?;
//! let x = ctx.tensor_from_fn(row_major([1000]), |[i]| i as f32)?;
//! let mut y = ctx.full(row_major([1000]), 1.0)?;
//! ctx.enqueue_function(saxpy(&mut y, &x, 2.0), grid_dim(4), block_dim(256))?;
//! assert_eq!(y.to_host()?[10], 21.0);
//! # Ok::<(), tilewise::Error>(())
//! ```
//!
//! # Parameters
//!
//! | parameter | is | given at launch |
//! | --- | --- | --- |
//! | `a: &TileTensor<T, R>` | a tensor that is read | `&tensor` |
//! | `out: &mut TileTensor<T, R>` | a tensor that is written, or read and written | `&mut tensor` |
//! | `n: usize`, `x: f32`, `flag: bool` | a number, the same for all threads | the number |
//! | `#[comptime] n: usize` | a plain value while the kernel is described: a constant of it | the value |
//! | `f: impl Fn(f32) -> f32` | a closure that is called while the kernel is described | the closure |
//!
//! Two parameters of one launch never share storage, since Rust's borrow checker refuses it; to pass one tensor as
//! input and output on purpose, split it with `in_out()`.
//!
//! # Where a thread is
//!
//! `thread_idx()`, `block_idx()`, `block_dim()` and `grid_dim()` have fields `x`, `y`, `z`. On the host, `grid_dim(..)`
//! and `block_dim(..)` with arguments are the size of a launch.
//!
//! # Types
//!
//! `bool`, `i8` to `i64`, `u8` to `u64`, `usize`, `isize`, `f16`, `bf16`, `f32`, `f64`; tuples and arrays of them;
//! structs and fieldless enums with [`#[device]`](macro@crate::device). A number is never converted by itself: write
//! `x as f32`. A plain number of the host goes with a value of the kernel of its type and is a constant there.
//!
//! A value may have several lanes (SIMD): `a.load(i, 4)` has four. Operations work lane by lane.
//!
//! # Variables and control flow
//!
//! `let` names a value. `let mut` makes a variable of the device. `if`, `match`, `while`, `loop` and `for` over a range
//! become branches and loops of the device, unless the condition is a plain `bool`: then it is decided while the kernel
//! is described.
//!
//! ```
//! use tilewise::prelude::*;
//!
//! /// How many steps the Collatz sequence from `x[i]` takes to reach 1.
//! #[kernel]
//! fn collatz(steps: &mut TileTensor<u32, 1>, x: &TileTensor<u32, 1>) {
//!     let i = thread_idx().x;
//!     let mut n = x[i];
//!     let mut k = 0;
//!     while n != 1 {
//!         n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
//!         k += 1;
//!     }
//!     steps[i] = k;
//! }
//!
//! let ctx = DeviceContext::new()?;
//! let x = ctx.tensor_from_slice(row_major([5]), &[1, 6, 7, 97, 2])?;
//! let mut steps = ctx.zeros::<u32, 1>(row_major([5]))?;
//! ctx.enqueue_function(collatz(&mut steps, &x), grid_dim(1), block_dim(5))?;
//! assert_eq!(steps.to_host()?[..], [0, 8, 16, 118, 1]);
//! # Ok::<(), tilewise::Error>(())
//! ```
//!
//! - `for i in lo..hi` (also `..=`, `.rev()`, `.step_by(n)`) is a loop of the device; nothing wraps at the ends of the
//!   type. `for k in comptime(0..4)`, and a `for` over anything else, describes its body once for each item.
//! - `break` (with a value from `loop`), `continue`, labels and early `return` work in all of them.
//! - `a && b` and `a || b` evaluate `b` only where it matters, its loads included.
//! - `match` compares with literals, ranges, constants, enum variants, alternatives and guards.
//! - `#[comptime] let mut v = Vec::new();` is a variable of the host, for code that only runs while describing.
//! - `println!` and `assert!` work; a failed assertion ends its thread and is reported by the next `synchronize`.
//!
//! # Compile time
//!
//! ```
//! use tilewise::prelude::*;
//!
//! /// A polynomial whose coefficients are constants of the kernel.
//! #[kernel]
//! fn polynomial<const N: usize>(
//!     y: &mut TileTensor<f32, 1>,
//!     x: &TileTensor<f32, 1>,
//!     #[comptime] coefficients: [f32; N],
//! ) {
//!     let i = thread_idx().x;
//!     let mut sum = 0.0;
//!     for k in comptime((0..N).rev()) {
//!         sum = sum * x[i] + coefficients[k];
//!     }
//!     y[i] = sum;
//! }
//!
//! let ctx = DeviceContext::new()?;
//! let x = ctx.tensor_from_slice(row_major([3]), &[0.0, 1.0, 2.0])?;
//! let mut y = ctx.zeros::<f32, 1>(row_major([3]))?;
//! ctx.enqueue_function(polynomial(&mut y, &x, [1.0, 0.0, 3.0]), grid_dim(1), block_dim(3))?;
//! assert_eq!(y.to_host()?[..], [1.0, 4.0, 13.0]);
//! # Ok::<(), tilewise::Error>(())
//! ```
//!
//! # Functions, structs, traits
//!
//! ```
//! use tilewise::prelude::*;
//!
//! #[device]
//! struct Complex {
//!     re: f32,
//!     im: f32,
//! }
//!
//! #[device]
//! impl Complex {
//!     fn squared(self) -> Complex {
//!         Complex { re: self.re * self.re - self.im * self.im, im: 2.0 * self.re * self.im }
//!     }
//! }
//!
//! /// After how many steps `z = z * z + c` leaves the disc of radius 2, at most `limit`.
//! #[device]
//! fn escape_time(c: Complex, limit: u32) -> u32 {
//!     let mut z = Complex { re: 0.0, im: 0.0 };
//!     for k in 0..limit {
//!         let s = z.squared();
//!         z = Complex { re: s.re + c.re, im: s.im + c.im };
//!         if z.re * z.re + z.im * z.im > 4.0 {
//!             return k;
//!         }
//!     }
//!     limit
//! }
//!
//! #[kernel]
//! fn mandelbrot(out: &mut TileTensor<u32, 1>, limit: u32) {
//!     let i = thread_idx().x;
//!     out[i] = escape_time(Complex { re: i as f32 * 0.5 - 2.0, im: 0.0 }, limit);
//! }
//!
//! let ctx = DeviceContext::new()?;
//! let mut out = ctx.zeros::<u32, 1>(row_major([8]))?;
//! ctx.enqueue_function(mandelbrot(&mut out, 50), grid_dim(1), block_dim(8))?;
//! assert_eq!(out.to_host()?[..], [50, 50, 50, 50, 50, 4, 2, 1]);
//! # Ok::<(), tilewise::Error>(())
//! ```
//!
//! `#[device]` stands above other attributes and derives `Clone` and `Copy` by itself. Structs are for values inside a
//! kernel; parameters and elements of tensors are numbers, `bool` and `#[device]` enums. A closure that is passed to a
//! kernel is plain Rust on values of the kernel: it computes and calls `select` or `#[device]` functions, and cannot
//! branch.
//!
//! A `#[device]` function is described in place at each call. It may be generic (`fn f<T: Float>(x: T) -> T`), take
//! closures and tensors, and change a variable of its caller through `&mut`.
//!
//! # Memory
//!
//! `stack_allocation::<f32, 2>(AddressSpace::Shared, row_major([16, 16]))` allocates memory of the block's threads;
//! `barrier()` waits until all of them are there. Views ([`tile`](crate::prelude::TileTensor::tile), `slice`,
//! `transpose`, `vectorize`, `distribute`, ...) are methods of [`TileTensor`](crate::prelude::TileTensor).
//!
//! `hist.atomic(i).fetch_add(1)` is atomic; `.scope(..)` and `.ordering(..)` say among which threads and in what order.
//!
//! # Warps and blocks
//!
//! The threads of a block, numbered x fastest, then y, then z, are cut into warps of `WARP_SIZE` = 32; `lane_id()` is a
//! thread's place in its warp. The functions of [`warp`](crate::prelude::warp) exchange and combine values among the lanes
//! of a warp, those of [`block`](crate::prelude::block) among all threads of a block, whatever its size.
//!
//! ```
//! use tilewise::prelude::*;
//!
//! /// A dot product, one number for each block; and how much `x` grows from each element to the next of its warp.
//! #[kernel]
//! fn dot(sums: &mut TileTensor<f32, 1>, growth: &mut TileTensor<f32, 1>, x: &TileTensor<f32, 1>) {
//!     let i = block_dim().x * block_idx().x + thread_idx().x;
//!     let v = if i < x.dim(0) { x[i] } else { 0.0 };
//!     let total = block::sum(v * v);
//!     if thread_idx().x == 0 {
//!         sums[block_idx().x] = total;
//!     }
//!     let next = warp::shuffle_down(v, 1);
//!     if i < growth.dim(0) {
//!         growth[i] = next - v;
//!     }
//! }
//!
//! let ctx = DeviceContext::new()?;
//! let x = ctx.tensor_from_fn(row_major([100]), |[i]| i as f32)?;
//! let mut sums = ctx.zeros::<f32, 1>(row_major([2]))?;
//! let mut growth = ctx.zeros::<f32, 1>(row_major([100]))?;
//! ctx.enqueue_function(dot(&mut sums, &mut growth, &x), grid_dim(2), block_dim(64))?;
//! assert_eq!(sums.to_host()?[..], [85344.0, 243006.0]);
//! // The last lane of a warp has no next one and gets its own value.
//! assert_eq!(growth.to_host()?[30..33], [1.0, 0.0, 1.0]);
//! # Ok::<(), tilewise::Error>(())
//! ```
//!
//! Lanes are not in step by themselves: `syncwarp()` is to the lanes of a warp what `barrier()` is to the threads of a block.
//!
//! # Semantics, the same on all devices
//!
//! - Integer arithmetic wraps; shift counts are taken modulo the width; `/` and `%` truncate towards zero. A division
//!   by zero gives 0 and is a fault.
//! - `as` is Rust's: float to integer truncates and saturates, NaN gives 0.
//! - Comparisons with NaN are false, but for `!=`; `min` and `max` give the operand that is not NaN.
//! - `a * b + c` is rounded once (fused) if the product is used only there, and does not stand before a loop or branch that
//!   the sum is in. `Launch::no_contraction` turns this off for a launch.
//! - **An access outside its tensor or view reads zero or writes nothing, and is a fault**, dimension by dimension. No
//!   other memory is touched.
//! - A fault does not stop the kernel. The first one (what, where, which thread) is the error of the next `synchronize`
//!   or read.
//! - Shared and local memory has no contents at first.
//! - A barrier that some threads of a block go past, or wait elsewhere instead of, is a fault, and so are threads that
//!   wait for ever. Threads that have returned early are not waited for.
//! - All lanes of a warp have to come to an operation of it, and all threads of a block to one of the block, in the same
//!   sense. A shuffle from a lane that does not exist, or has returned, gives the thread's own value and is a fault; past
//!   the edge of the warp it gives that and is none. By Vulkan, Metal and Direct3D 12 all threads of a block have to come
//!   to barriers and operations of warps together: a kernel in which a condition or loop around one differs between
//!   threads, or comes from memory, is refused with the line.
//! - `panic!` and `unreachable!` are failed assertions of the thread that gets there.
