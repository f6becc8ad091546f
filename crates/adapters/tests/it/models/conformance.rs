//! What every provider does over a real connection when nothing is wrong.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kybern_core::model::{Assembly, EmbedRequest, ModelEvent, ModelFailure, ModelFailureKind};
use kybern_core::ports::{LanguageModel as _, ModelStream};

use super::server::{self, Act, LAST, LONG, Server, answer, chunk, head, question};
use super::{PROVIDERS, fixture, fixtures, format_of, streamed};
use crate::peer;

/// Reads a stream to its end: what came of it, and how it ended.
pub(super) async fn drain(mut stream: Box<dyn ModelStream>) -> (Assembly, Result<(), ModelFailure>) {
    let mut assembly = Assembly::default();
    loop {
        match stream.next().await {
            Ok(events) if events.is_empty() => return (assembly, Ok(())),
            Ok(events) => events.iter().for_each(|event| assembly.add(event)),
            Err(failure) => {
                let after = stream.next().await;
                assert!(after.is_ok_and(|events| events.is_empty()), "nothing comes after a failure");
                return (assembly, Err(failure));
            }
        }
    }
}

#[tokio::test]
async fn every_stream_comes_as_it_is_read() {
    for provider in PROVIDERS {
        for (name, bytes) in fixtures(provider, ".sse") {
            // What reads as garbage when it is cut is a broken stream on a connection.
            if name == "cut_in_event" {
                continue;
            }
            let expected = streamed(format_of(provider), &bytes).map_err(|failure| failure.of(provider));
            let server = Server::start(false, move || {
                let pieces: Vec<u8> = bytes.chunks(100).flat_map(chunk).collect();
                vec![Act::Send(head("text/event-stream")), Act::Send(pieces), Act::Send(LAST.to_vec())]
            });
            let came = match server.provider(provider).stream(&question(), LONG).await {
                Ok(stream) => {
                    let (assembly, end) = drain(stream).await;
                    end.map(|()| assembly.finished().unwrap())
                }
                Err(failure) => Err(failure),
            };
            assert_eq!(came, expected, "{provider}/{name}");
        }
    }
}

#[tokio::test]
async fn every_whole_answer_comes_as_it_is_read() {
    for provider in PROVIDERS {
        for (name, bytes) in fixtures(provider, ".json") {
            let expected = format_of(provider).decode(&bytes).map_err(|failure| failure.of(provider));
            let json = [("content-type".to_owned(), "application/json".to_owned())];
            let server = Server::start(false, move || vec![Act::Send(answer(200, &json, &bytes))]);
            let provider_here = server.provider(provider);
            assert_eq!(provider_here.complete(&question(), LONG).await, expected, "{provider}/{name}");
            // Some servers answer so although a stream was asked for.
            let came = match provider_here.stream(&question(), LONG).await {
                Ok(stream) => Ok(drain(stream).await.0.finished().unwrap()),
                Err(failure) => Err(failure),
            };
            assert_eq!(came, expected, "{provider}/{name} as a stream");
        }
    }
}

#[tokio::test]
async fn a_wrong_content_type_does_not_matter() {
    for (name, kind) in [("plain.sse", "application/json"), ("plain.json", "text/event-stream"), ("plain.json", "")] {
        for folder in ["openai", "openai_responses", "anthropic", "google"] {
            let bytes = fixture(folder, name);
            let headers = [("content-type".to_owned(), kind.to_owned())];
            let server = Server::start(false, move || vec![Act::Send(answer(200, &headers, &bytes))]);
            let (assembly, end) = drain(server.provider(folder).stream(&question(), LONG).await.unwrap()).await;
            assert_eq!(end, Ok(()), "{folder} {name} as {kind:?}");
            assert_eq!(assembly.finished(), format_of(folder).decode(&fixture(folder, "plain.json")).ok());
        }
    }
    let said = br#"{"error":{"message":"no such deployment","type":"invalid_request_error","code":"model_not_found"}}"#;
    let headers = [("content-type".to_owned(), "text/event-stream".to_owned())];
    let server = Server::start(false, move || vec![Act::Send(answer(200, &headers, said))]);
    let failure = server.provider("openai").stream(&question(), LONG).await.err().unwrap();
    assert_eq!(failure.kind, ModelFailureKind::UnknownModel);
}

#[tokio::test]
async fn one_byte_at_a_time_is_good_enough() {
    for provider in PROVIDERS {
        let bytes = fixture(provider, "plain.sse");
        let expected = streamed(format_of(provider), &bytes).unwrap();
        let server = Server::start(false, move || {
            let single = bytes.chunks(1).flat_map(chunk).collect();
            vec![Act::Send(head("text/event-stream")), Act::Trickle(single, Duration::ZERO), Act::Send(LAST.to_vec())]
        });
        let (assembly, end) = drain(server.provider(provider).stream(&question(), LONG).await.unwrap()).await;
        assert_eq!(end, Ok(()), "{provider}");
        assert_eq!(assembly.finished().unwrap(), expected, "{provider}");
    }
}

#[tokio::test]
async fn pieces_that_arrive_together_are_given_together() {
    let bytes = fixture("openai", "plain.sse");
    let kind = [("content-type".to_owned(), "text/event-stream".to_owned())];
    let server = Server::start(false, move || vec![Act::Send(answer(200, &kind, &bytes))]);
    let mut stream = server.provider("openai").stream(&question(), LONG).await.unwrap();
    let first = stream.next().await.unwrap();
    assert!(first.len() >= 7 && matches!(first.last(), Some(ModelEvent::Finished { .. })), "{first:?}");
    assert_eq!(stream.next().await, Ok(Vec::new()));
}

#[tokio::test]
async fn the_key_and_the_trace_go_along() {
    let shown = [("openai", "authorization: bearer "), ("anthropic", "x-api-key: "), ("google", "x-goog-api-key: ")];
    for (provider, header) in shown {
        let bytes = fixture(provider, "plain.json");
        let server = Server::start(false, move || vec![Act::Send(answer(200, &[], &bytes))]);
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let mut request = question();
        request.traceparent = Some(trace.to_owned());
        server.provider(provider).complete(&request, LONG).await.unwrap();
        let head = &server.seen()[0].head;
        assert!(head.contains(&format!("\n{header}{}\n", super::server::KEY)), "{head}");
        assert!(head.contains(&format!("\ntraceparent: {trace}\n")), "{head}");
        assert_eq!(head.contains("\nanthropic-version: 2023-06-01\n"), provider == "anthropic");
    }
}

#[tokio::test]
async fn vectors_and_lists_come_over_the_wire() {
    let request = EmbedRequest {
        model: "m".to_owned(),
        texts: vec!["one".to_owned(), "two".to_owned()],
        ..EmbedRequest::default()
    };
    for provider in ["openai", "google", "mistral"] {
        let bytes = fixture(provider, "embeddings.json");
        let server = Server::start(false, move || vec![Act::Send(answer(200, &[], &bytes))]);
        let embedded = server.provider(provider).embed(&request, LONG).await.unwrap();
        assert_eq!(embedded.vectors[0], [0.25, 0.5, -0.125], "{provider}");
    }
    let failure = Server::start(false, Vec::new).provider("anthropic").embed(&request, LONG).await.unwrap_err();
    assert_eq!((failure.kind, failure.provider.as_str()), (ModelFailureKind::Unsupported, "anthropic"));
    let failure = Server::start(false, Vec::new).provider("perplexity").models(LONG).await.unwrap_err();
    assert_eq!(failure.kind, ModelFailureKind::Unsupported);
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let (events, json) = (fixture("openai", "plain.sse"), fixture("openai", "plain.json"));
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let address = peer::listen(move |_, mut tcp| {
        counted.fetch_add(1, Ordering::SeqCst);
        while let Some(seen) = server::read(&mut tcp, false) {
            let streams = seen.head.contains("accept: text/event-stream");
            let (kind, body) = if streams { ("text/event-stream", &events) } else { ("application/json", &json) };
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
            let bytes = [head.as_bytes(), &body.chunks(50).flat_map(chunk).collect::<Vec<_>>(), LAST].concat();
            tcp.write_all(&bytes).unwrap();
        }
    });
    let provider = server::provider_at("openai", &format!("http://{address}/v1"), true);
    for _ in 0..5 {
        let (assembly, end) = drain(provider.stream(&question(), LONG).await.unwrap()).await;
        assert!(end.is_ok() && assembly.finished().is_some());
        provider.complete(&question(), LONG).await.unwrap();
    }
    // One, unless a request was faster than the return of the connection before it.
    let made = connections.load(Ordering::SeqCst);
    assert!(made <= 3, "{made} connections for ten requests");
    let side_by_side = (0..64).map(|_| async { provider.complete(&question(), LONG).await.unwrap() });
    assert_eq!(futures::future::join_all(side_by_side).await.len(), 64);
}
