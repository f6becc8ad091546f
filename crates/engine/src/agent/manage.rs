//! Agents, as people set and see them.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::agent::{Agent, AgentChange, AgentDraft, OwnAgent, chosen, merged};
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{AgentId, PromptId, TenantId};
use kybern_core::pack::PackRegistry;
use kybern_core::ports::{AgentStore, Clock, IdSource, PromptStore};
use kybern_core::prompt::{self, NewPrompt, OfAgent, Prompt, PromptFilter, PromptStatus};
use kybern_core::tenant::TenantScope;
use serde_json::{Value, json};

use crate::command::{id_for, once};
use crate::made::{ByIdentity, LastMade};
use crate::models::prompt::UNAPPROVED;

/// What a change has done.
#[derive(Clone, PartialEq, Debug)]
pub struct AgentChanged {
    /// The agent as it is now.
    pub agent: Agent,
    /// The draft that the text became which it shall be told.
    pub draft: Option<Prompt>,
}

/// What is as in the program again.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ResyncReport {
    /// Agents that had been taken away.
    pub created: Vec<Agent>,
    /// Agents that had been changed.
    pub updated: Vec<Agent>,
}

/// Agents by what a tenant says about the bundled ones.
type MergedAgents = LastMade<TenantId, ByIdentity<Vec<OwnAgent>>, Arc<Vec<Agent>>>;

/// The agents of tenants: the bundled ones with what a tenant says about them, and its own.
#[derive(Clone)]
pub struct Agents {
    pub(crate) store: Arc<dyn AgentStore>,
    pub(crate) prompts: Arc<dyn PromptStore>,
    pub(crate) registry: Arc<PackRegistry>,
    /// The agents of tenants as they were merged with the bundled ones: every turn asks for one of them.
    pub(crate) merged: Arc<MergedAgents>,
    pub(crate) self_approval: bool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl Agents {
    /// The agents that a tenant has, by key: the bundled ones with what the tenant says about them, and its own.
    pub async fn list(&self, scope: TenantScope) -> Result<Arc<Vec<Agent>>> {
        Ok(self.merged_with(scope, self.store.agents(scope).await?))
    }

    fn merged_with(&self, scope: TenantScope, own: Arc<Vec<OwnAgent>>) -> Arc<Vec<Agent>> {
        let make = || Arc::new(merged(self.registry.agents().map(AsRef::as_ref), &own));
        self.merged.get_or_make(scope.tenant(), ByIdentity(Arc::clone(&own)), make)
    }

    /// One of them, by id, key or name. A key goes before a name; of several of one name it is the first by key.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, name: &str) -> Result<Agent> {
        let all = self.list(scope).await?;
        let id = name.parse::<AgentId>().ok();
        let by_id = all.iter().find(|agent| Some(agent.id) == id);
        let by_key = || all.iter().find(|agent| agent.draft.key == name);
        let by_name = || all.iter().find(|agent| agent.is_called(name));
        by_id.or_else(by_key).or_else(by_name).cloned().ok_or_else(|| Error::not_found("agent", name))
    }

    /// The one that a request names.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` for one that nobody knows.
    pub(crate) async fn named(&self, scope: TenantScope, name: &str) -> Result<Agent> {
        self.get(scope, name).await.map_err(|error| match error.code() {
            ErrorCode::NotFound => Error::invalid("/agent", error.to_string()),
            _ => error,
        })
    }

    /// The agent that a message chooses when nobody names one: that with most of its words in it, else the assistant.
    ///
    /// # Errors
    /// `NOT_FOUND` when the tenant has taken the assistant away.
    pub async fn choose(&self, scope: TenantScope, message: &str) -> Result<Agent> {
        let unknown = || Error::not_found("agent", "assistant");
        chosen(&self.list(scope).await?, message).cloned().ok_or_else(unknown)
    }

    /// Adds an agent. Its text goes the way of every change of one: it becomes a draft, and until somebody else approves
    /// it the agent is told what holds without it. Where administrators approve their own, the text of an agent under a
    /// new key holds at once.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the field; `CONFLICT` when its key or name is another agent's.
    pub async fn create(&self, actor: &Actor, draft: AgentDraft) -> Result<AgentChanged> {
        let draft = draft.checked()?;
        once(actor, || self.created_agent(actor, &draft), self.add_agent(actor, draft.clone())).await
    }

    /// The agent that an earlier try of the actor's command has added. Its text may have become a draft.
    async fn created_agent(&self, actor: &Actor, draft: &AgentDraft) -> Result<Option<AgentChanged>> {
        let scope = actor.scope();
        let Some(command) = actor.command() else { return Ok(None) };
        let says = |known: &AgentDraft| {
            let told = AgentDraft { system_prompt: draft.system_prompt.clone(), ..known.clone() };
            told == *draft
        };
        // A bundled agent that came back has kept its id.
        let is_made = |row: &&OwnAgent| {
            let made = row.id.as_uuid() == command.id_of("agent") || command.is_repeated();
            made && row.key == draft.key && row.draft.as_ref().is_some_and(says)
        };
        let own = self.store.agents(scope).await?;
        let Some(known) = own.iter().find(is_made) else { return Ok(None) };
        let begun = self.prompts.prompt(scope, PromptId::from_uuid(command.id_of("prompt"))).await?;
        Ok(Some(AgentChanged { agent: self.get(scope, &known.id.to_string()).await?, draft: begun }))
    }

    async fn add_agent(&self, actor: &Actor, mut draft: AgentDraft) -> Result<AgentChanged> {
        self.registry.check_groups(&draft)?;
        let scope = actor.scope();
        let own = self.store.agents(scope).await?;
        let all = self.merged_with(scope, Arc::clone(&own));
        if all.iter().any(|agent| agent.draft.key == draft.key) {
            let message = format!("there is an agent {} already, change that one or choose another key", draft.key);
            return Err(Error::new(ErrorCode::Conflict, message));
        }
        only_one_is_called(&all, &draft)?;
        let at = self.clock.now();
        // A bundled agent that was taken away comes back under its id, with another draft.
        let known = own.iter().find(|row| row.key == draft.key);
        let id = known.map_or_else(|| AgentId::from_uuid(id_for(self.ids.as_ref(), actor, "agent")), |known| known.id);
        let mut told = None;
        if let Some(text) = self.told_before(scope, &draft.key).await? {
            let wanted = std::mem::replace(&mut draft.system_prompt, text);
            let again = Agent { id, draft: draft.clone(), bundled: false, version: 0, created_at: at, updated_at: at };
            told = self.prompt_for(actor, &again, Some(&wanted)).await?;
        }
        let agent = OwnAgent {
            id,
            key: draft.key.clone(),
            version: known.map_or(0, |known| known.version) + 1,
            created_at: known.map_or(at, |known| known.created_at),
            updated_at: at,
            draft: Some(draft),
        };
        let draft = self.put_agent(actor, &agent, json!({"created": true}), told).await?;
        Ok(AgentChanged { agent: self.get(scope, &agent.id.to_string()).await?, draft })
    }

    /// What an agent of that key is told without anybody's approval: the text of the bundled one, else what was in
    /// use for it last, else that nothing is approved yet. `None` for a new key where administrators approve their own
    /// and no prompt for all agents is active: what they write is approved by them.
    async fn told_before(&self, scope: TenantScope, key: &str) -> Result<Option<String>> {
        if let Some(bundled) = self.registry.find_agent(key) {
            return Ok(Some(bundled.system_prompt.clone()));
        }
        let (of, store) = (OfAgent::One(key.to_owned()), &self.prompts);
        for status in [PromptStatus::Active, PromptStatus::Retired] {
            let filter = PromptFilter { agent: of.clone(), status: Some(status) };
            if let Some(prompt) = store.prompts(scope, &filter, None, 1).await?.items.pop() {
                return Ok(Some(prompt.text));
            }
        }
        let any = PromptFilter { agent: of, status: None };
        // Where one for all agents is active, that is what it is told: its own text has to take that one's place.
        let for_all = PromptFilter { agent: OfAgent::All, status: Some(PromptStatus::Active) };
        let mut needs_approval = !self.self_approval;
        for known in [any, for_all] {
            needs_approval = needs_approval || !store.prompts(scope, &known, None, 1).await?.items.is_empty();
        }
        Ok(needs_approval.then(|| UNAPPROVED.text.trim().to_owned()))
    }

    /// Changes an agent. What it shall be told becomes a draft, which somebody else approves; until then it is told
    /// what it was told before.
    ///
    /// # Errors
    /// `NOT_FOUND`; `VALIDATION_ERROR` with the field; `CONFLICT` when its new name is another agent's, or somebody
    /// else changes it at the same time.
    pub async fn change(&self, actor: &Actor, name: &str, change: AgentChange) -> Result<AgentChanged> {
        let scope = actor.scope();
        let agent = self.get(scope, name).await?;
        let told = self.prompt_for(actor, &agent, change.system_prompt.as_deref()).await?;
        let draft = change.applied_to(agent.draft.clone()).checked()?;
        self.registry.check_groups(&draft)?;
        let others = self.list(scope).await?;
        let others: Vec<Agent> = others.iter().filter(|other| other.id != agent.id).cloned().collect();
        only_one_is_called(&others, &draft)?;
        if draft == agent.draft {
            let begun = match told {
                None => None,
                Some(new) => Some(self.begin_prompt(actor, &new).await?),
            };
            return Ok(AgentChanged { agent, draft: begun });
        }
        let next = agent.next(Some(draft), self.clock.now());
        let begun = self.put_agent(actor, &next, json!({"changed": changed(&agent, &next)}), told).await?;
        Ok(AgentChanged { agent: self.get(scope, &agent.id.to_string()).await?, draft: begun })
    }

    /// Takes an agent away. A bundled one stays away until the agents are [resynced](Self::resync), or it is
    /// [reset](Self::reset).
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when somebody else changes it at the same time.
    pub async fn delete(&self, actor: &Actor, name: &str) -> Result<()> {
        let scope = actor.scope();
        let agent = self.get(scope, name).await?;
        let (key, at) = (agent.draft.key.as_str(), self.clock.now());
        let detail = json!({"key": key, "version": agent.version});
        let event = AuditEvent::by(actor, "agent.delete", format!("agent:{}", agent.id), detail);
        let gone = agent.next(None, at);
        if self.is_bundled(&gone) {
            return self.store.put_agent(scope, &gone, None, vec![event]).await.map(drop);
        }
        self.store.drop_agents(scope, &[(agent.id, agent.version)], at, event).await
    }

    /// Makes one bundled agent as it is in the program again, also one that was taken away. What was approved for it
    /// stays in use.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` for an agent that does not come with the program, and when somebody else changes it at
    /// the same time.
    pub async fn reset(&self, actor: &Actor, name: &str) -> Result<Agent> {
        let scope = actor.scope();
        let own = self.store.agents(scope).await?;
        let id = name.parse::<AgentId>().ok();
        let mut gone = own.iter().filter(|row| row.draft.is_none());
        let row = match gone.find(|row| row.key == name || Some(row.id) == id) {
            Some(gone) => gone.clone(),
            None => {
                let agent = self.get(scope, name).await?;
                if agent.bundled {
                    return Ok(agent);
                }
                OwnAgent { version: agent.version, ..agent.next(None, agent.updated_at) }
            }
        };
        let bundled = self.registry.find_agent(&row.key).filter(|_| row.is_of_bundled());
        let Some(bundled) = bundled else {
            let message = format!(
                "agent {} does not come with the program, so there is nothing to go back to: change or remove it",
                row.key
            );
            return Err(Error::new(ErrorCode::Conflict, message));
        };
        let detail = json!({"key": row.key, "version": row.version});
        let event = AuditEvent::by(actor, "agent.reset", format!("agent:{}", row.id), detail);
        self.drop_agents(actor, &[(row.id, row.version)], event).await?;
        Ok(Agent::as_bundled(bundled))
    }

    /// Makes the bundled agents as they are in the program again. The tenant's own stay as they are.
    ///
    /// # Errors
    /// `CONFLICT` when somebody else changes one of them at the same time.
    pub async fn resync(&self, actor: &Actor) -> Result<ResyncReport> {
        let (scope, mut resynced, mut dropped) = (actor.scope(), ResyncReport::default(), Vec::new());
        for row in self.store.agents(scope).await?.iter() {
            let bundled = self.registry.find_agent(&row.key).filter(|_| row.is_of_bundled());
            let Some(bundled) = bundled else { continue };
            let list = if row.draft.is_some() { &mut resynced.updated } else { &mut resynced.created };
            list.push(Agent::as_bundled(bundled));
            dropped.push((row.id, row.version));
        }
        let keys = |agents: &[Agent]| agents.iter().map(|agent| agent.draft.key.clone()).collect::<Vec<_>>();
        let detail = json!({"created": keys(&resynced.created), "updated": keys(&resynced.updated)});
        let event = AuditEvent::by(actor, "agent.resync", format!("tenant:{}", actor.tenant()), detail);
        self.drop_agents(actor, &dropped, event).await?;
        Ok(resynced)
    }

    /// Whether what is said is about an agent of the program.
    fn is_bundled(&self, row: &OwnAgent) -> bool {
        row.is_of_bundled() && self.registry.find_agent(&row.key).is_some()
    }

    /// Forgets what was said about agents of the program. Whoever has forgotten one meanwhile has changed it.
    async fn drop_agents(&self, actor: &Actor, dropped: &[(AgentId, u32)], event: AuditEvent) -> Result<()> {
        let changed = |error: Error| match error.code() {
            ErrorCode::NotFound => Error::new(ErrorCode::Conflict, "somebody else has reset an agent meanwhile"),
            _ => error,
        };
        let at = self.clock.now();
        self.store.drop_agents(actor.scope(), dropped, at, event).await.map_err(changed)
    }

    async fn put_agent(
        &self,
        actor: &Actor,
        agent: &OwnAgent,
        mut detail: Value,
        told: Option<NewPrompt>,
    ) -> Result<Option<Prompt>> {
        detail["key"] = json!(agent.key);
        detail["version"] = json!(agent.version);
        let mut events = vec![AuditEvent::by(actor, "agent.put", format!("agent:{}", agent.id), detail)];
        events.extend(told.as_ref().map(|new| super::told::begun(actor, new)));
        self.store.put_agent(actor.scope(), agent, told.as_ref(), events).await
    }

    /// The prompt that a text makes which an agent shall be told; `None` when it is told just that already.
    async fn prompt_for(&self, actor: &Actor, agent: &Agent, text: Option<&str>) -> Result<Option<NewPrompt>> {
        let Some(text) = text else { return Ok(None) };
        let text = prompt::checked(text).map_err(|error| error.moved("/text", "/systemPrompt"))?;
        let key = agent.draft.key.as_str();
        let active = self.active_prompt(actor.scope(), key).await?;
        let active = active.filter(|prompt| prompt.agent.as_deref() == Some(key));
        if active.map_or(agent.draft.system_prompt == text, |prompt| prompt.text == text) {
            return Ok(None);
        }
        self.new_prompt(actor, Some(key.to_owned()), text).map(Some)
    }
}

fn only_one_is_called(others: &[Agent], draft: &AgentDraft) -> Result<()> {
    match others.iter().find(|other| other.is_called(&draft.name)) {
        None => Ok(()),
        Some(other) => {
            let message = format!("agent {} is called {:?} already, choose another name", other.draft.key, draft.name);
            Err(Error::new(ErrorCode::Conflict, message))
        }
    }
}

/// The names of the fields in which an agent differs.
fn changed(before: &Agent, after: &OwnAgent) -> Vec<String> {
    let (before, after) = (json!(before.draft), json!(after.draft));
    let names = [&before, &after].into_iter().filter_map(Value::as_object).flat_map(|members| members.keys());
    let mut differing: Vec<String> = names.filter(|name| before.get(name) != after.get(name)).cloned().collect();
    differing.sort_unstable();
    differing.dedup();
    differing
}
