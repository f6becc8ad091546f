//! Text out of pictures, by Tesseract as a child process: one for each page, under limits of its own.
//!
//! Tesseract says which words it sees, where, and how sure it is. How they make lines, columns and tables is found out
//! as for the text of a PDF, so that a form reads the same whether it was printed to a file or scanned.

mod layout;
mod tsv;

use std::path::{Path, PathBuf};
use std::time::Duration;

use kybern_core::document::{PageText, limits};

use super::picture::Picture;
use super::process::child::{self, ChildFault, Limits};
use crate::workers::StopFlag;

/// What one page may take, and what the questions after version and languages may.
const PAGE_LIMITS: Limits = Limits { time: Duration::from_secs(30), output: 16 * 1024 * 1024 };
const ASK_LIMITS: Limits = Limits { time: Duration::from_secs(10), output: 1024 * 1024 };
/// The data by which Tesseract knows which way up a page is.
const ORIENTATION: &str = "osd";
/// The most letters of a language's name.
const MAX_NAME: usize = 40;

/// Tesseract as it is installed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tesseract {
    program: PathBuf,
    /// As it says, for instance `5.3.0`.
    version: String,
    /// What it reads, for instance `eng+spa`.
    languages: String,
    finds_orientation: bool,
}

/// Why Tesseract cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TesseractFault {
    /// The program does not answer as Tesseract does.
    #[error("{} does not answer as Tesseract does: it {reason}", program.display())]
    NoTesseract {
        program: PathBuf,
        /// What it did instead.
        reason: String,
    },
    /// Data of a language is missing.
    #[error("Tesseract has no data for {missing}; it has {}", if known.is_empty() { "none" } else { known })]
    NoLanguage {
        /// The languages that it lacks.
        missing: String,
        /// Those that it has.
        known: String,
    },
}

impl Tesseract {
    /// Asks the program who it is, and takes those of the `languages` that it has; every one of them where it `must`
    /// have them. This waits for the program, a few hundredths of a second.
    ///
    /// # Errors
    /// When it is not Tesseract, or lacks data: for one language that it must have, or for all of them.
    pub fn find(program: &Path, languages: &[String], must: bool) -> Result<Self, TesseractFault> {
        let ask = |argument: &str| {
            let said = child::run(program, &[argument], &[], b"", ASK_LIMITS, &StopFlag::default());
            said.map(|said| String::from_utf8_lossy(&said).into_owned()).map_err(|fault| no_tesseract(program, &fault))
        };
        let (version, known) = std::thread::scope(|scope| {
            let version = scope.spawn(|| ask("--version"));
            let known = ask("--list-langs");
            (version.join(), known)
        });
        let version = version.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let version = version.lines().next().and_then(|line| line.strip_prefix("tesseract ")).map(str::to_owned);
        let Some(version) = version else {
            let reason = "names another version line".to_owned();
            return Err(TesseractFault::NoTesseract { program: program.to_owned(), reason });
        };
        let known = known?;
        let known: Vec<&str> = known.lines().skip(1).map(str::trim).filter(|name| !name.is_empty()).collect();
        let (has, lacks): (Vec<&String>, Vec<&String>) =
            languages.iter().partition(|language| known.contains(&language.as_str()));
        if has.is_empty() || (must && !lacks.is_empty()) {
            return Err(TesseractFault::NoLanguage { missing: joined(&lacks, ", "), known: known.join(", ") });
        }
        Ok(Self {
            program: program.to_owned(),
            version,
            languages: joined(&has, "+"),
            finds_orientation: known.contains(&ORIENTATION),
        })
    }

    /// Whether this can be a language's name, as Tesseract's data files have it: `eng`, `chi_sim`, `script/Latin`.
    #[must_use]
    pub fn is_language(name: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '/' || c == '-';
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= MAX_NAME && name.chars().all(plain)
    }

    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The languages that it reads, with plus signs between them.
    #[must_use]
    pub fn languages(&self) -> &str {
        &self.languages
    }

    /// The page that a picture shows; `None` when there are no words in it.
    ///
    /// # Errors
    /// When the child fails, takes too long, or nobody waits any more.
    pub(super) fn read(&self, picture: &Picture, stop: &StopFlag) -> Result<Option<PageText>, ChildFault> {
        let dpi = picture.dpi.to_string();
        let layout = if self.finds_orientation { "1" } else { "3" };
        #[rustfmt::skip]
        let arguments = [
            "stdin", "stdout", "-l", &self.languages, "--psm", layout, "--dpi", &dpi, "-c", "tessedit_create_tsv=1",
        ];
        // One page, one thread: several pages are read at the same time anyway.
        let table = child::run(
            &self.program,
            &arguments,
            &[("OMP_THREAD_LIMIT", "1")],
            &in_portable_greymap(picture),
            PAGE_LIMITS,
            stop,
        )?;
        let words = tsv::words(&String::from_utf8_lossy(&table));
        Ok(layout::page(&words, picture))
    }
}

/// How long a document of pictures may take.
pub(super) fn time_limit() -> Duration {
    PAGE_LIMITS.time * u32::try_from(limits::MAX_SCANNED_PAGES / 4).unwrap_or(1)
}

/// The plainest format there is: a line that says how large it is, and the pixels.
fn in_portable_greymap(picture: &Picture) -> Vec<u8> {
    let mut file = format!("P5\n{} {}\n255\n", picture.width, picture.height).into_bytes();
    file.extend_from_slice(&picture.pixels);
    file
}

fn joined(names: &[&String], between: &str) -> String {
    names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(between)
}

fn no_tesseract(program: &Path, fault: &ChildFault) -> TesseractFault {
    TesseractFault::NoTesseract { program: program.to_owned(), reason: fault.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_tesseract_is_refused() {
        let eng = ["eng".to_owned()];
        let fault = Tesseract::find(Path::new("/bin/cat"), &eng, false).unwrap_err();
        assert!(fault.to_string().starts_with("/bin/cat does not answer as Tesseract does"), "{fault}");
        let fault = Tesseract::find(Path::new("/nonexistent/tesseract"), &eng, false).unwrap_err();
        assert!(matches!(fault, TesseractFault::NoTesseract { .. }), "{fault}");
    }

    #[test]
    fn names_of_languages_are_no_options() {
        assert!(["eng", "chi_sim", "script/Latin"].into_iter().all(Tesseract::is_language));
        assert!(["", "-c", "eng+spa", "../x", "a b"].iter().all(|name| !Tesseract::is_language(name)));
    }
}
