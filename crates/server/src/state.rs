//! What every handler can reach.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kybern_core::id::TenantId;
use kybern_core::time::Timestamp;
use kybern_engine::Engine;
use kybern_engine::meter::Figures;
use kybern_engine::readiness::Readiness;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::body::Budget;
use crate::brake::Brake;
use crate::fresh::FreshCache;
use crate::idempotency::Commands;
use crate::metrics::Metrics;
use crate::peer::TrustedProxies;
use crate::streams::{MAX_STREAMS, Streams};

/// What a request may cost, and what is shown to whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of any body but a mail's.
    pub max_body: usize,
    /// Bytes of a mail.
    pub max_mail: usize,
    /// Bytes of a body that is read before its sender has proven anything.
    pub max_unproven: usize,
    /// Bytes of all bodies that are being read or worked on.
    pub max_bodies: usize,
    /// Bytes of all answers that wait to be taken.
    pub max_answers: usize,
    /// How long a streamed reply may go on once the server shuts down.
    pub stream_grace: Duration,
    /// Wrong API keys of one address in a minute, after which it is braked; 0 for no brake.
    pub wrong_keys: u32,
    /// Proxies whose word about the caller's address counts.
    pub proxies: TrustedProxies,
    /// Whether the metrics are shown without a key.
    pub public_metrics: bool,
}

impl Default for Limits {
    /// 10 MiB, 25 MiB for a mail, 1 MiB for strangers, 256 MiB in all, 512 MiB of answers, 5 s for a streamed reply, 60 wrong keys; metrics need a key.
    fn default() -> Self {
        Self {
            max_body: 10 * 1024 * 1024,
            max_mail: 25 * 1024 * 1024,
            max_unproven: 1024 * 1024,
            max_bodies: 256 * 1024 * 1024,
            max_answers: 512 * 1024 * 1024,
            stream_grace: Duration::from_secs(5),
            wrong_keys: 60,
            proxies: TrustedProxies::default(),
            public_metrics: false,
        }
    }
}

impl Limits {
    /// Bytes of a body whose sender proves something by it alone.
    pub(crate) fn max_unproven_body(&self) -> usize {
        self.max_unproven.min(self.max_body)
    }
}

/// A source of webhooks that the operator has configured.
#[derive(Clone, PartialEq, Eq)]
pub struct InboundSource {
    /// With what its deliveries are signed, after Standard Webhooks. Without a secret the caller needs an API key.
    pub secret: Option<String>,
    /// Whose tasks its deliveries become.
    pub tenant: TenantId,
}

impl std::fmt::Debug for InboundSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InboundSource")
            .field("secret", &self.secret.as_ref().map(|_| "…"))
            .field("tenant", &self.tenant)
            .finish()
    }
}

/// What every handler can reach. Cheap to clone, because every layer of every request does; all clones are the same
/// state.
#[derive(Clone)]
pub struct AppState(Arc<StateParts>);

impl std::ops::Deref for AppState {
    type Target = StateParts;

    fn deref(&self) -> &StateParts {
        &self.0
    }
}

/// The parts of [`AppState`].
pub struct StateParts {
    pub engine: Engine,
    /// How large a body may be.
    pub limits: Limits,
    /// The configured sources of webhooks by name.
    pub sources: BTreeMap<String, InboundSource>,
    /// Since when this server has been up.
    pub started_at: Timestamp,
    /// Cancelled when the server shuts down: event streams and long waits end then.
    pub shutdown: CancellationToken,
    /// The hash of the key under which the process that runs this server asks it; it stands in no database.
    local_key: Option<blake3::Hash>,
    pub(crate) metrics: Metrics,
    pub(crate) brake: Brake,
    pub(crate) bodies: Budget,
    pub(crate) answers: Budget,
    pub(crate) readiness: FreshCache<Readiness>,
    pub(crate) figures: FreshCache<Figures>,
    pub(crate) streams: Streams,
    pub(crate) commands: Commands,
    pub(crate) background: TaskTracker,
}

impl AppState {
    /// The state of a server. Hand the same `shutdown` to [`crate::serve()`]. By the local key the process itself acts
    /// as the first tenant's platform admin; it stands in no database and ends with this server.
    #[must_use]
    pub fn new(
        engine: Engine,
        limits: Limits,
        sources: BTreeMap<String, InboundSource>,
        shutdown: CancellationToken,
        local_key: Option<&str>,
    ) -> Self {
        let started_at = engine.clock().now();
        let metrics = Metrics::new(Arc::clone(engine.health().meter()));
        Self(Arc::new(StateParts {
            engine,
            sources,
            started_at,
            shutdown,
            local_key: local_key.map(|key| blake3::hash(key.as_bytes())),
            metrics,
            brake: Brake::new(limits.wrong_keys),
            bodies: Budget::new(limits.max_bodies),
            answers: Budget::of_answers(limits.max_answers),
            readiness: FreshCache::default(),
            figures: FreshCache::default(),
            streams: Streams::new(MAX_STREAMS),
            commands: Commands::default(),
            background: TaskTracker::new(),
            limits,
        }))
    }

    /// Whether that is the process's own key. Comparing hashes takes as long wherever they differ.
    pub(crate) fn is_local(&self, key: &str) -> bool {
        self.local_key.is_some_and(|own| own == blake3::hash(key.as_bytes()))
    }
}
