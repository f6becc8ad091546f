//! The sink takes in what is sent, and misbehaves as it is told.
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use kybern_core::time::Millis;
use kybern_testkit::{EffectSink, Reply};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Sends one request on a connection of its own; `None` when the connection closes without an answer.
async fn post(sink: &EffectSink, key: &str, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect(sink.authority()).await.unwrap();
    let length = body.len();
    let request = format!(
        "POST /hook?x=1 HTTP/1.1\r\nHost: x\r\nIdempotency-Key: {key}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = vec![0; 12];
    stream.read_exact(&mut head).await.ok()?;
    Some(String::from_utf8(head).unwrap())
}

#[tokio::test]
async fn a_request_is_remembered_with_key_and_body() {
    let sink = EffectSink::start().await;
    assert_eq!(post(&sink, "k1", "{\"a\":1}").await.unwrap(), "HTTP/1.1 200");
    let received = sink.until(1).await;
    assert_eq!((received[0].method.as_str(), received[0].path.as_str()), ("POST", "/hook?x=1"));
    assert_eq!((received[0].key(), received[0].json()["a"].as_i64()), (Some("k1"), Some(1)));
    assert_eq!(sink.url("/hook"), format!("http://{}/hook", sink.authority()));
}

#[tokio::test]
async fn a_key_has_its_effect_once_where_the_sink_deduplicates() {
    let (strict, naive) = (EffectSink::start().await, EffectSink::builder().start().await);
    for key in ["a", "b", "a"] {
        post(&strict, key, "{}").await.unwrap();
        post(&naive, key, "{}").await.unwrap();
    }
    assert_eq!((strict.received().len(), strict.effects().len()), (3, 2));
    assert_eq!((naive.received().len(), naive.effects().len()), (3, 3));
}

#[tokio::test]
async fn the_nth_call_fails_closes_or_is_refused() {
    let replies = [(1, Reply::Status(503, "{}".to_owned())), (2, Reply::Close), (3, Reply::Late(Millis(20), 202))];
    let sink = EffectSink::builder().on(replies).start().await;
    assert_eq!(post(&sink, "a", "").await.unwrap(), "HTTP/1.1 503");
    assert_eq!(post(&sink, "b", "").await, None);
    assert_eq!(post(&sink, "c", "").await.unwrap(), "HTTP/1.1 202");
    assert_eq!(post(&sink, "d", "").await.unwrap(), "HTTP/1.1 200");
    assert_eq!(sink.received().len(), 4, "what was closed was taken in all the same");
    let refusing = EffectSink::builder().answering(|_| Reply::Refuse).start().await;
    assert_eq!(post(&refusing, "a", "").await, None);
    assert!(refusing.received().is_empty());
}

#[tokio::test]
async fn a_call_that_hangs_leaves_the_others_alone() {
    let sink = EffectSink::builder().on([(1, Reply::Hang)]).start().await;
    let hanging = post(&sink, "a", "");
    tokio::pin!(hanging);
    tokio::select! {
        answer = &mut hanging => panic!("answered {answer:?}"),
        received = sink.until(1) => assert_eq!(received.len(), 1),
    }
    assert_eq!(post(&sink, "b", "").await.unwrap(), "HTTP/1.1 200");
}

#[tokio::test]
async fn requests_follow_one_another_on_a_connection_and_may_be_chunked() {
    let sink = EffectSink::start().await;
    let mut stream = TcpStream::connect(sink.authority()).await.unwrap();
    let chunked = "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    stream.write_all(format!("{chunked}GET /b HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let received = sink.until(2).await;
    assert_eq!((received[0].body.as_ref(), received[1].path.as_str()), (b"abcde".as_slice(), "/b"));
}

#[tokio::test]
async fn the_log_file_holds_what_was_taken_in() {
    let path = std::env::temp_dir().join(format!("kybern-sink-{}.jsonl", std::process::id()));
    let sink = EffectSink::builder().logging_to(&path).start().await;
    post(&sink, "a", "{\"x\":2}").await.unwrap();
    let log = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let line: serde_json::Value = serde_json::from_str(log.trim()).unwrap();
    assert_eq!((line["key"].as_str(), line["body"].as_str()), (Some("a"), Some("{\"x\":2}")));
}
