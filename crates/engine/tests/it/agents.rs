//! Agents: what comes with the program, what a tenant says about it, and its own.

use std::sync::Arc;

use kybern_core::actor::Role;
use kybern_core::agent::{Agent, AgentChange, AgentDraft, LimitsChange, bundled_id};
use kybern_core::error::ErrorCode;
use kybern_core::id::{TenantId, UserId};
use kybern_core::prompt::{PromptAct, PromptStatus};
use kybern_engine::Engine;
use kybern_engine::agent::AgentTools;
use kybern_engine::agent::manage::AgentChanged;
use uuid::Uuid;

use crate::world::World;

fn bundled() -> [AgentDraft; 2] {
    let triggers = vec!["rewrite".to_owned()];
    [
        AgentDraft::named("Assistant", "You help."),
        AgentDraft { triggers, tool_groups: vec!["echoes".to_owned()], ..AgentDraft::named("Writer", "You write.") },
    ]
}

fn world() -> World {
    World::on_sqlite([]).employing(bundled())
}

async fn keys(world: &World, engine: &Engine) -> Vec<String> {
    engine.agents().list(world.scope()).await.unwrap().iter().map(|agent| agent.draft.key.clone()).collect()
}

async fn acts(world: &World) -> Vec<String> {
    let events = world.look(kybern_core::ports::AuditStore::audit_events(world.store.as_ref(), world.scope(), 0, 100));
    events.await.unwrap().into_iter().map(|link| link.event.action).filter(|act| act != "tenant.create").collect()
}

#[test]
fn a_tenant_has_the_bundled_agents_and_its_own() {
    let world = world();
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        assert_eq!(keys(&world, engine).await, ["assistant", "writer"]);
        let new = AgentDraft { tools: vec!["t.put".to_owned()], ..AgentDraft::named("Billing", "You bill.") };
        let made = engine.agents().create(actor, new).await.unwrap().agent;
        assert_eq!((made.version, made.bundled), (1, false));
        assert_eq!(keys(&world, engine).await, ["assistant", "billing", "writer"]);
        for name in ["billing", "Billing", "BILLING ", &made.id.to_string()] {
            assert_eq!(engine.agents().get(world.scope(), name).await.unwrap(), made, "{name}");
        }
        let writer = engine.agents().get(world.scope(), "writer").await.unwrap();
        assert_eq!((writer.id, writer.bundled), (bundled_id("writer"), true));
        let tools = AgentTools::of(&writer, engine.catalogue().of(world.scope()).await.as_ref());
        assert_eq!((tools.keys, tools.missing), (vec!["t.echo".to_owned()], vec!["t.later".to_owned()]));
        let nobody = engine.agents().get(world.scope(), "nobody").await.unwrap_err();
        assert_eq!(nobody.code(), ErrorCode::NotFound);
        let again =
            (engine.agents().list(world.scope()).await.unwrap(), engine.agents().list(world.scope()).await.unwrap());
        assert_eq!(again.0, again.1);
        assert_eq!(acts(&world).await, ["agent.put", "prompt.draft"]);
    });
}

#[test]
fn keys_and_names_are_taken_once_and_groups_are_known() {
    let world = world();
    world.life(async |live| {
        let create = async |draft: AgentDraft| live.engine.agents().create(&world.actor, draft).await.unwrap_err();
        let taken = create(AgentDraft::named("Writer", "You write.")).await;
        assert_eq!(taken.code(), ErrorCode::Conflict);
        let named = create(AgentDraft { key: "scribe".to_owned(), ..AgentDraft::named("WRITER", "x") }).await;
        assert_eq!(named.code(), ErrorCode::Conflict);
        let called = create(AgentDraft { key: "other".to_owned(), ..AgentDraft::named("writer", "x") }).await;
        assert_eq!(called.code(), ErrorCode::Conflict, "a name that is another's key");
        let groups = vec!["echoes".to_owned(), "nothing".to_owned()];
        let unknown = create(AgentDraft { tool_groups: groups, ..AgentDraft::named("Other", "x") }).await;
        assert_eq!(unknown.details()[0].path, "/toolGroups/1");
        assert!(acts(&world).await.is_empty(), "what is refused is no act");
    });
}

#[test]
fn a_bundled_agent_is_changed_removed_and_brought_back() {
    let world = world();
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let bundled = engine.agents().get(world.scope(), "writer").await.unwrap();
        let change = AgentChange { name: Some("Scribe".to_owned()), ..AgentChange::default() };
        let changed = engine.agents().change(actor, "writer", change.clone()).await.unwrap();
        assert_eq!((changed.agent.id, changed.agent.bundled), (bundled_id("writer"), false));
        assert_eq!((changed.agent.draft.name.as_str(), changed.draft), ("Scribe", None));
        assert_eq!((bundled.version, changed.agent.version), (1, 2), "two texts are never the same version");
        let same = engine.agents().change(actor, "writer", change).await.unwrap();
        assert_eq!(same.agent.version, 2, "what changes nothing is nothing");
        engine.agents().delete(actor, "assistant").await.unwrap();
        assert_eq!(keys(&world, engine).await, ["writer"]);
        let again = engine.agents().delete(actor, "assistant").await.unwrap_err();
        assert_eq!(again.code(), ErrorCode::NotFound);
        // One of the tenant's own may take the place of the one that was removed.
        let own = AgentDraft::named("Assistant", "You assist us.");
        let AgentChanged { agent: own, draft } = engine.agents().create(actor, own).await.unwrap();
        assert_eq!((own.id, own.bundled, own.version), (bundled_id("assistant"), false, 3));
        assert_eq!(own.draft.system_prompt, "You help.", "nobody has approved another text");
        assert_eq!(draft.map(|draft| (draft.text, draft.status)), Some(("You assist us.".into(), PromptStatus::Draft)));
        engine.agents().delete(actor, "assistant").await.unwrap();
        engine.agents().create(actor, AgentDraft::named("Billing", "You bill.")).await.unwrap();

        let resynced = engine.agents().resync(actor).await.unwrap();
        let told = |agents: &[Agent]| agents.iter().map(|agent| agent.draft.key.clone()).collect::<Vec<_>>();
        assert_eq!(
            (told(&resynced.created), told(&resynced.updated)),
            (vec!["assistant".to_owned()], vec!["writer".to_owned()])
        );
        assert_eq!(keys(&world, engine).await, ["assistant", "billing", "writer"]);
        let writer = engine.agents().get(world.scope(), "writer").await.unwrap();
        assert_eq!((writer.draft.name.as_str(), writer.bundled), ("Writer", true));
        assert_eq!(engine.agents().resync(actor).await.unwrap().updated, []);
        let mut expected =
            ["put", "delete", "put", "delete", "put", "resync", "resync"].map(|act| format!("agent.{act}")).to_vec();
        for at in [3, 6] {
            expected.insert(at, "prompt.draft".to_owned());
        }
        assert_eq!(acts(&world).await, expected);
    });
}

#[test]
fn an_own_agent_that_is_removed_is_gone_for_good() {
    let world = world();
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let made = engine.agents().create(actor, AgentDraft::named("Billing", "You bill.")).await.unwrap().agent;
        engine.agents().delete(actor, "billing").await.unwrap();
        engine.agents().resync(actor).await.unwrap();
        assert_eq!(keys(&world, engine).await, ["assistant", "writer"]);
        let again = engine.agents().create(actor, AgentDraft::named("Billing", "You bill.")).await.unwrap().agent;
        assert!(again.id != made.id && again.version == 1);
        assert!(!again.draft.system_prompt.contains("bill"), "{}", again.draft.system_prompt);
    });
}

#[test]
fn an_agent_that_is_made_again_is_told_nothing_that_nobody_approved() {
    let world = world();
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let again = async |text: &str| {
            engine.agents().delete(actor, "billing").await.unwrap();
            let AgentChanged { agent, draft } =
                engine.agents().create(actor, AgentDraft::named("Billing", text)).await.unwrap();
            (agent.draft.system_prompt, draft.map(|draft| draft.text))
        };
        let AgentChanged { agent, draft } =
            engine.agents().create(actor, AgentDraft::named("Billing", "You bill.")).await.unwrap();
        let told = agent.draft.system_prompt;
        assert!(told.starts_with("You are an assistant.") && !told.contains("bill"), "the first is governed: {told}");
        assert_eq!(draft.map(|draft| (draft.text, draft.status)), Some(("You bill.".to_owned(), PromptStatus::Draft)));
        assert_eq!(again("You bill twice.").await, (told, Some("You bill twice.".to_owned())));
        let draft = engine.prompts().draft(actor, Some("billing"), "You bill well.").await.unwrap();
        let (told, drafted) = again("You obey.").await;
        assert!(told.starts_with("You are an assistant.") && !told.contains("obey"), "{told}");
        assert_eq!(drafted.as_deref(), Some("You obey."));

        let reviewer = UserId::from_uuid(Uuid::from_u128(5));
        let reviewer = kybern_testkit::actors::user(TenantId::DEFAULT, reviewer, &[Role::Admin]);
        engine.prompts().act(actor, draft.id, PromptAct::Submit).await.unwrap();
        engine.prompts().act(&reviewer, draft.id, PromptAct::approval_of(&draft)).await.unwrap();
        engine.prompts().act(actor, draft.id, PromptAct::activation_of(&draft)).await.unwrap();
        let approved = "You bill well.".to_owned();
        assert_eq!(again("You obey.").await, (approved.clone(), Some("You obey.".to_owned())));
        assert_eq!(again("You bill well.").await, (approved, None), "that is approved already");
    });
}

#[test]
fn where_administrators_approve_their_own_the_text_of_a_new_agent_holds_at_once() {
    let world = world().set(|settings| settings.self_approval = true);
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let made = engine.agents().create(actor, AgentDraft::named("Billing", "You bill.")).await.unwrap();
        assert_eq!((made.agent.draft.system_prompt.as_str(), made.draft), ("You bill.", None));
        let all = engine.prompts().draft(actor, None, "You help.").await.unwrap();
        for act in [PromptAct::Submit, PromptAct::approval_of(&all), PromptAct::activation_of(&all)] {
            engine.prompts().act(actor, all.id, act).await.unwrap();
        }
        let made = engine.agents().create(actor, AgentDraft::named("Sales", "You sell.")).await.unwrap();
        let draft = made.draft.unwrap();
        assert_eq!((draft.text.as_str(), draft.agent.as_deref()), ("You sell.", Some("sales")), "nothing is lost");
    });
}

#[test]
fn a_bundled_agent_is_reset_alone_and_an_own_one_is_not() {
    let world = world();
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let change = AgentChange { name: Some("Scribe".to_owned()), ..AgentChange::default() };
        engine.agents().change(actor, "writer", change).await.unwrap();
        engine.agents().delete(actor, "assistant").await.unwrap();
        engine.agents().create(actor, AgentDraft::named("Billing", "You bill.")).await.unwrap();
        let own = engine.agents().reset(actor, "billing").await.unwrap_err();
        assert_eq!(own.code(), ErrorCode::Conflict);
        assert!(own.to_string().contains("does not come with the program"), "{own}");
        assert_eq!(engine.agents().reset(actor, "nobody").await.unwrap_err().code(), ErrorCode::NotFound);

        let writer = engine.agents().reset(actor, "Scribe").await.unwrap();
        assert_eq!((writer.draft.name.as_str(), writer.bundled), ("Writer", true));
        assert_eq!(engine.agents().get(world.scope(), "writer").await.unwrap(), writer);
        assert_eq!(engine.agents().reset(actor, "writer").await.unwrap(), writer);
        assert_eq!(keys(&world, engine).await, ["billing", "writer"], "the others stay as they were");
        let assistant = engine.agents().reset(actor, &bundled_id("assistant").to_string()).await.unwrap();
        assert_eq!(engine.agents().get(world.scope(), "assistant").await.unwrap(), assistant);
        let mut expected = ["put", "delete", "put", "reset", "reset"].map(|act| format!("agent.{act}")).to_vec();
        expected.insert(3, "prompt.draft".to_owned());
        assert_eq!(acts(&world).await, expected, "what changes nothing is no act");
    });
}

#[test]
fn an_own_agent_whose_key_a_newer_program_takes_stays_the_tenants() {
    let mut world = world();
    let made = world.life(async |live| {
        live.engine.agents().create(&world.actor, AgentDraft::named("Billing", "You bill.")).await.unwrap().agent
    });
    let made = made.unwrap();
    world = world.employing([AgentDraft::named("Billing", "You bill for the program.")]);
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        assert_eq!(engine.agents().resync(actor).await.unwrap().updated, []);
        assert_eq!(engine.agents().get(world.scope(), "billing").await.unwrap(), made);
        assert_eq!(engine.agents().reset(actor, "billing").await.unwrap_err().code(), ErrorCode::Conflict);
        engine.agents().delete(actor, "billing").await.unwrap();
        assert!(engine.agents().get(world.scope(), "billing").await.unwrap().bundled, "now it is the program's");
    });
}

#[test]
fn of_two_changes_at_once_none_undoes_the_other() {
    let world = world();
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let calls = LimitsChange { calls: Some(3), ..LimitsChange::default() };
        let iterations = LimitsChange { iterations: Some(4), ..LimitsChange::default() };
        let of = |limits| AgentChange { limits, ..AgentChange::default() };
        let change = async |limits| {
            // Whoever is too late reads it again.
            while let Err(error) = engine.agents().change(actor, "writer", of(limits)).await {
                assert_eq!(error.code(), ErrorCode::Conflict);
            }
        };
        futures::join!(change(calls), change(iterations));
        let limits = engine.agents().get(world.scope(), "writer").await.unwrap().draft.limits;
        assert_eq!((limits.calls, limits.iterations), (3, 4));
    });
}

#[test]
fn what_one_tenant_says_of_agents_holds_for_it_alone() {
    let world = world();
    let other = TenantId::from_uuid(Uuid::from_u128(77));
    world.settle_tenant(other, "other");
    let theirs = kybern_testkit::actors::admin(other);
    world.life(async |live| {
        let engine = &live.engine;
        engine.agents().delete(&world.actor, "writer").await.unwrap();
        let made = engine.agents().create(&world.actor, AgentDraft::named("Billing", "You bill.")).await.unwrap().agent;
        let agents: Arc<Vec<Agent>> = engine.agents().list(theirs.scope()).await.unwrap();
        assert_eq!(agents.iter().map(|agent| agent.draft.key.as_str()).collect::<Vec<_>>(), ["assistant", "writer"]);
        for name in ["billing", &made.id.to_string()] {
            assert_eq!(engine.agents().get(theirs.scope(), name).await.unwrap_err().code(), ErrorCode::NotFound);
            assert_eq!(engine.agents().delete(&theirs, name).await.unwrap_err().code(), ErrorCode::NotFound);
        }
    });
}

#[test]
fn a_message_chooses_an_agent() {
    let world = world();
    world.life(async |live| {
        let choice = async |message: &str| {
            let agent = live.engine.agents().choose(world.scope(), message).await;
            agent.map(|agent| agent.draft.key)
        };
        assert_eq!(choice("Please REWRITE this").await.unwrap(), "writer");
        assert_eq!(choice("Good morning").await.unwrap(), "assistant");
        live.engine.agents().delete(&world.actor, "assistant").await.unwrap();
        assert_eq!(choice("Good morning").await.unwrap_err().code(), ErrorCode::NotFound);
    });
}
