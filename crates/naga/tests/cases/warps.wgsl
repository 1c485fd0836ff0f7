@group(0) @binding(0) 
var<uniform> launch: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<f32>;
@group(0) @binding(2) 
var<storage, read_write> bits: array<u32>;
var<workgroup> lanes: array<u32, 128>;

@compute @workgroup_size(64, 1, 1) 
fn warps(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) thread_number: u32) {
    var local: f32;
    var local_1: u32;
    var local_2: u32 = 0u;
    var local_3: u32;
    var local_4: u32;

    let _e8 = launch[2].x;
    let _e22 = (thread_number & 31u);
    let _e88 = launch[2].y;
    let _e11 = out[(thread.x + _e8)];
    local = _e11;
    local_1 = 16u;
    loop {
        let _e17 = local_1;
        if (_e17 == 0u) {
            break;
        }
        let _e19 = local;
        let _e25 = local_2;
        let _e28 = ((_e25 * 64u) + thread_number);
        lanes[_e28] = bitcast<u32>(_e19);
        local_2 = (1u - _e25);
        workgroupBarrier();
        let _e36 = lanes[((_e28 - _e22) + (_e22 ^ _e17))];
        local = (_e19 + bitcast<f32>(_e36));
        local_1 = (_e17 >> 1u);
    }
    let _e40 = local;
    let _e42 = local_2;
    let _e44 = ((_e42 * 64u) + thread_number);
    lanes[_e44] = bitcast<u32>(_e40);
    local_2 = (1u - _e42);
    workgroupBarrier();
    let _e56 = lanes[((_e44 - _e22) + ((_e22 + 3u) & 31u))];
    out[(thread.x + _e8)] = select(_e40, bitcast<f32>(_e56), (3u < (32u - _e22)));
    let _e63 = local_2;
    let _e65 = ((_e63 * 64u) + thread_number);
    lanes[_e65] = select(0u, 1u, (_e11 < 0.5f));
    local_2 = (1u - _e63);
    workgroupBarrier();
    local_3 = 0u;
    local_4 = 0u;
    loop {
        let _e72 = local_4;
        if (_e72 == 32u) {
            break;
        }
        let _e76 = lanes[((_e65 - _e22) + _e72)];
        let _e82 = local_3;
        local_3 = (_e82 | select(0u, (1u << _e72), ((_e76 & 255u) != 0u)));
        local_4 = (_e72 + 1u);
    }
    let _e85 = local_3;
    bits[(thread.x + _e88)] = _e85;
    return;
}
