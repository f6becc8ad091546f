//! Servers that come as Python packages, each in a virtual environment of its own in the cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::cache;
use super::process::{apt_get, finish};

/// A package at one version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Package {
    /// Its name on PyPI.
    pub(crate) name: &'static str,
    /// Its version; another version gets another folder.
    pub(crate) version: &'static str,
    /// Whether it is installed without what it asks for: only its files are wanted.
    pub(crate) alone: bool,
}

impl Package {
    /// That package with what it asks for.
    pub(crate) const fn new(name: &'static str, version: &'static str) -> Self {
        Self { name, version, alone: false }
    }
}

/// A virtual environment with these packages, installed on first use. Runs at the same time wait for each other.
///
/// # Errors
/// When Python is missing or a package cannot be installed; the message says what to do.
pub(crate) fn environment(packages: &[Package]) -> Result<PathBuf> {
    let name = packages.iter().map(|package| format!("{}-{}", package.name, package.version));
    let name = name.collect::<Vec<_>>().join("+");
    let folder = cache::downloads()?.join("venvs");
    cache::make(&folder, 0o755)?;
    let venv = folder.join(&name);
    let _lock = cache::lock(&folder, &name)?;
    // Written last, so a broken installation is begun again.
    let complete = venv.join("complete");
    if complete.exists() && venv.join("bin/python").exists() {
        return Ok(venv);
    }
    println!("    installing {name} from PyPI into {}", venv.display());
    if venv.exists() {
        fs::remove_dir_all(&venv).with_context(|| format!("cannot delete {}", venv.display()))?;
    }
    make_venv(&venv)?;
    for Package { name, version, alone } in packages {
        let mut pip = Command::new(venv.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]);
        if *alone {
            pip.arg("--no-deps");
        }
        pip.arg(format!("{name}=={version}"));
        finish(pip).with_context(|| format!("cannot install {name} {version}; check that PyPI can be reached"))?;
    }
    let mut open = Command::new("chmod");
    open.args(["-R", "a+rX"]).arg(&venv);
    finish(open)?;
    File::create(&complete).with_context(|| format!("cannot write {}", complete.display()))?;
    Ok(venv)
}

fn make_venv(venv: &Path) -> Result<()> {
    let Err(first) = try_venv(venv) else {
        return Ok(());
    };
    if !(cache::is_root() && Path::new("/etc/debian_version").exists()) {
        return Err(first).context(
            "cannot make a virtual environment; install Python with venv (Debian: apt-get install python3-venv)",
        );
    }
    println!("    Python's venv is missing: apt-get install python3-venv");
    // One unreachable source fails the update, and the package may still be there.
    if let Err(error) = apt_get("update", &[]) {
        println!("    {error:#}");
    }
    apt_get("install", &["python3-venv"]).context("cannot install python3-venv; install it by hand and run again")?;
    if venv.exists() {
        fs::remove_dir_all(venv).with_context(|| format!("cannot delete {}", venv.display()))?;
    }
    try_venv(venv).context("python3 -m venv still fails after installing python3-venv")
}

fn try_venv(venv: &Path) -> Result<()> {
    let mut python = Command::new("python3");
    python.args(["-m", "venv"]).arg(venv);
    finish(python).map(drop)
}

/// The folder in which the environment keeps its packages.
///
/// # Errors
/// When there is none.
pub(crate) fn site_packages(venv: &Path) -> Result<PathBuf> {
    let lib = venv.join("lib");
    let entries = fs::read_dir(&lib).with_context(|| format!("cannot read {}", lib.display()))?;
    for entry in entries.flatten() {
        let packages = entry.path().join("site-packages");
        if packages.is_dir() {
            return Ok(packages);
        }
    }
    bail!("there is no site-packages below {}; delete {} and run again", lib.display(), venv.display())
}
