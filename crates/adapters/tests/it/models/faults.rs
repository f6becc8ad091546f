//! What goes wrong on the way, for every provider: it ends typed, in time, and what was counted is kept.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use kybern_adapters::http::{EgressOptions, Lookup};
use kybern_adapters::models::quirks::ProviderKind;
use kybern_adapters::models::wire::WireFormat;
use kybern_adapters::models::wire::failure::{Headers, of_answer};
use kybern_adapters::models::{Provider, ProviderConfig, ProviderError, Secret};
use kybern_core::model::{Assembly, ModelFailure, ModelFailureKind as Kind, ModelTimeouts, Part};
use kybern_core::ports::LanguageModel;
use kybern_core::time::Millis;

use super::conformance::drain;
use super::decode::parse_http;
use super::server::{Act, KEY, LAST, LONG, Server, answer, chunk, egress, head, provider_at, question};
use super::{PROVIDERS, fixture, fixtures, format_of};
use crate::peer;

/// A folder for each format, and some that copy.
const FORMATS: [&str; 4] = ["openai", "openai_responses", "anthropic", "google"];
/// The one short time of a test; the others are out of the way.
const SHORT: Millis = Millis(300);
/// How much longer than its time a call may take: the promise is two seconds, the rest is for a machine that is busy.
const GRACE: Duration = Duration::from_secs(60);

const EVENTS: &str = "text/event-stream";

/// Asks for a stream and reads it to its end.
async fn streamed(provider: &Provider, timeouts: ModelTimeouts) -> (Assembly, ModelFailure) {
    let ended = tokio::time::timeout(GRACE, async {
        match provider.stream(&question(), timeouts).await {
            Ok(stream) => drain(stream).await,
            Err(failure) => (Assembly::default(), Err(failure)),
        }
    });
    let (assembly, end) = ended.await.unwrap();
    let failure = end.unwrap_err();
    assert_eq!(failure.provider, provider.provider());
    (assembly, failure)
}

async fn completed(provider: &Provider, timeouts: ModelTimeouts) -> ModelFailure {
    let ended = tokio::time::timeout(GRACE, provider.complete(&question(), timeouts)).await.unwrap();
    let failure = ended.unwrap_err();
    assert_eq!(failure.provider, provider.provider());
    failure
}

/// Does it for all of them side by side.
async fn each<F: Future<Output = ()>>(folders: &[&'static str], test: impl Fn(&'static str) -> F) {
    join_all(folders.iter().map(|folder| test(folder))).await;
}

/// The bytes of a fixture up to the event that holds `mark`, exclusively.
fn until(folder: &str, name: &str, mark: &str) -> Vec<u8> {
    let text = String::from_utf8(fixture(folder, name)).unwrap();
    let found = text.find(mark).unwrap_or_else(|| panic!("{folder}/{name} has no {mark:?}"));
    let cut = text[..found].rfind("\n\n").map(|at| at + 2).or(text[..found].rfind("\r\n\r\n").map(|at| at + 4));
    text.as_bytes()[..cut.unwrap()].to_vec()
}

/// The beginning of a plain stream: its first texts.
fn beginning(folder: &str) -> Vec<u8> {
    until(folder, "plain.sse", " March 3")
}

fn text(assembly: &Assembly) -> String {
    let texts = assembly.parts().iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn silence_before_the_first_byte() {
    each(&PROVIDERS, async |folder| {
        let provider = Server::start(false, || vec![Act::Silence]).provider(folder);
        let timeouts = ModelTimeouts { first: SHORT, ..LONG };
        assert_eq!(completed(&provider, timeouts).await.kind, Kind::FirstTimeout, "{folder}");
        assert_eq!(streamed(&provider, timeouts).await.1.kind, Kind::FirstTimeout, "{folder}");
        // Also where all of it may take no longer: it is silent, and not slow.
        let timeouts = ModelTimeouts { first: SHORT, whole: SHORT, ..LONG };
        let failure = completed(&provider, timeouts).await;
        assert_eq!(failure.kind, Kind::FirstTimeout, "{folder}");
        assert!(failure.message.ends_with(&format!("did not begin to answer within {SHORT}")), "{}", failure.message);
        assert_eq!(streamed(&provider, timeouts).await.1.kind, Kind::FirstTimeout, "{folder}");
    })
    .await;
}

#[tokio::test]
async fn headers_that_come_slowly_and_keep_alives_are_no_first_token() {
    let slow = Server::start(false, || {
        vec![Act::Trickle(b"HTTP/1.1 200 OK\r\nx-slow: abcdefghijklmnopqrstuvwxyz".to_vec(), Duration::from_millis(50))]
    });
    let alive = Server::start(false, || {
        let comment = chunk(b": keep-alive\n\n");
        vec![Act::Send(head(EVENTS)), Act::Trickle(comment.repeat(20), Duration::from_millis(5)), Act::Silence]
    });
    let timeouts = ModelTimeouts { first: SHORT, ..LONG };
    each(&PROVIDERS, async |folder| {
        assert_eq!(completed(&slow.provider(folder), timeouts).await.kind, Kind::FirstTimeout, "{folder}");
        assert_eq!(streamed(&alive.provider(folder), timeouts).await.1.kind, Kind::FirstTimeout, "{folder}");
    })
    .await;
}

#[tokio::test]
async fn silence_in_the_middle() {
    each(&PROVIDERS, async |folder| {
        let begun = beginning(folder);
        let server =
            Server::start(false, move || vec![Act::Send(head(EVENTS)), Act::Send(chunk(&begun)), Act::Silence]);
        let timeouts = ModelTimeouts { between: SHORT, ..LONG };
        let (assembly, failure) = streamed(&server.provider(folder), timeouts).await;
        assert_eq!(failure.kind, Kind::BetweenTimeout, "{folder}");
        assert_eq!(text(&assembly), "The policy ends on", "{folder}");
        // These count while they stream; the others only at the end.
        let counts = matches!(folder, "anthropic" | "google" | "perplexity" | "xai");
        assert_eq!(failure.usage.is_some(), counts, "{folder}");
        server.wait_until_gone(1).await;

        let half =
            Server::start(false, || vec![Act::Send(head("application/json")), Act::Send(chunk(b"{")), Act::Silence]);
        assert_eq!(completed(&half.provider(folder), timeouts).await.kind, Kind::BetweenTimeout, "{folder}");
    })
    .await;
}

#[tokio::test]
async fn one_byte_after_the_other_for_too_long() {
    each(&PROVIDERS, async |folder| {
        let (begun, rest) = (beginning(folder), fixture(folder, "plain.json"));
        let slow = Duration::from_millis(40);
        let server = Server::start(false, move || {
            let begun = chunk(&begun);
            vec![Act::Send(head(EVENTS)), Act::Send(begun), Act::Trickle(chunk(&[b' '; 9000]), slow)]
        });
        let timeouts = ModelTimeouts { whole: Millis(1500), ..LONG };
        let (assembly, failure) = streamed(&server.provider(folder), timeouts).await;
        assert_eq!((failure.kind, text(&assembly).as_str()), (Kind::WholeTimeout, "The policy ends on"), "{folder}");
        server.wait_until_gone(1).await;

        let whole = Server::start(false, move || {
            vec![Act::Send(head("application/json")), Act::Trickle(rest.chunks(1).flat_map(chunk).collect(), slow)]
        });
        assert_eq!(completed(&whole.provider(folder), timeouts).await.kind, Kind::WholeTimeout, "{folder}");
    })
    .await;
}

#[tokio::test]
async fn garbage() {
    each(&PROVIDERS, async |folder| {
        let page = b"<html><body>Welcome to the hotel's network</body></html>\n\x00\xff\n\n".to_vec();
        let json = [("content-type".to_owned(), "application/json".to_owned())];
        let bodies = [answer(200, &[], &page), answer(200, &json, b"{\"id\":\"x\",\"choices\":[{\"mess")];
        for body in bodies {
            let server = Server::start(false, move || vec![Act::Send(body.clone())]);
            let provider = server.provider(folder);
            assert_eq!(completed(&provider, LONG).await.kind, Kind::Garbage, "{folder}");
            assert_eq!(streamed(&provider, LONG).await.1.kind, Kind::Garbage, "{folder}");
        }
        let middle = [beginning(folder), b"data: {\"id\":}<<>>\n\n".to_vec(), fixture(folder, "plain.sse")].concat();
        let server = Server::start(false, move || {
            vec![Act::Send(head(EVENTS)), Act::Send(chunk(&middle)), Act::Send(LAST.to_vec())]
        });
        let (assembly, failure) = streamed(&server.provider(folder), LONG).await;
        assert_eq!((failure.kind, text(&assembly).as_str()), (Kind::Garbage, "The policy ends on"), "{folder}");
    })
    .await;
}

#[tokio::test]
async fn cut_in_the_middle_of_arguments() {
    let with_calls: Vec<&str> = PROVIDERS.into_iter().filter(|folder| *folder != "perplexity").collect();
    each(&with_calls, async |folder| {
        let text = String::from_utf8(fixture(folder, "calls.sse")).unwrap();
        // In the middle of the event that holds the last of the first call's arguments.
        let cut = text.find("1234567").unwrap() + 3;
        let cut = text.as_bytes()[..cut].to_vec();
        let ended = cut.clone();
        let closed = Server::start(false, move || {
            vec![Act::Send(head(EVENTS)), Act::Send(chunk(&ended)), Act::Send(LAST.to_vec())]
        });
        let dropped = cut.clone();
        let dropped =
            Server::start(false, move || vec![Act::Send(head(EVENTS)), Act::Send(chunk(&dropped)), Act::Close]);
        let reset = Server::start(true, move || vec![Act::Send(head(EVENTS)), Act::Send(chunk(&cut)), Act::Close]);
        for server in [closed, dropped, reset] {
            let failure = streamed(&server.provider(folder), LONG).await.1;
            assert_eq!(failure.kind, Kind::Broken, "{folder} {}", failure.message);
        }
        let silent = Server::start(true, || vec![Act::Close]);
        assert_eq!(completed(&silent.provider(folder), LONG).await.kind, Kind::Broken, "{folder}");
    })
    .await;
}

#[tokio::test]
async fn usage_until_the_cut_is_kept() {
    for folder in ["anthropic", "google", "perplexity", "xai", "custom"] {
        let begun = if folder == "custom" { fixture(folder, "cut_in_event.sse") } else { beginning(folder) };
        let server = Server::start(false, move || {
            vec![Act::Send(head(EVENTS)), Act::Send(chunk(&begun)), Act::Send(LAST.to_vec())]
        });
        let failure = streamed(&server.provider(folder), LONG).await.1;
        assert_eq!(failure.kind, Kind::Broken, "{folder}");
        assert!(failure.usage.unwrap().input > 0, "{folder}");
    }
}

#[tokio::test]
async fn a_hundred_megabytes_are_refused_early() {
    each(&FORMATS, async |folder| {
        let block = |bytes: &[u8]| chunk(&bytes.repeat((1 << 20) / bytes.len()));
        let comment = [b": ".as_slice(), &[b'x'; 4000], b"\n\n"].concat();
        let (line, comments, json) = (block(b"data: x"), block(&comment), block(b"[[[[\"x\", "));
        for body in [line, comments] {
            let server =
                Server::start(false, move || vec![Act::Send(head(EVENTS)), Act::Repeat(body.clone(), 100), Act::Close]);
            let failure = streamed(&server.provider(folder), LONG).await.1;
            assert_eq!(failure.kind, Kind::TooLarge, "{folder}");
            server.wait_until_gone(1).await;
        }
        let server = Server::start(false, move || {
            vec![Act::Send(head("application/json")), Act::Repeat(json.clone(), 100), Act::Close]
        });
        let provider = server.provider(folder);
        assert_eq!(completed(&provider, LONG).await.kind, Kind::TooLarge, "{folder}");
        assert_eq!(streamed(&provider, LONG).await.1.kind, Kind::TooLarge, "{folder}");
        let declared = b"HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n{".to_vec();
        let server = Server::start(false, move || vec![Act::Send(declared.clone()), Act::Silence]);
        assert_eq!(completed(&server.provider(folder), LONG).await.kind, Kind::TooLarge, "{folder}");
    })
    .await;
}

#[tokio::test]
async fn error_answers_are_typed_over_the_wire_too() {
    each(&PROVIDERS, async |folder| {
        for (name, bytes) in fixtures(folder, ".http") {
            let (status, headers, body) = parse_http(&bytes);
            let expected = of_answer(status, &Headers(&headers), &body).of(folder);
            let server = Server::start(false, move || vec![Act::Send(answer(status, &headers, &body))]);
            let provider = server.provider(folder);
            assert_eq!(completed(&provider, LONG).await, expected, "{folder}/{name}");
            assert_eq!(streamed(&provider, LONG).await.1, expected, "{folder}/{name}");
        }
        for (status, kind) in [(401, Kind::Key), (404, Kind::Request), (429, Kind::RateLimited), (500, Kind::Provider)]
        {
            let headers = [("retry-after".to_owned(), "7".to_owned())];
            let server = Server::start(false, move || vec![Act::Send(answer(status, &headers, b""))]);
            let failure = completed(&server.provider(folder), LONG).await;
            assert_eq!((failure.kind, failure.status), (kind, Some(status)), "{folder}");
            assert_eq!(failure.retry_after.is_some(), matches!(status, 429 | 500), "{folder}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_error_whose_body_never_ends_is_typed_by_its_status() {
    let server = Server::start(false, || {
        let head = b"HTTP/1.1 401 X\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        vec![Act::Send(head), Act::Send(chunk(b"{\"error\":")), Act::Silence]
    });
    let timeouts = ModelTimeouts { between: SHORT, ..LONG };
    assert_eq!(completed(&server.provider("openai"), timeouts).await.kind, Kind::Key);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let headers = [("location".to_owned(), "http://127.0.0.1:1/steal".to_owned())];
    let server = Server::start(false, move || vec![Act::Send(answer(307, &headers, b""))]);
    let failure = completed(&server.provider("openai"), LONG).await;
    assert_eq!((failure.kind, failure.status), (Kind::Request, Some(307)));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn dropping_ends_the_request() {
    each(&PROVIDERS, async |folder| {
        let begun = beginning(folder);
        let server =
            Server::start(false, move || vec![Act::Send(head(EVENTS)), Act::Send(chunk(&begun)), Act::Silence]);
        let provider = server.provider(folder);
        drop(provider.stream(&question(), LONG).await.unwrap());
        server.wait_until_gone(1).await;
        let request = question();
        let waiting = provider.complete(&request, LONG);
        assert!(tokio::time::timeout(SHORT.as_duration(), waiting).await.is_err(), "{folder}");
        server.wait_until_gone(2).await;
    })
    .await;
}

#[tokio::test]
async fn a_dropped_wait_loses_nothing() {
    let (begun, whole) = (beginning("anthropic"), fixture("anthropic", "plain.sse"));
    let rest = whole[begun.len()..].to_vec();
    let server = Server::start(false, move || {
        let slow = Act::Trickle(rest.chunks(1).flat_map(chunk).collect(), Duration::from_micros(300));
        vec![Act::Send(head(EVENTS)), Act::Send(chunk(&begun)), slow, Act::Send(LAST.to_vec())]
    });
    let mut stream = server.provider("anthropic").stream(&question(), LONG).await.unwrap();
    let mut assembly = Assembly::default();
    loop {
        let Ok(events) = tokio::time::timeout(Duration::from_millis(1), stream.next()).await else { continue };
        let events = events.unwrap();
        if events.is_empty() {
            break;
        }
        events.iter().for_each(|event| assembly.add(event));
    }
    let expected = format_of("anthropic").decode(&fixture("anthropic", "plain.json")).unwrap();
    assert_eq!(assembly.finished(), Some(expected));
}

/// Names are never found.
struct Lost;

#[async_trait]
impl Lookup for Lost {
    async fn lookup(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn no_connection() {
    let closed = provider_at("openai", &format!("http://127.0.0.1:{}/v1", peer::closed_port()), true);
    assert_eq!(completed(&closed, LONG).await.kind, Kind::Connect);
    assert_eq!(streamed(&closed, LONG).await.1.kind, Kind::Connect);

    let private = provider_at("openai", "http://127.0.0.1:9/v1", false);
    assert_eq!(completed(&private, LONG).await.kind, Kind::Denied);

    let config = ProviderConfig::new("lost", ProviderKind::OpenAi, Some(Secret::new(KEY)));
    let lost = egress(EgressOptions { lookup: Arc::new(Lost), ..EgressOptions::default() });
    let lost = Provider::new(config, lost).unwrap();
    let failure = completed(&lost, ModelTimeouts { connect: SHORT, ..LONG }).await;
    assert_eq!(failure.kind, Kind::Connect, "{}", failure.message);
    assert_eq!(completed(&lost, ModelTimeouts { first: SHORT, ..LONG }).await.kind, Kind::FirstTimeout);
}

#[tokio::test]
async fn the_key_is_never_seen() {
    let said = format!("Incorrect key {KEY} and {} {KEY}", "x".repeat(439));
    let body = serde_json::json!({"error": {"message": said, "type": KEY, "code": "invalid_api_key"}});
    let body = serde_json::to_vec(&body).unwrap();
    for folder in PROVIDERS {
        let refused = body.clone();
        let in_stream = [beginning(folder), b"event: error\ndata: ".to_vec(), body.clone(), b"\n\n".to_vec()].concat();
        let refused = Server::start(false, move || vec![Act::Send(answer(401, &[], &refused))]);
        let broken =
            Server::start(false, move || vec![Act::Send(head(EVENTS)), Act::Send(chunk(&in_stream)), Act::Silence]);
        let failures = [
            completed(&refused.provider(folder), LONG).await,
            streamed(&refused.provider(folder), LONG).await.1,
            streamed(&broken.provider(folder), LONG).await.1,
        ];
        for failure in failures {
            assert_eq!(failure.kind, Kind::Key, "{folder}");
            let shown = format!("{failure} {failure:?} {}", kybern_core::error::Error::from(failure.clone()));
            assert!(!shown.contains(&KEY[..12]) && shown.contains("***"), "{folder} {shown}");
        }
        let provider = refused.provider(folder);
        assert!(!format!("{provider:?}").contains(&KEY[..8]));
    }
}

#[tokio::test]
async fn a_wrong_configuration_is_told_without_the_key() {
    let new = |config| Provider::new(config, egress(EgressOptions::default())).unwrap_err();
    let config = || ProviderConfig::new("mine", ProviderKind::OpenAi, Some(Secret::new(KEY)));
    assert!(matches!(new(ProviderConfig { api_key: None, ..config() }), ProviderError::NoKey { .. }));
    let custom = ProviderConfig { kind: ProviderKind::Custom, ..config() };
    assert!(matches!(new(custom), ProviderError::NoBaseUrl { .. }));
    for url in ["ftp://example.com", "https://user:pass@example.com", "https://example.com/?key=1", "no url"] {
        let wrong = ProviderConfig { base_url: Some(url.to_owned()), ..config() };
        assert!(matches!(new(wrong), ProviderError::BadBaseUrl { .. }), "{url}");
    }
    let broken = format!("{KEY}\n");
    let error = new(ProviderConfig { api_key: Some(Secret::new(broken)), ..config() });
    assert!(matches!(error, ProviderError::BadHeader { .. }) && !format!("{error} {error:?}").contains(KEY));
    let shown = format!("{:?}", ProviderConfig { extra_headers: vec![("x-a".into(), Secret::new(KEY))], ..config() });
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn every_kind_has_a_format_and_a_name() {
    for kind in ProviderKind::ALL {
        assert_eq!(ProviderKind::parse(kind.as_str()), Some(kind));
        assert_eq!(kind.quirks().kind, kind);
        assert!(WireFormat::ALL.contains(&kind.quirks().format));
    }
}
