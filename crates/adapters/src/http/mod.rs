//! HTTP to the outside. Everything that leaves through here passes the egress policy.
//!
//! A host is judged before anything is sent. An address written in the URL is judged at once, whatever its spelling;
//! a name is judged inside the resolver of the connection, which hands on only addresses that passed, so that the
//! address which is connected to is the one that was judged and a second answer of the DNS changes nothing.
//! Redirects are followed by hand, each hop judged anew. Proxies of the environment are not used.
//!
//! Three clients with pools of their own keep connections apart: to trusted endpoints, to hosts that the policy opens
//! by name, and to the public internet.

mod answer;
mod connect;
mod outgoing;
mod resolver;
mod streaming;
pub mod tls;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::policy::{EgressDenied, EgressPolicy};
use kybern_core::ports::{HttpClient, HttpFailure, HttpRequest, HttpResponse};
use kybern_core::time::Millis;
use reqwest::redirect::Policy;
use rustls::ClientConfig;

use self::outgoing::{ConnectionClass, Outgoing};
pub use self::resolver::{Lookup, SystemLookup};
pub use self::streaming::{OpenRequest, OpenResponse};
pub use self::tls::install_tls;

/// The most redirects of one request.
pub const MAX_REDIRECTS: usize = 5;
/// How long a name, a connection and its TLS handshake may take together.
pub const CONNECT_TIMEOUT: Millis = Millis::from_secs(5);
/// How long it may take to find out where a name leads before a URL is kept.
const REFUSAL_TIMEOUT: Millis = Millis::from_secs(2);
/// How long an unused connection is kept. Below the 5 s after which common servers close theirs: a request that is
/// written into a connection while it closes ends as [`HttpFailure::NoAnswer`].
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// The most unused connections kept to one host: as many calls as run side by side to one provider of models.
const MAX_IDLE_PER_HOST: usize = 64;
/// How often a shared HTTP/2 connection is asked whether it is alive, and how long it may take to say so: calls to a
/// model wait long, and must not wait on a connection that a router has forgotten.
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// How this server names itself.
const USER_AGENT: &str = concat!("kybern/", env!("CARGO_PKG_VERSION"));

/// Why the client could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    /// The TLS configuration is wrong.
    #[error(transparent)]
    Tls(#[from] tls::TlsError),
    /// The HTTP library refused its settings.
    #[error("cannot set up the HTTP client")]
    Client(#[source] reqwest::Error),
}

/// What may be set apart from the policy; `Default` is what production uses.
#[derive(Clone)]
pub struct EgressOptions {
    /// Who resolves names.
    pub lookup: Arc<dyn Lookup>,
    /// How long a connection may take to be made.
    pub connect_timeout: Millis,
    /// TLS; `None` trusts the roots that browsers trust ([`tls::client_config`]).
    pub tls: Option<ClientConfig>,
}

impl Default for EgressOptions {
    fn default() -> Self {
        Self { lookup: Arc::new(SystemLookup), connect_timeout: CONNECT_TIMEOUT, tls: None }
    }
}

/// The one HTTP client.
pub struct Egress {
    policy: EgressPolicy,
    lookup: Arc<dyn Lookup>,
    trusted: reqwest::Client,
    opened: reqwest::Client,
    public: reqwest::Client,
}

impl std::fmt::Debug for Egress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Egress").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl Egress {
    /// A client under `policy`.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(policy: EgressPolicy) -> Result<Self, EgressError> {
        Self::with_options(policy, EgressOptions::default())
    }

    /// A client under `policy` with its own names, times and roots.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn with_options(policy: EgressPolicy, options: EgressOptions) -> Result<Self, EgressError> {
        let mut tls = options.tls.clone().map_or_else(|| tls::client_config(&[]), Ok)?;
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let client = |judged| client(&options, &tls, judged).map_err(EgressError::Client);
        let lookup = Arc::clone(&options.lookup);
        Ok(Self { policy, lookup, trusted: client(false)?, opened: client(false)?, public: client(true)? })
    }

    /// The client whose connections a request may use.
    fn client_for(&self, outgoing: &Outgoing) -> Result<&reqwest::Client, HttpFailure> {
        Ok(match outgoing.way(&self.policy)? {
            ConnectionClass::Trusted => &self.trusted,
            ConnectionClass::Opened => &self.opened,
            ConnectionClass::Public => &self.public,
        })
    }

    /// Sends and follows; the time is kept by the caller.
    async fn follow(&self, mut outgoing: Outgoing, max_bytes: usize) -> Result<HttpResponse, HttpFailure> {
        for hop in 0..=MAX_REDIRECTS {
            let client = self.client_for(&outgoing)?;
            let sent = client.execute(outgoing.to_request()).await;
            let response = sent.map_err(|error| answer::failure(error, outgoing.url(), hop))?;
            match outgoing.redirect(response.status(), response.headers())? {
                Some(next) => outgoing = next,
                None => return answer::read(response, max_bytes).await,
            }
        }
        Err(HttpFailure::NoAnswer(format!("more than {MAX_REDIRECTS} redirects")))
    }
}

fn client(options: &EgressOptions, tls: &ClientConfig, judged: bool) -> reqwest::Result<reqwest::Client> {
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .dns_resolver(resolver::Resolver::new(Arc::clone(&options.lookup), judged))
        .no_proxy()
        .redirect(Policy::none())
        .referer(false)
        .connector_layer(connect::ConnectLimit { default: options.connect_timeout })
        .tcp_nodelay(true)
        .http2_keep_alive_interval(PING_INTERVAL)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(MAX_IDLE_PER_HOST)
        .user_agent(USER_AGENT)
        .build()
}

#[async_trait]
impl HttpClient for Egress {
    /// Redirects count as part of the request: a hop that is refused is `Denied` although the hops before it were
    /// sent, and a later hop that cannot be reached is `NoAnswer`. A time limit shorter than [`CONNECT_TIMEOUT`] that
    /// ends while connecting is `TimedOut`, because nobody knows how far it came.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpFailure> {
        let (limit, max_bytes) = (request.timeout, request.max_bytes);
        let outgoing = Outgoing::parse(request)?;
        let answer = tokio::time::timeout(limit.as_duration(), self.follow(outgoing, max_bytes)).await;
        answer.unwrap_or_else(|_| Err(HttpFailure::TimedOut(limit)))
    }

    async fn refusal(&self, url: &str) -> Option<EgressDenied> {
        let outgoing = Outgoing::of("POST", url, &[], Bytes::new(), false).ok()?;
        match outgoing.way(&self.policy) {
            Err(denied) => return Some(denied),
            Ok(ConnectionClass::Public) => {}
            Ok(ConnectionClass::Trusted | ConnectionClass::Opened) => return None,
        }
        let host = outgoing.url().host_str()?;
        let found = tokio::time::timeout(REFUSAL_TIMEOUT.as_duration(), self.lookup.lookup(host)).await.ok()?.ok()?;
        let closed = resolver::keep_open(host, found).err()?;
        Some(answer::denied(outgoing.url(), closed.address))
    }
}
