//! The interpreter loop: instructions of the active threads, one by one.

use tilewise_ir::{Const, FaultKind, Scalar, Span, print};

use super::elements::{Atomics, Global, Plain, Shared};
use super::memory::{self, Addresses, Context};
use super::threads::Threads;
use super::{Machine, PATIENCE, Status, atomic};
use crate::code::{Instr, Memory};
use crate::column::{CHUNK, Cell, Chunk, MAX_CHUNKS, Reg, Source};
use crate::lane::Int;
use crate::vector::{BoundsCheck, Compute, Shape};

impl Machine<'_> {
    /// Runs the block until it is done or has to wait for other blocks.
    pub(crate) fn run(&mut self) -> Status {
        let launch = self.launch;
        self.progress.resume();
        loop {
            if self.pc >= self.limit && !self.reschedule() {
                return Status::Done;
            }
            let instr = &launch.code.body[self.pc as usize];
            self.pc += 1;
            match *instr {
                Instr::Compute { ref op, dst, wide, components } => self.compute(op, dst, wide, components),
                Instr::Copy { .. } => self.copy(instr),
                Instr::Access(number) => self.access(number),
                Instr::Check { flag, index, extent, lanes } => {
                    let chunks = launch.chunks;
                    let index = Addresses::new(&self.registers, index, chunks);
                    let check = BoundsCheck {
                        index: index.base,
                        plus: index.plus,
                        extent: Source::new(&self.registers, extent, chunks),
                        lanes: lanes as u64,
                    };
                    let (first, last) = (self.active.first, self.active.last);
                    let active = &self.active.threads.words[first..last];
                    self.flags[flag as usize] = (launch.engine.within)(check, active, first);
                }
                Instr::Classify { slot, base } => {
                    let (patterns, column) =
                        (&mut self.patterns[slot as usize], &self.registers.wide[base.index()]);
                    let chunks = self.active.first..self.active.last;
                    for (pattern, values) in patterns[chunks.clone()].iter_mut().zip(&column[chunks]) {
                        *pattern = (launch.engine.pattern)(values);
                    }
                }
                Instr::Jump(target) => self.pc = target,
                Instr::Branch { cond, when, target } => self.branch(cond, when, target),
                Instr::Repeat { target, number } => {
                    self.pc = target;
                    if let Some(status) = self.back_edge(number, true) {
                        return status;
                    }
                }
                Instr::Advance { counter, hi, step, scalar, target, number } => {
                    if self.advance(counter, hi, step, scalar, target)
                        && let Some(status) = self.back_edge(number, false)
                    {
                        return status;
                    }
                }
                Instr::Barrier(span) => self.barrier(span),
                Instr::Warp(number) => self.warp(number),
                Instr::CheckDivisor { divisor, wide, components, span } => {
                    if wide {
                        self.check_divisor::<u64>(divisor, components, span);
                    } else {
                        self.check_divisor::<u32>(divisor, components, span);
                    }
                }
                Instr::CheckStep { step, scalar, target, span } => {
                    self.check_step(step, scalar, target, span)
                }
                Instr::Fence(scope, ordering) => {
                    atomic::fence(ordering);
                    self.announce_fence(scope, ordering);
                }
                Instr::Return => {
                    if self.pc as usize == self.launch.code.body.len() {
                        self.passed.insert(&self.active.threads);
                    }
                    self.end();
                }
                Instr::Print(number) => self.print(number),
                Instr::Assert { cond, message, span } => self.assert(cond, message, span),
                Instr::Input { .. } => {}
            }
        }
    }

    // ---- values ----

    /// An operation without effects, for the active threads, or once if it is uniform.
    pub(super) fn compute(&mut self, op: &Compute, dst: Reg, wide: bool, components: u8) {
        if wide {
            self.compute_cells::<u64>(op, dst, components as usize);
        } else {
            self.compute_cells::<u32>(op, dst, components as usize);
        }
    }

    fn compute_cells<T: ScratchCell>(&mut self, op: &Compute, dst: Reg, components: usize) {
        let (chunks, wide) = (self.launch.chunks, size_of::<T>() == 8);
        let shape = if dst.is_varying() {
            let (first, last) = (self.active.first, self.active.last);
            Shape { first, last, chunks, components, block: chunks, uniform: false }
        } else {
            Shape { first: 0, last: 1, chunks: 1, components, block: chunks, uniform: true }
        };
        // Threads that wait for these have nothing in the register that they still need: the lives of values are such
        // that it is free up to where they wait. Only if some have gone ahead, their lanes must be left alone.
        let whole = shape.uniform || self.active.whole || !self.launch.code.fair;
        if whole {
            // The destination is no operand, so it can be away while the operands are read.
            std::mem::swap(T::scratch(&mut self.scratch), &mut T::file_mut(&mut self.registers)[dst.index()]);
        }
        self.launch.engine.compute(op, wide, &self.registers, shape, &mut self.scratch);
        let to = &mut T::file_mut(&mut self.registers)[dst.index()];
        if whole {
            std::mem::swap(T::scratch(&mut self.scratch), to);
            return;
        }
        let from = T::scratch(&mut self.scratch);
        for component in 0..components {
            for chunk in shape.first..shape.last {
                let at = component * chunks + chunk;
                T::blend(&mut to[at], &from[at], self.active.threads.words[chunk]);
            }
        }
    }

    /// A copy of components from one register to another.
    pub(super) fn copy(&mut self, instr: &Instr) {
        let Instr::Copy { wide, .. } = *instr else { return };
        if wide { self.copy_cells::<u64>(instr) } else { self.copy_cells::<u32>(instr) }
    }

    fn copy_cells<T: Cell>(&mut self, instr: &Instr) {
        let Instr::Copy { dst, src, to, from, components, broadcast, .. } = *instr else { return };
        let chunks = self.launch.chunks;
        let mut column = std::mem::take(&mut T::file_mut(&mut self.registers)[dst.index()]);
        let source = Source::<T>::new(&self.registers, src, chunks);
        for component in 0..components as usize {
            let read = from as usize + if broadcast { 0 } else { component };
            let written = to as usize + component;
            if !dst.is_varying() {
                column[written] = *source.chunk(read, 0);
                continue;
            }
            for chunk in self.active.first..self.active.last {
                let (to, from) = (&mut column[written * chunks + chunk], source.chunk(read, chunk));
                if self.active.whole {
                    *to = *from;
                } else {
                    T::blend(to, from, self.active.threads.words[chunk]);
                }
            }
        }
        T::file_mut(&mut self.registers)[dst.index()] = column;
    }

    // ---- memory ----

    fn access(&mut self, number: u32) {
        let launch = self.launch;
        let access = &launch.code.accesses[number as usize];
        let watched = self.is_watched(number);
        if watched && !access.kind.is_atomic() {
            self.announce_access(number);
        }
        let in_bounds = access.bounds.iter().all(|bound| self.flags[bound.flag as usize]);
        let (place, mut ignored) = (self.place(), 0);
        let global = matches!(access.memory, Memory::Global(_));
        let mut context = Context {
            place,
            chunks: launch.chunks,
            active: &self.active,
            patterns: access.pattern.map(|slot| &self.patterns[slot as usize]),
            faults: &mut self.faults,
            watching: global && self.progress.is_watching(),
            changes: if global { &mut self.changes } else { &mut ignored },
            outcomes: self.watch.as_mut().filter(|_| watched).map(|watch| &mut watch.outcomes),
        };
        let registers = &mut self.registers;
        macro_rules! access {
            ($elements:expr) => {
                memory::access(&mut context, registers, access, $elements, in_bounds)
            };
        }
        match access.memory {
            Memory::Global(param) => match launch.global(param) {
                Some(Global::W8(cells)) => access!(Atomics::<u8>(cells)),
                Some(Global::W16(cells)) => access!(Atomics::<u16>(cells)),
                Some(Global::W32(cells)) => access!(Atomics::<u32>(cells)),
                Some(Global::W64(cells)) => access!(Atomics::<u64>(cells)),
                None => {}
            },
            Memory::Shared(alloc) => match &mut self.shared[alloc as usize] {
                Some(Shared::W8(words)) => access!(Plain::<u8>(words)),
                Some(Shared::W16(words)) => access!(Plain::<u16>(words)),
                Some(Shared::W32(words)) => access!(Plain::<u32>(words)),
                Some(Shared::W64(words)) => access!(Plain::<u64>(words)),
                None => {}
            },
            Memory::Local(alloc) => {
                if let Some(local) = &mut self.local[alloc as usize] {
                    memory::local_access(&mut context, registers, access, local, in_bounds);
                }
            }
        }
        if watched && access.kind.is_atomic() {
            self.announce_access(number);
        }
        self.announce_faults();
    }

    // ---- control flow ----

    /// The active threads whose value is true.
    fn true_threads(&self, cond: Reg) -> Threads {
        let mut threads = Threads::default();
        let column = &self.registers.narrow[cond.index()];
        let chunks = self.active.first..self.active.last;
        for (chunk, values) in chunks.clone().zip(&column[chunks]) {
            let active = self.active.threads.words[chunk];
            threads.words[chunk] = active & (self.launch.engine.truth)(values);
        }
        threads
    }

    /// Those whose condition is `when` go to a later position.
    fn branch(&mut self, cond: Reg, when: bool, target: u32) {
        if !cond.is_varying() {
            if (self.registers.first::<u32>(cond) != 0) == when {
                self.pc = target;
            }
            return;
        }
        let mut go = self.true_threads(cond);
        let mut stay = self.active.threads;
        stay.remove(&go);
        if !when {
            std::mem::swap(&mut go, &mut stay);
        }
        if stay.is_empty() {
            self.pc = target;
        } else if !go.is_empty() {
            self.activate(stay);
            self.add_other(target, go);
        }
    }

    /// Steps the counter of a loop; gives whether any thread goes back.
    fn advance(&mut self, counter: Reg, hi: Reg, step: Reg, scalar: Scalar, target: u32) -> bool {
        let back = match scalar {
            Scalar::I8 | Scalar::U8 => self.advance_lanes::<u8>(counter, hi, step),
            Scalar::I16 | Scalar::U16 => self.advance_lanes::<u16>(counter, hi, step),
            Scalar::I32 | Scalar::U32 => self.advance_lanes::<u32>(counter, hi, step),
            _ => self.advance_lanes::<u64>(counter, hi, step),
        };
        let mut done = self.active.threads;
        done.remove(&back);
        if back.is_empty() {
            return false;
        }
        if !done.is_empty() {
            self.activate(back);
            self.add_other(self.pc, done);
        }
        self.pc = target;
        true
    }

    /// Adds the step where the counter stays below the limit; gives the threads for which it does. What is left up to
    /// the limit is a positive number whatever the sign of the type, so the sum need not be formed where it would wrap.
    fn advance_lanes<L: Int>(&mut self, counter: Reg, hi: Reg, step: Reg) -> Threads {
        let chunks = self.launch.chunks;
        let mut column = std::mem::take(&mut L::Cell::file_mut(&mut self.registers)[counter.index()]);
        let (hi, step) = (
            Source::<L::Cell>::new(&self.registers, hi, chunks),
            Source::<L::Cell>::new(&self.registers, step, chunks),
        );
        let next = |counter: L::Cell, hi: L::Cell, step: L::Cell| {
            let (counter, step) = (L::get(counter), L::get(step));
            step.lt(L::get(hi).sub(counter)).then(|| counter.add(step).put())
        };
        let mut back = Threads::default();
        if counter.is_varying() {
            let chunks = self.active.first..self.active.last;
            for (chunk, counter) in chunks.clone().zip(&mut column[chunks]) {
                let (hi, step) = (hi.chunk(0, chunk), step.chunk(0, chunk));
                let active = self.active.threads.words[chunk];
                let (mut goes, mut stepped) = (Chunk([0u32; CHUNK]), *counter);
                for lane in 0..CHUNK {
                    let next = next(counter.0[lane], hi.0[lane], step.0[lane]);
                    goes.0[lane] = next.is_some() as u32;
                    // A counter that is not stepped is not looked at again.
                    stepped.0[lane] = next.unwrap_or(counter.0[lane]);
                }
                L::Cell::blend(counter, &stepped, active);
                back.words[chunk] = active & (self.launch.engine.truth)(&goes);
            }
        } else if let Some(next) = next(column[0].0[0], hi.lane(0, 0), step.lane(0, 0)) {
            column[0] = Chunk([next; CHUNK]);
            back = self.active.threads;
        }
        L::Cell::file_mut(&mut self.registers)[counter.index()] = column;
        back
    }

    /// The active threads went back to the start of a loop. `endless` is whether the loop can go on for ever.
    fn back_edge(&mut self, number: u32, endless: bool) -> Option<Status> {
        self.number = number;
        let code = self.launch.code;
        let waits = code.loops[number as usize].waits;
        let alone = self.others.is_empty();
        if code.fair && waits && !alone {
            self.spins += 1;
            if self.spins >= PATIENCE {
                self.spins = 0;
                self.turn += 1;
                self.limit = 0;
                let turns = self.others.iter().map(|group| group.turn);
                let least = turns.fold(self.turn, Ord::min);
                if least > self.progress.turn() {
                    self.progress.set_turn(least);
                    return self.round();
                }
                return None;
            }
        }
        if !alone {
            self.find_limit();
        }
        if (waits || endless) && (alone || !code.fair) { self.round() } else { None }
    }

    /// Waits for the other threads of the block.
    fn barrier(&mut self, span: Span) {
        if self.others.is_empty() && self.at_barrier.is_empty() && self.at_warp.is_empty() {
            if self.watch.is_some() {
                let threads = self.active.threads;
                self.announce_barrier(span, &threads);
            }
            return;
        }
        let (pc, turn, number) = (self.pc, self.turn, self.number);
        let threads = self.deactivate();
        match self.at_barrier.iter_mut().find(|group| group.pc == pc) {
            Some(group) => group.threads.insert(&threads),
            None => self.at_barrier.push(super::Group { pc, turn, number, threads }),
        }
    }

    /// The active threads end.
    fn end(&mut self) {
        let threads = self.deactivate();
        self.idle.insert(&threads);
        self.wake_warps();
    }

    /// Some of the active threads end.
    fn end_some(&mut self, threads: &Threads) {
        self.idle.insert(threads);
        let mut rest = self.active.threads;
        rest.remove(threads);
        if rest.is_empty() {
            self.deactivate();
        } else {
            self.activate(rest);
        }
        self.wake_warps();
    }

    // ---- faults and output ----

    fn check_divisor<T: Cell>(&mut self, divisor: Reg, components: u8, span: Span) {
        let place = self.place();
        let divisor = Source::<T>::new(&self.registers, divisor, self.launch.chunks);
        for chunk in self.active.first..self.active.last {
            let zero = |component| divisor.chunk(component, chunk).0.contains(&T::default());
            if !(0..components as usize).any(zero) {
                continue;
            }
            for lane in super::threads::bits(self.active.threads.words[chunk]) {
                for component in 0..components as usize {
                    if divisor.chunk(component, chunk).0[lane] == T::default() {
                        self.faults.add(place, span, chunk * CHUNK + lane, || FaultKind::DivisionByZero);
                    }
                }
            }
        }
    }

    fn check_step(&mut self, step: Reg, scalar: Scalar, target: u32, span: Span) {
        let place = self.place();
        let mut bad = Threads::default();
        for thread in self.active.threads.iter() {
            let chunks = self.launch.chunks;
            let bits = if scalar.size() == 8 {
                Source::<u64>::new(&self.registers, step, chunks).lane(0, thread)
            } else {
                Source::<u32>::new(&self.registers, step, chunks).lane(0, thread) as u64
            };
            let step = Const { scalar, bits }.as_int().unwrap_or(0);
            if step <= 0 {
                self.faults.add(place, span, thread, || FaultKind::RangeStep { step });
                bad.insert_one(thread);
            }
        }
        if bad == self.active.threads {
            self.pc = target;
        } else if !bad.is_empty() {
            let mut rest = self.active.threads;
            rest.remove(&bad);
            self.activate(rest);
            self.add_other(target, bad);
        }
    }

    /// The line of a thread.
    fn line(&self, number: u32, thread: usize) -> String {
        let shown = &self.launch.code.prints[number as usize];
        let chunks = self.launch.chunks;
        let args = shown.args.iter().map(|&(reg, ty)| {
            let lane = |component| {
                if ty.scalar.size() == 8 {
                    Source::<u64>::new(&self.registers, reg, chunks).lane(component, thread)
                } else {
                    Source::<u32>::new(&self.registers, reg, chunks).lane(component, thread) as u64
                }
            };
            (0..ty.lanes as usize).map(|c| Const { scalar: ty.scalar, bits: lane(c) }).collect::<Vec<_>>()
        });
        print::format(&shown.format, &args.collect::<Vec<_>>())
    }

    fn print(&mut self, number: u32) {
        for thread in self.active.threads.iter() {
            let line = self.line(number, thread);
            self.lines.push(line);
        }
    }

    fn assert(&mut self, cond: Reg, message: u32, span: Span) {
        let mut failed = self.active.threads;
        if cond.is_varying() {
            failed.remove(&self.true_threads(cond));
        } else if self.registers.first::<u32>(cond) != 0 {
            return;
        }
        if failed.is_empty() {
            return;
        }
        let place = self.place();
        for thread in failed.iter() {
            let told = self.faults.first.is_none() || self.faults.log.is_some();
            let text = told.then(|| self.line(message, thread));
            self.faults
                .add(place, span, thread, || FaultKind::Assertion { message: text.unwrap_or_default() });
        }
        self.end_some(&failed);
    }
}

/// A cell that [`Out`](crate::vector::Out) has a column of.
trait ScratchCell: Cell {
    fn scratch(out: &mut crate::vector::Out) -> &mut Vec<Chunk<Self>>;
}

impl ScratchCell for u32 {
    fn scratch(out: &mut crate::vector::Out) -> &mut Vec<Chunk<u32>> {
        &mut out.narrow
    }
}

impl ScratchCell for u64 {
    fn scratch(out: &mut crate::vector::Out) -> &mut Vec<Chunk<u64>> {
        &mut out.wide
    }
}

const _: () = assert!(MAX_CHUNKS * CHUNK == crate::launch::Limits::MAX_THREADS as usize);
