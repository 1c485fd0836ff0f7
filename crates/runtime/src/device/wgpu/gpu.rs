//! An adapter that is open: its device and queue, what it can do, and its errors as values.

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use tilewise_ir::Kernel;
use tilewise_naga::{Capabilities, FloatControls};
use wgpu::{Backend, ErrorFilter, Features, Limits, PollType, SubmissionIndex};

use crate::device::wgpu::adapter::{Found, Vendor, api_name};
use crate::device::wgpu::float_controls;
use crate::device::wgpu::probe;
use crate::device::wgpu::stream::LAUNCHES;
use crate::error::{Error, Result};

/// An adapter that is open.
pub(super) struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    /// Its name, for people.
    pub(super) name: String,
    pub(super) limits: Limits,
    /// What is known of it without asking: see [`Gpu::capabilities_for`].
    pub(super) capabilities: Capabilities,
    /// Whether its `fma` rounds once, which Vulkan leaves open: once it has been asked.
    fused_mul_add: OnceLock<bool>,
    /// Whether arithmetic on floats can be kept as it is written: shaders are passed as SPIR-V.
    pub(super) exact: bool,
    /// Whether the device's clock can be asked for the time between commands.
    pub(super) has_clock: bool,
    /// Whether it computes on the CPU, in memory of the host.
    pub(super) is_software: bool,
    trouble: Arc<Trouble>,
}

/// What wgpu tells at times that it chooses.
#[derive(Debug, Default)]
struct Trouble {
    /// Why the device does not work any more.
    lost: OnceLock<String>,
    /// An error outside all calls that look for errors.
    uncaptured: Mutex<Option<String>>,
}

/// A call that has failed.
#[derive(Debug)]
pub(super) struct Failure {
    call: &'static str,
    error: wgpu::Error,
}

/// What a future gives that is ready, as all of wgpu's are where there is no browser.
pub(super) fn ready<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

impl Gpu {
    /// Opens an adapter with all that kernels can make use of.
    pub(super) fn open(found: &Found) -> Result<Gpu> {
        let wanted = Features::SHADER_F16
            | Features::SHADER_F64
            | Features::SHADER_INT64
            | Features::SHADER_INT64_ATOMIC_ALL_OPS
            | Features::SHADER_FLOAT32_ATOMIC
            | Features::MEMORY_DECORATION_COHERENT
            | Features::TIMESTAMP_QUERY
            | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
            | Features::PASSTHROUGH_SHADERS;
        let features = found.adapter.features() & wanted;
        let limits = found.adapter.limits();
        let descriptor = wgpu::DeviceDescriptor {
            required_features: features,
            required_limits: limits.clone(),
            ..Default::default()
        };
        let opened = ready(found.adapter.request_device(&descriptor));
        let refused = |error: String| Error::Driver { call: "request_device", error };
        let (device, queue) = opened
            .ok_or_else(|| refused("it gave no answer".to_owned()))?
            .map_err(|error| refused(error.to_string()))?;
        let trouble = Arc::new(Trouble::default());
        device.set_device_lost_callback({
            let trouble = Arc::clone(&trouble);
            move |reason, message| {
                // Whoever is told first keeps it.
                let _ = trouble.lost.set(format!("{message} ({reason:?})"));
            }
        });
        device.on_uncaptured_error({
            let trouble = Arc::clone(&trouble);
            Arc::new(move |error: wgpu::Error| trouble.keep(error.to_string()))
        });
        let exact = found.info.backend == Backend::Vulkan && features.contains(Features::PASSTHROUGH_SHADERS);
        let clock = Features::TIMESTAMP_QUERY | Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        Ok(Gpu {
            device,
            queue,
            name: format!("{} by {}", found.info.name, api_name(found.info.backend)),
            capabilities: Capabilities {
                float_controls: float_controls::of(&found.adapter).unwrap_or(FloatControls::NONE),
                ..capabilities(found, features, &limits, exact)
            },
            fused_mul_add: if found.info.backend == Backend::Vulkan {
                OnceLock::new()
            } else {
                // MSL promises it; HLSL leaves it to each shader.
                OnceLock::from(found.info.backend == Backend::Metal)
            },
            limits,
            exact,
            has_clock: features.contains(clock),
            is_software: found.is_software(),
            trouble,
        })
    }

    /// What the adapter can do for a kernel. If the kernel needs what can only be found out by running something, that is
    /// done here, the first time.
    pub(super) fn capabilities_for(&self, kernel: &Kernel) -> Result<Capabilities> {
        let mut capabilities = self.capabilities;
        if probe::asks_for_fused_mul_add(kernel) {
            capabilities.fused_mul_add = match self.fused_mul_add.get() {
                Some(&fused) => fused,
                None => {
                    let fused = probe::has_fused_mul_add(self)?;
                    *self.fused_mul_add.get_or_init(|| fused)
                }
            };
        }
        Ok(capabilities)
    }

    /// Calls wgpu, and gives the error that the call raises.
    pub(super) fn call<T>(&self, call: &'static str, f: impl FnOnce() -> T) -> Result<T, CallError> {
        self.check_lost()?;
        let scopes = [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation]
            .map(|filter| self.device.push_error_scope(filter));
        let value = f();
        let mut error = None;
        for scope in scopes.into_iter().rev() {
            error = error.or(ready(scope.pop()).flatten());
        }
        self.check_lost()?;
        match error {
            None => Ok(value),
            Some(error) => Err(CallError::Failed(Failure { call, error })),
        }
    }

    /// Waits for what was submitted up to here, or for everything.
    pub(super) fn wait(&self, submission: Option<SubmissionIndex>) -> Result<()> {
        self.poll(PollType::Wait { submission_index: submission, timeout: None }).map(drop)
    }

    /// Looks at what has ended; gives whether all has.
    pub(super) fn is_idle(&self) -> Result<bool> {
        self.poll(PollType::Poll).map(|status| status.is_queue_empty())
    }

    fn poll(&self, poll: PollType) -> Result<wgpu::PollStatus> {
        self.check_lost()?;
        // A poll of a device that is lost panics inside wgpu.
        let polled = catch_unwind(AssertUnwindSafe(|| self.device.poll(poll)));
        self.check_lost()?;
        match polled {
            Ok(Ok(status)) => Ok(status),
            Ok(Err(error)) => Err(Error::Driver { call: "poll", error: error.to_string() }),
            Err(_) => {
                let _ = self.trouble.lost.set("waiting for the device failed".to_owned());
                Err(self.check_lost().err().map_or_else(|| lost("waiting failed"), Error::from))
            }
        }
    }

    /// An error that belongs to no call.
    pub(super) fn check_uncaptured(&self) -> Result<()> {
        self.check_lost()?;
        match self.trouble.uncaptured.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(error) => Err(Error::Driver { call: "submit", error }),
        }
    }

    fn check_lost(&self) -> Result<(), CallError> {
        self.trouble.lost.get().map_or(Ok(()), |error| Err(CallError::Lost(error.clone())))
    }
}

impl Trouble {
    fn keep(&self, error: String) {
        self.uncaptured.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Why a call has not done what it should.
#[derive(Debug)]
pub(super) enum CallError {
    /// It was refused.
    Failed(Failure),
    /// The device does not work any more.
    Lost(String),
}

impl CallError {
    /// Whether there was not enough memory.
    pub(super) fn is_out_of_memory(&self) -> bool {
        matches!(self, CallError::Failed(Failure { error: wgpu::Error::OutOfMemory { .. }, .. }))
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Error {
        match error {
            CallError::Failed(Failure { call, error }) => Error::Driver { call, error: error.to_string() },
            CallError::Lost(error) => Error::DeviceLost { error },
        }
    }
}

fn lost(error: &str) -> Error {
    Error::DeviceLost { error: error.to_owned() }
}

/// What kernels may use.
fn capabilities(found: &Found, features: Features, limits: &Limits, exact: bool) -> Capabilities {
    let has = |feature| features.contains(feature);
    let most = |bytes: u64| bytes.min(u32::MAX.into()) as u32;
    let is_vulkan_of_nvidia = found.info.backend == Backend::Vulkan && Vendor::Nvidia.made(&found.info);
    Capabilities {
        f16: has(Features::SHADER_F16),
        f64: has(Features::SHADER_F64),
        int64: has(Features::SHADER_INT64),
        int64_atomics: has(Features::SHADER_INT64_ATOMIC_ALL_OPS),
        float32_atomics: has(Features::SHADER_FLOAT32_ATOMIC),
        fused_mul_add: false,
        exact_sqrt: found.is_software(),
        native_functions: !exact,
        // naga writes them to MSL as barriers that all threads have to come to.
        memory_barriers: has(Features::MEMORY_DECORATION_COHERENT) && found.info.backend != Backend::Metal,
        barriers_by_atomics: found.is_software(),
        float_controls: FloatControls::NONE,
        component_stores: found.info.backend == Backend::Vulkan,
        extends_by_halves: found.is_software(),
        hides_constants: found.is_software(),
        hides_patterns: is_vulkan_of_nvidia,
        breaks_at_the_end: is_vulkan_of_nvidia,
        max_shared_bytes: limits.max_compute_workgroup_storage_size,
        max_threads: limits.max_compute_invocations_per_workgroup,
        max_block: [
            limits.max_compute_workgroup_size_x,
            limits.max_compute_workgroup_size_y,
            limits.max_compute_workgroup_size_z,
        ],
        max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
        max_uniform_bytes: most(limits.max_uniform_buffer_binding_size).min(LAUNCHES as u32),
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn futures_that_are_ready_give_their_value() {
        assert_eq!(ready(async { 7 }), Some(7));
        assert_eq!(ready(std::future::pending::<u32>()), None);
    }
}
