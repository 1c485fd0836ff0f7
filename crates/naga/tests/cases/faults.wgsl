@group(0) @binding(0) 
var<uniform> launch_1: array<vec4<u32>, 5>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage, read_write> reports: array<atomic<u32>>;

fn begin_report(area: u32, site: u32, len: u32, launch: u32, block_1: vec3<u32>, thread_1: vec3<u32>) -> u32 {
    var local_2: u32 = 4294967295u;

    let _e11 = (area == 0u);
    if _e11 {
        atomicAdd((&reports[0u]), 1u);
    }
    let _e14 = ((area * 3u) + 1u);
    let _e18 = atomicLoad((&reports[(_e14 + 1u)]));
    if (_e18 >= len) {
        let _e21 = (_e18 - len);
        let _e22 = atomicLoad((&reports[_e14]));
        if (_e22 <= _e21) {
            let _e24 = atomicAdd((&reports[_e14]), len);
            if (_e24 <= _e21) {
                let _e28 = atomicLoad((&reports[2u]));
                let _e32 = ((8u + (_e28 * area)) + _e24);
                atomicStore((&reports[(_e32 + 0u)]), len);
                atomicStore((&reports[(_e32 + 1u)]), site);
                atomicStore((&reports[(_e32 + 2u)]), launch);
                atomicStore((&reports[(_e32 + 3u)]), block_1.x);
                atomicStore((&reports[(_e32 + 6u)]), thread_1.x);
                atomicStore((&reports[(_e32 + 4u)]), block_1.y);
                atomicStore((&reports[(_e32 + 7u)]), thread_1.y);
                atomicStore((&reports[(_e32 + 5u)]), block_1.z);
                atomicStore((&reports[(_e32 + 8u)]), thread_1.z);
                local_2 = _e32;
            }
        }
    }
    let _e61 = local_2;
    if ((_e61 == 4294967295u) && !(_e11)) {
        atomicAdd((&reports[3u]), 1u);
    }
    return _e61;
}

@compute @workgroup_size(64, 1, 1) 
fn faults(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: i32;
    var local_1: u32;

    let _e9 = launch_1[0].y;
    let _e14 = launch_1[2].x;
    let _e17 = launch_1[2].z;
    let _e20 = launch_1[3].x;
    let _e25 = launch_1[3].z;
    let _e38 = launch_1[1].z;
    let _e41 = launch_1[0].x;
    let _e44 = launch_1[0].z;
    let _e80 = launch_1[3].w;
    let _e93 = launch_1[4].x;
    let _e11 = (_e9 + block.y);
    let _e22 = ((_e11 * _e20) + thread.x);
    if ((_e11 < _e14) && (thread.x < _e17)) {
        let _e32 = out[(_e22 + _e25)];
        local = _e32;
    } else {
        local = 0i;
        if !((_e11 < _e14)) {
            let _e48 = begin_report(0u, 0u, 13u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread);
            if (_e48 != 4294967295u) {
                atomicStore((&reports[(_e48 + 9u)]), _e11);
                atomicStore((&reports[(_e48 + 10u)]), 0u);
                atomicStore((&reports[(_e48 + 11u)]), _e14);
                atomicStore((&reports[(_e48 + 12u)]), 0u);
            }
        } else {
            let _e67 = begin_report(0u, 1u, 13u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread);
            if (_e67 != 4294967295u) {
                atomicStore((&reports[(_e67 + 9u)]), thread.x);
                atomicStore((&reports[(_e67 + 10u)]), 0u);
                atomicStore((&reports[(_e67 + 11u)]), _e17);
                atomicStore((&reports[(_e67 + 12u)]), 0u);
            }
        }
    }
    let _e77 = local;
    let _e81 = bitcast<i32>(_e80);
    let _e83 = (_e81 == 0i);
    let _e86 = select((_e77 / select(_e81, 1i, _e83)), 0i, _e83);
    if (_e81 == 0i) {
        let _e90 = begin_report(0u, 2u, 9u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread);
    }
    local_1 = 0u;
    let _e96 = (_e93 > 0u);
    if !(_e96) {
        let _e101 = begin_report(0u, 3u, 11u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread);
        if (_e101 != 4294967295u) {
            atomicStore((&reports[(_e101 + 9u)]), _e93);
            atomicStore((&reports[(_e101 + 10u)]), 0u);
        }
    }
    if ((0u < 2u) && _e96) {
        loop {
            if ((_e11 < _e14) && (thread.x < _e17)) {
                out[(_e22 + _e25)] = _e86;
            } else {
                if !((_e11 < _e14)) {
                    let _e119 = begin_report(0u, 4u, 13u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread);
                    if (_e119 != 4294967295u) {
                        atomicStore((&reports[(_e119 + 9u)]), _e11);
                        atomicStore((&reports[(_e119 + 10u)]), 0u);
                        atomicStore((&reports[(_e119 + 11u)]), _e14);
                        atomicStore((&reports[(_e119 + 12u)]), 0u);
                    }
                } else {
                    let _e132 = begin_report(0u, 5u, 13u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread);
                    if (_e132 != 4294967295u) {
                        atomicStore((&reports[(_e132 + 9u)]), thread.x);
                        atomicStore((&reports[(_e132 + 10u)]), 0u);
                        atomicStore((&reports[(_e132 + 11u)]), _e17);
                        atomicStore((&reports[(_e132 + 12u)]), 0u);
                    }
                }
            }
            continue;
            continuing {
                let _e142 = local_1;
                local_1 = (_e142 + _e93);
                break if (_e93 >= (2u - _e142));
            }
        }
    }
    if !((_e86 > _e77)) {
        let _e153 = begin_report(0u, 6u, 13u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread);
        if (_e153 != 4294967295u) {
            atomicStore((&reports[(_e153 + 9u)]), bitcast<u32>(_e86));
            atomicStore((&reports[(_e153 + 10u)]), 0u);
            atomicStore((&reports[(_e153 + 11u)]), bitcast<u32>(_e77));
            atomicStore((&reports[(_e153 + 12u)]), 0u);
        }
        return;
    }
    let _e167 = begin_report(1u, 7u, 11u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread);
    if (_e167 != 4294967295u) {
        atomicStore((&reports[(_e167 + 9u)]), bitcast<u32>(_e86));
        atomicStore((&reports[(_e167 + 10u)]), 0u);
    }
    return;
}
