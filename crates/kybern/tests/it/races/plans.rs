//! A plan that is changed while tasks walk it; on PostgreSQL by another process than the one that walks.

use std::collections::BTreeSet;

use futures::future::join_all;
use serde_json::{Value, json};

use super::{Crew, submit, tally};
use crate::server::client::Ask;

/// Tasks that are begun before the change, and while it happens.
const TASKS: usize = 12;
/// Changes at once.
const CHANGES: usize = 20;

#[tokio::test]
async fn a_task_walks_the_plan_that_it_began_with_on_sqlite() {
    a_task_walks_the_plan_that_it_began_with(Crew::sqlite()).await;
}

#[tokio::test]
async fn a_task_walks_the_plan_that_it_began_with_on_postgres() {
    let Some(crew) = Crew::postgres() else { return };
    a_task_walks_the_plan_that_it_began_with(crew).await;
}

/// Asks, and then says which version it is.
fn version(n: u64) -> Value {
    let steps = json!([
        {"id": "ask", "kind": "input", "title": "Go on?", "fields": {"go": {"type": "boolean"}}},
        {"id": format!("only_in_{n}"), "tool": "core.set", "args": {"version": n}}
    ]);
    json!({"key": "race.edited", "intentKey": "race.edited", "steps": steps})
}

async fn a_task_walks_the_plan_that_it_began_with(crew: Crew) {
    crew.client(0).post("/api/plans", &version(1)).await;
    let begun = |count: usize| join_all((0..count).map(|n| submit(crew.client(n), "race.edited")));
    let old = begun(TASKS).await;
    join_all(old.iter().map(|id| crew.client(0).rest(id))).await;
    let put = async { crew.client(1).post("/api/plans", &version(2)).await };
    let (meanwhile, edited) = tokio::join!(begun(TASKS), put);
    assert_eq!(edited["version"], 2, "{edited}");
    // Whoever has been told of the change can rely on it, also at the other process.
    let new = begun(TASKS).await;
    crew.client(0)
        .ok(&Ask { method: reqwest::Method::PATCH, ..Ask::json("/api/plans/race.edited", &json!({"active": false})) })
        .await;
    for (n, id) in old.iter().enumerate() {
        assert_eq!(answered(&crew, n, id).await, 1);
    }
    for (n, id) in meanwhile.iter().enumerate() {
        answered(&crew, n, id).await;
    }
    for (n, id) in new.iter().enumerate() {
        assert_eq!(answered(&crew, n, id).await, 2);
    }
    many_changes_at_once(&crew).await;
}

/// Answers the task at the other process than the one that began it; the version that it walked, as all of it tells.
async fn answered(crew: &Crew, n: usize, id: &str) -> u64 {
    let client = crew.client(n + 1);
    let waiting = client.rest(id).await;
    let task = client.review(&waiting, &json!({"corrections": {"go": true}})).await;
    assert_eq!(task["status"], "completed", "{task}");
    let version = task["selectedPlanVersion"].as_u64().unwrap();
    let steps: Vec<&Value> = task["frozenPlan"].as_array().unwrap().iter().map(|step| &step["id"]).collect();
    assert_eq!((&task["result"]["version"], steps[1]), (&json!(version), &json!(format!("only_in_{version}"))));
    assert_eq!(task["frozenPlan"], waiting["frozenPlan"]);
    client.replays(id).await;
    version
}

async fn many_changes_at_once(crew: &Crew) {
    let changes = (0..CHANGES).map(|n| Ask::json("/api/plans", &version(u64::try_from(n).unwrap() + 3)));
    let answers = crew.at_once(changes).await;
    let taken = answers.iter().filter(|(status, _)| matches!(status, 200 | 201));
    let versions: BTreeSet<u64> = taken.clone().map(|(_, plan)| plan["version"].as_u64().unwrap()).collect();
    assert_eq!(versions.len(), taken.count(), "a version was given twice: {answers:?}");
    assert!(answers.iter().all(|(status, _)| matches!(status, 200 | 201 | 409)), "{:?}", tally(&answers));
    let stored = crew.client(0).list("/api/plans/race.edited/versions").await;
    let active: Vec<&Value> = stored.iter().filter(|plan| plan["active"] == true).collect();
    assert_eq!((stored.len(), active.len()), (versions.len() + 2, 1), "{:?}", tally(&answers));
    let newest = active[0]["version"].as_u64().unwrap();
    assert_eq!(Some(&newest), versions.last());
    let id = submit(crew.client(1), "race.edited").await;
    assert_eq!(answered_with(crew, &id).await["selectedPlanVersion"], newest);
}

async fn answered_with(crew: &Crew, id: &str) -> Value {
    let waiting = crew.client(0).rest(id).await;
    crew.client(0).review(&waiting, &json!({"corrections": {"go": true}})).await
}
