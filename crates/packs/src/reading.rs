//! Two-stage extraction over everything that came with a task: what is in each document, then only those fields.
//!
//! Document 0 is the message itself; the others have their attachment's number. Originals and inline pictures are
//! no documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::Date;
use kybern_core::document::{DocumentFormat, DocumentText, PageText};
use kybern_core::mail::{MailAddress, MailKind, without_quoted};
use kybern_core::model::{ExtractedField, Extraction, ExtractionSchema};
use kybern_core::ports::ToolContext;
use kybern_core::task::AttachmentSource;
use kybern_core::tool::ToolFailure;
use serde_json::{Value, json};

use crate::writer::{self, Sender};

/// Below this confidence a field is listed for a person to look at.
pub(crate) const UNSURE: f64 = 0.5;

/// The label of the page on which a mail's subject stands.
const SUBJECT: &str = "subject";

/// The name under which the message itself is listed.
pub(crate) const MESSAGE: &str = "message";

/// The number under which it is listed.
pub(crate) const MESSAGE_NUMBER: u32 = 0;

/// One document that was read.
#[derive(Clone, Debug)]
pub(crate) struct ReadDocument {
    /// The attachment's number; 0 is the message itself.
    pub(crate) n: u32,
    /// The file's name.
    pub(crate) filename: String,
    /// What was found in it.
    pub(crate) extraction: Extraction,
    /// What it says.
    pub(crate) text: Arc<DocumentText>,
}

impl ReadDocument {
    /// Its wire form: what it is and what was found where, with how sure that is.
    pub(crate) fn to_json(&self) -> Value {
        let mut json = json!({
            "n": self.n,
            "filename": self.filename,
            "category": self.extraction.analysis.category,
            "confidence": self.extraction.analysis.confidence,
            "fields": self.extraction.fields,
            "model": self.extraction.model,
        });
        if !self.extraction.usage.is_zero() {
            json["usage"] = json!(self.extraction.usage);
        }
        if !self.extraction.refused.is_empty() {
            json["refused"] = json!(self.extraction.refused);
        }
        if let Some(why) = &self.extraction.unasked {
            json["unasked"] = json!(why);
        }
        json
    }

    /// The fields of no list.
    pub(crate) fn single(&self) -> impl Iterator<Item = &ExtractedField> {
        self.extraction.fields.iter().filter(|field| field.group.is_none())
    }

    /// The items of a list, each with its fields, in order.
    pub(crate) fn items(&self, group: &str) -> Vec<Vec<&ExtractedField>> {
        let mut items: BTreeMap<u32, Vec<&ExtractedField>> = BTreeMap::new();
        for field in self.extraction.fields.iter().filter(|field| field.group.as_deref() == Some(group)) {
            items.entry(field.item.unwrap_or(0)).or_default().push(field);
        }
        items.into_values().collect()
    }
}

/// Reads everything that came with the task: the attachments, then the message itself when it says anything.
pub(crate) async fn read_all(
    context: &ToolContext,
    schema: &Arc<ExtractionSchema>,
) -> Result<Vec<ReadDocument>, ToolFailure> {
    let mut read = Vec::new();
    for (attachment, text) in context.documents()?.texts().await? {
        if attachment.source == AttachmentSource::Attached {
            read.push(read_one(context, attachment.n, &attachment.filename, &text, schema).await?);
        }
    }
    if let Some(message) = message(context).await? {
        let mut message = read_one(context, MESSAGE_NUMBER, MESSAGE, &Arc::new(message), schema).await?;
        if let Some(mail) = context.documents()?.mail().await? {
            if mail.kind == MailKind::Bounce {
                writer::forget_contacts(&mut message, schema);
            }
            let MailAddress { name, address } = &mail.from;
            writer::tell(&mut message, schema, &Sender { us: &context.tenant_name, name, address });
        }
        read.push(message);
    }
    Ok(read)
}

/// Whether readable files came with the task.
pub(crate) async fn has_documents(context: &ToolContext) -> Result<bool, ToolFailure> {
    let texts = context.documents()?.texts().await?;
    Ok(texts.iter().any(|(attachment, _)| attachment.source == AttachmentSource::Attached))
}

/// The message as a document: its text, and a mail's subject on a page of its own; `None` when it says nothing.
async fn message(context: &ToolContext) -> Result<Option<DocumentText>, ToolFailure> {
    let mail = context.documents()?.mail().await?;
    let (text, subject, written) = match mail {
        Some(mail) => (without_quoted(&mail.text, &mail.passages), mail.subject.clone(), day_of(mail.date.as_deref())),
        None => (context.input.to_string(), String::new(), None),
    };
    if text.trim().is_empty() && subject.trim().is_empty() {
        return Ok(None);
    }
    let mut document = as_document(text);
    if !subject.trim().is_empty() {
        document.pages.push(PageText { number: 2, label: SUBJECT.to_owned(), text: subject, ..PageText::default() });
    }
    document.pages.iter_mut().for_each(|page| page.written = written);
    Ok(Some(document))
}

/// The day of a mail's `Date`, where its sender was.
fn day_of(date: Option<&str>) -> Option<Date> {
    date?.get(..10)?.parse().ok()
}

/// A text as a document of one page.
pub(crate) fn as_document(text: String) -> DocumentText {
    let page = PageText { number: 1, text, ..PageText::default() };
    DocumentText { format: DocumentFormat::Text, pages: vec![page] }
}

/// Both stages for one document.
pub(crate) async fn read_one(
    context: &ToolContext,
    n: u32,
    filename: &str,
    text: &Arc<DocumentText>,
    schema: &Arc<ExtractionSchema>,
) -> Result<ReadDocument, ToolFailure> {
    let extractor = context.extractor()?;
    let analysis = extractor.analyse(text, schema).await?;
    let extraction = extractor.extract(n, text, &analysis, schema).await?;
    Ok(ReadDocument { n, filename: filename.to_owned(), extraction, text: Arc::clone(text) })
}

/// How sure, in steps of a hundredth: what is shown does not pretend to be exacter than it is.
pub(crate) fn rounded(confidence: f64) -> f64 {
    (confidence.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

/// The fields whose confidence is too low, or with which something is wrong, for a person to look at. A guess at what
/// stands plainly in another place is no doubt.
pub(crate) fn doubtful(read: &[ReadDocument]) -> Vec<Value> {
    let is_sure = |field: &ExtractedField| field.confidence >= UNSURE && field.problem.is_none();
    let all =
        || read.iter().flat_map(|document| document.extraction.fields.iter().map(move |field| (document.n, field)));
    let settled = |field: &ExtractedField| {
        field.group.is_none() && all().any(|(_, other)| other.name == field.name && is_sure(other))
    };
    let row = |(n, field): (u32, &ExtractedField)| {
        json!({
            "document": n,
            "name": field.name,
            "item": field.item,
            "confidence": rounded(field.confidence),
            "problem": field.problem,
        })
    };
    all().filter(|(_, field)| !is_sure(field) && !settled(field)).map(row).collect()
}
