//! How threads show values to the other lanes of their warps: through shared memory.
//!
//! In an *exchange* each thread writes a value to its place and comes to a barrier; after it, it reads what it wants of
//! the others. Places are there twice, and exchanges take turns with them, so one barrier is enough: whoever writes to a
//! place again has passed the barrier of the exchange between, and all have read what was there before they came to that.
//! All threads of the block make all exchanges together, those that have ended included.
//!
//! Threads that have ended set the bit of their lane in a mask of their warp, which is there twice as well. A mask has no
//! bits of threads that end later: those are set in the exchanges that follow.

use super::Emitter;
use super::cast::Kind;
use super::code::Expr;
use crate::plan::Register;
use naga::{
    AddressSpace, AtomicFunction, BinaryOperator as Operator, BuiltIn, MathFunction, MemoryDecorations,
    Statement,
};
use std::num::NonZeroU32;
use tilewise_ir::WARP_SIZE;

/// Memory of exchanges, and where a thread is in it. Pointers are to global and local variables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchanges {
    /// The thread's place in its warp.
    lane: Expr,
    /// Number of the thread in its block.
    thread: Expr,
    /// 0 or 1 by turns.
    turn: Expr,
    /// Places of a word and of two words.
    words: Option<Expr>,
    long_words: Option<Expr>,
    /// The lanes of each warp that have ended.
    ended: Option<Expr>,
}

/// What threads have shown each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub(super) kind: Kind,
    places: Expr,
    /// Number of the place of the first lane of the warp.
    first: Expr,
    /// The lanes that take part, if they were shown; else all that the warp has at the start are taken to do so.
    pub(super) present: Option<Expr>,
}

impl Emitter<'_> {
    /// Threads of a block.
    pub(super) fn threads(&self) -> u32 {
        self.plan.block.iter().product()
    }

    /// The thread's place in its warp.
    pub(super) fn lane_id(&mut self) -> Expr {
        self.exchanges().lane
    }

    /// How many lanes the warp has at the start.
    pub(super) fn lane_count(&mut self) -> Expr {
        let threads = self.threads();
        if threads.is_multiple_of(WARP_SIZE) || threads < WARP_SIZE {
            return self.code.u32(threads.min(WARP_SIZE));
        }
        let Exchanges { lane, thread, .. } = self.exchanges();
        let first = self.code.binary(Operator::Subtract, thread, lane);
        let threads = self.code.u32(threads);
        let rest = self.code.binary(Operator::Subtract, threads, first);
        let most = self.code.u32(WARP_SIZE);
        self.code.math(MathFunction::Min, &[rest, most])
    }

    /// The lanes that the warp has at the start, as a mask.
    pub(super) fn first_lanes(&mut self) -> Expr {
        let all = self.code.u32(u32::MAX);
        if self.threads().is_multiple_of(WARP_SIZE) {
            return all;
        }
        let (count, size) = (self.lane_count(), self.code.u32(WARP_SIZE));
        let missing = self.code.binary(Operator::Subtract, size, count);
        self.code.binary(Operator::ShiftRight, all, missing)
    }

    fn exchanges(&mut self) -> Exchanges {
        if let Some(exchanges) = self.exchanges {
            return exchanges;
        }
        let ty = self.code.register_ty(Register::U32);
        let thread = self.code.argument("thread_number", ty, BuiltIn::LocalInvocationIndex);
        let lane = self.code.at_start(|code| {
            let mask = code.u32(WARP_SIZE - 1);
            code.binary(Operator::And, thread, mask)
        });
        let zero = self.code.u32(0);
        let turn = self.code.variable_of(Register::U32, Some(zero));
        *self.exchanges.insert(Exchanges { lane, thread, turn, words: None, long_words: None, ended: None })
    }

    /// Shows a value to the other lanes, and whether the thread takes part.
    pub(super) fn show(&mut self, kind: Kind, value: Expr) -> Shown {
        self.exchange(kind, value, self.may_be_dead)
    }

    /// Shows a value to lanes that know who takes part.
    pub(super) fn show_value(&mut self, kind: Kind, value: Expr) -> Shown {
        self.exchange(kind, value, false)
    }

    fn exchange(&mut self, kind: Kind, value: Expr, shows_end: bool) -> Shown {
        let Exchanges { lane, thread, turn, .. } = self.exchanges();
        let places = self.places(kind.register.bytes() == 8);
        let turn_now = self.code.load(turn);
        let count = self.code.u32(self.threads().next_multiple_of(WARP_SIZE));
        let base = self.code.binary(Operator::Multiply, turn_now, count);
        let own = self.code.binary(Operator::Add, base, thread);
        let bits = self.code.bits(kind, value);
        let place = self.code.place(places, own);
        self.code.store(place, bits);
        let mask = shows_end.then(|| self.show_end(turn_now));
        let one = self.code.u32(1);
        let next = self.code.binary(Operator::Subtract, one, turn_now);
        self.code.store(turn, next);
        self.code.push(Statement::ControlBarrier(naga::Barrier::WORK_GROUP));
        let present = mask.map(|mask| {
            let ended = self.code.load(mask);
            let live = self.code.unary(naga::UnaryOperator::BitwiseNot, ended);
            let first = self.first_lanes();
            self.code.binary(Operator::And, live, first)
        });
        let first = self.code.binary(Operator::Subtract, own, lane);
        Shown { kind, places, first, present }
    }

    /// Shows whether the thread has ended; gives the mask that tells it of the warp.
    fn show_end(&mut self, turn: Expr) -> Expr {
        let Exchanges { lane, thread, .. } = self.exchanges();
        let ended = self.ended();
        let [warps, shift, one] =
            [self.threads().div_ceil(WARP_SIZE), WARP_SIZE.trailing_zeros(), 1].map(|n| self.code.u32(n));
        let base = self.code.binary(Operator::Multiply, turn, warps);
        let warp = self.code.binary(Operator::ShiftRight, thread, shift);
        let number = self.code.binary(Operator::Add, base, warp);
        let mask = self.code.place(ended, number);
        let live = self.live();
        let live = self.code.load(live);
        let has_ended = self.code.not(live);
        self.code.open();
        let bit = self.code.binary(Operator::ShiftLeft, one, lane);
        self.code.atomic_effect(mask, AtomicFunction::InclusiveOr, bit);
        self.code.close_if(has_ended);
        mask
    }

    /// The value of a lane that the warp has. Of another lane of 32, it is any value.
    pub(super) fn read_lane(&mut self, shown: Shown, lane: Expr) -> Expr {
        let at = self.code.binary(Operator::Add, shown.first, lane);
        let place = self.code.place(shown.places, at);
        let bits = self.code.load(place);
        self.code.value_of_bits(shown.kind, bits)
    }

    /// Whether a lane, below 32, takes part; `None` if it always does.
    pub(super) fn is_present(&mut self, shown: Shown, lane: Expr) -> Option<Expr> {
        if let Some(present) = shown.present {
            let from_lane = self.code.binary(Operator::ShiftRight, present, lane);
            let one = self.code.u32(1);
            let bit = self.code.binary(Operator::And, from_lane, one);
            return Some(self.code.binary(Operator::Equal, bit, one));
        }
        if self.threads().is_multiple_of(WARP_SIZE) {
            return None;
        }
        let count = self.lane_count();
        Some(self.code.binary(Operator::Less, lane, count))
    }

    // ---- memory ----

    fn places(&mut self, long: bool) -> Expr {
        let exchanges = self.exchanges();
        if let Some(places) = if long { exchanges.long_words } else { exchanges.words } {
            return places;
        }
        let (name, register) = if long { ("long_lanes", Register::U64) } else { ("lanes", Register::U32) };
        let len = 2 * self.threads().next_multiple_of(WARP_SIZE);
        let places = self.shared_array(name, register, false, len);
        let slot = self.exchanges.as_mut().map(|e| if long { &mut e.long_words } else { &mut e.words });
        slot.map_or(places, |slot| *slot.insert(places))
    }

    /// The masks of lanes that have ended. They are cleared at the start of the kernel.
    fn ended(&mut self) -> Expr {
        let exchanges = self.exchanges();
        if let Some(ended) = exchanges.ended {
            return ended;
        }
        let warps = self.threads().div_ceil(WARP_SIZE);
        let ended = self.shared_array("ended_lanes", Register::U32, true, 2 * warps);
        let Exchanges { lane, thread, .. } = exchanges;
        self.code.at_start(|code| {
            let [zero, warps, shift] = [0, warps, WARP_SIZE.trailing_zeros()].map(|n| code.u32(n));
            let is_first = code.binary(Operator::Equal, lane, zero);
            code.open();
            let warp = code.binary(Operator::ShiftRight, thread, shift);
            let second = code.binary(Operator::Add, warp, warps);
            for number in [warp, second] {
                let mask = code.place(ended, number);
                code.store(mask, zero);
            }
            code.close_if(is_first);
            code.push(Statement::ControlBarrier(naga::Barrier::WORK_GROUP));
        });
        if let Some(exchanges) = &mut self.exchanges {
            exchanges.ended = Some(ended);
        }
        ended
    }

    fn shared_array(&mut self, name: &str, place: Register, atomic: bool, len: u32) -> Expr {
        self.plan.shared_bytes += u64::from(len) * u64::from(place.bytes());
        let len = NonZeroU32::new(len);
        let ty = self.code.array_ty(place, atomic, len);
        let none = MemoryDecorations::empty();
        let global = self.code.add_global(name, AddressSpace::WorkGroup, None, ty, none);
        self.code.global(global)
    }
}
