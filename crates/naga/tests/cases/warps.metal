// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
};

typedef float type_2[1];
typedef uint type_4[1];
struct type_5 {
    uint inner[128];
};
struct type_7 {
    metal::uint4 inner[3];
};

struct warpsInput {
};
[[max_total_threads_per_threadgroup(64)]] kernel void warps(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, uint thread_number [[thread_index_in_threadgroup]]
, constant type_7& launch [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_4& bits [[buffer(2)]]
, threadgroup type_5& lanes
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    float local = {};
    uint local_1 = {};
    uint local_2 = 0u;
    uint local_3 = {};
    uint local_4 = {};
    uint _e8 = launch.inner[2].x;
    uint _e22 = thread_number & 31u;
    uint _e88 = launch.inner[2].y;
    float _e11 = out[thread_.x + _e8];
    local = _e11;
    local_1 = 16u;
    while(true) {
        uint _e17 = local_1;
        if (_e17 == 0u) {
            break;
        }
        float _e19 = local;
        uint _e25 = local_2;
        uint _e28 = (_e25 * 64u) + thread_number;
        lanes.inner[_e28] = as_type<uint>(_e19);
        local_2 = 1u - _e25;
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        uint _e36 = lanes.inner[(_e28 - _e22) + (_e22 ^ _e17)];
        local = _e19 + as_type<float>(_e36);
        local_1 = _e17 >> 1u;
    }
    float _e40 = local;
    uint _e42 = local_2;
    uint _e44 = (_e42 * 64u) + thread_number;
    lanes.inner[_e44] = as_type<uint>(_e40);
    local_2 = 1u - _e42;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    uint _e56 = lanes.inner[(_e44 - _e22) + ((_e22 + 3u) & 31u)];
    out[thread_.x + _e8] = (3u < (32u - _e22)) ? as_type<float>(_e56) : _e40;
    uint _e63 = local_2;
    uint _e65 = (_e63 * 64u) + thread_number;
    lanes.inner[_e65] = (_e11 < 0.5) ? 1u : 0u;
    local_2 = 1u - _e63;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    local_3 = 0u;
    local_4 = 0u;
    while(true) {
        uint _e72 = local_4;
        if (_e72 == 32u) {
            break;
        }
        uint _e76 = lanes.inner[(_e65 - _e22) + _e72];
        uint _e82 = local_3;
        local_3 = _e82 | (((_e76 & 255u) != 0u) ? (1u << _e72) : 0u);
        local_4 = _e72 + 1u;
    }
    uint _e85 = local_3;
    bits[thread_.x + _e88] = _e85;
    return;
}
