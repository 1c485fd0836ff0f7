@group(0) @binding(0) 
var<uniform> launch: array<vec4<u32>, 4>;
@group(0) @binding(1) 
var<storage, read_write> output: array<f32>;
@group(0) @binding(2) 
var<storage> a: array<f32>;
@group(0) @binding(3) 
var<storage> b: array<f32>;
var<workgroup> sums: array<f32, 8>;

@compute @workgroup_size(8, 1, 1) 
fn dot_product(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: f32;
    var local_1: u32;

    let _e13 = launch[0].x;
    let _e21 = launch[2].x;
    let _e26 = launch[2].z;
    let _e32 = launch[2].w;
    let _e57 = launch[3].x;
    let _e15 = (_e13 + block.x);
    let _e18 = ((_e15 * 8u) + thread.x);
    if (_e18 < _e21) {
        let _e29 = a[(_e18 + _e26)];
        let _e35 = b[(_e18 + _e32)];
        local = (_e29 * _e35);
    } else {
        local = 0f;
    }
    let _e37 = local;
    sums[thread.x] = _e37;
    workgroupBarrier();
    local_1 = (8u >> 1u);
    loop {
        let _e41 = local_1;
        if (_e41 > 0u) {
        } else {
            break;
        }
        if (thread.x < _e41) {
            let _e46 = sums[thread.x];
            let _e48 = sums[(thread.x + _e41)];
            sums[thread.x] = (_e46 + _e48);
        }
        workgroupBarrier();
        local_1 = (_e41 >> 1u);
        continue;
    }
    if (thread.x == 0u) {
        let _e54 = sums[0u];
        output[(_e15 + _e57)] = _e54;
    }
    return;
}
