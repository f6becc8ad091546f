//! Tesseract, which reads scans. It is no server: it has to be installed, and tests are told where it is. Without it only
//! the tests that need it fail.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use super::{Running, Service};

const PROGRAM: &str = "KYBERN_TEST_TESSERACT";
/// What installs it.
const REMEDY: &str = "on Debian: apt-get install tesseract-ocr tesseract-ocr-spa tesseract-ocr-fra";

/// What the variable names where it is not installed.
const NOWHERE: &str = "/not/installed";

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
        let path = std::env::var_os("PATH").unwrap_or_default();
        let programs = std::env::split_paths(&path).map(|folder| folder.join("tesseract"));
        let Some(program) = programs.into_iter().find(|program| program.is_file()) else {
            let about = format!("NOT INSTALLED, the tests that need it will fail; {REMEDY}; or run with --no-ocr");
            return Ok(Running::installed(about, vec![(PROGRAM, NOWHERE.to_owned())]));
        };
        let version = version(&program)?;
        let about = format!("{version}, {}", program.display());
        Ok(Running::installed(about, vec![(PROGRAM, program.display().to_string())]))
    }
}

fn version(program: &PathBuf) -> Result<String> {
    let said = Command::new(program).arg("--version").output();
    let said = said.with_context(|| format!("{} cannot be started; {REMEDY}", program.display()))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    Ok(said.lines().next().unwrap_or("tesseract of an unknown version").to_owned())
}
