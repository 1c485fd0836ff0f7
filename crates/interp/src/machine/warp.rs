//! Operations of warps: lanes that wait for each other, and what they give each other.
//!
//! A chunk of a column has the lanes of two warps. A warp goes on when all of its lanes that have not ended are at the
//! operation, whatever other warps do; usually all active threads do so at once. Those that have to wait are kept aside,
//! and looked at again when others come or end.

use tilewise_ir::{BinaryOp, FaultKind, Scalar, Span, WARP_SIZE, Waiting};

use super::Machine;
use super::threads::{Group, Threads};
use crate::code::{Instr, Warp, WarpOp};
use crate::column::{CHUNK, Cell, Reg, Source};
use crate::half_float::{BF16, F16};
use crate::lane::{Lane, Number};
use crate::observe::GivenUp;

/// Lanes of a warp.
const LANES: usize = WARP_SIZE as usize;

/// The first lane of each warp in a chunk.
const WARPS: [usize; CHUNK / LANES] = [0, LANES];

/// The lanes of the warp that starts at lane `start` of a chunk.
fn lanes_of(word: u64, start: usize) -> u32 {
    (word >> start) as u32
}

/// The numbers of the lanes in a set, ascending.
fn lanes(set: u32) -> impl Iterator<Item = usize> {
    super::threads::bits(set.into())
}

impl Machine<'_> {
    /// The active threads come to an operation of their warps.
    pub(super) fn warp(&mut self, number: u32) {
        let warp = self.launch.code.warps[number as usize];
        let pc = self.pc - 1;
        let mut there = self.active.threads;
        let waiting = self.at_warp.iter().position(|group| group.pc == pc);
        if let Some(waiting) = waiting {
            there.insert(&self.at_warp[waiting].threads);
        }
        let ready = self.ready(&warp, &there);
        if ready != self.active.threads || waiting.is_some() {
            if let Some(waiting) = waiting {
                self.at_warp.swap_remove(waiting);
            }
            there.remove(&ready);
            if !there.is_empty() {
                let (turn, number) = (self.turn, self.number);
                self.at_warp.push(Group { pc, turn, number, threads: there });
            }
            if ready.is_empty() {
                self.deactivate();
                return;
            }
            self.activate(ready);
        }
        match warp.op {
            WarpOp::Shuffle { .. } if warp.scalar.size() == 8 => self.shuffle::<u64>(&warp),
            WarpOp::Shuffle { .. } => self.shuffle::<u32>(&warp),
            WarpOp::Ballot { dst } => self.ballot(dst, warp.value),
            WarpOp::Reduce { op, dst } => self.combine(Combine::All, op, dst, &warp),
            WarpOp::Scan { op, dst } => self.combine(Combine::UpToEach, op, dst, &warp),
            WarpOp::Barrier => self.announce_warp_barriers(&warp),
        }
    }

    /// Tells of the active lanes that pass a barrier, those of a warp with one mask at a time.
    fn announce_warp_barriers(&mut self, warp: &Warp) {
        if self.watch.is_none() {
            return;
        }
        for (first, there) in self.each_warp() {
            let mut rest = there;
            while rest != 0 {
                let masks = Source::<u32>::new(&self.registers, warp.value, self.launch.chunks);
                let mask = masks.lane(0, first + rest.trailing_zeros() as usize);
                let (together, mut threads) = (rest & mask, Threads::default());
                threads.words[first / CHUNK] = u64::from(together) << (first % CHUNK);
                self.announce_warp_barrier(warp.span, &threads);
                rest &= !mask;
            }
        }
    }

    /// Those of the threads at an operation that need not wait any longer.
    fn ready(&self, warp: &Warp, there: &Threads) -> Threads {
        let mut ready = Threads::default();
        for chunk in 0..self.launch.chunks {
            let word = there.words[chunk];
            for start in WARPS {
                let there = lanes_of(word, start);
                if there == 0 {
                    continue;
                }
                let live = lanes_of(!self.idle.words[chunk], start);
                let passed = lanes_of(self.passed.words[chunk], start);
                let goes = match warp.op {
                    WarpOp::Barrier => {
                        self.ready_at_barrier(warp.value, chunk * CHUNK + start, there, passed)
                    }
                    _ if there == live && passed == 0 => there,
                    _ => 0,
                };
                ready.words[chunk] |= u64::from(goes) << start;
            }
        }
        ready
    }

    /// The lanes of the warp that starts with thread `first` that need not wait at a barrier any longer.
    fn ready_at_barrier(&self, masks: Reg, first: usize, there: u32, passed: u32) -> u32 {
        let live = lanes_of(!self.idle.words[first / CHUNK], first % CHUNK);
        let masks = Source::<u32>::new(&self.registers, masks, self.launch.chunks);
        let mask = |lane: usize| masks.lane(0, first + lane);
        lanes(there)
            .filter(|&lane| {
                let own = mask(lane);
                let needed = own & live;
                own >> lane & 1 == 1
                    && needed & !there == 0
                    && own & passed == 0
                    && lanes(needed).all(|other| mask(other) == own)
            })
            .fold(0, |ready, lane| ready | 1 << lane)
    }

    /// Threads have ended: those that waited for them go on.
    pub(super) fn wake_warps(&mut self) {
        for n in 0..self.at_warp.len() {
            let Group { pc, turn, number, threads } = self.at_warp[n].clone();
            let Instr::Warp(operation) = self.launch.code.body[pc as usize] else { continue };
            let ready = self.ready(&self.launch.code.warps[operation as usize], &threads);
            if !ready.is_empty() {
                self.at_warp[n].threads.remove(&ready);
                self.others.push(Group { pc, turn, number, threads: ready });
                self.limit = 0;
            }
        }
        self.at_warp.retain(|group| !group.threads.is_empty());
    }

    /// The position of the operation at which a group waits for lanes of its warps.
    pub(super) fn warp_span(&self, group: &Group) -> Span {
        match self.launch.code.body[group.pc as usize] {
            Instr::Warp(number) => self.launch.code.warps[number as usize].span,
            _ => Span::NONE,
        }
    }

    /// Nobody can go on, and a warp waits for some of its lanes: gives the block up, with a fault that says where the
    /// lanes of the warp are.
    pub(super) fn give_up_warp(&mut self) {
        let first = self.at_warp.iter().filter_map(|group| group.threads.iter().next()).min().unwrap_or(0);
        let start = first / LANES * LANES;
        let of_warp = |threads: &Threads| {
            let mut own = Threads::default();
            let word = threads.words[start / CHUNK];
            own.words[start / CHUNK] = u64::from(lanes_of(word, start % CHUNK)) << (start % CHUNK);
            own
        };
        let at_warp = self.at_warp.iter().map(|group| (group.pc, self.warp_span(group), &group.threads));
        let at_barrier =
            self.at_barrier.iter().map(|group| (group.pc - 1, self.barrier_span(group), &group.threads));
        let mut groups: Vec<_> = at_warp
            .chain(at_barrier)
            .map(|(pc, span, threads)| (pc, span, of_warp(threads)))
            .filter(|(.., threads)| !threads.is_empty())
            .collect();
        groups.sort_by_key(|&(pc, ..)| pc);
        let waiting: Vec<Waiting> =
            groups.iter().map(|(_, span, threads)| self.waiting(*span, threads)).collect();
        let of_block = of_warp(&Threads::first(self.launch.threads)).count();
        let ended = of_block - waiting.iter().map(|group| group.count).sum::<u32>();
        let span = groups.first().map_or(Span::NONE, |&(_, span, _)| span);
        let kind = FaultKind::WarpDivergence { waiting, ended };
        self.faults.add_group(self.place(), span, first, || kind);
        self.announce_give_up(|machine| {
            let waiting: Vec<_> = groups.into_iter().map(|(_, span, threads)| (span, threads)).collect();
            let mut ended = of_warp(&Threads::first(machine.launch.threads));
            waiting.iter().for_each(|(_, threads)| ended.remove(threads));
            GivenUp::WarpDivergence { waiting, ended }
        });
        self.at_warp.clear();
        self.at_barrier.clear();
    }

    // ---- values ----

    /// The first thread of each active warp, and its active lanes.
    fn each_warp(&self) -> impl Iterator<Item = (usize, u32)> + use<> {
        let active = self.active;
        (active.first..active.last)
            .flat_map(move |chunk| {
                WARPS.map(|start| (chunk * CHUNK + start, lanes_of(active.threads.words[chunk], start)))
            })
            .filter(|&(_, there)| there != 0)
    }

    fn shuffle<T: Cell>(&mut self, warp: &Warp) {
        let WarpOp::Shuffle { shuffle, number, dst } = warp.op else { return };
        let (place, chunks) = (self.place(), self.launch.chunks);
        let mut column = std::mem::take(&mut T::file_mut(&mut self.registers)[dst.index()]);
        let values = Source::<T>::new(&self.registers, warp.value, chunks);
        let numbers = Source::<u32>::new(&self.registers, number, chunks);
        for (first, there) in self.each_warp() {
            for lane in lanes(there) {
                let thread = first + lane;
                let mut from = thread;
                if let Some(source) = shuffle.source(lane as u32, numbers.lane(0, thread)) {
                    if there >> source & 1 == 1 {
                        from = first + source as usize;
                    } else {
                        self.faults.add(place, warp.span, thread, || FaultKind::AbsentLane { lane: source });
                    }
                }
                column[thread / CHUNK].0[thread % CHUNK] = values.lane(0, from);
            }
        }
        T::file_mut(&mut self.registers)[dst.index()] = column;
    }

    fn ballot(&mut self, dst: Reg, condition: Reg) {
        let mut column = std::mem::take(&mut self.registers.narrow[dst.index()]);
        let conditions = Source::<u32>::new(&self.registers, condition, self.launch.chunks);
        for (first, there) in self.each_warp() {
            let truth = |lane: usize| conditions.lane(0, first + lane) & 1;
            let votes = lanes(there).fold(0, |votes, lane| votes | truth(lane) << lane);
            for lane in lanes(there) {
                let thread = first + lane;
                column[thread / CHUNK].0[thread % CHUNK] = votes;
            }
        }
        self.registers.narrow[dst.index()] = column;
    }

    /// Combines values of lanes with an operation.
    fn combine(&mut self, what: Combine, op: BinaryOp, dst: Reg, warp: &Warp) {
        let (scalar, value) = (warp.scalar, warp.value);
        macro_rules! lanes {
            ($L:ty, $f:expr) => {
                self.combine_lanes::<$L>(what, dst, value, $f)
            };
        }
        macro_rules! numbers {
            ($f:ident) => {
                match scalar {
                    Scalar::I8 => lanes!(i8, Number::$f),
                    Scalar::I16 => lanes!(i16, Number::$f),
                    Scalar::I32 => lanes!(i32, Number::$f),
                    Scalar::I64 => lanes!(i64, Number::$f),
                    Scalar::U8 => lanes!(u8, Number::$f),
                    Scalar::U16 => lanes!(u16, Number::$f),
                    Scalar::U32 => lanes!(u32, Number::$f),
                    Scalar::U64 | Scalar::Index => lanes!(u64, Number::$f),
                    Scalar::F16 => lanes!(F16, Number::$f),
                    Scalar::BF16 => lanes!(BF16, Number::$f),
                    Scalar::F32 => lanes!(f32, Number::$f),
                    Scalar::F64 => lanes!(f64, Number::$f),
                    // The verifier lets truth values through for bitwise operations only.
                    Scalar::Bool => {}
                }
            };
        }
        let wide = scalar.size() == 8;
        match op {
            BinaryOp::Add => numbers!(add),
            BinaryOp::Mul => numbers!(mul),
            BinaryOp::Min => numbers!(min),
            BinaryOp::Max => numbers!(max),
            BinaryOp::And if wide => lanes!(u64, |a, b| a & b),
            BinaryOp::And => lanes!(u32, |a, b| a & b),
            BinaryOp::Or if wide => lanes!(u64, |a, b| a | b),
            BinaryOp::Or => lanes!(u32, |a, b| a | b),
            BinaryOp::Xor if wide => lanes!(u64, |a, b| a ^ b),
            BinaryOp::Xor => lanes!(u32, |a, b| a ^ b),
            // The verifier lets none of these through.
            BinaryOp::Sub
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Pow
            | BinaryOp::Atan2 => {}
        }
    }

    fn combine_lanes<L: Lane>(&mut self, what: Combine, dst: Reg, value: Reg, f: impl Fn(L, L) -> L) {
        let mut column = std::mem::take(&mut L::Cell::file_mut(&mut self.registers)[dst.index()]);
        let source = Source::<L::Cell>::new(&self.registers, value, self.launch.chunks);
        for (first, there) in self.each_warp() {
            let (chunk, start) = (first / CHUNK, first % CHUNK);
            let cells = &source.chunk(0, chunk).0[start..];
            let mut values = std::array::from_fn(|lane| L::get(cells[lane]));
            match what {
                Combine::All => reduce(&mut values, there, &f),
                Combine::UpToEach => scan(&mut values, there, &f),
            }
            for lane in lanes(there) {
                column[chunk].0[start + lane] = values[lane].put();
            }
        }
        L::Cell::file_mut(&mut self.registers)[dst.index()] = column;
    }
}

/// Which values of a warp are combined.
#[derive(Clone, Copy)]
enum Combine {
    /// Those of all lanes, for each.
    All,
    /// Those up to each lane.
    UpToEach,
}

/// What [`Op::WarpReduce`](tilewise_ir::Op::WarpReduce) says. Lanes that are not there may hold anything before and after.
fn reduce<L: Copy>(values: &mut [L; LANES], there: u32, f: &impl Fn(L, L) -> L) {
    if there == u32::MAX {
        for distance in [16, 8, 4, 2, 1] {
            let before = *values;
            for lane in 0..LANES {
                values[lane] = f(before[lane], before[lane ^ distance]);
            }
        }
    } else if let Some(total) = lanes(there).map(|lane| values[lane]).reduce(f) {
        values.fill(total);
    }
}

/// What [`Op::WarpScan`](tilewise_ir::Op::WarpScan) says.
fn scan<L: Copy>(values: &mut [L; LANES], there: u32, f: &impl Fn(L, L) -> L) {
    let lowest = there & there.wrapping_add(1) == 0;
    if lowest {
        for distance in [1, 2, 4, 8, 16] {
            let before = *values;
            for lane in distance..LANES {
                values[lane] = f(before[lane - distance], before[lane]);
            }
        }
        return;
    }
    let mut total = None;
    for lane in lanes(there) {
        let sum = total.map_or(values[lane], |total| f(total, values[lane]));
        values[lane] = sum;
        total = Some(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who was combined with whom.
    fn trees(there: u32, combine: fn(&mut [&'static str; LANES], u32)) -> [&'static str; LANES] {
        let mut values = std::array::from_fn(|lane| &*Box::leak(lane.to_string().into_boxed_str()));
        combine(&mut values, there);
        values
    }

    fn both(a: &'static str, b: &'static str) -> &'static str {
        Box::leak(format!("({a} {b})").into_boxed_str())
    }

    #[test]
    fn some_lanes_are_combined_from_the_lowest_to_the_highest() {
        let there = 1 << 3 | 1 << 4 | 1 << 30;
        assert_eq!(trees(there, |values, there| reduce(values, there, &both))[4], "((3 4) 30)");
        let scanned = trees(there, |values, there| scan(values, there, &both));
        assert_eq!([scanned[3], scanned[4], scanned[30]], ["3", "(3 4)", "((3 4) 30)"]);
    }

    #[test]
    fn the_lowest_lanes_are_combined_over_doubling_distances() {
        let scanned = trees(0b1_1111, |values, there| scan(values, there, &both));
        assert_eq!([scanned[0], scanned[1], scanned[2]], ["0", "(0 1)", "(0 (1 2))"]);
        assert_eq!(scanned[4], "(0 ((1 2) (3 4)))");
    }

    #[test]
    fn a_whole_warp_is_combined_in_a_tree() {
        let mut sums = std::array::from_fn(|lane| lane as u32);
        reduce(&mut sums, u32::MAX, &|a, b| a + b);
        assert_eq!(sums, [496; LANES]);
        let mut sums = std::array::from_fn(|lane| lane as u32);
        scan(&mut sums, u32::MAX, &|a, b| a + b);
        assert_eq!(sums, std::array::from_fn(|lane| (lane * (lane + 1) / 2) as u32));
    }
}
