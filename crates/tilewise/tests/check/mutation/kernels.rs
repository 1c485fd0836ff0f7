//! Thirty right kernels, small enough for every pair of their accesses to be looked at.

use tilewise::ir::{Const, Kernel, Scalar};
use tilewise::prelude::*;

use super::{Case, Data, reference};

#[kernel]
fn add(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    if i < out.dim(0) {
        out[i] = a[i] + 10;
    }
}

#[kernel]
fn axpy(y: &mut TileTensor<u32, 1>, x: &TileTensor<u32, 1>, factor: u32) {
    let i = block_idx().x * block_dim().x + thread_idx().x;
    if i < y.dim(0) {
        y[i] += factor * x[i];
    }
}

#[kernel]
fn copy_2d(out: &mut TileTensor<u32, 2>, a: &TileTensor<u32, 2>) {
    let (x, y) = (block_idx().x * 4 + thread_idx().x, block_idx().y * 2 + thread_idx().y);
    if y < out.dim(0) && x < out.dim(1) {
        out[[y, x]] = a[[y, x]] * 2;
    }
}

#[kernel]
fn tree(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let (tid, i) = (thread_idx().x, block_idx().x * 8 + thread_idx().x);
    s[tid] = if i < a.dim(0) { a[i] } else { 0 };
    barrier();
    let mut stride = 4;
    while stride > 0 {
        if tid < stride {
            s[tid] += s[tid + stride];
        }
        barrier();
        stride /= 2;
    }
    if tid == 0 {
        out.atomic(0).fetch_add(s[0]);
    }
}

#[kernel]
fn tree_of_maxima(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([4]));
    let tid = thread_idx().x;
    s[tid] = a[block_idx().x * 4 + tid];
    barrier();
    for d in comptime([2usize, 1]) {
        if tid < d {
            s[tid] = max(s[tid], s[tid + d]);
        }
        barrier();
    }
    if tid == 0 {
        out[block_idx().x] = s[0];
    }
}

#[kernel]
fn scan(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([6]));
    let tid = thread_idx().x;
    s[tid] = a[tid];
    barrier();
    let mut off = 1;
    while off < 6 {
        let mut v = 0;
        if tid >= off {
            v = s[tid - off];
        }
        barrier();
        s[tid] += v;
        barrier();
        off *= 2;
    }
    out[tid] = s[tid];
}

#[kernel]
fn scan_two_buffers(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 2>(AddressSpace::Shared, row_major([2, 6]));
    let tid = thread_idx().x;
    s[[0, tid]] = a[tid];
    barrier();
    let (mut off, mut from) = (1, 0usize);
    while off < 6 {
        if tid >= off {
            s[[1 - from, tid]] = s[[from, tid]] + s[[from, tid - off]];
        } else {
            s[[1 - from, tid]] = s[[from, tid]];
        }
        barrier();
        from = 1 - from;
        off *= 2;
    }
    out[tid] = s[[from, tid]];
}

#[kernel]
fn two_buffers(out: &mut TileTensor<usize, 1>) {
    let s = stack_allocation::<usize, 2>(AddressSpace::Shared, row_major([2, 5]));
    let tid = thread_idx().x;
    let mut acc = 0;
    for k in 0..4usize {
        s[[k % 2, tid]] = tid + k;
        barrier();
        acc += s[[k % 2, (tid + 1) % 5]];
    }
    out[tid] = acc;
}

#[kernel]
fn tile_sums(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([4]));
    let tid = thread_idx().x;
    let mut acc = 0;
    for k in 0..3usize {
        s[tid] = a[k * 4 + tid];
        barrier();
        acc += s[(tid + 1) % 4] * s[(tid + 2) % 4];
        barrier();
    }
    out[tid] = acc;
}

#[kernel]
fn rotate(a: &mut TileTensor<u32, 1>) {
    let tid = thread_idx().x;
    let v = a[tid];
    barrier();
    a[(tid + 3) % 7] = v;
}

#[kernel]
fn reverse(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([5]));
    let (tid, base) = (thread_idx().x, block_idx().x * 5);
    s[tid] = a[base + tid];
    barrier();
    out[base + tid] = s[4 - tid];
}

#[kernel]
fn transpose(out: &mut TileTensor<u32, 2>, a: &TileTensor<u32, 2>) {
    let s = stack_allocation::<u32, 2>(AddressSpace::Shared, row_major([3, 3]));
    let (x, y) = (thread_idx().x, thread_idx().y);
    let (bx, by) = (block_idx().x * 3, block_idx().y * 3);
    s[[y, x]] = a[[by + y, bx + x]];
    barrier();
    out[[bx + y, by + x]] = s[[x, y]];
}

#[kernel]
fn matmul(c: &mut TileTensor<u32, 2>, a: &TileTensor<u32, 2>, b: &TileTensor<u32, 2>, n: usize) {
    let a_shared = stack_allocation::<u32, 2>(AddressSpace::Shared, row_major([2, 2]));
    let b_shared = stack_allocation::<u32, 2>(AddressSpace::Shared, row_major([2, 2]));
    let (x, y) = (thread_idx().x, thread_idx().y);
    let (row, col) = (block_idx().y * 2 + y, block_idx().x * 2 + x);
    let mut acc = 0;
    for tile in 0..n.div_ceil(2) {
        a_shared[[y, x]] = 0;
        b_shared[[y, x]] = 0;
        if row < n && tile * 2 + x < n {
            a_shared[[y, x]] = a[[row, tile * 2 + x]];
        }
        if tile * 2 + y < n && col < n {
            b_shared[[y, x]] = b[[tile * 2 + y, col]];
        }
        barrier();
        for k in comptime(0..2usize) {
            acc += a_shared[[y, k]] * b_shared[[k, x]];
        }
        barrier();
    }
    if row < n && col < n {
        c[[row, col]] = acc;
    }
}

#[kernel]
fn histogram(out: &mut TileTensor<u32, 1>, x: &TileTensor<u32, 1>) {
    let hist = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([4]));
    let tid = thread_idx().x;
    let i = block_idx().x * 6 + tid;
    if tid < 4 {
        hist[tid] = 0;
    }
    barrier();
    if i < x.dim(0) {
        hist.atomic(x[i] as usize % 4).fetch_add(1);
    }
    barrier();
    if tid < 4 {
        out.atomic(tid).fetch_add(hist[tid]);
    }
}

#[kernel]
fn stencil(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([6]));
    let tid = thread_idx().x;
    let i = block_idx().x * 4 + tid;
    s[tid + 1] = a[i];
    if tid == 0 {
        s[0] = if i > 0 { a[i - 1] } else { 0 };
    }
    if tid == 3 {
        s[5] = if i + 1 < a.dim(0) { a[i + 1] } else { 0 };
    }
    barrier();
    out[i] = s[tid] + s[tid + 1] + s[tid + 2];
}

#[kernel]
fn extremes(hi: &mut TileTensor<i32, 1>, lo: &mut TileTensor<i32, 1>, a: &TileTensor<i32, 1>) {
    let i = block_idx().x * 4 + thread_idx().x;
    if i < a.dim(0) {
        hi.atomic(0).fetch_max(a[i]);
        lo.atomic(0).fetch_min(a[i]);
    }
}

#[kernel]
fn append(out: &mut TileTensor<u32, 1>, count: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let i = block_idx().x * 4 + thread_idx().x;
    if a[i] % 2 == 0 {
        let slot = count.atomic(0).fetch_add(1);
        out[slot as usize] = a[i];
    }
}

#[kernel]
fn broadcast(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([1]));
    let tid = thread_idx().x;
    for k in 0..2usize {
        if tid == k {
            s[0] = a[block_idx().x * 2 + k];
        }
        barrier();
        out[(block_idx().x * 2 + k) * 4 + tid] = s[0];
        barrier();
    }
}

#[kernel]
fn odd_even_sort(a: &mut TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([6]));
    let tid = thread_idx().x;
    s[tid] = a[tid];
    barrier();
    for round in 0..6usize {
        if tid % 2 == round % 2 && tid < 5 {
            let (x, y) = (s[tid], s[tid + 1]);
            if x > y {
                s[tid] = y;
                s[tid + 1] = x;
            }
        }
        barrier();
    }
    a[tid] = s[tid];
}

#[kernel]
fn up_and_down(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    s[2 * tid] = a[2 * tid];
    s[2 * tid + 1] = a[2 * tid + 1];
    let mut offset = 1;
    let mut active = 4;
    while active > 0 {
        barrier();
        if tid < active {
            s[offset * (2 * tid + 2) - 1] += s[offset * (2 * tid + 1) - 1];
        }
        offset *= 2;
        active /= 2;
    }
    if tid == 0 {
        s[7] = 0;
    }
    active = 1;
    while active < 8 {
        offset /= 2;
        barrier();
        if tid < active {
            let (left, right) = (offset * (2 * tid + 1) - 1, offset * (2 * tid + 2) - 1);
            let v = s[left];
            s[left] = s[right];
            s[right] += v;
        }
        active *= 2;
    }
    barrier();
    out[2 * tid] = s[2 * tid];
    out[2 * tid + 1] = s[2 * tid + 1];
}

#[kernel]
fn by_vectors(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let start = thread_idx().x * 6;
    let n = select(start < a.dim(0), a.dim(0) - start, 0).min(6);
    vectorize(4, n, |width, i| out.store(start + i, a.load(start + i, width) * 3));
}

#[kernel]
fn own_array(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let own = stack_allocation::<u32, 1>(AddressSpace::Local, row_major([3]));
    let tid = thread_idx().x;
    for k in 0..3usize {
        own[k] = a[3 * tid + k];
    }
    for k in 0..3usize {
        out[3 * tid + k] = own[2 - k] + own[(k + tid) % 3];
    }
}

#[kernel]
fn returns_early(out: &mut TileTensor<u32, 1>, n: usize) {
    let s = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([8]));
    let tid = thread_idx().x;
    if tid >= n {
        return;
    }
    s[tid] = tid as u32 + 1;
    barrier();
    out[tid] = s[n - 1 - tid];
}

#[kernel]
fn last_block(
    out: &mut TileTensor<u32, 1>,
    partial: &mut TileTensor<u32, 1>,
    done: &mut TileTensor<u32, 1>,
    x: &TileTensor<u32, 1>,
) {
    if thread_idx().x == 0 {
        partial[block_idx().x] = x[2 * block_idx().x] + x[2 * block_idx().x + 1];
        let before = done.atomic(0).ordering(Ordering::AcqRel).fetch_add(1);
        if before as usize == grid_dim().x - 1 {
            let mut sum = 0;
            for i in 0..grid_dim().x {
                sum += partial[i];
            }
            out[0] = sum;
        }
    }
}

#[kernel]
fn last_block_fences(
    out: &mut TileTensor<u32, 1>,
    partial: &mut TileTensor<u32, 1>,
    done: &mut TileTensor<u32, 1>,
) {
    let tid = thread_idx().x;
    partial[block_idx().x * 2 + tid] = tid as u32 + 1;
    barrier();
    if tid == 0 {
        fence(Scope::Device, Ordering::Release);
        let before = done.atomic(0).fetch_add(1);
        if before == 2 {
            fence(Scope::Device, Ordering::Acquire);
            let mut sum = 0;
            for i in 0..6usize {
                sum += partial[i];
            }
            out[0] = sum;
        }
    }
}

#[kernel]
fn lock(lock: &mut TileTensor<u32, 1>, x: &mut TileTensor<u32, 1>) {
    loop {
        if lock.atomic(0).ordering(Ordering::Acquire).compare_exchange(0, 1) == 0 {
            x[0] += 1;
            lock.atomic(0).ordering(Ordering::Release).store(0);
            break;
        }
    }
}

#[kernel]
fn message(out: &mut TileTensor<u32, 1>, data: &mut TileTensor<u32, 1>, flag: &mut TileTensor<u32, 1>) {
    let tid = thread_idx().x;
    if block_idx().x == 0 {
        data[tid] = 7 + tid as u32;
        barrier();
        if tid == 0 {
            flag.atomic(0).ordering(Ordering::Release).store(1);
        }
    } else {
        if tid == 0 {
            while flag.atomic(0).ordering(Ordering::Acquire).load() == 0 {}
        }
        barrier();
        out[tid] = data[2 - tid];
    }
}

#[kernel]
fn gather(out: &mut TileTensor<u32, 1>, idx: &TileTensor<u32, 1>, a: &TileTensor<u32, 1>) {
    let i = thread_idx().x;
    let j = idx[i] as usize;
    out[i] = if j < a.dim(0) { a[j] } else { 0 };
}

#[kernel]
fn convolution(out: &mut TileTensor<u32, 1>, a: &TileTensor<u32, 1>, weights: &TileTensor<u32, 1>) {
    let w = stack_allocation::<u32, 1>(AddressSpace::Shared, row_major([3]));
    let tid = thread_idx().x;
    if tid < 3 {
        w[tid] = weights[tid];
    }
    barrier();
    let mut acc = 0;
    for k in 0..3usize {
        if tid + k < a.dim(0) {
            acc += a[tid + k] * w[k];
        }
    }
    out[tid] = acc;
}

#[kernel]
fn tiles(out: &mut TileTensor<u32, 2>) {
    let tile = out.tile([2, 3], [block_idx().y, block_idx().x]);
    let (x, y) = (thread_idx().x, thread_idx().y);
    if y < tile.dim(0) && x < tile.dim(1) {
        tile[[y, x]] += (x + 10 * y) as u32;
    }
}

/// A tensor of these extents, with numbers that differ.
fn t(extents: &[u64]) -> Data {
    let count: u64 = extents.iter().product();
    Data::Tensor(Scalar::U32, extents.to_vec(), (0..count).map(|i| (i * 7 + 3) % 23).collect())
}

/// A tensor of these extents, all zero.
fn z(extents: &[u64]) -> Data {
    Data::Tensor(Scalar::U32, extents.to_vec(), vec![0; extents.iter().product::<u64>() as usize])
}

fn typed(data: Data, scalar: Scalar) -> Data {
    match data {
        Data::Tensor(_, extents, numbers) => Data::Tensor(scalar, extents, numbers),
        data => data,
    }
}

/// All of them, with their launches.
pub(crate) fn all() -> Vec<Case> {
    let ctx = DeviceContext::open("cpu").expect("every machine has it");
    let v = || ctx.zeros::<u32, 1>(row_major([1])).expect("memory");
    let i = || ctx.zeros::<i32, 1>(row_major([1])).expect("memory");
    let u = || ctx.zeros::<usize, 1>(row_major([1])).expect("memory");
    let m = || ctx.zeros::<u32, 2>(row_major([1, 1])).expect("memory");
    let mut cases = Vec::new();
    let mut case = |name, launch: Launch<'_>, grid: [u32; 2], block: [u32; 2], args: Vec<Data>| {
        let kernel: Kernel = launch.into_kernel().unwrap_or_else(|error| panic!("{name}: {error}"));
        let three = |[x, y]: [u32; 2]| [x, y, 1];
        let reference = reference::of(name);
        cases.push(Case { name, kernel, grid: three(grid), block: three(block), args, reference });
    };
    let index = |n| Data::Scalar(Const::index(n));
    case("add", add(&mut v(), &v()), [3, 1], [4, 1], vec![z(&[10]), t(&[10])]);
    let factor = Data::Scalar(Const::int(Scalar::U32, 3));
    case("axpy", axpy(&mut v(), &v(), 3), [2, 1], [4, 1], vec![t(&[7]), t(&[7]), factor]);
    case("copy_2d", copy_2d(&mut m(), &m()), [2, 2], [4, 2], vec![z(&[3, 6]), t(&[3, 6])]);
    case("tree", tree(&mut v(), &v()), [2, 1], [8, 1], vec![z(&[1]), t(&[13])]);
    case("tree_of_maxima", tree_of_maxima(&mut v(), &v()), [2, 1], [4, 1], vec![z(&[2]), t(&[8])]);
    case("scan", scan(&mut v(), &v()), [1, 1], [6, 1], vec![z(&[6]), t(&[6])]);
    case("scan_two_buffers", scan_two_buffers(&mut v(), &v()), [1, 1], [6, 1], vec![z(&[6]), t(&[6])]);
    case("two_buffers", two_buffers(&mut u()), [1, 1], [5, 1], vec![typed(z(&[5]), Scalar::Index)]);
    case("tile_sums", tile_sums(&mut v(), &v()), [1, 1], [4, 1], vec![z(&[4]), t(&[12])]);
    case("rotate", rotate(&mut v()), [1, 1], [7, 1], vec![t(&[7])]);
    case("reverse", reverse(&mut v(), &v()), [2, 1], [5, 1], vec![z(&[10]), t(&[10])]);
    case("transpose", transpose(&mut m(), &m()), [2, 1], [3, 3], vec![z(&[6, 3]), t(&[3, 6])]);
    case(
        "matmul",
        matmul(&mut m(), &m(), &m(), 3),
        [2, 2],
        [2, 2],
        vec![z(&[3, 3]), t(&[3, 3]), t(&[3, 3]), index(3)],
    );
    case("histogram", histogram(&mut v(), &v()), [2, 1], [6, 1], vec![z(&[4]), t(&[11])]);
    case("stencil", stencil(&mut v(), &v()), [2, 1], [4, 1], vec![z(&[8]), t(&[8])]);
    let signed = |data| typed(data, Scalar::I32);
    let three = vec![signed(z(&[1])), signed(z(&[1])), signed(t(&[7]))];
    case("extremes", extremes(&mut i(), &mut i(), &i()), [2, 1], [4, 1], three);
    case("append", append(&mut v(), &mut v(), &v()), [2, 1], [4, 1], vec![z(&[4]), z(&[1]), t(&[8])]);
    case("broadcast", broadcast(&mut v(), &v()), [2, 1], [4, 1], vec![z(&[16]), t(&[4])]);
    case("odd_even_sort", odd_even_sort(&mut v()), [1, 1], [6, 1], vec![t(&[6])]);
    case("up_and_down", up_and_down(&mut v(), &v()), [1, 1], [4, 1], vec![z(&[8]), t(&[8])]);
    case("by_vectors", by_vectors(&mut v(), &v()), [1, 1], [4, 1], vec![z(&[20]), t(&[20])]);
    case("own_array", own_array(&mut v(), &v()), [1, 1], [3, 1], vec![z(&[9]), t(&[9])]);
    case("returns_early", returns_early(&mut v(), 5), [1, 1], [8, 1], vec![z(&[5]), index(5)]);
    let four = vec![z(&[1]), z(&[3]), z(&[1]), t(&[6])];
    case("last_block", last_block(&mut v(), &mut v(), &mut v(), &v()), [3, 1], [2, 1], four);
    let three = vec![z(&[1]), z(&[6]), z(&[1])];
    case("last_block_fences", last_block_fences(&mut v(), &mut v(), &mut v()), [3, 1], [2, 1], three);
    case("lock", lock(&mut v(), &mut v()), [2, 1], [3, 1], vec![z(&[1]), z(&[1])]);
    let three = vec![z(&[3]), z(&[3]), z(&[1])];
    case("message", message(&mut v(), &mut v(), &mut v()), [2, 1], [3, 1], three);
    case("gather", gather(&mut v(), &v(), &v()), [1, 1], [6, 1], vec![z(&[6]), t(&[6]), t(&[12])]);
    case("convolution", convolution(&mut v(), &v(), &v()), [1, 1], [6, 1], vec![z(&[6]), t(&[8]), t(&[3])]);
    case("tiles", tiles(&mut m()), [2, 2], [3, 2], vec![t(&[3, 5])]);
    cases
}
