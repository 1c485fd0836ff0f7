//! What each operation gives on one lane, written with Rust's own types, apart from the crate's `eval`.
//!
//! Every NaN that arithmetic gives is the same, so that results can be compared by their bits.

// Macros write casts for every type, also to itself.
#![allow(clippy::unnecessary_cast)]

use tilewise_ir::{BinaryOp, CompareOp, Scalar, UnaryOp};

/// An operation cannot be computed: it is a division by zero.
#[derive(Debug)]
pub(crate) struct DivisionByZero;

/// The bits with a NaN replaced by the one NaN that is used here.
pub(crate) fn canonical(scalar: Scalar, bits: u64) -> u64 {
    match scalar {
        Scalar::F16 if bits & 0x7fff > 0x7c00 => 0x7e00,
        Scalar::BF16 if bits & 0x7fff > 0x7f80 => 0x7fc0,
        Scalar::F32 if f32::from_bits(bits as u32).is_nan() => 0x7fc0_0000,
        Scalar::F64 if f64::from_bits(bits).is_nan() => 0x7ff8_0000_0000_0000,
        _ => bits,
    }
}

/// The value of a float, exactly.
pub(crate) fn to_f64(scalar: Scalar, bits: u64) -> f64 {
    let (exponent_bits, fraction_bits) = match scalar {
        Scalar::F16 => (5, 10),
        Scalar::BF16 => (8, 7),
        Scalar::F32 => return f32::from_bits(bits as u32).into(),
        _ => return f64::from_bits(bits),
    };
    let fraction = (bits & ((1 << fraction_bits) - 1)) as f64;
    let exponent = (bits >> fraction_bits & ((1 << exponent_bits) - 1)) as i32;
    let bias = (1 << (exponent_bits - 1)) - 1;
    let magnitude = if exponent == (1 << exponent_bits) - 1 {
        if fraction == 0.0 { f64::INFINITY } else { f64::NAN }
    } else if exponent == 0 {
        fraction * 2f64.powi(1 - bias - fraction_bits)
    } else {
        (fraction + 2f64.powi(fraction_bits)) * 2f64.powi(exponent - bias - fraction_bits)
    };
    if bits >> (exponent_bits + fraction_bits) & 1 == 1 { -magnitude } else { magnitude }
}

/// The float nearest to `value + rest`, where `rest` is less than the last digit of `value`.
pub(crate) fn from_f64(scalar: Scalar, value: f64, rest: f64) -> u64 {
    let infinity: u64 = match scalar {
        Scalar::F16 => 0x7c00,
        Scalar::BF16 => 0x7f80,
        Scalar::F32 => return canonical(scalar, (value as f32).to_bits().into()),
        _ => return canonical(scalar, value.to_bits()),
    };
    if value.is_nan() {
        return canonical(scalar, infinity | 1);
    }
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let (magnitude, rest) = (value.abs(), if value < 0.0 { -rest } else { rest });
    // The largest that is not above, by bisection: bits are in the order of the values.
    let (mut low, mut high) = (0, infinity);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if to_f64(scalar, middle) <= magnitude { low = middle } else { high = middle }
    }
    if magnitude >= to_f64(scalar, infinity) {
        return sign | infinity;
    }
    let next = if low + 1 == infinity {
        2.0 * to_f64(scalar, low) - to_f64(scalar, low - 1)
    } else {
        to_f64(scalar, low + 1)
    };
    let middle = (to_f64(scalar, low) + next) / 2.0;
    let up = match magnitude.partial_cmp(&middle) {
        Some(std::cmp::Ordering::Equal) if rest != 0.0 => rest > 0.0,
        Some(std::cmp::Ordering::Equal) => low & 1 == 1,
        order => order == Some(std::cmp::Ordering::Greater),
    };
    sign | (low + u64::from(up))
}

macro_rules! with_int {
    ($scalar:expr, $t:ident => $body:expr) => {
        match $scalar {
            Scalar::I8 => {
                type $t = i8;
                $body
            }
            Scalar::I16 => {
                type $t = i16;
                $body
            }
            Scalar::I32 => {
                type $t = i32;
                $body
            }
            Scalar::I64 => {
                type $t = i64;
                $body
            }
            Scalar::U8 => {
                type $t = u8;
                $body
            }
            Scalar::U16 => {
                type $t = u16;
                $body
            }
            Scalar::U32 => {
                type $t = u32;
                $body
            }
            Scalar::U64 | Scalar::Index => {
                type $t = u64;
                $body
            }
            other => panic!("{other} is no integer"),
        }
    };
}

macro_rules! float_unary {
    ($op:expr, $a:expr, $t:ident) => {
        match $op {
            UnaryOp::Neg => -$a,
            UnaryOp::Abs => $a.abs(),
            UnaryOp::Signum => $a.signum(),
            UnaryOp::Sqrt => $a.sqrt(),
            UnaryOp::Rsqrt => 1.0 / $a.sqrt(),
            UnaryOp::Recip => 1.0 / $a,
            UnaryOp::Exp => $a.exp(),
            UnaryOp::Exp2 => $a.exp2(),
            UnaryOp::Log => $a.ln(),
            UnaryOp::Log2 => $a.log2(),
            UnaryOp::Sin => $a.sin(),
            UnaryOp::Cos => $a.cos(),
            UnaryOp::Tanh => $a.tanh(),
            UnaryOp::Floor => $a.floor(),
            UnaryOp::Ceil => $a.ceil(),
            UnaryOp::Round => $a.round(),
            UnaryOp::RoundEven => $a.round_ties_even(),
            UnaryOp::Trunc => $a.trunc(),
            other => panic!("{other} of a float"),
        }
    };
}
macro_rules! float_binary {
    ($op:expr, $a:expr, $b:expr) => {
        match $op {
            BinaryOp::Add => $a + $b,
            BinaryOp::Sub => $a - $b,
            BinaryOp::Mul => $a * $b,
            BinaryOp::Div => $a / $b,
            BinaryOp::Rem => $a % $b,
            BinaryOp::Min => $a.min($b),
            BinaryOp::Max => $a.max($b),
            BinaryOp::Pow => $a.powf($b),
            BinaryOp::Atan2 => $a.atan2($b),
            other => panic!("{other} of a float"),
        }
    };
}
fn mask(scalar: Scalar, bits: u64) -> u64 {
    if scalar.size() == 8 { bits } else { bits & ((1 << (8 * scalar.size())) - 1) }
}

/// `Op::Unary`.
pub(crate) fn unary(op: UnaryOp, scalar: Scalar, a: u64) -> u64 {
    match op {
        UnaryOp::IsNan => return u64::from(to_f64(scalar, a).is_nan()),
        UnaryOp::IsInf => return u64::from(to_f64(scalar, a).is_infinite()),
        _ => {}
    }
    if scalar == Scalar::Bool {
        return a ^ 1;
    }
    if scalar == Scalar::F32 {
        let a = f32::from_bits(a as u32);
        return canonical(scalar, float_unary!(op, a, f32).to_bits().into());
    }
    if scalar.is_float() {
        let a = to_f64(scalar, a);
        return from_f64(scalar, float_unary!(op, a, f64), 0.0);
    }
    let result = with_int!(scalar, T => {
        let a = a as T;
        match op {
            UnaryOp::Neg => a.wrapping_neg() as u64,
            UnaryOp::Not => !a as u64,
            UnaryOp::Abs if scalar.is_signed_int() && (a as i64) < 0 => a.wrapping_neg() as u64,
            UnaryOp::Abs => a as u64,
            UnaryOp::Signum if scalar.is_signed_int() => (a as i64).signum() as u64,
            UnaryOp::Signum => u64::from(a != 0),
            UnaryOp::CountOnes => a.count_ones().into(),
            UnaryOp::LeadingZeros => a.leading_zeros().into(),
            UnaryOp::TrailingZeros => a.trailing_zeros().into(),
            other => panic!("{other} of {scalar}"),
        }
    });
    mask(scalar, result)
}

/// `Op::Binary`.
pub(crate) fn binary(op: BinaryOp, scalar: Scalar, a: u64, b: u64) -> Result<u64, DivisionByZero> {
    if scalar == Scalar::Bool {
        return Ok(match op {
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            other => panic!("{other} of bool"),
        });
    }
    if scalar == Scalar::F32 {
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        return Ok(canonical(scalar, float_binary!(op, x, y).to_bits().into()));
    }
    if scalar.is_float() {
        let (x, y) = (to_f64(scalar, a), to_f64(scalar, b));
        return Ok(from_f64(scalar, float_binary!(op, x, y), 0.0));
    }
    let result = with_int!(scalar, T => {
        let (a, b) = (a as T, b as T);
        let count = b as u32 & (T::BITS - 1);
        match op {
            BinaryOp::Add => a.wrapping_add(b) as u64,
            BinaryOp::Sub => a.wrapping_sub(b) as u64,
            BinaryOp::Mul => a.wrapping_mul(b) as u64,
            BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(DivisionByZero),
            BinaryOp::Div => a.wrapping_div(b) as u64,
            BinaryOp::Rem => a.wrapping_rem(b) as u64,
            BinaryOp::Min => a.min(b) as u64,
            BinaryOp::Max => a.max(b) as u64,
            BinaryOp::And => (a & b) as u64,
            BinaryOp::Or => (a | b) as u64,
            BinaryOp::Xor => (a ^ b) as u64,
            BinaryOp::Shl => (a << count) as u64,
            BinaryOp::Shr => (a >> count) as u64,
            BinaryOp::Pow | BinaryOp::Atan2 => panic!("{op} of {scalar}"),
        }
    });
    Ok(mask(scalar, result))
}

/// `Op::Compare`.
pub(crate) fn compare(op: CompareOp, scalar: Scalar, a: u64, b: u64) -> bool {
    fn holds<T: PartialOrd>(op: CompareOp, a: T, b: T) -> bool {
        match op {
            CompareOp::Eq => a == b,
            CompareOp::Ne => a != b,
            CompareOp::Lt => a < b,
            CompareOp::Le => a <= b,
            CompareOp::Gt => a > b,
            CompareOp::Ge => a >= b,
        }
    }
    if scalar == Scalar::Bool {
        return holds(op, a, b);
    }
    if scalar.is_float() {
        return holds(op, to_f64(scalar, a), to_f64(scalar, b));
    }
    with_int!(scalar, T => holds(op, a as T, b as T))
}

/// `Op::MulAdd`.
pub(crate) fn mul_add(scalar: Scalar, a: u64, b: u64, c: u64) -> u64 {
    match scalar {
        Scalar::F32 => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            canonical(scalar, a.mul_add(b, c).to_bits().into())
        }
        Scalar::F64 => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            canonical(scalar, a.mul_add(b, c).to_bits())
        }
        _ => {
            let product = to_f64(scalar, a) * to_f64(scalar, b);
            let c = to_f64(scalar, c);
            let sum = product + c;
            // What the sum lacks, exactly.
            let (large, small) = if product.abs() >= c.abs() { (product, c) } else { (c, product) };
            let rest = if sum.is_finite() { small - (sum - large) } else { 0.0 };
            from_f64(scalar, sum, rest)
        }
    }
}

/// `Op::Cast`.
pub(crate) fn cast(from: Scalar, to: Scalar, a: u64) -> u64 {
    if from == to {
        return a;
    }
    if from.is_float() {
        let value = to_f64(from, a);
        return match to {
            Scalar::Bool => u64::from(value != 0.0),
            to if to.is_float() => from_f64(to, value, 0.0),
            to => mask(to, with_int!(to, T => value as T as u64)),
        };
    }
    if from == Scalar::Bool {
        return if to.is_float() { from_f64(to, a as f64, 0.0) } else { a };
    }
    with_int!(from, T => {
        let value = a as T;
        match to {
            Scalar::Bool => u64::from(value != 0),
            Scalar::F32 => (value as f32).to_bits().into(),
            Scalar::F64 => (value as f64).to_bits(),
            Scalar::F16 | Scalar::BF16 => {
                let nearest = value as f64;
                from_f64(to, nearest, (value as i128 - nearest as i128) as f64)
            }
            to => mask(to, value as u64),
        }
    })
}
