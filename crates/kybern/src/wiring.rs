//! Putting the parts together: store, adapters, packs and engine. Nothing else in the project knows all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use kybern_adapters::clock::{SystemClock, ThreadRandom, UuidV7Ids};
use kybern_adapters::documents::Reader;
use kybern_adapters::http::Egress;
use kybern_adapters::keys::MasterKey;
use kybern_adapters::mail::smtp::Smtp;
use kybern_adapters::models::offline::RulesModel;
use kybern_core::id::TenantId;
use kybern_core::policy::EgressPolicy;
use kybern_core::ports::{Clock, IdSource, Keys, MailSender, Store, WakeUps};
use kybern_core::slots::TenantShare;
use kybern_core::task::WorkerId;
use kybern_core::time::Millis;
use kybern_engine::{Engine, EngineParts, Settings, WorkflowEndpoint};
use kybern_server::InboundSource;
use kybern_store::{DatabaseState, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, StoreError};

use crate::config::database::DatabaseUrl;
use crate::config::{Config, Fault, Faults, Ocr, WebhookOptions};
use crate::output::{Failure, kybern, kybern_here};
use crate::{opening, packs};

/// An opened store with what belongs to it.
pub(crate) struct OpenedStore {
    pub(crate) store: Arc<dyn Store>,
    /// Hints for the claims of tasks, and of jobs.
    pub(crate) wake_ups: [Arc<dyn WakeUps>; 2],
    /// The PostgreSQL store, whose partitions are to be made ahead once a day.
    pub(crate) partitioned: Option<Arc<PostgresStore>>,
    pub(crate) keys: Arc<MasterKey>,
}

/// The file in which the master key lies when no variable holds it: beside the database.
pub(crate) fn key_file(config: &Config) -> PathBuf {
    match (&config.security.master_key_file, &config.database.url) {
        (Some(path), _) => path.clone(),
        (None, DatabaseUrl::Sqlite(path)) => beside(path, ".key"),
        (None, DatabaseUrl::Postgres(_)) => PathBuf::from("kybern.key"),
    }
}

/// A file beside the database, named after it.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// The master key: of the environment, or of its file, which is made at the first start.
pub(crate) fn master_key(config: &Config) -> anyhow::Result<MasterKey> {
    match &config.security.master_key {
        Some(key) => Ok(MasterKey::parse(key.expose(), "KYBERN_MASTER_KEY")?),
        None => {
            let path = key_file(config);
            MasterKey::load_or_create(&path).with_context(|| match path.parent() {
                Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
                    let folder = folder.display();
                    format!(
                        "there is no folder {folder} for the master key: make it, or correct security.master_key_file"
                    )
                }
                _ => format!("master key {}", path.display()),
            })
        }
    }
}

/// Looks whether the database is there, for whoever must not make one. A PostgreSQL database always is.
///
/// # Errors
/// [`Failure::Usage`] when there is no such file.
pub(crate) fn must_be_there(config: &Config) -> Result<(), Failure> {
    match &config.database.url {
        DatabaseUrl::Sqlite(path) if !path.exists() => {
            let message = format!("there is no database {}", path.display());
            Err(Failure::usage(message, "name the one that is there with --database sqlite:PATH"))
        }
        DatabaseUrl::Sqlite(_) | DatabaseUrl::Postgres(_) => Ok(()),
    }
}

/// How a database is opened.
#[derive(Clone, Default)]
pub(crate) struct OpenOptions {
    /// The database takes the master key for its own, whatever it was made with.
    pub(crate) adopt: bool,
    /// The URL at which this process answers; a SQLite file's lock says it to others.
    pub(crate) served_at: Option<String>,
}

/// Opens the database.
///
/// # Errors
/// When another process has it, a newer program wrote it, it was made under another master key, or it cannot be
/// reached.
pub(crate) async fn open_store(config: &Config, opening: OpenOptions) -> anyhow::Result<OpenedStore> {
    let file = key_file(config);
    let makes_key = config.security.master_key.is_none() && !file.exists();
    if makes_key {
        opening::look(&config.database.url)?;
        if !opening.adopt {
            expect_no_key(config, &file).await?;
        }
    }
    let opened = open_with(config, Arc::new(master_key(config)?), opening).await;
    if let Err(error) = &opened
        && makes_key
        && !is_under_its_key(config).await
    {
        // It must not be taken for the database's own the next time.
        drop(std::fs::remove_file(&file));
        if is_other_key(error) {
            return Err(key_is_missing(&config.database.url.to_string(), &file));
        }
    }
    opened
}

/// Refuses a database that has a master key: none is made for it, nor for one that cannot be looked at.
async fn expect_no_key(config: &Config, file: &Path) -> anyhow::Result<()> {
    let is_missing = match &config.database.url {
        // A start whose schema could not be made leaves a file with a head and no table.
        DatabaseUrl::Sqlite(path) => has_content(path) && !is_without_schema(config).await,
        // Nothing was made under a key that nobody has.
        DatabaseUrl::Postgres(_) => match holds_nothing(config, MasterKey::from_bytes(&[0; 32])).await {
            Ok(_) => false,
            Err(StoreError::OtherKey) => true,
            Err(error) => return Err(error.into()),
        },
    };
    if is_missing { Err(key_is_missing(&config.database.url.to_string(), file)) } else { Ok(()) }
}

/// Whether a database that could not be opened may hold what was made under its master key: the schema, and with it the
/// proof of the key, is committed before everything else that an opening needs.
async fn is_under_its_key(config: &Config) -> bool {
    let Ok(key) = known_master_key(config) else { return false };
    !matches!(holds_nothing(config, key).await, Ok(true) | Err(StoreError::OtherKey))
}

/// Whether a SQLite file, whatever its length, can be read and has no table.
pub(crate) async fn is_without_schema(config: &Config) -> bool {
    matches!(holds_nothing(config, MasterKey::from_bytes(&[0; 32])).await, Ok(true))
}

/// Whether there is nothing in a database.
///
/// # Errors
/// [`StoreError::OtherKey`] when it was made under another key; or when it cannot be looked at.
async fn holds_nothing(config: &Config, key: MasterKey) -> Result<bool, StoreError> {
    let keys: Arc<dyn Keys> = Arc::new(key);
    match &config.database.url {
        DatabaseUrl::Sqlite(path) if !has_content(path) => Ok(true),
        DatabaseUrl::Sqlite(path) => {
            let state = SqliteStore::look(path, 0, keys, Arc::new(SystemClock)).await?;
            Ok(matches!(state, DatabaseState::Empty))
        }
        DatabaseUrl::Postgres(url) => PostgresStore::is_empty(url.expose(), keys.as_ref()).await,
    }
}

fn is_other_key(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(StoreError::OtherKey)))
}

/// Whether a SQLite file holds anything. Without a master key a start makes no other one for it.
pub(crate) fn has_content(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.len() > 0)
}

/// Whether a start may have to make the database. What a PostgreSQL database holds only shows once it is open.
pub(crate) fn may_make(config: &Config) -> bool {
    match &config.database.url {
        DatabaseUrl::Sqlite(path) => !has_content(path),
        DatabaseUrl::Postgres(_) => true,
    }
}

/// What to do where a database is there and its master key is not.
pub(crate) fn bring_key() -> String {
    format!(
        "bring the file back or set KYBERN_MASTER_KEY; when the key is lost for good, run `{} key recover --new-master-key`",
        kybern_here()
    )
}

/// That a database is there, and the key is not under which it was made.
fn key_is_missing(database: &str, file: &Path) -> anyhow::Error {
    let (file, remedy) = (file.display(), bring_key());
    anyhow::anyhow!("the database {database} is there, but its master key {file} is not: {remedy}")
}

/// The master key of a database that is there already: none is made for it.
///
/// # Errors
/// When there is none, or it cannot be read.
pub(crate) fn known_master_key(config: &Config) -> anyhow::Result<MasterKey> {
    let file = key_file(config);
    if config.security.master_key.is_none() && !file.exists() {
        return Err(key_is_missing(&config.database.url.to_string(), &file));
    }
    master_key(config)
}

async fn open_with(config: &Config, keys: Arc<MasterKey>, opening: OpenOptions) -> anyhow::Result<OpenedStore> {
    let OpenOptions { adopt: adopt_key, served_at } = opening;
    let (dyn_keys, clock): (Arc<dyn Keys>, Arc<dyn Clock>) = (keys.clone(), Arc::new(SystemClock));
    let connections = config.database.max_connections;
    Ok(match &config.database.url {
        DatabaseUrl::Sqlite(path) => {
            let readers = usize::try_from(connections).unwrap_or(16).clamp(1, 8);
            let options = SqliteOptions { readers, adopt_key, served_at, ..SqliteOptions::default() };
            let store = SqliteStore::open(path, options, dyn_keys, clock).await?;
            let wake_ups = [store.wake_ups(), store.wake_ups()];
            OpenedStore { store: Arc::new(store), wake_ups, partitioned: None, keys }
        }
        DatabaseUrl::Postgres(url) => {
            let options = PostgresOptions {
                connections: connections.max(6),
                statement_timeout: statement_timeout(config).as_duration(),
                adopt_key,
                ..PostgresOptions::default()
            };
            let store = PostgresStore::connect(url.expose(), options, dyn_keys, clock).await?;
            let wake_ups = [store.wake_ups(), store.wake_ups()];
            let store = Arc::new(store);
            OpenedStore { store: store.clone(), wake_ups, partitioned: Some(store), keys }
        }
    })
}

/// Looks at a database that may be there, and changes nothing. `most` unreadable rows of each table are named.
///
/// # Errors
/// When its master key is not here, when a newer program wrote it, when it was made under another master key, or when
/// it cannot be read.
pub(crate) async fn look(config: &Config, most: usize) -> anyhow::Result<DatabaseState> {
    let (keys, clock): (Arc<dyn Keys>, Arc<dyn Clock>) = (Arc::new(known_master_key(config)?), Arc::new(SystemClock));
    Ok(match &config.database.url {
        DatabaseUrl::Sqlite(path) => SqliteStore::look(path, most, keys, clock).await?,
        DatabaseUrl::Postgres(url) => {
            let statement_timeout = statement_timeout(config).as_duration();
            let options = PostgresOptions { statement_timeout, ..PostgresOptions::default() };
            PostgresStore::look(url.expose(), options, most, keys, clock).await?
        }
    })
}

/// How long PostgreSQL may take for a statement: as it is set, and no more than a third of a lease. What takes longer
/// could still be written by its holder, and be noticed too late.
fn statement_timeout(config: &Config) -> Millis {
    config.database.statement_timeout_ms.min(Millis(config.worker.lease_ms.0 / 3))
}

/// What the settings say to the engine.
pub(crate) fn settings(config: &Config, public_url: &str) -> Settings {
    let count = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    Settings {
        slots: count(config.worker.slots),
        job_slots: count(config.worker.job_slots),
        tenant_share: TenantShare::percent(config.worker.tenant_share_percent).unwrap_or_default(),
        lease: config.worker.lease_ms,
        heartbeat: config.worker.heartbeat_ms,
        poll: config.worker.poll_ms,
        max_recoveries: config.worker.max_recoveries,
        steps_per_commit: config.worker.steps_per_commit,
        public_url: config.server.public_url.as_deref().unwrap_or(public_url).trim_end_matches('/').to_owned(),
        workflows: config
            .workflows
            .iter()
            .map(|(name, workflow)| {
                let endpoint = WorkflowEndpoint {
                    url: workflow.url.clone(),
                    secret: workflow.secret.as_ref().map(|secret| secret.expose().to_owned()),
                    deadline: workflow.deadline_ms,
                };
                (name.clone(), endpoint)
            })
            .collect(),
        intake_domain: config.intake.domain.clone(),
        trusted_authserv: config.intake.trusted_authserv.clone(),
        understanding: config.intake.understanding(),
        max_steps: config.limits.max_steps,
        confidence_threshold: config.model.confidence_threshold,
        step_timeout: config.limits.step_timeout_ms,
        delegation_deadline: config.limits.delegation_deadline_ms,
        approval_time: config.limits.approval_ms,
        self_approval: config.governance.self_approval,
        retention: config.retention.settings(),
        parts: Vec::new(),
        work: true,
    }
}

/// Puts an engine together over an opened store. `ocr` is who reads scans.
///
/// # Errors
/// When a setting cannot be used, or bundled plans are faulty.
pub(crate) fn engine(config: &Config, opened: &OpenedStore, ocr: Ocr, settings: Settings) -> anyhow::Result<Engine> {
    let policy = EgressPolicy::new(&config.egress.allow).map_err(anyhow::Error::msg).context("[egress] allow")?;
    let mail_sender = match &config.smtp {
        None => None,
        Some(smtp) => Some(Arc::new(Smtp::new(smtp.connection())?) as Arc<dyn MailSender>),
    };
    let egress = Arc::new(Egress::new(policy)?);
    let models = crate::models::parts(config, &egress)?;
    let ids: Arc<dyn IdSource> = Arc::new(UuidV7Ids);
    let [wake_ups, job_wake_ups] = opened.wake_ups.clone();
    let worker = WorkerId::new(&format!("{}-{}", std::process::id(), ids.next().simple()));
    let model = Arc::new(RulesModel);
    let reader = Reader::with_ocr(match ocr {
        Ocr::Reads(tesseract) => Some(tesseract),
        Ocr::Off | Ocr::Missing => None,
    });
    let reader = Arc::new(reader.reading_by(config.documents.reader_program()?));
    let keys: Arc<dyn Keys> = opened.keys.clone();
    Ok(Engine::new(EngineParts {
        tool_sources: Vec::new(),
        store: Arc::clone(&opened.store),
        wake_ups,
        job_wake_ups,
        registry: packs::registry(&config.packs.domains)?,
        keys,
        clock: Arc::new(SystemClock),
        ids,
        random: Arc::new(ThreadRandom),
        http: egress,
        mail_parser: reader.clone(),
        mail_sender,
        documents: reader,
        intents: model.clone(),
        extractor: model,
        decisions: None,
        models,
        worker,
        settings,
    })?)
}

/// The tenants that settings name.
#[derive(Debug)]
pub(crate) struct NamedTenants {
    /// By the source of webhooks.
    webhooks: BTreeMap<String, TenantId>,
    /// Who gets mail that names no intake address; `None` without a mailbox.
    pub(crate) mailbox: Option<TenantId>,
}

/// Looks up every tenant that a setting names, by its slug or name.
///
/// # Errors
/// A [`ConfigError`](crate::config::ConfigError) with those that do not exist; or when the store fails.
pub(crate) async fn tenants(config: &Config, store: &dyn Store) -> anyhow::Result<NamedTenants> {
    let mut faults = Faults::default();
    let mut webhooks = BTreeMap::new();
    for (name, webhook) in &config.webhooks {
        let Some(slug) = &webhook.tenant else { continue };
        match tenant_named(store, slug).await? {
            Some(tenant) => drop(webhooks.insert(name.clone(), tenant)),
            None => faults.add(no_tenant(&format!("webhooks.{name}.tenant"), slug)),
        }
    }
    let mut mailbox = None;
    if let Some(imap) = &config.imap {
        mailbox = tenant_named(store, &imap.tenant).await?;
        if mailbox.is_none() {
            faults.add(no_tenant("imap.tenant", &imap.tenant));
        }
    }
    match faults.into_error() {
        Some(error) => Err(error.into()),
        None => Ok(NamedTenants { webhooks, mailbox }),
    }
}

/// That a setting names a tenant which does not exist.
pub(crate) fn no_tenant(key: &str, name: &str) -> Fault {
    let remedy = format!(
        "correct it, or leave it out until `{0} tenant create` has made the tenant; `{0} tenant list` shows names and slugs",
        kybern()
    );
    Fault { remedy, ..Fault::bad(key, name, "is no tenant's name") }
}

async fn tenant_named(store: &dyn Store, name: &str) -> anyhow::Result<Option<TenantId>> {
    if let Some(tenant) = store.tenant_by_slug(name).await? {
        return Ok(Some(tenant.id));
    }
    let named = store.tenants().await?.into_iter().find(|tenant| tenant.name == name);
    Ok(named.map(|tenant| tenant.id))
}

/// The configured sources of webhooks.
pub(crate) fn sources(config: &Config, tenants: &NamedTenants) -> BTreeMap<String, InboundSource> {
    let source = |(name, webhook): (&String, &WebhookOptions)| {
        let secret = webhook.secret.as_ref().map(|secret| secret.expose().to_owned());
        let tenant = tenants.webhooks.get(name).copied().unwrap_or(TenantId::DEFAULT);
        (name.clone(), InboundSource { secret, tenant })
    };
    config.webhooks.iter().map(source).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_takes_a_third_of_a_lease_at_most() {
        let mut config = Config::default();
        assert!(statement_timeout(&config).0 * 3 <= config.worker.lease_ms.0);
        for (set, lease, expected) in [(6_000, 30_000, 6_000), (60_000, 30_000, 10_000), (6_000, 1_000, 333)] {
            config.database.statement_timeout_ms = Millis(set);
            config.worker.lease_ms = Millis(lease);
            assert_eq!(statement_timeout(&config), Millis(expected), "{set} ms are set, a lease has {lease} ms");
        }
    }
}
