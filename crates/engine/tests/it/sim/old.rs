//! What a tenant did long ago, which somebody has removed while the program runs.

use kybern_core::actor::Rights;
use kybern_core::audit::AuditEvent;
use kybern_core::id::TaskId;
use kybern_core::ports::{RetentionStore as _, TaskStore as _};
use kybern_core::retention::{RetentionKind, TaskHold};
use kybern_core::task::{Channel, Commit, NewKind, NewTask, Submitted, TaskChange, TaskEnding, TaskStatus, WorkerId};
use kybern_core::time::Millis;
use kybern_testkit::SimClock;
use serde_json::{Value, json};
use uuid::Uuid;

use super::story::{Scene, TICK};
use super::world::SimWorld;
use crate::outside::pause;

const DAY: Millis = Millis(86_400_000);
/// How long ago that was.
const AGO: Millis = Millis(40 * DAY.0);
/// How old is what is removed.
const AGE: Millis = Millis(30 * DAY.0);
/// Tasks with a child each; the first of them is on hold.
const TREES: u128 = 3;

fn id(tree: u128, place: u128) -> TaskId {
    let millis = u128::from(SimClock::START.minus(AGO).as_millis().unsigned_abs());
    TaskId::from_uuid(Uuid::from_u128(millis << 80 | 7 << 76 | 0b10 << 62 | tree << 8 | place))
}

/// It was done.
pub fn plant(world: &SimWorld) {
    let scope = world.actor.scope();
    for tree in 0..TREES {
        for place in [0, 1] {
            end(world, tree, place);
        }
    }
    let hold = TaskHold {
        task_id: id(0, 0),
        reason: "a claim is before the court".to_owned(),
        held_by: "user:test".to_owned(),
        held_at: SimClock::START,
    };
    let audit = AuditEvent::by_executor("task.hold", format!("task:{}", hold.task_id), json!({}));
    world.doom.look(world.store.hold_task(scope, &hold, audit)).unwrap();
}

fn end(world: &SimWorld, tree: u128, place: u128) {
    let (scope, at, worker) = (world.actor.scope(), SimClock::START.minus(AGO), WorkerId::new("long ago"));
    let task = NewTask {
        id: id(tree, place),
        channel: Channel::Api,
        source: "api/test".to_owned(),
        dedupe_key: None,
        body_hash: None,
        input: "go".to_owned(),
        payload: Value::Null,
        created_by: "user:test".to_owned(),
        user: None,
        rights: Rights::OPERATOR,
        plan: None,
        intent: None,
        attachments: Vec::new(),
        max_steps: 50,
        confidence_threshold: 0.8,
        budget: None,
        trace_id: "0".repeat(32),
        parent: (place > 0).then(|| (id(tree, 0), "s1".to_owned())),
        depth: u32::from(place > 0),
        forked_from: None,
        kind: NewKind::Plan,
        at,
    };
    let submitted = world.doom.look(world.store.submit(scope, task, Some((&worker, DAY)))).unwrap();
    let Submitted::New(claimed) = submitted else { unreachable!("it is a new task") };
    let ending = TaskEnding { status: TaskStatus::Cancelled, result: Value::Null, error: None, current_step: None };
    let commit = Commit { change: TaskChange::End(Box::new(ending)), at, ..Commit::default() };
    world.doom.look(world.store.commit(&claimed.lease, commit.into())).unwrap();
}

/// Somebody has it removed, until that is known to have been done.
pub async fn act(scene: &Scene<'_>) {
    let Some(from) = scene.case.schedule.purge else { return };
    scene.until(from).await;
    while !scene.world.did().purged {
        let purged =
            scene.or_leaves(scene.engine.removal().purge(&scene.world.actor, &RetentionKind::ALL, AGE, false)).await;
        if matches!(purged, Some(Ok(_))) {
            scene.world.note(|did| did.purged = true);
        }
        for fault in broken(scene.world) {
            scene.world.ledger.accuse(fault);
        }
        pause(TICK).await;
    }
}

fn there(world: &SimWorld, tree: u128, place: u128) -> bool {
    world.doom.look(world.store.task(world.actor.scope(), id(tree, place))).unwrap().is_some()
}

/// What goes, goes as a whole; what is on hold stays.
fn broken(world: &SimWorld) -> Vec<String> {
    let tree = |tree| [there(world, tree, 0), there(world, tree, 1)];
    let is_broken = |n: &u128| if *n == 0 { tree(0) != [true, true] } else { tree(*n)[0] != tree(*n)[1] };
    let broken = (0..TREES).filter(is_broken);
    broken.map(|n| format!("of tree {n}, long ended, there is {:?}", tree(n))).collect()
}

/// Whether it is over.
pub fn is_done(world: &SimWorld, wanted: Option<u64>) -> bool {
    wanted.is_none() || world.did().purged
}

/// What is wrong with what is left.
pub fn faults(world: &SimWorld, wanted: Option<u64>) -> Vec<String> {
    if wanted.is_none() {
        return Vec::new();
    }
    let left = (1..TREES).filter(|tree| there(world, *tree, 0) || there(world, *tree, 1));
    let left = left.map(|tree| format!("tree {tree}, long ended, was to be removed"));
    broken(world).into_iter().chain(left).collect()
}
