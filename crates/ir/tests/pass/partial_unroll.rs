//! Loops that are unrolled in part: random ones do the same, and the optimiser keeps what they gain.

use crate::equivalence::{check, seeds};
use crate::support::random::Random;
use crate::support::reference::{Arg, Launch};
use std::fmt::Write;
use tilewise_ir::{Kernel, Op, pass};

/// Elements of each tensor.
const LEN: u64 = 4096;

/// The largest of: the last counter, the number of a thread, a scalar, a constant.
const LARGEST: [u64; 4] = [60, 7, 5, 9];

/// Writes operations that compute an offset from the counter, all of whose values are below [`LEN`]; gives its name.
fn offset(random: &mut Random, text: &mut String, values: &mut usize) -> String {
    loop {
        let mut ops = String::new();
        let mut next = *values;
        let mut known = vec![
            ("%i".to_owned(), LARGEST[0]),
            ("%thread".to_owned(), LARGEST[1]),
            ("%w".to_owned(), LARGEST[2]),
            ("%c".to_owned(), LARGEST[3]),
        ];
        for _ in 0..=random.below(4) {
            let (a, b) = (random.below(known.len()), random.below(known.len()));
            let ((a, of_a), (b, of_b)) = (known[a].clone(), known[b].clone());
            let (op, largest) = match random.below(4) {
                0 => ("mul", of_a * of_b),
                1 if b == "%w" => ("shl", of_a << of_b),
                _ => ("add", of_a + of_b),
            };
            writeln!(ops, "  %v{next} = {op} {a}, {b}").expect("a string");
            known.push((format!("%v{next}"), largest));
            next += 1;
        }
        let (name, _) = known[known.len() - 1].clone();
        if known.iter().all(|&(_, largest)| largest < LEN) {
            text.push_str(&ops);
            *values = next;
            return name;
        }
    }
}

/// A loop over elements at such offsets.
fn kernel(random: &mut Random) -> Kernel {
    let ty = random.pick(&["index", "u32", "i32"]);
    let (lo, step, c) = (random.below(6), random.pick(&[1, 1, 2, 4]), random.below(10));
    let lo =
        if ty == "i32" || random.chance(50) { format!("const {ty} {lo}") } else { "scalar %lo".to_owned() };
    let hi =
        if random.chance(20) { format!("const {ty} {}", random.below(60)) } else { "scalar %hi".to_owned() };
    let mut body = if ty == "index" { String::new() } else { "  %i = cast %k to index\n".to_owned() };
    let (mut values, mut sum) = (0, "%s".to_owned());
    for n in 0..=random.below(3) {
        let at = offset(random, &mut body, &mut values);
        let op = random.pick(&["add", "xor", "mul"]);
        write!(body, "  %x{n} = load %a[{at}] : u32\n  %s{n} = {op} {sum}, %x{n}\n").expect("a string");
        sum = format!("%s{n}");
        if random.chance(30) {
            let to = offset(random, &mut body, &mut values);
            writeln!(body, "  store %out[{to}], {sum}").expect("a string");
        }
    }
    let counter = if ty == "index" { "%i" } else { "%k" };
    let text = format!(
        "kernel @k(%a: tensor<u32, 1>, %out: tensor<u32, 1, mut>, %lo: {ty}, %hi: {ty}, %by: index) {{
           %first = {lo}
           %last = {hi}
           %step = const {ty} {step}
           %w = scalar %by
           %c = const index {c}
           %none = const u32 17
           %zero = const index 0
           %thread = thread_idx.x
           %sum = for ^0 {counter} = %first to %last step %step carry (%s = %none) {{
             {body}
             continue ^0 {sum}
           }}
           store %out[%zero], %sum
           return
         }}"
    );
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn launches(random: &mut Random) -> Vec<Launch> {
    let mut launch = || Launch {
        args: vec![
            Arg::Tensor(0, vec![LEN]),
            Arg::Tensor(1, vec![LEN]),
            Arg::Scalar(random.below(8) as u64),
            Arg::Scalar(random.below(60) as u64),
            Arg::Scalar(random.below(6) as u64),
        ],
        buffers: vec![(0..LEN).map(|_| random.bits() & 0xffff_ffff).collect(), vec![0; LEN as usize]],
        thread: [random.below(8) as u64, 0, 0],
        steps: 100_000,
    };
    vec![launch(), launch(), launch()]
}

#[test]
fn random_loops_do_the_same() {
    let mut unrolled = 0;
    for seed in seeds() {
        let mut random = Random::new(seed);
        let (kernel, launches) = (kernel(&mut random), launches(&mut random));
        let after =
            check(&format!("partial_unroll on {seed}"), &kernel, &launches, pass::partial_unroll::run);
        unrolled += usize::from(after.body != kernel.body);
        check(&format!("partial_unroll and optimize on {seed}"), &kernel, &launches, |kernel| {
            pass::partial_unroll::run(kernel);
            pass::optimize(kernel);
            true
        });
    }
    let kernels = seeds().count();
    assert!(unrolled * 10 > kernels * 7, "{unrolled} of {kernels} were unrolled");
}

#[test]
fn a_counter_below_zero_runs_no_round() {
    for hi in [-1_i32, -8, -9, i32::MIN] {
        let kernel: Kernel = "
            kernel @k(%a: tensor<u32, 1>, %out: tensor<u32, 1, mut>, %hi: i32) {
              %0 = const i32 0
              %1 = const i32 1
              %2 = scalar %hi
              for ^0 %i = %0 to %2 step %1 {
                %at = cast %i to index
                %x = load %a[%at] : u32
                store %out[%at], %x
                continue ^0
              }
              return
            }
        "
        .parse()
        .expect("a kernel");
        let launch = Launch {
            args: vec![Arg::Tensor(0, vec![4]), Arg::Tensor(1, vec![4]), Arg::Scalar(u64::from(hi as u32))],
            buffers: vec![vec![7; 4], vec![0; 4]],
            thread: [0; 3],
            steps: 1000,
        };
        let after = check(&format!("to {hi}"), &kernel, &[launch], pass::partial_unroll::run);
        let mut loops = 0;
        after.body.visit(&mut |inst| loops += usize::from(matches!(inst.op, Op::For(_))));
        assert_eq!(loops, 2);
    }
}

#[test]
fn a_kernel_of_many_loops_stays_within_bounds() {
    let loops: String = (0..2000)
        .map(|n| {
            format!(
                "for ^{n} %i{n} = %0 to %n step %1 {{
                   %x{n} = load %a[%i{n}] : u32
                   store %out[%i{n}], %x{n}
                   continue ^{n}
                 }}\n"
            )
        })
        .collect();
    let text = format!(
        "kernel @k(%a: tensor<u32, 1>, %out: tensor<u32, 1, mut>) {{
           %0 = const index 0
           %1 = const index 1
           %n = extent %a.0
           {loops}
           return
         }}"
    );
    let mut kernel: Kernel = text.parse().expect("a kernel");
    assert!(pass::partial_unroll::run(&mut kernel));
    // Each loop that is unrolled also has a few operations around it.
    let ops = kernel.op_count();
    assert!((12_000..2 * pass::unroll::MAX_KERNEL_OPS).contains(&ops), "{ops}");
    assert!(!pass::partial_unroll::applies(&kernel));
}
