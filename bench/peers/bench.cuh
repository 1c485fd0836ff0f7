// What the peers have in common: arguments, error checks, timing by events, random inputs, results as lines of JSON.
//
// The method is that of bench/src/timing.rs and bench/src/check.rs: the same inputs, the same warm-up, events between
// runs that are enqueued one after the other.

#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// Ends the program with a message if a call of the CUDA runtime fails.
#define CHECK_CUDA(call)                                                                                \
    do {                                                                                                \
        const cudaError_t status_ = (call);                                                             \
        if (status_ != cudaSuccess) {                                                                   \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
            std::exit(1);                                                                               \
        }                                                                                               \
    } while (0)

// Ends the program with a message if a result is wrong.
#define CHECK_RESULT(condition, ...)                                \
    do {                                                            \
        if (!(condition)) {                                         \
            std::fprintf(stderr, "wrong result: " __VA_ARGS__);     \
            std::fprintf(stderr, "\n");                             \
            std::exit(1);                                           \
        }                                                           \
    } while (0)

// What the command line asks for.
struct Settings {
    // Elements of a vector, a multiple of 128.
    long long size = 1LL << 28;
    // Rows and columns of a matrix, a multiple of 128.
    int matrix = 4096;
    // How often each kernel is timed.
    int repeats = 30;
    // Launches in a row where the launch itself is timed.
    int batch = 1000;
    // Blocks of the dot product that goes through its inputs a grid at a time.
    int dot_blocks = 1584;
    // Where everything is enqueued.
    cudaStream_t stream = nullptr;
};

// The benchmarks, a file each.
void bench_copy(const Settings& settings);
void bench_dot(const Settings& settings);
void bench_add(const Settings& settings);
void bench_matmul(const Settings& settings);
void bench_indirect(const Settings& settings);
void bench_launch(const Settings& settings);

// Memory of the device.
template <typename T>
class DeviceArray {
public:
    explicit DeviceArray(size_t count) : count_(count) {
        CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
    }

    ~DeviceArray() { cudaFree(data_); }

    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    T* get() const { return data_; }

    size_t bytes() const { return count_ * sizeof(T); }

    // A copy on the host, after all that was enqueued.
    std::vector<T> to_host() const {
        std::vector<T> host(count_);
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK_CUDA(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return host;
    }

private:
    T* data_ = nullptr;
    size_t count_;
};

// Bits that look random, from a seed and an index: SplitMix64.
__host__ __device__ inline uint64_t random_bits(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

// A number from -1 to below 1, a multiple of 2^-23.
__host__ __device__ inline float random_real(uint64_t seed, uint64_t index) {
    return (static_cast<float>(random_bits(seed, index) >> 40) - 8388608.0f) / 8388608.0f;
}

// A whole number from -3 to 3.
__host__ __device__ inline float random_whole(uint64_t seed, uint64_t index) {
    return static_cast<float>((random_bits(seed, index) >> 32) % 7) - 3.0f;
}

// A number from 0 to below `end`.
__host__ __device__ inline unsigned random_below(unsigned end, uint64_t seed, uint64_t index) {
    return static_cast<unsigned>((random_bits(seed, index) >> 32) % end);
}

template <bool WHOLE>
static __global__ void fill_random(float* out, uint64_t seed, long long n) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
        out[i] = WHOLE ? random_whole(seed, i) : random_real(seed, i);
    }
}

// Fills with real numbers from -1 to below 1.
inline void fill_real(const DeviceArray<float>& array, uint64_t seed, const Settings& settings) {
    fill_random<false><<<2048, 256, 0, settings.stream>>>(array.get(), seed, array.bytes() / sizeof(float));
    CHECK_CUDA(cudaGetLastError());
}

// Fills with whole numbers from -3 to 3.
inline void fill_whole(const DeviceArray<float>& array, uint64_t seed, const Settings& settings) {
    fill_random<true><<<2048, 256, 0, settings.stream>>>(array.get(), seed, array.bytes() / sizeof(float));
    CHECK_CUDA(cudaGetLastError());
}

// Fills with NaN, so that no kernel finds the result of the one before it.
inline void fill_nan(const DeviceArray<float>& array, const Settings& settings) {
    CHECK_CUDA(cudaMemsetAsync(array.get(), 0xff, array.bytes(), settings.stream));
}

// Times of repeated runs, in seconds.
struct Timing {
    double median;
    double min;
};

// Median and minimum of times.
inline Timing summary(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const size_t n = times.size();
    return {(times[(n - 1) / 2] + times[n / 2]) / 2, times[0]};
}

// Times runs that are enqueued one after the other: from the end of one to the end of the next.
template <typename Run>
Timing measure(const Settings& settings, Run run) {
    const int warm_up = 3, lead = 2;
    for (int i = 0; i < warm_up; i++) run();
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaStreamSynchronize(settings.stream));
    std::vector<cudaEvent_t> events(settings.repeats + 1);
    for (cudaEvent_t& event : events) CHECK_CUDA(cudaEventCreate(&event));
    for (int i = 0; i < lead; i++) run();
    CHECK_CUDA(cudaEventRecord(events[0], settings.stream));
    for (int i = 0; i < settings.repeats; i++) {
        run();
        CHECK_CUDA(cudaEventRecord(events[i + 1], settings.stream));
    }
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaStreamSynchronize(settings.stream));
    std::vector<double> times;
    for (int i = 0; i < settings.repeats; i++) {
        float milliseconds = 0;
        CHECK_CUDA(cudaEventElapsedTime(&milliseconds, events[i], events[i + 1]));
        times.push_back(milliseconds * 1e-3);
    }
    for (cudaEvent_t event : events) CHECK_CUDA(cudaEventDestroy(event));
    return summary(times);
}

// Prints a result: a line of JSON with the fields of bench/src/report.rs. `bytes` and `flops` are 0 where they say nothing.
inline void print_result(const char* benchmark, const char* by, const char* name, Timing timing, double bytes,
                         double flops, const std::string& check) {
    std::printf("{\"benchmark\":\"%s\",\"by\":\"%s\",\"name\":\"%s\",\"seconds_median\":%.9g,\"seconds_min\":%.9g,"
                "\"bytes\":%.0f,\"flops\":%.0f,\"check\":\"%s\"}\n",
                benchmark, by, name, timing.median, timing.min, bytes, flops, check.c_str());
    std::fflush(stdout);
}
