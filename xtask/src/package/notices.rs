//! The licences of the crates that are linked into the program: whoever hands on the program hands on these texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::cargo;

/// How the names of such files begin, in small letters.
const NAMES: &[&str] = &["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// What `cargo metadata` says.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    manifest_path: String,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// One text: each crate with its licence, then each different file once, with the crates that have it; then the notices
/// of the data that others licensed.
///
/// # Errors
/// When cargo does not tell the crates, or a file cannot be read.
pub(super) fn collect(root: &Path) -> Result<String> {
    let packages = linked(root)?;
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut text = String::from("Crates that are linked into kybern, each with the licence that it declares.\n\n");
    for package in &packages {
        let title = format!("{} {}", package.name, package.version);
        text.push_str(&format!("{title}: {}\n", package.license.as_deref().unwrap_or("see its text below")));
        let folder = Path::new(&package.manifest_path).parent().context("a manifest lies in no folder")?;
        for file in licences_in(folder)? {
            texts.entry(file).or_default().push(title.clone());
        }
    }
    for (file, crates) in &texts {
        text.push_str(&format!("\n{}\n{}\n\n{}\n", "=".repeat(78), crates.join(", "), file.trim_end()));
    }
    for folder in fs::read_dir(root.join("third_party"))?.flatten().filter(|entry| entry.path().is_dir()) {
        let name = folder.file_name();
        let notice = fs::read_to_string(folder.path().join("NOTICE")).context("data of others has no NOTICE")?;
        text.push_str(&format!("\n{}\nData: {}\n\n{}\n", "=".repeat(78), name.to_string_lossy(), notice.trim_end()));
    }
    Ok(text)
}

/// What the program links on this machine's platform, without the project's own crates.
fn linked(root: &Path) -> Result<Vec<Package>> {
    let host = cargo::host()?;
    let args = ["metadata", "--format-version", "1", "--locked", "--filter-platform", &host];
    let output = cargo::command(root, &args).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cargo cannot list the crates: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let Metadata { packages, resolve } = serde_json::from_slice(&output.stdout).context("cargo's list of crates")?;
    let program = packages.iter().find(|package| package.name == "kybern" && package.source.is_none());
    let wanted = reached(&program.context("the workspace has no crate kybern")?.id, &resolve);
    let mut linked: Vec<Package> =
        packages.into_iter().filter(|package| package.source.is_some() && wanted.contains(&package.id)).collect();
    linked.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(linked)
}

/// What can be reached over ordinary dependencies. What only builds or tests is not part of the program.
fn reached(start: &str, resolve: &Resolve) -> BTreeSet<String> {
    let nodes: BTreeMap<&str, &Node> = resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let mut reached = BTreeSet::new();
    let mut open = vec![start.to_owned()];
    while let Some(id) = open.pop() {
        let Some(node) = nodes.get(id.as_str()).filter(|_| reached.insert(id.clone())) else { continue };
        let ordinary = node.deps.iter().filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind.is_none()));
        open.extend(ordinary.map(|dep| dep.pkg.clone()));
    }
    reached
}

fn licences_in(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    let is_licence = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        NAMES.iter().any(|start| name.starts_with(start)) && !name.ends_with(".rs")
    };
    // A file in another encoding is of no use to a reader of the text; the crate's line names its licence.
    let texts = files.iter().filter(|path| is_licence(path)).filter_map(|path| fs::read_to_string(path).ok());
    Ok(texts.map(|text| text.replace("\r\n", "\n").trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_builds_or_tests_is_left_out() {
        let resolve: Resolve = serde_json::from_str(
            r#"{"nodes": [
                {"id": "kybern", "deps": [{"pkg": "a", "dep_kinds": [{"kind": null}]},
                                          {"pkg": "b", "dep_kinds": [{"kind": "dev"}]}]},
                {"id": "a", "deps": [{"pkg": "c", "dep_kinds": [{"kind": "build"}, {"kind": null}]}]},
                {"id": "b", "deps": []}, {"id": "c", "deps": [{"pkg": "a", "dep_kinds": [{"kind": null}]}]}]}"#,
        )
        .unwrap();
        assert_eq!(reached("kybern", &resolve).into_iter().collect::<Vec<_>>(), ["a", "c", "kybern"]);
    }
}
