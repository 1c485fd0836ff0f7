//! Mistakes that are found when a kernel is described: the launch is refused with the place and what is wrong there.

use tilewise::prelude::*;

use crate::harness::{each_device, source_line_at, zeros};

/// A kernel for each mistake; the one that is described makes it.
#[kernel]
fn mistaken(out: &mut TileTensor<f32, 1>, #[comptime] mistake: usize) {
    let list = [1.0, 2.0, 3.0];
    let local = stack_allocation::<f32, 2>(AddressSpace::Local, row_major([2, 4]));
    match mistake {
        0 => out[0] = (out.load(0, 4) + out.load(0, 2)).lane(0),
        1 => out[0] = list[3],
        2 => out[0] = out.load(0, 4).lane(4),
        3 => out[0] = out.load(0, 65).lane(0),
        4 => out[0] = out.dim(1) as f32,
        5 => out[0] = local.transpose().reshape([8])[0],
        6 => out[0] = local.slice([0..3, 0..4])[[0, 0]],
        7 => out[0] = local.tile([0, 4], [0, 0])[[0, 0]],
        8 => assert!(mistake == 7, "mistake {mistake}"),
        9 => {
            for i in (0..8).step_by(0) {
                out[i] = 1.0;
            }
        }
        10 => {
            let v = out.load(0, 4);
            if v > 0.0 {
                out[0] = 1.0;
            }
        }
        11 => out[0] = out.load(0, 4),
        12 => out[0] = stack_allocation::<f32, 1>(AddressSpace::Shared, row_major([2, 2]))[0],
        13 => local.copy_from(&local.transpose()),
        14 => out[0] = endless(0),
        _ => panic!("the host gives up at {}", mistake),
    }
}

#[device]
fn endless(#[comptime] n: usize) -> f32 {
    endless(n + 1)
}

#[test]
fn a_mistake_is_named_at_its_line() {
    let expected = [
        ("4 and 2 lanes", "0 => "),
        ("index 3 of an array of 3 elements", "1 => "),
        ("lane 4 of a value of 4 lanes", "2 => "),
        ("1 to 64 lanes, not 65", "3 => "),
        ("dimension 1 of a tensor of rank 1", "4 => "),
        ("copy it", "5 => "),
        ("slice 0..3 of dimension 0, whose extent is 2", "6 => "),
        ("each size is at least 1", "7 => "),
        ("mistake 8", "8 => "),
        ("step", "for i in (0..8).step_by(0) {"),
        ("this condition has 4 lanes", "if v > 0.0 {"),
        ("4 lanes", "11 => "),
        ("has not 1 plain dimension", "12 => "),
        ("extent 0", "13 => "),
        ("recursion must end", "fn endless("),
    ];
    each_device(|ctx| {
        for (mistake, (message, line)) in expected.into_iter().enumerate() {
            let text = refusal(ctx, mistake)?;
            assert!(text.contains(message), "mistake {mistake}: {text}");
            // `file:line:column: message`
            let mut parts = text.split(':');
            let (Some(file), Some(Ok(row))) = (parts.next(), parts.next().map(str::parse)) else {
                panic!("mistake {mistake}: no place in {text:?}")
            };
            let source = source_line_at(file, row);
            assert!(source.starts_with(line), "mistake {mistake}: {text} is at {source:?}");
        }
        Ok(())
    });
}

/// The message with which a mistaken kernel is refused.
fn refusal(ctx: &DeviceContext, mistake: usize) -> tilewise::Result<String> {
    let mut out = zeros(ctx, 8)?;
    let refused = ctx.enqueue_function(mistaken(&mut out, mistake), grid_dim(1), block_dim(1));
    assert_eq!(out.to_host()?, [0.0; 8]);
    match refused {
        Err(tilewise::Error::Stage(error)) => Ok(error.to_string()),
        other => panic!("mistake {mistake}: {other:?}"),
    }
}

#[test]
fn a_panic_while_describing_is_an_error() {
    each_device(|ctx| {
        let text = refusal(ctx, 15)?;
        assert!(text.contains("`mistaken`") && text.contains("the host gives up at 15"), "{text}");
        Ok(())
    });
}

/// After a refused launch the context works on.
#[test]
fn a_refused_launch_leaves_nothing_behind() {
    each_device(|ctx| {
        let mut out = zeros(ctx, 8)?;
        refusal(ctx, 1)?;
        refusal(ctx, 15)?;
        assert_eq!(ctx.compilations(), 0);
        ctx.enqueue_function(fine(&mut out), grid_dim(1), block_dim(8))?;
        assert_eq!(out.to_host()?, [2.0; 8]);
        Ok(())
    });
}

#[kernel]
fn fine(out: &mut TileTensor<f32, 1>) {
    out[thread_idx().x] = 2.0;
}
