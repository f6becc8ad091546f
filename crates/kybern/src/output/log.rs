//! The log of a task: as lines while it grows, as a table, and folded into one line for each step.

use serde_json::Value;

use super::paint::Paint;
use super::table::{Cell, MAX_COLUMN, Table};
use super::text::{field, moment, span};

/// How a step stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StepMark {
    /// It succeeded.
    Done,
    Failed,
    /// It was not needed.
    Skipped,
    /// It runs, or will be tried again.
    Running,
    /// It waits for a person, an outside engine, a child or the clock.
    Waiting,
    /// Its turn has not come.
    Ahead,
}

impl StepMark {
    pub(crate) fn sign(self, paint: Paint) -> String {
        match self {
            Self::Done => paint.good("✓"),
            Self::Failed => paint.bad("✗"),
            Self::Skipped => paint.dim("-"),
            Self::Running => "…".to_owned(),
            Self::Waiting => paint.wait("…"),
            Self::Ahead => paint.dim("·"),
        }
    }
}

/// One step, as the log leaves it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Step {
    pub(crate) id: String,
    /// Its tool, where the log names one.
    pub(crate) tool: String,
    /// How it stands.
    pub(crate) mark: StepMark,
    /// What the log says about it, with its error.
    pub(crate) note: String,
}

/// The log folded into one entry for each step, in the order in which they were first seen.
pub(crate) fn steps(log: &[Value]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for entry in log {
        let id = field(entry, "stepId");
        let Some(mark) = mark(entry).filter(|_| !id.is_empty()) else { continue };
        let index = steps.iter().position(|step| step.id == id).unwrap_or_else(|| {
            steps.push(Step { id, tool: String::new(), mark, note: String::new() });
            steps.len() - 1
        });
        let Some(step) = steps.get_mut(index) else { continue };
        step.mark = mark;
        let tool = field(entry, "toolKey");
        if !tool.is_empty() {
            step.tool = tool;
        }
        step.note = note(entry);
    }
    steps
}

/// One entry as a line; `None` for one that only says that a step, or a round of it, has begun.
pub(crate) fn line(entry: &Value, paint: Paint) -> Option<String> {
    let event = field(entry, "eventType");
    if event == "step_started" || event == "round_started" {
        return None;
    }
    let time = moment(&field(entry, "createdAt"));
    let time = time.get(11..).unwrap_or(&time);
    let sign = mark(entry).map_or_else(|| task_sign(&event, paint), |mark| mark.sign(paint));
    let step = field(entry, "stepId");
    let subject = if step.is_empty() { event.replace('_', " ") } else { step };
    let mut line = format!("{}  {sign} {}", paint.dim(time), paint.bold(&subject));
    let note = note(entry);
    if !note.is_empty() {
        line.push_str(&format!("  {note}"));
    }
    if let Some(ms) = entry.pointer("/metadata/durationMs").and_then(Value::as_u64) {
        line.push_str(&paint.dim(&format!("  {}", span(ms))));
    }
    Some(line)
}

pub(crate) fn table(log: &[Value]) -> Table {
    let mut table = Table::new(&["TIME (UTC)", "EVENT", "STEP", "TOOL", "TOOK", "WHAT"]);
    for entry in log {
        let took = entry.pointer("/metadata/durationMs").and_then(Value::as_u64).map(span).unwrap_or_default();
        table.row([
            moment(&field(entry, "createdAt")).into(),
            field(entry, "eventType").into(),
            field(entry, "stepId").into(),
            field(entry, "toolKey").into(),
            took.into(),
            Cell::fitting(note(entry), MAX_COLUMN),
        ]);
    }
    table
}

fn note(entry: &Value) -> String {
    let (summary, error) = (field(entry, "summary"), field(entry, "error"));
    match (summary.is_empty(), error.is_empty() || summary.contains(&error)) {
        (_, true) => summary,
        (true, false) => error,
        (false, false) => format!("{summary}: {error}"),
    }
}

fn mark(entry: &Value) -> Option<StepMark> {
    Some(match entry.get("eventType").and_then(Value::as_str)? {
        "step_started" if entry.pointer("/metadata/waitsFor").is_some() => StepMark::Waiting,
        "step_started" | "round_started" | "child_ended" => StepMark::Running,
        "step_completed" => StepMark::Done,
        "step_failed" if entry.pointer("/metadata/willRetryAt").is_some() => StepMark::Running,
        "step_failed" => StepMark::Failed,
        "step_skipped" => StepMark::Skipped,
        "needs_review" | "delegated" => StepMark::Waiting,
        "human_review" | "workflow_callback" => StepMark::Running,
        _other => return None,
    })
}

fn task_sign(event: &str, paint: Paint) -> String {
    match event {
        "task_completed" => paint.good("✓"),
        "task_failed" => paint.bad("✗"),
        "task_cancelled" => paint.dim("-"),
        "zombie_reset" => paint.wait("!"),
        "unreadable" => paint.bad("!"),
        _other => paint.dim("·"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(event: &str, step: &str, summary: &str) -> Value {
        json!({"eventType": event, "stepId": step, "toolKey": "core.set", "summary": summary,
            "createdAt": "2026-09-21T14:13:20.123Z", "metadata": {"durationMs": 1200}})
    }

    #[test]
    fn a_step_is_what_the_log_says_last() {
        let log = [
            entry("step_started", "a", ""),
            entry("step_completed", "a", "done"),
            entry("step_started", "b", ""),
            entry("needs_review", "b", "who is it?"),
            json!({"eventType": "task_created", "summary": "came in"}),
        ];
        let steps = steps(&log);
        assert_eq!(steps.len(), 2);
        assert_eq!((steps[0].mark, steps[0].note.as_str()), (StepMark::Done, "done"));
        assert_eq!((steps[1].mark, steps[1].note.as_str()), (StepMark::Waiting, "who is it?"));
    }

    #[test]
    fn a_line_is_short() {
        let paint = Paint::new(false);
        let text = line(&entry("step_completed", "a", "done"), paint).unwrap();
        assert_eq!(text, "14:13:20  ✓ a  done  1.2 s");
        assert_eq!(line(&entry("step_started", "a", ""), paint), None);
        let text = line(&json!({"eventType": "task_failed", "summary": "stopped", "error": "no"}), paint).unwrap();
        assert_eq!(text.trim_start(), "✗ task failed  stopped: no");
    }
}
