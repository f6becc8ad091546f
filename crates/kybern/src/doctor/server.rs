//! The server that runs: whether it answers, and what it says of itself.

use kybern_store::served_at;
use serde_json::Value;

use super::{Finding, State, finding};
use crate::cli::list;
use crate::client::Client;
use crate::config::database::DatabaseUrl;
use crate::config::{Config, Secret};
use crate::output::field;

/// Asks the server that was named, or else the one that has the database's file, or else the one that listens where the
/// settings say. How to reach it, if there is one.
pub(super) async fn server(
    config: &Config,
    named: Option<String>,
    api_key: Option<Secret>,
    findings: &mut Vec<Finding>,
) -> Option<Client> {
    let has_key = api_key.is_some();
    let url = match (named, &config.database.url) {
        (Some(url), _) => url,
        (None, DatabaseUrl::Sqlite(path)) => served_at(path).unwrap_or_else(|| config.server.local_url()),
        (None, DatabaseUrl::Postgres(_)) => config.server.local_url(),
    };
    let client = match Client::new(&url, api_key) {
        Ok(client) => client,
        Err(error) => {
            findings.push(finding("server", State::Broken, error.to_string(), "correct KYBERN_URL"));
            return None;
        }
    };
    if !client.answers().await {
        let message = format!("none answers at {url}");
        findings.push(finding("server", State::Off, message, "start one with `kybern serve`"));
        return None;
    }
    findings.push(match client.ready().await {
        Ok(told) => said(&url, &told),
        Err(error) => finding("server", State::Broken, error.to_string(), "look at its log"),
    });
    if !has_key {
        let remedy = "set KYBERN_API_KEY, then the server says more of each part; a lost admin key is made anew with \
                      `kybern key recover`";
        findings.push(finding("api key", State::Warning, "none is set", remedy));
    }
    Some(client)
}

/// The names and slugs of its tenants; `None` where the key may not see them.
pub(super) async fn tenants(client: &Client) -> Option<Vec<String>> {
    let tenants = list::all(client, "/api/admin/tenants").await.ok()?;
    Some(tenants.iter().flat_map(|tenant| [field(tenant, "name"), field(tenant, "slug")]).collect())
}

/// What a server's readiness comes to: each part that is not well is named.
fn said(url: &str, told: &Value) -> Finding {
    let mut state = if told["ready"] == true { State::Ok } else { State::Broken };
    let mut details = Vec::new();
    for check in told["checks"].as_array().into_iter().flatten() {
        let text = |name: &str| check[name].as_str().unwrap_or_default();
        let word = match text("state") {
            "warning" => "warning",
            "broken" => "broken",
            _well => continue,
        };
        if state == State::Ok {
            state = State::Warning;
        }
        let message = text("message");
        let message = if message.is_empty() { "the server says more with a key" } else { message };
        details.push(format!("{}, {word}: {message}", text("name")));
    }
    let (message, remedy) = match state {
        State::Ok | State::Off => (format!("answers at {url}, and all its parts are well"), ""),
        State::Warning => (format!("answers at {url}, and takes work; not all its parts are well"), ""),
        State::Broken => (format!("answers at {url}, and is not ready"), "mend what is broken, it goes on by itself"),
    };
    Finding { details, ..finding("server", state, message, remedy) }
}
