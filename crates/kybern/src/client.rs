//! The HTTP client of the command line: it speaks what any program may speak, the API.

mod error;
mod events;

use std::time::Duration;

use kybern_core::error::ErrorCode;
use reqwest::header::{CONTENT_TYPE, HeaderName, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, Url};
use serde_json::Value;

pub(crate) use error::{ApiError, ClientError};
pub(crate) use events::{Event, Events, pause};

use crate::config::Secret;

const CONNECT: Duration = Duration::from_secs(5);
/// The longest `waitMs` is 60 s; an answer takes no longer than this.
const ANSWER: Duration = Duration::from_secs(90);
/// How long a server may take to say that it is there.
const PROBE: Duration = Duration::from_secs(2);
/// A stream says at least something every 15 s.
const EVENT_SILENCE: Duration = Duration::from_secs(50);
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What is posted.
pub(crate) enum PostedBody<'a> {
    /// Nothing.
    Empty,
    /// JSON.
    Json(&'a Value),
    /// An e-mail as it came over the wire.
    Mail(Vec<u8>),
}

/// A successful answer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Reply {
    /// The body as it came.
    pub(crate) text: String,
    /// The body as JSON; null when it was empty.
    pub(crate) value: Value,
    /// Whether it is the answer to an earlier request under the same idempotency key.
    pub(crate) replayed: bool,
}

/// A connection to one server under one key.
#[derive(Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<Secret>,
}

impl Client {
    /// A client for the server at `base`.
    ///
    /// # Errors
    /// When `base` is no http or https URL, when it names a user, or when TLS cannot be set up.
    pub(crate) fn new(base: &str, key: Option<Secret>) -> Result<Self, ClientError> {
        let url = || ClientError::Url { url: base.to_owned() };
        let parsed = Url::parse(base).map_err(|_| url())?;
        if !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
            return Err(url());
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(ClientError::User);
        }
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls()?)
            .no_proxy()
            .connect_timeout(CONNECT)
            .user_agent(concat!("kybern/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| ClientError::Setup(reason(&error)))?;
        Ok(Self { http, base: base.trim_end_matches('/').to_owned(), key })
    }

    /// Whether anything answers there.
    pub(crate) async fn answers(&self) -> bool {
        self.http.get(format!("{}/healthz", self.base)).timeout(PROBE).send().await.is_ok()
    }

    /// What the server says of its parts, also when it is not ready.
    ///
    /// # Errors
    /// [`ClientError`]
    pub(crate) async fn ready(&self) -> Result<Value, ClientError> {
        let answer = self.reading("/readyz", &[]).send().await;
        let answer = answer.map_err(|error| self.unreachable(reason(&error)))?;
        let told: Value = answer.json().await.map_err(|error| self.foreign(&format!("no JSON ({error})")))?;
        if told["ready"].is_boolean() {
            Ok(told)
        } else {
            Err(self.foreign("/readyz does not say whether it is ready"))
        }
    }

    /// Reads. Pairs without a value are left out of the query.
    ///
    /// # Errors
    /// [`ClientError`]
    pub(crate) async fn get(&self, path: &str, query: &[(&str, Option<String>)]) -> Result<Reply, ClientError> {
        self.send(self.reading(path, query)).await
    }

    /// Reads what is no JSON.
    ///
    /// # Errors
    /// [`ClientError`]
    pub(crate) async fn bytes(&self, path: &str, query: &[(&str, Option<String>)]) -> Result<Vec<u8>, ClientError> {
        let response = self.answer(self.reading(path, query)).await?;
        let bytes = response.bytes().await.map_err(|error| self.unreachable(reason(&error)))?;
        Ok(bytes.into())
    }

    /// Posts; with an idempotency key the same call again has no second effect.
    ///
    /// # Errors
    /// [`ClientError`]
    pub(crate) async fn post(&self, path: &str, body: PostedBody<'_>, key: Option<&str>) -> Result<Reply, ClientError> {
        let mut request = self.request(Method::POST, path).timeout(ANSWER);
        request = match body {
            PostedBody::Empty => request,
            PostedBody::Json(value) => request.json(value),
            PostedBody::Mail(bytes) => request.header(CONTENT_TYPE, "message/rfc822").body(bytes),
        };
        if let Some(key) = key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        self.send(request).await
    }

    /// Deletes.
    ///
    /// # Errors
    /// [`ClientError`]
    pub(crate) async fn delete(&self, path: &str) -> Result<Reply, ClientError> {
        self.send(self.request(Method::DELETE, path).timeout(ANSWER)).await
    }

    /// Changes.
    ///
    /// # Errors
    /// [`ClientError`]
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<Reply, ClientError> {
        self.send(self.request(Method::PATCH, path).timeout(ANSWER).json(body)).await
    }

    /// Replaces.
    ///
    /// # Errors
    /// [`ClientError`]
    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Reply, ClientError> {
        self.send(self.request(Method::PUT, path).timeout(ANSWER).json(body)).await
    }

    /// The event stream at `path`.
    pub(crate) fn events(&self, path: String) -> Events<'_> {
        Events::new(self, path)
    }

    /// Says something at `path`, and reads what comes of it. When the connection is lost the same is said under the same
    /// key as long as nothing has come, and read on at `then` afterwards.
    pub(crate) fn say(&self, path: String, body: Value, then: String) -> Events<'_> {
        Events::saying(self, path, body, then)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.bearer_auth(key.expose()),
            None => request,
        }
    }

    /// A request that reads. Pairs without a value are left out of the query.
    fn reading(&self, path: &str, query: &[(&str, Option<String>)]) -> RequestBuilder {
        let query: Vec<(&str, &str)> =
            query.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        let request = self.request(Method::GET, path).timeout(ANSWER);
        if query.is_empty() { request } else { request.query(&query) }
    }

    /// The answer to a request, when it is a success.
    async fn answer(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let response = request.send().await.map_err(|error| match error.is_builder() {
            true => ClientError::Setup(reason(&error)),
            false => self.unreachable(reason(&error)),
        })?;
        if response.status().is_success() { Ok(response) } else { Err(read_error(self, response).await) }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Reply, ClientError> {
        let response = self.answer(request).await?;
        let replayed = response.headers().contains_key(REPLAYED);
        let text = response.text().await.map_err(|error| self.unreachable(reason(&error)))?;
        if text.trim().is_empty() {
            return Ok(Reply { text, value: Value::Null, replayed });
        }
        let value = serde_json::from_str(&text).map_err(|error| self.foreign(&format!("no JSON ({error})")))?;
        Ok(Reply { text, value, replayed })
    }

    fn unreachable(&self, reason: String) -> ClientError {
        // What a TLS library says of an answer in plain HTTP.
        if self.base.starts_with("https:") && reason.contains("InvalidContentType") {
            return ClientError::Plain { url: self.base.clone() };
        }
        ClientError::Unreachable { url: self.base.clone(), reason }
    }

    fn foreign(&self, reason: &str) -> ClientError {
        ClientError::Foreign { url: self.base.clone(), reason: reason.to_owned() }
    }
}

/// A part of a path, so that an id with a slash in it cannot lead elsewhere.
pub(crate) fn segment(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b':');
    let encode = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    match text {
        // A URL resolves these away, also when they are encoded. No key is written so: this one is not found either.
        "" | "." | ".." => "-".to_owned(),
        text => text.bytes().map(encode).collect(),
    }
}

async fn read_error(client: &Client, response: Response) -> ClientError {
    let status = response.status();
    let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let text = match response.text().await {
        Ok(text) => text,
        Err(error) => return client.unreachable(reason(&error)),
    };
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    match ApiError::read(status.as_u16(), after, &body) {
        Some(mut error) => {
            if client.key.is_none() && error.code == Some(ErrorCode::Unauthenticated) {
                // The server speaks of a header, which nobody types here.
                "no API key is set".clone_into(&mut error.message);
            }
            Box::new(error).into()
        }
        None => client.foreign(&format!("{status}")),
    }
}

/// What the innermost error says: "connection refused" rather than "error sending request".
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it took too long".to_owned();
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

fn tls() -> Result<rustls::ClientConfig, ClientError> {
    let mut roots = rustls::RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ClientError::Setup(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_one_segment() {
        assert_eq!(segment("0192-ab"), "0192-ab");
        assert_eq!(segment("../admin?x=1"), "..%2Fadmin%3Fx%3D1");
        assert_eq!(segment(".."), "-");
    }

    #[test]
    fn only_http_urls_are_servers() {
        for wrong in ["127.0.0.1:7171", "ftp://h", "", "http://"] {
            assert!(matches!(Client::new(wrong, None), Err(ClientError::Url { .. })), "{wrong}");
        }
        assert!(Client::new("http://127.0.0.1:7171/", None).is_ok());
        for with_user in ["http://app:secret@127.0.0.1:7171", "http://app@127.0.0.1", "https://:secret@example.com"] {
            let refused = Client::new(with_user, None).unwrap_err();
            assert!(matches!(refused, ClientError::User), "{with_user}");
        }
    }
}
