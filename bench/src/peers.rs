//! The peers: CUDA C++ and NVIDIA's libraries, in a program of its own, built by nvcc from `bench/peers`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::report::Record;
use crate::settings::{Benchmark, Settings};

/// Name of the program.
const PROGRAM: &str = "tilewise-peers";

/// The program of the peers, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Peers {
    program: Option<PathBuf>,
}

impl Peers {
    /// What the command line asks for: the program that it names, or the one beside this program if it is there.
    pub(crate) fn find(settings: &Settings) -> Peers {
        let beside = || {
            let program = std::env::current_exe().ok()?.with_file_name(PROGRAM);
            program.is_file().then_some(program)
        };
        let program = match &settings.peers {
            _ if settings.no_peers => None,
            Some(program) => Some(program.clone()),
            None => beside(),
        };
        Peers { program }
    }

    /// The program.
    pub(crate) fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// What the peers take for a benchmark, at the same sizes and as many repeats.
    pub(crate) fn run(&self, benchmark: Benchmark, settings: &Settings) -> Result<Vec<Record>> {
        let Some(program) = &self.program else { return Ok(Vec::new()) };
        let failed = |what| Error::Program { program: program.clone(), what };
        let mut command = Command::new(program);
        command.arg(benchmark.name());
        for (option, value) in [
            ("--size", settings.size()),
            ("--matrix", settings.matrix()),
            ("--repeats", settings.repeats()),
            ("--batch", settings.batch()),
            ("--dot-blocks", settings.dot_blocks),
        ] {
            command.arg(option).arg(value.to_string());
        }
        let output = command.output().map_err(|error| failed(format!("could not be started: {error}")))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(failed(format!("failed ({}): {}", output.status, why.trim())));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines()
            .map(|line| {
                serde_json::from_str(line).map_err(|source| Error::Line {
                    program: program.clone(),
                    line: line.to_owned(),
                    source,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn without_a_program_there_are_no_peers() -> Result<()> {
        let settings = Settings::parse_from(["tilewise-bench", "--no-peers"]);
        assert_eq!(Peers::find(&settings).run(Benchmark::Dot, &settings)?, []);
        Ok(())
    }

    #[test]
    fn a_program_that_is_missing_is_an_error() {
        let settings = Settings::parse_from(["tilewise-bench", "--peers", "/nowhere/peers"]);
        let error = Peers::find(&settings).run(Benchmark::Dot, &settings).expect_err("it is not there");
        assert!(error.to_string().starts_with("`/nowhere/peers` could not be started: "), "{error}");
    }
}
