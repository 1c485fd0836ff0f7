// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
};

typedef int type_2[1];
struct type_3 {
    int inner[64];
};
struct type_6 {
    metal::uint4 inner[3];
};

struct early_returnInput {
};
[[max_total_threads_per_threadgroup(64)]] kernel void early_return(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_6& launch [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_2 const& in [[buffer(2)]]
, threadgroup type_3& tile
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    bool local = true;
    int local_1 = {};
    int local_2 = {};
    uint _e10 = launch.inner[2].x;
    uint _e19 = launch.inner[2].z;
    uint _e35 = launch.inner[2].w;
    if (thread_.x >= _e10) {
        local = false;
    }
    bool _e15 = local;
    if (_e15) {
        int _e22 = in[thread_.x + _e19];
        local_1 = _e22;
    }
    int _e23 = local_1;
    bool _e24 = local;
    if (_e24) {
        tile.inner[thread_.x] = _e23;
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    bool _e27 = local;
    if (_e27) {
        int _e30 = tile.inner[63u - thread_.x];
        local_2 = _e30;
    }
    int _e31 = local_2;
    bool _e32 = local;
    if (_e32) {
        out[thread_.x + _e35] = _e31;
    }
    return;
}
