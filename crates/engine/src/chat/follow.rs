//! Reading a turn along: its events out of the journal, and the pieces of a reply while it is written.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::chat::{EventId, TurnAddress, TurnEvent, TurnRef, events_of, start};
use kybern_core::error::Result;
use kybern_core::id::{ChatId, MessageId, TaskId};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;

use super::Chats;
use crate::events::{LiveReply, TaskWatch};
use crate::task::{TaskView, Tasks};

/// Rows that are read at once.
const PAGE: u32 = 200;
/// How often the journal is looked at when another process may work on the task: seldomer the longer nothing happens,
/// and oftener than a silent stream shows that it is alive, which begins the wait anew.
const FIRST_POLL: Millis = Millis(500);
const LAST_POLL: Millis = Millis(8_000);

/// A reader of one turn.
pub struct TurnReader {
    tasks: Tasks,
    scope: TenantScope,
    heard: TurnAddress,
    live: Arc<LiveReply>,
    watch: Arc<TaskWatch<TaskView>>,
    /// How much of the news of the journal was looked at.
    told: u64,
    /// The last event that was read.
    after: Option<EventId>,
    /// The last row of the journal that was read.
    row: i64,
    /// Whether the journal may have more than was read.
    rows: bool,
    poll: Millis,
    ended: bool,
}

impl Chats {
    /// Reads a turn along, from its beginning or from behind an event: that of a message, or the last one of the chat.
    ///
    /// # Errors
    /// `NOT_FOUND` when the message is none of a turn in the chat, or there was no turn yet.
    pub async fn follow_turn(
        &self,
        actor: &Actor,
        chat: ChatId,
        message: Option<MessageId>,
        after: Option<EventId>,
    ) -> Result<TurnReader> {
        let message = match message {
            Some(message) => message,
            None => self.last_turn(actor, chat).await?,
        };
        let (turn, task) = self.turn_and_task(actor, chat, message).await?;
        Ok(self.following(actor.scope(), task, turn, after))
    }

    /// Reads a turn along that is known to be there, or is about to be.
    #[must_use]
    pub fn following(&self, scope: TenantScope, task: TaskId, turn: TurnRef, after: Option<EventId>) -> TurnReader {
        TurnReader {
            live: self.tasks.kernel.lives.of(task),
            watch: Arc::new(self.tasks.kernel.watchers.watch(task)),
            told: 0,
            tasks: self.tasks.clone(),
            scope,
            heard: TurnAddress { task, turn },
            row: after.map_or(0, |after| (after.row - 1).max(0)),
            after,
            rows: true,
            poll: FIRST_POLL,
            ended: false,
        }
    }
}

impl TurnReader {
    /// The turn.
    #[must_use]
    pub const fn heard(&self) -> TurnAddress {
        self.heard
    }

    /// The next events, as soon as there are any; none at the end.
    ///
    /// # Errors
    /// When the store fails.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Vec<TurnEvent>> {
        let (watch, live) = (Arc::clone(&self.watch), Arc::clone(&self.live));
        while !self.ended {
            let (journaled, written) = (watch.next(), live.news.notified());
            tokio::pin!(journaled, written);
            journaled.as_mut().enable();
            written.as_mut().enable();
            let told = watch.told();
            let events = self.look(told).await?;
            if !events.is_empty() {
                self.poll = FIRST_POLL;
                return Ok(events);
            }
            if self.ended {
                break;
            }
            let heard = async {
                tokio::select! {
                    () = journaled => {}
                    () = written => {}
                }
            };
            if tokio::time::timeout(self.poll.as_duration(), heard).await.is_err() {
                self.poll = Millis(self.poll.0.saturating_mul(2)).min(LAST_POLL);
                self.rows = true;
                self.ended = self.is_past_the_end().await?;
            }
        }
        Ok(Vec::new())
    }

    /// Whether nothing comes any more behind where it reads: it said that it had read what there never was.
    async fn is_past_the_end(&self) -> Result<bool> {
        let store = &self.tasks.kernel.store;
        let task = store.task(self.scope, self.heard.task).await?;
        if task.is_some_and(|task| !task.status.is_terminal()) {
            return Ok(false);
        }
        Ok(store.journal(self.scope, self.heard.task, self.row, 1).await?.is_empty())
    }

    /// What there is behind the last event that was read. `told` is how often there was news of the journal before.
    async fn look(&mut self, told: u64) -> Result<Vec<TurnEvent>> {
        let (mut events, mut last, mut ended) = (Vec::new(), self.after, false);
        let mut add = |event: TurnEvent| {
            if last.is_none_or(|last| event.id > last) {
                last = Some(event.id);
                events.push(event);
            }
        };
        if self.after.is_none() {
            add(start(&self.heard));
        }
        let (mut row, mut end) = (self.row, Vec::new());
        // One look at the reply, before the journal is read: a piece of the next one would stand before rows that were
        // committed while the journal was read, and these would never be told.
        let written = self.live.written();
        // Pieces of a reply to what is not read yet come after it.
        let mut more = self.rows || told != self.told || written.behind > self.row;
        while more {
            let rows = self.tasks.kernel.store.journal(self.scope, self.heard.task, row, PAGE).await?;
            for one in &rows {
                // An end behind which something follows was none: the turn was tried again.
                end.clear();
                let told = events_of(&self.heard, one);
                ended = matches!(one.entry, kybern_core::task::JournalEntry::Ended { .. });
                match ended {
                    true => end = told,
                    false => told.into_iter().for_each(&mut add),
                }
                row = one.seq;
            }
            more = rows.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
        }
        end.into_iter().for_each(&mut add);
        // A reply that is journaled was read there, as it was written.
        if !ended && written.behind >= row {
            for (n, piece) in (1_u32..).zip(&written.pieces).filter(|(_, piece)| !piece.is_empty()) {
                add(TurnEvent::delta(written.behind, n, piece));
            }
        }
        // Nothing is taken as read before all of it is there.
        (self.after, self.row, self.rows, self.told, self.ended) = (last, row, false, told, ended);
        Ok(events)
    }
}
