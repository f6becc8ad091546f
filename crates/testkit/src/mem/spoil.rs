//! Rows that cannot be read. Nothing is text here, so each is marked as a store of text would answer it.

use std::collections::BTreeMap;

use kybern_core::audit::AuditEvent;
use kybern_core::ports::UnreadableRow;
use kybern_core::task::{JournalEntry, Signal};
use kybern_core::tool::ToolSetting;
use serde_json::{Map, Value};

use super::MemStore;
use super::state::{MemState, RecordRow};
use crate::conformance::Spoilt;

/// What is said of each.
const PROBLEM: &str = "it was spoilt";

impl MemStore {
    /// Makes a row one that cannot be read.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn spoil(&self, spoilt: Spoilt) {
        let found = self.look_mut(|state| state.spoil(spoilt).is_some());
        assert!(found, "there is no {spoilt:?}");
    }
}

impl MemState {
    /// What has been spoilt, as far as tasks, their journals, jobs and records go.
    pub(super) fn unreadable(&self, most: usize) -> Vec<UnreadableRow> {
        let row = |table, id: String, problem: &str| UnreadableRow { table, id, problem: problem.to_owned() };
        let mut found = Vec::new();
        for (id, known) in &self.tasks {
            found.extend(known.task.unreadable.iter().map(|problem| row("task", id.to_string(), problem)));
            found.extend(known.journal.iter().filter_map(|entry| match &entry.entry {
                JournalEntry::Unreadable { problem } => Some(row("step_row", format!("{id} {}", entry.seq), problem)),
                _ => None,
            }));
        }
        found.extend(self.spoilt_plans.iter().map(|(_, hash)| row("frozen_plan", hash.clone(), PROBLEM)));
        for job in &self.jobs {
            found.extend(job.unreadable.iter().map(|problem| row("job", job.job.id.to_string(), problem)));
        }
        for RecordRow { record, .. } in self.records.values() {
            found.extend(record.unreadable.iter().map(|problem| row("record", record.id.to_string(), problem)));
        }
        let mut of_table: BTreeMap<&str, usize> = BTreeMap::new();
        found.retain(|row| {
            let count = of_table.entry(row.table).or_default();
            *count += 1;
            *count <= most
        });
        found
    }

    fn spoil(&mut self, spoilt: Spoilt) -> Option<()> {
        let problem = || Some(PROBLEM.to_owned());
        match spoilt {
            Spoilt::Task(id) => {
                let task = &mut self.tasks.get_mut(&id)?.task;
                (task.payload, task.unreadable) = (Value::Null, problem());
                task.waits.clear();
            }
            Spoilt::PlanOf(id) => {
                let task = &self.tasks.get(&id)?.task;
                self.spoilt_plans.insert((task.tenant, task.plan_hash.as_ref()?.as_str().to_owned()));
            }
            Spoilt::Journal(id, seq) => {
                let row = self.tasks.get_mut(&id)?.journal.iter_mut().find(|row| row.seq == seq)?;
                (row.step, row.tool) = (None, None);
                row.entry = JournalEntry::Unreadable { problem: PROBLEM.to_owned() };
            }
            Spoilt::Signal(id, number) => {
                let place = usize::try_from(number - 1).ok()?;
                let row = self.tasks.get_mut(&id)?.signals.get_mut(place)?;
                row.signal = Signal::Unreadable { problem: PROBLEM.to_owned() };
            }
            Spoilt::Approval(id) => {
                let approval = self.approvals.values_mut().find(|approval| approval.asked.id == id)?;
                (approval.asked.input, approval.unreadable) = (Value::Null, problem());
            }
            Spoilt::Job(id) => {
                let row = self.jobs.iter_mut().find(|row| row.job.id == id)?;
                (row.job.payload, row.unreadable) = (Value::Null, problem());
            }
            Spoilt::Outbox(id) => {
                let message = self.outbox.values_mut().find(|message| message.message.id == id)?;
                (message.message.body, message.unreadable) = (Value::Null, problem());
            }
            Spoilt::Record(id) => {
                let row = self.records.values_mut().find(|row| row.record.id == id)?;
                (row.record.props, row.record.unreadable) = (Map::new(), problem());
            }
            Spoilt::Audit(tenant, seq) => {
                let event = self.audit.get_mut(&tenant)?.iter_mut().find(|event| event.seq == seq)?;
                event.event = AuditEvent::by_executor("unreadable", "unreadable", Value::Null);
                event.unreadable = problem();
            }
            Spoilt::ToolSetting(tenant, tool) => {
                let setting = self.tool_settings.get_mut(&(tenant, tool.to_owned()))?;
                *setting = ToolSetting::unreadable(tool, setting.updated_at);
            }
            // It is of a noun that is not kept.
            _ => return None,
        }
        Some(())
    }
}
