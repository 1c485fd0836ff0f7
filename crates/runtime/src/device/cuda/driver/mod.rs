//! The calls of the CUDA driver, made safe: nothing outside this folder calls it.
//!
//! What makes them safe: a [`Bound`] shows that the context is the thread's own; memory of the device is named by
//! [`DeviceMemory`] and a range in it, which is checked; memory of the host that the device works on is a [`Pinned`], whose
//! bytes nobody sees before the copies have ended; a [`Function`] is launched with as many parameters as it has.
//!
//! Handles of the driver may be used from any thread. No function is used that CUDA 12.0 lacks, because a missing one would
//! be a panic of `cudarc`.
#![expect(unsafe_code, reason = "the driver is a C library")]

mod code;
mod memory;
mod pinned;
mod stream;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::{self, CUdevice_attribute, CUresult};

pub(super) use code::Function;
pub(super) use memory::DeviceMemory;
pub(super) use pinned::Pinned;
pub(super) use stream::{Event, Stream};

/// A call of the driver that has failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Failure {
    /// The function.
    pub(super) call: &'static str,
    code: CUresult,
}

pub(super) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Whether the driver's library can be loaded. Nothing else here may be called if it cannot.
pub(super) fn is_installed() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    // SAFETY: the driver's library may be loaded at any time; it runs nothing but its own initialisation.
    *INSTALLED.get_or_init(|| unsafe { sys::is_culib_present() })
}

/// Starts the driver; may be called again.
pub(super) fn initialize() -> Result<()> {
    // SAFETY: the call has no condition; 0 is the only value for the flags.
    check("cuInit", unsafe { sys::cuInit(0) })
}

/// The version of CUDA that the driver supports: 12040 for 12.4.
pub(super) fn version() -> Result<u32> {
    let mut version = 0;
    // SAFETY: the pointer is valid for the call.
    check("cuDriverGetVersion", unsafe { sys::cuDriverGetVersion(&mut version) })?;
    Ok(version.unsigned_abs())
}

fn check(call: &'static str, code: CUresult) -> Result<()> {
    match code {
        CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(Failure { call, code }),
    }
}

impl Failure {
    /// A mistake of the caller that was found before the driver was called.
    fn invalid(call: &'static str) -> Failure {
        Failure { call, code: CUresult::CUDA_ERROR_INVALID_VALUE }
    }

    /// Whether there is no GPU.
    pub(super) fn is_no_device(self) -> bool {
        self.code == CUresult::CUDA_ERROR_NO_DEVICE
    }

    /// Whether memory was lacking.
    pub(super) fn is_out_of_memory(self) -> bool {
        self.code == CUresult::CUDA_ERROR_OUT_OF_MEMORY
    }

    /// Whether a block takes more registers or shared memory than there are.
    pub(super) fn is_out_of_resources(self) -> bool {
        self.code == CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
    }

    /// Whether work is still going on, which a query answers like this.
    fn is_not_ready(self) -> bool {
        self.code == CUresult::CUDA_ERROR_NOT_READY
    }

    /// Whether the context is of no more use: every later call fails, too.
    pub(super) fn is_fatal(self) -> bool {
        matches!(
            self.code,
            CUresult::CUDA_ERROR_DEINITIALIZED
                | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
                | CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE
                | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
                | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
                | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
                | CUresult::CUDA_ERROR_ASSERT
                | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
                | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
                | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
                | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
                | CUresult::CUDA_ERROR_INVALID_PC
                | CUresult::CUDA_ERROR_LAUNCH_FAILED
                | CUresult::CUDA_ERROR_UNKNOWN
        )
    }

    /// Whether a handle was used where the context of the thread is another one.
    pub(super) fn is_other_context(self) -> bool {
        matches!(self.code, CUresult::CUDA_ERROR_INVALID_CONTEXT | CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// `CUDA_ERROR_OUT_OF_MEMORY (out of memory)`
    pub(super) fn error(self) -> String {
        match self.description() {
            Some(description) => format!("{:?} ({description})", self.code),
            None => format!("{:?}", self.code),
        }
    }

    fn description(self) -> Option<String> {
        let mut text: *const c_char = ptr::null();
        // SAFETY: the driver is loaded, for it has returned this code; the pointer is valid for the call.
        check("cuGetErrorString", unsafe { sys::cuGetErrorString(self.code, &mut text) }).ok()?;
        // SAFETY: the driver gives a text of its own that ends with a zero and is never freed.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.call, self.code)
    }
}

/// A GPU that the driver lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gpu(sys::CUdevice);

impl Gpu {
    /// How many there are.
    pub(super) fn count() -> Result<usize> {
        let mut count = 0;
        // SAFETY: the pointer is valid for the call.
        check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&mut count) })?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// The GPU with this number.
    pub(super) fn get(number: usize) -> Result<Gpu> {
        let number = c_int::try_from(number).map_err(|_| Failure::invalid("cuDeviceGet"))?;
        let mut gpu = 0;
        // SAFETY: the pointer is valid for the call.
        check("cuDeviceGet", unsafe { sys::cuDeviceGet(&mut gpu, number) })?;
        Ok(Gpu(gpu))
    }

    /// Its name: `NVIDIA H200`.
    pub(super) fn name(self) -> Result<String> {
        let mut name = [0u8; 256];
        let len = name.len() as c_int - 1;
        // SAFETY: the driver writes at most `len` bytes, and the last one stays zero.
        check("cuDeviceGetName", unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), len, self.0) })?;
        Ok(CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned())
    }

    /// One of its attributes.
    pub(super) fn attribute(self, attribute: CUdevice_attribute) -> Result<u32> {
        let mut value = 0;
        // SAFETY: the pointer is valid for the call.
        let code = unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, self.0) };
        check("cuDeviceGetAttribute", code)?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    /// Bytes of its memory.
    pub(super) fn memory(self) -> Result<u64> {
        let mut bytes = 0;
        // SAFETY: the pointer is valid for the call.
        check("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&mut bytes, self.0) })?;
        Ok(bytes as u64)
    }
}

/// The primary context of a GPU. It is kept until the process ends, for making one takes long.
#[derive(Debug)]
pub(super) struct Context {
    raw: sys::CUcontext,
    /// Whether memory can be allocated and freed in the order of a stream.
    has_pool: bool,
}

// SAFETY: the driver's contexts may be used by any thread, also by several at once.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

thread_local! {
    /// The context that was bound to this thread latest, by [`Context::bind`].
    static LATEST: Cell<sys::CUcontext> = const { Cell::new(ptr::null_mut()) };
}

impl Context {
    /// The primary context of a GPU, which is the same at each call.
    pub(super) fn of(gpu: Gpu) -> Result<&'static Context> {
        static CONTEXTS: Mutex<Vec<(sys::CUdevice, &'static Context)>> = Mutex::new(Vec::new());
        let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, context)) = contexts.iter().find(|(device, _)| *device == gpu.0) {
            return Ok(context);
        }
        let mut raw = ptr::null_mut();
        // SAFETY: the pointer is valid for the call. The context is never released.
        check("cuDevicePrimaryCtxRetain", unsafe { sys::cuDevicePrimaryCtxRetain(&mut raw, gpu.0) })?;
        let has_pool =
            gpu.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED).unwrap_or(0) != 0
                && keep_freed_memory(gpu).is_ok();
        let context: &'static Context = Box::leak(Box::new(Context { raw, has_pool }));
        contexts.push((gpu.0, context));
        Ok(context)
    }

    /// Makes it the context of this thread, if it is not.
    pub(super) fn bind(&'static self) -> Result<Bound> {
        let mut current = ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        check("cuCtxGetCurrent", unsafe { sys::cuCtxGetCurrent(&mut current) })?;
        if current != self.raw {
            // SAFETY: the context is alive, for it is never released.
            check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })?;
        }
        LATEST.set(self.raw);
        Ok(Bound { context: self, thread: PhantomData })
    }

    /// [`bind`](Context::bind), but the driver is not asked if this was the latest context to be bound here. If somebody
    /// else has bound another since, the driver refuses a launch with a failure that
    /// [`is_other_context`](Failure::is_other_context).
    pub(super) fn bind_for_launch(&'static self) -> Result<Bound> {
        if LATEST.get() == self.raw {
            return Ok(Bound { context: self, thread: PhantomData });
        }
        self.bind()
    }
}

/// Lets the default pool of a GPU keep what was freed, so that the next allocation is fast.
fn keep_freed_memory(gpu: Gpu) -> Result<()> {
    let (pool, mut threshold) = (default_pool(gpu)?, u64::MAX);
    let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: this attribute is a `u64`, and the pointer is valid for the call.
    check("cuMemPoolSetAttribute", unsafe {
        sys::cuMemPoolSetAttribute(pool, attribute, (&raw mut threshold).cast())
    })
}

fn default_pool(gpu: Gpu) -> Result<sys::CUmemoryPool> {
    let mut pool = ptr::null_mut();
    // SAFETY: the pointer is valid for the call.
    check("cuDeviceGetDefaultMemPool", unsafe { sys::cuDeviceGetDefaultMemPool(&mut pool, gpu.0) })?;
    Ok(pool)
}

/// Shows that a context is the one of this thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    context: &'static Context,
    thread: PhantomData<*mut ()>,
}
