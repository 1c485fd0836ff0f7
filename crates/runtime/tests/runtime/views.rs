//! Views on the host and as arguments of launches.

use tilewise_layout::{Layout, row_major};
use tilewise_runtime::*;

use crate::kernels::*;

#[test]
fn broadcast_and_transposed_arguments() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let row = ctx.tensor_from_slice::<i32, 1>(row_major([4]), &[1, 2, 3, 4])?;
    let mut out = ctx.zeros::<i32, 2>(row_major([3, 4]))?;
    let rows = row.view::<2>(Layout::new((3, 4), (0, 1))?)?;
    ctx.enqueue_function(copy2(&mut out, rows), grid_dim(1), block_dim((4, 3)))?;
    assert_eq!(out.to_host()?, [1, 2, 3, 4].repeat(3));

    let column = ctx.tensor_from_slice::<i32, 1>(row_major([3]), &[5, 6, 7])?;
    let columns = column.view::<2>(Layout::new((3, 4), (1, 0))?)?;
    ctx.enqueue_function(copy2(&mut out, columns), grid_dim(1), block_dim((4, 3)))?;
    assert_eq!(out.to_host()?, [5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7]);

    let a = ctx.tensor_from_fn(row_major([3, 4]), |[i, j]| (4 * i + j) as i32)?;
    let mut turned = ctx.zeros::<i32, 2>(row_major([4, 3]))?;
    ctx.enqueue_function(copy2(&mut turned, a.transpose()), grid_dim(1), block_dim((3, 4)))?;
    assert_eq!(turned.to_host()?, [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]);
    Ok(())
}

#[test]
fn a_part_is_written_and_nothing_else() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut large = ctx.full::<i32, 2>(row_major([4, 5]), 7)?;
    let small = ctx.tensor_from_fn(row_major([2, 3]), |[i, j]| (10 * i + j) as i32)?;
    let part = large.view_mut_at::<2>(6, Layout::new((2, 3), (5, 1))?)?;
    ctx.enqueue_function(copy2(part, &small), grid_dim(1), block_dim((3, 2)))?;
    assert_eq!(large.to_host()?, [7, 7, 7, 7, 7, 7, 0, 1, 2, 7, 7, 10, 11, 12, 7, 7, 7, 7, 7, 7]);
    // Outside the part is outside, although it is inside the memory.
    let part = large.view_mut_at::<2>(6, Layout::new((2, 3), (5, 1))?)?;
    ctx.enqueue_function(copy2(part, &small), grid_dim(1), block_dim((4, 2)))?;
    assert!(ctx.synchronize().is_err());
    assert_eq!(large.get([1, 4])?, 7);
    Ok(())
}

#[test]
fn a_view_of_a_view_stays_inside_it() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut a = ctx.tensor_from_fn(row_major([20]), |[i]| i as i32)?;
    let middle = a.view_at::<1>(5, row_major([10]))?;
    let every_third = middle.view_at::<1>(1, Layout::new(3, 3)?)?;
    assert_eq!(every_third.to_host()?, [6, 9, 12]);
    assert_eq!((every_third.shape(), every_third.strides(), every_third.len()), ([3], [3], 3));
    assert_eq!(
        middle.view_at::<1>(1, row_major([10])).unwrap_err().to_string(),
        "layout (10):(1) at offset 1 takes 11 elements, there are 10; use a smaller offset, extents or strides"
    );
    let mut middle = a.view_mut_at::<1>(5, row_major([10]))?;
    let mut two = middle.view_mut_at::<1>(0, Layout::new(2, 9)?)?;
    two.copy_from_host(&[-1, -2])?;
    two.map_to_host(|host| host[0] -= 10)?;
    assert_eq!((middle.get([0])?, middle.get([9])?), (-11, -2));
    assert!(matches!(
        middle.view_mut_at::<2>(0, Layout::new((2, 2), (1, 1))?),
        Err(Error::Tensor(TensorError::Overlap { .. }))
    ));
    Ok(())
}

#[test]
fn transposed_views_are_written_by_the_host() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut a = ctx.zeros::<i32, 2>(row_major([2, 3]))?;
    let mut view = a.as_view_mut();
    let mut turned = view.transpose_mut();
    turned.copy_from_host(&[1, 2, 3, 4, 5, 6])?;
    assert_eq!(turned.as_view().transpose().to_host()?, [1, 3, 5, 2, 4, 6]);
    turned.enqueue_fill(8)?;
    assert_eq!(a.to_host()?, [8; 6]);
    Ok(())
}

#[test]
fn views_beyond_the_memory_are_refused() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let buffer = ctx.enqueue_create_buffer::<i32>(6)?;
    assert!(buffer.view_at::<1>(6, row_major([0])).is_ok());
    assert!(buffer.view_at::<1>(7, row_major([0])).is_err());
    assert!(buffer.view_at::<1>(usize::MAX, row_major([2])).is_err());
    assert!(buffer.view::<2>(row_major([1 << 40, 1 << 40])).is_err());
    Ok(())
}
