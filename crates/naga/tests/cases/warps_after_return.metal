// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size4;
};

typedef uint type_2[1];
struct type_4 {
    uint inner[128];
};
struct type_6 {
    metal::atomic_uint inner[4];
};
typedef metal::atomic_uint type_7[1];
struct type_9 {
    metal::uint4 inner[3];
};

void report_fault_2_(
    uint site,
    uint launch,
    metal::uint3 block_1,
    metal::uint3 thread_1,
    metal::uint4 words0_,
    device type_7& reports,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint local_7 = {};
    metal::atomic_fetch_add_explicit(&reports[0u], 1u, metal::memory_order_relaxed);
    uint _e15 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
    if (_e15 >= 11u) {
        uint _e17 = _e15 - 11u;
        uint _e18 = metal::atomic_load_explicit(&reports[1u], metal::memory_order_relaxed);
        if (_e18 <= _e17) {
            uint _e20 = metal::atomic_fetch_add_explicit(&reports[1u], 11u, metal::memory_order_relaxed);
            if (_e20 <= _e17) {
                uint _e23 = 8u + _e20;
                local_7 = _e23;
                while(true) {
                    uint _e32 = local_7;
                    if (_e32 >= (_e23 + 11u)) {
                        break;
                    }
                    uint _e34 = _e32 - _e23;
                    metal::atomic_store_explicit(&reports[_e32], (_e34 == 9u) ? words0_.x : ((_e34 == 8u) ? thread_1.z : ((_e34 == 7u) ? thread_1.y : ((_e34 == 6u) ? thread_1.x : ((_e34 == 5u) ? block_1.z : ((_e34 == 4u) ? block_1.y : ((_e34 == 3u) ? block_1.x : ((_e34 == 2u) ? launch : ((_e34 == 1u) ? site : ((_e34 == 0u) ? 11u : words0_.y))))))))), metal::memory_order_relaxed);
                    local_7 = _e32 + 1u;
                }
            }
        }
    }
    return;
}

struct warps_after_returnInput {
};
[[max_total_threads_per_threadgroup(44)]] kernel void warps_after_return(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, uint thread_number [[thread_index_in_threadgroup]]
, constant type_9& launch_1 [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, threadgroup type_4& lanes
, threadgroup type_6& ended_lanes
, device type_7& reports [[buffer(2)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    bool local = true;
    uint local_1 = 0u;
    uint local_2 = {};
    bool local_3 = {};
    uint local_4 = {};
    uint local_5 = {};
    uint local_6 = {};
    uint _e11 = thread_number & 31u;
    if (_e11 == 0u) {
        uint _e24 = thread_number >> 5u;
        metal::atomic_store_explicit(&ended_lanes.inner[_e24], 0u, metal::memory_order_relaxed);
        metal::atomic_store_explicit(&ended_lanes.inner[_e24 + 2u], 0u, metal::memory_order_relaxed);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e128 = launch_1.inner[1].z;
    uint _e131 = launch_1.inner[0].x;
    uint _e134 = launch_1.inner[0].y;
    uint _e137 = launch_1.inner[0].z;
    uint _e144 = launch_1.inner[2].x;
    if (thread_.x == 3u) {
        local = false;
    }
    uint _e15 = local_1;
    uint _e18 = (_e15 * 64u) + thread_number;
    lanes.inner[_e18] = _e11;
    bool _e33 = local;
    if (!(_e33)) {
        metal::atomic_fetch_or_explicit(&ended_lanes.inner[(_e15 * 2u) + (thread_number >> 5u)], 1u << _e11, metal::memory_order_relaxed);
    }
    local_1 = 1u - _e15;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e37 = metal::atomic_load_explicit(&ended_lanes.inner[(_e15 * 2u) + (thread_number >> 5u)], metal::memory_order_relaxed);
    uint _e47 = ~(_e37) & (4294967295u >> (32u - metal::min(44u - (thread_number - _e11), 32u)));
    local_2 = 0u;
    local_3 = false;
    local_4 = 0u;
    while(true) {
        uint _e53 = local_4;
        if (_e53 == (_e11 + 1u)) {
            break;
        }
        if (((_e47 >> _e53) & 1u) == 1u) {
            uint _e60 = lanes.inner[(_e18 - _e11) + _e53];
            uint _e61 = local_2;
            bool _e63 = local_3;
            local_2 = _e63 ? (_e61 + _e60) : _e60;
            local_3 = true;
        }
        local_4 = _e53 + 1u;
    }
    uint _e66 = local_2;
    local_5 = _e11;
    local_6 = 1u;
    while(true) {
        uint _e69 = local_6;
        if (_e69 == 32u) {
            break;
        }
        uint _e71 = local_5;
        uint _e72 = local_1;
        uint _e74 = (_e72 * 64u) + thread_number;
        lanes.inner[_e74] = _e71;
        local_1 = 1u - _e72;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        bool _e78 = _e69 <= _e11;
        uint _e83 = lanes.inner[(_e74 - _e11) + (_e78 ? (_e11 - _e69) : _e11)];
        local_5 = _e78 ? (_e83 + _e71) : _e71;
        local_6 = _e69 << 1u;
    }
    uint _e87 = local_5;
    uint _e91 = ((_e47 & (_e47 + 1u)) == 0u) ? _e87 : _e66;
    uint _e92 = local_1;
    uint _e94 = (_e92 * 64u) + thread_number;
    lanes.inner[_e94] = _e91;
    bool _e100 = local;
    if (!(_e100)) {
        metal::atomic_fetch_or_explicit(&ended_lanes.inner[(_e92 * 2u) + (thread_number >> 5u)], 1u << _e11, metal::memory_order_relaxed);
    }
    local_1 = 1u - _e92;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e104 = metal::atomic_load_explicit(&ended_lanes.inner[(_e92 * 2u) + (thread_number >> 5u)], metal::memory_order_relaxed);
    uint _e114 = (_e11 ^ 1u) & 31u;
    bool _e117 = (((~(_e104) & (4294967295u >> (32u - metal::min(44u - (thread_number - _e11), 32u)))) >> _e114) & 1u) == 1u;
    uint _e120 = lanes.inner[(_e94 - _e11) + _e114];
    bool _e123 = local;
    if (_e123 && !(_e117)) {
        report_fault_2_(0u, _e128, metal::uint3(_e131, _e134, _e137) + block, thread_, metal::uint4(_e114, 0u, 0u, 0u), reports, _buffer_sizes);
    }
    bool _e141 = local;
    if (_e141) {
        out[thread_.x + _e144] = _e117 ? _e120 : _e91;
    }
    return;
}
