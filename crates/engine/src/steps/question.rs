//! An agent's turn: where it stands, what it asks next, and what it leaves. All of it follows from the journal; what a turn
//! took in time is the time of its questions and calls, so that neither a person who thinks nor a server that is down uses
//! it up.

use std::sync::Arc;

use kybern_core::agent::{AgentDraft, TurnFinish, TurnLimits, TurnMove, TurnStart};
use kybern_core::budget::Limits;
use kybern_core::chat::{Attached, TURN_STEP, TurnRef};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::memory::MAX_SUGGESTIONS;
use kybern_core::model::ModelMessage;
use kybern_core::plan::{RetryPolicy, StepId, StepKind};
use kybern_core::task::{ContainerOpening, JournalEntry, StepError, StepOutcome, StepStatus};
use kybern_core::time::{Millis, Timestamp};
use kybern_core::trace::traceparent;
use serde_json::{Value, json};

use super::question_call::QuestionCall;
use super::reply::{ReplyFacts, replied_with};
use super::task_steps::TaskSteps;
use crate::agent::{
    ChatPosition, Files, GatheredContext, Person, Question, QuestionOutcome, ReplyRound, SUGGEST_MEMORY, TurnInput,
    keep_short, transcript,
};
use crate::executor::call::{KernelFacts, QuestionFacts};
use crate::executor::step::{Draft, RowDraft, fail, failed_row, failure, render_value, unrendered};
use crate::executor::steps::StepBegin;
use crate::executor::taint::argument_is_tainted;
use crate::executor::turn::end_of;
use crate::executor::turn_rounds::{Rounds, rounds};
use crate::executor::walk::Walk;
use crate::executor::{Node, TaskRun};
use crate::tools::ToolSnapshot;

/// Begins an agent step: what holds for its turn is written down.
pub(super) fn begin(own: &TaskSteps, run: &TaskRun, index: usize, agent: &str, written: &Value) -> StepBegin {
    let node = run.walk.node(index);
    let Some(found) = own.agent(agent) else {
        let message = format!("there is no agent {agent:?}, see GET /api/agents");
        return StepBegin::Rows(fail(run, index, failure(ErrorCode::NotFound, message), false));
    };
    // The input of a task is in the task; anything else is made of templates, and stays as it was.
    let text = match written.as_str() {
        Some(text) if text.trim() == "{{ task.input }}" => None,
        _ => match render_value(run, index, written) {
            Ok(Value::String(text)) => Some(text),
            Ok(other) => Some(other.to_string()),
            Err(error) => return StepBegin::Rows(unrendered(run, index, "task", &error)),
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
        tools: tools_of(own, run, &found.draft),
        text,
        after: seen.iter().map(|index| run.walk.node(*index).id.clone()).collect(),
        tainted: shown_tainted || argument_is_tainted(run, index, written),
    };
    let entry = JournalEntry::Opened(ContainerOpening::Turn(Box::new(start)));
    StepBegin::Rows(Draft::row(RowDraft::of(node, 0, String::new(), entry)))
}

/// The tools of an agent in this task. Where there is no user of the tenant, there is nobody to remember anything of.
fn tools_of(own: &TaskSteps, run: &TaskRun, draft: &AgentDraft) -> Vec<String> {
    let mut tools = crate::agent::tools::named(&own.tools, draft).keys;
    tools.retain(|tool| tool != SUGGEST_MEMORY || (run.task.user.is_some() && !run.is_abroad));
    tools
}

/// The limits of a turn in a step that may give it less time than its agent has.
fn within(limits: TurnLimits, timeout: Option<Millis>) -> TurnLimits {
    TurnLimits { time: timeout.map_or(limits.time, |timeout| timeout.min(limits.time)), ..limits }
}

/// Begins a question: the model is asked, or the turn is over.
pub(super) fn begin_question(own: &TaskSteps, run: &TaskRun, index: usize, now: Timestamp) -> StepBegin {
    match question(own, run, index, now) {
        Ok(begun) => begun,
        Err(error) => StepBegin::Rows(fail(run, index, failure(error.code(), error.to_string()), false)),
    }
}

fn question(own: &TaskSteps, run: &TaskRun, index: usize, now: Timestamp) -> Result<StepBegin> {
    let node = run.walk.node(index);
    let (Some(agent), Some(known)) = (node.turn, node.turn.and_then(|agent| rounds(&run.walk, agent))) else {
        return Err(Error::new(ErrorCode::Internal, "a question stands outside of every turn"));
    };
    let mut turn = known.turn()?;
    let left = known.left();
    let asked = match turn.go_on(left)? {
        TurnMove::Ask(asked) => asked,
        TurnMove::End(finish) => return Ok(StepBegin::Rows(unasked(node, finish))),
        TurnMove::Call { .. } => return Err(Error::new(ErrorCode::Internal, "a turn calls what it has not asked for")),
    };
    // What the task itself says that it may spend.
    let own_limits = run.task.budget.map(|cost| Limits { cost: Some(cost), ..Limits::default() });
    let gathered = own.shared.talk.gathered(agent);
    let behind = run.told_until();
    let looks_up = gathered.get().is_none();
    let question = Question {
        scope: run.lease.scope(),
        user: run.task.user,
        task: run.task.id,
        tree: run.task.parent.is_none().then_some((run.task.id, own_limits)),
        start: known.start.clone(),
        asked,
        said: transcript(&own.tools, &with_calls(&known)),
        tools: Arc::clone(&own.tools),
        open: crate::agent::tools::open_to(&own.tools, &known.start.tools, &own.grant_of_model()),
        subject: subject(own, run, agent, known.start, now)?,
        gathered,
        behind,
        tainted: known.tainted(),
        live: own.shared.talk.live_for_reading(),
        traceparent: traceparent(&run.task.trace_id, &format!("{}/{}", run.task.id, node.id)),
    };
    let facts = KernelFacts {
        index,
        is_unseen: false,
        is_effectful: false,
        reads_first: false,
        question: Some(QuestionFacts { behind, looks_up }),
        is_reply: false,
    };
    Ok(StepBegin::Call(Box::new(QuestionCall {
        facts,
        turns: Arc::clone(&own.services.turns),
        clock: Arc::clone(&own.services.clock),
        step: node.id.clone(),
        attempt: node.attempts + 1,
        timeout: left,
        tainted: known.tainted(),
        question: Arc::new(question),
        came: None,
    })))
}

/// Whose task it is, as far as a model is told.
fn person(run: &TaskRun) -> Option<Person> {
    let of = |name: &str| run.surroundings.user().get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Person { name: of("name")?, timezone: of("timezone")? })
}

/// The rounds that asked for calls.
fn with_calls<'a>(known: &'a Rounds<'_>) -> Vec<ReplyRound<'a>> {
    let mut found = Vec::with_capacity(known.rounds.len());
    for round in known.rounds.iter().filter(|round| round.completed()) {
        let Some(reply) = round.reply.filter(|reply| !reply.calls.is_empty()) else { continue };
        let outcomes = round.calls.iter().map(|node| node.and_then(Node::outcome).map(|one| &**one)).collect();
        found.push(ReplyRound { reply, outcomes });
    }
    found
}

/// A question that is not asked, because the turn is over.
fn unasked(node: &Node, finish: TurnFinish) -> Draft {
    let mut outcome = StepOutcome::bare(StepStatus::Skipped);
    outcome.turn_end = Some(finish);
    let summary = format!("not asked, the turn ends: {}", finish.as_str());
    Draft::row(RowDraft::of(node, 0, summary, JournalEntry::Finished(Arc::new(outcome))))
}

fn subject(own: &TaskSteps, run: &TaskRun, agent: usize, start: &TurnStart, now: Timestamp) -> Result<TurnInput> {
    let Some(known) = own.agent(&start.agent) else {
        let message = format!("the agent {:?} was deleted before its turn had ended", start.agent);
        return Err(Error::new(ErrorCode::NotFound, message));
    };
    let shown = start.after.iter().filter_map(|step| {
        let outcome = run.walk.node(run.walk.find(step)?).outcome()?;
        Some((step.as_str().to_owned(), outcome.data.to_string()))
    });
    let begun = run.opened_at(agent).unwrap_or(now);
    Ok(TurnInput {
        text: start.text.clone().unwrap_or_else(|| run.surroundings.input().to_string()),
        shown: shown.collect(),
        person: person(run),
        files: run.has_documents.then(|| Arc::new(own.documents(run))),
        agent: start.agent.clone(),
        user: run.task.user,
        strange: start.tainted,
        prompt: known.draft.system_prompt.clone(),
        permissions: own.latitude(),
        begun,
        since: begun.minus(start.limits.history),
        chat: run.task.turn().map(|turn| ChatPosition { chat: turn.chat_id, before: turn.message_id }),
    })
}

/// What the end of a question becomes.
pub(super) fn conclude(
    run: &TaskRun,
    call: &QuestionCall,
    came: QuestionOutcome,
    duration: Millis,
    now: Timestamp,
) -> Draft {
    let node = run.walk.node(call.facts.index);
    let mut draft = match came {
        QuestionOutcome::Reply(replied, usage, tainted) => {
            let outcome = ReplyFacts { usage, tainted: call.tainted || tainted, duration };
            replied_with(run, call, *replied, &outcome)
        }
        QuestionOutcome::Broke(error, partial, tainted) => {
            let policy = node.spec.retry.unwrap_or(RetryPolicy::DEFAULT);
            let usage = error.usage;
            if error.retryable && partial.is_none() && call.attempt < policy.max_attempts {
                let due = now.plus(policy.delay(call.attempt, run.kernel.random.unit()));
                let summary = format!("try {} of {} failed", call.attempt, policy.max_attempts);
                let entry = JournalEntry::Retrying { error: error.into(), due, rendered: None };
                Draft { usage, ..Draft::row(RowDraft::of(node, call.attempt, summary, entry)) }
            } else {
                let strange = call.tainted || tainted;
                let mut row = failed_row(run, node, call.attempt, StepError::from(error), strange);
                if let Some(outcome) = row.entry.outcome_mut() {
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

/// What the turn of a conversation said on the way to its answer: replies with calls, and their results, as far as it is
/// kept for later turns.
pub(super) fn said(walk: &Walk, tools: &ToolSnapshot) -> Vec<ModelMessage> {
    let Some(index) = walk.find(&StepId::trusted(TURN_STEP)) else { return Vec::new() };
    let Some(known) = rounds(walk, index) else { return Vec::new() };
    let mut said = transcript(tools, &with_calls(&known));
    keep_short(&mut said);
    said
}

/// The files that came with what was said, as far as they are kept for later turns. A turn ends without them when they
/// cannot be had.
pub(super) async fn attached(own: &TaskSteps, run: &TaskRun, turn: TurnRef) -> Option<Attached> {
    let files = match Files::of(&own.documents(run)).await {
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
pub(super) fn cut(own: &TaskSteps, run: &TaskRun) -> Vec<RowDraft> {
    let open = |index: &usize| {
        let node = run.walk.node(*index);
        matches!(node.spec.kind, StepKind::Agent { .. }) && node.outcome().is_none() && node.opening.is_some()
    };
    let rows = run.walk.in_plan_order().into_iter().filter(open).filter_map(|index| {
        let mut ended = end_of(&run.walk, index, true)?;
        if let Some(text) = own.shared.talk.half_written(run.asked_behind) {
            ended.data.insert("content".to_owned(), json!(text));
            // Its question is not in the journal, and so neither is whether it had read what strangers wrote.
            ended.tainted |= own.shared.talk.gathered(index).get().is_none_or(GatheredContext::taints);
        }
        let mut outcome = StepOutcome::bare(StepStatus::Skipped);
        outcome.data = Value::Object(ended.data);
        outcome.tainted = ended.tainted;
        let entry = JournalEntry::Finished(Arc::new(outcome));
        Some(RowDraft::of(run.walk.node(index), 0, "the turn was cancelled", entry))
    });
    rows.collect()
}
