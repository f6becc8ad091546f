//! Packs: how a domain registers what it brings. The core never names one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::agent::AgentDraft;
use crate::dossier::EntityKind;
use crate::error::{Detail, Error, ErrorCode, Result};
use crate::model::ExtractionSchema;
use crate::plan::Plan;
use crate::ports::{SpellingRule, StateProvider, Tool};
use crate::record::RecordKind;

/// A domain's contribution.
pub trait Pack: Send + Sync {
    /// Its name, the first part of its keys.
    fn name(&self) -> &'static str;

    /// Registers everything it brings.
    ///
    /// # Errors
    /// When a key is taken.
    fn register(&self, registry: &mut PackRegistry) -> Result<(), DuplicateKey>;
}

/// A key that was registered before.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{noun} {key:?} is registered twice, rename one")]
pub struct DuplicateKey {
    /// `tool`, `plan`, `record kind`, `extraction schema`, `agent`, `spelling rule`, `state provider`,
    /// `entity kind`.
    pub noun: &'static str,
    pub key: String,
}

/// Everything that is registered, by key.
#[derive(Default, Clone)]
pub struct PackRegistry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    aliases: BTreeMap<String, String>,
    plans: BTreeMap<String, Arc<Plan>>,
    kinds: BTreeMap<String, RecordKind>,
    schemas: BTreeMap<String, Arc<ExtractionSchema>>,
    agents: BTreeMap<String, Arc<AgentDraft>>,
    groups: BTreeMap<String, Vec<String>>,
    spellings: BTreeMap<String, Arc<dyn SpellingRule>>,
    states: BTreeMap<String, Arc<dyn StateProvider>>,
    entities: BTreeMap<String, EntityKind>,
    stand_in: Option<ToolStandIn>,
}

/// What takes the place of each tool as it is registered.
pub type ToolStandIn = Arc<dyn Fn(Arc<dyn Tool>) -> Arc<dyn Tool> + Send + Sync>;

impl std::fmt::Debug for PackRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry")
            .field("tools", &self.tools.keys())
            .field("plans", &self.plans.keys())
            .field("kinds", &self.kinds.keys())
            .finish_non_exhaustive()
    }
}

fn register<T>(known: &mut BTreeMap<String, T>, noun: &'static str, key: String, new: T) -> Result<(), DuplicateKey> {
    if known.contains_key(&key) {
        return Err(DuplicateKey { noun, key });
    }
    known.insert(key, new);
    Ok(())
}

impl PackRegistry {
    /// An empty registry that keeps, in place of each tool, what `stand_in` makes of it, also of those that the engine
    /// adds. A stand-in keeps the tool's own description, by which plans are checked and calls are admitted.
    #[must_use]
    pub fn standing_in(stand_in: ToolStandIn) -> Self {
        Self { stand_in: Some(stand_in), ..Self::default() }
    }

    /// Registers a tool under its key and its aliases.
    ///
    /// # Errors
    /// When one of them is taken.
    pub fn tool(&mut self, tool: Arc<dyn Tool>) -> Result<(), DuplicateKey> {
        let tool = match &self.stand_in {
            Some(stand_in) => stand_in(tool),
            None => tool,
        };
        let spec = tool.spec();
        for name in std::iter::once(&spec.key).chain(&spec.aliases) {
            if self.tools.contains_key(name) || self.aliases.contains_key(name) {
                return Err(DuplicateKey { noun: "tool", key: name.clone() });
            }
        }
        let (key, aliases) = (spec.key.clone(), spec.aliases.clone());
        for alias in aliases {
            self.aliases.insert(alias, key.clone());
        }
        self.tools.insert(key, tool);
        Ok(())
    }

    /// Registers a bundled plan.
    ///
    /// # Errors
    /// When its key is taken.
    pub fn plan(&mut self, plan: Plan) -> Result<(), DuplicateKey> {
        register(&mut self.plans, "plan", plan.key.clone(), Arc::new(plan))
    }

    /// Registers a kind of record.
    ///
    /// # Errors
    /// When its key is taken.
    pub fn kind(&mut self, kind: RecordKind) -> Result<(), DuplicateKey> {
        register(&mut self.kinds, "record kind", kind.key.clone(), kind)
    }

    /// Registers what a pack looks for in documents.
    ///
    /// # Errors
    /// When its name is taken.
    pub fn extraction(&mut self, name: &str, schema: impl Into<Arc<ExtractionSchema>>) -> Result<(), DuplicateKey> {
        register(&mut self.schemas, "extraction schema", name.to_owned(), schema.into())
    }

    /// Registers a bundled agent.
    ///
    /// # Errors
    /// When its key is taken.
    pub fn agent(&mut self, agent: AgentDraft) -> Result<(), DuplicateKey> {
        register(&mut self.agents, "agent", agent.key.clone(), Arc::new(agent))
    }

    /// Registers when lessons about the spelling of a field's values count, by the field's schema and
    /// [path](crate::model::FieldPattern::path). Where there is none, they always do.
    ///
    /// # Errors
    /// When that field has one.
    pub fn spelling(&mut self, schema: &str, path: &str, rule: Arc<dyn SpellingRule>) -> Result<(), DuplicateKey> {
        register(&mut self.spellings, "spelling rule", format!("{schema}:{path}"), rule)
    }

    /// Registers what a domain's records say about an entity.
    ///
    /// # Errors
    /// When the domain has one.
    pub fn state_provider(&mut self, provider: Arc<dyn StateProvider>) -> Result<(), DuplicateKey> {
        register(&mut self.states, "state provider", provider.domain().to_owned(), provider)
    }

    /// Registers a kind of records that stand for something outside, and how one is found by what people call it.
    ///
    /// # Errors
    /// When the kind is registered already.
    pub fn entity_kind(&mut self, entity: EntityKind) -> Result<(), DuplicateKey> {
        register(&mut self.entities, "entity kind", entity.kind.to_owned(), entity)
    }

    /// What each domain's records say about an entity, by domain.
    pub fn state_providers(&self) -> impl Iterator<Item = &Arc<dyn StateProvider>> {
        self.states.values()
    }

    /// The kinds of records that are entities.
    pub fn entity_kinds(&self) -> impl Iterator<Item = &EntityKind> {
        self.entities.values()
    }

    /// When lessons about the spelling of that field's values count.
    #[must_use]
    pub fn find_spelling(&self, schema: &str, path: &str) -> Option<&Arc<dyn SpellingRule>> {
        self.spellings.get(&format!("{schema}:{path}"))
    }

    /// Adds tools to a group, which agents name to have all of them. A group may name tools that are not registered.
    pub fn tool_group(&mut self, group: &str, tools: impl IntoIterator<Item = String>) {
        self.groups.entry(group.to_owned()).or_default().extend(tools);
    }

    /// Every bundled agent by key.
    pub fn agents(&self) -> impl Iterator<Item = &Arc<AgentDraft>> {
        self.agents.values()
    }

    /// The bundled agent with that key.
    #[must_use]
    pub fn find_agent(&self, key: &str) -> Option<&Arc<AgentDraft>> {
        self.agents.get(key)
    }

    /// Every group of tools by name, with the tools that it names.
    pub fn tool_groups(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.groups.iter().map(|(group, tools)| (group.as_str(), tools.as_slice()))
    }

    /// Refuses an agent that names a group which no pack brings: unlike a tool, which a later program or a tenant's own
    /// server may bring, a group is written in the program.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with each group that there is not, and those that there are.
    pub fn check_groups(&self, agent: &AgentDraft) -> Result<()> {
        let all = || self.groups.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let unknown = |(n, group): (usize, &String)| {
            let message = || format!("there is no group of tools {group:?}, use {}", all());
            (!self.groups.contains_key(group)).then(|| Detail::new(format!("/toolGroups/{n}"), message()))
        };
        let faults: Vec<Detail> = agent.tool_groups.iter().enumerate().filter_map(unknown).collect();
        match faults.first() {
            None => Ok(()),
            Some(first) => Err(Error::new(ErrorCode::Validation, first.message.clone()).with_details(faults)),
        }
    }

    /// The bundled tool with that key or alias. Whether a tenant can call it, its catalogue says.
    #[must_use]
    pub fn registered_tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).or_else(|| self.aliases.get(name).and_then(|key| self.tools.get(key)))
    }

    /// Every bundled tool by key.
    pub fn registered_tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// Every bundled plan by key.
    pub fn plans(&self) -> impl Iterator<Item = &Arc<Plan>> {
        self.plans.values()
    }

    /// The bundled plan with that key.
    #[must_use]
    pub fn find_plan(&self, key: &str) -> Option<&Arc<Plan>> {
        self.plans.get(key)
    }

    /// Every kind of record by key.
    pub fn kinds(&self) -> impl Iterator<Item = &RecordKind> {
        self.kinds.values()
    }

    /// Every extraction schema by name.
    pub fn extractions(&self) -> impl Iterator<Item = (&str, &Arc<ExtractionSchema>)> {
        self.schemas.iter().map(|(name, schema)| (name.as_str(), schema))
    }
}
