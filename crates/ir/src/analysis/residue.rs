//! [`Residue`]: the low bits of an integer that are known, which says what powers of two divide it.
//!
//! Arithmetic that wraps at 2^n keeps the low n bits, so residues survive where intervals do not.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Shr, Sub};

/// A value that is `low` modulo `2^bits`, in two's complement.
///
/// ```
/// use tilewise_ir::analysis::Residue;
///
/// let multiple_of_4 = Residue::new(2, 0);
/// assert_eq!(multiple_of_4 * Residue::exact(8), Residue::new(5, 0));
/// assert_eq!(multiple_of_4 + Residue::exact(1), Residue::new(2, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Residue {
    bits: u8,
    low: u64,
}

impl Residue {
    /// Nothing is known.
    pub const UNKNOWN: Residue = Residue { bits: 0, low: 0 };

    /// Values that are `low` modulo `2^bits`; at most 64 bits are kept.
    pub const fn new(bits: u32, low: u64) -> Residue {
        let bits = if bits > 64 { 64 } else { bits };
        Residue { bits: bits as u8, low: low & mask(bits) }
    }

    /// All 64 bits of a value.
    pub const fn exact(value: i128) -> Residue {
        Residue { bits: 64, low: value as u64 }
    }

    /// How many low bits are known.
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }

    /// The known bits; the others are zero here.
    pub const fn low(self) -> u64 {
        self.low
    }

    /// How many low bits are certainly zero: two to the power of that divides the value.
    pub fn trailing_zeros(self) -> u32 {
        self.low.trailing_zeros().min(self.bits())
    }

    /// Whether a value has these low bits.
    pub const fn contains(self, value: i128) -> bool {
        (value as u64) & mask(self.bits as u32) == self.low
    }

    /// No more than the lowest `bits` bits.
    pub fn truncated(self, bits: u32) -> Residue {
        Residue::new(self.bits().min(bits), self.low)
    }

    /// What holds of values of either.
    pub fn join(self, other: Residue) -> Residue {
        self.truncated(other.bits().min((self.low ^ other.low).trailing_zeros()))
    }

    /// What holds of values of both, `None` if there is none.
    pub fn meet(self, other: Residue) -> Option<Residue> {
        let (more, less) = if self.bits >= other.bits { (self, other) } else { (other, self) };
        (more.low & mask(less.bits()) == less.low).then_some(more)
    }

    /// The known low bits of a bitwise operation, where known bits of one operand that are set in `decides_a` or
    /// `decides_b` settle the result by themselves.
    fn bitwise(self, other: Residue, decides_a: u64, decides_b: u64, low: u64) -> Residue {
        let (a, b) = (mask(self.bits()), mask(other.bits()));
        let known = (a & b) | (a & decides_a) | (b & decides_b);
        Residue::new(known.trailing_ones(), low)
    }
}

impl Add for Residue {
    type Output = Residue;

    fn add(self, other: Residue) -> Residue {
        Residue::new(self.bits().min(other.bits()), self.low.wrapping_add(other.low))
    }
}

impl Sub for Residue {
    type Output = Residue;

    fn sub(self, other: Residue) -> Residue {
        Residue::new(self.bits().min(other.bits()), self.low.wrapping_sub(other.low))
    }
}

/// An unknown bit of one factor is moved up by the zeros of the other.
impl Mul for Residue {
    type Output = Residue;

    fn mul(self, other: Residue) -> Residue {
        let bits = (self.bits() + other.trailing_zeros()).min(other.bits() + self.trailing_zeros());
        Residue::new(bits, self.low.wrapping_mul(other.low))
    }
}

impl Not for Residue {
    type Output = Residue;

    fn not(self) -> Residue {
        Residue::new(self.bits(), !self.low)
    }
}

/// A bit is known if both are, or one that is zero.
impl BitAnd for Residue {
    type Output = Residue;

    fn bitand(self, other: Residue) -> Residue {
        self.bitwise(other, !self.low, !other.low, self.low & other.low)
    }
}

/// A bit is known if both are, or one that is one.
impl BitOr for Residue {
    type Output = Residue;

    fn bitor(self, other: Residue) -> Residue {
        self.bitwise(other, self.low, other.low, self.low | other.low)
    }
}

impl BitXor for Residue {
    type Output = Residue;

    fn bitxor(self, other: Residue) -> Residue {
        self.bitwise(other, 0, 0, self.low ^ other.low)
    }
}

/// Bits that come from above are unknown.
impl Shr<u32> for Residue {
    type Output = Residue;

    fn shr(self, count: u32) -> Residue {
        match self.bits().checked_sub(count) {
            Some(bits) if bits > 0 => Residue::new(bits, self.low >> count),
            _ => Residue::UNKNOWN,
        }
    }
}

/// The lowest `bits` bits.
const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Of<T> = fn(T, T) -> T;

    const OPS: [(&str, Of<Residue>, Of<u64>); 6] = [
        ("add", |a, b| a + b, u64::wrapping_add),
        ("sub", |a, b| a - b, u64::wrapping_sub),
        ("mul", |a, b| a * b, u64::wrapping_mul),
        ("and", |a, b| a & b, |a, b| a & b),
        ("or", |a, b| a | b, |a, b| a | b),
        ("xor", |a, b| a ^ b, |a, b| a ^ b),
    ];

    fn residues() -> Vec<Residue> {
        (0..5).flat_map(|bits| (0..1 << bits).map(move |low| Residue::new(bits, low))).collect()
    }

    #[test]
    fn each_operation_holds_for_each_value() {
        for a in residues() {
            for b in residues() {
                for x in (0..32u64).filter(|&x| a.contains(x.into())) {
                    for y in (0..32u64).filter(|&y| b.contains(y.into())) {
                        for (name, of, concrete) in OPS {
                            let result = concrete(x, y).into();
                            assert!(of(a, b).contains(result), "{name} of {a:?} and {b:?}: {x}, {y}");
                        }
                        assert!(a.join(b).contains(x.into()) && a.join(b).contains(y.into()));
                        if x == y {
                            assert!(a.meet(b).expect("not empty").contains(x.into()));
                        }
                    }
                    for count in 0..6 {
                        assert!((a >> count).contains((x >> count).into()));
                    }
                    assert!((!a).contains((!x).into()));
                    assert_eq!(x & mask(a.trailing_zeros()), 0);
                }
            }
        }
    }

    #[test]
    fn a_product_knows_more_bits_than_its_factors() {
        let (multiple_of_4, multiple_of_8) = (Residue::new(2, 0), Residue::new(3, 0));
        assert_eq!(multiple_of_4 * multiple_of_8, Residue::new(5, 0));
        assert_eq!(Residue::UNKNOWN * Residue::exact(32), Residue::new(5, 0));
        assert_eq!(Residue::new(1, 1) * Residue::exact(6), Residue::new(2, 2));
    }
}
