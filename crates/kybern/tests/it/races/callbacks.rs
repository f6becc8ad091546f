//! What an outside engine may send back: before it has answered, many times at once, with different words, too late,
//! with a secret that is not its own.

use serde_json::{Value, json};

use super::{Crew, audited, logged, submit, tally};
use crate::server::Client;
use crate::server::Site;
use crate::server::client::{Ask, text, until};
use crate::server::receiver::Receiver;

const CALLBACKS: usize = 40;

#[tokio::test]
async fn a_delegation_is_ended_once_on_sqlite() {
    a_delegation_is_ended_once(Site::sqlite(), 1).await;
}

#[tokio::test]
async fn a_delegation_is_ended_once_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_delegation_is_ended_once(site, 2).await;
}

/// A delegation as the engine was told of it.
struct Handed {
    task: String,
    workflow: String,
    secret: String,
}

impl Handed {
    fn say(&self, said: &Value) -> Ask {
        let mut body = said.clone();
        body["workflowId"] = json!(self.workflow);
        let path = format!("/api/internal/brain/callback/{}", self.task);
        Ask::json(&path, &body).header("x-callback-secret", &self.secret)
    }
}

/// Begins a task and waits until it was handed over.
async fn delegate(client: &Client, engine: &Receiver, plan: &str) -> Handed {
    let task = submit(client, plan).await;
    let body = until("it is handed over", || {
        let mut bodies = engine.seen().into_iter().map(|request| request.json());
        std::future::ready(bodies.rfind(|body| body["taskId"] == task.as_str()))
    })
    .await;
    Handed { task, workflow: text(&body["workflowId"]), secret: text(&body["callbackSecret"]) }
}

fn yes(best: usize) -> Value {
    json!({"success": true, "data": {"best": best}})
}

async fn a_delegation_is_ended_once(site: Site, workers: usize) {
    // The engine takes what it is handed, and never answers.
    let engine = Receiver::answering(|_, _| None);
    let crew = Crew::new(site.with("KYBERN_WORKFLOWS__QUOTE__URL", &engine.url("/quote")), workers);
    let steps = |timeout: u64| {
        json!([
            {"id": "quote", "kind": "workflow", "workflow": "quote", "timeoutMs": timeout},
            {"id": "keep", "tool": "core.set", "args": {"best": "{{ steps.quote.result.best }}"}}
        ])
    };
    crew.plan("race.quote", steps(600_000)).await;
    crew.plan("race.hurry", steps(1_500)).await;
    same_words_at_once(&crew, &engine).await;
    other_words_at_once(&crew, &engine).await;
    after_the_end(&crew, &engine).await;
    of_somebody_else(&crew, &engine, steps(600_000)).await;
    crew.client(0).audit_is_whole().await;
}

/// The dispatch has not been answered, and never will be.
async fn same_words_at_once(crew: &Crew, engine: &Receiver) {
    let handed = delegate(crew.client(0), engine, "race.quote").await;
    let answers = crew.at_once((0..CALLBACKS).map(|_| handed.say(&yes(7)))).await;
    let outcomes = |name: &str| answers.iter().filter(|(_, answer)| answer["outcome"] == name).count();
    assert_eq!((tally(&answers), outcomes("accepted")), ([(200, CALLBACKS)].into(), 1), "{answers:?}");
    assert_eq!(outcomes("duplicate"), CALLBACKS - 1, "{answers:?}");
    completed_with(crew, &handed, &json!(7)).await;
}

async fn other_words_at_once(crew: &Crew, engine: &Receiver) {
    let handed = delegate(crew.client(0), engine, "race.quote").await;
    let answers = crew.at_once((0..CALLBACKS).map(|n| handed.say(&yes(n)))).await;
    assert_eq!(tally(&answers), [(200, 1), (409, CALLBACKS - 1)].into(), "{answers:?}");
    let winner = answers.iter().position(|(status, _)| *status == 200).unwrap();
    completed_with(crew, &handed, &json!(winner)).await;
    assert_eq!(audited(crew.client(0), "delegation.conflict", &handed.task).await, CALLBACKS - 1);
}

async fn completed_with(crew: &Crew, handed: &Handed, best: &Value) {
    let client = crew.client(1);
    let task = client.rest(&handed.task).await;
    assert_eq!((&task["status"], &task["result"]["best"]), (&json!("completed"), best), "{task}");
    assert_eq!(logged(client, &handed.task, "workflow_callback").await.len(), 1);
    client.replays(&handed.task).await;
}

/// Cancelled, or over its deadline: recorded, and nothing changes.
async fn after_the_end(crew: &Crew, engine: &Receiver) {
    let client = crew.client(0);
    let handed = delegate(client, engine, "race.quote").await;
    client.ok(&Ask::post(&format!("/api/tasks/{}/cancel", handed.task), "application/json", "")).await;
    late(crew, &handed, "cancelled").await;
    let handed = delegate(client, engine, "race.hurry").await;
    let task = late(crew, &handed, "failed").await;
    assert_eq!(task["error"]["code"], "TIMEOUT", "{task}");
}

async fn late(crew: &Crew, handed: &Handed, status: &str) -> Value {
    let client = crew.client(1);
    let before = client.rest(&handed.task).await;
    assert_eq!(before["status"], status, "{before}");
    let answer = client.ok(&handed.say(&yes(1))).await;
    assert_eq!(answer["outcome"], "late", "{answer}");
    assert_eq!(client.get(&format!("/api/tasks/{}", handed.task)).await, before);
    before
}

/// A secret opens its own delegation and no other, in this tenant and in any.
async fn of_somebody_else(crew: &Crew, engine: &Receiver, steps: Value) {
    let stranger = crew.stranger("Strangers").await;
    stranger.post("/api/plans", &json!({"key": "race.quote", "intentKey": "race.quote", "steps": steps})).await;
    let ours = delegate(crew.client(0), engine, "race.quote").await;
    let theirs = delegate(&stranger, engine, "race.quote").await;
    let mixed = |task: &Handed, workflow: &Handed, secret: &str| Handed {
        task: task.task.clone(),
        workflow: workflow.workflow.clone(),
        secret: secret.to_owned(),
    };
    let forged = [
        mixed(&ours, &ours, &theirs.secret),
        mixed(&theirs, &theirs, &ours.secret),
        mixed(&ours, &ours, "guessed"),
        mixed(&ours, &ours, &ours.secret[1..]),
    ];
    let answers = crew.at_once(forged.iter().map(|handed| handed.say(&yes(1)))).await;
    assert_eq!(tally(&answers), [(401, forged.len())].into(), "{answers:?}");
    // With either secret, a task of one tenant knows nothing of a delegation of the other's.
    let secrets = [&ours.secret, &theirs.secret];
    let crossed = secrets.iter().flat_map(|secret| [mixed(&ours, &theirs, secret), mixed(&theirs, &ours, secret)]);
    let answers = crew.at_once(crossed.map(|handed| handed.say(&yes(1)))).await;
    assert_eq!(tally(&answers), [(404, 4)].into(), "{answers:?}");
    for (client, handed, best) in [(crew.client(0), &ours, 3), (&stranger, &theirs, 4)] {
        let task = client.get(&format!("/api/tasks/{}", handed.task)).await;
        assert_eq!(task["status"], "delegated", "{task}");
        assert_eq!(client.ok(&handed.say(&yes(best))).await["outcome"], "accepted");
        assert_eq!(client.rest(&handed.task).await["result"]["best"], best);
    }
}
