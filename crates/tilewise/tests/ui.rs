//! What is refused when a kernel is compiled, each with the message that the user reads.
//!
//! A file in `ui` is one mistake, or a few of one kind. `TRYBUILD=overwrite cargo test --test ui` writes the messages;
//! read them: the first line has to name the mistake, at its place in the user's source.

use std::process::Command;

/// The compiler that wrote the messages; others word them a little differently.
const WRITTEN_BY: &str = "1.95";

#[test]
fn messages() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("--version").output().expect("rustc runs");
    let version = String::from_utf8_lossy(&version.stdout);
    if version.split_whitespace().nth(1).is_none_or(|v| !v.starts_with(&format!("{WRITTEN_BY}."))) {
        println!("skipped: the messages were written by rustc {WRITTEN_BY}, this is {version}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
