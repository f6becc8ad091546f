//! Tool steps: what is checked before the call, and what its end becomes.

use std::sync::Arc;

use kybern_core::actor::Principal;
use kybern_core::audit::AuditEvent;
use kybern_core::error::ErrorCode;
use kybern_core::money::Usage;
use kybern_core::plan::RetryPolicy;
use kybern_core::task::{Effect, EffectClass, JournalEntry, StepError, StepOutcome, WaitKind};
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{Review, ToolFailure, ToolOutcome};
use serde_json::{Map, Value, json};

use super::not_made::{denial, not_made};
use super::task_steps::TaskSteps;
use super::tool_call::{Returned, Target, ToolCall};
use super::{confirm, lessons, reply, writes};
use crate::executor::call::KernelFacts;
use crate::executor::lessons::version_of;
use crate::executor::node::ApprovedArgs;
use crate::executor::open_effects::{DIED, ambiguous, cut_off};
use crate::executor::step::{Draft, RowDraft, fail, failed_row, failure, unrendered, wait_of, wait_row};
use crate::executor::steps::StepBegin;
use crate::executor::taint::anything_is_tainted;
use crate::executor::{Node, TaskRun, arguments, inject, step_kinds};
use crate::tools::OnlyHosts;

/// By how many milliseconds those who wait for the same place under a rate are spread, for each of 256 parts: half a
/// second in all.
const SPREAD: u64 = 2;

/// How often in a row a server may die while a call computes before the call is taken for the cause. A server that is
/// killed twice by its operator must not fail a harmless step.
const MOST_DEATHS: u32 = 3;

/// Begins a tool step.
pub(super) fn begin(
    own: &TaskSteps,
    run: &TaskRun,
    index: usize,
    (tool, written): (&str, &Map<String, Value>),
    now: Timestamp,
) -> StepBegin {
    let node = run.walk.node(index);
    // A yes holds for a call that begins in its time. Of one that has begun, another try is the same call.
    let has_begun = || node.attempts > 0 || run.open_attempt(&node.id, node.generation).is_some();
    let holds = |yes: &ApprovedArgs| yes.until.is_none_or(|until| now < until) || has_begun();
    let is_approved = node.answer.approved_args.as_ref().is_some_and(holds);
    let mut args = match arguments::of(run, index, written) {
        Ok(args) => args,
        Err(error) => return StepBegin::Rows(unrendered(run, index, "arguments", &error)),
    };
    let prepared = match own.prepare(run, node, tool, std::mem::take(&mut args.values)) {
        Ok(prepared) => prepared,
        Err(refusal) => {
            return StepBegin::Rows(not_made(own, run, index, (tool, &refusal), !args.tainted.is_empty(), now));
        }
    };
    // A yes is one to the tool as it was then.
    let is_changed = |known: &str| prepared.definition.source().is_some() && **prepared.definition.hash() != *known;
    let shown = node.answer.approved_args.as_ref().and_then(|yes| yes.tool_hash.as_deref());
    let is_approved = is_approved && !shown.is_some_and(is_changed);
    if is_approved && own.has_lost_its_user() {
        let message = "not made: the user for whom the task works has no role any more";
        let mut draft = fail(run, index, failure(ErrorCode::PermissionDenied, message.to_owned()), false);
        draft.audit.push(denial(run, index, tool, ErrorCode::PermissionDenied));
        return StepBegin::Rows(draft);
    }
    let is_suspect = run.earlier.after_crash && prepared.computes() && !prepared.effect.needs_attempt_row();
    let deaths = run.walk.recoveries_without_progress(run.task.recoveries);
    if is_suspect && deaths >= MOST_DEATHS && run.died_in(&node.id, node.generation) {
        let message = format!(
            "not begun again: the server died {deaths} times in a row while {tool} ran; give it less to work on, then \
             retry the task"
        );
        return StepBegin::Rows(fail(run, index, failure(ErrorCode::Internal, message), false));
    }
    if !is_approved && let Some(draft) = confirm::confirmation(run, index, &prepared, &args.tainted, now) {
        return StepBegin::Rows(draft);
    }
    let attempt = node.attempts + 1;
    // An earlier try may have had its effect although it failed, and so may one before a person's redo.
    let tried = node.attempts > 0 || node.generation > 0;
    let mut may_have_happened = tried && prepared.effect.needs_attempt_row();
    if let Some(open) = run.open_attempt(&node.id, node.generation) {
        may_have_happened = true;
        if open.effect == EffectClass::Unkeyed {
            return StepBegin::Rows(cut_off(run, index, open, DIED, now));
        }
        if open.tool_hash.as_deref().is_some_and(is_changed) {
            let message = format!("{DIED}, and the tool has been changed since");
            return StepBegin::Rows(cut_off(run, index, open, &message, now));
        }
    }
    let most = node.spec.timeout.unwrap_or(prepared.spec().timeout);
    let timeout = match reply::time_for(run, node, most) {
        Some(timeout) => timeout,
        // What may have happened already has to be found out.
        None if may_have_happened => most,
        None => {
            let message = "not made: its turn has no time left for it";
            return StepBegin::Rows(fail(run, index, failure(ErrorCode::Timeout, message), false));
        }
    };
    let needs = prepared.needs();
    let reads_tainted = needs.task && anything_is_tainted(&run.walk, index, run.task.channel);
    let mut context = own.tool_context(run, index, &needs, timeout, may_have_happened, now);
    if let (Some(http), Some(hosts)) = (&context.http, &prepared.hosts) {
        context.http = Some(OnlyHosts::over(http, hosts));
    }
    let tainted = !args.tainted.is_empty() || reads_tainted;
    context.behalf.tainted = tainted;
    let asked_with =
        if is_approved { Principal::of_label(&run.task.created_by).and_then(|maker| maker.key()) } else { None };
    let records_hash = prepared.effect.needs_attempt_row() || written.values().any(crate::templates::has_expression);
    let args_hash = records_hash.then(|| prepared.args_hash());
    // A local call happens once, in the commit of its step; any other may be seen outside at every try.
    let is_local = prepared.effect == EffectClass::Local;
    let rendered = if is_local { None } else { args.to_keep(node, written, &prepared.args) };
    let is_effectful = prepared.effect.needs_attempt_row();
    let reaches_out = needs.http || needs.model || needs.language_model || prepared.is_metered();
    let reads = needs.lessons || context.extractor.is_some();
    let facts = KernelFacts {
        index,
        is_unseen: !is_effectful && !reaches_out && !is_suspect,
        is_effectful,
        reads_first: reads && version_of(&run.walk).is_none(),
        question: None,
        is_reply: false,
    };
    StepBegin::Call(Box::new(ToolCall {
        facts,
        services: Arc::clone(&own.services),
        generation: node.generation,
        saw: args.saw,
        attempt,
        timeout,
        context,
        tainted,
        rendered,
        possible_duplicate: node.answer.possible_duplicate,
        is_suspect,
        asked_with,
        args_hash,
        target: Target::Tool(prepared),
        came: None,
    }))
}

/// Leaves a step until there is a place under its rates.
pub(super) fn later(run: &TaskRun, call: &ToolCall, due: Timestamp, error: StepError) -> Draft {
    let node = run.walk.node(call.facts.index);
    // Those who wait for the same place do not all come back at the same moment.
    let spread = Millis(u64::from(run.task.id.as_uuid().as_bytes()[15]) * SPREAD);
    let entry = JournalEntry::Retrying { error, due: due.plus(spread), rendered: call.rendered.clone() };
    Draft::row(RowDraft::of(node, node.attempts, "waits for a place under a rate limit", entry))
}

/// What the end of a call becomes.
pub(super) fn conclude(run: &TaskRun, call: &ToolCall, returned: Returned, now: Timestamp) -> Draft {
    let Returned { admitted, attempt, result, duration, cost } = returned;
    let refused = result.as_ref().err().map(|failure| failure.code);
    let used = match &result {
        Ok(outcome) => outcome.usage,
        Err(error) => error.usage,
    };
    let mut draft = match result {
        Ok(outcome) => succeeded(run, call, outcome, now),
        Err(error) => failed(run, call, error, now),
    };
    // Whatever the call came to, also when it asks, waits or fails.
    draft.usage = used.plus(Usage { cost_nanos: cost, ..Usage::default() });
    draft.rows.iter_mut().for_each(|row| row.duration = duration);
    if let Some(outcome) = draft.rows.first_mut().and_then(|row| row.entry.outcome_mut()) {
        outcome.usage = draft.usage;
    }
    draft.redo = Some(call.facts.index);
    draft.attempt = attempt;
    if admitted {
        draft.audit.extend(act(run, call, &draft, duration));
    }
    // What a call tried on its way is refused like the call itself: a closed address, another's host, a secret that may
    // not go there.
    let is_denial = |code: &ErrorCode| match code {
        ErrorCode::PermissionDenied => true,
        ErrorCode::BudgetExceeded => !admitted,
        _ => false,
    };
    if let (Target::Tool(prepared), Some(code)) = (&call.target, refused.filter(is_denial)) {
        draft.audit.push(denial(run, call.facts.index, &prepared.spec().key, code));
    }
    draft
}

/// A call that reached the outside is an act, also when it only reads there: it is audited whatever came of it. A local
/// step's row is its audit. What it was given is there as a digest under the tenant's key, which tells inputs apart and
/// gives none away.
fn act(run: &TaskRun, call: &ToolCall, draft: &Draft, duration: Millis) -> Option<AuditEvent> {
    let Target::Tool(prepared) = &call.target else { return None };
    if !prepared.effect.needs_attempt_row() && !prepared.needs().http {
        return None;
    }
    let came_to = draft.rows.first().map(|row| row.entry.kind());
    let status = draft.rows.first().and_then(|row| row.entry.status());
    let detail = json!({
        "tool": prepared.spec().key,
        "stepId": run.walk.node(call.facts.index).id,
        "attempt": call.attempt,
        "effect": prepared.effect,
        "inputHash": call.services.keys.digest_key(run.task.tenant).digest(&prepared.args),
        "possibleDuplicate": call.possible_duplicate,
        "status": status.or(came_to),
        "durationMs": duration,
        "traceId": run.task.trace_id,
    });
    Some(AuditEvent::by_executor("tool.call", format!("task:{}", run.task.id), detail))
}

fn effect_of(call: &ToolCall) -> Option<EffectClass> {
    match &call.target {
        Target::Tool(prepared) => Some(prepared.effect),
        Target::Handler(..) => Some(EffectClass::Read),
    }
}

fn tool_hash_of(call: &ToolCall) -> Option<Arc<str>> {
    match &call.target {
        Target::Tool(prepared) => Some(Arc::clone(prepared.definition.hash())),
        Target::Handler(..) => None,
    }
}

fn succeeded(run: &TaskRun, call: &ToolCall, outcome: ToolOutcome, now: Timestamp) -> Draft {
    let node = run.walk.node(call.facts.index);
    if let Some(review) = outcome.review {
        return Draft::row(asked(node, *review, now));
    }
    if let Some(delegate) = outcome.delegate {
        let (workflow, args) = *delegate;
        return step_kinds::delegation(run, call.facts.index, &workflow, args, now);
    }
    if let Some(until) = outcome.wait {
        let mut wait = wait_of(&node.id, WaitKind::Timer, outcome.summary, now);
        wait.until = Some(until.0);
        return Draft::row(wait_row(node, wait));
    }
    let (untrusted, trusted) = match &call.target {
        Target::Tool(prepared) => (prepared.spec().untrusted_output, prepared.spec().trusted_output),
        Target::Handler(..) => (true, false),
    };
    let tainted = untrusted || (!trusted && (call.tainted || outcome.tainted));
    let proposal = match inject::proposal(&outcome, node, &run.walk, run.task.max_steps, run.steps.as_ref()) {
        Ok(proposal) => proposal,
        Err(error) => return Draft::row(failed_row(run, node, call.attempt, error, tainted)),
    };
    let written = match writes::effects(run, call, outcome.writes, now) {
        Ok(written) => written,
        Err(error) => return Draft::row(failed_row(run, node, call.attempt, error, tainted)),
    };
    let mut finished = StepOutcome::completed(Value::Object(outcome.data));
    finished.tainted = tainted;
    finished.effect = effect_of(call);
    finished.tool_hash = tool_hash_of(call);
    finished.sent = u32::try_from(outcome.outbox.len()).unwrap_or(u32::MAX);
    finished.possible_duplicate = call.possible_duplicate;
    finished.injected = proposal.injected;
    finished.patch = proposal.patch;
    if finished.patch.is_some() {
        finished.ran_meanwhile = run.walk.running(call.facts.index).into_iter().cloned().collect();
    }
    finished.args_hash.clone_from(&call.args_hash);
    // The step did not see later rows, so a replay must hide them too.
    finished.saw = Some(call.saw).filter(|saw| *saw < run.walk.last_seq());
    let tool = node.spec.tool_key().map(str::to_owned);
    let mut effects = Vec::new();
    for change in outcome.records {
        finished.artifacts.push(change.link.clone());
        effects.push(Effect::Put(Box::new(change.put)));
    }
    finished.artifacts.extend(outcome.links);
    effects.extend(finished.artifacts.iter().map(|link| Effect::Link {
        link: link.clone(),
        step: node.id.clone(),
        tool: tool.clone(),
    }));
    effects.extend(outcome.outbox.into_iter().map(|message| Effect::Send(Box::new(message))));
    effects.extend(outcome.jobs.into_iter().map(|job| Effect::Enqueue(Box::new(job))));
    effects.extend(written);
    effects.extend(lessons::taught_by(run, &node.id, outcome.lessons, now));
    let row = RowDraft::of(node, call.attempt, outcome.summary, JournalEntry::Finished(Arc::new(finished)));
    Draft { rows: vec![row], effects, ..Draft::default() }
}

fn asked(node: &Node, review: Review, now: Timestamp) -> RowDraft {
    // A form is filled in; anything else that a tool asks is a review, even when its answer ends the step.
    let form = review.answer_is_result && review.title.is_some();
    let mut wait = wait_of(&node.id, if form { WaitKind::Input } else { WaitKind::Review }, review.reason, now);
    wait.answer_ends = review.answer_is_result;
    wait.title = review.title;
    wait.schema = review.schema;
    wait.details = review.details;
    wait_row(node, wait)
}

fn failed(run: &TaskRun, call: &ToolCall, error: ToolFailure, now: Timestamp) -> Draft {
    let node = run.walk.node(call.facts.index);
    let effect = effect_of(call).unwrap_or_default();
    if error.effect_unknown && effect == EffectClass::Unkeyed {
        return ambiguous(run, call.facts.index, effect, &error.message, now);
    }
    let policy = retry_policy(node, &call.target);
    if error.retryable && call.attempt < policy.max_attempts {
        let due = now.plus(policy.delay(call.attempt, run.kernel.random.unit()));
        let summary = format!("try {} of {} failed", call.attempt, policy.max_attempts);
        let entry = JournalEntry::Retrying { error: error.into(), due, rendered: call.rendered.clone() };
        return Draft::row(RowDraft::of(node, call.attempt, summary, entry));
    }
    // What a failure says may be the words of whoever was called, or of the arguments.
    let foreign = match &call.target {
        Target::Tool(prepared) => prepared.spec().untrusted_output,
        Target::Handler(..) => true,
    };
    let mut row = failed_row(run, node, call.attempt, StepError::from(error), foreign || call.tainted);
    if let Some(outcome) = row.entry.outcome_mut() {
        outcome.saw = Some(call.saw).filter(|saw| *saw < run.walk.last_seq());
        outcome.effect = Some(effect);
        outcome.tool_hash = tool_hash_of(call);
        outcome.possible_duplicate = call.possible_duplicate;
    }
    Draft::row(row)
}

/// How a node's call is tried again: the step says so, else the tool.
fn retry_policy(node: &Node, target: &Target) -> RetryPolicy {
    node.spec.retry.unwrap_or(match target {
        Target::Tool(prepared) => prepared.spec().retry,
        Target::Handler(..) => RetryPolicy::DEFAULT,
    })
}
