//! What model providers answer: streams in every wire format, whole replies, errors, lists and embeddings.

use kybern_adapters::models::wire::failure::{Headers, MAX_ERROR_BYTES, of_answer};
use kybern_adapters::models::wire::{WireFormat, embedding, events_of, listing};
use kybern_core::model::{EmbedRequest, ModelEvent};
use kybern_testkit::fuzz::{Chance, Target, json as damage};
use serde_json::Value;

use crate::models::{PROVIDERS, assemble, fixtures, folder, format_of, stream};

const WORDS: &[&str] = &[
    "data: ",
    "data:",
    "\n\n",
    "\r\r",
    "\r\n",
    "event: message_stop\n",
    "event: error\n",
    "[DONE]",
    ": keep-alive\n",
    "\u{feff}",
    "null",
    "-1",
    "1e308",
    "\\u0000",
    "\\ud800",
    "{",
    "}",
    "[",
    "]",
    "\"index\":",
    "\"delta\":",
    "\"usage\":",
    "\"tool_calls\":",
    "\"arguments\":\"{\"",
    "\"finish_reason\":\"stop\"",
];
const TEXTS: &[&str] = &["", "{\"a\":", "}", "tool_use", "stop", "tool_calls", "error", "99999s", "\u{0}"];

/// The format and the cut that the first two bytes name, and the rest.
fn opened(input: &[u8]) -> Option<(WireFormat, usize, &[u8])> {
    let (&[format, cut], rest) = input.split_first_chunk()?;
    Some((WireFormat::ALL[usize::from(format) % WireFormat::ALL.len()], usize::from(cut) + 1, rest))
}

/// A stream says the same wherever it is cut, ends once, and is whole when it ends well.
fn streams(input: &[u8]) -> Result<(), String> {
    let Some((format, cut, bytes)) = opened(input) else { return Ok(()) };
    let (events, end) = stream(format, &[bytes]);
    let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
    if stream(format, &pieces) != (events.clone(), end.clone()) {
        return Err(format!("{}: in pieces of {cut} it is another reply", format.as_str()));
    }
    let finished = events.iter().filter(|event| matches!(event, ModelEvent::Finished { .. })).count();
    let reply = assemble(&events);
    match end {
        Ok(()) if finished != 1 || reply.is_none() => Err(format!("it ended well, and {finished} times")),
        Err(failure) => one_line(&failure.message),
        Ok(()) => Ok(()),
    }
}

/// A body is read as a reply, an error, a list and as embeddings; a reply is the same as its events.
fn bodies(input: &[u8]) -> Result<(), String> {
    let Some((format, status, body)) = opened(input) else { return Ok(()) };
    match format.decode(body) {
        Ok(reply) => {
            let again = assemble(&events_of(reply.clone()));
            if again.as_ref() != Some(&reply) {
                return Err(format!("{}: {reply:?} is in events {again:?}", format.as_str()));
            }
        }
        Err(failure) => one_line(&failure.message)?,
    }
    let text = String::from_utf8_lossy(body);
    let headers: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let code = u16::try_from(status * 2 + 200).unwrap_or(500);
    let failure = of_answer(code, &Headers(&headers), body);
    one_line(&failure.message)?;
    if failure.message.len() > MAX_ERROR_BYTES {
        return Err(format!("a message of {} bytes", failure.message.len()));
    }
    let texts = vec!["a".to_owned(); status % 4];
    let request = EmbedRequest { model: "m".to_owned(), texts, ..EmbedRequest::default() };
    if let Ok(embedded) = embedding::decode(body, &request)
        && embedded.vectors.len() != request.texts.len()
    {
        return Err(format!("{} vectors for {} texts", embedded.vectors.len(), request.texts.len()));
    }
    drop(listing::decode(body));
    Ok(())
}

fn one_line(message: &str) -> Result<(), String> {
    if message.contains(char::is_control) { Err(format!("a control character in {message:?}")) } else { Ok(()) }
}

/// The fixtures with that ending, behind the byte that names their format.
fn seeds(end: &str) -> Vec<Vec<u8>> {
    let all = PROVIDERS.iter().flat_map(|provider| {
        let format = WireFormat::ALL.iter().position(|format| *format == format_of(provider)).unwrap();
        let head = [u8::try_from(format).unwrap(), 2];
        fixtures(provider, end).into_iter().map(move |(_, bytes)| [head.as_slice(), &bytes].concat())
    });
    let mut all: Vec<Vec<u8>> = all.collect();
    all.sort_by_key(Vec::len);
    all.dedup();
    all
}

/// A fixture whose JSON texts are damaged as JSON, so that it can be read further.
fn make(fixtures: &[Vec<u8>], chance: &Chance) -> Vec<u8> {
    let fixture = chance.one(fixtures);
    let mut made = fixture[..2].to_vec();
    made[1] = chance.byte();
    for line in fixture[2..].split_inclusive(|byte| *byte == b'\n') {
        let start = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
        match serde_json::from_slice::<Value>(&line[start..]) {
            Ok(mut value) if chance.percent(30) => {
                let other = value.clone();
                damage::mutate(&mut value, &other, NAMES, TEXTS, chance);
                made.extend_from_slice(&line[..start]);
                made.extend(value.to_string().bytes().chain(*b"\n"));
            }
            _ if chance.percent(2) => {}
            _ => made.extend_from_slice(line),
        }
    }
    made
}

/// Members that the formats know.
const NAMES: &[&str] = &[
    "id",
    "index",
    "type",
    "choices",
    "delta",
    "content",
    "content_block",
    "reasoning_content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "partial_json",
    "finish_reason",
    "stop_reason",
    "usage",
    "prompt_tokens",
    "completion_tokens",
    "output_index",
    "item",
    "response",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "error",
    "message",
    "code",
    "details",
    "retryDelay",
];

#[test]
fn provider_streams() {
    let fixtures = seeds(".sse");
    let target = Target::new("provider-streams", 1_500, streams).seeds(fixtures.clone()).words(WORDS);
    target.made_by(move |chance| make(&fixtures, chance)).play();
}

#[test]
fn provider_bodies() {
    let lists = PROVIDERS
        .iter()
        .flat_map(|provider| ["embeddings.json", "models.json"].map(|name| folder(provider).join(name)));
    let lists = lists.filter_map(|path| std::fs::read(path).ok()).map(|bytes| [&[0, 2], bytes.as_slice()].concat());
    let fixtures: Vec<Vec<u8>> = seeds(".json").into_iter().chain(lists).chain(seeds(".http")).collect();
    let target = Target::new("provider-bodies", 1_500, bodies).seeds(fixtures.clone()).words(WORDS);
    target.made_by(move |chance| make(&fixtures, chance)).play();
}
