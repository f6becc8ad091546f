//! Log and traces: to the terminal always, to an OTLP collector when one is configured.

mod fields;
mod line;
mod redacting;

use std::io::IsTerminal as _;

use anyhow::Context as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use self::fields::Fields;
use self::line::LineFormat;
use self::redacting::Spans;
use crate::config::TelemetryOptions;

/// Ends the export of spans when it is dropped, sending what is left.
pub(crate) struct Telemetry {
    provider: Option<SdkTracerProvider>,
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Some(provider) = self.provider.take()
            && let Err(error) = provider.shutdown()
        {
            tracing::warn!(%error, "the last spans were not exported");
        }
    }
}

/// Starts both. To be called once.
///
/// # Errors
/// When the filter cannot be read, or the exporter cannot be made.
pub(crate) fn start(options: &TelemetryOptions) -> anyhow::Result<Telemetry> {
    // The mail library writes the login line at trace.
    // PostgreSQL tells at info that what is to be made if it is missing is there.
    // The PDF library tells every fault of a stranger's file; what becomes of the file is told by whoever reads it.
    let quiet = "async_imap=info,sqlx::postgres::notice=warn,lopdf=off,hyper=info,hyper_util=info,h2=info,reqwest=info,rustls=info";
    let filter = EnvFilter::try_new(format!("{},{quiet}", options.log)).context("telemetry.log")?;
    let (fields, line) = (Fields(options.format), LineFormat(options.format));
    let mut format = tracing_subscriber::fmt::layer().fmt_fields(fields).event_format(line);
    if !std::io::stderr().is_terminal() {
        format.set_ansi(false);
    }
    let format = format.with_writer(std::io::stderr);
    let provider = match &options.otlp_endpoint {
        None => None,
        Some(endpoint) => Some(provider(endpoint, &options.service_name)?),
    };
    let spans = provider.as_ref().map(|provider| tracing_opentelemetry::layer().with_tracer(provider.tracer("kybern")));
    let started = tracing_subscriber::registry().with(spans).with(format.with_filter(filter)).try_init();
    started.context("the log was started before")?;
    std::panic::set_hook(Box::new(panicked));
    Ok(Telemetry { provider })
}

/// A panic is a line of the log like any other: as JSON where the log is JSON, and without secrets.
fn panicked(info: &std::panic::PanicHookInfo<'_>) {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "a part of the program panicked: {}", text.unwrap_or("no message"));
}

fn provider(endpoint: &str, service: &str) -> anyhow::Result<SdkTracerProvider> {
    let endpoint = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(endpoint)
        .build()
        .context("telemetry.otlp_endpoint")?;
    let resource = Resource::builder().with_service_name(service.to_owned()).build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(Spans(exporter)).with_resource(resource).build())
}
