//! A tensor that is written and also read by one launch.

use tilewise::prelude::*;

#[kernel]
fn add_one(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>) {
    let i = thread_idx().x;
    out[i] = a[i] + 1.0;
}

fn main() -> tilewise::Result<()> {
    let ctx = DeviceContext::new()?;
    let mut a = ctx.zeros::<f32, 1>(row_major([4]))?;
    ctx.enqueue_function(add_one(&mut a, &a), grid_dim(1), block_dim(4))
}
