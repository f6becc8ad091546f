//! What a tenant can call: the one door to tools. Whoever checks a plan, makes a call, tells a model or lists tools
//! reads a snapshot of it, and nothing else.
//!
//! A snapshot never changes. It is made of the bundled tools and of what the tenant's sources offer, and is the same one
//! until a source offers something else. A run takes one before its steps begin.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use futures::FutureExt as _;
use jsonschema::Validator;
use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::id::TenantId;
use kybern_core::json::check_value;
use kybern_core::pack::PackRegistry;
use kybern_core::policy::PermissionLevel;
use kybern_core::ports::{Clock, OfferedTool, OfferedTools, Tool, ToolSource};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::own::{MAX_ACTIVE, MAX_ACTIVE_BYTES, least_risk};
use kybern_core::tool::{Risk, ToolSpec};
use serde_json::{Map, Value};

use super::own::source::SOURCE;
use super::schemas::Schemas;
use crate::made::LastMade;
use crate::schema;

/// How long a source may take to say what it offers: a step waits for it.
const PATIENCE: Millis = Millis::from_secs(2);
/// How long a source that has failed is left alone.
const REST: Millis = Millis::from_secs(10);

/// A tool that a tenant can call.
pub struct CallableTool {
    offered: OfferedTool,
    /// The source that offers it; `None` for a bundled tool.
    source: Option<&'static str>,
    /// The compiled schema of a bundled tool's arguments, made by its first call: most bundled tools are never called.
    /// Those of a source's tools live in a bounded cache.
    arguments: OnceLock<Result<Validator, String>>,
    schemas: Arc<Schemas>,
}

impl CallableTool {
    /// What it says about itself.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        self.offered.tool.spec()
    }

    /// What is called.
    #[must_use]
    pub fn tool(&self) -> &Arc<dyn Tool> {
        &self.offered.tool
    }

    /// A hash over everything that a model or a checker sees of it, in hex.
    #[must_use]
    pub fn hash(&self) -> &Arc<str> {
        &self.offered.hash
    }

    /// The source that offers it; `None` for a bundled tool.
    #[must_use]
    pub fn source(&self) -> Option<&'static str> {
        self.source
    }

    /// The least risk that may be said of it: an own tool reaches as far as a request with its method.
    #[must_use]
    pub fn least_risk(&self) -> Risk {
        match self.source {
            Some(SOURCE) => least_risk(self.spec().level == PermissionLevel::Read),
            _bundled_or_other => Risk::R0,
        }
    }

    /// JSON Schema of what a call returns; `None` for anything.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Value> {
        self.offered.output_schema.as_deref()
    }

    /// What is wrong with arguments by the tool's schema, and else by the tool; empty when they fit.
    #[must_use]
    pub fn faults_of(&self, args: &Map<String, Value>) -> Vec<Detail> {
        let faults = self.schema_faults(&Value::Object(args.clone()));
        if faults.is_empty() { self.offered.tool.faults(args) } else { faults }
    }

    /// What is wrong with arguments by the tool's schema.
    pub(super) fn schema_faults(&self, args: &Value) -> Vec<Detail> {
        if let Err(deep) = check_value(args) {
            return vec![deep.detail("")];
        }
        let own = &self.spec().input_schema;
        if self.source.is_some() {
            return self.schemas.check(self.hash(), &schema::closed(own), args);
        }
        match self.arguments.get_or_init(|| schema::compile_own(&schema::closed(own))) {
            Ok(validator) => schema::faults(validator, args),
            Err(problem) => vec![Detail::new("", problem.clone())],
        }
    }
}

/// The bundled tools, with what is compiled of them once.
struct Bundled {
    registry: Arc<PackRegistry>,
    tools: BTreeMap<String, Arc<CallableTool>>,
}

/// What a tenant can call at one moment.
#[derive(Clone)]
pub struct ToolSnapshot {
    bundled: Arc<Bundled>,
    own: BTreeMap<String, Arc<CallableTool>>,
    /// Whether a source could not say what it offers, and nothing that it offered before is known.
    is_partial: bool,
}

impl ToolSnapshot {
    /// The bundled tools and no others.
    #[must_use]
    pub fn of_bundled(registry: Arc<PackRegistry>) -> Self {
        Self { bundled: Arc::new(Bundled::of(registry, &Arc::default())), own: BTreeMap::new(), is_partial: false }
    }

    /// The tool with that key or alias.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<CallableTool>> {
        let bundled =
            || self.bundled.registry.registered_tool(name).and_then(|tool| self.bundled.tools.get(&tool.spec().key));
        bundled().or_else(|| self.own.get(name))
    }

    /// Every tool, by key.
    #[must_use]
    pub fn tools(&self) -> Vec<&Arc<CallableTool>> {
        let mut all: Vec<&Arc<CallableTool>> = self.bundled.tools.values().chain(self.own.values()).collect();
        all.sort_by(|a, b| a.spec().key.cmp(&b.spec().key));
        all
    }

    /// The tools of a group, by the names that it gives.
    #[must_use]
    pub fn group(&self, name: &str) -> &[String] {
        let found = self.bundled.registry.tool_groups().find(|(group, _)| *group == name);
        found.map_or(&[], |(_, tools)| tools)
    }

    /// The first group by name that has the tool.
    #[must_use]
    pub fn group_of(&self, spec: &ToolSpec) -> Option<&str> {
        let is_named = |name: &String| *name == spec.key || spec.aliases.contains(name);
        self.bundled.registry.tool_groups().find(|(_, tools)| tools.iter().any(is_named)).map(|(group, _)| group)
    }

    /// Whether tools may be missing because a source could not be asked.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Whether a bundled tool has its key or another name in that domain: then no tool of a tenant may.
    #[must_use]
    pub fn is_bundled_domain(&self, domain: &str) -> bool {
        let is_in = |name: &String| name.split_once('.').is_some_and(|(of, _)| of == domain);
        let mut specs = self.bundled.tools.values().map(|tool| tool.spec());
        specs.any(|spec| spec.domain == domain || is_in(&spec.key) || spec.aliases.iter().any(is_in))
    }
}

impl Bundled {
    fn of(registry: Arc<PackRegistry>, schemas: &Arc<Schemas>) -> Self {
        let define = |tool: &Arc<dyn Tool>| {
            let spec = tool.spec();
            let offered = OfferedTool { tool: Arc::clone(tool), hash: hash_of(spec), output_schema: None };
            let schemas = Arc::clone(schemas);
            let definition = CallableTool { offered, source: None, arguments: OnceLock::new(), schemas };
            (spec.key.clone(), Arc::new(definition))
        };
        let tools = registry.registered_tools().map(define).collect();
        Self { registry, tools }
    }
}

/// The first 128 bits of the BLAKE3 of what a bundled tool says about itself, in hex: the program is what it does. Every
/// step's row carries it, so it is no longer than it must be to tell two versions apart.
fn hash_of(spec: &ToolSpec) -> Arc<str> {
    let mut said = serde_json::to_value(spec).unwrap_or_default();
    said.sort_all_objects();
    blake3::hash(said.to_string().as_bytes()).to_hex()[..32].into()
}

/// What a source said last.
#[derive(Default)]
struct SourceState {
    /// What it offers; `None` when it has never said.
    offered: Option<Arc<OfferedTools>>,
    /// Until when it is left alone, because it failed.
    rests_until: Option<Timestamp>,
}

impl SourceState {
    fn offers_the_same(&self, other: &Self) -> bool {
        match (&self.offered, &other.offered) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (old, new) => old.is_none() && new.is_none(),
        }
    }
}

/// What is known of a tenant.
struct TenantCatalogue {
    /// What each source said, in the order of the sources.
    sources: Vec<SourceState>,
    snapshot: Arc<ToolSnapshot>,
}

/// The tools of all tenants.
pub struct ToolCatalogue {
    sources: Vec<Arc<dyn ToolSource>>,
    clock: Arc<dyn Clock>,
    schemas: Arc<Schemas>,
    bundled: Arc<ToolSnapshot>,
    known: LastMade<TenantId, (), Arc<TenantCatalogue>>,
}

impl ToolCatalogue {
    /// A catalogue of the bundled tools and what these sources offer. Where two have the same key, the bundled one
    /// counts, and else the source that comes first.
    #[must_use]
    pub fn new(registry: Arc<PackRegistry>, sources: Vec<Arc<dyn ToolSource>>, clock: Arc<dyn Clock>) -> Self {
        let schemas = Arc::<Schemas>::default();
        let bundled = Arc::new(Bundled::of(registry, &schemas));
        let bundled = Arc::new(ToolSnapshot { bundled, own: BTreeMap::new(), is_partial: false });
        Self { sources, clock, schemas, bundled, known: LastMade::default() }
    }

    /// What every tenant can call.
    #[must_use]
    pub fn bundled(&self) -> &Arc<ToolSnapshot> {
        &self.bundled
    }

    /// What a tenant can call now: the same snapshot, by pointer, as long as nothing has changed. A source that hangs,
    /// fails or offers too much costs its tenant what it offers newly, and nobody else anything.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn of(&self, scope: TenantScope) -> Arc<ToolSnapshot> {
        let before = self.known.get(&scope.tenant(), &());
        let mut told = Vec::with_capacity(self.sources.len());
        for (n, source) in self.sources.iter().enumerate() {
            told.push(
                self.poll_source(source.as_ref(), scope, before.as_ref().and_then(|known| known.sources.get(n))).await,
            );
        }
        let mut snapshot = None;
        if let Some(known) = &before {
            let pairs = || known.sources.iter().zip(&told);
            if pairs().all(|(old, new)| old.offers_the_same(new)) {
                if pairs().all(|(old, new)| old.rests_until == new.rests_until) {
                    return Arc::clone(&known.snapshot);
                }
                snapshot = Some(Arc::clone(&known.snapshot));
            }
        }
        let snapshot = snapshot.unwrap_or_else(|| self.put_together(&told));
        self.known.keep(
            scope.tenant(),
            (),
            Arc::new(TenantCatalogue { sources: told, snapshot: Arc::clone(&snapshot) }),
        );
        snapshot
    }

    /// What a source says now. One that fails is left alone for a while, and what it said before goes on to count.
    async fn poll_source(
        &self,
        source: &dyn ToolSource,
        scope: TenantScope,
        last: Option<&SourceState>,
    ) -> SourceState {
        let offered = || last.and_then(|last| last.offered.clone());
        if let Some(until) = last.and_then(|last| last.rests_until).filter(|until| self.clock.now() < *until) {
            return SourceState { offered: offered(), rests_until: Some(until) };
        }
        match ask(source, scope).await {
            Ok(tools) => SourceState { offered: Some(tools), rests_until: None },
            Err(error) => {
                tracing::warn!(tenant.id = %scope.tenant(), source = source.name(), %error, "tools could not be listed");
                SourceState { offered: offered(), rests_until: Some(self.clock.now().plus(REST)) }
            }
        }
    }

    fn put_together(&self, told: &[SourceState]) -> Arc<ToolSnapshot> {
        let is_partial = told.iter().any(|told| told.offered.is_none());
        let mut own = BTreeMap::new();
        for (source, told) in self.sources.iter().zip(told) {
            for tool in told.offered.iter().flat_map(|offered| &offered.tools) {
                let key = &tool.tool.spec().key;
                if self.bundled.find(key).is_none() && !own.contains_key(key) {
                    let (source, schemas) = (Some(source.name()), Arc::clone(&self.schemas));
                    let definition =
                        CallableTool { offered: tool.clone(), source, arguments: OnceLock::new(), schemas };
                    own.insert(key.clone(), Arc::new(definition));
                }
            }
        }
        if own.is_empty() && !is_partial {
            return Arc::clone(&self.bundled);
        }
        Arc::new(ToolSnapshot { bundled: Arc::clone(&self.bundled.bundled), own, is_partial })
    }
}

/// Asks a source what it offers, within bounds of time and size.
async fn ask(source: &dyn ToolSource, scope: TenantScope) -> Result<Arc<OfferedTools>> {
    let mut asked = source.tools(scope);
    // Most know their list, and then nothing is timed.
    let asked = match (&mut asked).now_or_never() {
        Some(answered) => Ok(answered),
        None => tokio::time::timeout(PATIENCE.as_duration(), asked).await,
    };
    let unavailable = |message: String| Error::new(ErrorCode::Unavailable, message);
    let offered = asked.map_err(|_elapsed| unavailable(format!("it did not answer within {PATIENCE}")))??;
    let (count, bytes) = (offered.tools.len(), offered.bytes);
    if u64::try_from(count).unwrap_or(u64::MAX) > MAX_ACTIVE
        || u64::try_from(bytes).unwrap_or(u64::MAX) > MAX_ACTIVE_BYTES
    {
        let message = format!("it offers {count} tools of {bytes} bytes, more than {MAX_ACTIVE} or {MAX_ACTIVE_BYTES}");
        return Err(unavailable(message));
    }
    Ok(offered)
}

#[cfg(test)]
mod tests;
