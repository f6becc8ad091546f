//! Governed prompts and preferences: who writes, who approves, and what is in use.

use kybern_core::actor::{Actor, Principal, Role};
use std::sync::Arc;

use kybern_core::agent::{AgentChange, AgentDraft};
use kybern_core::context::Layer;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{RequestId, TenantId, UserId};
use kybern_core::memory::{NewMemory, Subject};
use kybern_core::model::ModelMessage;
use kybern_core::policy::{Preset, ToolCategory, ToolPolicy};
use kybern_core::ports::AuditStore as _;
use kybern_core::preference::{Formality, Preferences};
use kybern_core::prompt::{Prompt, PromptAct, PromptStatus};
use kybern_core::task::EffectClass;
use kybern_core::time::Millis;
use kybern_engine::Engine;
use kybern_engine::chat::SayRequest;
use kybern_engine::identity::{NewKey, NewUser, Revoke};
use kybern_engine::prompt::PreviewRequest;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::turns::{helper, provider, says, scripted};
use crate::world::World;

fn world() -> World {
    World::on_sqlite([])
        .employing([AgentDraft::named("Writer", "You write."), AgentDraft::named("Planner", "You plan.")])
}

fn reviewer() -> Actor {
    kybern_testkit::actors::user(TenantId::DEFAULT, UserId::from_uuid(Uuid::from_u128(5)), &[Role::Admin])
}

/// Brings a draft as far as it is approved by somebody else.
async fn approved(engine: &Engine, author: &Actor, agent: Option<&str>, text: &str) -> Prompt {
    let draft = engine.prompts().draft(author, agent, text).await.unwrap();
    engine.prompts().act(author, draft.id, PromptAct::Submit).await.unwrap();
    engine.prompts().act(&reviewer(), draft.id, PromptAct::approval_of(&draft)).await.unwrap()
}

async fn in_use(world: &World, engine: &Engine, agent: &str) -> Option<String> {
    engine.agents().active_prompt(world.scope(), agent).await.unwrap().map(|prompt| prompt.text.clone())
}

async fn last_act(world: &World) -> (String, Value) {
    let events = world.look(world.store.audit_events(world.scope(), 0, 100)).await.unwrap();
    let event = events.last().unwrap().event.clone();
    (event.action, event.detail)
}

#[test]
fn an_agents_own_prompt_goes_before_the_one_for_all() {
    let world = world();
    world.life(async |live| {
        let (engine, author) = (&live.engine, &world.actor);
        assert_eq!(in_use(&world, engine, "writer").await, None);
        let all = approved(engine, author, None, "You answer for Acme Freight.").await;
        engine.prompts().act(author, all.id, PromptAct::activation_of(&all)).await.unwrap();
        assert_eq!(in_use(&world, engine, "writer").await.as_deref(), Some("You answer for Acme Freight."));
        let one = approved(engine, author, Some("Writer"), "You write well.").await;
        assert_eq!(one.agent.as_deref(), Some("writer"), "it is kept under the key");
        engine.prompts().act(author, one.id, PromptAct::activation_of(&one)).await.unwrap();
        assert_eq!(in_use(&world, engine, "writer").await.as_deref(), Some("You write well."));
        assert_eq!(in_use(&world, engine, "planner").await.as_deref(), Some("You answer for Acme Freight."));

        let two = approved(engine, author, Some("writer"), "You write better.").await;
        engine.prompts().act(author, two.id, PromptAct::activation_of(&two)).await.unwrap();
        assert_eq!(last_act(&world).await.1["retires"], json!(one.id));
        assert_eq!(engine.prompts().get(world.scope(), one.id).await.unwrap().status, PromptStatus::Retired);
        engine.prompts().act(author, one.id, PromptAct::activation_of(&one)).await.unwrap();
        assert_eq!(in_use(&world, engine, "writer").await.as_deref(), Some("You write well."));
    });
}

#[test]
fn nobody_approves_their_own_unless_the_operator_allows_it_and_the_audit_says_so() {
    for allowed in [false, true] {
        let world = world().set(|settings| settings.self_approval = allowed);
        world.life(async |live| {
            let (engine, author) = (&live.engine, &world.actor);
            let draft = engine.prompts().draft(author, None, "You help.").await.unwrap();
            engine.prompts().act(author, draft.id, PromptAct::Submit).await.unwrap();
            let approved = engine.prompts().act(author, draft.id, PromptAct::approval_of(&draft)).await;
            if allowed {
                assert_eq!(approved.unwrap().approved_by, author.user());
                let (act, detail) = last_act(&world).await;
                assert_eq!((act.as_str(), &detail["selfApproval"]), ("prompt.approve", &json!(true)));
            } else {
                assert_eq!(approved.unwrap_err().code(), ErrorCode::PermissionDenied);
                assert_eq!(last_act(&world).await.0, "prompt.submit", "what is refused is no act");
            }
        });
    }
}

#[test]
fn who_made_an_account_or_a_key_is_no_second_person() {
    for allowed in [false, true] {
        let world = world().set(|settings| settings.self_approval = allowed);
        world.life(async |live| {
            let (engine, author) = (&live.engine, &world.actor);
            let admin_made_by = async |maker: &Actor, name: &str| {
                let email = format!("{name}@example.com");
                let new =
                    NewUser { name: name.to_owned(), email, roles: vec![Role::Admin], timezone: "UTC".to_owned() };
                let user = engine.identity().create_user(maker, new).await.unwrap();
                assert_eq!(user.made_by_user_id, maker.user());
                kybern_testkit::actors::user(TenantId::DEFAULT, user.id, &[Role::Admin])
            };
            let outside = reviewer();
            let made = admin_made_by(author, "made").await;
            let below = admin_made_by(&made, "below").await;
            let keyed = admin_made_by(&outside, "keyed").await;
            let key = |user: &Actor| NewKey {
                name: "a key".to_owned(),
                user_id: user.user(),
                roles: Vec::new(),
                scopes: Vec::new(),
                expires_at: None,
            };
            let (record, _) = engine.identity().create_key(&below, key(&keyed)).await.unwrap();
            assert_eq!(record.made_by_user_id, below.user());
            engine.identity().revoke_key(&below, record.id, Revoke::default()).await.unwrap();
            let free = admin_made_by(&outside, "free").await;
            let approve = async |author: &Actor, approver: &Actor| {
                let draft = engine.prompts().draft(author, None, "You help.").await.unwrap();
                engine.prompts().act(author, draft.id, PromptAct::Submit).await.unwrap();
                let act = PromptAct::approval_of(&draft);
                engine.prompts().act(approver, draft.id, act).await.map_err(|error| error.code())
            };
            for (one, other) in [(author, &made), (author, &below), (&made, &below), (author, &keyed)] {
                for (author, approver) in [(one, other), (other, one)] {
                    let done = approve(author, approver).await;
                    if allowed {
                        assert!(done.is_ok());
                        assert_eq!(last_act(&world).await.1["selfApproval"], json!(true), "the audit says so");
                    } else {
                        assert_eq!(done.unwrap_err(), ErrorCode::PermissionDenied);
                    }
                }
            }
            assert!(approve(author, &free).await.is_ok() && approve(&free, &below).await.is_ok());
            let (_, detail) = last_act(&world).await;
            assert_eq!((&detail["selfApproval"], detail.get("accountsMadeBy")), (&json!(false), None));
            // Two that the same administrator made are two; who that was is for whoever reads the audit.
            let (one, other) = (admin_made_by(author, "one").await, admin_made_by(author, "other").await);
            assert!(approve(&one, &other).await.is_ok());
            assert_eq!(last_act(&world).await.1["accountsMadeBy"], json!([author.user().unwrap()]));
        });
    }
}

#[test]
fn what_an_agent_shall_be_told_becomes_a_draft() {
    let world = world();
    world.life(async |live| {
        let (engine, author) = (&live.engine, &world.actor);
        let told = |text: &str| AgentChange { system_prompt: Some(text.to_owned()), ..AgentChange::default() };
        let changed = engine.agents().change(author, "writer", told(" You obey. ")).await.unwrap();
        assert_eq!((changed.agent.draft.system_prompt.as_str(), changed.agent.bundled), ("You write.", true));
        let draft = changed.draft.unwrap();
        assert_eq!((draft.text.as_str(), draft.status, draft.version), ("You obey.", PromptStatus::Draft, 1));
        assert_eq!(last_act(&world).await.0, "prompt.draft");
        let both = AgentChange { name: Some("Scribe".to_owned()), ..told("You obey more.") };
        let changed = engine.agents().change(author, "writer", both).await.unwrap();
        assert_eq!((changed.agent.draft.name.as_str(), changed.draft.unwrap().version), ("Scribe", 2));
        assert_eq!(engine.agents().change(author, "writer", told("You write.")).await.unwrap().draft, None);
        for bad in ["", " ", &"x".repeat(16_001)] {
            let refused = engine.agents().change(author, "writer", told(bad)).await.unwrap_err();
            assert_eq!(refused.details()[0].path, "/systemPrompt");
        }
        assert_eq!(in_use(&world, engine, "writer").await, None, "nothing is in use that nobody approved");
    });
}

#[test]
fn a_preview_is_what_is_sent_afterwards_and_leaves_nothing() {
    let model = scripted(vec![says("Forty.")]);
    let world = World::on_sqlite([]).asking(provider(&model)).employing([helper(&["t.echo"])]);
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        engine
            .memories()
            .remember(actor, NewMemory::fact(Subject::User(actor.user().unwrap()), "Ships boxes"))
            .await
            .unwrap();
        let wishes = Preferences { formality: Formality::Formal, ..Preferences::default() };
        engine.preferences().set(actor, wishes).await.unwrap();
        let chat = engine.chats().create(actor, Some("helper"), None).await.unwrap().id;
        let say = async |content: &str| {
            let request = SayRequest { content: content.to_owned(), ..SayRequest::default() };
            engine.chats().say(actor, chat, request, Some(Millis(60_000))).await.unwrap()
        };
        say("How many boxes fit?").await;
        let acts = world.store.audit_events(world.scope(), 0, 100).await.unwrap().len();
        let request = PreviewRequest {
            content: "And how many boxes on two pallets?".to_owned(),
            chat: Some(chat),
            ..PreviewRequest::default()
        };
        let preview = engine.previews().preview(actor, &request).await.unwrap();
        assert_eq!((preview.agent.as_str(), preview.route.as_str(), preview.prompt), ("helper", "default", None));
        assert_eq!(preview.tools, ["t__echo"]);
        assert_eq!(preview.layers.len(), Layer::ALL.len());
        assert_eq!(world.store.audit_events(world.scope(), 0, 100).await.unwrap().len(), acts);
        assert_eq!(model.asked().len(), 1, "no model is asked");
        say(&request.content).await;
        assert_eq!(model.asked()[1].messages, preview.messages);

        let tried = PreviewRequest { text: Some(" You count boxes. ".to_owned()), ..request.clone() };
        let tried = engine.previews().preview(actor, &tried).await.unwrap();
        let told = tried.messages.iter().map(ModelMessage::joined_text).collect::<Vec<_>>().join("\n");
        assert!(told.contains("You count boxes.") && !told.contains("You help at Acme Freight."), "{told}");
        let new = PreviewRequest { chat: None, agent: Some("Helper".to_owned()), ..request.clone() };
        let new = engine.previews().preview(actor, &new).await.unwrap();
        assert!(!new.messages.iter().any(|message| message.joined_text().contains("Forty.")), "a chat of its own");
    });
}

#[test]
fn an_agent_is_told_of_the_tools_that_it_has_and_one_without_tools_nothing() {
    let many: Vec<String> = (0..41).map(|n| format!("yard.t{n}")).collect();
    let all = many.iter().map(|key| Arc::new(ScriptedTool::noop(key, EffectClass::Read)));
    let model = scripted(vec![says("Forty.")]);
    let plain = AgentDraft::named("Plain", "You talk.");
    let keeper = AgentDraft { tools: many.clone(), ..AgentDraft::named("Keeper", "You keep the yard.") };
    let world = World::on_sqlite(all).asking(provider(&model)).employing([helper(&["t.echo"]), plain, keeper]);
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        for (agent, says, says_not) in [
            ("plain", "You talk.", "tools"),
            ("helper", "Your tools, by what they are for: echoes (1).", "find_tools"),
            ("helper", "With your tools you can:\n- change what can be changed back: echoes\n", "find_tools"),
            ("keeper", "Your tools, by what they are for: yard (41).", "Triggers"),
            ("keeper", "1. `find_tools` with a word or two", "Triggers"),
        ] {
            let asked = model.asked().len();
            let request = PreviewRequest {
                content: "How many?".to_owned(),
                agent: Some(agent.to_owned()),
                ..PreviewRequest::default()
            };
            let preview = engine.previews().preview(actor, &request).await.unwrap();
            let chat = engine.chats().create(actor, Some(agent), None).await.unwrap().id;
            let said = SayRequest { content: "How many?".to_owned(), ..SayRequest::default() };
            engine.chats().say(actor, chat, said, Some(Millis(60_000))).await.unwrap();
            let sent = &model.asked()[asked];
            assert_eq!(sent.messages, preview.messages, "what is shown is what is sent");
            // The rules of the server and of the autonomy speak of tools to everybody.
            let told = sent.messages[1].joined_text();
            let told = told.split("\n\n---\n\n").filter(|one| !one.contains("yes")).collect::<Vec<_>>().join("\n");
            assert!(told.contains(says) && !told.contains(says_not), "{agent}: {told}");
        }
    });
}

#[test]
fn tools_for_files_are_told_of_the_folders_that_an_administrator_allows() {
    let read = ScriptedTool::noop("yard.read", EffectClass::Read);
    let read = read.with_spec(|spec| spec.category = ToolCategory::FileRead);
    let model = scripted(vec![says("Forty.")]);
    let agents = [helper(&["yard.read"]), AgentDraft::named("Plain", "You talk.")];
    let world = World::on_sqlite([Arc::new(read)]).asking(provider(&model)).employing(agents);
    world.life(async |live| {
        for (folders, says) in [
            (None, None),
            (Some(vec![]), Some("There is no folder in which your tools may work.")),
            (Some(vec!["/yard", "/dock"]), Some("Folders in which your tools may work: /yard, /dock.")),
        ] {
            let allowed_paths: Option<Vec<String>> =
                folders.map(|folders| folders.into_iter().map(str::to_owned).collect());
            live.permit(&ToolPolicy { allowed_paths, ..ToolPolicy::preset(Preset::Permissive) }).await;
            let told = async |agent: &str| {
                let (content, agent) = ("How many?".to_owned(), Some(agent.to_owned()));
                let request = PreviewRequest { content, agent, ..PreviewRequest::default() };
                live.engine.previews().preview(&world.actor, &request).await.unwrap().messages[1].joined_text()
            };
            let helper = told("helper").await;
            assert_eq!(helper.contains("your tools may work"), says.is_some(), "{helper}");
            assert!(says.is_none_or(|says| helper.contains(says)), "{helper}");
            assert!(!told("plain").await.contains("folder"), "whoever has no tools is told of no folder");
        }
    });
}

#[test]
fn what_cannot_be_previewed_is_refused() {
    let world = world();
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let chat = engine.chats().create(actor, Some("writer"), None).await.unwrap().id;
        let good = || PreviewRequest { content: "Hello.".to_owned(), chat: Some(chat), ..PreviewRequest::default() };
        let preview = engine.previews().preview(actor, &good()).await.unwrap();
        assert!(preview.messages.iter().any(|message| message.joined_text().contains("You write.")), "without a model");
        let long = Some("x".repeat(16_001));
        for (request, place) in [
            (PreviewRequest { content: " ".to_owned(), ..good() }, "/content"),
            (PreviewRequest { agent: Some("nobody".to_owned()), ..good() }, "/agent"),
            (PreviewRequest { text: long, ..good() }, "/text"),
        ] {
            assert_eq!(engine.previews().preview(actor, &request).await.unwrap_err().details()[0].path, place);
        }
        let other = kybern_testkit::actors::user(TenantId::DEFAULT, UserId::from_uuid(Uuid::from_u128(6)), &[]);
        assert_eq!(engine.previews().preview(&other, &good()).await.unwrap_err().code(), ErrorCode::NotFound);
    });
}

#[test]
fn only_persons_write_and_approve() {
    let world = world();
    world.life(async |live| {
        let channel = Principal::Channel { name: "email".to_owned() };
        let request = RequestId::from_uuid(Uuid::nil());
        let channel = Actor::authenticated(TenantId::DEFAULT, channel, vec![Role::Admin], Vec::new(), request);
        let draft = live.engine.prompts().draft(&world.actor, None, "You help.").await.unwrap();
        let code = |error: Error| error.code();
        let denied = Err(ErrorCode::PermissionDenied);
        assert_eq!(live.engine.prompts().draft(&channel, None, "x").await.map(drop).map_err(code), denied);
        let acted = live.engine.prompts().act(&channel, draft.id, PromptAct::Submit).await;
        assert_eq!(acted.map(drop).map_err(code), denied);
        assert_eq!(
            live.engine.preferences().set(&channel, Preferences::default()).await.map(drop).map_err(code),
            denied
        );
    });
}

#[test]
fn preferences_are_kept_for_their_user_and_told_to_the_audit_in_counts() {
    let world = world();
    world.life(async |live| {
        let (engine, actor) = (&live.engine, &world.actor);
        let user = actor.user().unwrap();
        let instructions = vec![" Use metric units. ".to_owned()];
        let said =
            Preferences { formality: Formality::Formal, custom_instructions: instructions, ..Preferences::default() };
        engine.preferences().set(actor, said).await.unwrap();
        let kept = engine.preferences().of(world.scope(), user).await.unwrap();
        assert_eq!(
            (kept.formality, kept.custom_instructions.as_slice()),
            (Formality::Formal, &["Use metric units.".to_owned()][..])
        );
        let (act, detail) = last_act(&world).await;
        assert_eq!((act.as_str(), &detail["customInstructions"]), ("preferences.set", &json!(1)));
        assert!(!detail.to_string().contains("metric"));
        let viewer =
            kybern_testkit::actors::user(TenantId::DEFAULT, UserId::from_uuid(Uuid::from_u128(6)), &[Role::Viewer]);
        let refused = engine.preferences().shown(&viewer, Some(user)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::PermissionDenied);
        engine.preferences().forget(actor).await.unwrap();
        assert_eq!(*engine.preferences().of(world.scope(), user).await.unwrap(), Preferences::default());
    });
}
