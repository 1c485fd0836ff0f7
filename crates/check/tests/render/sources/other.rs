//! A device function in another file.

fn store(x: f32) {
    shared[3] = x;
}
