//! `kybern doctor`: what is configured, what is reachable, what is missing, and how to fix it.

mod documents;
mod retention;
mod scans;
mod server;
mod settings;
mod ways;

use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use kybern_adapters::clock::SystemClock;
use kybern_core::ports::UnreadableRow;
use kybern_store::{SqliteStore, StoreError};
use serde::Serialize;

use crate::cli::Exit;
use crate::config::database::DatabaseUrl;
use crate::config::{Config, ConfigError, Fault, Secret};
use crate::opening::{self, OpenError};
use crate::output::{Cell, MAX_COLUMN, Screen, Table, clean, count};
use crate::{packs, wiring};

/// The part that stands for what was set or typed.
const CONFIGURATION: &str = "configuration";
/// What is said of settings that are not those of the server that was asked.
const OTHERS: &str = "every setting can be used; the server asked has settings of its own";
/// Where the jobs are named that were given up.
const DEAD_JOBS: &str = "kybern outbox list shows what could not be delivered; kybern outbox retry ID sends it again";
/// Rows of each table that are named one by one.
const MOST_ROWS: usize = 20;

/// What is looked at.
pub(crate) struct DoctorOptions {
    /// Every setting, or what is wrong with them.
    pub(crate) config: Result<Config, ConfigError>,
    /// The server that the command line would talk to, when one was named.
    pub(crate) url: Option<String>,
    /// The key that it would use.
    pub(crate) api_key: Option<Secret>,
    /// Answer in JSON.
    pub(crate) json: bool,
    /// Where the answer goes.
    pub(crate) screen: Screen,
}

/// How one part is.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    /// Not configured; nothing is wrong.
    Off,
    /// Something works less well than it could.
    Warning,
    /// Something does not work.
    Broken,
}

impl State {
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Off => "off",
            Self::Warning => "warning",
            Self::Broken => "BROKEN",
        }
    }
}

/// One finding.
#[derive(Serialize)]
struct Finding {
    part: Cow<'static, str>,
    state: State,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    remedy: String,
    /// Each single fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<String>,
}

impl Finding {
    /// What stands below the table: what a column has no room for, each fault, and the remedy.
    fn below(&self) -> Vec<String> {
        let part = &self.part;
        let whole = (self.message.chars().count() > MAX_COLUMN).then(|| format!("{part}: {}", self.message));
        let details = self.details.iter().map(|detail| format!("{part}: {detail}"));
        let remedy = (!self.remedy.is_empty()).then(|| format!("{part}: {}", self.remedy));
        whole.into_iter().chain(details).chain(remedy).collect()
    }
}

fn finding(
    part: impl Into<Cow<'static, str>>,
    state: State,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> Finding {
    let part = part.into();
    Finding { part, state, message: message.into(), remedy: remedy.into(), details: Vec::new() }
}

fn wrong_settings(error: &ConfigError) -> Finding {
    let remedy = "correct these settings; docs/configuration.md has them all";
    let details = error.faults().iter().map(Fault::told).collect();
    Finding { details, ..finding(CONFIGURATION, State::Broken, error.to_string(), remedy) }
}

/// Says what is configured, what is reachable, what is missing and how to fix it.
///
/// # Errors
/// When the findings cannot be written.
pub(crate) async fn run(options: DoctorOptions) -> anyhow::Result<ExitCode> {
    let DoctorOptions { config, url, api_key, json, mut screen } = options;
    let mut findings = Vec::new();
    match &config {
        Err(error) => findings.push(wrong_settings(error)),
        Ok(config) => findings.extend(looked(config, url, api_key).await),
    }
    let broken = findings.iter().any(|finding| finding.state == State::Broken);
    if json {
        screen.line(serde_json::to_string_pretty(&serde_json::json!({"ok": !broken, "findings": findings}))?);
    } else {
        let mut table = Table::new(&["PART", "STATE", "WHAT"]);
        for found in &findings {
            table.row([
                Cell::from(found.part.as_ref()),
                Cell::from(found.state.word()),
                Cell::from(found.message.as_str()),
            ]);
        }
        screen.line(table.render(screen.paint()));
        for found in &findings {
            found.below().into_iter().for_each(|line| screen.line(clean(&line)));
        }
        screen.line(if broken { "something does not work" } else { "nothing is broken" });
    }
    let is_broken = |found: &Finding| found.state == State::Broken && found.part == CONFIGURATION;
    Ok(match (findings.iter().any(is_broken), broken) {
        (true, _) => Exit::Usage,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    }
    .into())
}

/// What is found where the settings can be read. Beside a server it says itself how it is: this shell may have other
/// settings. What only these settings say is left out where the server does not have their database.
async fn looked(config: &Config, url: Option<String>, api_key: Option<Secret>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let server = server::server(config, url, api_key, &mut findings).await;
    let is_other = server.as_ref().is_some_and(|server| !server.is_of(config));
    let settings = if is_other { OTHERS } else { "every setting can be used" };
    // A faulty KYBERN_URL stands there already.
    if findings.iter().all(|found| found.part != CONFIGURATION) {
        findings.insert(0, finding(CONFIGURATION, State::Ok, settings, ""));
    }
    if let Some(server) = &server {
        findings.extend(server.findings(is_other));
    }
    if is_other {
        return findings;
    }
    findings.push(master_key(config));
    let (found, mut tenants) = database(config, server.is_some()).await;
    findings.extend(found);
    if let (Some(server), None) = (&server, &tenants) {
        tenants = server::tenants(&server.client).await;
    }
    if server.is_none() {
        findings.push(ways::listen(config));
    }
    findings.extend(ways::ways_out(config, server.as_ref()).await);
    findings.push(documents::documents(config));
    let reader = config.documents.reader();
    if let Some(error) = settings::faults(config, reader.as_ref().err(), tenants.as_deref()) {
        findings.retain(|found| found.part != CONFIGURATION);
        findings.insert(0, wrong_settings(&error));
    }
    findings.push(scans::scans(config, reader));
    findings.push(retention::retention(config, tenants.as_deref()));
    if server.is_none() {
        findings.push(plans());
        let model = "offline rules: they find intents and fields, and write no prose";
        findings.push(finding("model", State::Ok, model, ""));
    }
    findings.extend(ways::providers(config, server.as_ref()).await);
    findings
}

fn master_key(config: &Config) -> Finding {
    if config.security.master_key.is_some() {
        return match wiring::master_key(config) {
            Ok(key) => {
                let message = format!("from KYBERN_MASTER_KEY, fingerprint {}", key.fingerprint());
                finding("master key", State::Ok, message, "")
            }
            Err(error) => finding("master key", State::Broken, format!("{error:#}"), "correct KYBERN_MASTER_KEY"),
        };
    }
    let path = wiring::key_file(config);
    if !path.exists() {
        let message = format!("{} will be made at the first start", path.display());
        return finding("master key", State::Off, message, "");
    }
    match wiring::master_key(config) {
        Ok(key) => {
            let message = format!("{}, fingerprint {}", path.display(), key.fingerprint());
            finding("master key", State::Ok, message, "")
        }
        Err(error) => {
            let remedy = format!("chmod 600 {}, or bring back the right file", path.display());
            finding("master key", State::Broken, format!("{error:#}"), remedy)
        }
    }
}

/// What is found of the database, and the names and slugs of its tenants where it could be opened.
async fn database(config: &Config, running: bool) -> (Vec<Finding>, Option<Vec<String>>) {
    if let DatabaseUrl::Sqlite(path) = &config.database.url
        && !path.exists()
    {
        return (vec![new_file(path)], None);
    }
    // The first start makes the schema and the key; looking makes neither.
    if config.security.master_key.is_none() && !wiring::key_file(config).exists() {
        if let Err(error) = opening::look(&config.database.url) {
            return (vec![unopened(&error)], None);
        }
        return (vec![first_start(config).await], None);
    }
    let found = match wiring::open_store(config).await.map_err(|error| opening::explain(&config.database.url, error)) {
        Ok(opened) => {
            let counts = opened.store.count_by_status().await.unwrap_or_default();
            let tasks: i64 = counts.iter().map(|(_, n)| n).sum();
            let dead: i64 = opened.store.dead_jobs().await.unwrap_or_default().iter().map(|(_, count)| count).sum();
            let message = format!(
                "{}: {}, {}",
                config.database.url,
                count(&tasks.to_string(), "task"),
                count(&dead.to_string(), "dead job")
            );
            let state = if dead > 0 { State::Warning } else { State::Ok };
            let found = opened.store.unreadable(MOST_ROWS).await.map_err(anyhow::Error::from);
            let tenants = opened.store.kept_tenants().await.ok();
            let named = tenants.map(|all| all.into_iter().flat_map(|tenant| [tenant.name, tenant.slug]).collect());
            let remedy = if dead > 0 { DEAD_JOBS } else { "" };
            return (vec![finding("database", state, message, remedy), rows(found)], named);
        }
        // Perhaps it is that server's: then it is well, and asking it is better than asking the file.
        Err(error) if running && holder(&error).is_some() => {
            let holder = holder(&error).unwrap_or_default();
            let message =
                format!("{}: in use by process {holder}, as it should be while a server runs", config.database.url);
            let found = finding("database", State::Ok, message, "");
            return (std::iter::once(found).chain(rows_beside(config).await).collect(), None);
        }
        Err(error) => unopened(&error),
    };
    (vec![found], None)
}

/// The process that has the file, where that is why it cannot be opened.
fn holder(error: &anyhow::Error) -> Option<&str> {
    error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(StoreError::InUse { holder, .. }) => Some(holder.as_str()),
        _other => None,
    })
}

fn unopened(error: &anyhow::Error) -> Finding {
    let remedy = error.downcast_ref::<OpenError>().and_then(OpenError::remedy);
    let remedy = remedy.unwrap_or("stop the process that has it, or correct [database] url");
    finding("database", State::Broken, format!("{error:#}"), remedy)
}

/// The rows of a file that a running server has: a reader of SQLite disturbs nobody.
async fn rows_beside(config: &Config) -> Option<Finding> {
    let DatabaseUrl::Sqlite(path) = &config.database.url else { return None };
    let looking = async {
        let keys = Arc::new(wiring::master_key(config)?);
        Ok(SqliteStore::unreadable_in_file(path, MOST_ROWS, keys, Arc::new(SystemClock)).await?)
    };
    Some(rows(looking.await))
}

/// Whether every row can be read.
fn rows(found: anyhow::Result<Vec<UnreadableRow>>) -> Finding {
    const PART: &str = "rows";
    match found {
        Ok(found) if found.is_empty() => finding(PART, State::Ok, "every row can be read", ""),
        Ok(found) => {
            let shown = count(&found.len().to_string(), "row");
            let of_table = |table: &str| found.iter().filter(|row| row.table == table).count();
            let more = if found.iter().any(|row| of_table(row.table) == MOST_ROWS) { " or more" } else { "" };
            let remedy = "cancel such a task, deny such a question; bring back from a backup what is needed; what a newer \
                          program wrote is read by that program";
            let message = format!("{shown}{more} cannot be read; each harms itself only");
            let details = found.iter().map(|row| format!("{} {}: {}", row.table, row.id, row.problem)).collect();
            Finding { details, ..finding(PART, State::Warning, message, remedy) }
        }
        Err(error) => {
            finding(PART, State::Broken, format!("they cannot be looked at: {error:#}"), "look at the database")
        }
    }
}

/// A database whose master key is not here: perhaps there is nothing in it yet, perhaps the key is missing.
async fn first_start(config: &Config) -> Finding {
    let key = wiring::key_file(config).display().to_string();
    match &config.database.url {
        DatabaseUrl::Sqlite(path) => {
            let message = format!("{} is there, and its master key {key} is not", path.display());
            finding("database", State::Broken, message, "bring that file back, or set KYBERN_MASTER_KEY")
        }
        DatabaseUrl::Postgres(url) => {
            let parsed = url::Url::parse(url.expose()).ok();
            let host = parsed.as_ref().and_then(url::Url::host_str).unwrap_or("localhost");
            let port = parsed.as_ref().and_then(url::Url::port).unwrap_or(5432);
            let mut found = ways::reachable("database", host, port).await;
            if found.state == State::Ok {
                found.state = State::Off;
                found.message.push_str(", and is not looked into: the master key is not here");
                found.remedy = format!(
                    "the first start makes the schema and {key}; for a database that is in use bring its key here, or \
                     set KYBERN_MASTER_KEY"
                );
            }
            found
        }
    }
}

fn new_file(path: &Path) -> Finding {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let may_write = nix::unistd::access(folder, nix::unistd::AccessFlags::W_OK | nix::unistd::AccessFlags::X_OK);
    if folder.is_dir() && may_write.is_err() {
        let message = format!("{} cannot be made: the folder {} is read-only", path.display(), folder.display());
        let remedy = "let this user write the folder, or name another place with --database or [database] url";
        finding("database", State::Broken, message, remedy)
    } else if folder.is_dir() {
        finding("database", State::Off, format!("{} will be made at the first start", path.display()), "")
    } else {
        let message = format!("the folder {} does not exist", folder.display());
        finding("database", State::Broken, message, "make it, or correct [database] url")
    }
}

fn plans() -> Finding {
    match packs::registry() {
        Ok(registry) => {
            let (plans, tools) = (registry.plans().count(), registry.registered_tools().count());
            finding("packs", State::Ok, format!("{plans} plans and {tools} tools beside the built-in ones"), "")
        }
        Err(error) => finding("packs", State::Broken, error.to_string(), "rename one of the two"),
    }
}
