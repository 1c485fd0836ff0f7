//! Operations of warps: which lane gets what, who is waited for, and lanes that do not come.

use crate::device::{Run, run, run_clean, tensor, x};

/// A kernel that stores `%r`, of type `ty`, for each of its `threads`. It has the constants `%n0`, `%n1`, ... to `%n40`
/// of `u32`, the index `%t` and the lane `%lane`.
fn kernel(ty: &str, body: &str) -> String {
    let constants: String = (0..=40).map(|n| format!("%n{n} = const u32 {n}\n")).collect();
    format!(
        "kernel @k(%out: tensor<{ty}, 1, mut>, %in: tensor<u32, 1>) {{
           %t = thread_idx.x
           %lane = lane_id
           {constants}
           {body}
           store %out[%t], %r
           return
         }}"
    )
}

/// Runs a kernel that stores a `u32` for each of so many threads; the input has its number for each.
fn launch(threads: u32, body: &str) -> Run {
    let input: Vec<u32> = (0..threads).collect();
    run(&kernel("u32", body), x(1), x(threads), &[tensor(&vec![0u32; threads as usize]), tensor(&input)])
}

fn values(threads: u32, body: &str) -> Vec<u32> {
    let run = launch(threads, body);
    assert_eq!(run.fault(), "");
    run.get(0)
}

#[test]
fn lanes_are_numbered_in_each_warp() {
    let text = "
        kernel @lanes(%out: tensor<u32, 1, mut>) {
          %x = thread_idx.x
          %y = thread_idx.y
          %w = block_dim.x
          %row = mul %y, %w
          %i = add %row, %x
          %lane = lane_id
          store %out[%i], %lane
          return
        }";
    let run = run_clean(text, x(1), [10, 10, 1], &[tensor(&[0u32; 100])]);
    assert_eq!(run.get::<u32>(0), (0..100).map(|i| i % 32).collect::<Vec<u32>>());
}

#[test]
fn shuffles_stay_inside_a_warp() {
    let body = |shuffle: &str| format!("%v = load %in[%t] : u32\n%r = shuffle_{shuffle}");
    let check = |shuffle: &str, from: fn(u32) -> u32| {
        let expected: Vec<u32> = (0..64).map(|t| t / 32 * 32 + from(t % 32)).collect();
        assert_eq!(values(64, &body(shuffle)), expected, "{shuffle}");
    };
    check("down %v, %n5", |lane| if lane < 27 { lane + 5 } else { lane });
    check("down %v, %n33", |lane| lane);
    check("up %v, %n3", |lane| if lane < 3 { lane } else { lane - 3 });
    check("up %v, %n40", |lane| lane);
    check("xor %v, %n16", |lane| lane ^ 16);
    check("xor %v, %n35", |lane| lane ^ 3);
    check("idx %v, %n7", |_| 7);
    check("idx %v, %n39", |_| 7);
    check("idx %v, %lane", |lane| lane);
}

#[test]
fn a_lane_that_does_not_exist_is_a_fault() {
    let run = launch(44, "%r = shuffle_xor %lane, %n16");
    let out: Vec<u32> = run.get(0);
    assert_eq!(out[..32], (0..32).map(|lane| lane ^ 16).collect::<Vec<u32>>());
    assert_eq!(out[32..], (0..12).collect::<Vec<u32>>());
    assert_eq!(run.outcome.fault_count, 12);
    assert_eq!(
        run.fault(),
        "a shuffle from lane 16, which does not exist in this warp or has returned; the lane's own value is used \
         (block (0, 0, 0), thread (32, 0, 0))"
    );
}

#[test]
fn a_lane_that_has_returned_is_not_waited_for() {
    let returned = "
        %is3 = eq %lane, %n3
        if %is3 {
          return
        }";
    let all = "%yes = const bool true";
    assert_eq!(values(32, &format!("{returned}\n{all}\n%r = ballot %yes"))[0], !(1 << 3));
    let run = launch(32, &format!("{returned}\n%r = shuffle_xor %lane, %n1"));
    let mut expected: Vec<u32> = (0..32).map(|lane| lane ^ 1).collect();
    (expected[2], expected[3]) = (2, 0);
    assert_eq!(run.get::<u32>(0), expected);
    assert!(run.fault().starts_with("a shuffle from lane 3"), "{}", run.fault());
    assert_eq!(run.outcome.fault_count, 1);
    let sum = values(32, &format!("{returned}\n%r = warp_reduce_add %lane"));
    assert_eq!((sum[0], sum[3], sum[31]), (493, 0, 493));
    let sums = values(32, &format!("{returned}\n%r = warp_scan_add %lane"));
    assert_eq!((sums[2], sums[3], sums[4], sums[31]), (3, 0, 7, 493));
}

#[test]
fn votes_have_a_bit_for_each_lane() {
    let odd = "%low = and %lane, %n1\n%odd = eq %low, %n1\n%r = ballot %odd";
    assert_eq!(values(44, odd), [[0xaaaa_aaaa; 32].as_slice(), &[0xaaa; 12]].concat());
}

#[test]
fn all_lanes_are_combined() {
    let sums = values(44, "%v = load %in[%t] : u32\n%r = warp_reduce_add %v");
    assert_eq!(sums, [[496; 32].as_slice(), &[450; 12]].concat());
    assert_eq!(values(44, "%r = warp_reduce_max %lane"), [[31; 32].as_slice(), &[11; 12]].concat());
    let sums = values(44, "%v = load %in[%t] : u32\n%r = warp_scan_add %v");
    let expected: Vec<u32> = (0..44).map(|t| (t / 32 * 32..=t).sum()).collect();
    assert_eq!(sums, expected);
    let all = "%low = lt %lane, %n12\n%b = warp_reduce_and %low\n%r = select %b, %n1, %n0";
    assert_eq!(values(44, all), [[0; 32].as_slice(), &[1; 12]].concat());
}

#[test]
fn each_type_is_combined_in_its_own_width() {
    for (ty, expected) in [("i8", -16i64), ("u8", 240), ("i16", 496), ("u64", 496), ("index", 496)] {
        let body = format!("%v = cast %lane to {ty}\n%s = warp_reduce_add %v\n%r = cast %s to i64");
        let args = [tensor(&[0i64; 32]), tensor(&[0u32; 32])];
        assert_eq!(
            run_clean(&kernel("i64", &body), x(1), x(32), &args).get::<i64>(0),
            [expected; 32],
            "{ty}"
        );
    }
    for ty in ["f16", "bf16", "f32", "f64"] {
        let body = format!("%v = cast %lane to {ty}\n%s = warp_reduce_max %v\n%r = cast %s to i64");
        let args = [tensor(&[0i64; 32]), tensor(&[0u32; 32])];
        assert_eq!(run_clean(&kernel("i64", &body), x(1), x(32), &args).get::<i64>(0), [31; 32], "{ty}");
    }
}

#[test]
fn a_warp_does_not_wait_for_the_others() {
    let body = "
        %v = load %in[%t] : u32
        %second = ge %v, %n32
        %r = if %second : u32 {
          %a = warp_reduce_add %v
          yield %a
        } else {
          %b = warp_reduce_max %v
          %c = shuffle_xor %b, %n1
          yield %c
        }";
    assert_eq!(values(64, body), [[31; 32].as_slice(), &[1520; 32]].concat());
}

#[test]
fn lanes_meet_again_after_ways_of_their_own() {
    let body = "
        %low = lt %lane, %n16
        %a = if %low : u32 {
          %s = for ^k %k = %n0 to %lane step %n1 carry (%acc = %n0) {
            %next = add %acc, %k
            continue ^k %next
          }
          yield %s
        } else {
          yield %lane
        }
        %r = warp_reduce_max %a";
    assert_eq!(values(32, body), [105; 32]);
}

#[test]
fn half_of_a_warp_is_a_fault() {
    let text = "
        ; spans
        kernel @half(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %lane = lane_id
          %n20 = const u32 20
          %low = lt %lane, %n20
          if %low {
            %v = ballot %low @k.rs:3:5
            store %out[%t], %v
          }
          return
        }";
    let run = run(text, x(1), x(32), &[tensor(&[0u32; 32])]);
    assert_eq!(
        run.fault(),
        "k.rs:3:5: an operation of a warp is not reached by all of its lanes that have to be there: threads (0, 0, 0), \
         (1, 0, 0), (2, 0, 0), (3, 0, 0) and 16 more wait at k.rs:3:5; 12 ended before (block (0, 0, 0), first thread \
         (0, 0, 0))"
    );
}

#[test]
fn lanes_at_different_operations_are_a_fault() {
    let body = "
        %low = lt %lane, %n16
        %r = if %low : u32 {
          %a = warp_reduce_add %lane
          yield %a
        } else {
          barrier
          yield %lane
        }";
    let run = launch(64, body);
    assert!(
        run.fault().contains("(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0) and 12 more wait at"),
        "{}",
        run.fault()
    );
    assert!(run.fault().contains("(16, 0, 0), (17, 0, 0), (18, 0, 0), (19, 0, 0) and 12 more wait at"));
}

#[test]
fn a_warp_barrier_waits_for_the_lanes_of_its_mask() {
    // Each quarter of the warp has a barrier of its own, in a branch that the other quarters do not take.
    let body = "
        %quarter = div %lane, %n8
        %eight = mul %quarter, %n8
        %ff = const u32 255
        %mask = shl %ff, %eight
        %first = eq %quarter, %n0
        if %first {
          warp_barrier %mask
        }
        %not = ne %quarter, %n0
        if %not {
          warp_barrier %mask
        }
        %r = warp_reduce_add %quarter";
    assert_eq!(values(32, body), [48; 32]);
}

#[test]
fn a_lane_outside_its_own_mask_is_a_fault() {
    let run = launch(32, "warp_barrier %n1\n%r = warp_reduce_add %lane");
    assert!(run.fault().contains("operation of a warp is not reached"), "{}", run.fault());
}

#[test]
fn lanes_that_end_wake_those_that_wait() {
    // Lane 0 spins until lane 32, of another warp, has come past its operation, which waits for lanes that return.
    let text = "
        kernel @wake(%out: tensor<u32, 1, mut, aliased>) {
          %t = thread_idx.x
          %n0 = const index 0
          %n32 = const index 32
          %n40 = const index 40
          %zero = const u32 0
          %one = const u32 1
          %yes = const bool true
          %second = ge %t, %n32
          if %second {
            %late = ge %t, %n40
            if %late {
              return
            }
            %b = ballot %yes
            store %out[%t], %b
            return
          }
          loop ^spin {
            %v = load %out[%n32] : u32
            %set = ne %v, %zero
            if %set {
              break ^spin
            }
            continue ^spin
          }
          %all = warp_reduce_add %one
          store %out[%t], %all
          return
        }";
    let run = run_clean(text, x(1), x(64), &[tensor(&[0u32; 64])]);
    let expected = [[32; 32].as_slice(), &[255; 8], &[0; 24]].concat();
    assert_eq!(run.get::<u32>(0), expected);
}
