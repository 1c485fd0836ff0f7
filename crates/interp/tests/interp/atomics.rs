//! Atomic operations on global and shared memory.

use tilewise_ir::Scalar;

use crate::device::{Element, run_clean, tensor, x};

/// Each thread applies an operation to one cell, in global and in shared memory.
fn on_one_cell(op: &str, scalar: Scalar, shared: bool) -> String {
    if shared {
        "
        kernel @one(%cell: tensor<TYPE, 1, mut>, %v: tensor<TYPE, 1>) {
          shared %s: array<TYPE, 1>
          %t = thread_idx.x
          %zero = const index 0
          %first = eq %t, %zero
          if %first {
            %start = load %cell[%zero] : TYPE
            store %s[%zero], %start
          }
          barrier
          %x = load %v[%t] : TYPE
          %old = OP block relaxed %s[%zero], %x
          barrier
          if %first {
            %end = load %s[%zero] : TYPE
            store %cell[%zero], %end
          }
          return
        }"
    } else {
        "
        kernel @one(%cell: tensor<TYPE, 1, mut>, %v: tensor<TYPE, 1>) {
          %t = thread_idx.x
          %b = block_idx.x
          %d = block_dim.x
          %base = mul %b, %d
          %g = add %base, %t
          %zero = const index 0
          %x = load %v[%g] : TYPE
          %old = OP device acq_rel %cell[%zero], %x
          return
        }"
    }
    .replace("TYPE", scalar.name())
    .replace("OP", op)
}

fn check<T: Element + PartialEq + std::fmt::Debug>(op: &str, start: T, values: &[T], expected: T) {
    let args = [tensor(&[start]), tensor(values)];
    let threads = values.len() as u32;
    for (shared, grid, block) in [(false, 1, threads), (false, threads / 2, 2), (true, 1, threads)] {
        let run = run_clean(&on_one_cell(op, T::SCALAR, shared), x(grid), x(block), &args);
        assert_eq!(run.get::<T>(0), [expected], "{op} {} shared: {shared}", T::SCALAR);
    }
}

#[test]
fn read_modify_write() {
    check("atomic_add", 5u32, &[u32::MAX; 6], u32::MAX);
    check("atomic_add", 1i64, &[-3; 4], -11);
    check("atomic_add", 0.5f32, &[0.25; 8], 2.5);
    check("atomic_min", 9i32, &[3, -7, 8, 100], -7);
    check("atomic_min", 9u32, &[3, u32::MAX, 8, 100], 3);
    check("atomic_max", 9i32, &[3, -7, 8, 100], 100);
    check("atomic_max", 9u64, &[3, u64::MAX, 8, 100], u64::MAX);
    check("atomic_and", 0xffu32, &[0xf7, 0xfe, 0x7f, 0xff], 0x76);
    check("atomic_or", 0u32, &[1, 2, 4, 1], 7);
    check("atomic_xor", 1u32, &[1, 2, 4, 2], 4);
    check("atomic_exchange", 1u32, &[8; 6], 8);
}

#[test]
fn float_extremes_are_not_those_of_the_bits() {
    let negative: Vec<f32> = (0..64).map(|t| -0.5 * t as f32 - 0.25).collect();
    check("atomic_max", f32::NEG_INFINITY, &negative, -0.25);
    check("atomic_min", f32::INFINITY, &negative, -31.75);
    let mixed: Vec<f32> = (0..64).map(|t| t as f32 - 31.5).collect();
    check("atomic_max", -1e30f32, &mixed, 31.5);
    check("atomic_min", 1.0f32, &[f32::NAN, 0.5, f32::NAN, 3.0], 0.5);
}

#[test]
fn a_float_sum_with_a_nan_ends() {
    let text = on_one_cell("atomic_add", Scalar::F32, false);
    let mut values = [2f32; 6];
    assert_eq!(run_clean(&text, x(1), x(6), &[tensor(&[1f32]), tensor(&values)]).get::<f32>(0), [13.0]);
    values[2] = f32::NAN;
    let program = tilewise_interp::Program::compile(&text.parse().unwrap()).unwrap();
    let run = crate::device::run_once(&program, 2, x(3), x(2), &[tensor(&[1f32]), tensor(&values)]).unwrap();
    assert!(run.get::<f32>(0)[0].is_nan());
}

#[test]
fn what_was_there_before_is_a_chain() {
    let text = "
        kernel @chain(%cell: tensor<u32, 1, mut>, %old: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %zero = const index 0
          %three = const u32 3
          %before = atomic_add device relaxed %cell[%zero], %three
          store %old[%t], %before
          return
        }";
    let run = run_clean(text, x(1), x(100), &[tensor(&[7u32]), tensor(&[0u32; 100])]);
    assert_eq!(run.get::<u32>(1), (0..100).map(|t| 7 + 3 * t).collect::<Vec<_>>());
    assert_eq!(run.get::<u32>(0), [307]);
}

#[test]
fn compare_and_exchange_by_some_threads() {
    let text = "
        kernel @cas(%cell: tensor<i32, 1, mut>, %old: tensor<i32, 1, mut>) {
          %t = thread_idx.x
          %tid = cast %t to i32
          %two = const i32 2
          %three = const i32 3
          %r = rem %tid, %three
          %zero32 = const i32 0
          %mine = eq %r, %zero32
          %zero = const index 0
          %neg = neg %tid
          %next0 = add %tid, %three
          %next = neg %next0
          if %mine {
            %before = atomic_cas device seq_cst %cell[%zero], %neg, %next
            store %old[%t], %before
          }
          return
        }";
    let run = run_clean(text, x(1), x(70), &[tensor(&[0i32]), tensor(&[7i32; 70])]);
    let expected: Vec<i32> = (0..70).map(|t| if t % 3 == 0 { -t } else { 7 }).collect();
    assert_eq!(run.get::<i32>(1), expected);
    assert_eq!(run.get::<i32>(0), [-72]);
}

#[test]
fn counting_from_all_blocks() {
    let text = "
        kernel @count(%count: tensor<u32, 1, mut>, %sum: tensor<u64, 1, mut>) {
          %t = thread_idx.x
          %b = block_idx.x
          %zero = const index 0
          %one = const u32 1
          %first = eq %t, %zero
          if %first {
            %c = atomic_add device relaxed %count[%zero], %one
            %b64 = cast %b to u64
            %s = atomic_add device relaxed %sum[%zero], %b64
          }
          return
        }";
    let run = run_clean(text, [7000, 3, 1], x(32), &[tensor(&[0u32]), tensor(&[0u64])]);
    assert_eq!(run.get::<u32>(0), [21000]);
    assert_eq!(run.get::<u64>(1), [3 * 6999 * 7000 / 2]);
}
