//! A provider that speaks OpenAI's format over HTTP and says what its models' names ask for.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt as _;
use serde_json::{Value, json};

/// A call as it came: its path, its key and its body.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) path: String,
    pub(super) key: String,
    pub(super) body: Value,
}

type Calls = Arc<Mutex<Vec<Call>>>;

/// The running provider; it ends with the test's process.
pub(super) struct Provider {
    address: SocketAddr,
    calls: Calls,
}

/// How often `busy` has no time, and when it wants to be asked again.
const BUSY: (usize, &str) = (2, "2");

impl Provider {
    pub(super) fn start() -> Self {
        let calls = Calls::default();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::clone(&calls);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let app = Router::new().fallback(move |request| answer(request, Arc::clone(&log)));
                axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), app).await.unwrap();
            });
        });
        Self { address, calls }
    }

    /// Its base URL.
    pub(super) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The calls of one of its models, in order.
    pub(super) fn calls(&self, model: &str) -> Vec<Call> {
        let calls = self.calls.lock().unwrap();
        calls.iter().filter(|call| call.body["model"] == model).cloned().collect()
    }

    pub(super) fn all(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

async fn answer(request: Request<Body>, calls: Calls) -> Result<Response<Body>, Infallible> {
    let (parts, body) = request.into_parts();
    let body: Value = serde_json::from_slice(&to_bytes(body, usize::MAX).await.unwrap_or_default()).unwrap_or_default();
    let key = parts.headers.get("authorization").and_then(|key| key.to_str().ok()).unwrap_or_default().to_owned();
    let path = parts.uri.path().to_owned();
    let model = body["model"].as_str().unwrap_or_default().to_owned();
    let before = {
        let mut calls = calls.lock().unwrap();
        calls.push(Call { path: path.clone(), key, body: body.clone() });
        calls.iter().filter(|call| call.body["model"] == model.as_str()).count().saturating_sub(1)
    };
    Ok(match (path.as_str(), model.as_str()) {
        ("/v1/models", "") => {
            let names = ["echo", "tools", "json", "busy", "cut", "vectors"];
            let models = names.map(|id| json!({"id": id, "object": "model", "owned_by": "nobody"}));
            whole(&json!({"object": "list", "data": models}))
        }
        ("/v1/embeddings", "vectors") => whole(&vectors(&body)),
        ("/v1/chat/completions", "busy") if before < BUSY.0 => busy(),
        ("/v1/chat/completions", "cut") => cut(),
        ("/v1/chat/completions", "echo" | "busy" | "tools" | "json") => said(&model, &body),
        _ => error(404, &json!({"message": format!("no model {model}"), "code": "model_not_found"})),
    })
}

/// The reply that the model gives, whole or in pieces.
fn said(model: &str, body: &Value) -> Response<Body> {
    let (parts, finish) = match model {
        "tools" => tools(body),
        "json" => (vec![json!({"content": json!({"city": "Lisbon", "degrees": 21}).to_string()})], "stop"),
        _ => {
            let last = body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
            let asked = last["content"].as_str().unwrap_or_default();
            (["you ", "said: ", asked].map(|piece| json!({"content": piece})).to_vec(), "stop")
        }
    };
    let usage = json!({"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19});
    if body["stream"] != true {
        let choice = json!({"index": 0, "message": joined(&parts), "finish_reason": finish});
        let reply = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
            "choices": [choice], "usage": usage});
        return whole(&reply);
    }
    let mut frames = vec![frame(model, &json!({"role": "assistant", "content": ""}), None)];
    frames.extend(parts.iter().flat_map(pieces).map(|piece| frame(model, &piece, None)));
    frames.push(frame(model, &json!({}), Some(finish)));
    if body["stream_options"]["include_usage"] == true {
        frames
            .push(event(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": [], "usage": usage})));
    }
    frames.push("data: [DONE]\n\n".to_owned());
    events(Body::from_stream(futures::stream::iter(frames.into_iter().map(Ok::<_, Infallible>))))
}

/// Two calls at once, and what is made of their answers.
fn tools(body: &Value) -> (Vec<Value>, &'static str) {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let answers: Vec<&str> =
        messages.iter().filter(|m| m["role"] == "tool").filter_map(|m| m["content"].as_str()).collect();
    match answers.as_slice() {
        [lisbon, oslo] => (vec![json!({"content": format!("Lisbon is {lisbon}, Oslo is {oslo}")})], "stop"),
        _ => {
            let call = |(n, city): (usize, &str)| {
                json!({"tool_calls": [{"index": n, "id": format!("call_{n}"), "type": "function",
                    "function": {"name": "get_weather", "arguments": json!({"city": city}).to_string()}}]})
            };
            (["Lisbon", "Oslo"].into_iter().enumerate().map(call).collect(), "tool_calls")
        }
    }
}

/// One message of all parts.
fn joined(parts: &[Value]) -> Value {
    let text: String = parts.iter().filter_map(|part| part["content"].as_str()).collect();
    let calls: Vec<Value> = parts.iter().filter_map(|part| part["tool_calls"].as_array()).flatten().cloned().collect();
    let content = if text.is_empty() { Value::Null } else { Value::String(text) };
    let mut message = json!({"role": "assistant", "content": content});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    message
}

/// The pieces of a part: a call comes with its name first, and then with its arguments in two.
fn pieces(part: &Value) -> Vec<Value> {
    let Some(call) = part["tool_calls"].get(0) else { return vec![part.clone()] };
    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
    let (one, two) = arguments.split_at(arguments.len() / 2);
    let mut begun = call.clone();
    begun["function"]["arguments"] = json!("");
    let more = |text: &str| json!({"tool_calls": [{"index": call["index"], "function": {"arguments": text}}]});
    vec![json!({"tool_calls": [begun]}), more(one), more(two)]
}

fn frame(model: &str, delta: &Value, finish: Option<&str>) -> String {
    event(&json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// Half a reply, and then the connection breaks.
fn cut() -> Response<Body> {
    let begun = [json!({"role": "assistant", "content": ""}), json!({"content": "half a "})];
    let begun = begun.map(|delta| Ok(frame("cut", &delta, None)));
    let end = futures::stream::once(async {
        // What was said before leaves first.
        tokio::task::yield_now().await;
        Err::<String, _>(std::io::Error::other("cut"))
    });
    events(Body::from_stream(futures::stream::iter(begun).chain(end)))
}

fn busy() -> Response<Body> {
    let mut response = error(429, &json!({"message": "slow down", "code": "rate_limit_exceeded"}));
    response.headers_mut().insert("retry-after", BUSY.1.parse().unwrap());
    response
}

fn vectors(body: &Value) -> Value {
    let texts = body["input"].as_array().cloned().unwrap_or_default();
    let as_base64 = body["encoding_format"] == "base64";
    let one = |(index, text): (usize, &Value)| {
        let length = u8::try_from(text.as_str().unwrap_or_default().len()).unwrap();
        let numbers = [f32::from(length), 0.5, -0.25];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let vector = if as_base64 { json!(STANDARD.encode(bytes)) } else { json!(numbers) };
        json!({"object": "embedding", "index": index, "embedding": vector})
    };
    let data: Vec<Value> = texts.iter().enumerate().map(one).collect();
    json!({"object": "list", "data": data, "model": "vectors", "usage": {"prompt_tokens": 4, "total_tokens": 4}})
}

fn error(status: u16, error: &Value) -> Response<Body> {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(json!({"error": error}).to_string())).unwrap()
}

fn whole(body: &Value) -> Response<Body> {
    Response::builder().header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
}

fn events(body: Body) -> Response<Body> {
    Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
}
