//! What is written with a step: records, links, messages, jobs, children, delegations, and the engine's own nouns.

use kybern_core::job::{NewJob, limits};
use kybern_core::outbox::NewOutbox;
use kybern_core::record::PutRecord;
use kybern_core::task::{Delegation, Effect};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use super::commit::PreparedCommit;
use super::{journal, nouns, steer, submit};
use crate::db::{Tx, args, statements};
use crate::error::Result;
use crate::record_admin::ChangedBy;
use crate::{approvals, chats, jobs, outbox, records};

statements! {
    DELEGATE = shared "delegation_insert";
    LINK = shared "artifact_insert";
}

/// Whether an effect may be refused, so that everything has to be checked before anything is written.
pub(super) fn must_check(effects: &[Effect]) -> bool {
    effects.iter().any(Effect::may_be_refused)
}

/// Checks what tools believed.
pub(super) async fn check(tx: &mut Tx, scope: TenantScope, effects: &[Effect]) -> Result<()> {
    let mut seen = Vec::new();
    for effect in effects {
        if let Effect::Noun(noun) = effect {
            nouns::check(tx, scope, noun).await?;
        } else if let Effect::Put(put) = effect {
            let name = (put.kind.as_str(), put.key.as_str());
            // A second put of one commit meets what the first one wrote, not what the tool read.
            if !seen.contains(&name) {
                records::check(tx, scope, put).await?;
                seen.push(name);
            }
        }
    }
    Ok(())
}

/// Writes all effects in order.
pub(super) async fn write(tx: &mut Tx, prepared: &PreparedCommit) -> Result<()> {
    let commit = &prepared.commit;
    let (scope, task, at) = (prepared.lease.scope(), prepared.lease.task(), commit.at);
    for (place, effect) in commit.effects.iter().enumerate() {
        match effect {
            Effect::Put(put) => {
                let step = commit.effects.get(place..).and_then(|rest| step_of(rest, put));
                records::put(tx, scope, put, (ChangedBy::Step(task, step), at)).await?;
            }
            Effect::Link { link, step, tool } => {
                let known = records::id_of(tx, scope, &link.kind, &link.key).await?;
                let metadata = json!(link.metadata).to_string();
                let args = args![
                    scope,
                    task.as_uuid(),
                    link.kind.as_str(),
                    known.unwrap_or(link.record_id).as_uuid(),
                    link.key.as_str(),
                    link.role.as_str(),
                    metadata,
                    step.as_str(),
                    tool.as_deref(),
                    at,
                ];
                tx.execute(&LINK, args).await?;
            }
            Effect::Send(message) => send(tx, scope, Some(task), message, at).await?,
            Effect::Enqueue(job) => {
                jobs::insert(tx, scope, job, at).await?;
            }
            Effect::Spawn(child) => submit::spawn(tx, scope, &child.task).await?,
            Effect::Reopen(child) => steer::reopen_child(tx, &prepared.lease, *child, commit.signals_seen, at).await?,
            Effect::Cancel(child) => steer::cancel_child(tx, &prepared.lease, *child, at).await?,
            Effect::Delegate(delegation) => delegate(tx, prepared, delegation).await?,
            Effect::Answer(answer) => chats::answer(tx, scope, task, answer, at).await?,
            Effect::Attach(attached) => chats::attach(tx, scope, attached).await?,
            Effect::Noun(noun) => nouns::write(tx, scope, noun, at).await?,
            Effect::Ask(approval) => approvals::ask(tx, scope, task, approval, at).await?,
            Effect::Close { wait_seq, status } => {
                approvals::close(tx, (scope, task), *wait_seq, *status, at).await?;
            }
        }
    }
    Ok(())
}

/// The step that writes a record: the record's link, which follows it, names it.
fn step_of<'a>(effects: &'a [Effect], put: &PutRecord) -> Option<&'a str> {
    effects.iter().find_map(|effect| match effect {
        Effect::Link { link, step, .. } if link.kind == put.kind && link.key == put.key => Some(step.as_str()),
        _ => None,
    })
}

/// Puts a message into the outbox, with the job that sends it.
pub(super) async fn send(
    tx: &mut Tx,
    scope: TenantScope,
    task: Option<kybern_core::id::TaskId>,
    message: &NewOutbox,
    at: Timestamp,
) -> Result<()> {
    outbox::insert(tx, scope, task, message, at).await?;
    let job = NewJob {
        // The message has exactly one job, so both may carry the same id.
        id: kybern_core::id::JobId::from_uuid(message.id.as_uuid()),
        kind: outbox::SEND_JOB.to_owned(),
        payload: json!({ "outboxId": message.id }),
        dedupe_key: Some(message.id.to_string()),
        max_attempts: limits::DEFAULT_ATTEMPTS,
        due_at: at,
    };
    jobs::insert(tx, scope, &job, at).await.map(|_| ())
}

async fn delegate(tx: &mut Tx, prepared: &PreparedCommit, delegation: &Delegation) -> Result<()> {
    let (scope, task) = (prepared.lease.scope(), prepared.lease.task());
    let seq = match prepared.last_seq() {
        Some(seq) => seq,
        None => journal::last_seq(tx, scope, task).await?,
    };
    let args = args![
        scope,
        task.as_uuid(),
        delegation.workflow_id.as_str(),
        delegation.step.as_str(),
        delegation.workflow.as_str(),
        delegation.deadline,
        seq,
        prepared.commit.at,
    ];
    tx.execute(&DELEGATE, args).await.map(|_| ())
}
