//! The benchmarks, one file each: inputs, launches, what is compared with which peer.

mod add;
mod copy;
mod dot;
mod first_launch;
mod indirect;
mod launch;
mod matmul;

pub(crate) use first_launch::child as first_launch_child;

use std::cell::Cell;

use tilewise::{DeviceContext, DeviceInfo};

use crate::check::Verified;
use crate::checks::Checks;
use crate::code::CodeFolder;
use crate::error::{Error, Result};
use crate::peers::Peers;
use crate::report::{Against, Ratio, Record, Report};
use crate::settings::{Benchmark, Settings};
use crate::timing::{Timing, measure};

/// What every benchmark is given.
#[derive(Debug)]
pub(crate) struct Session {
    /// The device.
    pub(crate) ctx: DeviceContext,
    /// Sizes and repeats.
    pub(crate) settings: Settings,
    /// Who to compare with.
    pub(crate) peers: Peers,
    /// Where the results go.
    pub(crate) report: Report,
    /// Where the kernels' code goes, if it is wanted.
    pub(crate) code: Option<CodeFolder>,
    /// The device that the same kernels run on before, to compare with.
    pub(crate) beside: Option<Beside>,
    /// Whether something has gone wrong. It has been told then, and the rest is measured all the same.
    pub(crate) failed: Cell<bool>,
}

/// Another device to run the same kernels on.
///
/// Its context stays open while the first device is measured. A GPU may need that: `docs/benchmark.md`, "Vulkan alone".
#[derive(Debug)]
pub(crate) struct Beside {
    /// The device's context; that of the first device while this one is measured.
    pub(crate) ctx: DeviceContext,
    /// Whether this device is measured now.
    pub(crate) runs: bool,
}

/// The part of a GPU's speed by CUDA that is aimed at by Vulkan.
const VULKAN_BESIDE_CUDA: [(Benchmark, &str, f64); 3] =
    [(Benchmark::Add, "vectors", 0.90), (Benchmark::Dot, "tree", 0.85), (Benchmark::Matmul, "tiled", 0.85)];

/// The part of the other device's speed that is aimed at for a kernel of ours. Of any other two devices nothing is known.
fn aim_beside(device: &DeviceInfo, other: &DeviceInfo, benchmark: Benchmark, kernel: &str) -> Option<f64> {
    let is = |info: &DeviceInfo, kind| info.name.split(':').next() == Some(kind);
    let by_vulkan = is(device, "vulkan") && device.description.contains("NVIDIA") && is(other, "nvidia");
    let mut aims = VULKAN_BESIDE_CUDA.iter().filter(|_| by_vulkan);
    aims.find(|&&(of, name, _)| (of, name) == (benchmark, kernel)).map(|&(.., aim)| aim)
}

/// One kernel of a benchmark.
struct Case<'a> {
    benchmark: Benchmark,
    name: &'a str,
    bytes: usize,
    flops: usize,
    against: &'a [Against],
    /// Whether the aims are for the launch without bounds checks: the peers have none.
    aims_without_checks: bool,
}

impl Session {
    /// Runs a benchmark and its peers, on the other device first, if there is one.
    pub(crate) fn run(&mut self, benchmark: Benchmark) {
        // Those of launches start programs of their own, and are about the host.
        let is_of_kernels = !matches!(benchmark, Benchmark::Launch | Benchmark::FirstLaunch);
        if self.beside.is_some() && is_of_kernels {
            self.change_device();
            self.run_here(benchmark);
            self.change_device();
        }
        self.run_here(benchmark);
    }

    /// Takes the other device for the first, or back.
    fn change_device(&mut self) {
        if let Some(beside) = &mut self.beside {
            std::mem::swap(&mut self.ctx, &mut beside.ctx);
            beside.runs = !beside.runs;
        }
    }

    /// The device that is measured, for a record.
    fn device(&self) -> Option<String> {
        Some(self.ctx.device_name().to_owned())
    }

    /// How fast a kernel is beside the same on the other device, if that was measured before.
    fn compare_beside(&self, record: &mut Record, case: &Case<'_>, checks: Checks) {
        let Some(Beside { ctx, runs: false }) = &self.beside else { return };
        let device = ctx.device_name();
        if let Some(other) = self.report.on(device, record) {
            let aim = aim_beside(self.ctx.device_info(), ctx.device_info(), case.benchmark, case.name)
                .filter(|_| checks == Checks::On);
            let ratio = other.seconds_median / record.seconds_median;
            record.ratios.push(Ratio { peer: format!("{} on {device}", record.label()), ratio, aim });
        }
    }

    fn run_here(&mut self, benchmark: Benchmark) {
        let outcome = match benchmark {
            Benchmark::Copy => copy::run(self),
            Benchmark::Dot => dot::run(self),
            Benchmark::Add => add::run(self),
            Benchmark::Matmul => matmul::run(self),
            Benchmark::Indirect => indirect::run(self),
            Benchmark::Launch => launch::run(self),
            Benchmark::FirstLaunch => first_launch::run(self),
        };
        self.told(outcome);
    }

    /// What the peers take; nothing if there are none.
    fn run_peers(&self, benchmark: Benchmark) -> Vec<Record> {
        if self.beside.as_ref().is_some_and(|beside| beside.runs) {
            return Vec::new();
        }
        self.told(self.peers.run(benchmark, &self.settings)).unwrap_or_default()
    }

    /// Tells what has gone wrong, if something has.
    fn told<T>(&self, outcome: Result<T>) -> Option<T> {
        outcome
            .inspect_err(|error| {
                eprintln!("error: {error}");
                self.failed.set(true);
            })
            .ok()
    }

    /// Times `run`, which works on `state`, and checks what is in `state` after it. A kernel that goes wrong has no record.
    fn time<S>(
        &self,
        case: &Case<'_>,
        checks: Checks,
        state: &mut S,
        run: impl FnMut(&mut S) -> Result<()>,
        check: impl FnOnce(&S) -> Result<Result<Verified, String>>,
        peers: &[Record],
    ) -> Option<Record> {
        self.told(self.try_time(case, checks, state, run, check, peers))
    }

    /// Times a kernel with checks, then without; what goes wrong with them is not run without.
    fn time_both<S>(
        &self,
        case: &Case<'_>,
        state: &mut S,
        run: impl Fn(&mut S, Checks) -> Result<()>,
        check: impl Fn(&S) -> Result<Result<Verified, String>>,
        peers: &[Record],
    ) -> Vec<Record> {
        let time = |checks| self.time(case, checks, state, |state| run(state, checks), &check, peers);
        [Checks::On, Checks::Off].into_iter().map_while(time).collect()
    }

    fn try_time<S>(
        &self,
        case: &Case<'_>,
        checks: Checks,
        state: &mut S,
        mut run: impl FnMut(&mut S) -> Result<()>,
        check: impl FnOnce(&S) -> Result<Result<Verified, String>>,
        peers: &[Record],
    ) -> Result<Record> {
        let Timing { median, min, host } = measure(&self.ctx, self.settings.repeats(), || run(state))?;
        let benchmark = case.benchmark.name();
        if let Some(code) = &self.code {
            code.write(benchmark, case.name, checks)?;
        }
        let verified = check(state)?.map_err(|what| Error::Wrong {
            benchmark,
            name: format!("{}/{}", checks.by(), case.name),
            what,
        })?;
        let mut record = Record {
            benchmark: benchmark.to_owned(),
            by: checks.by().to_owned(),
            name: case.name.to_owned(),
            seconds_median: median.as_secs_f64(),
            seconds_min: min.as_secs_f64(),
            seconds_host: Some(host.as_secs_f64()),
            bytes: case.bytes as u64,
            flops: case.flops as u64,
            check: verified.to_string(),
            device: self.device(),
            ..Record::default()
        };
        record.compare(case.against, peers);
        self.compare_beside(&mut record, case, checks);
        if case.aims_without_checks && checks == Checks::On {
            record.ratios.iter_mut().for_each(|ratio| ratio.aim = None);
        }
        Ok(record)
    }
}

/// The part of the speed without checks that is aimed at where the launch's numbers prove them all.
const PROVED: f64 = 0.99;

/// Adds the speed of each kernel with checks beside the same kernel without.
fn against_unchecked(records: &mut [Record], aim: f64) {
    let without: Vec<Record> = records.iter().filter(|r| r.by == Checks::Off.by()).cloned().collect();
    for record in records.iter_mut().filter(|record| record.by == Checks::On.by()) {
        if let Some(peer) = without.iter().find(|other| other.name == record.name) {
            let ratio = peer.seconds_median / record.seconds_median;
            record.ratios.push(Ratio { peer: peer.label(), ratio, aim: Some(aim) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aims_beside_another_device_are_for_nvidia_gpus_by_vulkan_and_by_cuda() {
        let any = DeviceContext::devices().remove(0);
        let device = |name: &str, description: &str| {
            let mut info = any.clone();
            (info.name, info.description) = (name.to_owned(), description.to_owned());
            info
        };
        let cuda = device("nvidia", "NVIDIA H200, compute capability 9.0, 139.8 GiB of memory");
        let second = device("nvidia:1", "NVIDIA H200, compute capability 9.0, 139.8 GiB of memory");
        let vulkan = device("vulkan", "NVIDIA H200 by Vulkan, driver NVIDIA 580.159.04");
        let software = device("vulkan", "llvmpipe (LLVM 15.0.6) by Vulkan, a software adapter");
        let cpu = device("cpu", "SIMT interpreter");
        let aim = |device, other| aim_beside(device, other, Benchmark::Add, "vectors");
        assert_eq!(aim(&vulkan, &cuda), Some(0.90));
        assert_eq!(aim(&vulkan, &second), Some(0.90));
        assert_eq!(aim_beside(&vulkan, &cuda, Benchmark::Add, "tiled"), None);
        for (device, other) in [(&cuda, &vulkan), (&software, &cuda), (&vulkan, &cpu), (&cpu, &cpu)] {
            assert_eq!(aim(device, other), None, "{} beside {}", device.name, other.name);
        }
    }
}
