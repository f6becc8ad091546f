//! The project's text files, read once and shared by all rules.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::rust_source::RustSource;

/// One text file.
#[derive(Debug)]
pub(crate) struct SourceFile {
    path: String,
    text: String,
    rust: Option<RustSource>,
}

impl SourceFile {
    fn new(path: String, text: String) -> Self {
        let rust = path.ends_with(".rs").then(|| RustSource::read(&text));
        Self { path, text, rust }
    }

    /// The path from the root, with `/` on every system.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The name without folder and extension.
    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.split_once('.').map_or(name, |(stem, _)| stem)
    }

    /// Whether the whole file is test code.
    pub(crate) fn is_test(&self) -> bool {
        let framed = format!("/{}", self.path);
        ["/tests/", "/benches/"].iter().any(|folder| framed.contains(folder)) || self.path.ends_with("/tests.rs")
    }
}

/// All text files of the project that git tracks or would track. Files that are not UTF-8 are left out.
#[derive(Debug)]
pub(crate) struct Tree {
    files: Vec<SourceFile>,
}

impl Tree {
    /// Reads the checkout at `root`.
    ///
    /// # Errors
    /// When the files cannot be listed.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let files = list(root)?
            .into_iter()
            .filter_map(|path| {
                // A file that is listed and gone has been deleted in the working tree.
                let bytes = std::fs::read(root.join(&path)).ok()?;
                let text = String::from_utf8(bytes).ok()?;
                Some(SourceFile::new(path, text))
            })
            .collect();
        Ok(Self { files })
    }

    /// A tree of the given paths and texts.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| SourceFile::new((*path).into(), (*text).into()));
        Self { files: files.collect() }
    }

    /// Every file.
    pub(crate) fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// Every Rust file with what the reader made of it.
    pub(crate) fn rust_files(&self) -> impl Iterator<Item = (&SourceFile, &RustSource)> {
        self.files.iter().filter_map(|file| Some((file, file.rust.as_ref()?)))
    }

    /// The files below a folder, whose name ends with `/`.
    pub(crate) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a SourceFile> {
        self.files.iter().filter(move |file| file.path.starts_with(folder))
    }
}

/// Folders that hold nothing of ours, for a checkout without git.
const FOREIGN: &[&str] = &[".git", "target", "node_modules"];

/// The files that git tracks or would track; without git, all that lie there.
fn list(root: &Path) -> Result<Vec<String>> {
    let git = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output();
    let mut paths = match git {
        Ok(output) if output.status.success() => split(&output.stdout),
        _ => {
            println!("tidy: git does not list the files here; taking all that lie in {}", root.display());
            let mut paths = Vec::new();
            walk(root, "", &mut paths)?;
            paths
        }
    };
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn split(listed: &[u8]) -> Vec<String> {
    let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.filter_map(|path| String::from_utf8(path.to_vec()).ok()).collect()
}

fn walk(folder: &Path, prefix: &str, paths: &mut Vec<String>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{prefix}{name}");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !FOREIGN.contains(&name.as_str()) => {
                walk(&entry.path(), &format!("{path}/"), paths)?;
            }
            Ok(kind) if kind.is_file() => paths.push(path),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_checkout_can_be_loaded() {
        let tree = Tree::load(&crate::root::find().unwrap()).unwrap();
        assert!(tree.files().iter().any(|file| file.path() == "xtask/src/tidy/tree.rs"));
        assert!(tree.below("xtask/").all(|file| file.path().starts_with("xtask/")));
    }

    #[test]
    fn without_git_the_same_sources_are_found() {
        let mut paths = Vec::new();
        let root = crate::root::find().unwrap();
        walk(&root, "", &mut paths).unwrap();
        assert!(paths.iter().any(|path| path == "xtask/src/tidy/tree.rs"));
        assert!(!paths.iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
    }

    #[test]
    fn test_files_are_known_by_their_place() {
        let tree = Tree::of(&[
            ("tests/a.rs", ""),
            ("crates/x/tests/main.rs", ""),
            ("crates/x/src/b/tests.rs", ""),
            ("crates/x/src/contests.rs", ""),
        ]);
        let verdicts: Vec<bool> = tree.files().iter().map(SourceFile::is_test).collect();
        assert_eq!(verdicts, [true, true, true, false]);
        assert_eq!(tree.files()[3].stem(), "contests");
    }
}
