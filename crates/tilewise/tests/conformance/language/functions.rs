//! Device functions: results, early returns, generics, traits, closures, across modules.

use tilewise::prelude::*;

use crate::harness::{each_device, vector, zeros};
use crate::same_as_rust::{one_parameter, two_parameters};

/// Stands for another crate: it is used by its path, and only what is public is seen.
mod library {
    use tilewise::prelude::*;

    /// The number of the first of `limits` that is above `x`.
    #[device]
    pub(super) fn bucket(x: i32, limits: [i32; 4]) -> usize {
        for i in 0..4 {
            if x < limits[i] {
                return i;
            }
        }
        4
    }

    #[device]
    pub(super) trait Rounding {
        fn round(&self, x: i32) -> i32;

        fn round_twice(&self, x: i32) -> i32 {
            if x == 13 {
                return 0;
            }
            let once = self.round(x);
            self.round(once)
        }
    }

    pub(super) struct Down;

    pub(super) struct To(pub(super) i32);

    #[device]
    impl Rounding for Down {
        fn round(&self, x: i32) -> i32 {
            x / 2
        }
    }

    #[device]
    impl Rounding for To {
        fn round(&self, x: i32) -> i32 {
            if x < 0 {
                return self.0;
            }
            x - x % self.0
        }
    }
}

#[test]
fn functions_of_another_module() {
    #[device]
    fn in_kernel(x: i32) -> usize {
        library::bucket(x, [0, 5, 10, 100]) * 10 + library::bucket(x + 1, [x, x + 1, x + 2, 9])
    }
    fn in_rust(x: i32) -> usize {
        [0, 5, 10, 100].iter().position(|&limit| x < limit).unwrap_or(4) * 10 + 2
    }
    one_parameter(&[-1, 0, 5, 50, 500], in_rust, in_kernel);
}

#[kernel]
fn rounded(out: &mut TileTensor<i32, 1>, a: &TileTensor<i32, 1>, rounding: impl library::Rounding) {
    let i = thread_idx().x;
    out[i] = rounding.round_twice(a[i]) + 1000 * rounding.round(i as i32);
}

#[test]
fn traits_with_early_returns_and_defaults() {
    each_device(|ctx| {
        let a = vector(ctx, &[20, 13, 7, -3])?;
        let mut out = zeros(ctx, 4)?;
        ctx.enqueue_function(rounded(&mut out, &a, library::Down), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, [5, 0, 1001, 1000]);
        ctx.enqueue_function(rounded(&mut out, &a, library::To(5)), grid_dim(1), block_dim(4))?;
        assert_eq!(out.to_host()?, [20, 0, 5, 5]);
        Ok(())
    });
}

#[device]
fn clamped_sum<T: Num>(values: [T; 3], limit: T) -> T {
    let mut sum = values[0];
    for i in 1..3 {
        sum += values[i];
        if sum > limit {
            return limit;
        }
    }
    sum
}

#[test]
fn generic_functions_return_early() {
    #[device]
    fn in_kernel(x: i32) -> i32 {
        let wide = clamped_sum([x as f64, 0.5, 2.0], 9.5);
        let narrow = clamped_sum([x as u8, 1, 2], 20);
        clamped_sum([x, 10, 100], 1000) * 10_000 + (wide * 10.0) as i32 * 100 + narrow as i32
    }
    fn in_rust(x: i32) -> i32 {
        let wide = (x as f64 + 2.5).min(9.5);
        (x + 110).min(1000) * 10_000 + (wide * 10.0) as i32 * 100 + (x + 3).min(20)
    }
    one_parameter(&[0, 1, 8, 30, 100], in_rust, in_kernel);
}

#[device]
fn fold(f: impl Fn(f32, f32) -> f32, first: f32, values: [f32; 3]) -> f32 {
    let mut result = first;
    for v in values {
        if v < 0.0 {
            return result;
        }
        result = f(result, v);
    }
    result
}

#[device]
fn compose<F, G>(f: F, g: G, x: f32) -> f32
where
    F: Fn(f32) -> f32,
    G: Fn(f32) -> f32,
{
    f(g(x))
}

#[test]
fn closures_are_passed_to_functions() {
    #[device]
    fn in_kernel(a: f32, b: f32) -> f32 {
        let sum = fold(|x, y| x + y, 0.0, [a, b, 1.0]);
        let product = fold(|x, y| x * y + a, 1.0, [a, b, 2.0]);
        let larger = fold(|x: f32, y: f32| -> f32 { if x > y { x } else { y } }, -1.0, [a, b, 0.5]);
        let twice = |x| x * 2.0;
        sum * 100.0 + product * 10.0 + larger + compose(twice, |x| x + b, a)
    }
    fn in_rust(a: f32, b: f32) -> f32 {
        let fold = |f: &dyn Fn(f32, f32) -> f32, first: f32, values: [f32; 3]| {
            values.into_iter().take_while(|v| *v >= 0.0).fold(first, f)
        };
        let sum = fold(&|x, y| x + y, 0.0, [a, b, 1.0]);
        let product = fold(&|x, y| x * y + a, 1.0, [a, b, 2.0]);
        let larger = fold(&f32::max, -1.0, [a, b, 0.5]);
        sum * 100.0 + product * 10.0 + larger + (a + b) * 2.0
    }
    two_parameters(&[(1.0, 2.0), (0.5, -1.0), (-1.0, 4.0), (3.0, 0.0)], in_rust, in_kernel);
}

/// A closure that changes a variable around it, and one that is kept in a variable.
#[test]
fn closures_capture_variables() {
    #[device]
    fn in_kernel(x: i32) -> i32 {
        let mut calls = 0;
        #[comptime]
        let mut count = |by: i32| {
            calls += by;
            calls * 2
        };
        let a = count(x);
        let b = count(x + 1);
        let offset = 7;
        let add = |v: i32| v + offset;
        a * 10_000 + b * 100 + add(calls)
    }
    fn in_rust(x: i32) -> i32 {
        2 * x * 10_000 + (2 * x + 1) * 2 * 100 + 2 * x + 1 + 7
    }
    one_parameter(&[0, 1, 5], in_rust, in_kernel);
}

#[device]
fn min_max(a: &TileTensor<f32, 1>, n: usize) -> (f32, f32) {
    let (mut low, mut high) = (a[0], a[0]);
    for i in 1..n {
        if a[i] == 0.0 {
            return (0.0, 0.0);
        }
        low = min(low, a[i]);
        high = max(high, a[i]);
    }
    (low, high)
}

#[device]
fn write(out: &mut TileTensor<f32, 1>, values: (f32, f32), at: usize) {
    if at > 4 {
        return;
    }
    out[at] = values.0;
    out[at + 1] = values.1;
}

#[kernel]
fn tensors_are_passed(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([8]));
    if thread_idx().x == 0 {
        write(out, min_max(a, 4), 0);
        write(&mut out.slice([2..6]), min_max(&a.slice([4..8]), 4), 0);
        write(out, (9.0, 9.0), 5);
        shared.copy_from(&a.slice([0..8]));
        write(&mut shared, (1.0, 2.0), 3);
        write(out, min_max(&shared, 5), 4);
    }
}

#[test]
fn tensors_are_passed_to_functions() {
    each_device(|ctx| {
        let a = vector(ctx, &[3.0, 1.0, 4.0, 2.0, 5.0, 0.0, 6.0, 7.0])?;
        let mut out = zeros(ctx, 6)?;
        ctx.enqueue_function(tensors_are_passed(&mut out, &a), grid_dim(1), block_dim(2))?;
        assert_eq!(out.to_host()?, [1.0, 4.0, 0.0, 0.0, 1.0, 4.0]);
        Ok(())
    });
}

/// Parameters by pattern and by `mut`, tuples and nothing as results, calls in calls.
#[test]
fn forms_of_parameters_and_results() {
    #[device]
    fn swapped((a, b): (i32, i32)) -> (i32, i32) {
        (b, a)
    }

    #[device]
    fn countdown(mut n: i32, step: i32) -> i32 {
        let mut rounds = 0;
        while n > 0 {
            n -= step;
            rounds += 1;
        }
        rounds
    }

    #[device]
    fn nothing(_x: i32) {}

    #[device]
    fn split(x: i32) -> (i32, [i32; 2]) {
        if x < 0 {
            return (-1, [0, 0]);
        }
        (x / 10, [x % 10, x])
    }

    #[device]
    fn in_kernel(x: i32) -> i32 {
        nothing(x);
        let (a, b) = swapped(swapped((x, 3)));
        let (tens, [ones, all]) = split(x);
        countdown(countdown(x, 1), 2) * 1000 + a * 100 + b * 10 + tens + ones + all
    }

    fn in_rust(x: i32) -> i32 {
        let rounds = (x.max(0) + 1) / 2;
        let (tens, ones, all) = if x < 0 { (-1, 0, 0) } else { (x / 10, x % 10, x) };
        rounds * 1000 + x * 100 + 30 + tens + ones + all
    }

    one_parameter(&[-4, 0, 1, 9, 25], in_rust, in_kernel);
}

/// Recursion that ends while the kernel is described.
#[test]
fn recursion_by_a_compile_time_parameter() {
    #[device]
    fn power(x: i32, #[comptime] n: u32) -> i32 {
        if n == 0 {
            1
        } else if n % 2 == 0 {
            power(x * x, n / 2)
        } else {
            x * power(x, n - 1)
        }
    }

    #[device]
    fn in_kernel(x: i32) -> i32 {
        power(x, 5) + power(x, 0) + power(x, 2)
    }

    one_parameter(&[0, 1, -2, 3, 10], |x: i32| x.pow(5) + 1 + x.pow(2), in_kernel);
}
