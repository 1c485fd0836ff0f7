//! A launch that is kept longer than its arguments.

use tilewise::prelude::*;

#[kernel]
fn clear(out: &mut TileTensor<f32, 1>) {
    out[thread_idx().x] = 0.0;
}

fn main() -> tilewise::Result<()> {
    let ctx = DeviceContext::new()?;
    let launch = {
        let mut a = ctx.zeros::<f32, 1>(row_major([4]))?;
        clear(&mut a)
    };
    ctx.enqueue_function(launch, grid_dim(1), block_dim(4))
}
