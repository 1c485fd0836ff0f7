@group(0) @binding(0) 
var<uniform> launch: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage> in: array<i32>;
var<workgroup> tile: array<i32, 64>;

@compute @workgroup_size(64, 1, 1) 
fn early_return(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: bool = true;
    var local_1: i32;
    var local_2: i32;

    let _e10 = launch[2].x;
    let _e19 = launch[2].z;
    let _e35 = launch[2].w;
    if (thread.x >= _e10) {
        local = false;
    }
    let _e15 = local;
    if _e15 {
        let _e22 = in[(thread.x + _e19)];
        local_1 = _e22;
    }
    let _e23 = local_1;
    let _e24 = local;
    if _e24 {
        tile[thread.x] = _e23;
    }
    workgroupBarrier();
    let _e27 = local;
    if _e27 {
        let _e30 = tile[(63u - thread.x)];
        local_2 = _e30;
    }
    let _e31 = local_2;
    let _e32 = local;
    if _e32 {
        out[(thread.x + _e35)] = _e31;
    }
    return;
}
