//! Control flow: what `#[kernel]` makes of `if`, `while`, `loop`, `for`, `break`, `continue` and `return`.
//!
//! The branches and bodies stay inline in the rewritten function, between calls that open and close blocks of the IR.
//! A condition that is a plain `bool` is decided here; one that is a `Val<bool>` is recorded. `break`, `continue` and
//! `return` are recorded too, they do not leave the Rust code: what is described after them in the same block is
//! dropped, as it cannot be reached.

use std::marker::PhantomData;
use std::panic::Location;

use tilewise_ir::{BinaryOp, Block, CompareOp, Label, Op, Type};

use crate::element::{Element, Int};
use crate::recorder::{self, Raw};
use crate::staged::{Stage, StageAs, StagedValue};
use crate::val::Val;
use crate::variable::Var;

/// What can be the condition of `if` and `while`: a plain `bool` or a `Val<bool>`.
#[diagnostic::on_unimplemented(
    message = "a condition is a `bool`, found `{Self}`",
    label = "expected `bool`",
    note = "compare a number with zero: `x != 0`"
)]
pub trait Condition: Copy {
    /// The type itself.
    #[doc(hidden)]
    type Same;

    /// The condition as it is.
    #[doc(hidden)]
    fn same(self) -> Self::Same;

    /// The plain value, or the handle of the recorded one.
    #[doc(hidden)]
    fn decide(self) -> Decision;
}

/// A [`Condition`] taken apart.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    /// Known while the kernel is described.
    Plain(bool),
    /// Known on the device.
    Recorded(Recorded),
}

/// The handle in a [`Decision`].
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Recorded(pub(crate) Raw);

impl Condition for bool {
    type Same = bool;

    fn same(self) -> bool {
        self
    }

    fn decide(self) -> Decision {
        Decision::Plain(self)
    }
}

impl Condition for Val<bool> {
    type Same = Val<bool>;

    fn same(self) -> Val<bool> {
        self
    }

    fn decide(self) -> Decision {
        Decision::Recorded(Recorded(self.raw))
    }
}

/// The right side of `&&` and `||`, checked to be a condition.
pub fn condition<C: Condition>(condition: C) -> C::Same {
    condition.same()
}

#[track_caller]
fn one_lane(condition: Raw) {
    let location = Location::caller();
    let lanes = recorder::ty(location, condition).lanes;
    if lanes != 1 {
        recorder::fail(
            location,
            format!(
                "this condition has {lanes} lanes; a branch needs one: combine the lanes with `reduce_or` or \
                 `reduce_and`, or choose lane by lane with `select`"
            ),
        );
    }
}

/// An `if` that is being described.
///
/// ```text
/// let mut branch = If::new(condition);
/// let (mut a, mut b) = (None, None);
/// if branch.then() { a = Some(branch.arm(...)); }
/// if branch.otherwise() { b = Some(branch.arm(...)); }
/// branch.finish(a, b)        // or branch.end() if there is no value
/// ```
#[derive(Debug)]
pub struct If<C> {
    decision: Decision,
    then: Option<Block>,
    /// The variable that takes the value of either branch.
    slot: Option<u32>,
    condition: PhantomData<C>,
}

impl<C: Condition> If<C> {
    /// Starts an `if`.
    #[track_caller]
    pub fn new(condition: C) -> If<C> {
        let decision = condition.decide();
        if let Decision::Recorded(Recorded(raw)) = decision {
            one_lane(raw);
        }
        If { decision, then: None, slot: None, condition: PhantomData }
    }
}

// Without the bound, so that a condition of a wrong type is reported once.
impl<C> If<C> {
    /// Whether to describe the first branch, which starts here.
    #[track_caller]
    pub fn then(&mut self) -> bool {
        match self.decision {
            Decision::Plain(value) => value,
            Decision::Recorded(_) => {
                recorder::with(Location::caller(), |r| {
                    r.conditional += 1;
                    r.builder.open_block(&[]);
                });
                true
            }
        }
    }

    /// Ends the first branch; whether to describe the second one, which starts here.
    #[track_caller]
    pub fn otherwise(&mut self) -> bool {
        match self.decision {
            Decision::Plain(value) => !value,
            Decision::Recorded(_) => {
                self.then = Some(recorder::with(Location::caller(), |r| {
                    let then = r.builder.close_block(Op::Yield);
                    r.builder.open_block(&[]);
                    then
                }));
                true
            }
        }
    }

    /// Ends the `if`.
    #[track_caller]
    pub fn end(&mut self) {
        let Decision::Recorded(Recorded(condition)) = self.decision else { return };
        let location = Location::caller();
        let condition = recorder::value(location, condition);
        let then = self.then.take().expect("`then` and `otherwise` were called");
        recorder::with(location, |r| {
            r.conditional -= 1;
            let otherwise = r.builder.close_block(Op::Yield);
            r.builder.emit_structure(Op::If, [condition], vec![then, otherwise], &[]);
        });
    }
}

impl If<Val<bool>> {
    /// The value of the branch that is being described.
    #[track_caller]
    pub fn arm<A: Stage>(&mut self, value: A) -> A::Staged {
        let value = value.stage();
        let var = match self.slot {
            Some(slot) => Var::<A::Staged>::from_slot(slot),
            None => Var::uninit(),
        };
        self.slot = Some(var.slot());
        var.set_value(&value);
        value
    }

    /// Ends the `if` and gives its value.
    #[track_caller]
    pub fn finish<S: StagedValue>(&mut self, _: Option<S>, _: Option<S>) -> S {
        self.finish_one(None)
    }

    /// Ends the `if`, one of whose branches leaves, and gives the value of the other.
    #[track_caller]
    pub fn finish_one<S: StagedValue>(&mut self, _: Option<S>) -> S {
        self.end();
        match self.slot {
            Some(slot) => Var::<S>::from_slot(slot).get(),
            None => S::undefined(Location::caller()),
        }
    }
}

impl If<bool> {
    /// The value of the branch that is being described.
    pub fn arm<A>(&mut self, value: A) -> A {
        value
    }

    /// Ends the `if` and gives its value: that of the branch that was described.
    #[track_caller]
    pub fn finish<A: Unify<B>, B>(&mut self, then: Option<A>, otherwise: Option<B>) -> A::Output {
        match (then, otherwise) {
            (Some(a), _) => A::left(a),
            (None, Some(b)) => A::right(b),
            (None, None) => unreachable!("a plain condition picks one branch"),
        }
    }

    /// Ends the `if`, one of whose branches leaves, and gives the value of the other.
    #[track_caller]
    pub fn finish_one<A: Stage>(&mut self, value: Option<A>) -> A::Staged {
        match value {
            Some(value) => value.stage(),
            None => A::Staged::undefined(Location::caller()),
        }
    }
}

/// The common type of the two branches of an `if` whose condition is a plain `bool`: equal types stay, a plain value
/// beside a value of the kernel becomes one.
#[diagnostic::on_unimplemented(
    message = "`if` and `else` have different types: `{Self}` and `{B}`",
    note = "numbers are not converted by themselves: write `x as f32`, `i as usize`"
)]
pub trait Unify<B> {
    /// The common type.
    type Output;

    /// From the first branch.
    #[track_caller]
    fn left(self) -> Self::Output;

    /// From the second branch.
    #[track_caller]
    fn right(other: B) -> Self::Output;
}

impl<A> Unify<A> for A {
    type Output = A;

    fn left(self) -> A {
        self
    }

    fn right(other: A) -> A {
        other
    }
}

impl<T: Element> Unify<T> for Val<T> {
    type Output = Val<T>;

    fn left(self) -> Val<T> {
        self
    }

    #[track_caller]
    fn right(other: T) -> Val<T> {
        other.stage()
    }
}

macro_rules! unify_plain {
    ($($plain:ty)*) => {$(
        impl Unify<Val<$plain>> for $plain {
            type Output = Val<$plain>;

            #[track_caller]
            fn left(self) -> Val<$plain> {
                self.stage()
            }

            fn right(other: Val<$plain>) -> Val<$plain> {
                other
            }
        }
    )*};
}

unify_plain!(bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize half::f16 half::bf16 f32 f64);

/// A `while`, `loop`, labelled block, or `for` over host values that is being described.
#[derive(Debug)]
pub struct Loop {
    label: Label,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A loop of the IR, which not all threads need enter if it has a condition.
    Recorded { conditional: bool },
    /// A block that is run once: each round is described on its own inside it.
    Plain {
        /// The block of the round that is being described; leaving it goes to the next round.
        round: Option<Label>,
        rounds: u64,
    },
}

/// How many rounds of a loop may be described one by one.
const MAX_PLAIN_ROUNDS: u64 = 1 << 16;

impl Loop {
    #[track_caller]
    fn begin(kind: Kind) -> Loop {
        let label = recorder::with(Location::caller(), |r| {
            let label = r.builder.label();
            r.builder.open_block(&[]);
            label
        });
        Loop { label, kind }
    }

    /// `loop`, or `while`: which kind it is, the condition decides.
    #[track_caller]
    pub fn repeat() -> Loop {
        Loop::begin(Kind::Recorded { conditional: false })
    }

    /// A block that is run once and can be left: the body of a function with `return`, a labelled block, or a `for`
    /// over host values.
    #[track_caller]
    pub fn once() -> Loop {
        Loop::begin(Kind::Plain { round: None, rounds: 0 })
    }

    /// The condition of `while`: whether to describe the body (once more).
    #[track_caller]
    pub fn test<C: Condition>(&mut self, condition: C) -> bool {
        match condition.decide() {
            Decision::Plain(value) => {
                if value {
                    self.round();
                } else if matches!(self.kind, Kind::Recorded { .. }) {
                    self.kind = Kind::Plain { round: None, rounds: 0 };
                }
                value
            }
            Decision::Recorded(Recorded(raw)) => {
                let location = Location::caller();
                one_lane(raw);
                let condition = recorder::value(location, raw);
                recorder::with(location, |r| {
                    r.builder.open_block(&[]);
                    let then = r.builder.close_block(Op::Yield);
                    r.builder.open_block(&[]);
                    let otherwise = r.builder.close_block(Op::Break(self.label));
                    r.builder.emit_structure(Op::If, [condition], vec![then, otherwise], &[]);
                    r.conditional += 1;
                });
                self.kind = Kind::Recorded { conditional: true };
                true
            }
        }
    }

    /// Starts a round of a loop whose rounds are described one by one.
    #[track_caller]
    pub fn round(&mut self) {
        let location = Location::caller();
        let rounds = match self.kind {
            Kind::Recorded { .. } => 1,
            Kind::Plain { rounds, .. } => rounds + 1,
        };
        if rounds > MAX_PLAIN_ROUNDS {
            recorder::fail(
                location,
                format!(
                    "more than {MAX_PLAIN_ROUNDS} rounds of this loop were described one by one: its condition or \
                     iterator is a plain value of the host; loop over a value of the kernel instead \
                     (`for i in lo..hi`, or a condition on a `let mut` variable)"
                ),
            );
        }
        let label = recorder::with(location, |r| {
            let label = r.builder.label();
            r.builder.open_block(&[]);
            label
        });
        self.kind = Kind::Plain { round: Some(label), rounds };
    }

    /// Ends a round; whether to describe another.
    #[track_caller]
    pub fn again(&mut self) -> bool {
        match &mut self.kind {
            Kind::Recorded { .. } => false,
            Kind::Plain { round, .. } => {
                let label = round.take().expect("a round was started");
                recorder::with(Location::caller(), |r| {
                    let leaves = matches!(r.builder.current().insts.last(), Some(i)
                        if i.op.is_terminator() && i.op != Op::Break(label));
                    let block = r.builder.close_block(Op::Break(label));
                    run_once(&mut r.builder, label, block);
                    !leaves
                })
            }
        }
    }

    /// `break`
    #[track_caller]
    pub fn leave(&self) {
        recorder::emit_void(Location::caller(), Op::Break(self.label), []);
    }

    /// `continue`
    #[track_caller]
    pub fn next(&self) {
        let op = match self.kind {
            Kind::Recorded { .. } => Op::Continue(self.label),
            Kind::Plain { round: Some(round), .. } => Op::Break(round),
            Kind::Plain { round: None, .. } => Op::Break(self.label),
        };
        recorder::emit_void(Location::caller(), op, []);
    }

    /// Ends the loop.
    #[track_caller]
    pub fn end(&mut self) {
        recorder::with(Location::caller(), |r| {
            if let Kind::Recorded { conditional } = self.kind {
                r.conditional -= u32::from(conditional);
                let block = r.builder.close_block(Op::Continue(self.label));
                r.builder.emit_structure(Op::Loop(self.label), [], vec![block], &[]);
            } else {
                let block = r.builder.close_block(Op::Break(self.label));
                run_once(&mut r.builder, self.label, block);
            }
        });
    }
}

/// Appends a block that is run once. Nothing is put around it if nothing leaves it early, so that what it computed can
/// be used behind it.
fn run_once(builder: &mut tilewise_ir::Builder, label: Label, block: Block) {
    let ends = block.insts.last().map(|i| &i.op) == Some(&Op::Break(label));
    let mut jumps = 0;
    block.visit(&mut |i| jumps += usize::from(i.op == Op::Break(label)));
    if jumps == usize::from(ends) {
        builder.append(block, !ends);
    } else {
        builder.emit_structure(Op::Loop(label), [], vec![block], &[]);
    }
}

/// A range of a `for` loop on the device: `lo..hi`, with `step_by` and `rev`.
#[derive(Clone, Copy, Debug)]
pub struct Range<T: Element> {
    lo: Val<T>,
    hi: Val<T>,
    inclusive: bool,
    step: Option<Val<T>>,
    order: Order,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Forward,
    /// Reversed, then perhaps stepped: starts from the upper end.
    Reversed,
    /// Stepped, then reversed: ends with the lower end.
    SteppedReversed,
}

/// `lo..hi`
#[track_caller]
pub fn range<T: Int>(lo: impl StageAs<Val<T>>, hi: impl StageAs<Val<T>>) -> Range<T> {
    Range { lo: lo.stage_as(), hi: hi.stage_as(), inclusive: false, step: None, order: Order::Forward }
}

/// `lo..=hi`
#[track_caller]
pub fn range_inclusive<T: Int>(lo: impl StageAs<Val<T>>, hi: impl StageAs<Val<T>>) -> Range<T> {
    Range { inclusive: true, ..range(lo, hi) }
}

impl<T: Int> Range<T> {
    /// Every `step`-th number only. A step that is not positive is a fault.
    #[track_caller]
    pub fn step_by(self, step: impl StageAs<Val<T>>) -> Range<T> {
        let location = Location::caller();
        if self.step.is_some() {
            recorder::fail(location, "`step_by` twice on one range: multiply the steps");
        }
        let step = step.stage_as();
        if step.known(location).and_then(|c| c.as_int()).is_some_and(|s| s <= 0) {
            recorder::fail(location, "the step of a range must be positive");
        }
        Range { step: Some(step), ..self }
    }

    /// From the last number to the first.
    #[track_caller]
    pub fn rev(self) -> Range<T> {
        let order = match (self.order, self.step) {
            (Order::Forward, None) => Order::Reversed,
            (Order::Forward, Some(_)) => Order::SteppedReversed,
            (Order::Reversed, None) => Order::Forward,
            _ => recorder::fail(
                Location::caller(),
                "`rev` twice with a step between them: write the range itself",
            ),
        };
        Range { order, ..self }
    }

    /// How many numbers there are, as an index.
    #[track_caller]
    fn count(self) -> Val<usize> {
        use crate::math::select;
        let Range { lo, hi, .. } = self;
        let (op, last) = match self.inclusive {
            true => (CompareOp::Le, hi),
            false => (CompareOp::Lt, hi - T::ONE),
        };
        let some = crate::val::compare(op, lo, hi);
        // The distance as an unsigned number of the same width: it may not fit the signed type.
        let location = Location::caller();
        let unsigned = unsigned(T::SCALAR);
        let distance = recorder::emit(location, Op::Cast(unsigned), [(last - lo).raw], unsigned.ty());
        let distance = Val::<usize>::from_raw(recorder::emit(
            location,
            Op::Cast(tilewise_ir::Scalar::Index),
            [distance],
            Type::INDEX,
        ));
        let rounds = match self.step {
            Some(step) => distance / crate::cast::cast_val::<usize, T>(step) + 1,
            None => distance + 1,
        };
        select(some, rounds, 0usize)
    }
}

fn unsigned(scalar: tilewise_ir::Scalar) -> tilewise_ir::Scalar {
    use tilewise_ir::Scalar;
    match scalar {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        other => other,
    }
}

/// A `for` over a [`Range`] that is being described.
#[derive(Debug)]
pub struct For<T: Element> {
    label: Label,
    args: [Raw; 3],
    index: Val<T>,
}

impl<T: Int> For<T> {
    /// Starts the loop.
    #[track_caller]
    pub fn begin(range: Range<T>) -> For<T> {
        let location = Location::caller();
        if range.order == Order::Forward && !range.inclusive {
            let step = range.step.unwrap_or_else(|| T::ONE.stage());
            let (label, index) = open(location, T::SCALAR.ty());
            return For { label, args: [range.lo.raw, range.hi.raw, step.raw], index: Val::from_raw(index) };
        }
        let count = range.count();
        let args = [0usize.stage().raw, count.raw, 1usize.stage().raw];
        let (label, round) = open(location, Type::INDEX);
        let round: Val<usize> = Val::from_raw(round);
        let distance = |round: Val<usize>| -> Val<T> {
            let round = crate::cast::cast_val(round);
            match range.step {
                Some(step) => crate::val::binary(BinaryOp::Mul, round, step),
                None => round,
            }
        };
        let index = match range.order {
            Order::Forward => range.lo + distance(round),
            Order::SteppedReversed => range.lo + distance(count - 1usize - round),
            Order::Reversed => {
                let last = if range.inclusive { range.hi } else { range.hi - T::ONE };
                last - distance(round)
            }
        };
        For { label, args, index }
    }

    /// The loop's variable.
    pub fn index(&self) -> Val<T> {
        self.index
    }

    /// `break`
    #[track_caller]
    pub fn leave(&self) {
        recorder::emit_void(Location::caller(), Op::Break(self.label), []);
    }

    /// `continue`
    #[track_caller]
    pub fn next(&self) {
        recorder::emit_void(Location::caller(), Op::Continue(self.label), []);
    }

    /// Ends the loop.
    #[track_caller]
    pub fn end(&mut self) {
        let location = Location::caller();
        let args = self.args.map(|a| recorder::value(location, a));
        recorder::with(location, |r| {
            r.conditional -= 1;
            let block = r.builder.close_block(Op::Continue(self.label));
            r.builder.emit_structure(Op::For(self.label), args, vec![block], &[]);
        });
    }
}

fn open(location: &'static Location<'static>, index: Type) -> (Label, Raw) {
    recorder::with(location, |r| {
        let label = r.builder.label();
        let params = r.builder.open_block(&[index]);
        r.conditional += 1;
        (label, r.raw(params[0]))
    })
}

/// The values that a loop runs through while the kernel is described: `for k in comptime(0..N)` describes its body
/// once for each.
pub fn comptime<I: IntoIterator>(values: I) -> I {
    values
}

/// `return` in a kernel: the thread ends.
#[track_caller]
pub fn exit_thread() {
    let location = Location::caller();
    recorder::emit_void(location, Op::Return, []);
    recorder::with(location, |r| {
        if r.conditional > 0 {
            r.ended.get_or_insert(location);
        }
    });
}

/// How deep calls of `#[device]` functions may nest: they are described in place, so recursion must end while
/// describing.
const MAX_CALL_DEPTH: u32 = 128;

/// A call of a `#[device]` function, for the time in which its body is described.
#[derive(Debug)]
pub struct Call(());

impl Call {
    /// Enters the function `name`.
    #[track_caller]
    pub fn enter(name: &str) -> Call {
        let location = Location::caller();
        let depth = recorder::with(location, |r| {
            r.device_depth += 1;
            r.device_depth
        });
        if depth > MAX_CALL_DEPTH {
            recorder::fail(
                location,
                format!(
                    "`{name}` is called inside itself more than {MAX_CALL_DEPTH} deep: a device function is described \
                     in place at each call, so recursion must end by a condition that is plain (`#[comptime]`)"
                ),
            );
        }
        Call(())
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        recorder::leave_call();
    }
}
