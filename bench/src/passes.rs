//! What each pass of the optimiser gains: the benchmarks without it, beside those with all.
//!
//! Each set of passes is a process of its own, by the variable `TILEWISE_OPT`. Times are those of the chosen device, the
//! shortest of some rounds: in a round one set runs after the other, so that what else the machine does at a time hits all of
//! them. Code is PTX for any launch of the CPU device, as it is the same on every machine.

use std::fs;
use std::path::Path;
use std::process::Command;

use tilewise::ir::pass::Optimizer;

use crate::checks::Checks;
use crate::code::{Usage, usages};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::report::Record;
use crate::settings::Settings;

/// The capability that registers are counted for.
const CAPABILITY: u32 = 90;

/// What was measured with one set of passes.
struct Column {
    passes: Optimizer,
    /// `BENCHMARK-NAME` and the shortest time.
    times: Vec<(String, f64)>,
    code: Vec<Usage>,
}

/// Measures, and prints tables: a row for each kernel, a column for each set of passes.
pub(crate) fn run(settings: &Settings) -> Result<()> {
    let without = |name: &str| Optimizer::ON.without(name).unwrap_or(Optimizer::ON);
    let sets: Vec<Optimizer> =
        [Optimizer::ON].into_iter().chain(Optimizer::names().map(without)).chain([Optimizer::OFF]).collect();
    let folder = std::env::temp_dir().join(format!("tilewise-passes-{}", std::process::id()));
    let columns = measure(settings, &sets, &folder);
    // A folder that stays does no harm.
    let _ = fs::remove_dir_all(&folder);
    let columns = columns?;
    let Some(all) = columns.first() else { return Ok(()) };

    let names: Vec<&str> = all.times.iter().map(|(name, _)| name.as_str()).collect();
    print("time, 1 is with all passes", &columns, &names, |column, row| {
        let ratio = column.times.get(row).map(|(_, seconds)| seconds / all.times[row].1);
        ratio.map_or("?".to_owned(), |ratio| format!("{ratio:.2}"))
    });
    let names: Vec<&str> = all.code.iter().map(|usage| usage.name.as_str()).collect();
    let code = |what: fn(&Usage) -> u32| {
        move |column: &Column, row: usize| {
            column.code.get(row).map_or("?".to_owned(), |usage| what(usage).to_string())
        }
    };
    print("instructions of PTX", &columns, &names, code(|usage| usage.instructions));
    if settings.ptxas.is_some() {
        print("registers", &columns, &names, code(|usage| usage.registers));
    }
    Ok(())
}

fn print(title: &str, columns: &[Column], rows: &[&str], cell: impl Fn(&Column, usize) -> String) {
    let heads: Vec<String> = columns
        .iter()
        .map(|column| match column.passes {
            Optimizer::ON => "all".to_owned(),
            Optimizer::OFF => "none".to_owned(),
            passes => passes.to_string(),
        })
        .collect();
    print!("\n{title:<28}");
    heads.iter().for_each(|head| print!(" {head:>9}"));
    println!();
    for (row, name) in rows.iter().enumerate() {
        print!("{name:<28}");
        columns.iter().zip(&heads).for_each(|(column, head)| {
            print!(" {:>width$}", cell(column, row), width = head.len().max(9));
        });
        println!();
    }
}

/// Runs the benchmarks with each set of passes, and once more to get their code.
fn measure(settings: &Settings, sets: &[Optimizer], folder: &Path) -> Result<Vec<Column>> {
    let code = |&passes: &Optimizer| {
        let folder = folder.join(passes.to_string());
        let mut arguments = settings.names();
        let words = ["-e", "cpu", "--quick", "--repeats", "1", "--no-peers", "--ptx"];
        arguments.extend(words.map(Into::into));
        arguments.push(folder.clone().into_os_string());
        child(passes, arguments)?;
        Ok(Column {
            passes,
            times: Vec::new(),
            code: usages(&folder, settings.ptxas.as_deref(), CAPABILITY)?,
        })
    };
    let mut progress = Progress::start(sets.len());
    let with_code = sets.iter().map(|passes| {
        progress.next(&format!("code with TILEWISE_OPT={passes}"));
        code(passes)
    });
    let mut columns: Vec<Column> = with_code.collect::<Result<_>>()?;
    drop(progress);
    let rounds = settings.rounds();
    let mut progress = Progress::start(rounds * sets.len());
    for round in 1..=rounds {
        for column in &mut columns {
            progress.next(&format!("times with TILEWISE_OPT={}, round {round} of {rounds}", column.passes));
            let times = times(settings, column.passes, &folder.join("times.jsonl"))?;
            if column.times.is_empty() {
                column.times = times;
                continue;
            }
            for ((_, best), (_, time)) in column.times.iter_mut().zip(times) {
                *best = best.min(time);
            }
        }
    }
    drop(progress);
    Ok(columns)
}

/// The shortest time of each kernel of ours, from one run with a set of passes.
fn times(settings: &Settings, passes: Optimizer, json: &Path) -> Result<Vec<(String, f64)>> {
    let mut arguments = settings.arguments();
    arguments.extend(["--json".into(), json.into()]);
    child(passes, arguments)?;
    let text = fs::read_to_string(json).map_err(|source| Error::Read { path: json.to_owned(), source })?;
    let records: Result<Vec<Record>, serde_json::Error> = text.lines().map(serde_json::from_str).collect();
    let records = records.map_err(|error| Error::Read { path: json.to_owned(), source: error.into() })?;
    let ours = records.into_iter().filter(|record| record.by == Checks::On.by());
    let named = |record: Record| (format!("{}-{}", record.benchmark, record.name), record.seconds_min);
    Ok(ours.map(named).collect())
}

/// Runs this program with other arguments and these passes.
fn child(passes: Optimizer, arguments: Vec<std::ffi::OsString>) -> Result<()> {
    let program =
        std::env::current_exe().map_err(|source| Error::Read { path: "this program".into(), source })?;
    let failed = |what| Error::Program { program: program.clone(), what };
    let output = Command::new(&program)
        .args(arguments)
        .env("TILEWISE_OPT", passes.to_string())
        .output()
        .map_err(|error| failed(format!("could not be started: {error}")))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("failed with TILEWISE_OPT={passes}: {}", why.trim())));
    }
    Ok(())
}
