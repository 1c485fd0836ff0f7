//! The adapters of the machine: which there are, by which names they are known, and which one a name means.

use std::env;
use std::fmt;
use std::sync::LazyLock;

use wgpu::{Adapter, AdapterInfo, Backend, Backends, DeviceType, Limits};

use crate::device::wgpu::float_controls::{self, Missing};
use crate::device::wgpu::gpu::ready;
use crate::device::{DeviceInfo, DeviceLimits};
use crate::error::{Error, Result};

/// Part of the name of the adapters that are considered.
const ADAPTER: &str = "TILEWISE_ADAPTER";

/// The APIs that adapters are looked for in.
const APIS: Backends = Backends::VULKAN.union(Backends::METAL).union(Backends::DX12);

/// The largest grid: it is dispatched in parts. As on other GPUs, only x may be large.
const MAX_GRID: [usize; 3] = [i32::MAX as usize, 65_535, 65_535];

/// Asking for adapters again finds those that were added; loading the libraries again would find nothing new.
static INSTANCE: LazyLock<wgpu::Instance> = LazyLock::new(|| {
    wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: APIS,
        // Whatever the build: layers that validate are for debugging wgpu itself.
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    })
});

/// An adapter and the name that it is listed by.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) adapter: Adapter,
    pub(super) info: AdapterInfo,
    pub(super) name: String,
}

/// Which adapters a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Those of any API.
    Any,
    /// Those of this API.
    Api(Backend),
    /// Those of this maker.
    Vendor(Vendor),
}

/// Who makes GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vendor {
    Amd,
    Apple,
    Intel,
    Nvidia,
}

impl Kind {
    /// What a name means, and the number behind it: `vulkan:1` is the second adapter of Vulkan.
    pub(super) fn parse(name: &str) -> Option<(Kind, usize)> {
        let (word, number) = match name.split_once(':') {
            Some((word, number)) => (word, number.trim().parse().ok()?),
            None => (name, 0),
        };
        let kind = match word.trim() {
            "webgpu" => Kind::Any,
            "vulkan" => Kind::Api(Backend::Vulkan),
            "metal" => Kind::Api(Backend::Metal),
            "dx12" => Kind::Api(Backend::Dx12),
            "amd" => Kind::Vendor(Vendor::Amd),
            "apple" => Kind::Vendor(Vendor::Apple),
            "intel" => Kind::Vendor(Vendor::Intel),
            "nvidia" => Kind::Vendor(Vendor::Nvidia),
            _ => return None,
        };
        Some((kind, number))
    }

    fn is(self, info: &AdapterInfo) -> bool {
        match self {
            Kind::Any => true,
            Kind::Api(backend) => info.backend == backend,
            Kind::Vendor(vendor) => vendor.made(info),
        }
    }

    /// The APIs in which such an adapter could be.
    fn apis(self) -> Backends {
        match self {
            Kind::Api(backend) => Backends::from(backend),
            Kind::Any | Kind::Vendor(_) => APIS,
        }
    }
}

impl Vendor {
    /// As the PCI consortium numbers them.
    fn id(self) -> u32 {
        match self {
            Vendor::Amd => 0x1002,
            Vendor::Apple => 0x106b,
            Vendor::Intel => 0x8086,
            Vendor::Nvidia => 0x10de,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Vendor::Amd => "AMD",
            Vendor::Apple => "Apple",
            Vendor::Intel => "Intel",
            Vendor::Nvidia => "NVIDIA",
        }
    }

    pub(super) fn made(self, info: &AdapterInfo) -> bool {
        // Metal gives no number, and names that begin with the maker's.
        info.vendor == self.id() || info.backend == Backend::Metal && info.name.starts_with(self.name())
    }
}

/// The adapters, the best first: real GPUs before software.
pub(super) fn all() -> Vec<Found> {
    let part = env::var(ADAPTER).unwrap_or_default().trim().to_lowercase();
    let mut found: Vec<Found> = ready(INSTANCE.enumerate_adapters(APIS))
        .unwrap_or_default()
        .into_iter()
        .map(|adapter| Found { info: adapter.get_info(), adapter, name: String::new() })
        .filter(|found| found.info.name.to_lowercase().contains(&part))
        .collect();
    found.sort_by_key(|found| rank(found.info.device_type));
    for n in 0..found.len() {
        let backend = found[n].info.backend;
        let number = found[..n].iter().filter(|before| before.info.backend == backend).count();
        let api = api_word(backend);
        found[n].name = if number == 0 { api.to_owned() } else { format!("{api}:{number}") };
    }
    found
}

fn rank(device_type: DeviceType) -> u32 {
    match device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

/// The word by which an API is asked for.
fn api_word(backend: Backend) -> &'static str {
    match backend {
        Backend::Vulkan => "vulkan",
        Backend::Metal => "metal",
        Backend::Dx12 => "dx12",
        Backend::Gl | Backend::BrowserWebGpu | Backend::Noop => "webgpu",
    }
}

/// The adapter of this kind with this number, which was asked for as `name`.
pub(super) fn find(name: &str, kind: Kind, number: usize) -> Result<Found> {
    let all = all();
    if let Some(found) = all.iter().filter(|found| kind.is(&found.info)).nth(number) {
        return Ok(found.clone());
    }
    let variable = env::var_os(ADAPTER).is_some().then_some(ADAPTER);
    if all.is_empty() && variable.is_none() {
        return Err(no_adapter(name, kind.apis()));
    }
    let found = all.iter().map(ToString::to_string).collect();
    Err(Error::NoAdapter { name: name.to_owned(), variable, found })
}

/// Why there is no adapter at all.
fn no_adapter(name: &str, apis: Backends) -> Error {
    let options = wgpu::RequestAdapterOptions::default();
    let loaded = match ready(INSTANCE.request_adapter(&options)) {
        Some(Err(wgpu::RequestAdapterError::NotFound { active_backends, .. })) => active_backends,
        _ => Backends::empty(),
    };
    let name = name.to_owned();
    if loaded.intersects(apis) {
        let hint = "see whether `vulkaninfo` lists a GPU, and whether its driver is installed";
        return Error::NoHardware { name, hint, available: Vec::new() };
    }
    let (vendor, library) = if apis == Backends::METAL || cfg!(target_vendor = "apple") {
        ("Metal", "Metal.framework")
    } else if apis == Backends::DX12 {
        ("Direct3D 12", "d3d12.dll")
    } else if cfg!(windows) {
        ("Vulkan", "vulkan-1.dll")
    } else {
        ("Vulkan", "libvulkan.so.1")
    };
    Error::NoDriver { name, vendor, library, available: Vec::new() }
}

impl Found {
    /// Whether it computes on the CPU.
    pub(super) fn is_software(&self) -> bool {
        self.info.device_type == DeviceType::Cpu
    }

    /// What it is.
    pub(super) fn device_info(&self) -> DeviceInfo {
        let AdapterInfo { name, backend, driver, driver_info, .. } = &self.info;
        let mut description = format!("{name} by {}", api_name(*backend));
        if self.is_software() {
            description.push_str(", a software adapter");
        }
        if !driver.is_empty() {
            description.push_str(&format!(", driver {driver} {driver_info}"));
        }
        let mut description = description.trim_end().to_owned();
        match float_controls::of(&self.adapter) {
            // Nobody expects other APIs to have them.
            Ok(_) | Err(Missing::Api) => {}
            Err(missing) => description.push_str(&format!(", without float controls ({missing})")),
        }
        let limits = device_limits(&self.adapter.limits());
        DeviceInfo { name: self.name.clone(), description, multiprocessors: None, limits }
    }
}

/// `llvmpipe (LLVM 15.0.6), a software adapter (`vulkan`)`.
impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let software = if self.is_software() { ", a software adapter" } else { "" };
        write!(f, "{}{software} (`{}`)", self.info.name, self.name)
    }
}

/// The name of an API, for people.
pub(super) fn api_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Vulkan => "Vulkan",
        Backend::Metal => "Metal",
        Backend::Dx12 => "Direct3D 12",
        Backend::Gl => "OpenGL",
        Backend::BrowserWebGpu => "WebGPU",
        Backend::Noop => "nothing",
    }
}

fn device_limits(limits: &Limits) -> DeviceLimits {
    let Limits {
        max_compute_workgroup_size_x: x,
        max_compute_workgroup_size_y: y,
        max_compute_workgroup_size_z: z,
        ..
    } = *limits;
    DeviceLimits {
        max_grid_dim: MAX_GRID,
        max_block_dim: [x, y, z].map(|n| n as usize),
        max_threads_per_block: limits.max_compute_invocations_per_workgroup as usize,
        max_shared_memory_per_block: limits.max_compute_workgroup_storage_size.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_kinds_of_adapters() {
        assert_eq!(Kind::parse("vulkan"), Some((Kind::Api(Backend::Vulkan), 0)));
        assert_eq!(Kind::parse("metal:2"), Some((Kind::Api(Backend::Metal), 2)));
        assert_eq!(Kind::parse("amd:1"), Some((Kind::Vendor(Vendor::Amd), 1)));
        assert_eq!(Kind::parse("webgpu"), Some((Kind::Any, 0)));
        assert_eq!(Kind::parse("vulkan:"), None);
        assert_eq!(Kind::parse("vulkan:-1"), None);
        assert_eq!(Kind::parse("cpu"), None);
    }

    #[test]
    fn vendors_are_known_by_number_or_by_name() {
        let mut info = AdapterInfo::new(DeviceType::DiscreteGpu, Backend::Vulkan);
        info.vendor = 0x1002;
        assert!(Kind::Vendor(Vendor::Amd).is(&info));
        assert!(!Kind::Vendor(Vendor::Intel).is(&info));
        let mut info = AdapterInfo::new(DeviceType::IntegratedGpu, Backend::Metal);
        info.name = "Apple M2".to_owned();
        assert!(Kind::Vendor(Vendor::Apple).is(&info));
        assert!(!Kind::Api(Backend::Vulkan).is(&info));
    }

    #[test]
    fn software_comes_last_and_names_are_counted() {
        let all = all();
        let first_software = all.iter().position(Found::is_software).unwrap_or(all.len());
        assert!(all[first_software..].iter().all(Found::is_software));
        for found in &all {
            let (kind, number) = Kind::parse(&found.name).unwrap();
            assert_eq!(find(&found.name, kind, number).unwrap().info, found.info);
        }
        let error = find("vulkan:99", Kind::Api(Backend::Vulkan), 99).unwrap_err();
        assert!(
            matches!(error, Error::NoAdapter { .. } | Error::NoDriver { .. } | Error::NoHardware { .. }),
            "{error}"
        );
    }
}
