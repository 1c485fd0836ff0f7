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
typedef metal::atomic_uint type_7[1];
struct type_9 {
    metal::uint4 inner[3];
};

void report_fault_4_(
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
    uint _e17 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
    if (_e17 >= 13u) {
        uint _e19 = _e17 - 13u;
        uint _e20 = metal::atomic_load_explicit(&reports[1u], metal::memory_order_relaxed);
        if (_e20 <= _e19) {
            uint _e22 = metal::atomic_fetch_add_explicit(&reports[1u], 13u, metal::memory_order_relaxed);
            if (_e22 <= _e19) {
                uint _e25 = 8u + _e22;
                local_7 = _e25;
                while(true) {
                    uint _e34 = local_7;
                    if (_e34 >= (_e25 + 13u)) {
                        break;
                    }
                    uint _e36 = _e34 - _e25;
                    metal::atomic_store_explicit(&reports[_e34], (_e36 == 11u) ? words0_.z : ((_e36 == 10u) ? words0_.y : ((_e36 == 9u) ? words0_.x : ((_e36 == 8u) ? thread_1.z : ((_e36 == 7u) ? thread_1.y : ((_e36 == 6u) ? thread_1.x : ((_e36 == 5u) ? block_1.z : ((_e36 == 4u) ? block_1.y : ((_e36 == 3u) ? block_1.x : ((_e36 == 2u) ? launch : ((_e36 == 1u) ? site : ((_e36 == 0u) ? 13u : words0_.w))))))))))), metal::memory_order_relaxed);
                    local_7 = _e34 + 1u;
                }
            }
        }
    }
    return;
}

struct leftInput {
};
[[max_total_threads_per_threadgroup(40)]] kernel void left(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_9& launch_1 [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_2 const& in [[buffer(2)]]
, threadgroup type_3& tile
, device type_7& reports [[buffer(3)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(4)]]
) {
    uint local = {};
    uint local_1 = {};
    uint local_2 = {};
    bool local_3 = true;
    int local_4 = {};
    uint local_5 = {};
    int local_6 = {};
    uint _e25 = launch_1.inner[2].x;
    uint _e59 = launch_1.inner[0].x;
    uint _e68 = launch_1.inner[2].y;
    uint _e74 = launch_1.inner[1].z;
    uint _e77 = launch_1.inner[0].y;
    uint _e80 = launch_1.inner[0].z;
    tile.inner[thread_.x] = 77;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    local = 0u;
    if (0u < 7u) {
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e45 = local;
                local = _e45 + 1u;
                if (1u >= (7u - local)) {
                    break;
                }
            }
            loop_init = false;
            uint _e14 = local;
            local_1 = 0u;
            while(true) {
                uint _e17 = local_1;
                bool _e20 = local_3;
                if (_e20) {
                    int _e28 = in[thread_.x + _e25];
                    local_4 = _e28;
                }
                int _e29 = local_4;
                bool _e32 = local_3;
                if (_e32) {
                    if (_e29 == as_type<int>(_e17)) {
                        local_3 = false;
                    }
                }
                if (_e17 >= 7u) {
                    local_2 = _e17;
                    break;
                }
                if (_e17 > _e14) {
                    local_5 = 3u;
                    break;
                }
                local_1 = _e17 + 1u;
                continue;
            }
            uint _e39 = local_5;
            if (_e39 == 3u) {
                local_5 = 0u;
                continue;
            }
            uint _e41 = local_2;
            bool _e43 = local_3;
            if (_e43) {
                tile.inner[thread_.x] = as_type<int>(_e41);
            }
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            continue;
        }
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    bool _e51 = local_3;
    if (_e51) {
        int _e54 = tile.inner[39u - thread_.x];
        local_6 = _e54;
    }
    int _e55 = local_6;
    uint _e63 = (40u * (_e59 + block.x)) + thread_.x;
    bool _e65 = local_3;
    if (_e65) {
        if (_e63 < 190u) {
            out[_e63 + _e68] = _e55;
        } else {
            report_fault_4_(0u, _e74, metal::uint3(_e59, _e77, _e80) + block, thread_, metal::uint4(_e63, 0u, 190u, 0u), reports, _buffer_sizes);
        }
    }
    return;
}
