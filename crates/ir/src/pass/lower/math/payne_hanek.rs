//! The reduction of large angles by Payne and Hanek: `x / 2π` modulo 1, in integer arithmetic.
//!
//! `x` is a whole number of 24 or 53 digits times a power of two. Of the digits of `1 / 2π`, those that are multiplied by
//! so much that they only contribute whole turns are left out, and so are those that contribute too little to count:
//! what remains is three words, as long as a number. With them the turn is known to 64 bits for `f32`, 128 for `f64`. No
//! number but 0 is nearer to a multiple of π/2 than 2^-30 (`f32`) or 2^-62 (`f64`) of a quarter turn, so at least eight
//! digits more than a number has are right. Products are made of half words, so no integers longer than a number are
//! needed.

use std::f64::consts::FRAC_PI_2;

use super::double_word::DoubleWord;
use super::emit::Emit;
use crate::kernel::Value;

/// The digits of `1 / 2π` after the point, with a word of zeros before them, for `f32`.
const INVERSE_TWO_PI_F32: &[u64] =
    &[0, 0x28be60db, 0x9391054a, 0x7f09d5f4, 0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea];

/// The same for `f64`.
const INVERSE_TWO_PI_F64: &[u64] = &[
    0,
    0x28be60db9391054a,
    0x7f09d5f47d4d3770,
    0x36d8a5664f10e410,
    0x7f9458eaf7aef158,
    0x6dc91b8e909374b8,
    0x01924bba82746487,
    0x3f877ac72c4a69cf,
    0xba208d7d4baed121,
    0x3a671c09ad17df90,
    0x4e64758e60d4ce7d,
    0x272117e2ef7e4a0e,
    0xc7fe25fff7816603,
    0xfbcbc462d6829b47,
    0xdb4d9fb3c9f2c26d,
    0xd3d18fd9a797fa8b,
    0x5d49eeb1faf97c5e,
    0xcf41ce7de294a4ba,
    0x9afed7ec47e35742,
    0x1580cc11bf1edaea,
];

/// π/2 less its `f32`.
const FRAC_PI_2_LOW_F32: f64 = -4.37113883e-08;
/// π/2 less its `f64`.
const FRAC_PI_2_LOW_F64: f64 = 6.123233995736766e-17;

/// Writes a finite number that is at least 1 as `n π/2 + t` with `|t| <= π/4`; gives `n` modulo 4.
pub(super) fn reduce(e: &mut Emit<'_>, x: Value) -> (Value, DoubleWord) {
    // x = significand / 2^width 2^exponent, with a significand of a whole word.
    let bits = e.bits(x);
    let biased = e.shr(bits, e.fraction_bits());
    let bias = e.unsigned(e.bias() as u64 - 1);
    let exponent = e.sub(biased, bias);
    let unused = e.width() - e.fraction_bits() - 1;
    let significand = e.shl(bits, unused);
    let leading = e.unsigned(1 << (e.width() - 1));
    let significand = e.or(significand, leading);

    let digits = digits(e, exponent);
    let turn = product(e, significand, digits);

    // The first two bits are the quarter; the rest is rounded to the nearest quarter.
    let two_less = e.width() - 2;
    let quarter = e.shr(turn[0], two_less);
    let upper = shift_left(e, turn[0], turn[1], 2);
    let middle = shift_left(e, turn[1], turn[2], 2);
    let lower = e.shl(turn[2], 2);
    let round = e.shr(upper, e.width() - 1);
    let n = e.add(quarter, round);

    // The distance of the nearest quarter and its sign. (The complement is the negative but for the last bit.)
    let signed = e.bitcast(upper, e.int());
    let signed = e.shr(signed, e.width() - 1);
    let complement = e.bitcast(signed, e.uint());
    let [upper, middle, lower] = [upper, middle, lower].map(|word| e.xor(word, complement));
    let sign = e.shl(round, e.width() - 1);
    let t = angle(e, [upper, middle, lower]);
    let high = e.flip_sign(t.high, sign);
    let low = e.flip_sign(t.low, sign);
    (n, DoubleWord { high, low })
}

/// Three words of the digits of `1 / 2π`, from the one with the number `exponent` on, where those of the word before the
/// point count too; the most significant first.
fn digits(e: &mut Emit<'_>, exponent: Value) -> [Value; 3] {
    let table = e.pick(INVERSE_TWO_PI_F32, INVERSE_TWO_PI_F64);
    let mut words: Vec<Value> = table.iter().map(|&word| e.unsigned(word)).collect();
    let zero = e.unsigned(0);

    // Four words from the one with the number `index` on: for each bit of `index`, the table is shifted by that many
    // words or not, and shortened to what can still be reached.
    let index = e.shr(exponent, e.width().ilog2());
    let index_bits = e.pick(3, 5);
    for bit in (0..index_bits).rev() {
        let step = 1 << bit;
        let mask = e.unsigned(step as u64);
        let masked = e.and(index, mask);
        let is_set = e.ne(masked, zero);
        words = (0..step + 3)
            .map(|i| {
                let near = words.get(i).copied().unwrap_or(zero);
                let far = words.get(i + step).copied().unwrap_or(zero);
                e.select(is_set, far, near)
            })
            .collect();
    }

    let last_bit = e.unsigned(u64::from(e.width()) - 1);
    let shift = e.and(exponent, last_bit);
    let rest = e.sub(last_bit, shift);
    [0, 1, 2].map(|i| shift_left_by(e, words[i], words[i + 1], shift, rest))
}

/// The product of a word and three words, without what goes beyond three words; the most significant first.
fn product(e: &mut Emit<'_>, factor: Value, words: [Value; 3]) -> [Value; 3] {
    let half = e.width() / 2;
    let mask = e.unsigned((1 << half) - 1);
    let low = e.and(factor, mask);
    let high = e.shr(factor, half);

    // Half words, the least significant first.
    let mut digits = [low; 6];
    for (i, &word) in words.iter().rev().enumerate() {
        digits[2 * i] = e.and(word, mask);
        digits[2 * i + 1] = e.shr(word, half);
    }

    // A product of half words, plus two half words, is still a word.
    let mut sums = [low; 6];
    let mut carry = e.unsigned(0);
    for i in 0..6 {
        let product = e.mul(digits[i], low);
        let sum = e.add(product, carry);
        sums[i] = e.and(sum, mask);
        carry = e.shr(sum, half);
    }
    carry = e.unsigned(0);
    for i in 0..5 {
        let product = e.mul(digits[i], high);
        let sum = e.add(product, carry);
        let sum = e.add(sum, sums[i + 1]);
        sums[i + 1] = e.and(sum, mask);
        carry = e.shr(sum, half);
    }
    [5, 3, 1].map(|i| {
        let upper = e.shl(sums[i], half);
        e.or(upper, sums[i - 1])
    })
}

/// π/2 times the number whose digits after the point are these words, which is at most 1/2.
fn angle(e: &mut Emit<'_>, [upper, middle, lower]: [Value; 3]) -> DoubleWord {
    // The leading zeros go; there is at least one other bit in the upper word.
    let last_bit = e.unsigned(u64::from(e.width()) - 1);
    let zeros = e.leading_zeros(upper);
    let zeros = e.min(zeros, last_bit);
    let rest = e.sub(last_bit, zeros);
    let upper = shift_left_by(e, upper, middle, zeros, rest);
    let middle = shift_left_by(e, middle, lower, zeros, rest);

    // The first digits are exactly a number, and the next ones are one, rounded.
    let precision = e.fraction_bits() + 1;
    let first = e.shr(upper, e.width() - precision);
    let second = shift_left(e, upper, middle, precision);
    let first = e.cast(first, e.float());
    let second = e.cast(second, e.float());
    let unit = e.number((-f64::from(precision)).exp2());
    let fraction = e.mul(first, unit);
    let unit = e.number((-f64::from(precision + e.width())).exp2());
    let fraction = DoubleWord { high: fraction, low: e.mul(second, unit) };

    let low = e.pick(FRAC_PI_2_LOW_F32, FRAC_PI_2_LOW_F64);
    let frac_pi_2 = e.double_word([FRAC_PI_2, low]);
    let t = e.mul_double_word(fraction, frac_pi_2);
    let zeros = e.bitcast(zeros, e.int());
    let zero = e.integer(0);
    let exponent = e.sub(zero, zeros);
    let factor = e.power_of_two(exponent);
    DoubleWord { high: e.mul(t.high, factor), low: e.mul(t.low, factor) }
}

/// The upper word of two after a shift to the left, by 1 or more and less than a word.
fn shift_left(e: &mut Emit<'_>, upper: Value, lower: Value, count: u32) -> Value {
    let kept = e.shl(upper, count);
    let moved = e.shr(lower, e.width() - count);
    e.or(kept, moved)
}

/// The upper word of two after a shift to the left by less than a word; `rest` is the width less one less `count`.
fn shift_left_by(e: &mut Emit<'_>, upper: Value, lower: Value, count: Value, rest: Value) -> Value {
    let kept = e.shl_by(upper, count);
    let moved = e.shr(lower, 1);
    let moved = e.shr_by(moved, rest);
    e.or(kept, moved)
}
