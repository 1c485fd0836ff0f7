// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
};

typedef uint type_2[1];
struct type_4 {
    metal::uint4 inner[3];
};

struct jumpsInput {
};
[[max_total_threads_per_threadgroup(64)]] kernel void jumps(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_4& launch [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_2 const& in [[buffer(2)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    uint local = {};
    uint local_1 = {};
    uint local_2 = {};
    uint local_3 = {};
    uint local_4 = {};
    uint _e11 = launch.inner[2].x;
    uint _e24 = launch.inner[2].z;
    uint _e50 = launch.inner[2].w;
    local = 0u;
    local_1 = 0u;
    if (0u < _e11) {
        bool loop_init = true;
        while(true) {
            if (!loop_init) {
                uint _e43 = local;
                local = _e43 + 1u;
                if (1u >= (_e11 - local)) {
                    break;
                }
            }
            loop_init = false;
            uint _e15 = local;
            uint _e16 = local_1;
            local_2 = 0u;
            local_3 = _e16;
            if (0u < _e15) {
                bool loop_init_1 = true;
                while(true) {
                    if (!loop_init_1) {
                        uint _e34 = local_2;
                        local_2 = _e34 + 1u;
                        if (1u >= (_e15 - local_2)) {
                            break;
                        }
                    }
                    loop_init_1 = false;
                    uint _e20 = local_2;
                    uint _e21 = local_3;
                    uint _e27 = in[_e20 + _e24];
                    if (_e27 == 7u) {
                        local_1 = _e21;
                        local_4 = 2u;
                        break;
                    }
                    if (_e27 == 0u) {
                        local_1 = _e27;
                        local_4 = 3u;
                        break;
                    }
                    local_3 = _e21 + _e27;
                    continue;
                }
                uint _e38 = local_4;
                if (_e38 == 2u) {
                    local_4 = 0u;
                    break;
                }
                uint _e40 = local_4;
                if (_e40 == 3u) {
                    local_4 = 0u;
                    continue;
                }
            }
            uint _e42 = local_3;
            local_1 = _e42;
            continue;
        }
    }
    uint _e47 = local_1;
    out[thread_.x + _e50] = _e47;
    return;
}
