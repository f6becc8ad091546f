//! `[documents]`: what reading one may take, whether scans are read, by what, and in which languages.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use kybern_adapters::documents::{ReaderProgram, Tesseract, TesseractFault};
use kybern_core::time::Millis;
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::error::{ConfigError, Fault, Faults};

/// What is looked for on the path.
const PROGRAM: &str = "tesseract";
/// Languages of one reader: each makes it slower.
const MAX_LANGUAGES: usize = 8;

/// Megabytes that a process which reads a document may have: fewer do not hold the program, more are nobody's.
const MEMORY_MB: std::ops::RangeInclusive<u64> = 256..=65_536;
/// How long it may take.
const TIMEOUT_MS: std::ops::RangeInclusive<u64> = 1_000..=600_000;

/// How documents are read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DocumentOptions {
    /// `auto`: scans are read where Tesseract is installed; `off`: a person is asked; otherwise the program's path.
    pub(crate) ocr: String,
    /// The languages that it reads, by the names of Tesseract's data. With `auto` those of them that are installed.
    pub(crate) ocr_languages: Vec<String>,
    /// Megabytes of memory of the process that reads one document.
    pub(crate) memory_mb: u64,
    /// How long one document without scans may take.
    pub(crate) timeout_ms: Millis,
    /// The program that was found.
    #[serde(skip)]
    pub(crate) program: Option<PathBuf>,
}

impl Default for DocumentOptions {
    fn default() -> Self {
        let ocr_languages = ["eng", "spa", "fra"].map(str::to_owned).to_vec();
        let (memory_mb, timeout_ms) = (1_024, Millis(20_000));
        Self { ocr: "auto".to_owned(), ocr_languages, memory_mb, timeout_ms, program: None }
    }
}

/// Who reads scans.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ocr {
    /// Nobody, and that is meant.
    Off,
    /// Nobody: it is not installed.
    Missing,
    Reads(Tesseract),
}

impl DocumentOptions {
    /// The defaults, with what is installed here.
    pub(crate) fn of(env: &Environment) -> Self {
        let mut options = Self::default();
        options.check(env, &mut Faults::default());
        options
    }

    pub(super) fn check(&mut self, env: &Environment, faults: &mut Faults) {
        self.program = match self.ocr.as_str() {
            "off" => None,
            "auto" => env.get("PATH").and_then(on_path),
            path if Path::new(path).is_absolute() && is_program(Path::new(path)) => Some(PathBuf::from(path)),
            path => {
                faults.add(Fault::bad("documents.ocr", path, "is not a program that can be run"));
                None
            }
        };
        let wrong = self.ocr_languages.iter().find(|name| !Tesseract::is_language(name));
        if let Some(wrong) = wrong {
            faults.add(Fault::bad("documents.ocr_languages", wrong, "is not the name of a language"));
        }
        if self.ocr_languages.is_empty() || self.ocr_languages.len() > MAX_LANGUAGES {
            let problem = format!("is not 1 to {MAX_LANGUAGES} languages");
            faults.add(Fault::bad("documents.ocr_languages", &self.ocr_languages.len(), problem));
        }
        for (key, value, range) in [
            ("documents.memory_mb", self.memory_mb, MEMORY_MB),
            ("documents.timeout_ms", self.timeout_ms.0, TIMEOUT_MS),
        ] {
            if !range.contains(&value) {
                faults.add(Fault::bad(key, &value, format!("is not from {} to {}", range.start(), range.end())));
            }
        }
    }

    /// What reads documents: this program, under these limits.
    ///
    /// # Errors
    /// When the program's own path cannot be read.
    pub(crate) fn reader_program(&self) -> anyhow::Result<ReaderProgram> {
        // The very program that runs, also when another one was installed in its place meanwhile.
        let running = Path::new("/proc/self/exe");
        let program = match running.exists() {
            true => running.to_owned(),
            false => std::env::current_exe().context("this program's own path cannot be read")?,
        };
        let bytes = self.memory_mb.saturating_mul(1024 * 1024);
        Ok(ReaderProgram::new(program).limited_to(bytes, Duration::from_millis(self.timeout_ms.0)))
    }

    /// Asks the program what it can do.
    ///
    /// # Errors
    /// A [`ConfigError`] when the program that was named does not answer, or lacks a language. What is looked for by
    /// itself may be missing.
    pub(crate) fn reader(&self) -> anyhow::Result<Ocr> {
        if self.ocr == "off" {
            return Ok(Ocr::Off);
        }
        let Some(program) = &self.program else { return Ok(Ocr::Missing) };
        let is_named = self.ocr != "auto";
        match Tesseract::find(program, &self.ocr_languages, is_named) {
            Ok(tesseract) => Ok(Ocr::Reads(tesseract)),
            Err(TesseractFault::NoLanguage { missing, known }) if is_named => {
                let known = if known.is_empty() { "none".to_owned() } else { known };
                let problem = format!("is no language that {} has: it has {known}", self.ocr);
                Err(ConfigError::one(Fault::bad("documents.ocr_languages", &missing, problem)).into())
            }
            Err(fault) if is_named => {
                Err(ConfigError::one(Fault::bad("documents.ocr", &self.ocr, format!("cannot be used: {fault}"))).into())
            }
            Err(fault) => {
                tracing::warn!(error.message = %fault, "scans are not read");
                Ok(Ocr::Missing)
            }
        }
    }
}

fn on_path(path: &str) -> Option<PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(PROGRAM)).find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(options: &mut DocumentOptions) -> usize {
        let mut faults = Faults::default();
        options.check(&Environment::from([]), &mut faults);
        faults.into_error().map_or(0, |error| error.faults().len())
    }

    #[test]
    fn without_tesseract_on_the_path_nobody_reads_scans() {
        let mut options = DocumentOptions::default();
        assert_eq!(faults(&mut options), 0);
        assert_eq!(options.reader().unwrap(), Ocr::Missing);
        let mut off = DocumentOptions { ocr: "off".to_owned(), ..DocumentOptions::default() };
        assert_eq!(faults(&mut off), 0);
        assert_eq!(off.reader().unwrap(), Ocr::Off);
    }

    #[test]
    fn it_is_found_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(PROGRAM);
        std::fs::write(&program, "#!/bin/sh\necho hello\n").unwrap();
        let path = format!("relative:/nonexistent:{}", folder.path().display());
        assert_eq!(DocumentOptions::of(&Environment::from([("PATH", path.as_str())])).program, None);
        let mut mode = std::fs::metadata(&program).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        std::fs::set_permissions(&program, mode).unwrap();
        let options = DocumentOptions::of(&Environment::from([("PATH", path.as_str())]));
        assert_eq!(options.program.as_deref(), Some(program.as_path()));
        // It is not Tesseract: looked for by itself it is as if it were not there, named it stops the start.
        assert_eq!(options.reader().unwrap(), Ocr::Missing);
        let mut named = DocumentOptions { ocr: program.display().to_string(), ..DocumentOptions::default() };
        assert_eq!(faults(&mut named), 0);
        let error = named.reader().unwrap_err();
        let error = error.downcast_ref::<ConfigError>().unwrap().faults()[0].told();
        assert!(
            error.starts_with("documents.ocr = ") && error.contains("does not answer as Tesseract does"),
            "{error}"
        );
    }

    #[test]
    fn limits_under_which_nothing_could_be_read_are_refused() {
        for (memory_mb, timeout_ms) in [(255, 20_000), (1_024, 999), (65_537, 20_000), (1_024, 600_001)] {
            let timeout_ms = Millis(timeout_ms);
            assert_eq!(faults(&mut DocumentOptions { memory_mb, timeout_ms, ..DocumentOptions::default() }), 1);
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for ocr in ["yes", "tesseract", "/nonexistent/tesseract"] {
            assert_eq!(faults(&mut DocumentOptions { ocr: ocr.to_owned(), ..DocumentOptions::default() }), 1, "{ocr}");
        }
        for languages in [vec![], vec!["--psm".to_owned()], vec!["eng".to_owned(); 9]] {
            let mut options = DocumentOptions { ocr_languages: languages, ..DocumentOptions::default() };
            assert_eq!(faults(&mut options), 1, "{options:?}");
        }
    }
}
