//! Functions that a module brings along: for reports (how they lie in memory is said at [`site`](crate::site)), and
//! the remainder of floats.

/// A function, in the order in which they stand in a module. None calls another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Function {
    /// Counts a fault and looks whether it is the first so far. If so, it locks the record, fills its head, and gives
    /// the address of its values, which the caller writes. Else it gives 0.
    ///
    /// The lock is a counter that is odd while somebody writes. What is read of the record while the counter stays
    /// even and the same belongs together; so a fault that comes after the recorded one takes no lock.
    OpenFault,
    /// Releases the record.
    CloseFault,
    /// Reports a fault of at most two values in one call, which takes fewer registers of the caller.
    Fault,
    /// Reserves room for a line and writes its head. Gives the address of its values, or 0 if there is no room.
    Line,
    /// The remainder of two `f64`, by long division of their digits.
    Rem,
}

impl Function {
    /// All functions, in order.
    pub(crate) const ALL: [Function; 5] =
        [Function::OpenFault, Function::CloseFault, Function::Fault, Function::Line, Function::Rem];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Function::OpenFault => "tilewise_open_fault",
            Function::CloseFault => "tilewise_close_fault",
            Function::Fault => "tilewise_fault",
            Function::Line => "tilewise_line",
            Function::Rem => "tilewise_rem",
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Function::OpenFault => concat!(
                include_str!("function/open_fault_start.ptx"),
                include_str!("function/lock.ptx"),
                include_str!("function/open_fault_end.ptx"),
            ),
            Function::CloseFault => include_str!("function/close_fault.ptx"),
            Function::Fault => concat!(
                include_str!("function/fault_start.ptx"),
                include_str!("function/lock.ptx"),
                include_str!("function/fault_end.ptx"),
            ),
            Function::Line => include_str!("function/line.ptx"),
            Function::Rem => include_str!("function/rem.ptx"),
        }
    }

    /// Whether it is called only where something is reported.
    fn reports(self) -> bool {
        match self {
            Function::OpenFault | Function::CloseFault | Function::Fault | Function::Line => true,
            Function::Rem => false,
        }
    }
}

/// The text of a module with nothing in the functions that report; `None` if it has none.
pub(crate) fn without_reports(text: &str) -> Option<String> {
    let mut silent = None;
    for function in Function::ALL.into_iter().filter(|function| function.reports()) {
        let text = silent.as_deref().unwrap_or(text);
        if text.contains(function.text()) {
            let head = function.text().lines().next().unwrap_or_default();
            silent = Some(text.replacen(function.text(), &format!("{head}\n{{\n\tret;\n}}\n"), 1));
        }
    }
    silent
}
