//! Documents that were read from pictures: nobody acts on what OCR, or a model, made of them before a person has compared
//! it with the pictures. A yes is bound to the very text that was shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kybern_core::document::{DocumentFault, DocumentText, FaultKind, PageText, ScanCorrection};
use kybern_core::id::TaskId;
use kybern_core::model::FieldPattern;
use kybern_core::money::Usage;
use kybern_core::pack::Registry;
use kybern_core::task::Attachment;
use serde_json::{Map, Value, json};

use crate::tools::documents::Decision;

/// Bytes of all texts of a task that are read from pictures, with their places, as JSON: half of what a step may leave.
/// All of it is shown to whoever confirms it, and kept with the task; a full page takes some 15 KB.
const MAX_ALL: usize = 2 << 20;
/// Corrections of one document.
const MAX_CORRECTIONS: usize = 1_000;

/// A person's yes to what was read.
pub(super) struct Confirmation {
    /// Which text the yes is for.
    read: String,
    corrections: Vec<ScanCorrection>,
}

/// The confirmations in an answer, by document: `{"documents": {"2": {"confirm": …}}}`.
pub(super) fn confirmations(answer: &Map<String, Value>) -> BTreeMap<u32, Confirmation> {
    let written = answer.get("documents").and_then(Value::as_object).into_iter().flatten();
    let one = |(n, decision): (&String, &Value)| {
        let read = decision.get("confirm")?.as_str()?.to_owned();
        let corrections = decision.get("corrections").cloned().unwrap_or_else(|| json!([]));
        Some((n.parse().ok()?, Confirmation { read, corrections: serde_json::from_value(corrections).ok()? }))
    };
    written.filter_map(one).collect()
}

/// How much was read from the pictures of one task.
#[derive(Default)]
pub(super) struct Room(usize);

impl Room {
    /// Takes room for a text.
    ///
    /// # Errors
    /// When there is none: more than a person can be asked to compare.
    pub(super) fn take(&mut self, text: &DocumentText) -> Result<(), DocumentFault> {
        let size = serde_json::to_vec(text).map_or(usize::MAX, |json| json.len());
        if self.0.saturating_add(size) > MAX_ALL {
            let message = "more is written in the pictures of this task than one person can compare";
            return Err(DocumentFault::new(FaultKind::TooLarge, message));
        }
        self.0 += size;
        Ok(())
    }
}

/// A model that copied a document out, and what that took.
#[derive(Clone)]
pub(super) struct CopiedBy {
    pub(super) model: String,
    pub(super) usage: Usage,
}

/// A document that was read from pictures and that nobody has confirmed, or that was read in part.
pub(super) struct Unconfirmed {
    pub(super) attachment: Attachment,
    text: Arc<DocumentText>,
    /// Who read it, where that was not OCR.
    by: Option<CopiedBy>,
    /// Why an answer did not count.
    problem: Option<String>,
}

/// What a person's yes decides, or what is still to be asked.
pub(super) fn confirmed(
    attachment: &Attachment,
    (text, by): (&Arc<DocumentText>, Option<&CopiedBy>),
    answer: Option<&Confirmation>,
    room: &mut Room,
) -> Result<Decision, Box<Unconfirmed>> {
    let ask = |problem| {
        let (attachment, text) = (attachment.clone(), Arc::clone(text));
        Box::new(Unconfirmed { attachment, text, by: by.cloned(), problem })
    };
    let Some(answer) = answer else { return Err(ask(None)) };
    if answer.read != fingerprint(text) {
        return Err(ask(Some("it reads differently than when it was shown".to_owned())));
    }
    // Its text can be read again at any time, however long it is.
    if !text.is_scanned() && answer.corrections.is_empty() {
        return Ok(Decision::WithoutPictures);
    }
    let text = match DocumentText::clone(text).confirmed(&answer.corrections) {
        Ok(text) => text,
        Err(misplaced) => return Err(ask(Some(misplaced.to_string()))),
    };
    // What was read from pictures has its room already.
    if !text.is_scanned()
        && let Err(fault) = room.take(&text)
    {
        return Err(ask(Some(fault.message)));
    }
    Ok(Decision::Confirmed(Arc::new(text)))
}

impl Unconfirmed {
    /// What is asked, in one sentence.
    pub(super) fn sentence(&self) -> String {
        let again = self.problem.as_ref().map(|problem| format!(" ({problem})")).unwrap_or_default();
        let by = self.by.as_ref().map(|by| format!(" by {}", by.model)).unwrap_or_default();
        let name = &self.attachment.filename;
        let unread = pages(&self.text.unread_pages());
        match (self.text.is_scanned(), unread) {
            (true, None) => format!(
                "{name} was read from a picture{by}{again}: compare the two, then confirm, correct or type what it says"
            ),
            (true, Some(unread)) => format!(
                "{name} was read from a picture{by}, but not all of it{again}: {unread} could not be read; compare the \
                 rest with its pictures and look at what was not read, then confirm, correct or type what it says"
            ),
            (false, unread) => format!(
                "{name} was read, but not all of it{again}: {} could not be read; look at what was not read, then confirm \
                 to go on without it, correct or type what it says",
                unread.unwrap_or_default()
            ),
        }
    }

    /// Whether any of it was read from a picture.
    pub(super) fn is_scan(&self) -> bool {
        self.text.is_scanned()
    }

    /// As it was read.
    pub(super) const fn text(&self) -> &Arc<DocumentText> {
        &self.text
    }

    /// What may be answered beside what any unreadable document allows.
    pub(super) fn schema(&self) -> Value {
        let number = json!({"type": "integer", "minimum": 0});
        json!({
            "type": "object",
            "properties": {
                "confirm": {"const": fingerprint(&self.text)},
                "corrections": {
                    "type": "array",
                    "maxItems": MAX_CORRECTIONS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "page": number, "start": number, "end": number,
                            "text": {"type": "string", "maxLength": 10_000}
                        },
                        "required": ["page", "start", "end", "text"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["confirm"],
            "additionalProperties": false
        })
    }

    /// What the person sees: for each page that is a picture its text, whether all of it was read, how sure its least sure
    /// word is where somebody knows, and where its picture is.
    pub(super) fn details(&self, task: TaskId) -> Value {
        let n = self.attachment.n;
        let sure = |page: &PageText| {
            let words = page.scan.as_ref().map_or(0, |scan| scan.words.len());
            let place = page.place_in_picture(0, page.text.len()).filter(|_| self.by.is_none() && words > 0)?;
            Some(f64::from(place.confidence) / 100.0)
        };
        let pages = self.text.pages.iter().filter(|page| page.is_shown()).map(|page| {
            json!({
                "page": page.number,
                "picture": format!("/api/tasks/{task}/attachments/{n}?page={}", page.number),
                "text": page.text,
                "read": !page.unread,
                "confidence": sure(page),
            })
        });
        let mut details = json!({
            "n": n,
            "filename": self.attachment.filename,
            "confirm": fingerprint(&self.text),
            "problem": self.problem,
            "pages": pages.collect::<Vec<_>>(),
        });
        if let Some(CopiedBy { model, usage }) = &self.by {
            details["model"] = json!(model);
            details["usage"] = json!(usage);
        }
        details
    }
}

/// Whether the message says what a document was sent along for: each value of that field which was read in it, and no
/// other identifier of a kind that both name. `found` are the fields of all documents as the phase keeps them, the
/// message's under 0.
pub(super) fn is_said_by_message(n: u32, found: &[Value], schemas: &Registry) -> bool {
    let of = |n: u32| found.iter().find(|extraction| extraction["n"] == json!(n) && extraction["truncated"].is_null());
    let (Some(document), Some(message)) = (of(n), of(0)) else { return false };
    let Some((_, schema)) = schemas.extractions().find(|(name, _)| document["schema"] == **name) else { return false };
    // A picture of which nobody knows what it is counts as any of those that are sent for what they say.
    let is_meant = |key: &str| document["category"].is_null() || document["category"] == *key;
    let meant = schema.categories.iter().filter(|category| is_meant(&category.key));
    let sent_for: Vec<&str> = meant.filter_map(|category| category.main_field.as_deref()).collect();
    let agrees = |field: &FieldPattern| {
        let (read, said) = (values(document, field), values(message, field));
        said.is_empty() || read.is_subset(&said)
    };
    let fields = || sent_for.iter().flat_map(|path| schema.fields_at(path));
    fields().any(|field| !values(document, field).is_empty() && !values(message, field).is_empty())
        && schema.fields.iter().filter(|field| field.value.identifies()).all(agrees)
}

/// The values of a field, as far as their letters and digits go.
fn values(extraction: &Value, field: &FieldPattern) -> BTreeSet<String> {
    let fields = extraction["fields"].as_array().into_iter().flatten();
    let of_field =
        fields.filter(|found| found["name"] == *field.name && found["group"].as_str() == field.group.as_deref());
    let letters = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    of_field.map(|found| letters(&found["value"])).collect()
}

/// Pages by their numbers, for a sentence: `page 2`, `pages 2, 5 to 9 and 12`; `None` for none.
fn pages(numbers: &[u32]) -> Option<String> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let mut runs: Vec<String> = runs
        .iter()
        .flat_map(|(first, last)| match last - first {
            0 => vec![first.to_string()],
            1 => vec![first.to_string(), last.to_string()],
            _ => vec![format!("{first} to {last}")],
        })
        .collect();
    let last = runs.pop()?;
    match (numbers.len(), runs.is_empty()) {
        (1, _) => Some(format!("page {last}")),
        (_, true) => Some(format!("pages {last}")),
        _ => Some(format!("pages {} and {last}", runs.join(", "))),
    }
}

/// What a yes is bound to: every word, its place and how sure it was.
fn fingerprint(text: &DocumentText) -> String {
    let written = serde_json::to_vec(text).unwrap_or_default();
    blake3::hash(&written).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_named_in_a_sentence() {
        for (numbers, said) in [
            (vec![], None),
            (vec![2], Some("page 2")),
            (vec![21, 22], Some("pages 21 and 22")),
            (vec![3, 4, 5], Some("pages 3 to 5")),
            (vec![2, 5, 6, 7, 8, 9, 12], Some("pages 2, 5 to 9 and 12")),
        ] {
            assert_eq!(pages(&numbers).as_deref(), said, "{numbers:?}");
        }
    }
}
