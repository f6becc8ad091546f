//! The way to the models: routes, tries, fallbacks, and what is reserved and settled for them.

mod listing;
mod policy;
mod traces;

use std::sync::Arc;

use kybern_core::budget::{Amount, Budget, BudgetSubject, Limits, Period, UsageFilter, UsageLine, Window};
use kybern_core::error::{ErrorCode, Retry};
use kybern_core::id::{BudgetId, TaskId, UserId};
use kybern_core::model::{
    EmbedRequest, ModelEvent, ModelFailure, ModelFailureKind, ModelMessage, ModelRequest, ModelSpec, ModelTimeouts,
    Prices, Role, TokenUsage,
};
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::{AuditStore as _, LedgerStore as _};
use kybern_core::time::Millis;
use kybern_engine::models::{Ask, CallContext, ProviderParts, Route};
use kybern_testkit::Fault;
use kybern_testkit::models::{Scripted, ScriptedModel};

use crate::live::Live;
use crate::world::World;

/// One nano-dollar a token read, two a token written.
const PRICES: Prices = Prices { input: 1_000_000, cached: None, cache_write: None, output: 2_000_000 };

fn spec(name: &str, quality: u8, prices: Prices) -> ModelSpec {
    ModelSpec { prices: Some(prices), quality: Some(quality), window: Some(8_000), ..ModelSpec::unknown(name) }
}

fn provider(model: &Arc<ScriptedModel>, models: Vec<ModelSpec>) -> ProviderParts {
    ProviderParts { model: model.clone(), models, others: false, free: false }
}

fn ask(route: &str) -> Ask {
    let request = ModelRequest {
        messages: vec![ModelMessage::text(Role::User, "How many boxes?")],
        max_output_tokens: Some(100),
        ..ModelRequest::default()
    };
    Ask {
        route: Route::parse(route),
        request,
        timeouts: ModelTimeouts::DEFAULT,
        may_fall_back: true,
        prompt: None,
        digest: None,
    }
}

impl Live<'_> {
    fn caller(&self) -> CallContext {
        CallContext::of(&self.world.actor)
    }

    pub async fn limit(&self, limits: Limits) -> Budget {
        let at = self.world.clock();
        let id = BudgetId::from_uuid(self.engine.ids().next());
        let (subject, period) = (BudgetSubject::Tenant, Period::Day);
        let budget = Budget { id, subject, period, limits, created_at: at, updated_at: at };
        let audit = kybern_core::audit::AuditEvent::by_executor("budget.set", "budget:1", serde_json::Value::Null);
        self.world.store.put_budget(self.world.scope(), &budget, audit).await.unwrap();
        budget
    }

    /// What the budget says once everything is settled.
    pub async fn settled(&self, budget: &Budget) -> Amount {
        loop {
            let now = self.world.clock();
            let standing = self.world.store.standing(self.world.scope(), budget, now).await.unwrap().unwrap();
            if standing.reserved.is_zero() {
                return standing.used;
            }
            crate::outside::pause(Millis(1)).await;
        }
    }

    async fn usage(&self) -> Vec<UsageLine> {
        let day = Window::day_of(self.world.clock());
        let filter = UsageFilter { from: day, to: day, user: None };
        self.world.store.usage(self.world.scope(), &filter).await.unwrap()
    }
}

pub fn wide() -> Limits {
    Limits { cost: Some(NanoUsd(1_000_000)), ..Limits::default() }
}

#[test]
fn an_answer_is_reserved_settled_counted_and_audited() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("four", 12, 3)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(wide()).await;
        let answered = live.engine.models().complete(&live.caller(), ask("one/small")).await.unwrap();
        assert_eq!((answered.reply.text().as_str(), answered.model.as_str()), ("four", "one/small"));
        assert_eq!((answered.cost, answered.usage.input, answered.tries.len()), (NanoUsd(18), 12, 1));
        assert_eq!(live.settled(&budget).await, Amount::new(NanoUsd(18), Tokens(15), 1));
        let [line] = live.usage().await.try_into().unwrap();
        assert_eq!((line.name.as_str(), line.provider.as_str(), line.calls, line.failed), ("small", "one", 1, 0));
        let events = live.world.store.audit_events(live.world.scope(), 0, 100).await.unwrap();
        let call = events.iter().find(|event| event.event.action == "model.call").unwrap();
        assert_eq!(call.event.detail["costNanos"], 18);
        assert_eq!(call.event.detail["model"], "one/small");
        assert_eq!(call.event.detail["status"], "completed");
        assert!(call.event.detail["durationMs"].is_u64());
        assert_eq!(call.event.request_id.as_deref(), Some(live.world.actor.request().to_string().as_str()));
        let key = live.engine.keys().digest_key(live.world.scope().tenant());
        let asked = key.digest_as_written(&ask("one/small").request).unwrap();
        assert_eq!(call.event.detail["inputHash"], asked, "the digest of what was asked, under the tenant's key");
        assert_eq!(call.event.subject, "model:one/small");
        assert_eq!(model.asked()[0].model, "small");
    });
}

#[test]
fn a_call_that_is_refused_is_audited_too() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| {
        Scripted::Fail(ModelFailure::new(ModelFailureKind::Request, "no such field, bob@example.com"))
    }));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        live.engine.models().complete(&live.caller(), ask("one/small")).await.unwrap_err();
        let call = loop {
            let events = live.world.store.audit_events(live.world.scope(), 0, 100).await.unwrap();
            let call = events.into_iter().find(|event| event.event.action == "model.call");
            let Some(call) = call else {
                crate::outside::pause(Millis(1)).await;
                continue;
            };
            break call.event;
        };
        assert_eq!((&call.detail["status"], &call.detail["errorCode"]), (&"failed".into(), &"UNPROCESSABLE".into()));
        assert_eq!(call.detail["inputHash"].as_str().map(str::len), Some(64));
        assert!(!call.detail.to_string().contains("example.com"));
    });
}

#[test]
fn what_no_budget_covers_is_not_asked() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("x", 1, 1)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(Limits { cost: Some(NanoUsd(150)), ..Limits::default() }).await;
        let refused = live.engine.models().complete(&live.caller(), ask("small")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::BudgetExceeded, "{refused}");
        assert_eq!((model.count(), live.settled(&budget).await), (0, Amount::ZERO));
        let unpriced = live.engine.models().complete(&live.caller(), ask("one/other")).await.unwrap_err();
        assert_eq!(unpriced.code(), ErrorCode::NotFound, "{unpriced}");
    });
}

#[test]
fn what_has_no_price_is_refused_unless_its_provider_is_ones_own() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("x", 1, 1)));
    for free in [false, true] {
        let parts = ProviderParts { model: model.clone(), models: Vec::new(), others: true, free };
        World::with([]).asking(vec![parts]).run(async |live| {
            let answer = live.engine.models().complete(&live.caller(), ask("one/whatever")).await;
            match answer {
                Ok(answered) => assert!(free && answered.cost == NanoUsd(0)),
                Err(refused) => assert!(!free && refused.code() == ErrorCode::Unprocessable, "{refused}"),
            }
        });
    }
    assert_eq!(model.count(), 1);
}

#[test]
fn a_failure_that_may_pass_is_tried_again_and_what_it_may_have_cost_is_paid() {
    for (kind, paid) in [(ModelFailureKind::RateLimited, false), (ModelFailureKind::Broken, true)] {
        let model = Arc::new(ScriptedModel::new("one", move |n, _| match n {
            0 | 1 => Scripted::fail(kind),
            _ => Scripted::text("x", 10, 5),
        }));
        World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
            let budget = live.limit(wide()).await;
            let before = live.world.clock();
            let answered = live.engine.models().complete(&live.caller(), ask("small")).await.unwrap();
            assert_eq!((model.count(), answered.tries.len()), (3, 3));
            let waited = live.world.clock().since(before);
            assert!((1_500..=3_010).contains(&waited.0), "half to the whole of 1 s and 2 s: {waited}");
            let used = live.settled(&budget).await;
            assert_eq!(used.cost() > NanoUsd(20), paid, "{used:?}");
            assert_eq!(used.cost(), answered.cost);
            assert_eq!(used.calls(), if paid { 3 } else { 1 });
        });
    }
}

#[test]
fn a_key_that_is_wrong_is_neither_tried_again_nor_hidden_by_another_provider() {
    for kind in [ModelFailureKind::Key, ModelFailureKind::Request, ModelFailureKind::ContextTooLong] {
        let one = Arc::new(ScriptedModel::new("one", move |_, _| Scripted::fail(kind)));
        let two = Arc::new(ScriptedModel::new("two", |_, _| Scripted::text("x", 1, 1)));
        let parts = vec![provider(&one, vec![spec("a", 90, PRICES)]), provider(&two, vec![spec("b", 10, PRICES)])];
        World::with([]).asking(parts).run(async |live| {
            let budget = live.limit(wide()).await;
            let failed = live.engine.models().complete(&live.caller(), ask("smartest")).await.unwrap_err();
            assert_eq!(failed.code(), kind.code());
            assert!(failed.to_string().starts_with("one: "), "{failed}");
            assert_eq!((one.count(), two.count()), (1, 0));
            assert_eq!(live.settled(&budget).await, Amount::ZERO);
        });
    }
}

/// A question of the n-th user.
fn asked_by(live: &Live<'_>, n: u128) -> CallContext {
    let mut caller = live.caller();
    caller.user = Some(UserId::from_uuid(uuid::Uuid::from_u128(n)));
    caller
}

#[test]
fn when_one_provider_is_down_the_next_is_asked_and_the_sick_one_is_left_alone_for_a_while() {
    let one = Arc::new(ScriptedModel::new("one", |_, _| Scripted::fail(ModelFailureKind::Provider)));
    let two = Arc::new(ScriptedModel::new("two", |_, _| Scripted::text("x", 1, 1)));
    let parts = vec![provider(&one, vec![spec("a", 90, PRICES)]), provider(&two, vec![spec("b", 10, PRICES)])];
    World::with([]).asking(parts).run(async |live| {
        let answered = live.engine.models().complete(&live.caller(), ask("smartest")).await.unwrap();
        assert_eq!(answered.model, "two/b");
        assert_eq!(one.count(), 4, "three tries more, of one question");
        for user in 1..5 {
            live.engine.models().complete(&asked_by(&live, user), ask("smartest")).await.unwrap();
        }
        let asked = one.count();
        live.engine.models().complete(&asked_by(&live, 5), ask("smartest")).await.unwrap();
        assert_eq!((one.count(), two.count()), (asked, 6), "its breaker has opened");
        crate::outside::pause(Millis(31_000)).await;
        live.engine.models().complete(&live.caller(), ask("smartest")).await.unwrap();
        assert_eq!(one.count(), asked + 1, "one probe");
        let alone = Ask { may_fall_back: false, ..ask("one/a") };
        let failed = live.engine.models().complete(&live.caller(), alone).await.unwrap_err();
        assert_eq!(failed.code(), ErrorCode::Model);
        let said = failed.details().iter().map(|detail| detail.message.as_str()).collect::<String>();
        assert!(said.contains("circuit breaker open") && said.contains("a failure of its own"), "{said}");
        let Retry::After(rest) = failed.retry() else { panic!("{failed:?}") };
        assert!(rest > Millis(0) && rest <= Millis(30_000), "{rest}");
        let check = live
            .engine
            .health()
            .readiness()
            .await
            .checks
            .into_iter()
            .find(|check| check.name == "provider:one")
            .unwrap();
        assert_eq!((check.ok, check.state), (false, kybern_engine::readiness::PartState::Broken), "{}", check.message);
    });
}

#[test]
fn a_provider_that_says_nothing_in_all_of_its_time_is_sick_and_one_that_had_little_time_is_not() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::Silence));
    World::with([]).asking(vec![provider(&model, vec![spec("a", 90, PRICES)])]).run(async |live| {
        let say = async |user, whole: Millis| {
            let timeouts = ModelTimeouts { whole, ..ModelTimeouts::DEFAULT };
            let asked = live.engine.models().complete(&asked_by(&live, user), Ask { timeouts, ..ask("one/a") }).await;
            asked.unwrap_err().code()
        };
        let (short, long) = (Millis(900), ModelTimeouts::DEFAULT.whole);
        for user in 1..10 {
            assert_eq!(say(user, short).await, ErrorCode::Timeout);
        }
        for user in 1..5 {
            assert_eq!(say(user, long).await, ErrorCode::Timeout);
        }
        // What had little time takes nothing back either.
        assert_eq!(say(5, short).await, ErrorCode::Timeout);
        assert_eq!(say(6, long).await, ErrorCode::Timeout);
        assert_eq!(model.count(), 15);
        assert_eq!((say(7, long).await, model.count()), (ErrorCode::Model, 15), "its breaker has opened");
    });
}

#[test]
fn one_users_poison_does_not_shut_a_provider_for_the_others() {
    let poison = |request: &ModelRequest| format!("{:?}", request.messages).contains("poison");
    let model = Arc::new(ScriptedModel::new("one", move |_, request| match poison(request) {
        true => Scripted::fail(ModelFailureKind::Provider),
        false => Scripted::text("x", 1, 1),
    }));
    World::with([]).asking(vec![provider(&model, vec![spec("a", 90, PRICES)])]).run(async |live| {
        let said = |text: &str| {
            let mut ask = ask("one/a");
            ask.request.messages = vec![ModelMessage::text(Role::User, text)];
            ask
        };
        for n in 0..10 {
            let poisoned = said(&format!("poison {n}"));
            live.engine.models().complete(&asked_by(&live, 1), poisoned).await.unwrap_err();
        }
        live.engine.models().complete(&asked_by(&live, 2), said("hello")).await.unwrap();
    });
}

#[test]
fn a_turn_that_asks_again_and_again_counts_once() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::fail(ModelFailureKind::Connect)));
    World::with([]).asking(vec![provider(&model, vec![spec("a", 90, PRICES)])]).run(async |live| {
        let of_turn = |user, turn: u128| {
            let tree = Some((TaskId::from_uuid(uuid::Uuid::from_u128(turn)), None));
            CallContext { tree, ..asked_by(&live, user) }
        };
        let fails = async |caller: &CallContext| {
            let asked = model.count();
            live.engine.models().complete(caller, ask("one/a")).await.unwrap_err();
            model.count() > asked
        };
        for _ in 0..10 {
            assert!(fails(&of_turn(1, 1)).await, "one turn opens no breaker");
        }
        for turn in 2..6 {
            assert!(fails(&of_turn(turn, turn)).await, "turn {turn}");
        }
        assert!(!fails(&of_turn(6, 6)).await, "five turns have");
    });
}

#[test]
fn a_storm_of_failures_does_not_become_a_storm_of_tries() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::fail(ModelFailureKind::RateLimited)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let calls = (0..200).map(|_| async { live.engine.models().complete(&live.caller(), ask("small")).await });
        let answers = futures::future::join_all(calls).await;
        assert!(answers.iter().all(|answer| answer.as_ref().is_err_and(|e| e.code() == ErrorCode::RateLimited)));
        assert!((201..=240).contains(&model.count()), "{}", model.count());
    });
}

#[test]
fn strategies_choose_by_price_quality_and_order() {
    let model = |name: &str| Arc::new(ScriptedModel::new(name, |_, _| Scripted::text("x", 1, 1)));
    let (one, two) = (model("one"), model("two"));
    let dear = Prices { input: 15_000_000_000, output: 75_000_000_000, ..Prices::default() };
    let fair = Prices { input: 1_000_000_000, output: 4_000_000_000, ..Prices::default() };
    let cheap = Prices { input: 100_000_000, output: 400_000_000, ..Prices::default() };
    let parts = vec![
        provider(&one, vec![spec("big", 95, dear), spec("tiny", 30, cheap)]),
        provider(&two, vec![spec("fair", 85, fair)]),
    ];
    World::with([]).asking(parts).run(async |live| {
        for (route, chosen) in [
            ("cheapest", "one/tiny"),
            ("smartest", "one/big"),
            ("balanced", "two/fair"),
            ("default", "two/fair"),
            ("fallback", "one/big"),
            ("fair", "two/fair"),
            ("one", "one/big"),
            ("one/tiny", "one/tiny"),
        ] {
            let answered = live.engine.models().complete(&live.caller(), ask(route)).await.unwrap();
            assert_eq!(answered.model, chosen, "{route}");
        }
        let mut long = ask("cheapest");
        long.request.messages = vec![ModelMessage::text(Role::User, "word ".repeat(40_000))];
        let refused = live.engine.models().complete(&live.caller(), long).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Unprocessable, "{refused}");
        let refused = live.engine.models().complete(&live.caller(), ask("nobody/x")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::NotFound, "{refused}");
    });
}

#[test]
fn no_strategy_chooses_what_has_no_price() {
    let model = |name: &str| Arc::new(ScriptedModel::new(name, |_, _| Scripted::text("x", 1, 1)));
    let (dear, own) = (model("dear"), model("own"));
    let unpriced = |name: &str, quality| ModelSpec { prices: None, ..spec(name, quality, PRICES) };
    let parts = || {
        let own = ProviderParts { free: true, ..provider(&own, vec![unpriced("small", 50)]) };
        vec![provider(&dear, vec![unpriced("new", 99)]), own]
    };
    World::with([]).asking(parts()).run(async |live| {
        for route in ["cheapest", "fastest", "smartest", "reasoning", "balanced", "default", "fallback"] {
            let answered = live.engine.models().complete(&live.caller(), ask(route)).await.unwrap();
            assert_eq!(answered.model, "own/small", "{route}");
        }
    });
    World::with([]).asking(parts()[..1].to_vec()).run(async |live| {
        let refused = live.engine.models().complete(&live.caller(), ask("smartest")).await.unwrap_err();
        assert!(refused.to_string().contains("with their prices"), "{refused}");
    });
}

#[test]
fn without_a_provider_it_says_what_to_set() {
    World::with([]).run(async |live| {
        let refused = live.engine.models().complete(&live.caller(), ask("")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Unprocessable);
        assert!(refused.to_string().contains("OPENAI_API_KEY"), "{refused}");
    });
}

fn text(piece: &str) -> Vec<ModelEvent> {
    vec![ModelEvent::Text(piece.to_owned())]
}

fn started() -> Vec<ModelEvent> {
    vec![ModelEvent::Started { id: "r".to_owned(), model: "small".to_owned() }]
}

#[test]
fn a_stream_that_breaks_before_its_first_piece_is_tried_again_and_after_it_never() {
    let broken = || Some(ModelFailure::new(ModelFailureKind::Broken, "cut"));
    let model = Arc::new(ScriptedModel::new("one", move |n, _| match n {
        0 => Scripted::Pieces(Vec::new(), broken()),
        _ => Scripted::Pieces(vec![started(), text("one two")], broken()),
    }));
    let two = Arc::new(ScriptedModel::new("two", |_, _| Scripted::text("x", 1, 1)));
    let parts = vec![provider(&model, vec![spec("a", 90, PRICES)]), provider(&two, vec![spec("b", 10, PRICES)])];
    World::with([]).asking(parts).run(async |live| {
        let budget = live.limit(wide()).await;
        let mut stream = live.engine.models().stream(&live.caller(), ask("smartest")).await.unwrap();
        assert_eq!((model.count(), two.count()), (2, 0));
        assert_eq!(stream.next().await.unwrap(), started());
        assert_eq!(stream.next().await.unwrap(), text("one two"));
        let failed = stream.next().await.unwrap_err();
        assert_eq!(failed.code(), ErrorCode::Model);
        assert!(stream.next().await.unwrap().is_empty());
        assert_eq!((model.count(), two.count()), (2, 0), "never after a piece has been passed on");
        let used = live.settled(&budget).await;
        assert!(used.calls() == 2 && used.cost() > NanoUsd(0), "{used:?}");
        let lines = live.usage().await;
        assert_eq!(lines.iter().map(|line| (line.failed, line.estimated)).collect::<Vec<_>>(), [(2, 2)]);
    });
}

#[test]
fn a_stream_is_settled_at_its_end_to_what_the_provider_says() {
    let usage = TokenUsage { input: 20, output: 4, ..TokenUsage::default() };
    let model = Arc::new(ScriptedModel::new("one", move |_, _| {
        let finish = kybern_core::model::FinishReason::Stop;
        Scripted::Pieces(vec![started(), text("a"), vec![ModelEvent::Finished { finish, usage: Some(usage) }]], None)
    }));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(wide()).await;
        let mut stream = live.engine.models().stream(&live.caller(), ask("small")).await.unwrap();
        while !stream.next().await.unwrap().is_empty() {}
        assert_eq!((stream.usage(), stream.cost(), stream.model().as_str()), (Some(usage), NanoUsd(28), "one/small"));
        drop(stream);
        assert_eq!(live.settled(&budget).await, Amount::new(NanoUsd(28), Tokens(24), 1));
    });
}

#[test]
fn whoever_leaves_in_the_middle_pays_what_was_reserved() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| {
        Scripted::Pieces(vec![started(), text("twenty letters here."), text("never read")], None)
    }));
    let slow = Arc::new(ScriptedModel::new("slow", |_, _| {
        Scripted::After(Millis(5_000), Box::new(Scripted::text("x", 1, 1)))
    }));
    let parts = vec![provider(&model, vec![spec("a", 90, PRICES)]), provider(&slow, vec![spec("b", 10, PRICES)])];
    World::with([]).asking(parts).run(async |live| {
        let budget = live.limit(wide()).await;
        let mut stream = live.engine.models().stream(&live.caller(), ask("one/a")).await.unwrap();
        stream.next().await.unwrap();
        stream.next().await.unwrap();
        drop(stream);
        let streamed = live.settled(&budget).await;
        // What it thought and did not show, nobody knows.
        assert!(streamed.cost() >= NanoUsd(200), "{streamed:?}");
        let [line] = live.usage().await.try_into().unwrap();
        assert_eq!(line.input_tokens + line.output_tokens, streamed.tokens().0);
        assert!(
            line.output_tokens >= 100,
            "at most 100 tokens may be written, and they are counted as written: {line:?}"
        );
        let models = live.engine.models().clone();
        let caller = live.caller();
        let asked = models.complete(&caller, ask("slow/b"));
        assert!(tokio::time::timeout(Millis(100).as_duration(), asked).await.is_err());
        let used = live.settled(&budget).await;
        // 100 tokens written at most, and the bytes of the question: nobody knows, so all of it counts.
        assert!(used.cost().0 - streamed.cost().0 > 200, "{used:?}");
    });
}

#[test]
fn a_silent_model_ends_with_its_time_and_is_counted_at_its_estimate() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::Silence));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(wide()).await;
        let before = live.world.clock();
        let failed = live.engine.models().complete(&live.caller(), ask("small")).await.unwrap_err();
        assert_eq!(failed.code(), ErrorCode::Timeout, "{failed}");
        let waited = live.world.clock().since(before);
        assert!(waited <= Millis(122_000), "{waited}");
        assert_eq!(model.count(), 1, "all of its time, because a whole reply shows nothing before its end");
        let used = live.settled(&budget).await;
        assert!(used.calls() == 1 && used.cost() > NanoUsd(200), "{used:?}");
    });
}

#[test]
fn vectors_are_reserved_and_counted_like_replies() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("", 1, 0)));
    let embedding = ModelSpec { kind: kybern_core::model::ModelKind::Embedding, ..spec("embed", 1, PRICES) };
    World::with([]).asking(vec![provider(&model, vec![embedding])]).run(async |live| {
        let budget = live.limit(wide()).await;
        let request = EmbedRequest { texts: vec!["four".to_owned(), "seven".to_owned()], ..EmbedRequest::default() };
        let (embedded, key) = live.engine.models().embed(&live.caller(), "embed", request).await.unwrap();
        assert_eq!((embedded.vectors.len(), key.as_str()), (2, "one/embed"));
        let used = live.settled(&budget).await;
        assert!(used.cost() > NanoUsd(0) && used.calls() == 1, "{used:?}");
        assert_eq!(live.usage().await[0].kind, kybern_core::budget::SpendKind::Embedding);
    });
}

#[test]
fn vectors_behind_an_open_breaker_say_when_to_come_back() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::fail(ModelFailureKind::Provider)));
    let embedding = ModelSpec { kind: kybern_core::model::ModelKind::Embedding, ..spec("embed", 1, PRICES) };
    World::with([]).asking(vec![provider(&model, vec![embedding])]).run(async |live| {
        let request = EmbedRequest { texts: vec!["four".to_owned()], ..EmbedRequest::default() };
        for user in 1..6 {
            live.engine.models().embed(&asked_by(&live, user), "embed", request.clone()).await.unwrap_err();
        }
        let asked = model.count();
        let failed = live.engine.models().embed(&asked_by(&live, 6), "embed", request).await.unwrap_err();
        assert_eq!((failed.code(), model.count()), (ErrorCode::Model, asked), "its breaker is open");
        let said = &failed.details()[0];
        assert!(said.message.starts_with("one/embed: circuit breaker open"), "{said:?}");
        let Retry::After(rest) = failed.retry() else { panic!("{failed:?}") };
        assert!(rest > Millis(0) && rest <= Millis(30_000), "{rest}");
    });
}

#[test]
fn what_a_process_that_died_had_reserved_is_settled_by_the_next() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| {
        Scripted::After(Millis(600_000), Box::new(Scripted::text("x", 1, 1)))
    }));
    let world = World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]);
    let budget = world.run(async |live| {
        let budget = live.limit(wide()).await;
        // The settlement of a call that is given up cannot be written any more: the process is dead.
        live.world.lacks(Some("settle"));
        let (models, caller) = (live.engine.models().clone(), live.caller());
        let asked = tokio::time::timeout(Millis(1_000).as_duration(), models.complete(&caller, ask("small"))).await;
        assert!(asked.is_err());
        crate::outside::pause(Millis(10)).await;
        live.world.lacks(None);
        budget
    });
    world.run(async |live| {
        crate::outside::pause(Millis(300_000)).await;
        let used = live.settled(&budget).await;
        assert!(used.calls() == 1 && used.cost() > NanoUsd(200), "{used:?}");
        let events = live.world.store.audit_events(live.world.scope(), 0, 100).await.unwrap();
        assert!(events.iter().any(|event| event.event.action == "budget.settle_lost"));
    });
}

/// Counts words.
struct Words;

impl kybern_core::ports::TokenCounter for Words {
    fn count(&self, model: &str, texts: &mut dyn Iterator<Item = &str>) -> Option<u64> {
        (model == "small").then(|| texts.map(|text| text.split_whitespace().count() as u64).sum())
    }
}

#[test]
fn where_the_cheap_bound_does_not_fit_the_tokens_are_counted() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("x", 1, 1)));
    let parts = vec![provider(&model, vec![spec("small", 50, PRICES), spec("other", 40, PRICES)])];
    World::with([]).asking(parts).counting(Arc::new(Words)).run(async |live| {
        live.limit(Limits { cost: Some(NanoUsd(600)), ..Limits::default() }).await;
        let long = |route: &str| {
            let mut ask = ask(route);
            ask.request.messages = vec![ModelMessage::text(Role::User, "incomprehensibilities ".repeat(100))];
            ask
        };
        let refused = live.engine.models().complete(&live.caller(), long("one/other")).await.unwrap_err();
        assert_eq!((refused.code(), model.count()), (ErrorCode::BudgetExceeded, 0), "2,200 bytes, and no tokenizer");
        live.engine.models().complete(&live.caller(), long("one/small")).await.unwrap();
        assert_eq!(model.count(), 1, "100 words");
    });
}

#[test]
fn what_the_first_model_gives_back_is_there_for_the_next() {
    let sick = Arc::new(ScriptedModel::new("one", |_, _| Scripted::fail(ModelFailureKind::Quota)));
    let well = Arc::new(ScriptedModel::new("two", |_, _| Scripted::text("x", 10, 5)));
    let parts = vec![provider(&sick, vec![spec("a", 90, PRICES)]), provider(&well, vec![spec("b", 80, PRICES)])];
    World::with([]).asking(parts).run(async |live| {
        // Room for one reservation at a time.
        let budget = live.limit(Limits { cost: Some(NanoUsd(400)), ..Limits::default() }).await;
        for _ in 0..4 {
            let answered = live.engine.models().complete(&live.caller(), ask("smartest")).await.unwrap();
            assert_eq!(answered.model, "two/b");
        }
        assert_eq!(live.settled(&budget).await.cost(), NanoUsd(4 * 20));
    });
}

#[test]
fn a_fallback_that_is_too_dear_does_not_hide_why_it_was_needed() {
    let sick = || Arc::new(ScriptedModel::new("one", |_, _| Scripted::fail(ModelFailureKind::Quota)));
    let (one, dear, last) = (
        sick(),
        Arc::new(ScriptedModel::new("two", |_, _| Scripted::text("x", 1, 1))),
        Arc::new(ScriptedModel::new("three", |_, _| Scripted::text("x", 1, 1))),
    );
    let gold = Prices { input: 1_000_000_000, output: 1_000_000_000, ..Prices::default() };
    let parts = vec![
        provider(&one, vec![spec("a", 90, PRICES)]),
        provider(&dear, vec![spec("b", 80, gold)]),
        provider(&last, vec![spec("c", 70, PRICES)]),
    ];
    World::with([]).asking(parts).run(async |live| {
        live.limit(Limits { cost: Some(NanoUsd(2_000)), ..Limits::default() }).await;
        let answered = live.engine.models().complete(&live.caller(), ask("smartest")).await.unwrap();
        assert_eq!((answered.model.as_str(), dear.count()), ("three/c", 0));
    });
    let parts = vec![provider(&one, vec![spec("a", 90, PRICES)]), provider(&dear, vec![spec("b", 80, gold)])];
    World::with([]).asking(parts).run(async |live| {
        live.limit(Limits { cost: Some(NanoUsd(2_000)), ..Limits::default() }).await;
        let failed = live.engine.models().complete(&live.caller(), ask("smartest")).await.unwrap_err();
        assert_eq!(failed.code(), ErrorCode::Model, "{failed}");
    });
}

#[test]
fn settlements_outlast_a_store_that_cannot_take_them_for_a_while() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("four", 12, 3)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(wide()).await;
        live.engine.models().complete(&live.caller(), ask("small")).await.unwrap();
        live.world.lacks(Some("settle"));
        crate::outside::pause(Millis(20_000)).await;
        live.world.lacks(None);
        assert_eq!(live.settled(&budget).await, Amount::new(NanoUsd(18), Tokens(15), 1));
        live.engine.models().complete(&live.caller(), ask("small")).await.unwrap();
        live.engine.flush_ledger().await;
        assert_eq!(live.settled(&budget).await, Amount::new(NanoUsd(36), Tokens(30), 2));
    });
}

#[test]
fn a_budget_is_not_called_exhausted_before_what_has_ended_is_settled() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("four", 12, 3)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        // Room for what one call may take at most, and for what many take in the end.
        let limits = Limits { tokens: Some(Tokens(450)), ..Limits::default() };
        let budget = live.limit(limits).await;
        for _ in 0..20 {
            live.engine.models().complete(&live.caller(), ask("small")).await.unwrap();
        }
        assert_eq!(live.settled(&budget).await, Amount::new(NanoUsd(20 * 18), Tokens(20 * 15), 20));
    });
}

#[test]
fn a_reservation_of_which_nobody_knows_whether_it_was_written_is_given_back() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("four", 12, 3)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(wide()).await;
        live.world.ails(Some(("reserve", Fault::AnswerLost)));
        let failed = live.engine.models().complete(&live.caller(), ask("small")).await.unwrap_err();
        assert_eq!((failed.code(), model.count()), (ErrorCode::Unavailable, 0));
        assert_eq!(live.settled(&budget).await, Amount::ZERO);
    });
}

#[test]
fn who_thinks_comes_first_where_thinking_is_wanted() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("x", 1, 1)));
    let of = |name: &str, quality: u8, reasoning: bool| {
        let mut one = spec(name, quality, PRICES);
        one.abilities.reasoning = reasoning;
        one
    };
    for (models, chosen) in [
        (vec![of("clever", 95, false), of("slow", 60, true), of("deep", 80, true)], "deep"),
        (vec![of("plain", 40, false), of("clever", 95, false)], "clever"),
    ] {
        World::with([]).asking(vec![provider(&model, models)]).run(async |live| {
            let answered = live.engine.models().complete(&live.caller(), ask("reasoning")).await.unwrap();
            assert_eq!(answered.model, format!("one/{chosen}"));
        });
    }
}

/// While one call is being reserved others wait in line, and whoever gives up, before or during it, has nothing.
#[test]
fn whoever_gives_up_while_it_is_reserved_or_waits_in_line_has_nothing_reserved() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("four", 12, 3)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(wide()).await;
        live.world.ails(Some(("reserve", Fault::Stall(Millis(50)))));
        let (models, caller) = (live.engine.models(), live.caller());
        let stays = models.complete(&caller, ask("small"));
        let mut leave: Vec<_> = (0..3).map(|_| Box::pin(models.complete(&caller, ask("small")))).collect();
        let (mut first, mut stays) = (leave.remove(0), Box::pin(stays));
        // The first is on its way to the store, and the others have come meanwhile.
        for call in [&mut first].into_iter().chain(&mut leave).chain([&mut stays]) {
            assert!(tokio::time::timeout(Millis(1).as_duration(), call).await.is_err());
        }
        drop((first, leave));
        live.world.ails(None);
        stays.await.unwrap();
        assert_eq!(live.settled(&budget).await, Amount::new(NanoUsd(18), Tokens(15), 1));
        assert_eq!(model.count(), 1, "nobody is asked for those who have gone");
    });
}

#[test]
fn calls_that_come_together_are_reserved_together_and_judged_one_by_one() {
    let model = Arc::new(ScriptedModel::new("one", |_, _| Scripted::text("four", 12, 3)));
    World::with([]).asking(vec![provider(&model, vec![spec("small", 50, PRICES)])]).run(async |live| {
        let budget = live.limit(Limits { calls: Some(7), ..Limits::default() }).await;
        // The store takes a moment, as every store does.
        live.world.ails(Some(("reserve", Fault::Yield)));
        let before = live.world.calls();
        let (models, caller) = (live.engine.models(), live.caller());
        let answers = futures::future::join_all((0..10).map(|_| models.complete(&caller, ask("small")))).await;
        let refused = answers
            .iter()
            .filter(|answer| answer.as_ref().err().is_some_and(|error| error.code() == ErrorCode::BudgetExceeded));
        assert_eq!((answers.iter().filter(|answer| answer.is_ok()).count(), refused.count()), (7, 3));
        // Whatever else the engine does meanwhile is among them.
        let calls = live.world.calls() - before;
        assert!(calls < 10, "{calls} calls of the store for ten reservations");
        assert_eq!(live.settled(&budget).await.calls(), 7);
    });
}
