//! A person's yes: bound to exactly what was shown, used once, ended by its time, and kept whatever was said.

use std::sync::Arc;

use kybern_core::actor::{Actor, Role};
use kybern_core::approval::{ApprovalFilter, ApprovalStatus, Verdict};
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{ApprovalId, TenantId};
use kybern_core::policy::{Autonomy, Preset, ToolPolicy};
use kybern_core::ports::IdentityStore as _;
use kybern_core::task::{EffectClass, Resolution, TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_core::tool::{Risk, ToolFailure, ToolOutcome};
use kybern_engine::approval::{ApprovalDecision, ApprovalView};
use kybern_engine::identity::{NewKey, NewUser, Revoke};
use kybern_engine::task::{ReviewRequest, SubmitRequest};
use kybern_engine::tools::ToolChange;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Value, json};

use crate::live::{Live, kinds, object};
use crate::outside::pause;
use crate::world::{World, plan, step};

impl Live<'_> {
    pub(crate) async fn decide(
        &self,
        id: ApprovalId,
        word: Verdict,
        note: Option<&str>,
    ) -> Result<ApprovalView, Error> {
        let decision = ApprovalDecision { word, note: note.map(str::to_owned), resolution: None };
        self.engine.approvals().decide(&self.world.actor, id, decision).await
    }

    pub(crate) async fn inbox(&self, status: Option<ApprovalStatus>) -> Vec<ApprovalView> {
        let filter = ApprovalFilter { status, task: None, talks_of: None, calls: true };
        self.engine.approvals().list(&self.world.actor, filter, None, 200).await.unwrap().items
    }

    /// Calls the risky tool by hand and answers what is asked.
    async fn asked(&self, input: Value) -> ApprovalId {
        let call = self.call("t.risky", input).await.unwrap();
        assert_eq!((call.status, call.output), ("waiting", None));
        call.approval_id.unwrap()
    }

    async fn how(&self, id: ApprovalId) -> ApprovalStatus {
        self.engine.approvals().get(&self.world.actor, id).await.unwrap().approval.status
    }
}

/// A tool of risk R2 that takes an address and a number.
pub(crate) fn risky() -> Arc<ScriptedTool> {
    let tool = ScriptedTool::echo("t.risky").with_spec(|spec| {
        spec.risk = Risk::R2;
        spec.effect = EffectClass::Keyed;
        spec.input_schema = json!({
            "type": "object",
            "properties": {"to": {"type": "string"}, "n": {"type": "integer"}, "extra": {}},
            "required": ["to"]
        });
        spec.destinations = vec!["to".to_owned()];
    });
    Arc::new(tool)
}

fn careful() -> ToolPolicy {
    ToolPolicy { autonomy: Autonomy::Medium, ..ToolPolicy::preset(Preset::Permissive) }
}

#[test]
fn a_yes_makes_exactly_the_call_that_was_shown_and_is_used_once() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        live.permit(&careful()).await;
        let input = json!({"to": "ops@example.com", "n": 7, "extra": {"b": [1, null], "a": "x"}});
        let id = live.asked(input.clone()).await;
        let open = live.inbox(Some(ApprovalStatus::Pending)).await;
        assert_eq!((open.len(), &open[0].approval.asked.input), (1, &input));
        assert!(open[0].approval.asked.expires_at.is_some() && tool.count() == 0);
        let done = live.decide(id, Verdict::Approve(None), None).await.unwrap();
        assert_eq!(done.approval.status, ApprovalStatus::Approved);
        let task = live.end(done.approval.task).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Completed, 1));
        assert_eq!(tool.calls()[0].args, object(input));
        for word in [Verdict::Approve(None), Verdict::Deny] {
            assert_eq!(live.decide(id, word, None).await.unwrap_err().code(), ErrorCode::Conflict);
        }
        assert_eq!(tool.count(), 1);
        let acts = live.acts().await;
        for name in ["approval.ask", "approval.approve", "tool.call"] {
            assert_eq!(acts.iter().filter(|act| act.action == name).count(), 1, "{name}");
        }
        let hash = |name: &str| acts.iter().find(|act| act.action == name).unwrap().detail["argsHash"].clone();
        assert_eq!(hash("approval.ask"), hash("approval.approve"));
    });
}

#[test]
fn a_no_is_told_with_its_note_and_stays_in_the_audit() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        live.permit(&careful()).await;
        let id = live.asked(json!({"to": "ops@example.com"})).await;
        let denied = live.decide(id, Verdict::Deny, Some("ask the customer first")).await.unwrap().approval;
        let task = live.end(denied.task).await;
        let error = task.error.unwrap();
        assert_eq!((task.status, error.code), (TaskStatus::Cancelled, ErrorCode::PermissionDenied));
        assert!(error.message.ends_with("a person denied this call: ask the customer first"), "{}", error.message);
        assert_eq!((tool.count(), live.how(id).await), (0, ApprovalStatus::Denied));
        assert_eq!(denied.decision.unwrap().note.as_deref(), Some("ask the customer first"));
        let acts = live.acts().await;
        assert!(acts.iter().any(|act| act.action == "approval.deny" && act.detail["approvalId"] == json!(id)));
        assert_eq!(live.inbox(None).await.len(), 1, "and so does the question");
    });
}

#[test]
fn who_may_not_make_a_call_says_yes_to_it_and_puts_no_other_in_its_place() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        live.permit(&careful()).await;
        let input = json!({"to": "ops@example.com"});
        let (first, second) = (live.asked(input.clone()).await, live.asked(input).await);
        let new = NewUser {
            name: "Reviewer".to_owned(),
            email: "reviewer@example.com".to_owned(),
            roles: vec![Role::Reviewer],
            timezone: String::new(),
        };
        let user = live.engine.identity().create_user(&live.world.actor, new).await.unwrap();
        let reviewer = kybern_testkit::actors::user(TenantId::DEFAULT, user.id, &[Role::Reviewer]);
        let decide = async |id, input: Option<Value>| {
            let word = Verdict::Approve(input.map(object));
            let decision = ApprovalDecision { word, note: None, resolution: None };
            live.engine.approvals().decide(&reviewer, id, decision).await
        };
        let other = json!({"to": "elsewhere@example.com"});
        let refused = decide(first, Some(other.clone())).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::PermissionDenied);
        assert!(refused.to_string().contains("say yes or no to it as it is"), "{refused}");
        let task = live.engine.approvals().get(&reviewer, first).await.unwrap().approval.task;
        let request = ReviewRequest { corrections: object(other), ..ReviewRequest::default() };
        let refused = live.engine.tasks().review(&reviewer, task, request).await.unwrap_err();
        assert_eq!((refused.code(), tool.count()), (ErrorCode::PermissionDenied, 0), "by the other door as well");
        for id in [first, second] {
            let task = decide(id, None).await.unwrap().approval.task;
            assert_eq!(live.end(task).await.status, TaskStatus::Completed);
        }
        assert!(tool.calls().iter().all(|call| call.args["to"] == json!("ops@example.com")));
        assert_eq!(tool.count(), 2);
    });
}

#[test]
fn other_arguments_are_checked_like_any_and_used_whole() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        let allowed_hosts = Some(vec!["example.com".to_owned()]);
        live.permit(&ToolPolicy { allowed_hosts, ..careful() }).await;
        let id = live.asked(json!({"to": "ops@example.com", "n": 7})).await;
        let edit = |input: Value| Verdict::Approve(Some(object(input)));
        let wrong = live.decide(id, edit(json!({"to": 5})), None).await.unwrap_err();
        assert_eq!((wrong.code(), wrong.details()[0].path.as_str()), (ErrorCode::Validation, "/input/to"));
        let unknown = live.decide(id, edit(json!({"to": "a@example.com", "cc": "b"})), None).await.unwrap_err();
        assert_eq!(unknown.code(), ErrorCode::Validation);
        let elsewhere = live.decide(id, edit(json!({"to": "ops@evil.test"})), None).await.unwrap_err();
        assert_eq!((elsewhere.code(), live.how(id).await), (ErrorCode::PermissionDenied, ApprovalStatus::Pending));
        let done = live.decide(id, edit(json!({"to": "desk@example.com"})), None).await.unwrap().approval;
        assert!(done.decision.unwrap().edited);
        live.end(done.task).await;
        assert_eq!(tool.calls()[0].args, object(json!({"to": "desk@example.com"})), "nothing of the old is left");
        let acts = live.acts().await;
        let hash = |name: &str| acts.iter().find(|act| act.action == name).unwrap().detail["argsHash"].clone();
        assert_ne!(hash("approval.ask"), hash("approval.approve"), "the yes was to other arguments");
        let used = kybern_engine::tools::hash_args(&tool.calls()[0].args);
        assert_eq!(hash("approval.approve"), json!(used));
    });
}

impl Live<'_> {
    /// A user with these roles, as they act: made by `maker`, or by nobody of whom it is known.
    pub(crate) async fn colleague(&self, name: &str, roles: &[Role], maker: Option<&Actor>) -> Actor {
        let nobody = kybern_testkit::actors::nobody(TenantId::DEFAULT);
        let new = NewUser {
            name: name.to_owned(),
            email: format!("{name}@example.com"),
            roles: roles.to_vec(),
            timezone: String::new(),
        };
        let user = self.engine.identity().create_user(maker.unwrap_or(&nobody), new).await.unwrap();
        kybern_testkit::actors::user(TenantId::DEFAULT, user.id, roles)
    }

    pub(crate) async fn wants_four_eyes(&self, tool: &str) {
        let change = ToolChange { four_eyes: Some(true), ..ToolChange::default() };
        self.engine.tool_settings().set(&self.world.actor, tool, change).await.unwrap();
    }

    pub(crate) async fn yes_by(
        &self,
        actor: &Actor,
        id: ApprovalId,
        input: Option<Value>,
    ) -> Result<ApprovalView, Error> {
        let decision = ApprovalDecision { word: Verdict::Approve(input.map(object)), note: None, resolution: None };
        self.engine.approvals().decide(actor, id, decision).await
    }
}

/// Who asks for calls and answers questions.
pub(crate) const BOTH: [Role; 2] = [Role::Operator, Role::Reviewer];

#[test]
fn where_two_persons_stand_for_a_call_nobody_says_yes_to_their_own() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        live.wants_four_eyes("t.risky").await;
        let ann = live.colleague("ann", &BOTH, None).await;
        let puppet = live.colleague("puppet", &BOTH, Some(&ann)).await;
        let ben = live.colleague("ben", &BOTH, None).await;
        let key = live.put(plan(json!([step("a", "t.risky", json!({"to": "ops@example.com"}))]))).await;
        let request = SubmitRequest { plan_key: Some(key), ..SubmitRequest::text("go") };
        let task = live.engine.tasks().submit(&ann, request, None).await.unwrap().id;
        let asked = live.rest(task).await.waits.remove(0);
        assert!(asked.reason.contains("by somebody else than whoever asked for it"), "{}", asked.reason);
        let id = asked.approval_id.unwrap();
        for own in [&ann, &puppet] {
            let refused = live.yes_by(own, id, None).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::PermissionDenied);
            assert!(refused.to_string().contains("ask another reviewer, or deny it"), "{refused}");
            let refused = live.engine.tasks().review(own, task, ReviewRequest::default()).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::PermissionDenied, "by the other door as well");
            for resolution in [Resolution::Done, Resolution::Retry] {
                let said = ReviewRequest { resolution: Some(resolution), ..ReviewRequest::default() };
                let refused = live.engine.tasks().review(own, task, said).await.unwrap_err();
                assert_eq!(refused.code(), ErrorCode::Validation, "{resolution:?} is neither a yes nor a no");
            }
        }
        // They may make the call themselves, and still nobody else has seen theirs.
        live.engine.identity().set_policy(&live.world.actor, ben.user().unwrap(), Some(careful())).await.unwrap();
        let other = Some(json!({"to": "elsewhere@example.com"}));
        let refused = live.yes_by(&ben, id, other).await.unwrap_err();
        assert!(refused.to_string().contains("nobody else has seen other arguments"), "{refused}");
        assert_eq!((live.how(id).await, tool.count()), (ApprovalStatus::Pending, 0));
        live.yes_by(&ben, id, None).await.unwrap();
        assert_eq!((live.end(task).await.status, tool.count()), (TaskStatus::Completed, 1));
        let acts = live.acts().await;
        let yes = acts.iter().find(|act| act.action == "approval.approve").unwrap();
        assert_eq!(yes.detail["selfApproval"], json!(false));
    });
}

#[test]
fn a_call_of_which_nobody_knows_what_came_of_it_is_made_again_on_two_persons_words_only() {
    let unknown = ToolFailure { effect_unknown: true, ..ToolFailure::permanent("it timed out") };
    let answers = [Err(unknown), Ok(ToolOutcome::default())];
    let tool = ScriptedTool::answers("t.pay", EffectClass::Unkeyed, answers);
    let tool = Arc::new(tool.with_spec(|spec| spec.risk = Risk::R2));
    World::with([tool.clone()]).run(async |live| {
        live.wants_four_eyes("t.pay").await;
        let [ann, ben] = [live.colleague("ann", &BOTH, None).await, live.colleague("ben", &BOTH, None).await];
        let key = live.put(plan(json!([step("a", "t.pay", json!({"to": "ops@example.com"}))]))).await;
        let request = SubmitRequest { plan_key: Some(key), ..SubmitRequest::text("go") };
        let task = live.engine.tasks().submit(&ann, request, None).await.unwrap().id;
        let waiting = live.rest(task).await;
        let first = waiting.waits[0].approval_id.unwrap();
        live.yes_by(&ben, first, None).await.unwrap();
        let open = live.after_answer(task, &waiting).await;
        assert_eq!((kinds(&open), tool.count()), (vec![WaitKind::Ambiguous], 1));
        let again = ReviewRequest { resolution: Some(Resolution::Retry), ..ReviewRequest::default() };
        live.engine.tasks().review(&ann, task, again).await.unwrap();
        let asked = live.after_answer(task, &open).await;
        assert_eq!((kinds(&asked), tool.count()), (vec![WaitKind::Confirmation], 1), "the first yes is used up");
        let second = asked.waits[0].approval_id.unwrap();
        assert_ne!(second, first);
        assert_eq!(live.yes_by(&ann, second, None).await.unwrap_err().code(), ErrorCode::PermissionDenied);
        live.yes_by(&ben, second, None).await.unwrap();
        assert_eq!((live.proven(task).await.status, tool.count()), (TaskStatus::Completed, 2));
    });
}

#[test]
fn whoever_asked_may_always_say_no() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        live.wants_four_eyes("t.risky").await;
        let id = live.begin(plan(json!([step("a", "t.risky", json!({"to": "ops@example.com"}))])), json!({})).await;
        let asked = live.rest(id).await.waits[0].approval_id.unwrap();
        live.decide(asked, Verdict::Deny, None).await.unwrap();
        assert_eq!((live.end(id).await.status, tool.count()), (TaskStatus::Cancelled, 0));
    });
}

#[test]
fn whoever_filled_in_the_form_has_asked_for_what_is_made_of_it() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        live.wants_four_eyes("t.risky").await;
        let [ben, cem] = [live.colleague("ben", &BOTH, None).await, live.colleague("cem", &BOTH, None).await];
        let form = json!({"id": "ask", "kind": "input", "title": "Where?", "fields": {"to": {"type": "string"}}});
        let call = step("a", "t.risky", json!({"to": "{{ state.to }}"}));
        let id = live.begin(plan(json!([form, call])), json!({})).await;
        let waiting = live.rest(id).await;
        let corrections = object(json!({"to": "ops@example.com"}));
        live.engine.tasks().review(&ben, id, ReviewRequest { corrections, ..ReviewRequest::default() }).await.unwrap();
        let asked = live.after_answer(id, &waiting).await.waits[0].approval_id.unwrap();
        assert_eq!(live.yes_by(&ben, asked, None).await.unwrap_err().code(), ErrorCode::PermissionDenied);
        live.yes_by(&cem, asked, None).await.unwrap();
        assert_eq!((live.end(id).await.status, tool.count()), (TaskStatus::Completed, 1));
    });
}

#[test]
fn where_an_administrator_is_alone_their_own_yes_counts_and_the_audit_says_so() {
    let tool = risky();
    World::with([tool.clone()]).set(|settings| settings.self_approval = true).run(async |live| {
        live.wants_four_eyes("t.risky").await;
        let id = live.begin(plan(json!([step("a", "t.risky", json!({"to": "ops@example.com"}))])), json!({})).await;
        let asked = live.rest(id).await.waits[0].approval_id.unwrap();
        live.decide(asked, Verdict::Approve(None), None).await.unwrap();
        assert_eq!((live.end(id).await.status, tool.count()), (TaskStatus::Completed, 1));
        let acts = live.acts().await;
        let yes = acts.iter().find(|act| act.action == "approval.approve").unwrap();
        assert_eq!(yes.detail["selfApproval"], json!(true));
    });
}

#[test]
fn a_call_is_not_made_for_a_key_that_was_revoked_while_it_waited() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        let change = ToolChange { confirm: Some(true), ..ToolChange::default() };
        live.engine.tool_settings().set(&live.world.actor, "t.risky", change).await.unwrap();
        let ann = live.colleague("ann", &BOTH, None).await.user().unwrap();
        let key = live.put(plan(json!([step("a", "t.risky", json!({"to": "ops@example.com"}))]))).await;
        for is_revoked in [false, true] {
            let (name, user_id) = ("till".to_owned(), Some(ann));
            let new = NewKey { name, user_id, roles: Vec::new(), scopes: Vec::new(), expires_at: None };
            let with = live.engine.identity().create_key(&live.world.actor, new).await.unwrap().0;
            let by_key = kybern_testkit::actors::user_by(TenantId::DEFAULT, ann, with.id, &BOTH);
            let request = SubmitRequest { plan_key: Some(key.clone()), ..SubmitRequest::text("go") };
            let task = live.engine.tasks().submit(&by_key, request, None).await.unwrap().id;
            let asked = live.rest(task).await.waits[0].approval_id.unwrap();
            if is_revoked {
                live.engine.identity().revoke_key(&live.world.actor, with.id, Revoke::default()).await.unwrap();
            }
            live.decide(asked, Verdict::Approve(None), None).await.unwrap();
            let task = live.end(task).await;
            assert_eq!((task.status == TaskStatus::Failed, tool.count()), (is_revoked, 1));
            if is_revoked {
                let error = task.error.unwrap();
                assert_eq!(error.code, ErrorCode::PermissionDenied);
                assert!(error.message.contains("has been revoked since"), "{}", error.message);
            }
        }
        let acts = live.acts().await;
        assert_eq!(acts.iter().filter(|act| act.action == "tool.deny").count(), 1);
    });
}

#[test]
fn a_call_is_not_made_for_a_user_who_has_lost_every_role_while_it_waited() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        let change = ToolChange { confirm: Some(true), ..ToolChange::default() };
        live.engine.tool_settings().set(&live.world.actor, "t.risky", change).await.unwrap();
        let ann = live.colleague("ann", &BOTH, None).await;
        let key = live.put(plan(json!([step("a", "t.risky", json!({"to": "ops@example.com"}))]))).await;
        let request = SubmitRequest { plan_key: Some(key), ..SubmitRequest::text("go") };
        let task = live.engine.tasks().submit(&ann, request, None).await.unwrap().id;
        let asked = live.rest(task).await.waits[0].approval_id.unwrap();
        live.engine.identity().set_roles(&live.world.actor, ann.user().unwrap(), Vec::new()).await.unwrap();
        live.decide(asked, Verdict::Approve(None), None).await.unwrap();
        let task = live.end(task).await;
        assert_eq!((task.error.unwrap().code, tool.count()), (ErrorCode::PermissionDenied, 0));
        assert!(live.acts().await.iter().any(|act| act.action == "tool.deny"));
    });
}

#[test]
fn a_call_is_not_made_for_a_visitor_who_is_no_platform_admin_any_more() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        let change = ToolChange { confirm: Some(true), ..ToolChange::default() };
        live.engine.tool_settings().set(&live.world.actor, "t.risky", change).await.unwrap();
        let (visitor, home) = live.world.visitor();
        let key = live.put(plan(json!([step("a", "t.risky", json!({"to": "ops@example.com"}))]))).await;
        for (demoted, made) in [(false, 1), (true, 1)] {
            let request = SubmitRequest { plan_key: Some(key.clone()), ..SubmitRequest::text("go") };
            let task = live.engine.tasks().submit(&visitor, request, None).await.unwrap().id;
            let asked = live.rest(task).await.waits[0].approval_id.unwrap();
            if demoted {
                let audit = AuditEvent::by_executor("user.set_roles", "user:visitor".to_owned(), json!({}));
                let (user, roles) = (visitor.user().unwrap(), [Role::Admin]);
                live.world.store.set_roles(home, user, &roles, audit).await.unwrap();
            }
            live.decide(asked, Verdict::Approve(None), None).await.unwrap();
            let task = live.end(task).await;
            assert_eq!(
                (task.error.map(|error| error.code), tool.count()),
                (demoted.then_some(ErrorCode::PermissionDenied), made)
            );
        }
    });
}

#[test]
fn a_question_ends_with_its_time() {
    let tool = risky();
    World::with([tool.clone()]).set(|settings| settings.approval_time = Millis(60_000)).run(async |live| {
        live.permit(&careful()).await;
        let id = live.asked(json!({"to": "ops@example.com"})).await;
        let task = live.inbox(None).await[0].approval.task;
        pause(Millis(61_000)).await;
        assert_eq!(live.decide(id, Verdict::Approve(None), None).await.unwrap_err().code(), ErrorCode::Conflict);
        let task = live.end(task).await;
        assert_eq!((task.status, task.error.unwrap().code), (TaskStatus::Failed, ErrorCode::Timeout));
        assert_eq!((tool.count(), live.how(id).await), (0, ApprovalStatus::Expired));
    });
}

#[test]
fn a_yes_ends_with_its_time_while_its_task_rests() {
    let tool = risky();
    World::with([tool.clone()]).set(|settings| settings.approval_time = Millis(60_000)).run(async |live| {
        live.permit(&careful()).await;
        let first = live.asked(json!({"to": "ops@example.com"})).await;
        let task = live.inbox(None).await[0].approval.task;
        live.engine.tasks().pause(&live.world.actor, task).await.unwrap();
        live.decide(first, Verdict::Approve(None), None).await.unwrap();
        pause(Millis(61_000)).await;
        live.engine.tasks().resume(&live.world.actor, task).await.unwrap();
        let asked = live.until(task, |task| task.waits.iter().any(|wait| wait.approval_id != Some(first))).await;
        let again = asked.waits[0].approval_id.unwrap();
        assert_eq!((asked.waits[0].kind, tool.count()), (WaitKind::Confirmation, 0));
        live.decide(again, Verdict::Approve(None), None).await.unwrap();
        assert_eq!((live.end(task).await.status, tool.count()), (TaskStatus::Completed, 1));
        // A question that nobody has answered in time is over as well.
        let late = live.asked(json!({"to": "ops@example.com"})).await;
        let task = live.engine.approvals().get(&live.world.actor, late).await.unwrap().approval.task;
        live.engine.tasks().pause(&live.world.actor, task).await.unwrap();
        pause(Millis(61_000)).await;
        assert_eq!(live.how(late).await, ApprovalStatus::Expired);
        assert_eq!(live.decide(late, Verdict::Approve(None), None).await.unwrap_err().code(), ErrorCode::Conflict);
    });
}

#[test]
fn a_question_outlives_the_process_and_what_was_taken_away_meanwhile_is_not_done() {
    let tool = risky();
    let world = World::with([tool.clone()]);
    let ids = world.run(async |live| {
        live.permit(&careful()).await;
        [live.asked(json!({"to": "a@example.com"})).await, live.asked(json!({"to": "b@example.com"})).await]
    });
    world.run(async |live| {
        let done = live.decide(ids[0], Verdict::Approve(None), None).await.unwrap();
        assert_eq!(live.end(done.approval.task).await.status, TaskStatus::Completed);
        let asked = live.engine.approvals().get(&world.actor, ids[1]).await.unwrap().approval;
        // The worker has not begun the second: the user loses the tool between the yes and the call.
        live.permit(&ToolPolicy::preset(Preset::ReadOnly)).await;
        live.decide(ids[1], Verdict::Approve(None), None).await.unwrap();
        let task = live.end(asked.task).await;
        assert_eq!((task.error.unwrap().code, tool.count()), (ErrorCode::PermissionDenied, 1));
    });
}

#[test]
fn a_cancelled_task_asks_nobody_any_more() {
    let tool = risky();
    World::with([tool.clone()]).run(async |live| {
        live.permit(&careful()).await;
        let id = live.asked(json!({"to": "ops@example.com"})).await;
        let task = live.inbox(None).await[0].approval.task;
        live.engine.tasks().cancel(&live.world.actor, task).await.unwrap();
        live.end(task).await;
        assert_eq!((live.how(id).await, tool.count()), (ApprovalStatus::Withdrawn, 0));
        assert_eq!(live.decide(id, Verdict::Approve(None), None).await.unwrap_err().code(), ErrorCode::Conflict);
    });
}

#[test]
fn a_step_that_is_tried_again_asks_again() {
    let tool = Arc::new(
        ScriptedTool::answers(
            "t.risky",
            EffectClass::Keyed,
            [Err(kybern_core::tool::ToolFailure::permanent("no")), Ok(kybern_core::tool::ToolOutcome::default())],
        )
        .with_spec(|spec| spec.risk = Risk::R2),
    );
    World::with([tool.clone()]).run(async |live| {
        live.engine
            .tool_settings()
            .set(&live.world.actor, "t.risky", ToolChange { confirm: Some(true), ..ToolChange::default() })
            .await
            .unwrap();
        let id = live.begin(plan(json!([step("a", "t.risky", json!({"n": 1}))])), json!({})).await;
        live.rest(id).await;
        let first = live.inbox(Some(ApprovalStatus::Pending)).await[0].approval.asked.id;
        live.decide(first, Verdict::Approve(None), None).await.unwrap();
        assert_eq!(live.end(id).await.status, TaskStatus::Failed);
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        live.rest(id).await;
        let open = live.inbox(Some(ApprovalStatus::Pending)).await;
        assert_eq!((open.len(), tool.count()), (1, 1), "the first yes is used up");
        assert_ne!(open[0].approval.asked.id, first);
        live.decide(open[0].approval.asked.id, Verdict::Approve(None), None).await.unwrap();
        assert_eq!(live.proven(id).await.status, TaskStatus::Completed);
        assert_eq!(tool.count(), 2);
    });
}

#[test]
fn forms_and_reviews_stand_in_the_same_inbox() {
    World::new().run(async |live| {
        let form = json!({"id": "ask", "kind": "input", "title": "How many?", "fields": {"n": {"type": "integer"}}});
        let id = live.begin(plan(json!([form])), json!({})).await;
        live.rest(id).await;
        let open = live.inbox(Some(ApprovalStatus::Pending)).await.remove(0);
        let approval = open.approval.asked.id;
        assert_eq!(open.wait.unwrap().title.as_deref(), Some("How many?"));
        let empty = live.decide(approval, Verdict::Approve(None), None).await.unwrap_err();
        assert_eq!((empty.code(), empty.details()[0].path.as_str()), (ErrorCode::Validation, "/input"));
        live.decide(approval, Verdict::Approve(Some(object(json!({"n": 3})))), None).await.unwrap();
        let task = live.proven(id).await;
        assert_eq!((task.status, task.state["n"].clone()), (TaskStatus::Completed, json!(3)));
    });
}

#[test]
fn a_yes_is_no_yes_to_the_call_after_a_review() {
    let review = kybern_core::tool::Review {
        reason: "which insurer?".to_owned(),
        title: None,
        schema: json!({"type": "object"}),
        details: Value::Null,
        answer_is_result: false,
    };
    let done = Ok(kybern_core::tool::ToolOutcome::default());
    let answers = [Ok(kybern_core::tool::ToolOutcome::ask(review)), done];
    let tool = Arc::new(ScriptedTool::answers("t.asks", EffectClass::Keyed, answers));
    World::with([tool.clone()]).run(async |live| {
        let change = ToolChange { confirm: Some(true), ..ToolChange::default() };
        live.engine.tool_settings().set(&live.world.actor, "t.asks", change).await.unwrap();
        let id = live.begin(plan(json!([step("a", "t.asks", json!({}))])), json!({})).await;
        let first = live.rest(id).await;
        assert_eq!(crate::live::kinds(&first), [WaitKind::Confirmation]);
        let open = live.inbox(Some(ApprovalStatus::Pending)).await[0].approval.asked.id;
        live.decide(open, Verdict::Approve(None), None).await.unwrap();
        let asked = live.after_answer(id, &first).await;
        assert_eq!((crate::live::kinds(&asked), tool.count()), (vec![WaitKind::Review], 1));
        live.review(id, None, json!({"insurer": "Pinewood"})).await.unwrap();
        let again = live.after_answer(id, &asked).await;
        assert_eq!((crate::live::kinds(&again), tool.count()), (vec![WaitKind::Confirmation], 1), "it asks anew");
    });
}
