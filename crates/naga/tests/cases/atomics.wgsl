@group(0) @binding(0) 
var<uniform> launch: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(2) 
var<storage, read_write> sum: array<atomic<u32>>;
var<workgroup> most: array<atomic<i32>, 1>;

@compute @workgroup_size(64, 1, 1) 
fn atomics(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: u32;
    var local_1: u32;

    let _e13 = launch[2].x;
    let _e28 = launch[2].y;
    let _e32 = launch[2].z;
    let _e16 = atomicAdd((&counts[(thread.x + _e13)]), 1u);
    loop {
        let _e20 = atomicCompareExchangeWeak((&counts[(0u + _e13)]), 1u, 2u);
        local = _e20.old_value;
        if (_e20.exchanged || (_e20.old_value != 1u)) {
            break;
        }
    }
    let _e36 = atomicLoad((&sum[(0u + _e32)]));
    local_1 = _e36;
    loop {
        let _e37 = local_1;
        let _e41 = atomicCompareExchangeWeak((&sum[(0u + _e32)]), _e37, bitcast<u32>((bitcast<f32>(_e37) + bitcast<f32>(_e28))));
        local_1 = _e41.old_value;
        if _e41.exchanged {
            break;
        }
    }
    let _e44 = local_1;
    let _e47 = atomicMax((&most[0u]), 5i);
    return;
}
