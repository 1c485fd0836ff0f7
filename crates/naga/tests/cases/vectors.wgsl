@group(0) @binding(0) 
var<uniform> launch: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage> a: array<vec4<f32>>;
@group(0) @binding(2) 
var<storage, read_write> b: array<vec4<f32>>;
@group(0) @binding(3) 
var<storage, read_write> c: array<i32>;
@group(0) @binding(4) 
var<storage> h: array<vec4<u32>>;
var<workgroup> tile: array<vec4<f32>, 32>;

@compute @workgroup_size(32, 1, 1) 
fn vectors(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    let _e14 = launch[2].x;
    let _e45 = launch[2].y;
    let _e53 = launch[2].z;
    let _e102 = launch[2].w;
    let _e10 = (thread.x * 4u);
    let _e19 = a[((_e10 + _e14) >> 2u)];
    let _e24 = (thread.x + _e14);
    let _e30 = a[(_e24 >> 2u)][(_e24 & 3u)];
    tile[(_e10 >> 2u)] = vec4<f32>((_e19.x + _e30), (_e19.y + _e30), (_e19.z + _e30), (_e19.w + _e30));
    workgroupBarrier();
    let _e42 = tile[(thread.x >> 2u)][(thread.x & 3u)];
    b[((_e10 + _e45) >> 2u)] = vec4<f32>(_e42, _e42, _e42, _e42);
    let _e58 = h[((((thread.x * 16u) + _e53) >> 2u) >> 2u)];
    let _e99 = bitcast<i32>(((_e58.x >> 0u) & 255u));
    let _e103 = (_e10 + _e102);
    c[_e103] = _e99;
    c[(_e103 + 1u)] = _e99;
    c[(_e103 + 2u)] = _e99;
    c[(_e103 + 3u)] = _e99;
    c[(thread.x + _e102)] = _e99;
    return;
}
