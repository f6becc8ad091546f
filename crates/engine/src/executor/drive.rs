//! Driving a run as far as it goes, commit by commit.
//!
//! The loop is: take in signals, begin what can begin, wait for the first end, commit it, look again. Dropping the
//! run at any await is the same as a crash there: the next holder of the lease goes on from the journal.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{join, join_all, ready};
use kybern_core::approval::ApprovalStatus;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::plan::StepId;
use kybern_core::ports::Heartbeat;
use kybern_core::task::{
    Channel, CommitRefused, Committed, Effect, StepError, TaskChange, TaskStatus, WaitKind, limits,
};
use kybern_core::time::Millis;

use super::ending;
use super::node::{Node, NodeState, Phase};
use super::perform::{NotBegun, Returned, is_effectful, is_reply, is_unseen, perform};
use super::phases::{self, Interrupted};
use super::run::Run;
use super::step::{self, Begun, Call, Draft, failure};
use super::tool_step;
use super::walk::Action;

/// How long a task rests after a port failed in one of its phases.
const PHASE_BACKOFF: Millis = Millis(2_000);

/// Why a run stops without having ended or given back its task.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    /// The lease is somebody else's.
    #[error("the lease is somebody else's")]
    Fenced,
    /// The store failed. The lease expires, and the next holder goes on.
    #[error(transparent)]
    Store(#[from] Error),
}

impl From<CommitRefused> for Stop {
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
pub(super) enum Flow {
    /// It goes on.
    Continue,
    /// The task has ended, or its lease was given back.
    Done,
}

/// What became of a call that was to be made.
enum Made {
    /// It is on its way.
    Begun,
    /// It has ended, or other things come first.
    Ended(Flow),
}

impl Run {
    /// Drives the task until it ends or its lease is given back.
    pub(crate) async fn drive(mut self: Box<Self>) -> Result<(), Stop> {
        if Box::pin(self.give_up_poisoned()).await? == Flow::Done
            || Box::pin(self.take_up_open_effects()).await? == Flow::Done
        {
            return Ok(());
        }
        loop {
            if self.signals > self.walk.signals_seen() && Box::pin(self.take_signals()).await? == Flow::Done {
                return Ok(());
            }
            let holds = self.cancel || self.paused || self.inner.stopping.is_cancelled();
            if self.cancel && self.calls.effectful == 0 {
                self.drop_calls();
            }
            if self.calls.is_empty()
                && !holds
                && self.needs_phases()
                && Box::pin(self.walk_phases()).await? == Flow::Done
            {
                return Ok(());
            }
            // A plan that came with the task waits until its documents have been read.
            if !holds && self.walk.plan().is_some() && (!self.calls.is_empty() || self.next_phase().is_none()) {
                let flow = self.begin_what_can().await?;
                if flow == Flow::Done {
                    return Ok(());
                }
            }
            if self.calls.is_empty() {
                if self.signals > self.walk.signals_seen() {
                    continue;
                }
                if Box::pin(self.rest()).await? == Flow::Done {
                    return Ok(());
                }
                continue;
            }
            if !self.held.is_empty() && self.calls.asking < self.calls.len() {
                self.write_held().await?;
                continue;
            }
            if self.held.is_owed() || !self.calls.written.is_empty() {
                // All that can be asked now is asked together.
                let flow = match self.calls.next().now_or_never().flatten() {
                    Some(returned) => self.take_in(returned).await?,
                    None => self.ask_what_is_written().await?,
                };
                if flow == Flow::Done {
                    return Ok(());
                }
                continue;
            }
            let lost = self.active.lost.clone();
            let changed = Arc::clone(&self.active.changed);
            let due = self.until_due();
            tokio::select! {
                biased;
                () = lost.cancelled() => return Err(Box::pin(self.leave()).await),
                Some(note) = self.notes.next() => {
                    if self.take_note(note).await? == Flow::Done {
                        return Ok(());
                    }
                }
                Some(returned) = self.calls.next() => {
                    let flow = self.take_in(returned).await?;
                    if flow == Flow::Done {
                        return Ok(());
                    }
                }
                () = changed.notified() => Box::pin(self.refresh()).await?,
                // What came before the time was up counts: it is looked for first.
                () = due => Box::pin(self.refresh()).await?,
            }
        }
    }

    /// A call that was open when the process died, and of which only a person can say what came of it, is asked about
    /// before anything else is looked at.
    async fn take_up_open_effects(&mut self) -> Result<Flow, Stop> {
        for index in self.walk.in_plan_order() {
            if let Some(draft) = tool_step::left_open(self, index, tool_step::DIED, self.now())
                && self.settle(draft).await? == Flow::Done
            {
                return Ok(Flow::Done);
            }
        }
        Ok(Flow::Continue)
    }

    /// Begins every step that can begin now.
    async fn begin_what_can(&mut self) -> Result<Flow, Stop> {
        loop {
            let now = self.now();
            let mut again = false;
            let actions = self.walk.actions(now);
            if actions.iter().any(|action| matches!(action, Action::Start(_))) {
                Box::pin(self.look_at_rules()).await?;
            }
            let alone = actions.len() == 1 && self.calls.is_empty();
            for action in actions {
                let mut draft = match action {
                    Action::Start(_) if self.calls.len() >= limits::MAX_PARALLEL => break,
                    Action::Start(index) => match step::begin(self, index, now) {
                        Begun::Rows(draft) => draft,
                        Begun::Call(call) if self.lacks_lessons(&call) => {
                            if Box::pin(self.take_up_lessons()).await? == Flow::Done {
                                return Ok(Flow::Done);
                            }
                            // It begins anew, with them.
                            again = true;
                            break;
                        }
                        Begun::Call(call) => {
                            match self.make(call, alone).await? {
                                Made::Begun => continue,
                                Made::Ended(Flow::Done) => return Ok(Flow::Done),
                                Made::Ended(Flow::Continue) => {}
                            }
                            again = true;
                            break;
                        }
                    },
                    Action::Advance(index) => tool_step::advance(self, index),
                    Action::TimeUp(index) => self.time_up(index),
                };
                draft.may_wait = true;
                if self.settle(draft).await? == Flow::Done {
                    return Ok(Flow::Done);
                }
                again = true;
                // What was decided may change what else can be done.
                break;
            }
            let stops = self.inner.stopping.is_cancelled() || self.active.lost.is_cancelled();
            let holds = self.cancel || self.paused || stops || self.signals > self.walk.signals_seen();
            if !again || holds {
                return Ok(Flow::Continue);
            }
        }
    }

    /// Makes a call. One that nobody outside can see and that ends at once is taken in at once, when nothing else could
    /// begin or runs beside it: steps that stand side by side all begin before any of them is taken in.
    async fn make(&mut self, call: Box<Call>, alone: bool) -> Result<Made, Stop> {
        let unseen = is_unseen(&call);
        // A question changes nothing outside: what led to it is written with its reply, or while it is on its way.
        let asks = call.question().is_some();
        // What is looked up for its turn may be asked outside at once.
        let looks_up = call.question().is_some_and(|asked| asked.gathered.get().is_none()) && self.held.is_owed();
        if !unseen && (!asks || looks_up) && !self.held.is_empty() {
            // What led to the call comes first, and it may bring news: look again.
            return Ok(Made::Ended(self.write_held().await?));
        }
        self.walk.mark_running(call.index);
        self.calls.effectful += usize::from(is_effectful(&call));
        if let Some(question) = call.question() {
            self.calls.asking += 1;
            self.asked_behind = Some(question.behind);
        }
        let mut made = Box::pin(perform(Arc::clone(&self.inner), self.lease.clone(), call));
        if unseen
            && alone
            && let Some(returned) = (&mut made).now_or_never()
        {
            let flow = self.take_in(returned).await?;
            if flow == Flow::Continue && self.active.changed.notified().now_or_never().is_some() {
                Box::pin(self.refresh()).await?;
            }
            return Ok(Made::Ended(flow));
        }
        self.calls.push(made);
        Ok(Made::Begun)
    }

    async fn take_in(&mut self, returned: Result<Returned, NotBegun>) -> Result<Flow, Stop> {
        match returned {
            Ok(returned) => {
                if returned.call.question().is_some() {
                    self.calls.asking -= 1;
                    self.asked_behind = None;
                }
                self.calls.effectful -= usize::from(is_effectful(&returned.call));
                let now = self.now();
                let may_wait = is_unseen(&returned.call) || is_reply(&returned);
                let mut draft = tool_step::conclude(self, returned, now);
                draft.may_wait = may_wait;
                self.settle(draft).await
            }
            Err(NotBegun::Stop(stop)) => Err(stop),
            Err(NotBegun::Later(call, due, error)) => {
                self.calls.effectful -= usize::from(is_effectful(&call));
                self.walk.unmark_running(call.index);
                let draft = tool_step::later(self, &call, due, error);
                self.settle(draft).await
            }
            Err(NotBegun::Asks(asks)) => {
                self.calls.written.push(asks);
                Ok(Flow::Continue)
            }
            Err(NotBegun::Cancelled(index)) => {
                self.calls.effectful -= 1;
                self.walk.unmark_running(index);
                self.cancel = true;
                Ok(Flow::Continue)
            }
        }
    }

    /// Reserves for every question that is written, stores what is owed together with that, and only then asks.
    async fn ask_what_is_written(&mut self) -> Result<Flow, Stop> {
        let inner = Arc::clone(&self.inner);
        let written = std::mem::take(&mut self.calls.written);
        let reserving = join_all(written.into_iter().map(|asks| asks.reserved(Arc::clone(&inner))));
        let granted = if self.held.is_owed() {
            // The reservations are in the store's line first: on SQLite it is one commit.
            let (granted, flow) = join(reserving, self.write_held()).await;
            if flow? == Flow::Done {
                return Ok(Flow::Done);
            }
            granted
        } else {
            let lost = self.active.lost.clone();
            match lost.run_until_cancelled(self.calls.beside(reserving)).await {
                Some(granted) => granted,
                None => return Err(Box::pin(self.leave()).await),
            }
        };
        for granted in granted {
            match granted {
                Ok(granted) => self.calls.push(Box::pin(granted.ask(Arc::clone(&inner)))),
                Err(refused) => self.calls.push(Box::pin(ready(Ok(*refused)))),
            }
        }
        Ok(Flow::Continue)
    }

    /// Waits until the clock changes something that has not changed yet: a wait, a back-off or a deadline ends. Asks the
    /// clock again and again, because it may be set meanwhile.
    fn until_due(&self) -> impl Future<Output = ()> + Send + use<> {
        let (inner, at_most) = (Arc::clone(&self.inner), self.inner.settings.poll);
        let due = self.walk.next_due_after(self.now());
        async move {
            let Some(due) = due else { return std::future::pending().await };
            loop {
                let left = due.since(inner.time.now());
                if left == Millis(0) {
                    return;
                }
                let pause = left.min(at_most).as_duration();
                let _ = tokio::time::timeout(pause, std::future::pending::<()>()).await;
            }
        }
    }

    /// The steps that a worker may have begun before it died, although no row says so: those whose turn it is, and whose
    /// calls are not recorded before they begin.
    pub(super) fn may_have_begun(&self) -> Vec<StepId> {
        let now = self.now();
        let unrecorded = |index: usize| match step::begin(self, index, now) {
            Begun::Call(call) => !is_effectful(&call),
            Begun::Rows(_) => false,
        };
        let start = |action| match action {
            Action::Start(index) if unrecorded(index) => Some(self.walk.node(index).id.clone()),
            Action::Start(_) | Action::Advance(_) | Action::TimeUp(_) => None,
        };
        self.walk.actions(now).into_iter().filter_map(start).collect()
    }

    /// The steps whose calls are on their way, and are not recorded before they begin.
    pub(super) fn unrecorded_calls(&self) -> Vec<StepId> {
        let is_recorded = |node: &Node| {
            let tool = node.spec.tool_key().and_then(|tool| self.tools.find(tool));
            tool.is_some_and(|tool| tool.spec().effect.needs_attempt_row())
        };
        let nodes = self.walk.in_plan_order().into_iter().map(|index| self.walk.node(index));
        let running = nodes.filter(|node| node.state == NodeState::Running && !is_recorded(node));
        running.map(|node| node.id.clone()).collect()
    }

    /// Gives up calls that change nothing outside. Their steps have no end, and may have run.
    fn drop_calls(&mut self) {
        if self.calls.is_empty() {
            return;
        }
        self.calls.clear();
        for index in self.walk.in_plan_order() {
            self.walk.give_up(index);
        }
    }

    /// The clock ended a wait.
    fn time_up(&self, index: usize) -> Draft {
        let node = self.walk.node(index);
        let NodeState::Waiting(wait) = &node.state else { return Draft::default() };
        let row = match wait.kind {
            WaitKind::Timer => super::signals::ended(self, index, Ok(serde_json::json!({})), false),
            WaitKind::Workflow => {
                let message = format!("no callback came before the deadline: {}", wait.reason);
                super::signals::ended(self, index, Err(failure(ErrorCode::Timeout, message)), false)
            }
            WaitKind::Child => {
                let message = format!("the child did not end in time: {}", wait.reason);
                super::signals::ended(self, index, Err(failure(ErrorCode::Timeout, message)), false)
            }
            WaitKind::Input
            | WaitKind::Intent
            | WaitKind::Document
            | WaitKind::Plan
            | WaitKind::Review
            | WaitKind::Confirmation
            | WaitKind::Ambiguous => {
                let error = failure(ErrorCode::Timeout, "nobody answered in time");
                super::signals::ended(self, index, Err(error), false)
            }
        };
        let mut draft = Draft::row(row);
        if wait.kind == WaitKind::Child {
            draft.effects.extend(node.child.as_ref().map(|child| Effect::Cancel(child.id)));
        }
        if wait.kind.is_person() {
            let (wait_seq, status) = (Some(wait.seq), ApprovalStatus::Expired);
            draft.effects.push(Effect::Close { wait_seq, status });
        }
        draft
    }

    /// Walks the phases that are left, until the plan is known or a person is asked.
    async fn walk_phases(&mut self) -> Result<Flow, Stop> {
        // After a phase that failed there is nothing to find out.
        while let (Some(phase), None) = (self.next_phase(), ending::in_phase(&self.walk)) {
            let known = self.walk.phase(phase).cloned().unwrap_or_default();
            if known.wait.is_some() {
                return Ok(Flow::Continue);
            }
            let takes_time = phases::takes_time(self, phase);
            if takes_time && self.row_status != self.phase_status() && !self.row_status.is_terminal() {
                // The row says where the task is while something slow is asked.
                self.enter(self.phase_status()).await?;
            }
            let now = self.now();
            let lost = self.active.lost.clone();
            let end = tokio::select! {
                biased;
                () = lost.cancelled() => return Err(Stop::Fenced),
                end = phases::run_phase(self, phase, now) => end,
            };
            let flow = match end {
                Ok(end) => self.settle_phase(end).await?,
                Err(Interrupted::Stop(stop)) => return Err(stop),
                // Somebody wants something else of the task first.
                Err(Interrupted::Held) => return Ok(Flow::Continue),
                Err(Interrupted::Port(error)) if error.code() == ErrorCode::Unavailable => {
                    tracing::warn!(task.id = %self.task.id, %error, "phase will be tried again");
                    let due = self.now().plus(PHASE_BACKOFF);
                    return self.release(Some(due)).await;
                }
                Err(Interrupted::Port(error)) => {
                    let error = StepError { code: error.code(), message: error.to_string(), retryable: true };
                    self.fail_task(error, Some(phase.step_id())).await?
                }
            };
            if flow == Flow::Done || self.cancel || self.paused || self.signals > self.walk.signals_seen() {
                return Ok(flow);
            }
        }
        Ok(Flow::Continue)
    }

    /// Whether a phase is left to walk.
    fn needs_phases(&self) -> bool {
        self.next_phase().is_some() && ending::in_phase(&self.walk).is_none()
    }

    /// Whether it is a mail whose intent is found out here, or was in the task that it is a fork of: what it and its
    /// papers say is wanted at once, because a person may be asked before any step of a plan reads them.
    pub(super) fn is_mail_to_understand(&self) -> bool {
        let is_found_out = self.walk.plan().is_none() || self.task.intent.is_some();
        self.task.channel == Channel::Email && is_found_out
    }

    /// The first phase that has not ended.
    pub(super) fn next_phase(&self) -> Option<Phase> {
        let ended = |phase: Phase| self.walk.phase(phase).is_some_and(|state| state.outcome.is_some());
        // A mail says something even without files.
        let says_something = self.has_documents || self.is_mail_to_understand();
        if says_something && !ended(Phase::Extraction) {
            return Some(Phase::Extraction);
        }
        if self.walk.plan().is_some() {
            return None;
        }
        [Phase::Intent, Phase::Planning].into_iter().find(|phase| !ended(*phase))
    }

    /// Asks the store what others want.
    async fn refresh(&mut self) -> Result<(), Stop> {
        let (lease, now) = (self.inner.settings.lease, self.now());
        let held = [self.lease.clone()];
        let answers = self
            .ask(|inner| {
                let held = held.clone();
                async move { inner.store.heartbeat(&held, lease, now).await }
            })
            .await?;
        match answers.first() {
            Some(Heartbeat::Held(committed)) => {
                self.note(*committed);
                Ok(())
            }
            Some(Heartbeat::Lost) | None => Err(Stop::Fenced),
        }
    }

    pub(super) fn note(&mut self, committed: Committed) {
        self.signals = self.signals.max(committed.signals);
        self.cancel |= committed.cancel_requested;
        self.paused = committed.paused;
    }

    /// The status of the phase that the task is in.
    pub(super) fn phase_status(&self) -> TaskStatus {
        // A task whose plan was named from the start reads its documents as part of executing it.
        let phase = self.next_phase().filter(|_| self.walk.plan().is_none());
        phase.map_or(TaskStatus::Executing, phases::status_in)
    }

    async fn enter(&mut self, status: TaskStatus) -> Result<(), Stop> {
        let change = TaskChange::Progress { status, intent: None, plan: None };
        self.commit_with(Vec::new(), Vec::new(), change, kybern_core::money::Usage::default()).await?;
        self.row_status = status;
        Ok(())
    }
}
