//! The spans' last station: secrets and personal data are taken out of every attribute before they leave the process,
//! whoever wrote them, the libraries too.

use std::borrow::Cow;
use std::time::Duration;

use kybern_core::policy::redact::{redact_named, redact_text};
use opentelemetry::trace::Status;
use opentelemetry::{Array, KeyValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

/// Hands spans on without secrets and personal data. On the exporter's own thread: no request waits for it.
#[derive(Debug)]
pub(crate) struct Spans<E>(pub(crate) E);

impl<E: SpanExporter> SpanExporter for Spans<E> {
    fn export(&self, mut batch: Vec<SpanData>) -> impl Future<Output = OTelSdkResult> + Send {
        batch.iter_mut().for_each(clean);
        self.0.export(batch)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

fn clean(span: &mut SpanData) {
    clean_name(&mut span.name);
    clean_all(&mut span.attributes);
    for event in &mut span.events.events {
        clean_name(&mut event.name);
        clean_all(&mut event.attributes);
    }
    for link in &mut span.links.links {
        clean_all(&mut link.attributes);
    }
    if let Status::Error { description } = &mut span.status {
        clean_name(description);
    }
}

fn clean_name(name: &mut Cow<'static, str>) {
    if let Cow::Owned(clean) = redact_text(name) {
        *name = Cow::Owned(clean);
    }
}

fn clean_all(attributes: &mut [KeyValue]) {
    for attribute in attributes {
        let name = attribute.key.as_str().to_owned();
        match &mut attribute.value {
            Value::String(text) => {
                if let Some(clean) = cleaned(&name, text.as_str()) {
                    *text = clean.into();
                }
            }
            Value::Array(Array::String(texts)) => {
                for text in texts {
                    if let Some(clean) = cleaned(&name, text.as_str()) {
                        *text = clean.into();
                    }
                }
            }
            _ => {}
        }
    }
}

/// The text without what it must not say; `None` when it may stay.
fn cleaned(name: &str, text: &str) -> Option<String> {
    let clean = redact_named(name, text);
    (*clean != *text).then(|| clean.into_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use tracing_subscriber::layer::SubscriberExt as _;

    /// Keeps what is exported.
    #[derive(Clone, Debug, Default)]
    struct CapturedSpans(Arc<Mutex<Vec<SpanData>>>);

    impl SpanExporter for CapturedSpans {
        fn export(&self, batch: Vec<SpanData>) -> impl Future<Output = OTelSdkResult> + Send {
            self.0.lock().unwrap().extend(batch);
            std::future::ready(Ok(()))
        }
    }

    #[test]
    fn spans_are_exported_without_secrets() {
        let kept = CapturedSpans::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(Spans(kept.clone())).build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("t"));
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::info_span!("work", db.password = "swordfish", to = "bob@example.com", n = 1);
            let _entered = span.enter();
            tracing::info!(token = "hunter2", "sent to ann@example.com");
        });
        let spans = kept.0.lock().unwrap();
        let said = format!("{spans:?}");
        for secret in ["swordfish", "hunter2", "bob@", "ann@"] {
            assert!(!said.contains(secret), "{said}");
        }
        assert_eq!(spans.len(), 1);
        assert!(said.contains("[redacted:password]") && said.contains("[redacted:email]"), "{said}");
    }
}
