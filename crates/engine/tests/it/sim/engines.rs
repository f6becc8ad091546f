//! Outside workflow engines that answer delegations: in time, early, twice, late, against themselves, or not.

use std::collections::BTreeMap;

use kybern_core::id::{TaskId, TenantId};
use kybern_core::ports::{CallbackOutcome, Clock as _, Keys as _};
use kybern_core::task::Delegation;
use kybern_core::time::Millis;
use kybern_engine::task::{CallbackProof, CallbackRequest};
use kybern_testkit::TestKeys;
use serde_json::{Value, json};

use super::dice::Dice;
use super::ledger::CalledBack;
use super::program::{Kind, Reply, Step};
use super::seen::number_of;
use super::story::{Scene, TICK, too_deep};
use crate::outside::pause;

/// Answers every delegation as its step says.
pub async fn answer(scene: &Scene<'_>) {
    let mut known: BTreeMap<String, u64> = BTreeMap::new();
    loop {
        early(scene).await;
        for (task, delegation) in delegations(scene) {
            let since = *known.entry(delegation.workflow_id.clone()).or_insert_with(|| scene.age());
            one(scene, task, &delegation, since).await;
        }
        pause(TICK).await;
    }
}

/// Whether no engine has anything left to say.
pub fn are_done(scene: &Scene<'_>) -> bool {
    delegations(scene).iter().all(|(_, delegation)| {
        let (wanted, said) = (wanted(reply(scene, delegation)), said(scene, &delegation.workflow_id));
        wanted.is_empty() || said
    })
}

fn delegations(scene: &Scene<'_>) -> Vec<(TaskId, Delegation)> {
    let of = |task: kybern_core::task::Task| {
        scene.world.mem.delegations(task.id).into_iter().map(move |delegation| (task.id, delegation))
    };
    scene.family().into_iter().flat_map(of).collect()
}

fn reply(scene: &Scene<'_>, delegation: &Delegation) -> Reply {
    let step = scene.case.step(number_of(delegation.step.as_str()));
    match step.map(|step| &step.kind) {
        Some(Kind::Workflow(reply) | Kind::Delegate(reply)) => *reply,
        other => unreachable!("{delegation:?} {other:?}"),
    }
}

/// What is sent, at the same time.
fn wanted(reply: Reply) -> Vec<bool> {
    match reply {
        Reply::Once(success) | Reply::Early(success) => vec![success],
        Reply::Twice(success) => vec![success, success],
        Reply::Quarrel => vec![true, false],
        Reply::Late => vec![true],
        Reply::Never | Reply::Refused => Vec::new(),
    }
}

fn said(scene: &Scene<'_>, workflow_id: &str) -> bool {
    scene.world.ledger.callbacks(workflow_id).iter().any(|callback| callback.outcome.is_some())
}

async fn one(scene: &Scene<'_>, task: TaskId, delegation: &Delegation, since: u64) {
    let id = &delegation.workflow_id;
    if said(scene, id) {
        return;
    }
    let reply = reply(scene, delegation);
    let think = Dice::of(scene.case.schedule.mood, u64::from(number_of(delegation.step.as_str()))).below(2_500);
    let is_time = match reply {
        Reply::Late => scene.world.clock.now() >= delegation.deadline.plus(Millis(1_000)),
        _ => scene.age() >= since + think,
    };
    if is_time {
        match wanted(reply)[..] {
            [] => {}
            [one] => call_back(scene, task, id, one).await,
            [one, other, ..] => {
                tokio::join!(call_back(scene, task, id, one), call_back(scene, task, id, other));
            }
        }
    }
}

/// Answers of engines that have not been asked yet.
async fn early(scene: &Scene<'_>) {
    let Some(root) = scene.world.did().root else { return };
    let mut found = Vec::new();
    collect_early(&scene.case.program.steps, "", &mut found);
    for (step, success) in found {
        let id = format!("v1:{}:{root}:{step}:0", TenantId::DEFAULT);
        if !said(scene, &id) {
            call_back(scene, root, &id, success).await;
        }
    }
}

/// The steps whose ids are known before anything has run.
fn collect_early(steps: &[Step], around: &str, found: &mut Vec<(String, bool)>) {
    for step in steps {
        let id = format!("{around}{}", step.id());
        match &step.kind {
            Kind::Workflow(Reply::Early(success)) => found.push((id, *success)),
            Kind::Condition { .. } | Kind::Parallel(_) => {
                for list in step.kind.lists() {
                    collect_early(list, &format!("{id}__"), found);
                }
            }
            _ => {}
        }
    }
}

/// One callback. The data says whether it was a success by its number.
async fn call_back(scene: &Scene<'_>, task: TaskId, id: &str, success: bool) {
    let n = number_of(id.rsplit(':').nth(1).unwrap());
    let request = CallbackRequest {
        workflow_id: id.to_owned(),
        success,
        error: (!success).then(|| "it rained".to_owned()),
        data: if success { json!({format!("w{n}"): 1}) } else { Value::Null },
        body_hash: format!("{success}"),
    };
    let proof = CallbackProof::Secret(TestKeys::new().callback_secret(id));
    // The process may die before the engine hears what became of it.
    scene.world.ledger.called_back(id, CalledBack { success, outcome: None });
    if scene.case.schedule.rude {
        let rude = CallbackRequest { data: too_deep(), ..request.clone() };
        if let Ok(outcome) = scene.engine.tasks().callback(task, &proof, rude).await {
            scene.world.ledger.accuse(format!("a callback of {id} that is nested too deep was {outcome:?}"));
        }
    }
    let answer = scene.or_leaves(scene.engine.tasks().callback(task, &proof, request)).await;
    let outcome: Option<CallbackOutcome> = match answer {
        None => None,
        Some(Ok(outcome)) => Some(outcome),
        Some(Err(error)) => match error.code() {
            kybern_core::error::ErrorCode::Unavailable => None,
            // A step that is not there yet is not known yet.
            kybern_core::error::ErrorCode::NotFound => return,
            code => {
                scene.world.ledger.accuse(format!("a callback of {id} is refused with {code}: {error}"));
                return;
            }
        },
    };
    scene.world.ledger.called_back(id, CalledBack { success, outcome });
}
