//! What [`Facts`] and [`Ranges`] claim, held against a thread that runs.

use crate::support::reference::{self, Arg, Launch, Observer, Outcome};
use std::collections::HashMap;
use tilewise_ir::analysis::facts::is_integer_division;
use tilewise_ir::analysis::{ArgNumbers, Decided, Facts, LaunchNumbers, Ranges, analyze};
use tilewise_ir::pass::{Decisions, Optimizer};
use tilewise_ir::{Const, Inst, Kernel, MemRef, Op, ParamKind, Type, Value, pass, verify};

/// The numbers of a launch of the reference evaluator, whose tensors are aligned to so many bytes.
pub(crate) fn numbers(kernel: &Kernel, launch: &Launch, align: u32) -> LaunchNumbers {
    let args = kernel.params.iter().zip(&launch.args).map(|(param, arg)| match (&param.kind, arg) {
        (&ParamKind::Scalar(scalar), &Arg::Scalar(bits)) => ArgNumbers::Scalar(Const { scalar, bits }),
        (_, Arg::Tensor(_, extents)) => ArgNumbers::Tensor {
            extents: extents.iter().copied().collect(),
            strides: (0..extents.len()).map(|dim| extents[dim + 1..].iter().product()).collect(),
            align,
        },
        _ => panic!("a tensor is no scalar"),
    });
    LaunchNumbers { grid: [16; 3], block: [8; 3], args: args.collect() }
}

/// How much has been claimed and could be checked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Claims {
    pub(crate) bounds: u64,
    pub(crate) proved: u64,
    pub(crate) failed: u64,
    pub(crate) indices: u64,
    pub(crate) narrow: u64,
    pub(crate) narrow_by_use: u64,
    pub(crate) divisors: u64,
    pub(crate) nonzero: u64,
    pub(crate) decided: u64,
    pub(crate) vectorized: u64,
}

/// Runs a thread and checks all claims.
pub(crate) fn check(kernel: &Kernel, launch: &Launch, align: u32, claims: &mut Claims) {
    let numbers = numbers(kernel, launch, align);
    let facts = analyze(kernel, &numbers);
    let ranges = Ranges::of_launch(kernel, &numbers);
    assert_eq!(facts.block, Some(numbers.block));
    let mut judge = Judge {
        kernel,
        facts: &facts,
        ranges: &ranges,
        numbering: numbering(kernel),
        align,
        claims,
        last: HashMap::new(),
    };
    let Some(expected) = reference::run_observed(kernel, launch, &mut judge) else { return };
    let halved = reference::run_observed(kernel, launch, &mut Halves { kernel, facts: &facts });
    if halved.as_ref().is_none_or(|halved| !is_same(&expected, halved)) {
        panic!(
            "32 bits are not enough\n{}\nnarrow: {:?}\n{launch:?}\n{expected:?}\nbut with 32 bits\n{halved:?}",
            kernel.with_spans(),
            values(&facts),
        );
    }
    let mut decided = kernel.clone();
    if pass::decide::run(&mut decided, &facts.decided) {
        claims.decided += 1;
        check_variant("what is decided", kernel, &decided, &facts, launch, &expected);
    }
    let mut proved = kernel.clone();
    let in_bounds: Vec<u8> = facts.accesses.iter().map(|access| access.in_bounds).collect();
    if pass::proved::run(&mut proved, &in_bounds) {
        check_variant("what is proved", kernel, &proved, &facts, launch, &expected);
    }
    check_specialized(kernel, &numbers, launch, &expected, claims);
}

/// The kernel that a GPU gets for a launch does the same, but for faults that the optimiser may drop.
fn check_specialized(
    kernel: &Kernel,
    numbers: &LaunchNumbers,
    launch: &Launch,
    expected: &Outcome,
    claims: &mut Claims,
) {
    let mut special = kernel.clone();
    if let Some(decisions) = Decisions::of(kernel, &analyze(kernel, numbers), Optimizer::ON) {
        decisions.apply(&mut special, Optimizer::ON);
    }
    let mut facts = analyze(&special, numbers);
    claims.vectorized += u64::from(pass::vectorize::run(&mut special, &mut facts));
    verify::verify(&special).unwrap_or_else(|errors| panic!("{}", verify::render(&special, &errors)));
    assert_eq!(facts.accesses.len(), Facts::unknown(&special).accesses.len());
    // An optimised kernel may evaluate more, but not without bounds.
    let found = reference::run(&special, &Launch { steps: 10 * launch.steps, ..launch.clone() });
    let stay = |outcome: &Outcome| {
        let faults: Vec<_> = outcome.faults.iter().copied().filter(|fault| !fault.may_vanish()).collect();
        faults
    };
    let is_same = |found: &Outcome| {
        found.buffers == expected.buffers
            && found.printed == expected.printed
            && found.faults.is_subset(&expected.faults)
            && stay(found) == stay(expected)
    };
    if !found.as_ref().is_some_and(is_same) {
        panic!(
            "for a launch it is another kernel\n{}\n{launch:?}\n{expected:?}\nbut\n{}\n{found:?}",
            kernel.with_spans(),
            special.with_spans(),
        );
    }
}

/// A kernel that was rewritten by what is known of it does the same, faults included.
fn check_variant(
    what: &str,
    kernel: &Kernel,
    variant: &Kernel,
    facts: &Facts,
    launch: &Launch,
    expected: &Outcome,
) {
    verify::verify(variant).unwrap_or_else(|errors| panic!("{}", verify::render(variant, &errors)));
    let found = reference::run(variant, launch);
    if found.as_ref().is_none_or(|found| !is_same(expected, found)) {
        panic!(
            "without {what} it is another kernel\n{}\n{facts:?}\n{launch:?}\n{expected:?}\nbut\n{}\n{found:?}",
            kernel.with_spans(),
            variant.with_spans(),
        );
    }
}

fn is_same(a: &Outcome, b: &Outcome) -> bool {
    a.buffers == b.buffers && a.printed == b.printed && a.faults == b.faults
}

fn values(facts: &Facts) -> Vec<usize> {
    facts.narrow.iter().enumerate().filter(|(_, narrow)| **narrow).map(|(value, _)| value).collect()
}

/// The numbers of accesses and divisions, by the place of the operation in memory.
fn numbering(kernel: &Kernel) -> HashMap<*const Inst, usize> {
    let (mut accesses, mut divisions) = (0, 0);
    let mut numbers = HashMap::new();
    kernel.body.visit(&mut |inst| {
        let next = if inst.op.access().is_some() {
            &mut accesses
        } else if is_integer_division(kernel, inst) {
            &mut divisions
        } else {
            return;
        };
        numbers.insert(std::ptr::from_ref(inst), *next);
        *next += 1;
    });
    numbers
}

/// Checks claims as the thread runs.
struct Judge<'a> {
    kernel: &'a Kernel,
    facts: &'a Facts,
    ranges: &'a Ranges,
    numbering: HashMap<*const Inst, usize>,
    align: u32,
    claims: &'a mut Claims,
    /// What values were the last time, by number.
    last: HashMap<Value, Vec<u64>>,
}

impl Judge<'_> {
    fn fail(&self, what: &str) -> ! {
        panic!("{what}\n{}", self.kernel.with_spans())
    }

    fn access(&mut self, inst: &Inst, operands: &dyn Fn(usize) -> Vec<u64>) {
        let (Some(access), Some(values)) = (inst.op.access(), inst.op.access_args()) else { return };
        let facts = self.facts.accesses[self.numbering[&std::ptr::from_ref(inst)]];
        let element = self.kernel.mem_elem(access.mem).expect("memory");
        let accessed = match inst.op {
            Op::Store(_) | Op::AtomicStore(..) => self.kernel.ty(inst.args[1]),
            _ => self.kernel.ty(inst.results[0]),
        };
        for (n, &dim) in access.bounds.iter().enumerate() {
            let [index, extent] = [0, 1].map(|i| u128::from(operands(values + 2 * n + i)[0]));
            let is_along = dim == access.lane_dim && element.lanes == 1;
            let last = if is_along { u128::from(accessed.lanes) - 1 } else { 0 };
            let holds = index + last < extent;
            let claimed = facts.in_bounds >> n & 1 == 1;
            if claimed && !holds {
                self.fail(&format!("{index} + {last} < {extent} is claimed at {:?}", inst.span));
            }
            self.claims.bounds += 1;
            self.claims.proved += u64::from(claimed);
            self.claims.failed += u64::from(!holds);
        }
        let start = match access.mem {
            MemRef::Param(_) => u64::from(self.align),
            MemRef::Alloc(_) => 16,
        };
        let address = operands(0)[0].wrapping_mul(element.size() as u64).wrapping_add(start);
        if !facts.align.is_power_of_two() || !address.is_multiple_of(facts.align.into()) {
            self.fail(&format!("{address} is claimed to be aligned to {} at {:?}", facts.align, inst.span));
        }
    }
}

impl Observer for Judge<'_> {
    fn value(&mut self, value: Value, lanes: &mut [u64]) {
        let ty = self.kernel.ty(value);
        if ty.scalar.is_float() {
            return;
        }
        let Some(range) = self.ranges.of(value) else { self.fail(&format!("{value:?} is reached")) };
        let decided = match self.facts.decided[value.0 as usize] {
            Some(Decided::Constant(constant)) => Some(vec![constant.bits]),
            Some(Decided::Operand(operand)) => self.last.get(&operand).cloned(),
            None => None,
        };
        if decided.is_some_and(|decided| lanes != decided) {
            self.fail(&format!("{value:?} is {lanes:?}, against {:?}", self.facts.decided[value.0 as usize]));
        }
        self.last.insert(value, lanes.to_vec());
        for &bits in &*lanes {
            let number = Const { scalar: ty.scalar, bits }.as_int().expect("an integer");
            if !range.contains(number) {
                self.fail(&format!("{value:?} is {number}, but claimed to be in {range:?}"));
            }
        }
        if ty == Type::INDEX {
            self.claims.indices += 1;
            self.claims.narrow += u64::from(self.facts.is_narrow(value));
            if self.facts.fits[value.0 as usize] && lanes[0] >> 32 != 0 {
                self.fail(&format!("{value:?} is {} and is claimed to fit 32 bits", lanes[0]));
            }
            self.claims.narrow_by_use += u64::from(self.facts.is_narrow(value) && lanes[0] >> 32 != 0);
        } else if self.facts.is_narrow(value) {
            self.fail(&format!("{value:?} is no index"));
        }
    }

    fn operation(&mut self, inst: &Inst, operands: &dyn Fn(usize) -> Vec<u64>) {
        self.access(inst, operands);
        if let Op::For(label) = inst.op
            && self.facts.steps[label.0 as usize]
        {
            let (scalar, step) = (self.kernel.ty(inst.args[2]).scalar, operands(2)[0]);
            if Const::from_bits(scalar, step).as_int().is_some_and(|step| step <= 0) {
                self.fail(&format!("the step is claimed to be positive at {:?}", inst.span));
            }
        }
        if is_integer_division(self.kernel, inst) {
            let claimed = self.facts.divisors[self.numbering[&std::ptr::from_ref(inst)]];
            self.claims.divisors += 1;
            self.claims.nonzero += u64::from(claimed);
            if claimed && operands(1).contains(&0) {
                self.fail(&format!("the divisor is claimed not to be zero at {:?}", inst.span));
            }
        }
    }
}

/// Keeps the lower halves of narrow values only.
struct Halves<'a> {
    kernel: &'a Kernel,
    facts: &'a Facts,
}

impl Observer for Halves<'_> {
    fn value(&mut self, value: Value, lanes: &mut [u64]) {
        if self.facts.is_narrow(value) {
            assert_eq!(self.kernel.ty(value), Type::INDEX);
            lanes[0] &= u64::from(u32::MAX);
        }
    }

    fn operation(&mut self, _: &Inst, _: &dyn Fn(usize) -> Vec<u64>) {}
}
