//! What the audit says of an act: enough to know what was meant, and nothing secret.

use kybern_core::agent::AgentChange;
use kybern_core::budget::{BudgetSubject, Limits, Period};
use kybern_core::secret::SecretValue;
use kybern_engine::secret::NewSecret;
use serde_json::{Value, json};

use crate::turns::helper;
use crate::world::{World, step};

#[test]
fn an_act_names_what_it_was_done_to_and_nothing_secret() {
    World::on_sqlite([]).employing([helper(&[])]).run(async |live| {
        let (engine, actor) = (&live.engine, &live.world.actor);
        let plan = json!({"key": "acts.plan", "steps": [step("a", "core.noop", json!({}))]});
        for _version in 0..2 {
            engine.plans().put(actor, &plan).await.unwrap();
        }
        engine.plans().set_active(actor, "acts.plan", false).await.unwrap();
        let url = "https://Hooks.example.com:8443/services/very-secret?token=hidden";
        let events = vec!["task.failed".to_owned()];
        let hook = engine.identity().create_webhook(actor, url, events).await.unwrap().0;
        engine.identity().delete_webhook(actor, hook.id).await.unwrap();
        let limits = Limits { calls: Some(3), ..Limits::default() };
        let budget = engine.budgets().create(actor, BudgetSubject::Tenant, Period::Day, limits).await.unwrap().budget;
        engine.budgets().delete(actor, budget.id).await.unwrap();
        let secret = NewSecret {
            name: "crm_token".parse().unwrap(),
            value: SecretValue::new("very-secret-value".to_owned()),
            hosts: vec!["api.example.com".parse().unwrap()],
            description: String::new(),
        };
        let secret = engine.secrets().set(actor, secret).await.unwrap();
        engine.secrets().delete(actor, &secret.name).await.unwrap();
        let told = AgentChange { system_prompt: Some("You help twice.".to_owned()), ..AgentChange::default() };
        engine.agents().change(actor, "helper", told).await.unwrap();
        engine.prompts().draft(actor, Some("helper"), "You help.").await.unwrap();

        let acts = live.acts().await;
        let of = |action: &str| -> Vec<&Value> {
            acts.iter().filter(|act| act.action == action).map(|act| &act.detail).collect()
        };
        assert_eq!(
            of("plan.put"),
            [&json!({"key": "acts.plan", "version": 1}), &json!({"key": "acts.plan", "version": 2})]
        );
        assert_eq!(of("plan.set_active"), [&json!({"key": "acts.plan", "active": false})]);
        let host = json!({"host": "hooks.example.com", "events": ["task.failed"]});
        assert_eq!((of("webhook.create"), of("webhook.delete")), (vec![&host], vec![&host]));
        assert_eq!(of("budget.delete"), of("budget.create"));
        assert_eq!(of("budget.delete")[0]["limits"]["calls"], 3);
        assert_eq!((of("secret.delete"), of("secret.set").len()), (of("secret.set"), 1));
        let versions: Vec<&Value> = of("prompt.draft").into_iter().map(|detail| &detail["version"]).collect();
        assert_eq!(versions, [&json!(1), &json!(2)]);
        assert!(acts.iter().all(|act| !act.detail.to_string().contains("secret-value")), "{acts:?}");
        assert!(acts.iter().all(|act| !act.detail.to_string().contains("services")), "{acts:?}");
    });
}
