//! [`Launch`]: a kernel with the arguments of one launch.
//!
//! [`builder`] takes the arguments and is what the macros' code calls; [`args`] are the tensors of a kernel's signature,
//! [`capture`] what a `kernel!` takes from its surroundings, [`dims`] how many blocks and threads.

pub(crate) mod args;
pub(crate) mod builder;
pub(crate) mod capture;
pub(crate) mod dims;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;
use tilewise_ir::{Kernel, ParamKind};
use tilewise_stage::{Val, record};

use crate::device::ArgValue;
use crate::error::Result;
use crate::launch::builder::LaunchBuilder;
use crate::storage::Storage;

/// A kernel with its arguments: what calling a `#[kernel]` function gives.
///
/// [`enqueue_function`](crate::DeviceContext::enqueue_function) runs it. It borrows its arguments until then.
#[must_use = "nothing runs until the launch is enqueued: `ctx.enqueue_function(launch, grid_dim(..), block_dim(..))?`"]
pub struct Launch<'k> {
    name: &'static str,
    params: Vec<LaunchParam>,
    describe: Box<dyn FnOnce() + 'k>,
    contract: bool,
    checked: bool,
}

/// The body of an elementwise kernel with its arguments: what `kernel!(|[i, j]| ...)` gives.
///
/// [`elementwise`](crate::elementwise) runs it for each index. It borrows its arguments until then.
#[must_use = "nothing runs until it is given to `elementwise`"]
pub struct IndexBody<'k, const RANK: usize> {
    pub(crate) builder: LaunchBuilder<'k>,
    pub(crate) body: DescribeIndex<'k, RANK>,
}

/// Describes the work at an index: the number of neighbouring elements along the last dimension that it is done for at
/// once, and the index of the first.
pub(crate) type DescribeIndex<'k, const RANK: usize> = Box<dyn Fn(usize, [Val<usize>; RANK]) + 'k>;

/// A parameter of a launch with its argument.
#[derive(Debug)]
pub(crate) struct LaunchParam {
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: ParamKind,
    pub(crate) value: ArgValue,
}

/// A tensor argument: which memory, and where in it.
#[derive(Clone, Debug)]
pub(crate) struct TensorValue {
    pub(crate) storage: Arc<Storage>,
    /// Number of the storage's element that is the tensor's first.
    pub(crate) offset: u64,
    pub(crate) extents: SmallVec<[u64; 4]>,
    pub(crate) strides: SmallVec<[u64; 4]>,
}

impl<'k> Launch<'k> {
    pub(crate) fn new(
        name: &'static str,
        params: Vec<LaunchParam>,
        describe: Box<dyn FnOnce() + 'k>,
    ) -> Launch<'k> {
        Launch { name, params, describe, contract: true, checked: true }
    }

    /// Name of the kernel.
    pub fn name(&self) -> &str {
        self.name
    }

    pub(crate) fn params(&self) -> &[LaunchParam] {
        &self.params
    }

    /// The launch without fused multiply-add: `a * b + c` rounds twice, as on the host. It is for comparing results bit by
    /// bit; contraction is faster and rounds less.
    pub fn no_contraction(mut self) -> Launch<'k> {
        self.contract = false;
        self
    }

    /// The launch without bounds checks: no access is compared with the extents of its tensor.
    ///
    /// ```
    /// # use tilewise_runtime::{Launch, LaunchBuilder};
    /// # fn copy<'k>() -> Launch<'k> { LaunchBuilder::new("copy").describe(|| {}) }
    /// // SAFETY: every index is below the extents, as the grid is exactly as large as the tensors.
    /// let launch = unsafe { copy().unchecked() };
    /// # drop(launch);
    /// ```
    ///
    /// # Safety
    ///
    /// Every access of every thread must be inside its tensor. On a GPU an access outside reads or overwrites other
    /// memory of the process. The CPU device refuses to leave the tensor's buffer and reports a fault.
    // The declaration is unsafe, for the caller has something to prove; there is no unsafe block.
    #[expect(unsafe_code, reason = "the contract is the caller's, and holds on the device")]
    pub unsafe fn unchecked(mut self) -> Launch<'k> {
        self.checked = false;
        self
    }

    /// Describes the kernel, and gives what would be compiled, before any pass. It prints as text.
    ///
    /// ```
    /// use tilewise_runtime::LaunchBuilder;
    ///
    /// let launch = LaunchBuilder::new("wait").describe(tilewise_stage::barrier);
    /// assert_eq!(launch.into_kernel()?.op_count(), 2); // the barrier, the return
    /// # Ok::<(), tilewise_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Stage`](crate::Error::Stage) names the place in the kernel that is wrong.
    pub fn into_kernel(self) -> Result<Kernel> {
        self.into_parts().map(|(kernel, _)| *kernel)
    }

    /// The described kernel, and its parameters with the arguments.
    pub(crate) fn into_parts(self) -> Result<(Box<Kernel>, Vec<LaunchParam>)> {
        let Launch { name, params, describe, contract, checked } = self;
        let kinds: Vec<(&str, ParamKind)> =
            params.iter().map(|param| (&*param.name, param.kind.clone())).collect();
        let mut kernel = record(name, &kinds, describe)?;
        kernel.contract = contract;
        if !checked {
            drop_bounds_checks(&mut kernel);
        }
        Ok((kernel, params))
    }
}

/// Takes the pairs of index and extent out of all accesses.
fn drop_bounds_checks(kernel: &mut Kernel) {
    kernel.body.visit_mut(&mut |inst| {
        if let Some(args) = inst.op.access_args()
            && let Some(access) = inst.op.access_mut()
        {
            access.bounds.clear();
            inst.args.truncate(args);
        }
    });
}

impl fmt::Debug for Launch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("name", &self.name)
            .field("params", &self.params)
            .field("contract", &self.contract)
            .field("checked", &self.checked)
            .finish_non_exhaustive()
    }
}

impl<const RANK: usize> fmt::Debug for IndexBody<'_, RANK> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexBody").field("builder", &self.builder).finish_non_exhaustive()
    }
}
