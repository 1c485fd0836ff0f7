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
struct type_8 {
    metal::uint4 inner[5];
};

void report_fault_4_(
    uint site,
    uint launch,
    metal::uint3 block_1,
    metal::uint3 thread_1,
    metal::uint4 words0_,
    device type_4& reports,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint local_2 = {};
    metal::atomic_fetch_add_explicit(&reports[0u], 1u, metal::memory_order_relaxed);
    uint _e17 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
    if (_e17 >= 13u) {
        uint _e19 = _e17 - 13u;
        uint _e20 = metal::atomic_load_explicit(&reports[1u], metal::memory_order_relaxed);
        if (_e20 <= _e19) {
            uint _e22 = metal::atomic_fetch_add_explicit(&reports[1u], 13u, metal::memory_order_relaxed);
            if (_e22 <= _e19) {
                uint _e25 = 8u + _e22;
                local_2 = _e25;
                while(true) {
                    uint _e34 = local_2;
                    if (_e34 >= (_e25 + 13u)) {
                        break;
                    }
                    uint _e36 = _e34 - _e25;
                    metal::atomic_store_explicit(&reports[_e34], (_e36 == 11u) ? words0_.z : ((_e36 == 10u) ? words0_.y : ((_e36 == 9u) ? words0_.x : ((_e36 == 8u) ? thread_1.z : ((_e36 == 7u) ? thread_1.y : ((_e36 == 6u) ? thread_1.x : ((_e36 == 5u) ? block_1.z : ((_e36 == 4u) ? block_1.y : ((_e36 == 3u) ? block_1.x : ((_e36 == 2u) ? launch : ((_e36 == 1u) ? site : ((_e36 == 0u) ? 13u : words0_.w))))))))))), metal::memory_order_relaxed);
                    local_2 = _e34 + 1u;
                }
            }
        }
    }
    return;
}

void report_fault_0_(
    uint site_1,
    uint launch_1,
    metal::uint3 block_2,
    metal::uint3 thread_2,
    device type_4& reports,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint local_3 = {};
    metal::atomic_fetch_add_explicit(&reports[0u], 1u, metal::memory_order_relaxed);
    uint _e12 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
    if (_e12 >= 9u) {
        uint _e14 = _e12 - 9u;
        uint _e15 = metal::atomic_load_explicit(&reports[1u], metal::memory_order_relaxed);
        if (_e15 <= _e14) {
            uint _e17 = metal::atomic_fetch_add_explicit(&reports[1u], 9u, metal::memory_order_relaxed);
            if (_e17 <= _e14) {
                uint _e20 = 8u + _e17;
                local_3 = _e20;
                while(true) {
                    uint _e29 = local_3;
                    if (_e29 >= (_e20 + 9u)) {
                        break;
                    }
                    uint _e31 = _e29 - _e20;
                    metal::atomic_store_explicit(&reports[_e29], (_e31 == 7u) ? thread_2.y : ((_e31 == 6u) ? thread_2.x : ((_e31 == 5u) ? block_2.z : ((_e31 == 4u) ? block_2.y : ((_e31 == 3u) ? block_2.x : ((_e31 == 2u) ? launch_1 : ((_e31 == 1u) ? site_1 : ((_e31 == 0u) ? 9u : thread_2.z))))))), metal::memory_order_relaxed);
                    local_3 = _e29 + 1u;
                }
            }
        }
    }
    return;
}

void report_fault_2_(
    uint site_2,
    uint launch_2,
    metal::uint3 block_3,
    metal::uint3 thread_3,
    metal::uint4 words0_1,
    device type_4& reports,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint local_4 = {};
    metal::atomic_fetch_add_explicit(&reports[0u], 1u, metal::memory_order_relaxed);
    uint _e15 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
    if (_e15 >= 11u) {
        uint _e17 = _e15 - 11u;
        uint _e18 = metal::atomic_load_explicit(&reports[1u], metal::memory_order_relaxed);
        if (_e18 <= _e17) {
            uint _e20 = metal::atomic_fetch_add_explicit(&reports[1u], 11u, metal::memory_order_relaxed);
            if (_e20 <= _e17) {
                uint _e23 = 8u + _e20;
                local_4 = _e23;
                while(true) {
                    uint _e32 = local_4;
                    if (_e32 >= (_e23 + 11u)) {
                        break;
                    }
                    uint _e34 = _e32 - _e23;
                    metal::atomic_store_explicit(&reports[_e32], (_e34 == 9u) ? words0_1.x : ((_e34 == 8u) ? thread_3.z : ((_e34 == 7u) ? thread_3.y : ((_e34 == 6u) ? thread_3.x : ((_e34 == 5u) ? block_3.z : ((_e34 == 4u) ? block_3.y : ((_e34 == 3u) ? block_3.x : ((_e34 == 2u) ? launch_2 : ((_e34 == 1u) ? site_2 : ((_e34 == 0u) ? 11u : words0_1.y))))))))), metal::memory_order_relaxed);
                    local_4 = _e32 + 1u;
                }
            }
        }
    }
    return;
}

void report_line_2_(
    uint site_3,
    uint launch_3,
    metal::uint3 block_4,
    metal::uint3 thread_4,
    metal::uint4 words0_2,
    device type_4& reports,
    constant _mslBufferSizes& _buffer_sizes
) {
    bool local_5 = false;
    uint local_6 = {};
    uint _e18 = metal::atomic_load_explicit(&reports[5u], metal::memory_order_relaxed);
    if (_e18 >= 11u) {
        uint _e20 = _e18 - 11u;
        uint _e21 = metal::atomic_load_explicit(&reports[4u], metal::memory_order_relaxed);
        if (_e21 <= _e20) {
            uint _e23 = metal::atomic_fetch_add_explicit(&reports[4u], 11u, metal::memory_order_relaxed);
            if (_e23 <= _e20) {
                uint _e29 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
                uint _e30 = (8u + _e23) + _e29;
                local_6 = _e30;
                while(true) {
                    uint _e39 = local_6;
                    if (_e39 >= (_e30 + 11u)) {
                        break;
                    }
                    uint _e41 = _e39 - _e30;
                    metal::atomic_store_explicit(&reports[_e39], (_e41 == 9u) ? words0_2.x : ((_e41 == 8u) ? thread_4.z : ((_e41 == 7u) ? thread_4.y : ((_e41 == 6u) ? thread_4.x : ((_e41 == 5u) ? block_4.z : ((_e41 == 4u) ? block_4.y : ((_e41 == 3u) ? block_4.x : ((_e41 == 2u) ? launch_3 : ((_e41 == 1u) ? site_3 : ((_e41 == 0u) ? 11u : words0_2.y))))))))), metal::memory_order_relaxed);
                    local_6 = _e39 + 1u;
                }
                local_5 = true;
            }
        }
    }
    bool _e69 = local_5;
    if (!(_e69)) {
        metal::atomic_fetch_add_explicit(&reports[3u], 1u, metal::memory_order_relaxed);
    }
    return;
}
int naga_div(int lhs, int rhs) {
    return lhs / metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
}


struct faultsInput {
};
[[max_total_threads_per_threadgroup(64)]] kernel void faults(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_8& launch_4 [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_4& reports [[buffer(2)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    int local = {};
    uint local_1 = {};
    uint _e9 = launch_4.inner[0].y;
    uint _e14 = launch_4.inner[2].x;
    uint _e17 = launch_4.inner[2].z;
    uint _e20 = launch_4.inner[3].x;
    uint _e25 = launch_4.inner[3].z;
    uint _e38 = launch_4.inner[1].z;
    uint _e41 = launch_4.inner[0].x;
    uint _e44 = launch_4.inner[0].z;
    uint _e55 = launch_4.inner[3].w;
    uint _e67 = launch_4.inner[4].x;
    uint _e11 = _e9 + block.y;
    uint _e22 = (_e11 * _e20) + thread_.x;
    if ((_e11 < _e14) && (thread_.x < _e17)) {
        int _e32 = out[_e22 + _e25];
        local = _e32;
    } else {
        local = 0;
        if (!((_e11 < _e14))) {
            report_fault_4_(0u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, metal::uint4(_e11, 0u, _e14, 0u), reports, _buffer_sizes);
        } else {
            report_fault_4_(1u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, metal::uint4(thread_.x, 0u, _e17, 0u), reports, _buffer_sizes);
        }
    }
    int _e52 = local;
    int _e56 = as_type<int>(_e55);
    bool _e58 = _e56 == 0;
    int _e61 = _e58 ? 0 : naga_div(_e52, _e58 ? 1 : _e56);
    if (_e56 == 0) {
        report_fault_0_(2u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, reports, _buffer_sizes);
    }
    local_1 = 0u;
    bool _e70 = _e67 > 0u;
    if (!(_e70)) {
        report_fault_2_(3u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, metal::uint4(_e67, 0u, 0u, 0u), reports, _buffer_sizes);
    }
    if ((0u < 2u) && _e70) {
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e93 = local_1;
                local_1 = _e93 + _e67;
                if (_e67 >= (2u - local_1)) {
                    break;
                }
            }
            loop_init = false;
            if ((_e11 < _e14) && (thread_.x < _e17)) {
                out[_e22 + _e25] = _e61;
            } else {
                if (!((_e11 < _e14))) {
                    report_fault_4_(4u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, metal::uint4(_e11, 0u, _e14, 0u), reports, _buffer_sizes);
                } else {
                    report_fault_4_(5u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, metal::uint4(thread_.x, 0u, _e17, 0u), reports, _buffer_sizes);
                }
            }
            continue;
        }
    }
    if (!((_e61 > _e52))) {
        report_fault_4_(6u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, metal::uint4(as_type<uint>(_e61), 0u, as_type<uint>(_e52), 0u), reports, _buffer_sizes);
        return;
    }
    report_line_2_(7u, _e38, metal::uint3(_e41, _e9, _e44) + block, thread_, metal::uint4(as_type<uint>(_e61), 0u, 0u, 0u), reports, _buffer_sizes);
    return;
}
