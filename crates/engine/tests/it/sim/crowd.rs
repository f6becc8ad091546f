//! Other tenants beside the program: one that floods with calls that hang, one of whose rows may be spoilt, and a small
//! one whose work must go on in time whatever they do.

use kybern_core::actor::Actor;
use kybern_core::id::{TaskId, TenantId};
use kybern_core::money::NanoUsd;
use kybern_core::ports::TaskStore as _;
use kybern_core::task::{Task, TaskStatus};
use kybern_core::time::Millis;
use kybern_engine::task::SubmitRequest;
use kybern_testkit::conformance::Spoilt;
use serde_json::{Value, json};
use uuid::Uuid;

use super::Case;
use super::dice::Dice;
use super::laws::nobody_dies;
use super::schedule::Schedule;
use super::story::{Scene, TICK};
use super::world::SimWorld;
use crate::outside::pause;

/// The plan of both.
const PLAN: &str = "sim.beside";
/// How long a small task takes by itself.
const SMALL: Millis = Millis(60);
/// How much later than at once it may begin, and how much longer it may take.
const LATE: Millis = Millis(300);
/// Slots of one tenant where there is a crowd: few, so that a flood fills them.
pub const SLOTS: usize = 4;

/// What the others do.
#[derive(Clone, Debug)]
pub struct Crowd {
    /// So many calls hang at the same time.
    pub flood: u32,
    pub from: u64,
    /// How long each hangs.
    pub hang: Millis,
    /// When the small tenant has something to do.
    pub small: Vec<u64>,
    /// When a row of the one that floods is spoilt.
    pub spoils: Option<u64>,
}

impl Crowd {
    pub fn of(dice: &Dice) -> Self {
        let mut at = dice.below(1_500);
        let small = (0..dice.from(1, 4)).map(|_| {
            at += dice.from(500, 2_500);
            at
        });
        Self {
            small: small.collect(),
            flood: u32::try_from(dice.from(4, 14)).unwrap(),
            from: dice.below(1_000),
            hang: Millis(dice.from(4_000, 25_000)),
            spoils: dice.percent(30).then(|| dice.from(500, 3_000)),
        }
    }
}

/// Who floods.
pub fn hostile() -> Actor {
    tenant(2)
}

/// Who is beside that.
pub fn bystander() -> Actor {
    tenant(3)
}

fn tenant(n: u128) -> Actor {
    kybern_testkit::actors::admin(TenantId::from_uuid(Uuid::from_u128(n)))
}

/// Both tenants' plans.
pub fn plans(crowd: &Crowd) -> [(Actor, Value); 2] {
    let hang = json!({"key": PLAN, "steps": [{"id": "s1", "tool": "s.hang", "args": {"ms": crowd.hang.0}}]});
    let args = json!({"n": 1, "var": "v0", "script": "succeeds", "before": 0, "after": SMALL.0});
    [(hostile(), hang), (bystander(), json!({"key": PLAN, "steps": [{"id": "s1", "tool": "s.keyed", "args": args}]}))]
}

/// What both do in a life.
pub async fn act(scene: &Scene<'_>) {
    let Some(crowd) = &scene.case.schedule.crowd else { return };
    tokio::join!(flood(scene, crowd), small(scene, crowd), spoil(scene, crowd));
}

async fn flood(scene: &Scene<'_>, crowd: &Crowd) {
    scene.until(crowd.from).await;
    for n in 0..crowd.flood {
        let id = submit(scene, &hostile(), PLAN, n).await;
        scene.world.note(|did| did.hostile.extend([(n, id)]));
    }
}

async fn small(scene: &Scene<'_>, crowd: &Crowd) {
    for (n, at) in (0..).zip(&crowd.small) {
        if !scene.world.did().small.contains_key(&n) {
            scene.until(*at).await;
            let id = submit(scene, &bystander(), PLAN, n).await;
            scene.world.note(|did| did.small.extend([(n, id)]));
        }
    }
}

/// Submits until it is known which task that is.
pub async fn submit(scene: &Scene<'_>, actor: &Actor, plan: &str, n: u32) -> TaskId {
    loop {
        let request = SubmitRequest {
            plan_key: Some(plan.to_owned()),
            idempotency_key: Some(format!("number {n} of {plan}")),
            ..SubmitRequest::text("go")
        };
        if let Some(Ok(task)) = scene.or_leaves(scene.engine.tasks().submit(actor, request, None)).await {
            return task.id;
        }
        pause(TICK).await;
    }
}

async fn spoil(scene: &Scene<'_>, crowd: &Crowd) {
    let Some(at) = crowd.spoils.filter(|_| scene.world.did().spoilt.is_none()) else { return };
    scene.until(at).await;
    if let Some(id) = scene.world.did().hostile.values().next().copied() {
        scene.world.mem.spoil(Spoilt::Task(id));
        scene.world.note(|did| did.spoilt = Some(id));
    }
}

/// Whether the small tenant's work is done.
pub fn is_done(world: &SimWorld, schedule: &Schedule) -> bool {
    let Some(crowd) = &schedule.crowd else { return true };
    let did = world.did();
    let ended = |id: &TaskId| task(world, &bystander(), *id).status.is_terminal();
    did.small.len() == crowd.small.len() && did.small.values().all(ended)
}

fn task(world: &SimWorld, of: &Actor, id: TaskId) -> Task {
    world.doom.look(world.store.task(of.scope(), id)).unwrap().unwrap()
}

/// What is wrong with them.
pub fn faults(world: &SimWorld, case: &Case) -> Vec<String> {
    if case.schedule.crowd.is_none() {
        return Vec::new();
    }
    let did = world.did();
    let effects = world.ledger.effects();
    let mut faults = Vec::new();
    for task in did.small.values().map(|id| task(world, &bystander(), *id)) {
        let mut say = |what: String| faults.push(format!("the small task {}: {what}", task.id));
        if task.status != TaskStatus::Completed || task.result != Some(json!({"v0": 1})) {
            say(format!("it is {} with {:?} {:?}", task.status, task.result, task.error));
        }
        if task.usage.cost_nanos != NanoUsd(7) {
            say(format!("it has used {:?}", task.usage));
        }
        let key = format!("v1:{}:{}:s1:0", task.tenant, task.id);
        if effects.get(&key).map(|effect| effect.happened) != Some(1) {
            say(format!("its effect happened {:?}", effects.get(&key)));
        }
        let began = task.started_at.map_or(Millis::default(), |began| began.since(task.created_at));
        let took = task.completed_at.map_or(Millis::default(), |ended| ended.since(task.created_at));
        if case.schedule.is_calm() && (began > LATE || took > Millis(SMALL.0 + 2 * LATE.0)) {
            say(format!("it began after {began} and ended after {took}, because others were in its way"));
        }
        if nobody_dies(world, case) && task.recoveries > 0 {
            say(format!("it was recovered {} times, and no process has died", task.recoveries));
        }
    }
    for task in did.hostile.values().map(|id| task(world, &hostile(), *id)) {
        let is_spoilt = did.spoilt == Some(task.id);
        if is_spoilt && task.status == TaskStatus::Completed && task.unreadable.is_some() && task.started_at.is_none() {
            faults.push(format!("task {} cannot be read, and was completed", task.id));
        }
        if !is_spoilt && nobody_dies(world, case) && task.recoveries > 0 {
            faults.push(format!("task {} of the flood was recovered, and no process has died", task.id));
        }
    }
    faults
}
