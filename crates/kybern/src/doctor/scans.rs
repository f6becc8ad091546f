//! Who reads scans and pictures, and how to have them read.

use super::{Finding, PartState, finding};
use crate::config::{DocumentOptions, Ocr};

pub(super) const PART: &str = "scans";
/// What to do where nobody reads them.
const ADD: &str = "install Tesseract (on Debian: apt-get install tesseract-ocr tesseract-ocr-spa tesseract-ocr-fra), \
                   or name the program with [documents] ocr";

pub(super) fn scans(documents: &DocumentOptions, reader: &anyhow::Result<Ocr>) -> Finding {
    let tesseract = match reader {
        Ok(Ocr::Reads(tesseract)) => tesseract,
        Ok(Ocr::Off) => {
            return finding(PART, PartState::Off, "[documents] ocr is off: a person types in what a scan says", "");
        }
        Ok(Ocr::Missing) => {
            return finding(
                PART,
                PartState::Off,
                "Tesseract is not installed: a person types in what a scan says",
                ADD,
            );
        }
        Err(error) => return finding(PART, PartState::Broken, format!("{error:#}"), ADD),
    };
    let reads: Vec<&str> = tesseract.languages().split('+').collect();
    let message =
        format!("Tesseract {} reads {}; a person confirms what it read", tesseract.version(), reads.join(", "));
    let lacks = documents.ocr_languages.iter().filter(|language| !reads.contains(&language.as_str()));
    let packages: Vec<String> = lacks.map(|language| format!("tesseract-ocr-{language}")).collect();
    if packages.is_empty() {
        return finding(PART, PartState::Ok, message, "");
    }
    let remedy = format!(
        "data of other languages is not installed: on Debian apt-get install {}, or correct [documents] ocr_languages",
        packages.join(" ")
    );
    finding(PART, PartState::Warning, message, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ocr: &str) -> Finding {
        let documents = DocumentOptions { ocr: ocr.to_owned(), ..DocumentOptions::default() };
        scans(&documents, &documents.reader())
    }

    #[test]
    fn where_nobody_reads_scans_it_says_how_to_add_who_does() {
        let missing = found("auto");
        assert!(missing.state == PartState::Off && missing.remedy.contains("apt-get install tesseract-ocr"));
        let off = found("off");
        assert!(off.state == PartState::Off && off.remedy.is_empty());
    }
}
