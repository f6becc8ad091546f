//! Listening, and going down without breaking off answers.

use std::future::IntoFuture;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long open connections may take to finish once the server shuts down.
const GRACE: Duration = Duration::from_secs(20);

/// Serves until `shutdown` is cancelled: then no new connection is taken, requests that have begun are answered
/// within 20 seconds, and event streams end.
///
/// # Errors
/// When the listener fails.
///
/// # Cancel safety
/// Dropping it closes the listener; connections end with the runtime.
pub async fn serve(listener: TcpListener, router: Router, shutdown: CancellationToken) -> std::io::Result<()> {
    // Small answers and single events are sent at once.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
    });
    let stop = shutdown.clone();
    // Made into a service once: a router that is served as it is copies its table of routes for each connection, some
    // 70 KB.
    let server =
        axum::serve(listener, router.into_make_service()).with_graceful_shutdown(async move { stop.cancelled().await });
    let mut server = pin!(server.into_future());
    tokio::select! {
        ended = &mut server => return ended,
        () = shutdown.cancelled() => {}
    }
    match tokio::time::timeout(GRACE, server).await {
        Ok(ended) => ended,
        Err(_) => {
            tracing::warn!("some connections were still open at the end of the grace time and are closed");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use axum::routing::get;
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpStream;
    use tokio::sync::Notify;

    #[tokio::test]
    async fn an_answer_that_never_comes_does_not_keep_the_server_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut caller = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (begun, shutdown) = (Arc::new(Notify::new()), CancellationToken::new());
        let (begins, stop) = (Arc::clone(&begun), shutdown.clone());
        let never = move || {
            begins.notify_one();
            std::future::pending::<()>()
        };
        let stopping = async move {
            caller.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
            begun.notified().await;
            // From here on nothing moves but the clock.
            tokio::time::pause();
            stop.cancel();
            drop(tokio::time::timeout(GRACE * 2, std::future::pending::<()>()).await);
        };
        tokio::select! {
            served = serve(listener, Router::new().route("/", get(never)), shutdown) => served.unwrap(),
            () = stopping => panic!("the server waits for an answer that never comes"),
        }
    }
}
