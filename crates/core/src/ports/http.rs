//! HTTP to the outside, through the egress policy.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;

use crate::policy::EgressDenied;
use crate::time::Millis;

/// A request's body.
#[derive(Clone, PartialEq, Debug)]
pub enum HttpBody {
    /// None.
    Empty,
    /// JSON, sent as `application/json`.
    Json(Value),
    /// Text, sent as `text/plain; charset=utf-8` unless a header says otherwise.
    Text(String),
}

#[derive(Clone, PartialEq, Debug)]
pub struct HttpRequest {
    /// The method, upper case.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// Headers; hop-by-hop headers and `Host` are refused.
    pub headers: Vec<(String, String)>,
    pub body: HttpBody,
    /// How long all of it may take.
    pub timeout: Millis,
    /// The most bytes of the answer's body.
    pub max_bytes: usize,
    /// The hosts that it may reach, exact or as `*.example.com`, redirects included; `None` for every one that the
    /// policy lets through.
    pub only_hosts: Option<Arc<[String]>>,
    /// Whether the endpoint is trusted (from the configuration file), so that private addresses are open.
    pub trusted_endpoint: bool,
}

/// An answer.
#[derive(Clone, PartialEq, Debug)]
pub struct HttpResponse {
    pub status: u16,
    /// Headers, lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HttpFailure {
    /// The policy closed the way; nothing was sent.
    #[error(transparent)]
    Denied(#[from] EgressDenied),
    /// The request itself is not well-formed; nothing was sent.
    #[error("bad request: {0}")]
    Invalid(String),
    /// No connection; nothing was sent.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// It broke after it may have been sent.
    #[error("no answer: {0}")]
    NoAnswer(String),
    /// Its time was over; it may have been sent.
    #[error("no answer within {0}")]
    TimedOut(Millis),
    /// The answer is larger than allowed.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
}

/// Sends requests.
#[async_trait]
pub trait HttpClient: Send + Sync {
    /// Sends one request, following at most five redirects of GET and HEAD, each judged anew.
    ///
    /// # Errors
    /// See [`HttpFailure`]; the variant says whether anything may have been sent.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpFailure>;

    /// Why a request to that URL would be refused, if it would be now: whoever keeps a URL for later asks before.
    /// What cannot be known now, such as a name without an address, is refused by nobody.
    async fn refusal(&self, url: &str) -> Option<EgressDenied> {
        let _open_to_everything = url;
        None
    }
}
