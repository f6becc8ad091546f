//! How a task comes into the store. What happens to it then begins in `task`.

use kybern_core::error::Result;
use kybern_core::id::TenantId;
use kybern_core::task::{Attachment, NewTask, Submitted, WorkerId};
use kybern_core::time::Millis;

use super::not_kept;
use super::state::{MemState, TaskRow, conflict};

impl MemState {
    pub(super) fn submit(
        &mut self,
        tenant: TenantId,
        new: NewTask,
        claim: Option<(&WorkerId, Millis)>,
    ) -> Result<Submitted> {
        let key = new.dedupe_key.clone().map(|key| (tenant, new.source.clone(), key));
        if let Some(key) = &key
            && let Some(first) = self.dedupe.get(key).and_then(|id| self.tasks.get(id))
        {
            if !new.outlives(first.task.created_at) {
                let same_body = first.body_hash == new.body_hash;
                return Ok(Submitted::Duplicate { task: Box::new(first.task.clone()), same_body });
            }
            self.dedupe.remove(key);
        }
        if self.tasks.contains_key(&new.id) {
            return Err(conflict(format!("there is a task {} already", new.id)));
        }
        let (id, at, now) = (new.id, new.at, self.moment(new.at));
        if new.turn().is_some() {
            return Err(not_kept("conversations"));
        }
        self.insert_task(tenant, new);
        let Some(row) = self.tasks.get_mut(&id) else { return Err(conflict("a task was not inserted")) };
        let Some((worker, lease)) = claim else { return Ok(Submitted::Queued(Box::new(row.task.clone()))) };
        let claimed = row.claim(worker, lease, at);
        row.claimable_at = Some(now.plus(lease));
        Ok(Submitted::New(Box::new(claimed)))
    }

    /// Inserts a task that waits for a worker; nothing when its dedupe key or its id is taken.
    pub(super) fn insert_task(&mut self, tenant: TenantId, new: NewTask) {
        if self.tasks.contains_key(&new.id) {
            return;
        }
        if let Some(key) = &new.dedupe_key {
            let key = (tenant, new.source.clone(), key.clone());
            if self.dedupe.contains_key(&key) {
                return;
            }
            self.dedupe.insert(key, new.id);
        }
        if let Some(plan) = &new.plan {
            self.frozen.insert((tenant, plan.hash().as_str().to_owned()), plan.as_ref().clone());
        }
        let now = self.moment(new.at).min(new.at);
        self.tasks.insert(new.id, TaskRow { claimable_at: Some(now), ..row_of(tenant, new) });
    }
}

fn row_of(tenant: TenantId, new: NewTask) -> TaskRow {
    let numbered = new.numbered_attachments().map(|(n, file)| Attachment {
        n,
        filename: file.filename.clone(),
        content_type: file.content_type.clone(),
        size: file.size,
        hash: file.hash.clone(),
        source: file.source,
    });
    let attachments = numbered.collect();
    let task = new.row(tenant, false);
    let journal = new.forked_from.map_or_else(Vec::new, |(_, rows)| rows);
    TaskRow {
        task,
        body_hash: new.body_hash,
        claimable_at: Some(new.at),
        lease_owner: None,
        attachments,
        journal,
        attempts: Vec::new(),
        signals: Vec::new(),
        delegations: Vec::new(),
        links: Vec::new(),
    }
}
