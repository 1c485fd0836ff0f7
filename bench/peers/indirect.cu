// Indices that come from memory: a gather, a histogram, sums of sparse rows. No index is checked.

#include "bench.cuh"

namespace {

constexpr int THREADS = 256;
constexpr int BINS = 256;
// Elements that a thread of the histogram counts.
constexpr int COUNTED = 16;
// Entries of a sparse row: 0 to this, half of it on average.
constexpr int MOST = 32;

__global__ void gather(float* __restrict__ output, const float* __restrict__ table, const unsigned* __restrict__ index, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = table[index[i]];
}

// How often each number is in `data`: counted in shared memory, block by block, then added up. Blocks that are whole need not
// look where `data` ends: they have all their loads under way together.
template <bool WHOLE>
__device__ __forceinline__ void count(unsigned* __restrict__ counts, const unsigned* __restrict__ data, int n) {
    __shared__ unsigned bins[BINS];
    const int thread = threadIdx.x;
    bins[thread] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < COUNTED; k++) {
        const int i = THREADS * (COUNTED * blockIdx.x + k) + thread;
        if (WHOLE || i < n) atomicAdd(&bins[data[i]], 1u);
    }
    __syncthreads();
    atomicAdd(&counts[thread], bins[thread]);
}

__global__ void histogram(unsigned* __restrict__ counts, const unsigned* __restrict__ data, int n) {
    count<false>(counts, data, n);
}

// `n` is a multiple of what a block counts.
__global__ void histogram_whole(unsigned* __restrict__ counts, const unsigned* __restrict__ data, int n) {
    count<true>(counts, data, n);
}

// Sums of the rows of a sparse matrix times a vector, a thread for each row. Row `r` has the entries from `starts[r]` up
// to `starts[r + 1]`: each a value and a column.
__global__ void sparse_rows(float* __restrict__ output, const unsigned* __restrict__ starts, const unsigned* __restrict__ columns,
                            const float* __restrict__ values, const float* __restrict__ x, int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    const unsigned end = starts[row + 1];
    for (unsigned k = starts[row]; k < end; k++) sum += values[k] * x[columns[k]];
    output[row] = sum;
}

// Fills with numbers from 0 to below `end`.
__global__ void fill_below(unsigned* out, unsigned end, uint64_t seed, long long n) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
        out[i] = random_below(end, seed, i);
    }
}

__global__ void count_wrong_gather(const float* found, unsigned len, long long n, unsigned long long* wrong) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
        if (found[i] != random_real(1, random_below(len, 2, i))) atomicAdd(wrong, 1ull);
    }
}

// The values are whole numbers, so that the sums are exact in whatever order.
__global__ void count_wrong_rows(const float* found, const unsigned* starts, unsigned len, int rows, unsigned long long* wrong) {
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += gridDim.x * blockDim.x) {
        float sum = 0.0f;
        for (unsigned k = starts[row]; k < starts[row + 1]; k++) {
            sum += random_whole(6, k) * random_whole(7, random_below(len, 5, k));
        }
        if (found[row] != sum) atomicAdd(wrong, 1ull);
    }
}

// Blocks for so many threads.
int blocks(int threads) {
    return (threads + THREADS - 1) / THREADS;
}

// Has a kernel count wrong elements; ends the program if there are some.
template <typename Count>
void check(const char* name, const Settings& settings, Count count) {
    DeviceArray<unsigned long long> wrong(1);
    CHECK_CUDA(cudaMemsetAsync(wrong.get(), 0, wrong.bytes(), settings.stream));
    count(wrong.get());
    CHECK_CUDA(cudaGetLastError());
    const unsigned long long found = wrong.to_host()[0];
    CHECK_RESULT(found == 0, "indirect %s: %llu elements", name, found);
}

void bench_gather(const Settings& settings, int n, unsigned len) {
    DeviceArray<float> table(len), output(n);
    DeviceArray<unsigned> index(n);
    fill_real(table, 1, settings);
    fill_below<<<2048, 256, 0, settings.stream>>>(index.get(), len, 2, n);
    CHECK_CUDA(cudaGetLastError());
    fill_nan(output, settings);
    const Timing timing = measure(settings, [&] {
        gather<<<blocks(n), THREADS, 0, settings.stream>>>(output.get(), table.get(), index.get(), n);
    });
    check("gather", settings, [&](unsigned long long* wrong) {
        count_wrong_gather<<<2048, 256, 0, settings.stream>>>(output.get(), len, n, wrong);
    });
    print_result("indirect", "cuda", "gather", timing, 8.0 * n + 4.0 * len, 0, "exact");
}

void bench_histogram(const Settings& settings, int n) {
    DeviceArray<unsigned> data(n), counts(BINS);
    fill_below<<<2048, 256, 0, settings.stream>>>(data.get(), BINS, 3, n);
    CHECK_CUDA(cudaGetLastError());
    const auto kernel = n % (THREADS * COUNTED) == 0 ? histogram_whole : histogram;
    const int grid = (n + THREADS * COUNTED - 1) / (THREADS * COUNTED);
    // Setting the counts to zero is part of the work.
    const Timing timing = measure(settings, [&] {
        CHECK_CUDA(cudaMemsetAsync(counts.get(), 0, counts.bytes(), settings.stream));
        kernel<<<grid, THREADS, 0, settings.stream>>>(counts.get(), data.get(), n);
    });
    std::vector<unsigned> expected(BINS);
    for (int i = 0; i < n; i++) expected[random_below(BINS, 3, i)]++;
    const std::vector<unsigned> found = counts.to_host();
    for (int bin = 0; bin < BINS; bin++) {
        CHECK_RESULT(found[bin] == expected[bin], "indirect histogram: %u in bin %d instead of %u", found[bin], bin, expected[bin]);
    }
    print_result("indirect", "cuda", "histogram", timing, 4.0 * n, 0, "exact");
}

void bench_sparse_rows(const Settings& settings, int n, unsigned len) {
    const int rows = std::max(n / (MOST / 2), 1);
    std::vector<unsigned> host_starts(rows + 1);
    for (int row = 0; row < rows; row++) host_starts[row + 1] = host_starts[row] + random_below(MOST + 1, 4, row);
    const unsigned entries = host_starts[rows];
    DeviceArray<unsigned> starts(rows + 1), columns(entries);
    DeviceArray<float> values(entries), x(len), output(rows);
    CHECK_CUDA(cudaMemcpy(starts.get(), host_starts.data(), starts.bytes(), cudaMemcpyHostToDevice));
    fill_below<<<2048, 256, 0, settings.stream>>>(columns.get(), len, 5, entries);
    CHECK_CUDA(cudaGetLastError());
    fill_whole(values, 6, settings);
    fill_whole(x, 7, settings);
    fill_nan(output, settings);
    const Timing timing = measure(settings, [&] {
        sparse_rows<<<blocks(rows), THREADS, 0, settings.stream>>>(output.get(), starts.get(), columns.get(), values.get(),
                                                                   x.get(), rows);
    });
    check("sparse rows", settings, [&](unsigned long long* wrong) {
        count_wrong_rows<<<2048, 256, 0, settings.stream>>>(output.get(), starts.get(), len, rows, wrong);
    });
    print_result("indirect", "cuda", "sparse rows", timing, 8.0 * entries + 8.0 * rows + 4.0 * len, 2.0 * entries, "exact");
}

}  // namespace

void bench_indirect(const Settings& settings) {
    const int n = static_cast<int>(settings.size);
    // A table that is small enough for the second-level cache.
    const unsigned len = std::min(n, 1 << 20);
    bench_gather(settings, n, len);
    bench_histogram(settings, n);
    bench_sparse_rows(settings, n, len);
}
