// Element by element sums: one element a thread, one float4 a thread, and the patterns of puzzle 23.

#include "bench.cuh"

namespace {

constexpr int THREADS = 256;
// Elements of a tile, or float4 of a chunk, that one thread works on.
constexpr int TILE = 32;

__device__ float4 sum(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void add_scalar(float* __restrict__ out, const float* __restrict__ a, const float* __restrict__ b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

__global__ void add_vectors(float4* __restrict__ out, const float4* __restrict__ a, const float4* __restrict__ b, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = sum(a[i], b[i]);
}

// A thread adds a tile, element by element.
__global__ void add_tiled(float* __restrict__ out, const float* __restrict__ a, const float* __restrict__ b, int n) {
    const int start = (blockIdx.x * blockDim.x + threadIdx.x) * TILE;
    const int end = min(start + TILE, n);
    for (int i = start; i < end; i++) out[i] = a[i] + b[i];
}

// A thread adds a chunk of TILE float4. `count` is a multiple of TILE.
__global__ void add_manual_vectorized(float4* __restrict__ out, const float4* __restrict__ a, const float4* __restrict__ b, int count) {
    const int start = (blockIdx.x * blockDim.x + threadIdx.x) * TILE;
    if (start >= count) return;
#pragma unroll
    for (int k = 0; k < TILE; k++) out[start + k] = sum(a[start + k], b[start + k]);
}

// A thread adds a tile, in float4 as far as they fit.
__global__ void add_vectorized(float* __restrict__ out, const float* __restrict__ a, const float* __restrict__ b, int n) {
    const int start = (blockIdx.x * blockDim.x + threadIdx.x) * TILE;
    const int end = min(start + TILE, n);
    int i = start;
    for (; i + 4 <= end; i += 4) {
        *reinterpret_cast<float4*>(out + i) =
            sum(*reinterpret_cast<const float4*>(a + i), *reinterpret_cast<const float4*>(b + i));
    }
    for (; i < end; i++) out[i] = a[i] + b[i];
}

__global__ void count_wrong(const float* found, long long n, unsigned long long* wrong) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
        if (found[i] != random_real(1, i) + random_real(2, i)) atomicAdd(wrong, 1ull);
    }
}

// Blocks for so many threads.
int blocks(int threads) {
    return (threads + THREADS - 1) / THREADS;
}

}  // namespace

void bench_add(const Settings& settings) {
    const int n = static_cast<int>(settings.size);
    const int count = n / 4;
    DeviceArray<float> a(n), b(n), out(n);
    DeviceArray<unsigned long long> wrong(1);
    fill_real(a, 1, settings);
    fill_real(b, 2, settings);
    const float4* a4 = reinterpret_cast<const float4*>(a.get());
    const float4* b4 = reinterpret_cast<const float4*>(b.get());
    float4* out4 = reinterpret_cast<float4*>(out.get());

    const auto bench = [&](const char* name, auto launch) {
        fill_nan(out, settings);
        const Timing timing = measure(settings, launch);
        CHECK_CUDA(cudaMemsetAsync(wrong.get(), 0, wrong.bytes(), settings.stream));
        count_wrong<<<2048, 256, 0, settings.stream>>>(out.get(), n, wrong.get());
        CHECK_CUDA(cudaGetLastError());
        const unsigned long long found = wrong.to_host()[0];
        CHECK_RESULT(found == 0, "add %s: %llu elements", name, found);
        print_result("add", "cuda", name, timing, 3.0 * a.bytes(), n, "exact");
    };
    bench("scalar", [&] {
        add_scalar<<<blocks(n), THREADS, 0, settings.stream>>>(out.get(), a.get(), b.get(), n);
    });
    bench("vectors", [&] {
        add_vectors<<<blocks(count), THREADS, 0, settings.stream>>>(out4, a4, b4, count);
    });
    bench("tiled", [&] {
        add_tiled<<<blocks(n / TILE), THREADS, 0, settings.stream>>>(out.get(), a.get(), b.get(), n);
    });
    bench("manual_vectorized", [&] {
        add_manual_vectorized<<<blocks(count / TILE), THREADS, 0, settings.stream>>>(out4, a4, b4, count);
    });
    bench("vectorized", [&] {
        add_vectorized<<<blocks(n / TILE), THREADS, 0, settings.stream>>>(out.get(), a.get(), b.get(), n);
    });
}
