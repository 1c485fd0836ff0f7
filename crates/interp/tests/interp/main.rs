//! Kernels and their right answers: each is run as written, prepared and optimised, with one to three workers, and
//! everything that can be seen from outside has to be the same.

mod atomics;
mod barriers;
mod control;
mod device;
mod divergence;
mod faults;
mod launch;
mod memory;
mod observing;
mod printing;
mod values;
mod waiting;
mod warps;

#[path = "../../../ir/tests/support/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the IR, which use all of it")]
mod support;
