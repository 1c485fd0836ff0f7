//! What reports look like: each is compared with a file.
//!
//! `TILEWISE_BLESS=1 cargo test -p tilewise-check --test render` writes the files anew.

mod json;
mod make;
mod profiles;
mod snapshots;

use std::path::{Path, PathBuf};
use std::{env, fs};

use tilewise_check::render::Style;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/render")
}

/// As the tests show reports: the files are those beside the tests.
fn style(sources: &str) -> Style {
    Style { folder: Some(folder().join(sources)), ..Style::plain() }
}

/// The file is the text; or becomes it.
fn expect(path: &Path, text: &str) {
    if env::var_os("TILEWISE_BLESS").is_some() {
        fs::write(path, text).expect("a file that can be written");
        return;
    }
    let old = fs::read_to_string(path).unwrap_or_default();
    assert!(
        old == text,
        "{} is not what comes out now (TILEWISE_BLESS=1 writes it anew):\n{text}",
        path.display()
    );
}
