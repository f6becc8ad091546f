//! A thin HTTP client of the API.

use std::fmt::Debug;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::PATIENCE;

/// Asks until there is an answer; fails the test after [`PATIENCE`].
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(what: &str, mut look: impl FnMut() -> F) -> T {
    let asking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            pause(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("in vain: until {what}"))
}

/// Lets some time pass.
#[expect(clippy::disallowed_methods, reason = "the tests' one place for a pause; the server is a real process")]
pub(crate) async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Where a server is. It changes when the server is started again.
pub(crate) type Place = Arc<RwLock<String>>;

/// A request that can be sent again.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Ask {
    pub(crate) fn get(path: &str) -> Self {
        Self { method: Method::GET, path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn post(path: &str, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Self { method: Method::POST, path: path.to_owned(), headers, body: body.into() }
    }

    pub(crate) fn json(path: &str, body: &Value) -> Self {
        Self::post(path, "application/json", body.to_string())
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// A client with a key.
#[derive(Clone)]
pub(crate) struct Client {
    place: Place,
    key: String,
    http: reqwest::Client,
}

impl Client {
    pub(crate) fn new(url: &str, key: &str) -> Self {
        kybern_adapters::http::install_tls();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { place: Arc::new(RwLock::new(url.to_owned())), key: key.to_owned(), http }
    }

    /// The same server with another key.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    /// Where the server is; to be changed when it moves.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Sends a request; the connection may fail.
    pub(crate) async fn raw(&self, ask: &Ask) -> reqwest::Result<reqwest::Response> {
        let url = format!("{}{}", self.place.read().unwrap(), ask.path);
        let mut request = self.http.request(ask.method.clone(), url).bearer_auth(&self.key);
        for (name, value) in &ask.headers {
            request = request.header(*name, value);
        }
        request.body(ask.body.clone()).send().await
    }

    /// Sends a request to a server that is there.
    pub(crate) async fn send(&self, ask: &Ask) -> (StatusCode, Value) {
        read(self.raw(ask).await.unwrap()).await.unwrap()
    }

    /// Sends a request that has to succeed.
    pub(crate) async fn ok(&self, ask: &Ask) -> Value {
        let (status, answer) = self.send(ask).await;
        assert!(status.is_success(), "{} {}: {status} {answer}", ask.method, ask.path);
        answer
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        self.ok(&Ask::get(path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        self.ok(&Ask::json(path, body)).await
    }

    /// Sends the same request until it is answered, as a mail server does: a refused or lost connection, and a server
    /// that says that it cannot now, are tried again.
    pub(crate) async fn deliver(&self, ask: &Ask) -> Value {
        until("the delivery is taken", || async {
            let (status, answer) = read(self.raw(ask).await.ok()?).await.ok()?;
            if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
                return None;
            }
            assert!(status.is_success(), "{} {}: {status} {answer}", ask.method, ask.path);
            Some(answer)
        })
        .await
    }

    /// A task once it has ended or waits for a person.
    pub(crate) async fn rest(&self, id: &str) -> Value {
        let ask = Ask::get(&format!("/api/tasks/{id}?waitMs=30000"));
        until(&format!("task {id} rests"), || async {
            let task = self.deliver(&ask).await;
            let status = task["status"].as_str().unwrap();
            matches!(status, "completed" | "failed" | "cancelled" | "needs_review").then_some(task)
        })
        .await
    }

    /// Answers what a task waits for, and gives the task once it has ended or waits for something else. The answer is
    /// taken in a moment after it was accepted.
    pub(crate) async fn review(&self, task: &Value, answer: &Value) -> Value {
        let id = task["id"].as_str().unwrap();
        self.post(&format!("/api/tasks/{id}/review"), answer).await;
        until(&format!("the answer to {id} is taken in"), || async {
            let now = self.rest(id).await;
            (now["waits"] != task["waits"]).then_some(now)
        })
        .await
    }

    /// Every item of a list.
    pub(crate) async fn list(&self, path: &str) -> Vec<Value> {
        let (mut items, mut cursor) = (Vec::new(), String::new());
        loop {
            let begun = if path.contains('?') { '&' } else { '?' };
            let page = self.get(&format!("{path}{begun}limit=200{cursor}")).await;
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return items,
            }
        }
    }

    /// A finished task, replayed: it has to arrive at the same end.
    pub(crate) async fn replays(&self, id: &str) {
        let report = self.ok(&Ask::post(&format!("/api/tasks/{id}/replay"), "application/json", "")).await;
        assert!(report["matches"] == true, "the replay of {id} differs: {report}");
    }

    /// The audit chain has to be whole.
    pub(crate) async fn audit_is_whole(&self) {
        let report = self.get("/api/audit/verify").await;
        assert!(report["valid"] == true, "the audit trail is broken: {report}");
    }
}

async fn read(response: reqwest::Response) -> reqwest::Result<(StatusCode, Value)> {
    let status = response.status();
    let text = response.text().await?;
    Ok((status, serde_json::from_str(&text).unwrap_or(Value::String(text))))
}

/// A text in a JSON value.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
