//! What is written with a step: records and links, messages and jobs, children and delegations.

use std::collections::BTreeMap;

use kybern_core::id::{OutboxId, TaskId, TenantId};
use kybern_core::job::{NewJob, limits};
use kybern_core::outbox::{NewOutbox, OutboxChannel, OutboxMessage, OutboxStatus};
use kybern_core::record::{Expect, PutRecord, Record, StoredLink, merge};
use kybern_core::task::{CommitRefused, Effect, StepError, Task};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::{Map, json};

use super::not_kept;
use super::state::{MemState, RecordRow};

impl MemState {
    /// Every belief and every unique lookup of the commit, before anything is written.
    pub(super) fn check_effects(&self, scope: TenantScope, effects: &[Effect]) -> Result<(), CommitRefused> {
        let tenant = scope.tenant();
        let mut claimed = BTreeMap::new();
        for effect in effects {
            let put = match effect {
                Effect::Put(put) => put,
                Effect::Noun(noun) => {
                    self.check_noun(scope, noun)?;
                    continue;
                }
                Effect::Answer(_) | Effect::Attach(_) => return Err(not_kept("conversations").into()),
                _ => continue,
            };
            let changed = || CommitRefused::Changed { what: put.name() };
            let known = self.records.get(&(tenant, put.kind.clone(), put.key.clone()));
            let holds = match put.expect {
                Expect::Absent => known.is_none(),
                Expect::Version(version) => known.is_some_and(|row| row.record.version == version),
                Expect::Any => true,
            };
            let mut unique = put.lookups.iter().filter(|lookup| lookup.unique);
            let free = unique.all(|lookup| {
                let place = (tenant, put.kind.clone(), lookup.name.clone(), lookup.value.clone());
                let owner = self.unique.get(&place).map_or(&put.key, |key| key);
                *owner == put.key && *claimed.entry(place).or_insert(&put.key) == &put.key
            });
            // Merged with nothing, what it held would be lost.
            known.map(|row| row.record.clone().whole()).transpose()?;
            if !holds || !free {
                return Err(changed());
            }
        }
        Ok(())
    }

    pub(super) fn apply_effects(
        &mut self,
        (tenant, task): (TenantId, TaskId),
        effects: Vec<Effect>,
        (signals_seen, last_seq): (i64, Option<i64>),
        at: Timestamp,
    ) {
        let mut links = Vec::new();
        for effect in effects {
            match effect {
                Effect::Put(put) => self.put(tenant, *put, at),
                Effect::Link { link, step, tool } => links.push((link, step, tool)),
                Effect::Send(message) => self.send(tenant, Some(task), *message, at),
                Effect::Enqueue(job) => {
                    // A job whose dedupe key is taken is not stored, and that is no fault.
                    self.insert_job(tenant, *job, at);
                }
                Effect::Spawn(child) => self.insert_task(tenant, child.task),
                Effect::Reopen(child) => self.reopen_child((tenant, task), child, signals_seen, at),
                Effect::Cancel(child) => self.cancel_child((tenant, task), child, at),
                Effect::Delegate(delegation) => {
                    if let Some(row) = self.tasks.get_mut(&task) {
                        let seq = last_seq.unwrap_or_else(|| row.last_seq());
                        row.delegations.push((*delegation, seq, at));
                    }
                }
                // The check has refused them.
                Effect::Answer(_) | Effect::Attach(_) => {}
                Effect::Noun(noun) => self.apply_noun(tenant, *noun, at),
                Effect::Ask(approval) => self.ask((tenant, task), *approval, at),
                Effect::Close { wait_seq, status } => self.close((tenant, task), wait_seq, status, at),
            }
        }
        // A record that exists decides under which id it is linked: the tool may have minted one in vain.
        for (mut link, step, tool_key) in links {
            if let Some(row) = self.records.get(&(tenant, link.kind.clone(), link.key.clone())) {
                link.record_id = row.record.id;
            }
            let stored = StoredLink { link, step_id: step.as_str().to_owned(), tool_key, created_at: at };
            if let Some(row) = self.tasks.get_mut(&task) {
                row.links.push(stored);
            }
        }
    }

    fn put(&mut self, tenant: TenantId, put: PutRecord, at: Timestamp) {
        let PutRecord { id, kind, key, props, merge: how, expect: _, lookups } = put;
        let place = (tenant, kind.clone(), key.clone());
        if let Some(row) = self.records.get_mut(&place) {
            let merged = merge(&row.record.props, &props, how);
            if !merged.changed.is_empty() {
                row.record.props = merged.props;
                row.record.version += 1;
                row.record.updated_at = at;
            }
        } else {
            let props = merge(&Map::new(), &props, how).props;
            let record = Record {
                id,
                kind: kind.clone(),
                key: key.clone(),
                props,
                version: 1,
                created_at: at,
                updated_at: at,
                unreadable: None,
            };
            self.record_keys.insert((tenant, id), (kind.clone(), key.clone()));
            self.records.insert(place.clone(), RecordRow { record, lookups: Vec::new() });
        }
        let Some(row) = self.records.get_mut(&place) else { return };
        let replaced = |name: &str| lookups.iter().any(|lookup| lookup.name == name);
        let (old, kept) = std::mem::take(&mut row.lookups).into_iter().partition(|lookup| replaced(&lookup.name));
        row.lookups = kept;
        row.lookups.extend(lookups.iter().cloned());
        let unique_place = |name: &str, value: &str| (tenant, kind.clone(), name.to_owned(), value.to_owned());
        let old: Vec<kybern_core::record::Lookup> = old;
        for lookup in old.iter().filter(|lookup| lookup.unique) {
            self.unique.remove(&unique_place(&lookup.name, &lookup.value));
        }
        for lookup in lookups.iter().filter(|lookup| lookup.unique) {
            self.unique.insert(unique_place(&lookup.name, &lookup.value), key.clone());
        }
    }

    /// A message and the job that sends it.
    fn send(&mut self, tenant: TenantId, task_id: Option<TaskId>, message: NewOutbox, at: Timestamp) {
        let id = message.id;
        let trace_id = task_id.and_then(|task| self.tasks.get(&task)).map(|row| row.task.trace_id.clone());
        let row = OutboxMessage {
            message,
            task_id,
            trace_id,
            status: OutboxStatus::Pending,
            attempts: 0,
            error: None,
            created_at: at,
            sent_at: None,
            unreadable: None,
        };
        self.outbox.insert((tenant, id), row);
        let job = NewJob {
            id: self.mint_job(),
            kind: "outbox.send".to_owned(),
            payload: json!({"outboxId": id}),
            dedupe_key: Some(id.to_string()),
            max_attempts: limits::DEFAULT_ATTEMPTS,
            due_at: at,
        };
        self.insert_job(tenant, job, at);
    }

    /// Tells the tenant's subscribers what became of a task.
    pub(super) fn announce(&mut self, task: &Task, event: &str, at: Timestamp) {
        let of_tenant = self.webhooks.iter().filter(|((tenant, _), _)| *tenant == task.tenant).map(|(_, hook)| hook);
        let wants = |events: &[String]| events.is_empty() || events.iter().any(|wanted| wanted == event);
        let subscribed: Vec<_> = of_tenant.filter(|hook| hook.active && wants(&hook.events)).cloned().collect();
        for hook in subscribed {
            let data = json!({
                "taskId": task.id,
                "status": task.status,
                "intent": task.intent,
                "result": task.result,
                "error": task.error.clone().map(StepError::redacted),
            });
            let message = NewOutbox {
                id: self.mint(OutboxId::from_uuid),
                channel: OutboxChannel::Completion,
                target: hook.url,
                key: format!("v1:{}:{}:{}:{}", task.tenant, task.id, hook.id, task.epoch),
                body: json!({"type": event, "timestamp": at, "data": data}),
            };
            self.send(task.tenant, Some(task.id), message, at);
        }
    }
}
