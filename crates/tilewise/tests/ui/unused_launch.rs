//! A kernel that is called but not launched.

#![deny(unused_must_use)]

use tilewise::prelude::*;

#[kernel]
fn clear(out: &mut TileTensor<f32, 1>) {
    out[thread_idx().x] = 0.0;
}

fn main() -> tilewise::Result<()> {
    let ctx = DeviceContext::new()?;
    let mut a = ctx.zeros::<f32, 1>(row_major([4]))?;
    clear(&mut a);
    Ok(())
}
