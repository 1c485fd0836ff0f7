@group(0) @binding(0) 
var<uniform> launch_1: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage> in: array<i32>;
var<workgroup> tile: array<i32, 40>;
@group(0) @binding(3) 
var<storage, read_write> reports: array<atomic<u32>>;

fn report_fault_4_(site: u32, launch: u32, block_1: vec3<u32>, thread_1: vec3<u32>, word0_: u32, word1_: u32, word2_: u32, word3_: u32) {
    var local_7: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e16 = atomicLoad((&reports[2u]));
    if (_e16 >= 13u) {
        let _e18 = (_e16 - 13u);
        let _e19 = atomicLoad((&reports[1u]));
        if (_e19 <= _e18) {
            let _e21 = atomicAdd((&reports[1u]), 13u);
            if (_e21 <= _e18) {
                let _e24 = (8u + _e21);
                local_7 = _e24;
                loop {
                    let _e33 = local_7;
                    if (_e33 >= (_e24 + 13u)) {
                        break;
                    }
                    let _e35 = (_e33 - _e24);
                    atomicStore((&reports[_e33]), select(select(select(select(select(select(select(select(select(select(select(select(word3_, 13u, (_e35 == 0u)), site, (_e35 == 1u)), launch, (_e35 == 2u)), block_1.x, (_e35 == 3u)), block_1.y, (_e35 == 4u)), block_1.z, (_e35 == 5u)), thread_1.x, (_e35 == 6u)), thread_1.y, (_e35 == 7u)), thread_1.z, (_e35 == 8u)), word0_, (_e35 == 9u)), word1_, (_e35 == 10u)), word2_, (_e35 == 11u)));
                    local_7 = (_e33 + 1u);
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
            report_fault_4_(0u, _e74, (vec3<u32>(_e59, _e77, _e80) + block), thread, _e63, 0u, 190u, 0u);
        }
    }
    return;
}
