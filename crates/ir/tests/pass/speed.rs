//! How long passes take on a tiled matrix multiplication, and on a large kernel.
//!
//! Measured only in builds with optimisation: `cargo test --release -p tilewise-ir --test pass speed -- --nocapture`.

use crate::support::generate;
use std::time::{Duration, Instant};
use tilewise_ir::pass;
use tilewise_ir::{
    Access, Axis, BinaryOp, Builder, Builtin, CompareOp, Const, Kernel, MemRef, Op, ParamKind, Scalar, Space,
    Type, Value,
};

/// Threads of a block, and elements of a tile, in each direction.
const TILE: u64 = 32;

/// Matrix multiplication with tiles in shared memory, as staging records it.
pub(crate) fn tiled_matmul() -> Kernel {
    let mut matmul = Matmul { builder: Builder::new("matmul") };
    matmul.stage();
    matmul.builder.finish()
}

struct Matmul {
    builder: Builder,
}

impl Matmul {
    fn index(&mut self, value: u64) -> Value {
        self.builder.constant(Const::index(value))
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.builder.ty(a);
        self.builder.emit(Op::Binary(op), [a, b], ty)
    }

    fn global(&mut self, block: Axis, thread: Value) -> Value {
        let tile = self.builder.emit(Op::Builtin(Builtin::BlockIdx, block), [], Type::INDEX);
        let size = self.index(TILE);
        let start = self.binary(BinaryOp::Mul, tile, size);
        self.binary(BinaryOp::Add, start, thread)
    }

    /// Offset, and two pairs of bounds, of an element of a matrix.
    fn place(&mut self, memory: MemRef, row: Value, col: Value) -> (Access, Vec<Value>) {
        let extents = [0, 1].map(|dim| match memory {
            MemRef::Param(param) => self.builder.emit(Op::Extent(param, dim), [], Type::INDEX),
            MemRef::Alloc(_) => self.index(TILE),
        });
        let start = self.binary(BinaryOp::Mul, row, extents[1]);
        let offset = self.binary(BinaryOp::Add, start, col);
        let mut access = Access::unchecked(memory);
        access.bounds.extend([0, 1]);
        access.lane_dim = 1;
        (access, vec![offset, row, extents[0], col, extents[1]])
    }

    fn load(&mut self, memory: MemRef, row: Value, col: Value) -> Value {
        let (access, args) = self.place(memory, row, col);
        self.builder.emit(Op::Load(access), args, Scalar::F32.ty())
    }

    fn store(&mut self, memory: MemRef, row: Value, col: Value, value: Value) {
        let (access, mut args) = self.place(memory, row, col);
        args.insert(1, value);
        self.builder.emit_void(Op::Store(access), args);
    }

    fn stage(&mut self) {
        let f32 = Scalar::F32.ty();
        let tensor = |mutable| ParamKind::Tensor { elem: Scalar::F32, rank: 2, mutable, aliased: false };
        let [out, a, b] = [("out", true), ("a", false), ("b", false)]
            .map(|(name, mutable)| MemRef::Param(self.builder.param(name, tensor(mutable))));
        let size = self.builder.param("size", ParamKind::Scalar(Scalar::Index));
        let shared =
            |builder: &mut Builder, name| MemRef::Alloc(builder.alloc(name, Space::Shared, f32, TILE * TILE));
        let (tile_a, tile_b) = (shared(&mut self.builder, "tile_a"), shared(&mut self.builder, "tile_b"));
        let sum = Access::unchecked(MemRef::Alloc(self.builder.alloc("sum", Space::Local, f32, 1)));

        let col_in = self.builder.emit(Op::Builtin(Builtin::ThreadIdx, Axis::X), [], Type::INDEX);
        let row_in = self.builder.emit(Op::Builtin(Builtin::ThreadIdx, Axis::Y), [], Type::INDEX);
        let (col, row) = (self.global(Axis::X, col_in), self.global(Axis::Y, row_in));
        let size = self.builder.emit(Op::Scalar(size), [], Type::INDEX);
        let zero = self.index(0);
        let nothing = self.builder.constant(Const::f32(0.0));
        self.builder.emit_void(Op::Store(sum.clone()), [zero, nothing]);

        let tiles = self.builder.label();
        let (lo, step) = (self.index(0), self.index(1));
        let width = self.index(TILE);
        let hi = self.binary(BinaryOp::Div, size, width);
        let tile = self.builder.open_block(&[Type::INDEX])[0];
        let width = self.index(TILE);
        let start = self.binary(BinaryOp::Mul, tile, width);
        let from_col = self.binary(BinaryOp::Add, start, col_in);
        let element = self.load(a, row, from_col);
        self.store(tile_a, row_in, col_in, element);
        let from_row = self.binary(BinaryOp::Add, start, row_in);
        let element = self.load(b, from_row, col);
        self.store(tile_b, row_in, col_in, element);
        self.builder.emit_void(Op::Barrier, []);
        self.products(&sum, (tile_a, tile_b), (row_in, col_in));
        self.builder.emit_void(Op::Barrier, []);
        let body = self.builder.close_block(Op::Continue(tiles));
        self.builder.emit_structure(Op::For(tiles), [lo, hi, step], vec![body], &[]);

        let below = self.builder.emit(Op::Compare(CompareOp::Lt), [row, size], Type::BOOL);
        self.builder.open_block(&[]);
        let zero = self.index(0);
        let total = self.builder.emit(Op::Load(sum), [zero], f32);
        self.store(out, row, col, total);
        let then = self.builder.close_block(Op::Yield);
        self.builder.open_block(&[]);
        let otherwise = self.builder.close_block(Op::Yield);
        self.builder.emit_structure(Op::If, [below], vec![then, otherwise], &[]);
    }

    /// `for k in 0..TILE { sum += tile_a[row, k] * tile_b[k, col] }`
    fn products(&mut self, sum: &Access, tiles: (MemRef, MemRef), (row, col): (Value, Value)) {
        let label = self.builder.label();
        let (lo, hi, step) = (self.index(0), self.index(TILE), self.index(1));
        let k = self.builder.open_block(&[Type::INDEX])[0];
        let (x, y) = (self.load(tiles.0, row, k), self.load(tiles.1, k, col));
        let product = self.binary(BinaryOp::Mul, x, y);
        let zero = self.index(0);
        let so_far = self.builder.emit(Op::Load(sum.clone()), [zero], Scalar::F32.ty());
        let next = self.binary(BinaryOp::Add, so_far, product);
        self.builder.emit_void(Op::Store(sum.clone()), [zero, next]);
        let body = self.builder.close_block(Op::Continue(label));
        self.builder.emit_structure(Op::For(label), [lo, hi, step], vec![body], &[]);
    }
}

/// The shortest of a few times that `prepare` and `optimize` take, and how many operations there are in the middle.
fn time(kernel: &Kernel) -> (Duration, usize) {
    let mut best = Duration::MAX;
    let mut most = 0;
    for _ in 0..10 {
        let mut kernel = kernel.clone();
        let start = Instant::now();
        pass::prepare(&mut kernel);
        pass::optimize(&mut kernel);
        best = best.min(start.elapsed());
    }
    let mut kernel = kernel.clone();
    pass::prepare(&mut kernel);
    pass::optimize_with(&mut kernel, |_, kernel| most = most.max(kernel.op_count()));
    (best, most)
}

#[test]
fn matmul_is_unrolled_and_contracted() {
    let mut kernel = tiled_matmul();
    pass::prepare(&mut kernel);
    pass::optimize(&mut kernel);
    let mut count = [0; 3];
    kernel.body.visit(&mut |inst| match inst.op {
        Op::MulAdd => count[0] += 1,
        Op::For(_) | Op::Loop(_) => count[1] += 1,
        Op::Binary(BinaryOp::Mul) => count[2] += 1,
        _ => {}
    });
    assert_eq!(count[..2], [TILE as usize, 1], "multiply-adds and loops in\n{kernel}");
    assert!(count[2] <= 4, "{} multiplications in\n{kernel}", count[2]);
    assert_eq!(kernel.allocs.len(), 2, "the sum is a value");
}

#[test]
fn passes_are_fast() {
    if cfg!(debug_assertions) {
        return;
    }
    let (duration, ops) = time(&tiled_matmul());
    println!("tiled matmul: up to {ops} operations, {duration:?}");
    assert!(duration < Duration::from_millis(2), "{duration:?}");

    let large = generate::large_kernel(1, 10_000);
    let (duration, ops) = time(&large);
    println!("random kernel: {} operations, then up to {ops}, {duration:?}", large.op_count());
    assert!(duration < Duration::from_millis(100), "{duration:?}");
}
