//! Agencies that get an e-mail or two: their tasks are walked to their ends, with a person who answers what is asked. Each
//! time the agency is another one, with a tenant of its own, so nothing depends on what came before.

use std::cell::Cell;
use std::sync::{Arc, Once};
use std::time::Duration;

use bytes::Bytes;
use kybern_core::actor::Actor;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{RequestId, TaskId};
use kybern_core::pack::PackRegistry;
use kybern_core::ports::TaskStore as _;
use kybern_core::task::{JournalEntry, JournalRow, Resolution, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_engine::Engine;
use kybern_engine::task::{ReviewRequest, TaskView};
use kybern_testkit::{MemStore, fuzz};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::trade::filled;
use crate::in_memory;
use crate::offline::packs;
use crate::server::KEY;
use crate::server::client::pause;

/// Tenants that one engine sees, so that its memory stays small.
const MOST_TENANTS: u32 = 200;
/// How long a task may take until it rests.
const PATIENCE: Millis = Millis(60_000);
/// How often somebody looks whether the engine has panicked.
const LOOK: Duration = Duration::from_millis(20);
/// Questions that a person answers before they cancel the task.
const MOST_ANSWERS: usize = 8;
/// Insurers that an agency knows.
const KNOWN: usize = 3;
/// More rows than any journal has.
const MANY: u32 = 10_000;

/// What became of a message.
#[derive(Debug, PartialEq)]
pub(super) struct Walked {
    /// Every end of a step, with how, and what a person was asked.
    pub(super) steps: Vec<String>,
    /// How long this thread computed.
    pub(super) computed: Duration,
}

/// Where the messages come in.
pub(super) struct Agencies {
    registry: PackRegistry,
    open: Option<Open>,
}

/// An engine with its runtime, which this thread alone runs.
struct Open {
    runtime: Runtime,
    store: Arc<MemStore>,
    engine: Engine,
    platform: Actor,
    tenants: u32,
}

impl Agencies {
    pub(super) fn new() -> Self {
        note_panics();
        Self { registry: packs::registry(packs::USUAL).unwrap(), open: None }
    }

    /// Hands in one e-mail after the other and walks its task to the end; `None` when one is refused, which a message may
    /// be. Whoever is asked says that it is about `intent`.
    pub(super) fn walk(&mut self, mails: &[&[u8]], intent: &str) -> Result<Option<Walked>, String> {
        let mut open = match self.open.take() {
            Some(open) if open.tenants < MOST_TENANTS => open,
            _ => Open::new(&self.registry),
        };
        open.tenants += 1;
        PANIC.take();
        let came = open.runtime.block_on(open.walk(mails, intent));
        if came.is_ok() {
            self.open = Some(open);
        }
        came
    }
}

impl Open {
    fn new(registry: &PackRegistry) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let store = Arc::new(in_memory::store());
        let (engine, platform) = runtime.block_on(async {
            let engine = in_memory::start(store.clone(), &store, registry.clone(), true).await;
            let platform = engine.identity().authenticate(KEY, RequestId::from_uuid(Uuid::nil()), None).await.unwrap();
            (engine, platform)
        });
        Self { runtime, store, engine, platform, tenants: 0 }
    }

    async fn walk(&self, mails: &[&[u8]], intent: &str) -> Result<Option<Walked>, String> {
        let actor = self.agency().await;
        let mut walked = Walked { steps: Vec::new(), computed: Duration::ZERO };
        for mail in mails {
            let before = fuzz::computed();
            let id = match self.engine.intake().receive_email(&actor, Bytes::copy_from_slice(mail), None).await {
                Ok(received) => received.task_id,
                Err(error) if matches!(error.code(), ErrorCode::Validation | ErrorCode::PayloadTooLarge) => {
                    return Ok(None);
                }
                Err(error) => return Err(told("the message is not taken", &error)),
            };
            let task = self.to_the_end(&actor, id, intent).await?;
            walked.computed += fuzz::computed().saturating_sub(before);
            if let Some(error) = task.error.filter(|error| error.code == ErrorCode::Internal) {
                return Err(format!("the task has failed: {}", error.message));
            }
            let replay = self.engine.tasks().replay(&actor, id).await.map_err(|error| told("no replay", &error))?;
            if !replay.matches {
                return Err(format!("a replay comes to another end: {:?}", replay.differences));
            }
            let journal = self.store.journal(actor.scope(), id, 0, MANY).await.unwrap();
            walked.steps.extend(steps(&journal)?);
        }
        Ok(Some(walked))
    }

    /// The admin of a new agency, which knows some insurers.
    async fn agency(&self) -> Actor {
        let (_, key) =
            self.engine.identity().create_tenant(&self.platform, &format!("Agency {}", self.tenants)).await.unwrap();
        let actor = self.engine.identity().authenticate(&key, RequestId::from_uuid(Uuid::nil()), None).await.unwrap();
        for insurer in (0..KNOWN).map(|n| filled("{insurer}", || n)) {
            let input =
                Map::from_iter([("insurer_name".to_owned(), json!(insurer)), ("create".to_owned(), json!(true))]);
            self.engine.invocations().invoke(&actor, "network.resolve_insurer", input, None, PATIENCE).await.unwrap();
        }
        actor
    }

    async fn to_the_end(&self, actor: &Actor, id: TaskId, intent: &str) -> Result<TaskView, String> {
        for answers in 0..MOST_ANSWERS * 2 {
            let rested = async {
                tokio::select! {
                    task = self.engine.tasks().wait_for(actor, id, PATIENCE) => {
                        task.map_err(|error| told("the task cannot be read", &error))
                    }
                    panic = panicked() => Err(format!("the engine has panicked: {panic}")),
                }
            };
            let task = rested.await?;
            if task.status.is_terminal() {
                return Ok(task);
            }
            if task.status != TaskStatus::NeedsReview {
                return Err(format!("the task does not come to rest, it is {}", task.status));
            }
            let answered = match answer(&task, intent).filter(|_| answers < MOST_ANSWERS) {
                Some(request) => self.engine.tasks().review(actor, id, request).await,
                None => self.engine.tasks().cancel(actor, id).await,
            };
            match answered {
                Ok(_) => {}
                // What does not fit the question is no answer, and a late one comes too late.
                Err(error) if matches!(error.code(), ErrorCode::Validation | ErrorCode::Conflict) => {
                    drop(self.engine.tasks().cancel(actor, id).await);
                }
                Err(error) => return Err(told("an answer is not taken", &error)),
            }
        }
        Err("the task asks without an end".to_owned())
    }
}

fn told(what: &str, error: &Error) -> String {
    format!("{what}: {} {error}", error.code())
}

/// What a person says to the first question of a task.
fn answer(task: &TaskView, intent: &str) -> Option<ReviewRequest> {
    let wait = task.waits.iter().find(|wait| wait.kind.is_person())?;
    let corrections = match wait.kind {
        WaitKind::Intent => json!({"intent": intent}),
        WaitKind::Document => {
            let all: Map<String, Value> = (1..20).map(|n: u32| (n.to_string(), json!({"ignore": true}))).collect();
            let asked = wait.schema.pointer("/properties/documents/properties").and_then(Value::as_object);
            let is_asked = |n: &String| asked.is_none_or(|asked| asked.contains_key(n));
            json!({"documents": all.into_iter().filter(|(n, _)| is_asked(n)).collect::<Map<_, _>>()})
        }
        _ => json!({"handled": true}),
    };
    let resolution = (!matches!(wait.kind, WaitKind::Intent | WaitKind::Document)).then_some(Resolution::Done);
    let corrections = corrections.as_object().cloned().unwrap_or_default();
    let step_id = Some(wait.step_id.as_str().to_owned());
    Some(ReviewRequest { corrections, step_id, resolution, ..ReviewRequest::default() })
}

/// What a journal tells, without data.
fn steps(journal: &[JournalRow]) -> Result<Vec<String>, String> {
    let mut steps = Vec::new();
    for row in journal {
        let step = row.step.as_ref().map_or("-", |step| step.as_str());
        match &row.entry {
            JournalEntry::Finished(outcome) => {
                if let Some(error) = outcome.error.as_ref().filter(|error| error.code == ErrorCode::Internal) {
                    return Err(format!("step {step} has failed: {}", error.message));
                }
                steps.push(format!("{step} {}", outcome.status.as_str()));
            }
            JournalEntry::Retrying { error, .. } => {
                return Err(format!("step {step} is tried again: {}", error.message));
            }
            JournalEntry::Recovered { .. } => return Err("the task was taken over".to_owned()),
            JournalEntry::Waiting(wait) => steps.push(format!("{step} waits: {:?}", wait.kind)),
            JournalEntry::Unreadable { problem } => return Err(format!("a row cannot be read: {problem}")),
            JournalEntry::Opened(_) | JournalEntry::Answered { .. } | JournalEntry::Ended { .. } => {}
        }
    }
    Ok(steps)
}

thread_local! {
    /// The last panic on this thread. The runtime takes those of its tasks for their ends.
    static PANIC: Cell<Option<String>> = const { Cell::new(None) };
}

fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANIC.set(Some(panic.to_string()));
            tell(panic);
        }));
    });
}

async fn panicked() -> String {
    loop {
        if let Some(panic) = PANIC.take() {
            return panic;
        }
        pause(LOOK).await;
    }
}
