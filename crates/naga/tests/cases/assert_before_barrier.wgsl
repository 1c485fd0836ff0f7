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

@compute @workgroup_size(40, 1, 1) 
fn asserts(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: bool = true;
    var local_1: i32;

    let _e12 = launch_1[2].x;
    let _e23 = launch_1[1].z;
    let _e26 = launch_1[0].x;
    let _e29 = launch_1[0].y;
    let _e32 = launch_1[0].z;
    let _e90 = launch_1[2].y;
    tile[thread.x] = 77i;
    workgroupBarrier();
    let _e15 = in[(thread.x + _e12)];
    if !((_e15 > -2i)) {
        let _e36 = begin_report(0u, 0u, 11u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread);
        if (_e36 != 4294967295u) {
            atomicStore((&reports[(_e36 + 9u)]), bitcast<u32>(_e15));
            atomicStore((&reports[(_e36 + 10u)]), 0u);
        }
        local = false;
    }
    let _e50 = (_e15 == 0i);
    let _e55 = local;
    if (_e55 && (_e15 == 0i)) {
        let _e60 = begin_report(0u, 1u, 9u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread);
    }
    let _e61 = local;
    if _e61 {
        tile[thread.x] = select((_e15 / select(_e15, 1i, _e50)), 0i, _e50);
    }
    workgroupBarrier();
    let _e65 = local;
    if _e65 {
        let _e68 = tile[(39u - thread.x)];
        local_1 = _e68;
    }
    let _e69 = local_1;
    let _e70 = local;
    if _e70 {
        let _e75 = begin_report(1u, 2u, 11u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread);
        if (_e75 != 4294967295u) {
            atomicStore((&reports[(_e75 + 9u)]), bitcast<u32>(_e69));
            atomicStore((&reports[(_e75 + 10u)]), 0u);
        }
    }
    let _e85 = ((40u * (_e26 + block.x)) + thread.x);
    let _e87 = local;
    if _e87 {
        if (_e85 < 190u) {
            out[(_e85 + _e90)] = _e69;
        } else {
            let _e98 = begin_report(0u, 3u, 13u, _e23, (vec3<u32>(_e26, _e29, _e32) + block), thread);
            if (_e98 != 4294967295u) {
                atomicStore((&reports[(_e98 + 9u)]), _e85);
                atomicStore((&reports[(_e98 + 10u)]), 0u);
                atomicStore((&reports[(_e98 + 11u)]), 190u);
                atomicStore((&reports[(_e98 + 12u)]), 0u);
            }
        }
    }
    return;
}
