//! The table of all routes with what can go wrong on each. [`crate::routes`] walks it.

use kybern_core::ports::Keys as _;
use kybern_testkit::TestKeys;
use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::nouns::NOUNS;

/// What a route reads.
pub(crate) enum Input {
    /// Nothing, or nothing that is looked at.
    None,
    /// A JSON object.
    Json {
        /// One that fits.
        good: Value,
        /// Where a wrong type is put, and which.
        wrong: Option<(&'static str, Value)>,
        /// Whether an unknown field is refused; a webhook takes any.
        strict: bool,
        /// Members that have to be there.
        needed: &'static [&'static str],
        /// The status that faults of content get: 422 for a plan, whose faults are listed as one.
        faults: u16,
    },
    /// A body of another type.
    Other(&'static str, &'static str),
}

/// What stands in a path.
pub(crate) enum Place {
    /// No varying part.
    Fixed,
    /// An id of the tenant's.
    Id(fn(&Fixture) -> String),
    /// A name of the tenant's.
    Name(fn(&Fixture) -> String),
    /// A name that is the same for all tenants.
    Shared(&'static str),
}

/// A route's case.
pub(crate) struct Case {
    pub(crate) route: (&'static str, &'static str),
    pub(crate) place: Place,
    pub(crate) input: Input,
}

pub(crate) fn case(method: &'static str, path: &'static str, place: Place, input: Input) -> Case {
    Case { route: (method, path), place, input }
}

pub(crate) fn strict(good: Value, wrong: (&'static str, Value), needed: &'static [&'static str]) -> Input {
    Input::Json { good, wrong: Some(wrong), strict: true, needed, faults: 400 }
}

fn lenient(good: Value, wrong: (&'static str, Value), needed: &'static [&'static str]) -> Input {
    Input::Json { good, wrong: Some(wrong), strict: false, needed, faults: 400 }
}

/// A text that was read.
fn read() -> Input {
    strict(json!({"textHash": "00ff"}), ("/textHash", json!(7)), &["textHash"])
}

fn plan() -> Input {
    let good = json!({"key": "case.plan", "steps": [{"id": "a", "tool": "core.noop", "args": {}}]});
    Input::Json {
        good,
        wrong: Some(("/priority", json!("high"))),
        strict: true,
        needed: &["key", "steps"],
        faults: 422,
    }
}

fn check() -> Input {
    // A check says what is wrong as its answer.
    let good = json!({"key": "case.plan", "steps": [{"id": "a", "tool": "core.noop", "args": {}}]});
    Input::Json { good, wrong: None, strict: false, needed: &[], faults: 200 }
}

fn review() -> Input {
    strict(json!({"corrections": {"answer": "Pinewood"}}), ("/corrections", json!([1])), &[])
}

const MAIL: &str = "Message-ID: <1@example.com>\r\nFrom: a@example.com\r\nSubject: Hi\r\n\r\nHello";
const SMS: &str = "From=%2B15550100&To=%2B15550199&Body=Hello&MessageSid=SM1";

/// Every route.
pub(crate) fn all() -> Vec<Case> {
    let chat = json!({"model": "scripted/echo", "messages": [{"role": "user", "content": "hi"}]});
    let embedding = json!({"model": "scripted/embed", "input": "a text"});
    use Input::{None, Other};
    use Place::{Fixed, Id, Name, Shared};
    let task = || Id(|fixture| fixture.ended.clone());
    let running = || Id(|fixture| fixture.running.clone());
    let waiting = || Id(|fixture| fixture.waiting.clone());
    let agent = || Name(|fixture| fixture.agent.clone());
    let talk = || Id(|fixture| fixture.chat.clone());
    let prompt = || Id(|fixture| fixture.prompt.clone());
    let memory = || Id(|fixture| fixture.memory.clone());
    let document = || Id(|fixture| fixture.document.clone());
    let lesson = || Id(|fixture| fixture.lesson.clone());
    let callback = json!({"workflowId": "w", "success": true});
    let mut cases = vec![
        case("POST", "/api/tasks", Fixed, strict(json!({"input": "hi"}), ("/maxSteps", json!("many")), &["input"])),
        case("GET", "/api/tasks", Fixed, None),
        case("GET", "/api/tasks/{id}", task(), None),
        case("GET", "/api/tasks/{id}/log", task(), None),
        case("GET", "/api/tasks/{id}/events", task(), None),
        case("GET", "/api/tasks/{id}/artifacts", task(), None),
        case("GET", "/api/tasks/{id}/attachments", task(), None),
        case("GET", "/api/tasks/{id}/attachments/{n}", task(), None),
        case("POST", "/api/tasks/{id}/cancel", running(), None),
        case("POST", "/api/tasks/{id}/pause", running(), None),
        case("POST", "/api/tasks/{id}/resume", running(), None),
        case("POST", "/api/tasks/{id}/retry", Id(|fixture| fixture.failed.clone()), None),
        case("POST", "/api/tasks/{id}/fork", task(), strict(json!({}), ("/fromStep", json!(5)), &[])),
        case("POST", "/api/tasks/{id}/replay", task(), None),
        case(
            "POST",
            "/api/tasks/{id}/hold",
            task(),
            strict(json!({"reason": "a claim"}), ("/reason", json!(5)), &["reason"]),
        ),
        case("POST", "/api/tasks/{id}/release", waiting(), None),
        case(
            "POST",
            "/api/purge",
            Fixed,
            strict(json!({"olderThanDays": 30, "dryRun": true}), ("/olderThanDays", json!("many")), &["olderThanDays"]),
        ),
        case("POST", "/api/tasks/{id}/review", waiting(), review()),
        case("POST", "/api/internal/brain/review/{id}", waiting(), review()),
        case(
            "POST",
            "/api/internal/brain/callback/{id}",
            task(),
            strict(callback, ("/success", json!("false")), &["workflowId", "success"]),
        ),
        case("POST", "/api/inbound/email", Fixed, Other("message/rfc822", MAIL)),
        case("POST", "/api/inbound/sms", Fixed, Other("application/x-www-form-urlencoded", SMS)),
        case(
            "POST",
            "/api/inbound/webhook/{source}",
            Shared("crm"),
            Input::Json { good: json!({"a": 1}), wrong: Option::None, strict: false, needed: &[], faults: 400 },
        ),
        case("POST", "/api/plans", Fixed, plan()),
        case("GET", "/api/plans", Fixed, None),
        case("POST", "/api/plans/check", Fixed, check()),
        case("GET", "/api/plans/{key}", Name(|fixture| fixture.plan.clone()), None),
        case("GET", "/api/plans/{key}/versions", Name(|fixture| fixture.plan.clone()), None),
        case(
            "PATCH",
            "/api/plans/{key}",
            Name(|fixture| fixture.plan.clone()),
            strict(json!({"active": true}), ("/active", json!("yes")), &["active"]),
        ),
        case("GET", "/api/tools", Fixed, None),
        case("GET", "/api/tools/{name}", Shared("core.noop"), None),
        case(
            "POST",
            "/api/tools/{name}/invoke",
            Shared("core.noop"),
            strict(json!({"input": {}}), ("/input", json!("x")), &[]),
        ),
        case(
            "PATCH",
            "/api/tools/{name}",
            Shared("core.noop"),
            strict(json!({"enabled": true}), ("/risk", json!("R9")), &[]),
        ),
        case(
            "POST",
            "/api/agents",
            Fixed,
            strict(
                json!({"name": "Billing", "systemPrompt": "You answer questions about invoices."}),
                ("/maxTurns", json!("many")),
                &["name", "systemPrompt"],
            ),
        ),
        case("GET", "/api/agents", Fixed, None),
        case("POST", "/api/agents/resync", Fixed, None),
        case("GET", "/api/agents/{id}", agent(), None),
        case("PATCH", "/api/agents/{id}", agent(), strict(json!({"temperature": 0.1}), ("/tools", json!("all")), &[])),
        case("DELETE", "/api/agents/{id}", agent(), None),
        case("POST", "/api/agents/{id}/reset", agent(), None),
        case(
            "POST",
            "/api/prompts",
            Fixed,
            strict(json!({"text": "You answer for Acme Freight."}), ("/agent", json!(5)), &["text"]),
        ),
        case("GET", "/api/prompts", Fixed, None),
        case(
            "POST",
            "/api/prompts/preview",
            Fixed,
            strict(json!({"content": "Hello."}), ("/chatId", json!(7)), &["content"]),
        ),
        case("GET", "/api/prompts/{id}", prompt(), None),
        case(
            "PATCH",
            "/api/prompts/{id}",
            prompt(),
            strict(json!({"text": "You are brief."}), ("/text", json!(["a"])), &["text"]),
        ),
        case("POST", "/api/prompts/{id}/submit", prompt(), None),
        case("POST", "/api/prompts/{id}/approve", prompt(), read()),
        case(
            "POST",
            "/api/prompts/{id}/reject",
            prompt(),
            strict(json!({"note": "too long"}), ("/note", json!(true)), &["note"]),
        ),
        case("POST", "/api/prompts/{id}/activate", prompt(), read()),
        case(
            "POST",
            "/api/memories",
            Fixed,
            strict(json!({"content": "Likes trains."}), ("/importance", json!("very")), &["content"]),
        ),
        case("GET", "/api/memories", Fixed, None),
        case("GET", "/api/memories/export", Fixed, None),
        case("GET", "/api/memories/{id}", memory(), None),
        case(
            "PATCH",
            "/api/memories/{id}",
            memory(),
            strict(json!({"importance": 7}), ("/expiresAt", json!("soon")), &[]),
        ),
        case("DELETE", "/api/memories/{id}", memory(), None),
        case("POST", "/api/memories/{id}/accept", memory(), None),
        case("POST", "/api/memories/{id}/reject", memory(), None),
        case(
            "POST",
            "/api/knowledge",
            Fixed,
            strict(
                json!({"filename": "terms.txt", "dataBase64": "aGVsbG8="}),
                ("/title", json!(5)),
                &["filename", "dataBase64"],
            ),
        ),
        case("GET", "/api/knowledge", Fixed, None),
        case("GET", "/api/knowledge/search", Fixed, None),
        case("GET", "/api/knowledge/{id}", document(), None),
        case("DELETE", "/api/knowledge/{id}", document(), None),
        case("POST", "/api/knowledge/{id}/publish", document(), None),
        case("POST", "/api/knowledge/{id}/unpublish", document(), None),
        case("POST", "/api/knowledge/{id}/reindex", document(), None),
        case(
            "POST",
            "/api/lessons",
            Fixed,
            strict(
                json!({"kind": "trusted_sender", "address": "bo@example.com"}),
                ("/address", json!(5)),
                &["kind", "address"],
            ),
        ),
        case("GET", "/api/lessons", Fixed, None),
        case("GET", "/api/lessons/{id}", lesson(), None),
        case("GET", "/api/lessons/{id}/preview", lesson(), None),
        case("POST", "/api/lessons/{id}/accept", lesson(), None),
        case("POST", "/api/lessons/{id}/withdraw", lesson(), None),
        case("GET", "/api/preferences", Fixed, None),
        case(
            "PUT",
            "/api/preferences",
            Fixed,
            strict(
                json!({"responseLength": "concise", "profile": {"name": "Ada"}}),
                ("/formality", json!("rude")),
                &[],
            ),
        ),
        case("DELETE", "/api/preferences", Fixed, None),
        case("POST", "/api/chats", Fixed, strict(json!({"title": "Renewals"}), ("/agent", json!(5)), &[])),
        case("GET", "/api/chats", Fixed, None),
        case(
            "POST",
            "/api/chats/import",
            Fixed,
            lenient(
                json!({"messages": [{"role": "user", "content": "Hi"}]}),
                ("/messages", json!("none")),
                &["messages"],
            ),
        ),
        case("GET", "/api/chats/{id}", talk(), None),
        case("POST", "/api/chats/{id}/fork", talk(), strict(json!({}), ("/messageId", json!(5)), &[])),
        case("POST", "/api/chats/{id}/reset", talk(), None),
        case("GET", "/api/chats/{id}/export", talk(), None),
        case(
            "POST",
            "/api/chats/{id}/messages",
            talk(),
            strict(json!({"content": "Hello"}), ("/attachments", json!("none")), &["content"]),
        ),
        case("GET", "/api/chats/{id}/messages", talk(), None),
        case("POST", "/api/chats/{id}/messages/{message}/redact", talk(), None),
        case("GET", "/api/chats/{id}/stream", talk(), None),
        case("DELETE", "/api/chats/{id}", talk(), None),
        case("GET", "/api/approvals", Fixed, None),
        case("GET", "/api/approvals/{id}", Id(|fixture| fixture.approval.clone()), None),
        case(
            "POST",
            "/api/approvals/{id}",
            Id(|fixture| fixture.approval.clone()),
            strict(
                json!({"decision": "approve", "input": {"answer": "Pinewood"}}),
                ("/decision", json!(5)),
                &["decision"],
            ),
        ),
        case("POST", "/v1/chat/completions", Fixed, lenient(chat, ("/messages", json!(5)), &["messages"])),
        case("GET", "/v1/models", Fixed, None),
        case("GET", "/v1/models/{id}", Shared("scripted/echo"), None),
        case("GET", "/api/models/policy", Fixed, None),
        case(
            "PUT",
            "/api/models/policy",
            Fixed,
            strict(json!({"providers": null}), ("/providers", json!(5)), &["providers"]),
        ),
        case("POST", "/v1/embeddings", Fixed, strict(embedding, ("/input", json!(5)), &["input"])),
        case(
            "POST",
            "/api/budgets",
            Fixed,
            strict(
                json!({"subject": {"type": "each_user"}, "period": "month", "calls": 9}),
                ("/calls", json!(-1)),
                &["subject", "period"],
            ),
        ),
        case("GET", "/api/budgets", Fixed, None),
        case("GET", "/api/budgets/{id}", Id(|fixture| fixture.budget.clone()), None),
        case(
            "PATCH",
            "/api/budgets/{id}",
            Id(|fixture| fixture.budget.clone()),
            strict(json!({"calls": 7}), ("/calls", json!("many")), &[]),
        ),
        case("DELETE", "/api/budgets/{id}", Id(|fixture| fixture.budget.clone()), None),
        case("GET", "/api/usage", Fixed, None),
        case("GET", "/api/outbox", Fixed, None),
        case(
            "POST",
            "/api/outbox/{id}/retry",
            Id(|fixture| fixture.mail.clone()),
            strict(json!({"evenIfSent": true}), ("/evenIfSent", json!("yes")), &[]),
        ),
        case(
            "POST",
            "/api/users",
            Fixed,
            strict(
                json!({"name": "Bo", "email": "bo@example.com", "roles": ["viewer"]}),
                ("/roles", json!(["king"])),
                &["name", "email"],
            ),
        ),
        case("GET", "/api/users", Fixed, None),
        case("GET", "/api/users/{id}", Id(|fixture| fixture.user.clone()), None),
        case("GET", "/api/users/{id}/permissions", Id(|fixture| fixture.user.clone()), None),
        case(
            "PUT",
            "/api/users/{id}/permissions",
            Id(|fixture| fixture.user.clone()),
            strict(json!({"roles": ["operator"]}), ("/level", json!("boss")), &[]),
        ),
        case("POST", "/api/keys", Fixed, strict(json!({"name": "k"}), ("/scopes", json!({})), &["name"])),
        case("GET", "/api/keys", Fixed, None),
        case("DELETE", "/api/keys/{id}", Id(|fixture| fixture.key.clone()), None),
        case(
            "POST",
            "/api/secrets",
            Fixed,
            strict(
                json!({"name": "made_here", "value": "example-value", "hosts": ["api.example.com"]}),
                ("/hosts", json!("api.example.com")),
                &["name", "value", "hosts"],
            ),
        ),
        case("GET", "/api/secrets", Fixed, None),
        case("GET", "/api/secrets/{name}", Name(|fixture| fixture.secret.clone()), None),
        case("DELETE", "/api/secrets/{name}", Name(|fixture| fixture.secret.clone()), None),
        case(
            "POST",
            "/api/webhooks/outbound",
            Fixed,
            strict(json!({"url": "https://example.com/h"}), ("/url", json!(5)), &["url"]),
        ),
        case("GET", "/api/webhooks/outbound", Fixed, None),
        case("DELETE", "/api/webhooks/outbound/{id}", Id(|fixture| fixture.webhook.clone()), None),
        case("POST", "/api/admin/tenants", Fixed, strict(json!({"name": "New"}), ("/name", json!(5)), &["name"])),
        case("GET", "/api/admin/tenants", Fixed, None),
        case("GET", "/api/audit", Fixed, None),
        case("GET", "/api/audit/head", Fixed, None),
        case("GET", "/api/audit/verify", Fixed, None),
        case(
            "POST",
            "/api/audit/check",
            Fixed,
            strict(json!({"events": [link()]}), ("/events", json!(5)), &["events"]),
        ),
        case(
            "POST",
            "/api/audit/purge",
            Fixed,
            strict(
                json!({"olderThanDays": 400, "from": 1, "head": head()}),
                ("/olderThanDays", json!("x")),
                &["olderThanDays", "from", "head"],
            ),
        ),
        case("GET", "/healthz", Fixed, None),
        case("GET", "/readyz", Fixed, None),
        case("GET", "/metrics", Fixed, None),
        case("GET", "/openapi.json", Fixed, None),
        case("GET", "/", Fixed, None),
    ];
    cases.extend(NOUNS.iter().flat_map(|noun| (noun.cases)()));
    cases
}

/// An event as an export has it.
fn link() -> Value {
    json!({"seq": 1, "at": "2026-09-01T00:00:00Z", "action": "test.done", "actor": "executor", "subject": "task:1",
        "requestId": null, "detail": {}, "prevHash": "00", "hash": "00"})
}

/// The signed head of a chain without events.
fn head() -> Value {
    let tenant = kybern_core::id::TenantId::DEFAULT;
    let none = (0, kybern_core::audit::GENESIS.to_owned());
    json!(TestKeys::new().audit_key(tenant).sign_head(tenant, none, kybern_testkit::SimClock::START))
}
