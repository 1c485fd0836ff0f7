// Matrix products in float: as one writes it first, the tutorial's tiles in shared memory, tiles in registers, cuBLAS.

#include <cmath>

#include "bench.cuh"
#include "cublas.cuh"

namespace {

constexpr int TILE = 32;

// One element a thread, which is added up where it lies.
__global__ void matmul_naive(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    c[row * n + col] = 0.0f;
    for (int i = 0; i < k; i++) c[row * n + col] += a[row * k + i] * b[i * n + col];
}

// One element a thread, tiles of both matrices in shared memory.
__global__ void matmul_tiled(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b, int m, int n, int k) {
    __shared__ float a_shared[TILE][TILE], b_shared[TILE][TILE];
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    const int local_row = threadIdx.y, local_col = threadIdx.x;
    float acc = 0.0f;
    for (int tile = 0; tile < (k + TILE - 1) / TILE; tile++) {
        const int a_col = tile * TILE + local_col, b_row = tile * TILE + local_row;
        a_shared[local_row][local_col] = row < m && a_col < k ? a[row * k + a_col] : 0.0f;
        b_shared[local_row][local_col] = b_row < k && col < n ? b[b_row * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++) acc += a_shared[local_row][i] * b_shared[i][local_col];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = acc;
}

constexpr int BLOCK_TILE = 128;
constexpr int DEPTH = 8;
constexpr int PADDED = BLOCK_TILE + 4;

// The tile of c in registers, as the kernel `registers` of bench/src/kernels/matmul.rs: 128 by 128 elements a block, 8 by 8
// a thread, two pairs of slices in shared memory, the next slice on its way meanwhile. Sizes are whole tiles, and `k` is
// a multiple of 16.
__global__ void __launch_bounds__(256, 2) matmul_registers(float* __restrict__ c, const float* __restrict__ a, const float* __restrict__ b, int n, int k) {
    __shared__ __align__(16) float a_shared[2][DEPTH][PADDED];
    __shared__ __align__(16) float b_shared[2][DEPTH][BLOCK_TILE];
    const int thread = threadIdx.x;
    const int a_row = thread / 2, a_col = 4 * (thread % 2);
    const int b_row = thread / 32, b_col = 4 * (thread % 32);
    const int first_row = BLOCK_TILE * blockIdx.y, first_col = BLOCK_TILE * blockIdx.x;
    const int warp = thread / 32, lane = thread % 32;
    const int row = 64 * (warp / 4) + 4 * (lane / 4), col = 32 * (warp % 4) + 4 * (lane % 4);
    const float* a_from = a + (first_row + a_row) * k + a_col;
    const float* b_from = b + b_row * n + first_col + b_col;
    const int slices = k / DEPTH;

    const auto keep = [&](int buffer, float4 x, float4 y) {
        a_shared[buffer][a_col][a_row] = x.x;
        a_shared[buffer][a_col + 1][a_row] = x.y;
        a_shared[buffer][a_col + 2][a_row] = x.z;
        a_shared[buffer][a_col + 3][a_row] = x.w;
        *reinterpret_cast<float4*>(&b_shared[buffer][b_row][b_col]) = y;
    };
    float acc[8][8] = {};
    keep(0, *reinterpret_cast<const float4*>(a_from), *reinterpret_cast<const float4*>(b_from));
    __syncthreads();
    for (int pair = 0; pair < slices / 2; pair++) {
#pragma unroll
        for (int parity = 0; parity < 2; parity++) {
            const int next = DEPTH * min(2 * pair + parity + 1, slices - 1);
            const float4 a_next = *reinterpret_cast<const float4*>(a_from + next);
            const float4 b_next = *reinterpret_cast<const float4*>(b_from + next * n);
#pragma unroll
            for (int s = 0; s < DEPTH; s++) {
                float x[8], y[8];
                *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(&a_shared[parity][s][row]);
                *reinterpret_cast<float4*>(x + 4) = *reinterpret_cast<const float4*>(&a_shared[parity][s][row + 32]);
                *reinterpret_cast<float4*>(y) = *reinterpret_cast<const float4*>(&b_shared[parity][s][col]);
                *reinterpret_cast<float4*>(y + 4) = *reinterpret_cast<const float4*>(&b_shared[parity][s][col + 16]);
#pragma unroll
                for (int i = 0; i < 8; i++) {
#pragma unroll
                    for (int j = 0; j < 8; j++) acc[i][j] += x[i] * y[j];
                }
            }
            keep(1 - parity, a_next, b_next);
            __syncthreads();
        }
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float* to = c + (first_row + row + 32 * (i / 4) + i % 4) * n + first_col + col;
        *reinterpret_cast<float4*>(to) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        *reinterpret_cast<float4*>(to + 16) = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
    }
}

// The matrix whose elements `element` gives, times a vector.
template <typename Element>
std::vector<double> times(int n, const std::vector<double>& x, Element element) {
    std::vector<double> result(n, 0.0);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) result[i] += static_cast<double>(element(static_cast<size_t>(i) * n + j)) * x[j];
    }
    return result;
}

}  // namespace

void bench_matmul(const Settings& settings) {
    const int n = settings.matrix;
    const size_t count = static_cast<size_t>(n) * n;
    DeviceArray<float> a(count), b(count), c(count);
    fill_real(a, 1, settings);
    fill_real(b, 2, settings);

    // Freivalds' check, as in bench/src/check.rs: c * x against a * (b * x).
    std::vector<double> x(n);
    for (int j = 0; j < n; j++) x[j] = random_real(3, j);
    const std::vector<double> b_x = times(n, x, [](size_t i) { return random_real(2, i); });
    const std::vector<double> expected = times(n, b_x, [](size_t i) { return random_real(1, i); });
    const double tolerance = 16 * 0.14 * std::ldexp(1.0, -24) * n * std::sqrt(static_cast<double>(n));

    const auto bench = [&](const char* by, const char* name, auto launch) {
        fill_nan(c, settings);
        const Timing timing = measure(settings, launch);
        const std::vector<float> host = c.to_host();
        const std::vector<double> found = times(n, x, [&](size_t i) { return host[i]; });
        double worst = 0;
        for (int i = 0; i < n; i++) {
            const double error = std::fabs(found[i] - expected[i]);
            CHECK_RESULT(error <= tolerance, "matmul %s/%s: row %d: %g instead of %g", by, name, i, found[i], expected[i]);
            worst = std::max(worst, error);
        }
        char check[64];
        std::snprintf(check, sizeof check, "error %.1e of %.1e", worst, tolerance);
        print_result("matmul", by, name, timing, 0, 2.0 * n * count, check);
    };
    bench("cuda", "naive", [&] {
        const dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), block(TILE, TILE);
        matmul_naive<<<grid, block, 0, settings.stream>>>(c.get(), a.get(), b.get(), n, n, n);
    });
    bench("cuda", "tiled", [&] {
        const dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), block(TILE, TILE);
        matmul_tiled<<<grid, block, 0, settings.stream>>>(c.get(), a.get(), b.get(), n, n, n);
    });
    bench("cuda", "registers", [&] {
        const dim3 grid(n / BLOCK_TILE, n / BLOCK_TILE);
        matmul_registers<<<grid, 256, 0, settings.stream>>>(c.get(), a.get(), b.get(), n, n);
    });

    cublasHandle_t handle;
    CHECK_CUBLAS(cublasCreate(&handle));
    CHECK_CUBLAS(cublasSetStream(handle, settings.stream));
    const float one = 1.0f, zero = 0.0f;
    // cuBLAS stores by columns: its product of b and a is ours of a and b.
    const auto sgemm = [&] {
        CHECK_CUBLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b.get(), n, a.get(), n, &zero,
                                 c.get(), n));
    };
    // Both are in float throughout: TF32 is only used where it is asked for.
    CHECK_CUBLAS(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    bench("cublas", "sgemm", sgemm);
    CHECK_CUBLAS(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    bench("cublas", "sgemm pedantic", sgemm);
    CHECK_CUBLAS(cublasDestroy(handle));
}
