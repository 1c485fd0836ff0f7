//! The files of the puzzles fit together: a solution is its problem with the gaps filled, and every folder is run.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of the puzzles.
fn folders() -> Vec<PathBuf> {
    let puzzles = Path::new(env!("CARGO_MANIFEST_DIR")).join("puzzles");
    let entries = fs::read_dir(&puzzles).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(!folders.is_empty(), "no puzzles in {}", puzzles.display());
    folders
}

/// What a problem asks for in one place.
struct Gap<'a> {
    /// The marker: `// FILL ME IN (roughly 13 lines)`.
    marker: &'a str,
    /// Whether the number of lines is a limit.
    at_most: bool,
    lines: usize,
}

impl<'a> Gap<'a> {
    /// The gap of which a line is the marker.
    fn parse(line: &'a str) -> Option<Gap<'a>> {
        let marker = line.trim_start();
        let text = marker.strip_prefix("// FILL ")?;
        let (from, to) = (text.find('(').expect(marker), text.find(')').expect(marker));
        let words: Vec<_> = text[from + 1..to].split(' ').collect();
        let (at_most, lines) = match words[..] {
            ["roughly", n, "lines"] => (false, n),
            [n, "lines", "at", "most"] | [_, "to", n, "lines"] => (true, n),
            _ => panic!("not a size of a gap: {marker}"),
        };
        Some(Gap { marker, at_most, lines: lines.parse().expect(marker) })
    }

    /// Whether so many lines are what the gap asks for.
    fn admits(&self, lines: usize) -> bool {
        let fewest = if self.at_most { 1 } else { self.lines * 2 / 3 };
        let most = if self.at_most { self.lines } else { self.lines * 4 / 3 };
        (fewest..=most).contains(&lines)
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The problem's lines outside the gaps, and the gap after each part but the last. A gap is its marker and the lines
/// after it that are indented as far, which the solution replaces.
fn parts(problem: &str) -> (Vec<Vec<&str>>, Vec<Gap<'_>>) {
    let (mut parts, mut gaps) = (vec![Vec::new()], Vec::new());
    let mut lines = problem.lines().peekable();
    while let Some(line) = lines.next() {
        match Gap::parse(line) {
            Some(gap) => {
                let depth = indentation(line);
                while lines.next_if(|next| indentation(next) >= depth).is_some() {}
                gaps.push(gap);
                parts.push(Vec::new());
            }
            None => parts.last_mut().unwrap().push(line),
        }
    }
    (parts, gaps)
}

/// Whether a line counts for the size of a gap: blank lines, comments and lines that only close something do not.
fn is_counted(line: &str) -> bool {
    let line = line.trim();
    !line.starts_with("//") && !line.chars().all(|c| "})];".contains(c))
}

#[test]
fn a_solution_is_its_problem_with_the_gaps_filled() {
    for folder in folders() {
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let (problem, solution) = (read("problem.rs"), read("solution.rs"));
        let (parts, gaps) = parts(&problem);
        assert!(!gaps.is_empty(), "{}: no gap", folder.display());

        let solution: Vec<_> = solution.lines().collect();
        let (first, others) = parts.split_first().unwrap();
        assert!(solution.starts_with(first), "{}: they differ before `{}`", folder.display(), gaps[0].marker);
        let mut rest = &solution[first.len()..];
        for (i, (part, gap)) in others.iter().zip(&gaps).enumerate() {
            let place = format!("{}: `{}`", folder.display(), gap.marker);
            // The last part is the end of the file; the others are where they are found first.
            let found = match i + 1 == gaps.len() {
                true => rest.ends_with(part).then(|| rest.len() - part.len()),
                false => rest.windows(part.len()).position(|window| window == part.as_slice()),
            };
            let found = found.unwrap_or_else(|| panic!("{place}: they differ after it"));
            let filled = rest[..found].iter().filter(|line| is_counted(line)).count();
            assert!(gap.admits(filled), "{place}: the solution has {filled} lines there");
            rest = &rest[found + part.len()..];
        }
    }
}

#[test]
fn a_solution_has_no_gap() {
    for folder in folders() {
        let solution = fs::read_to_string(folder.join("solution.rs")).unwrap();
        assert!(!solution.contains("FILL "), "{}", folder.display());
    }
}

#[test]
fn a_problem_says_how_to_run_it() {
    for folder in folders() {
        let problem = fs::read_to_string(folder.join("problem.rs")).unwrap();
        let (name, _) = folder.file_name().unwrap().to_str().unwrap().split_once('_').unwrap();
        assert!(problem.starts_with(&format!("//! Puzzle {}: ", &name[1..])), "{}", folder.display());
        assert!(problem.contains(&format!("`cargo puzzle {name}")), "{}", folder.display());
    }
}

#[test]
fn every_folder_is_a_puzzle_of_the_command() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_puzzle")).output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    for folder in folders() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let file = format!("course/puzzles/{name}/problem.rs");
        assert!(list.contains(&file), "{file} is not listed:\n{list}");
    }
    let files = list.lines().filter(|line| line.ends_with("/problem.rs")).count();
    assert_eq!(files, folders().len(), "listed without a folder:\n{list}");
}
