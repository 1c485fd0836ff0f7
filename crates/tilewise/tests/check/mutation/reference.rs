//! What the kernels compute, by plain loops on the host.

/// Makes of the numbers in the tensors what a launch makes of them.
pub(crate) type Reference = fn(&mut [Vec<u64>]);

/// The reference of a kernel of [`kernels`](super::kernels).
pub(crate) fn of(name: &str) -> Reference {
    match name {
        "add" => |t| (0..t[0].len()).for_each(|i| t[0][i] = t[1][i] + 10),
        "axpy" => |t| (0..t[0].len()).for_each(|i| t[0][i] += 3 * t[1][i]),
        "copy_2d" => |t| (0..t[0].len()).for_each(|i| t[0][i] = 2 * t[1][i]),
        "tree" => |t| t[0][0] = t[1].iter().sum(),
        "tree_of_maxima" => |t| (0..2).for_each(|b| t[0][b] = largest(&t[1][4 * b..4 * b + 4])),
        "scan" | "scan_two_buffers" => |t| (0..6).for_each(|i| t[0][i] = t[1][..=i].iter().sum()),
        "two_buffers" => |t| (0..5).for_each(|i| t[0][i] = (0..4).map(|k| (i as u64 + 1) % 5 + k).sum()),
        "tile_sums" => tile_sums,
        "rotate" => |t| t[0].rotate_right(3),
        "reverse" => |t| (0..10).for_each(|i| t[0][i] = t[1][i / 5 * 5 + 4 - i % 5]),
        "transpose" => |t| (0..18).for_each(|i| t[0][i] = t[1][i % 3 * 6 + i / 3]),
        "matmul" => matmul,
        "histogram" => histogram,
        "stencil" => stencil,
        "extremes" => |t| (t[0][0], t[1][0]) = (largest(&t[2]), 0),
        "append" => append,
        "broadcast" => |t| (0..16).for_each(|i| t[0][i] = t[1][i / 4]),
        "odd_even_sort" => |t| t[0].sort_unstable(),
        "up_and_down" => |t| (0..8).for_each(|i| t[0][i] = t[1][..i].iter().sum()),
        "by_vectors" => |t| (0..20).for_each(|i| t[0][i] = 3 * t[1][i]),
        "own_array" => own_array,
        "returns_early" => |t| (0..5).for_each(|i| t[0][i] = 5 - i as u64),
        "last_block" => last_block,
        "last_block_fences" => |t| {
            (0..6).for_each(|i| t[1][i] = i as u64 % 2 + 1);
            (t[0][0], t[2][0]) = (9, 3);
        },
        "lock" => |t| (t[0][0], t[1][0]) = (0, 6),
        "message" => |t| {
            (t[0], t[1]) = (vec![9, 8, 7], vec![7, 8, 9]);
            t[2][0] = 1;
        },
        "gather" => |t| (0..6).for_each(|i| t[0][i] = t[2].get(t[1][i] as usize).copied().unwrap_or(0)),
        "convolution" => convolution,
        "tiles" => |t| (0..15).for_each(|i| t[0][i] += (i % 5 % 3 + 10 * (i / 5 % 2)) as u64),
        name => panic!("no reference for `{name}`"),
    }
}

fn largest(numbers: &[u64]) -> u64 {
    numbers.iter().copied().max().unwrap_or(0)
}

/// Each element times its left neighbour, for the thread before both, in each tile of four.
fn tile_sums(t: &mut [Vec<u64>]) {
    for i in 0..4 {
        t[0][i] = (0..3).map(|k| t[1][4 * k + (i + 1) % 4] * t[1][4 * k + (i + 2) % 4]).sum();
    }
}

fn matmul(t: &mut [Vec<u64>]) {
    for i in 0..9 {
        t[0][i] = (0..3).map(|k| t[1][i / 3 * 3 + k] * t[2][3 * k + i % 3]).sum();
    }
}

fn histogram(t: &mut [Vec<u64>]) {
    for i in 0..t[1].len() {
        let bin = t[1][i] as usize % 4;
        t[0][bin] += 1;
    }
}

fn stencil(t: &mut [Vec<u64>]) {
    for i in 0..8 {
        t[0][i] = t[1][i.max(1) - 1..(i + 2).min(8)].iter().sum();
    }
}

/// Blocks and threads come in their order here.
fn append(t: &mut [Vec<u64>]) {
    let even: Vec<u64> = t[2].iter().copied().filter(|x| x % 2 == 0).collect();
    t[1][0] = even.len() as u64;
    t[0][..even.len()].copy_from_slice(&even);
}

fn own_array(t: &mut [Vec<u64>]) {
    for i in 0..9 {
        let (own, k) = (&t[1][i / 3 * 3..], i % 3);
        t[0][i] = own[2 - k] + own[(k + i / 3) % 3];
    }
}

fn last_block(t: &mut [Vec<u64>]) {
    (0..3).for_each(|b| t[1][b] = t[3][2 * b] + t[3][2 * b + 1]);
    t[0][0] = t[1].iter().sum();
    t[2][0] = 3;
}

fn convolution(t: &mut [Vec<u64>]) {
    for i in 0..6 {
        t[0][i] = (0..3).filter(|k| i + k < 8).map(|k| t[1][i + k] * t[2][k]).sum();
    }
}
