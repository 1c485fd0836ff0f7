//! Runs a test on every device, with the optimiser on and off, and with one and several threads of the host.
//!
//! Whatever a test returns has to be the same in all configurations of a device, bit for bit; what it should be, the
//! test asserts itself. A device that this machine has not is skipped with a line that says why, and so is a test whose
//! kernel needs what a device lacks.
//!
//! # Cases that wait
//!
//! These need parts that are not built yet (those of the checker are in `tests/check`):
//!
//! - swizzled layouts, and memory seen as another element type;
//! - shared memory whose size the launch chooses, a library matmul, a disk cache;
//! - what only a GPU can refuse or get wrong: features of an adapter, driver limits.

use std::env;
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use tilewise::ir::{Const, Fault};
use tilewise::prelude::*;

/// A device on which all tests run.
struct Device {
    /// As [`DeviceContext::open`] takes it.
    name: &'static str,
    /// Whether every machine has it: then it is a failure if it cannot be opened.
    everywhere: bool,
    /// How many threads of the host to run it with.
    threads: &'static [usize],
    /// What tests may need and it has not.
    lacks: &'static [Need],
    /// What it has not, either, where it is a software adapter.
    software_lacks: &'static [Need],
}

/// What a test needs of a device, where not every device has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Barriers that not all threads reach are found. Elsewhere such kernels are not run: they may hang.
    FindsDivergence,
    /// A product and a sum of `f64` are rounded once, as they are where both are constants.
    FusedDoubles,
    /// A kernel with hundreds of operations on constants is compiled within seconds.
    FastCompiler,
    /// Operations of warps, where not all threads of the block come to them.
    WarpsApart,
}

impl Need {
    fn why(self) -> &'static str {
        match self {
            Need::FindsDivergence => "it does not find barriers that not all threads reach",
            Need::FusedDoubles => "its fma of f64 rounds twice, and that of constants once",
            Need::WarpsApart => {
                "all threads of a block have to come to an operation of a warp: it goes through barriers"
            }
            Need::FastCompiler => {
                "its driver takes minutes to compile hundreds of operations: few are on constants"
            }
        }
    }
}

const DEVICES: &[Device] = &[
    Device { name: "cpu", everywhere: true, threads: &[1, 3], lacks: &[], software_lacks: &[] },
    Device {
        name: "nvidia",
        everywhere: false,
        threads: &[1],
        lacks: &[Need::FindsDivergence],
        software_lacks: &[],
    },
    #[cfg(feature = "wgpu")]
    Device {
        name: "vulkan",
        everywhere: false,
        threads: &[1],
        lacks: &[Need::FindsDivergence, Need::WarpsApart],
        software_lacks: &[Need::FusedDoubles, Need::FastCompiler],
    },
];

/// Runs `test` on each device in each configuration, with a context of its own.
///
/// A fault that the test leaves behind fails it; one that it expects it takes with [`fault`].
pub(crate) fn each_device<R: PartialEq + Debug>(test: impl Fn(&DeviceContext) -> tilewise::Result<R>) {
    each_device_with(&[], test);
}

/// [`each_device`], on the devices that have what the test needs.
pub(crate) fn each_device_with<R: PartialEq + Debug>(
    needs: &[Need],
    test: impl Fn(&DeviceContext) -> tilewise::Result<R>,
) {
    DEVICES.iter().for_each(|device| each_configuration(device, needs, &test));
}

fn each_configuration<R: PartialEq + Debug>(
    device: &Device,
    needs: &[Need],
    test: impl Fn(&DeviceContext) -> tilewise::Result<R>,
) {
    let mut first: Option<(String, R)> = None;
    for optimizer in [true, false] {
        for &threads in device.threads {
            let ctx = match DeviceContext::open(device.name) {
                Ok(ctx) => ctx.with_optimizer(optimizer).with_threads(threads),
                Err(error) if device.everywhere => panic!("{}: {error}", device.name),
                Err(error) => {
                    println!("skipped {}: {error}", device.name);
                    return;
                }
            };
            if needs.iter().any(|&need| !has(&ctx, need)) {
                return;
            }
            let switch = if optimizer { "on" } else { "off" };
            let configuration = format!("{}, optimiser {switch}, {threads} host threads", device.name);
            // The last line before a failed assertion tells where it failed.
            println!("{configuration}");
            let result = match test(&ctx).and_then(|result| ctx.synchronize().map(|()| result)) {
                Ok(result) => result,
                Err(error @ tilewise::Error::Unsupported { .. }) if !device.everywhere => {
                    println!("skipped {}: {error}", device.name);
                    return;
                }
                Err(error) => panic!("{configuration}: {error}"),
            };
            match &first {
                None => first = Some((configuration, result)),
                Some((other, expected)) => {
                    assert_eq!(result, *expected, "{configuration} (left) is not as {other} (right)");
                }
            }
        }
    }
}

/// Whether the device of a context has what a test needs; if not, a line says so.
pub(crate) fn has(ctx: &DeviceContext, need: Need) -> bool {
    let name = ctx.device_name();
    let Some(device) = DEVICES.iter().find(|device| name.starts_with(device.name)) else { return true };
    let is_software = ctx.device_info().description.contains("software adapter");
    let lacks = device.lacks.contains(&need) || is_software && device.software_lacks.contains(&need);
    if lacks {
        println!("skipped {name}: {}", need.why());
    }
    !lacks
}

/// A tensor of rank 1.
pub(crate) fn vector<T: Element>(ctx: &DeviceContext, values: &[T]) -> tilewise::Result<DeviceTensor<T, 1>> {
    ctx.tensor_from_slice(row_major([values.len()]), values)
}

/// A tensor of rank 1, all bits zero.
pub(crate) fn zeros<T: Element>(ctx: &DeviceContext, len: usize) -> tilewise::Result<DeviceTensor<T, 1>> {
    ctx.zeros(row_major([len]))
}

/// The bits of values: they compare NaN, too.
pub(crate) fn bits<T: Element>(values: &[T]) -> Vec<Const> {
    values.iter().map(|value| value.to_const()).collect()
}

/// Asserts that two lists have the same bits; any NaN is as good as another.
#[track_caller]
pub(crate) fn assert_same<T: Element + Debug>(found: &[T], expected: &[T], what: &str) {
    let same = |a: T, b: T| a.to_const() == b.to_const() || is_nan(a) && is_nan(b);
    let equal = found.len() == expected.len() && found.iter().zip(expected).all(|(&a, &b)| same(a, b));
    assert!(equal, "{what}\n   found: {found:?}\nexpected: {expected:?}");
}

#[expect(clippy::eq_op, reason = "only NaN is not equal to itself, whatever the type")]
fn is_nan<T: Element>(value: T) -> bool {
    value != value
}

/// The fault that a context has to report now.
#[track_caller]
pub(crate) fn fault(ctx: &DeviceContext) -> FaultReport {
    match ctx.synchronize() {
        Err(tilewise::Error::Fault(report)) => *report,
        other => panic!("expected a fault, found {other:?}"),
    }
}

/// The line of the source at which a fault happened, without the space around it.
#[track_caller]
pub(crate) fn source_line(fault: &Fault) -> String {
    let location = fault.location.as_ref().expect("a fault names its position");
    source_line_at(&location.file, location.line)
}

/// A line of one of these files, as the compiler names it.
#[track_caller]
pub(crate) fn source_line_at(file: &str, line: u32) -> String {
    let inner = file.find("tests").map_or(file, |at| &file[at..]);
    // Asked for while running: the tests also run away from where they were built.
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    let text =
        fs::read_to_string(Path::new(&folder).join(inner)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let text = text.lines().nth(line as usize - 1).unwrap_or_else(|| panic!("{file} has no line {line}"));
    text.trim().to_owned()
}
