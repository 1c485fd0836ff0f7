// The peers of tilewise-bench: the same algorithms in CUDA C++, and NVIDIA's libraries.
//
//     nvcc -O3 -std=c++17 -arch=native bench/peers/*.cu -lcublas -lcuda -o tilewise-peers
//     ./tilewise-peers dot --size 268435456
//
// Prints a line of JSON for each kernel. tilewise-bench runs this program, and puts its results beside its own.

#include <cstring>

#include "bench.cuh"

namespace {

[[noreturn]] void usage() {
    std::fprintf(stderr, "usage: tilewise-peers copy|dot|add|matmul|indirect|launch|first-launch [--size N] [--matrix N] "
                         "[--repeats N] [--batch N] [--dot-blocks N]\n");
    std::exit(2);
}

long long number(const char* text) {
    char* end = nullptr;
    const long long value = std::strtoll(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value <= 0) usage();
    return value;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2 || argc % 2 != 0) usage();
    Settings settings;
    for (int i = 2; i < argc; i += 2) {
        const long long value = number(argv[i + 1]);
        if (std::strcmp(argv[i], "--size") == 0) {
            settings.size = value;
        } else if (std::strcmp(argv[i], "--matrix") == 0) {
            settings.matrix = static_cast<int>(value);
        } else if (std::strcmp(argv[i], "--repeats") == 0) {
            settings.repeats = static_cast<int>(value);
        } else if (std::strcmp(argv[i], "--batch") == 0) {
            settings.batch = static_cast<int>(value);
        } else if (std::strcmp(argv[i], "--dot-blocks") == 0) {
            settings.dot_blocks = static_cast<int>(value);
        } else {
            usage();
        }
    }
    if (settings.size % 128 != 0 || settings.size >= (1LL << 31) || settings.matrix % 128 != 0 ||
        settings.matrix > 32768) {
        std::fprintf(stderr, "--size and --matrix are multiples of 128, --size below 2^31, --matrix at most 32768\n");
        return 2;
    }
    const std::string benchmark = argv[1];
    // Nobody but tilewise compiles at the first launch.
    if (benchmark == "first-launch") return 0;
    CHECK_CUDA(cudaStreamCreateWithFlags(&settings.stream, cudaStreamNonBlocking));
    if (benchmark == "copy") {
        bench_copy(settings);
    } else if (benchmark == "dot") {
        bench_dot(settings);
    } else if (benchmark == "add") {
        bench_add(settings);
    } else if (benchmark == "matmul") {
        bench_matmul(settings);
    } else if (benchmark == "indirect") {
        bench_indirect(settings);
    } else if (benchmark == "launch") {
        bench_launch(settings);
    } else {
        usage();
    }
    CHECK_CUDA(cudaStreamDestroy(settings.stream));
    return 0;
}
