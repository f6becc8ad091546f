//! What a test does with a running engine, and what it looks at.

use std::sync::Arc;

use kybern_core::error::Error;
use kybern_core::event::{EventType, LogEntry};
use kybern_core::id::TaskId;
use kybern_core::ports::{Clock as _, OutboxStore as _};
use kybern_core::task::{Attempt, JournalEntry, Resolution, StepOutcome, TaskStatus, Wait, WaitKind};
use kybern_core::time::Timestamp;
use kybern_engine::Engine;
use kybern_engine::task::{ReplayReport, ReviewRequest, SubmitRequest, TaskView};
use serde_json::{Map, Value};

use crate::outside::pause;
use crate::world::World;

/// How often workers may look for work until a thing that must happen has happened.
const PATIENCE: u64 = 20_000;

/// One running process.
pub struct Live<'w> {
    pub world: &'w World,
    pub engine: Engine,
}

impl<'w> Live<'w> {
    pub fn new(world: &'w World, engine: Engine) -> Self {
        Self { world, engine }
    }

    pub fn now(&self) -> Timestamp {
        self.world.clock.now()
    }

    /// Stores a plan, and answers its key.
    pub async fn put(&self, plan: Value) -> String {
        self.engine
            .plans()
            .put(&self.world.actor, &plan)
            .await
            .map_err(|error| format!("{error} {:?}", error.details()))
            .unwrap()
            .key
    }

    /// Submits a task with a stored plan.
    pub async fn submit(&self, plan_key: &str, payload: Value) -> TaskView {
        self.try_submit(SubmitRequest { plan_key: Some(plan_key.to_owned()), payload, ..SubmitRequest::text("go") })
            .await
            .unwrap()
    }

    pub async fn try_submit(&self, request: SubmitRequest) -> Result<TaskView, Error> {
        self.engine.tasks().submit(&self.world.actor, request, None).await
    }

    /// Stores a plan and starts a task with it.
    pub async fn begin(&self, plan: Value, payload: Value) -> TaskId {
        let key = self.put(plan).await;
        self.submit(&key, payload).await.id
    }

    /// Stores a plan with these steps, runs it, and waits until it ends or asks a person.
    pub async fn run(&self, steps: Value, payload: Value) -> TaskView {
        let id = self.begin(crate::world::plan(steps), payload).await;
        self.rest(id).await
    }

    pub async fn task(&self, id: TaskId) -> TaskView {
        self.world.look(self.engine.tasks().get(&self.world.actor, id)).await.unwrap()
    }

    /// The task once it has ended or asks a person.
    pub async fn rest(&self, id: TaskId) -> TaskView {
        self.until(id, |task| task.status.is_terminal() || task.status == TaskStatus::NeedsReview).await
    }

    /// The task once it has ended.
    pub async fn end(&self, id: TaskId) -> TaskView {
        self.until(id, |task| task.status.is_terminal()).await
    }

    /// The task once it is as it should be.
    pub async fn until(&self, id: TaskId, is: impl Fn(&TaskView) -> bool) -> TaskView {
        let began = self.now();
        let mut looks = 0_u64;
        loop {
            let task = self.task(id).await;
            if is(&task) {
                return task;
            }
            let patience = self.world.settings.poll.0 * PATIENCE;
            assert!(self.now().since(began).0 < patience, "it never came: {task:#?}");
            looks += 1;
            // Every millisecond at first; what takes long may be met a little later.
            pause(if looks < 2_000 { self.world.tick } else { self.world.settings.poll }).await;
        }
    }

    /// Waits until `look` finds something.
    pub async fn find<T>(&self, look: impl AsyncFn() -> Option<T>) -> T {
        for _ in 0..200_000 {
            if let Some(found) = look().await {
                return found;
            }
            pause(self.world.tick).await;
        }
        panic!("nothing was found")
    }

    pub async fn review(&self, id: TaskId, step: Option<&str>, corrections: Value) -> Result<TaskView, Error> {
        self.answer(id, step, corrections, None).await
    }

    pub async fn resolve(&self, id: TaskId, resolution: Resolution) -> Result<TaskView, Error> {
        self.answer(id, None, Value::Null, Some(resolution)).await
    }

    pub async fn answer(
        &self,
        id: TaskId,
        step: Option<&str>,
        corrections: Value,
        resolution: Option<Resolution>,
    ) -> Result<TaskView, Error> {
        let corrections = corrections.as_object().cloned().unwrap_or_default();
        let step_id = step.map(str::to_owned);
        let request = ReviewRequest { corrections, step_id, resolution, ..ReviewRequest::default() };
        self.engine.tasks().review(&self.world.actor, id, request).await
    }

    /// The task once it has taken in what was answered and rests again.
    pub async fn after_answer(&self, id: TaskId, old: &TaskView) -> TaskView {
        let old: Vec<i64> = old.waits.iter().map(|wait| wait.seq).collect();
        self.until(id, |task| {
            let news = task.waits.iter().all(|wait| !old.contains(&wait.seq));
            task.status.is_terminal() || (task.status == TaskStatus::NeedsReview && news)
        })
        .await
    }

    pub async fn replay(&self, id: TaskId) -> ReplayReport {
        self.world.look(self.engine.tasks().replay(&self.world.actor, id)).await.unwrap()
    }

    /// The task has ended, and its journal alone leads to the same end.
    pub async fn proven(&self, id: TaskId) -> TaskView {
        let task = self.end(id).await;
        let report = self.replay(id).await;
        assert!(report.matches, "{:#?}\n{:#?}", report.differences, self.world.journal(id));
        task
    }

    pub async fn log(&self, id: TaskId) -> Vec<LogEntry> {
        self.world.look(self.engine.tasks().log(&self.world.actor, id, -1, 1_000)).await.unwrap().0
    }

    pub async fn events(&self, id: TaskId) -> Vec<(EventType, Option<String>)> {
        self.log(id).await.into_iter().map(|entry| (entry.event_type, entry.step_id)).collect()
    }

    pub async fn attempts(&self, id: TaskId) -> Vec<Attempt> {
        self.world.look(self.engine.store().attempts(self.world.scope(), id)).await.unwrap()
    }

    pub async fn outbox(&self) -> Vec<kybern_core::outbox::OutboxMessage> {
        self.world.look(self.world.store.outbox(self.world.scope(), None, None, 200)).await.unwrap().items
    }

    /// The outcome of a step, as it is journaled last.
    pub fn outcome(&self, id: TaskId, step: &str) -> Option<StepOutcome> {
        self.world.journal(id).into_iter().rev().find_map(|row| match row.entry {
            JournalEntry::Finished(outcome) if row.step.as_ref().is_some_and(|id| id.as_str() == step) => {
                Some(Arc::unwrap_or_clone(outcome))
            }
            _ => None,
        })
    }
}

/// The only wait of a task.
pub fn wait(task: &TaskView) -> &Wait {
    assert_eq!(task.waits.len(), 1, "{task:#?}");
    &task.waits[0]
}

pub fn kinds(task: &TaskView) -> Vec<WaitKind> {
    task.waits.iter().map(|wait| wait.kind).collect()
}

/// An object's members.
pub fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}
