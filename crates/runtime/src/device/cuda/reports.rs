//! What kernels report while they run: faults and lines, in memory of the device that the host looks at when it waits.
//!
//! [`tilewise_ptx::site`] says how the memory is laid out. A launch is known there by a number: the place of its
//! [`Source`] in a list, and in the upper half how many launches were before it. When the host looks, all work has ended,
//! so the list starts anew.

use std::mem;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tilewise_ir::Fault;
use tilewise_ptx::site::{self, HEADER_WORDS};

use crate::device::cuda::Shared;
use crate::device::cuda::assembler::Described;
use crate::device::cuda::driver::{self, Bound, DeviceMemory, Stream};
use crate::device::cuda::staging::Staging;
use crate::error::Result;
use crate::output::Output;

/// Bytes of a word.
const WORD: usize = 8;

/// Words for lines between two looks.
const LINES: usize = (1 << 20) / WORD;

/// Number of the word that holds how many words there are for lines.
const CAPACITY: usize = 28;

/// Number of the word that holds how many words of lines were asked for.
const ASKED: usize = 29;

/// Number of the word that holds how many lines had no room.
const LOST: usize = 30;

/// The reports of a device.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// Made when the first kernel comes that may report something.
    memory: Option<DeviceMemory>,
    /// Who may have reported something since the host last looked.
    sources: Vec<Source>,
    /// Where a source is, by the address of its kernel and its output.
    places: FxHashMap<(usize, Output), u32>,
    /// How many launches there were since the host last looked.
    launches: u32,
}

/// A kernel that was launched, and where its lines go.
#[derive(Clone, Debug)]
struct Source {
    kernel: Arc<Described>,
    output: Output,
}

/// What was found in the memory, with those who may have reported it. It is not to be dropped while the queue is locked: a
/// sink for lines may own memory of the device.
#[derive(Debug)]
pub(super) struct Reported {
    /// Header and lines.
    words: Vec<u64>,
    sources: Vec<Source>,
}

impl Reports {
    /// Gets ready for what a launch may report: the address for it, and the number of the launch.
    pub(super) fn expect(
        &mut self,
        bound: Bound,
        stream: &Stream,
        kernel: &Arc<Described>,
        output: &Output,
    ) -> driver::Result<(u64, u64)> {
        let address = match &self.memory {
            Some(memory) => memory.address(),
            None => self.memory.insert(allocate(bound, stream)?).address(),
        };
        Ok((address, self.number(kernel, output)))
    }

    /// The number of a launch.
    fn number(&mut self, kernel: &Arc<Described>, output: &Output) -> u64 {
        // The list keeps the kernel alive, so its address belongs to nobody else.
        let key = (Arc::as_ptr(kernel).addr(), output.clone());
        let sources = &mut self.sources;
        let place = *self.places.entry(key).or_insert_with(|| {
            sources.push(Source { kernel: Arc::clone(kernel), output: output.clone() });
            sources.len() as u32 - 1
        });
        let launch = self.launches;
        self.launches = launch.wrapping_add(1);
        u64::from(launch) << 32 | u64::from(place)
    }

    /// Whether something may have been reported since the host last looked.
    fn are_expected(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Reads what was reported, and makes the memory as new. Nothing may be running on the device.
    pub(super) fn take(
        &mut self,
        bound: Bound,
        stream: &Stream,
        staging: &mut Staging,
    ) -> driver::Result<Reported> {
        let mut words = Vec::new();
        if let Some(memory) = &self.memory {
            read(bound, memory, 0, HEADER_WORDS, &mut words, staging, stream)?;
            let lines = words[ASKED].min(LINES as u64) as usize;
            read(bound, memory, HEADER_WORDS, lines, &mut words, staging, stream)?;
            if words.iter().enumerate().any(|(i, word)| *word != 0 && i != CAPACITY) {
                clear(bound, memory, words.len(), stream)?;
                set_capacity(bound, memory, stream)?;
                stream.synchronize()?;
            }
        }
        self.places.clear();
        self.launches = 0;
        Ok(Reported { words, sources: mem::take(&mut self.sources) })
    }

    /// Frees the memory.
    pub(super) fn close(&mut self, bound: Bound, stream: &Stream) {
        if let Some(memory) = self.memory.take() {
            // A failure leaves nothing to do.
            let _ = bound.free(memory, stream);
        }
    }
}

/// Memory in which nothing is reported yet.
fn allocate(bound: Bound, stream: &Stream) -> driver::Result<DeviceMemory> {
    let memory = bound.allocate((HEADER_WORDS + LINES) * WORD, stream)?;
    let ready = clear(bound, &memory, HEADER_WORDS + LINES, stream)
        .and_then(|()| set_capacity(bound, &memory, stream))
        // Launches on other streams may use it from now on.
        .and_then(|()| stream.synchronize());
    match ready {
        Ok(()) => Ok(memory),
        Err(failure) => {
            let _ = bound.free(memory, stream);
            Err(failure)
        }
    }
}

/// Sets the first words to zero.
fn clear(bound: Bound, memory: &DeviceMemory, words: usize, stream: &Stream) -> driver::Result<()> {
    bound.set(memory, 0, 1, words * WORD, 0, stream)
}

fn set_capacity(bound: Bound, memory: &DeviceMemory, stream: &Stream) -> driver::Result<()> {
    // The lower half of the word, which comes first.
    bound.set(memory, CAPACITY * WORD, 4, 1, LINES as u32, stream)
}

/// Appends words of the device to `words`.
fn read(
    bound: Bound,
    memory: &DeviceMemory,
    at: usize,
    count: usize,
    words: &mut Vec<u64>,
    staging: &mut Staging,
    stream: &Stream,
) -> driver::Result<()> {
    let (start, end, piece) = (at * WORD, (at + count) * WORD, staging.piece());
    for at in (start..end).step_by(piece) {
        let (bytes, half) = (piece.min(end - at), staging.half(0));
        bound.download(half, 0..bytes, (memory, at), stream)?;
        words.extend(half.bytes()?[..bytes].as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)));
    }
    Ok(())
}

impl Reported {
    /// Who has reported something, by the number of the launch.
    fn source(&self, launch: u64) -> Option<&Source> {
        self.sources.get(launch as u32 as usize)
    }

    /// The first fault with the name of its kernel, and how many there were.
    fn fault(&self) -> Option<(&str, Fault, u64)> {
        let record = site::read_fault(&self.words)?;
        let kernel = &self.source(record.launch)?.kernel;
        let site = kernel.sites.get(record.site as usize)?;
        let fault = Fault {
            kind: site.fault_kind(&record.values),
            location: kernel.spans.get(site.span),
            block: record.block,
            thread: record.thread,
        };
        Some((&kernel.name, fault, record.count))
    }

    /// Prints the lines: those of earlier launches first, and of a launch those of lower blocks.
    fn print(&self) {
        let mut lines: Vec<_> = site::read_lines(&self.words).collect();
        site::order_lines(&mut lines);
        let mut last = self.sources.first().map(|source| &source.output);
        for line in lines {
            let Some(source) = self.source(line.launch) else { continue };
            let Some(site) = source.kernel.sites.get(line.site as usize) else { continue };
            source.output.print(&site.line(&line.values));
            last = Some(&source.output);
        }
        let lost = self.words.get(LOST).copied().unwrap_or(0);
        if let (1.., Some(output)) = (lost, last) {
            output.print(&format!(
                "... and {lost} more line{}: there is room for {} KiB of lines between two waits of the host",
                if lost == 1 { "" } else { "s" },
                LINES * WORD / 1024
            ));
        }
    }
}

impl Shared {
    /// Looks at what kernels have reported, if there may be something. All that was enqueued before has ended.
    pub(super) fn read_reports(&self) -> Result<()> {
        if !self.queue().reports.are_expected() {
            return Ok(());
        }
        let mut staging = self.take_staging()?;
        let bound = self.context.bind()?;
        let reported = {
            let mut queue = self.queue();
            // Others may have enqueued something meanwhile.
            queue.synchronize()?;
            queue.take_reports(bound, &mut staging)?
        };
        self.put_staging(staging);
        if let Some(reported) = reported {
            if let Some((kernel, fault, count)) = reported.fault() {
                self.pending_faults().add(kernel, fault, count);
            }
            reported.print();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tilewise_ir::{AccessKind, FaultKind, Format, FormatSpec, Piece, Scalar, SpanTable};
    use tilewise_ptx::{Site, SiteKind};

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

    fn reported(reports: &mut Reports, words: Vec<u64>) -> Reported {
        Reported { words, sources: mem::take(&mut reports.sources) }
    }

    #[test]
    fn launches_are_numbered_and_lead_to_their_source() {
        let (a, b) = (described("a"), described("b"));
        let ((_, one), (_, two)) = (sink(), sink());
        let mut reports = Reports::default();
        let numbers = [(&a, &one), (&a, &one), (&b, &one), (&a, &two), (&b, &one)]
            .map(|(kernel, output)| reports.number(kernel, output));
        assert_eq!(numbers, [0, 1 << 32, 2 << 32 | 1, 3 << 32 | 2, 4 << 32 | 1]);
        assert!(reports.are_expected());
        let reported = reported(&mut reports, vec![0; HEADER_WORDS]);
        let names = numbers.map(|number| reported.source(number).unwrap().kernel.name.clone());
        assert_eq!(names, ["a", "a", "b", "a", "b"]);
        assert!(reported.fault().is_none());
    }

    #[test]
    fn a_record_is_a_fault_of_its_kernel() {
        let mut reports = Reports::default();
        let (a, b) = (described("a"), described("b"));
        reports.number(&a, &Output::default());
        let launch = reports.number(&b, &Output::default());
        let mut header = vec![0; HEADER_WORDS];
        header[0] = 1 << 32;
        header[1] = 12;
        header[2] = launch;
        header[5] = 4 << 32 | 7;
        header[8..10].copy_from_slice(&[11, 8]);
        let reported = reported(&mut reports, header);
        let (kernel, fault, count) = reported.fault().unwrap();
        assert_eq!((kernel, count), ("b", 12));
        assert_eq!((fault.block, fault.thread), ([7, 0, 0], [4, 0, 0]));
        assert!(matches!(fault.kind, FaultKind::OutOfBounds { index: 11, extent: 8, .. }));
        assert_eq!(fault.location.unwrap().to_string(), "src/k.rs:3:5");
    }

    #[test]
    fn lines_go_to_the_sink_of_their_launch_in_order() {
        let mut reports = Reports::default();
        let (a, b) = (described("a"), described("b"));
        let ((first, one), (second, two)) = (sink(), sink());
        let (of_a, of_b) = (reports.number(&a, &one), reports.number(&b, &two));
        let line =
            |launch, block: u64, value: i32| [1 << 32 | 6, launch, block, 0, 0, u64::from(value as u32)];
        let lines = [line(of_b, 0, 5), line(of_a, 2, 3), line(of_a, 0, -1), line(of_a, 0, -2)].concat();
        let mut header = vec![0; HEADER_WORDS];
        header[CAPACITY] = LINES as u64;
        header[ASKED] = lines.len() as u64;
        header[LOST] = 2;
        reported(&mut reports, [header, lines, vec![0; 4]].concat()).print();
        assert_eq!(*first.lock().unwrap(), "a -1\na -2\na 3\n");
        assert_eq!(
            *second.lock().unwrap(),
            "b 5\n... and 2 more lines: there is room for 1024 KiB of lines between two waits of the host\n"
        );
    }
}
