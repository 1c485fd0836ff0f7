// The launch itself: an empty kernel, many times in a row, by the driver and by the runtime.

#include <cuda.h>

#include <chrono>

#include "bench.cuh"

#define CHECK_DRIVER(call)                                                                            \
    do {                                                                                              \
        const CUresult status_ = (call);                                                              \
        if (status_ != CUDA_SUCCESS) {                                                                \
            std::fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, static_cast<int>(status_)); \
            std::exit(1);                                                                             \
        }                                                                                             \
    } while (0)

namespace {

__global__ void empty() {}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Times batches of launches; prints the time of one, to enqueue it and until all have run.
template <typename Launch>
void bench(const char* by, const Settings& settings, Launch launch) {
    const int warm_up = 2;
    std::vector<double> enqueue, whole;
    for (int round = 0; round < warm_up + settings.repeats; round++) {
        CHECK_CUDA(cudaStreamSynchronize(settings.stream));
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < settings.batch; i++) launch();
        const double enqueued = seconds_since(start);
        CHECK_CUDA(cudaStreamSynchronize(settings.stream));
        if (round >= warm_up) {
            enqueue.push_back(enqueued / settings.batch);
            whole.push_back(seconds_since(start) / settings.batch);
        }
    }
    print_result("launch", by, "enqueue", summary(enqueue), 0, 0, "");
    print_result("launch", by, "with synchronize", summary(whole), 0, 0, "");
}

}  // namespace

void bench_launch(const Settings& settings) {
    cudaFunction_t function = nullptr;
    CHECK_CUDA(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(empty)));
    bench("driver", settings, [&] {
        CHECK_DRIVER(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, settings.stream, nullptr, nullptr));
    });
    bench("runtime", settings, [&] {
        empty<<<1, 1, 0, settings.stream>>>();
        CHECK_CUDA(cudaGetLastError());
    });
}
