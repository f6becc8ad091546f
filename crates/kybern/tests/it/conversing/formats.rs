//! A turn before every provider's wire format: the answers that the adapters are tested with, in whole and as streams.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::receiver::Receiver;
use crate::server::{Server, Site};

/// A provider that calls no tools.
const WITHOUT_CALLS: &str = "perplexity";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters/tests/fixtures/models")
}

fn providers() -> Vec<String> {
    let folders = std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = folders
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn fixture(provider: &str, name: &str, streams: bool) -> Value {
    let path = fixtures().join(provider).join(format!("{name}.{}", if streams { "sse" } else { "json" }));
    let bytes = std::fs::read_to_string(&path).unwrap();
    if streams { Value::String(bytes) } else { serde_json::from_str(&bytes).unwrap() }
}

/// What was asked of each provider.
type Asked = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

/// All providers: the first question of a turn is answered with calls, the next one with words.
fn world(asked: &Asked) -> Receiver {
    let kept = Arc::clone(asked);
    Receiver::answering(move |request, _| {
        let provider = request.path.split('/').nth(1).unwrap().to_owned();
        let body = request.json();
        let streams = body["stream"] == true || request.path.contains("streamGenerateContent");
        let mut asked = kept.lock().unwrap();
        let questions = asked.entry(provider.clone()).or_default();
        questions.push(body.to_string());
        let calls = provider != WITHOUT_CALLS && questions.len() % 2 == 1;
        Some((200, fixture(&provider, if calls { "calls" } else { "plain" }, streams)))
    })
}

/// A provider whose model has these abilities, as an operator configures it.
fn configured(name: &str, receiver: &Receiver, abilities: &str) -> String {
    let (kind, format) = match name {
        "openai_responses" => ("openai", "format = \"openai_responses\"\n"),
        "openai" => ("openai", "format = \"openai_chat\"\n"),
        kind => (kind, ""),
    };
    format!(
        "[providers.{name}]\nkind = \"{kind}\"\n{format}base_url = \"{}\"\napi_key = \"none\"\n\
         models = [{{ name = \"small\", {abilities}, input_price = 1000000000, output_price = 1000000000 }}]\n",
        receiver.url(&format!("/{name}/v1"))
    )
}

fn serving(settings: String) -> Server {
    let site = Site::sqlite();
    site.file("kybern.toml", settings);
    // What the administrator writes of an agent holds at once.
    site.with("KYBERN_GOVERNANCE__SELF_APPROVAL", "true").start()
}

#[tokio::test]
async fn every_providers_format_carries_a_turn() {
    let asked = Asked::default();
    let receiver = world(&asked);
    let settings: String = providers().iter().map(|name| configured(name, &receiver, "functions = true")).collect();
    let server = serving(settings);
    let client = server.client();
    for name in providers() {
        let tools = if name == WITHOUT_CALLS { json!([]) } else { json!(["core.noop"]) };
        let agent = json!({"name": name, "systemPrompt": "Look it up.", "provider": name, "model": "small",
            "tools": tools});
        client.post("/api/agents", &agent).await;
        let mut answers = Vec::new();
        for streams in [false, true] {
            let chat = text(&client.post("/api/chats", &json!({"agent": name})).await["id"]);
            let path = format!("/api/chats/{chat}/messages");
            let mut ask = Ask::json(&path, &json!({"content": "What is known?"}));
            if streams {
                ask = ask.header("accept", "text/event-stream");
            }
            let said = client.raw(&ask).await.unwrap().text().await.unwrap();
            assert!(!said.contains("event: error"), "{name}: {said}");
            let kept = client.get(&path).await;
            let answer = kept["items"][1].clone();
            assert_eq!(answer["finishReason"], "complete", "{name}, streamed: {streams}: {said} {answer}");
            assert!(answer["usage"]["inputTokens"].as_u64() > Some(0), "{name}: {answer}");
            assert!(said.contains(answer["content"].as_str().unwrap().lines().next().unwrap()), "{name}: {said}");
            answers.push(answer["content"].clone());
        }
        assert!(answers[0] == answers[1] && answers[0] != "", "{name}: {answers:?}");
        let asked = asked.lock().unwrap();
        let questions = &asked[&name];
        assert_eq!(questions.len(), if name == WITHOUT_CALLS { 2 } else { 4 }, "{name}");
        // What could not be called is told in the provider's own words for results, with the agent's prompt before it.
        for question in questions.iter().skip(1).step_by(2).filter(|_| name != WITHOUT_CALLS) {
            assert!(question.contains("there is no tool") && question.contains("Look it up."), "{name}: {question}");
        }
    }
}

/// One pixel, as PNG in base64.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

#[tokio::test]
async fn a_picture_and_a_text_are_sent_as_each_format_has_them() {
    let asked = Asked::default();
    let receiver = world(&asked);
    // Where the list of messages is, and in its last one the picture.
    let formats = [
        (
            "openai",
            ("messages", "content"),
            json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PIXEL}")}}),
        ),
        (
            "openai_responses",
            ("input", "content"),
            json!({"type": "input_image", "image_url": format!("data:image/png;base64,{PIXEL}")}),
        ),
        (
            "anthropic",
            ("messages", "content"),
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}),
        ),
        ("google", ("contents", "parts"), json!({"inlineData": {"mimeType": "image/png", "data": PIXEL}})),
    ];
    let settings: String =
        formats.iter().map(|(name, ..)| configured(name, &receiver, "functions = true, images = true")).collect();
    let server = serving(settings);
    let client = server.client();
    for (name, (list, parts), expected) in &formats {
        // No tools: the first answer of the world is calls, which end such a turn as what they are.
        let agent = json!({"name": name, "systemPrompt": "Look.", "provider": name, "model": "small"});
        client.post("/api/agents", &agent).await;
        let chat = text(&client.post("/api/chats", &json!({"agent": name})).await["id"]);
        let files = json!([
            {"filename": "dot.png", "contentType": "image/png", "dataBase64": PIXEL},
            {"filename": "note.txt", "contentType": "text/plain", "dataBase64": "QSB0cmFpbGVyLg=="},
        ]);
        let said = json!({"content": "What is this?", "attachments": files});
        client.post(&format!("/api/chats/{chat}/messages"), &said).await;
        let question: Value = serde_json::from_str(&asked.lock().unwrap()[*name][0]).unwrap();
        let last = question[*list].as_array().unwrap().last().unwrap();
        assert_eq!(&last[*parts][1], expected, "{name}: {question}");
        assert!(question.to_string().contains("attached file note.txt:\\nA trailer."), "{name}: {question}");
    }
}
