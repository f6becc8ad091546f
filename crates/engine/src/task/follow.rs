//! Following a task: whoever wants to know how it goes reads its journal, as soon as there is more of it.

use kybern_core::actor::Actor;
use kybern_core::chat::{EventId, TurnAddress, TurnEvent, in_log, start_in_log};
use kybern_core::error::Result;
use kybern_core::event::{self, LogEntry};
use kybern_core::id::TaskId;
use kybern_core::time::Millis;

use super::Tasks;

/// How often the journal is looked at when another process may work on the task: seldomer the longer nothing happens.
/// What happens here is told at once.
const FIRST_POLL: Millis = Millis(500);
const LAST_POLL: Millis = Millis(4_000);
/// Rows that are read at once.
const PAGE: u32 = 200;

/// News of a task.
#[derive(Clone, Debug)]
pub struct TaskNews {
    /// Log entries, in order.
    pub entries: Vec<LogEntry>,
    /// What readers of a turn are told, with the places between those of the entries; nothing for other tasks.
    pub messages: Vec<(EventId, TurnEvent)>,
    /// Whether the task has ended and everything was told.
    pub ended: bool,
}

impl Tasks {
    /// Log entries and, of a turn, messages after `after` (0 begins with the first; a negative number includes the
    /// creation), as soon as there are any, at most `at_most` later.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    ///
    /// # Cancel safety
    /// Dropping it loses nothing: ask again with the same `after`.
    pub async fn follow(&self, actor: &Actor, id: TaskId, after: EventId, at_most: Millis) -> Result<TaskNews> {
        let watch = self.kernel.watchers.watch(id);
        let began = self.kernel.clock.now();
        let mut poll = FIRST_POLL;
        loop {
            let news = watch.next();
            tokio::pin!(news);
            news.as_mut().enable();
            let task = self.task_for(actor, id).await?;
            let rows = self.kernel.store.journal(actor.scope(), id, event::row_before(after.row).max(0), PAGE).await?;
            let mut entries: Vec<LogEntry> = Vec::new();
            if after.row < 0 {
                entries.push(event::created(&task));
            }
            let is_new = |place: EventId| place > after;
            entries.extend(rows.iter().flat_map(event::expand).filter(|entry| is_new(EventId::at(entry.seq))));
            let mut messages = Vec::new();
            if let Some(turn) = task.turn() {
                let heard = TurnAddress { task: id, turn };
                messages.push(start_in_log(&heard));
                messages.extend(rows.iter().flat_map(|row| in_log(&heard, row)));
                messages.retain(|(place, _)| is_new(*place));
            }
            let full = rows.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
            let ended = task.status.is_terminal() && !full;
            let waited = self.kernel.clock.now().since(began);
            if !entries.is_empty() || !messages.is_empty() || ended || waited >= at_most {
                return Ok(TaskNews { entries, messages, ended });
            }
            let left = Millis(at_most.0 - waited.0).min(poll);
            // The time being up is the same as news: look again.
            if tokio::time::timeout(left.as_duration(), news).await.is_err() {
                poll = Millis(poll.0.saturating_mul(2)).min(LAST_POLL);
            }
        }
    }
}
