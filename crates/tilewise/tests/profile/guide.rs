//! The worked example of `docs/profile.md`: the guide has its kernels and what is printed as they are here.
//!
//! `TILEWISE_BLESS=1 cargo test -p tilewise --test profile` writes both into it.

mod transpose;

use std::path::Path;
use std::{env, fs};

use tilewise::prelude::*;

use crate::harness::{printed, profile};

const SIZE: usize = 256;

/// Elements of a row of a tile: `None` without tiles.
fn text(width: Option<usize>) -> String {
    printed(&profile(|ctx| {
        let a = ctx.tensor_from_fn(row_major([SIZE, SIZE]), |[row, col]| (SIZE * row + col) as f32)?;
        let mut output = ctx.zeros::<f32, 2>(row_major([SIZE, SIZE]))?;
        let launch = match width {
            None => transpose::by_element(&mut output, &a),
            Some(width) => transpose::by_tile(&mut output, &a, width),
        };
        ctx.enqueue_function(launch, grid_dim((SIZE / 32, SIZE / 32)), block_dim((32, 32)))?;
        let expected = |i: usize| (SIZE * (i % SIZE) + i / SIZE) as f32;
        assert!(output.to_host()?.iter().enumerate().all(|(i, &x)| x == expected(i)));
        Ok(())
    }))
}

/// Without the table of GPUs, which is the same each time.
fn without_devices(text: &str) -> &str {
    text.split_once("\n\nGPU").map_or(text, |(counts, _)| counts)
}

#[test]
fn the_guide_is_what_is_printed() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = manifest.join("../../docs/profile.md");
    let guide = fs::read_to_string(&path).expect("docs/profile.md");
    let kernels = fs::read_to_string(manifest.join("tests/profile/guide/transpose.rs")).expect("the kernels");
    let kernels = kernels.replace("pub(super) ", "");
    let padded = text(Some(33));
    let row = padded.lines().find(|line| line.contains("read   `tile`")).expect("the row of the tile");
    let mut expected = guide.clone();
    for (name, language, text) in [
        ("kernels", "rust", kernels.as_str()),
        ("by element", "text", text(None).as_str()),
        ("by tile", "text", without_devices(&text(Some(32)))),
        ("padded", "text", row),
    ] {
        expected = replaced(&expected, name, &format!("```{language}\n{}\n```\n", text.trim_end()));
    }
    if env::var_os("TILEWISE_BLESS").is_some() {
        fs::write(&path, expected).expect("a file that can be written");
    } else {
        assert!(
            guide == expected,
            "docs/profile.md is not what comes out now (TILEWISE_BLESS=1 writes it anew)"
        );
    }
}

/// The guide with another block of code behind `<!-- name -->`.
fn replaced(guide: &str, name: &str, block: &str) -> String {
    let mark = format!("<!-- {name} -->\n");
    let (before, rest) = guide.split_once(&mark).unwrap_or_else(|| panic!("no `{}`", mark.trim_end()));
    let (_, after) = rest.split_once("\n```\n").unwrap_or_else(|| panic!("no code behind `{name}`"));
    format!("{before}{mark}{block}{after}")
}
