//! `kybern doctor`: what is configured, what is reachable, what is missing, and how to fix it.

mod database;
mod documents;
mod retention;
mod scans;
mod server;
mod settings;
mod ways;

use std::borrow::Cow;
use std::path::Path;
use std::process::ExitCode;

use kybern_core::identity::Tenant;
use kybern_engine::readiness::{Check, PartState};
use serde::Serialize;

use self::database::KnownContents;
use self::server::AskedServer;
use crate::cli::Exit;
use crate::config::database::DatabaseUrl;
use crate::config::{Config, ConfigError, DocumentOptions, Fault, Ocr, Secret};
use crate::output::{Cell, MAX_COLUMN, Screen, Table, clean, kybern};
use crate::{packs, wiring};

/// The part that stands for what was set or typed.
const CONFIGURATION: &str = "configuration";
/// What is said of settings that are not those of the server that was asked.
const OTHERS: &str = "every setting can be used; the server asked has settings of its own";
/// Where the jobs are named that were given up.
fn dead_jobs() -> String {
    format!("{0} outbox list shows what could not be delivered; {0} outbox retry ID sends it again", kybern())
}

/// What is looked at.
pub(crate) struct DoctorOptions {
    /// Every setting, or what is wrong with them.
    pub(crate) config: Result<Config, ConfigError>,
    /// The server that the command line would talk to, when one was named.
    pub(crate) url: Option<String>,
    /// Whether the command line names the database.
    pub(crate) names_database: bool,
    /// The key that it would use.
    pub(crate) api_key: Option<Secret>,
    /// Answer in JSON.
    pub(crate) json: bool,
    /// Where the answer goes.
    pub(crate) screen: Screen,
}

const fn word(state: PartState) -> &'static str {
    match state {
        PartState::Ok => "ok",
        PartState::Off => "off",
        PartState::Warning => "warning",
        PartState::Broken => "BROKEN",
    }
}

#[derive(Serialize)]
struct Finding {
    part: Cow<'static, str>,
    state: PartState,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    remedy: String,
    /// Each single fault.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<String>,
}

impl Finding {
    /// As a server says it of itself.
    fn told(self) -> Check {
        let remedy = Some(self.remedy).filter(|remedy| !remedy.is_empty());
        let details = self.details.into_iter().chain(remedy).collect();
        Check { details, ..Check::of(&self.part, self.state, self.message) }
    }

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
    state: PartState,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> Finding {
    let part = part.into();
    Finding { part, state, message: message.into(), remedy: remedy.into(), details: Vec::new() }
}

fn wrong_settings(error: &ConfigError) -> Finding {
    let remedy = "correct these settings; docs/configuration.md has them all";
    let details = error.faults().iter().map(Fault::told).collect();
    Finding { details, ..finding(CONFIGURATION, PartState::Broken, error.to_string(), remedy) }
}

/// Says what is configured, what is reachable, what is missing and how to fix it.
///
/// # Errors
/// When the findings cannot be written.
pub(crate) async fn run(options: DoctorOptions) -> anyhow::Result<ExitCode> {
    let DoctorOptions { config, url, names_database, api_key, json, mut screen } = options;
    let mut findings = Vec::new();
    match &config {
        Err(error) => findings.push(wrong_settings(error)),
        Ok(config) => {
            let place = server::ServerArgs { url, names_database };
            findings.extend(looked(config, place, api_key).await);
        }
    }
    let broken = findings.iter().any(|finding| finding.state == PartState::Broken);
    if json {
        screen.line(serde_json::to_string_pretty(&serde_json::json!({"ok": !broken, "findings": findings}))?);
    } else {
        let mut table = Table::new(&["PART", "STATE", "WHAT"]);
        for found in &findings {
            table.row([
                Cell::from(found.part.as_ref()),
                Cell::from(word(found.state)),
                Cell::from(found.message.as_str()),
            ]);
        }
        screen.line(table.render(screen.paint()));
        for found in &findings {
            found.below().into_iter().for_each(|line| screen.line(clean(&line)));
        }
        let is_unseen = findings.iter().any(|found| found.part == database::ROWS && found.state == PartState::Off);
        screen.line(match (broken, is_unseen) {
            (true, _) => "something does not work",
            (false, true) => "nothing that was looked at is broken",
            (false, false) => "nothing is broken",
        });
    }
    let is_broken = |found: &Finding| found.state == PartState::Broken && found.part == CONFIGURATION;
    Ok(match (findings.iter().any(is_broken), broken) {
        (true, _) => Exit::Usage,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    }
    .into())
}

/// What is found where the settings can be read. Beside a server it says itself how it is: this shell may have other
/// settings. What only these settings say is left out where the server does not have their database.
async fn looked(config: &Config, place: server::ServerArgs, api_key: Option<Secret>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let names_database = place.names_database;
    let server = server::server(config, place, api_key, &mut findings).await;
    let (found, tenants, is_other) = beside(config, server.as_ref()).await;
    let settings = if is_other { OTHERS } else { "every setting can be used" };
    // A faulty KYBERN_URL stands there already.
    if findings.iter().all(|found| found.part != CONFIGURATION) {
        findings.insert(0, finding(CONFIGURATION, PartState::Ok, settings, ""));
    }
    if let Some(server) = &server {
        findings.extend(server.findings(is_other));
    }
    if is_other {
        findings.extend(found);
        return findings;
    }
    findings.push(master_key(config));
    findings.extend(found);
    let tenants = tenants.map(names);
    // Where only a database is meant, another server may well have the address of the settings.
    if server.is_none() && !names_database {
        findings.push(ways::listen(config));
    }
    findings.extend(ways::ways_out(config, server.as_ref()).await);
    let reader = config.documents.reader();
    if let Some(error) = settings::faults(config, reader.as_ref().err(), tenants.as_deref()) {
        findings.retain(|found| found.part != CONFIGURATION);
        findings.insert(0, wrong_settings(&error));
    }
    // What a server does with documents and with what is old it says itself: this shell may have other settings.
    let tells = |part: &str| server.as_ref().is_some_and(|server| server.tells(part));
    if !tells(documents::PART) {
        findings.push(documents::documents(&config.documents));
    }
    if !tells(scans::PART) {
        findings.push(scans::scans(&config.documents, &reader));
    }
    if !tells(retention::PART) {
        findings.push(retention::retention(config, tenants.as_deref()));
    } else if findings.iter().all(|found| found.part != retention::PART || found.state != PartState::Broken) {
        findings.extend(retention::misnamed(config, tenants.as_deref()));
    }
    if server.is_none() {
        findings.push(plans(&config.packs.domains));
        let model = "offline rules: they find intents and fields, and write no prose";
        findings.push(finding("model", PartState::Ok, model, ""));
    }
    findings.extend(ways::providers(config, server.as_ref()).await);
    findings
}

/// What is found of the database, its tenants where they are known, and whether the server that was asked has another one.
async fn beside(config: &Config, server: Option<&AskedServer>) -> (Vec<Finding>, Option<Vec<Tenant>>, bool) {
    let other = || (vec![database::unseen()], None, true);
    let Some(server) = server else {
        let (found, contents) = database::database(config, false).await;
        return (found, contents.tenants(), false);
    };
    if server.has_other_file(config) {
        return other();
    }
    let (mut found, contents) = database::database(config, true).await;
    let theirs = server.tenants().await;
    if let DatabaseUrl::Postgres(_) = &config.database.url {
        match (&contents, &theirs) {
            // That of a server that answers has a schema.
            (KnownContents::Empty, _) => return other(),
            (KnownContents::Read(ours), Ok(theirs)) if !database::is_one(ours, theirs) => return other(),
            (KnownContents::Read(_), Err(refused)) => found.push(server.untold(refused)),
            (KnownContents::Unread, _) => found.push(server.unproven()),
            (KnownContents::Read(_), Ok(_)) | (KnownContents::Unusable, _) => {}
        }
    }
    (found, contents.tenants().or(theirs.ok()), false)
}

/// The names and slugs of tenants.
fn names(tenants: Vec<Tenant>) -> Vec<String> {
    tenants.into_iter().flat_map(|tenant| [tenant.name, tenant.slug]).collect()
}

/// Refuses settings with which a start would end, before it has made a database. `reader` is who reads scans.
///
/// # Errors
/// A [`ConfigError`] with every fault that shows without a database.
pub(crate) fn refuse_faults(config: &Config, reader: &anyhow::Result<Ocr>) -> Result<(), ConfigError> {
    // The first start makes one tenant, in a file of SQLite; others may be in a PostgreSQL database.
    let first = [Tenant::FIRST.to_owned()];
    let tenants = matches!(config.database.url, DatabaseUrl::Sqlite(_)).then_some(&first[..]);
    settings::faults(config, reader.as_ref().err(), tenants).map_or(Ok(()), Err)
}

/// What a server with these settings says of how it reads documents. It is looked at once, when the server starts.
pub(crate) fn parts(options: &DocumentOptions, reader: &anyhow::Result<Ocr>) -> Vec<Check> {
    [documents::documents(options), scans::scans(options, reader)].into_iter().map(Finding::told).collect()
}

fn master_key(config: &Config) -> Finding {
    if config.security.master_key.is_some() {
        return match wiring::master_key(config) {
            Ok(key) => {
                let message = format!("from KYBERN_MASTER_KEY, fingerprint {}", key.fingerprint());
                finding("master key", PartState::Ok, message, "")
            }
            Err(error) => finding("master key", PartState::Broken, format!("{error:#}"), "correct KYBERN_MASTER_KEY"),
        };
    }
    let path = wiring::key_file(config);
    if !path.exists() {
        return without_key(config, &path);
    }
    match wiring::master_key(config) {
        Ok(key) => {
            let message = format!("{}, fingerprint {}", path.display(), key.fingerprint());
            finding("master key", PartState::Ok, message, "")
        }
        Err(error) => {
            let remedy = format!("chmod 600 {}, or bring back the right file", path.display());
            finding("master key", PartState::Broken, format!("{error:#}"), remedy)
        }
    }
}

/// No master key: a first start makes one, and a start on a database that is there refuses.
fn without_key(config: &Config, key: &Path) -> Finding {
    let (part, key) = ("master key", key.display());
    match &config.database.url {
        DatabaseUrl::Sqlite(database) if wiring::has_content(database) => {
            let message = format!("{key} is not there, and the database {} is", database.display());
            finding(part, PartState::Broken, message, wiring::bring_key())
        }
        DatabaseUrl::Sqlite(_) => finding(part, PartState::Off, format!("{key} will be made at the first start"), ""),
        DatabaseUrl::Postgres(_) => {
            let message = format!("{key} is not there: the first start on an empty database makes it");
            finding(part, PartState::Off, message, "")
        }
    }
}

fn plans(domains: &[String]) -> Finding {
    match packs::registry(domains) {
        Ok(registry) => {
            let (plans, tools) = (registry.plans().count(), registry.registered_tools().count());
            finding("packs", PartState::Ok, format!("{plans} plans and {tools} tools beside the built-in ones"), "")
        }
        Err(error) => finding("packs", PartState::Broken, error.to_string(), "rename one of the two"),
    }
}
