//! `kybern demo`: the main job on bundled messages, from the first byte to the last record, on this machine alone.

pub(crate) mod crash;
mod helpdesk;
mod report;
mod samples;
mod teach;

use std::fs::DirBuilder;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use bytes::Bytes;
use kybern_core::actor::Actor;
use kybern_core::chat::EventId;
use kybern_core::event::{EventType, LogEntry};
use kybern_core::id::{RequestId, TaskId, TenantId};
use kybern_core::task::TaskStatus;
use kybern_core::time::Millis;
use kybern_engine::Engine;
use kybern_engine::intake::DeliveryOutcome;
use kybern_engine::task::TaskView;

use crate::config::database::DatabaseUrl;
use crate::config::{Config, DocumentOptions};
use crate::output::{Paint, Screen, kybern_here, quoted};
use crate::serve::{self, ServePurpose};
use samples::{SAMPLES, Sample, SampleChannel};

/// How long one message may take.
const PATIENCE: Millis = Millis(60_000);

/// What the demonstration is started with.
pub(crate) struct DemoOptions {
    /// Keep its folder afterwards.
    pub(crate) keep: bool,
    /// The folder it uses; a temporary one when not stated.
    pub(crate) dir: Option<PathBuf>,
    /// Whose messages come in; those of the usual domains when not stated.
    pub(crate) domain: Option<DemoDomain>,
    /// How documents are read.
    pub(crate) documents: DocumentOptions,
    /// Where it shows what happens.
    pub(crate) screen: Screen,
}

/// A domain that has a demonstration of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum DemoDomain {
    /// Support messages become tickets
    Helpdesk,
}

impl DemoDomain {
    /// Its name in the settings.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Helpdesk => "helpdesk",
        }
    }

    const fn samples(domain: Option<Self>) -> &'static [Sample] {
        match domain {
            None => SAMPLES,
            Some(Self::Helpdesk) => helpdesk::SAMPLES,
        }
    }
}

/// A message that has been through.
struct FinishedMessage {
    sample: &'static Sample,
    received: DeliveryOutcome,
    task: TaskView,
}

/// Runs the main job on the bundled messages.
///
/// # Errors
/// When it cannot start, or a message does not come to rest.
pub(crate) async fn run(options: DemoOptions) -> anyhow::Result<ExitCode> {
    let DemoOptions { keep, dir, domain, documents, mut screen } = options;
    let keep = keep || dir.is_some();
    let folder = folder(dir)?;
    let mut config = Config { documents, ..Config::default() };
    config.database.url = DatabaseUrl::Sqlite(folder.join("demo.db"));
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    if let Some(domain) = domain {
        config.packs.domains = vec![domain.as_str().to_owned()];
    }
    let samples = DemoDomain::samples(domain);
    // Nobody needs its key.
    let running = serve::start(config, listen, ServePurpose::Serve, |_, _| Ok(())).await?;
    let paint = screen.paint();
    screen.line(paint.bold(&format!("{} messages come in by mail, web form and text message.", samples.len())));
    screen.line("Model: offline rules. No key, no network. Nothing leaves this machine; mail stays in the outbox.\n");
    let began = running.engine.clock().now();
    let mut done = through(&running.engine, samples, &mut screen).await;
    let took = running.engine.clock().now().since(began);
    let ends_well = match &mut done {
        Ok(done) => {
            screen.line("");
            let ends_well = match domain {
                None => {
                    let report = report::make(&running.engine, &actor(&running.engine), done, took, paint).await?;
                    screen.line(&report.text);
                    let learned = teach::show(&running.engine, &mut screen).await?;
                    report.sound && learned
                }
                Some(DemoDomain::Helpdesk) => helpdesk::show(&running.engine, done, took, &mut screen).await?,
            };
            screen.line("");
            next(&mut screen, &folder, (keep, domain), done);
            ends_well
        }
        Err(_) => false,
    };
    running.stop().await;
    if !keep {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    done?;
    Ok(if ends_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The folder that was named, or a temporary one, made where it is not there.
fn folder(named: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let folder = named.unwrap_or_else(|| std::env::temp_dir().join(format!("kybern-demo-{}", std::process::id())));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    Ok(folder)
}

fn actor(engine: &Engine) -> Actor {
    engine.identity().channel_actor(TenantId::DEFAULT, "demo", RequestId::from_uuid(engine.ids().next()))
}

/// Hands in one message after the other, and shows what becomes of each.
async fn through(
    engine: &Engine,
    samples: &'static [Sample],
    screen: &mut Screen,
) -> anyhow::Result<Vec<FinishedMessage>> {
    let mut all = Vec::with_capacity(samples.len());
    for sample in samples {
        let actor = actor(engine);
        let received = hand_in(engine, &actor, sample).await.with_context(|| sample.name.to_owned())?;
        let paint = screen.paint();
        screen.line(paint.bold(sample.name));
        if received.duplicate {
            screen.line(paint.dim("  came before: the same message is one task, nothing is done twice"));
        } else {
            follow(engine, &actor, received.task_id, screen).await?;
        }
        let task = engine.tasks().wait_for(&actor, received.task_id, PATIENCE).await?;
        screen.line(format!("  {}", verdict(&task, paint)));
        all.push(FinishedMessage { sample, received, task });
    }
    Ok(all)
}

async fn hand_in(engine: &Engine, actor: &Actor, sample: &Sample) -> anyhow::Result<DeliveryOutcome> {
    let bytes = Bytes::from_static(sample.bytes);
    Ok(match sample.way {
        SampleChannel::Mail => engine.intake().receive_email(actor, bytes, None).await?,
        SampleChannel::Form => {
            let body = serde_json::from_slice(&bytes)?;
            engine.intake().receive_webhook(actor, "web-form", Some(sample.name.to_owned()), body, &bytes, None).await?
        }
        SampleChannel::Sms => engine.intake().receive_sms(actor, form(&bytes), None).await?,
    })
}

/// `application/x-www-form-urlencoded`, as the SMS gateway sends it.
fn form(bytes: &[u8]) -> Vec<(String, String)> {
    url::form_urlencoded::parse(bytes.trim_ascii()).into_owned().collect()
}

/// Shows the log of a task as it grows, until it rests.
async fn follow(engine: &Engine, actor: &Actor, id: TaskId, screen: &mut Screen) -> anyhow::Result<()> {
    let (mut after, paint) = (-1, screen.paint());
    loop {
        let news = engine.tasks().follow(actor, id, EventId::at(after), Millis(500)).await?;
        for entry in &news.entries {
            after = after.max(entry.seq);
            if let Some(line) = step_line(entry, paint) {
                screen.line(line);
            }
        }
        let waits = news.entries.iter().any(|entry| entry.event_type == EventType::NeedsReview);
        if news.ended || waits {
            return Ok(());
        }
        if news.entries.is_empty() && engine.tasks().wait_for(actor, id, Millis(1)).await?.rests() {
            return Ok(());
        }
    }
}

fn step_line(entry: &LogEntry, paint: Paint) -> Option<String> {
    let mark = match entry.event_type {
        EventType::StepCompleted => paint.good("✓"),
        EventType::StepFailed => paint.bad("✗"),
        EventType::StepSkipped => paint.dim("–"),
        EventType::TaskCreated
        | EventType::StepStarted
        | EventType::RoundStarted
        | EventType::ChildEnded
        | EventType::DynamicStepsInjected
        | EventType::PlanRevised
        | EventType::NeedsReview
        | EventType::HumanReview
        | EventType::Delegated
        | EventType::WorkflowCallback
        | EventType::ZombieReset
        | EventType::TaskCompleted
        | EventType::TaskFailed
        | EventType::TaskCancelled
        | EventType::Unreadable => return None,
    };
    let step = entry.step_id.as_deref().unwrap_or_default().trim_start_matches('_');
    Some(format!("  {mark} {step:<18} {}", paint.dim(&entry.summary)))
}

fn verdict(task: &TaskView, paint: Paint) -> String {
    match task.status {
        TaskStatus::Completed => format!("{} {}", paint.good("= done:"), task.selected_plan.as_deref().unwrap_or("-")),
        TaskStatus::NeedsReview => {
            let reason = task.waits.first().map(|wait| wait.reason.as_str()).unwrap_or_default();
            format!("{} {reason}", paint.wait("= waits for a person:"))
        }
        other => format!("{} {other} {}", paint.bad("="), task.error_message.as_deref().unwrap_or_default()),
    }
}

/// What a server is told, so that it works in the demonstration's domain.
fn setting(domain: Option<DemoDomain>) -> String {
    domain.map(|domain| format!("KYBERN_PACKS__DOMAINS='[\"{}\"]' ", domain.as_str())).unwrap_or_default()
}

/// A command, and what it does.
fn next_line(screen: &mut Screen, verb: &str, what: &str) {
    screen.line(format!("  {} {verb:<21} {what}", kybern_here()));
}

fn next(screen: &mut Screen, folder: &Path, (keep, domain): (bool, Option<DemoDomain>), done: &[FinishedMessage]) {
    let paint = screen.paint();
    screen.line(paint.bold("What next"));
    let database = format!("--database {}", quoted(&format!("sqlite:{}", folder.join("demo.db").display())));
    let of = |status: TaskStatus| done.iter().find(|done| done.task.status == status).map(|done| done.task.id);
    if keep {
        screen.line(format!("  kybern {database} task list"));
        if let Some(id) = of(TaskStatus::Completed) {
            screen.line(format!("  kybern {database} task show {id}      what it did, step by step"));
            screen.line(format!("  kybern {database} task replay {id}    the same end from its journal alone"));
        }
        if let Some(id) = of(TaskStatus::NeedsReview) {
            screen.line(format!("  kybern {database} task review {id}    answer what it asks"));
        }
        screen.line(format!("  kybern {database} key recover    an admin key, for a server on this database:"));
        screen.line(format!("  {}kybern {database} serve", setting(domain)));
    } else {
        let name = domain.map(|domain| format!(" {}", domain.as_str())).unwrap_or_default();
        next_line(screen, &format!("demo{name} --keep"), "the same, and keep the database to look into");
    }
    match domain {
        None => next_line(screen, "serve", "your own server, on http://127.0.0.1:7171"),
        Some(_) => screen.line(format!("  {}{} serve", setting(domain), kybern_here())),
    }
    next_line(screen, "task submit FILE.eml", "hand in a message of your own");
    screen.line("  (in this repository: cargo run --release -- COMMAND)");
}
