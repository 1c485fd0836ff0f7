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
    int inner[40];
};
struct type_7 {
    metal::uint4 inner[3];
};
int naga_div(int lhs, int rhs) {
    return lhs / metal::select(rhs, 1, (lhs == (-2147483647 - 1) & rhs == -1) | (rhs == 0));
}


struct nestedInput {
};
[[max_total_threads_per_threadgroup(40)]] kernel void nested(
  metal::uint3 thread_ [[thread_position_in_threadgroup]]
, metal::uint3 block [[threadgroup_position_in_grid]]
, constant type_7& launch [[buffer(0)]]
, device type_2& out [[buffer(1)]]
, device type_2 const& in [[buffer(2)]]
, threadgroup type_3& tile
, constant _mslBufferSizes& _buffer_sizes [[buffer(3)]]
) {
    uint local = {};
    uint local_1 = {};
    bool local_2 = true;
    int local_3 = {};
    uint local_4 = {};
    int local_5 = {};
    int local_6 = {};
    int local_7 = {};
    uint local_8 = {};
    int local_9 = {};
    int local_10 = {};
    int local_11 = {};
    uint _e13 = launch.inner[2].x;
    uint _e17 = launch.inner[0].x;
    uint _e33 = launch.inner[2].z;
    uint _e105 = launch.inner[2].w;
    uint _e19 = _e17 + block.x;
    tile.inner[thread_.x] = 0;
    local = 0u;
    while(true) {
        uint _e22 = local;
        if (_e22 >= 3u) {
            break;
        }
        local_1 = 0u;
        if (0u < 5u) {
            bool loop_init = true;
            while(true) {
                if (!loop_init) {
                    uint _e85 = local_1;
                    local_1 = _e85 + 1u;
                    if (1u >= (5u - local_1)) {
                        break;
                    }
                }
                loop_init = false;
                uint _e26 = local_1;
                bool _e29 = local_2;
                if (_e29) {
                    int _e36 = in[thread_.x + _e33];
                    local_3 = _e36;
                }
                int _e37 = local_3;
                int _e39 = as_type<int>(as_type<uint>(_e37) + as_type<uint>(as_type<int>(_e26)));
                if (_e19 == _e26) {
                    local = _e22 + 1u;
                    local_4 = 3u;
                    break;
                }
                bool _e44 = local_2;
                if (_e44) {
                    while(true) {
                        if (_e39 > 0) {
                            local_8 = 0u;
                            local_9 = 0;
                            if (0u < _e13) {
                                bool loop_init_1 = true;
                                while(true) {
                                    if (!loop_init_1) {
                                        uint _e63 = local_8;
                                        local_8 = _e63 + 1u;
                                        if (1u >= (_e13 - local_8)) {
                                            break;
                                        }
                                    }
                                    loop_init_1 = false;
                                    uint _e51 = local_8;
                                    int _e52 = local_9;
                                    int _e53 = as_type<int>(as_type<uint>(_e52) + as_type<uint>(_e39));
                                    if (_e53 > 90) {
                                        int _e56 = as_type<int>(_e51);
                                        if (as_type<int>(as_type<uint>(_e56) - as_type<uint>(as_type<int>(as_type<uint>(naga_div(_e56, 3)) * as_type<uint>(3)))) == 0) {
                                            local_2 = false;
                                            local_4 = 1u;
                                            break;
                                        }
                                        local_9 = _e53;
                                        break;
                                    }
                                    local_9 = _e53;
                                    continue;
                                }
                                uint _e67 = local_4;
                                if (_e67 == 1u) {
                                    local_4 = 0u;
                                    break;
                                }
                            }
                            int _e69 = local_9;
                            local_7 = _e69;
                        } else {
                            local_7 = _e37;
                        }
                        int _e70 = local_7;
                        local_6 = _e70;
                        break;
                    }
                    int _e71 = local_6;
                    local_5 = _e71;
                }
                int _e72 = local_5;
                metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
                bool _e75 = local_2;
                if (_e75) {
                    int _e78 = tile.inner[39u - thread_.x];
                    local_10 = _e78;
                }
                int _e79 = local_10;
                metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
                bool _e81 = local_2;
                if (_e81) {
                    tile.inner[thread_.x] = as_type<int>(as_type<uint>(_e79) + as_type<uint>(_e72));
                }
                metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
                if (_e22 == 2u) {
                    local_4 = 2u;
                    break;
                }
                continue;
            }
            uint _e89 = local_4;
            if (_e89 == 2u) {
                local_4 = 0u;
                break;
            }
            uint _e91 = local_4;
            if (_e91 == 3u) {
                local_4 = 0u;
                continue;
            }
        }
        local = _e22 + 1u;
        continue;
    }
    bool _e94 = local_2;
    if (_e94) {
        int _e97 = tile.inner[thread_.x];
        local_11 = _e97;
    }
    int _e98 = local_11;
    bool _e102 = local_2;
    if (_e102) {
        out[((_e19 * 40u) + thread_.x) + _e105] = _e98;
    }
    return;
}
