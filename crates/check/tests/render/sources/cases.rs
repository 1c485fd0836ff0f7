//! Lines for the tests of reports.

fn tabs() {
	let i = thread_idx().x;
	shared[i]	=	a[i];	x[i] = shared[i + 1];
}

fn unicode() {
    größe[é] = 0.5; // 数を書く
    let 数 = größe[é + 1] + "数".len() as f32;
}

fn long() {
    if global_i < size { output[global_i] = a_tensor_with_a_long_name[[global_i, 0]] * another_tensor_with_a_long_name[[0, global_i]] + bias[global_i]; }
}

fn apart() {
    tile[[y, x]] = 1.0;
    one();
    two();
    three();
    four();
    let v = tile[[y + 1, x]];
}

fn in_place() {
    count[0] += 1.0;
    index[index[i]] = 2.0;
    shared[i] = shared[i + 1];
    out.atomic(0).fetch_add(1);
    volume[[z, y, x]] = 0.0;
    if i < 4 {
        barrier();
    } else {
        barrier();
    }
    while flag[0] == 0 {}
    let mut acc = [0.0; 4];
}
