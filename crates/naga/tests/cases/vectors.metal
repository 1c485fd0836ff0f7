// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
    uint size3;
    uint size4;
};

typedef metal::float4 type_2[1];
typedef int type_4[1];
typedef metal::uint4 type_6[1];
struct type_7 {
    metal::float4 inner[32];
};
struct type_8 {
    metal::uint4 inner[3];
};

struct vectorsInput {
};
[[max_total_threads_per_threadgroup(32)]] kernel void vectors(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_8& launch [[buffer(0)]]
, device type_2 const& a [[buffer(1)]]
, device type_2& b [[buffer(2)]]
, device type_4& c [[buffer(3)]]
, device type_6 const& h [[buffer(4)]]
, threadgroup type_7& tile
, constant _mslBufferSizes& _buffer_sizes [[buffer(5)]]
) {
    uint _e14 = launch.inner[2].x;
    uint _e45 = launch.inner[2].y;
    uint _e53 = launch.inner[2].z;
    uint _e102 = launch.inner[2].w;
    uint _e10 = thread_.x * 4u;
    metal::float4 _e19 = a[(_e10 + _e14) >> 2u];
    uint _e24 = thread_.x + _e14;
    float _e30 = a[_e24 >> 2u][_e24 & 3u];
    tile.inner[_e10 >> 2u] = metal::float4(_e19.x + _e30, _e19.y + _e30, _e19.z + _e30, _e19.w + _e30);
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    float _e42 = tile.inner[thread_.x >> 2u][thread_.x & 3u];
    b[(_e10 + _e45) >> 2u] = metal::float4(_e42, _e42, _e42, _e42);
    metal::uint4 _e58 = h[(((thread_.x * 16u) + _e53) >> 2u) >> 2u];
    int _e99 = as_type<int>((_e58.x >> 0u) & 255u);
    uint _e103 = _e10 + _e102;
    c[_e103] = _e99;
    c[_e103 + 1u] = _e99;
    c[_e103 + 2u] = _e99;
    c[_e103 + 3u] = _e99;
    c[thread_.x + _e102] = _e99;
    return;
}
