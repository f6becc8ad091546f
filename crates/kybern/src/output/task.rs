//! A task for people: where it stands, what its steps did, what it made, whom it waits for and what to type next.

use kybern_core::count::count;
use serde_json::Value;

use super::command::kybern;
use super::log::{StepMark, steps};
use super::message::message;
use super::paint::Paint;
use super::read::read_table;
use super::table::{Cell, Table};
use super::text::{field, in_full, moment, short};
use super::waits::{person_waits, render_waits};

/// The most lines of a result that are shown.
const RESULT_LINES: usize = 24;

/// What there is to show of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskView<'a> {
    pub(crate) task: &'a Value,
    pub(crate) log: &'a [Value],
    /// The records that it is linked to.
    pub(crate) artifacts: &'a [Value],
    /// What it came with.
    pub(crate) files: &'a [Value],
}

/// The whole view.
pub(crate) fn render(view: TaskView<'_>, paint: Paint) -> String {
    let task = view.task;
    let mut parts = vec![head(task, paint)];
    parts.extend(message(task, view.files, paint));
    parts.extend(steps_of(view, paint));
    parts.extend(made(view.artifacts, paint));
    parts.extend(read(task, paint));
    parts.extend(result(task, paint));
    // What cannot be read cannot be answered either.
    parts.extend(open_waits(view, paint).filter(|_| unreadable(task).is_empty()));
    parts.extend(next(task, paint));
    parts.join("\n\n")
}

fn head(task: &Value, paint: Paint) -> String {
    let status = field(task, "status");
    let mut lines = vec![format!("task {}  {}", paint.bold(&field(task, "id")), paint.status(&status))];
    let mut add = |name: &str, text: String| {
        if !text.is_empty() {
            lines.push(format!("  {name:<9} {text}"));
        }
    };
    let confidence = task.get("confidenceScore").and_then(Value::as_f64);
    let intent = field(task, "detectedIntent");
    add(
        "intent",
        match confidence {
            Some(score) if !intent.is_empty() => format!("{intent} (confidence {score:.2})"),
            _unknown => intent,
        },
    );
    add("plan", plan(task));
    add("channel", field(task, "channel"));
    add("created", moment(&field(task, "createdAt")));
    add("ended", moment(&field(task, "completedAt")));
    add("paused", moment(&field(task, "pausedAt")));
    if task.get("cancelRequested") == Some(&Value::Bool(true)) && !is_terminal(&status) {
        add("cancel", "asked for".to_owned());
    }
    add("kept", task.pointer("/hold/reason").map(|reason| short(reason, 200)).unwrap_or_default());
    add("parent", field(task, "parentTaskId"));
    add("engine", field(task, "delegatedWorkflowId"));
    add("cost", cost(task));
    let reason = field(task, "errorMessage");
    add("unread", paint_nonempty(&unreadable(task), |text| paint.bad(text)));
    match status.as_str() {
        // Somebody said no; nothing broke.
        "cancelled" => add("reason", reason),
        _other => add("error", paint_nonempty(&reason, |text| paint.bad(text))),
    }
    lines.join("\n")
}

fn paint_nonempty(text: &str, paint: impl Fn(&str) -> String) -> String {
    if text.is_empty() { String::new() } else { paint(text) }
}

/// The plan's key, with its version where the task tells it.
pub(crate) fn plan(task: &Value) -> String {
    match task.get("selectedPlan") {
        Some(Value::Object(plan)) => {
            let plan = Value::Object(plan.clone());
            match field(&plan, "version") {
                version if version.is_empty() => field(&plan, "key"),
                version => format!("{} version {version}", field(&plan, "key")),
            }
        }
        _text => field(task, "selectedPlan"),
    }
}

fn cost(task: &Value) -> String {
    let count = |name: &str| task.pointer(&format!("/usage/{name}")).and_then(Value::as_i64).unwrap_or(0);
    let (input, output, nanos) = (count("inputTokens"), count("outputTokens"), count("costNanos"));
    if input == 0 && output == 0 && nanos == 0 {
        return String::new();
    }
    let micros = nanos / 1000;
    format!("${}.{:06}, {input} tokens in, {output} out", micros / 1_000_000, (micros % 1_000_000).abs())
}

fn steps_of(view: TaskView<'_>, paint: Paint) -> Option<String> {
    let seen = steps(view.log);
    let ended = is_terminal(&field(view.task, "status"));
    let line = |mark: StepMark, id: &str, what: &str, note: &str| {
        let about = if what.is_empty() { String::new() } else { format!("  {}", paint.dim(what)) };
        let note = if note.is_empty() { String::new() } else { format!("  {note}") };
        format!("  {} {id}{about}{note}", mark.sign(paint))
    };
    // The kernel's own phases have names with a leading underscore; they are told only while they matter.
    let is_phase = |id: &str| id.starts_with('_');
    let mut lines: Vec<String> = seen
        .iter()
        .filter(|step| !is_phase(&step.id) || step.mark != StepMark::Done)
        .map(|step| match step.mark {
            // Whoever cancels a task does not wait for its steps.
            StepMark::Running | StepMark::Waiting if ended => {
                line(StepMark::Skipped, &step.id, &step.tool, "was not finished")
            }
            mark => line(mark, &step.id, &step.tool, &step.note),
        })
        .collect();
    let planned = view.task.get("frozenPlan").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for step in planned {
        let id = field(step, "id");
        if !ended && !seen.iter().any(|known| known.id == id) {
            let what = match field(step, "tool") {
                tool if tool.is_empty() => field(step, "kind"),
                tool => tool,
            };
            lines.push(line(StepMark::Ahead, &id, &what, ""));
        }
    }
    (!lines.is_empty()).then(|| format!("steps\n{}", lines.join("\n")))
}

fn made(artifacts: &[Value], paint: Paint) -> Option<String> {
    let mut table = Table::new(&["RECORD", "KEY", "ROLE", "STEP"]);
    for artifact in artifacts {
        table.row([
            field(artifact, "kind").into(),
            field(artifact, "key").into(),
            Cell::from(field(artifact, "role")),
            field(artifact, "stepId").into(),
        ]);
    }
    (!table.is_empty()).then(|| format!("records\n{}", indent(&table.render(paint))))
}

/// What was read out of its documents, and where: all of it, because what is cut off may be what decides.
pub(crate) fn read(task: &Value, paint: Paint) -> Option<String> {
    let extractions = task.pointer("/state/extractions")?.as_array()?;
    let (table, _all) = read_table(extractions, usize::MAX);
    (!table.is_empty()).then(|| format!("read\n{}", indent(&table.render(paint))))
}

fn result(task: &Value, paint: Paint) -> Option<String> {
    let result = task.get("result").filter(|result| !result.is_null())?;
    let text = in_full(result, "  ");
    let mut lines: Vec<&str> = text.lines().collect();
    let more = lines.len().saturating_sub(RESULT_LINES);
    lines.truncate(RESULT_LINES);
    let mut text = format!("result\n{}", lines.join("\n"));
    if more > 0 {
        let lines = count(more, "more line");
        let hint = format!("\n  … {lines}: {kybern} task show {} --json", field(task, "id"), kybern = kybern());
        text.push_str(&paint.dim(&hint));
    }
    Some(text)
}

/// The waits that the log does not say were answered: a task keeps them until a worker has come to rest again.
fn open_waits(view: TaskView<'_>, paint: Paint) -> Option<String> {
    let seen = steps(view.log);
    let is_open = |wait: &&Value| {
        let id = field(wait, "stepId");
        seen.iter().find(|step| step.id == id).is_none_or(|step| step.mark == StepMark::Waiting)
    };
    render_waits(view.task, &person_waits(view.task).into_iter().filter(is_open).collect::<Vec<_>>(), paint)
}

/// Follows the status of a row that cannot be read.
pub(crate) const UNREADABLE: &str = ", unreadable";

/// Why a task, its plan or another row cannot be read; empty where it can.
pub(crate) fn unreadable(task: &Value) -> String {
    let problem = field(task, "unreadable");
    let is_told = problem.is_empty() || problem.contains("cannot be read");
    if is_told { problem } else { format!("it cannot be read: {problem}") }
}

/// What to do about a task that cannot be read.
pub(crate) fn remedy_of_unreadable(task: &Value) -> String {
    let id = field(task, "id");
    format!(
        "{kybern} doctor names it; bring it back from a backup, or give it up with {kybern} task cancel {id}",
        kybern = kybern()
    )
}

fn next(task: &Value, paint: Paint) -> Option<String> {
    let id = field(task, "id");
    let status = field(task, "status");
    let hint = match status.as_str() {
        open if !unreadable(task).is_empty() && !is_terminal(open) => remedy_of_unreadable(task),
        _paused if task.get("pausedAt").is_some_and(|at| !at.is_null()) => {
            format!("{kybern} task resume {id}", kybern = kybern())
        }
        // A task keeps its limit, also when it is tried again.
        "failed" if field(task, "errorMessage").starts_with("Max execution steps exceeded") => {
            "submit it again with a larger --max-steps (10000 at most)".to_owned()
        }
        "failed" => format!("{kybern} task log {id}, then {kybern} task retry {id}", kybern = kybern()),
        "completed" | "cancelled" | "needs_review" => return None,
        _running => format!("{kybern} task watch {id}", kybern = kybern()),
    };
    Some(format!("{} {hint}", paint.bold("next:")))
}

/// Whether a status is one that a task never leaves by itself.
fn is_terminal(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "cancelled")
}

pub(super) fn indent(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn show(task: &Value, log: &[Value], artifacts: &[Value]) -> String {
        render(TaskView { task, log, artifacts, files: &[] }, Paint::new(false))
    }

    #[test]
    fn a_waiting_task_says_what_to_type() {
        let task = json!({"id": "t1", "status": "needs_review", "channel": "email", "detectedIntent": "insurance.new_lead",
            "confidenceScore": 0.912, "createdAt": "2026-09-21T14:13:20.123Z",
            "frozenPlan": [{"id": "ask", "kind": "tool", "tool": "core.ask"}, {"id": "deal", "tool": "insurance.create_deal"}],
            "waits": [{"stepId": "ask", "seq": 9, "kind": "input", "reason": "the DOT number is missing", "title": "Carrier",
                "schema": {"required": ["dot"], "properties": {"dot": {"type": "string"}}}, "details": {"file": "a.pdf"}}]});
        let log = [json!({"eventType": "needs_review", "stepId": "ask", "toolKey": "core.ask", "summary": "asked"})];
        let expected = "task t1  needs_review\n  intent    insurance.new_lead (confidence 0.91)\n  channel   email\n  \
            created   2026-09-21 14:13:20\n\nsteps\n  … ask  core.ask  asked\n  · deal  insurance.create_deal\n\n\
            waits for a person\n  input at ask: the DOT number is missing\n    Carrier\n    file: a.pdf\n    \
            dot (text; required)\n    answer: kybern task review t1 --step ask --set dot=…\n    no:     kybern task review t1 --step ask --no --note WHY";
        assert_eq!(show(&task, &log, &[]), expected);
    }

    #[test]
    fn a_finished_task_says_what_it_made() {
        let task = json!({"id": "t1", "status": "completed", "result": {"deal": "D-1"},
            "usage": {"inputTokens": 10, "outputTokens": 5, "costNanos": 1_500_000}});
        let artifacts = [json!({"kind": "insurance.deal", "key": "D-1", "role": "created", "stepId": "deal"})];
        let text = show(&task, &[], &artifacts);
        assert!(text.contains("cost      $0.001500, 10 tokens in, 5 out"), "{text}");
        assert!(text.contains("insurance.deal  D-1  created  deal"), "{text}");
        assert!(text.contains("result\n  {\n    \"deal\": \"D-1\"\n  }"), "{text}");
        assert!(!text.contains("next:"), "{text}");
    }

    #[test]
    fn a_task_that_has_ended_waits_for_nothing() {
        let log = [
            json!({"eventType": "step_started", "stepId": "w", "summary": "waits", "metadata": {"waitsFor": "timer"}}),
        ];
        let text = show(&json!({"id": "t1", "status": "cancelled"}), &log, &[]);
        assert!(text.contains("- w  was not finished"), "{text}");
    }

    #[test]
    fn an_answered_wait_is_not_asked_again() {
        let task = json!({"id": "t1", "status": "executing", "waits": [{"stepId": "ask", "kind": "input"}]});
        let mut log = vec![json!({"eventType": "needs_review", "stepId": "ask"})];
        assert!(show(&task, &log, &[]).contains("task review t1"));
        log.push(json!({"eventType": "human_review", "stepId": "ask"}));
        assert!(!show(&task, &log, &[]).contains("task review t1"));
    }

    #[test]
    fn a_task_whose_plan_cannot_be_read_says_so_and_offers_no_answer() {
        let task = json!({"id": "t1", "status": "needs_review", "waits": [{"stepId": "ask", "kind": "input"}],
            "unreadable": "the frozen plan cannot be read: EOF"});
        let text = show(&task, &[], &[]);
        assert!(text.contains("unread    the frozen plan cannot be read: EOF"), "{text}");
        assert!(text.contains("kybern doctor") && text.contains("kybern task cancel t1"), "{text}");
        assert!(!text.contains("task review"), "{text}");
    }

    #[test]
    fn too_many_steps_are_not_tried_again() {
        let task =
            json!({"id": "t1", "status": "failed", "errorMessage": "Max execution steps exceeded (50): the plan"});
        assert!(show(&task, &[], &[]).contains("next: submit it again with a larger --max-steps"));
    }

    #[test]
    fn a_failed_task_says_how_to_go_on() {
        let text = show(&json!({"id": "t1", "status": "failed", "errorMessage": "no such carrier"}), &[], &[]);
        assert!(text.contains("error     no such carrier") && text.contains("kybern task retry t1"), "{text}");
    }
}
