//! Tesseract, which reads scans. It is no server: tests are told where it is. On Debian, root installs it by the way;
//! where it cannot be had, the tests that need it say so and pass.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::process::apt_get;
use super::{RunningService, Service, cache};

const PROGRAM: &str = "KYBERN_TEST_TESSERACT";
/// What installs it.
const REMEDY: &str = "on Debian: apt-get install tesseract-ocr tesseract-ocr-spa tesseract-ocr-fra";

/// The packages that have it, with the languages of the tests.
const PACKAGES: [&str; 3] = ["tesseract-ocr", "tesseract-ocr-spa", "tesseract-ocr-fra"];

/// The service.
pub(crate) const SERVICE: Service = Service { name: "ocr", variables: &[PROGRAM], asked_by: None, start };

fn start() -> Result<RunningService> {
    let Some(program) = find().or_else(|| installed().and_then(|()| find())) else {
        let about = format!("not installed, the tests that need it are skipped; {REMEDY}");
        return Ok(RunningService::installed(about, Vec::new()));
    };
    let about = format!("{}, {}", version(&program)?, program.display());
    Ok(RunningService::installed(about, vec![(PROGRAM, program.display().to_string())]))
}

/// Where it is on the path.
fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join("tesseract")).find(|program| program.is_file())
}

/// Installs it, where this process may and packages can be had.
fn installed() -> Option<()> {
    if !cache::is_root() {
        return None;
    }
    println!("    installing {} with apt-get", PACKAGES.join(", "));
    apt_get("update", &[])
        .and_then(|()| apt_get("install", &PACKAGES))
        .inspect_err(|error| println!("    {error:#}"))
        .ok()
}

fn version(program: &PathBuf) -> Result<String> {
    let said = Command::new(program).arg("--version").output();
    let said = said.with_context(|| format!("{} cannot be started; {REMEDY}", program.display()))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    Ok(said.lines().next().unwrap_or("tesseract of an unknown version").to_owned())
}
