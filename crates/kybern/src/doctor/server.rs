//! The server that runs: whether it answers, and what it says of itself.

use kybern_core::identity::Tenant;
use kybern_store::served_at;
use serde_json::Value;

use super::{CONFIGURATION, Finding, PartState, dead_jobs, finding, retention};
use crate::cli::list;
use crate::client::{Client, ClientError};
use crate::config::database::DatabaseUrl;
use crate::config::{Config, Secret};
use crate::output::kybern_here;

/// A server that answered.
pub(super) struct AskedServer {
    client: Client,
    url: String,
    checks: Vec<Value>,
}

impl AskedServer {
    /// Whether these settings name a file that is not its own: a file names its server.
    pub(super) fn has_other_file(&self, config: &Config) -> bool {
        let DatabaseUrl::Sqlite(path) = &config.database.url else { return false };
        let is_this = |url: &str| url.trim_end_matches('/') == self.url.trim_end_matches('/');
        !served_at(path).is_some_and(|url| is_this(&url) || config.server.public_url.as_deref().is_some_and(is_this))
    }

    /// Its tenants.
    ///
    /// # Errors
    /// When the key may not see them, or no answer comes.
    pub(super) async fn tenants(&self) -> Result<Vec<Tenant>, ClientError> {
        let tenants = list::all(&self.client, "/api/admin/tenants").await?;
        let foreign =
            |error: serde_json::Error| ClientError::Foreign { url: self.url.clone(), reason: error.to_string() };
        serde_json::from_value(Value::Array(tenants)).map_err(foreign)
    }

    /// That nobody knows whether its database is the one of these settings, which was not looked into.
    pub(super) fn unproven(&self) -> Finding {
        let why = "the database of these settings was not looked into";
        self.taken_for_granted(why, "let doctor read this database: with its master key, in this version's schema")
    }

    /// The same, because it does not say which tenants it has.
    pub(super) fn untold(&self, refused: &ClientError) -> Finding {
        let why = format!("it does not list its tenants: {refused}");
        self.taken_for_granted(&why, "set KYBERN_API_KEY to a platform admin's key of this server")
    }

    fn taken_for_granted(&self, why: &str, first: &str) -> Finding {
        let message = format!(
            "whether the server at {} has the database of these settings is not known, and taken for granted here: {why}",
            self.url
        );
        let remedy = format!(
            "{first}: doctor compares the tenants of both then; or name the server of this database with --url"
        );
        finding("server", PartState::Warning, message, remedy)
    }

    /// Whether it has such a part, and the part is not off.
    pub(super) fn has(&self, part: &str) -> bool {
        self.checks.iter().any(|check| check["name"] == part && check["state"] != "off")
    }

    /// Whether it says anything of such a part; an older one may not.
    pub(super) fn tells(&self, part: &str) -> bool {
        self.checks.iter().any(|check| check["name"] == part)
    }

    /// What it says of each part. Of a database that is looked at from here as well only what is wrong.
    pub(super) fn findings(&self, with_database: bool) -> Vec<Finding> {
        let shown = |check: &&Value| with_database || check["name"] != "database" || check["ok"] != true;
        self.checks.iter().filter(shown).map(part).collect()
    }
}

/// What the command line says of where to look.
pub(super) struct ServerArgs {
    /// The server.
    pub(super) url: Option<String>,
    /// Whether it names the database: then that one is meant, and not the one of some server that happens to run.
    pub(super) names_database: bool,
}

/// Asks the server that was named, or else the one that has the database's file, or else, where no database was named
/// either, the one that listens where the settings say.
pub(super) async fn server(
    config: &Config,
    place: ServerArgs,
    api_key: Option<Secret>,
    findings: &mut Vec<Finding>,
) -> Option<AskedServer> {
    let has_key = api_key.is_some();
    let owner = match &config.database.url {
        DatabaseUrl::Sqlite(path) => served_at(path),
        DatabaseUrl::Postgres(_) => None,
    };
    let is_named = place.url.is_some();
    let url = match (place.url.or(owner), place.names_database) {
        (Some(url), _) => url,
        (None, false) => config.server.local_url(),
        (None, true) => {
            let message = "no server was asked: none is known to have the database that --database names";
            findings.push(finding("server", PartState::Off, message, "name its server with --url"));
            return None;
        }
    };
    let client = match Client::new(&url, api_key) {
        Ok(client) => client,
        Err(error) => {
            let remedy = error.remedy().unwrap_or_default();
            findings.push(finding(CONFIGURATION, PartState::Broken, error.to_string(), remedy));
            return None;
        }
    };
    if !client.answers().await {
        let message = format!("none answers at {url}");
        let state = if is_named { PartState::Broken } else { PartState::Off };
        findings.push(finding("server", state, message, format!("start one with `{} serve`", kybern_here())));
        return None;
    }
    let mut checks = Vec::new();
    findings.push(match client.ready().await {
        Ok(mut told) => {
            let found = said(&url, &told);
            if let Value::Array(parts) = told["checks"].take() {
                checks = parts;
            }
            found
        }
        Err(error) => finding("server", PartState::Broken, error.to_string(), "look at its log"),
    });
    if !has_key {
        let remedy = format!(
            "set KYBERN_API_KEY, then the server says more of each part; a lost admin key is made anew with `{} key \
             recover`",
            kybern_here()
        );
        findings.push(finding("api key", PartState::Warning, "none is set", remedy));
    }
    Some(AskedServer { client, url, checks })
}

/// What a server's readiness comes to.
fn said(url: &str, told: &Value) -> Finding {
    let unwell = |check: &Value| matches!(check["state"].as_str(), Some("warning" | "broken"));
    let all_well = !told["checks"].as_array().into_iter().flatten().any(unwell);
    match (told["ready"] == true, all_well) {
        (true, true) => finding("server", PartState::Ok, format!("answers at {url}, and all its parts are well"), ""),
        (true, false) => {
            let message = format!("answers at {url}, and takes work; not all its parts are well");
            finding("server", PartState::Warning, message, "")
        }
        (false, _) => {
            let message = format!("answers at {url}, and is not ready");
            finding("server", PartState::Broken, message, "mend what is broken, it goes on by itself")
        }
    }
}

/// What a server says of one of its parts. What is broken and not needed breaks nothing here either: the server works.
fn part(check: &Value) -> Finding {
    let text = |name: &str| check[name].as_str().unwrap_or_default();
    let state = match text("state") {
        "ok" => PartState::Ok,
        "off" => PartState::Off,
        // Of a name of nobody in [retention] comes that nothing is removed, of nobody, without a sign of it elsewhere.
        "broken" if check["required"] == true || text("name") == retention::PART => PartState::Broken,
        _unwell => PartState::Warning,
    };
    let message = match (text("message"), state) {
        ("", PartState::Warning | PartState::Broken) => "the server says more with a key, once it can check it",
        (message, _) => message,
    };
    let remedy = match (text("name"), state) {
        ("jobs", PartState::Warning) => dead_jobs(),
        (retention::PART, PartState::Broken) => retention::correct(),
        _clear => String::new(),
    };
    let details = check["details"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    Finding { details: details.collect(), ..finding(text("name").to_owned(), state, message, remedy) }
}
