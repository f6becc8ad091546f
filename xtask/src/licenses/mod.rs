//! Every dependency against `deny.toml`, where cargo-deny is missing: licences, bans and sources.
//!
//! It reads what the crates declare. Unlike cargo-deny it does not compare licence texts.

mod expression;
mod policy;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cargo;
use crate::clock::{Stopwatch, readable};
use policy::Policy;

/// A dependency as `cargo tree` names it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Package {
    name: String,
    version: String,
    source: Option<String>,
    license: String,
}

/// Runs the command.
///
/// # Errors
/// When an argument is given, or cargo cannot list the dependencies.
pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if let Some(arg) = args.first() {
        bail!("takes no arguments, and got {arg:?}");
    }
    Ok(if report(&crate::root::find()?)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks all dependencies, on every platform, prints what it finds, and says whether all is well.
///
/// # Errors
/// When `deny.toml` cannot be read or cargo cannot list the dependencies.
pub(crate) fn report(root: &Path) -> Result<bool> {
    let watch = Stopwatch::start();
    let text = std::fs::read_to_string(root.join("deny.toml")).context("cannot read deny.toml")?;
    let policy = Policy::read(&text)?;
    let packages = packages(root)?;
    let faults: Vec<String> = packages.iter().flat_map(|package| faults(package, &policy)).collect();
    for fault in &faults {
        println!("{fault}");
    }
    let verdict = if faults.is_empty() { "clean".to_owned() } else { format!("{} faults", faults.len()) };
    println!("licenses: {verdict} in {} crates ({})", packages.len(), readable(watch.elapsed()));
    Ok(faults.is_empty())
}

/// What `cargo tree` prints of each package, and no `{p}` contains.
const MARK: char = '\t';

fn packages(root: &Path) -> Result<BTreeSet<Package>> {
    let format = format!("{{p}}{MARK}{{l}}{MARK}");
    let args =
        ["tree", "--workspace", "--target", "all", "--edges", "normal,build,dev", "--prefix", "none", "--locked"];
    let output = cargo::command(root, &args).args(["--format", &format]).output().context("cannot start cargo")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("cargo cannot list the dependencies: {}", said.trim());
    }
    let listed = String::from_utf8(output.stdout).context("cargo listed dependencies in no UTF-8")?;
    let packages = read(&listed)?;
    if packages.is_empty() {
        bail!("cargo listed no dependencies");
    }
    Ok(packages)
}

fn read(listed: &str) -> Result<BTreeSet<Package>> {
    let mut packages = BTreeSet::new();
    for line in listed.lines().filter(|line| !line.is_empty()) {
        let mut parts = line.split(MARK);
        let (Some(package), Some(license)) = (parts.next(), parts.next()) else {
            bail!("cannot read what cargo listed: {line:?}");
        };
        let mut words = package.split(' ');
        let (Some(name), Some(version)) = (words.next(), words.next()) else {
            bail!("cannot read what cargo listed: {line:?}");
        };
        // In brackets stands a path, an address, or the remark that it is a macro; crates.io is not named.
        let source = words.next().filter(|word| *word != "(proc-macro)");
        packages.insert(Package {
            name: name.to_owned(),
            version: version.to_owned(),
            source: source.map(|source| source.trim_matches(['(', ')']).to_owned()),
            license: license.to_owned(),
        });
    }
    Ok(packages)
}

fn faults(package: &Package, policy: &Policy) -> Vec<String> {
    let Package { name, version, source, license } = package;
    let at = format!("Cargo.lock:1: {name} {version}");
    let mut faults = Vec::new();
    if policy.banned.contains(name) {
        faults.push(format!("{at} is banned (cargo tree --target all -i {name} shows who brings it)"));
    }
    if let Some(source) = source.as_ref().filter(|source| source.contains("://")) {
        faults.push(format!("{at} comes from {source} (take it from crates.io)"));
    }
    if license.is_empty() {
        faults.push(format!("{at} declares no licence (choose another crate)"));
    } else {
        match expression::permits(license, &policy.allowed) {
            Ok(true) => {}
            Ok(false) => {
                faults.push(format!("{at} is under {license}, which deny.toml does not allow (choose another crate)"))
            }
            Err(error) => {
                faults.push(format!("{at} has a licence that cannot be read: {error} (choose another crate)"))
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        Policy::read("[licenses]\nallow = [\"MIT\"]\n[bans]\ndeny = [{ crate = \"openssl-sys\" }]\n").unwrap()
    }

    fn count(listed: &str) -> usize {
        read(listed).unwrap().iter().map(|package| faults(package, &policy()).len()).sum()
    }

    #[test]
    fn a_list_is_read_with_repetitions_and_remarks() {
        let listed =
            "a v1.0.0\tMIT\t\n\na v1.0.0\tMIT\t (*)\nb v2.0.0 (proc-macro)\tMIT OR ISC\t\nk v0.1.0 (/x/k)\tMIT\t\n";
        let packages = read(listed).unwrap();
        assert_eq!(packages.len(), 3);
        assert_eq!(packages.iter().filter(|package| package.source.is_some()).count(), 1);
        assert_eq!(count(listed), 0);
    }

    #[test]
    fn each_kind_of_fault_is_found() {
        assert_eq!(count("a v1.0.0\tGPL-3.0\t"), 1);
        assert_eq!(count("a v1.0.0\t\t"), 1);
        assert_eq!(count("openssl-sys v1.0.0\tMIT\t"), 1);
        assert_eq!(count("a v1.0.0 (https://example.com/a#1)\tMIT\t"), 1);
    }
}
