//! The first phase: every attached document becomes text, or a person is asked about it by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind, PageText};
use kybern_core::error::Result;
use kybern_core::mail::{Passage, without_quoted};
use kybern_core::model::{Abilities, DocumentAnalysis, ExtractedField};
use kybern_core::plan::StepId;
use kybern_core::task::{Attachment, AttachmentSource, Channel, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::answers::PhaseAsking;
use super::node::{Phase, PhaseState};
use super::phases::{Interrupted, PhaseEnd, finished, waits};
use super::run::Run;
use super::step::wait_of;
use crate::tools::documents::{Decision, MAX_ALL_PICTURES, MAX_PICTURES, TaskDocuments, picture_type, typed};
use crate::understanding::{self, Inquirer, Transcript, fields, kind, transcript};

/// Under what the fields of all documents stand in the outcome, in a question's details, and in the state.
pub(super) const EXTRACTIONS: &str = "extractions";
/// The name under which the message itself is listed.
const MESSAGE: &str = "message";
/// Bytes of the fields of all documents together that are kept before a plan is known: an eighth of what a step may
/// keep. A mail of many long papers is read in full by the steps of its plan.
const MAX_EXTRACTIONS: usize = 512 << 10;

pub(super) async fn read(run: &mut Run, known: &PhaseState, now: Timestamp) -> Result<PhaseEnd, Interrupted> {
    let mut inquirer = run.inquirer();
    let mut decisions = corrected(&known.corrections);
    let documents = TaskDocuments { decisions: decisions.clone(), ..run.documents() };
    let attachments = run.inner.store.attachments(run.lease.scope(), run.task.id).await?;
    let (mut rows, mut faults, mut extractions) = (Vec::<Value>::new(), Vec::new(), Extractions::default());
    // Whether the model of the turn looks at pictures; found out when there is one.
    let mut looks = None;
    let (mut pictures, mut shown) = (0, 0);
    for attachment in attachments.iter().filter(|a| a.source == AttachmentSource::Attached) {
        if decisions.get(&attachment.n) == Some(&Decision::Ignore) {
            rows.push(json!({"n": attachment.n, "filename": attachment.filename, "status": "ignored"}));
            continue;
        }
        let text = match documents.read(attachment).await? {
            Ok(text) => text,
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
                    continue;
                }
                let read = if may_be_shown { copied_out(run, &mut inquirer, attachment).await? } else { None };
                pictures += usize::from(read.is_some());
                shown += if read.is_some() { bytes.len() } else { 0 };
                match read {
                    Some(read) if decisions.get(&attachment.n) == Some(&Decision::Confirmed) => {
                        let text = Arc::new(typed(&read.text));
                        decisions.insert(attachment.n, Decision::Typed(read.text));
                        text
                    }
                    read => {
                        faults.push(Unreadable { attachment: attachment.clone(), fault, read });
                        continue;
                    }
                }
            }
        };
        let typed = decisions.contains_key(&attachment.n);
        let mut analysed = analyse(run, &text).await?;
        if wants_fields(run) {
            let read = Paper { n: attachment.n, filename: &attachment.filename, text: &text };
            analysed = extractions.add(run, &mut inquirer, read, analysed).await?;
        }
        rows.push(row(attachment, &text, typed, analysed.map(|(_, analysis)| analysis)));
    }
    if wants_fields(run) {
        let message = message(run);
        let analysed = analyse(run, &message).await?;
        let read = Paper { n: 0, filename: MESSAGE, text: &message };
        extractions.add(run, &mut inquirer, read, analysed).await?;
    }
    let read = rows.iter().any(|row| row["status"] == "read");
    faults.retain(|Unreadable { attachment, fault, read: copied }| {
        let spared = read && copied.is_none() && is_beside_the_point(run, fault);
        if spared {
            decisions.insert(attachment.n, Decision::Ignore);
            rows.push(json!({
                "n": attachment.n,
                "filename": attachment.filename,
                "status": "unread",
                "fault": fault.kind,
            }));
        }
        !spared
    });
    if !faults.is_empty() {
        return Ok(PhaseEnd::row(unreadable(&faults, extractions.found, now)));
    }
    let summary = format!("read {} documents", rows.len());
    let mut data = json!({"documents": rows, "decisions": written(&decisions)});
    if !extractions.found.is_empty() {
        data[EXTRACTIONS] = Value::Array(extractions.found);
    }
    Ok(PhaseEnd::row(finished(Phase::Extraction, summary, data, true)))
}

/// Whether what papers and message say is wanted at once: where the intent is still to be found, a person may be asked
/// before any step of a plan reads them.
fn wants_fields(run: &Run) -> bool {
    run.walk.plan().is_none() && run.task.channel == Channel::Email
}

/// A document that cannot be read, with what a model that sees reads in it.
struct Unreadable {
    attachment: Attachment,
    fault: DocumentFault,
    read: Option<Transcript>,
}

/// What is written in a picture, where a model that sees is to be asked: never in a conversation, whose own model looks
/// at its pictures.
async fn copied_out(
    run: &mut Run,
    inquirer: &mut Inquirer,
    attachment: &Attachment,
) -> Result<Option<Transcript>, Interrupted> {
    let models = &run.inner.models;
    let route = models.settings().understanding.clone();
    let needs = Abilities { images: true, ..Abilities::default() };
    let is_wanted = run.turn().is_none() && run.reads_with_model();
    if !is_wanted || !models.can(run.lease.scope(), &route, needs).await? {
        return Ok(None);
    }
    let Some(picture) = run.documents().picture(attachment).await? else { return Ok(None) };
    let mut asking = PhaseAsking::new(run, inquirer);
    let came = transcript(&mut asking, picture).await;
    asking.end(came)
}

/// Whether a mail can go on without this paper where another one was read: a picture without text, such as a logo or a
/// photo of what the other paper says. What turns out to be missing is asked for by the plan, which knows what it needs.
fn is_beside_the_point(run: &Run, fault: &DocumentFault) -> bool {
    wants_fields(run) && matches!(fault.kind, FaultKind::Scan | FaultKind::Empty)
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

/// What documents say, as far as there is room for it.
#[derive(Default)]
struct Extractions {
    found: Vec<Value>,
    /// Bytes of all fields in it, as JSON.
    bytes: usize,
}

impl Extractions {
    /// Adds the fields of one document by a pack's schema, as the tools of packs write them too: what the rules find,
    /// with what a language model adds where it is to be asked. Where there is no room for all of them, `truncated`
    /// says so. Answers what kind of document it is, where a pack knows it.
    async fn add(
        &mut self,
        run: &mut Run,
        inquirer: &mut Inquirer,
        paper: Paper<'_>,
        analysed: Option<(String, DocumentAnalysis)>,
    ) -> Result<Option<(String, DocumentAnalysis)>, Interrupted> {
        let Some((mut name, mut analysis)) = analysed else { return Ok(None) };
        let (registry, model_use) = (Arc::clone(&run.inner.catalog.registry), run.model_use());
        let extractor = Arc::clone(&run.inner.extractor);
        let mut asking = PhaseAsking::new(run, inquirer);
        let came = kind(&mut asking, model_use, &registry, paper.text, &analysis).await;
        let kind = asking.end(came)?.unwrap_or_default();
        let schema_of = |name: &str| registry.extractions().find(|(known, _)| *known == name).map(|(_, schema)| schema);
        if let Some(other) = kind.schema(analysis.confidence).filter(|other| *other != name)
            && let Some(schema) = schema_of(other)
        {
            analysis = extractor.analyse(paper.text, schema).await?;
            name = other.to_owned();
        }
        let Some(schema) = schema_of(&name) else { return Ok(None) };
        let analysis = kind.onto(&name, schema, analysis);
        let read = understanding::Paper { number: paper.n, text: paper.text };
        let mut asking = PhaseAsking::new(run, inquirer);
        let came = fields(&mut asking, model_use, extractor.as_ref(), read, (&analysis, schema)).await;
        let mut found = asking.end(came)?;
        let all = found.fields.len();
        let fields = self.that_fit(std::mem::take(&mut found.fields));
        found.usage = found.usage.plus(kind.usage);
        let mut extraction = json!({
            "n": paper.n,
            "filename": paper.filename,
            "schema": name,
            "category": found.analysis.category,
            "confidence": found.analysis.confidence,
            "model": found.model,
        });
        if fields.len() < all {
            extraction["truncated"] = json!(true);
        }
        extraction["fields"] = Value::Array(fields);
        if !found.usage.is_zero() {
            extraction["usage"] = json!(found.usage);
        }
        if !found.refused.is_empty() {
            extraction["refused"] = json!(found.refused);
        }
        if let Some(why) = found.unasked.or(kind.unasked) {
            extraction["unasked"] = json!(why);
        }
        self.found.push(extraction);
        Ok(Some((name, analysis)))
    }

    /// The first of these fields that there is room for.
    fn that_fit(&mut self, fields: Vec<ExtractedField>) -> Vec<Value> {
        let fit = fields.into_iter().map(|field| json!(field)).take_while(|field| {
            let size = field.to_string().len();
            let fits = self.bytes + size <= MAX_EXTRACTIONS;
            self.bytes += if fits { size } else { 0 };
            fits
        });
        fit.collect()
    }
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

fn unreadable(faults: &[Unreadable], extractions: Vec<Value>, now: Timestamp) -> super::step::RowDraft {
    let of = |Unreadable { attachment, fault, read }: &Unreadable| match read {
        None => format!("{} cannot be read ({}): {}", attachment.filename, fault.kind.as_str(), fault.kind.remedy()),
        Some(read) => format!("{} is a picture: compare it with what {} reads in it", attachment.filename, read.model),
    };
    let sentences: Vec<String> = faults.iter().map(of).collect();
    let mut wait = wait_of(&StepId::trusted(StepId::EXTRACTION), WaitKind::Document, sentences.join("; "), now);
    wait.title = Some("What do these documents say?".to_owned());
    let one_of = |name: &str, value: Value| json!({"type": "object", "properties": {name: value}, "required": [name], "additionalProperties": false});
    let decision = |unreadable: &Unreadable| {
        let text = json!({"type": "string", "minLength": 1, "maxLength": 1_000_000});
        let mut choices = vec![one_of("ignore", json!({"const": true})), one_of("text", text)];
        if unreadable.read.is_some() {
            choices.push(one_of("confirm", json!({"const": true})));
        }
        json!({"oneOf": choices})
    };
    let numbers: Map<String, Value> =
        faults.iter().map(|unreadable| (unreadable.attachment.n.to_string(), decision(unreadable))).collect();
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
        .map(|Unreadable { attachment, fault, read }| {
            let mut file = json!({
                "n": attachment.n,
                "filename": attachment.filename,
                "fault": fault.kind,
                "problem": fault.message,
                "remedy": fault.kind.remedy(),
            });
            if let Some(read) = read {
                file["read"] = json!({"text": read.text, "model": read.model, "usage": read.usage});
            }
            file
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
            None if decision.get("confirm").is_some() => Decision::Confirmed,
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
                Decision::Confirmed => json!({"confirm": true}),
                Decision::Picture => json!({"picture": true}),
            };
            (n.to_string(), decision)
        })
        .collect::<Map<String, Value>>()
        .into()
}
