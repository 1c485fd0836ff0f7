//! The kernels of `docs/checker.md` and `docs/profile.md`, and what is said of them: the guides show both as they are here.
//!
//! `TILEWISE_BLESS=1 cargo test -p tilewise --test guide` writes them anew.

mod checker;
mod profile;

/// The kernels, a file each. They are declared by a macro, so that rustfmt leaves them as the guides show them.
#[path = "src"]
mod kernels {
    macro_rules! files {
        ($($name:ident)*) => { $(pub(crate) mod $name;)* };
    }

    files! {
        any dot double fill find halve mean own reverse ring root signal six smooth steps total transpose
    }
}

use std::path::{Path, PathBuf};
use std::{env, fs};

use tilewise::report::Location;
use tilewise::report::render::Style;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guide")
}

/// As in the guides: the kernels lie in `src`.
fn style() -> Style {
    Style { folder: Some(folder()), ..Style::plain() }
}

/// The position as if this folder were the package.
fn shorten(location: &mut Option<Location>) {
    if let Some(location) = location
        && let Some(at) = location.file.find("src/").filter(|_| location.file.contains("tests/guide"))
    {
        location.file.drain(..at);
    }
}

/// Asserts that a guide has, below each comment that asks for it, the kernel or text that there is: `<!-- kernel dot -->`,
/// `<!-- report dot -->`; and that all texts are asked for.
fn check(guide: &str, kind: &str, texts: &[(&str, String)]) {
    let path = folder().join("../../../../docs").join(guide);
    let old = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{guide}: {error}"));
    let mut new = String::new();
    let mut lines = old.lines();
    while let Some(line) = lines.next() {
        new.push_str(line);
        new.push('\n');
        let request = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->"));
        let block = match request.and_then(|request| request.split_once(' ')) {
            Some(("kernel", name)) => {
                let text = fs::read_to_string(folder().join(format!("src/{name}.rs")))
                    .expect("a kernel of the guide");
                format!("```rust\n{}```\n", as_shown(&text))
            }
            Some((wanted, name)) if wanted == kind => {
                let (_, text) = texts.iter().find(|(known, _)| *known == name).expect("a text of the guide");
                format!("```text\n{}\n```\n", as_shown(text.trim_end()))
            }
            _ => continue,
        };
        new.push_str(&block);
        // The block that was there.
        if lines.next().is_some_and(|line| line.starts_with("```")) {
            lines.by_ref().find(|line| *line == "```");
        }
    }
    for (name, _) in texts {
        assert!(old.contains(&format!("<!-- {kind} {name} -->")), "{guide} has no {kind} `{name}`");
    }
    if env::var_os("TILEWISE_BLESS").is_some() {
        fs::write(&path, new).expect("a file that can be written");
    } else {
        assert!(old == new, "{guide} is not what comes out now; TILEWISE_BLESS=1 writes it anew:\n{new}");
    }
}

/// The kernels are public for these tests alone.
fn as_shown(text: &str) -> String {
    text.replace("pub(crate) fn", "fn")
}
