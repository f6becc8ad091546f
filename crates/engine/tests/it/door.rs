//! The one door: who may call what, how often, and at what price.

use std::sync::Arc;

use futures::future::join_all;
use kybern_core::approval::Verdict;
use kybern_core::audit::AuditEvent;
use kybern_core::budget::{Amount, Budget, BudgetSubject, Limits, Period, UsageFilter, Window};
use kybern_core::error::{ErrorCode, Retry};
use kybern_core::id::{RecordId, TenantId, UserId};
use kybern_core::money::NanoUsd;
use kybern_core::policy::{Autonomy, PermissionLevel, Preset, ToolCategory, ToolPolicy};
use kybern_core::ports::{AuditStore as _, LedgerStore as _, PermissionStore as _};
use kybern_core::record::Expect;
use kybern_core::task::{EffectClass, TaskStatus, limits};
use kybern_core::time::Millis;
use kybern_core::tool::{PriceUnit, ToolFailure, ToolOutcome, ToolPrice, ToolRateLimits, ToolSetting, UnitPrice};
use kybern_engine::invocation::InvocationView;
use kybern_engine::tools::ToolChange;
use kybern_testkit::Fault;
use kybern_testkit::tools::ScriptedTool;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::live::{Live, object};
use crate::outside::{Wire, Wired, pause};
use crate::tries::put;
use crate::world::{World, plan, step};

const LONG: Millis = Millis(60_000);

impl Live<'_> {
    /// Calls a tool by hand.
    pub async fn call(&self, tool: &str, input: Value) -> Result<InvocationView, kybern_core::error::Error> {
        self.engine.invocations().invoke(&self.world.actor, tool, object(input), None, LONG).await
    }

    /// Says what the world's user may let tools do.
    pub async fn permit(&self, policy: &ToolPolicy) {
        let user = UserId::from_uuid(Uuid::nil());
        self.engine.identity().set_policy(&self.world.actor, user, Some(policy.clone())).await.unwrap();
    }

    /// What has been done, by its names.
    pub async fn acts(&self) -> Vec<AuditEvent> {
        let chain = self.world.store.audit_events(self.world.scope(), 0, 10_000).await.unwrap();
        chain.into_iter().map(|link| link.event).collect()
    }

    async fn may_spend(&self, nanos: i64) -> Budget {
        let limits = Limits { cost: Some(NanoUsd(nanos)), ..Limits::default() };
        let actor = &self.world.actor;
        self.engine.budgets().create(actor, BudgetSubject::Tenant, Period::Day, limits).await.unwrap().budget
    }
}

/// A policy that lets everything happen.
pub fn everything() -> ToolPolicy {
    ToolPolicy::preset(Preset::Permissive)
}

fn writer(key: &str) -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::noop(key, EffectClass::Local))
}

fn priced(key: &str, price: ToolPrice) -> ScriptedTool {
    ScriptedTool::noop(key, EffectClass::Keyed).with_spec(|spec| spec.price = Some(price))
}

#[test]
fn a_user_may_call_what_was_said_and_a_plan_what_its_author_wrote() {
    let tool = writer("t.write");
    World::with([tool.clone()]).run(async |live| {
        live.permit(&ToolPolicy::preset(Preset::ReadOnly)).await;
        let denied = live.call("t.write", json!({})).await.unwrap_err();
        assert_eq!(denied.code(), ErrorCode::PermissionDenied);
        assert!(denied.to_string().contains("asks for level \"write\""), "{denied}");
        assert_eq!(live.acts().await.iter().filter(|act| act.action == "tool.deny").count(), 1);
        let level = PermissionLevel::Write;
        live.permit(&ToolPolicy { level, ..ToolPolicy::preset(Preset::ReadOnly) }).await;
        assert_eq!(live.call("t.write", json!({})).await.unwrap().status, "success");
        let mut listed = everything();
        listed.denied_tools.insert("t.write".to_owned());
        live.permit(&listed).await;
        assert_eq!(live.call("t.write", json!({})).await.unwrap_err().code(), ErrorCode::PermissionDenied);
        // What was said about a user narrows the plans that they start.
        let task = live.run(json!([step("a", "t.write", json!({}))]), json!({})).await;
        assert_eq!((task.status, task.error.unwrap().code), (TaskStatus::Failed, ErrorCode::PermissionDenied));
        let user = UserId::from_uuid(Uuid::nil());
        live.engine.identity().set_policy(&live.world.actor, user, None).await.unwrap();
        let task = live.run(json!([step("a", "t.write", json!({}))]), json!({})).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Completed, 2));
    });
}

#[test]
fn what_is_taken_away_while_a_task_runs_is_not_done() {
    let tool = writer("t.write");
    World::with([tool.clone()]).run(async |live| {
        let steps = json!([step("a", "core.wait", json!({"ms": 5_000})), step("b", "t.write", json!({}))]);
        let id = live.begin(plan(steps), json!({})).await;
        pause(Millis(1_000)).await;
        live.permit(&ToolPolicy::preset(Preset::ReadOnly)).await;
        let task = live.end(id).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Failed, 0));
        live.permit(&everything()).await;
        live.engine.tasks().retry(&live.world.actor, id).await.unwrap();
        assert_eq!(live.until(id, |task| task.status == TaskStatus::Completed).await.status, TaskStatus::Completed);
    });
}

#[test]
fn a_rate_refuses_a_call_by_hand_and_a_step_waits_for_its_place() {
    let tool = Arc::new(ScriptedTool::echo("t.rated").with_spec(|spec| spec.rate = ToolRateLimits::per_minute(2)));
    World::with([tool.clone()]).run(async |live| {
        for _ in 0..2 {
            assert_eq!(live.call("t.rated", json!({})).await.unwrap().status, "success");
        }
        let refused = live.call("t.rated", json!({})).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RateLimited);
        assert!(matches!(refused.retry(), Retry::After(wait) if wait > Millis(50_000) && wait <= Millis(60_000)));
        let begun = live.now();
        let task = live.run(json!([step("a", "t.rated", json!({}))]), json!({})).await;
        assert_eq!((task.status, tool.count()), (TaskStatus::Completed, 3));
        assert!(live.now().since(begun) >= Millis(50_000), "it waited: {:?}", live.now().since(begun));
        assert_eq!(live.attempts(task.id).await.len(), 0, "and waiting is no try");
    });
}

#[test]
fn calls_that_are_approved_later_take_their_places_then() {
    let tool = Arc::new(ScriptedTool::echo("t.rated").with_spec(|spec| spec.rate = ToolRateLimits::per_minute(2)));
    World::with([tool.clone()]).run(async |live| {
        let change = ToolChange { confirm: Some(true), ..ToolChange::default() };
        live.engine.tool_settings().set(&live.world.actor, "t.rated", change).await.unwrap();
        let mut waiting = Vec::new();
        for _ in 0..2 {
            for _ in 0..2 {
                waiting.push(live.call("t.rated", json!({})).await.unwrap());
            }
            pause(Millis(61_000)).await;
        }
        let (begun, mut ended) = (live.now(), Vec::new());
        for call in &waiting {
            live.decide(call.approval_id.unwrap(), Verdict::Approve(None), None).await.unwrap();
        }
        for call in &waiting {
            let task = live.end(call.invocation_id).await;
            assert_eq!(task.status, TaskStatus::Completed);
            ended.push(task.completed_at.unwrap().since(begun));
        }
        assert_eq!(tool.count(), 4);
        assert_eq!(ended.iter().filter(|after| **after < Millis(60_000)).count(), 2, "{ended:?}");
    });
}

#[test]
fn calls_by_hand_of_all_tools_count_together() {
    World::new().run(async |live| {
        let policy = ToolPolicy { calls_per_minute: Some(3), ..everything() };
        live.permit(&policy).await;
        for tool in ["t.echo", "core.noop", "core.set"] {
            live.call(tool, json!({})).await.unwrap();
        }
        assert_eq!(live.call("t.echo", json!({})).await.unwrap_err().code(), ErrorCode::RateLimited);
        pause(Millis(60_000)).await;
        live.call("t.echo", json!({})).await.unwrap();
    });
}

#[test]
fn a_call_costs_its_price_and_the_budget_says_no_before_it_is_made() {
    let tool = Arc::new(priced("t.paid", ToolPrice::fixed(NanoUsd(10))));
    World::with([tool.clone()]).run(async |live| {
        let budget = live.may_spend(25).await;
        for _ in 0..2 {
            let call = live.call("t.paid", json!({})).await.unwrap();
            assert_eq!((call.status, call.cost_nanos), ("success", NanoUsd(10)));
        }
        let refused = live.call("t.paid", json!({})).await.unwrap_err();
        assert_eq!((refused.code(), tool.count()), (ErrorCode::BudgetExceeded, 2));
        assert_eq!(live.settled(&budget).await, Amount::new(NanoUsd(20), kybern_core::money::Tokens(0), 2));
        let day = Window::day_of(live.now());
        let filter = UsageFilter { from: day, to: day, user: None };
        let usage = live.world.store.usage(live.world.scope(), &filter).await.unwrap();
        let line = usage.iter().find(|line| line.name == "t.paid").unwrap();
        assert_eq!((line.calls, line.cost), (2, NanoUsd(20)));
        assert_eq!(live.acts().await.iter().filter(|act| act.action == "tool.cost").count(), 2);
    });
}

#[test]
fn what_surely_had_no_effect_costs_nothing_and_what_may_have_costs_its_price() {
    let fails = |unknown: bool| {
        move |_: &_, _: &Map<String, Value>| {
            let failure = ToolFailure::permanent("no");
            Err(if unknown { failure.unknown() } else { failure })
        }
    };
    let price = |spec: &mut kybern_core::tool::ToolSpec| spec.price = Some(ToolPrice::fixed(NanoUsd(10)));
    let surely = ScriptedTool::new("t.surely", EffectClass::Keyed, fails(false)).with_spec(price);
    let perhaps = ScriptedTool::new("t.perhaps", EffectClass::Keyed, fails(true)).with_spec(price);
    World::with([Arc::new(surely), Arc::new(perhaps)]).run(async |live| {
        let budget = live.may_spend(100).await;
        let call = live.call("t.surely", json!({})).await.unwrap();
        assert_eq!((call.status, call.cost_nanos), ("failure", NanoUsd(0)));
        assert_eq!(live.settled(&budget).await.cost(), NanoUsd(0));
        let call = live.call("t.perhaps", json!({})).await.unwrap();
        assert_eq!((call.status, call.cost_nanos), ("failure", NanoUsd(10)));
        assert_eq!(live.settled(&budget).await.cost(), NanoUsd(10));
    });
}

#[test]
fn a_call_whose_result_cannot_be_kept_costs_its_price() {
    let price = |spec: &mut kybern_core::tool::ToolSpec| spec.price = Some(ToolPrice::fixed(NanoUsd(10)));
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let deep = ToolOutcome::new(Map::from_iter([("deep".to_owned(), deep)]), "");
    let long = ToolOutcome::new(Map::from_iter([("long".to_owned(), json!("x".repeat(limits::MAX_STEP_DATA)))]), "");
    let mut record = put(RecordId::from_uuid(Uuid::from_u128(7)), Expect::Absent);
    record.put.kind = "x".repeat(1_000);
    let record = ToolOutcome { records: vec![record], ..ToolOutcome::default() };
    let tools = [("t.deep", deep), ("t.long", long), ("t.record", record)].map(|(key, outcome)| {
        Arc::new(ScriptedTool::new(key, EffectClass::Keyed, move |_, _| Ok(outcome.clone())).with_spec(price))
    });
    World::with(tools).run(async |live| {
        let budget = live.may_spend(100).await;
        for (nanos, key) in [(10, "t.deep"), (20, "t.long"), (30, "t.record")] {
            let call = live.call(key, json!({})).await.unwrap();
            assert_eq!((call.status, call.cost_nanos), ("failure", NanoUsd(10)), "{key}: {:?}", call.error);
            assert_eq!(live.settled(&budget).await.cost(), NanoUsd(nanos), "{key}");
        }
    });
}

#[test]
fn a_price_by_the_second_reserves_the_most_and_takes_what_it_took() {
    let unit = UnitPrice { unit: PriceUnit::Second, nanos: NanoUsd(1), argument: None };
    let price = ToolPrice { fixed_nanos: NanoUsd(0), per_unit: Some(unit) };
    let slow = ScriptedTool::pending("t.slow", EffectClass::Keyed, |_, _| {
        Box::pin(async {
            pause(Millis(2_500)).await;
            Ok(ToolOutcome::new(Map::new(), "done"))
        })
    });
    let slow = slow.with_spec(|spec| (spec.price, spec.timeout) = (Some(price), Millis(30_000)));
    World::with([Arc::new(slow)]).run(async |live| {
        let budget = live.may_spend(29).await;
        assert_eq!(live.call("t.slow", json!({})).await.unwrap_err().code(), ErrorCode::BudgetExceeded);
        let wider = Limits { cost: Some(NanoUsd(30)), ..Limits::default() };
        live.engine.budgets().change(&live.world.actor, budget.id, wider).await.unwrap();
        assert_eq!(live.call("t.slow", json!({})).await.unwrap().cost_nanos, NanoUsd(3));
        assert_eq!(live.settled(&budget).await.cost(), NanoUsd(3));
    });
}

#[test]
fn of_thirty_at_once_a_budget_for_ten_pays_ten() {
    let tool = Arc::new(priced("t.paid", ToolPrice::fixed(NanoUsd(10))));
    World::with([tool.clone()]).run(async |live| {
        let budget = live.may_spend(100).await;
        let calls = join_all((0..30).map(|_| live.call("t.paid", json!({})))).await;
        let paid = calls.iter().filter(|call| call.as_ref().is_ok_and(|call| call.status == "success")).count();
        let refused = calls.iter().filter(|call| call.as_ref().is_err_and(|e| e.code() == ErrorCode::BudgetExceeded));
        assert_eq!((paid, refused.count(), tool.count()), (10, 20, 10));
        assert_eq!(live.settled(&budget).await.cost(), NanoUsd(100));
    });
}

#[test]
fn a_process_that_dies_at_any_moment_never_spends_beyond_the_budget_and_leaves_nothing_reserved() {
    for n in 1..60 {
        for how in [Fault::CrashBefore, Fault::CrashAfter] {
            let tool = Arc::new(priced("t.paid", ToolPrice::fixed(NanoUsd(10))));
            let world = World::with([tool.clone()]);
            let budget = world.run(async |live| live.may_spend(20).await);
            world.doom(n, how);
            let steps = json!([step("a", "t.paid", json!({})), step("b", "t.paid", json!({}))]);
            world.life(async |live| live.run(steps.clone(), json!({})).await);
            world.run(async |live| {
                // Whatever the dead process held is settled once its time is over.
                pause(Millis(120_000)).await;
                let standing = world.store.standing(world.scope(), &budget, world.clock()).await.unwrap().unwrap();
                assert!(standing.used.cost() <= NanoUsd(20), "{n} {how:?}: {standing:?}");
                assert!(standing.reserved.is_zero(), "{n} {how:?}: {standing:?}");
                drop(live);
            });
            assert!(
                tool.count() <= 3,
                "{n} {how:?}: a keyed call may be made again, a paid one only within the budget"
            );
        }
    }
}

#[test]
fn a_tenant_turns_a_tool_off_and_gives_it_a_price() {
    World::new().run(async |live| {
        let actor = &live.world.actor;
        let off = ToolChange { enabled: Some(false), ..ToolChange::default() };
        live.engine.tool_settings().set(actor, "t.echo", off).await.unwrap();
        assert_eq!(live.call("t.echo", json!({})).await.unwrap_err().code(), ErrorCode::PermissionDenied);
        let price = Some(Some(ToolPrice::fixed(NanoUsd(7))));
        let on = ToolChange { enabled: Some(true), price, ..ToolChange::default() };
        live.engine.tool_settings().set(actor, "t.echo", on).await.unwrap();
        assert_eq!(live.call("t.echo", json!({})).await.unwrap().cost_nanos, NanoUsd(7));
        let bad = ToolChange { price: Some(Some(ToolPrice::fixed(NanoUsd(-1)))), ..ToolChange::default() };
        let refused = live.engine.tool_settings().set(actor, "t.echo", bad).await.unwrap_err();
        assert_eq!(refused.details()[0].path, "/price/fixedNanos");
        let other = kybern_testkit::actors::scope(TenantId::from_uuid(Uuid::from_u128(9)));
        assert!(live.world.store.tool_settings(other).await.unwrap().is_empty());
    });
}

#[test]
fn hosts_hold_at_the_door_and_on_the_way() {
    let wire = Wire::new(|_, _| Wired::Answer(200, json!({})));
    World::new().on(wire).run(async |live| {
        let allowed_hosts = Some(vec!["*.example.com".to_owned()]);
        live.permit(&ToolPolicy { allowed_hosts, ..everything() }).await;
        let get = |url: &str| json!({"method": "GET", "url": url});
        let denied = live.call("http_request", get("https://evil.test/")).await.unwrap_err();
        assert_eq!(denied.code(), ErrorCode::PermissionDenied);
        live.call("http_request", get("https://api.example.com/")).await.unwrap();
        let sent = live.world.wire.requests();
        assert_eq!(sent.len(), 1);
        // The client holds every redirect against it.
        assert_eq!(sent[0].only_hosts.as_deref(), Some(["*.example.com".to_owned()].as_slice()));
    });
}

#[test]
fn a_category_alone_does_not_open_a_level() {
    World::new().run(async |live| {
        let policy = ToolPolicy {
            categories: ToolCategory::ALL.into(),
            autonomy: Autonomy::Full,
            ..ToolPolicy::preset(Preset::ReadOnly)
        };
        live.permit(&policy).await;
        let post = json!({"method": "POST", "url": "https://api.example.com/", "effect": "read"});
        let denied = live.call("core.http_request", post).await.unwrap_err();
        assert_eq!(denied.code(), ErrorCode::PermissionDenied, "what the caller says about the effect does not count");
        let setting = ToolSetting { confirm: true, ..ToolSetting::of("core.noop", live.now()) };
        let audit = AuditEvent::by_executor("tool.set", "tool:core.noop", Value::Null);
        live.world.store.put_tool_setting(live.world.scope(), &setting, audit).await.unwrap();
        assert_eq!(live.call("core.noop", json!({})).await.unwrap().status, "waiting");
    });
}

#[test]
fn a_fork_of_a_call_by_hand_takes_a_place_of_its_own() {
    let tool = Arc::new(ScriptedTool::echo("t.rated").with_spec(|spec| spec.rate = ToolRateLimits::per_minute(1)));
    World::with([tool.clone()]).run(async |live| {
        let call = live.call("t.rated", json!({})).await.unwrap();
        let begun = live.now();
        let from = Some("call".to_owned());
        let fork = live.engine.tasks().fork(&live.world.actor, call.invocation_id, from).await.unwrap();
        assert_eq!(live.end(fork.id).await.status, TaskStatus::Completed);
        assert_eq!(tool.count(), 2);
        assert!(live.now().since(begun) >= Millis(50_000), "it waited for its place");
    });
}

#[test]
fn rules_name_tools_by_any_of_their_names_and_a_name_of_none_is_a_fault() {
    World::new().run(async |live| {
        let mut policy = everything();
        policy.denied_tools.insert("http_request".to_owned());
        live.permit(&policy).await;
        let get = json!({"method": "GET", "url": "https://api.example.com/"});
        for name in ["http_request", "core.http_request"] {
            assert_eq!(live.call(name, get.clone()).await.unwrap_err().code(), ErrorCode::PermissionDenied);
        }
        policy.denied_tools.insert("no.such_tool".to_owned());
        let user = UserId::from_uuid(Uuid::nil());
        let refused = live.engine.identity().set_policy(&live.world.actor, user, Some(policy)).await.unwrap_err();
        assert_eq!((refused.code(), refused.details()[0].path.as_str()), (ErrorCode::Validation, "/deniedTools/1"));
    });
}

#[test]
fn what_is_held_for_a_call_that_is_not_made_is_given_back() {
    let tool = Arc::new(priced("t.paid", ToolPrice::fixed(NanoUsd(10))));
    World::with([tool.clone()]).run(async |live| {
        let budget = live.may_spend(10).await;
        live.world.lacks(Some("begin_attempt"));
        let id = live.begin(plan(json!([step("a", "t.paid", json!({}))])), json!({})).await;
        pause(Millis(5_000)).await;
        live.world.lacks(None);
        // The budget covers one call: had the first reservation stayed, the second would be refused.
        assert_eq!(live.end(id).await.status, TaskStatus::Completed);
        assert_eq!((tool.count(), live.settled(&budget).await.cost()), (1, NanoUsd(10)));
    });
}

#[test]
fn whoever_acts_abroad_is_held_to_what_was_said_of_them_at_home() {
    let tool = Arc::new(ScriptedTool::noop("t.write", EffectClass::Local));
    World::with([tool.clone()]).run(async |live| {
        let (visitor, home) = live.world.visitor();
        let call = || live.engine.invocations().invoke(&visitor, "t.write", object(json!({})), None, LONG);
        assert_eq!((call().await.unwrap().status, tool.count()), ("success", 1), "nothing was said");
        let mut policy = ToolPolicy::preset(Preset::Permissive);
        policy.denied_tools.insert("t.write".to_owned());
        let audit = AuditEvent::by_executor("user.set_permissions", "user:visitor".to_owned(), json!({}));
        live.world.store.set_policy(home, visitor.user().unwrap(), Some(&policy), audit).await.unwrap();
        assert_eq!(call().await.unwrap_err().code(), ErrorCode::PermissionDenied);
        assert_eq!(tool.count(), 1);
    });
}
