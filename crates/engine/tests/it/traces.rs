//! Whoever is asked for a task is told its trace.

use kybern_core::agent::AgentDraft;
use kybern_core::model::{EmbedRequest, ModelKind, ModelSpec};
use kybern_engine::models::{CallContext, ProviderParts};
use serde_json::json;

use crate::outside::header;
use crate::turns::{provider, says, scripted};
use crate::world::{World, step};

/// The trace of a `traceparent`, whose form is checked.
fn trace_of(traceparent: Option<String>) -> String {
    let traceparent = traceparent.unwrap_or_default();
    let parts: Vec<&str> = traceparent.split('-').collect();
    assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [2, 32, 16, 2], "{traceparent}");
    parts[1].to_owned()
}

#[test]
fn models_and_receivers_are_told_the_trace_of_the_task() {
    let model = scripted(vec![says(r#"{"queue": "claims"}"#), says("Seven boxes.")]);
    let world = World::on_sqlite([]).asking(provider(&model)).set(|settings| settings.self_approval = true);
    world.run(async |live| {
        let agent = AgentDraft::named("Clerk", "You count for Acme Freight.");
        live.engine.agents().create(&world.actor, agent).await.unwrap();
        live.engine.identity().create_webhook(&world.actor, "https://ends.test/x", Vec::new()).await.unwrap();
        let tell = json!({"to": "https://hook.test/x", "subject": "s", "body": "b", "channel": "webhook"});
        let steps = json!([
            {"id": "pick", "kind": "decision", "prompt": "Which queue?", "schema": {"queue": {"type": "string"}}},
            {"id": "help", "kind": "agent", "agent": "clerk", "task": "How many boxes?"},
            step("tell", "core.notify", tell),
        ]);
        let task = live.run(steps, json!({})).await;
        let sent = live.find(async || {
            let sent = live.world.wire.requests();
            let all =
                ["hook.test", "ends.test"].iter().all(|host| sent.iter().any(|request| request.url.contains(host)));
            all.then_some(sent)
        });
        for request in sent.await {
            assert_eq!(trace_of(header(&request, "traceparent")), task.trace_id, "{}", request.url);
        }
        let asked = model.asked();
        assert_eq!(asked.len(), 2);
        for question in asked {
            assert_eq!(trace_of(question.traceparent), task.trace_id);
        }
    });
}

#[test]
fn embeddings_go_out_in_the_trace_of_whoever_asks() {
    let model = scripted(vec![says("vectors have no words")]);
    let embeds = ModelSpec { kind: ModelKind::Embedding, ..ModelSpec::unknown("embed") };
    let parts = ProviderParts { model: model.clone(), models: vec![embeds], others: false, free: true };
    let world = World::new().asking(vec![parts]);
    world.run(async |live| {
        let mut caller = CallContext::of(&world.actor);
        caller.traceparent = Some("given".to_owned());
        let question = EmbedRequest { texts: vec!["a".to_owned()], ..EmbedRequest::default() };
        live.engine.models().embed(&caller, "one/embed", question).await.unwrap();
        assert_eq!(model.asked()[0].traceparent.as_deref(), Some("given"));
    });
}
