// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
    uint size4;
};

typedef int type_2[1];
struct type_3 {
    int inner[40];
};
typedef metal::atomic_uint type_5[1];
struct type_9 {
    metal::uint4 inner[3];
};

uint begin_report(
    uint area,
    uint site,
    uint len,
    uint launch,
    metal::uint3 block_1,
    metal::uint3 thread_1,
    device type_5& reports,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint local_2 = 4294967295u;
    bool _e11 = area == 0u;
    if (_e11) {
        metal::atomic_fetch_add_explicit(&reports[0u], 1u, metal::memory_order_relaxed);
    }
    uint _e14 = (area * 3u) + 1u;
    uint _e18 = metal::atomic_load_explicit(&reports[_e14 + 1u], metal::memory_order_relaxed);
    if (_e18 >= len) {
        uint _e21 = _e18 - len;
        uint _e22 = metal::atomic_load_explicit(&reports[_e14], metal::memory_order_relaxed);
        if (_e22 <= _e21) {
            uint _e24 = metal::atomic_fetch_add_explicit(&reports[_e14], len, metal::memory_order_relaxed);
            if (_e24 <= _e21) {
                uint _e28 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
                uint _e32 = (8u + (_e28 * area)) + _e24;
                metal::atomic_store_explicit(&reports[_e32 + 0u], len, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e32 + 1u], site, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e32 + 2u], launch, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e32 + 3u], block_1.x, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e32 + 6u], thread_1.x, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e32 + 4u], block_1.y, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e32 + 7u], thread_1.y, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e32 + 5u], block_1.z, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e32 + 8u], thread_1.z, metal::memory_order_relaxed);
                local_2 = _e32;
            }
        }
    }
    uint _e61 = local_2;
    if ((_e61 == 4294967295u) && !(_e11)) {
        metal::atomic_fetch_add_explicit(&reports[3u], 1u, metal::memory_order_relaxed);
    }
    return _e61;
}
int naga_div(int lhs, int rhs) {
    return lhs / metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
}


struct assertsInput {
};
[[max_total_threads_per_threadgroup(40)]] kernel void asserts(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_9& launch_1 [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_2 const& in [[buffer(2)]]
, threadgroup type_3& tile
, device type_5& reports [[buffer(3)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(4)]]
) {
    bool local = true;
    int local_1 = {};
    uint _e12 = launch_1.inner[2].x;
    uint _e23 = launch_1.inner[1].z;
    uint _e26 = launch_1.inner[0].x;
    uint _e29 = launch_1.inner[0].y;
    uint _e32 = launch_1.inner[0].z;
    uint _e90 = launch_1.inner[2].y;
    tile.inner[thread_.x] = 77;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    int _e15 = in[thread_.x + _e12];
    if (!((_e15 > -2))) {
        uint _e36 = begin_report(0u, 0u, 11u, _e23, metal::uint3(_e26, _e29, _e32) + block, thread_, reports, _buffer_sizes);
        if (_e36 != 4294967295u) {
            metal::atomic_store_explicit(&reports[_e36 + 9u], as_type<uint>(_e15), metal::memory_order_relaxed);
            metal::atomic_store_explicit(&reports[_e36 + 10u], 0u, metal::memory_order_relaxed);
        }
        local = false;
    }
    bool _e50 = _e15 == 0;
    bool _e55 = local;
    if (_e55 && (_e15 == 0)) {
        uint _e60 = begin_report(0u, 1u, 9u, _e23, metal::uint3(_e26, _e29, _e32) + block, thread_, reports, _buffer_sizes);
    }
    bool _e61 = local;
    if (_e61) {
        tile.inner[thread_.x] = _e50 ? 0 : naga_div(_e15, _e50 ? 1 : _e15);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    bool _e65 = local;
    if (_e65) {
        int _e68 = tile.inner[39u - thread_.x];
        local_1 = _e68;
    }
    int _e69 = local_1;
    bool _e70 = local;
    if (_e70) {
        uint _e75 = begin_report(1u, 2u, 11u, _e23, metal::uint3(_e26, _e29, _e32) + block, thread_, reports, _buffer_sizes);
        if (_e75 != 4294967295u) {
            metal::atomic_store_explicit(&reports[_e75 + 9u], as_type<uint>(_e69), metal::memory_order_relaxed);
            metal::atomic_store_explicit(&reports[_e75 + 10u], 0u, metal::memory_order_relaxed);
        }
    }
    uint _e85 = (40u * (_e26 + block.x)) + thread_.x;
    bool _e87 = local;
    if (_e87) {
        if (_e85 < 190u) {
            out[_e85 + _e90] = _e69;
        } else {
            uint _e98 = begin_report(0u, 3u, 13u, _e23, metal::uint3(_e26, _e29, _e32) + block, thread_, reports, _buffer_sizes);
            if (_e98 != 4294967295u) {
                metal::atomic_store_explicit(&reports[_e98 + 9u], _e85, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e98 + 10u], 0u, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e98 + 11u], 190u, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e98 + 12u], 0u, metal::memory_order_relaxed);
            }
        }
    }
    return;
}
