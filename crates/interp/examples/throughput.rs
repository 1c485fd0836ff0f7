//! How long kernels take, as a ratio to plain loops in one thread: elementwise addition, a dot product by trees in
//! shared memory, and a matrix product by shared tiles.
//!
//! ```text
//! cargo run --release -p tilewise-interp --example throughput
//! ```

use std::hint::black_box;
use std::time::{Duration, Instant};

use tilewise_interp::{Arg, Buffer, LaunchConfig, Options, Program};
use tilewise_ir::{Const, Kernel, Scalar, pass};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Elements of the vectors.
const N: usize = 1 << 24;
/// Threads of a block for the vectors.
const BLOCK: usize = 256;
/// Rows and columns of the matrices.
const M: usize = 512;
/// Rows and columns of a tile.
const TILE: usize = 16;

fn main() -> Result<()> {
    let a: Vec<f32> = (0..N).map(|i| (i % 1000) as f32 * 0.25).collect();
    let b: Vec<f32> = (0..N).map(|i| (i % 77) as f32 - 30.0).collect();
    add(&a, &b)?;
    dot(&a, &b)?;
    matmul(&a[..M * M], &b[..M * M])?;
    Ok(())
}

fn add(a: &[f32], b: &[f32]) -> Result<()> {
    let program = compile(
        "kernel @add(%out: tensor<f32, 1, mut>, %a: tensor<f32, 1>, %b: tensor<f32, 1>, %size: index) {
           %tid = thread_idx.x
           %bid = block_idx.x
           %dim = block_dim.x
           %base = mul %bid, %dim
           %i = add %base, %tid
           %n = scalar %size
           %in = lt %i, %n
           if %in {
             %ea = extent %a.0
             %x = load %a[%i] if (0: %i < %ea) : f32
             %eb = extent %b.0
             %y = load %b[%i] if (0: %i < %eb) : f32
             %sum = add %x, %y
             %eo = extent %out.0
             store %out[%i], %sum if (0: %i < %eo)
           }
           return
         }",
    )?;
    let (x, y, out) = (buffer(a)?, buffer(b)?, Buffer::new(Scalar::F32, N)?);
    let mut plain_out = vec![0f32; N];
    let plain = best(|| {
        for ((out, a), b) in plain_out.iter_mut().zip(a).zip(b) {
            *out = a + b;
        }
        black_box(&plain_out);
    });
    let config = LaunchConfig { grid: [(N / BLOCK) as u32, 1, 1], block: [BLOCK as u32, 1, 1] };
    let n = Const::index(N as u64);
    let ours = launch(&program, config, &[tensor(&out), tensor(&x), tensor(&y), Arg::Scalar(n)])?;
    let mut got = vec![0u32; N];
    out.read(0, &mut got)?;
    assert!(got.iter().zip(&plain_out).all(|(got, plain)| *got == plain.to_bits()));
    report("add, n = 2^24", plain, ours);
    Ok(())
}

fn dot(a: &[f32], b: &[f32]) -> Result<()> {
    let mut rounds = String::new();
    let mut half = BLOCK / 2;
    while half > 0 {
        rounds.push_str(&format!(
            "%half{half} = const index {half}
             %low{half} = lt %tid, %half{half}
             if %low{half} {{
               %mine{half} = load %s[%tid] : f32
               %other{half} = add %tid, %half{half}
               %theirs{half} = load %s[%other{half}] : f32
               %both{half} = add %mine{half}, %theirs{half}
               store %s[%tid], %both{half}
             }}
             barrier\n"
        ));
        half /= 2;
    }
    let program = compile(&format!(
        "kernel @dot(%out: tensor<f32, 1, mut>, %a: tensor<f32, 1>, %b: tensor<f32, 1>, %size: index) {{
           shared %s: array<f32, {BLOCK}>
           %tid = thread_idx.x
           %bid = block_idx.x
           %dim = block_dim.x
           %base = mul %bid, %dim
           %i = add %base, %tid
           %n = scalar %size
           %in = lt %i, %n
           if %in {{
             %x = load %a[%i] : f32
             %y = load %b[%i] : f32
             %product = mul %x, %y
             store %s[%tid], %product
           }}
           barrier
           {rounds}
           %zero = const index 0
           %first = eq %tid, %zero
           if %first {{
             %sum = load %s[%zero] : f32
             store %out[%bid], %sum
           }}
           return
         }}"
    ))?;
    let (x, y, out) = (buffer(a)?, buffer(b)?, Buffer::new(Scalar::F32, N / BLOCK)?);
    let mut sum = 0f32;
    let plain = best(|| sum = black_box(a.iter().zip(b).fold(0f32, |sum, (a, b)| sum + a * b)));
    let config = LaunchConfig { grid: [(N / BLOCK) as u32, 1, 1], block: [BLOCK as u32, 1, 1] };
    let n = Const::index(N as u64);
    let ours = launch(&program, config, &[tensor(&out), tensor(&x), tensor(&y), Arg::Scalar(n)])?;
    for block in [0, 1, N / BLOCK - 1] {
        let range = block * BLOCK..(block + 1) * BLOCK;
        let exact: f64 = a[range.clone()].iter().zip(&b[range]).map(|(&a, &b)| a as f64 * b as f64).sum();
        let got = f32::from_bits(out.get(block).unwrap_or_default() as u32) as f64;
        assert!((got - exact).abs() <= 1e-3 * exact.abs().max(1.0), "{got} {exact}");
    }
    report("dot by trees, n = 2^24", plain, ours);
    Ok(())
}

fn matmul(a: &[f32], b: &[f32]) -> Result<()> {
    let mut products = String::new();
    for k in 0..TILE {
        let (before, after) = (format!("%acc{k}"), format!("%acc{}", k + 1));
        products.push_str(&format!(
            "%k{k} = const index {k}
             %ai{k} = add %ty_row, %k{k}
             %x{k} = load %sa[%ai{k}] : f32
             %kb{k} = const index {}
             %bi{k} = add %tx, %kb{k}
             %y{k} = load %sb[%bi{k}] : f32
             {after} = mul_add %x{k}, %y{k}, {before}\n",
            k * TILE
        ));
    }
    let program = compile(&format!(
        "kernel @matmul(%c: tensor<f32, 2, mut>, %a: tensor<f32, 2>, %b: tensor<f32, 2>) {{
           shared %sa: array<f32, {size}>
           shared %sb: array<f32, {size}>
           %tx = thread_idx.x
           %ty = thread_idx.y
           %bx = block_idx.x
           %by = block_idx.y
           %tile = const index {TILE}
           %m = const index {M}
           %row0 = mul %by, %tile
           %row = add %row0, %ty
           %col0 = mul %bx, %tile
           %col = add %col0, %tx
           %ty_row = mul %ty, %tile
           %local = add %ty_row, %tx
           %row_start = mul %row, %m
           %a_first = add %row_start, %tx
           %b_first0 = mul %ty, %m
           %b_first = add %b_first0, %col
           %zero = const index 0
           %one = const index 1
           %tiles = const index {tiles}
           %start = const f32 0.0
           %sum = for ^t %t = %zero to %tiles step %one carry (%acc0 = %start) {{
             %shift_a = mul %t, %tile
             %ga = add %a_first, %shift_a
             %va = load %a[%ga] : f32
             store %sa[%local], %va
             %rows = mul %shift_a, %m
             %gb = add %b_first, %rows
             %vb = load %b[%gb] : f32
             store %sb[%local], %vb
             barrier
             {products}
             barrier
             continue ^t %acc{TILE}
           }}
           %to = add %row_start, %col
           store %c[%to], %sum
           return
         }}",
        size = TILE * TILE,
        tiles = M / TILE,
    ))?;
    let (x, y, out) = (buffer(a)?, buffer(b)?, Buffer::new(Scalar::F32, M * M)?);
    let mut plain_out = vec![0f32; M * M];
    let plain = best(|| {
        plain_out.fill(0.0);
        for (row, a) in plain_out.chunks_exact_mut(M).zip(a.chunks_exact(M)) {
            for (a, b) in a.iter().zip(b.chunks_exact(M)) {
                row.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
            }
        }
        black_box(&plain_out);
    });
    let grid = (M / TILE) as u32;
    let config = LaunchConfig { grid: [grid, grid, 1], block: [TILE as u32, TILE as u32, 1] };
    let square =
        |buffer| Arg::Tensor { buffer, offset: 0, extents: &[M as u64, M as u64], strides: &[M as u64, 1] };
    let ours = launch(&program, config, &[square(&out), square(&x), square(&y)])?;
    for at in [0, M + 7, M * M - 1] {
        let got = f32::from_bits(out.get(at).unwrap_or_default() as u32);
        assert!((got - plain_out[at]).abs() <= 1e-3 * plain_out[at].abs(), "{got} {}", plain_out[at]);
    }
    report("matmul by tiles, 512", plain, ours);
    Ok(())
}

fn compile(text: &str) -> Result<Program> {
    let mut kernel: Kernel = text.parse()?;
    pass::prepare(&mut kernel);
    pass::optimize(&mut kernel);
    Ok(Program::compile(&kernel)?)
}

fn buffer(values: &[f32]) -> Result<Buffer> {
    let buffer = Buffer::new(Scalar::F32, values.len())?;
    buffer.write(0, &values.iter().map(|x| x.to_bits()).collect::<Vec<u32>>())?;
    Ok(buffer)
}

/// A buffer as a tensor of one dimension, as long as the vectors (or as the number of blocks, if it is shorter).
fn tensor(buffer: &Buffer) -> Arg<'_> {
    let extents: &[u64] = if buffer.len() == N { &[N as u64] } else { &[(N / BLOCK) as u64] };
    Arg::Tensor { buffer, offset: 0, extents, strides: &[1] }
}

fn launch(program: &Program, config: LaunchConfig, args: &[Arg<'_>]) -> Result<Duration> {
    let outcome = program.run(config, args, Options::default())?;
    if let Some(fault) = outcome.first_fault {
        return Err(fault.into());
    }
    let mut times = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        program.run(config, args, Options::default())?;
        times.push(start.elapsed());
    }
    Ok(times.into_iter().min().unwrap_or_default())
}

/// The shortest of some runs.
fn best(mut f: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        f();
        start.elapsed()
    };
    (0..5).map(time).min().unwrap_or_default()
}

fn report(name: &str, plain: Duration, ours: Duration) {
    let ratio = ours.as_secs_f64() / plain.as_secs_f64();
    println!("{name:<24} plain loop {plain:>10.2?}, kernel {ours:>10.2?}, ratio {ratio:.2}");
}
