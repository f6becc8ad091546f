//! `kybern serve`: the server, from its first line to its last.

use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context as _;
use kybern_adapters::keys::new_api_key;
use kybern_core::time::Millis;
use kybern_engine::Engine;
use kybern_engine::identity::FirstAdmin;
use kybern_server::{AppState, Connections, Limits, TrustedProxies};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::reachable;
use crate::config::security::ADMIN_KEY;
use crate::config::telemetry::LogFormat;
use crate::config::{Config, ConfigError, Fault, Secret};
use crate::heads::Heads;
use crate::mailbox::Poller;
use crate::output::{Failure, Screen, aside, kybern_here, secret_aside};
use crate::{doctor, opening, telemetry, wiring};

/// How often partitions are made ahead. They are made months ahead, so a few failures do no harm.
const DAY: Millis = Millis::from_secs(24 * 60 * 60);

/// Open files that are no connections of callers: the database, outside calls, whoever is turned away.
const OTHER_FILES: usize = 256;
/// Connections that are taken however few files there may be.
const MIN_CONNECTIONS: usize = 64;

/// What `serve` is started with.
pub(crate) struct ServeOptions {
    /// Every setting.
    pub(crate) config: Config,
    /// Where the first admin key is shown when the log is JSON.
    pub(crate) screen: Screen,
}

/// For whom a server is started.
pub(crate) enum ServePurpose {
    /// For whoever asks it.
    Serve,
    /// For one verb of the command line.
    Verb {
        /// The key by which the verb asks; it stands in no database.
        key: Secret,
        /// Whether tasks are worked on. Otherwise nothing is written.
        works: bool,
    },
}

impl ServePurpose {
    const fn works(&self) -> bool {
        match self {
            Self::Serve => true,
            Self::Verb { works, .. } => *works,
        }
    }
}

/// A server that runs in this process.
pub(crate) struct RunningServer {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    pub(crate) engine: Engine,
    grace: Millis,
    stop: CancellationToken,
    parts: TaskTracker,
}

/// Serves until SIGTERM or Ctrl-C.
///
/// # Errors
/// When it cannot start.
pub(crate) async fn run(options: ServeOptions) -> anyhow::Result<ExitCode> {
    let ServeOptions { config, screen } = options;
    // Before telemetry, whose exporter is an HTTP client too.
    kybern_adapters::http::install_tls();
    let _telemetry = telemetry::start(&config.telemetry)?;
    let voice = StartupOutput { json: config.telemetry.format == LogFormat::Json };
    match serve(config, voice, screen).await {
        Err(error) if voice.json => {
            let failure = Failure::from(error);
            tracing::error!("the server cannot run: {}", failure.in_one_line());
            Ok(failure.exit().into())
        }
        ended => ended.map(|()| ExitCode::SUCCESS),
    }
}

async fn serve(config: Config, voice: StartupOutput, mut screen: Screen) -> anyhow::Result<()> {
    let listen = config.server.listen;
    let has_mail = config.smtp.is_some();
    let mut is_first = false;
    let running = start(config, listen, ServePurpose::Serve, |key, url| {
        is_first = true;
        hand_over(key, url, voice, &mut screen)
    })
    .await?;
    announce(&running, has_mail, is_first, voice);
    let signal = wait_for_signal(&running.stop).await?;
    voice.say(&format!("{signal}: no new work is taken, running steps get {} to finish", running.grace));
    running.stop().await;
    voice.say("stopped; nothing is lost, the next start goes on where this one ended");
    Ok(())
}

/// How the server speaks to whoever has started it: in lines for people, or, where the log is JSON, as part of the log.
#[derive(Clone, Copy)]
struct StartupOutput {
    json: bool,
}

impl StartupOutput {
    fn say(self, line: &str) {
        match self.json {
            true => tracing::info!("{line}"),
            false => aside(line),
        }
    }
}

/// Starts everything and returns once requests are answered. The admin key of a first start goes to `hand_over`, with
/// the URL of the server, as soon as it is made: whatever fails afterwards does not cost it.
///
/// # Errors
/// When a part cannot start; the message names it.
pub(crate) async fn start(
    config: Config,
    listen: SocketAddr,
    purpose: ServePurpose,
    hand_over: impl FnOnce(&str, &str) -> anyhow::Result<()>,
) -> anyhow::Result<RunningServer> {
    kybern_adapters::http::install_tls();
    // The address is taken first: a second server on it fails before it touches the database.
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}; another server may have it: choose one with --listen"))?;
    let address = listener.local_addr()?;
    let (documents, is_server) = (config.documents.clone(), matches!(purpose, ServePurpose::Serve));
    let asked = tokio::task::spawn_blocking(move || {
        let reader = documents.reader();
        let parts = if is_server { doctor::parts(&documents, &reader) } else { Vec::new() };
        (reader, parts)
    });
    let served_at = is_server.then(|| reachable(address));
    let how = wiring::OpenOptions { served_at, ..wiring::OpenOptions::default() };
    let opening = wiring::open_store(&config, how);
    let ((reader, parts), opened) = if purpose.works() && wiring::may_make(&config) {
        // A start that its settings end makes nothing.
        let asked = asked.await?;
        doctor::refuse_faults(&config, &asked.0)?;
        (asked, opening.await)
    } else {
        // Who reads scans is asked while the database opens: both take a few hundredths of a second.
        let opened = opening.await;
        (asked.await?, opened)
    };
    let opened = opened.map_err(|error| opening::explain(&config.database.url, error))?;
    let mut settings = wiring::settings(&config, &reachable(address));
    settings.work = purpose.works();
    settings.parts = parts;
    let engine = wiring::engine(&config, &opened, reader?, settings)?;
    if purpose.works() {
        let key = config.security.admin_key.as_ref().map(|key| key.expose().to_owned());
        let made = new_api_key()?;
        match engine.identity().bootstrap(key.as_deref(), || made).await? {
            FirstAdmin::Made(key) => hand_over(&key, &reachable(address))?,
            FirstAdmin::Works => {}
            FirstAdmin::Revoked => return Err(ConfigError::one(revoked()).into()),
        }
    }
    let tenants = wiring::tenants(&config, engine.store().as_ref()).await?;
    let sources = wiring::sources(&config, &tenants);
    let poller = Poller::of(&config, &tenants, &engine).context("[imap]")?;
    let heads = match purpose.works() {
        true => Heads::of(&config.audit, &engine).await?,
        false => None,
    };
    let (stop, parts) = (CancellationToken::new(), TaskTracker::new());
    let bytes = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let limits = Limits {
        max_body: bytes(config.server.max_body_bytes),
        max_mail: bytes(config.server.max_mail_bytes),
        max_unproven: bytes(config.server.max_unproven_body_bytes),
        max_bodies: bytes(config.server.max_bodies_bytes),
        max_answers: bytes(config.server.max_answers_bytes),
        // The other half is for what follows their end.
        stream_grace: config.server.shutdown_grace_ms.as_duration() / 2,
        wrong_keys: config.server.wrong_keys_per_minute,
        proxies: proxies(&config)?,
        public_metrics: config.server.public_metrics,
    };
    let local_key = match &purpose {
        ServePurpose::Verb { key, .. } => Some(key.expose()),
        _ => None,
    };
    let state = AppState::new(engine.clone(), limits, sources, stop.clone(), local_key);
    let router = kybern_server::router(state);
    let serving = kybern_server::serve(listener, router, connections(&config)?, stop.clone());
    // Whatever can be wrong with a setting was found above: a start that fails has worked on nothing.
    engine.start().await?;
    let failed = stop.clone();
    spawn(&parts, async move {
        if let Err(error) = serving.await {
            tracing::error!(%error, "the listener failed");
            failed.cancel();
        }
    });
    if let Some(store) = opened.partitioned.filter(|_| purpose.works()) {
        let (clock, stop) = (engine.clock().clone(), stop.clone());
        spawn(&parts, async move {
            // At the start too: a server that is restarted every day would never come to it otherwise.
            loop {
                if let Err(error) = store.maintain(clock.now()).await {
                    tracing::error!(%error, "the partitions of the coming months could not be made, tried again tomorrow");
                }
                if tokio::time::timeout(DAY.as_duration(), stop.cancelled()).await.is_ok() {
                    return;
                }
            }
        });
    }
    if let Some(heads) = heads {
        spawn(&parts, heads.run(stop.clone()));
    }
    if let Some(poller) = poller {
        spawn(&parts, poller.run(stop.clone()));
    }
    let grace = config.server.shutdown_grace_ms;
    Ok(RunningServer { address, engine, grace, stop, parts })
}

/// That the environment holds a key which was taken away from its holder.
fn revoked() -> Fault {
    let remedy = format!(
        "unset it: what was revoked is never valid again; without another admin key, stop every server and run {} key \
         recover",
        kybern_here()
    );
    Fault::variable(ADMIN_KEY, "holds an admin key that was revoked", &remedy)
}

/// What connections may take: no more of them than there are open files, less those that everything else needs.
fn connections(config: &Config) -> anyhow::Result<Connections> {
    let server = &config.server;
    let files = open_files().context("the limit of open files")?;
    let room = usize::try_from(files).unwrap_or(usize::MAX).saturating_sub(OTHER_FILES).max(MIN_CONNECTIONS);
    if room < server.max_connections {
        tracing::warn!(open_files = files, connections = room, "fewer connections than server.max_connections fit");
    }
    Ok(Connections {
        header_timeout: server.header_timeout_ms.as_duration(),
        idle_timeout: server.idle_timeout_ms.as_duration(),
        max: server.max_connections.min(room),
        max_by_address: server.max_connections_per_address,
        // As long as running steps get, whose answers requests wait for.
        shutdown_grace: server.shutdown_grace_ms.as_duration(),
        proxies: proxies(config)?,
    })
}

fn proxies(config: &Config) -> anyhow::Result<TrustedProxies> {
    TrustedProxies::new(&config.server.trusted_proxies).map_err(anyhow::Error::msg).context("server.trusted_proxies")
}

/// The limit of open files, raised as far as this process may.
fn open_files() -> anyhow::Result<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() {
        return Ok(hard);
    }
    Ok(soft)
}

/// Runs a part of a server beside the others, until `parts` has waited for it.
pub(crate) fn spawn(parts: &TaskTracker, part: impl Future<Output = ()> + Send + 'static) {
    #[expect(clippy::disallowed_methods, reason = "the binary's one place for the parts of a server")]
    tokio::spawn(parts.track_future(part));
}

impl RunningServer {
    /// Takes no more work, lets running steps and open requests finish for the grace time, and gives leases back.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.engine.drain(self.grace).await;
        self.parts.close();
        // Requests have had the same time meanwhile. What else runs ends with the token; whatever does not is cut off
        // with the process.
        drop(tokio::time::timeout(self.grace.as_duration(), self.parts.wait()).await);
        // Calls that ended meanwhile have settled into a queue whose loop is over.
        self.engine.flush_ledger().await;
    }
}

/// Shows the first admin key, once.
fn hand_over(key: &str, url: &str, voice: StartupOutput, screen: &mut Screen) -> anyhow::Result<()> {
    let recover = recover();
    // The log knows no secrets.
    if voice.json {
        screen.line(serde_json::json!({"url": url, "adminKey": key}).to_string());
        return Ok(screen.secret_written(lost_key())?);
    }
    let lines = [
        format!("\nadmin key, shown this once: {key}"),
        format!("  export KYBERN_URL={url}"),
        format!("  export KYBERN_API_KEY={key}"),
        // By the two lines above it finds this server.
        format!("  kybern task submit 'what you want'     (lost the key? stop, then {recover})\n"),
    ];
    Ok(secret_aside(lines.join("\n"), lost_key())?)
}

/// What to do about a first admin key that nobody has seen.
pub(crate) fn lost_key() -> String {
    format!("the first admin key is lost, make another with: {}", recover())
}

fn recover() -> String {
    format!("{} key recover", kybern_here())
}

fn announce(running: &RunningServer, has_mail: bool, is_first: bool, voice: StartupOutput) {
    voice.say(&format!("kybern {} listens on http://{}", env!("CARGO_PKG_VERSION"), running.address));
    let mail = if has_mail { "sent over SMTP" } else { "kept in the outbox, no [smtp] is configured" };
    let providers = running.engine.models().providers();
    let models = if providers.is_empty() { "none configured".to_owned() } else { providers.join(", ") };
    let rules = "model: offline rules (intents and extraction; no prose)";
    voice.say(&format!("{rules}. Language models: {models}. Mail: {mail}."));
    if !is_first {
        voice.say(&format!(
            "to reach it: export KYBERN_URL={}, and KYBERN_API_KEY with a key of yours (lost? stop, then {})",
            reachable(running.address),
            recover()
        ));
    }
}

async fn wait_for_signal(stop: &CancellationToken) -> anyhow::Result<&'static str> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        _ = terminate.recv() => Ok("SIGTERM"),
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| "interrupted").map_err(Into::into),
        () = stop.cancelled() => Ok("the listener failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_requests_get_the_grace_time_of_running_steps() {
        let mut config = Config::default();
        assert_eq!(connections(&config).unwrap().shutdown_grace, Connections::default().shutdown_grace);
        config.server.shutdown_grace_ms = Millis(45_000);
        assert_eq!(connections(&config).unwrap().shutdown_grace, Millis(45_000).as_duration());
    }
}
