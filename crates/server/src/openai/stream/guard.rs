//! Ends work that goes on at its reader's pace: when the reader takes nothing any more, and when the server shuts down.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kybern_core::error::{Error, ErrorCode};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::state::AppState;

/// How long a reader may take nothing before the stream ends without it.
pub(super) const STALL: Duration = Duration::from_secs(30);

/// Why work was ended from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CutReason {
    /// Its reader took nothing any more.
    Stalled,
    /// The server shuts down.
    Shutdown,
}

impl From<CutReason> for Error {
    fn from(cut: CutReason) -> Self {
        match cut {
            CutReason::Stalled => {
                let message = format!("nothing was read for {} s, so the stream has ended", STALL.as_secs());
                Self::new(ErrorCode::Timeout, message)
            }
            CutReason::Shutdown => Self::new(ErrorCode::Unavailable, "the server is shutting down, ask again"),
        }
    }
}

struct Slot<T> {
    /// `None` while somebody is at it, and after its end.
    work: Option<T>,
    /// Since when nobody is at it.
    idle: Option<Instant>,
    cut: Option<CutReason>,
}

struct GuardInner<T> {
    slot: Mutex<Slot<T>>,
    /// Cancelled when the work is cut.
    cut: CancellationToken,
}

impl<T> GuardInner<T> {
    fn slot(&self) -> MutexGuard<'_, Slot<T>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody has been at the work for so long.
    async fn stalled(&self) {
        loop {
            let idle = self.slot().idle;
            let left = idle.map_or(STALL, |since| STALL.saturating_sub(since.elapsed()));
            if left.is_zero() {
                return;
            }
            rest(left).await;
        }
    }

    fn end(&self, why: CutReason) {
        let mut slot = self.slot();
        slot.cut = Some(why);
        let work = slot.work.take();
        drop(slot);
        drop(work);
        self.cut.cancel();
    }
}

/// Work with its guard. Dropped, it ends at once.
pub(super) struct GuardedWork<T: Send + 'static> {
    inner: Arc<GuardInner<T>>,
    /// Cancelled when there is nothing left to be guarded.
    over: CancellationToken,
}

impl<T: Send + 'static> GuardedWork<T> {
    /// Guards work from now on.
    pub(super) fn new(state: &AppState, work: T) -> Self {
        Self::over(work, (&state.shutdown, state.limits.stream_grace, &state.background))
    }

    fn over(work: T, (shutdown, grace, background): (&CancellationToken, Duration, &TaskTracker)) -> Self {
        let slot = Slot { work: Some(work), idle: Some(Instant::now()), cut: None };
        let inner = Arc::new(GuardInner { slot: Mutex::new(slot), cut: CancellationToken::new() });
        let over = CancellationToken::new();
        let (guarded, ended) = (Arc::clone(&inner), over.clone());
        let shutdown = shutdown.clone();
        background.spawn(async move {
            let closing = async {
                shutdown.cancelled().await;
                rest(grace).await;
            };
            let why = tokio::select! {
                biased;
                () = ended.cancelled() => return,
                () = closing => CutReason::Shutdown,
                () = guarded.stalled() => CutReason::Stalled,
            };
            guarded.end(why);
        });
        Self { inner, over }
    }

    /// Does something with the work.
    ///
    /// # Errors
    /// When it was ended before, or meanwhile.
    ///
    /// # Cancel safety
    /// Dropping the future ends the work.
    pub(super) async fn with<A>(&self, act: impl AsyncFnOnce(&mut T) -> A) -> Result<A, CutReason> {
        let taken = {
            let mut slot = self.inner.slot();
            slot.idle = None;
            slot.work.take()
        };
        let Some(mut work) = taken else { return Err(self.why()) };
        let answer = tokio::select! {
            biased;
            () = self.inner.cut.cancelled() => None,
            answer = act(&mut work) => Some(answer),
        };
        let Some(answer) = answer else { return Err(self.why()) };
        let mut slot = self.inner.slot();
        if let Some(why) = slot.cut {
            return Err(why);
        }
        (slot.work, slot.idle) = (Some(work), Some(Instant::now()));
        drop(slot);
        Ok(answer)
    }

    /// Takes the work out: it needs no guard any more.
    pub(super) fn end(&self) -> Option<T> {
        self.over.cancel();
        self.inner.slot().work.take()
    }

    fn why(&self) -> CutReason {
        self.inner.slot().cut.unwrap_or(CutReason::Stalled)
    }
}

impl<T: Send + 'static> Drop for GuardedWork<T> {
    fn drop(&mut self) {
        drop(self.end());
    }
}

async fn rest(span: Duration) {
    // The end of the span is what is waited for.
    let _ = tokio::time::timeout(span, std::future::pending::<()>()).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work that notes its end.
    struct Noted(CancellationToken);

    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }

    fn guarded(shutdown: &CancellationToken) -> (GuardedWork<Noted>, CancellationToken) {
        let gone = CancellationToken::new();
        let work = GuardedWork::over(Noted(gone.clone()), (shutdown, Duration::from_secs(5), &TaskTracker::new()));
        (work, gone)
    }

    async fn passes(span: Duration) {
        rest(span).await;
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_nobody_looks_at_ends_and_says_why() {
        let (work, gone) = guarded(&CancellationToken::new());
        for _ in 0..3 {
            passes(STALL - Duration::from_secs(1)).await;
            assert_eq!(work.with(async |_| 7).await, Ok(7), "whoever comes back in time goes on");
        }
        passes(STALL + Duration::from_secs(1)).await;
        assert!(gone.is_cancelled(), "it holds nothing any more");
        assert_eq!(work.with(async |_| 7).await, Err(CutReason::Stalled));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_source_is_no_slow_reader() {
        let (work, gone) = guarded(&CancellationToken::new());
        assert_eq!(work.with(async |_| passes(STALL * 4).await).await, Ok(()));
        assert!(!gone.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn a_shutdown_leaves_it_its_grace_and_then_cuts_what_is_going_on() {
        let shutdown = CancellationToken::new();
        let (work, gone) = guarded(&shutdown);
        shutdown.cancel();
        assert_eq!(work.with(async |_| passes(Duration::from_secs(4)).await).await, Ok(()));
        let before = Instant::now();
        assert_eq!(work.with(async |_| std::future::pending::<()>().await).await, Err(CutReason::Shutdown));
        assert!(before.elapsed() <= Duration::from_secs(2) && gone.is_cancelled());
        assert_eq!(Error::from(CutReason::Shutdown).code(), ErrorCode::Unavailable);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_dropped_ends_at_once() {
        let (work, gone) = guarded(&CancellationToken::new());
        drop(work);
        assert!(gone.is_cancelled());
    }
}
