//! Faults of kernels that have run: the first is kept, the others are counted, until somebody asks.

use std::fmt;
use std::mem;

use tilewise_ir::Fault;

/// The first fault since the context was last asked, and how many followed it.
///
/// ```
/// use tilewise_ir::{Fault, FaultKind};
/// use tilewise_runtime::FaultReport;
///
/// let fault = Fault { kind: FaultKind::DivisionByZero, location: None, block: [0, 0, 0], thread: [3, 0, 0] };
/// let report = FaultReport { kernel: "mean".to_owned(), fault, more: 11 };
/// assert_eq!(
///     report.to_string(),
///     "division by zero (block (0, 0, 0), thread (3, 0, 0)) in kernel `mean`, and 11 more",
/// );
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FaultReport {
    /// Name of the kernel.
    pub kernel: String,
    /// What went wrong, where in the source, and in which thread.
    pub fault: Fault,
    /// How many more faults there were, each thread's counted, of all launches since the last report.
    pub more: u64,
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in kernel `{}`", self.fault, self.kernel)?;
        if self.more > 0 {
            write!(f, ", and {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for FaultReport {}

/// The faults that nobody has been told of yet.
#[derive(Debug, Default)]
pub(crate) struct PendingFaults(Option<FaultReport>);

impl PendingFaults {
    /// Adds the faults of one launch: its first, and how many there were in all.
    pub(crate) fn add(&mut self, kernel: &str, first: Fault, count: u64) {
        match &mut self.0 {
            Some(report) => report.more = report.more.saturating_add(count),
            None => {
                let more = count.saturating_sub(1);
                self.0 = Some(FaultReport { kernel: kernel.to_owned(), fault: first, more });
            }
        }
    }

    /// What there is to tell; from then on it is told.
    pub(crate) fn take(&mut self) -> Option<FaultReport> {
        mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use tilewise_ir::FaultKind;

    use super::*;

    #[test]
    fn the_first_is_kept_and_the_rest_counted() {
        let fault = |x| Fault {
            kind: FaultKind::DivisionByZero,
            location: None,
            block: [0, 0, 0],
            thread: [x, 0, 0],
        };
        let mut pending = PendingFaults::default();
        assert_eq!(pending.take(), None);
        pending.add("a", fault(1), 4);
        pending.add("b", fault(2), 8);
        let report = pending.take().unwrap();
        assert_eq!((report.kernel.as_str(), report.fault.thread[0], report.more), ("a", 1, 11));
        assert_eq!(pending.take(), None);
    }
}
