//! Which providers each tenant allows.

use kybern_core::model::ModelPolicy;

use super::{FullHarness, Spoilt, World};

fn policy(providers: &[&str]) -> ModelPolicy {
    ModelPolicy { providers: Some(providers.iter().map(|name| (*name).to_owned()).collect()) }
}

pub async fn a_policy_is_each_tenants_own_audited_and_taken_back(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    assert_eq!(w.store().model_policy(home.scope).await.unwrap(), ModelPolicy::default());
    let head = async || w.store().audit_head(home.scope).await.unwrap().map_or(0, |(seq, _)| seq);
    let before = head().await;
    for next in [policy(&["one", "two"]), policy(&[]), ModelPolicy::default()] {
        w.store().put_model_policy(home.scope, &next, w.now(), w.event("model.policy")).await.unwrap();
        assert_eq!(w.store().model_policy(home.scope).await.unwrap(), next);
        assert_eq!(w.store().model_policy(other.scope).await.unwrap(), ModelPolicy::default());
    }
    assert_eq!(head().await, before + 3);
}

pub async fn a_policy_that_cannot_be_read_allows_nobody_until_it_is_said_anew(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let said = policy(&["one"]);
    w.store().put_model_policy(home.scope, &said, w.now(), w.event("model.policy")).await.unwrap();
    w.harness.spoil(Spoilt::ModelPolicy(home.scope.tenant())).await;
    assert_eq!(w.store().model_policy(home.scope).await.unwrap(), policy(&[]));
    w.store().put_model_policy(home.scope, &said, w.now(), w.event("model.policy")).await.unwrap();
    assert_eq!(w.store().model_policy(home.scope).await.unwrap(), said);
}
