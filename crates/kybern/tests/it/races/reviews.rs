//! One question, many answers at once.

use serde_json::json;

use super::{Crew, audited, logged, submit, tally};
use crate::server::client::Ask;

const ANSWERS: usize = 50;

#[tokio::test]
async fn of_fifty_answers_one_is_taken_on_sqlite() {
    of_fifty_answers_one_is_taken(Crew::sqlite()).await;
}

#[tokio::test]
async fn of_fifty_answers_one_is_taken_on_postgres() {
    let Some(crew) = Crew::postgres() else { return };
    of_fifty_answers_one_is_taken(crew).await;
}

async fn of_fifty_answers_one_is_taken(crew: Crew) {
    let fields = json!({"n": {"type": "integer"}});
    crew.plan(
        "race.ask",
        json!([
            {"id": "ask", "kind": "input", "title": "Which?", "fields": fields},
            {"id": "keep", "tool": "core.put_record", "args": {
                "kind": "test.answer", "key": "answer-{{ state.n }}", "props": {"n": "{{ state.n }}"}
            }}
        ]),
    )
    .await;
    let client = crew.client(0);
    let id = submit(client, "race.ask").await;
    let waiting = client.rest(&id).await;
    assert_eq!(waiting["status"], "needs_review", "{waiting}");
    let path = format!("/api/tasks/{id}/review");
    let answers = crew.at_once((0..ANSWERS).map(|n| Ask::json(&path, &json!({"corrections": {"n": n}})))).await;
    assert_eq!(tally(&answers), [(200, 1), (409, ANSWERS - 1)].into(), "{answers:?}");
    assert!(answers.iter().all(|(status, answer)| *status == 200 || answer["error"]["code"] == "CONFLICT"));
    let winner = answers.iter().position(|(status, _)| *status == 200).unwrap();
    let task = crew.client(1).rest(&id).await;
    assert_eq!((&task["status"], &task["state"]["n"]), (&json!("completed"), &json!(winner)), "{task}");
    let records = client.list("/api/records/test.answer").await;
    assert_eq!((records.len(), &records[0]["props"]["n"]), (1, &json!(winner)));
    assert_eq!(logged(client, &id, "human_review").await.len(), 1);
    assert_eq!(audited(client, "task.review", &id).await, 1);
    client.replays(&id).await;
    client.audit_is_whole().await;
}
