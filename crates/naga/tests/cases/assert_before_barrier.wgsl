@group(0) @binding(0) 
var<uniform> launch_4: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage> in: array<i32>;
var<workgroup> tile: array<i32, 40>;
@group(0) @binding(3) 
var<storage, read_write> reports: array<atomic<u32>>;

fn report_fault_2_(site: u32, launch: u32, block_1: vec3<u32>, thread_1: vec3<u32>, words0_: vec4<u32>) {
    var local_2: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e15 = atomicLoad((&reports[2u]));
    if (_e15 >= 11u) {
        let _e17 = (_e15 - 11u);
        let _e18 = atomicLoad((&reports[1u]));
        if (_e18 <= _e17) {
            let _e20 = atomicAdd((&reports[1u]), 11u);
            if (_e20 <= _e17) {
                let _e23 = (8u + _e20);
                local_2 = _e23;
                loop {
                    let _e32 = local_2;
                    if (_e32 >= (_e23 + 11u)) {
                        break;
                    }
                    let _e34 = (_e32 - _e23);
                    atomicStore((&reports[_e32]), select(select(select(select(select(select(select(select(select(select(words0_.y, 11u, (_e34 == 0u)), site, (_e34 == 1u)), launch, (_e34 == 2u)), block_1.x, (_e34 == 3u)), block_1.y, (_e34 == 4u)), block_1.z, (_e34 == 5u)), thread_1.x, (_e34 == 6u)), thread_1.y, (_e34 == 7u)), thread_1.z, (_e34 == 8u)), words0_.x, (_e34 == 9u)));
                    local_2 = (_e32 + 1u);
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

fn report_line_2_(site_2: u32, launch_2: u32, block_3: vec3<u32>, thread_3: vec3<u32>, words0_1: vec4<u32>) {
    var local_4: bool = false;
    var local_5: u32;

    let _e18 = atomicLoad((&reports[5u]));
    if (_e18 >= 11u) {
        let _e20 = (_e18 - 11u);
        let _e21 = atomicLoad((&reports[4u]));
        if (_e21 <= _e20) {
            let _e23 = atomicAdd((&reports[4u]), 11u);
            if (_e23 <= _e20) {
                let _e29 = atomicLoad((&reports[2u]));
                let _e30 = ((8u + _e23) + _e29);
                local_5 = _e30;
                loop {
                    let _e39 = local_5;
                    if (_e39 >= (_e30 + 11u)) {
                        break;
                    }
                    let _e41 = (_e39 - _e30);
                    atomicStore((&reports[_e39]), select(select(select(select(select(select(select(select(select(select(words0_1.y, 11u, (_e41 == 0u)), site_2, (_e41 == 1u)), launch_2, (_e41 == 2u)), block_3.x, (_e41 == 3u)), block_3.y, (_e41 == 4u)), block_3.z, (_e41 == 5u)), thread_3.x, (_e41 == 6u)), thread_3.y, (_e41 == 7u)), thread_3.z, (_e41 == 8u)), words0_1.x, (_e41 == 9u)));
                    local_5 = (_e39 + 1u);
                }
                local_4 = true;
            }
        }
    }
    let _e69 = local_4;
    if !(_e69) {
        atomicAdd((&reports[3u]), 1u);
    }
    return;
}

fn report_fault_4_(site_3: u32, launch_3: u32, block_4: vec3<u32>, thread_4: vec3<u32>, words0_2: vec4<u32>) {
    var local_6: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e17 = atomicLoad((&reports[2u]));
    if (_e17 >= 13u) {
        let _e19 = (_e17 - 13u);
        let _e20 = atomicLoad((&reports[1u]));
        if (_e20 <= _e19) {
            let _e22 = atomicAdd((&reports[1u]), 13u);
            if (_e22 <= _e19) {
                let _e25 = (8u + _e22);
                local_6 = _e25;
                loop {
                    let _e34 = local_6;
                    if (_e34 >= (_e25 + 13u)) {
                        break;
                    }
                    let _e36 = (_e34 - _e25);
                    atomicStore((&reports[_e34]), select(select(select(select(select(select(select(select(select(select(select(select(words0_2.w, 13u, (_e36 == 0u)), site_3, (_e36 == 1u)), launch_3, (_e36 == 2u)), block_4.x, (_e36 == 3u)), block_4.y, (_e36 == 4u)), block_4.z, (_e36 == 5u)), thread_4.x, (_e36 == 6u)), thread_4.y, (_e36 == 7u)), thread_4.z, (_e36 == 8u)), words0_2.x, (_e36 == 9u)), words0_2.y, (_e36 == 10u)), words0_2.z, (_e36 == 11u)));
                    local_6 = (_e34 + 1u);
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
    let _e74 = launch_4[2].y;
    tile[thread.x] = 77i;
    workgroupBarrier();
    let _e15 = in[(thread.x + _e12)];
    if !((_e15 > -2i)) {
        report_fault_2_(0u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread, vec4<u32>(bitcast<u32>(_e15), 0u, 0u, 0u));
        local = false;
    }
    let _e40 = (_e15 == 0i);
    let _e45 = local;
    if (_e45 && (_e15 == 0i)) {
        report_fault_0_(1u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread);
    }
    let _e50 = local;
    if _e50 {
        tile[thread.x] = select((_e15 / select(_e15, 1i, _e40)), 0i, _e40);
    }
    workgroupBarrier();
    let _e54 = local;
    if _e54 {
        let _e57 = tile[(39u - thread.x)];
        local_1 = _e57;
    }
    let _e58 = local_1;
    let _e59 = local;
    if _e59 {
        report_line_2_(2u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread, vec4<u32>(bitcast<u32>(_e58), 0u, 0u, 0u));
    }
    let _e69 = ((40u * (_e26 + block.x)) + thread.x);
    let _e71 = local;
    if _e71 {
        if (_e69 < 190u) {
            out[(_e69 + _e74)] = _e58;
        } else {
            report_fault_4_(3u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread, vec4<u32>(_e69, 0u, 190u, 0u));
        }
    }
    return;
}
