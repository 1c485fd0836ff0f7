//! Thread 0 waits for a flag that the others set when it is through.
use tilewise::prelude::*;

#[kernel]
pub(crate) fn signal(flag: &mut TileTensor<i32, 1>) {
    if thread_idx().x == 0 {
        while flag.atomic(0).load() == 0 {}
    }
    barrier();
    flag.atomic(0).store(1);
}
