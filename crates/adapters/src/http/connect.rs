//! The time that one connection may take: each request may have its own, which the HTTP library does not offer.
//!
//! A request names its limit around its future; the connection is begun inside of that future, where the limit is
//! read. A connection that takes longer fails as a connection, not as an answer.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use kybern_core::time::Millis;
use tower::{BoxError, Layer, Service};

tokio::task_local! {
    static LIMIT: Millis;
}

/// Runs a request whose connections, if it makes any, take at most `limit`.
pub(super) async fn within<F: Future>(limit: Millis, request: F) -> F::Output {
    LIMIT.scope(limit, request).await
}

/// It took too long to connect.
#[derive(Debug, thiserror::Error)]
#[error("it took longer than {0}")]
struct TooLong(Millis);

/// Puts the limit around the HTTP library's connector.
#[derive(Clone, Copy)]
pub(super) struct ConnectLimit {
    /// For requests that name none.
    pub(super) default: Millis,
}

impl<S> Layer<S> for ConnectLimit {
    type Service = LimitedConnector<S>;

    fn layer(&self, inner: S) -> Self::Service {
        LimitedConnector { inner, default: self.default }
    }
}

/// A connector with a limit.
#[derive(Clone)]
pub(super) struct LimitedConnector<S> {
    inner: S,
    default: Millis,
}

impl<S, R> Service<R> for LimitedConnector<S>
where
    S: Service<R, Error = BoxError>,
    S::Future: Send + 'static,
    S::Response: 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let limit = LIMIT.try_with(|limit| *limit).unwrap_or(self.default);
        let connecting = self.inner.call(request);
        Box::pin(async move {
            match tokio::time::timeout(limit.as_duration(), connecting).await {
                Ok(connected) => connected,
                Err(_) => Err(BoxError::from(TooLong(limit))),
            }
        })
    }
}
