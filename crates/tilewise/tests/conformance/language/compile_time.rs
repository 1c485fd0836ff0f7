//! What is decided while a kernel is described: `#[comptime]`, const generics, loops and collections of the host.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Add,
    Scale(f32),
    Skip,
}

#[kernel]
fn modes(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] mode: Mode) {
    let i = thread_idx().x;
    match mode {
        Mode::Add => out[i] = a[i] + 1.0,
        Mode::Scale(by) if by == 0.0 => {}
        Mode::Scale(by) => out[i] = a[i] * by,
        Mode::Skip => return,
    }
    if mode != Mode::Add {
        out[i] += 100.0;
    }
    if let Mode::Scale(by) = mode {
        out[i] += by;
    }
}

#[test]
fn values_of_the_host_choose_the_code() {
    each_device(|ctx| {
        let a = vector(ctx, &[1.0, 2.0])?;
        let cases = [
            (Mode::Add, [2.0, 3.0]),
            (Mode::Scale(3.0), [106.0, 109.0]),
            (Mode::Scale(0.0), [100.0, 100.0]),
            (Mode::Skip, [0.0, 0.0]),
        ];
        for (mode, expected) in cases {
            let mut out = zeros(ctx, 2)?;
            ctx.enqueue_function(modes(&mut out, &a, mode), grid_dim(1), block_dim(2))?;
            assert_eq!(out.to_host()?, expected, "{mode:?}");
        }
        Ok(())
    });
}

/// `break` and `continue` in an unrolled loop: by a condition of the host, and by one of the device.
#[kernel]
fn unrolled<const N: usize>(out: &mut TileTensor<i32, 1>, a: &TileTensor<i32, 1>) {
    let t = thread_idx().x;
    let mut sum = 0;
    for k in comptime(0..100) {
        if k == N {
            break;
        }
        if k % 3 == 1 {
            continue;
        }
        if a[k] == t as i32 {
            continue;
        }
        if a[k] > 50 {
            sum += 1000;
            break;
        }
        sum += a[k];
    }
    'outer: for k in comptime([5, 6, 7]) {
        for j in 0..3 {
            if j + k == 7 + t {
                continue 'outer;
            }
            if j * k == 10 * t + 6 {
                break 'outer;
            }
            sum += 100;
        }
        sum += 10_000;
    }
    out[t] = sum;
}

#[test]
fn unrolled_loops_are_left_and_continued() {
    fn in_rust(a: &[i32], n: usize, t: usize) -> i32 {
        let mut sum = 0;
        for (k, &v) in a.iter().enumerate().take(n) {
            if k % 3 == 1 || v == t as i32 {
                continue;
            }
            if v > 50 {
                sum += 1000;
                break;
            }
            sum += v;
        }
        'outer: for k in [5, 6, 7] {
            for j in 0..3 {
                if j + k == 7 + t {
                    continue 'outer;
                }
                if j * k == 10 * t + 6 {
                    break 'outer;
                }
                sum += 100;
            }
            sum += 10_000;
        }
        sum
    }
    each_device(|ctx| {
        let values = [0, 1, 2, 3, 4, 5, 60, 7];
        let a = vector(ctx, &values)?;
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(unrolled::<5>(&mut out, &a), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, std::array::from_fn::<_, 4, _>(|t| in_rust(&values, 5, t)));
        ctx.enqueue_function(unrolled::<8>(&mut out, &a), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, std::array::from_fn::<_, 4, _>(|t| in_rust(&values, 8, t)));
        Ok(())
    });
}

/// Collections, iterators and closures of the host.
#[kernel]
fn polynomial(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, #[comptime] coefficients: Vec<f32>) {
    let x = a[thread_idx().x];
    #[comptime]
    let mut powers = Vec::new();
    #[comptime]
    let mut last = None;
    for c in coefficients.iter() {
        let power = match last {
            None => x * 0.0 + 1.0,
            Some(power) => power * x,
        };
        last = Some(power);
        powers.push(power * *c);
    }
    #[comptime]
    let mut terms = 0;
    for power in &powers {
        terms += 1;
        println!("{terms}: {}", power);
    }
    let sum: Val<f32> = powers.iter().copied().sum();
    out[thread_idx().x] = sum + terms as f32;
}

#[test]
fn collections_of_the_host() {
    each_device(|ctx| {
        let lines = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
        let ctx = ctx.clone().with_output(lines.clone());
        let a = vector(&ctx, &[0.0, 1.0, 2.0])?;
        let mut out = zeros(&ctx, 3)?;
        let launch = polynomial(&mut out, &a, vec![1.0, 2.0, 3.0]);
        ctx.enqueue_function(launch, grid_dim(1), block_dim(3))?;
        assert_eq!(out.to_host()?, [4.0, 9.0, 20.0]);
        let mut lines: Vec<String> = lines.lock().unwrap().lines().map(str::to_owned).collect();
        lines.sort();
        assert_eq!(lines, ["1: 1", "1: 1", "1: 1", "2: 0", "2: 2", "2: 4", "3: 0", "3: 12", "3: 3"]);
        Ok(())
    });
}

/// Const generics in types, expressions and array lengths.
#[kernel]
fn reversed_in_blocks<const N: usize, T: Num>(out: &mut TileTensor<T, 1>, a: &TileTensor<T, 1>) {
    const TWO: usize = 2;
    let shared = stack_allocation::<T, 1>(AddressSpace::Shared, row_major([TWO * N]));
    let mut kept = [T::ZERO; N];
    let (b, t) = (block_idx().x, thread_idx().x);
    shared[t] = a[b * N * TWO + t];
    barrier();
    for k in comptime(0..N) {
        kept[k] = shared[N * TWO - 1 - (t + k) % (N * TWO)];
    }
    out[b * N * TWO + t] = kept[0] + kept[N - 1] * T::from_f64(100.0);
}

#[test]
fn const_generics() {
    fn check<const N: usize>(ctx: &DeviceContext) -> tilewise::Result<()> {
        let len = 2 * N * 3;
        let a = ctx.tensor_from_fn(row_major([len]), |[i]| i as i32)?;
        let mut out = zeros(ctx, len)?;
        let launch = reversed_in_blocks::<N, i32>(&mut out, &a);
        ctx.enqueue_function(launch, grid_dim(3), block_dim(2 * N))?;
        let expected: Vec<i32> = (0..len)
            .map(|i| {
                let (b, t) = (i / (2 * N), i % (2 * N));
                let at = |k: usize| (b * 2 * N + 2 * N - 1 - (t + k) % (2 * N)) as i32;
                at(0) + 100 * at(N - 1)
            })
            .collect();
        assert_eq!(out.to_host()?, expected, "N = {N}");
        Ok(())
    }
    each_device(|ctx| {
        check::<1>(ctx)?;
        check::<4>(ctx)?;
        check::<7>(ctx)
    });
}

/// A `while` whose condition is of the host is described round by round.
#[kernel]
fn halving(out: &mut TileTensor<u32, 1>, #[comptime] start: usize) {
    #[comptime]
    let mut n = start;
    let mut rounds = 0;
    while n > 1 {
        n /= 2;
        rounds += 1;
        if rounds > 4 {
            rounds += 100;
        }
    }
    out[0] = rounds;
}

#[test]
fn loops_of_the_host() {
    each_device(|ctx| {
        for (start, expected) in [(1, 0), (2, 1), (16, 4), (64, 206)] {
            let mut out = zeros(ctx, 1)?;
            ctx.enqueue_function(halving(&mut out, start), grid_dim(1), block_dim(1))?;
            assert_eq!(out.to_host()?, [expected]);
        }
        Ok(())
    });
}

/// Collections are taken apart by patterns of the host.
#[kernel]
fn popped(out: &mut TileTensor<f32, 1>, #[comptime] terms: Vec<(usize, f32)>) {
    #[comptime]
    let mut rest = terms;
    let mut sum = 0.0;
    while let Some((i, factor)) = rest.pop() {
        if factor == 0.0 {
            continue;
        }
        sum += out[i] * factor;
    }
    out[0] = sum;
}

#[test]
fn patterns_of_the_host() {
    each_device(|ctx| {
        let mut out = vector(ctx, &[1.0, 2.0, 3.0])?;
        let terms = vec![(2, 10.0), (0, 0.0), (1, 0.5)];
        ctx.enqueue_function(popped(&mut out, terms), grid_dim(1), block_dim(1))?;
        assert_eq!(out.to_host()?, [31.0, 2.0, 3.0]);
        Ok(())
    });
}

/// A helper of the host that knows nothing of macros but works on values of the kernel.
fn horner(x: Val<f32>, coefficients: &[f32]) -> Val<f32> {
    coefficients.iter().rev().fold(x * 0.0, |sum, &c| sum * x + c)
}

#[kernel]
fn plain_helper(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let i = thread_idx().x;
    out[i] = horner(a[i], &[1.0, 2.0, 3.0]);
}

#[test]
fn plain_rust_functions_work_on_values() {
    each_device(|ctx| {
        let a = vector(ctx, &[0.0, 1.0, 2.0])?;
        let mut out = zeros(ctx, 3)?;
        ctx.enqueue_function(plain_helper(&mut out, &a), grid_dim(1), block_dim(3))?;
        assert_eq!(out.to_host()?, [1.0, 6.0, 17.0]);
        Ok(())
    });
}
