//! `let`, assignment and compound assignment, shadowing, tuples.

use tilewise::prelude::*;

use crate::same_as_rust::one_parameter;

same_as_rust! {
    fn immutable_and_mutable(x: i32) -> i32 {
        let y = x + 1;
        let mut z = y * 2;
        z = z - x;
        z
    }
    for [0, 5, -7];

    fn deferred(x: i32) -> i32 {
        let y;
        if x > 3 {
            y = x * 10;
        } else {
            y = -x;
        }
        let z: i32;
        z = y + 1;
        z
    }
    for [0, 3, 4, 100];

    fn annotated(x: u8) -> u64 {
        let wide: u64 = 40;
        let mut sum: u64 = 2;
        sum += wide;
        let narrow: u8 = 3;
        sum + (x / narrow) as u64
    }
    for [0, 7, 255];

    fn literals_take_the_type_that_is_needed(x: f32) -> f32 {
        let mut sum = 1.0;
        let two = 2.0;
        let mut count = 0;
        sum += x * two + 0.5;
        count += 3;
        sum + count as f32
    }
    for [0.0, -1.25, 3.5];

    fn shadowing(x: i32) -> i32 {
        let y = x;
        let y = y * 2;
        let mut z = y;
        {
            let y = 100;
            z += y;
            let mut z = 5;
            z += y;
            let _ = z;
        }
        let x = x == 3;
        let w = if x { 1 } else { 0 };
        z + y * 3 + w
    }
    for [0, 1, 3, -9];

    fn compound_assignment_of_integers(x: i32) -> i32 {
        let mut v = x;
        v += 7;
        v -= 3;
        v *= 5;
        v /= 2;
        v %= 1000;
        v ^= 0x55;
        v &= 0xfff;
        v |= 0x100;
        v <<= 3;
        v >>= 1;
        v
    }
    for [0, 1, -100, 12_345, -54_321];

    fn compound_assignment_of_floats(x: f64) -> f64 {
        let mut v = x;
        v += 0.5;
        v -= 0.125;
        v *= 3.0;
        v /= 0.75;
        v %= 7.0;
        v
    }
    for [0.0, 1.0, -100.25, 1e10];

    fn compound_assignment_of_bools(x: u32) -> u32 {
        let mut v = x > 2;
        v &= x < 10;
        v |= x == 77;
        v ^= x % 2 == 0;
        v as u32
    }
    for [0, 3, 4, 10, 11, 77];

    fn the_right_side_is_evaluated_before_the_left(x: i32) -> i32 {
        let mut v = x;
        v += {
            v = 100;
            1
        };
        v
    }
    for [0, 5];

    fn tuples(x: i32) -> i32 {
        let pair = (x, x + 1);
        let (a, b) = pair;
        let (mut c, (d, _)) = (a * 10, (b, 4));
        c += d;
        let mut t = (1, (2, 3));
        t.0 += c;
        t.1.1 = t.0 + pair.0;
        t.1.0 -= 7;
        t.0 * 100 + t.1.0 * 10 + t.1.1
    }
    for [0, 1, -5];

    fn destructuring_assignment(x: i32) -> i32 {
        let (mut a, mut b) = (x, 1);
        (a, b) = (b, a + b);
        (a, b) = (b, a);
        let mut c = [0; 2];
        (c[0], (a, _)) = (a + 7, (b, 100));
        (c[1], b) = (c[0] * 2, c[0]);
        _ = x;
        a * 1000 + b * 100 + c[0] * 10 + c[1]
    }
    for [0, 1, 2, 9];

    fn blocks_have_values(x: i32) -> i32 {
        let y = {
            let z = x * x;
            z + 1
        };
        let mut w = { y } + { 2 };
        w += {
            let y = 3;
            y * y
        };
        w
    }
    for [0, 4, -4];

    fn a_variable_keeps_its_type(x: u8) -> u8 {
        let mut v = x;
        v = v.wrapping_add(200);
        v = v.wrapping_mul(3);
        v.wrapping_sub(1)
    }
    for [0, 1, 100, 255];

    fn operators_of_integers(a: i32, b: i32) -> i32 {
        (a + b) * 3 - a / b % 5 + (a & b) - (a | 3) + (a ^ b) + !a + -b + (a << 2) + (b >> 1)
    }
    for [(1, 2), (-100, 7), (1000, -3), (0, 1)];

    fn precedence(a: i32, b: i32) -> i32 {
        a + b * 2 - a % 3 << 1 & 0xff | b ^ 5
    }
    for [(1, 2), (10, 20), (100, 7)];
}

/// `&mut` to a variable, an element and a tuple, and through several functions.
#[test]
fn mutable_references() {
    #[device]
    fn swap(a: &mut i32, b: &mut i32) {
        let t = *a;
        *a = *b;
        *b = t;
    }

    #[device]
    fn twice(a: &mut i32) {
        *a *= 2;
        bump(a);
    }

    #[device]
    fn bump(a: &mut i32) {
        *a += 1;
        if *a > 10 {
            *a -= 10;
        }
    }

    #[device]
    fn in_kernel(x: i32) -> i32 {
        let (mut a, mut b) = (x, 5);
        swap(&mut a, &mut b);
        let mut list = [a, b, 7];
        twice(&mut list[1]);
        let i = (x as usize) % 3;
        bump(&mut list[i]);
        a * 1000 + list[0] * 100 + list[1] * 10 + list[2]
    }

    fn in_rust(x: i32) -> i32 {
        let bump = |a: i32| if a + 1 > 10 { a + 1 - 10 } else { a + 1 };
        let mut list = [5, x, 7];
        list[1] = bump(list[1] * 2);
        let i = x as usize % 3;
        list[i] = bump(list[i]);
        5 * 1000 + list[0] * 100 + list[1] * 10 + list[2]
    }

    one_parameter(&[0, 1, 2, 3, 4], in_rust, in_kernel);
}
