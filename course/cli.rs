//! The arguments of the command: a subcommand for each puzzle, a flag for each variant.
//!
//! Whatever is wrong with them is told in one line that says what there is instead.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::puzzle::{Program, Programs, Puzzle, Runs, Variant};
use crate::puzzles::PUZZLES;

/// What the command is asked for.
pub(crate) enum Request {
    /// Text to print: the list of puzzles, hints, help.
    Show(String),
    /// A program to run.
    Start(Start),
    /// A program whose kernels are to be shown as code.
    Emit(Start, Emit),
}

/// A program to run.
pub(crate) struct Start {
    /// How it was asked for: `p16 --tiled`.
    pub(crate) name: String,
    /// The program.
    pub(crate) program: Program,
    /// The file that it is in, if it is the learner's.
    pub(crate) file: Option<&'static str>,
    /// Name of the device, if one was given.
    pub(crate) device: Option<String>,
    /// Whether its launches are explained.
    pub(crate) explain: bool,
    /// Whether its launches are checked; by default those on the CPU are.
    pub(crate) check: Option<bool>,
    /// Whether its launches are profiled.
    pub(crate) profile: bool,
}

/// The code that is asked for.
pub(crate) struct Emit {
    /// The language, by name.
    pub(crate) target: String,
    /// Where it goes; else to standard output.
    pub(crate) folder: Option<PathBuf>,
}

/// What the arguments ask for, or the line that tells what is wrong with them.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request, String> {
    let args: Vec<OsString> = args.into_iter().collect();
    let matches = match command().try_get_matches_from(&args) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            return Ok(Request::Show(error.render().to_string()));
        }
        Err(error) => return Err(one_line(&error, &args)),
    };
    match matches.subcommand() {
        None => Ok(Request::Show(list())),
        Some((name, matches)) => {
            let puzzle = PUZZLES.iter().find(|puzzle| puzzle.name == name);
            request(puzzle.expect("each subcommand is a puzzle"), matches)
        }
    }
}

fn command() -> Command {
    let flag = |name| Arg::new(name).long(name).action(ArgAction::SetTrue);
    let device = Arg::new("device")
        .short('e')
        .long("device")
        .value_name("DEVICE")
        .global(true)
        .help("The device to run on, such as cpu [default: TILEWISE_DEVICE, else the best there is]");
    let emit = Arg::new("emit")
        .long("emit")
        .value_name("LANGUAGE")
        .conflicts_with_all(["device", "hint", "check", "no-check", "profile", "explain"])
        .help("Print the code that the kernel becomes, on any machine: ir, ptx, spirv, wgsl, msl or hlsl");
    let out = Arg::new("out")
        .long("out")
        .value_name("FOLDER")
        .requires("emit")
        .value_parser(clap::value_parser!(PathBuf))
        .help("Write the code into this folder instead");
    let puzzles = PUZZLES.iter().map(|puzzle| {
        let variants = puzzle.variants().iter().map(|variant| flag(variant.flag).help(variant.about));
        Command::new(puzzle.name)
            .aliases(other_names(puzzle))
            .about(puzzle.title)
            .override_usage(match puzzle.variants() {
                [] => format!("cargo puzzle {} [OPTIONS]", puzzle.name),
                _ => format!("cargo puzzle {} VARIANT [OPTIONS]", puzzle.name),
            })
            .args(variants)
            .arg(flag("solution").help("Run the solution instead of your file"))
            .arg(flag("check").help("Check the launches for races, unwritten memory and the like, with advice [default on the CPU, without advice]"))
            .arg(flag("no-check").conflicts_with("check").help("Run without checking"))
            .arg(flag("profile").help("Count what each line asks of memory, and how full a GPU gets; on the CPU"))
            .arg(flag("explain").help("Show which bounds checks are proved away, and by what"))
            .arg(
                flag("hint")
                    .conflicts_with_all(["solution", "explain", "check", "no-check", "profile"])
                    .help("Print tips instead of running anything"),
            )
            .arg(emit.clone())
            .arg(out.clone())
    });
    Command::new("puzzle")
        .bin_name("cargo puzzle")
        .about("Runs the puzzles of the course and checks what they compute.")
        .override_usage("cargo puzzle [PUZZLE] [OPTIONS]")
        .subcommand_value_name("PUZZLE")
        .subcommand_help_heading("Puzzles")
        .disable_help_subcommand(true)
        .arg(device)
        .subcommands(puzzles)
}

/// What else a puzzle may be called: by its number alone, or with a large letter.
fn other_names(puzzle: &Puzzle) -> [String; 2] {
    [puzzle.name.trim_start_matches('p').to_owned(), puzzle.name.to_uppercase()]
}

fn request(puzzle: &'static Puzzle, matches: &ArgMatches) -> Result<Request, String> {
    let chosen: Vec<&Variant> =
        puzzle.variants().iter().filter(|variant| matches.get_flag(variant.flag)).collect();
    let hint = matches.get_flag("hint");
    let (name, programs) = match (&puzzle.runs, &chosen[..]) {
        (Runs::Plain(programs), _) => (puzzle.name.to_owned(), programs),
        (Runs::Variants(_), [variant]) => (format!("{} --{}", puzzle.name, variant.flag), &variant.programs),
        (Runs::Variants(variants), []) if hint => return Ok(Request::Show(hints(puzzle, variants))),
        (Runs::Variants(_), []) => {
            return Err(format!("{} has variants, choose one: {}", puzzle.name, puzzle.flags()));
        }
        (Runs::Variants(_), [first, second, ..]) => {
            return Err(format!(
                "--{} and --{} are two variants of {}, choose one",
                first.flag, second.flag, puzzle.name
            ));
        }
    };
    if hint {
        return Ok(Request::Show(programs.hint.to_owned()));
    }
    let Programs { problem, solution, .. } = *programs;
    let (program, file) = match matches.get_flag("solution") {
        true => (solution, None),
        false => (problem, Some(puzzle.file)),
    };
    let (explain, profile) = (matches.get_flag("explain"), matches.get_flag("profile"));
    let device = matches.get_one("device").cloned();
    let check = match (matches.get_flag("check"), matches.get_flag("no-check")) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        (false, false) => None,
    };
    let start = Start { name, program, file, device, explain, check, profile };
    Ok(match matches.get_one::<String>("emit") {
        Some(target) => {
            Request::Emit(start, Emit { target: target.clone(), folder: matches.get_one("out").cloned() })
        }
        None => Request::Start(start),
    })
}

/// The tips for all variants.
fn hints(puzzle: &Puzzle, variants: &[Variant]) -> String {
    let hints: Vec<_> = variants
        .iter()
        .map(|variant| format!("{} --{}\n\n{}", puzzle.name, variant.flag, variant.programs.hint))
        .collect();
    hints.join("\n")
}

/// What there is.
fn list() -> String {
    let mut text = "Puzzles of the course. Fill in the gap of a puzzle's file, then run it.\n\n".to_owned();
    for puzzle in &PUZZLES {
        text += &format!("  {}  {}\n       {}\n", puzzle.name, puzzle.title, puzzle.file);
        for variant in puzzle.variants() {
            text += &format!("       --{:<19}{}\n", variant.flag, variant.about);
        }
        text += "\n";
    }
    text + EXAMPLES
}

const EXAMPLES: &str = "  cargo puzzle p12              run your file
  cargo puzzle p12 --hint       print tips
  cargo puzzle p12 --solution   run the solution
  cargo puzzle p12 -e cpu       choose the device
  cargo puzzle p12 --check      look for races and the like, with advice
  cargo puzzle p12 --profile    count what each line asks of memory
  cargo puzzle p12 --explain    show which bounds checks are proved away
  cargo puzzle p12 --emit wgsl  print the code that your kernel becomes
";

/// Clap's error in one line, with what there is instead.
fn one_line(error: &clap::Error, args: &[OsString]) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let place = |name: &str| args.iter().skip(1).position(|arg| arg == name);
    let is_named = |puzzle: &Puzzle, arg: &OsString| {
        arg == puzzle.name || other_names(puzzle).iter().any(|name| arg == name.as_str())
    };
    let puzzle = args.iter().skip(1).find_map(|arg| PUZZLES.iter().find(|puzzle| is_named(puzzle, arg)));
    match (error.kind(), puzzle) {
        (ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument, None) => {
            let names: Vec<_> = PUZZLES.iter().map(|puzzle| puzzle.name).collect();
            let wrong = match error.kind() {
                ErrorKind::InvalidSubcommand => format!("puzzle `{}`", text(ContextKind::InvalidSubcommand)),
                _ => format!("argument `{}`", text(ContextKind::InvalidArg)),
            };
            format!("there is no {wrong}; the puzzles are {}", names.join(", "))
        }
        (ErrorKind::UnknownArgument, Some(puzzle)) => {
            let (name, argument) = (puzzle.name, text(ContextKind::InvalidArg));
            let named_at = args.iter().skip(1).position(|arg| is_named(puzzle, arg));
            if place(argument).is_some_and(|at| Some(at) < named_at) {
                return format!("`{argument}` goes after the puzzle: `cargo puzzle {name} {argument}`");
            }
            let variants = match puzzle.variants() {
                [] => "it has no variants".to_owned(),
                _ => format!("its variants are {}", puzzle.flags()),
            };
            format!(
                "{name} has no argument `{argument}`; {variants} (`cargo puzzle {name} --help` lists all flags)"
            )
        }
        _ => {
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default();
            format!("{}; see `cargo puzzle --help`", line.strip_prefix("error: ").unwrap_or(line))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_well_formed() {
        command().debug_assert();
    }
}
