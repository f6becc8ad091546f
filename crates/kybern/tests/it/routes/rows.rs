//! The table: what each operation asks of its caller, what stands in its path, what it reads, and how it succeeds.
//!
//! The rows stand in an order in which one set of things is enough to let each route do its work.

use serde_json::{Value, json};

use super::things::Things;

/// What a route asks of its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// Nothing.
    Anyone,
    /// A key with that right.
    Key(&'static str),
    /// A key with that right, or a signature.
    Signed(&'static str),
    /// The secret of a delegation.
    Secret,
}

/// A varying part of a path.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// The id of a thing; an unknown one is not found.
    Id(fn(&Things) -> &str),
    /// The name of a tenant's own thing; an unknown one is not found.
    Name(fn(&Things) -> &str),
    /// A name that filters; an unknown one is an empty list.
    Filter(fn(&Things) -> &str),
    /// A number from 0 on; one that is too high is not found.
    Number,
    /// A name that is the same for all tenants; an unknown one is not found.
    Shared(&'static str),
    /// A name that callers choose.
    Free(&'static str),
}

/// What becomes of a body whose content is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Faults {
    /// 400 with each place.
    Refused,
    /// 422 with each place: a plan is well-formed and yet cannot be kept.
    Listed,
    /// 200: to say what is wrong is the answer.
    Answered,
    /// 400 with each place; members that are not known are passed on to whoever knows them.
    Lenient,
    /// Nothing in it can be wrong.
    None,
}

/// What a route reads.
#[derive(Clone, Copy)]
pub(crate) enum Input {
    Nothing,
    /// A JSON object: one that is right, another for each number.
    Json(fn(&Things, u32) -> Value, Faults),
    /// A body of another type.
    Other(&'static str, fn(u32) -> String),
}

#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) who: Who,
    pub(crate) parts: &'static [Part],
    pub(crate) input: Input,
    /// The status of success.
    pub(crate) success: u16,
}

impl Row {
    /// For messages.
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The right that a key needs.
    pub(crate) fn right(&self) -> Option<&'static str> {
        match self.who {
            Who::Key(right) | Who::Signed(right) => Some(right),
            Who::Anyone | Who::Secret => None,
        }
    }

    /// The names of the varying parts, in order.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
    }
}

use Faults::{Answered, Listed, Refused};
use Input::{Json, Nothing, Other};
use Part::{Filter, Free, Id, Name, Number, Shared};
use Who::{Anyone, Key, Secret, Signed};

const TASK: &[Part] = &[Id(|things| &things.ended)];
const RUNNING: &[Part] = &[Id(|things| &things.running)];
const PLAN: &[Part] = &[Name(|things| &things.plan)];
const APPROVAL: &[Part] = &[Id(|things| &things.approval)];
const BUDGET: &[Part] = &[Id(|things| &things.budget)];
const AGENT: &[Part] = &[Name(|things| &things.agent)];
const DRAFT: &[Part] = &[Id(|things| &things.draft)];
const REVIEWED: &[Part] = &[Id(|things| &things.reviewed)];
const TOOL: &[Part] = &[Name(|things| &things.tool)];
const REVIEWED_TOOL: &[Part] = &[Name(|things| &things.reviewed_tool)];
const CHAT: &[Part] = &[Id(|things| &things.chat)];
const MEMORY: &[Part] = &[Id(|things| &things.memory)];
const DOCUMENT: &[Part] = &[Id(|things| &things.document)];
const LESSON: &[Part] = &[Id(|things| &things.lesson)];
const RECORD: &[Part] = &[Name(|things| &things.kind), Id(|things| &things.record)];
const USER: &[Part] = &[Id(|things| &things.user)];

fn read(path: &'static str, parts: &'static [Part]) -> Row {
    Row { method: "GET", path, who: Key("read"), parts, input: Nothing, success: 200 }
}

fn administered(path: &'static str, parts: &'static [Part]) -> Row {
    Row { who: Key("administer"), ..read(path, parts) }
}

fn open(path: &'static str) -> Row {
    Row { who: Anyone, ..read(path, &[]) }
}

fn act(method: &'static str, path: &'static str, right: &'static str, parts: &'static [Part], success: u16) -> Row {
    Row { method, path, who: Key(right), parts, input: Nothing, success }
}

#[rustfmt::skip]
pub(crate) fn all() -> Vec<Row> {
    vec![
        Row { input: Json(submission, Refused), ..act("POST", "/api/tasks", "operate", &[], 202) },
        read("/api/tasks", &[]),
        read("/api/tasks/{id}", TASK),
        read("/api/tasks/{id}/log", TASK),
        read("/api/tasks/{id}/events", TASK),
        read("/api/tasks/{id}/artifacts", TASK),
        read("/api/tasks/{id}/attachments", TASK),
        read("/api/tasks/{id}/attachments/{n}", &[Id(|things| &things.ended), Number]),
        act("POST", "/api/tasks/{id}/pause", "operate", RUNNING, 200),
        act("POST", "/api/tasks/{id}/resume", "operate", RUNNING, 200),
        act("POST", "/api/tasks/{id}/cancel", "operate", RUNNING, 200),
        act("POST", "/api/tasks/{id}/retry", "operate", &[Id(|things| &things.failed)], 200),
        Row { input: Json(fork, Refused), ..act("POST", "/api/tasks/{id}/fork", "operate", TASK, 202) },
        act("POST", "/api/tasks/{id}/replay", "operate", TASK, 200),
        Row { input: Json(hold, Refused), ..act("POST", "/api/tasks/{id}/hold", "administer", TASK, 200) },
        act("POST", "/api/tasks/{id}/release", "administer", TASK, 200),
        Row { input: Json(purge, Refused), ..act("POST", "/api/purge", "administer", &[], 200) },
        Row { input: Json(review, Refused),
            ..act("POST", "/api/tasks/{id}/review", "review", &[Id(|things| &things.waiting)], 200) },
        Row { input: Json(review, Refused),
            ..act("POST", "/api/internal/brain/review/{id}", "review", &[Id(|things| &things.asked)], 200) },
        Row { who: Secret, input: Json(callback, Refused),
            ..act("POST", "/api/internal/brain/callback/{id}", "", &[Id(|things| &things.delegated)], 200) },
        Row { input: Other("message/rfc822", mail), ..act("POST", "/api/inbound/email", "operate", &[], 202) },
        Row { input: Other("application/x-www-form-urlencoded", sms),
            ..act("POST", "/api/inbound/sms", "operate", &[], 202) },
        Row { who: Signed("operate"), input: Json(lead, Faults::None),
            ..act("POST", "/api/inbound/webhook/{source}", "operate", &[Free("crm")], 202) },
        Row { input: Json(plan, Listed), ..act("POST", "/api/plans", "administer", &[], 201) },
        read("/api/plans", &[]),
        Row { input: Json(plan, Answered), ..act("POST", "/api/plans/check", "read", &[], 200) },
        read("/api/plans/{key}", PLAN),
        read("/api/plans/{key}/versions", PLAN),
        Row { input: Json(|_, n| json!({"active": n % 2 == 0}), Refused),
            ..act("PATCH", "/api/plans/{key}", "administer", PLAN, 200) },
        read("/api/tools", &[]),
        read("/api/tools/{name}", &[Shared("core.set")]),
        Row { input: Json(|_, n| json!({"input": {"number": n}}), Refused),
            ..act("POST", "/api/tools/{name}/invoke", "operate", &[Shared("core.set")], 200) },
        Row { input: Json(|_, n| json!({"enabled": true, "limits": {"perMinute": 1_000 + n}}), Refused),
            ..act("PATCH", "/api/tools/{name}", "administer", &[Shared("core.set")], 200) },
        Row { input: Json(|_, n| own_tool(&format!("made.tool_{n}"), "Pings."), Refused),
            ..act("POST", "/api/tools", "administer", &[], 201) },
        read("/api/tools/{name}/versions", TOOL),
        act("POST", "/api/tools/{name}/submit", "administer", TOOL, 200),
        Row { input: Json(|_, n| json!({"note": format!("the {n}th time")}), Refused),
            ..act("POST", "/api/tools/{name}/reject", "administer", TOOL, 200) },
        Row { input: Json(read_tool, Refused),
            ..act("POST", "/api/tools/{name}/approve", "administer", REVIEWED_TOOL, 200) },
        Row { input: Json(read_tool, Refused),
            ..act("POST", "/api/tools/{name}/activate", "administer", REVIEWED_TOOL, 200) },
        act("POST", "/api/tools/{name}/disable", "administer", REVIEWED_TOOL, 200),
        act("DELETE", "/api/tools/{name}", "administer", TOOL, 204),
        Row { input: Json(agent, Refused), ..act("POST", "/api/agents", "administer", &[], 201) },
        read("/api/agents", &[]),
        read("/api/agents/{id}", AGENT),
        Row { input: Json(|_, n| json!({"description": format!("the {n}th")}), Refused),
            ..act("PATCH", "/api/agents/{id}", "administer", AGENT, 200) },
        Row { input: Json(prompt, Refused), ..act("POST", "/api/prompts", "administer", &[], 201) },
        administered("/api/prompts", &[]),
        Row { input: Json(|things, n| json!({"content": format!("the {n}th question"), "chatId": things.chat}), Refused),
            ..act("POST", "/api/prompts/preview", "administer", &[], 200) },
        administered("/api/prompts/{id}", DRAFT),
        Row { input: Json(|_, n| json!({"text": format!("You answer for the {n}th.")}), Refused),
            ..act("PATCH", "/api/prompts/{id}", "administer", DRAFT, 200) },
        act("POST", "/api/prompts/{id}/submit", "administer", DRAFT, 200),
        Row { input: Json(|_, n| json!({"note": format!("the {n}th time")}), Refused),
            ..act("POST", "/api/prompts/{id}/reject", "administer", DRAFT, 200) },
        Row { input: Json(read_prompt, Refused),
            ..act("POST", "/api/prompts/{id}/approve", "administer", REVIEWED, 200) },
        Row { input: Json(read_prompt, Refused),
            ..act("POST", "/api/prompts/{id}/activate", "administer", REVIEWED, 200) },
        Row { input: Json(talk, Refused), ..act("POST", "/api/chats", "operate", &[], 201) },
        read("/api/chats", &[]),
        Row { input: Json(import, Faults::Lenient), ..act("POST", "/api/chats/import", "operate", &[], 201) },
        read("/api/chats/{id}", CHAT),
        Row { input: Json(|_, n| json!({"content": format!("the {n}th question")}), Refused),
            ..act("POST", "/api/chats/{id}/messages", "operate", CHAT, 200) },
        read("/api/chats/{id}/messages", CHAT),
        read("/api/chats/{id}/stream", CHAT),
        read("/api/chats/{id}/export", CHAT),
        Row { input: Json(forked, Refused), ..act("POST", "/api/chats/{id}/fork", "operate", CHAT, 201) },
        act("POST", "/api/chats/{id}/messages/{message}/redact", "operate",
            &[Id(|things| &things.chat), Id(|things| &things.message)], 200),
        act("POST", "/api/chats/{id}/reset", "operate", CHAT, 200),
        act("DELETE", "/api/chats/{id}", "operate", CHAT, 204),
        act("DELETE", "/api/agents/{id}", "administer", AGENT, 204),
        act("POST", "/api/agents/{id}/reset", "administer", &[Shared("writer")], 200),
        act("POST", "/api/agents/resync", "administer", &[], 200),
        Row { input: Json(|_, n| json!({"content": format!("Likes the {n}th train.")}), Refused),
            ..act("POST", "/api/memories", "operate", &[], 201) },
        read("/api/memories", &[]),
        read("/api/memories/export", &[]),
        read("/api/memories/{id}", MEMORY),
        Row { input: Json(|_, n| json!({"content": format!("Likes the {n}th ship.")}), Refused),
            ..act("PATCH", "/api/memories/{id}", "operate", MEMORY, 200) },
        act("POST", "/api/memories/{id}/accept", "operate", MEMORY, 200),
        act("POST", "/api/memories/{id}/reject", "operate", &[Id(|things| &things.proposed)], 200),
        act("DELETE", "/api/memories/{id}", "operate", MEMORY, 204),
        Row { input: Json(|_, n| json!({"filename": format!("{n}.txt"), "dataBase64": "aGVsbG8="}), Refused),
            ..act("POST", "/api/knowledge", "administer", &[], 202) },
        read("/api/knowledge", &[]),
        read("/api/knowledge/search", &[]),
        read("/api/knowledge/{id}", DOCUMENT),
        act("POST", "/api/knowledge/{id}/publish", "administer", DOCUMENT, 200),
        act("POST", "/api/knowledge/{id}/unpublish", "administer", DOCUMENT, 200),
        act("POST", "/api/knowledge/{id}/reindex", "administer", DOCUMENT, 200),
        act("DELETE", "/api/knowledge/{id}", "administer", DOCUMENT, 204),
        Row { input: Json(lesson, Refused), ..act("POST", "/api/lessons", "administer", &[], 201) },
        read("/api/lessons", &[]),
        read("/api/lessons/{id}", LESSON),
        administered("/api/lessons/{id}/preview", LESSON),
        act("POST", "/api/lessons/{id}/accept", "administer", LESSON, 200),
        act("POST", "/api/lessons/{id}/withdraw", "administer", &[Id(|things| &things.refused_lesson)], 200),
        read("/api/preferences", &[]),
        Row { input: Json(|_, n| json!({"customInstructions": [format!("the {n}th wish")]}), Refused),
            ..act("PUT", "/api/preferences", "operate", &[], 200) },
        act("DELETE", "/api/preferences", "operate", &[], 204),
        read("/api/approvals", &[]),
        read("/api/approvals/{id}", APPROVAL),
        Row { input: Json(|_, n| json!({"decision": "approve", "input": {"answer": format!("carrier {n}")}}), Refused),
            ..act("POST", "/api/approvals/{id}", "review", APPROVAL, 200) },
        Row { input: Json(chat, Faults::Lenient), ..act("POST", "/v1/chat/completions", "operate", &[], 200) },
        read("/v1/models", &[]),
        read("/v1/models/{id}", &[Shared("fake/chat")]),
        administered("/api/models/policy", &[]),
        Row { input: Json(|_, _| json!({"providers": null}), Refused),
            ..act("PUT", "/api/models/policy", "administer", &[], 200) },
        Row { input: Json(|_, n| json!({"model": "fake/embed", "input": format!("text {n}")}), Refused),
            ..act("POST", "/v1/embeddings", "operate", &[], 200) },
        Row { input: Json(budget, Refused), ..act("POST", "/api/budgets", "administer", &[], 201) },
        read("/api/budgets", &[]),
        read("/api/budgets/{id}", BUDGET),
        Row { input: Json(|_, n| json!({"calls": 100_000 + n}), Refused),
            ..act("PATCH", "/api/budgets/{id}", "administer", BUDGET, 200) },
        act("DELETE", "/api/budgets/{id}", "administer", BUDGET, 204),
        read("/api/usage", &[]),
        read("/api/entities", &[]),
        read("/api/entities/{id}/dossier", &[Id(|things| &things.record)]),
        read("/api/records", &[]),
        read("/api/records/{kind}", &[Filter(|things| &things.kind)]),
        read("/api/records/{kind}/export", &[Filter(|things| &things.kind)]),
        read("/api/records/{kind}/{id}", RECORD),
        Row { input: Json(record, Refused), ..act("PATCH", "/api/records/{kind}/{id}", "operate", RECORD, 200) },
        read("/api/records/{kind}/{id}/history", RECORD),
        read("/api/records/{kind}/{id}/tasks", RECORD),
        read("/api/outbox", &[]),
        Row { input: Json(|_, _| json!({"evenIfSent": true}), Refused),
            ..act("POST", "/api/outbox/{id}/retry", "operate", &[Id(|things| &things.mail)], 200) },
        Row { input: Json(user, Refused), ..act("POST", "/api/users", "administer", &[], 201) },
        administered("/api/users", &[]),
        administered("/api/users/{id}", USER),
        administered("/api/users/{id}/permissions", USER),
        Row { input: Json(|_, _| json!({"roles": ["operator"]}), Refused),
            ..act("PUT", "/api/users/{id}/permissions", "administer", USER, 200) },
        Row { input: Json(key, Refused), ..act("POST", "/api/keys", "administer", &[], 201) },
        administered("/api/keys", &[]),
        act("DELETE", "/api/keys/{id}", "administer", &[Id(|things| &things.key)], 204),
        Row { input: Json(secret, Refused), ..act("POST", "/api/secrets", "administer", &[], 201) },
        administered("/api/secrets", &[]),
        administered("/api/secrets/{name}", &[Name(|things| &things.sealed)]),
        act("DELETE", "/api/secrets/{name}", "administer", &[Name(|things| &things.sealed)], 204),
        Row { input: Json(webhook, Refused), ..act("POST", "/api/webhooks/outbound", "administer", &[], 201) },
        administered("/api/webhooks/outbound", &[]),
        act("DELETE", "/api/webhooks/outbound/{id}", "administer", &[Id(|things| &things.webhook)], 204),
        Row { input: Json(|_, n| json!({"name": format!("Third Carrier {n}")}), Refused),
            ..act("POST", "/api/admin/tenants", "platform", &[], 201) },
        Row { who: Key("platform"), ..read("/api/admin/tenants", &[]) },
        administered("/api/audit", &[]),
        administered("/api/audit/head", &[]),
        administered("/api/audit/verify", &[]),
        Row { input: Json(exported, Refused), ..act("POST", "/api/audit/check", "administer", &[], 200) },
        Row { input: Json(purge_audit, Refused), ..act("POST", "/api/audit/purge", "administer", &[], 200) },
        open("/healthz"),
        open("/readyz"),
        open("/metrics"),
        open("/openapi.json"),
        open("/"),
    ]
}

fn submission(things: &Things, n: u32) -> Value {
    json!({"input": format!("the {n}th"), "planKey": things.plan, "payload": {"name": format!("n{n}")},
        "idempotencyKey": format!("submission-{n}")})
}

fn talk(things: &Things, n: u32) -> Value {
    json!({"agent": things.agent, "title": format!("the {n}th talk")})
}

fn import(_things: &Things, n: u32) -> Value {
    json!({"title": format!("the {n}th"), "messages": [{"role": "user", "content": format!("question {n}")}]})
}

fn hold(_: &Things, _: u32) -> Value {
    json!({"reason": "a claim is before the court"})
}

fn purge(_: &Things, _: u32) -> Value {
    json!({"olderThanDays": 400, "kinds": ["tasks", "files"]})
}

fn exported(_: &Things, _: u32) -> Value {
    json!({"events": [{"seq": 1, "at": "2026-09-01T00:00:00Z", "action": "a.b", "actor": "executor", "subject": "task:1",
        "requestId": null, "detail": {}, "prevHash": "00", "hash": "00"}]})
}

fn purge_audit(things: &Things, _: u32) -> Value {
    json!({"olderThanDays": 400, "from": 1, "head": things.head})
}

fn fork(_things: &Things, n: u32) -> Value {
    if n == 0 { json!({"confirm": ["tell"]}) } else { json!({"fromStep": "tell", "confirm": ["tell"]}) }
}

fn review(_things: &Things, n: u32) -> Value {
    json!({"corrections": {"answer": format!("carrier {n}")}})
}

fn callback(things: &Things, _n: u32) -> Value {
    json!({"workflowId": things.workflow_id, "success": true, "data": {"best": 41_200}})
}

fn lead(_things: &Things, n: u32) -> Value {
    json!({"event": "lead.created", "number": n})
}

pub(crate) fn mail(n: u32) -> String {
    format!(
        "Message-ID: <{n}@example.com>\r\nFrom: a@example.com\r\nTo: in@example.com\r\nSubject: Hi\r\n\r\nHello\r\n"
    )
}

pub(crate) fn sms(n: u32) -> String {
    format!("From=%2B15550100&To=%2B15550199&Body=Hello&MessageSid=SM{n}")
}

fn plan(_things: &Things, n: u32) -> Value {
    json!({"key": format!("made.plan_{n}"), "steps": [{"id": "a", "tool": "core.noop", "args": {}}]})
}

fn agent(_things: &Things, n: u32) -> Value {
    json!({"name": format!("Made {n}"), "systemPrompt": "You help.", "tools": ["core.set"]})
}

fn prompt(_things: &Things, n: u32) -> Value {
    json!({"text": format!("You answer for the {n}th.")})
}

fn read_prompt(things: &Things, _: u32) -> Value {
    json!({"textHash": things.reviewed_hash})
}

fn read_tool(things: &Things, _: u32) -> Value {
    json!({"hash": things.reviewed_tool_hash})
}

/// A tool of a tenant's own.
pub(crate) fn own_tool(key: &str, about: &str) -> Value {
    json!({"key": key, "kind": "http", "description": about, "inputSchema": {"type": "object"}, "effect": "read",
        "http": {"method": "GET", "url": "https://crm.example.com/ping"}})
}

fn lesson(_things: &Things, n: u32) -> Value {
    json!({"kind": "trusted_sender", "address": format!("c{n}@example.com")})
}

fn user(_things: &Things, n: u32) -> Value {
    json!({"name": "Bo Reed", "email": format!("bo{n}@example.com"), "roles": ["viewer"]})
}

/// The record has its first version until it is changed, once.
fn record(_things: &Things, n: u32) -> Value {
    json!({"version": 1, "props": {"text": format!("text {n}")}, "reason": "It came by post."})
}

fn key(things: &Things, n: u32) -> Value {
    json!({"name": format!("key {n}"), "userId": things.user, "scopes": ["administer"]})
}

/// Up to the end, or behind the first message.
fn forked(things: &Things, n: u32) -> Value {
    if n == 6 { json!({"messageId": things.message}) } else { json!({}) }
}

fn chat(_things: &Things, n: u32) -> Value {
    json!({"model": "fake/chat", "messages": [{"role": "user", "content": format!("question {n}")}]})
}

/// A tenant has one budget of a subject and period: each number is another user's.
fn budget(things: &Things, n: u32) -> Value {
    let subjects = [json!({"type": "each_user"}), json!({"type": "user", "id": things.user})];
    let subject = &subjects[usize::try_from(n).unwrap() % 2];
    let period = if (n / 2).is_multiple_of(2) { "day" } else { "month" };
    json!({"subject": subject, "period": period, "calls": 100_000 + n})
}

fn secret(_things: &Things, n: u32) -> Value {
    json!({"name": format!("made_{n}"), "value": format!("example-value-{n}"), "hosts": ["api.example.com"]})
}

fn webhook(_things: &Things, n: u32) -> Value {
    json!({"url": format!("https://example.com/hook/{n}"), "events": ["task.failed"]})
}
