//! What Prometheus is shown of work, of models, and of what waits.

use serde_json::json;

use crate::harness::{App, Ask};

#[tokio::test]
async fn work_models_and_what_waits_are_counted() {
    let app = App::start().await;
    let (admin, operator) = (&app.ours.admin, &app.ours.operator);
    let shown = async || app.send(Ask::get("/metrics").key(admin)).await.text();
    let form = json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]});
    for (key, tool, args) in [
        ("count.ends", "core.set", json!({"x": 1})),
        ("count.fails", "core.fail", json!({"message": "it will not do"})),
        ("count.waits", "core.ask", json!({"title": "Which insurer?", "fields": form})),
    ] {
        let plan =
            json!({"key": key, "steps": [{"id": "one", "tool": tool, "args": args, "retry": {"maxAttempts": 1}}]});
        let answer = app.send(Ask::post("/api/plans").key(admin).json(&plan)).await;
        assert!(answer.status < 300, "{}", answer.text());
        app.submit(operator, json!({"input": "x", "planKey": key})).await;
    }
    let ask = json!({"model": "scripted/echo", "messages": [{"role": "user", "content": "hello"}]});
    assert_eq!(app.send(Ask::post("/v1/chat/completions").key(operator).json(&ask)).await.status, 200);
    let text = shown().await;
    for line in [
        "kybern_tasks{status=\"completed\"} 1",
        "kybern_tasks{status=\"needs_review\"} 1",
        "kybern_task_age_seconds_count{status=\"completed\"} 1",
        "kybern_task_age_seconds_count{status=\"failed\"} 1",
        "kybern_task_age_seconds_bucket{le=\"+Inf\",status=\"completed\"} 1",
        "kybern_approvals_pending 1",
        "kybern_oldest_work_seconds{work=\"tasks\"} ",
        "kybern_oldest_work_seconds{work=\"delegations\"} 0.0",
        "kybern_oldest_work_seconds{work=\"jobs\"} ",
        "kybern_oldest_work_seconds{work=\"messages\"} 0.0",
        "kybern_slots{work=\"tasks\"} ",
        "kybern_slots_held{work=\"tasks\"} 0",
        "kybern_claims 1",
        "kybern_model_calls_total{provider=\"scripted\",outcome=\"answered\"} 1",
        "kybern_model_calls_total{provider=\"scripted\",outcome=\"failed\"} 0",
        "kybern_model_call_duration_seconds_count{provider=\"scripted\"} 1",
        "kybern_model_tokens_total{provider=\"scripted\",direction=\"input\"} 12",
        "kybern_model_tokens_total{provider=\"scripted\",direction=\"output\"} 5",
        "kybern_model_provider_up{provider=\"scripted\"} 1",
    ] {
        assert!(text.lines().any(|shown| shown.starts_with(line)), "{line} is missing in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"), "{text}");
    let deployed = include_str!("../../../../deploy/prometheus/alerts.yaml").to_owned()
        + include_str!("../../../../deploy/prometheus/board.json");
    let names = deployed.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let told = |name: &str| text.lines().any(|line| line.split([' ', '{']).any(|word| word == name));
    // Where the database is elsewhere, as it is here, the disk is not this machine's to know.
    let shown = |name: &str| name.starts_with("kybern_disk_") || told(name) || told(&name.replace("_total", ""));
    let unknown: Vec<&str> = names.filter(|name| name.starts_with("kybern_") && !shown(name)).collect();
    assert_eq!(unknown, Vec::<&str>::new(), "alerts and the board ask for what is not shown");
}
