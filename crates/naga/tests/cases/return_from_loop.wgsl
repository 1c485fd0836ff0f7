@group(0) @binding(0) 
var<uniform> launch: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage> in: array<i32>;

@compute @workgroup_size(64, 1, 1) 
fn return_from_loop(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: u32;
    var local_1: i32;
    var local_2: bool = true;
    var local_3: i32;
    var local_4: i32;
    var local_5: i32;
    var local_6: i32;
    var local_7: u32;

    let _e11 = launch[2].x;
    let _e27 = launch[2].z;
    let _e49 = launch[2].w;
    local = 0u;
    local_1 = 0i;
    if (0u < _e11) {
        loop {
            let _e16 = local_1;
            let _e19 = local_2;
            if _e19 {
                loop {
                    local_5 = _e16;
                    loop {
                        let _e24 = local_5;
                        let _e30 = in[(thread.x + _e27)];
                        let _e31 = (_e24 + _e30);
                        if (_e31 < 0i) {
                            local_2 = false;
                            local_7 = 1u;
                            break;
                        }
                        if (_e31 >= _e30) {
                            local_6 = _e31;
                            break;
                        }
                        local_5 = _e31;
                        continue;
                    }
                    let _e36 = local_7;
                    if (_e36 == 1u) {
                        local_7 = 0u;
                        break;
                    }
                    let _e38 = local_6;
                    local_4 = _e38;
                    break;
                }
                let _e39 = local_4;
                local_3 = _e39;
            }
            let _e40 = local_3;
            workgroupBarrier();
            local_1 = _e40;
            continue;
            continuing {
                let _e41 = local;
                local = (_e41 + 1u);
                break if (1u >= (_e11 - _e41));
            }
        }
    }
    let _e45 = local_1;
    let _e46 = local_2;
    if _e46 {
        out[(thread.x + _e49)] = _e45;
    }
    return;
}
