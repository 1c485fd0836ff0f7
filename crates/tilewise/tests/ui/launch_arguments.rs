//! Arguments of a launch of another type, element type or rank than the parameters, and without `&mut`.

use tilewise::prelude::*;

#[kernel]
fn scale(out: &mut TileTensor<f32, 1>, a: &TileTensor<f32, 1>, factor: f32) {
    let i = thread_idx().x;
    out[i] = a[i] * factor;
}

fn main() -> tilewise::Result<()> {
    let ctx = DeviceContext::new()?;
    let a = ctx.zeros::<f32, 1>(row_major([4]))?;
    let mut out = ctx.zeros::<f32, 1>(row_major([4]))?;
    let mut halves = ctx.zeros::<f16, 1>(row_major([4]))?;
    let matrix = ctx.zeros::<f32, 2>(row_major([2, 2]))?;
    let values = vec![1.0f32; 4];
    let _ = scale(&mut halves, &a, 2.0);
    let _ = scale(&mut out, &matrix, 2.0);
    let _ = scale(&out, &a, 2.0);
    let _ = scale(&mut out, a, 2.0);
    let _ = scale(&mut out, &values, 2.0);
    let _ = scale(&mut out, &a, 2);
    let _ = scale(&mut out, &a);
    Ok(())
}
