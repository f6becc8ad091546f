//! Tesseract, which reads scans. It is no server: tests are told where it is. On Debian, root installs it by the way;
//! where it cannot be had, the tests that need it say so and pass.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::{Running, Service, cache};

const PROGRAM: &str = "KYBERN_TEST_TESSERACT";
/// What installs it.
const REMEDY: &str = "on Debian: apt-get install tesseract-ocr tesseract-ocr-spa tesseract-ocr-fra";

/// The packages that have it, with the languages of the tests.
const PACKAGES: [&str; 3] = ["tesseract-ocr", "tesseract-ocr-spa", "tesseract-ocr-fra"];

/// The service.
pub(crate) struct Ocr;

impl Service for Ocr {
    fn name(&self) -> &'static str {
        "ocr"
    }

    fn variables(&self) -> &'static [&'static str] {
        &[PROGRAM]
    }

    fn start(&self) -> Result<Running> {
        let Some(program) = find().or_else(|| installed().and_then(|()| find())) else {
            let about = format!("not installed, the tests that need it are skipped; {REMEDY}");
            return Ok(Running::installed(about, Vec::new()));
        };
        let version = version(&program)?;
        let about = format!("{version}, {}", program.display());
        Ok(Running::installed(about, vec![(PROGRAM, program.display().to_string())]))
    }
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
    let quietly = ["-qq", "-y", "--no-install-recommends"];
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let has_lists = apt(&["update", "-qq"]);
    let install: Vec<&str> = ["install"].into_iter().chain(quietly).chain(PACKAGES).collect();
    (has_lists && apt(&install)).then_some(())
}

fn version(program: &PathBuf) -> Result<String> {
    let said = Command::new(program).arg("--version").output();
    let said = said.with_context(|| format!("{} cannot be started; {REMEDY}", program.display()))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    Ok(said.lines().next().unwrap_or("tesseract of an unknown version").to_owned())
}
