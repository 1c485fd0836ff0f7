//! The source files that a report points into.
//!
//! The compiler names a file relative to the folder in which Cargo ran it, which is the root of the workspace; a program
//! may run elsewhere. So a file is looked for in the current folder, in that of the package, and in all folders above
//! them, and a folder that has a `Cargo.lock`, the root of a workspace, goes before one that has not.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

/// Files, each read once.
///
/// ```
/// use tilewise_check::render::Sources;
///
/// let text = Sources::new(None).text("Cargo.toml").expect("a file of this package or workspace");
/// assert!(text.contains("[") && Sources::new(None).text("no/such/file.rs").is_none());
/// ```
#[derive(Debug)]
pub struct Sources {
    folders: Vec<PathBuf>,
    files: HashMap<String, Option<Arc<str>>>,
}

impl Sources {
    /// Files in `folder`; without one, in the current folder, the package and above.
    pub fn new(folder: Option<&Path>) -> Sources {
        let folders = match folder {
            Some(folder) => vec![folder.to_owned()],
            None => {
                let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
                let starts = env::current_dir().ok().into_iter().chain(package);
                order(starts.flat_map(|start| start.ancestors().map(Path::to_owned).collect::<Vec<_>>()))
            }
        };
        Sources { folders, files: HashMap::new() }
    }

    /// The text of a file, if it can be read.
    pub fn text(&mut self, file: &str) -> Option<Arc<str>> {
        if let Some(text) = self.files.get(file) {
            return text.clone();
        }
        let text = self.folders.iter().find_map(|folder| fs::read_to_string(folder.join(file)).ok());
        let text: Option<Arc<str>> = text.map(Arc::from);
        self.files.insert(file.to_owned(), text.clone());
        text
    }
}

/// Roots of workspaces first, else as they come.
fn order(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let (mut roots, others): (Vec<_>, Vec<_>) = folders.partition(|f| f.join("Cargo.lock").exists());
    roots.extend(others);
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_workspace_is_found_from_its_package() {
        // The tests of a package run in its folder, and files are named from the workspace.
        let text = Sources::new(None).text("crates/check/src/render/source.rs").expect("this file");
        assert!(text.starts_with("//! The source files that a report points into."));
    }

    #[test]
    fn an_absolute_path_is_itself() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(Sources::new(None).text(&path.display().to_string()).is_some());
    }

    #[test]
    fn what_cannot_be_read_is_none() {
        assert!(Sources::new(None).text("no/such/file.rs").is_none());
        assert!(Sources::new(None).text("").is_none());
    }
}
