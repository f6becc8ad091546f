//! Providers whose models nobody has named: they list their own.

use kybern_core::model::ModelKind;

use super::*;

/// A provider of one's own, with no list in the configuration.
fn unlisted(model: &Arc<ScriptedModel>) -> ProviderParts {
    ProviderParts { model: model.clone(), models: Vec::new(), others: true, free: true }
}

async fn passes(seconds: u64) {
    let _ = tokio::time::timeout(Millis::from_secs(seconds).as_duration(), std::future::pending::<()>()).await;
}

impl Live<'_> {
    async fn listed(&self) -> Vec<String> {
        let models = self.engine.models().models(self.world.actor.scope()).await.unwrap();
        models.into_iter().map(|model| model.key).collect()
    }

    async fn answered_by(&self, model: &str) -> Result<String, ErrorCode> {
        let answer = self.engine.models().complete(&self.caller(), ask(model)).await;
        answer.map(|answered| answered.model).map_err(|error| error.code())
    }
}

#[test]
fn bare_names_and_strategies_reach_what_a_provider_lists_itself() {
    let model = Arc::new(ScriptedModel::new("own", |_, _| Scripted::text("x", 1, 1)));
    model.lists(Ok(&["whisper-1", "small", "nomic-embed-text"]));
    World::with([]).asking(vec![unlisted(&model)]).run(async |live| {
        for named in ["balanced", "cheapest", "smartest", "small", "own", "own/small"] {
            assert_eq!(live.answered_by(named).await.as_deref(), Ok("own/small"), "{named}");
        }
        assert_eq!(live.answered_by("own/whisper-1").await.as_deref(), Ok("own/whisper-1"), "it may be named");
        assert_eq!(live.answered_by("large").await, Err(ErrorCode::NotFound));
        let exists = async |name| live.engine.models().named(live.world.scope(), name).await.unwrap().is_some();
        assert!(exists("own/small").await && !exists("own/large").await, "its provider does not list it");
        assert_eq!(live.listed().await, ["own/whisper-1", "own/small", "own/nomic-embed-text"]);
        let vectors = live.engine.models().named(live.world.actor.scope(), "nomic-embed-text").await.unwrap().unwrap();
        assert_eq!(vectors.spec.kind, ModelKind::Embedding);
    });
}

#[test]
fn a_bare_name_that_two_providers_have_is_refused_with_both_names() {
    let own = |name: &'static str| {
        let model = Arc::new(ScriptedModel::new(name, |_, _| Scripted::text("x", 1, 1)));
        model.lists(Ok(&["small"]));
        unlisted(&model)
    };
    World::with([]).asking(vec![own("one"), own("two")]).run(async |live| {
        let refused = live.engine.models().complete(&live.caller(), ask("small")).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Unprocessable);
        assert!(refused.to_string().contains("name it as one/small or two/small"), "{refused}");
        assert_eq!(live.answered_by("two/small").await.as_deref(), Ok("two/small"));
    });
}

#[test]
fn what_begins_with_a_providers_name_goes_to_that_provider() {
    let own = |name: &'static str, models: &'static [&'static str]| {
        let model = Arc::new(ScriptedModel::new(name, |_, _| Scripted::text("x", 1, 1)));
        model.lists(Ok(models));
        unlisted(&model)
    };
    // A router names its models after the providers behind it.
    let router = own("router", &["aa/small", "other/large", "router/auto"]);
    World::with([]).asking(vec![router, own("aa", &["small"])]).run(async |live| {
        for (named, by) in [
            ("aa/small", "aa/small"),
            ("router/aa/small", "router/aa/small"),
            ("other/large", "router/other/large"),
            ("router/auto", "router/router/auto"),
        ] {
            assert_eq!(live.answered_by(named).await.as_deref(), Ok(by), "{named}");
        }
    });
}

#[test]
fn a_list_that_was_not_given_is_asked_for_again_and_an_old_one_anew() {
    let model = Arc::new(ScriptedModel::new("own", |_, _| Scripted::text("x", 1, 1)));
    model.lists(Err(ModelFailureKind::Connect));
    World::with([]).asking(vec![unlisted(&model)]).run(async |live| {
        for named in ["balanced", "small", "own"] {
            assert_eq!(live.answered_by(named).await, Err(ErrorCode::Model), "{named}: nobody knows what there is");
        }
        assert_eq!(live.answered_by("own/small").await.as_deref(), Ok("own/small"), "whoever names it needs no list");
        let named = live.engine.models().named(live.world.scope(), "own/small").await.unwrap();
        assert!(named.is_some(), "nobody knows that it does not exist");
        model.lists(Ok(&["small"]));
        assert_eq!(live.answered_by("balanced").await, Err(ErrorCode::Model), "it is not stormed");
        passes(5).await;
        assert_eq!(live.answered_by("balanced").await.as_deref(), Ok("own/small"));
        model.lists(Ok(&["other"]));
        assert_eq!(live.listed().await, ["own/small"]);
        passes(600).await;
        // Nobody waits for what is only newer.
        while live.listed().await != ["own/other"] {
            tokio::task::yield_now().await;
        }
        model.lists(Err(ModelFailureKind::Connect));
        passes(600).await;
        for _ in 0..100 {
            assert_eq!(live.listed().await, ["own/other"], "the last list holds while there is no other");
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn a_list_that_is_empty_is_told_apart_from_one_that_was_not_given() {
    let model = Arc::new(ScriptedModel::new("own", |_, _| Scripted::text("x", 1, 1)));
    World::with([]).asking(vec![unlisted(&model)]).run(async |live| {
        let refused = async |named: &str| live.engine.models().complete(&live.caller(), ask(named)).await.unwrap_err();
        model.lists(Err(ModelFailureKind::RateLimited));
        let limited = refused("balanced").await;
        assert_eq!(limited.code(), ErrorCode::RateLimited);
        assert!(limited.to_string().contains("name one as own/MODEL"), "{limited}");
        model.lists(Ok(&[]));
        passes(5).await;
        let empty = refused("balanced").await;
        assert_eq!(empty.code(), ErrorCode::Unprocessable);
        assert!(empty.to_string().contains("no provider lists a model"), "{empty}");
        assert_eq!(refused("small").await.code(), ErrorCode::NotFound);
    });
}
