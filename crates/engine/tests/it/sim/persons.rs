//! Persons who answer what tasks ask.

use std::collections::BTreeMap;

use kybern_core::error::ErrorCode;
use kybern_core::task::{Resolution, Task, Wait, WaitKind};
use kybern_engine::task::ReviewRequest;
use serde_json::{Map, Value, json};

use super::dice::Dice;
use super::ledger::Reviewed;
use super::seen::number_of;
use super::story::{Scene, TICK, too_deep};
use crate::outside::pause;

/// Answers every question after a while.
pub async fn answer(scene: &Scene<'_>) {
    let mut asked: BTreeMap<String, u64> = BTreeMap::new();
    loop {
        pause(TICK).await;
        for task in scene.family() {
            for wait in task.waits.iter().filter(|wait| wait.kind.is_person()) {
                let name = name_of(&task, wait);
                let since = *asked.entry(name.clone()).or_insert_with(|| scene.age());
                if !is_settled(scene, &name) && since + thinking(scene, wait) <= scene.age() {
                    say(scene, &task, wait).await;
                }
            }
        }
    }
}

/// The name of a question: its task, its step, its row.
fn name_of(task: &Task, wait: &Wait) -> String {
    format!("{}:{}:{}", task.id, wait.step_id, wait.seq)
}

fn dice(scene: &Scene<'_>, wait: &Wait, purpose: u64) -> Dice {
    let place = wait
        .step_id
        .as_str()
        .bytes()
        .fold(wait.seq.unsigned_abs(), |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    Dice::of(scene.case.schedule.mood, place.wrapping_add(purpose << 40))
}

/// How long a person thinks; forever about some questions that end by themselves.
fn thinking(scene: &Scene<'_>, wait: &Wait) -> u64 {
    let dice = dice(scene, wait, 1);
    if wait.until.is_some() && dice.percent(40) { u64::MAX / 2 } else { dice.below(1_500) }
}

fn is_settled(scene: &Scene<'_>, name: &str) -> bool {
    scene.world.ledger.reviews().iter().any(|review| review.wait == name && review.taken.is_some())
}

async fn say(scene: &Scene<'_>, task: &Task, wait: &Wait) {
    let name = name_of(task, wait);
    if scene.case.schedule.eager {
        let (one, other) = (give(scene, task, wait, &name, 1), give(scene, task, wait, &name, 2));
        tokio::join!(one, other);
    } else {
        give(scene, task, wait, &name, 1).await;
    }
}

/// Answers with `value`.
async fn give(scene: &Scene<'_>, task: &Task, wait: &Wait, name: &str, value: u64) {
    let resolution = resolution(scene, task, wait);
    let corrections = corrections(wait, resolution, value);
    let request = ReviewRequest {
        corrections: corrections.clone(),
        step_id: Some(wait.step_id.as_str().to_owned()),
        resolution,
        ..ReviewRequest::default()
    };
    let said = Reviewed { wait: name.to_owned(), corrections, resolution, taken: None };
    // The process may die before anybody hears what became of it.
    scene.world.ledger.reviewed(said.clone());
    if scene.case.schedule.rude {
        let corrections = Map::from_iter([("deep".to_owned(), too_deep())]);
        let rude = ReviewRequest { corrections, ..request.clone() };
        if scene.engine.tasks().review(&scene.world.actor, task.id, rude).await.is_ok() {
            scene.world.ledger.accuse(format!("an answer to {name} that is nested too deep was taken"));
        }
    }
    let answer = scene.or_leaves(scene.engine.tasks().review(&scene.world.actor, task.id, request)).await;
    let taken = match answer {
        None => None,
        Some(Ok(_)) => Some(true),
        Some(Err(error)) => match error.code() {
            ErrorCode::Unavailable => None,
            ErrorCode::Conflict => Some(false),
            code => {
                scene.world.ledger.accuse(format!("an answer to {name} is refused with {code}: {error}"));
                Some(false)
            }
        },
    };
    scene.world.ledger.reviewed(Reviewed { taken, ..said });
}

fn resolution(scene: &Scene<'_>, task: &Task, wait: &Wait) -> Option<Resolution> {
    let dice = dice(scene, wait, 2);
    if wait.kind != WaitKind::Ambiguous {
        return dice.percent(12).then_some(Resolution::Fail);
    }
    let place = format!("{}:{}:", task.id, wait.step_id);
    let redone = scene.world.ledger.reviews().iter().any(|review| {
        review.wait.starts_with(&place)
            && review.wait != name_of(task, wait)
            && review.resolution == Some(Resolution::Retry)
    });
    let known = [Resolution::Done, Resolution::Fail, Resolution::Retry, Resolution::Retry];
    Some(if redone { dice.one(&known[..2]) } else { dice.one(&known) })
}

fn corrections(wait: &Wait, resolution: Option<Resolution>, value: u64) -> Map<String, Value> {
    let n = number_of(wait.step_id.as_str());
    let name = match (wait.kind, resolution) {
        (WaitKind::Ambiguous, Some(Resolution::Done)) => format!("d{n}"),
        (_, Some(_)) => return Map::new(),
        (WaitKind::Review, None) => format!("r{n}"),
        (_, None) => format!("a{n}"),
    };
    [(name, json!(value))].into_iter().collect()
}
