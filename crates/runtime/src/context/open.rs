//! How a context is opened: by a name, or by what environment variables say.

use std::env;
use std::io::{Write as _, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tilewise_check::profile::Profile;
use tilewise_check::{Report, render};
use tilewise_ir::pass::Optimizer;

use super::{DeviceContext, Shared};
use crate::cache::KernelCache;
use crate::device::{self, DeviceInfo};
use crate::dump::Dump;
use crate::error::{Error, Result};
use crate::output::Output;
use crate::watch::{Goes, Kept, Sink, Watch};

/// Names the device that [`DeviceContext::new`] opens.
const DEVICE: &str = "TILEWISE_DEVICE";

/// `0` turns the optimiser off, `-NAME,-NAME` passes of it.
const OPTIMIZER: &str = "TILEWISE_OPT";

/// `1` checks every launch.
const CHECK: &str = "TILEWISE_CHECK";

/// `1` profiles every launch, and prints the profiles.
const PROFILE: &str = "TILEWISE_PROFILE";

/// Names the folder that compiled kernels are written to.
const DUMP: &str = "TILEWISE_DUMP";

impl DeviceContext {
    /// Opens the device that the environment variable `TILEWISE_DEVICE` names, or the best that there is.
    ///
    /// `TILEWISE_OPT=0` turns the [optimiser](DeviceContext::with_optimizer) off, `TILEWISE_OPT=-licm,-cse` these passes of
    /// it. `TILEWISE_CHECK=1` makes all launches [checked](DeviceContext::checked) ones, prints their warnings, and makes the best
    /// device the CPU.
    /// `TILEWISE_PROFILE=1` makes them [profiled](DeviceContext::profiled) ones in the same way, and prints what was
    /// counted.
    ///
    /// # Errors
    ///
    /// If there is no such device: [`Error::NoSuchDevice`] if nobody knows the name, [`Error::DeviceNotBuilt`] if this
    /// program was built without it, [`Error::NoDriver`], [`Error::DriverTooOld`], [`Error::NoHardware`],
    /// [`Error::NoAdapter`] or [`Error::DeviceTooOld`] by what is missing. [`Error::Passes`] or [`Error::Variable`] if one
    /// of these variables has another value.
    pub fn new() -> Result<DeviceContext> {
        let watch = watch_of_variables()?;
        // The best device that can watch launches is the CPU.
        let device = variable(DEVICE).or_else(|| watch.is_on().then(|| "cpu".to_owned()));
        let ctx = DeviceContext::from_variables(device.as_deref(), variable(OPTIMIZER).as_deref())?;
        Ok(DeviceContext { watch, ..ctx })
    }

    /// Opens a device by its name, whatever `TILEWISE_DEVICE` is. Letter case plays no part.
    ///
    /// | name | device |
    /// | --- | --- |
    /// | `cpu` | the SIMT interpreter |
    /// | `nvidia`, `cuda`, `gpu` | the first NVIDIA GPU, with the feature `cuda` |
    /// | `nvidia:1`, `cuda:1` | the NVIDIA GPU with this number, from 0 |
    /// | `vulkan`, `metal`, `dx12` | the best adapter of that API, with the feature `wgpu` |
    /// | `webgpu` | the best adapter of these APIs |
    /// | `amd`, `apple`, `intel` | the best adapter of that maker; `nvidia`, too, is one where there is no CUDA |
    /// | `vulkan:1`, `amd:1`, ... | the adapter of that kind with this number, from 0 |
    ///
    /// ```
    /// use tilewise_runtime::DeviceContext;
    ///
    /// let error = DeviceContext::open("abacus").unwrap_err();
    /// assert!(error.to_string().starts_with("there is no device `abacus`; there is "));
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](DeviceContext::new).
    pub fn open(name: &str) -> Result<DeviceContext> {
        let watch = watch_of_variables()?;
        let ctx = DeviceContext::from_variables(Some(name), variable(OPTIMIZER).as_deref())?;
        Ok(DeviceContext { watch, ..ctx })
    }

    /// Opens the device `name`, or the best; `optimizer` is the value of [`OPTIMIZER`].
    fn from_variables(name: Option<&str>, optimizer: Option<&str>) -> Result<DeviceContext> {
        static CONTEXTS: AtomicU64 = AtomicU64::new(1);
        let optimizer = parse_optimizer(optimizer)?;
        let device = match name {
            Some(name) => device::open(name)?,
            None => device::open_best()?,
        };
        let number = CONTEXTS.fetch_add(1, Ordering::Relaxed);
        let stream = device.create_stream()?;
        let kernels = KernelCache::new(variable(DUMP).map(Dump::new));
        let shared = Arc::new(Shared { number, device, kernels, kept: Kept::default() });
        Ok(DeviceContext {
            shared,
            stream,
            optimizer,
            watch: Watch::default(),
            max_rounds: None,
            threads: None,
            output: Output::default(),
            explain: None,
            #[cfg(feature = "inspect")]
            inspector: None,
        })
    }

    /// The devices that can be opened, the best first.
    pub fn devices() -> Vec<DeviceInfo> {
        device::available()
    }
}

/// What environment variables want of launches.
fn watch_of_variables() -> Result<Watch> {
    let is_on = |name| switch(name, variable(name).as_deref(), false);
    // Nobody is there to hear that standard error is closed.
    let print = |text: String| drop(write!(stderr(), "{text}"));
    let profile = move |profile: Profile| print(render::profile(&profile, &render::Style::of(&stderr())));
    // Errors come back from the program's own calls; it knows nothing of warnings.
    let warnings = move |report: Report| {
        if report.first_error().is_none() && !report.is_clean() {
            print(render::text(&report, &render::Style::of(&stderr())));
        }
    };
    Ok(Watch {
        report: is_on(CHECK)?.then(|| Goes::Shown(Sink::new(warnings))),
        profile: is_on(PROFILE)?.then(|| Goes::To(Sink::new(profile))),
        progress: None,
    })
}

/// An environment variable, if it is set to something.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The passes that run, by the value of [`OPTIMIZER`].
fn parse_optimizer(value: Option<&str>) -> Result<Optimizer> {
    let Some(value) = value else { return Ok(Optimizer::ON) };
    value.parse().map_err(|wrong| Error::Passes { variable: OPTIMIZER, value: value.to_owned(), wrong })
}

/// Whether what a variable turns on or off is on; `default` if it is not set.
fn switch(variable: &'static str, value: Option<&str>, default: bool) -> Result<bool> {
    match value.map(str::trim) {
        None => Ok(default),
        Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(value) => {
            let value = value.to_owned();
            Err(Error::Variable { variable, value, expected: "0 or 1" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_chooses_the_device() {
        let name = |name| DeviceContext::from_variables(name, None).map(|ctx| ctx.device_name().to_owned());
        assert_eq!(name(None).ok(), DeviceContext::devices().first().map(|best| best.name.clone()));
        assert_eq!(name(Some("cpu")), Ok("cpu".to_owned()));
        assert_eq!(
            matches!(name(Some("vulkan")), Err(Error::DeviceNotBuilt { .. })),
            cfg!(not(feature = "wgpu"))
        );
        assert!(matches!(name(Some("abacus")), Err(Error::NoSuchDevice { .. })));
    }

    #[test]
    fn switches() {
        assert_eq!(switch(CHECK, None, false), Ok(false));
        assert_eq!(switch(CHECK, Some("1"), false), Ok(true));
        assert!(switch(CHECK, Some("yes"), false).is_err());
    }

    #[test]
    fn the_optimizer_is_on_unless_turned_off() {
        let on = |value| DeviceContext::from_variables(Some("cpu"), value).map(|ctx| ctx.optimizer);
        assert_eq!(on(None), Ok(Optimizer::ON));
        assert_eq!(on(Some("1")), Ok(Optimizer::ON));
        assert_eq!(on(Some(" 0")), Ok(Optimizer::OFF));
        assert_eq!(on(Some("-cse")), Ok(Optimizer::ON.without("cse").unwrap()));
        let error = on(Some("-unknown")).unwrap_err().to_string();
        let passes = Optimizer::names().collect::<Vec<_>>().join(", ");
        assert!(
            error.starts_with(
                "the environment variable TILEWISE_OPT is `-unknown`: there is no pass `unknown`; "
            ) && error.ends_with(&format!(" without these passes of {passes}")),
            "{error}"
        );
    }
}
