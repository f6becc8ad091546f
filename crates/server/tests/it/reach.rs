//! How far a tenant's admin reaches: not to a platform admin, and not beyond their own key.

use serde_json::{Value, json};

use crate::harness::{Answer, App, Ask, PLATFORM};

/// An app, and what a tenant's admin can name of the platform admin: the user and the key.
async fn platform_admin(app: &App) -> (String, String) {
    let users = app.send(Ask::get("/api/users").key(&app.ours.admin)).await.json();
    let is_platform = |user: &&Value| user["roles"].as_array().unwrap().contains(&json!("platform_admin"));
    let user = users["items"].as_array().unwrap().iter().find(is_platform).unwrap()["id"].as_str().unwrap().to_owned();
    let keys = app.send(Ask::get("/api/keys").key(&app.ours.admin)).await.json();
    let key = keys["items"].as_array().unwrap().iter().find(|key| key["userId"] == user.as_str()).unwrap();
    (user, key["id"].as_str().unwrap().to_owned())
}

async fn make_key(app: &App, by: &str, body: Value) -> Answer {
    app.send(Ask::post("/api/keys").key(by).json(&body)).await
}

async fn made_key(app: &App, by: &str, body: Value) -> (String, String) {
    let answer = make_key(app, by, body).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let made = answer.json();
    (made["id"].as_str().unwrap().to_owned(), made["key"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_platform_admin_is_out_of_a_tenant_admins_reach() {
    let app = App::start().await;
    let (user, key) = platform_admin(&app).await;
    // One admin as they come, one whose user is the platform admin and whose key is not, in both ways.
    let mine = json!({"name": "limited", "userId": user, "roles": ["admin"]});
    let limited = made_key(&app, PLATFORM, mine).await.1;
    let mine = json!({"name": "narrowed", "userId": user, "scopes": ["read", "administer"]});
    let narrowed = made_key(&app, PLATFORM, mine).await.1;
    let before = app.send(Ask::get("/api/keys").key(PLATFORM)).await.text();
    for (who, by) in [("an admin", &app.ours.admin), ("a limited key", &limited), ("a narrowed key", &narrowed)] {
        for new in [
            json!({"name": "k", "userId": user}),
            json!({"name": "k", "userId": user, "roles": ["viewer"]}),
            json!({"name": "k", "userId": user, "scopes": ["read"]}),
            json!({"name": "k", "roles": ["platform_admin"], "scopes": ["read"]}),
        ] {
            make_key(&app, by, new).await.refused(403, "PERMISSION_DENIED", &format!("{who} makes a key for them"));
        }
        for roles in [json!([]), json!(["viewer"]), json!(["admin"]), json!(["admin", "platform_admin"])] {
            let path = format!("/api/users/{user}/permissions");
            let ask = Ask::new("PUT", &path).key(by).json(&json!({"roles": roles}));
            app.send(ask).await.refused(403, "PERMISSION_DENIED", &format!("{who} changes their roles to {roles}"));
        }
        let ask = Ask::new("DELETE", &format!("/api/keys/{key}")).key(by);
        app.send(ask).await.refused(403, "PERMISSION_DENIED", &format!("{who} revokes their key"));
    }
    assert_eq!(app.send(Ask::get("/api/keys").key(PLATFORM)).await.text(), before);
    assert_eq!(app.send(Ask::get("/api/admin/tenants").key(PLATFORM)).await.status, 200);
}

#[tokio::test]
async fn a_platform_admin_reaches_platform_admins() {
    let app = App::start().await;
    let (user, _) = platform_admin(&app).await;
    let (id, key) = made_key(&app, PLATFORM, json!({"name": "second", "userId": user})).await;
    assert_eq!(app.send(Ask::get("/api/admin/tenants").key(&key)).await.status, 200);
    assert_eq!(app.send(Ask::new("DELETE", &format!("/api/keys/{id}")).key(PLATFORM)).await.status, 204);
    app.send(Ask::get("/api/admin/tenants").key(&key)).await.refused(401, "UNAUTHENTICATED", "revoked");
}

#[tokio::test]
async fn the_last_key_of_a_platform_admin_is_revoked_by_force_only() {
    let app = App::start().await;
    let (user, _) = platform_admin(&app).await;
    let users = app.send(Ask::get("/api/users").key(PLATFORM)).await.json();
    let keys = async || app.send(Ask::get("/api/keys?limit=200").key(PLATFORM)).await.json()["items"].clone();
    // What was made with a key falls with it, and a narrowed key opens little: neither saves the day.
    make_key(&app, PLATFORM, json!({"name": "below", "userId": user})).await;
    make_key(&app, PLATFORM, json!({"name": "narrow", "userId": user, "scopes": ["read"]})).await;
    let all = keys().await;
    let platform = |key: &&Value| {
        let user = users["items"].as_array().unwrap().iter().find(|user| user["id"] == key["userId"]).unwrap();
        let admin = user["roles"].as_array().unwrap().contains(&json!("platform_admin"));
        admin && key["madeByKeyId"].is_null() && key["revokedAt"].is_null()
    };
    let first: Vec<&Value> = all.as_array().unwrap().iter().filter(platform).collect();
    assert_eq!(first.len(), 1, "{all}");
    let path = format!("/api/keys/{}", first[0]["id"].as_str().unwrap());
    let revoke = async |query: &str| app.send(Ask::new("DELETE", &format!("{path}{query}")).key(PLATFORM)).await;
    for query in ["", "?cascade=true", "?cascade=true&force=false"] {
        let refused = revoke(query).await;
        refused.refused(409, "CONFLICT", query);
        assert!(refused.text().contains("force=true"), "{}", refused.text());
    }
    assert_eq!(keys().await, all, "nothing was revoked");
    revoke("?force=perhaps").await.refused(400, "VALIDATION_ERROR", "no boolean");
    assert_eq!(revoke("?cascade=true&force=true").await.status, 200);
    app.send(Ask::get("/api/keys").key(PLATFORM)).await.refused(401, "UNAUTHENTICATED", "revoked");
}

#[tokio::test]
async fn an_admin_reaches_everybody_else() {
    let app = App::start().await;
    let admin = &app.ours.admin;
    let users = app.send(Ask::get("/api/users").key(admin)).await.json();
    for name in ["operator", "admin"] {
        let user = users["items"].as_array().unwrap().iter().find(|user| user["name"] == name).unwrap();
        let user = user["id"].as_str().unwrap();
        let (id, key) = made_key(&app, admin, json!({"name": "theirs", "userId": user})).await;
        let path = format!("/api/users/{user}/permissions");
        let ask = Ask::new("PUT", &path).key(admin).json(&json!({"roles": ["admin", "operator"]}));
        assert_eq!(app.send(ask).await.status, 200, "{name}");
        assert_eq!(app.send(Ask::get("/api/audit").key(&key)).await.status, 200, "a role holds at once");
        assert_eq!(app.send(Ask::new("DELETE", &format!("/api/keys/{id}")).key(admin)).await.status, 204);
    }
}

#[tokio::test]
async fn of_a_change_that_is_refused_in_part_nothing_is_done() {
    let app = App::start().await;
    let admin = &app.ours.admin;
    let users = app.send(Ask::get("/api/users").key(admin)).await.json();
    let user = users["items"].as_array().unwrap().iter().find(|user| user["name"] == "operator").unwrap();
    let path = format!("/api/users/{}/permissions", user["id"].as_str().unwrap());
    let before = app.send(Ask::get(&path).key(admin)).await.text();
    for (said, status, code) in [
        (json!({"preset": "read_only", "roles": ["platform_admin"]}), 403, "PERMISSION_DENIED"),
        (json!({"preset": "read_only", "deniedTools": ["no.such_tool"], "roles": ["viewer"]}), 400, "VALIDATION_ERROR"),
    ] {
        app.send(Ask::new("PUT", &path).key(admin).json(&said)).await.refused(status, code, &said.to_string());
        assert_eq!(app.send(Ask::get(&path).key(admin)).await.text(), before, "{said}");
    }
}

#[tokio::test]
async fn a_key_is_made_with_no_role_that_its_user_lacks_and_one_that_was_made_goes_on() {
    let app = App::start().await;
    let admin = &app.ours.admin;
    let user = json!({"name": "Ada Park", "email": "park@example.com", "roles": ["operator"]});
    let user = app.send(Ask::post("/api/users").key(admin).json(&user)).await.json()["id"].clone();
    for (roles, lacked) in [(json!(["admin"]), "/roles/0"), (json!(["viewer", "reviewer"]), "/roles/1")] {
        let refused = make_key(&app, admin, json!({"name": "k", "userId": user, "roles": roles})).await;
        assert_eq!(refused.refused(400, "VALIDATION_ERROR", "a role that its user lacks"), [lacked]);
        assert!(refused.text().contains("or give the user that role first"), "{}", refused.text());
    }
    let key = made_key(&app, admin, json!({"name": "k", "userId": user, "roles": ["operator", "viewer"]})).await.1;
    let path = format!("/api/users/{}/permissions", user.as_str().unwrap());
    let less = Ask::new("PUT", &path).key(admin).json(&json!({"roles": ["viewer"]}));
    assert_eq!(app.send(less).await.status, 200);
    assert_eq!(app.send(Ask::get("/api/tasks").key(&key)).await.status, 200);
}

#[tokio::test]
async fn a_narrowed_key_makes_no_wider_key() {
    let app = App::start().await;
    let makers = [
        json!({"name": "maker", "scopes": ["read", "administer"]}),
        // The other way round: whose user may more than the key.
        json!({"name": "maker", "scopes": ["administer", "read"], "roles": ["admin"]}),
    ];
    for maker in makers {
        let maker = made_key(&app, &app.ours.admin, maker).await.1;
        let wide: [&[&str]; 6] =
            [&[], &["*"], &["operate"], &["read", "review"], &["platform"], &["read", "administer", "operate"]];
        for scopes in wide {
            let about = format!("a key for {scopes:?}");
            make_key(&app, &maker, json!({"name": "k", "scopes": scopes})).await.refused(
                403,
                "PERMISSION_DENIED",
                &about,
            );
        }
        let fitting: [&[&str]; 3] = [&["read"], &["administer"], &["administer", "read"]];
        for scopes in fitting {
            let key = made_key(&app, &maker, json!({"name": "k", "scopes": scopes})).await.1;
            for (path, right) in [("/api/tasks", "read"), ("/api/audit", "administer")] {
                let status = app.send(Ask::get(path).key(&key)).await.status;
                assert_eq!(status, if scopes.contains(&right) { 200 } else { 403 }, "{path} with {scopes:?}");
            }
            let submit = Ask::post("/api/tasks").key(&key).json(&json!({"input": "x"}));
            app.send(submit).await.refused(403, "PERMISSION_DENIED", "operating");
        }
    }
}

#[tokio::test]
async fn a_narrowed_key_makes_no_wider_key_for_somebody_new() {
    let app = App::start().await;
    let maker = made_key(&app, &app.ours.admin, json!({"name": "maker", "scopes": ["administer"]})).await.1;
    let user = json!({"name": "Mallory", "email": "m@example.com", "roles": ["admin"]});
    let user = app.send(Ask::post("/api/users").key(&maker).json(&user)).await.json();
    for wide in [json!([]), json!(["*"]), json!(["operate"])] {
        let new = json!({"name": "k", "userId": user["id"], "scopes": wide});
        make_key(&app, &maker, new).await.refused(403, "PERMISSION_DENIED", &format!("a key for {wide}"));
    }
}

#[tokio::test]
async fn a_key_for_everything_makes_every_key_that_its_user_may_have() {
    let app = App::start().await;
    let maker = made_key(&app, &app.ours.admin, json!({"name": "maker", "scopes": ["*"]})).await.1;
    let key = made_key(&app, &maker, json!({"name": "k", "scopes": ["operate", "read"]})).await.1;
    let submit = Ask::post("/api/tasks").key(&key).json(&json!({"input": "x"}));
    assert_eq!(app.send(submit).await.status, 202);
    // The scope does not give what the roles do not.
    let key = made_key(&app, &maker, json!({"name": "k", "scopes": ["platform"]})).await.1;
    app.send(Ask::get("/api/admin/tenants").key(&key)).await.refused(403, "PERMISSION_DENIED", "platform");
}

async fn works(app: &App, key: &str) -> bool {
    let answer = app.send(Ask::get("/api/users").key(key)).await;
    assert!([200, 401].contains(&answer.status), "{}", answer.text());
    answer.status == 200
}

#[tokio::test]
async fn a_key_that_was_made_with_a_key_falls_with_it() {
    let app = App::start().await;
    let admin = &app.ours.admin;
    let (id, parent) = made_key(&app, admin, json!({"name": "parent"})).await;
    let (child_id, child) = made_key(&app, &parent, json!({"name": "child"})).await;
    let (_, grandchild) = made_key(&app, &child, json!({"name": "grandchild"})).await;
    let (_, other) = made_key(&app, admin, json!({"name": "other"})).await;
    let keys = app.send(Ask::get("/api/keys?limit=200").key(admin)).await.json();
    let of = |id: &str| keys["items"].as_array().unwrap().iter().find(|key| key["id"] == id).unwrap().clone();
    assert_eq!((&of(&child_id)["madeByKeyId"], of(&id)["madeByKeyId"].is_string()), (&json!(id), true));

    let revoke =
        async |by: &str, query: &str| app.send(Ask::new("DELETE", &format!("/api/keys/{id}{query}")).key(by)).await;
    let told = revoke(admin, "?cascade=false").await;
    assert_eq!(told.refused(409, "CONFLICT", "with children").len(), 2);
    assert!(told.text().contains("grandchild"), "{}", told.text());
    revoke(&grandchild, "").await.refused(409, "CONFLICT", "the caller's own key would fall");
    revoke(admin, "?cascade=perhaps").await.refused(400, "VALIDATION_ERROR", "no boolean");
    assert!(works(&app, &child).await && works(&app, &grandchild).await, "nothing was revoked yet");

    let fell = revoke(admin, "").await;
    assert_eq!(fell.status, 200, "{}", fell.text());
    let fell = fell.json();
    let told: Vec<&Value> = fell["revokedWith"].as_array().unwrap().iter().map(|key| &key["name"]).collect();
    assert_eq!(told, ["child", "grandchild"], "who did not ask for it is told what fell too");
    assert_eq!(revoke(admin, "").await.status, 204, "and nothing falls twice");
    for (key, lives) in [(&parent, false), (&child, false), (&grandchild, false), (&other, true), (admin, true)] {
        assert_eq!(works(&app, key).await, lives);
    }
    let keys = app.send(Ask::get("/api/keys?limit=200").key(admin)).await.json();
    let revoked = keys["items"].as_array().unwrap().iter().filter(|key| key["revokedAt"].is_string()).count();
    assert_eq!(revoked, 3, "{keys}");
}

#[tokio::test]
async fn a_key_that_was_made_in_another_tenant_falls_with_its_maker() {
    let app = App::start().await;
    let (id, crossing) = made_key(&app, PLATFORM, json!({"name": "crossing"})).await;
    let users = app.send(Ask::get("/api/users").key(&app.theirs.admin)).await.json();
    let ask = Ask::post("/api/keys").key(&crossing).json(&json!({"name": "there", "userId": users["items"][0]["id"]}));
    let there = app.send(ask.header("x-tenant-id", &app.their_id.to_string()).header("x-sudo-reason", "case 1")).await;
    let there = there.json()["key"].as_str().unwrap().to_owned();
    let told = app.send(Ask::new("DELETE", &format!("/api/keys/{id}?cascade=false")).key(PLATFORM)).await;
    assert!(told.refused(409, "CONFLICT", "with a key elsewhere").is_empty(), "keys of another tenant are not named");
    assert!(told.text().contains("1 more key was made with this one, in other organisations, "), "{}", told.text());
    // A key that the caller's tenant does not have is told from none by nothing.
    let foreign = app.send(Ask::new("DELETE", &format!("/api/keys/{id}?cascade=false")).key(&app.theirs.admin)).await;
    foreign.refused(404, "NOT_FOUND", "a key of another tenant");
    assert!(works(&app, &there).await);
    assert_eq!(app.send(Ask::new("DELETE", &format!("/api/keys/{id}")).key(PLATFORM)).await.status, 204);
    assert!(!works(&app, &there).await && works(&app, &app.theirs.admin).await);
    // Where it stood it is shown as revoked, and the audit says why without a word of the other tenant.
    let keys = app.send(Ask::get("/api/keys?limit=200").key(&app.theirs.admin)).await.json();
    let fell = keys["items"].as_array().unwrap().iter().find(|key| key["name"] == "there").unwrap();
    assert!(fell["revokedAt"].is_string(), "{fell}");
    let audit = app.send(Ask::get("/api/audit?limit=200").key(&app.theirs.admin)).await.json();
    let event = audit["items"].as_array().unwrap().iter().find(|event| event["action"] == "key.revoke").unwrap();
    assert_eq!(event["subject"], json!(format!("key:{}", fell["id"].as_str().unwrap())));
    assert!(event["detail"]["fellWithItsMaker"] == json!(true) && !event.to_string().contains(&id), "{event}");
}

#[tokio::test]
async fn a_key_ends_no_later_than_the_key_it_is_made_with() {
    let app = App::start().await;
    let now = app.engine.clock().now();
    let (soon, later) = (now.plus(kybern_core::time::Millis(60_000)), now.plus(kybern_core::time::Millis(600_000)));
    let short = made_key(&app, &app.ours.admin, json!({"name": "short", "expiresAt": soon})).await.1;
    for wish in [json!({"name": "k"}), json!({"name": "k", "expiresAt": later})] {
        let made = make_key(&app, &short, wish).await.json();
        assert_eq!(made["expiresAt"], json!(soon));
        let below = make_key(&app, made["key"].as_str().unwrap(), json!({"name": "below"})).await.json();
        assert_eq!(below["expiresAt"], json!(soon));
    }
}

#[tokio::test]
async fn what_a_narrowed_key_starts_stays_as_narrow_as_the_key() {
    let app = App::start().await;
    let admin = &app.ours.admin;
    let roles = made_key(&app, admin, json!({"name": "roles", "roles": ["operator"]})).await.1;
    let scopes = made_key(&app, admin, json!({"name": "scopes", "scopes": ["read", "operate"]})).await.1;
    let risk = Ask::new("PATCH", "/api/tools/core.get_record").key(admin).json(&json!({"risk": "R3"}));
    assert_eq!(app.send(risk).await.status, 200);
    let calls = [
        ("core.get_record", json!({"kind": "x", "key": "y"})),
        ("core.put_record", json!({"kind": "x", "key": "y", "props": {"a": 1}})),
        ("core.notify", json!({"to": "a@example.com", "subject": "x", "body": "y"})),
    ];
    for (tool, input) in &calls {
        let call = async |key: &str| {
            let ask = Ask::post(&format!("/api/tools/{tool}/invoke")).key(key).json(&json!({"input": input}));
            let answer = app.send(ask).await;
            if answer.status == 200 { answer.json()["status"].clone() } else { json!(answer.status) }
        };
        let operator = call(&app.ours.operator).await;
        assert_eq!(call(admin).await, "success", "{tool}");
        assert_ne!(operator, "success", "{tool}");
        assert_eq!((call(&roles).await, call(&scopes).await), (operator.clone(), operator), "{tool}");
    }
}
