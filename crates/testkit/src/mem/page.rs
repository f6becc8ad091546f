//! Pages of what a list finds.

use kybern_core::id::TenantId;
use kybern_core::ports::{MAX_PAGE_BYTES, Page, TaskFilter};
use kybern_core::task::{Task, limits, listed_payload};
use serde::Serialize;
use serde_json::Value;

use super::state::MemState;

impl MemState {
    pub(super) fn page(&self, tenant: TenantId, filter: &TaskFilter) -> Page<Task> {
        let wanted = |task: &&Task| {
            task.tenant == tenant
                && filter.status.is_none_or(|status| task.status == status)
                && filter.intent.as_ref().is_none_or(|intent| task.intent.as_ref() == Some(intent))
                && filter.channel.is_none_or(|channel| task.channel == channel)
                && filter.talks_of.is_none_or(|user| !task.is_talk_of_another(user))
                && filter.before.is_none_or(|before| task.id < before)
        };
        let found = self.tasks.values().rev().map(|row| &row.task).filter(wanted).map(listed);
        page(found, filter.limit, |task| task.id.to_string())
    }
}

/// A task as a list shows it: a hundred payloads would be a gigabyte.
fn listed(task: &Task) -> Task {
    let waits = serde_json::to_string(&task.waits).unwrap_or_default();
    let payload = task.payload.to_string().chars().count();
    Task {
        input: task.input.chars().take(limits::LISTED_INPUT).collect(),
        payload: listed_payload(
            task.channel,
            if payload <= limits::LISTED_PAYLOAD { &task.payload } else { &Value::Null },
        ),
        result: None,
        waits: if waits.chars().count() <= limits::LISTED_WAITS { task.waits.clone() } else { Vec::new() },
        ..task.clone()
    }
}

/// One page of what was found, with the cursor of its last item when there is more.
pub(super) fn page<T>(mut found: impl Iterator<Item = T>, limit: u32, cursor: impl Fn(&T) -> String) -> Page<T> {
    let items: Vec<T> = found.by_ref().take(limit.clamp(1, 200) as usize).collect();
    let next = found.next().and(items.last()).map(cursor);
    Page { items, next }
}

/// The same of rows that may be large: it ends with so many bytes too.
pub(super) fn page_of_large<T: Serialize>(
    found: impl Iterator<Item = T>,
    limit: u32,
    cursor: impl Fn(&T) -> String,
) -> Page<T> {
    let (mut items, mut bytes) = (Vec::new(), 0);
    for item in found {
        bytes += serde_json::to_vec(&item).map_or(0, |text| text.len());
        if items.len() == limit.clamp(1, 200) as usize || (!items.is_empty() && bytes > MAX_PAGE_BYTES) {
            let next = items.last().map(cursor);
            return Page { items, next };
        }
        items.push(item);
    }
    Page { items, next: None }
}
