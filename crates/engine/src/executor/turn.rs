//! An agent's turn as the walk has it: how it ended, and what it leaves. All of it follows from the journal.

use std::sync::Arc;

use kybern_core::agent::{AskedCall, CallOutcome, TurnFinish};
use kybern_core::error::ErrorCode;
use kybern_core::task::{JournalEntry, StepError, StepOutcome};
use serde_json::{Map, Value, json};

use super::run::TaskRun;
use super::step::{Draft, RowDraft, fail, failed_row, failure};
use super::turn_rounds::{Rounds, rounds};
use super::walk::Walk;

/// How a turn ended, and what it leaves.
pub(crate) struct TurnEnd {
    pub(crate) finish: TurnFinish,
    pub(crate) error: Option<StepError>,
    pub(crate) data: Map<String, Value>,
    pub(crate) tainted: bool,
}

/// The end of an agent's turn as its journal tells it. `cut` says that somebody wants it to end now.
pub(crate) fn end_of(walk: &Walk, agent: usize, cut: bool) -> Option<TurnEnd> {
    let known = rounds(walk, agent)?;
    let turn = known.turn().ok()?;
    let last = known.rounds.last();
    let outcome = last.and_then(|round| round.question.outcome());
    let told = outcome.and_then(|outcome| outcome.turn_end);
    let error = outcome.and_then(|outcome| outcome.error.clone());
    let is_timeout = error.as_ref().is_some_and(|error| error.code == ErrorCode::Timeout);
    let finish = match (cut, turn.finish().or(told)) {
        (true, _) => TurnFinish::Cancelled,
        (false, Some(finish)) => finish,
        (false, None) if is_timeout => TurnFinish::Timeout,
        (false, None) => TurnFinish::Error,
    };
    let partial = last.and_then(|round| round.reply).filter(|_| error.is_some()).map(|reply| reply.shown());
    let text = partial.filter(|text| !text.is_empty()).unwrap_or_else(|| turn.text().to_owned());
    let error = match finish {
        TurnFinish::Timeout => Some(error.unwrap_or_else(|| {
            let message = format!("the turn took longer than {}", known.start.limits.time);
            failure(ErrorCode::Timeout, message)
        })),
        TurnFinish::Error => Some(error.unwrap_or_else(|| {
            let message = "the turn has used all that it may cost";
            failure(ErrorCode::BudgetExceeded, message)
        })),
        TurnFinish::Complete
        | TurnFinish::ToolUse
        | TurnFinish::MaxTokens
        | TurnFinish::IterationLimit
        | TurnFinish::ToolLimit
        | TurnFinish::ContentFilter
        | TurnFinish::NoModel
        | TurnFinish::Cancelled => None,
    };
    let data = json!({
        "content": text,
        "finishReason": finish,
        "model": known.rounds.iter().filter_map(|round| round.reply).next_back().map(|reply| &reply.model),
        "iterations": turn.iterations(),
        "toolCalls": tool_calls(&known),
        "usage": turn.usage(),
        "memorySuggestions": known.suggestions(),
    });
    let Value::Object(data) = data else { return None };
    Some(TurnEnd { finish, error, data, tainted: known.tainted() })
}

fn tool_calls(known: &Rounds<'_>) -> Vec<Value> {
    let all = known.rounds.iter().filter_map(|round| Some((round.reply?, &round.calls)));
    let pairs = all.flat_map(|(reply, nodes)| reply.calls.iter().zip(nodes));
    pairs
        .filter(|(call, _)| !matches!(call.became, CallOutcome::Suggested { .. }))
        .map(|(call, node)| {
            let outcome = node.and_then(|node| node.outcome());
            json!({
                "stepId": node.map(|node| &node.id),
                "name": call.tool.as_ref().unwrap_or(&call.function),
                "status": status_of(call, outcome.map(|outcome| &**outcome)),
            })
        })
        .collect()
}

/// How a call ended, in the words of the stream.
fn status_of(call: &AskedCall, outcome: Option<&StepOutcome>) -> &'static str {
    match (&call.became, outcome) {
        (CallOutcome::Answered { is_error: true, .. }, _) => "failure",
        (CallOutcome::Answered { .. } | CallOutcome::Suggested { .. }, _) => "success",
        (CallOutcome::Step(_), None) => "waiting",
        (CallOutcome::Step(_), Some(outcome)) => kybern_core::chat::call_status(outcome),
    }
}

/// The end of an agent step.
pub(crate) fn done(run: &TaskRun, index: usize) -> Draft {
    let node = run.walk.node(index);
    let Some(ended) = end_of(&run.walk, index, false) else {
        return fail(run, index, failure(ErrorCode::Internal, "the turn cannot be read from its journal"), false);
    };
    let summary = format!("the turn has ended: {}", ended.finish.as_str());
    let row = match ended.error {
        Some(error) => {
            let mut row = failed_row(run, node, node.attempts.max(1), error, ended.tainted);
            if let Some(outcome) = row.entry.outcome_mut() {
                outcome.data = Value::Object(ended.data);
            }
            RowDraft { summary, ..row }
        }
        None => {
            let mut outcome = StepOutcome::completed(Value::Object(ended.data));
            outcome.tainted = ended.tainted;
            RowDraft::of(node, 1, summary, JournalEntry::Finished(Arc::new(outcome)))
        }
    };
    Draft::row(row)
}
