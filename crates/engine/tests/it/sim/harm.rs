//! Rows of a tenant that are spoilt while its tasks run, and a task beside them that goes on all the same.

use kybern_core::actor::Actor;
use kybern_core::approval::ApprovalFilter;
use kybern_core::id::TaskId;
use kybern_core::ports::{ApprovalStore as _, TaskStore as _};
use kybern_core::task::{Task, TaskStatus};
use kybern_engine::task::ReviewRequest;
use kybern_testkit::conformance::Spoilt;
use serde_json::{Map, Value, json};

use super::Case;
use super::crowd::{self, hostile};
use super::dice::Dice;
use super::story::{Scene, TICK};
use super::world::SimWorld;
use crate::outside::pause;

const PLAN: &str = "sim.harmed";
const CHILD: &str = "sim.harmed_child";
/// The one that is harmed, and the one beside it.
const HARMED: u32 = 0;
const BESIDE: u32 = 1;

/// Which row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Harm {
    Task,
    Child,
    Journal,
    /// A question in the inbox: what it asks about. Who knows the answer can give it still.
    Question,
}

impl Harm {
    pub fn of(dice: &Dice) -> Self {
        dice.one(&[Self::Task, Self::Child, Self::Journal, Self::Question])
    }
}

/// A call, a child, and a question.
pub fn plans() -> [(Actor, Value); 2] {
    let args = json!({"n": 1, "var": "v0", "script": "succeeds", "before": 0, "after": 60});
    let call = json!({"id": "s1", "tool": "s.keyed", "args": args});
    let child = json!({"id": "s2", "kind": "task", "planKey": CHILD, "input": {}});
    let ask = json!({"id": "s3", "tool": "core.ask", "args": {"title": "what?", "fields": {"v": {"type": "integer"}}}});
    let steps = json!([call, child, ask]);
    [(hostile(), json!({"key": CHILD, "steps": [call]})), (hostile(), json!({"key": PLAN, "steps": steps}))]
}

/// What happens in a life.
pub async fn act(scene: &Scene<'_>) {
    let Some(harm) = scene.case.schedule.harm else { return };
    for n in [HARMED, BESIDE] {
        if !scene.world.did().harmed.contains_key(&n) {
            let id = crowd::submit(scene, &hostile(), PLAN, n).await;
            scene.world.note(|did| did.harmed.extend([(n, id)]));
        }
    }
    loop {
        pause(TICK).await;
        let did = scene.world.did();
        if !did.harm_done
            && let Some(row) = row_of(scene.world, harm, did.harmed[&HARMED])
        {
            scene.world.mem.spoil(row);
            scene.world.note(|did| did.harm_done = true);
        }
        for (n, id) in did.harmed {
            // Before the row is there that is to be spoilt, nobody answers.
            if n == BESIDE || did.harm_done {
                answer(scene, id).await;
            }
        }
    }
}

fn row_of(world: &SimWorld, harm: Harm, id: TaskId) -> Option<Spoilt> {
    let (actor, doom, store) = (hostile(), &world.doom, &world.store);
    match harm {
        Harm::Task => Some(Spoilt::Task(id)),
        Harm::Child => doom.look(store.children(actor.scope(), id)).unwrap().first().copied().map(Spoilt::Task),
        Harm::Journal => {
            let rows = doom.look(store.journal(actor.scope(), id, 0, 1)).unwrap();
            rows.first().map(|row| Spoilt::Journal(id, row.seq))
        }
        Harm::Question => {
            let filter = ApprovalFilter { status: None, task: Some(id), talks_of: None, calls: true };
            let asked = doom.look(store.approvals(actor.scope(), filter, None, 1)).unwrap().items;
            asked.first().map(|approval| Spoilt::Approval(approval.asked.id))
        }
    }
}

async fn answer(scene: &Scene<'_>, id: TaskId) {
    if task(scene.world, id).waits.iter().any(|wait| wait.kind.is_person()) {
        let corrections = Map::from_iter([("v".to_owned(), json!(1))]);
        let request = ReviewRequest { corrections, ..ReviewRequest::default() };
        // Whether it was taken is seen by the task.
        drop(scene.or_leaves(scene.engine.tasks().review(&hostile(), id, request)).await);
    }
}

fn task(world: &SimWorld, id: TaskId) -> Task {
    world.doom.look(world.store.task(hostile().scope(), id)).unwrap().unwrap()
}

/// Whether a task completes; either is legal when `None`: a child that runs when its row is spoilt may end before anybody
/// reads it.
fn completes(harm: Harm, n: u32) -> Option<bool> {
    match harm {
        _ if n == BESIDE => Some(true),
        Harm::Question => Some(true),
        Harm::Child => None,
        Harm::Task | Harm::Journal => Some(false),
    }
}

/// Whether all that must end has ended.
pub fn is_done(world: &SimWorld, case: &Case) -> bool {
    let Some(harm) = case.schedule.harm else { return true };
    let did = world.did();
    let ended = |n: &u32| did.harmed.get(n).is_some_and(|id| task(world, *id).status.is_terminal());
    did.harm_done && [HARMED, BESIDE].iter().all(|n| completes(harm, *n) != Some(true) || ended(n))
}

/// What is wrong with them.
pub fn faults(world: &SimWorld, case: &Case) -> Vec<String> {
    let Some(harm) = case.schedule.harm else { return Vec::new() };
    let mut faults = Vec::new();
    for (n, id) in world.did().harmed {
        let task = task(world, id);
        let completed = task.status == TaskStatus::Completed;
        if completes(harm, n).is_some_and(|completes| completes != completed) {
            faults.push(format!("{harm:?} was spoilt, and task {n} is {}: {:?}", task.status, task.error));
        }
        let key = format!("v1:{}:{id}:s1:0", task.tenant);
        let happened = world.ledger.effects().get(&key).map_or(0, |effect| effect.happened);
        if happened > 1 || (completed && happened != 1) {
            faults.push(format!("the effect of {key} happened {happened} times"));
        }
    }
    faults
}
