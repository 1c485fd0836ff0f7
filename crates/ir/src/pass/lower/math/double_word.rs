//! Double-word arithmetic: a number as the sum of two, the first of which is the sum rounded to nearest.
//!
//! The algorithms are those of Dekker and Knuth, with the error of a product by a fused multiply-add; see Joldes, Muller
//! and Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic", 2017.

use super::emit::Emit;
use crate::kernel::Value;

/// The sum of two numbers, of which the second is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct DoubleWord {
    pub(super) high: Value,
    pub(super) low: Value,
}

impl Emit<'_> {
    /// A constant that is the sum of these two.
    pub(super) fn double_word(&mut self, [high, low]: [f64; 2]) -> DoubleWord {
        DoubleWord { high: self.number(high), low: self.number(low) }
    }

    /// `a + b` exactly, if `a` is zero or not smaller than `b` in magnitude.
    pub(super) fn fast_two_sum(&mut self, a: Value, b: Value) -> DoubleWord {
        let high = self.add(a, b);
        let b_part = self.sub(high, a);
        let low = self.sub(b, b_part);
        DoubleWord { high, low }
    }

    /// `a + b` exactly.
    pub(super) fn two_sum(&mut self, a: Value, b: Value) -> DoubleWord {
        let high = self.add(a, b);
        let a_part = self.sub(high, b);
        let b_part = self.sub(high, a_part);
        let a_error = self.sub(a, a_part);
        let b_error = self.sub(b, b_part);
        let low = self.add(a_error, b_error);
        DoubleWord { high, low }
    }

    /// `a * b` exactly, if nothing underflows.
    pub(super) fn two_product(&mut self, a: Value, b: Value) -> DoubleWord {
        let high = self.mul(a, b);
        let minus_high = self.neg(high);
        let low = self.fma(a, b, minus_high);
        DoubleWord { high, low }
    }

    /// `a * b` to about twice the digits of a number.
    pub(super) fn mul_double_word(&mut self, a: DoubleWord, b: DoubleWord) -> DoubleWord {
        let product = self.two_product(a.high, b.high);
        let low = self.fma(a.high, b.low, product.low);
        let low = self.fma(a.low, b.high, low);
        self.fast_two_sum(product.high, low)
    }

    /// `a * b` to about twice the digits of a number.
    pub(super) fn mul_number(&mut self, a: DoubleWord, b: Value) -> DoubleWord {
        let product = self.two_product(a.high, b);
        let low = self.fma(a.low, b, product.low);
        self.fast_two_sum(product.high, low)
    }

    /// `a + b` to about twice the digits of a number, if `a` is zero or not smaller than `b` in magnitude.
    pub(super) fn add_double_word(&mut self, a: Value, b: DoubleWord) -> DoubleWord {
        let sum = self.fast_two_sum(a, b.high);
        let low = self.add(sum.low, b.low);
        self.fast_two_sum(sum.high, low)
    }
}
