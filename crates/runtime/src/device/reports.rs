//! What kernels of a GPU report while they run, on the side of the host: which launch it was, and what is shown of it.
//!
//! Where the numbers lie is the backend's matter; what they mean is in [`tilewise_ir::site`]. A launch is known by a
//! number: the place of its [`Source`] in a list, and in the upper half how many launches were before it. When the host
//! looks, all work has ended, so the list starts anew.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tilewise_ir::site::order_lines;
use tilewise_ir::{Fault, Report, Site, SpanTable};

use crate::fault::PendingFaults;
use crate::output::Output;

/// What the reports of a compiled kernel mean.
#[derive(Debug)]
pub(crate) struct Described {
    /// Name of the kernel.
    pub(crate) name: String,
    /// What may be reported, by number.
    pub(crate) sites: Vec<Site>,
    /// The user's positions.
    pub(crate) spans: SpanTable,
}

/// A kernel that was launched, and where its lines go.
#[derive(Clone, Debug)]
struct Source {
    kernel: Arc<Described>,
    output: Output,
}

/// Who may have reported something since the host last looked.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    list: Vec<Source>,
    /// Where a source is, by the address of its kernel and its output.
    places: FxHashMap<(usize, Output), u32>,
    /// How many launches there were.
    launches: u32,
}

/// What was reported, with those who may have reported it. It is not to be dropped while anything is locked: a sink for
/// lines may own memory of the device.
#[derive(Debug)]
pub(crate) struct Reported {
    /// Who may have reported it.
    pub(crate) sources: Sources,
    /// The first fault, and how many there were.
    pub(crate) fault: Option<(Report, u64)>,
    /// Lines, in the order in which they were printed.
    pub(crate) lines: Vec<Report>,
    /// How many lines had no room.
    pub(crate) lost: u64,
    /// Bytes that there were for lines.
    pub(crate) room: usize,
}

impl Sources {
    /// The number of a launch that may report something.
    pub(crate) fn number(&mut self, kernel: &Arc<Described>, output: &Output) -> u64 {
        // The list keeps the kernel alive, so its address belongs to nobody else.
        let key = (Arc::as_ptr(kernel).addr(), output.clone());
        let list = &mut self.list;
        let place = *self.places.entry(key).or_insert_with(|| {
            list.push(Source { kernel: Arc::clone(kernel), output: output.clone() });
            list.len() as u32 - 1
        });
        let launch = self.launches;
        self.launches = launch.wrapping_add(1);
        u64::from(launch) << 32 | u64::from(place)
    }

    /// Whether nobody can have reported anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Nothing reported by these, who are forgotten here.
    pub(crate) fn take(&mut self) -> Reported {
        let sources = mem::take(self);
        Reported { sources, fault: None, lines: Vec::new(), lost: 0, room: 0 }
    }
}

impl Reported {
    /// Keeps the first fault and prints the lines.
    pub(crate) fn tell(mut self, faults: &Mutex<PendingFaults>) {
        if let Some((kernel, fault, count)) = self.first_fault() {
            faults.lock().unwrap_or_else(PoisonError::into_inner).add(kernel, fault, count);
        }
        self.print();
    }

    /// Who has reported something, by the number of the launch.
    fn source(&self, launch: u64) -> Option<&Source> {
        self.sources.list.get(launch as u32 as usize)
    }

    /// The first fault with the name of its kernel, and how many there were.
    fn first_fault(&self) -> Option<(&str, Fault, u64)> {
        let (report, count) = self.fault.as_ref()?;
        let kernel = &self.source(report.launch)?.kernel;
        let site = kernel.sites.get(report.site as usize)?;
        let fault = Fault {
            kind: site.fault_kind(&report.values),
            location: kernel.spans.get(site.span),
            block: report.block,
            thread: report.thread,
        };
        Some((&kernel.name, fault, *count))
    }

    /// Prints the lines: those of earlier launches first, and of a launch those of lower blocks.
    fn print(&mut self) {
        order_lines(&mut self.lines);
        let mut last = self.sources.list.first().map(|source| &source.output);
        for line in &self.lines {
            let Some(source) = self.source(line.launch) else { continue };
            let Some(site) = source.kernel.sites.get(line.site as usize) else { continue };
            source.output.print(&site.line(&line.values));
            last = Some(&source.output);
        }
        if let (lost @ 1.., Some(output)) = (self.lost, last) {
            output.print(&format!(
                "... and {lost} more line{}: there is room for {} KiB of lines between two waits of the host",
                if lost == 1 { "" } else { "s" },
                self.room / 1024
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use tilewise_ir::{AccessKind, FaultKind, Format, FormatSpec, Piece, Scalar, SiteKind};

    use super::*;

    /// A kernel with a checked store and a line, both at `src/k.rs:3:5`.
    fn described(name: &str) -> Arc<Described> {
        let mut spans = SpanTable::default();
        let span = spans.intern("src/k.rs", 3, 5);
        let pieces = vec![Piece::Text(format!("{name} ")), Piece::Arg(FormatSpec::default())];
        let store = SiteKind::OutOfBounds { access: AccessKind::Store, tensor: "out".to_owned(), dim: 0 };
        let line = SiteKind::Line(Arc::new(Format { pieces }), vec![Scalar::I32.ty()]);
        let sites = vec![Site { span, kind: store }, Site { span, kind: line }];
        Arc::new(Described { name: name.to_owned(), sites, spans })
    }

    fn sink() -> (Arc<Mutex<String>>, Output) {
        let text = Arc::new(Mutex::new(String::new()));
        (text.clone(), Output::new(text))
    }

    #[test]
    fn launches_are_numbered_and_lead_to_their_source() {
        let (a, b) = (described("a"), described("b"));
        let ((_, one), (_, two)) = (sink(), sink());
        let mut sources = Sources::default();
        let numbers = [(&a, &one), (&a, &one), (&b, &one), (&a, &two), (&b, &one)]
            .map(|(kernel, output)| sources.number(kernel, output));
        assert_eq!(numbers, [0, 1 << 32, 2 << 32 | 1, 3 << 32 | 2, 4 << 32 | 1]);
        assert!(!sources.is_empty());
        let reported = sources.take();
        assert!(sources.is_empty());
        let names = numbers.map(|number| reported.source(number).unwrap().kernel.name.clone());
        assert_eq!(names, ["a", "a", "b", "a", "b"]);
        assert!(reported.first_fault().is_none());
    }

    #[test]
    fn a_report_is_a_fault_of_its_kernel() {
        let mut sources = Sources::default();
        let (a, b) = (described("a"), described("b"));
        sources.number(&a, &Output::default());
        let launch = sources.number(&b, &Output::default());
        let mut reported = sources.take();
        let (block, thread, values) = ([7, 0, 0], [4, 0, 0], vec![11, 8]);
        reported.fault = Some((Report { launch, site: 0, block, thread, values }, 12));
        let (kernel, fault, count) = reported.first_fault().unwrap();
        assert_eq!((kernel, count), ("b", 12));
        assert_eq!((fault.block, fault.thread), (block, thread));
        assert!(matches!(fault.kind, FaultKind::OutOfBounds { index: 11, extent: 8, .. }));
        assert_eq!(fault.location.as_ref().unwrap().to_string(), "src/k.rs:3:5");
        let faults = Mutex::new(PendingFaults::default());
        reported.tell(&faults);
        assert_eq!(faults.into_inner().unwrap().take().unwrap().more, 11);
    }

    #[test]
    fn lines_go_to_the_sink_of_their_launch_in_order() {
        let mut sources = Sources::default();
        let (a, b) = (described("a"), described("b"));
        let ((first, one), (second, two)) = (sink(), sink());
        let (of_a, of_b) = (sources.number(&a, &one), sources.number(&b, &two));
        let line = |launch, block, value: i32| Report {
            launch,
            site: 1,
            block: [block, 0, 0],
            thread: [0; 3],
            values: vec![u64::from(value as u32)],
        };
        let lines = vec![line(of_b, 0, 5), line(of_a, 2, 3), line(of_a, 0, -1), line(of_a, 0, -2)];
        let reported = Reported { lines, lost: 2, room: 1 << 20, ..sources.take() };
        reported.tell(&Mutex::default());
        assert_eq!(*first.lock().unwrap(), "a -1\na -2\na 3\n");
        assert_eq!(
            *second.lock().unwrap(),
            "b 5\n... and 2 more lines: there is room for 1024 KiB of lines between two waits of the host\n"
        );
    }
}
