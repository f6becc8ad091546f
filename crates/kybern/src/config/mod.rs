//! The configuration: one options struct for each part, read from a file, the environment and the command line.
//!
//! Later sources win: defaults, then the TOML file, then `KYBERN_SECTION__KEY`, then flags. An unknown key or a value
//! that cannot be used stops the start, with the key, the value and the remedy. Only this module and the command line
//! read the environment; everything below gets an options struct.

mod audit;
pub(crate) mod database;
mod documents;
mod egress;
mod environment;
mod error;
mod governance;
mod imap;
mod intake;
mod keys;
mod layers;
mod limits;
mod model;
mod models;
mod packs;
mod providers;
mod retention;
mod secret;
pub(crate) mod security;
mod server;
pub(crate) mod smtp;
pub(crate) mod telemetry;
mod webhooks;
mod worker;
mod workflows;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use figment::Provider;
use figment::providers::{Format, Toml};
use figment::value::{Dict, Value};
use serde::{Deserialize, Serialize};

pub(crate) use audit::AuditOptions;
pub(crate) use database::DatabaseOptions;
pub(crate) use documents::{DocumentOptions, Ocr};
pub(crate) use egress::EgressOptions;
pub(crate) use environment::Environment;
pub(crate) use error::{ConfigError, Fault, Faults};
pub(crate) use governance::GovernanceOptions;
pub(crate) use imap::ImapOptions;
pub(crate) use intake::IntakeOptions;
pub(crate) use limits::LimitOptions;
pub(crate) use model::ModelOptions;
pub(crate) use models::ModelsOptions;
pub(crate) use packs::PackOptions;
pub(crate) use providers::{ModelOption, ProviderOptions};
pub(crate) use retention::RetentionOptions;
pub(crate) use secret::Secret;
pub(crate) use security::SecurityOptions;
pub(crate) use server::{ServerOptions, reachable};
pub(crate) use smtp::SmtpOptions;
pub(crate) use telemetry::TelemetryOptions;
pub(crate) use webhooks::WebhookOptions;
pub(crate) use worker::WorkerOptions;
pub(crate) use workflows::WorkflowOptions;

use self::layers::Layer;

/// The file that is read when none is named and it exists.
pub(crate) const DEFAULT_FILE: &str = "kybern.toml";

/// Every setting.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The HTTP edge.
    pub(crate) server: ServerOptions,
    /// Where everything is kept.
    pub(crate) database: DatabaseOptions,
    /// The worker inside this process.
    pub(crate) worker: WorkerOptions,
    /// Which private addresses tools may reach.
    pub(crate) egress: EgressOptions,
    /// The outgoing mail server.
    pub(crate) smtp: Option<SmtpOptions>,
    /// The mailbox that is polled.
    pub(crate) imap: Option<ImapOptions>,
    /// The intake addresses.
    pub(crate) intake: IntakeOptions,
    /// How documents are read.
    pub(crate) documents: DocumentOptions,
    /// Sources of webhooks, by name.
    pub(crate) webhooks: BTreeMap<String, WebhookOptions>,
    /// Outside engines, by name.
    pub(crate) workflows: BTreeMap<String, WorkflowOptions>,
    /// Who is asked for language models, by name.
    pub(crate) providers: BTreeMap<String, ProviderOptions>,
    /// How language models are chosen.
    pub(crate) models: ModelsOptions,
    /// Log and traces.
    pub(crate) telemetry: TelemetryOptions,
    /// What a task may take when it does not say.
    pub(crate) limits: LimitOptions,
    /// How sure the model has to be.
    pub(crate) model: ModelOptions,
    /// Which domains it works in.
    pub(crate) packs: PackOptions,
    /// Who approves what agents are told.
    pub(crate) governance: GovernanceOptions,
    /// Where the heads of the audit chains are kept.
    pub(crate) audit: AuditOptions,
    /// How long what is over is kept.
    pub(crate) retention: RetentionOptions,
    /// Keys of this server.
    pub(crate) security: SecurityOptions,
}

/// What the command line sets itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Overrides {
    /// `--listen`
    pub(crate) listen: Option<String>,
    /// `--database`
    pub(crate) database: Option<String>,
}

impl Config {
    /// Reads every source. `path` is the file of `--config`; without it `kybern.toml` of the working directory is
    /// read when it exists.
    ///
    /// # Errors
    /// Every fault that was found, at once.
    pub(crate) fn load(path: Option<&Path>, overrides: &Overrides, env: &Environment) -> Result<Self, ConfigError> {
        let mut layers = Vec::new();
        let default = PathBuf::from(DEFAULT_FILE);
        match path {
            Some(path) => layers.push(file_layer(path)?),
            None if default.exists() => layers.push(file_layer(&default)?),
            None => {}
        }
        layers.extend(env.settings().map(|(path, name, text)| env_layer(&path, name, text)));
        let flags =
            [("--listen", "server.listen", &overrides.listen), ("--database", "database.url", &overrides.database)];
        for (flag, key, value) in flags {
            if let Some(value) = value {
                let path: Vec<String> = key.split('.').map(str::to_owned).collect();
                layers.push(Layer::single(flag, &path, Value::from(value.clone())));
            }
        }
        let mut faults = Faults::default();
        let mut config = layers::read(layers.clone(), &mut faults);
        config.check(env, &mut faults);
        config.database.is_named = layers::origin(&layers, "database.url").is_some();
        faults.name_origins(|key| layers::origin(&layers, key));
        faults.into_error().map_or(Ok(config), Err)
    }

    /// Whether the settings of a file can be read: what each comes to in this environment is not looked at.
    ///
    /// # Errors
    /// Every fault in it.
    pub(crate) fn check_file(path: &Path) -> Result<(), ConfigError> {
        let layer = file_layer(path)?;
        let mut faults = Faults::default();
        layers::read(vec![layer.clone()], &mut faults);
        faults.name_origins(|key| layers::origin(std::slice::from_ref(&layer), key));
        faults.into_error().map_or(Ok(()), Err)
    }

    fn check(&mut self, env: &Environment, faults: &mut Faults) {
        self.server.check(faults);
        self.database.check(faults);
        self.worker.check(faults);
        self.egress.check(faults);
        if let Some(smtp) = &mut self.smtp {
            smtp.check(env, faults);
        }
        if let Some(imap) = &mut self.imap {
            imap.check(env, faults);
        }
        self.intake.check(faults);
        self.documents.check(env, faults);
        for (name, webhook) in &mut self.webhooks {
            webhook.check(name, env, faults);
            if name == "sms" && webhook.secret_env.is_some() && self.server.public_url.is_none() {
                let problem = "is missing, and [webhooks.sms] needs it: the gateway signs the address that it calls";
                faults.add(Fault::missing("server.public_url", problem));
            }
        }
        for (name, workflow) in &mut self.workflows {
            workflow.check(name, env, faults);
        }
        for (name, provider) in &mut self.providers {
            provider.check(name, env, faults);
        }
        for (name, provider) in providers::of_environment(env, |name| self.providers.contains_key(name), faults) {
            self.providers.insert(name, provider);
        }
        self.models.check(faults);
        self.telemetry.check(faults);
        self.limits.check(faults);
        self.model.check(faults);
        self.packs.check(faults);
        self.audit.check(faults);
        self.retention.check(faults);
        self.security.check(env, faults);
        env.refuse_unknown(&self.named_variables(), faults);
    }

    /// The variables that settings name, for secrets.
    fn named_variables(&self) -> Vec<&str> {
        let smtp = self.smtp.iter().map(|smtp| &smtp.password_env);
        let imap = self.imap.iter().map(|imap| &imap.password_env);
        let webhooks = self.webhooks.values().map(|webhook| &webhook.secret_env);
        let workflows = self.workflows.values().map(|workflow| &workflow.secret_env);
        let providers = self.providers.values().map(|provider| &provider.api_key_env);
        let all = smtp.chain(imap).chain(webhooks).chain(workflows).chain(providers);
        all.filter_map(|name| name.as_deref()).collect()
    }
}

fn file_layer(path: &Path) -> Result<Layer, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        ConfigError::one(Fault::file(
            path,
            format!("cannot be read: {error}"),
            "name a file that can be read with --config",
        ))
    })?;
    let broken = |problem: String| ConfigError::one(Fault::file(path, problem, "correct that line"));
    if let Err(error) = text.parse::<toml::Table>() {
        let at = error.span().map(|span| place(&text, span.start)).unwrap_or_default();
        return Err(broken(format!("is not TOML{at}: {}", error.message().replace('\n', ", "))));
    }
    let profiles = Toml::string(&text).data().map_err(|error| broken(format!("is not TOML: {error}")))?;
    let dict = profiles.into_values().next().unwrap_or_else(Dict::new);
    Ok(Layer { name: path.display().to_string(), dict })
}

/// The line and the column of a byte, as editors count them.
fn place(text: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    format!(" at line {}, column {}", before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// A variable is a text where a text is expected, and otherwise what it looks like: a number, a list, a truth value.
fn env_layer(path: &[String], name: &str, text: &str) -> Layer {
    let as_text = Layer::single(name, path, Value::from(text));
    if !layers::wants_other_type(&as_text) {
        return as_text;
    }
    match text.parse::<Value>() {
        Ok(value) => Layer::single(name, path, value),
        Err(_infallible) => as_text,
    }
}

#[cfg(test)]
mod deployed;
#[cfg(test)]
mod tests;
