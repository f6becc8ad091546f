//! Turns that begin while they are being stored.
//!
//! What a turn is told can be gathered, and the budget for its first question held, just before its message is on its way
//! to the disk: then both are one commit. Nothing else happens before the store has said that the turn is this worker's:
//! nobody is asked, nothing is journaled. When it says otherwise all of it is forgotten.
//!
//! A turn that is gathered early must not miss the answer before it. So it begins early only where this process is the
//! only one that works on the database, and no other turn of its chat is under way in it. It is looked at again once the
//! message stands in the line of what is written: a turn that has come since may have been answered since, and then what
//! was gathered is forgotten; one that comes later ends later than the message is taken, and makes it wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use kybern_core::id::ChatId;
use tokio::sync::watch;

use super::active::ActiveRun;

/// Whether what was begun early may go on.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    opened: watch::Receiver<bool>,
}

/// Opens a gate. Dropped without that, whatever waits at it ends.
#[derive(Debug)]
pub(crate) struct Key {
    opened: watch::Sender<bool>,
}

impl Gate {
    pub(crate) fn new() -> (Key, Self) {
        let (key, opened) = watch::channel(false);
        (Key { opened: key }, Self { opened })
    }

    /// Waits at the gate; answers whether it was opened.
    pub(crate) async fn passed(&self) -> bool {
        self.opened.clone().wait_for(|opened| *opened).await.is_ok()
    }

    /// Whether it will not be opened any more.
    pub(crate) fn is_locked(&self) -> bool {
        !*self.opened.borrow() && self.opened.has_changed().is_err()
    }
}

impl Key {
    /// Opens it; answers whether anybody goes through, now or later.
    pub(crate) fn open(self) -> bool {
        self.opened.send_replace(true);
        self.opened.receiver_count() > 0
    }
}

/// A turn that has begun, and whose message is not stored. Dropped, it was never there.
pub(crate) struct Early {
    pub(crate) run: BoxFuture<'static, ()>,
    pub(crate) active: ActiveRun,
    pub(crate) key: Key,
    pub(crate) chat: ChatId,
}

/// The chats of which turns are under way in this process.
#[derive(Default)]
pub(crate) struct Talks {
    chats: Arc<Chats>,
}

type Chats = Mutex<HashMap<ChatId, Turns>>;

/// Turns of one chat.
#[derive(Default)]
struct Turns {
    under_way: usize,
    /// How many there were since there was none.
    in_all: usize,
}

/// That a turn of a chat is under way, until this goes.
pub(crate) struct Talk {
    chats: Arc<Chats>,
    chat: ChatId,
}

impl Talks {
    /// A turn begins.
    pub(crate) fn enter(&self, chat: ChatId) -> Talk {
        let mut chats = lock(&self.chats);
        let turns = chats.entry(chat).or_default();
        turns.under_way += 1;
        turns.in_all += 1;
        Talk { chats: Arc::clone(&self.chats), chat }
    }

    /// A turn begins, unless another one of the chat is under way.
    pub(crate) fn enter_alone(&self, chat: ChatId) -> Option<Talk> {
        let mut chats = lock(&self.chats);
        if chats.contains_key(&chat) {
            return None;
        }
        chats.insert(chat, Turns { under_way: 1, in_all: 1 });
        Some(Talk { chats: Arc::clone(&self.chats), chat })
    }

    /// Whether no other turn of the chat has come since one entered alone.
    pub(crate) fn is_still_alone(&self, chat: ChatId) -> bool {
        lock(&self.chats).get(&chat).is_some_and(|turns| turns.in_all == 1)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let mut chats = lock(&self.chats);
        if let Some(turns) = chats.get_mut(&self.chat) {
            turns.under_way -= 1;
            if turns.under_way == 0 {
                chats.remove(&self.chat);
            }
        }
    }
}

fn lock(chats: &Chats) -> MutexGuard<'_, HashMap<ChatId, Turns>> {
    chats.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_gate_lets_through_once_it_is_open_and_ends_those_who_wait_when_it_never_will_be() {
        let (key, gate) = Gate::new();
        assert_eq!(gate.passed().now_or_never(), None);
        assert!(key.open() && gate.passed().await && gate.passed().await);
        let (key, gate) = Gate::new();
        drop(key);
        assert!(!gate.passed().await);
        let (key, gate) = Gate::new();
        drop(gate);
        assert!(!key.open(), "nobody waits any more");
    }

    #[test]
    fn a_turn_is_alone_in_its_chat_when_every_other_one_has_ended() {
        let (talks, chat) = (Talks::default(), ChatId::from_uuid(Uuid::from_u128(1)));
        let [first, second] = [(); 2].map(|()| talks.enter(chat));
        drop(first);
        assert!(talks.enter_alone(chat).is_none());
        drop(second);
        let alone = talks.enter_alone(chat);
        assert!(alone.is_some() && talks.enter_alone(chat).is_none() && talks.is_still_alone(chat));
        // One that has come and gone may have left an answer.
        drop(talks.enter(chat));
        assert!(!talks.is_still_alone(chat));
        drop(alone);
        assert!(lock(&talks.chats).is_empty());
    }
}
