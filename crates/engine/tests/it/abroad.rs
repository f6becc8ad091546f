//! A platform admin who acts in another tenant: what is kept of them stays at home, and who made whom counts everywhere.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use kybern_core::actor::{Actor, Role};
use kybern_core::agent::AgentDraft;
use kybern_core::approval::Verdict;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{BudgetSubject, Limits, Period};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{RecordId, UserId};
use kybern_core::identity::User;
use kybern_core::memory::{NewMemory, Subject};
use kybern_core::money::NanoUsd;
use kybern_core::ports::IdentityStore as _;
use kybern_core::preference::Preferences;
use kybern_core::prompt::PromptAct;
use kybern_core::task::TaskStatus;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use kybern_engine::identity::NewKey;
use kybern_engine::models::CallContext;
use kybern_engine::prompt::PreviewRequest;
use kybern_engine::task::{SubmitRequest, TaskView};
use kybern_engine::tools::ToolChange;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::approvals::{BOTH, risky};
use crate::chats::saying;
use crate::live::{Live, object};
use crate::memories::Topics;
use crate::turns::{helper, provider, says, scripted};
use crate::world::{World, plan, step};

const LONG: Millis = Millis(60_000);

impl Live<'_> {
    /// What becomes of one step that somebody starts.
    async fn step_by(&self, actor: &Actor, tool: &str, args: Value) -> TaskView {
        let key = self.put(plan(json!([step("a", tool, args)]))).await;
        let request = SubmitRequest { plan_key: Some(key), ..SubmitRequest::text("go") };
        let id = self.engine.tasks().submit(actor, request, None).await.unwrap().id;
        self.end(id).await
    }

    async fn demote(&self, visitor: &Actor, home: TenantScope) {
        let audit = AuditEvent::by_executor("user.set_roles", "user:visitor".to_owned(), json!({}));
        self.world.store.set_roles(home, visitor.user().unwrap(), &[Role::Admin], audit).await.unwrap();
    }
}

fn told(refused: Error) {
    assert_eq!(refused.code(), ErrorCode::NotFound, "{refused}");
    let message = refused.to_string();
    for part in ["belongs to another tenant", "without X-Tenant-Id", "name a user of this one"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_tool_that_would_remember_of_nobody_here_is_refused_at_once() {
    World::on_sqlite([]).run(async |live| {
        let (visitor, _) = live.world.visitor();
        let task = live.step_by(&visitor, "memory.remember", json!({"content": "Prefers trains."})).await;
        let error = task.error.unwrap();
        assert_eq!((task.status, error.code), (TaskStatus::Failed, ErrorCode::NotFound), "{}", error.message);
        assert!(error.message.contains("belongs to another tenant"), "{}", error.message);
        let none = RecordId::from_uuid(Uuid::from_u128(9));
        let args = json!({"content": "The gate opens at six.", "entity_id": none});
        let task = live.step_by(&live.world.actor, "memory.remember", args).await;
        let error = task.error.unwrap();
        assert_eq!((error.code, error.message.contains(&none.to_string())), (ErrorCode::NotFound, true));
    });
}

#[test]
fn no_vector_is_paid_for_of_what_cannot_be_remembered() {
    let model = Arc::new(Topics::default());
    let world = World::on_sqlite([]).asking(model.provider());
    world.life(async |live| {
        let (visitor, _) = world.visitor();
        let memories = live.engine.memories();
        let own = || NewMemory::fact(Subject::User(visitor.user().unwrap()), "Loves rail");
        told(memories.remember(&visitor, own()).await.unwrap_err());
        told(memories.remember_for_tool(&CallContext::of(&visitor), own()).await.unwrap_err());
        told(memories.suggest(&CallContext::of(&visitor), own()).await.unwrap_err());
        let nobody = UserId::from_uuid(Uuid::from_u128(99));
        let entity = RecordId::from_uuid(Uuid::from_u128(9));
        for subject in [Subject::User(nobody), Subject::Entity(entity)] {
            let refused = memories.remember(&world.actor, NewMemory::fact(subject, "Loves rail")).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::NotFound);
            assert!(refused.to_string().starts_with("there is no "), "{refused}");
        }
        assert_eq!(model.texts.load(Ordering::SeqCst), 0);
        let at_home = Subject::User(world.actor.user().unwrap());
        memories.remember(&world.actor, NewMemory::fact(at_home, "Loves rail")).await.unwrap();
        assert_eq!(model.texts.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn what_is_kept_of_a_user_is_refused_abroad_with_what_to_do() {
    World::on_sqlite([]).run(async |live| {
        let ((visitor, _), engine) = (live.world.visitor(), &live.engine);
        let user = visitor.user().unwrap();
        let key = |user_id| NewKey {
            name: "till".to_owned(),
            user_id,
            roles: Vec::new(),
            scopes: Vec::new(),
            expires_at: None,
        };
        told(engine.identity().create_key(&visitor, key(None)).await.unwrap_err());
        told(engine.identity().create_key(&visitor, key(Some(user))).await.unwrap_err());
        told(engine.preferences().shown(&visitor, None).await.unwrap_err());
        told(engine.preferences().set(&visitor, Preferences::default()).await.unwrap_err());
        told(engine.preferences().forget(&visitor).await.unwrap_err());
        let limits = Limits { cost: Some(NanoUsd(1)), ..Limits::default() };
        let budget = async |actor: &Actor| {
            engine.budgets().create(actor, BudgetSubject::User(user), Period::Day, limits).await.unwrap_err()
        };
        told(budget(&visitor).await);
        // Somebody else learns nothing of who is where.
        let stranger = budget(&live.world.actor).await;
        assert_eq!(stranger.to_string(), format!("there is no user {user}"));
    });
}

#[test]
fn a_visitors_turn_knows_their_name_and_suggests_no_memories() {
    let model = scripted(vec![says("Hello.")]);
    let world = World::on_sqlite([]).asking(provider(&model)).employing([helper(&["suggest_memory", "t.echo"])]);
    world.run(async |live| {
        let (visitor, _) = live.world.visitor();
        for (actor, suggests, name) in [(&visitor, false, "A Visitor"), (&live.world.actor, true, "An Admin")] {
            let asked = model.asked().len();
            let chat = live.engine.chats().create(actor, Some("helper"), None).await.unwrap().id;
            live.engine.chats().say(actor, chat, saying("Hi!"), Some(LONG)).await.unwrap();
            let request = &model.asked()[asked];
            assert!(request.functions.iter().any(|function| function.name == "t__echo"));
            let offered = request.functions.iter().any(|function| function.name == "suggest_memory");
            let told: String = request.messages.iter().map(|message| message.joined_text()).collect();
            assert_eq!((offered, told.contains(name)), (suggests, true), "{told}");
            let preview = PreviewRequest {
                content: "Hi!".to_owned(),
                agent: Some("helper".to_owned()),
                ..PreviewRequest::default()
            };
            let preview = format!("{:?}", live.engine.previews().preview(actor, &preview).await.unwrap());
            assert_eq!((preview.contains("suggest_memory"), preview.contains(name)), (suggests, true), "{preview}");
        }
    });
}

#[test]
fn a_template_names_a_visitor_as_they_are_at_home() {
    World::new().run(async |live| {
        let (visitor, _) = live.world.visitor();
        let task = live.step_by(&visitor, "core.set", json!({"who": "{{ user.name }}, {{ user.email }}"})).await;
        assert_eq!(task.state["who"], json!("A Visitor, visitor@platform.example"), "{:?}", task.error);
        live.proven(task.id).await;
    });
}

/// Another platform admin of the visitor's own tenant, whom nobody here has made.
async fn second_visitor(live: &Live<'_>, home: TenantScope) -> Actor {
    let user = User {
        id: UserId::from_uuid(Uuid::from_u128(6)),
        name: "Another".to_owned(),
        email: "another@platform.example".to_owned(),
        roles: vec![Role::PlatformAdmin],
        timezone: "UTC".to_owned(),
        created_at: live.now(),
        made_by_user_id: None,
    };
    let audit = AuditEvent::by_executor("user.create", format!("user:{}", user.id), json!({}));
    live.world.store.create_user(home, &user, audit).await.unwrap();
    kybern_testkit::actors::user(live.world.scope().tenant(), user.id, &user.roles)
}

#[test]
fn a_platform_admin_approves_no_call_of_whom_they_have_made_in_another_tenant() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        live.wants_four_eyes("t.risky").await;
        let (visitor, home) = live.world.visitor();
        let puppet = live.colleague("puppet", &BOTH, Some(&visitor)).await;
        let other = second_visitor(&live, home).await;
        let key = live.put(plan(json!([step("a", "t.risky", json!({"to": "ops@example.com"}))]))).await;
        for (n, (asks, approves)) in [(&puppet, &visitor), (&visitor, &puppet)].into_iter().enumerate() {
            let request = SubmitRequest { plan_key: Some(key.clone()), ..SubmitRequest::text("go") };
            let task = live.engine.tasks().submit(asks, request, None).await.unwrap().id;
            let id = live.rest(task).await.waits[0].approval_id.unwrap();
            for own in [asks, approves] {
                let refused = live.yes_by(own, id, None).await.unwrap_err();
                assert_eq!((refused.code(), tool.count()), (ErrorCode::PermissionDenied, n), "{refused}");
            }
            live.yes_by(&other, id, None).await.unwrap();
            assert_eq!((live.end(task).await.status, tool.count()), (TaskStatus::Completed, n + 1));
        }
    });
}

#[test]
fn a_platform_admin_approves_no_prompt_of_whom_they_have_made_in_another_tenant() {
    World::on_sqlite([]).employing([AgentDraft::named("Writer", "You write.")]).run(async |live| {
        let (visitor, home) = live.world.visitor();
        let puppet = live.colleague("puppet", &[Role::Admin], Some(&visitor)).await;
        let other = second_visitor(&live, home).await;
        let prompts = live.engine.prompts();
        for (author, approves) in [(&puppet, &visitor), (&visitor, &puppet)] {
            let draft = prompts.draft(author, Some("writer"), "You write well.").await.unwrap();
            prompts.act(author, draft.id, PromptAct::Submit).await.unwrap();
            let yes = async |by: &Actor| prompts.act(by, draft.id, PromptAct::approval_of(&draft)).await;
            assert_eq!(yes(approves).await.unwrap_err().code(), ErrorCode::PermissionDenied);
            yes(&other).await.unwrap();
        }
    });
}

#[test]
fn a_call_by_hand_is_not_made_for_a_visitor_who_is_no_platform_admin_any_more() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        let change = ToolChange { confirm: Some(true), ..ToolChange::default() };
        live.engine.tool_settings().set(&live.world.actor, "t.risky", change).await.unwrap();
        let (visitor, home) = live.world.visitor();
        for demoted in [false, true] {
            let input = object(json!({"to": "ops@example.com"}));
            let call = live.engine.invocations().invoke(&visitor, "t.risky", input, None, LONG).await.unwrap();
            assert_eq!(call.status, "waiting");
            if demoted {
                live.demote(&visitor, home).await;
            }
            live.decide(call.approval_id.unwrap(), Verdict::Approve(None), None).await.unwrap();
            let task = live.end(call.invocation_id).await;
            let code = task.error.map(|error| error.code);
            assert_eq!((code, tool.count()), (demoted.then_some(ErrorCode::PermissionDenied), 1));
        }
    });
}
