//! What kernels report while they run: faults and lines, in memory of the device that the host looks at when it waits.
//!
//! [`tilewise_ptx::site`] says how the memory is laid out.

use std::sync::Arc;

use tilewise_ptx::site::{self, HEADER_WORDS};

use crate::device::cuda::Shared;
use crate::device::cuda::driver::{self, Bound, DeviceMemory, Stream};
use crate::device::cuda::staging::Staging;
use crate::device::reports::{Described, Reported, Sources};
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
    sources: Sources,
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
        Ok((address, self.sources.number(kernel, output)))
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
        Ok(Reported {
            fault: site::read_fault(&words),
            lines: site::read_lines(&words).collect(),
            lost: words.get(LOST).copied().unwrap_or(0),
            room: LINES * WORD,
            ..self.sources.take()
        })
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
            reported.tell(&self.faults);
        }
        Ok(())
    }
}
