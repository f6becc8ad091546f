//! Listening, keeping connections within their bounds, and going down without breaking off answers.

mod connection;
mod places;
mod watch;

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::connection::EdgeState;
use self::places::NoPlace;
use crate::peer::TrustedProxies;

/// How long nobody is taken in after the system had no room for another connection.
const NO_ROOM: Duration = Duration::from_secs(1);

/// What connections may take.
#[derive(Clone, Debug)]
pub struct Connections {
    /// How long the head of a request may take.
    pub header_timeout: Duration,
    /// How long a connection is kept between two requests.
    pub idle_timeout: Duration,
    /// The most connections; one more is answered with 503.
    pub max: usize,
    /// The most of one address that is no trusted proxy.
    pub max_by_address: usize,
    /// How long requests that have begun may take once the server shuts down.
    pub shutdown_grace: Duration,
    /// Who speaks for others.
    pub proxies: TrustedProxies,
}

impl Default for Connections {
    /// 15 s for a head, 75 s between requests, 10,000 connections, 1,000 of one address, 10 s to shut down.
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(15),
            idle_timeout: Duration::from_secs(75),
            max: 10_000,
            max_by_address: 1_000,
            shutdown_grace: Duration::from_secs(10),
            proxies: TrustedProxies::default(),
        }
    }
}

/// Serves until `shutdown` is cancelled: then no new connection is taken, requests that have begun are answered
/// within [`Connections::shutdown_grace`] or closed, and event streams end.
///
/// # Errors
/// When the listener fails.
///
/// # Cancel safety
/// Dropping it closes the listener; connections end with the runtime.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections: Connections,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let open = TaskTracker::new();
    let edge = Arc::new(EdgeState::new(router, &connections, shutdown.clone()));
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => match edge.places.take(peer.ip()) {
                Ok(place) => {
                    prepare(&stream);
                    open.spawn(connection::answer(Arc::clone(&edge), stream, peer, place));
                }
                Err(full) => turn_away(&edge, &open, stream, full),
            },
            Err(error) if is_the_callers(&error) => {
                tracing::debug!(%error, "a connection was gone before it was taken")
            }
            Err(error) => {
                tracing::error!(%error, "no connection can be taken; raise the limit of open files (ulimit -n)");
                // The time being up is what is waited for.
                drop(tokio::time::timeout(NO_ROOM, shutdown.cancelled()).await);
            }
        }
    }
    drop(listener);
    open.close();
    if tokio::time::timeout(connections.shutdown_grace, open.wait()).await.is_err() {
        tracing::warn!("some connections were still open at the end of the grace time and are closed");
        edge.abandon.cancel();
    }
    Ok(())
}

/// Small answers and single events are sent at once.
fn prepare(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
}

/// Tells who came too late when to come back. Only so many are told at a time: the others are closed without a word.
fn turn_away(edge: &Arc<EdgeState>, open: &TaskTracker, stream: TcpStream, full: NoPlace) {
    match full {
        NoPlace::InAll => tracing::warn!("every connection is taken, see server.max_connections"),
        NoPlace::ByAddress => {
            tracing::debug!("an address has all of its connections, see server.max_connections_per_address")
        }
    }
    if let Ok(told) = Arc::clone(&edge.told).try_acquire_owned() {
        open.spawn(async move {
            connection::turn_away(stream).await;
            drop(told);
        });
    }
}

/// Whether taking one connection failed, and not taking connections.
fn is_the_callers(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::Notify;

    #[tokio::test]
    async fn an_answer_that_never_comes_does_not_keep_the_server_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut caller = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (begun, shutdown) = (Arc::new(Notify::new()), CancellationToken::new());
        let (begins, stop) = (Arc::clone(&begun), shutdown.clone());
        let grace = Duration::from_secs(3);
        let connections = Connections { shutdown_grace: grace, ..Connections::default() };
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
            drop(tokio::time::timeout(grace + Duration::from_secs(1), std::future::pending::<()>()).await);
        };
        let router = Router::new().route("/", get(never));
        tokio::select! {
            served = serve(listener, router, connections, shutdown) => served.unwrap(),
            () = stopping => panic!("the server waits for an answer that never comes"),
        }
    }

    #[tokio::test]
    async fn a_connection_that_says_too_little_is_closed_and_one_that_waits_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (begun, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begins, went_on) = (Arc::clone(&begun), Arc::clone(&goes_on));
        let long = move || async move {
            begins.notify_one();
            went_on.notified().await;
            "at last"
        };
        let router = Router::new().route("/long", get(long));
        let serving = serve(listener, router, Connections::default(), CancellationToken::new());
        let asking = async move {
            let mut silent = TcpStream::connect(address).await.unwrap();
            let mut half = TcpStream::connect(address).await.unwrap();
            half.write_all(b"GET /long HTTP/1.1\r\nHost: x\r\nX-A: ").await.unwrap();
            let mut waiting = TcpStream::connect(address).await.unwrap();
            waiting.write_all(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
            begun.notified().await;
            // The clock jumps from one deadline to the next while nothing else happens.
            tokio::time::pause();
            assert_eq!(silent.read(&mut [0; 64]).await.unwrap(), 0);
            assert_eq!(half.read(&mut [0; 64]).await.unwrap(), 0);
            tokio::time::advance(Duration::from_secs(3_600)).await;
            tokio::time::resume();
            goes_on.notify_one();
            let mut answer = [0; 512];
            let read = waiting.read(&mut answer).await.unwrap();
            assert!(String::from_utf8_lossy(&answer[..read]).ends_with("at last"));
            tokio::time::pause();
            assert_eq!(waiting.read(&mut answer).await.unwrap(), 0, "an idle connection is closed too");
        };
        tokio::select! {
            served = serving => panic!("the server ended: {served:?}"),
            () = asking => {}
        }
    }

    #[tokio::test]
    async fn the_connection_after_the_last_is_told_when_to_come_back() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(async || "here"));
        let connections = Connections { max: 2, ..Connections::default() };
        let serving = serve(listener, router, connections, CancellationToken::new());
        let asking = async move {
            let get = async || {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
                let mut answer = vec![0; 2048];
                let read = stream.read(&mut answer).await.unwrap();
                answer.truncate(read);
                (stream, String::from_utf8(answer).unwrap())
            };
            let (first, second) = (get().await, get().await);
            assert!(first.1.starts_with("HTTP/1.1 200 ") && second.1.starts_with("HTTP/1.1 200 "));
            let (mut third, answer) = get().await;
            assert!(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{answer}");
            assert!(
                answer.contains("\r\nRetry-After: 5\r\n") && answer.contains("\"code\":\"UNAVAILABLE\""),
                "{answer}"
            );
            assert_eq!(third.read(&mut [0; 64]).await.unwrap(), 0);
            drop(first);
            // The place is free as soon as the server has noticed that somebody left.
            while !get().await.1.starts_with("HTTP/1.1 200 ") {}
        };
        tokio::select! {
            served = serving => panic!("the server ended: {served:?}"),
            () = asking => {}
        }
    }

    #[tokio::test]
    async fn an_address_beyond_its_share_is_told_so_and_another_is_served() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(async || "here"));
        // This machine is a client here like any other.
        let proxies = TrustedProxies::new(&[]).unwrap();
        let connections = Connections { max: 10, max_by_address: 2, proxies, ..Connections::default() };
        let serving = serve(listener, router, connections, CancellationToken::new());
        let asking = async move {
            let get = async |from: [u8; 4]| {
                let socket = tokio::net::TcpSocket::new_v4().unwrap();
                socket.bind((std::net::IpAddr::from(from), 0).into()).unwrap();
                let mut stream = socket.connect(address).await.unwrap();
                stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
                let mut answer = vec![0; 2048];
                let read = stream.read(&mut answer).await.unwrap();
                answer.truncate(read);
                (stream, String::from_utf8(answer).unwrap())
            };
            let (greedy, other) = ([127, 0, 0, 1], [127, 0, 0, 2]);
            let held = [get(greedy).await, get(greedy).await];
            assert!(held.iter().all(|(_, answer)| answer.starts_with("HTTP/1.1 200 ")));
            let (mut third, answer) = get(greedy).await;
            assert!(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{answer}");
            assert!(
                answer.contains("\r\nRetry-After: 5\r\n") && answer.contains("\"code\":\"UNAVAILABLE\""),
                "{answer}"
            );
            assert_eq!(third.read(&mut [0; 64]).await.unwrap(), 0);
            let (_stays, answer) = get(other).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
            drop(held);
            while !get(greedy).await.1.starts_with("HTTP/1.1 200 ") {}
        };
        tokio::select! {
            served = serving => panic!("the server ended: {served:?}"),
            () = asking => {}
        }
    }
}
