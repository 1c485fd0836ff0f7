@group(0) @binding(0) 
var<uniform> launch_4: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage> in: array<i32>;
var<workgroup> tile: array<i32, 40>;
@group(0) @binding(3) 
var<storage, read_write> reports: array<atomic<u32>>;

fn report_fault_2_(site: u32, launch: u32, block_1: vec3<u32>, thread_1: vec3<u32>, word0_: u32, word1_: u32) {
    var local_2: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e14 = atomicLoad((&reports[2u]));
    if (_e14 >= 11u) {
        let _e16 = (_e14 - 11u);
        let _e17 = atomicLoad((&reports[1u]));
        if (_e17 <= _e16) {
            let _e19 = atomicAdd((&reports[1u]), 11u);
            if (_e19 <= _e16) {
                let _e22 = (8u + _e19);
                local_2 = _e22;
                loop {
                    let _e31 = local_2;
                    if (_e31 >= (_e22 + 11u)) {
                        break;
                    }
                    let _e33 = (_e31 - _e22);
                    atomicStore((&reports[_e31]), select(select(select(select(select(select(select(select(select(select(word1_, 11u, (_e33 == 0u)), site, (_e33 == 1u)), launch, (_e33 == 2u)), block_1.x, (_e33 == 3u)), block_1.y, (_e33 == 4u)), block_1.z, (_e33 == 5u)), thread_1.x, (_e33 == 6u)), thread_1.y, (_e33 == 7u)), thread_1.z, (_e33 == 8u)), word0_, (_e33 == 9u)));
                    local_2 = (_e31 + 1u);
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

fn report_line_2_(site_2: u32, launch_2: u32, block_3: vec3<u32>, thread_3: vec3<u32>, word0_1: u32, word1_1: u32) {
    var local_4: bool = false;
    var local_5: u32;

    let _e17 = atomicLoad((&reports[5u]));
    if (_e17 >= 11u) {
        let _e19 = (_e17 - 11u);
        let _e20 = atomicLoad((&reports[4u]));
        if (_e20 <= _e19) {
            let _e22 = atomicAdd((&reports[4u]), 11u);
            if (_e22 <= _e19) {
                let _e28 = atomicLoad((&reports[2u]));
                let _e29 = ((8u + _e22) + _e28);
                local_5 = _e29;
                loop {
                    let _e38 = local_5;
                    if (_e38 >= (_e29 + 11u)) {
                        break;
                    }
                    let _e40 = (_e38 - _e29);
                    atomicStore((&reports[_e38]), select(select(select(select(select(select(select(select(select(select(word1_1, 11u, (_e40 == 0u)), site_2, (_e40 == 1u)), launch_2, (_e40 == 2u)), block_3.x, (_e40 == 3u)), block_3.y, (_e40 == 4u)), block_3.z, (_e40 == 5u)), thread_3.x, (_e40 == 6u)), thread_3.y, (_e40 == 7u)), thread_3.z, (_e40 == 8u)), word0_1, (_e40 == 9u)));
                    local_5 = (_e38 + 1u);
                }
                local_4 = true;
            }
        }
    }
    let _e68 = local_4;
    if !(_e68) {
        atomicAdd((&reports[3u]), 1u);
    }
    return;
}

fn report_fault_4_(site_3: u32, launch_3: u32, block_4: vec3<u32>, thread_4: vec3<u32>, word0_2: u32, word1_2: u32, word2_: u32, word3_: u32) {
    var local_6: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e16 = atomicLoad((&reports[2u]));
    if (_e16 >= 13u) {
        let _e18 = (_e16 - 13u);
        let _e19 = atomicLoad((&reports[1u]));
        if (_e19 <= _e18) {
            let _e21 = atomicAdd((&reports[1u]), 13u);
            if (_e21 <= _e18) {
                let _e24 = (8u + _e21);
                local_6 = _e24;
                loop {
                    let _e33 = local_6;
                    if (_e33 >= (_e24 + 13u)) {
                        break;
                    }
                    let _e35 = (_e33 - _e24);
                    atomicStore((&reports[_e33]), select(select(select(select(select(select(select(select(select(select(select(select(word3_, 13u, (_e35 == 0u)), site_3, (_e35 == 1u)), launch_3, (_e35 == 2u)), block_4.x, (_e35 == 3u)), block_4.y, (_e35 == 4u)), block_4.z, (_e35 == 5u)), thread_4.x, (_e35 == 6u)), thread_4.y, (_e35 == 7u)), thread_4.z, (_e35 == 8u)), word0_2, (_e35 == 9u)), word1_2, (_e35 == 10u)), word2_, (_e35 == 11u)));
                    local_6 = (_e33 + 1u);
                }
            }
        }
    }
    return;
}

@compute @workgroup_size(40, 1, 1) 
fn asserts(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: bool = true;
    var local_1: i32;

    let _e12 = launch_4[2].x;
    let _e23 = launch_4[1].z;
    let _e26 = launch_4[0].x;
    let _e29 = launch_4[0].y;
    let _e32 = launch_4[0].z;
    let _e72 = launch_4[2].y;
    tile[thread.x] = 77i;
    workgroupBarrier();
    let _e15 = in[(thread.x + _e12)];
    if !((_e15 > -2i)) {
        report_fault_2_(0u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread, bitcast<u32>(_e15), 0u);
        local = false;
    }
    let _e39 = (_e15 == 0i);
    let _e44 = local;
    if (_e44 && (_e15 == 0i)) {
        report_fault_0_(1u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread);
    }
    let _e49 = local;
    if _e49 {
        tile[thread.x] = select((_e15 / select(_e15, 1i, _e39)), 0i, _e39);
    }
    workgroupBarrier();
    let _e53 = local;
    if _e53 {
        let _e56 = tile[(39u - thread.x)];
        local_1 = _e56;
    }
    let _e57 = local_1;
    let _e58 = local;
    if _e58 {
        report_line_2_(2u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread, bitcast<u32>(_e57), 0u);
    }
    let _e67 = ((40u * (_e26 + block.x)) + thread.x);
    let _e69 = local;
    if _e69 {
        if (_e67 < 190u) {
            out[(_e67 + _e72)] = _e57;
        } else {
            report_fault_4_(3u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread, _e67, 0u, 190u, 0u);
        }
    }
    return;
}
