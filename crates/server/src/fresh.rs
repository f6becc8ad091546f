//! What is asked of the store at most once a second, however many ask: scrapes and probes must not cost it anything.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

/// How old what is shown may be.
const AGE: Duration = Duration::from_secs(1);

/// A value with the moment at which it was asked for. Whoever comes while it is asked for waits for that answer.
#[derive(Debug)]
pub(crate) struct FreshCache<T>(Mutex<Option<(Instant, Arc<T>)>>);

impl<T> Default for FreshCache<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> FreshCache<T> {
    /// The value, asked for anew when it is older than a second.
    pub(crate) async fn get<E>(&self, ask: impl Future<Output = Result<T, E>>) -> Result<Arc<T>, E> {
        let mut kept = self.0.lock().await;
        if let Some((_, value)) = kept.as_ref().filter(|(at, _)| at.elapsed() < AGE) {
            return Ok(Arc::clone(value));
        }
        let value = Arc::new(ask.await?);
        *kept = Some((Instant::now(), Arc::clone(&value)));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[tokio::test(start_paused = true)]
    async fn many_ask_once_a_second() {
        let (fresh, asked) = (FreshCache::default(), AtomicUsize::new(0));
        let get = || {
            fresh.get(async {
                tokio::task::yield_now().await;
                Ok::<_, ()>(asked.fetch_add(1, Ordering::SeqCst))
            })
        };
        let all = futures::future::join_all((0..100).map(|_| get())).await;
        assert!(all.iter().all(|value| value.as_deref() == Ok(&0)));
        tokio::time::advance(AGE).await;
        assert_eq!(get().await.as_deref(), Ok(&1));
    }
}
