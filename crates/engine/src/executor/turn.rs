//! An agent's turn as the walk has it: where it stands, what it asks next, what a reply becomes and how it ends. All of
//! it follows from the journal; what a turn took in time is the time of its questions and calls, so that neither a
//! person who thinks nor a server that is down uses it up.

use std::sync::Arc;

use kybern_core::agent::{AgentDraft, AskedCall, Called, Move, TurnFinish, TurnLimits, TurnStart};
use kybern_core::chat::{Attached, TURN_STEP, TurnRef};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::model::ModelMessage;
use kybern_core::plan::{StepId, StepKind};
use kybern_core::task::{JournalEntry, Opening, StepError, StepOutcome, StepStatus};
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::Needs;
use kybern_core::trace::traceparent;
use serde_json::{Map, Value, json};

use super::node::Node;
use super::run::Run;
use super::step::{
    Begun, Call, Draft, RowDraft, Target, fail, failed_row, failure, render_value, retry_policy, unrendered,
};
use super::taint::argument_is_tainted;
use super::turn_reply::{Answer, replied_with};
use super::turn_rounds::{Rounds, rounds};
use super::walk::Walk;
use crate::agent::{Came, Files, Gathered, MAX_SUGGESTIONS, Question, SUGGEST_MEMORY, Subject, keep_short, transcript};
use crate::tools::ToolSnapshot;

/// Begins an agent step: what holds for its turn is written down.
pub(super) fn begin(run: &Run, index: usize, agent: &str, written: &Value) -> Begun {
    let node = run.walk.node(index);
    let Some(found) = run.own.agent(agent) else {
        let message = format!("there is no agent {agent:?}, see GET /api/agents");
        return Begun::Rows(fail(run, index, failure(ErrorCode::NotFound, message), false));
    };
    // The input of a task is in the task; anything else is made of templates, and stays as it was.
    let text = match written.as_str() {
        Some(text) if text.trim() == "{{ task.input }}" => None,
        _ => match render_value(run, index, written) {
            Ok(Value::String(text)) => Some(text),
            Ok(other) => Some(other.to_string()),
            Err(error) => return Begun::Rows(unrendered(run, index, "task", &error)),
        },
    };
    let before = |index: &usize| {
        let node = run.walk.node(*index);
        let has_data = node.outcome().is_some_and(|outcome| !outcome.data.is_null());
        node.turn.is_none() && has_data && node.outcome().is_some_and(|one| one.status == StepStatus::Completed)
    };
    let seen: Vec<usize> = run.walk.in_plan_order().into_iter().filter(before).collect();
    let shown_tainted = seen.iter().any(|index| run.walk.node(*index).outcome().is_some_and(|one| one.tainted));
    let start = TurnStart {
        agent: found.draft.key.clone(),
        version: found.version,
        route: crate::agent::route_name(&found.draft),
        max_tokens: found.draft.max_tokens,
        temperature: found.draft.temperature,
        limits: within(found.draft.limits, node.spec.timeout),
        tools: tools_of(run, &found.draft),
        text,
        after: seen.iter().map(|index| run.walk.node(*index).id.clone()).collect(),
        tainted: shown_tainted || argument_is_tainted(run, index, written),
    };
    let entry = JournalEntry::Opened(Opening::Turn(Box::new(start)));
    Begun::Rows(Draft::row(RowDraft::of(node, 0, String::new(), entry)))
}

/// The tools of an agent in this task. Where there is no user, there is nobody to remember anything of.
fn tools_of(run: &Run, draft: &AgentDraft) -> Vec<String> {
    let mut tools = crate::agent::tools::named(&run.allowed.tools, draft).keys;
    tools.retain(|tool| tool != SUGGEST_MEMORY || run.task.user.is_some());
    tools
}

/// The limits of a turn in a step that may give it less time than its agent has.
fn within(limits: TurnLimits, timeout: Option<Millis>) -> TurnLimits {
    TurnLimits { time: timeout.map_or(limits.time, |timeout| timeout.min(limits.time)), ..limits }
}

/// Begins a question: the model is asked, or the turn is over.
pub(super) fn begin_question(run: &Run, index: usize, now: Timestamp) -> Begun {
    match question(run, index, now) {
        Ok(begun) => begun,
        Err(error) => Begun::Rows(fail(run, index, failure(error.code(), error.to_string()), false)),
    }
}

fn question(run: &Run, index: usize, now: Timestamp) -> Result<Begun> {
    let node = run.walk.node(index);
    let (Some(agent), Some(known)) = (node.turn, node.turn.and_then(|agent| rounds(&run.walk, agent))) else {
        return Err(Error::new(ErrorCode::Internal, "a question stands outside of every turn"));
    };
    let mut turn = known.turn()?;
    let left = known.left();
    let asked = match turn.go_on(left)? {
        Move::Ask(asked) => asked,
        Move::End(finish) => return Ok(Begun::Rows(unasked(node, finish))),
        Move::Call { .. } => return Err(Error::new(ErrorCode::Internal, "a turn calls what it has not asked for")),
    };
    let question = Question {
        scope: run.lease.scope(),
        user: run.task.user,
        task: run.task.id,
        tree: run.task.parent.is_none().then(|| (run.task.id, run.own_limits())),
        start: known.start.clone(),
        asked,
        said: transcript(&run.allowed.tools, &known.with_calls()),
        tools: Arc::clone(&run.allowed.tools),
        open: crate::agent::tools::open_to(&run.allowed.tools, &known.start.tools, &run.grant_of_model()),
        subject: subject(run, agent, known.start, now)?,
        gathered: run.talk.gathered(agent),
        behind: run.told_until(),
        tainted: known.tainted(),
        live: run.talk.live_for_reading(),
        traceparent: traceparent(&run.task.trace_id, &format!("{}/{}", run.task.id, node.id)),
    };
    Ok(Begun::Call(Box::new(Call {
        index,
        generation: node.generation,
        saw: run.walk.last_seq(),
        attempt: node.attempts + 1,
        context: run.tool_context(index, &Needs::default(), left, false, now),
        timeout: left,
        tainted: known.tainted(),
        possible_duplicate: false,
        is_suspect: false,
        asked_with: None,
        args_hash: None,
        rendered: None,
        target: Target::Question(Arc::new(question)),
    })))
}

/// A question that is not asked, because the turn is over.
fn unasked(node: &Node, finish: TurnFinish) -> Draft {
    let mut outcome = StepOutcome::bare(StepStatus::Skipped);
    outcome.turn_end = Some(finish);
    let summary = format!("not asked, the turn ends: {}", finish.as_str());
    Draft::row(RowDraft::of(node, 0, summary, JournalEntry::Finished(Box::new(outcome))))
}

fn subject(run: &Run, agent: usize, start: &TurnStart, now: Timestamp) -> Result<Subject> {
    let Some(known) = run.own.agent(&start.agent) else {
        let message = format!("the agent {:?} was deleted before its turn had ended", start.agent);
        return Err(Error::new(ErrorCode::NotFound, message));
    };
    let shown = start.after.iter().filter_map(|step| {
        let outcome = run.walk.node(run.walk.find(step)?).outcome()?;
        Some((step.as_str().to_owned(), outcome.data.to_string()))
    });
    let begun = run.opened_at(agent).unwrap_or(now);
    Ok(Subject {
        text: start.text.clone().unwrap_or_else(|| run.surroundings.input().to_string()),
        shown: shown.collect(),
        person: run.surroundings.person(),
        files: run.papers.came.then(|| Arc::new(run.documents())),
        agent: start.agent.clone(),
        user: run.task.user,
        strange: start.tainted,
        prompt: known.draft.system_prompt.clone(),
        latitude: run.latitude(),
        begun,
        since: begun.minus(start.limits.history),
        chat: run.talk.in_chat(),
    })
}

/// What the end of a question becomes.
pub(super) fn conclude(run: &Run, call: &Call, came: Came, duration: Millis, now: Timestamp) -> Draft {
    let node = run.walk.node(call.index);
    let mut draft = match came {
        Came::Reply(replied, usage, tainted) => {
            let outcome = Answer { usage, tainted: call.tainted || tainted, duration };
            replied_with(run, call, *replied, &outcome)
        }
        Came::Broke(error, partial, tainted) => {
            let policy = retry_policy(node, &call.target);
            let usage = error.usage;
            if error.retryable && partial.is_none() && call.attempt < policy.max_attempts {
                let due = now.plus(policy.delay(call.attempt, run.inner.random.unit()));
                let summary = format!("try {} of {} failed", call.attempt, policy.max_attempts);
                let entry = JournalEntry::Retrying { error: error.into(), due, rendered: None };
                Draft { usage, ..Draft::row(RowDraft::of(node, call.attempt, summary, entry)) }
            } else {
                let strange = call.tainted || tainted;
                let mut row = failed_row(run, node, call.attempt, StepError::from(error), strange);
                if let JournalEntry::Finished(outcome) = &mut row.entry {
                    outcome.reply = partial.map(|partial| Arc::new(*partial));
                    outcome.usage = usage;
                }
                Draft { usage, ..Draft::row(row) }
            }
        }
    };
    draft.takes_along = true;
    for row in &mut draft.rows {
        row.duration = duration;
    }
    draft
}

/// How a turn ended, and what it leaves.
pub(super) struct Ended {
    pub(super) finish: TurnFinish,
    pub(super) error: Option<StepError>,
    pub(super) data: Map<String, Value>,
    pub(super) tainted: bool,
}

/// The end of an agent's turn as its journal tells it. `cut` says that somebody wants it to end now.
pub(super) fn end_of(walk: &Walk, agent: usize, cut: bool) -> Option<Ended> {
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
    Some(Ended { finish, error, data, tainted: known.tainted() })
}

fn tool_calls(known: &Rounds<'_>) -> Vec<Value> {
    let all = known.rounds.iter().filter_map(|round| Some((round.reply?, &round.calls)));
    let pairs = all.flat_map(|(reply, nodes)| reply.calls.iter().zip(nodes));
    pairs
        .filter(|(call, _)| !matches!(call.became, Called::Suggested { .. }))
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
        (Called::Answered { is_error: true, .. }, _) => "failure",
        (Called::Answered { .. } | Called::Suggested { .. }, _) => "success",
        (Called::Step(_), None) => "waiting",
        (Called::Step(_), Some(outcome)) => kybern_core::chat::call_status(outcome),
    }
}

/// The end of an agent step.
pub(super) fn done(run: &Run, index: usize) -> Draft {
    let node = run.walk.node(index);
    let Some(ended) = end_of(&run.walk, index, false) else {
        return fail(run, index, failure(ErrorCode::Internal, "the turn cannot be read from its journal"), false);
    };
    let summary = format!("the turn has ended: {}", ended.finish.as_str());
    let row = match ended.error {
        Some(error) => {
            let mut row = failed_row(run, node, node.attempts.max(1), error, ended.tainted);
            if let JournalEntry::Finished(outcome) = &mut row.entry {
                outcome.data = Value::Object(ended.data);
            }
            RowDraft { summary, ..row }
        }
        None => {
            let mut outcome = StepOutcome::completed(Value::Object(ended.data));
            outcome.tainted = ended.tainted;
            RowDraft::of(node, 1, summary, JournalEntry::Finished(Box::new(outcome)))
        }
    };
    Draft::row(row)
}

/// What the turn of a conversation said on the way to its answer: replies with calls, and their results, as far as it is
/// kept for later turns.
pub(super) fn said(walk: &Walk, tools: &ToolSnapshot) -> Vec<ModelMessage> {
    let Some(index) = walk.find(&StepId::trusted(TURN_STEP)) else { return Vec::new() };
    let Some(known) = rounds(walk, index) else { return Vec::new() };
    let mut said = transcript(tools, &known.with_calls());
    keep_short(&mut said);
    said
}

/// The files that came with what was said, as far as they are kept for later turns. A turn ends without them when they
/// cannot be had.
pub(super) async fn attached(run: &Run, turn: TurnRef) -> Option<Attached> {
    let files = match Files::of(&run.documents()).await {
        Ok(files) => files,
        Err(error) => {
            tracing::warn!(task.id = %run.task.id, %error, "the files of a message are not kept for later turns");
            return None;
        }
    };
    let transcript = vec![files.kept()];
    (!files.is_empty()).then_some(Attached { chat_id: turn.chat_id, message_id: turn.message_id, transcript })
}

/// What the agents of a task would remember of its user, all of them together as much as one may.
pub(super) fn suggestions(walk: &Walk) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for index in walk.in_plan_order() {
        let known = rounds(walk, index).map(|known| known.suggestions()).unwrap_or_default();
        for memory in known {
            if all.len() < MAX_SUGGESTIONS && !all.contains(&memory) {
                all.push(memory);
            }
        }
    }
    all
}

/// The rows that end every open turn of a task that was cancelled: what there is stays.
pub(super) fn cut(run: &Run) -> Vec<RowDraft> {
    let open = |index: &usize| {
        let node = run.walk.node(*index);
        matches!(node.spec.kind, StepKind::Agent { .. }) && node.outcome().is_none() && node.opening.is_some()
    };
    let rows = run.walk.in_plan_order().into_iter().filter(open).filter_map(|index| {
        let mut ended = end_of(&run.walk, index, true)?;
        if let Some(text) = run.talk.half_written() {
            ended.data.insert("content".to_owned(), json!(text));
            // Its question is not in the journal, and so neither is whether it had read what strangers wrote.
            ended.tainted |= run.talk.gathered(index).get().is_none_or(Gathered::taints);
        }
        let mut outcome = StepOutcome::bare(StepStatus::Skipped);
        outcome.data = Value::Object(ended.data);
        outcome.tainted = ended.tainted;
        let entry = JournalEntry::Finished(Box::new(outcome));
        Some(RowDraft::of(run.walk.node(index), 0, "the turn was cancelled", entry))
    });
    rows.collect()
}
