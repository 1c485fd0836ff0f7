@group(0) @binding(0) 
var<uniform> launch_4: array<vec4<u32>, 5>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage, read_write> reports: array<atomic<u32>>;

fn report_fault_4_(site: u32, launch: u32, block_1: vec3<u32>, thread_1: vec3<u32>, word0_: u32, word1_: u32, word2_: u32, word3_: u32) {
    var local_2: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e16 = atomicLoad((&reports[2u]));
    if (_e16 >= 13u) {
        let _e18 = (_e16 - 13u);
        let _e19 = atomicLoad((&reports[1u]));
        if (_e19 <= _e18) {
            let _e21 = atomicAdd((&reports[1u]), 13u);
            if (_e21 <= _e18) {
                let _e24 = (8u + _e21);
                local_2 = _e24;
                loop {
                    let _e33 = local_2;
                    if (_e33 >= (_e24 + 13u)) {
                        break;
                    }
                    let _e35 = (_e33 - _e24);
                    atomicStore((&reports[_e33]), select(select(select(select(select(select(select(select(select(select(select(select(word3_, 13u, (_e35 == 0u)), site, (_e35 == 1u)), launch, (_e35 == 2u)), block_1.x, (_e35 == 3u)), block_1.y, (_e35 == 4u)), block_1.z, (_e35 == 5u)), thread_1.x, (_e35 == 6u)), thread_1.y, (_e35 == 7u)), thread_1.z, (_e35 == 8u)), word0_, (_e35 == 9u)), word1_, (_e35 == 10u)), word2_, (_e35 == 11u)));
                    local_2 = (_e33 + 1u);
                }
            }
        }
    }
    return;
}

fn report_fault_0_(site_1: u32, launch_1: u32, block_2: vec3<u32>, thread_2: vec3<u32>) {
    var local_3: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e12 = atomicLoad((&reports[2u]));
    if (_e12 >= 9u) {
        let _e14 = (_e12 - 9u);
        let _e15 = atomicLoad((&reports[1u]));
        if (_e15 <= _e14) {
            let _e17 = atomicAdd((&reports[1u]), 9u);
            if (_e17 <= _e14) {
                let _e20 = (8u + _e17);
                local_3 = _e20;
                loop {
                    let _e29 = local_3;
                    if (_e29 >= (_e20 + 9u)) {
                        break;
                    }
                    let _e31 = (_e29 - _e20);
                    atomicStore((&reports[_e29]), select(select(select(select(select(select(select(select(thread_2.z, 9u, (_e31 == 0u)), site_1, (_e31 == 1u)), launch_1, (_e31 == 2u)), block_2.x, (_e31 == 3u)), block_2.y, (_e31 == 4u)), block_2.z, (_e31 == 5u)), thread_2.x, (_e31 == 6u)), thread_2.y, (_e31 == 7u)));
                    local_3 = (_e29 + 1u);
                }
            }
        }
    }
    return;
}

fn report_fault_2_(site_2: u32, launch_2: u32, block_3: vec3<u32>, thread_3: vec3<u32>, word0_1: u32, word1_1: u32) {
    var local_4: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e14 = atomicLoad((&reports[2u]));
    if (_e14 >= 11u) {
        let _e16 = (_e14 - 11u);
        let _e17 = atomicLoad((&reports[1u]));
        if (_e17 <= _e16) {
            let _e19 = atomicAdd((&reports[1u]), 11u);
            if (_e19 <= _e16) {
                let _e22 = (8u + _e19);
                local_4 = _e22;
                loop {
                    let _e31 = local_4;
                    if (_e31 >= (_e22 + 11u)) {
                        break;
                    }
                    let _e33 = (_e31 - _e22);
                    atomicStore((&reports[_e31]), select(select(select(select(select(select(select(select(select(select(word1_1, 11u, (_e33 == 0u)), site_2, (_e33 == 1u)), launch_2, (_e33 == 2u)), block_3.x, (_e33 == 3u)), block_3.y, (_e33 == 4u)), block_3.z, (_e33 == 5u)), thread_3.x, (_e33 == 6u)), thread_3.y, (_e33 == 7u)), thread_3.z, (_e33 == 8u)), word0_1, (_e33 == 9u)));
                    local_4 = (_e31 + 1u);
                }
            }
        }
    }
    return;
}

fn report_line_2_(site_3: u32, launch_3: u32, block_4: vec3<u32>, thread_4: vec3<u32>, word0_2: u32, word1_2: u32) {
    var local_5: bool = false;
    var local_6: u32;

    let _e17 = atomicLoad((&reports[5u]));
    if (_e17 >= 11u) {
        let _e19 = (_e17 - 11u);
        let _e20 = atomicLoad((&reports[4u]));
        if (_e20 <= _e19) {
            let _e22 = atomicAdd((&reports[4u]), 11u);
            if (_e22 <= _e19) {
                let _e28 = atomicLoad((&reports[2u]));
                let _e29 = ((8u + _e22) + _e28);
                local_6 = _e29;
                loop {
                    let _e38 = local_6;
                    if (_e38 >= (_e29 + 11u)) {
                        break;
                    }
                    let _e40 = (_e38 - _e29);
                    atomicStore((&reports[_e38]), select(select(select(select(select(select(select(select(select(select(word1_2, 11u, (_e40 == 0u)), site_3, (_e40 == 1u)), launch_3, (_e40 == 2u)), block_4.x, (_e40 == 3u)), block_4.y, (_e40 == 4u)), block_4.z, (_e40 == 5u)), thread_4.x, (_e40 == 6u)), thread_4.y, (_e40 == 7u)), thread_4.z, (_e40 == 8u)), word0_2, (_e40 == 9u)));
                    local_6 = (_e38 + 1u);
                }
                local_5 = true;
            }
        }
    }
    let _e68 = local_5;
    if !(_e68) {
        atomicAdd((&reports[3u]), 1u);
    }
    return;
}

@compute @workgroup_size(64, 1, 1) 
fn faults(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: i32;
    var local_1: u32;

    let _e9 = launch_4[0].y;
    let _e14 = launch_4[2].x;
    let _e17 = launch_4[2].z;
    let _e20 = launch_4[3].x;
    let _e25 = launch_4[3].z;
    let _e38 = launch_4[1].z;
    let _e41 = launch_4[0].x;
    let _e44 = launch_4[0].z;
    let _e53 = launch_4[3].w;
    let _e65 = launch_4[4].x;
    let _e11 = (_e9 + block.y);
    let _e22 = ((_e11 * _e20) + thread.x);
    if ((_e11 < _e14) && (thread.x < _e17)) {
        let _e32 = out[(_e22 + _e25)];
        local = _e32;
    } else {
        local = 0i;
        if !((_e11 < _e14)) {
            report_fault_4_(0u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread, _e11, 0u, _e14, 0u);
        } else {
            report_fault_4_(1u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread, thread.x, 0u, _e17, 0u);
        }
    }
    let _e50 = local;
    let _e54 = bitcast<i32>(_e53);
    let _e56 = (_e54 == 0i);
    let _e59 = select((_e50 / select(_e54, 1i, _e56)), 0i, _e56);
    if (_e54 == 0i) {
        report_fault_0_(2u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread);
    }
    local_1 = 0u;
    let _e68 = (_e65 > 0u);
    if !(_e68) {
        report_fault_2_(3u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread, _e65, 0u);
    }
    if ((0u < 2u) && _e68) {
        loop {
            if ((_e11 < _e14) && (thread.x < _e17)) {
                out[(_e22 + _e25)] = _e59;
            } else {
                if !((_e11 < _e14)) {
                    report_fault_4_(4u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread, _e11, 0u, _e14, 0u);
                } else {
                    report_fault_4_(5u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread, thread.x, 0u, _e17, 0u);
                }
            }
            continue;
            continuing {
                let _e88 = local_1;
                local_1 = (_e88 + _e65);
                break if (_e65 >= (2u - _e88));
            }
        }
    }
    if !((_e59 > _e50)) {
        report_fault_4_(6u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread, bitcast<u32>(_e59), 0u, bitcast<u32>(_e50), 0u);
        return;
    }
    report_line_2_(7u, _e38, (vec3<u32>(_e41, _e9, _e44) + block), thread, bitcast<u32>(_e59), 0u);
    return;
}
