// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
};

typedef int type_2[1];
typedef metal::atomic_uint type_4[1];
struct type_7 {
    metal::uint4 inner[5];
};

uint begin_report(
    uint area,
    uint site,
    uint len,
    uint launch,
    metal::uint3 block_1,
    metal::uint3 thread_1,
    device type_4& reports,
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


struct faultsInput {
};
[[max_total_threads_per_threadgroup(64)]] kernel void faults(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_7& launch_1 [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_4& reports [[buffer(2)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    int local = {};
    uint local_1 = {};
    uint _e9 = launch_1.inner[0].y;
    uint _e14 = launch_1.inner[2].x;
    uint _e17 = launch_1.inner[2].z;
    uint _e20 = launch_1.inner[3].x;
    uint _e25 = launch_1.inner[3].z;
    uint _e38 = launch_1.inner[1].z;
    uint _e41 = launch_1.inner[0].x;
    uint _e44 = launch_1.inner[0].z;
    uint _e80 = launch_1.inner[3].w;
    uint _e93 = launch_1.inner[4].x;
    uint _e11 = _e9 + block.y;
    uint _e22 = (_e11 * _e20) + thread_.x;
    if ((_e11 < _e14) && (thread_.x < _e17)) {
        int _e32 = out[_e22 + _e25];
        local = _e32;
    } else {
        local = 0;
        if (!((_e11 < _e14))) {
            uint _e48 = begin_report(0u, 0u, 13u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, reports, _buffer_sizes);
            if (_e48 != 4294967295u) {
                metal::atomic_store_explicit(&reports[_e48 + 9u], _e11, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e48 + 10u], 0u, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e48 + 11u], _e14, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e48 + 12u], 0u, metal::memory_order_relaxed);
            }
        } else {
            uint _e67 = begin_report(0u, 1u, 13u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, reports, _buffer_sizes);
            if (_e67 != 4294967295u) {
                metal::atomic_store_explicit(&reports[_e67 + 9u], thread_.x, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e67 + 10u], 0u, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e67 + 11u], _e17, metal::memory_order_relaxed);
                metal::atomic_store_explicit(&reports[_e67 + 12u], 0u, metal::memory_order_relaxed);
            }
        }
    }
    int _e77 = local;
    int _e81 = as_type<int>(_e80);
    bool _e83 = _e81 == 0;
    int _e86 = _e83 ? 0 : naga_div(_e77, _e83 ? 1 : _e81);
    if (_e81 == 0) {
        uint _e90 = begin_report(0u, 2u, 9u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, reports, _buffer_sizes);
    }
    local_1 = 0u;
    bool _e96 = _e93 > 0u;
    if (!(_e96)) {
        uint _e101 = begin_report(0u, 3u, 11u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, reports, _buffer_sizes);
        if (_e101 != 4294967295u) {
            metal::atomic_store_explicit(&reports[_e101 + 9u], _e93, metal::memory_order_relaxed);
            metal::atomic_store_explicit(&reports[_e101 + 10u], 0u, metal::memory_order_relaxed);
        }
    }
    if ((0u < 2u) && _e96) {
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e142 = local_1;
                local_1 = _e142 + _e93;
                if (_e93 >= (2u - local_1)) {
                    break;
                }
            }
            loop_init = false;
            if ((_e11 < _e14) && (thread_.x < _e17)) {
                out[_e22 + _e25] = _e86;
            } else {
                if (!((_e11 < _e14))) {
                    uint _e119 = begin_report(0u, 4u, 13u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, reports, _buffer_sizes);
                    if (_e119 != 4294967295u) {
                        metal::atomic_store_explicit(&reports[_e119 + 9u], _e11, metal::memory_order_relaxed);
                        metal::atomic_store_explicit(&reports[_e119 + 10u], 0u, metal::memory_order_relaxed);
                        metal::atomic_store_explicit(&reports[_e119 + 11u], _e14, metal::memory_order_relaxed);
                        metal::atomic_store_explicit(&reports[_e119 + 12u], 0u, metal::memory_order_relaxed);
                    }
                } else {
                    uint _e132 = begin_report(0u, 5u, 13u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, reports, _buffer_sizes);
                    if (_e132 != 4294967295u) {
                        metal::atomic_store_explicit(&reports[_e132 + 9u], thread_.x, metal::memory_order_relaxed);
                        metal::atomic_store_explicit(&reports[_e132 + 10u], 0u, metal::memory_order_relaxed);
                        metal::atomic_store_explicit(&reports[_e132 + 11u], _e17, metal::memory_order_relaxed);
                        metal::atomic_store_explicit(&reports[_e132 + 12u], 0u, metal::memory_order_relaxed);
                    }
                }
            }
            continue;
        }
    }
    if (!((_e86 > _e77))) {
        uint _e153 = begin_report(0u, 6u, 13u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, reports, _buffer_sizes);
        if (_e153 != 4294967295u) {
            metal::atomic_store_explicit(&reports[_e153 + 9u], as_type<uint>(_e86), metal::memory_order_relaxed);
            metal::atomic_store_explicit(&reports[_e153 + 10u], 0u, metal::memory_order_relaxed);
            metal::atomic_store_explicit(&reports[_e153 + 11u], as_type<uint>(_e77), metal::memory_order_relaxed);
            metal::atomic_store_explicit(&reports[_e153 + 12u], 0u, metal::memory_order_relaxed);
        }
        return;
    }
    uint _e167 = begin_report(1u, 7u, 11u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, reports, _buffer_sizes);
    if (_e167 != 4294967295u) {
        metal::atomic_store_explicit(&reports[_e167 + 9u], as_type<uint>(_e86), metal::memory_order_relaxed);
        metal::atomic_store_explicit(&reports[_e167 + 10u], 0u, metal::memory_order_relaxed);
    }
    return;
}
