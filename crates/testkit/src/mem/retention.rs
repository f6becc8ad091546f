//! Removing what is over and old.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::Payer;
use kybern_core::error::{Error, Result};
use kybern_core::id::{TaskId, TenantId};
use kybern_core::job::JobStatus;
use kybern_core::outbox::{OutboxMessage, OutboxStatus};
use kybern_core::ports::RetentionStore;
use kybern_core::record::Lookup;
use kybern_core::retention::{KeptTenant, Purge, PurgeStep, RetentionKind, TaskHold};
use kybern_core::task::{Channel, Task};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use super::MemStore;
use super::state::{MemState, conflict};

#[async_trait]
impl RetentionStore for MemStore {
    async fn kept_tenants(&self) -> Result<Vec<KeptTenant>> {
        self.run(|state| {
            let tenants = state.tenants.values().map(|it| KeptTenant {
                scope: crate::actors::scope(it.id),
                name: it.name.clone(),
                slug: it.slug.clone(),
            });
            Ok(tenants.collect())
        })
    }

    async fn purge(&self, scope: TenantScope, purge: &Purge, _after: Option<&str>, at: Timestamp) -> Result<PurgeStep> {
        self.run(|state| Ok(PurgeStep { count: state.purge(scope.tenant(), purge, at), next: None }))
    }

    async fn hold_task(&self, scope: TenantScope, hold: &TaskHold, audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            state.known(scope, hold.task_id)?;
            let place = (scope.tenant(), hold.task_id);
            if state.task_holds.contains_key(&place) {
                return Err(conflict("the task is on hold already"));
            }
            state.task_holds.insert(place, hold.clone());
            state.append_audit(scope.tenant(), hold.held_at, audit);
            Ok(())
        })
    }

    async fn release_task(&self, scope: TenantScope, id: TaskId, at: Timestamp, audit: AuditEvent) -> Result<()> {
        self.run(|state| {
            state.known(scope, id)?;
            state.task_holds.remove(&(scope.tenant(), id)).ok_or_else(|| conflict("the task is not on hold"))?;
            state.append_audit(scope.tenant(), at, audit);
            Ok::<_, Error>(())
        })
    }

    async fn task_hold(&self, scope: TenantScope, id: TaskId) -> Result<Option<TaskHold>> {
        self.run(|state| Ok(state.task_holds.get(&(scope.tenant(), id)).cloned()))
    }
}

impl MemState {
    fn purge(&mut self, tenant: TenantId, purge: &Purge, at: Timestamp) -> u64 {
        let removed = match purge.kept {
            RetentionKind::Files => self.purge_files(tenant, purge),
            RetentionKind::Chats | RetentionKind::IdempotencyKeys => 0,
            RetentionKind::Tasks => self.purge_tasks(tenant, purge, at),
            RetentionKind::Messages => self.purge_messages(tenant, purge),
            RetentionKind::Jobs => {
                let old = |row: &super::state::JobRow| {
                    let ended = row.finished_at.is_some_and(|at| at < purge.before);
                    row.tenant == tenant && row.status != JobStatus::Pending && ended
                };
                let count = self.jobs.iter().filter(|row| old(row)).count();
                if !purge.dry_run {
                    self.jobs.retain(|row| !old(row));
                }
                count
            }
        } as u64;
        if removed > 0 && !purge.dry_run {
            let detail = json!({"kind": purge.kept.as_str(), "count": removed, "before": purge.before});
            let event = AuditEvent::by_executor("retention.purge", format!("tenant:{tenant}"), detail);
            self.append_audit(tenant, at, event);
        }
        removed
    }

    fn purge_files(&mut self, tenant: TenantId, purge: &Purge) -> usize {
        let attached = self.tasks.values().filter(|row| row.task.tenant == tenant);
        let attached = attached.flat_map(|row| row.attachments.iter().map(|attachment| attachment.hash.clone()));
        let records = self.records.iter().filter(|((of, ..), _)| *of == tenant).flat_map(|(_, row)| &row.lookups);
        let kept = records.filter(|lookup| lookup.name == Lookup::FILE).map(|lookup| lookup.value.clone());
        let named: BTreeSet<String> = attached.chain(kept).collect();
        let old = |of: TenantId, hash: &str, touched: Timestamp| {
            of == tenant && touched < purge.before && !named.contains(hash)
        };
        let count = self.blobs.iter().filter(|((of, hash), (_, touched))| old(*of, hash, *touched)).count();
        if !purge.dry_run {
            self.blobs.retain(|(of, hash), (_, touched)| !old(*of, hash, *touched));
        }
        count
    }

    fn purge_messages(&mut self, tenant: TenantId, purge: &Purge) -> usize {
        let held = self.held_tasks(tenant);
        let old = |of: TenantId, row: &OutboxMessage| {
            let kept = row.task_id.is_some_and(|task| held.contains(&task));
            of == tenant && !is_open(row) && row.created_at < purge.before && !kept
        };
        let count = self.outbox.iter().filter(|((of, _), row)| old(*of, row)).count();
        if !purge.dry_run {
            self.outbox.retain(|(of, _), row| !old(*of, row));
        }
        count
    }

    fn purge_tasks(&mut self, tenant: TenantId, purge: &Purge, at: Timestamp) -> usize {
        let billed = Purge::billed_since(at);
        let roots = self.tasks.values().filter(|row| row.task.tenant == tenant && row.task.parent.is_none());
        let roots: Vec<TaskId> = roots.map(|row| row.task.id).collect();
        let mut count = 0;
        for root in roots {
            let tree = self.tree(root);
            let goes = tree.iter().filter_map(|id| self.tasks.get(id)).all(|row| self.may_go(&row.task, purge, billed));
            if !goes {
                continue;
            }
            count += tree.len();
            if !purge.dry_run {
                self.accounts.remove(&(tenant, Payer::Tree(root).to_string(), 0));
                tree.into_iter().for_each(|id| self.remove_task(tenant, id));
            }
        }
        count
    }

    fn may_go(&self, task: &Task, purge: &Purge, billed: Timestamp) -> bool {
        let place = (task.tenant, task.id);
        let ended = |before: Timestamp| task.completed_at.is_some_and(|at| at < before);
        task.status.is_terminal()
            && ended(purge.before)
            && (ended(billed) || task.usage == kybern_core::money::Usage::default())
            && !self.task_holds.contains_key(&place)
            && !self.outbox.values().any(|row| row.task_id == Some(task.id) && is_open(row))
            && !self.open.values().any(|row| row.reservation.tree == Some(task.id))
    }

    fn remove_task(&mut self, tenant: TenantId, id: TaskId) {
        let Some(row) = self.tasks.remove(&id) else { return };
        self.dedupe.retain(|_, task| *task != id);
        self.approvals.retain(|_, approval| approval.task != id);
        if row.task.channel == Channel::Chat {
            self.outbox.retain(|(of, _), message| *of != tenant || message.task_id != Some(id));
        }
    }

    /// A task with everything below it.
    fn tree(&self, root: TaskId) -> BTreeSet<TaskId> {
        let mut tree = BTreeSet::from([root]);
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            let of = |row: &&super::state::TaskRow| row.task.parent.as_ref().is_some_and(|(parent, _)| *parent == id);
            let children: Vec<TaskId> = self.tasks.values().filter(of).map(|row| row.task.id).collect();
            todo.extend(children.into_iter().filter(|child| tree.insert(*child)));
        }
        tree
    }

    /// Every task of a tree that has a hold.
    fn held_tasks(&self, tenant: TenantId) -> BTreeSet<TaskId> {
        let held = self.task_holds.keys().filter(|(of, _)| *of == tenant);
        held.map(|(_, id)| self.root_of(*id)).flat_map(|root| self.tree(root)).collect()
    }

    fn root_of(&self, id: TaskId) -> TaskId {
        let mut root = id;
        while let Some((parent, _)) = self.tasks.get(&root).and_then(|row| row.task.parent.as_ref()) {
            root = *parent;
        }
        root
    }
}

const fn is_open(row: &OutboxMessage) -> bool {
    matches!(row.status, OutboxStatus::Pending | OutboxStatus::Sending)
}
