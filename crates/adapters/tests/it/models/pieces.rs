//! A stream means the same wherever its bytes are cut.

use kybern_adapters::models::wire::failure::{Headers, of_answer};
use kybern_core::model::ModelEvent;
use kybern_core::ports::LanguageModel as _;
use proptest::prelude::*;

use super::decode::parse_http;
use super::server::{Act, LAST, LONG, Server, chunk, head, question};
use super::{PROVIDERS, fixtures, format_of, stream};

/// Longer streams are cut at random places only.
const EVERY_CUT: usize = 1200;

#[test]
fn it_does_not_matter_where_a_stream_is_cut_in_two() {
    let mut cuts = 0;
    for provider in PROVIDERS {
        let format = format_of(provider);
        for (name, bytes) in fixtures(provider, ".sse").into_iter().filter(|(_, bytes)| bytes.len() < EVERY_CUT) {
            let whole = stream(format, &[&bytes]);
            for at in 0..=bytes.len() {
                let (first, second) = bytes.split_at(at);
                assert_eq!(stream(format, &[first, second]), whole, "{provider}/{name} cut at {at}");
                cuts += 1;
            }
        }
    }
    assert!(cuts > 10_000, "{cuts}");
}

#[test]
fn single_bytes_are_as_good_as_all_at_once() {
    for provider in PROVIDERS {
        let format = format_of(provider);
        for (name, bytes) in fixtures(provider, ".sse") {
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(stream(format, &single), stream(format, &[&bytes]), "{provider}/{name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_chunks_give_the_same_events(
        provider in proptest::sample::select(PROVIDERS.to_vec()),
        mut sizes in proptest::collection::vec(1_usize..400, 1..60),
    ) {
        let format = format_of(provider);
        sizes.push(1);
        for (name, bytes) in fixtures(provider, ".sse") {
            let (mut rest, mut chunks) = (bytes.as_slice(), Vec::new());
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, after) = rest.split_at((*size).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            prop_assert_eq!(stream(format, &chunks), stream(format, &[&bytes]), "{}/{}", provider, name);
        }
    }

    #[test]
    fn nonsense_ends_typed(bytes in proptest::collection::vec(any::<u8>(), 0..400), lines in any::<bool>()) {
        let body = if lines { [b"data: ".as_slice(), &bytes, b"\n\n"].concat() } else { bytes };
        for provider in ["openai", "openai_responses", "anthropic", "google"] {
            let format = format_of(provider);
            let (_, end) = stream(format, &[&body]);
            prop_assert!(end.is_err());
            prop_assert!(format.decode(&body).is_err());
        }
    }

    #[test]
    fn a_broken_answer_never_does_more_than_fail(
        provider in proptest::sample::select(PROVIDERS.to_vec()),
        at in any::<proptest::sample::Index>(),
        put in proptest::collection::vec(any::<u8>(), 0..6),
        drop in 0_usize..40,
    ) {
        let format = format_of(provider);
        let broken = |bytes: &[u8]| {
            let at = at.index(bytes.len());
            let after = (at + drop).min(bytes.len());
            [&bytes[..at], &put, &bytes[after..]].concat()
        };
        for (name, bytes) in fixtures(provider, ".sse") {
            let (events, end) = stream(format, &[&broken(&bytes)]);
            let finished = events.iter().filter(|event| matches!(event, ModelEvent::Finished { .. })).count();
            prop_assert_eq!(finished, usize::from(end.is_ok()), "{}/{}", provider, name);
        }
        for (_, bytes) in fixtures(provider, ".json") {
            let _ = format.decode(&broken(&bytes));
        }
        for (_, bytes) in fixtures(provider, ".http") {
            let (status, headers, body) = parse_http(&bytes);
            let failure = of_answer(status, &Headers(&headers), &broken(&body));
            prop_assert_eq!(failure.status, Some(status));
            prop_assert!(!failure.message.is_empty() && !failure.message.contains(char::is_control));
        }
    }
}

/// A reply that stands ready is passed on in few steps: its first pieces at once, all others together.
#[tokio::test]
async fn pieces_that_are_here_already_are_passed_on_together() {
    const WORDS: usize = 40;
    let piece = |delta: &str, finish: &str| {
        let choice = format!("{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}");
        chunk(format!("data: {{\"id\":\"r\",\"model\":\"m\",\"choices\":[{choice}]}}\n\n").as_bytes())
    };
    let words = (0..WORDS).flat_map(|_| piece("{\"content\":\"word \"}", "null"));
    let mut all = head("text/event-stream");
    all.extend(piece("{\"role\":\"assistant\",\"content\":\"\"}", "null").into_iter().chain(words));
    all.extend(piece("{}", "\"stop\"").into_iter().chain(chunk(b"data: [DONE]\n\n")).chain(LAST.iter().copied()));
    let server = Server::start(false, move || vec![Act::Send(all.clone())]);
    let mut stream = server.provider("openai").stream(&question(), LONG).await.unwrap();
    let (mut steps, mut text) = (0, String::new());
    loop {
        let events = stream.next().await.unwrap();
        if events.is_empty() {
            break;
        }
        steps += 1;
        for event in events {
            if let ModelEvent::Text(word) = event {
                text += &word;
            }
        }
    }
    assert_eq!(text, "word ".repeat(WORDS));
    assert!(steps <= WORDS / 4, "{steps} steps for {WORDS} words that stood ready");
}
