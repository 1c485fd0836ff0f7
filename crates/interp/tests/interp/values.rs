//! Values: the same operation on operands of each thread, on uniform operands and on constants, by all threads and by
//! some, gives the same.

use tilewise_ir::{Const, Scalar};

use crate::device::{Data, bits, run_clean, tensor, x};

/// The operations with two operands of a type and a result of the same type.
fn binary_names(scalar: Scalar) -> &'static [&'static str] {
    match scalar {
        Scalar::Bool => &["and", "or", "xor"],
        s if s.is_float() => &["add", "sub", "mul", "div", "rem", "min", "max", "pow", "atan2"],
        _ => &["add", "sub", "mul", "div", "rem", "min", "max", "and", "or", "xor", "shl", "shr"],
    }
}

fn unary_names(scalar: Scalar) -> &'static [&'static str] {
    match scalar {
        Scalar::Bool => &["not"],
        s if s.is_float() => &[
            "neg",
            "abs",
            "signum",
            "sqrt",
            "rsqrt",
            "recip",
            "exp",
            "exp2",
            "log",
            "log2",
            "sin",
            "cos",
            "tanh",
            "floor",
            "ceil",
            "round",
            "round_even",
            "trunc",
        ],
        _ => &["neg", "not", "abs", "signum", "count_ones", "leading_zeros", "trailing_zeros"],
    }
}

/// The text of a constant by its bits.
fn constant(value: Const) -> String {
    match value.scalar {
        Scalar::Bool => (value.bits != 0).to_string(),
        s if s.is_float() => format!("{:#x}", value.bits),
        _ => value.as_int().unwrap().to_string(),
    }
}

/// Results of `op` with operands that differ from thread to thread, with uniform ones, and with constants, by all
/// threads of three chunks and by every third only. The first of the results is expected for all.
fn check(op: &str, a: Const, b: Option<Const>) {
    let ty = a.scalar.name();
    let (second, second_uniform, second_constant, operands) = match b {
        Some(b) => (
            format!("%y = load %b[%t] : {ty}"),
            "%uy = scalar %sb".to_owned(),
            format!("%cy = const {ty} {}", constant(b)),
            ("%x, %y", "%ux, %uy", "%cx, %cy", "%x, %uy", "%ux, %y"),
        ),
        None => (String::new(), String::new(), String::new(), ("%x", "%ux", "%cx", "%x", "%ux")),
    };
    let (varying, uniform, constants, left, right) = operands;
    let text = format!(
        "kernel @op(%out: tensor<{ty}, 1, mut>, %a: tensor<{ty}, 1>, %b: tensor<{ty}, 1>, %sa: {ty}, %sb: {ty}) {{
           %t = thread_idx.x
           %n = block_dim.x
           %x = load %a[%t] : {ty}
           {second}
           %ux = scalar %sa
           {second_uniform}
           %cx = const {ty} {ca}
           {second_constant}
           %r0 = {op} {varying}
           store %out[%t], %r0
           %r1 = {op} {uniform}
           %at1 = add %t, %n
           store %out[%at1], %r1
           %r2 = {op} {constants}
           %at2 = add %at1, %n
           store %out[%at2], %r2
           %r3 = {op} {left}
           %at3 = add %at2, %n
           store %out[%at3], %r3
           %r4 = {op} {right}
           %at4 = add %at3, %n
           store %out[%at4], %r4
           %three = const index 3
           %rest = rem %t, %three
           %zero = const index 0
           %some = eq %rest, %zero
           %at5 = add %at4, %n
           if %some {{
             %r5 = {op} {varying}
             store %out[%at5], %r5
             %at6 = add %at5, %n
             %r6 = {op} {uniform}
             store %out[%at6], %r6
           }}
           return
         }}",
        ca = constant(a),
    );
    let threads = 140;
    let all = |value: Const| bits(value.scalar, &vec![value.bits; threads]);
    let second = b.unwrap_or(a);
    let args =
        [bits(a.scalar, &vec![0; 7 * threads]), all(a), all(second), Data::Scalar(a), Data::Scalar(second)];
    let run = run_clean(&text, x(1), x(threads as u32), &args);
    let Data::Tensor { bits, .. } = &run.args[0] else { unreachable!() };
    for (i, &got) in bits.iter().enumerate() {
        let (part, thread) = (i / threads, i % threads);
        let expected = if part >= 5 && thread % 3 != 0 { 0 } else { bits[0] };
        assert_eq!(got, expected, "{op} {a:?} {b:?}, part {part}, thread {thread}");
    }
}

/// Some values of a type; none is NaN, whose bits are nobody's business.
fn samples(scalar: Scalar) -> Vec<Const> {
    match scalar {
        Scalar::Bool => vec![Const::bool(true), Const::bool(false)],
        s if s.is_float() => [2.5f32, -0.75]
            .iter()
            .map(|&v| {
                let bits = match s {
                    Scalar::F16 => half::f16::from_f32(v).to_bits() as u64,
                    Scalar::BF16 => half::bf16::from_f32(v).to_bits() as u64,
                    Scalar::F32 => v.to_bits() as u64,
                    _ => (v as f64).to_bits(),
                };
                Const::from_bits(s, bits)
            })
            .collect(),
        _ => vec![Const::int(scalar, -7), Const::int(scalar, 3)],
    }
}

#[test]
fn uniform_varying_masked_and_constant_operands_agree() {
    for scalar in Scalar::ALL {
        let values = samples(scalar);
        let (a, b) = (values[0], values[1]);
        for op in binary_names(scalar) {
            check(op, a, Some(b));
        }
        for op in unary_names(scalar) {
            check(op, a, None);
        }
    }
}

#[test]
fn conversions_inside_a_kernel() {
    let text = "
        kernel @cast(%i: tensor<i32, 1, mut>, %u: tensor<u32, 1, mut>, %b: tensor<u8, 1, mut>, %x: tensor<f32, 1>) {
          %t = thread_idx.x
          %v = load %x[%t] : f32
          %vi = cast %v to i32
          store %i[%t], %vi
          %vu = cast %v to u32
          store %u[%t], %vu
          %vb = cast %v to u8
          store %b[%t], %vb
          return
        }";
    let values = [3.99f32, -3.99, 3e9, -3e9, 2147483648.0, f32::NAN, f32::INFINITY, -0.6];
    let args = [tensor(&[0i32; 8]), tensor(&[0u32; 8]), tensor(&[0u8; 8]), tensor(&values)];
    let run = run_clean(text, x(1), x(8), &args);
    assert_eq!(run.get::<i32>(0), [3, -3, 2147483647, -2147483648, 2147483647, 0, 2147483647, 0]);
    assert_eq!(run.get::<u32>(1), [3, 0, 3000000000, 0, 2147483648, 0, 4294967295, 0]);
    assert_eq!(run.get::<u8>(2), [3, 0, 255, 0, 255, 0, 255, 0]);
}

#[test]
fn bits_as_another_type() {
    let text = "
        kernel @bits(%f: tensor<f32, 1, mut>, %w: tensor<u32, 1>) {
          %t = thread_idx.x
          %v = load %w[%t] : u32
          %x = bitcast %v to f32
          store %f[%t], %x
          return
        }";
    let run = run_clean(text, x(1), x(3), &[tensor(&[0f32; 3]), tensor(&[0x3f80_0000u32, 0xc049_0fdb, 1])]);
    assert_eq!(run.get::<f32>(0), [1.0, -std::f32::consts::PI, f32::from_bits(1)]);
}

#[test]
fn vectors_select_pack_and_extract() {
    let text = "
        kernel @vectors(%out: tensor<i32, 1, mut>, %a: tensor<i32, 1>) {
          %t = thread_idx.x
          %x = load %a[%t] : i32
          %two = const i32 2
          %y = mul %x, %two
          %z = neg %x
          %v = pack %x, %y, %z
          %u = pack %z, %two, %x
          %less = lt %v, %u
          %low = select %less, %v, %u
          %zero = const i32 0
          %pos = gt %x, %zero
          %one_side = select %pos, %low, %v
          %e0 = extract %one_side[0]
          %e1 = extract %one_side[1]
          %e2 = extract %one_side[2]
          %hundred = const i32 100
          %s0 = mul %e0, %hundred
          %s1 = add %s0, %e1
          %s2 = mul %s1, %hundred
          %s3 = add %s2, %e2
          store %out[%t], %s3
          return
        }";
    let values = [3i32, -4, 0, 1];
    let expected = values.map(|x: i32| {
        let (v, u) = ([x, 2 * x, -x], [-x, 2, x]);
        let r = if x > 0 { [v[0].min(u[0]), v[1].min(u[1]), v[2].min(u[2])] } else { v };
        (r[0] * 100 + r[1]) * 100 + r[2]
    });
    let run = run_clean(text, x(1), x(4), &[tensor(&[0i32; 4]), tensor(&values)]);
    assert_eq!(run.get::<i32>(0), expected);
}
