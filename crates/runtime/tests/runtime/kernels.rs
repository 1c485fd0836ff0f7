//! Kernels as `#[kernel]` generates them.

use tilewise_runtime::{Launch, LaunchBuilder, TensorArg, TensorArgMut};
use tilewise_stage::compare::{CompareLeft as _, Sides};
use tilewise_stage::control::{If, Loop};
use tilewise_stage::print::{Line, ShowStaged as _, Shown};
use tilewise_stage::tensor::TensorType;
use tilewise_stage::tensor::index::{ReadIndex as _, WriteIndex as _};
use tilewise_stage::{
    AddressSpace, Element, Immut, Num, TileTensor, Val, Var, barrier, block_dim, block_idx, stack_allocation,
    thread_idx,
};

pub(crate) type Read<T, const RANK: usize> = TileTensor<T, RANK, Immut>;
pub(crate) type Write<T, const RANK: usize> = TileTensor<T, RANK>;

/// Number of the thread in the grid, along x.
pub(crate) fn global_x() -> Val<usize> {
    block_dim().x * block_idx().x + thread_idx().x
}

fn when(condition: Val<bool>, body: impl FnOnce()) {
    let mut branch = If::new(condition);
    if branch.then() {
        body();
    }
    branch.otherwise();
    branch.end();
}

/// `if i < output.dim(0) { output[i] = a[i] + b[i] }`
pub(crate) fn add<'k, T: Num>(
    output: impl TensorArgMut<'k, Write<T, 1>>,
    a: impl TensorArg<'k, Read<T, 1>>,
    b: impl TensorArg<'k, Read<T, 1>>,
) -> Launch<'k> {
    let mut builder = LaunchBuilder::new("add");
    let output = builder.tensor_mut::<Write<T, 1>, _>("output", output);
    let a = builder.tensor::<Read<T, 1>, _>("a", a);
    let b = builder.tensor::<Read<T, 1>, _>("b", b);
    builder.describe(move || {
        let output = <Write<T, 1>>::from_param(&output);
        let (a, b) = (<Read<T, 1>>::from_param(&a), <Read<T, 1>>::from_param(&b));
        let i = global_x();
        when((&&&Sides(&i, &output.dim(0))).tw_lt(), || {
            output.write_index(i, a.read_index(i) + b.read_index(i));
        });
    })
}

/// `output[i] = value`, without a guard.
pub(crate) fn fill<'k, T: Element>(output: impl TensorArgMut<'k, Write<T, 1>>, value: T) -> Launch<'k> {
    let mut builder = LaunchBuilder::new("fill");
    let output = builder.tensor_mut::<Write<T, 1>, _>("output", output);
    let value = builder.scalar("value", value);
    builder.describe(move || {
        let output = <Write<T, 1>>::from_param(&output);
        output.write_index(global_x(), value.bind());
    })
}

/// `output[i] = x[i] * factor + n`
pub(crate) fn affine<'k>(
    output: impl TensorArgMut<'k, Write<f32, 1>>,
    x: impl TensorArg<'k, Read<f32, 1>>,
    factor: f32,
    n: f32,
) -> Launch<'k> {
    let mut builder = LaunchBuilder::new("affine");
    let output = builder.tensor_mut::<Write<f32, 1>, _>("output", output);
    let x = builder.tensor::<Read<f32, 1>, _>("x", x);
    let (factor, n) = (builder.scalar("factor", factor), builder.scalar("n", n));
    builder.describe(move || {
        let output = <Write<f32, 1>>::from_param(&output);
        let x = <Read<f32, 1>>::from_param(&x);
        let i = global_x();
        when((&&&Sides(&i, &output.dim(0))).tw_lt(), || {
            output.write_index(i, x.read_index(i) * factor.bind() + n.bind());
        });
    })
}

/// `output[0] = x * K`, with `K` known while the kernel is described.
pub(crate) fn times_constant<'k>(output: impl TensorArgMut<'k, Write<i32, 1>>, x: i32, k: i32) -> Launch<'k> {
    let mut builder = LaunchBuilder::new("times_constant");
    let output = builder.tensor_mut::<Write<i32, 1>, _>("output", output);
    let x = builder.scalar("x", x);
    builder.describe(move || {
        let output = <Write<i32, 1>>::from_param(&output);
        output.write_index(0, x.bind() * k);
    })
}

/// `output[0] = x / y`
pub(crate) fn quotient<'k, T: Num>(output: impl TensorArgMut<'k, Write<T, 1>>, x: T, y: T) -> Launch<'k> {
    let mut builder = LaunchBuilder::new("quotient");
    let output = builder.tensor_mut::<Write<T, 1>, _>("output", output);
    let (x, y) = (builder.scalar("x", x), builder.scalar("y", y));
    builder.describe(move || {
        let output = <Write<T, 1>>::from_param(&output);
        output.write_index(0, x.bind() / y.bind());
    })
}

/// `output[0] = v[[1, 2]]`
pub(crate) fn pick<'k>(
    output: impl TensorArgMut<'k, Write<i32, 1>>,
    v: impl TensorArg<'k, Read<i32, 2>>,
) -> Launch<'k> {
    let mut builder = LaunchBuilder::new("pick");
    let output = builder.tensor_mut::<Write<i32, 1>, _>("output", output);
    let v = builder.tensor::<Read<i32, 2>, _>("v", v);
    builder.describe(move || {
        let output = <Write<i32, 1>>::from_param(&output);
        output.write_index(0, <Read<i32, 2>>::from_param(&v).read_index([1, 2]));
    })
}

/// `output[[i, j]] = input[[i, j]]`, threads along x for `j`, along y for `i`.
pub(crate) fn copy2<'k>(
    output: impl TensorArgMut<'k, Write<i32, 2>>,
    input: impl TensorArg<'k, Read<i32, 2>>,
) -> Launch<'k> {
    let mut builder = LaunchBuilder::new("copy2");
    let output = builder.tensor_mut::<Write<i32, 2>, _>("output", output);
    let input = builder.tensor::<Read<i32, 2>, _>("input", input);
    builder.describe(move || {
        let output = <Write<i32, 2>>::from_param(&output);
        let input = <Read<i32, 2>>::from_param(&input);
        let index = [thread_idx().y, thread_idx().x];
        output.write_index(index, input.read_index(index));
    })
}

/// One product a thread, then a tree of sums in shared memory; for one block of 8 threads.
pub(crate) fn dot_product<'k>(
    output: impl TensorArgMut<'k, Write<f32, 1>>,
    a: impl TensorArg<'k, Read<f32, 1>>,
    b: impl TensorArg<'k, Read<f32, 1>>,
    size: usize,
) -> Launch<'k> {
    const TPB: usize = 8;
    let mut builder = LaunchBuilder::new("dot_product");
    let output = builder.tensor_mut::<Write<f32, 1>, _>("output", output);
    let a = builder.tensor::<Read<f32, 1>, _>("a", a);
    let b = builder.tensor::<Read<f32, 1>, _>("b", b);
    let size = builder.scalar("size", size);
    builder.describe(move || {
        let output = <Write<f32, 1>>::from_param(&output);
        let (a, b) = (<Read<f32, 1>>::from_param(&a), <Read<f32, 1>>::from_param(&b));
        let shared = stack_allocation::<f32, 1>(AddressSpace::Shared, tilewise_layout::row_major([TPB]));
        let (global_i, local_i) = (global_x(), thread_idx().x);
        when((&&&Sides(&global_i, &size.bind())).tw_lt(), || {
            shared.write_index(local_i, a.read_index(global_i) * b.read_index(global_i));
        });
        barrier();
        let stride = Var::new("stride", TPB / 2);
        let mut rounds = Loop::repeat();
        loop {
            if !rounds.test((&&&Sides(&stride.get(), &0)).tw_gt()) {
                break;
            }
            when((&&&Sides(&local_i, &stride.get())).tw_lt(), || {
                let other = shared.read_index(local_i + stride.get());
                shared.write_index(local_i, shared.read_index(local_i) + other);
            });
            barrier();
            stride.set(stride.get() / 2);
            if !rounds.again() {
                break;
            }
        }
        rounds.end();
        when((&&&Sides(&local_i, &0)).tw_eq(), || output.write_index(0, shared.read_index(0)));
    })
}

/// Uses `bytes` bytes of shared memory.
pub(crate) fn shared_memory<'k>(bytes: usize) -> Launch<'k> {
    LaunchBuilder::new("shared_memory").describe(move || {
        let shared = stack_allocation::<u8, 1>(
            AddressSpace::Shared,
            tilewise_layout::row_major([tilewise_layout::fixed(bytes)]),
        );
        shared.write_index(thread_idx().x, 1);
    })
}

/// `println!("thread {i} of {name}")`
pub(crate) fn say(name: &str) -> Launch<'_> {
    LaunchBuilder::new("say").describe(move || {
        let i = global_x();
        let mut line = Line::new();
        line.text("thread ");
        (&Shown(&i)).show(&mut line, Default::default());
        line.text(" of ");
        line.text(name);
        line.print();
    })
}
