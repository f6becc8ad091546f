//! What readers of a turn are told, out of the journal of its task.
//!
//! The same rows give the same events with the same ids, so a reader who was cut off goes on where it was, at any
//! server, before and after a restart. Only the pieces of a reply that is not journaled yet come out of memory; when it
//! is, the journal has them as they were.

use serde_json::{Value, json};
use uuid::Builder;

use super::noun::{TURN_STEP, TurnRef};
use crate::agent::CallOutcome;
use crate::error::ErrorCode;
use crate::event;
use crate::id::{InvocationId, TaskId};
use crate::plan::StepId;
use crate::policy::redact;
use crate::task::{JournalEntry, JournalRow, Signal, StepOutcome, StepStatus, TaskStatus};

/// The place of an event: the row that it comes from, or after which it was written, and its place there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct EventId {
    /// The row of the journal; 0 is the beginning.
    pub row: i64,
    /// 0 for the event of the row itself, from 1 on for what follows it.
    pub n: u32,
}

impl EventId {
    /// The place of a row's own event, or of an entry of a log.
    #[must_use]
    pub const fn at(row: i64) -> Self {
        Self { row, n: 0 }
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.n {
            0 => write!(f, "{}", self.row),
            n => write!(f, "{}.{n}", self.row),
        }
    }
}

impl std::str::FromStr for EventId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (row, n) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Self { row: row.parse()?, n: n.parse()? })
    }
}

/// What happened.
#[derive(Clone, PartialEq, Debug)]
pub struct TurnEvent {
    /// Its place.
    pub id: EventId,
    /// Its name on the wire.
    pub name: &'static str,
    pub data: Value,
}

impl TurnEvent {
    fn new(row: i64, n: u32, name: &'static str, data: Value) -> Self {
        Self { id: EventId { row, n }, name, data }
    }

    /// A piece of a reply.
    #[must_use]
    pub fn delta(behind: i64, n: u32, piece: &str) -> Self {
        Self::new(behind, n, "message.delta", json!({"content": piece}))
    }
}

/// What a reader has to know of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TurnAddress {
    pub task: TaskId,
    pub turn: TurnRef,
}

/// The first event of every turn. It needs no row: that there is a task says it.
#[must_use]
pub fn start(heard: &TurnAddress) -> TurnEvent {
    let data = json!({"messageId": heard.turn.answer_id, "taskId": heard.task});
    TurnEvent::new(0, 0, "message.start", data)
}

/// The last event of a turn whose end stands in that row.
#[must_use]
pub fn done_of(row: i64) -> TurnEvent {
    TurnEvent::new(row, 1, "done", json!({}))
}

/// The events of a row as they stand in the log of its task, each with its place: behind the row's own entries. The end
/// of the log is its own.
pub fn in_log(heard: &TurnAddress, row: &JournalRow) -> impl Iterator<Item = (EventId, TurnEvent)> {
    let told = events_of(heard, row).into_iter().filter(|event| event.name != "done");
    let place = behind_entries(row.seq);
    (1_u32..).zip(told).map(move |(n, event)| (EventId { row: place, n }, event))
}

/// The first event of a turn, as it stands in the log of its task.
#[must_use]
pub fn start_in_log(heard: &TurnAddress) -> (EventId, TurnEvent) {
    (EventId { row: behind_entries(0), n: 1 }, start(heard))
}

/// The last place that a row has in a log; no entry stands there.
const fn behind_entries(row: i64) -> i64 {
    row * event::PLACES + event::PLACES - 1
}

#[must_use]
pub fn events_of(heard: &TurnAddress, row: &JournalRow) -> Vec<TurnEvent> {
    let mut events = Vec::new();
    match &row.entry {
        JournalEntry::Finished(outcome) => match (&outcome.reply, &row.tool) {
            (Some(_), _) => replied(heard, row, outcome, &mut events),
            (None, Some(tool)) => {
                let invocation = row.step.as_ref().map(|step| invocation_of(heard.task, step));
                let data = json!({"invocationId": invocation, "toolName": tool, "status": call_status(outcome)});
                events.push(TurnEvent::new(row.seq, 0, "tool.complete", data));
            }
            (None, None) => events.extend(completed(heard, row, outcome)),
        },
        JournalEntry::Waiting(wait) if wait.kind.is_person() => {
            let data = json!({
                "approvalId": wait.approval_id,
                "toolName": row.tool,
                "input": wait.details.get("args"),
                "reason": wait.reason,
                "kind": wait.kind,
            });
            events.push(TurnEvent::new(row.seq, 0, "approval.required", data));
        }
        // What was said before begins anew.
        JournalEntry::Answered { signal, .. } if matches!(**signal, Signal::Retry { .. }) => {
            let data = json!({"messageId": heard.turn.answer_id});
            events.push(TurnEvent::new(row.seq, 0, "message.reset", data));
        }
        JournalEntry::Recovered { .. } => {
            let data = json!({"messageId": heard.turn.answer_id});
            events.push(TurnEvent::new(row.seq, 0, "message.reset", data));
        }
        JournalEntry::Ended { status, error, .. } => {
            if let (TaskStatus::Failed, Some(error)) = (status, error) {
                let data = json!({"code": error.code, "message": redact::redact_text(&error.message)});
                events.push(TurnEvent::new(row.seq, 0, "error", data));
            }
            events.push(done_of(row.seq));
        }
        JournalEntry::Waiting(_)
        | JournalEntry::Retrying { .. }
        | JournalEntry::Opened(_)
        | JournalEntry::Answered { .. }
        | JournalEntry::Unreadable { .. } => {}
    }
    events
}

fn replied(heard: &TurnAddress, row: &JournalRow, outcome: &StepOutcome, events: &mut Vec<TurnEvent>) {
    let Some(reply) = &outcome.reply else { return };
    // A piece of which nothing can be shown yet has its place all the same.
    for (n, piece) in (1_u32..).zip(reply.shown_pieces()).filter(|(_, piece)| !piece.is_empty()) {
        events.push(TurnEvent::delta(reply.behind, n, &piece));
    }
    for (n, call) in (1_u32..).zip(&reply.calls) {
        if let CallOutcome::Step(step) = &call.became {
            let data = json!({"invocationId": invocation_of(heard.task, step), "toolName": call.tool});
            events.push(TurnEvent::new(row.seq, n, "tool.start", data));
        }
    }
}

/// The end of the turn's own step.
fn completed(heard: &TurnAddress, row: &JournalRow, outcome: &StepOutcome) -> Option<TurnEvent> {
    row.step.as_ref().filter(|step| step.as_str() == TURN_STEP)?;
    let of = |name: &str| outcome.data.get(name).cloned().unwrap_or_default();
    let usage = of("usage");
    let data = json!({
        "messageId": heard.turn.answer_id,
        "content": of("content"),
        "tokenCount": usage.get("outputTokens"),
        "usage": usage,
        "finishReason": of("finishReason"),
        "memorySuggestions": of("memorySuggestions"),
    });
    Some(TurnEvent::new(row.seq, 0, "message.complete", data))
}

/// How a call ended, in one word: `success`, `denied`, `timeout` or `failure`.
#[must_use]
pub fn call_status(outcome: &StepOutcome) -> &'static str {
    match (outcome.status, outcome.error.as_ref().map(|error| error.code)) {
        (StepStatus::Completed, _) => "success",
        (_, Some(ErrorCode::PermissionDenied)) => "denied",
        (_, Some(ErrorCode::Timeout)) => "timeout",
        (StepStatus::Failed | StepStatus::Skipped, _) => "failure",
    }
}

/// The id of a call: made of its task and its step, and so the same wherever it is asked for.
#[must_use]
pub fn invocation_of(task: TaskId, step: &StepId) -> InvocationId {
    let id = task.as_uuid();
    let mut hasher = blake3::Hasher::new();
    hasher.update(id.as_bytes()).update(step.as_str().as_bytes());
    let hash = hasher.finalize();
    let mut tail = [0_u8; 10];
    for (byte, of_hash) in tail.iter_mut().zip(hash.as_bytes()) {
        *byte = *of_hash;
    }
    let millis = id.as_bytes().iter().take(6).fold(0_u64, |millis, byte| (millis << 8) | u64::from(*byte));
    InvocationId::from_uuid(Builder::from_unix_timestamp_millis(millis, &tail).into_uuid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ordered_as_they_come_and_survive_the_way_through_text() {
        let ids = ["0", "1", "1.1", "1.2", "1.10", "2", "10"].map(|text| text.parse::<EventId>().unwrap());
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(ids[4].to_string(), "1.10");
        assert!("x".parse::<EventId>().is_err() && "1.y".parse::<EventId>().is_err() && "".parse::<EventId>().is_err());
    }

    #[test]
    fn a_call_has_one_id_and_another_call_another() {
        let task = TaskId::from_uuid(uuid::Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001));
        let of = |step: &str| invocation_of(task, &StepId::trusted(step));
        assert_eq!(of("a"), of("a"));
        assert_ne!(of("a"), of("b"));
        assert_eq!(of("a").as_uuid().get_version_num(), 7);
    }
}
