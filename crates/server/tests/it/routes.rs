//! Every route answers bad input as the contract says. A route without a case fails here.

use std::collections::BTreeSet;

use kybern_core::actor::Right;
use kybern_server::router::{Access, Query, Route, table};
use serde_json::{Value, json};

use crate::cases::{self, Case, Input, Place};
use crate::fixture::Fixture;
use crate::harness::{Answer, App, Ask, MAX_BODY, MAX_MAIL, PLATFORM, TenantKeys};
use crate::schemas::{document, resolve};

const NOBODY: &str = "01980000-0000-7000-8000-00000000dead";

pub(crate) fn routed() -> Vec<(Route, Case)> {
    let mut cases = cases::all();
    let routes = table();
    let known: BTreeSet<(&str, &str)> = routes.iter().map(|route| (route.method, route.path)).collect();
    assert_eq!(known.len(), routes.len(), "a route stands twice in the table");
    let covered: BTreeSet<(&str, &str)> = cases.iter().map(|case| case.route).collect();
    assert_eq!(known, covered, "each route has one case in tests/it/cases.rs");
    let find = |route: Route| {
        let at = cases.iter().position(|case| case.route == (route.method, route.path)).unwrap();
        (route, cases.remove(at))
    };
    routes.into_iter().map(find).collect()
}

impl Case {
    /// The path with its varying parts filled in.
    pub(crate) fn path(&self, fixture: &Fixture) -> String {
        self.path_of(&match &self.place {
            Place::Fixed => String::new(),
            Place::Id(of) | Place::Name(of) => of(fixture),
            Place::Shared(name) => (*name).to_owned(),
        })
    }

    fn path_of(&self, part: &str) -> String {
        let path = self.route.1.replace("{kind}/{id}", "note/{id}").replace("{n}", "0").replace("{message}", NOBODY);
        ["{id}", "{key}", "{name}", "{source}", "{kind}"].iter().fold(path, |path, name| path.replace(name, part))
    }

    fn ask(&self, path: &str) -> Ask {
        Ask::new(self.route.0, path)
    }

    /// A request that is right in everything.
    pub(crate) fn good(&self, path: &str) -> Ask {
        match &self.input {
            Input::None => self.ask(path),
            Input::Json { good, .. } => self.ask(path).json(good),
            Input::Other(kind, body) => self.ask(path).body(kind, *body),
        }
    }

    fn about(&self, what: &str) -> String {
        format!("{} {}: {what}", self.route.0, self.route.1)
    }
}

/// A request with a proof that suffices.
pub(crate) fn allowed(ask: Ask, access: Access, keys: &TenantKeys) -> Ask {
    match access {
        Access::Open => ask,
        Access::Callback => ask.header("x-callback-secret", "guessed"),
        Access::Needs(right) | Access::SignedOr(right) => ask.key(match right {
            Right::Read => &keys.viewer,
            Right::Operate => &keys.operator,
            Right::Review => &keys.reviewer,
            Right::Administer => &keys.admin,
            Right::Platform => PLATFORM,
        }),
    }
}

/// The strongest key that still may not.
fn too_weak(right: Right, keys: &TenantKeys) -> &str {
    match right {
        Right::Read => &keys.narrow,
        Right::Operate => &keys.reviewer,
        Right::Review => &keys.operator,
        Right::Administer => &keys.operator,
        Right::Platform => &keys.admin,
    }
}

#[tokio::test]
async fn without_a_proof_no_guarded_route_answers() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    for (route, case) in routed() {
        let path = case.path(&fixture);
        let asks = [
            ("no key", case.good(&path)),
            ("an unknown key", case.good(&path).key("kyb_this_key_was_never_made_by_anybody")),
            ("no bearer", case.good(&path).header("authorization", "Basic a2V5OmtleQ==")),
        ];
        for (what, ask) in asks {
            let answer = app.send(ask).await;
            if route.access == Access::Open {
                assert_eq!(answer.status, 200, "{}", case.about(what));
                continue;
            }
            answer.refused(401, "UNAUTHENTICATED", &case.about(what));
            assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"kybern\"");
        }
    }
}

#[tokio::test]
async fn a_key_without_the_right_is_refused_before_its_input_is_read() {
    let app = App::start().await;
    for (route, case) in routed() {
        let (Access::Needs(right) | Access::SignedOr(right)) = route.access else { continue };
        let ask = case.ask(&case.path_of(NOBODY)).body("application/json", "{broken").key(too_weak(right, &app.ours));
        app.send(ask).await.refused(403, "PERMISSION_DENIED", &case.about("too weak a key"));
    }
}

#[tokio::test]
async fn malformed_bodies_are_refused_with_the_place() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    for (route, case) in routed() {
        let Input::Json { good, wrong, strict, needed, faults } = &case.input else { continue };
        let path = case.path(&fixture);
        let send = async |kind: &str, body: String| {
            app.send(allowed(case.ask(&path).body(kind, body), route.access, &app.ours)).await
        };
        let json = "application/json";
        let code = if *faults == 422 { "UNPROCESSABLE" } else { "VALIDATION_ERROR" };

        send(json, "{\"input\": ".to_owned()).await.refused(400, "VALIDATION_ERROR", &case.about("cut JSON"));
        send(json, "\u{feff}nope".to_owned()).await.refused(400, "VALIDATION_ERROR", &case.about("no JSON"));
        send("text/plain", good.to_string()).await.refused(400, "VALIDATION_ERROR", &case.about("declared as text"));
        let deep = format!("{{\"x\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
        send(json, deep).await.refused(400, "VALIDATION_ERROR", &case.about("nested too deep"));
        if *strict || *faults == 200 {
            send(json, "[]".to_owned()).await.refused(400, "VALIDATION_ERROR", &case.about("a list"));
        }
        if let Some((place, value)) = wrong {
            let paths = send(json, with(good, place, value).to_string()).await.refused(
                *faults,
                code,
                &case.about("wrong type"),
            );
            assert!(paths.iter().any(|path| path.starts_with(place)), "{} {paths:?}", case.about("wrong type"));
        }
        if *strict {
            let paths = send(json, with(good, "/surprise", &json!(1)).to_string()).await.refused(
                *faults,
                code,
                &case.about("unknown field"),
            );
            assert_eq!(paths, ["/surprise"], "{}", case.about("unknown field"));
        }
        for name in *needed {
            let mut lacking = good.clone();
            lacking.as_object_mut().unwrap().remove(*name);
            let paths = send(json, lacking.to_string()).await.refused(*faults, code, &case.about("missing field"));
            assert!(paths.contains(&format!("/{name}")), "{} {paths:?}", case.about("missing field"));
        }
    }
}

#[tokio::test]
async fn every_name_in_a_body_may_be_written_in_snake_case() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let document = document();
    let mut tried = 0;
    for (route, case) in routed() {
        let Input::Json { strict: true, .. } = &case.input else { continue };
        let body = &document["paths"][route.path][route.method.to_lowercase()]["requestBody"];
        let schema = resolve(&document, &body["content"]["application/json"]["schema"]);
        for name in schema["properties"].as_object().into_iter().flat_map(|known| known.keys()) {
            let in_words = |c: char| if c.is_uppercase() { format!("_{}", c.to_lowercase()) } else { c.to_string() };
            let snake: String = name.chars().map(in_words).collect();
            if snake == *name {
                continue;
            }
            let ask = Ask::new(route.method, &case.path(&fixture)).json(&json!({ snake.as_str(): {} }));
            let text = app.send(allowed(ask, route.access, &app.ours)).await.text();
            assert!(
                !text.contains(&format!("unknown field `{snake}`")),
                "{} {snake}: {text}",
                case.about("snake_case")
            );
            tried += 1;
        }
    }
    assert!(tried > 40, "only {tried} names were tried");
}

fn with(good: &Value, place: &str, value: &Value) -> Value {
    let mut body = good.clone();
    body.as_object_mut().unwrap().insert(place.trim_start_matches('/').to_owned(), value.clone());
    body
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_declared_or_not() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    for (route, case) in routed() {
        let (kind, limit) = match &case.input {
            Input::None => continue,
            Input::Json { .. } => ("application/json", MAX_BODY),
            Input::Other(kind, _) if *kind == "message/rfc822" => (*kind, MAX_MAIL),
            Input::Other(kind, _) => (*kind, MAX_BODY),
        };
        let path = case.path(&fixture);
        let large = vec![b' '; limit + 1];
        let declared = case.ask(&path).body(kind, large.clone());
        let answer = app.send(allowed(declared, route.access, &app.ours)).await;
        answer.refused(413, "PAYLOAD_TOO_LARGE", &case.about("a declared length over the limit"));
        let chunked = case.ask(&path).chunked(kind, large);
        let answer = app.send(allowed(chunked, route.access, &app.ours)).await;
        answer.refused(413, "PAYLOAD_TOO_LARGE", &case.about("an undeclared length over the limit"));
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found_whoever_has_it() {
    let app = App::start().await;
    let theirs = Fixture::of(&app, &app.theirs).await;
    for (route, case) in routed() {
        let send = async |path: String| app.send(allowed(case.good(&path), route.access, &app.ours)).await;
        match &case.place {
            Place::Fixed | Place::Shared(_) => continue,
            Place::Id(of) => {
                if route.access == Access::Callback {
                    send(case.path_of(NOBODY)).await.refused(404, "NOT_FOUND", &case.about("an unknown id"));
                    continue;
                }
                send(case.path_of(NOBODY)).await.refused(404, "NOT_FOUND", &case.about("an unknown id"));
                send(case.path_of(&of(&theirs))).await.refused(404, "NOT_FOUND", &case.about("another tenant's id"));
                let paths = send(case.path_of("7")).await.refused(400, "VALIDATION_ERROR", &case.about("no id"));
                assert_eq!(paths, ["/id"], "{}", case.about("no id"));
            }
            Place::Name(of) => {
                send(case.path_of("no.such")).await.refused(404, "NOT_FOUND", &case.about("an unknown name"));
                send(case.path_of(&of(&theirs))).await.refused(404, "NOT_FOUND", &case.about("another tenant's name"));
                send(case.path_of("a%00b")).await.refused(400, "VALIDATION_ERROR", &case.about("a NUL"));
            }
        }
    }
}

#[tokio::test]
async fn another_tenants_things_are_in_no_list() {
    let app = App::start().await;
    let theirs = Fixture::of(&app, &app.theirs).await;
    let secrets =
        [&theirs.ended, &theirs.waiting, &theirs.user, &theirs.key, &theirs.webhook, &theirs.record, &theirs.plan]
            .into_iter()
            .chain([&theirs.agent, &theirs.prompt, &theirs.memory, &theirs.document])
            .collect::<Vec<_>>();
    for (route, case) in routed() {
        let lists = route.method == "GET" && matches!(case.place, Place::Fixed | Place::Shared(_));
        if !lists || route.path == "/api/admin/tenants" {
            continue;
        }
        let path = case.path_of("note").replace("/api/tools/note", "/api/tools/core.noop");
        let path = path.replace("/v1/models/note", "/v1/models/scripted/echo");
        let answer = app.send(allowed(case.good(&path), route.access, &app.ours)).await;
        assert_eq!(answer.status, 200, "{}", case.about("a list"));
        let text = answer.text();
        assert!(!secrets.iter().any(|secret| text.contains(secret.as_str())), "{}", case.about("leaks"));
    }
}

#[tokio::test]
async fn a_wrong_method_names_the_right_ones() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    for (route, case) in routed() {
        let answer = app.send(Ask::new("TRACE", &case.path(&fixture))).await;
        answer.refused(405, "VALIDATION_ERROR", &case.about("TRACE"));
        let allow = answer.header("allow");
        assert!(allow.split(',').any(|method| method.trim() == route.method), "{} {allow}", case.about("TRACE"));
    }
}

#[tokio::test]
async fn a_body_without_a_content_type_is_read_for_what_it_should_be() {
    let app = App::start().await;
    for (route, case) in routed() {
        let body = match &case.input {
            Input::None => continue,
            Input::Json { good, .. } => good.to_string(),
            Input::Other(_, body) => (*body).to_owned(),
        };
        let path = match &case.place {
            Place::Fixed => case.path_of(""),
            Place::Shared(name) => case.path_of(name),
            // The same reader as on the routes above, and here it would steer the fixture.
            Place::Id(_) | Place::Name(_) => continue,
        };
        let answer = app.send(allowed(case.ask(&path).body("", body), route.access, &app.ours)).await;
        assert!((200..300).contains(&answer.status), "{} {}", case.about("no content type"), answer.text());
    }
}

#[tokio::test]
async fn an_unknown_route_is_not_found_in_the_envelope() {
    let app = App::start().await;
    for path in ["/api/nothing", "/api/tasks/", "/API/tasks", "//", "/api/tasks/x/y/z"] {
        app.send(Ask::get(path)).await.refused(404, "NOT_FOUND", path);
    }
}

#[tokio::test]
async fn an_unknown_parameter_is_refused_on_every_route() {
    let app = App::start().await;
    let fixture = Fixture::of(&app, &app.ours).await;
    let mut ignoring = Vec::new();
    for (route, case) in routed() {
        let path = case.path(&fixture);
        if route.query == Query::Any {
            ignoring.push(route.path);
        } else {
            let ask = allowed(case.good(&format!("{path}?surprise=1")), route.access, &app.ours);
            let places = app.send(ask).await.refused(400, "VALIDATION_ERROR", &case.about("an unknown parameter"));
            assert_eq!(places, ["/surprise"], "{}", case.about("an unknown parameter"));
        }
        if let Access::Needs(right) = route.access {
            let ask = case.good(&format!("{path}?surprise=1"));
            app.send(ask.key(too_weak(right, &app.ours))).await.refused(
                403,
                "PERMISSION_DENIED",
                &case.about("a query"),
            );
        }
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(app.send(Ask::get(&format!("{path}?surprise=1"))).await.status, 200, "{path}");
    }
    let outside = ["/api/inbound/sms", "/api/inbound/webhook/{source}"];
    assert_eq!(ignoring, [&outside[..], &["/healthz", "/readyz", "/metrics"]].concat());
}

#[tokio::test]
async fn bad_queries_are_refused_with_the_parameter() {
    let app = App::start().await;
    let cases: [(&str, &str); 11] = [
        ("/api/tasks?status=done", "/status"),
        ("/api/tasks?channel=fax", "/channel"),
        ("/api/tasks?limit=0", "/limit"),
        ("/api/tasks?limit=201", "/limit"),
        ("/api/tasks?limit=ten", "/limit"),
        ("/api/tasks?cursor=nonsense", "/cursor"),
        ("/api/tasks?colour=red", "/colour"),
        ("/api/tasks?limit=1&limit=2", "/limit"),
        ("/api/users?cursor=!", "/cursor"),
        ("/api/records/note?sort=key", "/sort"),
        ("/api/tasks/01980000-0000-7000-8000-00000000dead?waitMs=60001", "/waitMs"),
    ];
    for (path, place) in cases {
        let answer: Answer = app.send(Ask::get(path).key(&app.ours.admin)).await;
        assert_eq!(answer.refused(400, "VALIDATION_ERROR", path), [place], "{path}");
    }
    let answer = app.send(Ask::get("/api/tasks?status=done").key(&app.ours.viewer)).await;
    assert!(answer.text().contains("needs_review"), "the allowed ones are named");
}
