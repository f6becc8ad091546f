//! The first phase: every attached document becomes text, or a person is asked about it by name. So is one whose text
//! was read from pictures.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, PageText};
use kybern_core::error::Result;
use kybern_core::id::TaskId;
use kybern_core::mail::{Passage, without_quoted};
use kybern_core::model::DocumentAnalysis;
use kybern_core::plan::StepId;
use kybern_core::task::{Attachment, AttachmentSource, Channel, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::node::{Phase, PhaseState};
use super::phase_scans::{self, Unconfirmed};
use super::phases::{PhaseEnd, finished, waits};
use super::run::Run;
use super::step::{RowDraft, wait_of};
use crate::tools::documents::{Decision, MAX_ALL_PICTURES, MAX_PICTURES, TaskDocuments, picture_type};

/// Under what the fields of all documents stand in the outcome, in a question's details, and in the state.
pub(super) const EXTRACTIONS: &str = "extractions";
/// The name under which the message itself is listed.
const MESSAGE: &str = "message";
/// Fields of one document that are kept before a plan is known.
const MAX_FIELDS: usize = 2_000;

pub(super) async fn read(run: &Run, known: &PhaseState, now: Timestamp) -> Result<PhaseEnd> {
    let mut decisions = corrected(&known.corrections);
    let confirmations = phase_scans::confirmations(&known.corrections);
    let documents = TaskDocuments { decisions: decisions.clone(), ..run.documents() };
    let attachments = run.inner.store.attachments(run.lease.scope(), run.task.id).await?;
    let mut pictures = Pictures::default();
    let mut open = Open::default();
    let (mut rows, mut extractions) = (Vec::new(), Vec::new());
    for attachment in attachments.iter().filter(|a| a.source == AttachmentSource::Attached) {
        if decisions.get(&attachment.n) == Some(&Decision::Ignore) {
            rows.push(json!({"n": attachment.n, "filename": attachment.filename, "status": "ignored"}));
            continue;
        }
        let typed = decisions.contains_key(&attachment.n);
        // A model that looks at pictures sees more in them than OCR does.
        if !typed && pictures.shows(run, &documents, attachment).await? {
            decisions.insert(attachment.n, Decision::Picture);
            rows.push(json!({"n": attachment.n, "filename": attachment.filename, "status": "picture"}));
            continue;
        }
        let (text, status) = match documents.read(attachment).await? {
            Err(fault) => {
                open.faults.push((attachment.clone(), fault));
                continue;
            }
            Ok(text) if !text.is_scanned() => (text, if typed { "typed" } else { "read" }),
            Ok(text) => match phase_scans::confirmed(attachment, &text, confirmations.get(&attachment.n)) {
                Ok(confirmed) => {
                    let confirmed = Arc::new(confirmed);
                    decisions.insert(attachment.n, Decision::Confirmed(Arc::clone(&confirmed)));
                    (confirmed, "confirmed")
                }
                Err(unconfirmed) => {
                    open.extractions.extend(fields_of(run, attachment, unconfirmed.text()).await?.1);
                    open.scans.push(unconfirmed);
                    continue;
                }
            },
        };
        let (analysis, fields) = if wants_fields(run) {
            fields_of(run, attachment, &text).await?
        } else {
            (analyse(run, &text).await?.map(|(_, analysis)| analysis), None)
        };
        extractions.extend(fields);
        rows.push(row(attachment, &text, status, analysis));
    }
    if wants_fields(run) {
        let message = message(run);
        if let Some((schema, analysis)) = analyse(run, &message).await? {
            let read = Paper { n: 0, filename: MESSAGE, text: &message };
            extractions.push(extract(run, read, &schema, &analysis).await?);
        }
    }
    if !open.is_empty() {
        open.extractions.extend(extractions);
        return Ok(PhaseEnd::row(open.question(run.task.id, now)));
    }
    let summary = format!("read {} documents", rows.len());
    let mut data = json!({"documents": rows, "decisions": written(&decisions)});
    if !extractions.is_empty() {
        data[EXTRACTIONS] = Value::Array(extractions);
    }
    Ok(PhaseEnd::row(finished(Phase::Extraction, summary, data, true)))
}

/// The pictures that the model of a turn looks at itself.
#[derive(Default)]
struct Pictures {
    /// Whether it looks at any; found out when a file came with the task.
    looks: Option<bool>,
    count: usize,
    bytes: usize,
}

impl Pictures {
    /// Whether this one is shown to it.
    async fn shows(&mut self, run: &Run, documents: &TaskDocuments, attachment: &Attachment) -> Result<bool> {
        let looks = match self.looks {
            Some(looks) => looks,
            None => *self.looks.insert(run.looks_at_pictures().await?),
        };
        if !looks || self.count == MAX_PICTURES {
            return Ok(false);
        }
        let bytes = documents.bytes(attachment).await?;
        if picture_type(&bytes).is_none() || self.bytes + bytes.len() > MAX_ALL_PICTURES {
            return Ok(false);
        }
        self.count += 1;
        self.bytes += bytes.len();
        Ok(true)
    }
}

/// What a document is, and its fields by the schema that knows it best.
async fn fields_of(
    run: &Run,
    attachment: &Attachment,
    text: &DocumentText,
) -> Result<(Option<DocumentAnalysis>, Option<Value>)> {
    let Some((schema, analysis)) = analyse(run, text).await? else { return Ok((None, None)) };
    let read = Paper { n: attachment.n, filename: &attachment.filename, text };
    let fields = extract(run, read, &schema, &analysis).await?;
    Ok((Some(analysis), Some(fields)))
}

/// Whether what papers and message say is wanted at once: where the intent is still to be found, a person may be asked
/// before any step of a plan reads them.
fn wants_fields(run: &Run) -> bool {
    run.walk.plan().is_none() && run.task.channel == Channel::Email
}

/// The message as a document: its text, and its subject on a page of its own.
fn message(run: &Run) -> DocumentText {
    let page = |number, label: &str, text: &str| PageText {
        number,
        label: label.to_owned(),
        text: text.to_owned(),
        ..PageText::default()
    };
    let subject = run.task.payload.get("subject").and_then(Value::as_str).unwrap_or_default();
    let passages = run.task.payload.get("passages").cloned().unwrap_or_default();
    let passages: Vec<Passage> = serde_json::from_value(passages).unwrap_or_default();
    let mut pages = vec![page(1, "", &without_quoted(&run.task.input, &passages))];
    if !subject.trim().is_empty() {
        pages.push(page(2, "subject", subject));
    }
    DocumentText { format: DocumentFormat::Text, pages }
}

/// A document whose fields are wanted.
struct Paper<'d> {
    n: u32,
    filename: &'d str,
    text: &'d DocumentText,
}

/// The fields of one document by a pack's schema, as the tools of packs write them too.
async fn extract(run: &Run, paper: Paper<'_>, schema: &str, analysis: &DocumentAnalysis) -> Result<Value> {
    let mut schemas = run.inner.catalog.registry().extractions();
    let Some((_, known)) = schemas.find(|(name, _)| *name == schema) else { return Ok(Value::Null) };
    let mut found = run.inner.extractor.extract(paper.n, paper.text, analysis, known).await?;
    found.fields.truncate(MAX_FIELDS);
    Ok(json!({
        "n": paper.n,
        "filename": paper.filename,
        "schema": schema,
        "category": found.analysis.category,
        "confidence": found.analysis.confidence,
        "fields": found.fields,
        "model": found.model,
    }))
}

/// What kind of document it is: the best of what all packs know, with the name of the schema that knows it. Where none
/// knows its kind, the one that finds the most sections.
async fn analyse(run: &Run, text: &DocumentText) -> Result<Option<(String, DocumentAnalysis)>> {
    let mut best: Option<(String, DocumentAnalysis)> = None;
    for (name, schema) in run.inner.catalog.registry().extractions() {
        let analysis = run.inner.extractor.analyse(text, schema).await?;
        let better = best.as_ref().is_none_or(|(_, best)| {
            (analysis.confidence, analysis.sections.len()) > (best.confidence, best.sections.len())
        });
        if better {
            best = Some((name.to_owned(), analysis));
        }
    }
    Ok(best)
}

fn row(attachment: &Attachment, text: &DocumentText, status: &str, analysis: Option<DocumentAnalysis>) -> Value {
    let characters: usize = text.pages.iter().map(|page| page.text.len()).sum();
    json!({
        "n": attachment.n,
        "filename": attachment.filename,
        "status": status,
        "format": text.format,
        "pages": text.pages.len(),
        "bytesOfText": characters,
        "category": analysis.as_ref().and_then(|analysis| analysis.category.clone()),
        "sections": analysis.map(|analysis| analysis.sections).unwrap_or_default(),
    })
}

/// What a person is still to be asked.
#[derive(Default)]
struct Open {
    /// Documents that could not be read.
    faults: Vec<(Attachment, DocumentFault)>,
    /// Documents that were read from pictures.
    scans: Vec<Unconfirmed>,
    /// What the other documents and the message say, and what was read from pictures.
    extractions: Vec<Value>,
}

impl Open {
    const fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.scans.is_empty()
    }

    /// One question about all of them.
    fn question(self, task: TaskId, now: Timestamp) -> RowDraft {
        let faults = self.faults.iter().map(|(attachment, fault)| {
            format!("{} cannot be read ({}): {}", attachment.filename, fault.kind.as_str(), fault.kind.remedy())
        });
        let sentences: Vec<String> = faults.chain(self.scans.iter().map(Unconfirmed::sentence)).collect();
        let id = StepId::trusted(StepId::EXTRACTION);
        let mut wait = wait_of(&id, WaitKind::Document, sentences.join("; "), now);
        wait.title = Some("What do these documents say?".to_owned());
        let unread = self.faults.iter().map(|(attachment, _)| (attachment.n.to_string(), decision(None)));
        let read = self.scans.iter().map(|scan| (scan.attachment.n.to_string(), decision(Some(scan.schema()))));
        wait.schema = schema(unread.chain(read).collect());
        let file = |(attachment, fault): &(Attachment, DocumentFault)| {
            json!({
                "n": attachment.n,
                "filename": attachment.filename,
                "fault": fault.kind,
                "problem": fault.message,
                "remedy": fault.kind.remedy(),
            })
        };
        wait.details = json!({"files": self.faults.iter().map(file).collect::<Vec<_>>()});
        if !self.scans.is_empty() {
            wait.details["scans"] = self.scans.iter().map(|scan| scan.details(task)).collect();
        }
        if !self.extractions.is_empty() {
            wait.details[EXTRACTIONS] = Value::Array(self.extractions);
        }
        waits(Phase::Extraction, wait)
    }
}

/// What may be answered about one document.
fn decision(confirm: Option<Value>) -> Value {
    let ignore = json!({
        "type": "object",
        "properties": {"ignore": {"const": true}},
        "required": ["ignore"],
        "additionalProperties": false
    });
    let text = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 1_000_000}},
        "required": ["text"],
        "additionalProperties": false
    });
    json!({"oneOf": confirm.into_iter().chain([ignore, text]).collect::<Vec<_>>()})
}

/// What may be answered, for each document by its number.
fn schema(numbers: Map<String, Value>) -> Value {
    let required: Vec<&String> = numbers.keys().collect();
    json!({
        "type": "object",
        "properties": {
            "documents": {
                "type": "object",
                "properties": numbers,
                "required": required,
                "additionalProperties": false
            }
        },
        "required": ["documents"],
        "additionalProperties": true
    })
}

/// What persons say of documents that could not be read: `{"documents": {"2": …}}`. Only the server says of one that it
/// is a picture, or what a confirmed scan says.
fn corrected(corrections: &Map<String, Value>) -> BTreeMap<u32, Decision> {
    let mut decisions = decisions_in(corrections.get("documents"));
    decisions.retain(|_, decision| matches!(decision, Decision::Ignore | Decision::Typed(_)));
    decisions
}

/// What was decided about documents, as the outcome of the phase has it: `{"decisions": {"2": …}}`.
pub(super) fn decided(outcome: &Value) -> BTreeMap<u32, Decision> {
    decisions_in(outcome.get("decisions"))
}

fn decisions_in(written: Option<&Value>) -> BTreeMap<u32, Decision> {
    let written = written.and_then(Value::as_object).into_iter().flatten();
    let one = |(n, decision): (&String, &Value)| {
        let text = decision.get("text").and_then(Value::as_str);
        let decided = match (text, decision.get("scan")) {
            (Some(text), _) => Decision::Typed(text.to_owned()),
            (None, Some(scan)) => Decision::Confirmed(Arc::new(serde_json::from_value(scan.clone()).ok()?)),
            (None, None) if decision.get("picture").is_some() => Decision::Picture,
            // A yes counts for the text that was shown, so it is judged apart.
            (None, None) if decision.get("confirm").is_some() => return None,
            (None, None) => Decision::Ignore,
        };
        Some((n.parse().ok()?, decided))
    };
    written.filter_map(one).collect()
}

fn written(decisions: &BTreeMap<u32, Decision>) -> Value {
    decisions
        .iter()
        .map(|(n, decision)| {
            let decision = match decision {
                Decision::Ignore => json!({"ignore": true}),
                Decision::Typed(text) => json!({"text": text}),
                Decision::Picture => json!({"picture": true}),
                Decision::Confirmed(text) => json!({"scan": text}),
            };
            (n.to_string(), decision)
        })
        .collect::<Map<String, Value>>()
        .into()
}
