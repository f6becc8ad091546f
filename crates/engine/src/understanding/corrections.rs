//! What a person answers about documents, said in words: which shapes an answer has, whether the text that it confirms is
//! the one that was shown, and where the words stand that it corrects.

use kybern_core::document::{DocumentText, ScanCorrection};
use kybern_core::error::Detail;
use kybern_core::json_schema::object;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::executor::phases::DOCUMENTS;

/// Characters of a person's words that a sentence repeats.
const MAX_QUOTED: usize = 60;

/// A correction as people write it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Correction {
    /// These words instead of those.
    Words(WordReplacement),
    /// The same by its place.
    Place(ScanCorrection),
}

/// Words that stand once in what was read, and what the picture says in their place.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WordReplacement {
    replace: String,
    with: String,
    /// On this page, from 1; on any when not stated.
    #[serde(default)]
    page: Option<u32>,
}

impl Correction {
    /// The place that it is about, in these pages by their numbers.
    ///
    /// # Errors
    /// A sentence, when its words stand nowhere in them, or more than once.
    fn placed<'t>(self, pages: impl Iterator<Item = (u32, &'t str)>) -> Result<ScanCorrection, String> {
        let WordReplacement { replace, with, page } = match self {
            Self::Place(place) => return Ok(place),
            Self::Words(words) => words,
        };
        let meant = pages.filter(|(number, _)| page.is_none_or(|page| page == *number));
        let mut found = meant.flat_map(|(number, text)| text.match_indices(&replace).map(move |(at, _)| (number, at)));
        let quoted: String = replace.chars().take(MAX_QUOTED).collect();
        match (found.next(), found.count()) {
            (None, _) => {
                let on = page.map(|page| format!(" on page {page}")).unwrap_or_default();
                Err(format!(
                    "{quoted:?} does not stand in the text that was read{on}: copy the words as they are shown"
                ))
            }
            (Some(_), more @ 1..) => {
                let times = more + 1;
                Err(format!(
                    "{quoted:?} stands {times} times in the text that was read: take more of the words around it"
                ))
            }
            (Some((page, start)), 0) => Ok(ScanCorrection { page, start, end: start + replace.len(), text: with }),
        }
    }
}

/// The corrections by their places in a text.
///
/// # Errors
/// A sentence about the first that has none.
pub(crate) fn placed(corrections: &[Correction], text: &DocumentText) -> Result<Vec<ScanCorrection>, String> {
    let pages = || text.pages.iter().filter(|page| page.is_shown()).map(|page| (page.number, page.text.as_str()));
    corrections.iter().map(|correction| correction.clone().placed(pages())).collect()
}

/// The schema of one correction.
pub(crate) fn schema() -> Value {
    let number = json!({"type": "integer", "minimum": 0});
    let text = json!({"type": "string", "maxLength": 10_000});
    let words = object(
        json!({
            "replace": {"type": "string", "minLength": 1, "maxLength": 10_000}, "with": text, "page": number
        }),
        ["replace", "with"],
    );
    let place =
        object(json!({"page": number, "start": number, "end": number, "text": text}), ["page", "start", "end", "text"]);
    json!({"oneOf": [words, place]})
}

/// What is wrong with an answer about documents, each with its place in the answer; whatever this lets pass is still held
/// against the question's schema.
pub(crate) fn faults(details: &Value, answer: &Map<String, Value>) -> Vec<Detail> {
    let listed = |name: &str| details.get(name).and_then(Value::as_array).into_iter().flatten();
    let mut found = Vec::new();
    for (n, decision) in answer.get(DOCUMENTS).and_then(Value::as_object).into_iter().flatten() {
        let is_it = |file: &&Value| file.get("n").and_then(Value::as_u64).is_some_and(|number| n.parse() == Ok(number));
        let Some(file) = listed("scans").chain(listed("files")).find(is_it) else { continue };
        let fault = match shape(decision) {
            Some(AnswerShape::Whole) => None,
            Some(AnswerShape::Confirmed(read)) => {
                file.get("confirm").and_then(|shown| unconfirmed(file, shown, read, decision))
            }
            None => Some((String::new(), shapes(file))),
        };
        found.extend(fault.map(|(place, message)| Detail::new(format!("/{DOCUMENTS}/{n}{place}"), message)));
    }
    found
}

/// What an answer about one document is.
enum AnswerShape<'a> {
    /// It is left out, or its text was typed in.
    Whole,
    /// The text with this name is confirmed.
    Confirmed(&'a str),
}

fn shape(decision: &Value) -> Option<AnswerShape<'_>> {
    let members = decision.as_object()?;
    if let Some(read) = members.get("confirm") {
        let fits = members.keys().all(|name| matches!(name.as_str(), "confirm" | "corrections"));
        return read.as_str().filter(|_| fits).map(AnswerShape::Confirmed);
    }
    let is_ignored = members.get("ignore") == Some(&Value::Bool(true));
    let is_typed = members.get("text").and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    (members.len() == 1 && (is_ignored || is_typed)).then_some(AnswerShape::Whole)
}

/// The answers that a document takes, in words.
fn shapes(file: &Value) -> String {
    let name = file.get("filename").and_then(Value::as_str).unwrap_or_default();
    let confirm = match file.get("confirm").and_then(Value::as_str) {
        Some(read) => format!(
            "{{\"confirm\": \"{read}\"}} when it says that, the same with \"corrections\": [{{\"replace\": \"old words\", \
             \"with\": \"new words\"}}], "
        ),
        None => String::new(),
    };
    format!("for {name} answer {confirm}{{\"text\": \"what it says\"}} or {{\"ignore\": true}} to go on without it")
}

/// Why a yes to a text does not count, with its place within the answer.
fn unconfirmed(file: &Value, shown: &Value, read: &str, decision: &Value) -> Option<(String, String)> {
    if shown != read {
        let message =
            "this is not the name of the text that is shown: look at it once more, and copy confirm from there";
        return Some(("/confirm".to_owned(), message.to_owned()));
    }
    let corrections = decision.get("corrections")?;
    let Some(corrections) = corrections.as_array() else {
        return Some(("/corrections".to_owned(), "is a list".to_owned()));
    };
    let pages = || {
        let pages = file.get("pages").and_then(Value::as_array).into_iter().flatten();
        pages.filter_map(|page| Some((u32::try_from(page.get("page")?.as_u64()?).ok()?, page.get("text")?.as_str()?)))
    };
    corrections.iter().enumerate().find_map(|(n, written)| {
        let fault = match serde_json::from_value::<Correction>(written.clone()) {
            Ok(correction) => correction.placed(pages()).err()?,
            Err(_) => "a correction is {\"replace\": \"old words\", \"with\": \"new words\"}, with a \"page\" where the \
                       words stand on several; or {\"page\", \"start\", \"end\", \"text\"} with bytes of the page's text"
                .to_owned(),
        };
        Some((format!("/corrections/{n}"), fault))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "VIN 1JV5\nVIN 1JJV5\n1JV5 again";

    fn said(decision: Value) -> Vec<(String, String)> {
        let page = json!({"page": 1, "text": SHOWN});
        let scan = json!({"n": 1, "filename": "dec.pdf", "confirm": "h", "pages": [page]});
        let details = json!({"scans": [scan], "files": [{"n": 2, "filename": "locked.pdf"}]});
        let answer = json!({"documents": decision});
        let faults = faults(&details, answer.as_object().unwrap());
        faults.into_iter().map(|fault| (fault.path, fault.message)).collect()
    }

    #[test]
    fn an_answer_that_fits_has_no_faults() {
        for decision in [
            json!({"confirm": "h"}),
            json!({"confirm": "h", "corrections": [{"replace": "1JJV5", "with": "1JJV7"}]}),
            json!({"confirm": "h", "corrections": [{"page": 1, "start": 0, "end": 3, "text": "vin"}]}),
            json!({"text": "VIN"}),
            json!({"ignore": true}),
        ] {
            assert_eq!(said(json!({"1": decision})), [], "{decision}");
        }
        assert_eq!(said(json!({"2": {"ignore": true}, "9": 7})), [], "the schema says the rest");
    }

    #[test]
    fn what_is_wrong_is_said_in_words_with_its_place() {
        for (decision, place, words) in [
            (json!({"ignore": false}), "/documents/1", "for dec.pdf answer {\"confirm\": \"h\"}"),
            (json!("yes"), "/documents/1", "{\"text\": \"what it says\"}"),
            (json!({"confirm": "other"}), "/documents/1/confirm", "not the name of the text that is shown"),
            (
                json!({"confirm": "h", "corrections": [{"replace": "2JV", "with": "x"}]}),
                "/documents/1/corrections/0",
                "does not stand in the text",
            ),
            (
                json!({"confirm": "h", "corrections": [{"replace": "1JV5", "with": "x"}]}),
                "/documents/1/corrections/0",
                "stands 2 times",
            ),
            (
                json!({"confirm": "h", "corrections": [{"old": "1JV5"}]}),
                "/documents/1/corrections/0",
                "\"replace\": \"old words\"",
            ),
        ] {
            let found = said(json!({"1": decision}));
            assert!(found.len() == 1 && found[0].0 == place && found[0].1.contains(words), "{found:?}");
        }
        assert!(!said(json!({"2": {}}))[0].1.contains("confirm"));
    }
}
