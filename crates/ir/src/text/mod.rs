//! The text of the IR: [`Kernel`] prints as text, and the text parses back to the same kernel, up to the numbers of
//! values and labels ([`Kernel::renumber`] makes them the same).
//!
//! [`Kernel`] is `Display` and `FromStr`; [`Kernel::with_spans`] prints the user's positions too.
//!
//! ```text
//! ; out[i] = sum of a[i * 4 ..][..4]
//! kernel @sum4(%out: tensor<f32, 1, mut>, %a: tensor<f32, 1>, %n: index) {
//!   shared %tile: array<f32, 64>
//!   %0 = thread_idx.x
//!   %1 = scalar %n
//!   %2 = lt %0, %1
//!   if %2 {
//!     %3 = const index 4
//!     %4 = mul %0, %3
//!     %5 = extent %a.0
//!     %6 = load %a[%4] if (0: %4 < %5) align 16 : f32x4
//!     %7 = const f32 0.0
//!     %8 = const index 0
//!     %9 = const index 1
//!     %10 = for ^0 %11 = %8 to %3 step %9 carry (%12 = %7) {
//!       %13 = extract %6[0]
//!       %14 = add %12, %13
//!       continue ^0 %14
//!     }
//!     store %out[%0], %10
//!   }
//!   return
//! }
//! ```
//!
//! # Syntax
//!
//! An operation ends with its line; `;` starts a comment. `%` is a value, a parameter or an allocation; `^` is a loop.
//!
//! ```text
//! kernel     = "kernel" "@"name "(" {param ","} ")" ["no_contract"] "{" {alloc} {operation} "}"
//! param      = %name ":" (scalar | "tensor" "<" scalar "," rank ["," "mut"] ["," "aliased"] ">")
//! alloc      = ("shared" | "local") %name ":" "array" "<" type "," length ">"
//! type       = scalar | scalar"x"lanes                         f32, f32x4, index, bool, bf16x8, ...
//! operation  = [%result {"," %result} "="] op [":" type {"," type}] [block ...] [position]
//! position   = "@"file ":" line ":" column
//!
//! const f32 0.5 | const index 8 | const bool true              also inf, -inf, nan; 0x... gives the bits
//! thread_idx.x | block_idx.y | block_dim.z | grid_dim.x
//! scalar %size | extent %a.0 | stride %a.1
//! neg %0 | add %0, %1 | lt %0, %1 | mul_add %0, %1, %2 | select %c, %0, %1      and all others of their kinds
//! cast %0 to f32 | bitcast %0 to u32
//! splat %0 x 4 | pack %0, %1 | extract %0[1]
//! load  %a[%offset]         ACCESS : f32x4
//! store %a[%offset], %value ACCESS
//! atomic_load device acquire %a[%offset] ACCESS                 scope and ordering
//! atomic_store, atomic_add, atomic_min, ..., atomic_exchange, atomic_cas  likewise, with their values
//! ACCESS     = ["if" "(" {dim ":" %index "<" %extent ","} ")"] ["lane" dim] ["align" bytes]
//! fence device acq_rel | barrier
//! print "x = {}, {:>8.3}", %0, %1 | assert %c, "text {}", %0    Rust's format strings
//! if %c {...} else {...}
//! loop ^0 carry (%param = %initial, ...) {...}
//! for ^0 %i = %lo to %hi step %step carry (%param = %initial, ...) {...}
//! yield %0, %1 | break ^0 %0, %1 | continue ^0 %0, %1 | return
//! ```
//!
//! - The types of results follow `:` where operands do not determine them, so always for `load`, and for `if` and
//!   `loop` with results. Elsewhere they may be written, and then are taken as they stand, right or wrong.
//! - A block of an `if` with no results ends with a plain `yield` if no terminator stands there; so neither that nor
//!   `else { yield }` need be written.
//! - Values and labels have numbers when printed, and may have names when parsed. Printed numbers are in the order in
//!   which the text defines them, whatever the numbers in the [`Kernel`] are.
//! - Names that are not identifiers stand in quotes: `%"0"`. The second of two parameters or allocations of one name
//!   `x` is `%x#1`, and so on; what follows `#` is not part of the name.
//! - In a format, `{:*~8}` is fill `*` with the default alignment, which Rust has no way to write. `{{` is a brace,
//!   in a fill too. Texts that stand next to each other in a format print, and so parse back, as one.
//! - A float prints as the decimal of fewest digits that rounds to it, so each constant keeps its bits; decimals for
//!   `f16` and `bf16` are rounded through `f64`.
//!
//! What parses need not be valid: [`verify`](crate::verify) is for that. Any operation takes any list of operands
//! here, so that the verifier's tests can be text.

mod error;
mod format;
pub(crate) mod infer;
mod lex;
mod names;
mod number;
mod parse;
mod parse_op;
pub(crate) mod print;

pub use error::{FormatProblem, ParseError, ParseErrorKind};
pub use parse::{MAX_DEPTH, parse, parse_all};
pub use print::WithSpans;

use crate::kernel::Kernel;
use std::str::FromStr;

impl FromStr for Kernel {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Kernel, ParseError> {
        parse(text)
    }
}
