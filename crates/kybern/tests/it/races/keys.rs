//! One `Idempotency-Key`, a hundred requests at once.

use serde_json::{Value, json};

use super::{Crew, tally, walk};
use crate::server::client::{Ask, text};

const REQUESTS: usize = 100;

#[tokio::test]
async fn a_hundred_requests_under_one_key_are_one_on_sqlite() {
    a_hundred_requests_under_one_key_are_one(Crew::sqlite()).await;
}

#[tokio::test]
async fn a_hundred_requests_under_one_key_are_one_on_postgres() {
    let Some(crew) = Crew::postgres() else { return };
    a_hundred_requests_under_one_key_are_one(crew).await;
}

fn ask(input: &str, key: &str) -> Ask {
    let mut body = walk("race.noop");
    body["input"] = json!(input);
    Ask::json("/api/tasks", &body).header("idempotency-key", key)
}

async fn a_hundred_requests_under_one_key_are_one(crew: Crew) {
    let noop = json!([{"id": "a", "tool": "core.noop"}]);
    crew.plan("race.noop", noop.clone()).await;
    let client = crew.client(0);
    // Whoever comes while the first is at work is told to come again.
    let answers = crew.at_once((0..REQUESTS).map(|_| ask("same", "the-key"))).await;
    let counts = tally(&answers);
    assert_eq!(counts.values().sum::<usize>(), counts[&202] + counts.get(&409).unwrap_or(&0), "{counts:?}");
    let ids: Vec<String> =
        answers.iter().filter(|(status, _)| *status == 202).map(|(_, task)| text(&task["id"])).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let again = crew.at_once((0..REQUESTS).map(|_| ask("same", "the-key"))).await;
    assert!(again.iter().all(|(status, task)| *status == 202 && task["id"] == ids[0].as_str()), "{:?}", tally(&again));
    let other = crew.at_once((0..REQUESTS).map(|n| ask(&format!("other {n}"), "the-key"))).await;
    assert_eq!(tally(&other), [(409, REQUESTS)].into());
    assert!(other.iter().all(|(_, answer)| answer["error"]["code"] == "CONFLICT"));
    assert_eq!(client.list("/api/tasks").await.len(), 1);
    // Different bodies at once: whichever is first has the key.
    let mixed = crew.at_once((0..REQUESTS).map(|n| ask(&format!("mixed {n}"), "another-key"))).await;
    assert_eq!(tally(&mixed), [(202, 1), (409, REQUESTS - 1)].into());
    assert_eq!(client.list("/api/tasks").await.len(), 2);
    // The key in the body, by which the task itself is known: nobody has to come again.
    let mut keyed = walk("race.noop");
    keyed["idempotencyKey"] = json!("in the body");
    let answers = crew.at_once((0..REQUESTS).map(|_| Ask::json("/api/tasks", &keyed))).await;
    assert_eq!(tally(&answers), [(202, REQUESTS)].into());
    assert!(answers.iter().all(|(_, task)| task["id"] == answers[0].1["id"]), "several tasks under one key");
    // Another tenant's key of the same name is its own.
    let stranger = crew.stranger("Strangers").await;
    stranger.post("/api/plans", &json!({"key": "race.noop", "intentKey": "race.noop", "steps": noop})).await;
    let foreign = stranger.ok(&ask("same", "the-key")).await;
    assert_ne!(foreign["id"], ids[0].as_str());
    assert_eq!(stranger.list("/api/tasks").await.len(), 1);
    assert_eq!(client.list("/api/tasks").await.len(), 3);
}

/// After a day a key is as good as new.
#[tokio::test]
async fn a_key_whose_life_is_over_can_be_used_again() {
    let Some(crew) = Crew::postgres() else { return };
    let user = |name: &str| {
        let body = json!({"name": name, "email": format!("{name}@agency.example"), "roles": ["viewer"]});
        Ask::json("/api/users", &body).header("idempotency-key", "hire")
    };
    let (first, again) = (crew.client(0).ok(&user("ann")).await, crew.client(1).ok(&user("ann")).await);
    assert_eq!(first, again);
    assert_eq!(crew.client(1).send(&user("bob")).await.0.as_u16(), 409);
    crew.site.rows("UPDATE idempotency SET expires_at = 1 WHERE key = 'hire'");
    let answers = crew.at_once((0..10).map(|n| user(&format!("bob{n}")))).await;
    let new: Vec<&Value> = answers.iter().filter(|(status, _)| *status == 201).map(|(_, user)| user).collect();
    assert_eq!((new.len(), tally(&answers)), (1, [(201, 1), (409, 9)].into()), "{answers:?}");
    assert_ne!(new[0]["id"], first["id"]);
}

/// What a process leaves behind that dies between its work and the answer, another one finds at once.
#[tokio::test]
async fn a_repeat_after_a_crash_finds_what_was_made_on_postgres() {
    let Some(crew) = Crew::postgres() else { return };
    crew.plan("race.noop", json!([{"id": "a", "tool": "core.noop"}])).await;
    let first = crew.client(0).ok(&ask("same", "task")).await;
    let ended = crew.client(0).rest(&text(&first["id"])).await;
    let fork = format!("/api/tasks/{}/fork", text(&ended["id"]));
    let asks = [
        ask("same", "task"),
        Ask::json(&fork, &json!({})).header("idempotency-key", "fork"),
        Ask::json("/api/users", &json!({"name": "Ann", "email": "ann@agency.example", "roles": ["viewer"]}))
            .header("idempotency-key", "user"),
        Ask::json("/api/keys", &json!({"name": "k"})).header("idempotency-key", "key"),
        Ask::json("/api/plans", &json!({"key": "race.twice", "steps": [{"id": "a", "tool": "core.noop"}]}))
            .header("idempotency-key", "plan"),
    ];
    for asked in &asks {
        let made = crew.client(0).ok(asked).await;
        crew.site.rows("UPDATE idempotency SET status = NULL, body = NULL");
        let answers = crew.at_once((0..10).map(|_| asked.clone())).await;
        let again: Vec<&Value> = answers.iter().filter(|(status, _)| *status < 300).map(|(_, made)| made).collect();
        assert!(!again.is_empty() && answers.iter().all(|(status, _)| *status < 300 || *status == 409), "{answers:?}");
        for name in ["id", "key", "version"] {
            assert!(again.iter().all(|one| one[name] == made[name]), "{made} then {answers:?}");
        }
    }
    let client = crew.client(1);
    assert_eq!(client.list("/api/tasks").await.len(), 2, "the task and its fork");
    assert_eq!(client.list("/api/plans/race.twice/versions").await.len(), 1);
}
