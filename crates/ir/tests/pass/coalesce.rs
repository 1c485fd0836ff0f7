//! Tiles of threads that become tiles of blocks: random kernels leave the same memory, whatever the order of the threads.

use crate::equivalence::seeds;
use crate::support::random::Random;
use crate::support::reference::{self, Arg, Launch};
use std::fmt::Write;
use tilewise_ir::{Kernel, pass, verify};

/// Elements of each tensor.
const LEN: u64 = 4096;

/// A loop over the elements of a tile, in one of the ways in which such loops are written, and in some in which they are not
/// to be changed.
fn kernel(random: &mut Random, threads: usize) -> Kernel {
    let lanes = random.pick(&[1, 1, 1, 2, 4]);
    let (rounds, step, lo) = (1 + random.below(8), random.pick(&[1, 1, 2, 3]), random.below(5));
    // Elements from one round to the next, and from one thread to the next: now and then a tile is too small or too large.
    let stride = step * random.pick(&[lanes, lanes, lanes, lanes + 1]);
    let tile = rounds * stride + if random.chance(15) { random.below(3) } else { 0 };
    let by = stride / step;
    let ty = if lanes == 1 { "u32".to_owned() } else { format!("u32x{lanes}") };
    let mut body = String::new();
    match random.below(3) {
        0 => body.push_str("%scaled = mul %k, %m\n%e = add %start, %scaled\n"),
        1 => body
            .push_str("%scaled = mul %m, %k\n%f = add %scaled, %start\n%g = add %f, %w\n%e = sub %g, %w\n"),
        _ => body
            .push_str("%v = add %w, %one\n%scaled = mul %k, %m\n%f = add %v, %scaled\n%e = add %f, %start\n"),
    }
    let mut values = vec![];
    for n in 0..1 + random.below(3) {
        let (from, at) = match random.below(5) {
            // What is written, at the same element.
            0 => ("out", "%e".to_owned()),
            1 => {
                writeln!(body, "%at{n} = add %e, %one").expect("a string");
                ("a", format!("%at{n}"))
            }
            2 => {
                writeln!(body, "%at{n} = rem %e, %some").expect("a string");
                ("a", format!("%at{n}"))
            }
            _ => ("a", "%e".to_owned()),
        };
        writeln!(body, "%x{n} = load %{from}[{at}] : {ty}").expect("a string");
        values.push(format!("%x{n}"));
    }
    let mut sum = values[0].clone();
    for (n, value) in values.iter().enumerate() {
        writeln!(body, "%s{n} = {} {sum}, {value}", random.pick(&["add", "xor", "mul"])).expect("a string");
        sum = format!("%s{n}");
    }
    if lanes == 1 && random.chance(30) {
        // Now and then something that depends on more than the element.
        let what = random.pick(&["%e", "%e", "%w", "%k", "%thread"]);
        write!(body, "%number = cast {what} to u32\n%mixed = add {sum}, %number\n").expect("a string");
        sum = "%mixed".to_owned();
    }
    writeln!(body, "store %out[%e], {sum}").expect("a string");
    if random.chance(30) {
        writeln!(body, "store %other[%e], {sum}").expect("a string");
    }
    let after = match random.below(6) {
        // Somebody else's elements, which are there only if the threads' order is kept.
        0 => "%y = load %out[%zero] : u32\nstore %last[%thread], %y\n",
        1 => "%y = load %a[%thread] : u32\nstore %last[%thread], %y\n",
        _ => "",
    };
    let hi = lo + (rounds - 1) * step + 1;
    let start = match random.below(3) {
        0 => "%start = mul %thread, %tile\n".to_owned(),
        1 => "%there = mul %tile, %thread\n%start = add %there, %w\n".to_owned(),
        _ => "%there = add %w, %thread\n%start = mul %there, %tile\n".to_owned(),
    };
    let text = format!(
        "kernel @k(%a: tensor<u32, 1>, %out: tensor<u32, 1, mut>, %other: tensor<u32, 1, mut>,
           %last: tensor<u32, 1, mut>, %by: index) {{
           %zero = const index 0
           %one = const index 1
           %some = const index 100
           %first = const index {lo}
           %end = const index {hi}
           %step = const index {step}
           %m = const index {by}
           %tile = const index {tile}
           %w = scalar %by
           %thread = thread_idx.x
           {start}
           for ^0 %k = %first to %end step %step {{
             {body}
             continue ^0
           }}
           {after}
           return
         }}"
    );
    assert!((threads * tile.max(1) + 8 * tile + 100) < LEN as usize);
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The buffers after all threads, in some order; `None` if one leaves its memory.
fn memory(
    kernel: &Kernel,
    buffers: &[Vec<u64>],
    by: u64,
    threads: impl Iterator<Item = u64>,
) -> Vec<Vec<u64>> {
    let mut buffers = buffers.to_vec();
    for thread in threads {
        let launch = Launch {
            args: (0..4).map(|n| Arg::Tensor(n, vec![LEN])).chain([Arg::Scalar(by)]).collect(),
            buffers,
            thread: [thread, 0, 0],
            steps: 100_000,
        };
        buffers = reference::run(kernel, &launch).expect("the loops end").buffers;
    }
    buffers
}

#[test]
fn random_tiles_leave_the_same() {
    let mut changed = 0;
    for seed in seeds() {
        let mut random = Random::new(seed);
        let threads = random.pick(&[2, 3, 8, 16]);
        let before = kernel(&mut random, threads);
        let mut after = before.clone();
        if !pass::coalesce::run(&mut after, threads as u32) {
            assert_eq!(before.body, after.body, "{seed} says that it has changed nothing");
            continue;
        }
        changed += 1;
        if let Err(errors) = verify::verify(&after) {
            panic!("{seed}\n{before}\nbecame\n{}", verify::render(&after, &errors));
        }
        let buffers: Vec<Vec<u64>> =
            (0..4).map(|_| (0..LEN).map(|_| random.bits() & 0xffff_ffff).collect()).collect();
        let (by, threads) = (random.below(6) as u64, threads as u64);
        let expected = memory(&before, &buffers, by, 0..threads);
        let mut optimized = after.clone();
        pass::optimize(&mut optimized);
        for kernel in [&after, &optimized] {
            assert!(
                memory(kernel, &buffers, by, 0..threads) == expected,
                "{seed}\n{before}\nbecame\n{kernel}"
            );
            assert!(
                memory(kernel, &buffers, by, (0..threads).rev()) == expected,
                "{seed}, backwards\n{kernel}"
            );
        }
    }
    let kernels = seeds().count();
    assert!(changed * 3 > kernels, "{changed} of {kernels} were changed");
}
