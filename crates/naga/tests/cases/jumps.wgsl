@group(0) @binding(0) 
var<uniform> launch: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<u32>;
@group(0) @binding(2) 
var<storage> in: array<u32>;

@compute @workgroup_size(64, 1, 1) 
fn jumps(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: u32;
    var local_1: u32;
    var local_2: u32;
    var local_3: u32;
    var local_4: u32;

    let _e11 = launch[2].x;
    let _e24 = launch[2].z;
    let _e50 = launch[2].w;
    local = 0u;
    local_1 = 0u;
    if (0u < _e11) {
        loop {
            let _e15 = local;
            let _e16 = local_1;
            local_2 = 0u;
            local_3 = _e16;
            if (0u < _e15) {
                loop {
                    let _e20 = local_2;
                    let _e21 = local_3;
                    let _e27 = in[(_e20 + _e24)];
                    if (_e27 == 7u) {
                        local_1 = _e21;
                        local_4 = 2u;
                        break;
                    }
                    if (_e27 == 0u) {
                        local_1 = _e27;
                        local_4 = 3u;
                        break;
                    }
                    local_3 = (_e21 + _e27);
                    continue;
                    continuing {
                        let _e34 = local_2;
                        local_2 = (_e34 + 1u);
                        break if (1u >= (_e15 - _e34));
                    }
                }
                let _e38 = local_4;
                if (_e38 == 2u) {
                    local_4 = 0u;
                    break;
                }
                let _e40 = local_4;
                if (_e40 == 3u) {
                    local_4 = 0u;
                    continue;
                }
            }
            let _e42 = local_3;
            local_1 = _e42;
            continue;
            continuing {
                let _e43 = local;
                local = (_e43 + 1u);
                break if (1u >= (_e11 - _e43));
            }
        }
    }
    let _e47 = local_1;
    out[(thread.x + _e50)] = _e47;
    return;
}
