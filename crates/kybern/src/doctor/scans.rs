//! Who reads scans and pictures, and how to have them read.

use super::{Finding, State, finding};
use crate::config::{Config, Ocr};
use crate::output::Failure;

const PART: &str = "scans";
/// What to do where nobody reads them.
const ADD: &str = "install Tesseract (on Debian: apt-get install tesseract-ocr tesseract-ocr-spa tesseract-ocr-fra), \
                   or name the program with [documents] ocr";

/// `reader` is what the settings' own question after it came to.
pub(super) fn scans(config: &Config, reader: anyhow::Result<Ocr>) -> Finding {
    let tesseract = match reader {
        Ok(Ocr::Reads(tesseract)) => tesseract,
        Ok(Ocr::Off) => {
            return finding(PART, State::Off, "[documents] ocr is off: a person types in what a scan says", "");
        }
        Ok(Ocr::Missing) => {
            return finding(PART, State::Off, "Tesseract is not installed: a person types in what a scan says", ADD);
        }
        Err(error) => {
            let failure = Failure::from(error);
            return finding(PART, State::Broken, failure.in_one_line(), ADD);
        }
    };
    let reads: Vec<&str> = tesseract.languages().split('+').collect();
    let message =
        format!("Tesseract {} reads {}; a person confirms what it read", tesseract.version(), reads.join(", "));
    let lacks = config.documents.ocr_languages.iter().filter(|language| !reads.contains(&language.as_str()));
    let packages: Vec<String> = lacks.map(|language| format!("tesseract-ocr-{language}")).collect();
    if packages.is_empty() {
        return finding(PART, State::Ok, message, "");
    }
    let remedy = format!(
        "data of other languages is not installed: on Debian apt-get install {}, or correct [documents] ocr_languages",
        packages.join(" ")
    );
    finding(PART, State::Warning, message, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DocumentOptions;

    fn found(ocr: &str) -> Finding {
        let documents = DocumentOptions { ocr: ocr.to_owned(), ..DocumentOptions::default() };
        let reader = documents.reader();
        scans(&Config { documents, ..Config::default() }, reader)
    }

    #[test]
    fn where_nobody_reads_scans_it_says_how_to_add_who_does() {
        let missing = found("auto");
        assert!(missing.state == State::Off && missing.remedy.contains("apt-get install tesseract-ocr"));
        let off = found("off");
        assert!(off.state == State::Off && off.remedy.is_empty());
    }
}
