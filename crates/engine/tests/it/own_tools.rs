//! Own tools: who writes them, who approves them, which version an act means, and what the audit says.

use std::sync::Arc;

use kybern_core::actor::{Actor, Principal, Role};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{RequestId, TenantId, UserId};
use kybern_core::ports::AuditStore as _;
use kybern_core::tool::Risk;
use kybern_core::tool::own::{OwnDefinition, OwnTool, OwnToolAct, OwnToolFilter, OwnToolStatus};
use kybern_engine::Engine;
use kybern_engine::tools::ToolChange;
use kybern_testkit::tools::ScriptedTool;
use serde_json::json;
use uuid::Uuid;

use crate::world::World;

const FIND: &str = "crm.find_customer";

fn definition(key: &str, description: &str) -> OwnDefinition {
    let written = json!({
        "key": key, "description": description, "inputSchema": {"type": "object", "properties": {"id": {}}},
        "effect": "read", "http": {"method": "GET", "url": "https://crm.example.com/{{ args.id }}"},
    });
    serde_json::from_value(written).unwrap()
}

fn reviewer() -> Actor {
    kybern_testkit::actors::user(TenantId::DEFAULT, UserId::from_uuid(Uuid::from_u128(5)), &[Role::Admin])
}

fn world() -> World {
    World::on_sqlite([Arc::new(ScriptedTool::echo("test.send")), Arc::new(ScriptedTool::echo("plain"))])
}

async fn handed_in(engine: &Engine, author: &Actor, description: &str) -> OwnTool {
    engine.own_tools().draft(author, definition(FIND, description)).await.unwrap();
    engine.own_tools().act(author, FIND, OwnToolAct::Submit).await.unwrap()
}

async fn approved(engine: &Engine, author: &Actor, description: &str) -> OwnTool {
    let tool = handed_in(engine, author, description).await;
    engine.own_tools().act(&reviewer(), FIND, OwnToolAct::Approve(tool.definition.hash())).await.unwrap()
}

async fn activate(engine: &Engine, actor: &Actor, tool: &OwnTool) -> Result<OwnTool, Error> {
    engine.own_tools().act(actor, FIND, OwnToolAct::Activate(tool.definition.hash())).await
}

fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> (ErrorCode, String) {
    let error = result.unwrap_err();
    (error.code(), error.to_string())
}

#[test]
fn a_tool_is_drafted_reviewed_used_and_deleted_and_the_audit_names_the_version() {
    let world = world();
    world.life(async |live| {
        let (engine, author) = (&live.engine, &world.actor);
        let tool = approved(engine, author, "Finds.").await;
        activate(engine, author, &tool).await.unwrap();
        engine.own_tools().act(author, FIND, OwnToolAct::Disable).await.unwrap();
        activate(engine, author, &tool).await.unwrap();
        let sent_back = handed_in(engine, author, "Finds more.").await;
        let note = OwnToolAct::Reject("Say what it finds.".to_owned());
        let sent_back =
            engine.own_tools().act(&reviewer(), FIND, note).await.map(|after| (sent_back.id, after)).unwrap();
        assert_eq!((sent_back.0, sent_back.1.status), (sent_back.1.id, OwnToolStatus::Rejected));
        assert_eq!(engine.own_tools().get(world.scope(), sent_back.0).await.unwrap(), sent_back.1);
        engine.own_tools().delete(author, FIND).await.unwrap();
        let left = engine.own_tools().list(world.scope(), &OwnToolFilter::default(), None, 10).await.unwrap();
        assert!(left.items.is_empty());

        let events = world.look(world.store.audit_events(world.scope(), 0, 100)).await.unwrap();
        let events: Vec<_> = events.into_iter().map(|link| link.event).collect();
        let events: Vec<_> = events.iter().filter(|event| event.action.starts_with("own_tool.")).collect();
        let acts: Vec<&str> = events.iter().map(|event| &event.action["own_tool.".len()..]).collect();
        let of_one = ["draft", "submit", "approve", "activate", "disable", "activate"];
        assert_eq!(acts, [&of_one[..], &["draft", "submit", "reject", "delete"]].concat());
        for (n, event) in events.iter().enumerate() {
            let (version, definition) = if n < 6 { (1, &tool.definition) } else { (2, &sent_back.1.definition) };
            assert_eq!(event.subject, format!("tool:{FIND}"));
            assert_eq!(event.detail["key"], json!(FIND), "{event:?}");
            assert_eq!(event.detail["version"], json!(version), "{event:?}");
            assert_eq!(event.detail["hash"], json!(definition.hash()), "{event:?}");
            assert!(!event.detail.to_string().contains("example.com"), "what it says is not in the audit");
        }
        assert_eq!(events[2].detail["selfApproval"], json!(false));
        assert_eq!(events[9].detail["active"]["version"], json!(1));
    });
}

#[test]
fn an_act_means_the_version_that_was_read_or_the_newest_that_it_fits() {
    let world = world();
    world.life(async |live| {
        let (engine, author, reviewer) = (&live.engine, &world.actor, reviewer());
        let act = async |actor: &Actor, act: OwnToolAct| engine.own_tools().act(actor, FIND, act).await;
        assert_eq!(refusal(act(author, OwnToolAct::Submit).await).0, ErrorCode::NotFound);
        let one = handed_in(engine, author, "One.").await;
        let two = handed_in(engine, author, "Two.").await;
        let draft = engine.own_tools().draft(author, definition(FIND, "Three.")).await.unwrap();
        // By its hash the older one is approved, not the newest.
        let good = act(&reviewer, OwnToolAct::Approve(one.definition.hash())).await.unwrap();
        assert_eq!((good.id, good.version), (one.id, 1));
        let again = refusal(act(&reviewer, OwnToolAct::Approve(one.definition.hash())).await);
        let says = format!("version 1 of {FIND} has the status approved: only what is in review can be approved");
        assert_eq!(again, (ErrorCode::Conflict, says));
        let other = refusal(act(&reviewer, OwnToolAct::Approve("0".repeat(64))).await);
        assert!(other.0 == ErrorCode::Conflict && other.1.contains("no version"), "{other:?}");
        let early = refusal(activate(engine, author, &two).await);
        assert!(
            early.0 == ErrorCode::Conflict && early.1.contains("version 2 of crm.find_customer has the status review")
        );
        let nothing_active = refusal(act(author, OwnToolAct::Disable).await);
        assert!(
            nothing_active.0 == ErrorCode::Conflict && nothing_active.1.contains("version 3"),
            "{nothing_active:?}"
        );
        // The newest in review is version 2, the newest draft version 3.
        let back = act(&reviewer, OwnToolAct::Reject("No.".to_owned())).await.unwrap();
        assert_eq!((back.version, act(author, OwnToolAct::Submit).await.unwrap().id), (2, draft.id));
        assert_eq!(activate(engine, author, &one).await.unwrap().version, 1);
        assert_eq!(act(author, OwnToolAct::Disable).await.unwrap().version, 1);
        // What says the same as an older one is meant before it.
        let same = approved(engine, author, "One.").await;
        assert_eq!(activate(engine, author, &one).await.unwrap().id, same.id);
    });
}

#[test]
fn nobody_approves_a_tool_of_their_own_unless_the_operator_allows_it() {
    for allowed in [false, true] {
        let world = world().set(|settings| settings.self_approval = allowed);
        world.life(async |live| {
            let (engine, author) = (&live.engine, &world.actor);
            let tool = handed_in(engine, author, "Finds.").await;
            let own = engine.own_tools().act(author, FIND, OwnToolAct::Approve(tool.definition.hash())).await;
            if allowed {
                assert_eq!(own.unwrap().status, OwnToolStatus::Approved);
            } else {
                assert_eq!(refusal(own).0, ErrorCode::PermissionDenied);
            }
        });
    }
}

#[test]
fn a_draft_is_refused_in_a_domain_of_the_server_and_with_every_fault_at_once() {
    let world = world();
    world.life(async |live| {
        let (engine, author) = (&live.engine, &world.actor);
        let faults = async |definition: OwnDefinition| {
            let error = engine.own_tools().draft(author, definition).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::Validation);
            error.details().iter().map(|fault| fault.path.clone()).collect::<Vec<_>>()
        };
        for key in ["test.receive", "test.send", "global.anything"] {
            assert_eq!(faults(definition(key, "Sends.")).await, ["/key"], "{key}");
        }
        let mut bad = definition("test.send", " ");
        bad.http.url = "https://crm.example.com/{{ state.id }}".to_owned();
        assert_eq!(faults(bad).await, ["/description", "/http/url", "/key"]);
        let named = engine.own_tools().draft(author, definition("test.x", "X.")).await.unwrap_err();
        assert!(named.details()[0].message.starts_with("test is a domain"), "{named:?}");
        for refused in [
            refusal(engine.own_tools().act(author, "test.send", OwnToolAct::Submit).await),
            refusal(engine.own_tools().delete(author, "plain").await),
        ] {
            assert!(refused.0 == ErrorCode::Conflict && refused.1.contains("PATCH"), "{refused:?}");
        }
        assert_eq!(refusal(engine.own_tools().delete(author, FIND).await).0, ErrorCode::NotFound);
    });
}

#[test]
fn a_setting_makes_no_tool_less_risky_than_its_method() {
    let world = world();
    world.life(async |live| {
        let (engine, author) = (&live.engine, &world.actor);
        let looks = approved(engine, author, "Finds.").await;
        activate(engine, author, &looks).await.unwrap();
        let set = async |risk| {
            let change = ToolChange { risk: Some(risk), ..ToolChange::default() };
            engine.tool_settings().set(author, FIND, change).await
        };
        let refused = set(Some(Risk::R0)).await.unwrap_err();
        let told = (refused.code(), refused.details()[0].path.as_str(), refused.details()[0].message.as_str());
        assert_eq!(told, (ErrorCode::Validation, "/risk", "is at least R1, the risk of a request with its method"));
        assert_eq!(set(Some(Risk::R1)).await.unwrap().risk(), Risk::R1);
        // What was said of it does not hold for a later version that writes.
        let mut writes = definition(FIND, "Changes.");
        writes.http.method = "POST".to_owned();
        engine.own_tools().draft(author, writes).await.unwrap();
        let writes = engine.own_tools().act(author, FIND, OwnToolAct::Submit).await.unwrap();
        engine.own_tools().act(&reviewer(), FIND, OwnToolAct::Approve(writes.definition.hash())).await.unwrap();
        activate(engine, author, &writes).await.unwrap();
        assert_eq!(engine.tool_settings().get(world.scope(), FIND).await.unwrap().risk(), Risk::R2);
        assert_eq!(set(None).await.unwrap().risk(), Risk::R2);
        assert_eq!(set(Some(Risk::R3)).await.unwrap().risk(), Risk::R3);
    });
}

#[test]
fn only_a_user_writes_a_tool() {
    let world = world();
    world.life(async |live| {
        let channel = Principal::Channel { name: "email".to_owned() };
        let request = RequestId::from_uuid(Uuid::nil());
        let channel = Actor::authenticated(TenantId::DEFAULT, channel, vec![Role::Admin], Vec::new(), request);
        let refused = refusal(live.engine.own_tools().draft(&channel, definition(FIND, "Finds.")).await);
        assert_eq!(refused.0, ErrorCode::PermissionDenied);
    });
}
