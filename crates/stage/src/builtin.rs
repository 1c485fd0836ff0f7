//! Where a thread is, barriers, fences.

use std::panic::Location;

use tilewise_ir::{Axis, Builtin, Op, Type};

use crate::recorder;
use crate::val::Val;

pub use tilewise_ir::{Ordering, Scope};

/// A number for each of the three axes.
#[derive(Clone, Copy, Debug)]
pub struct Dim3 {
    /// The fastest axis: neighbouring threads differ in it.
    pub x: Val<usize>,
    /// The second axis.
    pub y: Val<usize>,
    /// The slowest axis.
    pub z: Val<usize>,
}

macro_rules! builtins {
    ($($(#[$doc:meta])* $name:ident $builtin:ident;)*) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $name() -> Dim3 {
            let location = Location::caller();
            let axis = |axis| {
                Val::from_raw(recorder::emit(location, Op::Builtin(Builtin::$builtin, axis), [], Type::INDEX))
            };
            Dim3 { x: axis(Axis::X), y: axis(Axis::Y), z: axis(Axis::Z) }
        }
    )*};
}

builtins! {
    /// Position of the thread in its block.
    thread_idx ThreadIdx;
    /// Position of the block in the grid.
    block_idx BlockIdx;
    /// Number of threads of a block along each axis.
    block_dim BlockDim;
    /// Number of blocks of the grid along each axis.
    grid_dim GridDim;
}

/// Waits until all threads of the block are at this barrier, but for those that have returned early. What they wrote to
/// shared and global memory before it, all of them see after it. Threads that wait elsewhere, or go past the barrier to the
/// end of the kernel, are a fault.
#[track_caller]
pub fn barrier() {
    recorder::emit_void(Location::caller(), Op::Barrier, []);
}

/// Orders this thread's accesses to memory before the fence with those after it, for the threads of `scope`.
#[track_caller]
pub fn fence(scope: Scope, ordering: Ordering) {
    recorder::emit_void(Location::caller(), Op::Fence(scope, ordering), []);
}
