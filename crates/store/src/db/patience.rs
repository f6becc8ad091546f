//! How long a server may be silent. A connection can die without anybody telling this end of it, after a failover for
//! instance: then an answer never comes, and whoever waited without a limit would wait for a quarter of an hour.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::error::{Result, StoreError, is_read_only};

/// How long what an archive or the house-keeping asks may take.
pub(crate) const LONGEST: Duration = Duration::from_secs(600);

/// How long an answer may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Span {
    /// To what takes a server no time: that a transaction begins, who asks, whether anybody is there.
    Short,
    /// To a statement. The server itself gives one up that takes too long, so a connection on which nobody says so has
    /// gone silent.
    Statement,
    /// To what goes over whole tables.
    Long,
}

/// How long this store waits for its server, and which connections it does not trust any more.
pub(crate) struct Patience {
    statement: Duration,
    began: Instant,
    /// Milliseconds after which a connection was made when it can be trusted.
    trusted: AtomicU64,
}

impl Patience {
    pub(crate) fn new(statement: Duration) -> Self {
        Self { statement, began: Instant::now(), trusted: AtomicU64::new(0) }
    }

    /// How long the server may take for a statement.
    pub(crate) fn statement(&self) -> Duration {
        self.statement
    }

    fn of(&self, span: Span) -> Duration {
        match span {
            Span::Short => self.statement / 3,
            Span::Statement => self.statement + self.statement / 3,
            Span::Long => LONGEST,
        }
    }

    /// Waits for an answer. A connection that was silent once is asked nothing any more, and none that is as old is
    /// trusted: they are likely to have died together. Nor is one trusted when the server takes no writes: those that
    /// are made anew lead to the primary, wherever it is by then.
    ///
    /// # Errors
    /// [`StoreError::Silent`] when none came in time; what the server says.
    pub(crate) fn answered<'a, T: Send>(
        &'a self,
        silent: &'a mut bool,
        span: Span,
        asked: impl Future<Output = sqlx::Result<T>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T>> {
        // Boxed, or every statement on SQLite would carry the room for it.
        Box::pin(async move {
            let limit = self.of(span);
            if *silent {
                return Err(StoreError::Silent(limit));
            }
            match tokio::time::timeout(limit, asked).await {
                Ok(answer) => {
                    if answer.as_ref().is_err_and(is_read_only) {
                        self.distrust();
                    }
                    Ok(answer?)
                }
                Err(_elapsed) => {
                    *silent = true;
                    self.distrust();
                    let message = "the database has gone silent on a connection; its connections are made anew";
                    tracing::warn!(?limit, message);
                    Err(StoreError::Silent(limit))
                }
            }
        })
    }

    /// No connection that exists now is trusted.
    fn distrust(&self) {
        self.trusted.fetch_max(self.now(), Ordering::Relaxed);
    }

    /// Whether a connection of that age can be trusted.
    pub(crate) fn trusts(&self, age: Duration) -> bool {
        let made = self.now().saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        made >= self.trusted.load(Ordering::Relaxed)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_was_silent_is_asked_nothing_and_only_younger_ones_are_trusted() {
        let patience = Patience::new(Duration::from_secs(6));
        let (mut silent, mut other) = (false, false);
        let asked = std::future::pending::<sqlx::Result<()>>();
        let refused = patience.answered(&mut silent, Span::Statement, asked).await;
        assert!(matches!(refused, Err(StoreError::Silent(limit)) if limit == Duration::from_secs(8)));
        assert!(silent && patience.answered(&mut silent, Span::Short, async { Ok(1) }).await.is_err());
        assert_eq!(patience.answered(&mut other, Span::Short, async { Ok(1) }).await.unwrap(), 1);
        assert!(!patience.trusts(Duration::from_secs(5)) && patience.trusts(Duration::ZERO));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(patience.trusts(Duration::from_secs(59)) && !patience.trusts(Duration::from_secs(61)));
    }
}
