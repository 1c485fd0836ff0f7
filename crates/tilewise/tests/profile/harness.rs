//! Profiled launches, and their profiles as printed.

use std::path::Path;

use tilewise::prelude::*;
use tilewise::report::profile::Profile;
use tilewise::report::render::{self, Style};

/// The profile of the one launch of `test`.
#[track_caller]
pub(crate) fn profile(test: impl Fn(&DeviceContext) -> tilewise::Result<()>) -> Profile {
    let [one, three] = [1, 3].map(|threads| {
        let ctx = DeviceContext::open("cpu").expect("every machine has it").profiled().with_threads(threads);
        test(&ctx).and_then(|()| ctx.synchronize()).unwrap_or_else(|error| panic!("{error}"));
        let mut profiles = ctx.take_profiles();
        assert_eq!(profiles.len(), 1, "one launch");
        profiles.remove(0)
    });
    assert_eq!(one, three, "with one and with three host threads");
    one
}

/// The profile as printed, in lines of at most 100 columns.
#[track_caller]
pub(crate) fn printed(profile: &Profile) -> String {
    let text = render::profile(profile, &style());
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    text
}

/// The source files are named from the root of the repository.
pub(crate) fn style() -> Style {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Style { folder: Some(folder), ..Style::plain() }
}

/// The rows below the source line that ends with this mark, without the space between their columns.
#[track_caller]
pub(crate) fn rows(text: &str, mark: &str) -> Vec<String> {
    let mark = format!("// {mark}");
    let mut lines = text.lines().skip_while(|line| !line.contains(&mark));
    lines.next().unwrap_or_else(|| panic!("no line with `{mark}` in\n{text}"));
    let rows = lines.map_while(|line| line.trim_start().strip_prefix("|   "));
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// Asserts that the text has this line, the space between its columns aside.
#[track_caller]
pub(crate) fn assert_line(text: &str, line: &str) {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.lines().any(|each| squeezed(each) == line), "no line `{line}` in\n{text}");
}
