//! The first phase: every attached document becomes text, or a person is asked about it by name. So is one whose text
//! was read from pictures.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kybern_core::count::count;
use kybern_core::document::DocumentText;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::mail::MailKind;
use kybern_core::model::{Abilities, DocumentAnalysis, ExtractedField, ExtractionSchema};
use kybern_core::task::{Attachment, AttachmentSource};
use kybern_core::time::{Millis, Timestamp};
use serde_json::{Value, json};

use super::answers::PhaseAsking;
use super::phase_open::{OpenQuestions, Unreadable};
use super::phase_scans::{self, CopiedBy, ScanBudget};
use super::task_steps::TaskSteps;
use crate::executor::node::PhaseState;
use crate::executor::phases::{EXTRACTIONS, PhaseInterrupted};
use crate::executor::step::Draft;
use crate::executor::{Phase, TaskRun};
use crate::tools::documents::{
    Decision, MAX_ALL_PICTURES, MAX_PICTURES, TaskDocuments, corrected, picture_type, written,
};
use crate::understanding::message::{answers_request, is_nobodys, message_of};
use crate::understanding::{self, Inquirer, WhyUnread, fields, kind, transcript};

/// The name under which the message itself is listed.
const MESSAGE: &str = "message";
/// Bytes of the fields of all documents together that are kept before a plan is known: an eighth of what a step may
/// keep. A mail of many long papers is read in full by the steps of its plan.
const MAX_EXTRACTIONS: usize = 512 << 10;

/// How long the pages of all documents of a task are drawn for a model: three pages at their worst. Those that were not
/// drawn by then are pages that were not read.
const MAX_DRAWING: Millis = Millis(60_000);

pub(super) async fn read(
    own: &TaskSteps,
    run: &mut TaskRun,
    known: &PhaseState,
    now: Timestamp,
) -> Result<Draft, PhaseInterrupted> {
    let mut inquirer = own.inquirer(run);
    let mut decisions = corrected(&known.corrections);
    let confirmations = phase_scans::confirmations(&known.corrections);
    let documents = TaskDocuments { decisions: decisions.clone(), ..own.documents(run) };
    let attachments = run.kernel.store.attachments(run.lease.scope(), run.task.id).await?;
    let mut pictures = Pictures::default();
    let (mut open, mut room) = (OpenQuestions::default(), ScanBudget::default());
    let (mut rows, mut extractions) = (Vec::<Value>::new(), Extractions::default());
    for attachment in attachments.iter().filter(|a| a.source == AttachmentSource::Attached) {
        if decisions.get(&attachment.n) == Some(&Decision::Ignore) {
            rows.push(json!({"n": attachment.n, "filename": attachment.filename, "status": "ignored"}));
            continue;
        }
        let decided = decisions.get(&attachment.n).cloned();
        // A model that looks at pictures sees more in them than OCR does.
        if decided.is_none() && pictures.shows(own, run, &documents, attachment).await? {
            decisions.insert(attachment.n, Decision::Picture);
            rows.push(json!({"n": attachment.n, "filename": attachment.filename, "status": "picture"}));
            continue;
        }
        let read = match documents.read(attachment).await? {
            Ok(text) => Ok((text, None)),
            // Nobody is asked about what can be read later, no model either.
            Err(fault) if fault.kind.is_transient() => {
                return Err(Error::new(ErrorCode::Unavailable, fault.to_string()).into());
            }
            Err(fault) => match copied_out(own, run, &mut inquirer, attachment, &mut pictures).await? {
                Ok((text, by)) => Ok((text, Some(by))),
                Err(unasked) => Err((fault, unasked)),
            },
        };
        let has_room = |(text, by): (Arc<DocumentText>, Option<CopiedBy>)| {
            if text.is_scanned() {
                room.take(&text).map_err(|fault| (fault, None))?;
            }
            Ok((text, by))
        };
        let (text, by) = match read.and_then(has_room) {
            Ok(read) => read,
            Err((fault, unasked)) => {
                open.faults.push(Unreadable { attachment: attachment.clone(), fault, unasked });
                continue;
            }
        };
        let mut unconfirmed = None;
        // The model of a conversation is told in the text which pages are pictures, and says so to whoever talks with it.
        let in_part = run.task.turn().is_none() && !text.unread_pages().is_empty();
        let (text, status) = if text.is_scanned() || in_part {
            let answer = confirmations.get(&attachment.n);
            match phase_scans::confirmed(attachment, (&text, by.as_ref()), answer, &mut room) {
                Ok(decision) => {
                    let confirmed = match &decision {
                        Decision::Confirmed(confirmed) => Arc::clone(confirmed),
                        _ => text,
                    };
                    decisions.insert(attachment.n, decision);
                    (confirmed, "confirmed")
                }
                Err(scan) => {
                    unconfirmed = Some(scan);
                    (text, "unconfirmed")
                }
            }
        } else {
            (text, if decided.is_some() { "typed" } else { "read" })
        };
        let mut analysed = analyse(own, run, &text).await?;
        if run.is_mail_to_understand() {
            let read = WantedDocument { n: attachment.n, filename: &attachment.filename, text: &text };
            analysed = extractions.add((own, run), &mut inquirer, read, analysed).await?;
        }
        let analysis = analysed.map(|(_, analysis)| analysis);
        match unconfirmed {
            Some(scan) => {
                let is_known = analysis.is_some_and(|analysis| analysis.category.is_some());
                open.scans.push((scan, is_known));
            }
            None => rows.push(row(attachment, &text, status, analysis)),
        }
    }
    if run.is_mail_to_understand() {
        let message = message_of(&run.task);
        let analysed = analyse(own, run, &message).await?;
        let read = WantedDocument { n: 0, filename: MESSAGE, text: &message };
        extractions.add((own, run), &mut inquirer, read, analysed).await?;
    }
    if run.is_mail_to_understand() {
        let others_read = rows.iter().any(|row| row["status"] == "read");
        let is_notice = is_notice(&run.task.payload);
        if others_read {
            for scan in open.spare_in_part() {
                decisions.insert(scan.attachment.n, Decision::WithoutPictures);
                rows.push(row(&scan.attachment, scan.text(), "read", None));
            }
        }
        let said = extractions.said_by_message(own, run, &open).await?;
        for (attachment, fault) in open.spare(others_read, is_notice, |n| said.contains(&n)) {
            extractions.found.retain(|extraction| extraction["n"] != json!(attachment.n));
            decisions.insert(attachment.n, Decision::Ignore);
            rows.push(json!({
                "n": attachment.n,
                "filename": attachment.filename,
                "status": "unread",
                "fault": fault,
            }));
        }
    }
    if !open.is_empty() {
        return Ok(Draft::phase(open.question(extractions.found, run.task.id, now)));
    }
    let summary = format!("read {}", count(rows.len(), "document"));
    let mut data = json!({"documents": rows, "decisions": written(&decisions)});
    if !extractions.found.is_empty() {
        data[EXTRACTIONS] = Value::Array(extractions.found);
    }
    Ok(Draft::phase(own.found_out(Phase::Extraction, summary, data, true)))
}

/// Whether a machine wrote the mail and wants nothing with its files: what could not be delivered comes back with them,
/// and calendars have pictures. An automatic answer to one of our requests may well be the answer.
fn is_notice(payload: &Value) -> bool {
    let kind = payload.get("kind").cloned().and_then(|kind| serde_json::from_value(kind).ok()).unwrap_or_default();
    match kind {
        MailKind::Bounce | MailKind::Invitation => true,
        MailKind::AutomaticReply => !answers_request(payload),
        MailKind::Personal | MailKind::Bulk => false,
    }
}

/// The pictures that models are given.
#[derive(Default)]
struct Pictures {
    /// Whether the model of the turn looks at any; found out when a file came with the task.
    looks: Option<bool>,
    count: usize,
    bytes: usize,
    /// How long pages were drawn for it.
    drawing: Millis,
}

impl Pictures {
    /// Whether this one is shown to it.
    async fn shows(
        &mut self,
        own: &TaskSteps,
        run: &TaskRun,
        documents: &TaskDocuments,
        attachment: &Attachment,
    ) -> Result<bool> {
        let looks = match self.looks {
            Some(looks) => looks,
            None => *self.looks.insert(own.looks_at_pictures(run).await?),
        };
        if !looks || self.count == MAX_PICTURES {
            return Ok(false);
        }
        let bytes = documents.bytes(attachment).await?;
        let shows = self.has_room(&bytes);
        if shows {
            self.take(&bytes);
        }
        Ok(shows)
    }

    /// Whether these bytes are a picture that a model may be given beside those that it has been given.
    fn has_room(&self, bytes: &[u8]) -> bool {
        self.count < MAX_PICTURES && self.bytes + bytes.len() <= MAX_ALL_PICTURES && picture_type(bytes).is_some()
    }

    /// How many more a model may look at one by one.
    const fn left(&self) -> usize {
        MAX_PICTURES.saturating_sub(self.count)
    }

    fn take(&mut self, bytes: &[u8]) {
        self.count += 1;
        self.bytes += bytes.len();
    }
}

/// What is written in the pictures of a document, where a model that sees is to be asked: never in a conversation, whose
/// own model looks at its pictures. What it was asked before is in the journal, whatever may be asked now. Else why none
/// was asked that could have been.
async fn copied_out(
    own: &TaskSteps,
    run: &mut TaskRun,
    inquirer: &mut Inquirer,
    attachment: &Attachment,
    pictures: &mut Pictures,
) -> Result<Result<(Arc<DocumentText>, CopiedBy), WhyUnread>, PhaseInterrupted> {
    if run.task.turn().is_some() {
        return Ok(Err(None));
    }
    let models = &own.services.models;
    let route = models.settings().understanding.clone();
    let needs = Abilities { images: true, ..Abilities::default() };
    let may_ask = own.services.reads_with_model() && models.can(run.lease.scope(), &route, needs).await?;
    if !may_ask && run.walk.answers().is_empty() {
        return Ok(Err(None));
    }
    let mut left = pictures.left();
    if left == 0 {
        return Ok(Err(Some(format!("a model has seen {MAX_PICTURES} pages of this task, the most it is shown"))));
    }
    if pictures.drawing >= MAX_DRAWING {
        return Ok(Err(Some(
            "drawing the pages of this task's files for a model took a minute, the longest".to_owned(),
        )));
    }
    let clock = Arc::clone(&run.kernel.clock);
    let (began, before) = (clock.now(), pictures.drawing);
    let drawn = || Millis(before.0.saturating_add(clock.now().since(began).0));
    let may_draw = || {
        let may = left > 0 && drawn() < MAX_DRAWING;
        left = left.saturating_sub(1);
        may
    };
    let leaves = own.documents(run).pages(attachment, may_draw).await?;
    pictures.drawing = drawn();
    let mut asking = if may_ask { PhaseAsking::new(run, inquirer) } else { PhaseAsking::recalling(run, inquirer) };
    let came = transcript(&mut asking, leaves, &mut pictures.count).await;
    let read = asking.end(came)?;
    Ok(read.map(|read| (Arc::new(read.text), CopiedBy { model: read.model, usage: read.usage })))
}

/// A document whose fields are wanted.
struct WantedDocument<'d> {
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
        (own, run): (&TaskSteps, &mut TaskRun),
        inquirer: &mut Inquirer,
        paper: WantedDocument<'_>,
        analysed: Option<(String, DocumentAnalysis)>,
    ) -> Result<Option<(String, DocumentAnalysis)>, PhaseInterrupted> {
        let Some((mut name, mut analysis)) = analysed else { return Ok(None) };
        let (registry, model_use) = (Arc::clone(&own.services.plan_catalogue.registry), own.model_use());
        let extractor = own.rules(run);
        let mut asking = PhaseAsking::new(run, inquirer);
        let known: Vec<(&str, &Arc<ExtractionSchema>)> = registry.extractions().collect();
        let came = kind(&mut asking, model_use, &known, paper.text, &analysis).await;
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
        let read = understanding::ReadPaper { number: paper.n, text: paper.text };
        let mut asking = PhaseAsking::new(run, inquirer);
        let came = fields(&mut asking, model_use, extractor.as_ref(), read, (&analysis, schema)).await;
        let mut found = asking.end(came)?;
        if paper.n == 0 {
            let nobodys = |field: &ExtractedField| is_nobodys(&run.task.payload, schema, field);
            found.fields.retain(|field| !nobodys(field));
        }
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

    /// Which of the documents that were read from pictures the message says as much as. What it says is read by the schema
    /// of the document, where it was kept by another one's.
    async fn said_by_message(&self, own: &TaskSteps, run: &TaskRun, open: &OpenQuestions) -> Result<BTreeSet<u32>> {
        let of = |n: u32| self.found.iter().find(move |extraction| extraction["n"] == json!(n));
        let Some(kept) = of(0) else { return Ok(BTreeSet::new()) };
        let (registry, rules, text) = (own.services.plan_catalogue.registry(), own.rules(run), message_of(&run.task));
        let (mut said, mut read) = (BTreeSet::new(), BTreeMap::<&str, Value>::new());
        for (scan, _) in &open.scans {
            let Some(document) = of(scan.attachment.n) else { continue };
            let Some((name, schema)) = registry.extractions().find(|(name, _)| document["schema"] == **name) else {
                continue;
            };
            let message = match read.entry(name) {
                _ if kept["schema"] == document["schema"] => kept,
                Entry::Occupied(known) => &*known.into_mut(),
                Entry::Vacant(new) => {
                    let analysis = rules.analyse(&text, schema).await?;
                    new.insert(json!({"fields": rules.extract(0, &text, &analysis, schema).await?.fields}))
                }
            };
            if phase_scans::is_said_by_message(document, message, schema) {
                said.insert(scan.attachment.n);
            }
        }
        Ok(said)
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
async fn analyse(own: &TaskSteps, run: &TaskRun, text: &DocumentText) -> Result<Option<(String, DocumentAnalysis)>> {
    let extractor = own.rules(run);
    let (names, schemas): (Vec<&str>, Vec<Arc<ExtractionSchema>>) =
        own.services.plan_catalogue.registry().extractions().map(|(name, schema)| (name, Arc::clone(schema))).unzip();
    let mut best: Option<(String, DocumentAnalysis)> = None;
    for (name, analysis) in names.into_iter().zip(extractor.analyse_by(text, &schemas).await?) {
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
    let mut row = json!({
        "n": attachment.n,
        "filename": attachment.filename,
        "status": status,
        "format": text.format,
        "pages": text.pages.len(),
        "bytesOfText": characters,
        "category": analysis.as_ref().and_then(|analysis| analysis.category.clone()),
        "sections": analysis.map(|analysis| analysis.sections).unwrap_or_default(),
    });
    let unread = text.unread_pages();
    if !unread.is_empty() {
        row["unreadPages"] = json!(unread);
    }
    row
}
