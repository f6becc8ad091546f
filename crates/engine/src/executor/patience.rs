//! A store that is unavailable for a while costs a run nothing but time: what it has to know is asked again, and what it
//! has to write is written again, the same commit, until the store answers or the lease is somebody else's. The outcome
//! of a call that has returned is never thrown away while this process could still write it.

use std::sync::Arc;

use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::task::{Commit, CommitRefused, Committed};
use kybern_core::time::Millis;

use super::drive::RunStop;
use super::kernel::Kernel;
use super::run::TaskRun;

/// The first pause after a failure; each later one is twice as long.
const FIRST: Millis = Millis(50);
const LONGEST: Millis = Millis(2_000);

/// The pauses between the tries of a store that is unavailable.
#[derive(Default)]
pub(crate) struct Pauses(u32);

impl Pauses {
    /// How long the next one is.
    fn next(&mut self) -> Millis {
        let span = FIRST.0.saturating_mul(1 << self.0.min(16)).min(LONGEST.0);
        self.0 += 1;
        Millis(span)
    }

    /// Waits for the next one to be over.
    pub(crate) async fn pause(&mut self) {
        // Running out of time is what is waited for.
        drop(tokio::time::timeout(self.next().as_duration(), std::future::pending::<()>()).await);
    }
}

/// A failure that may be one of the store.
pub(crate) trait Failure: std::fmt::Display {
    /// Whether the store may do it in a moment. It may also have been done already.
    fn is_unavailable(&self) -> bool;
}

impl Failure for Error {
    fn is_unavailable(&self) -> bool {
        self.code() == ErrorCode::Unavailable
    }
}

impl Failure for CommitRefused {
    fn is_unavailable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_unavailable())
    }
}

/// Asks the store until it is available. Whoever may lose interest drops this.
///
/// # Errors
/// Whatever else the store says.
pub(crate) async fn until_available<T, E: Failure, F: Future<Output = Result<T, E>>>(
    mut ask: impl FnMut() -> F,
) -> Result<T, E> {
    let mut pauses = Pauses::default();
    loop {
        match ask().await {
            Err(error) if error.is_unavailable() => {
                tracing::warn!(%error, "the store is unavailable, asking again");
                pauses.pause().await;
            }
            answer => return answer,
        }
    }
}

impl TaskRun {
    /// Asks the store until it is available. Calls that are on their way go on meanwhile.
    ///
    /// # Errors
    /// Whatever else the store says; that the lease is lost.
    pub(super) async fn ask<T, F: Future<Output = Result<T>>>(
        &mut self,
        ask: impl Fn(Arc<Kernel>) -> F,
    ) -> Result<T, RunStop> {
        match ask(Arc::clone(&self.kernel)).await {
            Err(error) if error.is_unavailable() => {}
            answer => return Ok(answer?),
        }
        let (kernel, lost) = (Arc::clone(&self.kernel), self.active.lost.clone());
        let mut pauses = Pauses::default();
        let answered = async {
            pauses.pause().await;
            until_available(|| ask(Arc::clone(&kernel))).await
        };
        let answered = Box::pin(lost.run_until_cancelled(self.calls.poll_while(answered))).await;
        Ok(answered.ok_or(RunStop::Fenced)??)
    }

    /// Writes a commit. One of which nobody knows whether it was written is written again, and the store tells whether
    /// it was. Calls that are on their way go on meanwhile.
    pub(super) async fn write(&mut self, commit: Arc<Commit>) -> Result<Committed, CommitRefused> {
        match self.kernel.store.commit(&self.lease, Arc::clone(&commit)).await {
            Err(refused) if refused.is_unavailable() => Box::pin(self.write_again(commit, refused)).await,
            answer => answer,
        }
    }

    async fn write_again(&mut self, commit: Arc<Commit>, first: CommitRefused) -> Result<Committed, CommitRefused> {
        let (id, lost) = (self.task.id, self.active.lost.clone());
        tracing::warn!(task.id = %id, error = %first, "a commit may not have been written, writing it again");
        let mut pauses = Pauses::default();
        loop {
            let paused = self.calls.poll_while(lost.run_until_cancelled(pauses.pause())).await;
            let again = self.kernel.store.commit_again(&self.lease, Arc::clone(&commit));
            match self.calls.poll_while(again).await {
                // A lease that this very commit has given back counts as lost as well, so the store was asked once more.
                Err(refused) if refused.is_unavailable() && paused.is_none() => return Err(CommitRefused::Fenced),
                Err(refused) if refused.is_unavailable() => {}
                answer => return answer,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_longest() {
        let mut pauses = Pauses::default();
        let spans: Vec<u64> = (0..9).map(|_| pauses.next().0).collect();
        assert_eq!(spans, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
    }
}
