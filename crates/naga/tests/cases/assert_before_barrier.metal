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

void report_fault_2_(
    uint site,
    uint launch,
    metal::uint3 block_1,
    metal::uint3 thread_1,
    metal::uint4 words0_,
    device type_5& reports,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint local_2 = {};
    metal::atomic_fetch_add_explicit(&reports[0u], 1u, metal::memory_order_relaxed);
    uint _e15 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
    if (_e15 >= 11u) {
        uint _e17 = _e15 - 11u;
        uint _e18 = metal::atomic_load_explicit(&reports[1u], metal::memory_order_relaxed);
        if (_e18 <= _e17) {
            uint _e20 = metal::atomic_fetch_add_explicit(&reports[1u], 11u, metal::memory_order_relaxed);
            if (_e20 <= _e17) {
                uint _e23 = 8u + _e20;
                local_2 = _e23;
                while(true) {
                    uint _e32 = local_2;
                    if (_e32 >= (_e23 + 11u)) {
                        break;
                    }
                    uint _e34 = _e32 - _e23;
                    metal::atomic_store_explicit(&reports[_e32], (_e34 == 9u) ? words0_.x : ((_e34 == 8u) ? thread_1.z : ((_e34 == 7u) ? thread_1.y : ((_e34 == 6u) ? thread_1.x : ((_e34 == 5u) ? block_1.z : ((_e34 == 4u) ? block_1.y : ((_e34 == 3u) ? block_1.x : ((_e34 == 2u) ? launch : ((_e34 == 1u) ? site : ((_e34 == 0u) ? 11u : words0_.y))))))))), metal::memory_order_relaxed);
                    local_2 = _e32 + 1u;
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
    device type_5& reports,
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

void report_line_2_(
    uint site_2,
    uint launch_2,
    metal::uint3 block_3,
    metal::uint3 thread_3,
    metal::uint4 words0_1,
    device type_5& reports,
    constant _mslBufferSizes& _buffer_sizes
) {
    bool local_4 = false;
    uint local_5 = {};
    uint _e18 = metal::atomic_load_explicit(&reports[5u], metal::memory_order_relaxed);
    if (_e18 >= 11u) {
        uint _e20 = _e18 - 11u;
        uint _e21 = metal::atomic_load_explicit(&reports[4u], metal::memory_order_relaxed);
        if (_e21 <= _e20) {
            uint _e23 = metal::atomic_fetch_add_explicit(&reports[4u], 11u, metal::memory_order_relaxed);
            if (_e23 <= _e20) {
                uint _e29 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
                uint _e30 = (8u + _e23) + _e29;
                local_5 = _e30;
                while(true) {
                    uint _e39 = local_5;
                    if (_e39 >= (_e30 + 11u)) {
                        break;
                    }
                    uint _e41 = _e39 - _e30;
                    metal::atomic_store_explicit(&reports[_e39], (_e41 == 9u) ? words0_1.x : ((_e41 == 8u) ? thread_3.z : ((_e41 == 7u) ? thread_3.y : ((_e41 == 6u) ? thread_3.x : ((_e41 == 5u) ? block_3.z : ((_e41 == 4u) ? block_3.y : ((_e41 == 3u) ? block_3.x : ((_e41 == 2u) ? launch_2 : ((_e41 == 1u) ? site_2 : ((_e41 == 0u) ? 11u : words0_1.y))))))))), metal::memory_order_relaxed);
                    local_5 = _e39 + 1u;
                }
                local_4 = true;
            }
        }
    }
    bool _e69 = local_4;
    if (!(_e69)) {
        metal::atomic_fetch_add_explicit(&reports[3u], 1u, metal::memory_order_relaxed);
    }
    return;
}

void report_fault_4_(
    uint site_3,
    uint launch_3,
    metal::uint3 block_4,
    metal::uint3 thread_4,
    metal::uint4 words0_2,
    device type_5& reports,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint local_6 = {};
    metal::atomic_fetch_add_explicit(&reports[0u], 1u, metal::memory_order_relaxed);
    uint _e17 = metal::atomic_load_explicit(&reports[2u], metal::memory_order_relaxed);
    if (_e17 >= 13u) {
        uint _e19 = _e17 - 13u;
        uint _e20 = metal::atomic_load_explicit(&reports[1u], metal::memory_order_relaxed);
        if (_e20 <= _e19) {
            uint _e22 = metal::atomic_fetch_add_explicit(&reports[1u], 13u, metal::memory_order_relaxed);
            if (_e22 <= _e19) {
                uint _e25 = 8u + _e22;
                local_6 = _e25;
                while(true) {
                    uint _e34 = local_6;
                    if (_e34 >= (_e25 + 13u)) {
                        break;
                    }
                    uint _e36 = _e34 - _e25;
                    metal::atomic_store_explicit(&reports[_e34], (_e36 == 11u) ? words0_2.z : ((_e36 == 10u) ? words0_2.y : ((_e36 == 9u) ? words0_2.x : ((_e36 == 8u) ? thread_4.z : ((_e36 == 7u) ? thread_4.y : ((_e36 == 6u) ? thread_4.x : ((_e36 == 5u) ? block_4.z : ((_e36 == 4u) ? block_4.y : ((_e36 == 3u) ? block_4.x : ((_e36 == 2u) ? launch_3 : ((_e36 == 1u) ? site_3 : ((_e36 == 0u) ? 13u : words0_2.w))))))))))), metal::memory_order_relaxed);
                    local_6 = _e34 + 1u;
                }
            }
        }
    }
    return;
}
int naga_div(int lhs, int rhs) {
    return lhs / metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
}


struct assertsInput {
};
[[max_total_threads_per_threadgroup(40)]] kernel void asserts(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_9& launch_4 [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_2 const& in [[buffer(2)]]
, threadgroup type_3& tile
, device type_5& reports [[buffer(3)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(4)]]
) {
    bool local = true;
    int local_1 = {};
    uint _e12 = launch_4.inner[2].x;
    uint _e23 = launch_4.inner[1].z;
    uint _e26 = launch_4.inner[0].x;
    uint _e29 = launch_4.inner[0].y;
    uint _e32 = launch_4.inner[0].z;
    uint _e74 = launch_4.inner[2].y;
    tile.inner[thread_.x] = 77;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    int _e15 = in[thread_.x + _e12];
    if (!((_e15 > -2))) {
        report_fault_2_(0u, _e23, metal::uint3(_e26, _e29, _e32) + block, thread_, metal::uint4(as_type<uint>(_e15), 0u, 0u, 0u), reports, _buffer_sizes);
        local = false;
    }
    bool _e40 = _e15 == 0;
    bool _e45 = local;
    if (_e45 && (_e15 == 0)) {
        report_fault_0_(1u, _e23, metal::uint3(_e26, _e29, _e32) + block, thread_, reports, _buffer_sizes);
    }
    bool _e50 = local;
    if (_e50) {
        tile.inner[thread_.x] = _e40 ? 0 : naga_div(_e15, _e40 ? 1 : _e15);
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    bool _e54 = local;
    if (_e54) {
        int _e57 = tile.inner[39u - thread_.x];
        local_1 = _e57;
    }
    int _e58 = local_1;
    bool _e59 = local;
    if (_e59) {
        report_line_2_(2u, _e23, metal::uint3(_e26, _e29, _e32) + block, thread_, metal::uint4(as_type<uint>(_e58), 0u, 0u, 0u), reports, _buffer_sizes);
    }
    uint _e69 = (40u * (_e26 + block.x)) + thread_.x;
    bool _e71 = local;
    if (_e71) {
        if (_e69 < 190u) {
            out[_e69 + _e74] = _e58;
        } else {
            report_fault_4_(3u, _e23, metal::uint3(_e26, _e29, _e32) + block, thread_, metal::uint4(_e69, 0u, 190u, 0u), reports, _buffer_sizes);
        }
    }
    return;
}
