//! Random kernels give the same results before and after each pass, bit for bit.

use crate::support::generate::{self, Mix};
use crate::support::reference::{self, Fault, Launch, Outcome};
use std::collections::BTreeSet;
use tilewise_ir::pass::{self, Pass};
use tilewise_ir::{Kernel, MemRef, Op, Space, verify};

/// How many kernels each test tries: `TILEWISE_KERNELS`, or this.
const KERNELS: u64 = 400;

fn kernels() -> u64 {
    std::env::var("TILEWISE_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(KERNELS)
}

/// The first seed: `TILEWISE_SEED`, or 0.
pub(crate) fn seeds() -> std::ops::Range<u64> {
    let first = std::env::var("TILEWISE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    first..first + kernels()
}

fn must_stay(outcome: &Outcome) -> BTreeSet<Fault> {
    outcome.faults.iter().copied().filter(|fault| !fault.may_vanish()).collect()
}

/// What two outcomes differ in, if they do.
fn difference(before: &Outcome, after: &Outcome) -> Option<String> {
    if before.buffers != after.buffers {
        return Some(format!("memory: {:x?}\nbut after: {:x?}", before.buffers, after.buffers));
    }
    if before.printed != after.printed {
        return Some(format!("printed: {:x?}\nbut after: {:x?}", before.printed, after.printed));
    }
    if !after.faults.is_subset(&before.faults) || must_stay(before) != must_stay(after) {
        return Some(format!("faults: {:?}\nbut after: {:?}", before.faults, after.faults));
    }
    None
}

/// Runs `change` on a kernel and compares what the kernel does.
pub(crate) fn check(
    name: &str,
    kernel: &Kernel,
    launches: &[Launch],
    change: impl FnOnce(&mut Kernel) -> bool,
) -> Kernel {
    let mut after = kernel.clone();
    let changed = change(&mut after);
    if !changed {
        assert_eq!(kernel.body, after.body, "{name} says that it has changed nothing");
        return after;
    }
    if let Err(errors) = verify::verify(&after) {
        panic!("{name} has broken\n{}\n{}", kernel.with_spans(), verify::render(&after, &errors));
    }
    for launch in launches {
        let Some(expected) = reference::run(kernel, launch) else { continue };
        // An optimised kernel may evaluate more, but not without bounds.
        let launch = Launch { steps: 10 * launch.steps, ..launch.clone() };
        let Some(outcome) = reference::run(&after, &launch) else {
            panic!("{name} has made this not end\n{}\n{}", kernel.with_spans(), after.with_spans())
        };
        if let Some(difference) = difference(&expected, &outcome) {
            panic!("{name}\n{}\nbecame\n{}\n{difference}", kernel.with_spans(), after.with_spans());
        }
    }
    after
}

fn run(pass: &Pass) -> impl FnOnce(&mut Kernel) -> bool {
    let run = pass.run;
    move |kernel| run(kernel)
}

#[test]
fn kernels_do_something() {
    let (mut ended, mut stored, mut steps) = (0, 0, 0);
    for seed in seeds() {
        let (kernel, launches) = generate::kernel(seed, Mix::ALL);
        if let Some(outcome) = reference::run(&kernel, &launches[0]) {
            ended += 1;
            stored += u64::from(!outcome.printed.is_empty() || outcome.buffers != launches[0].buffers);
            steps += outcome.steps;
        }
    }
    let kernels = kernels();
    assert!(ended * 100 > kernels * 97 && stored * 100 > kernels * 80, "{ended} ended, {stored} stored");
    assert!(steps / ended > 50, "{steps} steps");
}

#[test]
fn each_pass_on_kernels_as_staged() {
    for seed in seeds() {
        let (mut kernel, launches) = generate::kernel(seed, Mix::ALL);
        kernel.contract = false;
        for pass in pass::PREPARE.iter().chain(pass::OPTIMIZE) {
            check(&format!("{} on {seed}", pass.name), &kernel, &launches, run(pass));
        }
    }
}

/// How many barriers and accesses of memory that threads share there are.
fn shared_operations(kernel: &Kernel) -> usize {
    let mut count = 0;
    kernel.body.visit(&mut |inst| {
        let shared = inst.op.access().is_some_and(|access| match access.mem {
            MemRef::Param(_) => true,
            MemRef::Alloc(alloc) => kernel.allocs[alloc.0 as usize].space == Space::Shared,
        });
        count += usize::from(shared || inst.op == Op::Barrier);
    });
    count
}

#[test]
fn kernels_that_are_prepared_to_be_checked() {
    same_to_an_observer(pass::prepare_checked);
}

#[test]
fn kernels_that_are_prepared_to_be_profiled() {
    same_to_an_observer(|kernel| drop(pass::prepare_profiled(kernel)));
}

/// Results, lines and faults stay, and so do accesses of memory that threads share.
fn same_to_an_observer(prepare: fn(&mut Kernel)) {
    for seed in seeds() {
        let (mut kernel, launches) = generate::kernel(seed, Mix::ALL);
        kernel.contract = false;
        let mut after = kernel.clone();
        prepare(&mut after);
        let both = || format!("{seed}\n{}\nbecame\n{}", kernel.with_spans(), after.with_spans());
        assert_eq!(shared_operations(&kernel), shared_operations(&after), "{}", both());
        for launch in &launches {
            let Some(expected) = reference::run(&kernel, launch) else { continue };
            let launch = Launch { steps: 10 * launch.steps, ..launch.clone() };
            let outcome =
                reference::run(&after, &launch).unwrap_or_else(|| panic!("does not end: {}", both()));
            assert!(expected.buffers == outcome.buffers && expected.printed == outcome.printed, "{}", both());
            // Index arithmetic that wraps is a fault more.
            assert!(must_stay(&expected).is_subset(&outcome.faults), "{}", both());
        }
    }
}

#[test]
fn each_pass_on_prepared_kernels() {
    for seed in seeds() {
        let (mut kernel, launches) = generate::kernel(seed, Mix::ALL);
        pass::prepare(&mut kernel);
        for pass in pass::OPTIMIZE {
            check(&format!("{} on prepared {seed}", pass.name), &kernel, &launches, run(pass));
        }
    }
}

#[test]
fn each_step_of_the_pipeline() {
    for seed in seeds() {
        let (mut kernel, launches) = generate::kernel(seed, Mix::ALL);
        pass::prepare(&mut kernel);
        for round in 0..pass::MAX_ROUNDS {
            let mut changed = false;
            for pass in pass::OPTIMIZE {
                let name = format!("{} in round {round} on {seed}", pass.name);
                kernel = check(&name, &kernel, &launches, |kernel| {
                    let change = run(pass)(kernel);
                    changed |= change;
                    change
                });
            }
            if !changed {
                break;
            }
        }
    }
}

#[test]
fn the_pipeline() {
    let mut not_done = 0;
    for seed in seeds() {
        let (kernel, launches) = generate::kernel(seed, Mix::ALL);
        let mut exact = kernel.clone();
        exact.contract = false;
        check(&format!("prepare on {seed}"), &exact, &launches, |kernel| {
            pass::prepare(kernel);
            true
        });
        let mut prepared = kernel.clone();
        pass::prepare(&mut prepared);
        let optimized = check(&format!("optimize on {seed}"), &prepared, &launches, |kernel| {
            pass::optimize(kernel);
            true
        });
        let mut again = optimized.clone();
        pass::optimize(&mut again);
        not_done += u64::from(again.body != optimized.body);
        let mut same = prepared.clone();
        pass::optimize(&mut same);
        assert_eq!(same.body, optimized.body, "not the same result twice on {seed}");
    }
    assert!(
        not_done * 100 <= kernels(),
        "{not_done} kernels were not done after {} rounds",
        pass::MAX_ROUNDS
    );
}

#[test]
fn expressions() {
    for seed in seeds() {
        let (kernel, launches) = generate::kernel(seed, Mix::EXPRESSIONS);
        for pass in pass::OPTIMIZE {
            check(&format!("{} on expressions {seed}", pass.name), &kernel, &launches, run(pass));
        }
        check(&format!("optimize on expressions {seed}"), &kernel, &launches, |kernel| {
            pass::optimize(kernel);
            true
        });
    }
}

#[test]
fn accesses() {
    for seed in seeds() {
        let (kernel, launches) = generate::kernel(seed, Mix::ACCESSES);
        for pass in pass::OPTIMIZE {
            check(&format!("{} on accesses {seed}", pass.name), &kernel, &launches, run(pass));
        }
        check(&format!("optimize on accesses {seed}"), &kernel, &launches, |kernel| {
            pass::optimize(kernel);
            true
        });
    }
}

/// The generator makes loops that update an element of memory.
#[test]
fn sums_in_memory_are_found() {
    let mut found = 0;
    for seed in seeds() {
        let (mut kernel, _) = generate::kernel(seed, Mix::ACCESSES);
        pass::prepare(&mut kernel);
        found += u64::from(pass::accumulate::run(&mut kernel));
    }
    assert!(found * 20 > kernels(), "{found} of {} kernels", kernels());
}
