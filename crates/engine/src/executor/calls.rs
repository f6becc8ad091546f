//! The calls that a run has on their way.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio::sync::mpsc;

use super::call::{CallEnd, OnItsWay, ReservingCall};
use super::steps::CallNote;

/// What calls want journaled; none where no call ever does.
pub(super) struct NoteReceiver(pub(super) Option<mpsc::Receiver<CallNote>>);

impl NoteReceiver {
    /// The next one; waits for ever where none can come.
    ///
    /// # Cancel safety
    /// None is lost.
    pub(super) async fn next(&mut self) -> Option<CallNote> {
        match &mut self.0 {
            Some(notes) => notes.recv().await,
            None => std::future::pending().await,
        }
    }
}

/// The calls of a run. They go on while they are waited for, and while the run waits for a store that is unavailable;
/// dropped, they are given up.
#[derive(Default)]
pub(super) struct Calls {
    /// How many of them change something outside.
    pub(super) effectful: usize,
    /// How many of them are questions to a model.
    pub(super) asking: usize,
    /// How many of them are written questions for which nothing is reserved.
    pub(super) written: usize,
    count: usize,
    /// In a lock that is never taken, because a run that is lent out has to be shareable.
    inside: Mutex<CallQueues>,
}

#[derive(Default)]
struct CallQueues {
    on_their_way: FuturesUnordered<OnItsWay>,
    /// Ended while the run waited for something else.
    ended: VecDeque<CallEnd>,
    /// The questions that are written, and for which nothing is reserved.
    written: Vec<ReservingCall>,
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.count + self.written
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn push(&mut self, call: OnItsWay) {
        self.count += 1;
        self.inside().on_their_way.push(call);
    }

    /// Keeps a question that is written, until it is asked with the others.
    pub(super) fn keep_written(&mut self, question: ReservingCall) {
        self.written += 1;
        self.inside().written.push(question);
    }

    /// The questions that are written.
    pub(super) fn take_written(&mut self) -> Vec<ReservingCall> {
        self.written = 0;
        std::mem::take(&mut self.inside().written)
    }

    /// Gives all of them up.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next end; `None` when there is no call.
    ///
    /// # Cancel safety
    /// No end is lost.
    pub(super) async fn next(&mut self) -> Option<CallEnd> {
        let inside = self.inside();
        let end = match inside.ended.pop_front() {
            Some(end) => Some(end),
            None => inside.on_their_way.next().await,
        };
        self.count -= usize::from(end.is_some());
        end
    }

    /// Waits for something else, while the calls go on.
    pub(super) async fn poll_while<T>(&mut self, wait: impl Future<Output = T>) -> T {
        let mut wait = pin!(wait);
        let CallQueues { on_their_way, ended, .. } = self.inside();
        loop {
            tokio::select! {
                biased;
                came = &mut wait => return came,
                Some(end) = on_their_way.next() => ended.push_back(end),
            }
        }
    }

    fn inside(&mut self) -> &mut CallQueues {
        self.inside.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
