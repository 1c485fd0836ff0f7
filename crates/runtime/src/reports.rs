//! Reports of checked launches, until somebody asks for them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tilewise_check::Report;

/// The most reports that are kept: a program that never asks must not fill the memory with them.
const CAPACITY: usize = 256;

/// What gets the reports in place of [`Reports`].
#[derive(Clone)]
pub(crate) struct ReportSink(Arc<Mutex<dyn FnMut(Report) + Send>>);

impl ReportSink {
    pub(crate) fn new(sink: impl FnMut(Report) + Send + 'static) -> ReportSink {
        ReportSink(Arc::new(Mutex::new(sink)))
    }

    pub(crate) fn add(&self, report: Report) {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sink(report);
    }
}

impl fmt::Debug for ReportSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FnMut(Report)")
    }
}

/// Where the report of a launch goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReportTo<'a> {
    /// To the others of its context.
    Kept(&'a Reports),
    /// To a sink.
    Sink(&'a ReportSink),
}

impl ReportTo<'_> {
    pub(crate) fn add(self, report: Report) {
        match self {
            ReportTo::Kept(reports) => reports.add(report),
            ReportTo::Sink(sink) => sink.add(report),
        }
    }
}

/// What checked launches of a context have found.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The first report with an error that nobody was told of.
    untold: Option<Report>,
    kept: VecDeque<Report>,
}

impl Reports {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the report of a launch, if there is anything in it.
    pub(crate) fn add(&self, report: Report) {
        if report.findings.is_empty() && report.not_modelled.is_empty() {
            return;
        }
        let mut state = self.lock();
        if state.untold.is_none() && report.first_error().is_some() {
            state.untold = Some(report.clone());
        }
        if state.kept.len() == CAPACITY {
            state.kept.pop_front();
        }
        state.kept.push_back(report);
    }

    /// The first report with an error since this was last asked.
    pub(crate) fn untold(&self) -> Option<Report> {
        self.lock().untold.take()
    }

    /// All reports since this was last asked, the oldest first.
    pub(crate) fn take(&self) -> Vec<Report> {
        self.lock().kept.drain(..).collect()
    }
}
