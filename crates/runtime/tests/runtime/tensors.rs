//! Tensors: layouts, logical order, reshape.

use tilewise_layout::{Layout, col_major, make_ordered_layout, row_major};
use tilewise_runtime::*;

fn layouts() -> Vec<Layout> {
    vec![
        row_major([2, 3, 4]),
        col_major([2, 3, 4]),
        make_ordered_layout((2, 3, 4), (1, 2, 0)).unwrap(),
        Layout::new((2, 3, 4), (100, 10, 2)).unwrap(),
        Layout::new((2, 3, 4), (12, 4, 1)).unwrap(),
    ]
}

#[test]
fn the_host_sees_logical_order_whatever_the_layout() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let values: Vec<i32> = (0..24).collect();
    for layout in layouts() {
        let number = |[i, j, k]: [usize; 3]| (12 * i + 4 * j + k) as i32;
        let a = ctx.tensor_from_fn(&layout, number)?;
        assert_eq!(a.to_host()?, values, "{layout}");
        let mut b = ctx.tensor_from_slice::<i32, 3>(&layout, &values)?;
        assert_eq!(b.to_host()?, values, "{layout}");
        assert_eq!(b.get([1, 2, 3])?, 23);
        assert_eq!(b.get([0, 2, 1])?, 9);
        assert_eq!(b.map_to_host(|host| host.iter().position(|&x| x == 17))?, Some(17));
        b.map_to_host(|host| host.reverse())?;
        assert_eq!(b.to_host()?, values.iter().rev().copied().collect::<Vec<_>>());
        b.enqueue_fill(5)?;
        assert_eq!(b.to_host()?, [5; 24]);
        assert_eq!((b.layout(), b.shape(), b.len()), (&layout, [2, 3, 4], 24));
    }
    Ok(())
}

#[test]
fn nothing_between_the_elements_is_touched() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let mut buffer = ctx.enqueue_create_buffer::<i32>(12)?;
    buffer.enqueue_fill(77)?;
    let mut pitched = ctx.tensor_from_buffer::<i32, 2>(buffer, Layout::new((2, 3), (5, 1))?)?;
    pitched.enqueue_fill(0)?;
    pitched.copy_from_host(&[1, 2, 3, 4, 5, 6])?;
    pitched.map_to_host(|host| host[0] = 10)?;
    let host = pitched.into_buffer().to_host()?;
    assert_eq!(host, [10, 2, 3, 77, 77, 4, 5, 6, 77, 77, 77, 77]);
    Ok(())
}

#[test]
fn tensors_without_elements() -> Result<()> {
    let ctx = DeviceContext::new()?;
    for shape in [[0, 3], [3, 0], [0, 0], [0, 1 << 40]] {
        let mut a = ctx.tensor_from_fn(row_major(shape), |_| -> f32 { unreachable!() })?;
        assert!(a.is_empty());
        a.enqueue_fill(1.0)?;
        a.copy_from_host(&[])?;
        assert_eq!(a.to_host()?, []);
        assert_eq!(a.transpose().to_host()?, []);
        assert!(a.get([0, 0]).is_err());
        assert_eq!(a.reshape::<1>(row_major([0]))?.len(), 0);
    }
    Ok(())
}

#[test]
fn reshape_is_of_compact_tensors() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let a = ctx.tensor_from_fn(row_major([3, 4]), |[i, j]| (4 * i + j) as i32)?;
    let a = a.reshape::<2>(row_major([2, 6]))?;
    assert_eq!((a.shape(), a.get([1, 0])?), ([2, 6], 6));
    assert_eq!(
        a.reshape::<2>(row_major([5, 2])).unwrap_err().to_string(),
        "(2,6):(6,1) has 12 elements and cannot be reshaped to (5,2):(2,1), which has 10"
    );
    let columns = ctx.zeros::<i32, 2>(col_major([3, 4]))?;
    assert_eq!(
        columns.reshape::<1>(row_major([12])).unwrap_err().to_string(),
        "(3,4):(1,3) is not row-major and cannot be reshaped to (12):(1) without a copy; copy it to a new tensor first"
    );
    Ok(())
}

#[test]
fn layouts_that_no_tensor_has() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let refusal = |layout: Layout| ctx.zeros::<f32, 2>(layout).unwrap_err();
    assert_eq!(
        refusal(row_major([4])).to_string(),
        "layout (4):(1) has 1 modes, the tensor has 2 dimensions; give one extent for each dimension"
    );
    assert!(matches!(
        refusal(Layout::new(((2, 2), 4), ((1, 8), 2))?),
        Error::Tensor(TensorError::NestedMode { mode: 0, .. })
    ));
    assert_eq!(
        refusal(Layout::new((3, 4), (0, 1))?).to_string(),
        "layout (3,4):(0,1) puts several indices on one element; only a `view` for reading may do so, choose strides \
         that keep the elements apart"
    );
    let buffer = ctx.enqueue_create_buffer::<f32>(11)?;
    assert_eq!(
        ctx.tensor_from_buffer::<f32, 2>(buffer, row_major([3, 4])).unwrap_err().to_string(),
        "layout (3,4):(4,1) at offset 0 takes 12 elements, there are 11; use a smaller offset, extents or strides"
    );
    // A nested mode that is one extent with one stride is a dimension.
    let nested = ctx.tensor_from_fn(Layout::new(((2, 3), 4), ((1, 2), 6))?, |[i, j]| 10 * i + j)?;
    assert_eq!((nested.shape(), nested.strides()), ([6, 4], [1, 6]));
    assert_eq!(nested.get([5, 3])?, 53);
    Ok(())
}

#[test]
fn indices_are_checked() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let a = ctx.zeros::<f32, 2>(row_major([3, 4]))?;
    assert_eq!(
        a.get([1, 4]).unwrap_err().to_string(),
        "index [1, 4] is outside a tensor of shape [3, 4]; indices start at 0"
    );
    Ok(())
}

#[test]
fn tensors_show_what_they_are() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let a = ctx.zeros::<f32, 2>(row_major([3, 4]))?;
    let shown = format!("{a:?}");
    assert!(shown.starts_with("DeviceTensor((3,4):(4,1) of f32 on context "), "{shown}");
    let shown = format!("{:?}", a.transpose());
    assert!(shown.starts_with("TensorView((4,3):(1,4) of f32 at 0 on context "), "{shown}");
    Ok(())
}
