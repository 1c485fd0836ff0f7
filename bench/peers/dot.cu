// Dot products: the tutorial's tree, vector loads, CUB, cuBLAS.
//
// The elements are whole numbers from -3 to 3, so that every sum is exact and every result has to be equal.

#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include "bench.cuh"
#include "cublas.cuh"

namespace {

constexpr int THREADS = 256;
constexpr int IN_FLIGHT = 4;

// Adds the values of a block's threads by a tree in shared memory, and the sum to `output[0]`.
__device__ void add_block_sum(float* output, float value) {
    __shared__ float shared[THREADS];
    const int i = threadIdx.x;
    shared[i] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (i < stride) shared[i] += shared[i + stride];
        __syncthreads();
    }
    if (i == 0) atomicAdd(output, shared[0]);
}

// One product a thread.
__global__ void dot_tree(float* __restrict__ output, const float* __restrict__ a, const float* __restrict__ b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    add_block_sum(output, i < n ? a[i] * b[i] : 0.0f);
}

// Few blocks, which go through the inputs together, a grid at a time. `n` is a multiple of 4.
__global__ void dot_vectors(float* __restrict__ output, const float4* __restrict__ a, const float4* __restrict__ b, int count) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int threads = gridDim.x * blockDim.x;
    const int rounds = count / (threads * IN_FLIGHT);
    float4 sums[IN_FLIGHT] = {};
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++) {
            const int i = (round * IN_FLIGHT + k) * threads + thread;
            const float4 x = a[i], y = b[i];
            sums[k].x += x.x * y.x;
            sums[k].y += x.y * y.y;
            sums[k].z += x.z * y.z;
            sums[k].w += x.w * y.w;
        }
    }
    for (int i = rounds * IN_FLIGHT * threads + thread; i < count; i += threads) {
        const float4 x = a[i], y = b[i];
        sums[0].x += x.x * y.x;
        sums[0].y += x.y * y.y;
        sums[0].z += x.z * y.z;
        sums[0].w += x.w * y.w;
    }
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < IN_FLIGHT; k++) sum += (sums[k].x + sums[k].y) + (sums[k].z + sums[k].w);
    add_block_sum(output, sum);
}

// The exact sum, in integers.
__global__ void dot_exact(long long* output, long long n) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    long long sum = 0;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
        sum += static_cast<long long>(random_whole(1, i)) * static_cast<long long>(random_whole(2, i));
    }
    atomicAdd(reinterpret_cast<unsigned long long*>(output), static_cast<unsigned long long>(sum));
}

struct Product {
    __host__ __device__ float operator()(const thrust::tuple<float, float>& pair) const {
        return thrust::get<0>(pair) * thrust::get<1>(pair);
    }
};

// The dot product of SIMD values number `i`.
struct VectorProduct {
    const float4* a;
    const float4* b;

    __host__ __device__ float operator()(int i) const {
        const float4 x = a[i], y = b[i];
        return (x.x * y.x + x.y * y.y) + (x.z * y.z + x.w * y.w);
    }
};

// CUB's sum of what an iterator gives. Its temporary memory is allocated before it is timed.
template <typename Input>
Timing cub_sum(Input input, float* output, int count, const Settings& settings) {
    size_t bytes = 0;
    CHECK_CUDA(cub::DeviceReduce::Sum(nullptr, bytes, input, output, count, settings.stream));
    DeviceArray<unsigned char> temporary(std::max<size_t>(bytes, 1));
    return measure(settings, [&] {
        size_t size = bytes;
        CHECK_CUDA(cub::DeviceReduce::Sum(temporary.get(), size, input, output, count, settings.stream));
    });
}

}  // namespace

void bench_dot(const Settings& settings) {
    const int n = static_cast<int>(settings.size);
    DeviceArray<float> a(n), b(n), output(1);
    DeviceArray<long long> exact(1);
    fill_whole(a, 1, settings);
    fill_whole(b, 2, settings);
    CHECK_CUDA(cudaMemsetAsync(exact.get(), 0, exact.bytes(), settings.stream));
    dot_exact<<<2048, 256, 0, settings.stream>>>(exact.get(), n);
    CHECK_CUDA(cudaGetLastError());
    const float expected = static_cast<float>(exact.to_host()[0]);
    const float4* a4 = reinterpret_cast<const float4*>(a.get());
    const float4* b4 = reinterpret_cast<const float4*>(b.get());

    const auto finish = [&](const char* by, const char* name, Timing timing) {
        const float found = output.to_host()[0];
        CHECK_RESULT(found == expected, "dot %s/%s: %.9g instead of %.9g", by, name, found, expected);
        print_result("dot", by, name, timing, 2.0 * a.bytes(), 2.0 * n, "exact");
        fill_nan(output, settings);
    };
    // Setting the sum to zero is part of the work of what adds to it.
    const auto clear = [&] {
        CHECK_CUDA(cudaMemsetAsync(output.get(), 0, output.bytes(), settings.stream));
    };

    finish("cuda", "tree", measure(settings, [&] {
        clear();
        dot_tree<<<(n + THREADS - 1) / THREADS, THREADS, 0, settings.stream>>>(output.get(), a.get(), b.get(), n);
    }));
    finish("cuda", "vectors", measure(settings, [&] {
        clear();
        dot_vectors<<<settings.dot_blocks, THREADS, 0, settings.stream>>>(output.get(), a4, b4, n / 4);
    }));

    const float* a_begin = a.get();
    const float* b_begin = b.get();
    const auto pairs = thrust::make_zip_iterator(thrust::make_tuple(a_begin, b_begin));
    finish("cub", "sum", cub_sum(thrust::make_transform_iterator(pairs, Product{}), output.get(), n, settings));
    const auto numbers = thrust::make_counting_iterator<int>(0);
    finish("cub", "sum of vectors",
           cub_sum(thrust::make_transform_iterator(numbers, VectorProduct{a4, b4}), output.get(), n / 4, settings));

    cublasHandle_t handle;
    CHECK_CUBLAS(cublasCreate(&handle));
    CHECK_CUBLAS(cublasSetStream(handle, settings.stream));
    CHECK_CUBLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    finish("cublas", "sdot", measure(settings, [&] {
        CHECK_CUBLAS(cublasSdot(handle, n, a.get(), 1, b.get(), 1, output.get()));
    }));
    CHECK_CUBLAS(cublasDestroy(handle));
}
