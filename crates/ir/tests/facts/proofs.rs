//! What is proved and what is not, by small kernels: each has stores to `%out` with one bound, marked as proved (`; yes`)
//! or not (`; no`) on its line.

use tilewise_ir::analysis::{ArgNumbers, LaunchNumbers, analyze};
use tilewise_ir::{Const, Kernel, Op};

/// The body with some values, launched with 4 blocks of 32 threads, 100 elements, `%n` of 100 and any `%m`.
fn check(body: &str) {
    let text = format!(
        "kernel @k(%out: tensor<u32, 1, mut>, %any: tensor<index, 1>, %n: index, %m: index) {{
           %0 = const index 0
           %1 = const index 1
           %2 = const index 2
           %3 = const index 4
           %4 = const index 32
           %5 = const u32 7
           %6 = const bool false
           %true = const bool true
           %7 = thread_idx.x
           %8 = block_idx.x
           %9 = block_dim.x
           %start = mul %8, %9
           %i = add %start, %7
           %len = extent %out.0
           %size = scalar %n
           %any_i = load %any[%0] : index
           {body}
           return
         }}"
    );
    let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    if let Err(errors) = tilewise_ir::verify::verify(&kernel) {
        panic!("{}", tilewise_ir::verify::render(&kernel, &errors));
    }
    let tensor = || ArgNumbers::Tensor {
        extents: [100].into_iter().collect(),
        strides: [1].into_iter().collect(),
        align: 64,
    };
    let scalar = |n| ArgNumbers::Scalar(Const::index(n));
    let args = [tensor(), tensor(), scalar(100), scalar(1 << 40)].into_iter().collect();
    let facts = analyze(&kernel, &LaunchNumbers { grid: [4, 1, 1], block: [32, 1, 1], args });
    let mut stores = Vec::new();
    let mut accesses = facts.accesses.iter();
    kernel.body.visit(&mut |inst| {
        if inst.op.access().is_some()
            && let Some(found) = accesses.next()
            && matches!(inst.op, Op::Store(_))
        {
            stores.push(found.in_bounds == 1);
        }
    });
    let marks: Vec<bool> = body
        .lines()
        .filter(|line| line.contains("store"))
        .map(|line| match line.rsplit(';').next().map(str::trim) {
            Some("yes") => true,
            Some("no") => false,
            _ => panic!("no mark: {line}"),
        })
        .collect();
    assert_eq!(stores, marks, "{body}");
}

#[test]
fn guards() {
    check(
        "store %out[%i], %5 if (0: %i < %len) ; no
         %a = lt %i, %size
         if %a {
           store %out[%i], %5 if (0: %i < %len) ; yes
           %b = add %i, %1
           store %out[%b], %5 if (0: %b < %len) ; no
         } else {
           store %out[%i], %5 if (0: %i < %len) ; no
         }
         store %out[%i], %5 if (0: %i < %len) ; no",
    );
}

#[test]
fn a_guard_on_a_sum_bounds_the_summand_if_nothing_wraps() {
    check(
        "%a = add %i, %3
         %b = le %a, %size
         if %b {
           %c = add %i, %2
           store %out[%c], %5 if (0: %c < %len) ; yes
           store %out[%a], %5 if (0: %a < %len) ; no
         }
         %d = add %any_i, %3
         %e = le %d, %size
         if %e {
           store %out[%any_i], %5 if (0: %any_i < %len) ; no
         }",
    );
}

#[test]
fn early_returns() {
    check(
        "%a = ge %i, %size
         if %a {
           return
         }
         store %out[%i], %5 if (0: %i < %len) ; yes",
    );
    check(
        "%a = lt %i, %size
         if %a {
           store %out[%i], %5 if (0: %i < %len) ; yes
         } else {
           return
         }
         store %out[%i], %5 if (0: %i < %len) ; yes",
    );
    check(
        "%a = lt %i, %size
         assert %a, \"inside\"
         store %out[%i], %5 if (0: %i < %len) ; yes",
    );
}

#[test]
fn conjunctions() {
    check(
        "%a = lt %any_i, %size
         %b = gt %i, %3
         %c = and %b, %a
         if %c {
           store %out[%any_i], %5 if (0: %any_i < %len) ; yes
         }
         %d = or %b, %a
         if %d {
           store %out[%any_i], %5 if (0: %any_i < %len) ; no
         }
         %e = not %a
         %f = or %b, %e
         if %f {
           store %out[%any_i], %5 if (0: %any_i < %len) ; no
         } else {
           store %out[%any_i], %5 if (0: %any_i < %len) ; yes
         }
         %g = select %b, %a, %6
         if %g {
           store %out[%any_i], %5 if (0: %any_i < %len) ; yes
         }
         %h = select %b, %true, %a
         if %h {
           store %out[%any_i], %5 if (0: %any_i < %len) ; no
         }",
    );
}

#[test]
fn short_circuits() {
    check(
        "%a = lt %any_i, %size
         %c = if %a : bool {
           %b = lt %any_i, %4
           yield %b
         } else {
           yield %6
         }
         if %c {
           %d = add %any_i, %4
           store %out[%d], %5 if (0: %d < %len) ; yes
         }
         store %out[%any_i], %5 if (0: %any_i < %len) ; no",
    );
}

#[test]
fn what_was_computed_before_a_guard() {
    check(
        "%a = add %any_i, %3
         %b = lt %any_i, %4
         if %b {
           store %out[%a], %5 if (0: %a < %len) ; yes
         }",
    );
}

#[test]
fn selections_and_clamps() {
    check(
        "%a = lt %any_i, %size
         %b = select %a, %any_i, %0
         store %out[%b], %5 if (0: %b < %len) ; yes
         %c = sub %size, %1
         %d = min %any_i, %c
         store %out[%d], %5 if (0: %d < %len) ; yes
         %e = rem %any_i, %size
         store %out[%e], %5 if (0: %e < %len) ; yes
         %f = max %any_i, %c
         store %out[%f], %5 if (0: %f < %len) ; no",
    );
}

#[test]
fn counted_loops() {
    check(
        "for ^0 %k = %0 to %size step %3 {
           store %out[%k], %5 if (0: %k < %len) ; yes
           %a = add %k, %3
           %b = sub %a, %1
           store %out[%b], %5 if (0: %b < %len) ; yes
           store %out[%a], %5 if (0: %a < %len) ; no
           continue ^0
         }
         for ^1 %j = %any_i to %size step %1 {
           store %out[%j], %5 if (0: %j < %len) ; yes
           continue ^1
         }",
    );
}

#[test]
fn loops_with_carried_values() {
    check(
        "loop ^0 carry (%k = %i) {
           %a = lt %k, %size
           if %a {
             store %out[%k], %5 if (0: %k < %len) ; yes
           } else {
             break ^0
           }
           %b = add %k, %4
           continue ^0 %b
         }
         %c = loop ^1 carry (%s = %4) : index {
           store %out[%s], %5 if (0: %s < %len) ; yes
           %d = eq %s, %0
           if %d {
             break ^1 %s
           }
           %e = div %s, %2
           continue ^1 %e
         }
         store %out[%c], %5 if (0: %c < %len) ; yes
         %f = loop ^2 carry (%t = %4) : index {
           store %out[%t], %5 if (0: %t < %len) ; no
           %g = eq %t, %any_i
           if %g {
             break ^2 %t
           }
           %h = mul %t, %2
           continue ^2 %h
         }
         store %out[%f], %5 if (0: %f < %len) ; no",
    );
}

#[test]
fn the_rest_of_a_tile() {
    check(
        "%a = lt %start, %size
         if %a {
           %end = add %start, %4
           %b = min %end, %size
           %rest = sub %b, %start
           for ^0 %k = %0 to %rest step %1 {
             %c = add %start, %k
             store %out[%c], %5 if (0: %c < %len) ; yes
             %d = add %c, %1
             store %out[%d], %5 if (0: %d < %len) ; no
             continue ^0
           }
           %e = shr %rest, %2
           %f = shl %e, %2
           for ^1 %l = %0 to %f step %3 {
             %g = add %start, %l
             store %out[%g], %5 if (0: %g < %len) ; yes
             continue ^1
           }
         }
         %h = min %any_i, %size
         %j = sub %h, %start
         %is_before = lt %7, %j
         if %is_before {
           store %out[%i], %5 if (0: %i < %len) ; no
         }
         for ^2 %p = %0 to %j step %1 {
           %o = add %start, %p
           store %out[%o], %5 if (0: %o < %len) ; no
           continue ^2
         }",
    );
}

/// Bounds that no interval shows: the extents are not known numbers.
#[test]
fn extents_that_are_computed() {
    check(
        "%a = lt %i, %any_i
         if %a {
           store %out[%i], %5 if (0: %i < %any_i) ; yes
           %b = add %any_i, %1
           store %out[%i], %5 if (0: %i < %b) ; no
           %c = add %i, %1
           store %out[%c], %5 if (0: %c < %any_i) ; no
         }
         %d = min %any_i, %4
         %e = min %any_i, %4
         for ^0 %k = %0 to %d step %1 {
           store %out[%k], %5 if (0: %k < %e) ; yes
           store %out[%k], %5 if (0: %k < %any_i) ; yes
           continue ^0
         }",
    );
}

#[test]
fn what_is_never_reached() {
    check(
        "%a = lt %size, %3
         if %a {
           store %out[%any_i], %5 if (0: %any_i < %len) ; yes
         }",
    );
}

#[test]
fn signed_indices() {
    check(
        "%a = cast %i to i32
         %b = const i32 1
         %c = sub %a, %b
         %d = cast %c to index
         %e = cast %size to i32
         %f = lt %c, %e
         if %f {
           store %out[%d], %5 if (0: %d < %len) ; no
           %g = const i32 0
           %h = ge %c, %g
           if %h {
             store %out[%d], %5 if (0: %d < %len) ; yes
           }
         }",
    );
}
