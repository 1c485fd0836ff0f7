// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
};

typedef int type_2[1];
struct type_6 {
    metal::uint4 inner[3];
};

struct return_from_loopInput {
};
[[max_total_threads_per_threadgroup(64)]] kernel void return_from_loop(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_6& launch [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_2 const& in [[buffer(2)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    uint local = {};
    int local_1 = {};
    bool local_2 = true;
    int local_3 = {};
    int local_4 = {};
    int local_5 = {};
    int local_6 = {};
    uint local_7 = {};
    uint _e11 = launch.inner[2].x;
    uint _e27 = launch.inner[2].z;
    uint _e49 = launch.inner[2].w;
    local = 0u;
    local_1 = 0;
    if (0u < _e11) {
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e41 = local;
                local = _e41 + 1u;
                if (1u >= (_e11 - local)) {
                    break;
                }
            }
            loop_init = false;
            int _e16 = local_1;
            bool _e19 = local_2;
            if (_e19) {
                while(true) {
                    local_5 = _e16;
                    while(true) {
                        int _e24 = local_5;
                        int _e30 = in[thread_.x + _e27];
                        int _e31 = as_type<int>(as_type<uint>(_e24) + as_type<uint>(_e30));
                        if (_e31 < 0) {
                            local_2 = false;
                            local_7 = 1u;
                            break;
                        }
                        if (_e31 >= _e30) {
                            local_6 = _e31;
                            break;
                        }
                        local_5 = _e31;
                        continue;
                    }
                    uint _e36 = local_7;
                    if (_e36 == 1u) {
                        local_7 = 0u;
                        break;
                    }
                    int _e38 = local_6;
                    local_4 = _e38;
                    break;
                }
                int _e39 = local_4;
                local_3 = _e39;
            }
            int _e40 = local_3;
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            local_1 = _e40;
            continue;
        }
    }
    int _e45 = local_1;
    bool _e46 = local_2;
    if (_e46) {
        out[thread_.x + _e49] = _e45;
    }
    return;
}
