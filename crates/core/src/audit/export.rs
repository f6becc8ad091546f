//! The events of an export, held against their chain.
//!
//! Whoever reads the file holds its lines against each other ([`ExportReader`]); whoever has the key holds the events
//! against it ([`check_export`]). Only an export in which neither finds anything is whole.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{AuditHead, AuditKey, AuditReport, ChainFault, ChainStart, ChainVerifier, ChainedEvent};
use crate::id::TenantId;

/// What stands in an export, and whether nothing stands there beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Exported<T> {
    /// What was read.
    pub value: T,
    /// Whether it would be written exactly so. What would not was added or written otherwise, and no hash covers it.
    pub is_as_written: bool,
}

impl<'de, T: DeserializeOwned + Serialize> Deserialize<'de> for Exported<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        let value: T = serde_json::from_value(given.clone()).map_err(D::Error::custom)?;
        let is_as_written = serde_json::to_value(&value).is_ok_and(|written| written == given);
        Ok(Self { value, is_as_written })
    }
}

/// Checks events of an export as they follow each other, and the head that it ends with. What comes before the first
/// of them is taken as it says.
#[must_use]
pub fn check_export(
    key: AuditKey,
    tenant: TenantId,
    events: &[Exported<ChainedEvent>],
    head: Option<&Exported<AuditHead>>,
) -> AuditReport {
    let first = events.first().map(|first| &first.value);
    let start = first.map(|first| ChainStart { seq: first.seq.saturating_sub(1), hash: first.prev_hash.clone() });
    let start = start.unwrap_or_default();
    let mut verifier = ChainVerifier::after(key, start.clone());
    let fault = |seq: i64, problem: &str| ChainFault { seq, problem: problem.to_owned() };
    let added = "something stands in it that its hash does not cover: added, or written otherwise";
    for Exported { value: event, is_as_written } in events {
        verifier.push(event);
        // A row that could not be read when it was listed has no content to be held against its hash.
        if !is_as_written || event.unreadable.is_some() {
            verifier.faults.push(fault(event.seq, added));
        }
    }
    let (length, mut faults) = (verifier.next_seq.saturating_sub(1), verifier.faults);
    if let Some(Exported { value: head, is_as_written }) = head {
        if head.tenant_id != tenant || !key.has_signed(head) {
            faults.push(fault(head.seq, "the head was not signed for this tenant under this master key"));
        } else if !is_as_written || head.signature.bytes().any(|byte| byte.is_ascii_uppercase()) {
            faults.push(fault(head.seq, "something stands in the head that its signature does not cover"));
        }
    }
    AuditReport { valid: faults.is_empty(), length, removed_to: start.seq, faults }
}

/// Bytes of lines after which their events are given out, however few they are.
const PAGE_BYTES: usize = 1 << 20;

/// Reads an export line by line and remembers where it stands.
#[derive(Debug, Default)]
pub struct ExportReader {
    page: usize,
    events: Vec<Value>,
    bytes: usize,
    /// What the first event follows.
    start: Option<ChainStart>,
    /// The last event that was given out.
    before: Option<Value>,
    /// Whether an event says that what was before the first was exported and removed.
    told: bool,
    head: Option<Value>,
    faults: Vec<ChainFault>,
}

/// What an export begins and ends with.
#[derive(Debug)]
pub struct ExportEnds {
    /// The number of its first event.
    pub from: i64,
    /// The signed head.
    pub head: Value,
    /// What is wrong between its lines.
    pub faults: Vec<ChainFault>,
}

impl ExportReader {
    /// A reader that gives out so many events at once, or fewer long ones.
    #[must_use]
    pub fn new(page: usize) -> Self {
        Self { page, ..Self::default() }
    }

    /// Takes a line, and gives out the events that are to be checked now, most often none.
    ///
    /// # Errors
    /// When the line is neither an event nor, as the last, a head; says what is wrong.
    pub fn line(&mut self, line: &str, is_last: bool) -> std::result::Result<Vec<Value>, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let is_head = is_last && value.get("signature").is_some();
        let seq = value["seq"].as_i64().filter(|seq| *seq >= 1 || is_head);
        let seq = seq.ok_or_else(|| "seq is no number from 1 on".to_owned())?;
        let written = value.to_string();
        if written != line {
            // A member that stands there twice, for one: others may read the first, where the last is checked.
            self.fault(seq, "its line is not written as an export is: added to, or written anew");
        }
        if is_head {
            self.head = Some(value);
        } else {
            let hash = || value["prevHash"].as_str().unwrap_or_default().to_owned();
            let start = self.start.get_or_insert_with(|| ChainStart { seq: seq - 1, hash: hash() });
            self.told |= start.is_named_by(value["action"].as_str().unwrap_or_default(), &value["detail"]);
            self.events.push(value);
            self.bytes += line.len();
        }
        if self.events.len() < self.page && self.bytes < PAGE_BYTES && !is_last {
            return Ok(Vec::new());
        }
        self.bytes = 0;
        let events = std::mem::take(&mut self.events);
        if let (Some(before), Some(first)) = (&self.before, events.first())
            && !follows(before, first)
        {
            let seq = number(first);
            self.fault(seq, "does not follow the event before it");
        }
        self.before = events.last().cloned().or(self.before.take());
        Ok(events)
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// When the last line was no head; says so.
    pub fn finish(mut self) -> std::result::Result<ExportEnds, String> {
        let head =
            self.head.take().ok_or_else(|| "does not end with a signed head: the export was cut off".to_owned())?;
        match self.before.take() {
            Some(last) if last["seq"] == head["seq"] && last["hash"] == head["hash"] => {}
            Some(last) => self.fault(number(&last), "is not the event that the head names"),
            // A tenant's first event is that of its creation.
            None => self.fault(number(&head), "is named by the head, and there are no events: all were removed"),
        }
        let start = self.start.take().unwrap_or_default();
        let from = start.seq.saturating_add(1);
        if start.seq > 0 && !self.told {
            self.fault(from, "is the first event, what was before is missing, and no event says that it was removed");
        }
        Ok(ExportEnds { from, head, faults: self.faults })
    }

    fn fault(&mut self, seq: i64, problem: &str) {
        self.faults.push(ChainFault { seq, problem: problem.to_owned() });
    }
}

fn number(value: &Value) -> i64 {
    value["seq"].as_i64().unwrap_or_default()
}

/// Whether an event is the next one after another.
fn follows(before: &Value, next: &Value) -> bool {
    let expected = number(before).checked_add(1);
    next["prevHash"] == before["hash"] && expected.is_some() && next["seq"].as_i64() == expected
}
