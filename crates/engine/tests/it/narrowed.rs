//! What was begun with a narrowed key stays as narrow as the key, wherever its task goes on: in a step, in a child, at a
//! retry, in a fork, and after somebody who may more has said yes.

use std::sync::Arc;

use kybern_core::actor::{Actor, Right, Role};
use kybern_core::approval::{ApprovalStatus, Verdict};
use kybern_core::error::ErrorCode;
use kybern_core::id::{RequestId, TaskId, UserId};
use kybern_core::task::{EffectClass, TaskStatus};
use kybern_engine::identity::{NewKey, NewUser};
use kybern_engine::prompt::PreviewRequest;
use kybern_engine::task::SubmitRequest;
use kybern_engine::tools::ToolChange;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::live::Live;
use crate::turns::helper;
use crate::world::{World, step};

/// Plans that call the reserved tool: in a step, in a child's step, and after a call that a person says yes to.
const PLANS: [&str; 3] = ["test.step", "test.child", "test.asked"];

/// A tool that only admins may use.
fn reserved() -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::echo("t.reserved").with_spec(|spec| spec.right = Right::Administer))
}

impl Live<'_> {
    /// A new admin.
    async fn hire(&self) -> UserId {
        let new = NewUser {
            name: "Second Admin".to_owned(),
            email: "second@example.com".to_owned(),
            roles: vec![Role::Admin],
            timezone: String::new(),
        };
        self.engine.identity().create_user(&self.world.actor, new).await.unwrap().id
    }

    /// Whoever holds a new key of that user's, narrowed so.
    async fn holder(&self, user: UserId, roles: &[Role], scopes: &[&str]) -> Actor {
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let new = NewKey { name: "k".to_owned(), user_id: Some(user), roles: roles.to_vec(), scopes, expires_at: None };
        let key = self.engine.identity().create_key(&self.world.actor, new).await.unwrap().1;
        self.engine.identity().authenticate(&key, RequestId::from_uuid(Uuid::nil()), None).await.unwrap()
    }

    async fn store_plans(&self) {
        let call = step("call", "t.reserved", json!({"n": 1}));
        let child = json!({"id": "sub", "kind": "task", "planKey": "test.step", "input": {}});
        let asked = step("ask", "t.asked", json!({"n": 1}));
        for (key, steps) in PLANS.into_iter().zip([json!([call]), json!([child]), json!([asked, call])]) {
            self.put(json!({"key": key, "steps": steps})).await;
        }
        let change = ToolChange { confirm: Some(true), ..ToolChange::default() };
        self.engine.tool_settings().set(&self.world.actor, "t.asked", change).await.unwrap();
    }

    /// A task that somebody begins with that plan, at its end; what it asks is answered with yes.
    async fn ended(&self, by: &Actor, plan: &str) -> TaskId {
        let request =
            SubmitRequest { plan_key: Some(plan.to_owned()), payload: Value::Null, ..SubmitRequest::text("x") };
        let id = self.engine.tasks().submit(by, request, None).await.unwrap().id;
        if self.rest(id).await.status == TaskStatus::NeedsReview {
            let asked = self.inbox(Some(ApprovalStatus::Pending)).await[0].approval.asked.id;
            self.decide(asked, Verdict::Approve(None), None).await.unwrap();
        }
        self.end(id).await;
        id
    }

    /// The task has failed because the tool was refused.
    async fn was_refused(&self, id: TaskId, about: &str) {
        let task = self.task(id).await;
        let error = task.error.unwrap_or_else(|| panic!("{about}: the task is {}", task.status));
        assert!(
            task.status == TaskStatus::Failed && error.message.contains("needs the right Administer"),
            "{about}: {error:?}"
        );
    }
}

#[test]
fn what_a_narrowed_key_began_never_calls_what_the_key_could_not() {
    let (tool, asked) = (reserved(), Arc::new(ScriptedTool::noop("t.asked", EffectClass::Keyed)));
    World::on_sqlite([tool.clone(), asked.clone()]).run(async |live| {
        live.store_plans().await;
        let user = live.hire().await;
        let whole = live.holder(user, &[], &[]).await;
        for plan in PLANS {
            let id = live.ended(&whole, plan).await;
            assert_eq!(live.task(id).await.status, TaskStatus::Completed, "{plan}");
        }
        let (calls, yeses) = (tool.count(), asked.count());
        assert_eq!((calls, yeses), (3, 1));
        let by_roles = live.holder(user, &[Role::Operator], &[]).await;
        let by_scopes = live.holder(user, &[], &["read", "operate"]).await;
        for (how, narrow) in [("roles", by_roles), ("scopes", by_scopes)] {
            for plan in PLANS {
                let about = format!("{plan}, narrowed by {how}");
                let id = live.ended(&narrow, plan).await;
                live.was_refused(id, &about).await;
                // Somebody who may everything has it tried again: it is still the task of the narrow key.
                live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
                live.end(id).await;
                live.was_refused(id, &format!("{about}, tried again")).await;
            }
        }
        assert_eq!((tool.count(), asked.count()), (calls, yeses + 2), "what was approved was called, and no more");
    });
}

#[test]
fn a_fork_may_what_the_key_may_that_forks() {
    let (tool, asked) = (reserved(), Arc::new(ScriptedTool::noop("t.asked", EffectClass::Keyed)));
    World::on_sqlite([tool.clone(), asked]).run(async |live| {
        live.store_plans().await;
        let user = live.hire().await;
        let whole = live.holder(user, &[], &[]).await;
        let narrow = live.holder(user, &[], &["read", "operate"]).await;
        let first = live.ended(&whole, "test.step").await;
        let fork = live.engine.tasks().fork(&narrow, first, None).await.unwrap().id;
        live.end(fork).await;
        live.was_refused(fork, "a narrow key forks").await;
        assert_eq!(tool.count(), 1);
        let again = live.engine.tasks().fork(&whole, fork, None).await.unwrap().id;
        assert_eq!(live.end(again).await.status, TaskStatus::Completed, "whoever may it decides to do it");
        assert_eq!(tool.count(), 2);
        let code = live.outcome(fork, "call").unwrap().error.unwrap().code;
        assert_eq!(code, ErrorCode::PermissionDenied);
    });
}

#[test]
fn a_preview_offers_what_a_turn_of_the_same_key_would() {
    World::with([reserved()]).employing([helper(&["t.reserved"])]).run(async |live| {
        let user = live.hire().await;
        let request = PreviewRequest {
            content: "Who is in?".to_owned(),
            agent: Some("helper".to_owned()),
            ..PreviewRequest::default()
        };
        for (scopes, offered) in [(&[][..], &["t__reserved"][..]), (&["read", "operate"], &[])] {
            let holder = live.holder(user, &[], scopes).await;
            let preview = live.engine.previews().preview(&holder, &request).await.unwrap();
            assert_eq!(preview.tools, offered, "{scopes:?}");
        }
    });
}
