//! Claims about random kernels, as generated and optimised.

use crate::claims::{self, Claims};
use crate::support::generate::{self, Mix, indexing};
use tilewise_ir::pass;

/// How many kernels each test tries: `TILEWISE_KERNELS`, or this.
const KERNELS: u64 = 250;

/// The seeds: from `TILEWISE_SEED`, or 0.
fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|n: String| n.parse().ok());
    let first = number("TILEWISE_SEED").unwrap_or(0);
    first..first + number("TILEWISE_KERNELS").unwrap_or(KERNELS)
}

fn check(mix: Mix) -> Claims {
    let mut claims = Claims::default();
    for seed in seeds() {
        let (kernel, launches) = generate::kernel(seed, mix);
        let mut optimized = kernel.clone();
        pass::prepare(&mut optimized);
        let prepared = optimized.clone();
        pass::optimize(&mut optimized);
        for launch in &launches {
            for kernel in [&kernel, &prepared, &optimized] {
                claims::check(kernel, launch, 8 << (seed % 6), &mut claims);
            }
        }
    }
    claims
}

#[test]
fn everything() {
    check(Mix::ALL);
}

#[test]
fn expressions() {
    check(Mix::EXPRESSIONS);
}

#[test]
fn accesses() {
    let claims = check(Mix::ACCESSES);
    let checked = 6 * seeds().count() as u64;
    assert!(claims.vectorized * 20 > checked, "{} of {checked}: {claims:?}", claims.vectorized);
}

#[test]
fn indexing() {
    let mut claims = Claims::default();
    for seed in seeds() {
        let (kernel, launches) = indexing::kernel(seed);
        let mut optimized = kernel.clone();
        pass::prepare(&mut optimized);
        pass::optimize(&mut optimized);
        for launch in &launches {
            claims::check(&kernel, launch, 8 << (seed % 6), &mut claims);
            claims::check(&optimized, launch, 8 << (seed % 6), &mut claims);
        }
    }
    println!("{claims:?}");
    let Claims { bounds, proved, failed, indices, narrow, narrow_by_use, divisors, nonzero, decided, .. } =
        claims;
    assert!(proved * 10 > bounds && failed * 20 > bounds, "{claims:?}");
    assert!(narrow * 2 > indices && narrow_by_use > 0, "{claims:?}");
    assert!(nonzero * 10 > divisors && decided > 0, "{claims:?}");
}
