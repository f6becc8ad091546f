//! Reading a turn along: its events out of the journal, and the pieces of a reply while it is written.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::chat::{EventId, Heard, TurnEvent, TurnRef, events_of, start};
use kybern_core::error::Result;
use kybern_core::id::{ChatId, MessageId, TaskId};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;

use crate::Engine;
use crate::events::Live;

/// Rows that are read at once.
const PAGE: u32 = 200;
/// How often the journal is looked at when another process may work on the task: seldomer the longer nothing happens.
const FIRST_POLL: Millis = Millis(500);
const LAST_POLL: Millis = Millis(15_000);

/// A reader of one turn.
pub struct Following {
    engine: Engine,
    scope: TenantScope,
    heard: Heard,
    live: Arc<Live>,
    /// The last event that was read.
    after: Option<EventId>,
    /// The last row of the journal that was read.
    row: i64,
    /// Whether the journal may have more than was read.
    rows: bool,
    poll: Millis,
    ended: bool,
}

impl Engine {
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
    ) -> Result<Following> {
        let message = match message {
            Some(message) => message,
            None => self.last_turn(actor, chat).await?,
        };
        let (turn, task) = self.turn_and_task(actor, chat, message).await?;
        Ok(self.following(actor.scope(), task, turn, after))
    }

    /// Reads a turn along that is known to be there, or is about to be.
    #[must_use]
    pub fn following(&self, scope: TenantScope, task: TaskId, turn: TurnRef, after: Option<EventId>) -> Following {
        Following {
            live: self.inner.lives.of(task),
            engine: self.clone(),
            scope,
            heard: Heard { task, turn },
            row: after.map_or(0, |after| (after.row - 1).max(0)),
            after,
            rows: true,
            poll: FIRST_POLL,
            ended: false,
        }
    }
}

impl Following {
    /// The turn.
    #[must_use]
    pub const fn heard(&self) -> Heard {
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
        let (inner, task) = (Arc::clone(&self.engine.inner), self.heard.task);
        let watch = inner.watchers.watch(task);
        let live = Arc::clone(&self.live);
        while !self.ended {
            let (journaled, written) = (watch.next(), live.news.notified());
            tokio::pin!(journaled, written);
            journaled.as_mut().enable();
            written.as_mut().enable();
            let events = self.look().await?;
            if !events.is_empty() {
                self.poll = FIRST_POLL;
                return Ok(events);
            }
            if self.ended {
                break;
            }
            let heard = async {
                tokio::select! {
                    () = journaled => true,
                    () = written => false,
                }
            };
            self.rows = match tokio::time::timeout(self.poll.as_duration(), heard).await {
                Ok(rows) => rows,
                Err(_elapsed) => {
                    self.poll = Millis(self.poll.0.saturating_mul(2)).min(LAST_POLL);
                    true
                }
            };
        }
        Ok(Vec::new())
    }

    /// What there is behind the last event that was read.
    async fn look(&mut self) -> Result<Vec<TurnEvent>> {
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
        let mut row = self.row;
        // Pieces of a reply to what is not read yet come after it.
        let mut more = self.rows || self.live.written().behind > self.row;
        while more {
            let rows = self.engine.inner.store.journal(self.scope, self.heard.task, row, PAGE).await?;
            for one in &rows {
                events_of(&self.heard, one).into_iter().for_each(&mut add);
                ended |= matches!(one.entry, kybern_core::task::JournalEntry::Ended { .. });
                row = one.seq;
            }
            more = rows.len() >= usize::try_from(PAGE).unwrap_or(usize::MAX);
        }
        // A reply that is journaled was read there, as it was written.
        let written = self.live.written();
        if !ended && written.behind >= row {
            for (n, piece) in (1_u32..).zip(&written.pieces) {
                add(TurnEvent::delta(written.behind, n, piece));
            }
        }
        // Nothing is taken as read before all of it is there.
        (self.after, self.row, self.rows, self.ended) = (last, row, false, ended);
        Ok(events)
    }
}
