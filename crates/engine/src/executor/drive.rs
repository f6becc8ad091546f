//! Driving a run as far as it goes, commit by commit.
//!
//! [`next_move`] says what comes next, and one match carries it out. Dropping the run at any await is the same as a crash
//! there: the next holder of the lease goes on from the journal.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{join, join_all, ready};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::ports::Heartbeat;
use kybern_core::task::{CommitRefused, limits};
use kybern_core::time::{Millis, Timestamp};

use super::call::{Call, CallEnd, NotBegun, OnItsWay};
use super::next_move::{NextMove, Phases, Rows, RunState, next_move};
use super::run::TaskRun;
use super::step::{self, Draft};
use super::steps::StepBegin;
use super::walk::WalkAction;
use super::{containers, ending, signals};

/// Why a run stops without having ended or given back its task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunStop {
    /// The lease is somebody else's.
    #[error("the lease is somebody else's")]
    Fenced,
    /// The store failed. The lease expires, and the next holder goes on.
    #[error(transparent)]
    Store(#[from] Error),
}

impl From<CommitRefused> for RunStop {
    fn from(refused: CommitRefused) -> Self {
        match refused {
            CommitRefused::Fenced => Self::Fenced,
            CommitRefused::Store(error) => Self::Store(error),
            CommitRefused::Changed { what } => {
                Self::Store(Error::new(ErrorCode::Conflict, format!("{what} keeps changing")))
            }
        }
    }
}

/// Whether the run goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// It goes on.
    Continue,
    /// The task has ended, or its lease was given back.
    Done,
}

/// What became of a call that was to be made.
enum CallStart {
    /// It is on its way.
    Begun,
    /// It has ended, or other things come first.
    Ended(Flow),
}

impl TaskRun {
    /// Drives the task until it ends or its lease is given back.
    pub(crate) async fn drive(mut self: Box<Self>) -> Result<(), RunStop> {
        let mut flow = Box::pin(self.take_over()).await?;
        while flow == Flow::Continue {
            let now = self.now();
            let actions = self.walk.actions(now);
            flow = match next_move(&self.state(&actions)) {
                NextMove::TakeSignals => Box::pin(self.take_signals()).await?,
                NextMove::GiveUpCalls => self.give_up_calls(),
                NextMove::WalkPhase => Box::pin(self.walk_phase()).await?,
                NextMove::Begin => self.begin(actions, now).await?,
                NextMove::Write => self.write_held().await?,
                NextMove::Ask => self.ask_what_is_written().await?,
                NextMove::Wait => self.wait().await?,
                NextMove::Rest => Box::pin(self.rest()).await?,
                NextMove::Leave => return Err(Box::pin(self.leave()).await),
            };
        }
        Ok(())
    }

    /// Where it stands, with what the walk can do now.
    fn state(&self, actions: &[WalkAction]) -> RunState {
        let phases = match self.next_phase() {
            None => Phases::Over,
            Some(phase) => {
                let waits = self.walk.phase(phase).is_some_and(|state| state.wait.is_some());
                if waits || ending::in_phase(&self.walk).is_some() { Phases::Stuck } else { Phases::Open }
            }
        };
        let rows = match (self.held.is_empty(), self.held.is_owed()) {
            (true, _) => Rows::None,
            (false, false) => Rows::MayWait,
            (false, true) => Rows::Owed,
        };
        let can_begin = match actions.first() {
            None => false,
            Some(WalkAction::Start(_)) => self.calls.len() < limits::MAX_PARALLEL,
            Some(WalkAction::Advance(_) | WalkAction::TimeUp(_)) => true,
        };
        RunState {
            has_news: self.has_news(),
            is_cancelled: self.wanted.cancel,
            gives_back: self.wanted.paused || self.kernel.stopping.is_cancelled(),
            is_lost: self.active.lost.is_cancelled(),
            has_plan: self.walk.plan().is_some(),
            phases,
            can_begin,
            calls: self.calls.len(),
            effectful: self.calls.effectful,
            asking: self.calls.asking,
            written: self.calls.written,
            rows,
        }
    }

    /// Begins what can begin, until something has been decided that may change what else can.
    async fn begin(&mut self, actions: Vec<WalkAction>, now: Timestamp) -> Result<Flow, RunStop> {
        if actions.iter().any(|action| matches!(action, WalkAction::Start(_))) {
            self.look_at_rules().await?;
        }
        let alone = actions.len() == 1 && self.calls.is_empty();
        for action in actions {
            let draft = match action {
                WalkAction::Start(_) if self.calls.len() >= limits::MAX_PARALLEL => break,
                WalkAction::Start(index) => match step::begin(self, index, now) {
                    StepBegin::Rows(draft) => draft,
                    // It begins anew, with what was read.
                    StepBegin::Call(call) if call.facts().reads_first => return Box::pin(self.read_first()).await,
                    StepBegin::Call(call) => match self.make(call, alone).await? {
                        CallStart::Begun => continue,
                        CallStart::Ended(flow) => return Ok(flow),
                    },
                },
                WalkAction::Advance(index) => containers::advance(self, index),
                WalkAction::TimeUp(index) => signals::time_up(self, index),
            };
            return self.settle(Draft { may_wait: true, ..draft }).await;
        }
        Ok(Flow::Continue)
    }

    /// Makes a call. One that nobody outside can see and that ends at once is taken in at once, when nothing else could
    /// begin or runs beside it: steps that stand side by side all begin before any of them is taken in.
    async fn make(&mut self, call: Box<dyn Call>, alone: bool) -> Result<CallStart, RunStop> {
        let facts = call.facts();
        // A question changes nothing outside: what led to it is written with its reply, or before it is asked. But what
        // is looked up for its turn may be asked outside at once.
        let reaches_out = match facts.question {
            Some(question) => self.held.is_owed() && question.looks_up,
            None => !facts.is_unseen,
        };
        if reaches_out && !self.held.is_empty() {
            // What led to the call comes first, and it may bring news: look again.
            return Ok(CallStart::Ended(self.write_held().await?));
        }
        self.walk.mark_running(facts.index);
        self.calls.effectful += usize::from(facts.is_effectful);
        if let Some(question) = facts.question {
            self.calls.asking += 1;
            self.asked_behind = Some(question.behind);
        }
        let mut made: OnItsWay = call.perform(self.lease.clone());
        if facts.is_unseen
            && alone
            && let Some(returned) = (&mut made).now_or_never()
        {
            let flow = self.take_in(returned).await?;
            if flow == Flow::Continue && self.active.changed.notified().now_or_never().is_some() {
                Box::pin(self.refresh()).await?;
            }
            return Ok(CallStart::Ended(flow));
        }
        self.calls.push(made);
        Ok(CallStart::Begun)
    }

    async fn take_in(&mut self, returned: CallEnd) -> Result<Flow, RunStop> {
        match returned {
            Ok(call) => {
                let facts = call.facts();
                if facts.question.is_some() {
                    self.calls.asking -= 1;
                    self.asked_behind = None;
                }
                self.calls.effectful -= usize::from(facts.is_effectful);
                let now = self.now();
                let may_wait = facts.is_unseen || facts.is_reply;
                let draft = call.conclude(self, now);
                self.settle(Draft { may_wait, ..draft }).await
            }
            Err(NotBegun::Stop(stop)) => Err(stop),
            Err(NotBegun::Later(call)) => {
                let facts = call.facts();
                self.calls.effectful -= usize::from(facts.is_effectful);
                self.walk.unmark_running(facts.index);
                let now = self.now();
                let draft = call.conclude(self, now);
                self.settle(draft).await
            }
            Err(NotBegun::Written(written)) => {
                self.calls.keep_written(written);
                Ok(Flow::Continue)
            }
            Err(NotBegun::Cancelled(index)) => {
                self.calls.effectful -= 1;
                self.walk.unmark_running(index);
                self.wanted.cancel = true;
                Ok(Flow::Continue)
            }
        }
    }

    /// Reserves for every question that is written, stores what is owed together with that, and only then asks. What can
    /// be written at once is written first, and asked with the others.
    async fn ask_what_is_written(&mut self) -> Result<Flow, RunStop> {
        if let Some(returned) = self.calls.next().now_or_never().flatten() {
            return self.take_in(returned).await;
        }
        let reserving = join_all(self.calls.take_written());
        let granted = if self.held.is_owed() {
            // The reservations are in the store's line first: on SQLite it is one commit.
            let (granted, flow) = join(reserving, self.write_held()).await;
            if flow? == Flow::Done {
                return Ok(Flow::Done);
            }
            granted
        } else {
            let lost = self.active.lost.clone();
            match lost.run_until_cancelled(self.calls.poll_while(reserving)).await {
                Some(granted) => granted,
                None => return Err(Box::pin(self.leave()).await),
            }
        };
        for granted in granted {
            match granted {
                Ok(asking) => self.calls.push(asking),
                Err(refused) => self.calls.push(Box::pin(ready(Ok(refused)))),
            }
        }
        Ok(Flow::Continue)
    }

    /// Waits until a call ends, or something changes.
    async fn wait(&mut self) -> Result<Flow, RunStop> {
        let lost = self.active.lost.clone();
        let changed = Arc::clone(&self.active.changed);
        let due = self.until_due();
        tokio::select! {
            biased;
            () = lost.cancelled() => return Err(Box::pin(self.leave()).await),
            Some(note) = self.notes.next() => return self.take_note(note).await,
            Some(returned) = self.calls.next() => return self.take_in(returned).await,
            () = changed.notified() => Box::pin(self.refresh()).await?,
            // What came before the time was up counts: it is looked for first.
            () = due => Box::pin(self.refresh()).await?,
        }
        Ok(Flow::Continue)
    }

    /// Waits until the clock changes something that has not changed yet: a wait, a back-off or a deadline ends. Asks the
    /// clock again and again, because it may be set meanwhile.
    fn until_due(&self) -> impl Future<Output = ()> + Send + use<> {
        let (kernel, at_most) = (Arc::clone(&self.kernel), self.kernel.settings.poll);
        let due = self.walk.next_due_after(self.now());
        async move {
            let Some(due) = due else { return std::future::pending().await };
            loop {
                let left = due.since(kernel.time.now());
                if left == Millis(0) {
                    return;
                }
                let pause = left.min(at_most).as_duration();
                let _ = tokio::time::timeout(pause, std::future::pending::<()>()).await;
            }
        }
    }

    /// Gives up calls that change nothing outside. Their steps have no end, and may have run.
    fn give_up_calls(&mut self) -> Flow {
        self.calls.clear();
        for index in self.walk.in_plan_order() {
            self.walk.give_up(index);
        }
        Flow::Continue
    }

    /// Asks the store what others want.
    async fn refresh(&mut self) -> Result<(), RunStop> {
        let (lease, now) = (self.kernel.settings.lease, self.now());
        let held = [self.lease.clone()];
        let answers = self
            .ask(|kernel| {
                let held = held.clone();
                async move { kernel.store.heartbeat(&held, lease, now).await }
            })
            .await?;
        match answers.first() {
            Some(Heartbeat::Held(committed)) => {
                self.wanted.note(*committed);
                Ok(())
            }
            Some(Heartbeat::Lost) | None => Err(RunStop::Fenced),
        }
    }

    /// Whether signals have been left that the walk has not taken in.
    pub(super) fn has_news(&self) -> bool {
        self.wanted.has_news(self.walk.signals_seen())
    }
}
