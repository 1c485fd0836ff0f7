// The copy: device memory to device memory, by the driver and by a kernel.

#include "bench.cuh"

namespace {

__global__ void copy_vectors(float4* out, const float4* in, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i];
}

__global__ void count_wrong(const float* found, long long n, unsigned long long* wrong) {
    const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += threads) {
        if (found[i] != random_real(1, i)) atomicAdd(wrong, 1ull);
    }
}

void check(const DeviceArray<float>& out, const char* name, const Settings& settings) {
    DeviceArray<unsigned long long> wrong(1);
    CHECK_CUDA(cudaMemsetAsync(wrong.get(), 0, wrong.bytes(), settings.stream));
    count_wrong<<<2048, 256, 0, settings.stream>>>(out.get(), settings.size, wrong.get());
    CHECK_CUDA(cudaGetLastError());
    const unsigned long long count = wrong.to_host()[0];
    CHECK_RESULT(count == 0, "%s: %llu elements", name, count);
}

}  // namespace

void bench_copy(const Settings& settings) {
    DeviceArray<float> in(settings.size), out(settings.size);
    fill_real(in, 1, settings);
    const double bytes = 2.0 * in.bytes();

    fill_nan(out, settings);
    Timing timing = measure(settings, [&] {
        CHECK_CUDA(cudaMemcpyAsync(out.get(), in.get(), in.bytes(), cudaMemcpyDeviceToDevice, settings.stream));
    });
    check(out, "memcpy", settings);
    print_result("copy", "cuda", "memcpy", timing, bytes, 0, "exact");

    fill_nan(out, settings);
    const int count = static_cast<int>(settings.size / 4);
    timing = measure(settings, [&] {
        copy_vectors<<<(count + 255) / 256, 256, 0, settings.stream>>>(
            reinterpret_cast<float4*>(out.get()), reinterpret_cast<const float4*>(in.get()), count);
    });
    check(out, "vectors", settings);
    print_result("copy", "cuda", "vectors", timing, bytes, 0, "exact");
}
