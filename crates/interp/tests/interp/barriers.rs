//! Barriers: uniform ones, those that some threads miss, and shared memory that belongs to one block.

use crate::device::{Stage, run, run_at, run_clean, scalar, tensor, x};

#[test]
fn conditional_barriers_in_nested_loops() {
    let text = "
        kernel @bars(%out: tensor<u32, 1, mut>, %na: u32, %nb: u32, %np: u32, %nq: u32) {
          %t = thread_idx.x
          %a = scalar %na
          %b = scalar %nb
          %p = scalar %np
          %q = scalar %nq
          %zero = const u32 0
          %one = const u32 1
          %hundred = const u32 100
          %pq = gt %p, %q
          %q0 = gt %q, %zero
          %c = for ^o %o = %zero to %a step %one carry (%c0 = %zero) {
            %c1 = for ^i %i = %zero to %b step %one carry (%c2 = %c0) {
              %c3 = add %c2, %one
              if %pq {
                barrier
              }
              if %q0 {
                barrier
              }
              %c4 = add %c3, %hundred
              continue ^i %c4
            }
            continue ^o %c1
          }
          if %q0 {
            barrier
          }
          store %out[%t], %c
          return
        }";
    for (p, q) in [(1, 2), (2, 1), (1, 0), (0, 0)] {
        let args = [tensor(&[0u32; 6]), scalar(2u32), scalar(3u32), scalar::<u32>(p), scalar::<u32>(q)];
        assert_eq!(run_clean(text, x(1), x(6), &args).get::<u32>(0), [606; 6]);
    }
}

#[test]
fn private_values_live_across_a_barrier() {
    let text = "
        kernel @rotate(%a: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %v = load %a[%t] : u32
          barrier
          %three = const index 3
          %ten = const index 10
          %to = add %t, %three
          %wrapped = rem %to, %ten
          store %a[%wrapped], %v
          return
        }";
    let run = run_clean(text, x(1), x(10), &[tensor(&(10..20u32).collect::<Vec<_>>())]);
    assert_eq!(run.get::<u32>(0), [17, 18, 19, 10, 11, 12, 13, 14, 15, 16]);
}

#[test]
fn loads_stay_on_their_side() {
    let text = "
        kernel @sides(%out: tensor<u32, 1, mut>) {
          shared %s: array<u32, 8>
          %t = thread_idx.x
          %tid = cast %t to u32
          %one = const index 1
          %eight = const index 8
          %next0 = add %t, %one
          %next = rem %next0, %eight
          store %s[%t], %tid
          barrier
          %v = load %s[%next] : u32
          barrier
          %hundred = const u32 100
          %later = add %tid, %hundred
          store %s[%t], %later
          barrier
          %w = load %s[%next] : u32
          %thousand = const u32 1000
          %v1 = mul %v, %thousand
          %r = add %v1, %w
          store %out[%t], %r
          return
        }";
    let run = run_clean(text, x(1), x(8), &[tensor(&[0u32; 8])]);
    assert_eq!(run.get::<u32>(0), [1101, 2102, 3103, 4104, 5105, 6106, 7107, 100]);
}

#[test]
fn different_barriers_in_two_arms_are_a_fault() {
    let text = "
        kernel @arms(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %limit = const index 4
          %low = lt %t, %limit
          if %low {
            barrier @k.rs:3:5
          } else {
            barrier @k.rs:5:5
          }
          %one = const u32 1
          store %out[%t], %one
          return
        }";
    let run = run(text, x(2), x(8), &[tensor(&[0u32; 8])]);
    assert_eq!(
        run.fault(),
        "k.rs:3:5: threads of one block wait at different barriers and none can go on: threads (0, 0, 0), (1, 0, 0), \
         (2, 0, 0), (3, 0, 0) wait at k.rs:3:5; threads (4, 0, 0), (5, 0, 0), (6, 0, 0), (7, 0, 0) wait at k.rs:5:5 \
         (block (0, 0, 0), first thread (0, 0, 0))"
    );
    assert_eq!(run.outcome.fault_count, 2, "one for each block");
    assert_eq!(run.get::<u32>(0), [0; 8]);
}

/// Each thread reads what the next has written; threads from 20 on do `otherwise`, the others come to a barrier.
fn barrier_for_some(otherwise: &str) -> String {
    "
    kernel @some(%out: tensor<u32, 1, mut>) {
      shared %s: array<u32, 48>
      %t = thread_idx.x
      %tid = cast %t to u32
      store %s[%t], %tid
      %twenty = const index 20
      %low = lt %t, %twenty
      if %low {
        barrier @k.rs:3:5
      } else {
        OTHERWISE
      }
      %one = const index 1
      %n = const index 48
      %next0 = add %t, %one
      %next = rem %next0, %n
      %v = load %s[%next] : u32
      store %out[%t], %v
      return
    }"
    .replace("OTHERWISE", otherwise)
}

#[test]
fn threads_that_returned_are_not_waited_for() {
    let run = run_clean(&barrier_for_some("return"), x(1), x(48), &[tensor(&[0u32; 48])]);
    let expected: Vec<u32> = (0..48).map(|t| if t < 20 { t + 1 } else { 0 }).collect();
    assert_eq!(run.get::<u32>(0), expected);
}

#[test]
fn a_barrier_that_some_threads_go_past_is_a_fault() {
    let run = run(&barrier_for_some("yield"), x(1), x(48), &[tensor(&[0u32; 48])]);
    assert_eq!(
        run.fault(),
        "k.rs:3:5: a barrier is not reached by all threads of the block: threads (0, 0, 0), (1, 0, 0), (2, 0, 0), (3, \
         0, 0) and 16 more wait at k.rs:3:5; 28 ended before (block (0, 0, 0), first thread (0, 0, 0))"
    );
}

#[test]
fn threads_held_at_a_barrier_keep_what_was_uniform() {
    // Threads 4 and up run all rounds and end, while the others are held in the first one.
    let text = "
        kernel @held(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %four = const index 4
          %low = lt %t, %four
          %zero = const u32 0
          %one = const u32 1
          %five = const u32 5
          %sum = for ^k %k = %zero to %five step %one carry (%acc = %zero) {
            %square = mul %k, %k
            if %low {
              barrier
            }
            %a = add %acc, %square
            %b = add %a, %k
            continue ^k %b
          }
          store %out[%t], %sum
          if %low {
            %six = add %sum, %one
            store %out[%t], %six
          } else {
            return
          }
          return
        }";
    let stages = [Stage::AsWritten, Stage::Prepared];
    let run = run_at(&stages, text, x(2), x(100), &[tensor(&[0u32; 100])]);
    assert_eq!(run.fault(), "");
    assert_eq!(run.get::<u32>(0), (0..100).map(|t| if t < 4 { 41 } else { 40 }).collect::<Vec<_>>());
}

#[test]
fn uniform_in_the_block_but_not_in_the_grid() {
    let text = "
        kernel @odd(%out: tensor<u32, 1, mut>) {
          shared %s: array<u32, 4>
          %t = thread_idx.x
          %b = block_idx.x
          %four = const index 4
          %one = const index 1
          %two = const index 2
          %base = mul %b, %four
          %g = add %base, %t
          %five = const index 5
          %v0 = mul %t, %five
          %v1 = add %v0, %b
          %v = cast %v1 to u32
          store %s[%t], %v
          %r = rem %b, %two
          %odd = eq %r, %one
          if %odd {
            barrier
            %next0 = add %t, %one
            %next = rem %next0, %four
            %w = load %s[%next] : u32
            store %out[%g], %w
          } else {
            %own = load %s[%t] : u32
            store %out[%g], %own
          }
          return
        }";
    let run = run_clean(text, x(3), x(4), &[tensor(&[0u32; 12])]);
    assert_eq!(run.get::<u32>(0), [0, 5, 10, 15, 6, 11, 16, 1, 2, 7, 12, 17]);
}

#[test]
fn shared_memory_belongs_to_one_block_and_starts_unwritten() {
    let text = "
        kernel @own(%out: tensor<u32, 1, mut>, %first: tensor<u32, 1, mut>, %float: tensor<f32, 1, mut>) {
          shared %s: array<u32, 3>
          shared %f: array<f32, 3>
          %t = thread_idx.x
          %b = block_idx.x
          %three = const index 3
          %base = mul %b, %three
          %g = add %base, %t
          %before = load %s[%t] : u32
          store %first[%g], %before
          %fbefore = load %f[%t] : f32
          store %float[%g], %fbefore
          %seven = const index 7
          %v0 = mul %b, %seven
          %v = cast %v0 to u32
          store %s[%t], %v
          %fv = cast %v to f32
          store %f[%t], %fv
          barrier
          %one = const index 1
          %next0 = add %t, %one
          %next = rem %next0, %three
          %w = load %s[%next] : u32
          %tid = cast %t to u32
          %r = add %w, %tid
          store %out[%g], %r
          return
        }";
    let args = [tensor(&[0u32; 150]), tensor(&[0u32; 150]), tensor(&[0f32; 150])];
    let run = run_clean(text, x(50), x(3), &args);
    assert_eq!(run.get::<u32>(0), (0..150).map(|g| 7 * (g / 3) + g % 3).collect::<Vec<_>>());
    assert_eq!(run.get::<u32>(1), [0xcdcd_cdcd; 150]);
    assert!(run.get::<f32>(2).iter().all(|f| f.is_nan()));
}

#[test]
fn a_tree_of_every_width() {
    // The sum of 2 t + 3 over a block, by a tree whose rounds have fewer and fewer threads.
    let text = "
        kernel @tree(%out: tensor<u32, 1, mut>) {
          shared %s: array<u32, 1024>
          %t = thread_idx.x
          %n = block_dim.x
          %tid = cast %t to u32
          %two = const u32 2
          %three = const u32 3
          %v0 = mul %tid, %two
          %v = add %v0, %three
          store %s[%t], %v
          barrier
          %one = const index 1
          %left = loop ^l carry (%width = %n) : index {
            %single = le %width, %one
            if %single {
              break ^l %width
            }
            %up = add %width, %one
            %half = shr %up, %one
            %from = add %t, %half
            %in = lt %from, %width
            if %in {
              %a = load %s[%t] : u32
              %b = load %s[%from] : u32
              %c = add %a, %b
              store %s[%t], %c
            }
            barrier
            continue ^l %half
          }
          %zero = const index 0
          %sum = load %s[%zero] : u32
          store %out[%t], %sum
          return
        }";
    for threads in [1u32, 17, 31, 32, 33, 45, 48, 64, 96, 100, 1000, 1024] {
        let run = run_clean(text, x(1), x(threads), &[tensor(&vec![0u32; threads as usize])]);
        assert_eq!(run.get::<u32>(0), vec![threads * (threads + 2); threads as usize]);
    }
}
