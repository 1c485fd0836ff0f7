//! What tests of the IR share: a reference evaluator, and a generator of random kernels.

pub(crate) mod arithmetic;
pub(crate) mod generate;
pub(crate) mod random;
pub(crate) mod reference;
