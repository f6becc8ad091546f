//! Bodies: too large, too deep, too many.

use serde_json::json;

use super::{Attack, Expect};
use crate::server::client::Ask;

const MEGABYTE: usize = 1024 * 1024;
/// Levels of JSON.
const DEEP: usize = 100_000;
const NOBODY: &str = "0198aaaa-0000-7000-8000-000000000001";

pub(super) fn all() -> Vec<Attack> {
    let mut attacks = large();
    attacks.extend(deep());
    attacks.extend(mails());
    attacks
}

fn large() -> Vec<Attack> {
    let too_large = || Expect::Refused(&[413], "PAYLOAD_TOO_LARGE");
    let body = |mark: u8| vec![mark; 100 * MEGABYTE];
    let json = |path: &str| {
        Attack::new(&format!("100 MB to {path}"), Ask::post(path, "application/json", body(b' ')), too_large())
    };
    vec![
        json("/api/tasks"),
        json("/api/plans"),
        json("/api/inbound/webhook/forms"),
        Attack::new("100 MB of mail", Ask::post("/api/inbound/email", "message/rfc822", body(b'x')), too_large()),
        Attack::new(
            "a body that is packed",
            Ask::post("/api/tasks", "application/json", [0x1f, 0x8b, 8, 0]).header("content-encoding", "gzip"),
            Expect::Refused(&[400, 415], "VALIDATION_ERROR"),
        ),
        Attack::new(
            "20,000 unknown fields of a plan",
            {
                let fields = (0..20_000).map(|n| format!("\"f{n}\":1")).collect::<Vec<_>>().join(",");
                Ask::post("/api/plans", "application/json", format!("{{\"key\":\"a.b\",\"steps\":[],{fields}}}"))
            },
            Expect::Refused(&[422], "UNPROCESSABLE"),
        ),
        Attack::new(
            "40,000 steps",
            {
                let steps: Vec<_> = (0..40_000).map(|n| json!({"id": format!("s{n}")})).collect();
                Ask::json("/api/plans", &json!({"key": "a.b", "steps": steps}))
            },
            Expect::Refused(&[422], "UNPROCESSABLE"),
        ),
    ]
}

fn deep() -> Vec<Attack> {
    let (open, close) = ("[".repeat(DEEP), "]".repeat(DEEP));
    let objects = format!("{}1{}", "{\"a\":".repeat(DEEP), "}".repeat(DEEP));
    let json = |what: &str, path: &str, body: String| {
        let ask = Ask::post(path, "application/json", body).header("x-callback-secret", "guessed");
        Attack::new(&format!("100,000 levels in {what}"), ask, Expect::Refused(&[400], "VALIDATION_ERROR"))
    };
    let task = |name: &str| format!("/api/tasks/{NOBODY}/{name}");
    vec![
        json("a task's payload", "/api/tasks", format!("{{\"input\":\"x\",\"payload\":{open}{close}}}")),
        json("a task's payload, as objects", "/api/tasks", format!("{{\"input\":\"x\",\"payload\":{objects}}}")),
        json("a task without an end", "/api/tasks", format!("{{\"input\":\"x\",\"payload\":{open}")),
        json("a review", &task("review"), format!("{{\"corrections\":{objects}}}")),
        json(
            "a callback",
            &format!("/api/internal/brain/callback/{NOBODY}"),
            format!("{{\"workflowId\":\"x\",\"success\":true,\"data\":{open}{close}}}"),
        ),
        json("a plan", "/api/plans", format!("{{\"key\":\"a.b\",\"steps\":{open}{close}}}")),
        json("a plan to be checked", "/api/plans/check", format!("{{\"key\":\"a.b\",\"steps\":{objects}}}")),
        json("arguments of a tool", "/api/tools/core.set/invoke", format!("{{\"args\":{objects}}}")),
        json("a webhook", "/api/inbound/webhook/forms", objects.clone()),
        json("a user", "/api/users", format!("{{\"name\":{open}{close}}}")),
    ]
}

pub(super) fn mails() -> Vec<Attack> {
    let mail = |what: &str, raw: String, expect| {
        Attack::new(what, Ask::post("/api/inbound/email", "message/rfc822", raw), expect)
    };
    let too_large = || Expect::Refused(&[413], "PAYLOAD_TOO_LARGE");
    let rests = || Expect::Rests(&["needs_review", "completed", "failed"]);
    let part = "--b\r\nContent-Type: application/pdf; name=a.pdf\r\n\r\nx\r\n";
    let head = "From: a@b.example\r\nTo: c@d.example\r\nSubject: Loss runs\r\nMIME-Version: 1.0\r\n";
    let mixed = "Content-Type: multipart/mixed; boundary=b\r\n\r\n";
    let nested: String =
        (0..10_000).map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n")).collect();
    let enclosed = "Content-Type: message/rfc822\r\n\r\n".repeat(10_000);
    vec![
        mail("10,000 files", format!("{head}{mixed}{}--b--\r\n", part.repeat(10_000)), too_large()),
        mail(
            "100,000 empty parts",
            format!("{head}{mixed}{}--b--\r\n", "--b\r\n\r\n\r\n".repeat(100_000)),
            too_large(),
        ),
        mail("10,000 messages in each other", format!("{head}{enclosed}x"), too_large()),
        mail("10,000 parts in each other", format!("{head}{nested}\r\nx"), too_large()),
        mail("a subject of 1 MB", format!("Subject: {}\r\n{head}\r\nx", "word ".repeat(MEGABYTE / 5)), too_large()),
        mail(
            "50,000 encoded words",
            format!("Subject: {}\r\n{head}\r\nx", "=?utf-8?q?=C3=BC?= ".repeat(50_000)),
            too_large(),
        ),
        mail("100,000 headers", format!("{head}{}\r\nx", "X: y\r\n".repeat(100_000)), too_large()),
        mail("50,000 recipients", format!("Cc: {}\r\n{head}\r\nx", "a@b.example, ".repeat(50_000)), too_large()),
        mail("comments in comments", format!("To: {}\r\n{head}\r\nx", "(".repeat(MEGABYTE)), too_large()),
        mail(
            "references without end",
            format!("References: {}\r\n{head}\r\nx", "<a@b>\r\n ".repeat(100_000)),
            too_large(),
        ),
        mail(
            "a charset that is none",
            format!("{head}Content-Type: text/plain; charset=\"\u{0}x\"\r\n\r\n\u{e9}\u{ff}"),
            rests(),
        ),
        mail(
            "HTML of 1 MB",
            format!("{head}Content-Type: text/html\r\n\r\n{}", "<table><tr><td>x".repeat(MEGABYTE / 16)),
            rests(),
        ),
    ]
}
