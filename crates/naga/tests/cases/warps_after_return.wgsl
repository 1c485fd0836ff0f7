@group(0) @binding(0) 
var<uniform> launch_1: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<u32>;
var<workgroup> lanes: array<u32, 128>;
var<workgroup> ended_lanes: array<atomic<u32>, 4>;
@group(0) @binding(2) 
var<storage, read_write> reports: array<atomic<u32>>;

fn report_fault_2_(site: u32, launch: u32, block_1: vec3<u32>, thread_1: vec3<u32>, words0_: vec4<u32>) {
    var local_7: u32;

    atomicAdd((&reports[0u]), 1u);
    let _e15 = atomicLoad((&reports[2u]));
    if (_e15 >= 11u) {
        let _e17 = (_e15 - 11u);
        let _e18 = atomicLoad((&reports[1u]));
        if (_e18 <= _e17) {
            let _e20 = atomicAdd((&reports[1u]), 11u);
            if (_e20 <= _e17) {
                let _e23 = (8u + _e20);
                local_7 = _e23;
                loop {
                    let _e32 = local_7;
                    if (_e32 >= (_e23 + 11u)) {
                        break;
                    }
                    let _e34 = (_e32 - _e23);
                    atomicStore((&reports[_e32]), select(select(select(select(select(select(select(select(select(select(words0_.y, 11u, (_e34 == 0u)), site, (_e34 == 1u)), launch, (_e34 == 2u)), block_1.x, (_e34 == 3u)), block_1.y, (_e34 == 4u)), block_1.z, (_e34 == 5u)), thread_1.x, (_e34 == 6u)), thread_1.y, (_e34 == 7u)), thread_1.z, (_e34 == 8u)), words0_.x, (_e34 == 9u)));
                    local_7 = (_e32 + 1u);
                }
            }
        }
    }
    return;
}

@compute @workgroup_size(44, 1, 1) 
fn warps_after_return(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) thread_number: u32) {
    var local: bool = true;
    var local_1: u32 = 0u;
    var local_2: u32;
    var local_3: bool;
    var local_4: u32;
    var local_5: u32;
    var local_6: u32;

    let _e11 = (thread_number & 31u);
    if (_e11 == 0u) {
        let _e24 = (thread_number >> 5u);
        atomicStore((&ended_lanes[_e24]), 0u);
        atomicStore((&ended_lanes[(_e24 + 2u)]), 0u);
    }
    workgroupBarrier();
    let _e128 = launch_1[1].z;
    let _e131 = launch_1[0].x;
    let _e134 = launch_1[0].y;
    let _e137 = launch_1[0].z;
    let _e144 = launch_1[2].x;
    if (thread.x == 3u) {
        local = false;
    }
    let _e15 = local_1;
    let _e18 = ((_e15 * 64u) + thread_number);
    lanes[_e18] = _e11;
    let _e33 = local;
    if !(_e33) {
        atomicOr((&ended_lanes[((_e15 * 2u) + (thread_number >> 5u))]), (1u << _e11));
    }
    local_1 = (1u - _e15);
    workgroupBarrier();
    let _e37 = atomicLoad((&ended_lanes[((_e15 * 2u) + (thread_number >> 5u))]));
    let _e47 = (~(_e37) & (4294967295u >> (32u - min((44u - (thread_number - _e11)), 32u))));
    local_2 = 0u;
    local_3 = false;
    local_4 = 0u;
    loop {
        let _e53 = local_4;
        if (_e53 == (_e11 + 1u)) {
            break;
        }
        if (((_e47 >> _e53) & 1u) == 1u) {
            let _e60 = lanes[((_e18 - _e11) + _e53)];
            let _e61 = local_2;
            let _e63 = local_3;
            local_2 = select(_e60, (_e61 + _e60), _e63);
            local_3 = true;
        }
        local_4 = (_e53 + 1u);
    }
    let _e66 = local_2;
    local_5 = _e11;
    local_6 = 1u;
    loop {
        let _e69 = local_6;
        if (_e69 == 32u) {
            break;
        }
        let _e71 = local_5;
        let _e72 = local_1;
        let _e74 = ((_e72 * 64u) + thread_number);
        lanes[_e74] = _e71;
        local_1 = (1u - _e72);
        workgroupBarrier();
        let _e78 = (_e69 <= _e11);
        let _e83 = lanes[((_e74 - _e11) + select(_e11, (_e11 - _e69), _e78))];
        local_5 = select(_e71, (_e83 + _e71), _e78);
        local_6 = (_e69 << 1u);
    }
    let _e87 = local_5;
    let _e91 = select(_e66, _e87, ((_e47 & (_e47 + 1u)) == 0u));
    let _e92 = local_1;
    let _e94 = ((_e92 * 64u) + thread_number);
    lanes[_e94] = _e91;
    let _e100 = local;
    if !(_e100) {
        atomicOr((&ended_lanes[((_e92 * 2u) + (thread_number >> 5u))]), (1u << _e11));
    }
    local_1 = (1u - _e92);
    workgroupBarrier();
    let _e104 = atomicLoad((&ended_lanes[((_e92 * 2u) + (thread_number >> 5u))]));
    let _e114 = ((_e11 ^ 1u) & 31u);
    let _e117 = ((((~(_e104) & (4294967295u >> (32u - min((44u - (thread_number - _e11)), 32u)))) >> _e114) & 1u) == 1u);
    let _e120 = lanes[((_e94 - _e11) + _e114)];
    let _e123 = local;
    if (_e123 && !(_e117)) {
        report_fault_2_(0u, _e128, (vec3<u32>(_e131, _e134, _e137) + block), thread, vec4<u32>(_e114, 0u, 0u, 0u));
    }
    let _e141 = local;
    if _e141 {
        out[(thread.x + _e144)] = select(_e91, _e120, _e117);
    }
    return;
}
