@group(0) @binding(0) 
var<uniform> launch_1: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage> in: array<i32>;
var<workgroup> tile: array<i32, 40>;
@group(0) @binding(3) 
var<storage, read_write> reports: array<atomic<u32>>;

fn begin_report(area: u32, site: u32, len: u32, launch: u32, block_1: vec3<u32>, thread_1: vec3<u32>) -> u32 {
    var local_7: u32 = 4294967295u;

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
                local_7 = _e32;
            }
        }
    }
    let _e61 = local_7;
    if ((_e61 == 4294967295u) && !(_e11)) {
        atomicAdd((&reports[3u]), 1u);
    }
    return _e61;
}

@compute @workgroup_size(40, 1, 1) 
fn left(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: u32;
    var local_1: u32;
    var local_2: u32;
    var local_3: bool = true;
    var local_4: i32;
    var local_5: u32;
    var local_6: i32;

    let _e25 = launch_1[2].x;
    let _e59 = launch_1[0].x;
    let _e68 = launch_1[2].y;
    let _e74 = launch_1[1].z;
    let _e77 = launch_1[0].y;
    let _e80 = launch_1[0].z;
    tile[thread.x] = 77i;
    workgroupBarrier();
    local = 0u;
    if (0u < 7u) {
        loop {
            let _e14 = local;
            local_1 = 0u;
            loop {
                let _e17 = local_1;
                let _e20 = local_3;
                if _e20 {
                    let _e28 = in[(thread.x + _e25)];
                    local_4 = _e28;
                }
                let _e29 = local_4;
                let _e32 = local_3;
                if _e32 {
                    if (_e29 == bitcast<i32>(_e17)) {
                        local_3 = false;
                    }
                }
                if (_e17 >= 7u) {
                    local_2 = _e17;
                    break;
                }
                if (_e17 > _e14) {
                    local_5 = 3u;
                    break;
                }
                local_1 = (_e17 + 1u);
                continue;
            }
            let _e39 = local_5;
            if (_e39 == 3u) {
                local_5 = 0u;
                continue;
            }
            let _e41 = local_2;
            let _e43 = local_3;
            if _e43 {
                tile[thread.x] = bitcast<i32>(_e41);
            }
            workgroupBarrier();
            continue;
            continuing {
                let _e45 = local;
                local = (_e45 + 1u);
                break if (1u >= (7u - _e45));
            }
        }
    }
    workgroupBarrier();
    let _e51 = local_3;
    if _e51 {
        let _e54 = tile[(39u - thread.x)];
        local_6 = _e54;
    }
    let _e55 = local_6;
    let _e63 = ((40u * (_e59 + block.x)) + thread.x);
    let _e65 = local_3;
    if _e65 {
        if (_e63 < 190u) {
            out[(_e63 + _e68)] = _e55;
        } else {
            let _e84 = begin_report(0u, 0u, 13u, _e74, (vec3<u32>(_e59, _e77, _e80) + block), thread);
            if (_e84 != 4294967295u) {
                atomicStore((&reports[(_e84 + 9u)]), _e63);
                atomicStore((&reports[(_e84 + 10u)]), 0u);
                atomicStore((&reports[(_e84 + 11u)]), 190u);
                atomicStore((&reports[(_e84 + 12u)]), 0u);
            }
        }
    }
    return;
}
