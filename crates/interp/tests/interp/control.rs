//! Control flow: loops with breaks and continues over several levels, values that meet, threads that go different ways.

use crate::device::{Stage, run_at, run_clean, scalar, tensor, x};

#[test]
fn inner_continue_and_inner_break() {
    // for i in 0..n: for j in 0..n: if j == i continue; if i * j > 6 break; acc += 10 * i + j
    let text = "
        kernel @nested(%out: tensor<u32, 1, mut>, %n: u32) {
          %n = scalar %limit
          %zero = const u32 0
          %one = const u32 1
          %six = const u32 6
          %ten = const u32 10
          %sum = for ^i %i = %zero to %n step %one carry (%a = %zero) {
            %inner = for ^j %j = %zero to %n step %one carry (%b = %a) {
              %same = eq %i, %j
              if %same {
                continue ^j %b
              }
              %product = mul %i, %j
              %large = gt %product, %six
              if %large {
                break ^j %b
              }
              %tens = mul %i, %ten
              %term = add %tens, %j
              %next = add %b, %term
              continue ^j %next
            }
            continue ^i %inner
          }
          %t = thread_idx.x
          store %out[%t], %sum
          return
        }"
    .replace("%n: u32)", "%limit: u32)");
    for threads in [1, 3, 70] {
        let run = run_clean(&text, x(1), x(threads), &[tensor(&vec![0u32; threads as usize]), scalar(5u32)]);
        assert_eq!(run.get::<u32>(0), vec![297; threads as usize]);
    }
}

#[test]
fn trip_count_of_each_thread() {
    let collatz = |mut n: u32| {
        let mut k = 0;
        while n != 1 {
            n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
            k += 1;
        }
        k
    };
    let text = "
        kernel @collatz(%out: tensor<u32, 1, mut>, %x: tensor<u32, 1>) {
          %t = thread_idx.x
          %x = load %in[%t] : u32
          %zero = const u32 0
          %one = const u32 1
          %two = const u32 2
          %three = const u32 3
          %total = loop ^w carry (%n = %x, %k = %zero) : u32 {
            %done = eq %n, %one
            if %done {
              break ^w %k
            }
            %odd = and %n, %one
            %even = eq %odd, %zero
            %next = if %even : u32 {
              %half = div %n, %two
              yield %half
            } else {
              %triple = mul %n, %three
              %more = add %triple, %one
              yield %more
            }
            %k1 = add %k, %one
            continue ^w %next, %k1
          }
          store %out[%t], %total
          return
        }"
    .replace("%x: tensor", "%in: tensor");
    let inputs: Vec<u32> = (1..=300).collect();
    let run = run_clean(&text, x(1), x(300), &[tensor(&vec![0u32; 300]), tensor(&inputs)]);
    assert_eq!(run.get::<u32>(0), inputs.iter().map(|&n| collatz(n)).collect::<Vec<_>>());
}

#[test]
fn a_loop_in_each_arm() {
    let text = "
        kernel @arms(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %tid = cast %t to u32
          %zero = const u32 0
          %one = const u32 1
          %two = const u32 2
          %three = const u32 3
          %ten = const u32 10
          %bit = and %tid, %one
          %even = eq %bit, %zero
          %a, %b = if %even : u32, u32 {
            %sum = for ^l %k = %zero to %tid step %one carry (%s = %zero) {
              %s1 = add %s, %k
              continue ^l %s1
            }
            yield %sum, %zero
          } else {
            %sum2 = for ^m %k2 = %zero to %tid step %one carry (%s2 = %zero) {
              %s3 = add %s2, %two
              continue ^m %s3
            }
            yield %sum2, %three
          }
          %tens = mul %a, %ten
          %result = add %tens, %b
          store %out[%t], %result
          return
        }";
    let run = run_clean(text, x(1), x(6), &[tensor(&[0u32; 6])]);
    assert_eq!(run.get::<u32>(0), [0, 23, 10, 63, 60, 103]);
}

#[test]
fn a_break_and_a_continue_of_the_outer_loop() {
    // The outer loop is left from the inner one, in a different round for each thread, with values of both.
    let text = "
        kernel @outer(%out: tensor<u64, 1, mut>, %rounds: tensor<u64, 1, mut>) {
          %t = thread_idx.x
          %tid = cast %t to u64
          %zero = const u64 0
          %one = const u64 1
          %four = const u64 4
          %r = loop ^outer carry (%i = %zero, %acc = %zero) : u64 {
            %next = loop ^inner carry (%j = %zero, %b = %acc) : u64 {
              %product = mul %i, %four
              %at = add %product, %j
              %found = eq %at, %tid
              if %found {
                %result = add %b, %at
                break ^outer %result
              }
              %b1 = add %b, %one
              %j1 = add %j, %one
              %half = shr %i, %one
              %skip = eq %j1, %half
              if %skip {
                %i2 = add %i, %one
                %b2 = add %b1, %four
                continue ^outer %i2, %b2
              }
              %end = eq %j1, %four
              if %end {
                break ^inner %b1
              }
              continue ^inner %j1, %b1
            }
            store %rounds[%t], %i
            %i1 = add %i, %one
            %far = gt %i, %tid
            if %far {
              break ^outer %next
            }
            continue ^outer %i1, %next
          }
          store %out[%t], %r
          return
        }";
    let expected = |tid: u64, rounds: &mut u64| {
        let (mut i, mut acc) = (0u64, 0u64);
        'outer: loop {
            let (mut j, mut b) = (0, acc);
            let next = loop {
                if i * 4 + j == tid {
                    return b + i * 4 + j;
                }
                b += 1;
                j += 1;
                if j == i >> 1 {
                    (i, acc) = (i + 1, b + 4);
                    continue 'outer;
                }
                if j == 4 {
                    break b;
                }
            };
            *rounds = i;
            if i > tid {
                return next;
            }
            (i, acc) = (i + 1, next);
        }
    };
    let mut rounds = vec![99u64; 150];
    let out: Vec<u64> = rounds.iter_mut().enumerate().map(|(t, r)| expected(t as u64, r)).collect();
    let run = run_clean(text, x(1), x(150), &[tensor(&[0u64; 150]), tensor(&[99u64; 150])]);
    assert_eq!(run.get::<u64>(0), out);
    assert_eq!(run.get::<u64>(1), rounds);
}

#[test]
fn carried_values_change_places() {
    let text = "
        kernel @swap(%out: tensor<u32, 1, mut>, %n: tensor<u32, 1>) {
          %t = thread_idx.x
          %n = load %count[%t] : u32
          %zero = const u32 0
          %one = const u32 1
          %start = cast %t to u32
          %five = const u32 5
          %x, %y, %z = for ^l %i = %zero to %n step %one carry (%a = %start, %b = %one, %c = %five) {
            continue ^l %b, %c, %a
          }
          %hundred = const u32 100
          %x1 = mul %x, %hundred
          %xy = add %x1, %y
          %xy1 = mul %xy, %hundred
          %r = add %xy1, %z
          store %out[%t], %r
          return
        }"
    .replace("%n: tensor", "%count: tensor");
    let counts: Vec<u32> = (0..67).collect();
    let run = run_clean(&text, x(1), x(67), &[tensor(&[0u32; 67]), tensor(&counts)]);
    let expected = |t: u32| {
        let mut values = [t, 1, 5];
        values.rotate_left(t as usize % 3);
        (values[0] * 100 + values[1]) * 100 + values[2]
    };
    assert_eq!(run.get::<u32>(0), counts.iter().map(|&t| expected(t)).collect::<Vec<_>>());
}

#[test]
fn uniform_carried_values_change_places() {
    let text = "
        kernel @swap(%out: tensor<u32, 1, mut>, %count: u32) {
          %t = thread_idx.x
          %n = scalar %count
          %zero = const u32 0
          %one = const u32 1
          %two = const u32 2
          %a, %b = for ^l %i = %zero to %n step %one carry (%x = %one, %y = %two) {
            continue ^l %y, %x
          }
          %ten = const u32 10
          %a1 = mul %a, %ten
          %r = add %a1, %b
          store %out[%t], %r
          return
        }";
    for (count, expected) in [(0, 12), (1, 21), (6, 12), (7, 21)] {
        let run = run_clean(text, x(1), x(2), &[tensor(&[0u32; 2]), scalar::<u32>(count)]);
        assert_eq!(run.get::<u32>(0), [expected; 2]);
    }
}

#[test]
fn a_continue_that_some_threads_take_does_not_change_what_others_see() {
    // The counter is uniform; threads that go on early must not step it for those that stay in the round.
    let text = "
        kernel @early(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %tid = cast %t to u32
          %zero = const u32 0
          %one = const u32 1
          %eight = const u32 8
          %r = loop ^l carry (%k = %zero, %acc = %zero) : u32 {
            %end = eq %k, %eight
            if %end {
              break ^l %acc
            }
            %k1 = add %k, %one
            %mine = lt %k, %tid
            if %mine {
              %a1 = add %acc, %k
              continue ^l %k1, %a1
            }
            %square = mul %k, %k
            %a2 = add %acc, %square
            continue ^l %k1, %a2
          }
          store %out[%t], %r
          return
        }";
    let expected = |t: u32| (0..8).map(|k| if k < t { k } else { k * k }).sum::<u32>();
    let run = run_clean(text, x(1), x(10), &[tensor(&[0u32; 10])]);
    assert_eq!(run.get::<u32>(0), (0..10).map(expected).collect::<Vec<_>>());
}

#[test]
fn a_single_continue_under_a_condition() {
    let text = "
        kernel @one(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %tid = cast %t to u32
          %zero = const u32 0
          %one = const u32 1
          %r = loop ^l carry (%k = %zero) : u32 {
            %k1 = add %k, %one
            %go = lt %k, %tid
            if %go {
              continue ^l %k1
            }
            %r1 = add %k, %k1
            break ^l %r1
          }
          store %out[%t], %r
          return
        }";
    let run = run_clean(text, x(1), x(100), &[tensor(&[0u32; 100])]);
    assert_eq!(run.get::<u32>(0), (0..100).map(|t| 2 * t + 1).collect::<Vec<_>>());
}

#[test]
fn ranges_do_not_wrap() {
    let text = "
        kernel @range(%out: tensor<TYPE, 1, mut>, %lo: TYPE, %hi: tensor<TYPE, 1>, %by: tensor<TYPE, 1>) {
          %t = thread_idx.x
          %lo1 = scalar %lo
          %hi1 = load %hi[%t] : TYPE
          %by1 = load %by[%t] : TYPE
          %zero = const TYPE 0
          %one = const TYPE 1
          %count, %last = for ^l %i = %lo1 to %hi1 step %by1 carry (%c = %zero, %l = %zero) {
            %c1 = add %c, %one
            continue ^l %c1, %i
          }
          %two = const index 2
          %at = mul %t, %two
          store %out[%at], %count
          %at1 = add %at, %two
          %one1 = const index 1
          %at2 = sub %at1, %one1
          store %out[%at2], %last
          return
        }";
    let u32s = text.replace("TYPE", "u32");
    let args = [tensor(&[0u32; 4]), scalar(7u32), tensor(&[4294967290u32, 7]), tensor(&[1073741824u32, 1])];
    assert_eq!(run_clean(&u32s, x(1), x(2), &args).get::<u32>(0), [4, 3221225479, 0, 0]);
    let i8s = text.replace("TYPE", "i8");
    let args = [tensor(&[0i8; 4]), scalar(-128i8), tensor(&[127i8, -128]), tensor(&[100i8, 100])];
    assert_eq!(run_clean(&i8s, x(1), x(2), &args).get::<i8>(0), [3, 72, 0, 0]);
    let u64s = text.replace("TYPE", "u64");
    let args = [tensor(&[0u64; 4]), scalar(u64::MAX - 5), tensor(&[u64::MAX, 3]), tensor(&[4u64, 1])];
    assert_eq!(run_clean(&u64s, x(1), x(2), &args).get::<u64>(0), [2, u64::MAX - 1, 0, 0]);
}

#[test]
fn threads_that_return_early_are_gone() {
    let text = "
        kernel @early(%out: tensor<u32, 1, mut>, %n: index) {
          %t = thread_idx.x
          %n1 = scalar %n
          %outside = ge %t, %n1
          if %outside {
            return
          }
          %v = cast %t to u32
          %three = const u32 3
          %w = mul %v, %three
          barrier
          store %out[%t], %w
          return
        }";
    for n in [0usize, 1, 63, 64, 65, 100] {
        let run = run_clean(text, x(1), x(100), &[tensor(&[7u32; 100]), scalar(n)]);
        let expected: Vec<u32> = (0..100).map(|t| if t < n as u32 { 3 * t } else { 7 }).collect();
        assert_eq!(run.get::<u32>(0), expected);
    }
}

#[test]
fn unreachable_ends_of_loops() {
    let text = "
        kernel @once(%out: tensor<u32, 1, mut>, %m: u32) {
          %t = thread_idx.x
          %m1 = scalar %m
          %zero = const u32 0
          %one = const u32 1
          %three = const u32 3
          %acc = loop ^l carry (%i = %zero, %a = %zero) : u32 {
            %i1 = add %i, %one
            %end = gt %i1, %m1
            if %end {
              break ^l %a
            }
            %r = rem %i1, %three
            %skip = eq %r, %zero
            if %skip {
              continue ^l %i1, %a
            }
            %square = mul %i1, %i1
            %a1 = add %a, %square
            continue ^l %i1, %a1
          }
          for ^k %k = %zero to %m1 step %one {
            break ^k
          }
          store %out[%t], %acc
          return
        }";
    let run = run_clean(text, x(1), x(2), &[tensor(&[0u32; 2]), scalar(10u32)]);
    assert_eq!(run.get::<u32>(0), [259; 2]);
}

#[test]
fn variables_in_local_memory_are_those_of_each_thread() {
    // A kernel as it is staged: every variable is a local array of one element.
    let text = "
        kernel @vars(%out: tensor<u32, 1, mut>) {
          local %i: array<u32, 1>
          local %acc: array<u32, 1>
          local %v: array<u32x2, 1>
          %at = const index 0
          %zero = const u32 0
          %one = const u32 1
          %t = thread_idx.x
          %tid = cast %t to u32
          store %i[%at], %zero
          store %acc[%at], %zero
          loop ^w {
            %i1 = load %i[%at] : u32
            %more = lt %i1, %tid
            if %more {
              yield
            } else {
              break ^w
            }
            %a = load %acc[%at] : u32
            %i2 = load %i[%at] : u32
            %a1 = add %a, %i2
            store %acc[%at], %a1
            %i3 = load %i[%at] : u32
            %i4 = add %i3, %one
            store %i[%at], %i4
            continue ^w
          }
          %r = load %acc[%at] : u32
          %pair = pack %r, %tid
          store %v[%at], %pair
          %pair1 = load %v[%at] : u32x2
          %r1 = extract %pair1[0]
          %r2 = extract %pair1[1]
          %r3 = sub %r1, %r2
          store %out[%t], %r3
          return
        }";
    let run = run_clean(text, x(1), x(130), &[tensor(&[0u32; 130])]);
    let expected: Vec<u32> = (0..130u32).map(|t| (t * t.saturating_sub(1) / 2).wrapping_sub(t)).collect();
    assert_eq!(run.get::<u32>(0), expected);
}

#[test]
fn a_value_of_a_side_that_all_others_leave_is_uniform() {
    let text = "
        kernel @leave(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %four = const index 4
          %low = lt %t, %four
          %five = const u32 5
          %r = if %low : u32 {
            yield %five
          } else {
            return
          }
          store %out[%t], %r
          return
        }";
    let run = run_clean(text, x(1), x(9), &[tensor(&[1u32; 9])]);
    assert_eq!(run.get::<u32>(0), [5, 5, 5, 5, 1, 1, 1, 1, 1]);
}

#[test]
fn an_endless_loop_of_a_kernel_is_a_fault() {
    let text = "
        kernel @forever(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %two = const index 2
          %some = lt %t, %two
          if %some {
            loop ^l { @k.rs:7:5
              continue ^l
            }
          }
          %one = const u32 1
          store %out[%t], %one
          return
        }";
    let run = run_at(&[Stage::AsWritten, Stage::Prepared], text, x(2), x(4), &[tensor(&[0u32; 4])]);
    assert_eq!(
        run.fault(),
        "k.rs:7:5: a loop makes no progress: nothing that it looks at changes any more: threads (0, 0, 0), (1, 0, 0) \
         spin at k.rs:7:5 (block (0, 0, 0), first thread (0, 0, 0))"
    );
    assert_eq!(run.outcome.fault_count, 2);
}

#[test]
fn a_loop_that_comes_back_to_its_state_is_a_fault() {
    // 1, 5, 1, 5, ...
    let text = "
        kernel @round(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %one = const u32 1
          %five = const u32 5
          %seven = const u32 7
          %zero = const u32 0
          %r = loop ^l carry (%i = %one) : u32 { @k.rs:7:5
            %product = mul %i, %five
            %next = and %product, %seven
            %end = eq %next, %zero
            if %end {
              break ^l %next
            }
            continue ^l %next
          }
          store %out[%t], %r
          return
        }";
    let run = run_at(&[Stage::AsWritten, Stage::Prepared], text, x(1), x(1), &[tensor(&[0u32])]);
    let told = "k.rs:7:5: a loop never ends: what it changes comes back to what it was";
    assert!(run.fault().starts_with(told), "{}", run.fault());
}
