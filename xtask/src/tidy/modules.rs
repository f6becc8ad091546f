//! Every Rust file is named by the file above it. A file that nobody names is not compiled, and its tests do not run.

use std::collections::HashSet;

use super::finding::Finding;
use super::tree::{SourceFile, Tree};

/// Checks every file that is no root of a crate.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut named = HashSet::new();
    for (file, source) in tree.rust_files() {
        let folder = folder_of(file);
        for (_, code) in source.all_code() {
            named.extend(module_in(code).map(|name| format!("{folder}/{name}")));
        }
        // A path of its own names a file wherever it lies.
        for line in file.text().lines().filter(|line| line.trim_start().starts_with("#[path")) {
            let beside = file.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            named.extend(line.split('"').nth(1).and_then(|path| resolve(beside, path)));
        }
    }
    let is_unnamed = |file: &&SourceFile| !is_root(file.path()) && !named.contains(&place_of(file.path()));
    let unnamed = tree.rust_files().map(|(file, _)| file).filter(is_unnamed);
    let remedy = "name it with `mod` in the file above it, or delete it";
    unnamed
        .map(|file| Finding::violation(file.path(), 1, "no file names this one, so it is not compiled", remedy))
        .collect()
}

/// Whether cargo itself begins with that file.
fn is_root(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let of = folder.rsplit('/').next().unwrap_or_default();
    let is_fixture = path.contains("/fixtures/");
    is_fixture
        || matches!(name, "lib.rs" | "main.rs" | "build.rs")
        || matches!(of, "bin" | "benches" | "examples" | "tests" | "fuzz_targets")
}

/// The folder in which the modules of a file lie.
fn folder_of(file: &SourceFile) -> &str {
    let path = file.path();
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_head = matches!(name, "lib.rs" | "main.rs" | "mod.rs") || (is_root(path) && name != "build.rs");
    if is_head { folder } else { path.trim_end_matches(".rs") }
}

/// What a file is called by whoever names it.
fn place_of(path: &str) -> String {
    path.trim_end_matches(".rs").trim_end_matches("/mod").to_owned()
}

/// The module that a line names: `pub(crate) mod name;`.
fn module_in(code: &str) -> Option<&str> {
    let before = code.trim().strip_suffix(';')?;
    let (visibility, name) = before.rsplit_once("mod ")?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let is_visibility = visibility.is_empty() || visibility.starts_with("pub") || visibility.starts_with("#[");
    (is_name && is_visibility).then_some(name)
}

/// The place of a path that is written relative to a folder.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(place_of(&parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_that_nobody_names_is_found() {
        let found = found(&[
            ("crates/x/src/lib.rs", "mod a;\n// mod lost;\n"),
            ("crates/x/src/a.rs", "pub(crate) mod b;\n"),
            ("crates/x/src/a/b.rs", ""),
            ("crates/x/src/lost.rs", ""),
            ("crates/x/tests/it/main.rs", "mod one;\n"),
            ("crates/x/tests/it/one.rs", ""),
            ("crates/x/tests/it/two.rs", ""),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/x/src/lost.rs:1: no file names this one"), "{found:?}");
        assert!(found[1].starts_with("crates/x/tests/it/two.rs:1: "), "{found:?}");
    }

    #[test]
    fn folders_roots_and_paths_of_their_own_pass() {
        let files = [
            ("crates/x/build.rs", ""),
            ("crates/x/benches/speed.rs", "#[path = \"../tests/it/world/mod.rs\"]\nmod world;\n"),
            ("crates/x/src/lib.rs", "#[cfg(test)]\nmod folder;\n"),
            ("crates/x/src/folder/mod.rs", ""),
            ("crates/x/tests/alone.rs", ""),
            ("crates/x/tests/it/world/mod.rs", ""),
        ];
        assert_eq!(found(&files), [] as [&str; 0]);
    }
}
