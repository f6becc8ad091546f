//! On a real socket: refusing large bodies early, streams, and going down.

use std::time::Duration;

use kybern_server::Connections;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::fixture::Fixture;
use crate::harness::{App, MAX_BODY};

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "a server has to run beside its test")]
pub(crate) async fn served(app: &App) -> (String, JoinHandle<std::io::Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server =
        tokio::spawn(kybern_server::serve(listener, app.router.clone(), Connections::default(), app.shutdown.clone()));
    (address, server)
}

/// Reads until the answer's body has ended.
pub(crate) async fn answer(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    let whole = |text: &str| {
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        length.map(|length: usize| body.len() >= length)
    };
    while whole(&text) != Some(true) {
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await.unwrap().unwrap();
        if read == 0 {
            break;
        }
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    text
}

#[tokio::test]
async fn a_body_that_is_declared_too_large_is_refused_before_it_is_sent() {
    let app = App::start().await;
    let (address, _server) = served(&app).await;
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = format!(
        "POST /api/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 1000000000\r\n\r\n",
        app.ours.operator
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let text = answer(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
    assert!(text.contains("PAYLOAD_TOO_LARGE"), "{text}");
}

#[tokio::test]
async fn who_asks_before_sending_is_refused_and_not_asked_for_more() {
    let app = App::start().await;
    let (address, _server) = served(&app).await;
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let head = "POST /api/tasks HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let text = answer(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 401 "), "{text}");
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let app = App::start().await;
    let (address, _server) = served(&app).await;
    let mut many = TcpStream::connect(&address).await.unwrap();
    let head = format!("GET /healthz HTTP/1.1\r\nHost: x\r\n{}\r\n", "X: y\r\n".repeat(1_000));
    many.write_all(head.as_bytes()).await.unwrap();
    let text = answer(&mut many).await;
    assert!(text.starts_with("HTTP/1.1 431 "), "{text}");
    let mut long = TcpStream::connect(&address).await.unwrap();
    long.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: ").await.unwrap();
    // More than the sockets hold, so that it is the server that takes it or breaks it off.
    let sent = tokio::time::timeout(PATIENCE, long.write_all(&vec![b'y'; 64 * 1024 * 1024])).await;
    assert!(sent.expect("it is not left to stand").is_err(), "64 MiB of one header were taken");
}

#[tokio::test]
async fn who_sends_everything_first_still_reads_why_it_was_refused() {
    let app = App::start().await;
    let (address, _server) = served(&app).await;
    // More than any socket buffer holds, so that the server's answer crosses the caller's writing.
    let size = 12 * 1024 * 1024;
    for (key, status) in [(app.ours.operator.as_str(), "413"), ("kyb_nobody_has_this_key_at_all_0000", "401")] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let head = format!(
            "POST /api/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             Content-Length: {size}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let chunk = vec![b' '; MAX_BODY];
        for _ in 0..size / MAX_BODY {
            stream.write_all(&chunk).await.unwrap();
        }
        let text = answer(&mut stream).await;
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{text}");
    }
}

#[tokio::test]
async fn shutting_down_ends_streams_and_answers_what_has_begun() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let (address, server) = served(&app).await;
    let get = async |path: String| {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n", app.ours.viewer);
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    };
    let mut events = get(format!("/api/tasks/{}/events", fixture.waiting)).await;
    let mut seen = String::new();
    let mut buffer = [0; 4096];
    while !seen.contains("needs_review") {
        let read = tokio::time::timeout(PATIENCE, events.read(&mut buffer)).await.unwrap().unwrap();
        seen.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    let mut waiting = get(format!("/api/tasks/{}?waitMs=60000", fixture.running)).await;
    // Answered means that the connection's turn has come, and so has that of the one before it.
    answer(&mut get("/healthz".to_owned()).await).await;
    app.shutdown.cancel();
    let text = answer(&mut waiting).await;
    assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("\"completedAt\":null"), "{text}");
    loop {
        let read = tokio::time::timeout(PATIENCE, events.read(&mut buffer)).await.unwrap().unwrap();
        if read == 0 {
            break;
        }
    }
    tokio::time::timeout(PATIENCE, server).await.unwrap().unwrap().unwrap();
    assert!(TcpStream::connect(&address).await.is_err(), "nobody listens any more");
    assert_eq!(json!(seen.contains("event: done")), json!(false));
}
