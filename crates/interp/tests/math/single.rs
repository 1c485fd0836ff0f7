//! `f32`: every so many of all numbers, or all of them, against the functions of `f64` of the host.

use tilewise_ir::Scalar;

use crate::function::Function;

/// Operands at a time.
const CHUNK: usize = 1 << 18;

/// Prime, so that all fractions and exponents are met.
const STRIDE: u64 = 2039;

/// The distance of the numbers that are tried, as bits.
fn stride() -> u64 {
    match std::env::var("TILEWISE_MATH_STRIDE") {
        Ok(stride) => stride.parse().unwrap_or_else(|error| panic!("TILEWISE_MATH_STRIDE={stride}: {error}")),
        Err(_) => STRIDE,
    }
}

fn exact(name: &str, x: f32, y: f32) -> f64 {
    let (x, y) = (f64::from(x), f64::from(y));
    match name {
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "log" => x.ln(),
        "log2" => x.log2(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tanh" => x.tanh(),
        "pow" => x.powf(y),
        "atan2" => x.atan2(y),
        _ => unreachable!("{name}"),
    }
}

/// How far `got` is from `exact`, in units in the last place of `exact` as an `f32`. Infinity counts as the number after
/// the largest.
fn error(got: f32, exact: f64) -> f64 {
    let limit = 2f64.powi(128);
    let exact = exact.clamp(-limit, limit);
    let got = f64::from(got).clamp(-limit, limit);
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if exact == 0.0 && got == 0.0 {
        // The sign of a zero counts too, where it is not one that `f64` has for what is too small for an `f32`.
        return if exact.is_sign_negative() == got.is_sign_negative() { 0.0 } else { f64::INFINITY };
    }
    let exponent = ((exact.to_bits() >> 52 & 0x7ff) as i32 - 1023).clamp(-126, 127);
    (got - exact).abs() / 2f64.powi(exponent - 23)
}

/// The largest error of a function, and where.
struct Worst {
    name: &'static str,
    error: f64,
    at: (f32, f32),
}

impl Worst {
    fn new(name: &'static str) -> Worst {
        Worst { name, error: 0.0, at: (0.0, 0.0) }
    }

    fn add(&mut self, function: &Function, a: &[u32], b: &[u32]) {
        let results = function.run(a, b);
        for (i, &result) in results.iter().enumerate() {
            let (x, y) = (f32::from_bits(a[i]), b.get(i).map_or(0.0, |&y| f32::from_bits(y)));
            let error = error(f32::from_bits(result), exact(self.name, x, y));
            if error > self.error {
                (self.error, self.at) = (error, (x, y));
            }
        }
    }

    fn check(&self, bound: f64) {
        let (name, (x, y)) = (self.name, self.at);
        println!("{name:>6} f32: {:.3} ulp at {x:e}, {y:e}", self.error);
        assert!(self.error <= bound, "{name}({x:e}, {y:e}) is {} ulp off, bound {bound}", self.error);
    }
}

/// Tries the function on every [`stride`]-th number. `bound` is the documented one, in units in the last place.
fn check_on_all(name: &'static str, bound: f64) {
    let function = Function::new(name, Scalar::F32);
    let mut worst = Worst::new(name);
    let stride = usize::try_from(stride()).unwrap();
    let mut operands = (0..=u32::MAX).step_by(stride);
    loop {
        let chunk: Vec<u32> = operands.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            break;
        }
        worst.add(&function, &chunk, &[]);
    }
    worst.add(&function, &edges(), &[]);
    worst.check(bound);
}

#[test]
fn exp() {
    check_on_all("exp", 1.0);
}

#[test]
fn exp2() {
    check_on_all("exp2", 1.0);
}

#[test]
fn log() {
    check_on_all("log", 1.0);
}

#[test]
fn log2() {
    check_on_all("log2", 1.0);
}

#[test]
fn sin() {
    check_on_all("sin", 1.0);
}

#[test]
fn cos() {
    check_on_all("cos", 1.0);
}

#[test]
fn tanh() {
    check_on_all("tanh", 2.0);
}

/// Numbers around those where something changes: powers of two, limits of ranges, multiples of π/2.
fn edges() -> Vec<u32> {
    let mut numbers = vec![f32::MAX, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE, 0.0, 0.55, 10.0, 131_072.0];
    numbers.extend([88.72284, -103.97208, -103.2789, -87.33655, 128.0, -149.0, -150.0, -126.0]);
    numbers.extend([0.5f32.sqrt(), 2f32.sqrt(), std::f32::consts::LN_2, 1.0]);
    numbers.extend((-149..128).map(|n| (n as f32).exp2()));
    numbers.extend((0..2000).map(|n| (f64::from(n) * std::f64::consts::FRAC_PI_2) as f32));
    // The f32 that is nearest to a multiple of π/2.
    numbers.push(16_367_173.0 * 2f32.powi(72));
    let around = |x: f32| (-3..=3).map(move |d| x.to_bits().wrapping_add_signed(d));
    numbers.iter().flat_map(|&x| around(x).chain(around(-x))).collect()
}

/// Tries the function on pairs that `pair` makes, as many as [`check_on_all`] does numbers.
fn check_on_pairs(name: &'static str, bound: f64, pair: impl Fn(&mut Random, usize) -> (f32, f32)) {
    let function = Function::new(name, Scalar::F32);
    let mut worst = Worst::new(name);
    let mut random = Random(7);
    for _ in 0..(1 << 32) / stride() / CHUNK as u64 {
        let pairs = (0..CHUNK).map(|i| pair(&mut random, i));
        let (a, b): (Vec<u32>, Vec<u32>) = pairs.map(|(x, y)| (x.to_bits(), y.to_bits())).unzip();
        worst.add(&function, &a, &b);
    }
    worst.check(bound);
}

#[test]
fn pow() {
    check_on_pairs("pow", 1.0, |random, i| match i % 4 {
        0 => (random.bits(), random.bits()),
        1 => (random.uniform(-4.0, 4.0).abs(), random.uniform(-4.0, 4.0)),
        2 => (random.uniform(0.5, 2.0), random.uniform(-150.0, 150.0)),
        _ => {
            // Any base, and a result of any exponent.
            let base = random.bits().abs();
            (base, (f64::from(random.uniform(-151.0, 129.0)) / f64::from(base).log2()) as f32)
        }
    });
}

#[test]
fn atan2() {
    check_on_pairs("atan2", 2.0, |random, i| match i % 3 {
        0 => (random.bits(), random.bits()),
        1 => (random.uniform(-4.0, 4.0), random.uniform(-4.0, 4.0)),
        _ => (random.uniform(-1.0, 1.0), random.uniform(-10.0, 10.0).exp2()),
    });
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Any bits.
    fn bits(&mut self) -> f32 {
        f32::from_bits(self.next() as u32)
    }

    fn uniform(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.next() >> 40) as f32 / (1u64 << 24) as f32)
    }
}
