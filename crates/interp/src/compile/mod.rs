//! From a kernel to linear [`Code`].
//!
//! The order: which loops may wait ([`waits`]), which values are uniform ([`uniform`]), which are needed and how long
//! they live ([`live`]), then code and registers ([`emit`], [`registers`]). All work on the operations as a table
//! ([`index`]).

mod emit;
mod index;
mod live;
mod registers;
mod uniform;
mod waits;

use tilewise_ir::Kernel;

use crate::code::Code;
use emit::Emitter;
use index::Index;
use live::Live;
use uniform::Uniform;

/// Flattens a kernel that the verifier lets through.
pub(crate) fn compile(kernel: &Kernel) -> Code {
    let index = Index::new(kernel);
    let waits = waits::waiting_loops(&index);
    let mut uniform = Uniform::new(&index, false);
    let fair = waits::needs_fairness(&index, &uniform, &waits);
    if fair {
        uniform = Uniform::new(&index, true);
    }
    let live = Live::new(&index, &uniform);
    Emitter::new(&index, &uniform, &live, &waits, fair).emit()
}
