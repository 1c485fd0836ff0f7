@group(0) @binding(0) 
var<uniform> launch: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<atomic<u32>>;
@group(0) @binding(2) 
var<storage> flags: array<u32>;
@group(0) @binding(3) 
var<storage, read_write> halves: array<atomic<u32>>;

@compute @workgroup_size(64, 1, 1) 
fn packed(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    let _e10 = launch[2].x;
    let _e25 = launch[2].y;
    let _e51 = launch[2].z;
    let _e11 = (thread.x + _e10);
    let _e19 = atomicLoad((&out[(_e11 >> 2u)]));
    let _e26 = (thread.x + _e25);
    let _e31 = flags[(_e26 >> 2u)];
    let _e40 = (thread.x + _e10);
    let _e43 = ((_e40 & 3u) * 8u);
    atomicAnd((&out[(_e40 >> 2u)]), ~((255u << _e43)));
    atomicOr((&out[(_e40 >> 2u)]), (((((_e19 >> ((_e11 & 3u) * 8u)) & 255u) + select(0u, 1u, (((_e31 >> ((_e26 & 3u) * 8u)) & 255u) != 0u))) & 255u) << _e43));
    let _e48 = (thread.x * 4u);
    let _e55 = atomicLoad((&halves[((_e48 + _e51) >> 1u)]));
    let _e59 = bitcast<f32>(((_e55 >> 0u) << 16u));
    let _e62 = bitcast<f32>(((_e55 >> 16u) << 16u));
    let _e63 = (_e59 * _e59);
    let _e64 = bitcast<u32>(_e63);
    let _e78 = (_e62 * _e62);
    let _e79 = bitcast<u32>(_e78);
    atomicStore((&halves[((_e48 + _e51) >> 1u)]), (((bitcast<u32>(select(bitcast<f32>((((_e64 + 32767u) + ((_e64 >> 16u) & 1u)) & 4294901760u)), _e63, ((_e64 & 2147483647u) > 2139095040u))) >> 16u) << 0u) | ((bitcast<u32>(select(bitcast<f32>((((_e79 + 32767u) + ((_e79 >> 16u) & 1u)) & 4294901760u)), _e78, ((_e79 & 2147483647u) > 2139095040u))) >> 16u) << 16u)));
    return;
}
