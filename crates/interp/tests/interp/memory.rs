//! Memory: views, vectors, narrow elements, local arrays, patterns of addresses.

use tilewise_ir::Scalar;

use crate::device::{bits, run, run_clean, scalar, tensor, view, x};

#[test]
fn neighbouring_bytes_by_different_threads() {
    let text = "
        kernel @bytes(%out: tensor<u8, 1, mut>) {
          %t = thread_idx.x
          %five = const index 5
          %other = ne %t, %five
          if %other {
            %v = cast %t to u8
            %base = const u8 240
            %sum = add %v, %base
            store %out[%t], %sum
          }
          return
        }";
    let run = run_clean(text, x(1), x(8), &[tensor(&[0x11u8; 8])]);
    assert_eq!(run.get::<u8>(0), [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0x11, 0xf6, 0xf7]);
}

#[test]
fn truth_values_are_bytes() {
    let text = "
        kernel @truth(%out: tensor<bool, 1, mut>, %in: tensor<u32, 1>, %flags: tensor<bool, 1>, %flag: bool) {
          shared %s: array<bool, 8>
          %t = thread_idx.x
          %v = load %in[%t] : u32
          %six = const u32 6
          %zero = const u32 0
          %masked = and %v, %six
          %b = ne %masked, %zero
          store %s[%t], %b
          barrier
          %b1 = load %s[%t] : bool
          %f = load %flags[%t] : bool
          %flag1 = scalar %flag
          %b2 = and %b1, %f
          %b3 = and %b2, %flag1
          store %out[%t], %b3
          return
        }";
    let values = [0u32, 1, 2, 4, 6, 7, 8, 9];
    // A byte that is neither 0 nor 1 is true.
    let flags = bits(Scalar::Bool, &[1, 1, 255, 1, 1, 1, 1, 1]);
    let args = [tensor(&[false; 8]), tensor(&values), flags, scalar(true)];
    let run = run_clean(text, x(1), x(8), &args);
    assert_eq!(run.get::<bool>(0), values.map(|v| v & 6 != 0));
}

/// `out[f(g)] = in[h(g)] + 1` for elements of any type; the functions are strides and starts.
fn copy(scalar: Scalar) -> String {
    "
    kernel @copy(%out: tensor<TYPE, 1, mut>, %in: tensor<TYPE, 1>, %from: index, %fs: index, %to: index, %ts: index) {
      %t = thread_idx.x
      %b = block_idx.x
      %d = block_dim.x
      %base = mul %b, %d
      %g = add %base, %t
      %fs1 = scalar %fs
      %from1 = scalar %from
      %g1 = mul %g, %fs1
      %f = add %g1, %from1
      %v = load %in[%f] : TYPE
      %ts1 = scalar %ts
      %to1 = scalar %to
      %g2 = mul %g, %ts1
      %o = add %g2, %to1
      store %out[%o], %v
      return
    }"
    .replace("TYPE", scalar.name())
}

#[test]
fn every_type_in_every_pattern() {
    for scalar_type in Scalar::ALL {
        let text = copy(scalar_type);
        let mask = if scalar_type == Scalar::Bool { 1 } else { u64::MAX >> (64 - 8 * scalar_type.size()) };
        for threads in [1u32, 31, 64, 100, 256] {
            let n = 2 * threads as usize;
            let input: Vec<u64> =
                (0..3 * n as u64 + 7).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
            for (from, by, to, step) in [(0, 1, 0, 1), (3, 1, 0, 1), (5, 3, 2, 1), (0, 1, 1, 2), (4, 0, 0, 1)]
            {
                let args = [
                    bits(scalar_type, &vec![0; 2 * n + 2]),
                    bits(scalar_type, &input),
                    scalar::<usize>(from),
                    scalar::<usize>(by),
                    scalar::<usize>(to),
                    scalar::<usize>(step),
                ];
                let mut expected = vec![0; 2 * n + 2];
                (0..n).for_each(|g| expected[to + step * g] = input[from + by * g]);
                let run = run_clean(&text, x(2), x(threads), &args);
                let crate::device::Data::Tensor { bits, .. } = &run.args[0] else { unreachable!() };
                assert_eq!(bits, &expected, "{scalar_type} {threads} {from} {by} {to} {step}");
            }
        }
    }
}

#[test]
fn threads_that_store_to_one_element_go_in_order() {
    let text = "
        kernel @last(%out: tensor<u32, 1, mut>) {
          %t = thread_idx.x
          %v = cast %t to u32
          %three = const index 3
          %at = rem %t, %three
          store %out[%at], %v
          return
        }";
    let run = run_clean(text, x(1), x(100), &[tensor(&[0u32; 3])]);
    assert_eq!(run.get::<u32>(0), [99, 97, 98]);
}

#[test]
fn vectors_are_loaded_and_stored_by_lanes() {
    let text = "
        kernel @wide(%out: tensor<f32, 1, mut>, %in: tensor<f32, 1>) {
          %t = thread_idx.x
          %four = const index 4
          %at = mul %t, %four
          %n = extent %in.0
          %v = load %in[%at] if (0: %at < %n) : f32x4
          %first = extract %v[0]
          %last = extract %v[3]
          %both = add %first, %last
          %sums = splat %both x 4
          %two = const f32 2.0
          %twos = splat %two x 4
          %double = mul %v, %twos
          %r = add %double, %sums
          store %out[%at], %r if (0: %at < %n)
          return
        }";
    for threads in [1usize, 3, 70] {
        let input: Vec<f32> = (0..4 * threads).map(|i| i as f32).collect();
        let expected: Vec<f32> = (0..4 * threads)
            .map(|i| 2.0 * i as f32 + (4 * (i / 4)) as f32 + (4 * (i / 4) + 3) as f32)
            .collect();
        let args = [tensor(&vec![0f32; 4 * threads]), tensor(&input)];
        assert_eq!(run_clean(text, x(1), x(threads as u32), &args).get::<f32>(0), expected);
    }
}

#[test]
fn lanes_of_a_vector_outside_read_zero_and_store_nothing() {
    let text = "
        kernel @edge(%out: tensor<u32, 2, mut>, %in: tensor<u32, 2>) {
          %t = thread_idx.x
          %zero = const index 0
          %cols = extent %in.1
          %rows = extent %in.0
          %start = mul %t, %cols
          %v = load %in[%start] if (0: %t < %rows, 1: %zero < %cols) lane 1 : u32x4 @k.rs:1:1
          %w = add %v, %v
          store %out[%start], %w if (0: %t < %rows, 1: %zero < %cols) lane 1 @k.rs:2:1
          return
        }";
    let input: Vec<u32> = (1..=6).collect();
    let args = [view(&[9u32; 8], 0, &[2, 3], &[3, 1]), view(&input, 0, &[2, 3], &[3, 1])];
    let run = run(text, x(1), x(3), &args);
    assert_eq!(run.get::<u32>(0), [2, 4, 6, 8, 10, 12, 9, 9]);
    // One lane of threads 0 and 1, all four of thread 2; loads and stores.
    assert_eq!(run.outcome.fault_count, 12);
    assert_eq!(
        run.fault(),
        "k.rs:1:1: load from `in`: index 3 is outside dimension 1, whose extent is 3 (block (0, 0, 0), thread (0, 0, \
         0))"
    );
}

#[test]
fn a_view_is_all_there_is() {
    // An access without bounds is still kept inside the tensor, though the buffer is longer.
    let text = "
        kernel @part(%out: tensor<u32, 1, mut>, %in: tensor<u32, 1>) {
          %t = thread_idx.x
          %v = load %in[%t] : u32 @k.rs:1:1
          store %out[%t], %v @k.rs:2:1
          return
        }";
    let squares: Vec<u32> = (0..20).map(|i| i * i).collect();
    let args = [view(&[7u32; 10], 1, &[5], &[1]), view(&squares, 4, &[5], &[1])];
    let run = run(text, x(1), x(8), &args);
    assert_eq!(run.get::<u32>(0), [7, 16, 25, 36, 49, 64, 7, 7, 7, 7]);
    assert_eq!(run.outcome.fault_count, 6);
    assert_eq!(
        run.fault(),
        "k.rs:1:1: load from `in`: element 5 is outside its memory of 5 elements, and no bounds were checked (block \
         (0, 0, 0), thread (5, 0, 0))"
    );
}

#[test]
fn strides_and_extents_are_those_of_the_argument() {
    let text = "
        kernel @strided(%out: tensor<u32, 1, mut>, %in: tensor<u32, 2>) {
          %t = thread_idx.x
          %one = const index 1
          %two = const index 2
          %s0 = stride %in.0
          %s1 = stride %in.1
          %a = mul %one, %s0
          %b = mul %two, %s1
          %at = add %a, %b
          %v = load %in[%at] : u32
          store %out[%t], %v
          return
        }";
    let counting: Vec<u32> = (0..30).collect();
    for (strides, expected) in [([4, 1], 6), ([1, 3], 7), ([6, 1], 8)] {
        let args = [tensor(&[0u32; 2]), view(&counting, 0, &[3, 4], &strides)];
        assert_eq!(run_clean(text, x(1), x(2), &args).get::<u32>(0), [expected; 2]);
    }
}

#[test]
fn local_arrays_are_indexed_by_each_thread() {
    let text = "
        kernel @local(%out: tensor<u64, 1, mut>) {
          local %a: array<u64, 5>
          local %b: array<u16, 5>
          %t = thread_idx.x
          %zero = const index 0
          %one = const index 1
          %five = const index 5
          for ^f %i = %zero to %five step %one {
            %v = mul %i, %t
            %v64 = cast %v to u64
            store %a[%i], %v64
            %v16 = cast %v to u16
            store %b[%i], %v16
            continue ^f
          }
          %mine = rem %t, %five
          %x = load %a[%mine] if (0: %mine < %five) : u64
          %y = load %b[%mine] : u16
          %y64 = cast %y to u64
          %r = add %x, %y64
          store %out[%t], %r
          return
        }";
    let run = run_clean(text, x(1), x(200), &[tensor(&[0u64; 200])]);
    assert_eq!(run.get::<u64>(0), (0..200).map(|t| 2 * t * (t % 5)).collect::<Vec<_>>());
}

#[test]
fn a_local_array_has_an_end() {
    let text = "
        kernel @local(%out: tensor<u32, 1, mut>) {
          local %a: array<u32, 4>
          %t = thread_idx.x
          %four = const index 4
          %one = const u32 1
          store %a[%t], %one if (0: %t < %four) @k.rs:1:1
          %v = load %a[%t] if (0: %t < %four) : u32 @k.rs:2:1
          store %out[%t], %v
          return
        }";
    let run = run(text, x(1), x(6), &[tensor(&[9u32; 6])]);
    assert_eq!(run.get::<u32>(0), [1, 1, 1, 1, 0, 0]);
    assert_eq!(run.outcome.fault_count, 4);
    assert_eq!(
        run.fault(),
        "k.rs:1:1: store to `a`: index 4 is outside dimension 0, whose extent is 4 (block (0, 0, 0), thread (4, 0, \
         0))"
    );
}

#[test]
fn a_block_of_three_axes() {
    let text = "
        kernel @axes(%out: tensor<index, 1, mut>) {
          %x = thread_idx.x
          %y = thread_idx.y
          %z = thread_idx.z
          %bx = block_idx.x
          %by = block_idx.y
          %bz = block_idx.z
          %dx = block_dim.x
          %dy = block_dim.y
          %dz = block_dim.z
          %gx = grid_dim.x
          %gy = grid_dim.y
          %a = mul %bz, %gy
          %b = add %a, %by
          %c = mul %b, %gx
          %d = add %c, %bx
          %e = mul %d, %dz
          %f = add %e, %z
          %g = mul %f, %dy
          %h = add %g, %y
          %i = mul %h, %dx
          %j = add %i, %x
          store %out[%j], %j
          return
        }";
    let run = run_clean(text, [2, 3, 4], [5, 3, 7], &[tensor(&[0usize; 24 * 105])]);
    assert_eq!(run.get::<usize>(0), (0..24 * 105).collect::<Vec<_>>());
}
