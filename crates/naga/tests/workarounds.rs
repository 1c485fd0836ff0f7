//! What Mesa's software adapter and NVIDIA's driver for Vulkan have to be given in another way than other devices.

use tilewise_ir::analysis::Facts;
use tilewise_ir::{Kernel, text};
use tilewise_naga::{Capabilities, Module, compile, write};

fn module(body: &str, capabilities: &Capabilities) -> Module {
    let params = "%out: tensor<f64, 1, mut>, %long: tensor<i64, 1, mut>";
    let kernel: Kernel =
        text::parse(&format!("kernel @k({params}) {{\n{body}\nreturn\n}}")).expect("a kernel");
    let mut facts = Facts { block: Some([64, 1, 1]), ..Facts::unknown(&kernel) };
    facts.narrow.fill(true);
    compile(&kernel, &facts, capabilities).expect("it is supported")
}

fn wgsl(body: &str, capabilities: &Capabilities) -> String {
    write::wgsl(&module(body, capabilities)).expect("it can be written")
}

#[test]
fn a_memory_barrier_may_be_an_atomic_operation() {
    let capabilities = Capabilities { barriers_by_atomics: true, ..Capabilities::ALL };
    let module = module("fence device acq_rel\nfence device acq_rel", &capabilities);
    let statements = &module.shader.entry_points[0].function.body;
    let barrier = |statement: &&naga::Statement| matches!(statement, naga::Statement::MemoryBarrier(_));
    let atomic = |statement: &&naga::Statement| matches!(statement, naga::Statement::Atomic { .. });
    assert_eq!((statements.iter().filter(barrier).count(), statements.iter().filter(atomic).count()), (0, 2));
}

#[test]
fn a_sign_may_be_extended_by_halves() {
    let body = "%0 = thread_idx.x\n%1 = cast %0 to i32\n%2 = cast %1 to i64\nstore %long[%0], %2";
    let halves = Capabilities { extends_by_halves: true, ..Capabilities::ALL };
    let (at_once, by_halves) = (wgsl(body, &Capabilities::ALL), wgsl(body, &halves));
    assert!(at_once.contains("i64(") && !at_once.contains(">> 31u"), "{at_once}");
    assert!(!by_halves.contains("i64(") && by_halves.contains(">> 31u"), "{by_halves}");
}

#[test]
fn constants_may_be_hidden() {
    let body = "%0 = thread_idx.x\n%1 = const f64 0.75\nstore %out[%0], %1";
    let hiding = Capabilities { hides_constants: true, ..Capabilities::ALL };
    let (shown, hidden) = (wgsl(body, &Capabilities::ALL), wgsl(body, &hiding));
    assert!(shown.contains("0.75"), "{shown}");
    assert!(!hidden.contains("0.75") && hidden.contains("^ u64("), "{hidden}");
}

#[test]
fn patterns_may_be_hidden() {
    let body = "%0 = thread_idx.x\n%1 = const index 1\n%2 = and %0, %1\n%3 = const f64 -0.0\n%4 = const f64 -1.0\n\
        %5 = eq %2, %0\n%6 = select %5, %4, %3\nstore %out[%2], %6";
    let hiding = Capabilities { hides_patterns: true, ..Capabilities::ALL };
    let (shown, hidden) = (wgsl(body, &Capabilities::ALL), wgsl(body, &hiding));
    assert!(shown.contains("-0.0lf") && !shown.contains('^'), "{shown}");
    assert!(!hidden.contains("-0.0lf") && hidden.matches('^').count() == 2, "{hidden}");
}

#[test]
fn each_use_of_a_uniform_truth_value_may_be_one_of_its_own() {
    let body = "%0 = block_idx.x\n%1 = thread_idx.x\n%2 = lt %0, %1\n%3 = const index 3\n%4 = lt %0, %3\n%5 = eq %0, %3\n\
        %6 = or %4, %5\n%7 = and %4, %2\nassert %6, \"\"\nassert %7, \"\"";
    let hiding = Capabilities { hides_patterns: true, ..Capabilities::ALL };
    let (shown, hidden) = (wgsl(body, &Capabilities::ALL), wgsl(body, &hiding));
    assert_eq!(shown.matches('^').count(), 0, "{shown}");
    // Both operands of the first, and one of the second.
    let own = |n: u32| hidden.contains(&format!("select({n}u, {}u, ", n + 1));
    assert!(hidden.matches('^').count() == 3 && own(1) && own(2) && own(3) && !own(4), "{hidden}");
}

#[test]
fn a_loop_with_atomics_may_be_left_at_the_end_of_a_round() {
    let body = "%0 = thread_idx.x\n%1 = const i64 0\n%2 = const i64 1\nloop ^0 {\n\
        %3 = atomic_cas device acquire %long[%0], %1, %2\n%4 = eq %3, %1\n\
        if %4 {\nstore %long[%0], %1\nbreak ^0\n}\ncontinue ^0\n}";
    let late = Capabilities { breaks_at_the_end: true, ..Capabilities::ALL };
    let (at_once, at_the_end) = (wgsl(body, &Capabilities::ALL), wgsl(body, &late));
    assert_eq!(at_once.matches("loop {").count(), 2, "{at_once}");
    assert_eq!(at_the_end.matches("loop {").count(), 3, "{at_the_end}");
    assert!(at_the_end.contains("^ "), "{at_the_end}");
    // A loop without is left at once.
    let plain = "%0 = const bool true\nloop ^0 {\nif %0 {\nbreak ^0\n}\ncontinue ^0\n}";
    assert_eq!(wgsl(plain, &late), wgsl(plain, &Capabilities::ALL));
}

#[test]
fn a_line_of_many_values_is_written_in_parts() {
    let body = "%0 = thread_idx.x\n%1 = splat %0 x 64\nprint \"{} {}\", %1, %1";
    let text = wgsl(body, &Capabilities::ALL);
    assert_eq!(text.matches("atomicStore(").count(), 5, "{text}");
    assert!(text.contains("words63_: vec4<u32>") && !text.contains("words64"), "{text}");
}

#[test]
fn a_report_is_one_store_whatever_it_has_of_values() {
    let body = "%0 = thread_idx.x\n%1 = const u32 7\n%2 = const bool false\nprint \"{} {} {}\", %0, %1, %0\n\
        assert %2, \"{}\", %1\nprint \"\"";
    let text = wgsl(body, &Capabilities::ALL);
    assert_eq!(text.matches("fn report_").count(), 3, "{text}");
    assert_eq!(text.matches("atomicStore(").count(), 3, "{text}");
}
