//! A call that a step makes: what the kernel has to know of it.

use std::pin::Pin;

use async_trait::async_trait;
use kybern_core::task::Lease;
use kybern_core::time::Timestamp;

use super::drive::RunStop;
use super::run::TaskRun;
use super::step::Draft;

/// A call: made outside of every transaction, and then concluded by what came of it.
#[async_trait]
pub(crate) trait Call: Send + Sync {
    /// What the kernel has to know of it, now.
    fn facts(&self) -> KernelFacts;

    /// Makes it, recording first that it begins where nobody could otherwise know.
    async fn perform(self: Box<Self>, lease: Lease) -> CallEnd;

    /// What its end becomes.
    fn conclude(self: Box<Self>, run: &TaskRun, now: Timestamp) -> Draft;
}

/// How a call ended, or why it did not begin.
pub(crate) type CallEnd = Result<Box<dyn Call>, NotBegun>;

/// A call on its way.
pub(crate) type OnItsWay = Pin<Box<dyn Future<Output = CallEnd> + Send>>;

/// What the kernel has to know of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelFacts {
    /// The node that it is of.
    pub(crate) index: usize,
    /// Whether it touches nothing outside, so that nobody can tell whether it was made twice.
    pub(crate) is_unseen: bool,
    /// Whether a try must be recorded before it begins.
    pub(crate) is_effectful: bool,
    /// Whether something has to be read, and journaled, before it is made.
    pub(crate) reads_first: bool,
    pub(crate) question: Option<QuestionFacts>,
    /// Whether a model has replied: what follows may be written together with it.
    pub(crate) is_reply: bool,
}

/// What the kernel has to know of a question to a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuestionFacts {
    /// The last row that tells a reader something before it.
    pub(crate) behind: i64,
    /// Whether something is looked up before it is written, which may ask somebody outside at once.
    pub(crate) looks_up: bool,
}

/// A call that did not get to begin.
pub(crate) enum NotBegun {
    /// The run stops.
    Stop(RunStop),
    /// Somebody wants the task cancelled.
    Cancelled(usize),
    /// It has to wait, as its conclusion says.
    Later(Box<dyn Call>),
    /// A question that is written. It is asked when what it can cost is reserved, and what led to it is stored.
    Written(ReservingCall),
}

/// A question that is written, and not asked: reserves what it can cost. Nothing happens before it is polled. What it
/// answers is the way to ask, or the end of a question for which nothing can be reserved.
pub(crate) type ReservingCall = Pin<Box<dyn Future<Output = Result<OnItsWay, Box<dyn Call>>> + Send>>;
