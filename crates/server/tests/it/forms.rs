//! Submissions as forms.

use serde_json::json;

use crate::fixture::Fixture;
use crate::harness::{Answer, App, Ask};

const BOUNDARY: &str = "----edge";

/// A part: its disposition's parameters, its type, its content.
type Part<'a> = (&'a str, Option<&'a str>, &'a [u8]);

fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (disposition, kind, content) in parts {
        body.extend(format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n").into_bytes());
        if let Some(kind) = kind {
            body.extend(format!("Content-Type: {kind}\r\n").into_bytes());
        }
        body.extend(b"\r\n");
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
    body
}

async fn send(app: &App, path: &str, key: Option<&str>, body: Vec<u8>) -> Answer {
    let ask = Ask::post(path).key(&app.ours.operator);
    let ask = match key {
        Some(key) => ask.header("idempotency-key", key),
        None => ask,
    };
    app.send(ask.body(&format!("multipart/form-data; boundary={BOUNDARY}"), body)).await
}

#[tokio::test]
async fn a_form_with_files_is_a_submission() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let body = form(&[
        ("name=\"input\"", None, "Ünïcode".as_bytes()),
        ("name=\"planKey\"", None, fixture.plan.as_bytes()),
        ("name=\"payload\"", Some("application/json"), br#"{"name": "from-form"}"#),
        ("name=\"maxSteps\"", None, b"7"),
        ("name=\"files\"; filename=\"a.txt\"", Some("text/plain"), b"first"),
        ("name=\"anything\"; filename=\"b.bin\"", None, &[0, 159, 146, 150]),
        ("name=\"empty\"; filename=\"\"", None, b""),
    ]);
    let answer = send(&app, "/api/tasks?waitMs=20000", None, body).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let task = answer.json();
    assert_eq!((&task["input"], &task["maxSteps"]), (&json!("Ünïcode"), &json!(7)));
    assert_eq!(task["payload"]["name"], "from-form");
    let path = format!("/api/tasks/{}/attachments", task["id"].as_str().unwrap());
    let files = app.send(Ask::get(&path).key(&app.ours.viewer)).await.json();
    let names: Vec<&str> = files["items"].as_array().unwrap().iter().map(|f| f["filename"].as_str().unwrap()).collect();
    assert_eq!(names, ["a.txt", "b.bin"]);
    let original = app.send(Ask::get(&format!("{path}/2")).key(&app.ours.viewer)).await;
    assert_eq!(original.body.as_ref(), [0, 159, 146, 150]);
    assert_eq!(original.header("content-type"), "application/octet-stream");
}

#[tokio::test]
async fn a_form_with_another_boundary_is_the_same_submission() {
    let app = App::start().await;
    let parts: [Part<'_>; 2] =
        [("name=\"input\"", None, b"hi"), ("name=\"f\"; filename=\"a.txt\"", Some("text/plain"), b"text")];
    let first = send(&app, "/api/tasks", Some("k"), form(&parts)).await;
    let again = String::from_utf8(form(&parts)).unwrap().replace(BOUNDARY, "other");
    let ask = Ask::post("/api/tasks").key(&app.ours.operator).header("idempotency-key", "k");
    let second = app.send(ask.body("multipart/form-data; boundary=other", again)).await;
    assert_eq!(first.json()["id"], second.json()["id"]);
    let other: [Part<'_>; 2] = [parts[0], ("name=\"f\"; filename=\"a.txt\"", Some("text/plain"), b"edited")];
    send(&app, "/api/tasks", Some("k"), form(&other)).await.refused(409, "CONFLICT", "another file");
}

#[tokio::test]
async fn what_is_wrong_with_a_form_is_said_with_the_field() {
    let app = App::start().await;
    let cases: [(&[Part<'_>], &[&str]); 6] = [
        (&[("name=\"input\"", None, b"hi"), ("name=\"colour\"", None, b"red")], &["/colour"]),
        (&[("name=\"input\"", None, b"hi"), ("name=\"payload\"", None, b"{cut")], &["/payload"]),
        (&[("name=\"input\"", None, b"hi"), ("name=\"payload\"", None, b"[1]")], &["/payload"]),
        (&[("name=\"input\"", None, b"hi"), ("name=\"maxSteps\"", None, b"0")], &["/maxSteps"]),
        (&[("name=\"input\"", None, b"a"), ("name=\"input\"", None, b"b")], &["/input"]),
        (&[("name=\"input\"", None, &[0xff, 0xfe])], &["/input"]),
    ];
    for (parts, paths) in cases {
        let answer = send(&app, "/api/tasks", None, form(parts)).await;
        assert_eq!(answer.refused(400, "VALIDATION_ERROR", &format!("{paths:?}")), paths);
    }
    send(&app, "/api/tasks", None, b"no form at all".to_vec()).await.refused(400, "VALIDATION_ERROR", "no form");
    let ask = Ask::post("/api/tasks").key(&app.ours.operator).body("multipart/form-data", "x");
    app.send(ask).await.refused(400, "VALIDATION_ERROR", "no boundary");
}

#[tokio::test]
async fn attachments_over_the_limit_are_refused() {
    let app = App::start().await;
    let one = json!({"filename": "a.txt", "dataBase64": "aA=="});
    let body = json!({"input": "x", "attachments": vec![one; 102]});
    let answer = app.send(Ask::post("/api/tasks").key(&app.ours.operator).json(&body)).await;
    answer.refused(413, "PAYLOAD_TOO_LARGE", "102 attachments");
}
