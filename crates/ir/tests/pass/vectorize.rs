//! Accesses that become vectors: what is moved where, and that random kernels do the same.

use crate::equivalence::{check, seeds};
use crate::support::generate::{self, Mix};
use tilewise_ir::analysis::{AccessFacts, Facts};
use tilewise_ir::{Kernel, Op, pass, verify};

/// Nothing is known but that each access is aligned to so many bytes.
fn aligned(kernel: &Kernel, align: u16) -> Facts {
    let mut facts = Facts::unknown(kernel);
    facts.accesses.fill(AccessFacts { in_bounds: 0, align });
    facts
}

/// The lanes of each access of what a body becomes.
fn lanes(body: &str, align: u16) -> Vec<(&'static str, u8)> {
    let text = format!(
        "kernel @k(%out: tensor<f32, 1, mut>, %in: tensor<f32, 1>, %same: tensor<f32, 1, mut, aliased>, \
         %again: tensor<f32, 1, aliased>) {{
           %x = const f32 1.0
           %true = const bool true
           %c1 = const index 1
           %c2 = const index 2
           %c3 = const index 3
           %i = thread_idx.x
           %other = block_idx.x
           %i1 = add %i, %c1
           %i2 = add %i, %c2
           %i3 = add %i, %c3
           {body}
           return
         }}"
    );
    let mut kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify::verify(&kernel).unwrap_or_else(|errors| panic!("{}", verify::render(&kernel, &errors)));
    let mut facts = aligned(&kernel, align);
    pass::vectorize::run(&mut kernel, &mut facts);
    verify::verify(&kernel).unwrap_or_else(|errors| panic!("{}", verify::render(&kernel, &errors)));
    let mut lanes = Vec::new();
    kernel.body.visit(&mut |inst| match inst.op {
        Op::Load(_) => lanes.push(("load", kernel.ty(inst.results[0]).lanes)),
        Op::Store(_) => lanes.push(("store", kernel.ty(inst.args[1]).lanes)),
        _ => {}
    });
    assert_eq!(facts.accesses.len(), lanes.len());
    lanes
}

const LOADS: &str = "%a = load %in[%i] : f32
    %b = load %in[%i1] : f32
    %c = load %in[%i2] : f32
    %d = load %in[%i3] : f32";

#[test]
fn as_wide_as_they_are_aligned() {
    assert_eq!(lanes(LOADS, 16), [("load", 4)]);
    assert_eq!(lanes(LOADS, 8), [("load", 2), ("load", 2)]);
    assert_eq!(lanes(LOADS, 4), [("load", 1); 4]);
    assert_eq!(lanes(LOADS, 0), [("load", 1); 4]);
}

#[test]
fn stores_in_any_order() {
    let stores = "store %out[%i1], %x
        store %out[%i], %x
        store %out[%i3], %x
        store %out[%i2], %x";
    assert_eq!(lanes(stores, 16), [("store", 4)]);
}

#[test]
fn loads_whose_first_offset_comes_later_stay() {
    assert_eq!(lanes("%b = load %in[%i1] : f32\n%a = load %in[%i] : f32", 16), [("load", 1); 2]);
}

#[test]
fn an_update_in_place() {
    let update = "%a = load %out[%i] : f32
        store %out[%i], %x
        %b = load %out[%i1] : f32
        store %out[%i1], %b";
    assert_eq!(lanes(update, 16), [("load", 2), ("store", 2)]);
}

#[test]
fn a_load_does_not_go_before_a_store_that_goes_behind_another() {
    let both = "store %out[%i1], %x
        %a = load %out[%i] : f32
        store %out[%i], %x
        %b = load %out[%i1] : f32";
    assert_eq!(lanes(both, 16), [("load", 1), ("store", 2), ("load", 1)]);
}

#[test]
fn what_may_be_the_same_element_stays_between() {
    let unknown = "store %out[%i], %x\n%a = load %out[%other] : f32\nstore %out[%i1], %x";
    assert_eq!(lanes(unknown, 16), [("store", 1), ("load", 1), ("store", 1)]);
    let same = "store %out[%i], %x\n%a = load %out[%i] : f32\nstore %out[%i1], %x";
    assert_eq!(lanes(same, 16), [("store", 1), ("load", 1), ("store", 1)]);
    let loads = "%a = load %out[%i] : f32\nstore %out[%other], %x\n%b = load %out[%i1] : f32";
    assert_eq!(lanes(loads, 16), [("load", 1), ("store", 1), ("load", 1)]);
    let aliased = "%a = load %again[%i] : f32\nstore %same[%i], %x\n%b = load %again[%i1] : f32";
    assert_eq!(lanes(aliased, 16), [("load", 1), ("store", 1), ("load", 1)]);
}

#[test]
fn what_orders_or_leaves_stays_between() {
    for between in [
        "barrier",
        "fence device acq_rel",
        "assert %true, \"\"",
        "if %true {\n return\n } else {\n yield\n }",
    ] {
        let loads = format!("%a = load %in[%i] : f32\n{between}\n%b = load %in[%i1] : f32");
        assert_eq!(lanes(&loads, 16), [("load", 1); 2], "{between}");
    }
    let checked = "%a = load %in[%i] : f32\n%b = load %in[%i1] if (0: %i1 < %c3) : f32";
    assert_eq!(lanes(checked, 16), [("load", 1); 2]);
}

#[test]
fn random_kernels() {
    let mut fired = 0;
    for seed in seeds() {
        let (kernel, launches) = generate::kernel(seed, Mix::ACCESSES);
        for optimize in [false, true] {
            let mut kernel = kernel.clone();
            if optimize {
                pass::prepare(&mut kernel);
                pass::optimize(&mut kernel);
            }
            check(&format!("vectorize on {seed}"), &kernel, &launches, |kernel| {
                let mut facts = aligned(kernel, [4, 8, 16][seed as usize % 3]);
                let changed = pass::vectorize::run(kernel, &mut facts);
                assert_eq!(facts.accesses.len(), Facts::unknown(kernel).accesses.len());
                fired += u64::from(changed);
                changed
            });
        }
    }
    let kernels = 2 * seeds().count() as u64;
    assert!(fired * 4 > kernels, "only {fired} of {kernels} have changed");
}
