//! Every fixture, as it is understood.

use kybern_adapters::models::quirks::ProviderKind;
use kybern_adapters::models::wire::failure::{Headers, of_answer};
use kybern_adapters::models::wire::{WireFormat, embedding, events_of, listing};
use kybern_core::model::{EmbedRequest, ModelFailureKind};

use super::{PROVIDERS, assemble, fixture, fixtures, format_of, shown, streamed};

/// The parts of an error fixture.
pub(super) fn parse_http(bytes: &[u8]) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let text = std::str::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\n\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.map(|line| line.split_once(": ").unwrap());
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    (status, headers, body.trim_end().as_bytes().to_vec())
}

#[test]
fn every_fixture_is_understood() {
    for provider in PROVIDERS {
        let format = format_of(provider);
        let mut out = String::new();
        for (name, bytes) in fixtures(provider, ".json") {
            out += &format!("{name}.json: {}\n", shown(&format.decode(&bytes)));
        }
        for (name, bytes) in fixtures(provider, ".sse") {
            out += &format!("{name}.sse: {}\n", shown(&streamed(format, &bytes)));
        }
        for (name, bytes) in fixtures(provider, ".http") {
            let (status, headers, body) = parse_http(&bytes);
            out += &format!("{name}.http: {}\n", shown(&Err(of_answer(status, &Headers(&headers), &body))));
        }
        insta::assert_snapshot!(format!("decode_{provider}"), out);
    }
}

#[test]
fn a_reply_in_pieces_is_the_reply() {
    let mut twins = 0;
    for provider in PROVIDERS {
        let format = format_of(provider);
        let streams = fixtures(provider, ".sse");
        for (name, bytes) in fixtures(provider, ".json") {
            let Some((_, pieces)) = streams.iter().find(|(other, _)| *other == name) else { continue };
            assert_eq!(streamed(format, pieces), format.decode(&bytes), "{provider}/{name}");
            twins += 1;
        }
    }
    assert!(twins > 80, "{twins}");
}

#[test]
fn a_whole_reply_can_be_told_as_a_stream() {
    for provider in PROVIDERS {
        for (name, bytes) in fixtures(provider, ".json") {
            let Ok(reply) = format_of(provider).decode(&bytes) else { continue };
            assert_eq!(assemble(&events_of(reply.clone())), Some(reply), "{provider}/{name}");
        }
    }
}

#[test]
fn bodies_of_other_formats_are_garbage() {
    let bodies: [&[u8]; 7] = [b"", b"{", b"<html></html>", b"null", b"[]", b"{\"hello\":1}", b"\xff\xfe\x00"];
    for format in WireFormat::ALL {
        for body in bodies {
            let failure = format.decode(body).unwrap_err();
            assert_eq!(failure.kind, ModelFailureKind::Garbage, "{format:?} {}", String::from_utf8_lossy(body));
        }
    }
}

#[test]
fn vectors_come_in_the_order_of_their_texts() {
    let request = EmbedRequest {
        model: "m".to_owned(),
        texts: vec!["one".to_owned(), "two".to_owned()],
        ..EmbedRequest::default()
    };
    for (provider, counted) in [("openai", true), ("mistral", true), ("google", false)] {
        let embedded = embedding::decode(&fixture(provider, "embeddings.json"), &request).unwrap();
        assert_eq!(embedded.vectors, [vec![0.25, 0.5, -0.125], vec![0.0, -1.0, 0.5]], "{provider}");
        assert_eq!(embedded.usage.map(|usage| usage.input), counted.then_some(8), "{provider}");
    }
    let one = EmbedRequest { texts: vec!["one".to_owned()], ..request };
    let failure = embedding::decode(&fixture("openai", "embeddings.json"), &one).unwrap_err();
    assert_eq!(failure.kind, ModelFailureKind::Garbage);
    let quirks = ProviderKind::Anthropic.quirks();
    let failure = embedding::encode(&one, WireFormat::Anthropic, quirks).unwrap_err();
    assert_eq!(failure.kind, ModelFailureKind::Unsupported);
}

#[test]
fn lists_of_models_are_read() {
    let first = |provider: &str| listing::decode(&fixture(provider, "models.json")).unwrap()[0].name.clone();
    assert_eq!(
        ["openai", "anthropic", "google", "together"].map(first),
        ["gpt-5", "claude-sonnet-4-5-20250929", "gemini-2.5-flash", "meta-llama/Llama-3.3-70B-Instruct-Turbo"]
    );
}
