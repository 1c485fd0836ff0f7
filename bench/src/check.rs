//! Random inputs, and whether a result is right.
//!
//! An input is a function of a seed and an index, so nothing of it is kept on the host. The peers compute the same
//! function, and have the same inputs.
//!
//! - The elements of a **dot product** are whole numbers from -3 to 3. All sums on the way are whole numbers far below
//!   2^24, so `f32` has them exactly in whatever order they are added, and the result has to be equal. One lost product
//!   shows.
//! - A **sum of two elements** is rounded once, everywhere alike, and has to be equal.
//! - For a **matrix product** `c = a * b` with elements between -1 and 1, `c * x` is compared with `a * (b * x)` in
//!   `f64` for a random vector `x`, which takes every element of `c` into account (Freivalds' check). See
//!   [`product_tolerance`].

use std::fmt;

/// Bits that look random, from a seed and an index: SplitMix64.
fn bits(seed: u64, index: usize) -> u64 {
    let mut z = seed.wrapping_add((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number from -1 to below 1, a multiple of 2^-23.
pub(crate) fn real(seed: u64, index: usize) -> f32 {
    ((bits(seed, index) >> 40) as f32 - 8_388_608.0) / 8_388_608.0
}

/// A whole number from -3 to 3.
pub(crate) fn whole(seed: u64, index: usize) -> f32 {
    ((bits(seed, index) >> 32) % 7) as f32 - 3.0
}

/// A number from 0 to below `end`.
pub(crate) fn below(end: usize, seed: u64, index: usize) -> usize {
    ((bits(seed, index) >> 32) % end as u64) as usize
}

/// How a right result was found right.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verified {
    /// It is equal to the reference.
    Exact,
    /// It is as near to the reference as rounding allows.
    Within {
        /// The largest error.
        error: f64,
        /// The largest that is accepted.
        tolerance: f64,
    },
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verified::Exact => write!(f, "exact"),
            Verified::Within { error, tolerance } => write!(f, "error {error:.1e} of {tolerance:.1e}"),
        }
    }
}

/// The dot product of the whole numbers of two seeds.
pub(crate) fn whole_dot(seeds: [u64; 2], len: usize) -> f32 {
    let sum: i64 = (0..len).map(|i| whole(seeds[0], i) as i64 * whole(seeds[1], i) as i64).sum();
    sum as f32
}

/// Whether `found` is `expected`.
pub(crate) fn equal(found: f32, expected: f32) -> Result<Verified, String> {
    if found == expected { Ok(Verified::Exact) } else { Err(format!("{found} instead of {expected}")) }
}

/// Whether every element is what `expected` gives for its index.
pub(crate) fn all_equal<T: PartialEq + fmt::Display>(
    found: &[T],
    expected: impl Fn(usize) -> T,
) -> Result<Verified, String> {
    match found.iter().enumerate().find(|&(i, x)| *x != expected(i)) {
        None => Ok(Verified::Exact),
        Some((i, x)) => Err(format!("element {i} is {x} instead of {}", expected(i))),
    }
}

/// Whether `c` is the product of two square matrices of `size` rows, which are the real numbers of two seeds, row by
/// row.
pub(crate) fn product(c: &[f32], seeds: [u64; 2], size: usize) -> Result<Verified, String> {
    let x: Vec<f64> = (0..size).map(|j| f64::from(real(3, j))).collect();
    let times = |element: &dyn Fn(usize) -> f32, x: &[f64]| -> Vec<f64> {
        (0..size).map(|i| (0..size).map(|j| f64::from(element(i * size + j)) * x[j]).sum()).collect()
    };
    let expected = times(&|i| real(seeds[0], i), &times(&|i| real(seeds[1], i), &x));
    let found = times(&|i| c[i], &x);
    let tolerance = product_tolerance(size);
    let mut worst = 0.0f64;
    for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let error = (found - expected).abs();
        // A NaN is not within the tolerance either.
        if !error.le(&tolerance) {
            return Err(format!("row {row} times a random vector is {found} instead of {expected}"));
        }
        worst = worst.max(error);
    }
    Ok(Verified::Within { error: worst, tolerance })
}

/// How far an element of `c * x` may be from the exact one.
///
/// After k of n products the sum is about `sqrt(k) / 3`, and each addition rounds it by at most `u = 2^-24` of that,
/// about `1 / sqrt(3)` of it on average. So the error of an element of `c` has a standard deviation of about
/// `0.14 * u * n` if the products are added one after the other, and less in other orders; that of `c * x`, a sum of n
/// with factors below 1, less than `sqrt(n)` times as much. Sixteen times that is never reached by chance, and is below
/// what one missing product makes of an element.
fn product_tolerance(n: usize) -> f64 {
    let n = n as f64;
    16.0 * 0.14 * 2f64.powi(-24) * n * n.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_in_their_range_and_vary() {
        let reals: Vec<f32> = (0..10_000).map(|i| real(1, i)).collect();
        assert!(reals.iter().all(|x| (-1.0..1.0).contains(x)));
        assert!(reals.iter().sum::<f32>().abs() < 300.0);
        let mut count = [0; 7];
        (0..7_000).for_each(|i| count[(whole(1, i) + 3.0) as usize] += 1);
        assert!(count.iter().all(|&n| (800..1200).contains(&n)), "{count:?}");
    }

    /// The peers have the same function: these are its first numbers.
    #[test]
    fn inputs_are_those_of_the_peers() {
        assert_eq!(bits(1, 0), 0x910a_2dec_8902_5cc1);
        assert_eq!(bits(1, 1), 0xbeeb_8da1_658e_ec67);
    }

    #[test]
    fn a_wrong_product_is_found() {
        let n = 64;
        let element = |i: usize, j: usize| {
            (0..n).fold(0.0f32, |sum, k| real(1, i * n + k).mul_add(real(2, k * n + j), sum))
        };
        let mut c: Vec<f32> = (0..n * n).map(|i| element(i / n, i % n)).collect();
        assert!(matches!(product(&c, [1, 2], n), Ok(Verified::Within { .. })));
        let right = c[77];
        c[77] += 0.01;
        assert!(product(&c, [1, 2], n).is_err());
        c[77] = f32::NAN;
        assert!(product(&c, [1, 2], n).is_err());
        c[77] = right;
        c.swap(0, 1);
        assert!(product(&c, [1, 2], n).is_err());
    }
}
