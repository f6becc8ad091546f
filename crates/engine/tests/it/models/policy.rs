//! The providers that a tenant allows.

use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::error::ErrorCode;
use kybern_core::model::{EmbedRequest, ModelFailureKind, ModelKind, ModelPolicy, ModelSpec};
use kybern_core::ports::ModelPolicyStore as _;
use kybern_core::time::Millis;
use kybern_engine::models::ProviderParts;
use kybern_testkit::models::{Scripted, ScriptedModel};
use serde_json::Value;

use super::{PRICES, ask, provider, spec};
use crate::live::Live;
use crate::world::World;

fn only(names: &[&str]) -> ModelPolicy {
    ModelPolicy { providers: Some(names.iter().map(|name| (*name).to_owned()).collect()) }
}

impl Live<'_> {
    async fn allow(&self, policy: ModelPolicy) -> ModelPolicy {
        self.engine.models().set_policy(&self.world.actor, policy).await.unwrap()
    }

    /// Who answers, or why nobody does.
    async fn who(&self, route: &str) -> Result<String, ErrorCode> {
        let answer = self.engine.models().complete(&self.caller(), ask(route)).await;
        answer.map(|answered| answered.model).map_err(|error| error.code())
    }
}

/// `one` is down, `two` answers, and both can embed.
fn two() -> (Arc<ScriptedModel>, Arc<ScriptedModel>, Vec<ProviderParts>) {
    let one = Arc::new(ScriptedModel::new("one", |_, _| Scripted::fail(ModelFailureKind::Quota)));
    let two = Arc::new(ScriptedModel::new("two", |_, _| Scripted::text("x", 1, 1)));
    let embed = |name| ModelSpec { kind: ModelKind::Embedding, ..spec(name, 0, PRICES) };
    let parts = vec![
        provider(&one, vec![spec("a", 90, PRICES), embed("a-vectors")]),
        provider(&two, vec![spec("b", 10, PRICES), embed("b-vectors")]),
    ];
    (one, two, parts)
}

#[test]
fn there_is_never_a_fallback_to_a_provider_that_the_tenant_does_not_allow() {
    let (one, two, parts) = two();
    World::on_sqlite([]).asking(parts).run(async |live| {
        assert_eq!(live.who("smartest").await, Ok("two/b".to_owned()), "without a rule it falls back");
        assert_eq!((one.count(), two.count()), (1, 1));
        assert_eq!(live.allow(only(&["one", "one"])).await, only(&["one"]));
        for route in ["smartest", "balanced", "cheapest", "fastest", "fallback", "one/a", "default"] {
            assert_eq!(live.who(route).await, Err(ErrorCode::Model), "{route}");
        }
        assert_eq!(two.count(), 1);
        assert_eq!(live.who("two/b").await, Err(ErrorCode::PermissionDenied));
        let texts = EmbedRequest { texts: vec!["a".to_owned()], ..EmbedRequest::default() };
        let refused = live.engine.models().embed(&live.caller(), "two/b-vectors", texts).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::PermissionDenied);
        assert_eq!(two.count(), 1, "and it is not asked for vectors either");
        let listed = live.engine.models().models(live.world.scope()).await.unwrap();
        assert!(listed.iter().all(|model| model.provider == "one") && listed.len() == 2, "{listed:?}");
        live.allow(ModelPolicy::default()).await;
        assert_eq!(live.who("smartest").await, Ok("two/b".to_owned()));
    });
}

#[test]
fn a_configured_fallback_is_passed_over_too() {
    let (_one, two, parts) = two();
    World::on_sqlite([]).asking(parts).falling_back(["two/b"]).run(async |live| {
        assert_eq!(live.who("one/a").await, Ok("two/b".to_owned()));
        live.allow(only(&["one"])).await;
        assert_eq!(live.who("one/a").await, Err(ErrorCode::Model));
        assert_eq!(two.count(), 1);
    });
}

#[test]
fn who_allows_nobody_is_told_so_and_a_typing_error_is_not_stored() {
    let (one, two, parts) = two();
    World::on_sqlite([]).asking(parts).run(async |live| {
        live.allow(only(&[])).await;
        assert_eq!(live.who("smartest").await, Err(ErrorCode::PermissionDenied));
        assert_eq!((one.count(), two.count()), (0, 0));
        let refused = live.engine.models().set_policy(&live.world.actor, only(&["two", "tow"])).await.unwrap_err();
        assert_eq!((refused.code(), refused.details()[0].path.as_str()), (ErrorCode::Validation, "/providers/1"));
        assert_eq!(live.engine.models().policy(live.world.scope()).await.unwrap(), only(&[]));
    });
}

#[test]
fn where_no_provider_is_configured_a_policy_that_names_one_says_so() {
    World::on_sqlite([]).run(async |live| {
        let refused = live.engine.models().set_policy(&live.world.actor, only(&["openai"])).await.unwrap_err();
        let said = refused.details()[0].message.as_str();
        assert!(said.contains("nor any other") && said.contains("[providers.openai]"), "{said}");
    });
}

#[test]
fn what_another_process_says_is_known_within_five_seconds() {
    let (_one, two, parts) = two();
    World::on_sqlite([]).asking(parts).run(async |live| {
        live.who("two/b").await.unwrap();
        let (scope, now) = (live.world.scope(), live.world.clock());
        let audit = AuditEvent::by_executor("models.policy", "models:policy", Value::Null);
        live.world.store.put_model_policy(scope, &only(&["one"]), now, audit).await.unwrap();
        crate::outside::pause(Millis(5_000)).await;
        assert_eq!(live.who("two/b").await, Err(ErrorCode::PermissionDenied));
        assert_eq!(two.count(), 1);
    });
}
