// language: metal3.1
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size1;
    uint size2;
    uint size3;
};

typedef metal::atomic_uint type_2[1];
typedef uint type_4[1];
struct type_6 {
    metal::uint4 inner[3];
};

struct packedInput {
};
[[max_total_threads_per_threadgroup(64)]] kernel void packed(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_6& launch [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_4 const& flags [[buffer(2)]]
, device type_2& halves [[buffer(3)]]
, constant _mslBufferSizes& _buffer_sizes [[buffer(4)]]
) {
    uint _e10 = launch.inner[2].x;
    uint _e25 = launch.inner[2].y;
    uint _e51 = launch.inner[2].z;
    uint _e11 = thread_.x + _e10;
    uint _e19 = metal::atomic_load_explicit(&out[_e11 >> 2u], metal::memory_order_relaxed);
    uint _e26 = thread_.x + _e25;
    uint _e31 = flags[_e26 >> 2u];
    uint _e40 = thread_.x + _e10;
    uint _e43 = (_e40 & 3u) * 8u;
    metal::atomic_fetch_and_explicit(&out[_e40 >> 2u], ~((255u << _e43)), metal::memory_order_relaxed);
    metal::atomic_fetch_or_explicit(&out[_e40 >> 2u], ((((_e19 >> ((_e11 & 3u) * 8u)) & 255u) + ((((_e31 >> ((_e26 & 3u) * 8u)) & 255u) != 0u) ? 1u : 0u)) & 255u) << _e43, metal::memory_order_relaxed);
    uint _e48 = thread_.x * 4u;
    uint _e55 = metal::atomic_load_explicit(&halves[(_e48 + _e51) >> 1u], metal::memory_order_relaxed);
    float _e59 = as_type<float>((_e55 >> 0u) << 16u);
    float _e62 = as_type<float>((_e55 >> 16u) << 16u);
    float _e63 = _e59 * _e59;
    uint _e64 = as_type<uint>(_e63);
    float _e78 = _e62 * _e62;
    uint _e79 = as_type<uint>(_e78);
    metal::atomic_store_explicit(&halves[(_e48 + _e51) >> 1u], ((as_type<uint>(((_e64 & 2147483647u) > 2139095040u) ? _e63 : as_type<float>(((_e64 + 32767u) + ((_e64 >> 16u) & 1u)) & 4294901760u)) >> 16u) << 0u) | ((as_type<uint>(((_e79 & 2147483647u) > 2139095040u) ? _e78 : as_type<float>(((_e79 + 32767u) + ((_e79 >> 16u) & 1u)) & 4294901760u)) >> 16u) << 16u), metal::memory_order_relaxed);
    return;
}
