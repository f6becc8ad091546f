//! A task's row, from and to the database.

use kybern_core::actor::Rights;
use kybern_core::id::{TaskId, TenantId, UserId};
use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::plan::PlanHash;
use kybern_core::task::{Channel, Committed, Task, TaskKind, TaskStatus};

use crate::db::{Row, count};
use crate::error::Result;

/// Reads a row whose columns are those of `task_get.sql`.
///
/// What cannot be read is left empty and told: the task is still listed, claimed and cancelled, and nothing of it runs.
pub(super) fn task(row: &mut Row) -> Result<Task> {
    let mut unreadable = None;
    let mut task = Task {
        id: TaskId::from_uuid(row.uuid()?),
        tenant: TenantId::from_uuid(row.uuid()?),
        channel: row.named_or(Channel::parse, Channel::Webhook, &mut unreadable),
        status: row.named(TaskStatus::parse)?,
        input: row.text()?,
        payload: row.json_or_default(&mut unreadable),
        created_by: row.text()?,
        user: row.opt_uuid()?.map(UserId::from_uuid),
        intent: row.opt_text()?,
        confidence: row.opt_f64()?,
        plan: plan(row)?,
        plan_hash: row.opt_text()?.map(|hash| PlanHash::trusted(&hash)),
        max_steps: row.u32()?,
        confidence_threshold: row.f64()?,
        budget: row.opt_i64()?.map(NanoUsd),
        usage: usage(row)?,
        trace_id: row.text()?,
        parent: row.opt_uuid()?.map(TaskId::from_uuid).zip(row.opt_text()?),
        depth: row.u32()?,
        waits: row.json_or_default(&mut unreadable),
        current_step: row.opt_text()?,
        delegated_workflow_id: row.opt_text()?,
        result: row.opt_json_or_none(&mut unreadable),
        error: row.opt_json_or_none(&mut unreadable),
        created_at: row.time()?,
        started_at: row.opt_time()?,
        completed_at: row.opt_time()?,
        paused_at: row.opt_time()?,
        cancel_requested: row.flag()?,
        recoveries: row.u32()?,
        signals: row.i64()?,
        epoch: row.i64()?,
        forked_from: row.opt_uuid()?.map(TaskId::from_uuid),
        // Of a task of an earlier version nobody knows what its maker could do.
        rights: row.opt_i64()?.map_or(Rights::OPERATOR, Rights::from_bits),
        kind: row.named_or(TaskKind::parse, TaskKind::Plan, &mut unreadable),
        unreadable: None,
    };
    task.unreadable = unreadable;
    Ok(task)
}

fn plan(row: &mut Row) -> Result<Option<(String, u32)>> {
    let (key, version) = (row.opt_text()?, row.opt_i64()?);
    Ok(key.zip(version.and_then(|version| u32::try_from(version).ok())))
}

/// Reads tokens and cost.
pub(super) fn usage(row: &mut Row) -> Result<Usage> {
    Ok(Usage { input_tokens: Tokens(row.u64()?), output_tokens: Tokens(row.u64()?), cost_nanos: NanoUsd(row.i64()?) })
}

/// Tokens and cost as they are bound.
pub(super) fn amounts(usage: &Usage) -> (i64, i64, i64) {
    (count(usage.input_tokens.0), count(usage.output_tokens.0), usage.cost_nanos.0)
}

/// What the holder of a lease learns: signals, cancel, paused, in this order.
pub(super) fn told(row: &mut Row) -> Result<Committed> {
    Ok(Committed { signals: row.i64()?, cancel_requested: row.flag()?, paused: row.flag()? })
}

/// The same, packed into one number by the statements that append.
pub(super) fn unpack(told: i64) -> Committed {
    Committed { signals: told >> 2, cancel_requested: told & 2 != 0, paused: told & 1 != 0 }
}
