//! The event stream of a task, resumed where it broke.

use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderName};
use serde_json::Value;

use super::error::ClientError;
use super::{Client, EVENT_SILENCE, read_error};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How often a broken stream is taken up again without a new event in between.
const MAX_ATTEMPTS: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The largest event that is taken in.
const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;

/// One event.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Event {
    /// Its name: `event:`, or the `type` in its data.
    pub(crate) name: String,
    /// Its data, without the `{"type","data"}` around it.
    pub(crate) data: Value,
}

/// A stream of events that survives broken connections.
pub(crate) struct Events<'a> {
    client: &'a Client,
    path: String,
    last_id: Option<String>,
    response: Option<reqwest::Response>,
    parser: Parser,
    attempts: u32,
    /// What is said first: where, what, and under which key.
    first: Option<(String, Value, String)>,
}

impl<'a> Events<'a> {
    pub(super) fn new(client: &'a Client, path: String) -> Self {
        Self { client, path, last_id: None, response: None, parser: Parser::default(), attempts: 0, first: None }
    }

    #[expect(clippy::disallowed_methods, reason = "the command line has no seed: each message has a key of its own")]
    pub(super) fn saying(client: &'a Client, at: String, body: Value, then: String) -> Self {
        let key = uuid::Uuid::new_v4().to_string();
        Self { first: Some((at, body, key)), ..Self::new(client, then) }
    }

    /// Where the stream is read on when the connection is lost.
    pub(crate) fn read_on_at(&mut self, path: String) {
        self.path = path;
    }

    /// The next event; `None` after `done`.
    ///
    /// # Errors
    /// When the server refuses the stream, or it broke too often without a new event.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            while let Some(raw) = self.parser.next() {
                let event = unwrap(raw.name, &raw.data);
                // `done` carries the id of the last event: it is never one that was seen before.
                if event.name == "done" {
                    return Ok(None);
                }
                if let Some(id) = raw.id.filter(|id| !id.is_empty()) {
                    // A server that begins too early repeats what has been seen.
                    if self.last_id.as_deref().is_some_and(|last| seen(last, &id)) {
                        continue;
                    }
                    self.last_id = Some(id);
                    self.attempts = 0;
                }
                return Ok(Some(event));
            }
            if self.response.is_none() {
                self.connect().await?;
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> Result<(), ClientError> {
        let Some(response) = &mut self.response else { return Ok(()) };
        // A living stream sends at least a comment every 15 s.
        let reason = match tokio::time::timeout(EVENT_SILENCE, response.chunk()).await {
            Ok(Ok(Some(bytes))) if self.parser.buffered() + bytes.len() <= MAX_EVENT_BYTES => {
                self.parser.push(&bytes);
                return Ok(());
            }
            Ok(Ok(Some(_))) => return Err(self.client.foreign("an event is larger than 4 MiB")),
            Ok(Ok(None)) => "the event stream ended early".to_owned(),
            Ok(Err(error)) => super::reason(&error),
            Err(_elapsed) => "the event stream has been silent for too long".to_owned(),
        };
        self.broke(reason).await
    }

    /// Notes a broken connection, and waits before the next try.
    async fn broke(&mut self, reason: String) -> Result<(), ClientError> {
        self.response = None;
        self.parser = Parser::default();
        self.attempts += 1;
        if self.attempts > MAX_ATTEMPTS {
            return Err(self.client.unreachable(reason));
        }
        let factor = 1_u32.checked_shl(self.attempts - 1).unwrap_or(u32::MAX);
        pause(FIRST_PAUSE.saturating_mul(factor).min(LONGEST_PAUSE)).await;
        Ok(())
    }

    async fn connect(&mut self) -> Result<(), ClientError> {
        let mut request = match &self.first {
            Some((at, body, key)) if self.last_id.is_none() => {
                self.client.request(reqwest::Method::POST, at).header(super::IDEMPOTENCY_KEY, key).json(body)
            }
            Some(_) | None => self.client.request(reqwest::Method::GET, &self.path),
        };
        request = request.header(ACCEPT, "text/event-stream");
        if let Some(id) = &self.last_id {
            request = request.header(LAST_EVENT_ID, id);
        }
        match request.send().await {
            Ok(response) if response.status().is_success() => {
                self.response = Some(response);
                Ok(())
            }
            Ok(response) if response.status().is_server_error() && self.last_id.is_some() => {
                let reason = format!("it answered {}", response.status());
                self.broke(reason).await
            }
            Ok(response) => Err(read_error(self.client, response).await),
            Err(error) if self.last_id.is_some() || self.attempts > 0 => self.broke(super::reason(&error)).await,
            Err(error) => Err(self.client.unreachable(super::reason(&error))),
        }
    }
}

/// Lets some real time pass.
#[expect(clippy::disallowed_methods, reason = "the command line waits in real time for a real server")]
pub(crate) async fn pause(span: Duration) {
    tokio::time::sleep(span).await;
}

/// Whether `id` is not after `last`. Ids are numbers that grow, with a second number for the parts of a message.
fn seen(last: &str, id: &str) -> bool {
    let number = |id: &str| -> Option<(u64, u64)> {
        let (main, part) = id.split_once('.').unwrap_or((id, "0"));
        Some((main.parse().ok()?, part.parse().ok()?))
    };
    match (number(last), number(id)) {
        (Some(last), Some(id)) => id <= last,
        _other_ids => last == id,
    }
}

fn unwrap(name: Option<String>, data: &str) -> Event {
    let mut data: Value = serde_json::from_str(data).unwrap_or(Value::Null);
    let kind = data.get("type").and_then(Value::as_str).map(str::to_owned);
    if kind.is_some()
        && let Some(inner) = data.get_mut("data")
    {
        data = inner.take();
    }
    Event { name: name.or(kind).unwrap_or_default(), data }
}

/// One event as it is written on the wire.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct RawEvent {
    id: Option<String>,
    name: Option<String>,
    data: String,
}

/// Takes bytes as they come, and gives whole events.
#[derive(Default)]
struct Parser {
    bytes: Vec<u8>,
    event: RawEvent,
    has_data: bool,
}

impl Parser {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn buffered(&self) -> usize {
        self.bytes.len() + self.event.data.len()
    }

    fn next(&mut self) -> Option<RawEvent> {
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if !line.is_empty() {
                self.field(line);
                continue;
            }
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) || event.name.is_some() {
                return Some(event);
            }
        }
        None
    }

    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.event.id = Some(value.to_owned()),
            "event" => self.event.name = Some(value.to_owned()),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            _comment_or_other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(chunks: &[&[u8]]) -> Vec<RawEvent> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        for chunk in chunks {
            parser.push(chunk);
            while let Some(event) = parser.next() {
                events.push(event);
            }
        }
        events
    }

    #[test]
    fn events_are_whole_however_the_bytes_are_cut() {
        let wire = "id: 8\r\nevent: log\r\ndata: {\"summary\":\"gr\u{fc}n\"}\r\n\r\n: comment\n\ndata: a\ndata: b\n\n";
        let whole = parse(&[wire.as_bytes()]);
        assert_eq!(whole.len(), 2);
        assert_eq!(whole[0].id.as_deref(), Some("8"));
        assert_eq!(whole[0].data, "{\"summary\":\"gr\u{fc}n\"}");
        assert_eq!(whole[1].data, "a\nb");
        let bytes: Vec<&[u8]> = wire.as_bytes().chunks(1).collect();
        assert_eq!(parse(&bytes), whole);
    }

    #[test]
    fn an_event_that_is_not_finished_is_not_given() {
        assert_eq!(parse(&[b"id: 1\ndata: x\n"]), []);
    }

    #[test]
    fn data_is_taken_out_of_its_cover() {
        let event = unwrap(None, r#"{"type":"log","data":{"seq":1}}"#);
        assert_eq!((event.name.as_str(), event.data), ("log", json!({"seq": 1})));
        let event = unwrap(Some("step_completed".to_owned()), r#"{"seq":1}"#);
        assert_eq!((event.name.as_str(), event.data), ("step_completed", json!({"seq": 1})));
    }

    #[test]
    fn ids_are_ordered_as_numbers() {
        assert!(seen("10", "9") && seen("10", "10") && !seen("9", "10"));
        assert!(seen("9.2", "9.1") && !seen("9.2", "9.3") && !seen("9.2", "10"));
        assert!(seen("a", "a") && !seen("b", "a"));
    }
}
