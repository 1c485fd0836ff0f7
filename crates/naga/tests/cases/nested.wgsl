@group(0) @binding(0) 
var<uniform> launch: array<vec4<u32>, 3>;
@group(0) @binding(1) 
var<storage, read_write> out: array<i32>;
@group(0) @binding(2) 
var<storage> in: array<i32>;
var<workgroup> tile: array<i32, 40>;

@compute @workgroup_size(40, 1, 1) 
fn nested(@builtin(local_invocation_id) thread: vec3<u32>, @builtin(workgroup_id) block: vec3<u32>) {
    var local: u32;
    var local_1: u32;
    var local_2: bool = true;
    var local_3: i32;
    var local_4: u32;
    var local_5: i32;
    var local_6: i32;
    var local_7: i32;
    var local_8: u32;
    var local_9: i32;
    var local_10: i32;
    var local_11: i32;

    let _e13 = launch[2].x;
    let _e17 = launch[0].x;
    let _e33 = launch[2].z;
    let _e105 = launch[2].w;
    let _e19 = (_e17 + block.x);
    tile[thread.x] = 0i;
    local = 0u;
    loop {
        let _e22 = local;
        if (_e22 >= 3u) {
            break;
        }
        local_1 = 0u;
        if (0u < 5u) {
            loop {
                let _e26 = local_1;
                let _e29 = local_2;
                if _e29 {
                    let _e36 = in[(thread.x + _e33)];
                    local_3 = _e36;
                }
                let _e37 = local_3;
                let _e39 = (_e37 + bitcast<i32>(_e26));
                if (_e19 == _e26) {
                    local = (_e22 + 1u);
                    local_4 = 3u;
                    break;
                }
                let _e44 = local_2;
                if _e44 {
                    loop {
                        if (_e39 > 0i) {
                            local_8 = 0u;
                            local_9 = 0i;
                            if (0u < _e13) {
                                loop {
                                    let _e51 = local_8;
                                    let _e52 = local_9;
                                    let _e53 = (_e52 + _e39);
                                    if (_e53 > 90i) {
                                        let _e56 = bitcast<i32>(_e51);
                                        if ((_e56 - ((_e56 / 3i) * 3i)) == 0i) {
                                            local_2 = false;
                                            local_4 = 1u;
                                            break;
                                        }
                                        local_9 = _e53;
                                        break;
                                    }
                                    local_9 = _e53;
                                    continue;
                                    continuing {
                                        let _e63 = local_8;
                                        local_8 = (_e63 + 1u);
                                        break if (1u >= (_e13 - _e63));
                                    }
                                }
                                let _e67 = local_4;
                                if (_e67 == 1u) {
                                    local_4 = 0u;
                                    break;
                                }
                            }
                            let _e69 = local_9;
                            local_7 = _e69;
                        } else {
                            local_7 = _e37;
                        }
                        let _e70 = local_7;
                        local_6 = _e70;
                        break;
                    }
                    let _e71 = local_6;
                    local_5 = _e71;
                }
                let _e72 = local_5;
                workgroupBarrier();
                let _e75 = local_2;
                if _e75 {
                    let _e78 = tile[(39u - thread.x)];
                    local_10 = _e78;
                }
                let _e79 = local_10;
                workgroupBarrier();
                let _e81 = local_2;
                if _e81 {
                    tile[thread.x] = (_e79 + _e72);
                }
                workgroupBarrier();
                if (_e22 == 2u) {
                    local_4 = 2u;
                    break;
                }
                continue;
                continuing {
                    let _e85 = local_1;
                    local_1 = (_e85 + 1u);
                    break if (1u >= (5u - _e85));
                }
            }
            let _e89 = local_4;
            if (_e89 == 2u) {
                local_4 = 0u;
                break;
            }
            let _e91 = local_4;
            if (_e91 == 3u) {
                local_4 = 0u;
                continue;
            }
        }
        local = (_e22 + 1u);
        continue;
    }
    let _e94 = local_2;
    if _e94 {
        let _e97 = tile[thread.x];
        local_11 = _e97;
    }
    let _e98 = local_11;
    let _e102 = local_2;
    if _e102 {
        out[(((_e19 * 40u) + thread.x) + _e105)] = _e98;
    }
    return;
}
