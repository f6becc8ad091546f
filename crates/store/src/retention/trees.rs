//! Trees of tasks that have ended, with everything that belongs to them alone: journals, attempts, signals, what was
//! handed over and asked, attachments, links, usage and account. A tree goes whole or stays whole. Records stay.

use std::collections::BTreeMap;

use kybern_core::budget::Payer;
use kybern_core::id::TaskId;
use kybern_core::retention::{Purge, PurgeStep};
use kybern_core::tenant::TenantScope;
use uuid::Uuid;

use super::PurgeUnit;
use crate::db::{Sql, Tx, args, statements};
use crate::error::Result;

statements! {
    TREES = shared "retention_trees";
    REMOVE = postgres "retention_tree";
    STEPS = shared "retention_task_steps";
    ATTEMPTS = shared "retention_task_attempts";
    DELEGATIONS = shared "retention_task_delegations";
    SIGNALS = shared "retention_task_signals";
    ATTACHMENTS = shared "retention_task_attachments";
    ARTIFACTS = shared "retention_task_artifacts";
    USAGE = shared "retention_task_usage";
    APPROVALS = shared "retention_task_approvals";
    MESSAGES = shared "retention_task_messages";
    ACCOUNT = shared "retention_task_account";
    TASK = shared "retention_task";
}

/// Trees that one transaction looks at.
const LOOKED_AT: u32 = 50;
/// Tasks after which a transaction ends; the tree that it stands in goes whole all the same.
const BATCH: usize = 100;

/// What names a task, in an order in which nothing names what is gone.
const OF_TASK: [&Sql; 10] =
    [&STEPS, &ATTEMPTS, &DELEGATIONS, &SIGNALS, &ATTACHMENTS, &ARTIFACTS, &USAGE, &APPROVALS, &MESSAGES, &TASK];

pub(super) async fn purge(tx: &mut Tx, asked: &PurgeUnit) -> Result<PurgeStep> {
    let (before, billed) = (asked.purge.before, Purge::billed_since(asked.at));
    let bounds = args![asked.scope, asked.after()?, asked.first_young(), before, billed, LOOKED_AT];
    // Each tree with its tasks, as long as every one of them may go.
    let mut trees: BTreeMap<Uuid, Option<Vec<Uuid>>> = BTreeMap::new();
    for mut row in tx.fetch_all(&TREES, bounds).await? {
        let (root, id, may_go) = (row.uuid()?, row.uuid()?, row.flag()?);
        let tree = trees.entry(root).or_insert_with(|| Some(Vec::new()));
        match tree {
            Some(ids) if may_go => ids.push(id),
            _ => *tree = None,
        }
    }
    let full = u32::try_from(trees.len()).unwrap_or(u32::MAX) >= LOOKED_AT;
    let mut step = PurgeStep { count: 0, next: trees.keys().next_back().filter(|_| full).map(ToString::to_string) };
    let mut tasks = 0;
    for (root, ids) in trees {
        let Some(ids) = ids else { continue };
        tasks += ids.len();
        step.count += if asked.purge.dry_run { ids.len() as u64 } else { remove(tx, asked.scope, root, &ids).await? };
        if tasks >= BATCH {
            step.next = Some(root.to_string());
            break;
        }
    }
    Ok(step)
}

/// Removes a tree, and answers how many tasks it had. On PostgreSQL it is looked at once more under its locks.
async fn remove(tx: &mut Tx, scope: TenantScope, root: Uuid, ids: &[Uuid]) -> Result<u64> {
    if tx.is_postgres() {
        let removed = tx.write_row(&REMOVE, args![root]).await?;
        return removed.map_or(Ok(0), |mut row| row.u64());
    }
    for id in ids {
        for statement in OF_TASK {
            tx.execute(statement, args![scope, *id]).await?;
        }
    }
    let payer = Payer::Tree(TaskId::from_uuid(root)).to_string();
    tx.execute(&ACCOUNT, args![scope, payer]).await?;
    Ok(ids.len() as u64)
}
