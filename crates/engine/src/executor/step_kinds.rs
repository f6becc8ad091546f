//! How each kind of step begins.

use kybern_core::error::ErrorCode;
use kybern_core::id::{OutboxId, TaskId};
use kybern_core::outbox::{NewOutbox, OutboxChannel};
use kybern_core::plan::step::LoopSource;
use kybern_core::plan::{StepKind, TaskTarget};
use kybern_core::task::{
    AttemptKey, Channel, ContainerOpening, Delegation, Effect, JournalEntry, NewChild, NewTask, Wait, WaitKind, limits,
};
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::node::Node;
use super::run::TaskRun;
use super::step::{Draft, RowDraft, fail, failure, render_object, render_value, unrendered, wait_of, wait_row};
use super::steps::StepBegin;
use super::taint::argument_is_tainted;
use crate::templates;

/// Begins a step whose condition holds.
pub(super) fn begin(run: &TaskRun, index: usize, now: Timestamp) -> StepBegin {
    let spec = &run.walk.node(index).spec;
    match &spec.kind {
        StepKind::Tool { .. } | StepKind::Agent { .. } | StepKind::Question | StepKind::Decision { .. } => {
            run.steps.begin(run, index, now)
        }
        StepKind::Input { title, fields } => StepBegin::Rows(input(run, index, title, fields, now)),
        StepKind::Condition { test, .. } => {
            StepBegin::Rows(match templates::truth(test, &run.surroundings.context(&run.walk, Some(index))) {
                Ok(taken) => opened(run, index, ContainerOpening::Branch { taken }),
                Err(error) => unrendered(run, index, "if", &error),
            })
        }
        StepKind::Parallel { .. } => StepBegin::Rows(opened(run, index, ContainerOpening::Branches)),
        StepKind::Loop { source, max_iterations, .. } => StepBegin::Rows(repeat(run, index, source, *max_iterations)),
        StepKind::Workflow { workflow, args } => StepBegin::Rows(delegate(run, index, workflow, args, now)),
        StepKind::Task { target, input } => StepBegin::Rows(child(run, index, target, input, now)),
    }
}

fn opened(run: &TaskRun, index: usize, opening: ContainerOpening) -> Draft {
    let node = run.walk.node(index);
    Draft::row(RowDraft::of(node, 0, String::new(), JournalEntry::Opened(opening)))
}

fn input(run: &TaskRun, index: usize, title: &Value, fields: &Value, now: Timestamp) -> Draft {
    let node = run.walk.node(index);
    let title = match render_value(run, index, title) {
        Ok(Value::String(title)) => title,
        Ok(other) => other.to_string(),
        Err(error) => return unrendered(run, index, "title", &error),
    };
    let mut wait = wait_of(&node.id, WaitKind::Input, title.clone(), now);
    wait.title = Some(title);
    wait.schema = crate::schema::form(fields);
    wait.until = until(node, now);
    Draft::row(wait_row(node, wait))
}

fn repeat(run: &TaskRun, index: usize, source: &LoopSource, max_iterations: u32) -> Draft {
    match source {
        LoopSource::While(test) => next_round(run, index, test, max_iterations),
        LoopSource::Over(items) => {
            let rendered = match render_value(run, index, items) {
                Ok(rendered) => rendered,
                Err(error) => return unrendered(run, index, "over", &error),
            };
            let Value::Array(list) = rendered else {
                let message = "over must be a list".to_owned();
                return fail(run, index, failure(ErrorCode::Unprocessable, message), false);
            };
            if list.len() > usize::try_from(max_iterations).unwrap_or(usize::MAX) {
                let message = format!("over has {} items, more than maxIterations {max_iterations}", list.len());
                return fail(run, index, failure(ErrorCode::Unprocessable, message), false);
            }
            let tainted = argument_is_tainted(run, index, items);
            opened(run, index, ContainerOpening::Items { items: list, tainted })
        }
    }
}

/// Looks whether a while loop goes on, and opens its next round.
pub(super) fn next_round(run: &TaskRun, index: usize, test: &str, max_iterations: u32) -> Draft {
    let node = run.walk.node(index);
    let n = u32::try_from(node.lists.len()).unwrap_or(u32::MAX);
    match templates::truth(test, &run.surroundings.context(&run.walk, Some(index))) {
        Err(error) => unrendered(run, index, "while", &error),
        Ok(false) => super::containers::container_done(run, index),
        Ok(true) if n >= max_iterations => {
            let message = format!("the loop did not end within maxIterations {max_iterations}");
            fail(run, index, failure(ErrorCode::Unprocessable, message), false)
        }
        Ok(true) => opened(run, index, ContainerOpening::Round { n }),
    }
}

fn delegate(run: &TaskRun, index: usize, workflow: &str, args: &Map<String, Value>, now: Timestamp) -> Draft {
    match render_object(run, index, args) {
        Ok(args) => delegation(run, index, workflow, args, now),
        Err(error) => unrendered(run, index, "args", &error),
    }
}

/// Hands a step over: the delegation and its dispatch are committed together, the dispatch is sent afterwards.
pub(crate) fn delegation(
    run: &TaskRun,
    index: usize,
    workflow: &str,
    args: Map<String, Value>,
    now: Timestamp,
) -> Draft {
    let node = run.walk.node(index);
    let Some(endpoint) = run.kernel.settings.workflows.get(workflow) else {
        let message = format!("workflow {workflow:?} is not configured, add [workflows.{workflow}] url");
        return fail(run, index, failure(ErrorCode::Workflow, message), false);
    };
    let workflow_id = AttemptKey::mint(run.task.tenant, run.task.id, &node.id, node.generation).to_string();
    let patience = node.spec.timeout.or(endpoint.deadline).unwrap_or(run.kernel.settings.delegation_deadline);
    let deadline = now.plus(patience);
    let mut wait = wait_of(&node.id, WaitKind::Workflow, format!("handed to workflow {workflow}"), now);
    wait.until = Some(deadline);
    wait.reference = Some(workflow_id.clone());
    let callback = format!("{}/api/internal/brain/callback/{}", run.kernel.settings.public_url, run.task.id);
    let body = json!({
        "workflowId": workflow_id,
        "workflow": workflow,
        "taskId": run.task.id,
        "stepId": node.id,
        "args": args,
        "callbackUrl": callback,
        "deadline": deadline,
        "traceId": run.task.trace_id,
    });
    let message = NewOutbox {
        id: OutboxId::from_uuid(run.kernel.ids.next()),
        channel: OutboxChannel::Workflow,
        target: workflow.to_owned(),
        key: workflow_id.clone(),
        body,
    };
    let early = run.walk.early_callback(&workflow_id).cloned();
    let delegation = Delegation { step: node.id.clone(), workflow: workflow.to_owned(), workflow_id, deadline };
    let mut draft = Draft { effects: vec![Effect::Delegate(Box::new(delegation))], ..Draft::row(wait_row(node, wait)) };
    match early {
        // Its engine has answered already: there is nothing left to ask.
        Some(answer) => draft.rows.push(super::signals::called_back(run, index, &answer)),
        None => draft.effects.push(Effect::Send(Box::new(message))),
    }
    draft
}

/// When a step's own time is over, where it has one.
fn until(node: &Node, now: Timestamp) -> Option<Timestamp> {
    node.spec.timeout.map(|timeout| now.plus(timeout))
}

fn child(run: &TaskRun, index: usize, target: &TaskTarget, written: &Value, now: Timestamp) -> Draft {
    let node = run.walk.node(index);
    if let Some(child) = &node.child {
        // The task is tried again, and so is the child that it has: what that had done stays done.
        let wait = Wait { since: now, until: until(node, now), ..(*child.wait).clone() };
        return Draft { effects: vec![Effect::Reopen(child.id)], ..Draft::row(wait_row(node, wait)) };
    }
    let TaskTarget::Plan(key) = target else {
        let message = "capabilities cannot be used: there is no marketplace on this server".to_owned();
        return fail(run, index, failure(ErrorCode::Unprocessable, message), false);
    };
    if run.task.depth >= limits::MAX_DEPTH {
        let message = format!("children may lie {} deep, this one would lie deeper", limits::MAX_DEPTH);
        return fail(run, index, failure(ErrorCode::Unprocessable, message), false);
    }
    let Some(plan) = run.steps.plan(key).filter(|plan| plan.quarantine.is_empty()) else {
        // Another version of the program may have it, or what it needs.
        return super::put_off::put_off(node, "plan", key, now).unwrap_or_else(|| {
            let message = format!("there is no usable plan {key:?} for the child");
            fail(run, index, failure(ErrorCode::Unprocessable, message), false)
        });
    };
    let input = match render_value(run, index, written) {
        Ok(input) => input,
        Err(error) => return unrendered(run, index, "input", &error),
    };
    let (text, payload) = match input {
        Value::String(text) => (text, Value::Null),
        other => (String::new(), other),
    };
    let id = TaskId::from_uuid(run.kernel.ids.next());
    let mut wait = wait_of(&node.id, WaitKind::Child, format!("started a child task with plan {key}"), now);
    wait.reference = Some(id.to_string());
    wait.until = until(node, now);
    // What a stranger wrote stays a stranger's when it is handed on.
    let untrusted = run.task.channel.is_untrusted();
    let tainted = argument_is_tainted(run, index, written);
    let task = NewTask {
        channel: match (untrusted, tainted) {
            (true, _) => run.task.channel,
            // What comes from a document or the web is as little to be trusted as a stranger's webhook.
            (false, true) => Channel::Webhook,
            (false, false) => Channel::System,
        },
        dedupe_key: Some(AttemptKey::mint(run.task.tenant, run.task.id, &node.id, node.generation).to_string()),
        input: text,
        payload,
        plan: Some(run.kernel.frozen.freeze(plan)),
        ..run.child(id, &node.id, now)
    };
    Draft { effects: vec![Effect::Spawn(Box::new(NewChild { task }))], ..Draft::row(wait_row(node, wait)) }
}
