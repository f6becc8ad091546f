//! The first phase: every attached document becomes text, or a person is asked about it by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::document::{DocumentFault, DocumentText};
use kybern_core::error::Result;
use kybern_core::model::DocumentAnalysis;
use kybern_core::plan::StepId;
use kybern_core::task::{Attachment, AttachmentSource, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::node::{Phase, PhaseState};
use super::phases::{PhaseEnd, finished, waits};
use super::run::Run;
use super::step::wait_of;
use crate::tools::documents::{Decision, MAX_ALL_PICTURES, MAX_PICTURES, TaskDocuments, picture_type};

pub(super) async fn read(run: &Run, known: &PhaseState, now: Timestamp) -> Result<PhaseEnd> {
    let mut decisions = corrected(&known.corrections);
    let documents = TaskDocuments { decisions: decisions.clone(), ..run.documents() };
    let attachments = run.inner.store.attachments(run.lease.scope(), run.task.id).await?;
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
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
                rows.push(row(attachment, &text, typed, analyse(run, &text).await?));
            }
        }
    }
    if !faults.is_empty() {
        return Ok(PhaseEnd::row(unreadable(&faults, now)));
    }
    let summary = format!("read {} documents", rows.len());
    let data = json!({"documents": rows, "decisions": written(&decisions)});
    Ok(PhaseEnd::row(finished(Phase::Extraction, summary, data, true)))
}

/// What kind of document it is: the best of what all packs know.
async fn analyse(run: &Run, text: &DocumentText) -> Result<Option<DocumentAnalysis>> {
    let mut best: Option<DocumentAnalysis> = None;
    for (_, schema) in run.inner.catalog.registry().extractions() {
        let analysis = run.inner.extractor.analyse(text, schema).await?;
        if best.as_ref().is_none_or(|best| analysis.confidence > best.confidence) {
            best = Some(analysis);
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

fn unreadable(faults: &[(Attachment, DocumentFault)], now: Timestamp) -> super::step::RowDraft {
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
pub(super) fn decided(outcome: &Value) -> BTreeMap<u32, Decision> {
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
