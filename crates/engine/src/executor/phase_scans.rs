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

/// A document that was read from pictures and that nobody has confirmed.
pub(super) struct Unconfirmed {
    pub(super) attachment: Attachment,
    text: Arc<DocumentText>,
    /// Who read it, where that was not OCR.
    by: Option<CopiedBy>,
    /// Why an answer did not count.
    problem: Option<String>,
}

/// The text that a person confirmed, or what is still to be asked.
pub(super) fn confirmed(
    attachment: &Attachment,
    (text, by): (&Arc<DocumentText>, Option<&CopiedBy>),
    answer: Option<&Confirmation>,
) -> Result<DocumentText, Box<Unconfirmed>> {
    let ask = |problem| {
        let (attachment, text) = (attachment.clone(), Arc::clone(text));
        Box::new(Unconfirmed { attachment, text, by: by.cloned(), problem })
    };
    let Some(answer) = answer else { return Err(ask(None)) };
    if answer.read != fingerprint(text) {
        return Err(ask(Some("it reads differently than when it was shown".to_owned())));
    }
    let text = DocumentText::clone(text).confirmed(&answer.corrections);
    text.map_err(|misplaced| ask(Some(misplaced.to_string())))
}

impl Unconfirmed {
    /// What is asked, in one sentence.
    pub(super) fn sentence(&self) -> String {
        let again = self.problem.as_ref().map(|problem| format!(" ({problem})")).unwrap_or_default();
        let by = self.by.as_ref().map(|by| format!(" by {}", by.model)).unwrap_or_default();
        format!(
            "{} was read from a picture{by}{again}: compare the two, then confirm, correct or type what it says",
            self.attachment.filename
        )
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

    /// What the person sees: for each page its text, how sure its least sure word is where somebody knows, and where its
    /// picture is.
    pub(super) fn details(&self, task: TaskId) -> Value {
        let n = self.attachment.n;
        let sure = |page: &PageText| {
            let place = page.place_in_picture(0, page.text.len()).filter(|_| self.by.is_none())?;
            Some(f64::from(place.confidence) / 100.0)
        };
        let pages = self.text.pages.iter().filter(|page| page.scan.is_some()).map(|page| {
            json!({
                "page": page.number,
                "picture": format!("/api/tasks/{task}/attachments/{n}?page={}", page.number),
                "text": page.text,
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
    let category = schema.categories.iter().find(|category| document["category"] == *category.key);
    let Some(sent_for) = category.and_then(|category| category.main_field.as_deref()) else { return false };
    let agrees = |field: &FieldPattern| {
        let (read, said) = (values(document, field), values(message, field));
        said.is_empty() || read.is_subset(&said)
    };
    schema.fields_at(sent_for).any(|field| !values(document, field).is_empty() && !values(message, field).is_empty())
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

/// What a yes is bound to: every word, its place and how sure it was.
fn fingerprint(text: &DocumentText) -> String {
    let written = serde_json::to_vec(text).unwrap_or_default();
    blake3::hash(&written).to_hex().to_string()
}
