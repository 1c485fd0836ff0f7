//! Loops that wait for other threads: of the same block, of later blocks, and for nobody.

use crate::device::{Data, Run, Stage, run, run_clean, tensor, x};

/// A lock that is taken and given back in one round of a loop.
const LOCK_IN_LOOP: &str = "
    kernel @lock(%lock: tensor<u32, 1, mut>, %count: tensor<u32, 1, mut>) {
      %at = const index 0
      %free = const u32 0
      %taken = const u32 1
      loop ^l {
        %old = atomic_cas device acquire %lock[%at], %free, %taken
        %mine = eq %old, %free
        if %mine {
          %x = load %count[%at] : u32
          %x1 = add %x, %taken
          store %count[%at], %x1
          atomic_store device release %lock[%at], %free
          break ^l
        }
        continue ^l
      }
      return
    }";

/// A lock that is spun on before the work: the owner has left the loop that the others are in.
const LOCK_BEFORE: &str = "
    kernel @lock(%lock: tensor<u32, 1, mut>, %count: tensor<u32, 1, mut>) {
      %at = const index 0
      %free = const u32 0
      %taken = const u32 1
      loop ^l {
        %old = atomic_cas device acquire %lock[%at], %free, %taken
        %mine = eq %old, %free
        if %mine {
          break ^l
        }
        continue ^l
      }
      %x = load %count[%at] : u32
      %x1 = add %x, %taken
      store %count[%at], %x1
      atomic_store device release %lock[%at], %free
      return
    }";

#[test]
fn locks_inside_a_block_and_between_blocks() {
    for text in [LOCK_IN_LOOP, LOCK_BEFORE] {
        for (grid, block) in [(1, 32), (4, 8), (1, 100), (3, 70)] {
            let run = run_clean(text, x(grid), x(block), &[tensor(&[0u32]), tensor(&[0u32])]);
            assert_eq!(run.get::<u32>(1), [grid * block]);
            assert_eq!(run.get::<u32>(0), [0]);
        }
    }
}

#[test]
fn a_spin_wait_on_a_later_thread_of_the_block() {
    // Thread t waits until thread t + 1 has set its flag: only the last does not wait.
    let text = "
        kernel @chain(%flag: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %n = block_dim.x
          %one = const index 1
          %next = add %t, %one
          %waits = lt %next, %n
          %zero = const u32 0
          if %waits {
            loop ^w {
              %f = LOAD : u32
              %set = ne %f, %zero
              if %set {
                break ^w
              }
              continue ^w
            }
          }
          %set1 = const u32 1
          STORE, %set1
          return
        }";
    let plain = text.replace("LOAD : u32", "load %flag[%next] : u32").replace("STORE", "store %flag[%t]");
    let atomic = text
        .replace("LOAD : u32", "atomic_load block acquire %flag[%next]")
        .replace("STORE", "atomic_store block release %flag[%t]");
    for text in [plain, atomic] {
        for threads in [2u32, 40, 150] {
            let run = run_clean(&text, x(1), x(threads), &[tensor(&vec![0u32; threads as usize])]);
            assert_eq!(run.get::<u32>(0), vec![1; threads as usize]);
        }
    }
}

/// Every block waits for the block after it, with one thread or all, counting its rounds or not.
fn chain_of_blocks(by: &str) -> String {
    "
    kernel @chain(%flag: tensor<u32, 1, mut>, %data: tensor<u32, 1, mut>, %spins: tensor<u32, 1, mut>) {
      %b = block_idx.x
      %n = grid_dim.x
      %t = thread_idx.x
      %one = const index 1
      %zero = const index 0
      %next = add %b, %one
      %off = const u32 0
      %on = const u32 1
      %later = lt %next, %n
      BY
      %waits = and %later, %chosen
      if %waits {
        %r = loop ^w carry (%c = %off) : u32 {
          %f = atomic_load device acquire %flag[%next]
          %set = ne %f, %off
          if %set {
            break ^w %c
          }
          %c1 = STEP
          continue ^w %c1
        }
        store %spins[%b], %r
      }
      barrier
      %first = eq %t, %zero
      if %first {
        %v = if %later : u32 {
          %d = load %data[%next] : u32
          yield %d
        } else {
          yield %off
        }
        %v1 = add %v, %on
        store %data[%b], %v1
        atomic_store device release %flag[%b], %on
      }
      return
    }"
    .replace("BY", by)
}

#[test]
fn a_spin_wait_on_a_later_block() {
    let one_thread = chain_of_blocks("%chosen = eq %t, %zero");
    let all_threads = chain_of_blocks("%chosen = le %zero, %t");
    for text in [one_thread, all_threads] {
        let quiet = text.replace("STEP", "mul %c, %on");
        let counting = text.replace("STEP", "add %c, %on");
        for (text, blocks) in [(&quiet, 20), (&counting, 6)] {
            let zeros = tensor(&vec![0u32; blocks as usize]);
            let data: Vec<u32> = (1..=blocks).rev().collect();
            for stage in [Stage::AsWritten, Stage::Optimized] {
                for workers in 1..=3 {
                    let run = once(text, stage, workers, x(blocks), x(40), &[&zeros; 3]);
                    assert_eq!(run.fault(), "");
                    assert_eq!(run.get::<u32>(1), data);
                }
            }
        }
    }
}

/// One run: how often a loop spins is not the same each time.
fn once(text: &str, stage: Stage, workers: usize, grid: [u32; 3], block: [u32; 3], args: &[&Data]) -> Run {
    let program = tilewise_interp::Program::compile(&crate::device::kernel(text, stage)).unwrap();
    let args: Vec<Data> = args.iter().map(|&data| data.clone()).collect();
    crate::device::run_once(&program, workers, grid, block, &args).unwrap()
}

#[test]
fn a_wait_in_a_round_that_others_have_left() {
    // Thread 0 waits, in round k of a uniform loop, for what thread 1 does in round k + 1.
    let text = "
        kernel @ahead(%flag: tensor<u32, 1, mut>, %out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %zero = const index 0
          %one = const index 1
          %first = eq %t, %zero
          %start = const u32 0
          %step = const u32 1
          %five = const u32 5
          %sum = for ^k %k = %start to %five step %step carry (%s = %start) {
            if %first {
              %k1 = add %k, %step
              %last = eq %k1, %five
              if %last {
                yield
              } else {
                loop ^w {
                  %f = atomic_load block acquire %flag[%zero]
                  %set = gt %f, %k
                  if %set {
                    break ^w
                  }
                  continue ^w
                }
              }
            } else {
              atomic_store block release %flag[%zero], %k
            }
            %square = mul %k, %k
            %s1 = add %s, %square
            continue ^k %s1
          }
          store %out[%t], %sum
          return
        }";
    let run = run_clean(text, x(3), x(2), &[tensor(&[0u32; 1]), tensor(&[0u32; 2])]);
    assert_eq!(run.get::<u32>(1), [30, 30]);
}

#[test]
fn values_of_threads_that_have_gone_ahead_are_theirs() {
    // Thread 0 counts rounds until thread 1 lets it go. Thread 1 has values in registers meanwhile, in which the loop
    // of thread 0 had some of its own.
    let values: String = (0..6).map(|i| format!("%x{i} = mul %tid, %c{i}\n")).collect();
    let constants: String = (0..6).map(|i| format!("%c{i} = const u32 {}\n", i + 11)).collect();
    let sum: String = (1..6).map(|i| format!("%s{i} = add %s{}, %x{i}\n", i - 1)).collect();
    let text = format!(
        "kernel @ahead(%flag: tensor<u32, 1, mut>, %ticks: tensor<u32, 1, mut>, %out: tensor<u32, 1, mut>) {{
           %t = thread_idx.x
           %tid = cast %t to u32
           %at = const index 0
           %off = const u32 0
           %on = const u32 1
           %many = const u32 500
           {constants}
           %first = eq %t, %at
           if %first {{
             loop ^w {{
               %f = atomic_load block acquire %flag[%at]
               %tick = atomic_add block relaxed %ticks[%at], %on
               %a = mul %tick, %f
               %b = xor %a, %tick
               %c = add %b, %f
               %d = sub %c, %b
               %set = ne %d, %off
               if %set {{
                 break ^w
               }}
               continue ^w
             }}
           }}
           {values}
           if %first {{
             yield
           }} else {{
             loop ^v {{
               %n = atomic_load block relaxed %ticks[%at]
               %enough = gt %n, %many
               if %enough {{
                 break ^v
               }}
               continue ^v
             }}
             atomic_store block release %flag[%at], %on
           }}
           %s0 = add %x0, %off
           {sum}
           store %out[%t], %s5
           return
         }}"
    );
    let args = [tensor(&[0u32]), tensor(&[0u32]), tensor(&[0u32; 3])];
    let sum: u32 = (11..17).sum();
    for stage in [Stage::AsWritten, Stage::Prepared, Stage::Optimized] {
        let run = once(&text, stage, 1, x(1), x(3), &[&args[0], &args[1], &args[2]]);
        assert_eq!(run.fault(), "");
        assert_eq!(run.get::<u32>(2), [0, sum, 2 * sum]);
    }
}

#[test]
fn a_wait_for_nobody_is_a_fault() {
    let text = "
        kernel @stuck(%flag: tensor<u32, 1, mut>, %out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %b = block_idx.x
          %zero = const index 0
          %one = const index 1
          %off = const u32 0
          %on = const u32 1
          %waits = eq %t, %one
          if %waits {
            loop ^w { @k.rs:8:9
              %f = atomic_load device acquire %flag[%zero]
              %set = ne %f, %off
              if %set {
                break ^w
              }
              continue ^w
            }
          }
          barrier @k.rs:10:5
          store %out[%t], %on
          return
        }";
    let run = run(text, x(3), x(3), &[tensor(&[0u32; 1]), tensor(&[0u32; 3])]);
    assert_eq!(
        run.fault(),
        "k.rs:8:9: a loop makes no progress: nothing that it looks at changes any more: thread (1, 0, 0) spins at \
         k.rs:8:9; at a barrier: threads (0, 0, 0), (2, 0, 0) wait at k.rs:10:5 (block (0, 0, 0), first thread (1, \
         0, 0))"
    );
    assert_eq!(run.outcome.fault_count, 3);
    assert_eq!(run.get::<u32>(1), [0; 3]);
}

#[test]
fn a_wait_in_which_memory_is_written_but_not_changed_is_a_fault() {
    // A test-and-set lock that its owner never gives back, and a store of the same value in each round.
    let text = "
        kernel @taken(%lock: tensor<u32, 1, mut>, %out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %zero = const index 0
          %off = const u32 0
          %on = const u32 1
          loop ^w { @k.rs:6:1
            store %out[%zero], %on
            %old = atomic_exchange device acq_rel %lock[%zero], %on
            %mine = eq %old, %off
            if %mine {
              break ^w
            }
            continue ^w
          }
          return
        }";
    let run = run(text, x(1), x(3), &[tensor(&[0u32; 1]), tensor(&[0u32; 1])]);
    assert_eq!(
        run.fault(),
        "k.rs:6:1: a loop makes no progress: nothing that it looks at changes any more: threads (1, 0, 0), (2, 0, 0) \
         spin at k.rs:6:1 (block (0, 0, 0), first thread (1, 0, 0))"
    );
}

#[test]
fn two_blocks_that_wait_for_each_other_are_a_fault() {
    let text = "
        kernel @cycle(%flag: tensor<u32, 1, mut>) {
          %b = block_idx.x
          %one = const index 1
          %other = sub %one, %b
          %off = const u32 0
          loop ^w { @k.rs:4:1
            %f = atomic_load device acquire %flag[%other]
            %set = ne %f, %off
            if %set {
              break ^w
            }
            continue ^w
          }
          %on = const u32 1
          atomic_store device release %flag[%b], %on
          return
        }";
    let run = run(text, x(2), x(33), &[tensor(&[0u32; 2])]);
    assert!(run.fault().starts_with("k.rs:4:1: a loop makes no progress"), "{}", run.fault());
    assert_eq!(run.outcome.fault_count, 2);
}
