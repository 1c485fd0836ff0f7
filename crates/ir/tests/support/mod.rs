//! What tests of the IR share: a reference evaluator, a generator of random kernels, and how many
//! threads run one of them.

pub(crate) mod arithmetic;
pub(crate) mod generate;
pub(crate) mod many;
pub(crate) mod random;
pub(crate) mod reference;
