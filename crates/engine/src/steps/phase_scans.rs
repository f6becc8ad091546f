//! Documents that were read from pictures: nobody acts on what OCR, or a model, made of them before a person has compared
//! it with the pictures. A yes is bound to the very text that was shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kybern_core::document::{DocumentFault, DocumentText, FaultKind, PageText};
use kybern_core::id::TaskId;
use kybern_core::json_schema::object;
use kybern_core::model::{ExtractionSchema, FieldPattern, ValueKind};
use kybern_core::money::Usage;
use kybern_core::task::Attachment;
use serde_json::{Map, Value, json};

use crate::tools::documents::Decision;
use crate::understanding::corrections::{self, Correction};

/// Bytes of all texts of a task that are read from pictures, with their places, as JSON: half of what a step may leave.
/// All of it is shown to whoever confirms it, and kept with the task; a full page takes some 15 KB.
const MAX_ALL: usize = 2 << 20;
/// Below this many percent a word is shown as one that may be misread: what is clear is read at 90 and more.
const SURE: u8 = 75;
/// Such words that are told of one page.
const MAX_UNSURE: usize = 100;
/// Corrections of one document.
const MAX_CORRECTIONS: usize = 1_000;

/// A person's yes to what was read.
pub(super) struct Confirmation {
    /// Which text the yes is for.
    read: String,
    corrections: Vec<Correction>,
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
pub(super) struct ScanBudget(usize);

impl ScanBudget {
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
    room: &mut ScanBudget,
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
    let corrections = match corrections::placed(&answer.corrections, text) {
        Ok(corrections) => corrections,
        Err(unplaced) => return Err(ask(Some(unplaced))),
    };
    let text = match DocumentText::clone(text).confirmed(&corrections) {
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
        object(
            json!({
                "confirm": {"const": fingerprint(&self.text)},
                "corrections": {"type": "array", "maxItems": MAX_CORRECTIONS, "items": corrections::schema()}
            }),
            ["confirm"],
        )
    }

    /// What the person sees: for each page that is a picture its text, whether all of it was read, how sure its least sure
    /// word is where somebody knows, which words are less sure than most, and where its picture is.
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
                "unsure": if self.by.is_none() { unsure(page) } else { Vec::new() },
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

/// The words of a page that OCR is not sure of.
fn unsure(page: &PageText) -> Vec<Value> {
    let words = page.scan.iter().flat_map(|scan| &scan.words).filter(|word| word.place.confidence < SURE);
    let told = words.take(MAX_UNSURE).filter_map(|word| {
        let text = page.text.get(word.start..word.end)?;
        let sure = f64::from(word.place.confidence) / 100.0;
        Some(json!({"words": text, "start": word.start, "end": word.end, "confidence": sure}))
    });
    told.collect()
}

/// Whether the message says what a document was sent along for: each value of that field which was read in it, or the one
/// of the only thing that it tells of, and no other identifier of a kind that both name. Both are fields as the phase keeps
/// them, read by the same schema.
pub(super) fn is_said_by_message(document: &Value, message: &Value, schema: &ExtractionSchema) -> bool {
    if [document, message].iter().any(|extraction| !extraction["truncated"].is_null()) {
        return false;
    }
    // A picture of which nobody knows what it is counts as any of those that are sent for what they say.
    let is_meant = |key: &str| document["category"].is_null() || document["category"] == *key;
    let meant = schema.categories.iter().filter(|category| is_meant(&category.key));
    let sent_for: Vec<&str> = meant.filter_map(|category| category.main_field.as_deref()).collect();
    let agrees = |field: &FieldPattern| {
        let (read, said) = (values(document, field), values(message, field));
        said.is_empty() || read.is_subset(&said)
    };
    let mut fields = sent_for.iter().flat_map(|path| schema.fields_at(path));
    // A page that tells of one thing, whose number was not read, tells of the one that the message numbers.
    let says = |field: &FieldPattern| {
        let (read, said) = (values(document, field), values(message, field));
        if read.is_empty() {
            said.len() == 1 && tells_of_one(document, field, &schema.fields)
        } else {
            !said.is_empty()
        }
    };
    let about = schema.fields.iter().find(|field| Some(&field.name) == schema.about.as_ref());
    let named = || about.is_none_or(|about| !values(message, about).is_empty());
    fields.any(|field| says(field) && (!values(document, field).is_empty() || named()))
        && schema.fields.iter().filter(|field| field.value.identifies()).all(agrees)
}

/// Whether exactly one item of a field's list has a name or an identifier that was read.
fn tells_of_one(extraction: &Value, field: &FieldPattern, patterns: &[FieldPattern]) -> bool {
    let tells = |found: &&Value| {
        let is_it = |pattern: &&FieldPattern| {
            found["group"].is_string()
                && (found["group"].as_str(), &found["name"]) == (pattern.group.as_deref(), &json!(pattern.name))
        };
        let pattern = patterns.iter().find(is_it).filter(|pattern| pattern.group == field.group);
        pattern.is_some_and(|pattern| pattern.value == ValueKind::Name || pattern.value.identifies())
    };
    let fields = extraction["fields"].as_array().into_iter().flatten();
    fields.filter(tells).map(|found| found["item"].to_string()).collect::<BTreeSet<_>>().len() == 1
}

/// The values of a field, as far as their letters and digits go, and OCR can tell these apart.
fn values(extraction: &Value, field: &FieldPattern) -> BTreeSet<String> {
    let fields = extraction["fields"].as_array().into_iter().flatten();
    let of_field =
        fields.filter(|found| found["name"] == *field.name && found["group"].as_str() == field.group.as_deref());
    let letters = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).map(alike).collect()
    };
    of_field.map(|found| letters(&found["value"])).collect()
}

/// The one for which OCR takes a letter or a digit of the same shape.
const fn alike(c: char) -> char {
    match c {
        'o' | 'q' | 'd' => '0',
        'i' | 'l' => '1',
        'z' => '2',
        's' => '5',
        'b' => '8',
        other => other,
    }
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
    use std::slice::from_ref;

    use kybern_core::model::CategoryPattern;

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

    #[test]
    fn a_page_of_one_thing_whose_number_was_not_read_tells_of_what_the_message_numbers() {
        let field = |name: &str, group: Option<&str>, value| FieldPattern {
            name: name.to_owned(),
            group: group.map(str::to_owned),
            value,
            ..FieldPattern::default()
        };
        let fields = [
            field("client", None, ValueKind::Name),
            field("number", Some("contracts"), ValueKind::Reference),
            field("lessor", Some("contracts"), ValueKind::Name),
            field("kind", Some("contracts"), ValueKind::Text),
        ];
        let category = CategoryPattern {
            key: "SHEET".to_owned(),
            markers: Vec::new(),
            main_field: Some("contracts/number".to_owned()),
        };
        let schema = ExtractionSchema {
            name: "rentals".to_owned(),
            categories: [category].into(),
            fields: fields.into(),
            about: Some("client".to_owned()),
            ..ExtractionSchema::default()
        };
        let one = |item: u32, name: &str, value: &str| json!({"group": "contracts", "item": item, "name": name, "value": value});
        let client = json!({"name": "client", "value": "Fern Hollow LLC"});
        let number = one(0, "number", "LX-4401");
        let lessor = one(0, "lessor", "Larch Leasing");
        let says = |page: &[Value], message: &[Value]| {
            let of =
                |n: u32, fields: &[Value]| json!({"n": n, "schema": "rentals", "category": null, "fields": fields});
            is_said_by_message(&of(1, page), &of(0, message), &schema)
        };
        let letter = [client.clone(), number.clone()];
        assert!(says(&[lessor.clone(), one(1, "kind", "night")], &letter));
        assert!(!says(&[lessor.clone(), one(1, "lessor", "Fern Rentals")], &letter), "it tells of two");
        let two = [client.clone(), number.clone(), one(1, "number", "LX-9")];
        assert!(!says(from_ref(&lessor), &two), "which one?");
        assert!(!says(from_ref(&lessor), from_ref(&number)), "the message does not say whose it is");
        assert!(!says(&[], &letter) && !says(&[lessor], from_ref(&client)));
        assert!(!says(&[one(0, "number", "LX-9")], &letter) && says(&[number], &letter));
        let misread = |number: &str| says(&[one(0, "number", number)], &[client.clone(), one(0, "number", "SL-10058")]);
        assert!(misread("5L-I0O5B") && !misread("SL-10059"), "only what has the same shape may be misread");
    }
}
