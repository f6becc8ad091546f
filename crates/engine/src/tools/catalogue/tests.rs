//! One catalogue, one source that does what a test says.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use kybern_testkit::actors::scope;
use kybern_testkit::clock::SimClock;
use kybern_testkit::tools::ScriptedTool;
use uuid::Uuid;

use super::*;

/// What a source does when it is asked.
#[derive(Clone)]
enum Says {
    Offers(Arc<OfferedTools>),
    Fails,
    Hangs,
}

/// A source that says what a test has set, for the one tenant that has any of it.
struct Source {
    of: TenantId,
    says: Mutex<Says>,
    asked: AtomicUsize,
}

#[async_trait]
impl ToolSource for Source {
    fn name(&self) -> &'static str {
        "test"
    }

    async fn tools(&self, scope: TenantScope) -> Result<Arc<OfferedTools>> {
        if scope.tenant() != self.of {
            return Ok(Arc::default());
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        let says = self.says.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match says {
            Says::Offers(tools) => Ok(tools),
            Says::Fails => Err(Error::new(ErrorCode::Unavailable, "it is down")),
            Says::Hangs => std::future::pending().await,
        }
    }
}

fn offered(keys: &[&str], bytes: usize) -> Says {
    let tool = |key: &&str| OfferedTool {
        tool: Arc::new(ScriptedTool::echo(key)),
        hash: format!("hash of {key}").into(),
        output_schema: None,
    };
    Says::Offers(Arc::new(OfferedTools { tools: keys.iter().map(tool).collect(), bytes }))
}

struct Shop {
    catalogue: ToolCatalogue,
    source: Arc<Source>,
    clock: Arc<SimClock>,
    home: TenantScope,
    other: TenantScope,
}

impl Shop {
    fn new(says: Says) -> Self {
        let mut registry = PackRegistry::default();
        registry.tool(Arc::new(ScriptedTool::echo("t.one"))).unwrap();
        let tenant = |n| TenantId::from_uuid(Uuid::from_u128(n));
        let (home, other) = (scope(tenant(1)), scope(tenant(2)));
        let source = Arc::new(Source { of: tenant(1), says: Mutex::new(says), asked: AtomicUsize::new(0) });
        let clock = Arc::new(SimClock::new());
        let catalogue = ToolCatalogue::new(registry.into(), vec![source.clone()], clock.clone());
        Self { catalogue, source, clock, home, other }
    }

    fn now_says(&self, says: Says) {
        *self.source.says.lock().unwrap() = says;
    }

    async fn keys(&self, scope: TenantScope) -> Vec<String> {
        self.catalogue.of(scope).await.tools().iter().map(|tool| tool.spec().key.clone()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_is_the_same_until_its_tenants_source_offers_something_else() {
    let shop = Shop::new(offered(&["own.b", "own.a"], 10));
    let first = shop.catalogue.of(shop.home).await;
    assert_eq!(shop.keys(shop.home).await, ["own.a", "own.b", "t.one"]);
    assert!(Arc::ptr_eq(&first, &shop.catalogue.of(shop.home).await));
    assert_eq!(shop.keys(shop.other).await, ["t.one"], "another tenant has none of it");
    shop.now_says(offered(&["own.a"], 10));
    assert_eq!(shop.keys(shop.home).await, ["own.a", "t.one"]);
    assert!(first.find("own.b").is_some(), "whoever holds the one before keeps it");
    let definition = first.find("own.a").unwrap();
    assert_eq!((definition.source(), &**definition.hash()), (Some("test"), "hash of own.a"));
    assert_eq!(first.find("t.one").unwrap().source(), None);
}

#[tokio::test(start_paused = true)]
async fn no_tool_of_a_tenant_stands_in_the_place_of_a_bundled_one() {
    let shop = Shop::new(offered(&["t.one", "own.a"], 10));
    let tools = shop.catalogue.of(shop.home).await;
    assert_eq!(tools.find("t.one").unwrap().source(), None);
    assert_eq!(tools.tools().len(), 2);
    assert!(tools.is_bundled_domain("t") && !tools.is_bundled_domain("own"));
}

#[tokio::test(start_paused = true)]
async fn a_source_that_hangs_fails_or_floods_keeps_what_it_offered_and_is_left_alone_for_a_while() {
    let many: Vec<String> = (0..1_001).map(|n| format!("own.t{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for trouble in [Says::Hangs, Says::Fails, offered(&many, 10), offered(&["own.b"], 5_000_000)] {
        let shop = Shop::new(offered(&["own.a"], 10));
        assert_eq!(shop.keys(shop.home).await, ["own.a", "t.one"]);
        shop.now_says(trouble.clone());
        let asked = shop.source.asked.load(Ordering::SeqCst);
        for _ in 0..5 {
            assert_eq!(shop.keys(shop.home).await, ["own.a", "t.one"]);
        }
        assert_eq!(shop.source.asked.load(Ordering::SeqCst), asked + 1, "and it is not asked for each step");
        assert_eq!(shop.keys(shop.other).await, ["t.one"]);
        shop.now_says(offered(&["own.c"], 10));
        shop.clock.advance(REST);
        assert_eq!(shop.keys(shop.home).await, ["own.c", "t.one"]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_never_listed_is_missing_and_not_gone() {
    let shop = Shop::new(Says::Fails);
    assert!(shop.catalogue.of(shop.home).await.is_partial());
    assert!(!shop.catalogue.of(shop.other).await.is_partial());
    shop.now_says(offered(&[], 0));
    shop.clock.advance(REST);
    assert!(!shop.catalogue.of(shop.home).await.is_partial());
}

#[test]
fn a_bundled_tools_hash_follows_what_it_says_of_itself() {
    let spec = ToolSpec::local("t.x", "Does x.", serde_json::json!({"type": "object"}));
    assert_eq!(hash_of(&spec), hash_of(&spec.clone()));
    assert_ne!(hash_of(&spec), hash_of(&ToolSpec { description: "Does y.".to_owned(), ..spec.clone() }));
}
