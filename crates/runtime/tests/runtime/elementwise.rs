//! `elementwise`: every rank, width and tail, and captures.

use tilewise_layout::row_major;
use tilewise_runtime::*;
use tilewise_stage::Num;

const WIDTHS: [usize; 4] = [1, 2, 4, 8];

#[test]
fn rank_1_with_every_tail() -> Result<()> {
    let ctx = DeviceContext::new()?;
    for width in WIDTHS {
        for len in (0..20).chain([255, 256, 257, 1000, 2051]) {
            let a = ctx.tensor_from_fn(row_major([len]), |[i]| i as i32)?;
            let mut output = ctx.full::<i32, 1>(row_major([len]), -1)?;
            let mut builder = LaunchBuilder::new("double");
            let to = builder.capture_mut("output", &mut output);
            let from = builder.capture("a", &a);
            let body = builder.describe_index(move |width, [i]| {
                to.bind().store(i, from.bind().load(i, width) * 2);
            });
            elementwise(&ctx, width, [len], body)?;
            let expected: Vec<i32> = (0..len as i32).map(|i| 2 * i).collect();
            assert_eq!(output.to_host()?, expected, "width {width}, {len} elements");
        }
    }
    assert!(ctx.compilations() <= 8, "one with and one without a tail for each width");
    Ok(())
}

#[test]
fn rank_2_with_every_tail() -> Result<()> {
    let ctx = DeviceContext::new()?;
    for width in WIDTHS {
        for rows in [0, 1, 3, 17] {
            for columns in (0..=17).chain([100]) {
                let mut output = ctx.full::<usize, 2>(row_major([rows, columns]), 77)?;
                let mut builder = LaunchBuilder::new("number");
                let to = builder.capture_mut("output", &mut output);
                let body = builder.describe_index(move |width, [i, j]| {
                    let each: Vec<_> = (0..width).map(|lane| i * 1000 + j + lane).collect();
                    to.bind().store([i, j], tilewise_stage::Val::from_lanes(&each));
                });
                elementwise(&ctx, width, [rows, columns], body)?;
                let expected: Vec<usize> =
                    (0..rows).flat_map(|i| (0..columns).map(move |j| 1000 * i + j)).collect();
                assert_eq!(output.to_host()?, expected, "width {width}, {rows} x {columns}");
            }
        }
    }
    assert!(ctx.compilations() <= 8);
    Ok(())
}

#[test]
fn rank_3_with_every_tail() -> Result<()> {
    let ctx = DeviceContext::new()?;
    for width in WIDTHS {
        for last in [0, 1, 2, 3, 5, 8, 9, 15, 16] {
            let shape = [3, 4, last];
            let a = ctx.tensor_from_fn(row_major(shape), |[i, j, k]| (100 * i + 20 * j + k) as f32)?;
            let mut output = ctx.zeros::<f32, 3>(row_major(shape))?;
            let mut builder = LaunchBuilder::new("square");
            let to = builder.capture_mut("output", &mut output);
            let from = builder.capture("a", &a);
            let body = builder.describe_index(move |width, index: [_; 3]| {
                let x = from.bind().load(index, width);
                to.bind().store(index, x * x);
            });
            elementwise(&ctx, width, shape, body)?;
            let expected: Vec<f32> = a.to_host()?.iter().map(|x| x * x).collect();
            assert_eq!(output.to_host()?, expected, "width {width}, last extent {last}");
        }
    }
    Ok(())
}

#[test]
fn each_element_is_visited_once() -> Result<()> {
    let ctx = DeviceContext::new()?;
    for (width, len) in [(4, 10), (8, 7), (8, 8), (2, 513)] {
        let mut count = ctx.zeros::<i32, 1>(row_major([len]))?;
        for _ in 0..3 {
            let mut builder = LaunchBuilder::new("count");
            let to = builder.capture_mut("count", &mut count);
            let body = builder.describe_index(move |width, [i]| {
                let count = to.bind();
                count.store(i, count.load(i, width) + 1);
            });
            elementwise(&ctx, width, [len], body)?;
        }
        assert_eq!(count.to_host()?, vec![3; len]);
    }
    Ok(())
}

#[test]
fn a_body_that_returns_early_leaves_no_element_undone() -> Result<()> {
    // `return` ends the thread: it must not end the work on other elements of the tail.
    let ctx = DeviceContext::new()?;
    let mut output = ctx.zeros::<i32, 1>(row_major([7]))?;
    let mut builder = LaunchBuilder::new("early");
    let to = builder.capture_mut("output", &mut output);
    let body = builder.describe_index(move |width, [i]| {
        let one = tilewise_stage::Stage::stage(1).splat(width);
        to.bind().store(i, one);
        tilewise_stage::control::exit_thread();
    });
    elementwise(&ctx, 4, [7], body)?;
    assert_eq!(output.to_host()?, [1; 7]);
    Ok(())
}

#[test]
fn captures_of_every_kind() -> Result<()> {
    /// `y = alpha * x + y`, called with references and a generic number.
    fn axpy<T: Num>(
        ctx: &DeviceContext,
        alpha: T,
        x: &DeviceTensor<T, 1>,
        y: &mut DeviceTensor<T, 1>,
    ) -> Result<()> {
        let len = x.len();
        let mut builder = LaunchBuilder::new("axpy");
        // As methods: `y` need not be a `mut` variable.
        let y = y.capture_mut_into(&mut builder, "y");
        let x = x.capture_into(&mut builder, "x");
        let alpha = alpha.capture_into(&mut builder, "alpha");
        let body = builder.describe_index(move |width, [i]| {
            let (y, x) = (y.bind(), x.bind());
            y.store(i, alpha.bind() * x.load(i, width) + y.load(i, width));
        });
        elementwise(ctx, 4, [len], body)
    }
    let ctx = DeviceContext::new()?;
    let x = ctx.tensor_from_fn(row_major([6]), |[i]| i as f32)?;
    let mut y = ctx.full::<f32, 1>(row_major([6]), 0.5)?;
    axpy(&ctx, 2.0, &x, &mut y)?;
    assert_eq!(y.to_host()?, [0.5, 2.5, 4.5, 6.5, 8.5, 10.5]);

    // As arguments: references to references are what they refer to.
    let (reference, scale, flag) = (&x, 3.0f32, &true);
    let buffer = ctx.enqueue_create_buffer::<f32>(6)?;
    let view = x.as_view();
    let mut out = ctx.zeros::<f32, 1>(row_major([6]))?;
    let mut target = &mut out;
    let mut builder = LaunchBuilder::new("captures");
    let to = builder.capture_mut("target", &mut target);
    let a = builder.capture("reference", &reference);
    let b = builder.capture("buffer", &buffer);
    let c = builder.capture("view", &view);
    let (scale, flag) = (builder.capture("scale", &scale), builder.capture("flag", &flag));
    let body = builder.describe_index(move |width, [i]| {
        let sum = a.bind().load(i, width) + b.bind().load(i, width) + c.bind().load(i, width);
        let chosen = tilewise_stage::select(flag.bind(), sum * scale.bind(), sum);
        to.bind().store(i, chosen);
    });
    elementwise(&ctx, 1, [6], body)?;
    assert_eq!(out.to_host()?, [0.0, 6.0, 12.0, 18.0, 24.0, 30.0]);
    Ok(())
}

#[test]
fn widths_and_shapes_that_cannot_be() -> Result<()> {
    let ctx = DeviceContext::new()?;
    let body = || LaunchBuilder::new("nothing").describe_index(|_, [_i]| {});
    assert_eq!(
        elementwise(&ctx, 0, [4], body()).unwrap_err().to_string(),
        "kernel `nothing`: elementwise with width 0; the width is 1 to 64"
    );
    assert!(matches!(
        elementwise(&ctx, 65, [4], body()),
        Err(Error::Launch(LaunchError::VectorWidth { width: 65, limit: 64, .. }))
    ));
    let body = || LaunchBuilder::new("nothing").describe_index(|_, [_i, _j]| {});
    assert!(matches!(
        elementwise(&ctx, 1, [usize::MAX, 2], body()),
        Err(Error::Launch(LaunchError::TooManyElements { .. }))
    ));
    elementwise(&ctx, 4, [usize::MAX, 0], body())?;
    assert!(matches!(
        elementwise(&ctx, 1, [1 << 62, 2], body()),
        Err(Error::Launch(LaunchError::GridAxis { axis: 'y', .. }))
    ));
    Ok(())
}
