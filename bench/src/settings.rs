//! The command line: which benchmarks, on which device, how large, how often.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::error::{Error, Result};
use crate::kernels::{add, matmul};

/// How fast tilewise's kernels are, beside CUDA C++ and NVIDIA's libraries.
///
/// Each kernel is timed by events after it has warmed up, and its result is checked. The last column has the speed as a
/// part of each peer's: 1.00 is as fast, more is faster.
#[derive(Clone, Debug, Parser)]
#[command(name = "tilewise-bench", version)]
pub(crate) struct Settings {
    /// Benchmarks to run; all of them if none is named. The copy, by which the others are judged, always runs.
    #[arg(value_enum)]
    benchmarks: Vec<Benchmark>,

    /// Device to run on [default: TILEWISE_DEVICE, else the best there is].
    #[arg(short = 'e', long)]
    pub(crate) device: Option<String>,

    /// Run each benchmark on this device first, in the same process, and print how fast the first is beside it: `-e vulkan
    /// --beside nvidia`.
    #[arg(long, value_name = "DEVICE")]
    pub(crate) beside: Option<String>,

    /// Small sizes and few repeats, for a device that is slow or a program that is to be tested.
    #[arg(long)]
    quick: bool,

    /// Elements of a vector, a multiple of 128 [default: 2^28, with --quick 2^16].
    #[arg(long, value_name = "N")]
    size: Option<usize>,

    /// Rows and columns of a matrix, a multiple of 128 [default: 4096, with --quick 256].
    #[arg(long, value_name = "N")]
    matrix: Option<usize>,

    /// How often each kernel is timed [default: 30, with --quick 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,

    /// Blocks of our best dot product. A multiple of the device's multiprocessors is best: 12 for each of the 132 of an
    /// H200.
    #[arg(long, value_name = "N", default_value_t = 1584, value_parser = positive)]
    pub(crate) dot_blocks: usize,

    /// Also write the results to this file, a line of JSON each.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// The program of the peers, built from bench/peers [default: tilewise-peers beside this program, if it is there].
    #[arg(long, value_name = "PATH")]
    pub(crate) peers: Option<PathBuf>,

    /// Run without peers.
    #[arg(long, conflicts_with = "peers")]
    pub(crate) no_peers: bool,

    /// Also write the PTX of each kernel to this folder. Each launch is translated then, so times are not of use.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) ptx: Option<PathBuf>,

    /// Leave out one pass of the optimiser after the other, and print what that changes: times, PTX, registers.
    #[arg(long, conflicts_with_all = ["ptx", "json"])]
    pub(crate) passes: bool,

    /// How often --passes times each set of passes; the shortest time counts [default: 5, with --quick 1].
    #[arg(long, value_name = "N", requires = "passes", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,

    /// NVIDIA's assembler, to count registers with --passes or --registers.
    #[arg(long, value_name = "PATH")]
    pub(crate) ptxas: Option<PathBuf>,

    /// Compare the registers of the kernels that --ptx writes with this table of the same kernels in CUDA C++.
    #[arg(long, value_name = "TABLE", requires_all = ["ptx", "ptxas"])]
    pub(crate) registers: Option<PathBuf>,

    /// Time one first launch in this process and print it: what the benchmark of the first launch starts.
    #[arg(long, hide = true)]
    pub(crate) first_launch_child: bool,
}

/// A group of kernels that do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Benchmark {
    /// A copy of device memory: the bandwidth by which the others are judged.
    Copy,
    /// Dot products.
    Dot,
    /// Element by element sums.
    Add,
    /// Matrix products.
    Matmul,
    /// Indices that come from memory, whose checks stay: a gather, a histogram, sparse rows.
    Indirect,
    /// Launches of an empty kernel.
    Launch,
    /// A kernel's first launch: description, passes, compilation.
    FirstLaunch,
}

impl Benchmark {
    /// Name on the command line, and in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Benchmark::Copy => "copy",
            Benchmark::Dot => "dot",
            Benchmark::Add => "add",
            Benchmark::Matmul => "matmul",
            Benchmark::Indirect => "indirect",
            Benchmark::Launch => "launch",
            Benchmark::FirstLaunch => "first-launch",
        }
    }
}

impl Settings {
    /// The benchmarks in the order in which they run.
    pub(crate) fn benchmarks(&self) -> Vec<Benchmark> {
        let wanted = |b: &Benchmark| {
            *b == Benchmark::Copy || self.benchmarks.is_empty() || self.benchmarks.contains(b)
        };
        Benchmark::value_variants().iter().copied().filter(wanted).collect()
    }

    /// Arguments that name the same benchmarks.
    pub(crate) fn names(&self) -> Vec<OsString> {
        self.benchmarks.iter().map(|benchmark| benchmark.name().into()).collect()
    }

    /// Arguments that run the same benchmarks on the same device, without peers.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut arguments = self.names();
        let numbers = [
            ("--size", self.size()),
            ("--matrix", self.matrix()),
            ("--repeats", self.repeats()),
            ("--dot-blocks", self.dot_blocks),
        ];
        for (option, value) in numbers {
            arguments.extend([option.into(), value.to_string().into()]);
        }
        if let Some(device) = &self.device {
            arguments.extend(["--device".into(), device.into()]);
        }
        if self.quick {
            arguments.push("--quick".into());
        }
        arguments.push("--no-peers".into());
        arguments
    }

    /// Elements of a vector.
    pub(crate) fn size(&self) -> usize {
        self.size.unwrap_or(if self.quick { 1 << 16 } else { 1 << 28 })
    }

    /// Rows and columns of a matrix.
    pub(crate) fn matrix(&self) -> usize {
        self.matrix.unwrap_or(if self.quick { 256 } else { 4096 })
    }

    /// How often each kernel is timed.
    pub(crate) fn repeats(&self) -> usize {
        self.repeats.map_or(if self.quick { 3 } else { 30 }, |n| n as usize)
    }

    /// How often each set of passes is timed.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.map_or(if self.quick { 1 } else { 5 }, |n| n as usize)
    }

    /// How often a kernel is launched in a row where the launch itself is timed.
    pub(crate) fn batch(&self) -> usize {
        if self.quick { 100 } else { 1000 }
    }

    /// Refuses sizes that the kernels are not written for.
    pub(crate) fn check(&self) -> Result<()> {
        let (size, chunk) = (self.size(), add::TILE * add::WIDTH);
        if size == 0 || !size.is_multiple_of(chunk) {
            return Err(Error::Size { option: "--size", value: size, multiple_of: chunk });
        }
        let matrix = self.matrix();
        if !matmul::is_whole(matrix, matrix, matrix) {
            return Err(Error::Size { option: "--matrix", value: matrix, multiple_of: matmul::BLOCK_TILE });
        }
        Ok(())
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(n) => Ok(n),
        Err(error) => Err(format!("{error}")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parsed(args: &[&str]) -> Settings {
        Settings::try_parse_from(["tilewise-bench"].iter().chain(args)).expect("valid arguments")
    }

    #[test]
    fn the_command_is_consistent() {
        Settings::command().debug_assert();
    }

    #[test]
    fn the_copy_always_runs_first() {
        assert_eq!(parsed(&["dot"]).benchmarks(), [Benchmark::Copy, Benchmark::Dot]);
        assert_eq!(parsed(&[]).benchmarks(), Benchmark::value_variants());
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        for benchmark in Benchmark::value_variants() {
            let value = benchmark.to_possible_value().expect("none is hidden");
            assert_eq!(value.get_name(), benchmark.name());
        }
    }

    #[test]
    fn arguments_are_those_of_the_same_run() {
        let settings = parsed(&["dot", "--quick", "-e", "cpu", "--repeats", "7", "--dot-blocks", "2"]);
        let again = Settings::try_parse_from(
            [OsString::from("tilewise-bench")].into_iter().chain(settings.arguments()),
        );
        let again = again.expect("valid arguments");
        assert_eq!(again.benchmarks(), settings.benchmarks());
        assert_eq!((again.size(), again.matrix(), again.repeats(), again.batch()), (1 << 16, 256, 7, 100));
        assert_eq!((again.device.as_deref(), again.dot_blocks, again.no_peers), (Some("cpu"), 2, true));
    }

    #[test]
    fn sizes_that_are_not_whole_tiles_are_refused() {
        assert!(parsed(&[]).check().is_ok());
        assert!(parsed(&["--quick"]).check().is_ok());
        let error = parsed(&["--matrix", "200"]).check().expect_err("no multiple of 128");
        assert_eq!(error.to_string(), "--matrix is 200; it has to be a multiple of 128, and more than 0");
        assert!(parsed(&["--size", "100"]).check().is_err());
    }
}
