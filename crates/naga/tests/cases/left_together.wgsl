@group(0) @binding(0) 
var<uniform> launch_1: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage> in: array<i32>;
var<workgroup> tile: array<i32, 40>;
@group(0) @binding(3) 
var<storage, read_write> reports: array<atomic<u32>>;

fn report_fault_4_(site: u32, launch: u32, block_1: vec3<u32>, thread_1: vec3<u32>, words0_: vec4<u32>) {
    var local_7: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e17 = atomicLoad((&reports[2u]));
    if (_e17 >= 13u) {
        let _e19 = (_e17 - 13u);
        let _e20 = atomicLoad((&reports[1u]));
        if (_e20 <= _e19) {
            let _e22 = atomicAdd((&reports[1u]), 13u);
            if (_e22 <= _e19) {
                let _e25 = (8u + _e22);
                local_7 = _e25;
                loop {
                    let _e34 = local_7;
                    if (_e34 >= (_e25 + 13u)) {
                        break;
                    }
                    let _e36 = (_e34 - _e25);
                    atomicStore((&reports[_e34]), select(select(select(select(select(select(select(select(select(select(select(select(words0_.w, 13u, (_e36 == 0u)), site, (_e36 == 1u)), launch, (_e36 == 2u)), block_1.x, (_e36 == 3u)), block_1.y, (_e36 == 4u)), block_1.z, (_e36 == 5u)), thread_1.x, (_e36 == 6u)), thread_1.y, (_e36 == 7u)), thread_1.z, (_e36 == 8u)), words0_.x, (_e36 == 9u)), words0_.y, (_e36 == 10u)), words0_.z, (_e36 == 11u)));
                    local_7 = (_e34 + 1u);
                }
            }
        }
    }
    return;
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
            report_fault_4_(0u, _e74, (vec3<u32>(_e59, _e77, _e80) + block), thread, vec4<u32>(_e63, 0u, 190u, 0u));
        }
    }
    return;
}
