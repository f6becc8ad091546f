//! The log: what people read. It is expanded from the journal and holds keys, never values. What is secret or personal
//! in its sentences is taken out here; the journal itself stays exact.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::agent::ReplyRecord;
use crate::count::count;
use crate::plan::StepId;
use crate::policy::redact;
use crate::task::{ContainerOpening, JournalEntry, JournalRow, Signal, StepOutcome, StepStatus, Task, TaskStatus};
use crate::time::Timestamp;

words! {
    /// What happened, as `eventType`.
    pub enum EventType {
        TaskCreated = "task_created",
        StepStarted = "step_started",
        RoundStarted = "round_started",
        ChildEnded = "child_ended",
        StepCompleted = "step_completed",
        StepFailed = "step_failed",
        StepSkipped = "step_skipped",
        DynamicStepsInjected = "dynamic_steps_injected",
        PlanRevised = "plan_revised",
        NeedsReview = "needs_review",
        HumanReview = "human_review",
        Delegated = "delegated",
        WorkflowCallback = "workflow_callback",
        ZombieReset = "zombie_reset",
        TaskCompleted = "task_completed",
        TaskFailed = "task_failed",
        TaskCancelled = "task_cancelled",
        Unreadable = "unreadable",
    }
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// Its place: grows, and is the `Last-Event-ID` of the event stream.
    pub seq: i64,
    pub created_at: Timestamp,
    /// What happened.
    pub event_type: EventType,
    pub step_id: Option<String>,
    pub tool_key: Option<String>,
    /// The step's or the task's status.
    pub status: Option<&'static str>,
    /// What happened, in a few words; may be empty.
    pub summary: String,
    /// What went wrong.
    pub error: Option<String>,
    /// The names of the step's data.
    pub data_keys: Vec<String>,
    /// What else is known: counts, keys, durations, who answered, the title of a question.
    pub metadata: Map<String, Value>,
}

/// What the log says in the place of what cannot be read.
const UNREADABLE: &str = "what stands here cannot be read by this program; `kybern doctor` says what to do";

/// How many places in the log one row of the journal takes.
pub const PLACES: i64 = 8;

/// The row of the journal after which a reader who has seen log entry `seq` goes on.
#[must_use]
pub const fn row_before(seq: i64) -> i64 {
    // The row in which `seq` lies may have entries after it, so it is read again and filtered.
    (seq / PLACES) - 1
}

/// The first entry of every log. It needs no row: the task itself says it.
#[must_use]
pub fn created(task: &Task) -> LogEntry {
    let mut entry = LogEntry {
        seq: 0,
        created_at: task.created_at,
        event_type: EventType::TaskCreated,
        step_id: None,
        tool_key: None,
        status: Some(TaskStatus::Pending.as_str()),
        summary: format!("task came in by {}", task.channel),
        error: None,
        data_keys: Vec::new(),
        metadata: Map::new(),
    };
    entry.note(json!({"channel": task.channel, "createdBy": task.created_by, "forkedFrom": task.forked_from}));
    entry.redacted()
}

impl LogEntry {
    /// Takes the members of an object into its metadata, but for those that are null.
    fn note(&mut self, said: Value) {
        if let Value::Object(said) = said {
            self.metadata.extend(said.into_iter().filter(|(_, value)| !value.is_null()));
        }
    }

    /// The entry without secrets and personal data.
    fn redacted(mut self) -> Self {
        self.summary = redact::redacted(self.summary);
        self.error = self.error.map(redact::redacted);
        self.data_keys = self.data_keys.into_iter().map(redact::redacted).collect();
        redact::redact_members(&mut self.metadata);
        self
    }
}

/// A list that names something.
fn named<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

/// The entries that one row of the journal stands for.
#[must_use]
pub fn expand(row: &JournalRow) -> Vec<LogEntry> {
    let mut log = Expansion { row, entries: Vec::with_capacity(2) };
    match &row.entry {
        JournalEntry::Finished(outcome) => log.finished(outcome),
        JournalEntry::Retrying { error, due, .. } => {
            log.started();
            let entry = log.add(EventType::StepFailed, row.summary.clone());
            entry.error = Some(error.message.clone());
            entry.note(json!({"willRetryAt": due}));
        }
        JournalEntry::Opened(opening) => {
            let what = match opening {
                ContainerOpening::Branch { taken: true } => json!("then"),
                ContainerOpening::Branch { taken: false } => json!("else"),
                ContainerOpening::Branches => json!("branches"),
                ContainerOpening::Items { items, .. } => json!(items.len()),
                ContainerOpening::Round { n } => json!(n),
                ContainerOpening::Turn(start) => json!(start.agent),
            };
            let entry = match opening {
                // The step began with its first round.
                ContainerOpening::Round { n } if *n > 0 => log.add(EventType::RoundStarted, format!("round {}", n + 1)),
                ContainerOpening::Branch { .. }
                | ContainerOpening::Branches
                | ContainerOpening::Items { .. }
                | ContainerOpening::Turn(_)
                | ContainerOpening::Round { .. } => log.started(),
            };
            entry.note(json!({"opened": what}));
        }
        JournalEntry::Waiting(wait) => {
            let event = if wait.kind.is_person() {
                EventType::NeedsReview
            } else if wait.kind == crate::task::WaitKind::Workflow {
                EventType::Delegated
            } else {
                EventType::StepStarted
            };
            let entry = log.add(event, wait.reason.clone());
            entry.note(json!({
                "waitsFor": wait.kind,
                "title": wait.title,
                "approvalId": wait.approval_id,
                "reference": wait.reference,
                "until": wait.until,
            }));
        }
        JournalEntry::Answered { signal, .. } => log.answered(signal),
        // What was given up begins again, and its own rows tell of it.
        JournalEntry::Recovered { stopped: true, .. } => {}
        JournalEntry::Recovered { from, recoveries, may_have_begun, stopped: false } => {
            let entry = log.add(EventType::ZombieReset, format!("taken over from worker {from}"));
            entry.note(json!({"recoveries": recoveries, "mayHaveBegun": named(may_have_begun)}));
        }
        JournalEntry::Ended { status, error, skipped, may_have_run } => {
            let event = if *status == TaskStatus::Completed {
                EventType::TaskCompleted
            } else if *status == TaskStatus::Cancelled {
                EventType::TaskCancelled
            } else {
                EventType::TaskFailed
            };
            let entry = log.add(event, row.summary.clone());
            entry.status = Some(status.as_str());
            entry.error = error.as_ref().map(|error| error.message.clone());
            entry.note(json!({"neverRan": named(skipped), "mayHaveRun": named(may_have_run)}));
        }
        JournalEntry::Unreadable { problem } => {
            log.add(EventType::Unreadable, UNREADABLE.to_owned()).error = Some(problem.clone());
        }
    }
    log.entries.into_iter().map(LogEntry::redacted).collect()
}

struct Expansion<'a> {
    row: &'a JournalRow,
    entries: Vec<LogEntry>,
}

impl Expansion<'_> {
    #[expect(clippy::indexing_slicing, reason = "the entry was pushed on the line before")]
    fn add(&mut self, event_type: EventType, summary: String) -> &mut LogEntry {
        let place = i64::try_from(self.entries.len()).unwrap_or(PLACES - 1);
        self.entries.push(LogEntry {
            seq: self.row.seq * PLACES + place,
            created_at: self.row.at,
            event_type,
            step_id: self.row.step.as_ref().map(|step| step.as_str().to_owned()),
            tool_key: self.row.tool.clone(),
            status: None,
            summary,
            error: None,
            data_keys: Vec::new(),
            metadata: Map::new(),
        });
        let last = self.entries.len() - 1;
        &mut self.entries[last]
    }

    fn started(&mut self) -> &mut LogEntry {
        let (at, attempt) = (self.row.at.minus(self.row.duration), self.row.attempt);
        let entry = self.add(EventType::StepStarted, String::new());
        entry.created_at = at;
        entry.note(json!({"attempt": (attempt > 1).then_some(attempt)}));
        entry
    }

    fn finished(&mut self, outcome: &StepOutcome) {
        let event = match outcome.status {
            StepStatus::Completed => EventType::StepCompleted,
            StepStatus::Failed => EventType::StepFailed,
            StepStatus::Skipped => EventType::StepSkipped,
        };
        if outcome.status != StepStatus::Skipped && !outcome.begun_earlier {
            self.started();
        }
        let (duration, summary) = (self.row.duration, self.row.summary.clone());
        let entry = self.add(event, summary);
        entry.status = Some(outcome.status.as_str());
        entry.error = outcome.error.as_ref().map(|error| error.message.clone());
        entry.data_keys = outcome.data.as_object().map(|data| data.keys().cloned().collect()).unwrap_or_default();
        let reply = outcome.reply.as_ref();
        let calls = |reply: &ReplyRecord| reply.calls.iter().map(|call| call.function.clone()).collect::<Vec<_>>();
        entry.note(json!({
            "durationMs": duration,
            "effect": outcome.effect,
            "toolHash": outcome.tool_hash,
            "errorCode": outcome.error.as_ref().map(|error| error.code),
            "tolerated": outcome.tolerated.then_some(true),
            "sawRow": outcome.saw,
            "argsHash": outcome.args_hash,
            "ranMeanwhile": named(&outcome.ran_meanwhile),
            "maxSteps": outcome.over_cap,
            "finish": outcome.turn_end,
            "resolvedBy": outcome.told_by_person.then_some("person"),
            "takenOver": outcome.taken_over.then_some(true),
            "possibleDuplicate": outcome.possible_duplicate.then_some(true),
            "usage": (!outcome.usage.is_zero()).then_some(outcome.usage),
            "model": reply.map(|reply| &reply.model),
            "layers": reply.map(|reply| &reply.layers),
            "calls": reply.map(|reply| calls(reply)),
        }));
        if !outcome.injected.is_empty() {
            let ids: Vec<&StepId> = outcome.injected.iter().map(|step| &step.id).collect();
            let was = if ids.len() == 1 { "was" } else { "were" };
            let summary = format!("{} {was} added", count(ids.len(), "step"));
            let entry = self.add(EventType::DynamicStepsInjected, summary);
            entry.note(json!({"injectedSteps": ids}));
        }
        if let Some(patch) = &outcome.patch {
            let ids: Vec<&StepId> = patch.steps.iter().map(|step| &step.id).collect();
            let entry = self.add(EventType::PlanRevised, patch.reason.clone());
            entry.note(json!({"mode": patch.mode, "steps": ids}));
        }
    }

    fn answered(&mut self, signal: &Signal) {
        match signal {
            Signal::Review { wait_seq, corrections, resolution, by, .. } => {
                let entry = self.add(EventType::HumanReview, "a person answered".to_owned());
                let names: Vec<&String> = corrections.keys().collect();
                entry.note(json!({
                    // A wait is the first entry of its row.
                    "answersSeq": wait_seq * PLACES,
                    "correctionsApplied": names,
                    "reviewedBy": by,
                    "resolution": resolution,
                }));
            }
            Signal::Callback { workflow_id, success, error, .. } => {
                let summary = if *success { "the workflow succeeded" } else { "the workflow failed" };
                let entry = self.add(EventType::WorkflowCallback, summary.to_owned());
                entry.error.clone_from(error);
                entry.note(json!({"workflowId": workflow_id, "success": success}));
            }
            Signal::ChildEnded { child, status, .. } => {
                let entry = self.add(EventType::ChildEnded, format!("child task ended as {status}"));
                entry.note(json!({"childTaskId": child}));
            }
            Signal::Retry { by } => {
                let entry = self.add(EventType::HumanReview, "a person asked to try again".to_owned());
                entry.note(json!({"reviewedBy": by, "resolution": "retry"}));
            }
            Signal::Unreadable { problem } => {
                self.add(EventType::Unreadable, UNREADABLE.to_owned()).error = Some(problem.clone());
            }
        }
    }
}
