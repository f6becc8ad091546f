//! Asking a person about documents, on a terminal: does the text say what the picture says?

use std::io::BufRead;

use serde_json::{Map, Value, json};

use super::ask::{MAX_TRIES, gave_up, read};
use crate::output::{AskedPaper, Failure, Screen};

/// Between the words that were read and those that stand there.
const ARROW: &str = "=>";
/// The line that ends a text that is typed in.
const END: &str = ".";

/// What a person says about each document, by its number.
///
/// # Errors
/// When standard input ends, or an answer stays wrong.
pub(super) fn answers(papers: &[AskedPaper], screen: &mut Screen, input: &mut dyn BufRead) -> Result<Value, Failure> {
    let mut answers = Map::new();
    for paper in papers {
        answers.insert(paper.n.clone(), one(paper, screen, input)?);
    }
    Ok(Value::Object(answers))
}

fn one(paper: &AskedPaper, screen: &mut Screen, input: &mut dyn BufRead) -> Result<Value, Failure> {
    let mut corrections: Vec<Value> = Vec::new();
    let mut tries = 0;
    while tries < MAX_TRIES {
        screen.text(match paper.confirm {
            Some(_) => format!(
                "{} (yes: it says that / OLD WORDS {ARROW} NEW WORDS / text: type it in / ignore) ",
                paper.filename
            ),
            None => format!("{} (text: type in what it says / ignore: go on without it) ", paper.filename),
        });
        let typed = read(input)?;
        match (typed.as_str(), &paper.confirm) {
            ("ignore", _) => return Ok(json!({"ignore": true})),
            ("text", _) => return text(screen, input),
            ("yes" | "y", Some(confirm)) if corrections.is_empty() => return Ok(json!({"confirm": confirm})),
            ("yes" | "y", Some(confirm)) => return Ok(json!({"confirm": confirm, "corrections": corrections})),
            (typed, Some(_)) => match correction(paper, typed) {
                Ok(correction) => {
                    screen.line("corrected; another one, or yes when it says what the picture says");
                    corrections.push(correction);
                    continue;
                }
                Err(problem) => screen.line(problem),
            },
            (_, None) => screen.line("type text or ignore"),
        }
        tries += 1;
    }
    Err(gave_up())
}

fn correction(paper: &AskedPaper, typed: &str) -> Result<Value, String> {
    let Some((old, new)) = typed.split_once(ARROW) else {
        return Err(format!("type yes, OLD WORDS {ARROW} NEW WORDS, text or ignore"));
    };
    let (old, new) = (old.trim(), new.trim());
    match paper.count(old) {
        1 => Ok(json!({"replace": old, "with": new})),
        0 => Err(format!("{old:?} does not stand in the text: copy the words as they are shown")),
        times => Err(format!("{old:?} stands {times} times in the text: take more of the words around it")),
    }
}

fn text(screen: &mut Screen, input: &mut dyn BufRead) -> Result<Value, Failure> {
    screen.line(format!("type what it says; a line with only {END} ends it"));
    let mut lines: Vec<String> = Vec::new();
    loop {
        let line = read(input)?;
        if line == END {
            break;
        }
        lines.push(line);
    }
    let text = lines.join("\n");
    match text.trim().is_empty() {
        true => {
            Err(Failure::usage("nothing was typed, nothing was sent", "answer again, with ignore to go on without it"))
        }
        false => Ok(json!({"text": text})),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;
    use crate::output::papers;

    fn ask(typed: &str) -> Result<Value, Failure> {
        let wait = json!({
            "schema": {"properties": {"documents": {"properties": {"1": {}, "2": {}}}}},
            "details": {
                "scans": [{"n": 1, "filename": "a.tif", "confirm": "h", "pages": [{"page": 1, "text": "VIN 1JV5 VIN"}]}],
                "files": [{"n": 2, "filename": "locked.pdf", "problem": "it wants a password"}]
            }
        });
        answers(&papers(&wait), &mut Screen::stdout(&Environment::default()), &mut typed.as_bytes())
    }

    #[test]
    fn each_document_is_confirmed_corrected_typed_in_or_left_out() {
        assert_eq!(ask("yes\nignore\n").unwrap(), json!({"1": {"confirm": "h"}, "2": {"ignore": true}}));
        let corrected = ask("VIN => NO\n1JV5 => 1JJV5\nyes\ntext\none\ntwo\n.\n").unwrap();
        let words = json!([{"replace": "1JV5", "with": "1JJV5"}]);
        assert_eq!(corrected, json!({"1": {"confirm": "h", "corrections": words}, "2": {"text": "one\ntwo"}}));
    }

    #[test]
    fn nothing_is_an_answer_by_accident() {
        assert!(ask("\n\n\n\n\n\n").is_err() && ask("").is_err());
        assert!(ask("yes\nyes\nyes\nyes\nyes\nyes\n").is_err(), "nobody can confirm what was not read");
        assert!(ask("yes\ntext\n.\n").is_err());
    }
}
