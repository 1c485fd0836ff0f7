//! What is wanted of the launches of a context besides their results, and what came of it until somebody asks.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tilewise_check::profile::{Profile, Subject};
use tilewise_check::{Report, Wanted};

use crate::progress::{Running, Shown};

/// The most reports and the most profiles that are kept: a program that never asks must not fill the memory with them.
const CAPACITY: usize = 256;

/// What is wanted of each launch, and where it goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// What is wrong with it.
    pub(crate) report: Option<Goes<Report>>,
    /// What a profiler would count.
    pub(crate) profile: Option<Goes<Profile>>,
    /// Who shows how far it is.
    pub(crate) progress: Option<Shown>,
}

/// Where what came of a launch goes.
#[derive(Clone, Debug)]
pub(crate) enum Goes<T> {
    /// It is kept, for who asks.
    Kept,
    /// It is kept, and a sink is given it too.
    Shown(Sink<T>),
    /// To a sink.
    To(Sink<T>),
}

/// A function that is given what came of each launch.
#[derive(Clone)]
pub(crate) struct Sink<T>(Arc<Mutex<dyn FnMut(T) + Send>>);

impl<T> Sink<T> {
    pub(crate) fn new(sink: impl FnMut(T) + Send + 'static) -> Sink<T> {
        Sink(Arc::new(Mutex::new(sink)))
    }

    fn add(&self, value: T) {
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sink(value);
    }
}

impl<T> fmt::Debug for Sink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FnMut")
    }
}

impl Watch {
    /// Whether anything is wanted of launches besides their results.
    pub(crate) fn is_on(&self) -> bool {
        self.report.is_some() || self.profile.is_some()
    }
}

/// A launch of which something is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watching<'a> {
    pub(crate) watch: &'a Watch,
    pub(crate) kept: &'a Kept,
    /// The kernel, if it is profiled.
    pub(crate) subject: Option<&'a Subject>,
}

impl Watching<'_> {
    /// Tells that the launch starts, if anybody wants to know.
    pub(crate) fn start(&self, kernel: &str, grid: [u32; 3]) -> Option<Running> {
        self.watch.progress.as_ref().map(|shown| shown.start(kernel, grid))
    }

    /// What is wanted.
    pub(crate) fn wanted(&self) -> Wanted<'_> {
        Wanted { report: self.watch.report.is_some(), profile: self.subject }
    }

    /// Takes what came of the launch.
    pub(crate) fn add(self, report: Option<Report>, profile: Option<Profile>) {
        match (report, &self.watch.report) {
            (Some(report), Some(Goes::To(sink))) => sink.add(report),
            (Some(report), Some(Goes::Shown(sink))) => {
                sink.add(report.clone());
                self.kept.add_report(report);
            }
            (Some(report), _) => self.kept.add_report(report),
            (None, _) => {}
        }
        match (profile, &self.watch.profile) {
            (Some(profile), Some(Goes::To(sink))) => sink.add(profile),
            (Some(profile), _) => keep(&mut self.kept.lock().profiles, profile),
            (None, _) => {}
        }
    }
}

/// What came of the launches of a context.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The first report with an error that nobody was told of.
    untold: Option<Report>,
    reports: VecDeque<Report>,
    profiles: VecDeque<Profile>,
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the report of a launch, if there is anything in it.
    fn add_report(&self, report: Report) {
        if report.findings.is_empty() && report.not_modelled.is_empty() {
            return;
        }
        let mut state = self.lock();
        if state.untold.is_none() && report.first_error().is_some() {
            state.untold = Some(report.clone());
        }
        keep(&mut state.reports, report);
    }

    /// The first report with an error since this was last asked.
    pub(crate) fn untold(&self) -> Option<Report> {
        self.lock().untold.take()
    }

    /// All reports since this was last asked, the oldest first.
    pub(crate) fn take_reports(&self) -> Vec<Report> {
        self.lock().reports.drain(..).collect()
    }

    /// All profiles since this was last asked, the oldest first.
    pub(crate) fn take_profiles(&self) -> Vec<Profile> {
        self.lock().profiles.drain(..).collect()
    }
}

/// Adds one, and drops the oldest of too many.
fn keep<T>(queue: &mut VecDeque<T>, value: T) {
    if queue.len() == CAPACITY {
        queue.pop_front();
    }
    queue.push_back(value);
}
