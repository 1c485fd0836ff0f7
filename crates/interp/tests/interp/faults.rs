//! Faults: what is reported, what happens instead, and that the first is always the same.

use crate::device::{Stage, run, run_at, run_clean, tensor, view, x};

const COPY: &str = "
    kernel @copy(%out: tensor<u32, 1, mut>, %in: tensor<u32, 1>) {
      %t = thread_idx.x
      %b = block_idx.x
      %d = block_dim.x
      %base = mul %b, %d
      %i = add %base, %t
      %n = extent %in.0
      %v = load %in[%i] if (0: %i < %n) : u32 @src/k.rs:12:9
      %ten = const u32 10
      %w = add %v, %ten
      %m = extent %out.0
      store %out[%i], %w if (0: %i < %m) @src/k.rs:13:9
      return
    }";

#[test]
fn a_missing_guard() {
    let input: Vec<u32> = (0..11).collect();
    let run = run(COPY, x(1), x(16), &[tensor(&[0u32; 11]), tensor(&input)]);
    assert_eq!(
        run.fault(),
        "src/k.rs:12:9: load from `in`: index 11 is outside dimension 0, whose extent is 11 (block (0, 0, 0), thread \
         (11, 0, 0))"
    );
    assert_eq!(run.outcome.fault_count, 10);
    assert_eq!(run.get::<u32>(0), (10..21).collect::<Vec<_>>());
}

#[test]
fn the_first_fault_is_that_of_the_lowest_block() {
    let input: Vec<u32> = (0..1000).collect();
    for _ in 0..5 {
        let run = run(COPY, x(300), x(8), &[tensor(&[0u32; 2400]), tensor(&input)]);
        let fault = run.outcome.first_fault.unwrap();
        assert_eq!((fault.block, fault.thread), ([125, 0, 0], [0, 0, 0]));
        assert_eq!(run.outcome.fault_count, 1400);
    }
}

#[test]
fn a_column_outside_although_the_offset_is_inside() {
    let text = "
        kernel @rows(%out: tensor<u32, 2, mut>, %in: tensor<u32, 2>) {
          %x = thread_idx.x
          %y = thread_idx.y
          %three = const index 3
          %five = const index 5
          %in_rows = lt %y, %three
          if %in_rows {
            %row = mul %y, %five
            %at = add %row, %x
            %v = load %in[%at] if (0: %y < %three, 1: %x < %five) : u32
            store %out[%at], %v if (0: %y < %three, 1: %x < %five)
          }
          return
        }";
    let input: Vec<u32> = (0..15).map(|i| 10 * (i / 5) + i % 5).collect();
    let args = [view(&[0u32; 15], 0, &[3, 5], &[5, 1]), view(&input, 0, &[3, 5], &[5, 1])];
    let run = run(text, x(1), [8, 4, 1], &args);
    assert_eq!(run.outcome.fault_count, 18);
    assert_eq!(run.get::<u32>(0), input);
    let fault = run.outcome.first_fault.unwrap();
    assert_eq!(
        fault.to_string(),
        "load from `in`: index 5 is outside dimension 1, whose extent is 5 (block (0, 0, 0), thread (5, 0, 0))"
    );
}

#[test]
fn an_index_from_data() {
    let text = "
        kernel @histogram(%hist: tensor<u32, 1, mut>, %idx: tensor<i32, 1>) {
          %t = thread_idx.x
          %j = load %idx[%t] : i32
          %i = cast %j to index
          %n = extent %hist.0
          %one = const u32 1
          %old = atomic_add device relaxed %hist[%i], %one if (0: %i < %n)
          return
        }";
    let run = run(text, x(1), x(6), &[tensor(&[0u32; 4]), tensor(&[0i32, 3, -2, 1, 4, 3])]);
    assert_eq!(run.get::<u32>(0), [1, 1, 0, 2]);
    assert_eq!(run.outcome.fault_count, 2);
    assert_eq!(
        run.fault(),
        "atomic on `hist`: index -2 (as unsigned 18446744073709551614) is outside dimension 0, whose extent is 4 \
         (block (0, 0, 0), thread (2, 0, 0))"
    );
}

#[test]
fn division_by_zero() {
    for ty in ["i8", "u16", "i32", "u64"] {
        let text = "
            kernel @div(%q: tensor<TYPE, 1, mut>, %r: tensor<TYPE, 1, mut>, %a: tensor<TYPE, 1>, %b: tensor<TYPE, 1>) {
              %t = thread_idx.x
              %x = load %a[%t] : TYPE
              %y = load %b[%t] : TYPE
              %x2 = splat %x x 2
              %y2 = splat %y x 2
              %q2 = div %x2, %y2 @k.rs:3:3
              %qx = extract %q2[1]
              store %q[%t], %qx
              %rx = rem %x, %y @k.rs:4:4
              store %r[%t], %rx
              return
            }"
        .replace("TYPE", ty);
        macro_rules! check {
            ($($name:literal: $int:ty),*) => {
                match ty {
                    $($name => {
                        let (a, b) = ([17 as $int, 5, <$int>::MIN, <$int>::MAX], [5 as $int, 0, <$int>::MAX, 0]);
                        let args = [tensor(&[9 as $int; 4]), tensor(&[9 as $int; 4]), tensor(&a), tensor(&b)];
                        let stages = [Stage::AsWritten, Stage::Prepared];
                        let run = run_at(&stages, &text, x(1), x(4), &args);
                        let div = |i: usize| a[i].checked_div(b[i]).unwrap_or(0);
                        let rem = |i: usize| a[i].checked_rem(b[i]).unwrap_or(0);
                        assert_eq!(run.get::<$int>(0), [0, 1, 2, 3].map(div));
                        assert_eq!(run.get::<$int>(1), [0, 1, 2, 3].map(rem));
                        assert_eq!(run.outcome.fault_count, 6);
                        assert_eq!(
                            run.fault(),
                            "k.rs:3:3: division by zero (block (0, 0, 0), thread (1, 0, 0))"
                        );
                    })*
                    _ => unreachable!(),
                }
            };
        }
        check!("i8": i8, "u16": u16, "i32": i32, "u64": u64);
    }
}

#[test]
fn the_smallest_by_minus_one_is_no_fault() {
    let text = "
        kernel @edge(%out: tensor<i32, 1, mut>, %a: tensor<i32, 1>, %b: tensor<i32, 1>) {
          %t = thread_idx.x
          %x = load %a[%t] : i32
          %y = load %b[%t] : i32
          %q = div %x, %y
          %r = rem %x, %y
          %s = xor %q, %r
          store %out[%t], %s
          return
        }";
    let args = [tensor(&[1i32]), tensor(&[i32::MIN]), tensor(&[-1i32])];
    assert_eq!(run_clean(text, x(1), x(1), &args).get::<i32>(0), [i32::MIN]);
}

#[test]
fn a_division_that_nobody_makes_is_no_fault() {
    // The divisor is the same for all threads; the branch is taken by none, or by some.
    let text = "
        kernel @guarded(%out: tensor<u32, 1, mut>, %d: u32, %n: index) {
          %t = thread_idx.x
          %n1 = scalar %n
          %d1 = scalar %d
          %some = lt %t, %n1
          if %some {
            %hundred = const u32 100
            %q = div %hundred, %d1
            store %out[%t], %q
          }
          return
        }";
    for (n, d, faults) in [(0usize, 0u32, 0), (2, 0, 2), (2, 7, 0)] {
        let args = [tensor(&[1u32; 3]), crate::device::scalar(d), crate::device::scalar(n)];
        let run = run(text, x(1), x(3), &args);
        assert_eq!(run.outcome.fault_count, faults);
        let q = 100u32.checked_div(d).unwrap_or(0);
        assert_eq!(run.get::<u32>(0), (0..3).map(|t| if t < n { q } else { 1 }).collect::<Vec<_>>());
    }
}

#[test]
fn assertions_end_the_thread() {
    let text = "
        kernel @check(%out: tensor<u32, 1, mut>, %a: tensor<i32, 1>) {
          %t = thread_idx.x
          %v = load %a[%t] : i32
          %zero = const i32 0
          %ok = ge %v, %zero
          assert %ok, \"a[{}] is {}\", %t, %v @k.rs:5:5
          %one = const u32 1
          store %out[%t], %one
          return
        }";
    let run = run(text, x(1), x(4), &[tensor(&[0u32; 4]), tensor(&[1i32, -5, 0, -7])]);
    assert_eq!(run.get::<u32>(0), [1, 0, 1, 0]);
    assert_eq!(run.outcome.fault_count, 2);
    assert_eq!(run.fault(), "k.rs:5:5: assertion failed: a[1] is -5 (block (0, 0, 0), thread (1, 0, 0))");
}

#[test]
fn steps_that_are_not_positive() {
    let text = "
        kernel @steps(%out: tensor<i32, 1, mut>, %step: tensor<i32, 1>) {
          %t = thread_idx.x
          %s = load %step[%t] : i32
          %lo = const i32 0
          %hi = const i32 10
          %one = const i32 1
          %count = for ^l %i = %lo to %hi step %s carry (%c = %lo) { @k.rs:2:2
            %c1 = add %c, %one
            continue ^l %c1
          }
          store %out[%t], %count
          return
        }";
    let run = run(text, x(1), x(4), &[tensor(&[9i32; 4]), tensor(&[3i32, 0, -2, 20])]);
    assert_eq!(run.get::<i32>(0), [4, 0, 0, 1]);
    assert_eq!(run.outcome.fault_count, 2);
    assert_eq!(
        run.fault(),
        "k.rs:2:2: a range with step 0: the step has to be positive, so no round is run (block (0, 0, 0), thread (1, \
         0, 0))"
    );
}

#[test]
fn an_access_by_all_threads_at_one_place() {
    // The index is uniform: the load is done once, but each thread that does it has the fault.
    let text = "
        kernel @uniform(%out: tensor<u32, 1, mut>, %in: tensor<u32, 1>, %i: index, %n: index) {
          %t = thread_idx.x
          %i1 = scalar %i
          %n1 = scalar %n
          %some = lt %t, %n1
          if %some {
            %len = extent %in.0
            %v = load %in[%i1] if (0: %i1 < %len) : u32 @k.rs:4:4
            store %out[%t], %v
          }
          return
        }";
    let input = [5u32, 6, 7];
    for (i, n, faults) in [(2usize, 3usize, 0), (3, 3, 3), (usize::MAX, 0, 0), (9, 70, 70)] {
        let args = [tensor(&[1u32; 80]), tensor(&input), crate::device::scalar(i), crate::device::scalar(n)];
        let run = run(text, x(1), x(80), &args);
        let value = input.get(i).copied().unwrap_or(0);
        assert_eq!(run.get::<u32>(0), (0..80).map(|t| if t < n { value } else { 1 }).collect::<Vec<_>>());
        assert_eq!(run.outcome.fault_count, faults);
    }
}

#[test]
fn a_check_by_some_threads_does_not_count_for_others() {
    // The same index and extent are checked on one side of a branch, on the other, and after it. The memory is longer.
    let text = "
        kernel @again(%out: tensor<u32, 1, mut>, %in: tensor<u32, 1>, %length: index) {
          %t = thread_idx.x
          %n = scalar %length
          %four = const index 4
          %low = lt %t, %four
          %a = if %low : u32 {
            %x = load %in[%t] if (0: %t < %n) : u32
            yield %x
          } else {
            %y = load %in[%t] if (0: %t < %n) : u32
            yield %y
          }
          %b = load %in[%t] if (0: %t < %n) : u32
          %c = add %a, %b
          store %out[%t], %c
          return
        }";
    let stages = [Stage::AsWritten, Stage::Prepared];
    for (length, threads) in [(6usize, 8usize), (2, 8), (8, 8), (6, 150)] {
        let args = [tensor(&vec![0u32; threads]), tensor(&[5u32; 200]), crate::device::scalar(length)];
        let run = run_at(&stages, text, x(1), x(threads as u32), &args);
        assert_eq!(run.outcome.fault_count, 2 * (threads - length.min(threads)) as u64);
        let expected = |t: usize| if t < length { 10 } else { 0 };
        assert_eq!(run.get::<u32>(0), (0..threads).map(expected).collect::<Vec<_>>());
    }
}
