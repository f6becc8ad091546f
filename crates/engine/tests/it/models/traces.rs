//! What a call leaves behind that a provider refused, or that never reached it.

use std::sync::Arc;

use kybern_core::audit::ChainedEvent;
use kybern_core::budget::{Amount, Limits};
use kybern_core::error::ErrorCode;
use kybern_core::model::{ModelFailure, ModelFailureKind};
use kybern_core::money::NanoUsd;
use kybern_core::ports::AuditStore as _;
use kybern_testkit::Fault;
use kybern_testkit::models::{Scripted, ScriptedModel};
use serde_json::json;

use super::{PRICES, ask, provider, spec, wide};
use crate::live::Live;
use crate::world::World;

impl Live<'_> {
    async fn calls(&self) -> Vec<ChainedEvent> {
        let events = self.world.store.audit_events(self.world.scope(), 0, 100).await.unwrap();
        events.into_iter().filter(|event| event.event.action == "model.call").collect()
    }
}

fn busy() -> Scripted {
    let words = "the words of somebody who was asked: hunter2";
    Scripted::Fail(ModelFailure::new(ModelFailureKind::RateLimited, words).status(429))
}

#[test]
fn a_refused_call_is_counted_as_failed_and_stands_in_the_audit_beside_the_one_that_answered() {
    let model = Arc::new(ScriptedModel::new("one", |n, _| match n {
        0 => busy(),
        _ => Scripted::text("x", 10, 5),
    }));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(wide()).await;
        let answered = live.engine.models().complete(&live.caller(), ask("small")).await.unwrap();
        assert_eq!(answered.cost, NanoUsd(20));
        let used = live.settled(&budget).await;
        assert_eq!((used.cost(), used.calls()), (NanoUsd(20), 1), "a refusal takes nothing of a budget");
        let [line] = live.usage().await.try_into().unwrap();
        assert_eq!((line.calls, line.failed, line.cost), (2, 1, NanoUsd(20)));
        let [call] = live.calls().await.try_into().unwrap();
        assert_eq!(call.event.detail["failures"], json!([{"code": "RATE_LIMITED", "status": 429}]));
        assert_eq!(call.event.detail["failed"], false);
        assert!(!call.event.detail.to_string().contains("hunter2"), "never the provider's own words");
    });
}

#[test]
fn calls_that_were_all_refused_are_counted_and_audited_and_cost_nothing() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::fail(ModelFailureKind::Key)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(wide()).await;
        let failed = live.engine.models().complete(&live.caller(), ask("small")).await.unwrap_err();
        assert_eq!(failed.code(), ErrorCode::Model);
        assert_eq!(live.settled(&budget).await, Amount::ZERO);
        let [line] = live.usage().await.try_into().unwrap();
        assert_eq!((line.calls, line.failed, line.cost, line.input_tokens), (1, 1, NanoUsd(0), 0));
        let [call] = live.calls().await.try_into().unwrap();
        assert_eq!(call.event.detail["failures"], json!([{"code": "MODEL_ERROR", "status": null}]));
        assert_eq!((&call.event.detail["failed"], &call.event.detail["costNanos"]), (&json!(true), &json!(0)));
    });
}

#[test]
fn a_refused_call_waits_for_nothing_but_its_reservation() {
    let model = Arc::new(ScriptedModel::new("one", |n, _| match n {
        0 => Scripted::text("x", 1, 1),
        _ => Scripted::fail(ModelFailureKind::Key),
    }));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(wide()).await;
        live.engine.models().complete(&live.caller(), ask("small")).await.unwrap();
        live.settled(&budget).await;
        let before = live.world.store.calls();
        for _ in 0..5 {
            live.engine.models().complete(&live.caller(), ask("small")).await.unwrap_err();
        }
        assert_eq!(live.world.store.calls() - before, 5, "their traces leave together afterwards");
        live.settled(&budget).await;
        assert_eq!(live.calls().await.len(), 6);
    });
}

#[test]
fn a_reservation_whose_answer_is_lost_is_neither_refused_nor_made_twice() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("x", 10, 5)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        // Room for one reservation at a time.
        let budget = live.limit(Limits { cost: Some(NanoUsd(400)), ..Limits::default() }).await;
        live.engine.models().complete(&live.caller(), ask("small")).await.unwrap();
        // The first look finds no room. The settlement of the first call rides along with the second, which is written,
        // and of which nobody hears.
        live.world.doom(2, Fault::AnswerLost);
        live.engine.models().complete(&live.caller(), ask("small")).await.unwrap();
        let used = live.settled(&budget).await;
        assert_eq!((used.cost(), used.calls(), model.count()), (NanoUsd(40), 2, 2));
        // Nothing rides along: it is asked for again under the same id, and is there.
        live.world.doom(1, Fault::AnswerLost);
        live.engine.models().complete(&live.caller(), ask("small")).await.unwrap();
        assert_eq!((live.settled(&budget).await.calls(), model.count()), (3, 3));
        // Of a store that stays away the caller is told, and nothing stays reserved.
        live.world.ails(Some(("reserve", Fault::AnswerLost)));
        let refused = live.engine.models().complete(&live.caller(), ask("small")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Unavailable, "{refused}");
        live.world.ails(None);
        assert_eq!((live.settled(&budget).await.calls(), model.count()), (3, 3));
    });
}
