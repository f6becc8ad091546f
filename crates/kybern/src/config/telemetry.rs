//! `[telemetry]`: what operators see.

use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

use super::error::{Fault, Faults};

/// How a line of the log is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Log and traces.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TelemetryOptions {
    /// The OTLP endpoint over HTTP, for instance `http://127.0.0.1:4318`. Without it no trace leaves the process.
    pub(crate) otlp_endpoint: Option<String>,
    /// The service's name in traces.
    pub(crate) service_name: String,
    /// What is logged: a level (`error`, `warn`, `info`, `debug`, `trace`), or levels by target, as in
    /// `info,kybern_engine=debug`.
    pub(crate) log: String,
    /// How it is written.
    pub(crate) format: LogFormat,
}

impl Default for TelemetryOptions {
    fn default() -> Self {
        Self { otlp_endpoint: None, service_name: "kybern".to_owned(), log: "info".to_owned(), format: LogFormat::Text }
    }
}

impl TelemetryOptions {
    pub(super) fn check(&self, faults: &mut Faults) {
        let filter = EnvFilter::try_new(&self.log);
        // A lone word that is no level would be taken for a target, and hide everything else.
        let word = self.log.parse::<tracing::Level>().is_err() && !self.log.contains(['=', ',']) && self.log != "off";
        if filter.is_err() || word {
            faults.add(Fault::bad("telemetry.log", &self.log, "is neither a level nor a list of target=level"));
        }
        faults.web("telemetry.otlp_endpoint", self.otlp_endpoint.as_ref());
    }
}
