//! The engine's numbers: what is open, and what this process has done.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::task::TaskStatus;
use kybern_engine::meter::{BOUNDS, Figures, Meter, Outcome, Times};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeCounterValue, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

#[derive(Debug)]
pub(super) struct FiguresCollector {
    meter: Arc<Meter>,
    now: Mutex<Option<Arc<Figures>>>,
}

impl FiguresCollector {
    pub(super) const fn of(meter: Arc<Meter>) -> Self {
        Self { meter, now: Mutex::new(None) }
    }

    /// These are the figures from now on.
    pub(super) fn show(&self, figures: Arc<Figures>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(figures);
    }
}

impl Collector for FiguresCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut out = MetricWriter(encoder);
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(now) = now {
            open(&now, &mut out)?;
        }
        done(&self.meter, &mut out)
    }
}

/// What is open right now.
fn open(now: &Figures, out: &mut MetricWriter<'_>) -> fmt::Result {
    let count = |status| now.tasks.iter().find(|(counted, _)| *counted == status).map_or(0, |(_, count)| *count);
    let tasks = TaskStatus::ALL.map(|status| ([("status", status.as_str())], count(status)));
    out.gauges("tasks", "Tasks of all tenants by status", tasks)?;
    out.gauge("approvals_pending", "Questions that wait for a person", None, now.open.approvals)?;
    let messages = now.open.messages.iter().map(|(status, count)| ([("status", status.as_str())], *count));
    out.gauges("outbox_messages", "Messages that are not sent, by status", messages)?;
    let waiting = now.open.jobs.iter().map(|(kind, count)| ([("kind", kind.as_str()), ("status", "pending")], *count));
    let dead = now.open.dead_jobs.iter().map(|(kind, count)| ([("kind", kind.as_str()), ("status", "dead")], *count));
    out.gauges("jobs", "Jobs that are not done, by kind and status", waiting.chain(dead))?;
    let oldest = now.oldest.iter().map(|(work, age)| ([("work", *work)], seconds(age.0)));
    let help = "How long the oldest work of each kind has waited: tasks and jobs that are due, questions for people, \
                tasks that outside engines have, messages that are to leave";
    out.ages("oldest_work", help, oldest)?;
    let held = now.slots.iter().map(|(work, held, _)| ([("work", *work)], i64::from(*held)));
    out.gauges("slots_held", "Slots of this process that work holds", held)?;
    let all = now.slots.iter().map(|(work, _, all)| ([("work", *work)], i64::from(*all)));
    out.gauges("slots", "Slots of this process", all)?;
    out.gauge("claims", "Whether this process can claim work", None, i64::from(now.claims))?;
    if let Some(room) = now.room {
        let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        out.gauge("disk_free", "Room on the database's disk", Some(&Unit::Bytes), bytes(room.free))?;
        out.gauge("disk_size", "Size of the database's disk", Some(&Unit::Bytes), bytes(room.total))?;
    }
    let receivers = now.receivers.iter().map(|(name, answers)| ([("receiver", name.as_str())], i64::from(*answers)));
    let help = "Whether mail and each engine of workflows answered when they were last asked";
    out.gauges("receiver_up", help, receivers)?;
    let providers = now.providers.iter().map(|(name, asked)| ([("provider", name.as_str())], i64::from(*asked)));
    out.gauges(
        "model_provider_up",
        "Whether a provider of models can be asked: 0 while its circuit breaker is open",
        providers,
    )
}

/// What this process has done since its start.
fn done(meter: &Meter, out: &mut MetricWriter<'_>) -> fmt::Result {
    let tasks = meter.tasks();
    let help = "How old tasks were when they ended in this process, by status";
    out.histograms("task_age", help, tasks.iter().map(|(status, times)| ([("status", *status)], times)))?;
    let models = meter.models();
    let outcomes = models.iter().flat_map(|(provider, done)| {
        Outcome::ALL.map(|outcome| {
            let count = done.outcomes.get(&outcome).copied().unwrap_or(0);
            ([("provider", provider.as_str()), ("outcome", outcome.as_str())], count)
        })
    });
    out.counters("model_calls", "Questions to models by their outcome", None, outcomes)?;
    let times = models.iter().map(|(provider, done)| ([("provider", provider.as_str())], &done.times));
    out.histograms("model_call_duration", "How long questions to models took, with all their tries", times)?;
    let tokens = models.iter().flat_map(|(provider, done)| {
        [("input", done.input), ("output", done.output)]
            .map(|(way, count)| ([("provider", provider.as_str()), ("direction", way)], count))
    });
    out.counters("model_tokens", "Tokens of models", None, tokens)?;
    let cost = models.iter().map(|(provider, done)| ([("provider", provider.as_str())], dollars(done.cost.0)));
    out.counters("model_cost", "What models have cost", Some(&Unit::Other("usd".to_owned())), cost)
}

#[expect(clippy::cast_precision_loss, reason = "metrics are floating point; the account is exact")]
fn dollars(nanos: i64) -> f64 {
    nanos as f64 / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of a run fit")]
fn seconds(millis: u64) -> f64 {
    millis as f64 / 1e3
}

/// Labels: their names and values.
type Labels<'a, const N: usize> = [(&'static str, &'a str); N];

/// Writes whole families.
struct MetricWriter<'a>(DescriptorEncoder<'a>);

impl MetricWriter<'_> {
    fn gauge(&mut self, name: &str, help: &str, unit: Option<&Unit>, value: i64) -> fmt::Result {
        self.0.encode_descriptor(name, help, unit, MetricType::Gauge)?.encode_gauge(&value)
    }

    fn gauges<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (Labels<'l, N>, i64)>,
    ) -> fmt::Result {
        self.family((name, help, None, MetricType::Gauge), values, |mut one, value| one.encode_gauge(&value))
    }

    fn ages<'l>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (Labels<'l, 1>, f64)>,
    ) -> fmt::Result {
        let family = (name, help, Some(&Unit::Seconds), MetricType::Gauge);
        self.family(family, values, |mut one, value| one.encode_gauge(&value))
    }

    fn counters<'l, const N: usize, V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        values: impl IntoIterator<Item = (Labels<'l, N>, V)>,
    ) -> fmt::Result {
        self.family((name, help, unit, MetricType::Counter), values, |mut one, value| {
            one.encode_counter::<NoLabelSet, V, u64>(&value, None)
        })
    }

    fn histograms<'l, 't>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (Labels<'l, 1>, &'t Times)>,
    ) -> fmt::Result {
        self.family((name, help, Some(&Unit::Seconds), MetricType::Histogram), values, |mut one, times| {
            let within: u64 = times.buckets.iter().sum();
            let mut buckets: Vec<(f64, u64)> =
                BOUNDS.iter().map(|bound| seconds(*bound)).zip(times.buckets.iter().copied()).collect();
            buckets.push((f64::INFINITY, times.count - within));
            one.encode_histogram::<NoLabelSet>(seconds(times.sum.0), times.count, &buckets, None)
        })
    }

    fn family<'l, const N: usize, V>(
        &mut self,
        (name, help, unit, kind): (&str, &str, Option<&Unit>, MetricType),
        values: impl IntoIterator<Item = (Labels<'l, N>, V)>,
        write: impl Fn(MetricEncoder<'_>, V) -> fmt::Result,
    ) -> fmt::Result {
        let mut family = self.0.encode_descriptor(name, help, unit, kind)?;
        values.into_iter().try_for_each(|(labels, value)| write(family.encode_family(&labels)?, value))
    }
}
