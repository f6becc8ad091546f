//! What leads out of this machine and into it: configured and reachable?

use std::net::TcpListener;

use kybern_core::model::{ModelFailure, ModelFailureKind};

use super::server::AskedServer;
use super::{Finding, PartState, finding};
use crate::config::{Config, ConfigError};
use crate::models;
use crate::output::{count, kybern};

/// Whether the address of a server that does not run is free.
pub(super) fn listen(config: &Config) -> Finding {
    let address = config.server.listen;
    match TcpListener::bind(address) {
        Ok(_) => finding("address", PartState::Ok, format!("{address} is free"), ""),
        Err(error) => {
            let remedy = "choose another with --listen or [server] listen";
            finding("address", PartState::Broken, format!("{address}: {error}"), remedy)
        }
    }
}

/// Mail out, mail in, workflows, telemetry. Beside a server what it does not have is not looked for either: it may have
/// been started with other settings than this shell has.
pub(super) async fn ways_out(config: &Config, server: Option<&AskedServer>) -> Vec<Finding> {
    let has = |part: &str| server.is_none_or(|server| server.has(part));
    let mut findings = Vec::new();
    match &config.smtp {
        Some(smtp) if has("mail") => findings.push(reachable("mail out", &smtp.host, smtp.port).await),
        None if server.is_none() => {
            let message = "no SMTP server: mail stays in the outbox";
            findings.push(finding("mail out", PartState::Off, message, "add [smtp] host, port and from to send it"));
        }
        _the_server_said => {}
    }
    match &config.imap {
        Some(imap) => findings.push(reachable("mail in", &imap.host, imap.port).await),
        None if server.is_none() => {
            findings.push(finding(
                "mail in",
                PartState::Off,
                "no mailbox is polled; POST /api/inbound/email works",
                "",
            ));
        }
        None => {}
    }
    for (name, workflow) in config.workflows.iter().filter(|_| has("workflows")) {
        let mut found = at_url("workflow", &workflow.url, &format!("[workflows.{name}] url")).await;
        found.message = format!("{name}: {}", found.message);
        findings.push(found);
    }
    if let Some(endpoint) = &config.telemetry.otlp_endpoint {
        findings.push(at_url("traces", endpoint, "[telemetry] otlp_endpoint").await);
    }
    findings
}

async fn at_url(part: &'static str, url: &str, setting: &str) -> Finding {
    let parsed = url::Url::parse(url).ok();
    match parsed.as_ref().and_then(|url| Some((url.host_str()?, url.port_or_known_default()?))) {
        Some((host, port)) => reachable(part, host, port).await,
        None => finding(part, PartState::Broken, "its url names no host", format!("correct {setting}")),
    }
}

/// Whether somebody listens there.
pub(super) async fn reachable(part: &'static str, host: &str, port: u16) -> Finding {
    let patience = std::time::Duration::from_secs(3);
    match tokio::time::timeout(patience, tokio::net::TcpStream::connect((host, port))).await {
        Ok(Ok(_)) => finding(part, PartState::Ok, format!("{host}:{port} answers"), ""),
        Ok(Err(error)) => {
            finding(part, PartState::Broken, format!("{host}:{port}: {error}"), "start it, or correct the settings")
        }
        Err(_) => finding(part, PartState::Broken, format!("{host}:{port} does not answer"), "look at the network"),
    }
}

/// The providers of language models: does each accept its key, and list its models? Beside a server only those that it
/// has too; of the others it has said what it knows.
pub(super) async fn providers(config: &Config, server: Option<&AskedServer>) -> Vec<Finding> {
    const PART: &str = "language models";
    let mut probed = match models::probe(config).await {
        Ok(probed) => probed,
        // It stands among the settings.
        Err(error) if error.is::<ConfigError>() => return Vec::new(),
        Err(error) => return vec![finding(PART, PartState::Broken, format!("{error:#}"), "correct that section")],
    };
    if let Some(server) = server {
        probed.retain(|(name, _)| server.has(&format!("provider:{name}")));
    } else if probed.is_empty() {
        let remedy = "set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY or OLLAMA_HOST, or a \
                      [providers.NAME]; docs/models.md says more";
        return vec![finding(PART, PartState::Off, "no provider is configured", remedy)];
    }
    let found = |(name, answer): (String, Result<usize, ModelFailure>)| match answer {
        Ok(models) => finding(PART, PartState::Ok, format!("{name} answers, {}", count(models, "model")), ""),
        Err(failure) if failure.kind == ModelFailureKind::Unsupported => {
            let remedy = format!("try it: {} model test {name}/MODEL", kybern());
            finding(PART, PartState::Warning, format!("{name} has no list of models to ask for"), remedy)
        }
        Err(failure) => {
            let remedy = match failure.kind {
                ModelFailureKind::Key => "correct its key: api_key_env, or the variable that turns it on",
                ModelFailureKind::Denied => "its base_url leads to a closed address",
                _ => "start it, or correct its base_url",
            };
            finding(PART, PartState::Broken, failure.to_string(), remedy)
        }
    };
    probed.into_iter().map(found).collect()
}
