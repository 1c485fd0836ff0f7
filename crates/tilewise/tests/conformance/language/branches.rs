//! `if` and `match`, as statements and as values.

use tilewise::prelude::*;

same_as_rust! {
    fn if_without_else(x: i32) -> i32 {
        let mut y = 0;
        if x > 3 {
            y = 1;
        }
        if x % 2 == 0 {
            y += 10;
            if x % 3 == 0 {
                y += 100;
            }
        }
        y
    }
    for [0, 1, 4, 6, 9];

    fn if_else_chain(x: i32) -> i32 {
        if x < 0 {
            -1
        } else if x == 0 {
            0
        } else if x < 10 {
            1
        } else {
            2
        }
    }
    for [-5, 0, 5, 50];

    fn if_as_a_value(x: i32) -> i32 {
        let a = if x > 0 { x } else { 7 };
        let b = if x > 1 { 3 } else { x } + if x > 2 { 1 } else { 2 };
        let (c, d) = if x == 2 { (a, 1) } else { (2, b) };
        a * 1000 + b * 100 + c * 10 + d
    }
    for [-1, 0, 1, 2, 3];

    fn assignments_in_branches_are_seen_behind(x: u32) -> u32 {
        let mut a = 1;
        let mut b = 2;
        if x & 1 != 0 {
            a = x;
            if x & 2 != 0 {
                b = a + 1;
                a = 0;
            } else {
                b += 5;
            }
        } else {
            a += b;
        }
        a * 100 + b
    }
    for [0, 1, 2, 3, 7];

    fn conditions_are_values(x: i32) -> u32 {
        let positive = x > 0;
        let even = x % 2 == 0;
        let both = positive && even;
        let same = positive == even;
        let neither = !positive & !even;
        let different = positive != even;
        let exclusive = positive ^ both;
        positive as u32 + 2 * even as u32 + 4 * both as u32 + 8 * same as u32 + 16 * neither as u32
            + 32 * different as u32 + 64 * exclusive as u32
    }
    for [-3, -2, 0, 1, 2];

    fn two_conditions_are_combined_in_all_ways(x: i32) -> u32 {
        let p = x > 0;
        let q = x & 1 == 0;
        let and = [p & q, p & !q, !p & q, !p & !q];
        let or = [p || q, p || !q, !p || q, !p || !q];
        let chosen = [if p { q } else { !q }, if q { false } else { p }, (p == q) != q, p ^ q ^ (x < 5)];
        let mut bits = 0;
        for i in 0..4 {
            bits = bits * 8 + and[i] as u32 + 2 * or[i] as u32 + 4 * chosen[i] as u32;
        }
        bits
    }
    for [-3, -2, 0, 1, 2, 5, 6];

    fn a_chosen_zero_keeps_its_sign(x: f32) -> f32 {
        let sign = if x < 0.0 { -1.0f32 } else { -0.0 };
        (sign * -0.0).recip()
    }
    for [-3.0, 0.0, 2.0];

    fn match_with_literals(x: i32) -> i32 {
        match x {
            0 => 10,
            -1 => 20,
            7 => 30,
            _ => 40,
        }
    }
    for [0, -1, 7, 8, -7];

    fn match_with_ranges(x: u8) -> u32 {
        match x {
            0..=9 => 1,
            10..20 => 2,
            200.. => 3,
            20..=99 | 150 => 4,
            _ => 5,
        }
    }
    for [0, 9, 10, 19, 20, 99, 100, 150, 199, 200, 255];

    fn match_with_open_ranges(x: i64) -> i32 {
        match x {
            i64::MIN..=-1 => -1,
            0 => 0,
            1.. => 1,
        }
    }
    for [i64::MIN, -1, 0, 1, i64::MAX];

    fn match_with_guards_and_bindings(x: i32) -> i32 {
        match x {
            0 | 5 if x > 3 => 100,
            k if k < 0 => -k,
            1 | 2 => 7,
            n if n % 2 == 0 => n / 2,
            n => 3 * n + 1,
        }
    }
    for [-4, 0, 1, 2, 3, 5, 8, 9];

    fn match_binds_what_a_pattern_matches(x: i32) -> i32 {
        match x {
            small @ 0..=9 => small * 100,
            even @ (10 | 12 | 14) if even != x + 1 => even,
            other @ 10..20 => -other,
            rest => rest + 1000,
        }
    }
    for [0, 9, 10, 11, 12, 19, 20, -1];

    fn match_on_bool(x: i32) -> i32 {
        let sign = match x < 0 {
            true => -1,
            false => 1,
        };
        match x > 10 {
            true => sign * 100,
            _ => sign,
        }
    }
    for [-1, 0, 11];

    fn match_as_a_statement(x: u32) -> u32 {
        let mut y = x;
        match x % 4 {
            0 => y += 1,
            1 => {
                y *= 2;
                y += 3;
            }
            2 => {}
            _ => y = 0,
        }
        y
    }
    for [0, 1, 2, 3, 4, 9];

    fn match_on_constants(x: u32) -> u32 {
        const FIRST: u32 = 3;
        const LAST: u32 = 6;
        match x {
            FIRST => 1,
            FIRST..=LAST => 2,
            u32::MAX => 3,
            _ => 4,
        }
    }
    for [2, 3, 4, 6, 7, 4_294_967_295];

    fn nested_matches(x: i32) -> i32 {
        let y = match x / 10 {
            0 => match x {
                3 => 1,
                k => k + 1,
            },
            1 => {
                let z = match x % 10 {
                    0..=4 => 5,
                    _ => 6,
                };
                z * 2
            }
            _ => 0,
        };
        y
    }
    for [0, 3, 9, 10, 15, 20];

    fn compile_time_conditions(x: i32) -> i32 {
        const SIZE: usize = 8;
        let mut y = x;
        if SIZE > 4 {
            y += 1;
        }
        if SIZE == 4 {
            y += 100;
        } else {
            y *= 2;
        }
        let z = if SIZE % 2 == 0 { y } else { 3 };
        match SIZE {
            8 => z + 7,
            _ => z,
        }
    }
    for [0, 5];
}

/// In both branches a loop is left or the thread returns, so that nothing is behind them.
#[test]
fn branches_that_leave() {
    #[device]
    fn in_kernel(x: i32) -> i32 {
        let mut k = 0;
        loop {
            k += 1;
            if k == x {
                break;
            } else if k > 5 {
                return -k;
            } else {
                continue;
            }
        }
        let y = if x == 2 { return 77 } else { k * 10 };
        match y {
            30 => return 99,
            _ => y + 1,
        }
    }
    fn in_rust(x: i32) -> i32 {
        match x {
            2 => 77,
            3 => 99,
            1..=6 => x * 10 + 1,
            _ => -6,
        }
    }
    crate::same_as_rust::one_parameter(&[0, 1, 2, 3, 4, 5, 6, 7], in_rust, in_kernel);
}
