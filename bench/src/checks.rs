//! Bounds checks on and off.

use tilewise::Launch;

/// Whether a kernel compares its indices with the extents of its tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    /// As every launch does.
    On,
    /// `unsafe { launch.unchecked() }`.
    Off,
}

impl Checks {
    /// The launch with or without checks. Without is for a launch that has run with checks before, with the same
    /// arguments, and without a fault.
    #[expect(unsafe_code, reason = "the time without bounds checks is measured, too")]
    pub(crate) fn apply(self, launch: Launch<'_>) -> Launch<'_> {
        match self {
            Checks::On => launch,
            // SAFETY: indices depend on sizes and on inputs alone, and with these the launch has had no access out of
            // bounds.
            Checks::Off => unsafe { launch.unchecked() },
        }
    }

    /// Who wrote the kernel, in a record.
    pub(crate) fn by(self) -> &'static str {
        match self {
            Checks::On => "tilewise",
            Checks::Off => "tilewise unchecked",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tilewise::inspect::{Code, Target, code};
    use tilewise::prelude::*;

    use super::Checks;
    use crate::kernels::{add, dot, matmul};

    /// Sizes of which the launch proves all, as those of the benchmark.
    const LENGTH: usize = 1 << 16;
    const SIDE: usize = 256;

    /// So the speeds are the same, too, on each device.
    #[test]
    fn a_proved_launch_is_the_same_code_with_checks_and_without() -> tilewise::Result<()> {
        let ctx = DeviceContext::open("cpu")?;
        let [a, b] = [ctx.zeros::<f32, 1>(row_major([LENGTH]))?, ctx.zeros(row_major([LENGTH]))?];
        let [x, y] = [ctx.zeros::<f32, 2>(row_major([SIDE, SIDE]))?, ctx.zeros(row_major([SIDE, SIDE]))?];
        let mut sum: DeviceTensor<f32, 1> = ctx.zeros(row_major([1]))?;
        let mut out: DeviceTensor<f32, 1> = ctx.zeros(row_major([LENGTH]))?;
        let mut c: DeviceTensor<f32, 2> = ctx.zeros(row_major([SIDE, SIDE]))?;

        // Asserts that two launches, one without checks, are the same code for each kind of device.
        macro_rules! same {
            ($launch:expr, $grid:expr, $block:expr) => {
                for target in [Target::Ir, Target::Ptx, Target::Spirv, Target::Msl, Target::Hlsl] {
                    let on = code(Checks::On.apply($launch), grid_dim($grid), block_dim($block), target)?;
                    let off = code(Checks::Off.apply($launch), grid_dim($grid), block_dim($block), target)?;
                    assert_eq!(lines(&on), lines(&off), "{} as {target}", on.kernel());
                }
            };
        }
        same!(dot::tree(&mut sum, &a, &b), LENGTH / dot::THREADS, dot::THREADS);
        same!(dot::vectors(&mut sum, &a, &b), 8, dot::THREADS);
        same!(add::scalar(&mut out, &a, &b), LENGTH / add::THREADS, add::THREADS);
        same!(add::vectors(&mut out, &a, &b), LENGTH / 4 / add::THREADS, add::THREADS);
        same!(matmul::tiled::<32>(&mut c, &x, &y), (SIDE / 32, SIDE / 32), (32, 32));
        same!(matmul::registers(&mut c, &x, &y), (SIDE / 128, SIDE / 128), matmul::THREADS);

        // The patterns have no launch without checks: none may be left in them.
        let codes: Arc<Mutex<Vec<Code>>> = Arc::default();
        let sink = Arc::clone(&codes);
        let ctx = ctx.with_inspector(Target::Hlsl, move |code| sink.lock().expect("no panic").push(code));
        add::elementwise_pattern(&ctx, &mut out, &a, &b)?;
        add::tiled_pattern(&ctx, &mut out, &a, &b)?;
        add::manual_vectorized_pattern(&ctx, &mut out, &a, &b)?;
        add::vectorized_pattern(&ctx, &mut out, &a, &b)?;
        let codes = codes.lock().expect("no panic");
        assert_eq!(codes.len(), 4);
        for code in &*codes {
            assert!(!code.text().is_some_and(|text| text.contains("report_")), "{}", code.kernel());
        }
        Ok(())
    }

    fn lines(code: &Code) -> Vec<String> {
        match code.text() {
            Some(text) => text.lines().map(str::to_owned).collect(),
            None => code.words().unwrap_or_default().iter().map(u32::to_string).collect(),
        }
    }
}
