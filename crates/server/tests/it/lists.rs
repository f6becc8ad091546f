//! Pages of lists: a cursor goes with the list, the filter and the tenant that it was given for.

use serde_json::json;

use crate::fixture::put_plan;
use crate::harness::{App, Ask};

#[tokio::test]
async fn a_cursor_is_refused_by_another_list_filter_or_tenant_and_when_it_was_changed() {
    let app = App::start().await;
    for key in [&app.ours.admin, &app.theirs.admin] {
        let answer = app.send(Ask::post("/api/plans").key(key).json(&put_plan("count.pages"))).await;
        assert!(answer.status < 300, "{}", answer.text());
    }
    let mut ids = Vec::new();
    for _ in 0..3 {
        let task = app.submit(&app.ours.admin, json!({"input": "x", "planKey": "count.pages"})).await;
        ids.push(task["id"].as_str().unwrap().to_owned());
    }
    let ours = async |path: &str| app.send(Ask::get(path).key(&app.ours.admin)).await;
    let cursor = async |path: &str| ours(path).await.json()["nextCursor"].as_str().unwrap().to_owned();

    let tasks = cursor("/api/tasks?channel=api&limit=1").await;
    for same in ["channel=api&limit=1", "channel=api", "limit=200&channel=api&status="] {
        let page = ours(&format!("/api/tasks?{same}&cursor={tasks}")).await;
        assert_eq!(page.status, 200, "{same}: {}", page.text());
        assert_eq!(page.json()["items"][0]["id"], json!(ids[1]), "{same}");
    }
    let log = cursor(&format!("/api/tasks/{}/log?limit=1", ids[0])).await;
    let (first, last) = tasks.split_at(tasks.len() - 1);
    let changed = format!("{first}{}", if last == "A" { "Q" } else { "A" });
    for (path, cursor) in [
        ("/api/tasks?", &tasks),
        ("/api/tasks?channel=email", &tasks),
        ("/api/tasks?channel=api&status=completed", &tasks),
        ("/api/tasks?channel=api", &changed),
        ("/api/tasks?channel=api", &log),
        ("/api/chats?", &tasks),
        (&format!("/api/tasks/{}/log?", ids[1]), &log),
    ] {
        let answer = ours(&format!("{path}&cursor={cursor}")).await;
        assert_eq!(answer.refused(400, "VALIDATION_ERROR", path), ["/cursor"], "{path}");
    }
    let theirs = Ask::get(&format!("/api/tasks?channel=api&cursor={tasks}")).key(&app.theirs.admin);
    assert_eq!(app.send(theirs).await.refused(400, "VALIDATION_ERROR", "another tenant"), ["/cursor"]);
}
