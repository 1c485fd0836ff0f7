//! Operations of warps.
//!
//! Each instruction names the lanes that take part in it, as a mask, and waits for those of them that have not ended. The
//! mask is that of the lanes that the warp has at its start: all 32 where each warp of the block is known to be whole, else
//! it is computed once. Lanes that have ended may be in it: the ISA says of `shfl.sync`, `vote.sync` and `redux.sync` that
//! they wait for the threads of the mask that have not exited. It does not say so of `bar.warp.sync`; there they are taken
//! out.
//!
//! Which lanes are left is asked by a vote, where it matters and threads may have ended before the end of the kernel.

use tilewise_ir::{Axis, BinaryOp, Builtin, Const, Inst, Scalar, Shuffle, SiteKind, Value, WARP_SIZE};

use super::code::{Class, Operand, Reg};
use super::input::Input;
use super::{Emitter, asm};
use crate::Unsupported;

/// The mask of a whole warp.
const WHOLE: u32 = u32::MAX;

impl Emitter<'_> {
    // ---- lanes ----

    /// The thread's place in its warp.
    pub(super) fn lane_id(&mut self) -> Reg {
        self.in_prologue(Input::LaneId, |emitter| {
            let lane = emitter.reg(Class::B32);
            asm!(emitter, "mov.u32 {lane}, %laneid");
            lane
        })
    }

    /// Threads of a block, if they are known.
    fn threads(&self) -> Option<u32> {
        self.facts.block.map(|block| block.iter().product())
    }

    /// Whether each warp has all its lanes at the start.
    fn starts_whole(&self) -> bool {
        self.threads().is_some_and(|threads| threads.is_multiple_of(WARP_SIZE))
    }

    /// Whether each warp has all its lanes, whenever it comes to an operation.
    fn stays_whole(&self) -> bool {
        self.starts_whole() && !self.ends_early
    }

    /// The lanes that the warp has at the start.
    fn first_lanes(&mut self) -> Operand {
        match self.threads() {
            Some(threads) if threads.is_multiple_of(WARP_SIZE) => return Operand::u32(WHOLE),
            Some(threads) if threads < WARP_SIZE => return Operand::u32((1 << threads) - 1),
            _ => {}
        }
        self.in_prologue(Input::Lanes, |emitter| {
            let [thread, threads] = emitter.thread_of_block();
            let [start, end, over, none, lanes] = [(); 5].map(|()| emitter.reg(Class::B32));
            asm!(emitter, "and.b32 {start}, {thread}, -32");
            asm!(emitter, "add.u32 {end}, {start}, 32");
            asm!(emitter, "sub.u32 {over}, {end}, {threads}");
            asm!(emitter, "max.s32 {none}, {over}, 0");
            let whole = emitter.in_register(Operand::u32(WHOLE));
            asm!(emitter, "shr.u32 {lanes}, {whole}, {none}");
            lanes
        })
        .into()
    }

    /// The number of the thread in its block, x fastest, and how many there are.
    fn thread_of_block(&mut self) -> [Operand; 2] {
        let axes = [Axis::X, Axis::Y, Axis::Z];
        let index = axes.map(|axis| self.builtin(Builtin::ThreadIdx, axis)).map(|index| self.low_of(index));
        let size = axes.map(|axis| self.builtin(Builtin::BlockDim, axis)).map(|size| self.low_of(size));
        let (mut thread, mut threads) = (index[2], size[2]);
        for axis in [1, 0] {
            let (next, product) = (self.reg(Class::B32), self.reg(Class::B32));
            asm!(self, "mad.lo.u32 {next}, {thread}, {}, {}", size[axis], index[axis]);
            asm!(self, "mul.lo.u32 {product}, {threads}, {}", size[axis]);
            (thread, threads) = (next.into(), product.into());
        }
        [thread, threads]
    }

    /// The lanes that take part in an operation of the whole warp.
    fn present_lanes(&mut self) -> Operand {
        let lanes = self.first_lanes();
        if self.ends_early { self.not_ended(lanes).into() } else { lanes }
    }

    /// Those of some lanes that have not ended; all of these come here.
    fn not_ended(&mut self, lanes: Operand) -> Reg {
        let (yes, present) = (self.reg(Class::Pred), self.reg(Class::B32));
        asm!(self, "mov.pred {yes}, 1");
        asm!(self, "vote.sync.ballot.b32 {present}, {yes}, {lanes}");
        present
    }

    // ---- barrier and vote ----

    pub(super) fn warp_barrier(&mut self, inst: &Inst) {
        let mask = self.operand(inst.args[0], 0);
        let mut lanes = mask;
        if !self.starts_whole() {
            let (first, both) = (self.first_lanes(), self.reg(Class::B32));
            asm!(self, "and.b32 {both}, {mask}, {first}");
            lanes = both.into();
        }
        if self.ends_early {
            lanes = self.not_ended(lanes).into();
        }
        asm!(self, "bar.warp.sync {lanes}");
    }

    pub(super) fn ballot(&mut self, inst: &Inst) {
        let always = self.lanes(inst.args[0]).first().and_then(|lane| lane.constant());
        if self.stays_whole() && always.is_some_and(|condition| !condition.is_zero()) {
            let all = Operand::u32(WHOLE);
            self.define(inst.results[0], [all].into_iter().collect());
            return;
        }
        let condition = self.operand_register(inst.args[0], 0);
        let votes = self.votes(condition);
        self.define(inst.results[0], [votes.into()].into_iter().collect());
    }

    fn votes(&mut self, condition: Reg) -> Reg {
        let (lanes, votes) = (self.first_lanes(), self.reg(Class::B32));
        asm!(self, "vote.sync.ballot.b32 {votes}, {condition}, {lanes}");
        votes
    }

    // ---- shuffles ----

    /// A value of one lane in a register of the class of its type.
    fn value_register(&mut self, value: Value) -> Reg {
        let operand = match self.ty(value).scalar {
            Scalar::Index => self.wide(value, 0),
            _ => self.operand(value, 0),
        };
        self.in_register(operand)
    }

    pub(super) fn shuffle(&mut self, inst: &Inst, shuffle: Shuffle) {
        let value = self.value_register(inst.args[0]);
        let number = self.shuffle_number(inst.args[1], shuffle);
        let result = match self.stays_whole() {
            true => {
                let lanes = self.first_lanes();
                self.moved(shuffle, value, number, lanes).0
            }
            false => self.shuffle_among(shuffle, value, number),
        };
        self.define(inst.results[0], [result.into()].into_iter().collect());
    }

    /// The number of a shuffle, of which the instruction takes five bits: a distance past the edge becomes that of a whole
    /// warp, which the instruction takes as none.
    fn shuffle_number(&mut self, number: Value, shuffle: Shuffle) -> Operand {
        let number = self.operand(number, 0);
        let is_distance = matches!(shuffle, Shuffle::Up | Shuffle::Down);
        if let Some(Const { bits, .. }) = number.constant() {
            let bits = bits as u32;
            return Operand::u32(if is_distance { bits.min(WARP_SIZE) } else { bits % WARP_SIZE });
        }
        let result = self.reg(Class::B32);
        if is_distance {
            asm!(self, "min.u32 {result}, {number}, {WARP_SIZE}");
        } else {
            asm!(self, "and.b32 {result}, {number}, {}", WARP_SIZE - 1);
        }
        result.into()
    }

    /// A shuffle in a warp that may not have all lanes.
    fn shuffle_among(&mut self, shuffle: Shuffle, value: Reg, number: Operand) -> Reg {
        let (lane, present) = (self.lane_id(), self.present_lanes());
        let moved = self.moved(shuffle, value, number, present).0;
        let source = self.reg(Class::B32);
        match shuffle {
            Shuffle::Idx => self.set(source, number),
            Shuffle::Up => asm!(self, "sub.u32 {source}, {lane}, {number}"),
            Shuffle::Down => asm!(self, "add.u32 {source}, {lane}, {number}"),
            Shuffle::Xor => asm!(self, "xor.b32 {source}, {lane}, {number}"),
        }
        let [from_source, bit] = [(); 2].map(|()| self.reg(Class::B32));
        let mut absent = self.reg(Class::Pred);
        let present = self.in_register(present);
        asm!(self, "shr.u32 {from_source}, {present}, {source}");
        asm!(self, "and.b32 {bit}, {from_source}, 1");
        asm!(self, "setp.eq.u32 {absent}, {bit}, 0");
        if let Shuffle::Up | Shuffle::Down = shuffle {
            // Past the edge no lane is missing, and the instruction gives the lane's own value.
            let [inside, both] = [(); 2].map(|()| self.reg(Class::Pred));
            asm!(self, "setp.lt.u32 {inside}, {source}, {WARP_SIZE}");
            asm!(self, "and.pred {both}, {absent}, {inside}");
            absent = both;
        }
        let result = self.reg(value.class);
        self.set(result, moved);
        let (cold, done) = (self.target(), self.target());
        self.jump_if(absent, true, cold);
        self.label(done);
        let site = self.site(SiteKind::AbsentLane);
        self.cold(|emitter| {
            emitter.label(cold);
            emitter.set(result, value);
            let bits = emitter.report_bits(Scalar::U32, source.into());
            emitter.fault(site, &[bits]);
            emitter.jump(done);
        });
        result
    }

    /// A value of another lane, and whether the shuffle stays inside the warp; a distance of a whole warp counts as none.
    fn moved(&mut self, shuffle: Shuffle, value: Reg, number: Operand, lanes: Operand) -> (Reg, Reg) {
        let inside = self.reg(Class::Pred);
        let result = self.reg(value.class);
        let part = |emitter: &mut Self, to: Reg, from: Reg| {
            let (word, edge) = match shuffle {
                Shuffle::Idx => ("idx", WARP_SIZE - 1),
                Shuffle::Up => ("up", 0),
                Shuffle::Down => ("down", WARP_SIZE - 1),
                Shuffle::Xor => ("bfly", WARP_SIZE - 1),
            };
            asm!(emitter, "shfl.sync.{word}.b32 {to}|{inside}, {from}, {number}, {edge}, {lanes}");
        };
        match value.class {
            Class::B32 | Class::F32 => part(self, result, value),
            Class::B64 | Class::F64 => {
                let [low, high, low_moved, high_moved] = [(); 4].map(|()| self.reg(Class::B32));
                asm!(self, "mov.b64 {{{low}, {high}}}, {value}");
                part(self, low_moved, low);
                part(self, high_moved, high);
                asm!(self, "mov.b64 {result}, {{{low_moved}, {high_moved}}}");
            }
            Class::B16 => {
                let [wide, moved] = [(); 2].map(|()| self.reg(Class::B32));
                asm!(self, "cvt.u32.u16 {wide}, {value}");
                part(self, moved, wide);
                asm!(self, "cvt.u16.u32 {result}, {moved}");
            }
            Class::Pred => {
                let [bit, moved] = [(); 2].map(|()| self.reg(Class::B32));
                asm!(self, "selp.b32 {bit}, 1, 0, {value}");
                part(self, moved, bit);
                asm!(self, "setp.ne.u32 {result}, {moved}, 0");
            }
        }
        (result, inside)
    }

    // ---- reductions ----

    /// Two values combined, in a register. An index is computed with all its bits.
    fn combined_lanes(&mut self, op: BinaryOp, scalar: Scalar, a: Reg, b: Reg) -> Result<Reg, Unsupported> {
        let scalar = if scalar == Scalar::Index { Scalar::U64 } else { scalar };
        let result = self.binary_lane(op, scalar, a.into(), b.into(), false)?;
        Ok(self.in_register(result))
    }

    pub(super) fn warp_reduce(&mut self, inst: &Inst, op: BinaryOp) -> Result<(), Unsupported> {
        let scalar = self.ty(inst.args[0]).scalar;
        let value = self.value_register(inst.args[0]);
        let result: Operand = if scalar == Scalar::Bool {
            self.reduce_bools(op, value, None).into()
        } else if let Some(word) = self.redux(op, scalar) {
            let (lanes, result) = (self.first_lanes(), self.reg(Class::B32));
            asm!(self, "redux.sync.{word} {result}, {value}, {lanes}");
            self.normalize(scalar, result.into())
        } else if self.stays_whole() {
            self.reduce_whole(op, scalar, value)?.into()
        } else {
            let result = self.reg(value.class);
            let present = self.present_lanes();
            let (whole, cold, done) = (self.reg(Class::Pred), self.target(), self.target());
            let lanes = self.in_register(present);
            asm!(self, "setp.eq.u32 {whole}, {lanes}, {WHOLE}");
            self.jump_if(whole, false, cold);
            let (total, lines) = self.capture(|emitter| emitter.reduce_whole(op, scalar, value));
            self.lines.extend(lines);
            self.set(result, total?);
            self.label(done);
            let mut some = Ok(());
            self.cold(|emitter| {
                emitter.label(cold);
                some = emitter.reduce_some(op, scalar, value, lanes, result, None);
                emitter.jump(done);
            });
            some?;
            result.into()
        };
        self.define(inst.results[0], [result].into_iter().collect());
        Ok(())
    }

    /// The instruction that combines integers of up to 32 bits, whatever their order, if the target has it.
    fn redux(&self, op: BinaryOp, scalar: Scalar) -> Option<&'static str> {
        if Class::of(scalar) != Class::B32 || !self.target.has(80, (7, 0)) {
            return None;
        }
        match (op, scalar.is_signed_int()) {
            (BinaryOp::Add, _) => Some("add.u32"),
            (BinaryOp::Min, false) => Some("min.u32"),
            (BinaryOp::Min, true) => Some("min.s32"),
            (BinaryOp::Max, false) => Some("max.u32"),
            (BinaryOp::Max, true) => Some("max.s32"),
            (BinaryOp::And, _) => Some("and.b32"),
            (BinaryOp::Or, _) => Some("or.b32"),
            (BinaryOp::Xor, _) => Some("xor.b32"),
            _ => None,
        }
    }

    /// Truth values combined by a vote, of the lanes of `among` or all.
    fn reduce_bools(&mut self, op: BinaryOp, value: Reg, among: Option<Reg>) -> Reg {
        // All hold where none does not.
        let asked = if op == BinaryOp::And { self.not(value.into()) } else { value };
        let mut votes = self.votes(asked);
        if let Some(among) = among {
            let some = self.reg(Class::B32);
            asm!(self, "and.b32 {some}, {votes}, {among}");
            votes = some;
        }
        let result = self.reg(Class::Pred);
        match op {
            BinaryOp::And => asm!(self, "setp.eq.u32 {result}, {votes}, 0"),
            BinaryOp::Or => asm!(self, "setp.ne.u32 {result}, {votes}, 0"),
            _ => {
                let [count, odd] = [(); 2].map(|()| self.reg(Class::B32));
                asm!(self, "popc.b32 {count}, {votes}");
                asm!(self, "and.b32 {odd}, {count}, 1");
                asm!(self, "setp.ne.u32 {result}, {odd}, 0");
            }
        }
        result
    }

    /// The values of all 32 lanes.
    fn reduce_whole(&mut self, op: BinaryOp, scalar: Scalar, value: Reg) -> Result<Reg, Unsupported> {
        let mut total = value;
        for distance in [16, 8, 4, 2, 1] {
            let (other, _) = self.moved(Shuffle::Xor, total, Operand::u32(distance), Operand::u32(WHOLE));
            total = self.combined_lanes(op, scalar, total, other)?;
        }
        Ok(total)
    }

    /// The values of some lanes, from the lowest to the highest, into a register. With `lane`, only of those up to it.
    fn reduce_some(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        value: Reg,
        lanes: Reg,
        result: Reg,
        lane: Option<Reg>,
    ) -> Result<(), Unsupported> {
        let [rest, below] = [(); 2].map(|()| self.reg(Class::B32));
        let (total, more) = (self.reg(value.class), self.reg(Class::Pred));
        let (head, end) = (self.target(), self.target());
        self.set(rest, lanes);
        let source = self.lowest(rest);
        let (first, _) = self.moved(Shuffle::Idx, value, source.into(), lanes.into());
        self.set(total, first);
        self.set(result, first);
        self.label(head);
        asm!(self, "sub.u32 {below}, {rest}, 1");
        asm!(self, "and.b32 {rest}, {rest}, {below}");
        asm!(self, "setp.ne.u32 {more}, {rest}, 0");
        self.jump_if(more, false, end);
        let source = self.lowest(rest);
        let (next, _) = self.moved(Shuffle::Idx, value, source.into(), lanes.into());
        let sum = self.combined_lanes(op, scalar, total, next)?;
        self.set(total, sum);
        match lane {
            None => self.set(result, total),
            Some(lane) => {
                let here = self.reg(Class::Pred);
                asm!(self, "setp.eq.u32 {here}, {source}, {lane}");
                asm!(self, "selp.{} {result}, {total}, {result}, {here}", value.class.ty());
            }
        }
        self.jump(head);
        self.label(end);
        Ok(())
    }

    /// The lowest lane of some.
    fn lowest(&mut self, lanes: Reg) -> Reg {
        let [reversed, lane] = [(); 2].map(|()| self.reg(Class::B32));
        asm!(self, "brev.b32 {reversed}, {lanes}");
        asm!(self, "clz.b32 {lane}, {reversed}");
        lane
    }

    // ---- scans ----

    pub(super) fn warp_scan(&mut self, inst: &Inst, op: BinaryOp) -> Result<(), Unsupported> {
        let scalar = self.ty(inst.args[0]).scalar;
        let value = self.value_register(inst.args[0]);
        let result = if scalar == Scalar::Bool {
            let up_to_this = self.reg(Class::B32);
            asm!(self, "mov.u32 {up_to_this}, %lanemask_le");
            self.reduce_bools(op, value, Some(up_to_this))
        } else if !self.ends_early {
            let lanes = self.first_lanes();
            self.scan_lowest(op, scalar, value, lanes)?
        } else {
            let (result, lane) = (self.reg(value.class), self.lane_id());
            let present = self.present_lanes();
            let lanes = self.in_register(present);
            let [next, both] = [(); 2].map(|()| self.reg(Class::B32));
            let (lowest, cold, done) = (self.reg(Class::Pred), self.target(), self.target());
            asm!(self, "add.u32 {next}, {lanes}, 1");
            asm!(self, "and.b32 {both}, {lanes}, {next}");
            asm!(self, "setp.eq.u32 {lowest}, {both}, 0");
            self.jump_if(lowest, false, cold);
            let (scanned, lines) =
                self.capture(|emitter| emitter.scan_lowest(op, scalar, value, lanes.into()));
            self.lines.extend(lines);
            self.set(result, scanned?);
            self.label(done);
            let mut some = Ok(());
            self.cold(|emitter| {
                emitter.label(cold);
                some = emitter.reduce_some(op, scalar, value, lanes, result, Some(lane));
                emitter.jump(done);
            });
            some?;
            result
        };
        self.define(inst.results[0], [result.into()].into_iter().collect());
        Ok(())
    }

    /// The values up to each lane, where the lanes are the lowest of the warp.
    fn scan_lowest(
        &mut self,
        op: BinaryOp,
        scalar: Scalar,
        value: Reg,
        lanes: Operand,
    ) -> Result<Reg, Unsupported> {
        let mut sum = value;
        for distance in [1, 2, 4, 8, 16] {
            let (below, there) = self.moved(Shuffle::Up, sum, Operand::u32(distance), lanes);
            let both = self.combined_lanes(op, scalar, below, sum)?;
            let next = self.reg(value.class);
            asm!(self, "selp.{} {next}, {both}, {sum}, {there}", value.class.ty());
            sum = next;
        }
        Ok(sum)
    }
}
