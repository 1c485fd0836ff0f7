// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
};

typedef metal::atomic_uint type_2[1];
typedef metal::atomic_float type_4[1];
struct type_6 {
    metal::atomic_int inner[1];
};
struct _atomic_compare_exchange_result_Uint_4_ {
    uint old_value;
    bool exchanged;
    char _pad2[3];
};
struct type_12 {
    metal::uint4 inner[3];
};

template <typename A>
_atomic_compare_exchange_result_Uint_4_ naga_atomic_compare_exchange_weak_explicit(
    device A *atomic_ptr,
    uint cmp,
    uint v
) {
    bool swapped = metal::atomic_compare_exchange_weak_explicit(
        atomic_ptr, &cmp, v,
        metal::memory_order_relaxed, metal::memory_order_relaxed
    );
    return _atomic_compare_exchange_result_Uint_4_{cmp, swapped};
}
template <typename A>
_atomic_compare_exchange_result_Uint_4_ naga_atomic_compare_exchange_weak_explicit(
    threadgroup A *atomic_ptr,
    uint cmp,
    uint v
) {
    bool swapped = metal::atomic_compare_exchange_weak_explicit(
        atomic_ptr, &cmp, v,
        metal::memory_order_relaxed, metal::memory_order_relaxed
    );
    return _atomic_compare_exchange_result_Uint_4_{cmp, swapped};
}

struct atomicsInput {
};
[[max_total_threads_per_threadgroup(64)]] kernel void atomics(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_12& launch [[buffer(0)]]
, device type_2& counts [[buffer(1)]]
, device type_4& sum [[buffer(2)]]
, threadgroup type_6& most
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    uint local = {};
    uint _e13 = launch.inner[2].x;
    uint _e28 = launch.inner[2].y;
    uint _e32 = launch.inner[2].z;
    uint _e16 = metal::atomic_fetch_add_explicit(&counts[thread_.x + _e13], 1u, metal::memory_order_relaxed);
    while(true) {
        _atomic_compare_exchange_result_Uint_4_ _e20 = naga_atomic_compare_exchange_weak_explicit(&counts[0u + _e13], 1u, 2u);
        local = _e20.old_value;
        if (_e20.exchanged || (_e20.old_value != 1u)) {
            break;
        }
    }
    float _e35 = metal::atomic_fetch_add_explicit(&sum[0u + _e32], as_type<float>(_e28), metal::memory_order_relaxed);
    int _e37 = metal::atomic_fetch_max_explicit(&most.inner[0u], 5, metal::memory_order_relaxed);
    return;
}
