//! Language models: what goes out, what comes back, and what goes wrong on the way.

mod conformance;
mod decode;
mod encode;
mod faults;
mod likely;
mod pieces;
mod server;

use std::path::PathBuf;

use kybern_adapters::models::wire::WireFormat;
use kybern_adapters::models::wire::sse::SseParser;
use kybern_core::model::{Assembly, ModelEvent, ModelFailure, ModelReply, Part, TokenUsage};

/// The providers, by their folders of fixtures.
pub(crate) const PROVIDERS: [&str; 19] = [
    "openai",
    "openai_responses",
    "anthropic",
    "google",
    "deepseek",
    "groq",
    "mistral",
    "zhipu",
    "cohere",
    "together",
    "fireworks",
    "perplexity",
    "openrouter",
    "xai",
    "ollama",
    "lmstudio",
    "vllm",
    "llamacpp",
    "custom",
];

pub(crate) fn folder(provider: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models")).join(provider)
}

pub(crate) fn format_of(provider: &str) -> WireFormat {
    match provider {
        "openai_responses" => WireFormat::OpenaiResponses,
        "anthropic" => WireFormat::Anthropic,
        "google" => WireFormat::Gemini,
        _ => WireFormat::OpenaiChat,
    }
}

/// The fixtures of a provider whose names end so: their names without that end, and their bytes, in order.
pub(crate) fn fixtures(provider: &str, end: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder(provider)).unwrap();
    let mut found: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().strip_suffix(end)?.to_owned();
            (!matches!(name.as_str(), "embeddings" | "models")).then(|| (name, std::fs::read(&path).unwrap()))
        })
        .collect();
    found.sort();
    found
}

fn fixture(provider: &str, name: &str) -> Vec<u8> {
    std::fs::read(folder(provider).join(name)).unwrap_or_else(|error| panic!("{provider}/{name}: {error}"))
}

/// What a stream gives that arrives in these chunks, and how it ends.
pub(crate) fn stream(format: WireFormat, chunks: &[&[u8]]) -> (Vec<ModelEvent>, Result<(), ModelFailure>) {
    let (mut parser, mut decoder, mut events) = (SseParser::default(), format.decoder(), Vec::new());
    let mut end = Ok(());
    for chunk in chunks {
        end = parser.feed(chunk, &mut |event, data| decoder.push(event, data, &mut events));
        if end.is_err() {
            break;
        }
    }
    let end = end.and_then(|()| parser.end(&mut |event, data| decoder.push(event, data, &mut events)));
    let end = end.and_then(|()| decoder.end(&mut events));
    let end = end.map_err(|mut failure| {
        failure.usage = failure.usage.or(decoder.usage());
        failure
    });
    (events, end)
}

pub(crate) fn assemble(events: &[ModelEvent]) -> Option<ModelReply> {
    let mut assembly = Assembly::default();
    events.iter().for_each(|event| assembly.add(event));
    assembly.finished()
}

fn streamed(format: WireFormat, bytes: &[u8]) -> Result<ModelReply, ModelFailure> {
    let (events, end) = stream(format, &[bytes]);
    end.map(|()| assemble(&events).unwrap())
}

/// A reply or a failure in a few lines, for snapshots.
fn shown(result: &Result<ModelReply, ModelFailure>) -> String {
    let usage = |usage: Option<TokenUsage>| {
        usage.map_or("none".to_owned(), |usage| {
            let TokenUsage { input, cached_input, cache_write, output, reasoning, .. } = usage;
            format!("{input} in ({cached_input} cached, {cache_write} written), {output} out ({reasoning} reasoning)")
        })
    };
    match result {
        Err(failure) => {
            let retry = failure.retry_after.map_or(String::new(), |span| format!(", again in {span}"));
            let status = failure.status.map_or(String::new(), |status| format!(" {status}"));
            format!("{:?}{status}{retry}: {}\n  usage {}", failure.kind, failure.message, usage(failure.usage))
        }
        Ok(reply) => {
            let mut lines =
                vec![format!("{:?}, {} {}, usage {}", reply.finish, reply.id, reply.model, usage(reply.usage))];
            lines.extend(reply.parts.iter().map(|part| match part {
                Part::Text { text } => format!("  text {text:?}"),
                Part::Reasoning(reasoning) => format!("  thinks {:?} {:?}", reasoning.text, reasoning.opaque),
                Part::ToolCall(call) => format!("  calls {} {} {}", call.id, call.name, call.arguments),
                other => format!("  {other:?}"),
            }));
            lines.join("\n")
        }
    }
}
