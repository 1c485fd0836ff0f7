//! What kernels report while they run: faults and lines, in a buffer that the host looks at when it waits.
//!
//! [`tilewise_naga::site`] says how the buffer is laid out.

use std::sync::Arc;

use tilewise_ir::Report;
use tilewise_naga::site::{self, HEADER_WORDS};
use wgpu::BufferUsages;

use crate::device::reports::{Described, Reported, Sources};
use crate::device::wgpu::Shared;
use crate::device::wgpu::gpu::Gpu;
use crate::device::wgpu::stream::Queue;
use crate::error::Result;
use crate::output::Output;

/// Bytes of a word.
const WORD: usize = 4;

/// Words of the header.
const HEADER: usize = HEADER_WORDS as usize;

/// Words for faults between two looks.
const FAULTS: usize = (1 << 20) / WORD;

/// Words for lines between two looks.
const LINES: usize = (1 << 20) / WORD;

/// How many launches there may be between two looks.
const LAUNCHES: usize = 1 << 20;

/// Numbers of the words of the header.
mod word {
    pub(super) const FAULTS: usize = 0;
    pub(super) const FAULTS_ASKED: usize = 1;
    pub(super) const FAULTS_CAPACITY: usize = 2;
    pub(super) const LOST: usize = 3;
    pub(super) const LINES_ASKED: usize = 4;
    pub(super) const LINES_CAPACITY: usize = 5;
}

/// The reports of a device.
#[derive(Debug, Default)]
pub(super) struct Reports {
    /// Made when the first kernel comes that may report something.
    buffer: Option<wgpu::Buffer>,
    /// Who may have reported something since the host last looked.
    sources: Sources,
    /// The numbers of their launches: a shader knows a launch by its place here.
    launches: Vec<u64>,
}

impl Queue {
    /// Gets ready for what a launch may report: the buffer for it, and the number by which the shader knows the launch.
    pub(super) fn expect_reports(
        &mut self,
        gpu: &Gpu,
        kernel: &Arc<Described>,
        output: &Output,
    ) -> Result<(wgpu::Buffer, u32)> {
        let buffer = match &self.reports.buffer {
            Some(buffer) => buffer.clone(),
            None => {
                let buffer = gpu.call("create_buffer", || {
                    gpu.device.create_buffer(&wgpu::BufferDescriptor {
                        label: Some("reports"),
                        size: ((HEADER + FAULTS + LINES) * WORD) as u64,
                        usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
                        mapped_at_creation: false,
                    })
                })?;
                self.write(gpu, &buffer, 0, &empty_header())?;
                self.reports.buffer.insert(buffer).clone()
            }
        };
        let Reports { sources, launches, .. } = &mut self.reports;
        let launch = launches.len() as u32;
        launches.push(sources.number(kernel, output));
        Ok((buffer, launch))
    }
}

/// The header where nothing is reported yet.
fn empty_header() -> Vec<u8> {
    let mut header = [0; HEADER];
    header[word::FAULTS_CAPACITY] = FAULTS as u32;
    header[word::LINES_CAPACITY] = LINES as u32;
    header.iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl Shared {
    /// Looks at what kernels have reported if there were so many launches that it is time.
    pub(super) fn read_reports_if_many(&self) -> Result<()> {
        if self.queue().reports.launches.len() >= LAUNCHES {
            self.read_reports()?;
        }
        Ok(())
    }

    /// Looks at what kernels have reported, if there may be something.
    pub(super) fn read_reports(&self) -> Result<()> {
        let reported = {
            let mut queue = self.queue();
            if queue.reports.sources.is_empty() {
                return Ok(());
            }
            self.take_reports(&mut queue)?
        };
        reported.tell(&self.faults);
        Ok(())
    }

    /// Takes what kernels have reported, and makes the buffer as new.
    fn take_reports(&self, queue: &mut Queue) -> Result<Reported> {
        let mut words = Vec::new();
        if let Some(buffer) = queue.reports.buffer.clone() {
            words = self.report_words(queue, &buffer, 0, HEADER)?;
            let used = |asked: usize, capacity| (words[asked] as usize).min(capacity);
            let areas = [
                (HEADER, used(word::FAULTS_ASKED, FAULTS), FAULTS),
                (HEADER + FAULTS, used(word::LINES_ASKED, LINES), LINES),
            ];
            let is_something = words[word::FAULTS] != 0 || words[word::LOST] != 0;
            for (at, used, capacity) in areas {
                let known = words.len();
                if used > 0 {
                    words.extend(self.report_words(queue, &buffer, at, used)?);
                    queue.record(&self.gpu, "clear_buffer", |encoder| {
                        encoder.clear_buffer(&buffer, (at * WORD) as u64, Some((used * WORD) as u64));
                    })?;
                }
                words.resize(known + capacity, 0);
            }
            if is_something || areas.iter().any(|(_, used, _)| *used > 0) {
                queue.write(&self.gpu, &buffer, 0, &empty_header())?;
            }
        }
        let Reports { sources, launches, .. } = &mut queue.reports;
        let reported = reported(&words, launches, sources.take());
        launches.clear();
        Ok(reported)
    }

    fn report_words(
        &self,
        queue: &mut Queue,
        buffer: &wgpu::Buffer,
        at: usize,
        count: usize,
    ) -> Result<Vec<u32>> {
        let bytes = self.download(queue, buffer, at * WORD, count * WORD)?;
        Ok(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }
}

/// What the words of the buffer say.
fn reported(words: &[u32], launches: &[u64], nothing: Reported) -> Reported {
    let count = words.get(word::FAULTS).copied().unwrap_or(0);
    let (faults, lines) = site::read(words);
    let number = |report: Report| {
        let launch = launches.get(report.launch as usize).copied().unwrap_or(u64::MAX);
        Report { launch, ..report }
    };
    let reversed = |[x, y, z]: [u32; 3]| [z, y, x];
    let order = |fault: &Report| (fault.launch, reversed(fault.block), fault.site, reversed(fault.thread));
    let first = faults.into_iter().min_by_key(order);
    Reported {
        fault: first.map(|fault| (number(fault), count.into())),
        lines: lines.into_iter().map(number).collect(),
        lost: words.get(word::LOST).copied().unwrap_or(0).into(),
        room: LINES * WORD,
        ..nothing
    }
}

#[cfg(test)]
mod tests {
    use tilewise_naga::site::ENTRY_WORDS;

    use super::*;

    #[test]
    fn the_first_fault_is_of_the_first_launch_and_the_lowest_block() {
        let entry = |launch, site, block, thread| [ENTRY_WORDS, site, launch, block, 0, 0, thread, 0, 0];
        let entries = [entry(1, 0, 0, 0), entry(0, 2, 3, 0), entry(0, 1, 2, 9), entry(0, 1, 2, 4)];
        let asked = 4 * ENTRY_WORDS;
        let mut words = vec![9, asked, asked, 0, 0, 0, 0, 0];
        words.extend(entries.concat());
        let reported = reported(&words, &[70, 71], Sources::default().take());
        let (fault, count) = reported.fault.unwrap();
        assert_eq!((fault.launch, fault.block[0], fault.thread[0], count), (70, 2, 4, 9));
        assert!(reported.lines.is_empty());
    }
}
