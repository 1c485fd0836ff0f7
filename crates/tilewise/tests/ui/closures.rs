//! `kernel!` in forms that it has not.

use tilewise::prelude::*;

fn main() -> tilewise::Result<()> {
    let ctx = DeviceContext::new()?;
    let a = ctx.zeros::<f32, 1>(row_major([4]))?;
    let mut out = ctx.zeros::<f32, 1>(row_major([4]))?;
    let name = String::new();
    elementwise(&ctx, 1, [4], tilewise::kernel!(|[i]| out[i] = a[i]))?;
    elementwise(&ctx, 1, [4], tilewise::kernel!([mut out, a] |i| out[i] = a[i]))?;
    elementwise(&ctx, 1, [4], tilewise::kernel!([mut out, a] |[]| out[0] = a[0]))?;
    elementwise(&ctx, 1, [4], tilewise::kernel!([out, a] |[i]| out[i] = a[i]))?;
    elementwise(&ctx, 1, [4], tilewise::kernel!([mut out, name] |[i]| out[i] = 1.0))?;
    elementwise(&ctx, 1, [4, 4], tilewise::kernel!([mut out, a] |[i]| out[i] = a[i]))?;
    elementwise(&ctx, 1, [2, 2], tilewise::kernel!([mut out, a] |[i, j]| out[i] = a[i, j]))?;
    Ok(())
}
