//! Who asks: every role, every narrowed key, and what each of them may.

use serde_json::{Value, json};

use crate::server::Client;
use crate::server::client::{Ask, pause, text, until};

use super::rows::Who;
use super::suite::Suite;
use super::things::Things;

/// Why a platform admin crosses.
pub(crate) const REASON: &str = "looking after case 4711";

/// Each role with the rights that it gives. Written down here once more, on purpose.
const ROLES: [(&str, &[&str]); 5] = [
    ("viewer", &["read"]),
    ("operator", &["read", "operate"]),
    ("reviewer", &["read", "review"]),
    ("admin", &["read", "operate", "review", "administer"]),
    ("platform_admin", &["read", "operate", "review", "administer", "platform"]),
];

/// Somebody with a key of our tenant.
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) rights: Vec<&'static str>,
}

impl Caller {
    pub(crate) fn may(&self, right: &str) -> bool {
        self.rights.contains(&right)
    }
}

pub(crate) struct Callers {
    pub(crate) all: Vec<Caller>,
    /// Keys that no longer work, with the reason.
    pub(crate) dead: Vec<(&'static str, String)>,
}

impl Callers {
    /// Makes a user for each role, and keys that are narrowed in every way.
    pub(crate) async fn of(platform: &Client, ours: &Things) -> Self {
        let mut making = Making { platform, tenant: &ours.tenant, all: Vec::new() };
        // First, so that they are the weakest of their right: chats are shown to admins and to whoever began them.
        let owner = owner(platform, ours).await;
        for right in ["read", "operate"] {
            making.key(&format!("the owner for {right} only"), &owner, json!({"scopes": [right]}), &[right]).await;
        }
        let nobody = making.user("nobody", json!([])).await;
        making.key("nobody", &nobody, json!({}), &[]).await;
        for (role, rights) in ROLES {
            let user = making.user(role, json!([role])).await;
            making.key(role, &user, json!({}), rights).await;
            let scopes = ["read", "operate", "review", "administer", "platform", "*"];
            for scope in scopes.into_iter().filter(|_| role.ends_with("admin")) {
                let left: Vec<&str> = rights.iter().copied().filter(|right| scope == "*" || *right == scope).collect();
                making.key(&format!("{role} for {scope} only"), &user, json!({"scopes": [scope]}), &left).await;
            }
            for (other, others) in ROLES.into_iter().filter(|(other, _)| *other != role) {
                let (name, narrowed) = (format!("{role} as {other}"), json!({"roles": [other]}));
                if others.iter().all(|right| rights.contains(right)) {
                    making.key(&name, &user, narrowed, others).await;
                    continue;
                }
                // A key that is limited to a role beyond its user's is worth nothing. None is made so, but users lose roles.
                let user = making.user(&format!("{role}-as-{other}"), json!([role, other])).await;
                making.key(&name, &user, narrowed, &[]).await;
                making.change_roles(&user, json!([role])).await;
            }
        }
        let both = making.user("both", json!(["viewer", "admin"])).await;
        making.key("an admin as viewer", &both, json!({"roles": ["viewer"]}), &["read"]).await;
        let dead = making.dead(&both).await;
        Self { all: making.all, dead }
    }

    /// One caller for each role, and one without any.
    pub(crate) fn roles(&self) -> impl Iterator<Item = &Caller> {
        let named = |caller: &&Caller| caller.name == "nobody" || ROLES.iter().any(|(role, _)| *role == caller.name);
        self.all.iter().filter(named)
    }

    /// The caller with the fewest rights among those who hold this one.
    pub(crate) fn weakest(&self, right: &str) -> &Caller {
        self.all.iter().filter(|caller| caller.may(right)).min_by_key(|caller| caller.rights.len()).unwrap()
    }
}

/// The user who made our things.
async fn owner(platform: &Client, ours: &Things) -> String {
    let users = platform.with_key(&ours.admin).get("/api/users").await;
    let admin = users["items"].as_array().unwrap().iter().find(|user| user["roles"] == json!(["admin"]));
    text(&admin.unwrap()["id"])
}

struct Making<'a> {
    platform: &'a Client,
    tenant: &'a str,
    all: Vec<Caller>,
}

impl Making<'_> {
    /// As the platform admin, in our tenant: nobody else may give away the platform right.
    async fn post(&self, path: &str, body: &Value) -> Value {
        let ask = Ask::json(path, body).header("x-tenant-id", self.tenant).header("x-sudo-reason", REASON);
        self.platform.ok(&ask).await
    }

    async fn user(&self, name: &str, roles: Value) -> String {
        let body = json!({"name": name, "email": format!("{name}@callers.example.com"), "roles": roles});
        text(&self.post("/api/users", &body).await["id"])
    }

    async fn change_roles(&self, user: &str, roles: Value) {
        let ask = Ask::json(&format!("/api/users/{user}/permissions"), &json!({"roles": roles}));
        let ask = Ask { method: reqwest::Method::PUT, ..ask };
        self.platform.ok(&ask.header("x-tenant-id", self.tenant).header("x-sudo-reason", REASON)).await;
    }

    async fn key(&mut self, name: &str, user: &str, mut narrowed: Value, rights: &[&'static str]) -> String {
        narrowed["name"] = json!(name);
        narrowed["userId"] = json!(user);
        let made = self.post("/api/keys", &narrowed).await;
        self.all.push(Caller { name: name.to_owned(), key: text(&made["key"]), rights: rights.to_vec() });
        text(&made["id"])
    }

    async fn dead(&mut self, user: &str) -> Vec<(&'static str, String)> {
        let revoked = self.key("revoked", user, json!({}), &[]).await;
        let soon = kybern_core::time::Timestamp::from_millis(now() + 1500).to_string();
        self.key("expired", user, json!({"expiresAt": soon}), &[]).await;
        let ask = Ask { method: reqwest::Method::DELETE, ..Ask::get(&format!("/api/keys/{revoked}")) };
        self.platform.ok(&ask.header("x-tenant-id", self.tenant).header("x-sudo-reason", REASON)).await;
        let (expired, revoked) = (self.all.pop().unwrap().key, self.all.pop().unwrap().key);
        let client = self.platform.with_key(&expired);
        until("the key expires", || async {
            let (status, _) = client.send(&Ask::get("/api/tasks")).await;
            if status.is_success() {
                pause(std::time::Duration::from_millis(50)).await;
            }
            (status.as_u16() == 401).then_some(())
        })
        .await;
        vec![("a revoked key", revoked), ("an expired key", expired)]
    }
}

#[expect(clippy::disallowed_methods, reason = "compared by the server with its own clock")]
fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Each caller is let through or refused as its rights say, before anything else is looked at.
pub(crate) async fn each_caller_may_what_its_rights_say(suite: &Suite) {
    let pairs = suite.rows.iter().flat_map(|row| suite.callers.all.iter().map(move |caller| (row, caller)));
    suite
        .each(pairs, async |(row, caller)| {
            let ask = row.bad(&suite.ours);
            let answer = suite.ask(row, Some(&caller.key), &ask, &[]).await;
            let about = || format!("{} by {}", row.name(), caller.name);
            match (row.who, row.right()) {
                (Who::Anyone, _) => suite.expect(answer.status == 200, || format!("{}: {}", about(), answer.status)),
                (_, Some(right)) if caller.may(right) => {
                    let through = !matches!(answer.status, 401 | 403);
                    suite.expect(through, || format!("{}: is refused with {}", about(), answer.status));
                }
                (_, Some(_)) => suite.refused(&answer, 403, "PERMISSION_DENIED", about),
                // A key is no proof here; the body is what is broken.
                (_, None) => suite.refused(&answer, 400, "VALIDATION_ERROR", about),
            }
        })
        .await;
}
