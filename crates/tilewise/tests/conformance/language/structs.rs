//! Structs with `#[device]`: nested, with arrays, generic, with methods.

use tilewise::prelude::*;

use crate::same_as_rust::one_parameter;

#[device]
struct Complex {
    re: f32,
    im: f32,
}

#[device]
impl Complex {
    fn new(re: f32, im: f32) -> Complex {
        Complex { re, im }
    }

    fn times(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    fn norm2(&self) -> f32 {
        self.re * self.re + self.im * self.im
    }

    fn scale(&mut self, by: f32) {
        self.re *= by;
        if by > 1.0 {
            self.im = 0.0;
            return;
        }
        self.im *= by;
    }

    fn conjugate(&mut self) -> f32 {
        let old = self.im;
        self.im = -old;
        old
    }
}

/// Mandelbrot: how many rounds until the number leaves the circle of radius 2.
#[test]
fn methods() {
    #[device]
    fn in_kernel(x: f32) -> f32 {
        let c = Complex::new(x, 0.5);
        let mut z = Complex { re: 0.0, im: 0.0 };
        let mut rounds = 0.0;
        while z.norm2() < 4.0 && rounds < 20.0 {
            z = z.times(z);
            z.re += c.re;
            z.im += c.im;
            rounds += 1.0;
        }
        let mut w = Complex { im: 3.0, ..c };
        w.scale(rounds);
        let old = w.conjugate();
        w.scale(0.5);
        rounds * 100.0 + w.re + w.im + old
    }
    fn in_rust(x: f32) -> f32 {
        let (mut re, mut im) = (0.0f32, 0.0f32);
        let mut rounds = 0.0;
        while re * re + im * im < 4.0 && rounds < 20.0 {
            (re, im) = (re * re - im * im, re * im + im * re);
            re += x;
            im += 0.5;
            rounds += 1.0;
        }
        let (mut re, mut im) = (x, 3.0);
        re *= rounds;
        im = if rounds > 1.0 { 0.0 } else { im * rounds };
        let old = im;
        (re, im) = (re * 0.5, -old * 0.5);
        rounds * 100.0 + re + im + old
    }
    // Numbers on which no intermediate result is rounded or the rounding makes no difference.
    one_parameter(&[0.0, 0.5, 1.0, -2.0, 4.0, -8.0], in_rust, in_kernel);
}

#[device]
#[derive(Debug)]
struct Particle {
    position: [f32; 3],
    charge: Charge,
    alive: bool,
}

#[device]
#[derive(Debug)]
struct Charge(i32, [u8; 2]);

#[device]
impl Particle {
    fn step(&mut self, by: f32) {
        for d in 0..3 {
            self.position[d] += by;
        }
        self.position[0] *= 2.0;
        self.charge.0 += 1;
        self.charge.1[1] -= 1;
    }

    fn total(&self) -> f32 {
        self.position[0] + self.position[1] + self.position[2] + self.charge.0 as f32
    }
}

#[test]
fn nested_structs_with_arrays() {
    #[device]
    fn in_kernel(x: f32) -> f32 {
        let mut p = Particle { position: [x, 1.0, 2.0], charge: Charge(3, [4, 5]), alive: true };
        p.step(0.5);
        if x > 1.0 {
            p.step(x);
            p.alive = false;
        }
        p.position[2] -= 1.0;
        p.charge.0 *= 10;
        p.charge.1[0] += p.charge.1[1];
        let q = p;
        p.position = [0.0, 0.0, 0.0];
        let Charge(number, bytes) = q.charge;
        let mut sum = q.total() + p.position[0] + number as f32 + bytes[0] as f32;
        if q.alive {
            sum += 1000.0;
        }
        sum
    }
    fn in_rust(x: f32) -> f32 {
        let steps = if x > 1.0 { 2 } else { 1 };
        let mut position = [x, 1.0, 2.0];
        for by in [0.5, x].into_iter().take(steps) {
            position = position.map(|p| p + by);
            position[0] *= 2.0;
        }
        position[2] -= 1.0;
        let charge = (3 + steps as i32) * 10;
        let bytes = 4 + 5 - steps as i32;
        let sum = position.iter().sum::<f32>() + charge as f32 + charge as f32 + bytes as f32;
        if steps == 1 { sum + 1000.0 } else { sum }
    }
    one_parameter(&[0.0, 1.0, 2.0, -3.5, 10.25], in_rust, in_kernel);
}

#[device]
struct Extremes<T: Num> {
    low: T,
    high: T,
}

#[device]
impl<T: Num> Extremes<T> {
    fn of(first: T) -> Extremes<T> {
        Extremes { low: first, high: first }
    }

    fn include(&mut self, x: T) {
        if x < self.low {
            self.low = x;
        }
        if x > self.high {
            self.high = x;
        }
    }

    fn width(&self) -> T {
        self.high - self.low
    }
}

#[test]
fn generic_structs() {
    #[device]
    fn in_kernel(x: i32) -> i32 {
        let mut seen = Extremes::of(x);
        for k in 0..5 {
            seen.include(k * k - x);
        }
        let mut list = [Extremes { low: 0, high: 1 }, seen];
        list[0].high += 5;
        let i = (x as usize) % 2;
        list[i].include(100);
        list[0].width() * 1000 + list[1].width()
    }
    fn in_rust(x: i32) -> i32 {
        let seen: Vec<i32> = (0..5).map(|k| k * k - x).chain([x]).collect();
        let (low, high) = (*seen.iter().min().unwrap(), *seen.iter().max().unwrap());
        match x as usize % 2 {
            0 => 100_000 + high - low,
            _ => 6000 + 100 - low,
        }
    }
    one_parameter(&[0, 1, 2, 7, 8], in_rust, in_kernel);
}

/// A struct that a function returns early, and one with a part that is known while the kernel is described.
#[device]
struct Window {
    start: usize,
    #[comptime]
    len: usize,
}

#[device]
impl Window {
    fn sum(&self, a: &TileTensor<u32, 1>) -> u32 {
        let mut sum = 0;
        for k in comptime(0..self.len) {
            sum += a[self.start + k];
        }
        sum
    }
}

#[kernel]
fn windows(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let start = thread_idx().x;
    let window = Window { start, len: 3 };
    out[start] = window.sum(a);
}

#[test]
fn a_field_may_be_known_while_describing() {
    crate::harness::each_device(|ctx| {
        let a = ctx.tensor_from_fn(row_major([10]), |[i]| (i * i) as u32)?;
        let mut out = crate::harness::zeros(ctx, 8)?;
        ctx.enqueue_function(windows(&mut out, &a), grid_dim(1), block_dim(8))?;
        let expected: Vec<u32> = (0..8).map(|i: u32| (i..i + 3).map(|k| k * k).sum()).collect();
        assert_eq!(out.to_host()?, expected);
        Ok(())
    });
}
