// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
    uint size3;
};

typedef float type_2[1];
struct type_3 {
    float inner[8];
};
struct type_6 {
    metal::uint4 inner[4];
};

struct dot_productInput {
};
[[max_total_threads_per_threadgroup(8)]] kernel void dot_product(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_6& launch [[buffer(0)]]
, device type_2& output [[buffer(1)]]
, device type_2 const& a [[buffer(2)]]
, device type_2 const& b [[buffer(3)]]
, threadgroup type_3& sums
, constant _mslBufferSizes& _buffer_sizes [[buffer(4)]]
) {
    float local = {};
    uint local_1 = {};
    uint _e13 = launch.inner[0].x;
    uint _e21 = launch.inner[2].x;
    uint _e26 = launch.inner[2].z;
    uint _e32 = launch.inner[2].w;
    uint _e57 = launch.inner[3].x;
    uint _e15 = _e13 + block.x;
    uint _e18 = (_e15 * 8u) + thread_.x;
    if (_e18 < _e21) {
        float _e29 = a[_e18 + _e26];
        float _e35 = b[_e18 + _e32];
        local = _e29 * _e35;
    } else {
        local = 0.0;
    }
    float _e37 = local;
    sums.inner[thread_.x] = _e37;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    local_1 = 8u >> 1u;
    while(true) {
        uint _e41 = local_1;
        if (_e41 > 0u) {
        } else {
            break;
        }
        if (thread_.x < _e41) {
            float _e46 = sums.inner[thread_.x];
            float _e48 = sums.inner[thread_.x + _e41];
            sums.inner[thread_.x] = _e46 + _e48;
        }
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
        local_1 = _e41 >> 1u;
        continue;
    }
    if (thread_.x == 0u) {
        float _e54 = sums.inner[0u];
        output[_e15 + _e57] = _e54;
    }
    return;
}
