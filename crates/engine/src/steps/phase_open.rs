//! What a person is still to be asked about the documents of a task: those that could not be read, and those whose text
//! nobody has compared with its pictures; and which of them a mail goes on without.

use kybern_core::document::{DocumentFault, FaultKind};
use kybern_core::id::TaskId;
use kybern_core::json_schema::object;
use kybern_core::plan::StepId;
use kybern_core::task::{Attachment, WaitKind};
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::phase_scans::Unconfirmed;
use crate::executor::Phase;
use crate::executor::phases::{EXTRACTIONS, waits};
use crate::executor::step::{RowDraft, wait_of};

/// A document that cannot be read.
pub(super) struct Unreadable {
    pub(super) attachment: Attachment,
    pub(super) fault: DocumentFault,
    /// Why a model that could have copied it out was not asked, or gave no answer that could be used.
    pub(super) unasked: Option<String>,
}

/// What a person is still to be asked.
#[derive(Default)]
pub(super) struct OpenQuestions {
    /// Documents that could not be read.
    pub(super) faults: Vec<Unreadable>,
    /// Documents that were read from pictures or in part, and whether a pack knows what kind of paper each is.
    pub(super) scans: Vec<(Box<Unconfirmed>, bool)>,
}

impl OpenQuestions {
    pub(super) const fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.scans.is_empty()
    }

    /// Takes out the documents that a mail can go on without: all files of a machine's notice, pictures of what the
    /// message itself says, and where another document was read, pictures without text, such as a logo or a photo of what
    /// the other says, and pictures of which no pack knows what they are. What turns out to be missing is asked for by the
    /// plan, which knows what it needs.
    pub(super) fn spare(
        &mut self,
        others_read: bool,
        is_notice: bool,
        is_said: impl Fn(u32) -> bool,
    ) -> Vec<(Attachment, FaultKind)> {
        let is_picture = |kind: FaultKind| matches!(kind, FaultKind::Scan | FaultKind::Empty);
        let (spared, faults) = std::mem::take(&mut self.faults)
            .into_iter()
            .partition::<Vec<_>, _>(|unreadable| is_notice || (others_read && is_picture(unreadable.fault.kind)));
        let (unneeded, scans) = std::mem::take(&mut self.scans).into_iter().partition::<Vec<_>, _>(|(scan, known)| {
            // What nobody could read may say more.
            let is_whole = scan.is_scan() && scan.text().unread_pages().is_empty();
            is_notice || (others_read && !known) || (is_whole && is_said(scan.attachment.n))
        });
        (self.faults, self.scans) = (faults, scans);
        let spared = spared.into_iter().map(|unreadable| (unreadable.attachment, unreadable.fault.kind));
        spared.chain(unneeded.into_iter().map(|(scan, _)| (scan.attachment, FaultKind::Scan))).collect()
    }

    /// Takes out the documents that were read in part and of which no pack knows what they are: they count as far as they
    /// were read.
    pub(super) fn spare_in_part(&mut self) -> Vec<Unconfirmed> {
        let (spared, scans) = std::mem::take(&mut self.scans)
            .into_iter()
            .partition::<Vec<_>, _>(|(scan, is_known)| !is_known && !scan.is_scan());
        self.scans = scans;
        spared.into_iter().map(|(scan, _)| *scan).collect()
    }

    /// One question about all of them, with what the other documents and the message say.
    pub(super) fn question(self, extractions: Vec<Value>, task: TaskId, now: Timestamp) -> RowDraft {
        let faults = self.faults.iter().map(Unreadable::sentence);
        let sentences: Vec<String> = faults.chain(self.scans.iter().map(|(scan, _)| scan.sentence())).collect();
        let id = StepId::trusted(StepId::EXTRACTION);
        let mut wait = wait_of(&id, WaitKind::Document, sentences.join("; "), now);
        wait.title = Some("What do these documents say?".to_owned());
        let unread = self.faults.iter().map(|unread| (unread.attachment.n.to_string(), decision(None)));
        let scans = self.scans.iter().map(|(scan, _)| (scan.attachment.n.to_string(), decision(Some(scan.schema()))));
        wait.schema = schema(unread.chain(scans).collect());
        wait.details = json!({"files": self.faults.iter().map(Unreadable::details).collect::<Vec<_>>()});
        if !self.scans.is_empty() {
            wait.details["scans"] = self.scans.iter().map(|(scan, _)| scan.details(task)).collect();
        }
        if !extractions.is_empty() {
            wait.details[EXTRACTIONS] = Value::Array(extractions);
        }
        waits(Phase::Extraction, wait)
    }
}

impl Unreadable {
    /// What is asked, in one sentence.
    fn sentence(&self) -> String {
        let (name, kind) = (&self.attachment.filename, self.fault.kind);
        format!("{name} cannot be read ({}): {}", kind.as_str(), kind.remedy())
    }

    fn details(&self) -> Value {
        let mut details = json!({
            "n": self.attachment.n,
            "filename": self.attachment.filename,
            "fault": self.fault.kind,
            "problem": self.fault.message,
            "remedy": self.fault.kind.remedy(),
        });
        if let Some(why) = &self.unasked {
            details["unasked"] = json!(why);
        }
        details
    }
}

/// What may be answered about one document.
fn decision(confirm: Option<Value>) -> Value {
    let ignore = object(json!({"ignore": {"const": true}}), ["ignore"]);
    let text = object(json!({"text": {"type": "string", "minLength": 1, "maxLength": 1_000_000}}), ["text"]);
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
