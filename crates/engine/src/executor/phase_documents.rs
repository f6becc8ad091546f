//! The first phase: every attached document becomes text, or a person is asked about it by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, PageText};
use kybern_core::error::Result;
use kybern_core::mail::{Passage, without_quoted};
use kybern_core::model::DocumentAnalysis;
use kybern_core::plan::StepId;
use kybern_core::task::{Attachment, AttachmentSource, Channel, Task, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::node::{Phase, PhaseState};
use super::phases::{PhaseEnd, waits};
use super::run::Run;
use super::step::wait_of;
use crate::tools::documents::{Decision, MAX_ALL_PICTURES, MAX_PICTURES, TaskDocuments, picture_type};

/// Under what the fields of all documents stand in the outcome, in a question's details, and in the state.
pub(crate) const EXTRACTIONS: &str = "extractions";
/// The name under which the message itself is listed.
const MESSAGE: &str = "message";
/// Fields of one document that are kept before a plan is known.
const MAX_FIELDS: usize = 2_000;

pub(super) async fn read(run: &Run, known: &PhaseState, now: Timestamp) -> Result<PhaseEnd> {
    let mut decisions = corrected(&known.corrections);
    let documents = TaskDocuments { decisions: decisions.clone(), ..run.documents() };
    let attachments = run.inner.store.attachments(run.lease.scope(), run.task.id).await?;
    let (mut rows, mut faults, mut extractions) = (Vec::new(), Vec::new(), Vec::new());
    // Whether the model of the turn looks at pictures; found out when there is one.
    let mut looks = None;
    let (mut pictures, mut shown) = (0, 0);
    for attachment in attachments.iter().filter(|a| a.source == AttachmentSource::Attached) {
        if decisions.get(&attachment.n) == Some(&Decision::Ignore) {
            rows.push(json!({"n": attachment.n, "filename": attachment.filename, "status": "ignored"}));
            continue;
        }
        match documents.read(attachment).await? {
            Err(fault) => {
                let bytes = documents.bytes(attachment).await?;
                let may_be_shown = pictures < MAX_PICTURES
                    && shown + bytes.len() <= MAX_ALL_PICTURES
                    && picture_type(&bytes).is_some();
                let looks = match looks {
                    None if may_be_shown => *looks.insert(run.looks_at_pictures().await?),
                    known => known.unwrap_or_default(),
                };
                if may_be_shown && looks {
                    pictures += 1;
                    shown += bytes.len();
                    decisions.insert(attachment.n, Decision::Picture);
                    rows.push(json!({"n": attachment.n, "filename": attachment.filename, "status": "picture"}));
                } else {
                    faults.push((attachment.clone(), fault));
                }
            }
            Ok(text) => {
                let typed = decisions.contains_key(&attachment.n);
                let analysed = analyse(run, &text).await?;
                if let Some((schema, analysis)) = analysed.as_ref().filter(|_| wants_fields(run)) {
                    let read = Paper { n: attachment.n, filename: &attachment.filename, text: &text };
                    extractions.push(extract(run, read, schema, analysis).await?);
                }
                rows.push(row(attachment, &text, typed, analysed.map(|(_, analysis)| analysis)));
            }
        }
    }
    if wants_fields(run) {
        let message = message_of(&run.task);
        if let Some((schema, analysis)) = analyse(run, &message).await? {
            let read = Paper { n: 0, filename: MESSAGE, text: &message };
            extractions.push(extract(run, read, &schema, &analysis).await?);
        }
    }
    if !faults.is_empty() {
        return Ok(PhaseEnd::row(unreadable(&faults, extractions, now)));
    }
    let summary = format!("read {} documents", rows.len());
    let mut data = json!({"documents": rows, "decisions": written(&decisions)});
    if !extractions.is_empty() {
        data[EXTRACTIONS] = Value::Array(extractions);
    }
    Ok(PhaseEnd::row(run.found_out(Phase::Extraction, summary, data, true)))
}

/// Whether what papers and message say is wanted at once: where the intent is still to be found, a person may be asked
/// before any step of a plan reads them.
fn wants_fields(run: &Run) -> bool {
    run.walk.plan().is_none() && run.task.channel == Channel::Email
}

/// The message as a document: its text, and its subject on a page of its own.
pub(crate) fn message_of(task: &Task) -> DocumentText {
    let page = |number, label: &str, text: &str| PageText {
        number,
        label: label.to_owned(),
        text: text.to_owned(),
        ..PageText::default()
    };
    let subject = task.payload.get("subject").and_then(Value::as_str).unwrap_or_default();
    let passages = task.payload.get("passages").cloned().unwrap_or_default();
    let passages: Vec<Passage> = serde_json::from_value(passages).unwrap_or_default();
    let mut pages = vec![page(1, "", &without_quoted(&task.input, &passages))];
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
    let mut found = run.extractor().extract(paper.n, paper.text, analysis, known).await?;
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
    let extractor = run.extractor();
    let mut best: Option<(String, DocumentAnalysis)> = None;
    for (name, schema) in run.inner.catalog.registry().extractions() {
        let analysis = extractor.analyse(text, schema).await?;
        let better = best.as_ref().is_none_or(|(_, best)| {
            (analysis.confidence, analysis.sections.len()) > (best.confidence, best.sections.len())
        });
        if better {
            best = Some((name.to_owned(), analysis));
        }
    }
    Ok(best)
}

fn row(attachment: &Attachment, text: &Arc<DocumentText>, typed: bool, analysis: Option<DocumentAnalysis>) -> Value {
    let characters: usize = text.pages.iter().map(|page| page.text.len()).sum();
    json!({
        "n": attachment.n,
        "filename": attachment.filename,
        "status": if typed { "typed" } else { "read" },
        "format": text.format,
        "pages": text.pages.len(),
        "bytesOfText": characters,
        "category": analysis.as_ref().and_then(|analysis| analysis.category.clone()),
        "sections": analysis.map(|analysis| analysis.sections).unwrap_or_default(),
    })
}

fn unreadable(
    faults: &[(Attachment, DocumentFault)],
    extractions: Vec<Value>,
    now: Timestamp,
) -> super::step::RowDraft {
    let of = |(attachment, fault): &(Attachment, DocumentFault)| {
        format!("{} cannot be read ({}): {}", attachment.filename, fault.kind.as_str(), fault.kind.remedy())
    };
    let sentences: Vec<String> = faults.iter().map(of).collect();
    let mut wait = wait_of(&StepId::trusted(StepId::EXTRACTION), WaitKind::Document, sentences.join("; "), now);
    wait.title = Some("What do these documents say?".to_owned());
    let decision = json!({
        "oneOf": [
            {
                "type": "object",
                "properties": {"ignore": {"const": true}},
                "required": ["ignore"],
                "additionalProperties": false
            },
            {
                "type": "object",
                "properties": {"text": {"type": "string", "minLength": 1, "maxLength": 1_000_000}},
                "required": ["text"],
                "additionalProperties": false
            }
        ]
    });
    let numbers: Map<String, Value> =
        faults.iter().map(|(attachment, _)| (attachment.n.to_string(), decision.clone())).collect();
    let required: Vec<&String> = numbers.keys().collect();
    wait.schema = json!({
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
    });
    let files: Vec<Value> = faults
        .iter()
        .map(|(attachment, fault)| {
            json!({
                "n": attachment.n,
                "filename": attachment.filename,
                "fault": fault.kind,
                "problem": fault.message,
                "remedy": fault.kind.remedy(),
            })
        })
        .collect();
    wait.details = json!({"files": files});
    if !extractions.is_empty() {
        wait.details[EXTRACTIONS] = Value::Array(extractions);
    }
    waits(Phase::Extraction, wait)
}

/// What persons say of documents that could not be read: `{"documents": {"2": …}}`. Only the server says of one that it
/// is a picture.
fn corrected(corrections: &Map<String, Value>) -> BTreeMap<u32, Decision> {
    let mut decisions = decisions_in(corrections.get("documents"));
    decisions.retain(|_, decision| *decision != Decision::Picture);
    decisions
}

/// What was decided about documents, as the outcome of the phase has it: `{"decisions": {"2": …}}`.
pub(crate) fn decided(outcome: &Value) -> BTreeMap<u32, Decision> {
    decisions_in(outcome.get("decisions"))
}

fn decisions_in(written: Option<&Value>) -> BTreeMap<u32, Decision> {
    let written = written.and_then(Value::as_object).into_iter().flatten();
    let one = |(n, decision): (&String, &Value)| {
        let text = decision.get("text").and_then(Value::as_str);
        let decided = match text {
            Some(text) => Decision::Typed(text.to_owned()),
            None if decision.get("picture").is_some() => Decision::Picture,
            None => Decision::Ignore,
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
            };
            (n.to_string(), decision)
        })
        .collect::<Map<String, Value>>()
        .into()
}
