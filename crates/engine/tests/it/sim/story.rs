//! One life: the process starts, and persons and outside engines do what the schedule says until all has ended.

use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::TaskId;
use kybern_core::job::JobStatus;
use kybern_core::json::MAX_DEPTH;
use kybern_core::ports::TaskStore as _;
use kybern_core::task::{Task, TaskStatus};
use kybern_core::time::Millis;
use kybern_engine::Engine;
use kybern_engine::task::SubmitRequest;
use serde_json::{Value, json};
use std::task::Poll;
use tokio::time::Instant;

use super::Case;
use super::world::{SimWorld, Told};
use super::{crowd, engines, harm, old, persons};
use crate::outside::pause;

/// How often everybody looks.
pub const TICK: Millis = Millis(150);
/// After so much simulated time whatever has not ended never will.
const PATIENCE: u64 = 900_000;

/// What the actors of a life share.
pub struct Scene<'w> {
    pub world: &'w SimWorld,
    pub case: &'w Case,
    pub engine: Engine,
    began: Instant,
}

impl Scene<'_> {
    /// How long this life has lasted.
    pub fn age(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    /// Waits for an answer, unless whoever asks leaves before it comes: then `None`, and what was asked for may have
    /// been done or not.
    pub async fn or_leaves<T>(&self, asked: impl Future<Output = T>) -> Option<T> {
        let mut left = self.world.patience();
        let mut asked = std::pin::pin!(asked);
        std::future::poll_fn(|context| match (asked.as_mut().poll(context), &mut left) {
            (Poll::Ready(answer), _) => Poll::Ready(Some(answer)),
            (Poll::Pending, Some(0)) => Poll::Ready(None),
            (Poll::Pending, left) => {
                *left = left.map(|left| left - 1);
                Poll::Pending
            }
        })
        .await
    }

    pub async fn until(&self, moment: u64) {
        pause(Millis(moment.saturating_sub(self.age()))).await;
    }

    /// The root's task and all below it.
    pub fn family(&self) -> Vec<Task> {
        family(self.world)
    }
}

/// The root's task and all below it, parents first.
pub fn family(world: &SimWorld) -> Vec<Task> {
    let scope = world.actor.scope();
    let mut found: Vec<Task> = Vec::new();
    let mut open: Vec<TaskId> = world.did().root.into_iter().collect();
    while let Some(id) = open.pop() {
        let task = world.doom.look(world.store.task(scope, id)).unwrap().unwrap();
        open.extend(world.doom.look(world.store.children(scope, id)).unwrap());
        found.push(task);
    }
    found
}

/// One life from its start.
pub async fn tell(world: &SimWorld, case: &Case, life: usize) -> Told {
    let engine = world.engine();
    if !world.did().planted {
        let own = case.program.plans().into_iter().map(|plan| (world.actor.clone(), plan));
        let others = case.schedule.crowd.iter().flat_map(crowd::plans);
        let harmed = case.schedule.harm.iter().flat_map(|_| harm::plans());
        for (actor, plan) in own.chain(others).chain(harmed) {
            if let Err(error) = world.doom.look(engine.plans().put(&actor, &plan)) {
                return Told::Stuck(format!("a plan is refused: {error} {:?}\n{plan:#}", error.details()));
            }
        }
        world.note(|did| did.planted = true);
    }
    let scene = Scene { world, case, engine, began: Instant::now() };
    if scene.engine.start().await.is_err() {
        return Told::Died;
    }
    let everybody = async {
        submit(&scene).await;
        tokio::join!(
            second(&scene),
            drains(&scene),
            cancels(&scene),
            pauses(&scene),
            retries(&scene),
            clock(&scene, life),
            persons::answer(&scene),
            engines::answer(&scene),
            again(&scene),
            crowd::act(&scene),
            harm::act(&scene),
            old::act(&scene),
        )
    };
    tokio::select! {
        biased;
        _ = everybody => Told::Stuck("everybody went home".to_owned()),
        () = stops(&scene, life) => Told::Died,
        told = watch(&scene) => told,
    }
}

async fn watch(scene: &Scene<'_>) -> Told {
    loop {
        pause(TICK).await;
        let family = scene.family();
        let ended = !family.is_empty() && family.iter().all(|task| task.status.is_terminal());
        let jobs = || scene.world.mem.jobs().iter().any(|job| job.status == JobStatus::Pending);
        let (world, case) = (scene.world, scene.case);
        let others = || {
            crowd::is_done(world, &case.schedule)
                && harm::is_done(world, case)
                && old::is_done(world, case.schedule.purge)
        };
        if ended && !retry_is_due(scene) && !jobs() && engines::are_done(scene) && others() {
            return Told::Ended;
        }
        if scene.age() > PATIENCE {
            let open: Vec<&Task> = family.iter().filter(|task| !task.status.is_terminal()).collect();
            return Told::Stuck(format!("not over after {PATIENCE} ms; jobs open: {}; {open:#?}", jobs()));
        }
    }
}

fn request(scene: &Scene<'_>) -> SubmitRequest {
    SubmitRequest {
        plan_key: Some(scene.case.program.key()),
        payload: json!({"any": nested(scene.case.schedule.payload - 1)}),
        max_steps: scene.case.program.max_steps,
        idempotency_key: Some("once".to_owned()),
        ..SubmitRequest::text("go")
    }
}

/// Lists in each other, so many.
pub fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(true), |inner, _| json!([inner]))
}

/// More than is taken anywhere.
pub fn too_deep() -> Value {
    nested(MAX_DEPTH + 1)
}

/// Submits until it is known which task that is.
async fn submit(scene: &Scene<'_>) {
    let world = scene.world;
    if scene.case.schedule.rude {
        let request = SubmitRequest { payload: too_deep(), idempotency_key: None, ..request(scene) };
        if let Ok(task) = scene.engine.tasks().submit(&world.actor, request, None).await {
            world.ledger.accuse(format!("a payload that is nested too deep was taken by {}", task.id));
        }
    }
    loop {
        let once = || async {
            let answer = scene.or_leaves(scene.engine.tasks().submit(&world.actor, request(scene), None)).await;
            answer.unwrap_or_else(|| Err(Error::new(ErrorCode::Unavailable, "nobody waited for the answer")))
        };
        let answers = if scene.case.schedule.twice {
            let (one, other) = tokio::join!(once(), once());
            vec![one, other]
        } else {
            vec![once().await]
        };
        for answer in answers {
            match answer {
                Ok(task) => took(scene, task.id),
                Err(error) if error.code() == ErrorCode::Unavailable => {}
                Err(error) => world.ledger.accuse(format!("a submission is refused: {error}")),
            }
        }
        if world.did().root.is_some() {
            return;
        }
        pause(TICK).await;
    }
}

fn took(scene: &Scene<'_>, id: TaskId) {
    let known = scene.world.did().root;
    if known.is_some_and(|known| known != id) {
        scene.world.ledger.accuse("one key gave two tasks".to_owned());
    }
    scene.world.note(|did| did.root = Some(id));
}

/// The same submission once more, later.
async fn again(scene: &Scene<'_>) {
    if scene.case.schedule.twice && !scene.world.did().submitted_again {
        scene.until(1_000).await;
        if let Ok(task) = scene.engine.tasks().submit(&scene.world.actor, request(scene), None).await {
            took(scene, task.id);
            scene.world.note(|did| did.submitted_again = true);
        }
    }
}

/// A second process beside the first. On its start it takes what is leased for left behind.
async fn second(scene: &Scene<'_>) {
    let Some(from) = scene.case.schedule.second else { return };
    scene.until(from).await;
    let engine = scene.world.engine();
    while engine.start().await.is_err() {
        pause(TICK).await;
    }
    std::future::pending::<()>().await;
}

async fn drains(scene: &Scene<'_>) {
    let Some(from) = scene.case.schedule.drain else { return };
    scene.until(from).await;
    scene.engine.drain(Millis(50)).await;
}

async fn cancels(scene: &Scene<'_>) {
    let (world, Some(from)) = (scene.world, scene.case.schedule.cancel) else { return };
    if world.did().cancelled {
        return;
    }
    scene.until(from).await;
    let Some(root) = world.did().root else { return };
    world.note(|did| did.cancel_wanted = true);
    loop {
        let answer = scene.or_leaves(scene.engine.tasks().cancel(&world.actor, root)).await;
        if answer.is_some_and(|answer| !matches!(answer, Err(error) if error.code() == ErrorCode::Unavailable)) {
            world.note(|did| did.cancelled = true);
            return;
        }
        pause(TICK).await;
    }
}

async fn pauses(scene: &Scene<'_>) {
    let (world, Some((from, to))) = (scene.world, scene.case.schedule.pause) else { return };
    scene.until(from).await;
    let Some(root) = world.did().root else { return };
    if !world.did().paused {
        world.note(|did| did.paused = true);
        // Whether it was heard or not: it is resumed in any case.
        drop(scene.engine.tasks().pause(&world.actor, root).await);
    }
    scene.until(to).await;
    while !world.did().resumed {
        match scene.engine.tasks().resume(&world.actor, root).await {
            Err(error) if error.code() == ErrorCode::Unavailable => pause(TICK).await,
            Ok(_) | Err(_) => world.note(|did| did.resumed = true),
        }
    }
}

fn retry_is_due(scene: &Scene<'_>) -> bool {
    let did = scene.world.did();
    let wanted = scene.case.schedule.retry && !did.retried && !did.cancel_wanted;
    let Some(root) = did.root.filter(|_| wanted) else { return false };
    let task = scene.world.doom.look(scene.world.store.task(scene.world.actor.scope(), root));
    task.unwrap().is_some_and(|task| task.status == TaskStatus::Failed)
}

async fn retries(scene: &Scene<'_>) {
    let world = scene.world;
    loop {
        pause(TICK).await;
        if !retry_is_due(scene) {
            continue;
        }
        let Some(root) = world.did().root else { continue };
        match scene.or_leaves(scene.engine.tasks().retry(&world.actor, root)).await {
            None => {}
            Some(Err(error)) if error.code() == ErrorCode::Unavailable => {}
            Some(Ok(_) | Err(_)) => world.note(|did| did.retried = true),
        }
    }
}

/// The process is told to stop, and stops.
async fn stops(scene: &Scene<'_>, life: usize) {
    match scene.case.schedule.lives.get(life).and_then(|life| life.stop) {
        Some((from, grace)) => {
            scene.until(from).await;
            scene.engine.drain(grace).await;
        }
        None => std::future::pending().await,
    }
}

/// The clock goes wrong.
async fn clock(scene: &Scene<'_>, life: usize) {
    let wrong = scene.case.schedule.lives.get(life).and_then(|life| life.clock);
    if let Some((from, by)) = wrong {
        scene.until(from).await;
        scene.world.clock.shift(by);
    }
}
