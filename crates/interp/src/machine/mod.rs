//! A block of threads that runs: its registers and memory, and which threads are where.
//!
//! Threads at the same position advance together. Of several positions the smallest goes first; since code is laid out
//! in the order of the source, threads that took different ways wait for each other where the ways join. Where a loop
//! may wait for other threads (see [`Loop::waits`](crate::code::Loop)), a group that has taken [`PATIENCE`] of its back
//! edges stands back until the others had their turn.

mod atomic;
mod elements;
mod faults;
mod memory;
mod progress;
mod step;
mod threads;
mod warp;
mod watch;

use tilewise_ir::{Fault, FaultKind, Kernel, Space, Span, WARP_SIZE, Waiting};

use crate::buffer::OutOfMemory;
use crate::code::{Code, Input, Instr};
use crate::column::{CHUNK, Chunk, MAX_CHUNKS, Registers};
use crate::launch::{Arg, LaunchConfig, cosize};
use crate::observe::{GivenUp, Observer};
use crate::vector::simd::{Engine, engine};
use crate::vector::{Out, Pattern};
use elements::{Local, Shared, reserve};
use faults::Place;
use progress::Progress;
use threads::{Active, Group};
use watch::Watch;

pub(crate) use elements::Global;
pub(crate) use faults::Faults;
pub use threads::Threads;

/// Back edges of waiting loops that a group takes before others have their turn.
const PATIENCE: u32 = 64;

/// What all blocks of a launch share.
pub(crate) struct Launch<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) code: &'a Code,
    pub(crate) config: LaunchConfig,
    params: Vec<Param<'a>>,
    engine: &'static Engine,
    /// Threads of a block.
    threads: usize,
    /// Chunks of a column.
    chunks: usize,
    pub(crate) watching: Watching<'a>,
}

/// Who watches a launch, and when a block is given up.
#[derive(Clone, Copy, Default)]
pub(crate) struct Watching<'a> {
    pub(crate) observer: Option<&'a dyn Observer>,
    pub(crate) max_rounds: Option<u64>,
}

/// An argument, resolved.
enum Param<'a> {
    Scalar(u64),
    Tensor { memory: Global<'a>, extents: &'a [u64], strides: &'a [u64] },
}

/// Why a block stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// All its threads have ended, or it was given up with a fault.
    Done,
    /// It has run for a while in loops that may be waiting.
    Paused,
    /// It waits in loops, and nothing in it changes any more: only another block can help.
    Stuck,
}

/// A block of threads.
pub(crate) struct Machine<'a> {
    launch: &'a Launch<'a>,
    /// Number of the block, x fastest.
    block: u64,
    /// Index of the block.
    block_idx: [u32; 3],
    registers: Registers,
    /// Where results are computed of which only some lanes are taken.
    scratch: Out,
    flags: Vec<bool>,
    patterns: Vec<[Pattern; MAX_CHUNKS]>,
    shared: Vec<Option<Shared>>,
    local: Vec<Option<Local>>,

    /// The next instruction of the active threads.
    pc: u32,
    /// The position at which they have to look for others.
    limit: u32,
    /// How often they stood back for others.
    turn: u32,
    /// Back edges of waiting loops since then.
    spins: u32,
    /// Number of the loop whose back edge they took last.
    number: u32,
    active: Active,
    /// Groups at other positions.
    others: Vec<Group>,
    /// Groups at barriers; their next instruction is the one after.
    at_barrier: Vec<Group>,
    /// Groups that wait for other lanes of their warps; their next instruction is the operation of the warp.
    at_warp: Vec<Group>,
    /// Lanes of no thread, or of one that has ended.
    idle: Threads,
    /// Threads that have ended at the end of the kernel, past all its barriers; not those that returned before.
    passed: Threads,

    progress: Progress,
    /// Operations that changed memory that other blocks can see.
    changes: u64,
    /// How many of them [`take_changes`](Machine::take_changes) has told.
    told: u64,
    faults: Faults,
    lines: Vec<String>,
    watch: Option<Watch<'a>>,
}

impl<'a> Launch<'a> {
    /// The arguments have been checked against the parameters.
    pub(crate) fn new(
        kernel: &'a Kernel,
        code: &'a Code,
        config: LaunchConfig,
        args: &'a [Arg<'a>],
        watching: Watching<'a>,
    ) -> Launch<'a> {
        let params = args.iter().map(|arg| match *arg {
            Arg::Scalar(value) => Param::Scalar(value.bits),
            Arg::Tensor { buffer, offset, extents, strides } => {
                let (start, end) =
                    (offset as usize, offset.saturating_add(cosize(extents, strides)) as usize);
                Param::Tensor { memory: Global::new(buffer, start..end), extents, strides }
            }
        });
        let threads = config.threads() as usize;
        Launch {
            kernel,
            code,
            config,
            params: params.collect(),
            engine: engine(),
            threads,
            chunks: threads.div_ceil(CHUNK),
            watching,
        }
    }

    /// The memory of a tensor parameter.
    fn global(&self, param: u32) -> Option<Global<'a>> {
        match self.params.get(param as usize)? {
            Param::Tensor { memory, .. } => Some(*memory),
            Param::Scalar(_) => None,
        }
    }
}

impl<'a> Machine<'a> {
    /// Room for a block of a launch.
    pub(crate) fn new(launch: &'a Launch<'a>) -> Result<Machine<'a>, OutOfMemory> {
        let (code, chunks) = (launch.code, launch.chunks);
        let what = "registers of the threads of a block";
        let mut registers = Registers::default();
        let mut most = 1;
        let mut lengths = |shape: &crate::code::RegShape| {
            let length = shape.components as usize * if shape.uniform { 1 } else { chunks };
            most = most.max(length);
            length as u64
        };
        for shape in &code.narrow {
            registers.narrow.push(reserve(lengths(shape), Chunk([0; CHUNK]), what)?);
        }
        for shape in &code.wide {
            registers.wide.push(reserve(lengths(shape), Chunk([0; CHUNK]), what)?);
        }
        let (mut shared, mut local) = (Vec::new(), Vec::new());
        for alloc in &launch.kernel.allocs {
            let (scalar, lanes) = (alloc.elem.scalar, alloc.elem.lanes);
            let in_space = |space| alloc.space == space;
            shared.push(in_space(Space::Shared).then(|| Shared::new(scalar, alloc.len, lanes)).transpose()?);
            local.push(
                in_space(Space::Local).then(|| Local::new(scalar, alloc.len, lanes, chunks)).transpose()?,
            );
        }
        let mut machine = Machine {
            launch,
            block: 0,
            block_idx: [0; 3],
            registers,
            scratch: Out { narrow: vec![Chunk([0; CHUNK]); most], wide: vec![Chunk([0; CHUNK]); most] },
            flags: vec![false; code.flags],
            patterns: vec![[Pattern::default(); MAX_CHUNKS]; code.patterns],
            shared,
            local,
            pc: 0,
            limit: 0,
            turn: 0,
            spins: 0,
            number: 0,
            active: Active::default(),
            others: Vec::new(),
            at_barrier: Vec::new(),
            at_warp: Vec::new(),
            idle: Threads::default(),
            passed: Threads::default(),
            progress: Progress::default(),
            changes: 0,
            told: 0,
            faults: Faults::default(),
            lines: Vec::new(),
            watch: launch.watching.observer.map(|observer| Watch::new(observer.watch(), code.accesses.len())),
        };
        for &(reg, wide, bits) in &code.constants {
            if wide { machine.registers.fill(reg, bits) } else { machine.registers.fill(reg, bits as u32) }
        }
        let [x, y, _] = launch.config.block.map(|n| n as usize);
        for (axis, reg) in code.thread_idx.iter().enumerate().filter_map(|(axis, reg)| Some((axis, (*reg)?)))
        {
            for (chunk, to) in machine.registers.wide[reg.index()].iter_mut().enumerate() {
                for (lane, to) in to.0.iter_mut().enumerate() {
                    let thread = chunk * CHUNK + lane;
                    *to = [thread % x, thread / x % y, thread / x / y][axis] as u64;
                }
            }
        }
        if let Some(reg) = code.lane_id {
            let lane = |lane| (lane % WARP_SIZE as usize) as u32;
            machine.registers.narrow[reg.index()].fill(Chunk(std::array::from_fn(lane)));
        }
        for instr in &code.launch {
            machine.uniform(instr);
        }
        Ok(machine)
    }

    /// Makes this the block of this number, with no thread having run.
    pub(crate) fn start(&mut self, block: u64) {
        let [x, y, _] = self.launch.config.grid.map(u64::from);
        self.block = block;
        self.block_idx = [block % x, block / x % y, block / x / y].map(|n| n as u32);
        for (alloc, memory) in self.launch.kernel.allocs.iter().zip(&mut self.shared) {
            if let Some(memory) = memory {
                memory.clear(alloc.elem.scalar);
            }
        }
        for (alloc, memory) in self.launch.kernel.allocs.iter().zip(&mut self.local) {
            if let Some(memory) = memory {
                memory.clear(alloc.elem.scalar);
            }
        }
        for instr in &self.launch.code.block {
            self.uniform(instr);
        }
        let all = Threads::first(self.launch.threads);
        self.idle = Threads::first(self.launch.chunks * CHUNK);
        self.idle.remove(&all);
        self.passed = Threads::default();
        self.activate(all);
        (self.pc, self.limit, self.turn, self.spins) = (0, u32::MAX, 0, 0);
        self.others.clear();
        self.at_barrier.clear();
        self.at_warp.clear();
        self.progress = Progress::new(self.launch.code.waits, self.launch.watching.max_rounds);
        (self.changes, self.told) = (0, 0);
        self.faults = Faults::default();
        self.lines.clear();
        self.announce_start();
    }

    /// Number of the block.
    pub(crate) fn block(&self) -> u64 {
        self.block
    }

    /// Faults of the block so far.
    pub(crate) fn take_faults(&mut self) -> Faults {
        std::mem::take(&mut self.faults)
    }

    /// Lines that the block has printed so far.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// How many operations of the block changed memory that others can see, since this was last asked.
    pub(crate) fn take_changes(&mut self) -> u64 {
        let told = std::mem::replace(&mut self.told, self.changes);
        self.changes - told
    }

    /// An instruction of the code for a launch or a block.
    fn uniform(&mut self, instr: &Instr) {
        match *instr {
            Instr::Input { dst, wide, input } => {
                let value = match input {
                    Input::Builtin(builtin, axis) => {
                        let LaunchConfig { grid, block } = self.launch.config;
                        let of = match builtin {
                            tilewise_ir::Builtin::BlockIdx => self.block_idx,
                            tilewise_ir::Builtin::BlockDim => block,
                            tilewise_ir::Builtin::GridDim => grid,
                            tilewise_ir::Builtin::ThreadIdx => [0; 3],
                        };
                        of[axis as usize] as u64
                    }
                    Input::Scalar(param) | Input::Extent(param, _) | Input::Stride(param, _) => {
                        match (&self.launch.params[param as usize], input) {
                            (Param::Scalar(bits), _) => *bits,
                            (Param::Tensor { extents, .. }, Input::Extent(_, dim)) => extents[dim as usize],
                            (Param::Tensor { strides, .. }, Input::Stride(_, dim)) => strides[dim as usize],
                            (Param::Tensor { .. }, _) => 0,
                        }
                    }
                };
                if wide {
                    self.registers.fill(dst, value);
                } else {
                    self.registers.fill(dst, value as u32);
                }
            }
            Instr::Compute { op, dst, wide, components } => self.compute(&op, dst, wide, components),
            Instr::Copy { .. } => self.copy(instr),
            _ => {}
        }
    }

    fn place(&self) -> Place<'a> {
        Place { kernel: self.launch.kernel, block: self.block_idx, block_dim: self.launch.config.block }
    }

    // ---- groups ----

    /// Makes threads the active ones.
    fn activate(&mut self, threads: Threads) {
        self.active = Active::new(threads, &self.idle, self.launch.chunks);
    }

    /// The active threads stop being active; the next step looks for others.
    fn deactivate(&mut self) -> Threads {
        self.limit = 0;
        std::mem::take(&mut self.active).threads
    }

    /// Up to which position the active threads need not look for others: others that may go first, and others to join.
    fn find_limit(&mut self) {
        let (pc, turn) = (self.pc, self.turn);
        let relevant = self.others.iter().filter(|group| group.turn <= turn || group.pc >= pc);
        self.limit = relevant.map(|group| group.pc).min().unwrap_or(u32::MAX);
    }

    /// Adds threads that go on at a later position.
    fn add_other(&mut self, pc: u32, threads: Threads) {
        let (turn, number) = (self.turn, self.number);
        match self.others.iter_mut().find(|group| group.pc == pc) {
            Some(group) => {
                group.threads.insert(&threads);
                group.turn = group.turn.max(turn);
            }
            None => self.others.push(Group { pc, turn, number, threads }),
        }
        self.find_limit();
    }

    /// Chooses the threads that go next; gives whether there are any.
    fn reschedule(&mut self) -> bool {
        // Most often two groups meet, and nobody is anywhere else.
        if let [other] = &self.others[..]
            && other.pc == self.pc
            && !self.active.is_empty()
        {
            let mut threads = self.active.threads;
            threads.insert(&other.threads);
            self.turn = self.turn.max(other.turn);
            (self.limit, self.spins) = (u32::MAX, 0);
            self.others.clear();
            self.activate(threads);
            return true;
        }
        if !self.active.is_empty() {
            let threads = self.deactivate();
            let (pc, turn, number) = (self.pc, self.turn, self.number);
            self.others.push(Group { pc, turn, number, threads });
        }
        if self.others.is_empty() && !self.meet_at_barrier() {
            return false;
        }
        let next = (0..self.others.len()).min_by_key(|&i| (self.others[i].turn, self.others[i].pc));
        let Some(next) = next else { return false };
        let mut next = self.others.swap_remove(next);
        self.others.retain(|group| {
            let meets = group.pc == next.pc;
            if meets {
                next.threads.insert(&group.threads);
                next.turn = next.turn.max(group.turn);
            }
            !meets
        });
        (self.pc, self.turn, self.number, self.spins) = (next.pc, next.turn, next.number, 0);
        self.activate(next.threads);
        self.find_limit();
        true
    }

    /// All threads that have not ended are at barriers or wait for lanes of their warps. Lets them go on if it is the same
    /// barrier and none has gone past it; gives whether any do.
    fn meet_at_barrier(&mut self) -> bool {
        if !self.at_warp.is_empty() {
            self.give_up_warp();
            return false;
        }
        match self.at_barrier.len() {
            0 => false,
            // A thread that went past the barrier to the end of the kernel should have been there; one that returned
            // before it need not.
            1 if self.passed.is_empty() => {
                let Some(group) = self.at_barrier.pop() else { return false };
                self.announce_barrier(self.barrier_span(&group), &group.threads);
                self.others.push(Group { turn: 0, ..group });
                true
            }
            _ => {
                self.at_barrier.sort_by_key(|group| group.pc);
                let waiting: Vec<Waiting> =
                    self.at_barrier.iter().map(|group| self.waiting_at_barrier(group)).collect();
                let live: u32 = waiting.iter().map(|group| group.count).sum();
                let first = self.at_barrier.iter().filter_map(|group| group.threads.iter().next()).min();
                let ended = self.launch.threads as u32 - live;
                let span = self.barrier_span(&self.at_barrier[0]);
                let kind = FaultKind::BarrierDivergence { waiting, ended };
                self.faults.add_group(self.place(), span, first.unwrap_or(0), || kind);
                self.announce_give_up(|machine| {
                    let waiting = machine.groups_at_barriers();
                    let mut ended = Threads::first(machine.launch.threads);
                    waiting.iter().for_each(|(_, threads)| ended.remove(threads));
                    GivenUp::Divergence { waiting, ended }
                });
                self.at_barrier.clear();
                false
            }
        }
    }

    /// The position of the barrier at which a group waits.
    fn barrier_span(&self, group: &Group) -> Span {
        match self.launch.code.body[group.pc as usize - 1] {
            Instr::Barrier(span) => span,
            _ => Span::NONE,
        }
    }

    fn waiting_at_barrier(&self, group: &Group) -> Waiting {
        self.waiting(self.barrier_span(group), &group.threads)
    }

    fn waiting(&self, span: Span, threads: &Threads) -> Waiting {
        let place = self.place();
        Waiting {
            location: self.launch.kernel.spans.get(span),
            count: threads.count(),
            threads: threads.iter().take(Waiting::NAMED).map(|thread| place.thread(thread)).collect(),
        }
    }

    /// Gives a stuck block up, with a fault that says which threads spin where.
    pub(crate) fn give_up(&mut self) {
        let spinning = self.groups_in_loops();
        let at_barrier = self.groups_at_barriers();
        let at_barrier = at_barrier.iter().map(|(span, threads)| self.waiting(*span, threads)).collect();
        let (at, first) = first_of(&spinning);
        let named = spinning.iter().map(|(span, threads)| self.waiting(*span, threads)).collect();
        let cycles = self.progress.changed();
        let kind = FaultKind::NoProgress { cycles, spinning: named, at_barrier };
        self.faults.add_group(self.place(), at, first, || kind);
        self.announce_give_up(|machine| GivenUp::NoProgress {
            cycles,
            spinning,
            at_barrier: machine.groups_at_barriers(),
        });
    }

    /// Gives up a block that has run too many rounds.
    fn give_up_at_limit(&mut self, rounds: u64) {
        let running = self.groups_in_loops();
        let (at, first) = first_of(&running);
        let named = running.iter().map(|(span, threads)| self.waiting(*span, threads)).collect();
        let kind = FaultKind::TooManyRounds { rounds, running: named };
        self.faults.add_group(self.place(), at, first, || kind);
        self.announce_give_up(|_| GivenUp::TooManyRounds { rounds, running });
    }

    /// The threads that are not at a barrier, by the loop that they are in, in the order of their positions.
    fn groups_in_loops(&self) -> Vec<(Span, Threads)> {
        let loops = &self.launch.code.loops;
        let mut groups = self.others.clone();
        if !self.launch.code.fair {
            // The others wait where their way joins that of those that spin.
            groups.clear();
        }
        groups.push(Group {
            pc: self.pc,
            turn: self.turn,
            number: self.number,
            threads: self.active.threads,
        });
        groups.retain(|group| !group.threads.is_empty());
        groups.sort_by_key(|group| group.pc);
        let span = |group: &Group| loops.get(group.number as usize).map_or(Span::NONE, |l| l.span);
        groups.iter().map(|group| (span(group), group.threads)).collect()
    }
}

/// The position of the first group, and the first thread of all.
fn first_of(groups: &[(Span, Threads)]) -> (Span, usize) {
    let first = groups.iter().filter_map(|(_, threads)| threads.iter().next()).min().unwrap_or(0);
    (groups.first().map_or(Span::NONE, |(span, _)| *span), first)
}

impl Faults {
    /// Adds the faults of a block. `first_block` is the block of the first fault so far.
    pub(crate) fn merge(&mut self, first_block: &mut u64, other: Faults, block: u64) {
        self.count += other.count;
        let sooner = self.first.is_none() || block < *first_block;
        if let Some(fault) = other.first.filter(|_: &Fault| sooner) {
            self.first = Some(fault);
            *first_block = block;
        }
    }
}
