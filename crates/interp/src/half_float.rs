//! 16-bit floats: conversions without branches, so that loops over lanes become vector code, and exact rounding
//! from every source.
//!
//! A value of more digits than `f32` is first rounded *to odd* (what is not exact gets an odd last digit); rounding
//! that to fewer digits is then right, where rounding to nearest twice would not be.

/// An IEEE binary16 by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct F16(pub(crate) u16);

/// A bfloat16 by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BF16(pub(crate) u16);

/// The two 16-bit floats.
pub(crate) trait HalfFloat: Copy {
    /// The same value; exact.
    fn to_f32(self) -> f32;

    /// The nearest value, ties to even.
    fn from_f32(value: f32) -> Self;
}

impl HalfFloat for F16 {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        let sign = (self.0 as u32 & 0x8000) << 16;
        let magnitude = self.0 as u32 & 0x7fff;
        // The exponent is too small by 112 now; the multiplication corrects it, for subnormals too.
        let scaled = f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23);
        let special = if magnitude >= 0x7c00 { 0x7f80_0000 } else { 0 };
        f32::from_bits(scaled.to_bits() | special | sign)
    }

    #[inline(always)]
    fn from_f32(value: f32) -> F16 {
        let bits = value.to_bits();
        let sign = (bits >> 16) & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        // Normal: drop 13 digits, round to even, rebias the exponent; a carry runs into it by itself.
        let odd = (magnitude >> 13) & 1;
        let normal = magnitude.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13;
        // Subnormal: the last digit of 0.5 is the smallest subnormal, so the addition rounds.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
        let finite = if magnitude < 113 << 23 { subnormal } else { normal };
        let nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
        let special = if magnitude > 0x7f80_0000 { nan } else { 0x7c00 };
        F16((sign | if magnitude >= 143 << 23 { special } else { finite }) as u16)
    }
}

impl HalfFloat for BF16 {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }

    #[inline(always)]
    fn from_f32(value: f32) -> BF16 {
        let bits = value.to_bits();
        let odd = (bits >> 16) & 1;
        let rounded = bits.wrapping_add(0x7fff + odd) >> 16;
        let nan = (bits >> 16) | 0x40;
        BF16(if bits & 0x7fff_ffff > 0x7f80_0000 { nan } else { rounded } as u16)
    }
}

/// A double rounded to odd.
#[inline(always)]
pub(crate) fn odd_from_f64(value: f64) -> f32 {
    let nearest = value as f32;
    let exact = nearest as f64 == value || value.is_nan();
    let too_large = (nearest as f64).abs() > value.abs();
    let truncated = nearest.to_bits() - too_large as u32;
    f32::from_bits(if exact { nearest.to_bits() } else { truncated | 1 })
}

/// An integer, given by sign and magnitude, rounded to odd.
#[inline(always)]
pub(crate) fn odd_from_int(negative: bool, magnitude: u64) -> f32 {
    let excess = (64 - magnitude.leading_zeros()).saturating_sub(24);
    let lost = magnitude & ((1 << excess) - 1) != 0;
    let digits = (magnitude >> excess) | lost as u64;
    // Exact: 24 digits, then a power of two.
    let value = digits as f32 * f32::from_bits((127 + excess) << 23);
    if negative { -value } else { value }
}

/// `a * b + c` with one rounding.
#[inline(always)]
pub(crate) fn mul_add<H: HalfFloat>(a: H, b: H, c: H) -> H {
    // The product is exact; the sum is rounded to odd.
    let product = a.to_f32() as f64 * b.to_f32() as f64;
    let c = c.to_f32() as f64;
    let sum = product + c;
    let c_part = sum - product;
    let error = (product - (sum - c_part)) + (c - c_part);
    let bits = sum.to_bits();
    let outwards = (error > 0.0) == (sum > 0.0);
    let odd = if outwards { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let exact = error == 0.0 || !sum.is_finite() || bits & 1 == 1;
    H::from_f32(odd_from_f64(f64::from_bits(if exact { bits } else { odd })))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Magnitudes around everything that matters: all exponents, digits near the rounding points.
    fn interesting() -> impl Iterator<Item = f32> {
        (0..=255u32).flat_map(|exponent| {
            [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0x7fff, 0x8000, 0x8001, 0x18000, 0x7f_ffff]
                .into_iter()
                .flat_map(move |digits| {
                    [0, 1u32 << 31].map(|sign| f32::from_bits(sign | exponent << 23 | digits))
                })
        })
    }

    #[test]
    fn conversions_agree_with_the_half_crate() {
        for bits in 0..=u16::MAX {
            let (f16, bf16) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
            assert_eq!(F16(bits).to_f32().is_nan(), f16.is_nan());
            assert_eq!(BF16(bits).to_f32().is_nan(), bf16.is_nan());
            if !f16.is_nan() {
                assert_eq!(F16(bits).to_f32().to_bits(), f16.to_f32().to_bits());
                assert_eq!(F16::from_f32(f16.to_f32()).0, bits);
            }
            if !bf16.is_nan() {
                assert_eq!(BF16(bits).to_f32().to_bits(), bf16.to_f32().to_bits());
            }
        }
        for value in interesting() {
            let (f16, bf16) = (half::f16::from_f32(value), half::bf16::from_f32(value));
            if value.is_nan() {
                assert!(half::f16::from_bits(F16::from_f32(value).0).is_nan());
                assert!(half::bf16::from_bits(BF16::from_f32(value).0).is_nan());
            } else {
                assert_eq!(F16::from_f32(value).0, f16.to_bits(), "{value:e}");
                assert_eq!(BF16::from_f32(value).0, bf16.to_bits(), "{value:e}");
            }
        }
    }

    #[test]
    fn rounding_twice_is_rounding_once() {
        // Just above the middle of two neighbours, by less than f32 can tell.
        let above_middle = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(F16::from_f32(above_middle as f32).0, 0x3c00);
        assert_eq!(F16::from_f32(odd_from_f64(above_middle)).0, 0x3c01);
        assert_eq!(BF16::from_f32(odd_from_int(false, (1 << 40) + (1 << 32) + 1)).0, 0x5381);
        assert_eq!(BF16::from_f32(odd_from_int(true, (1 << 40) + (1 << 32))).0, 0xd380);
        assert_eq!(odd_from_int(false, 0), 0.0);
    }
}
