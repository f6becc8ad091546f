//! The agents of a tenant: those that come with the program, what the tenant says about them, and its own.
//!
//! A row of the tenant's with the key of a bundled agent stands in its place; a row without a draft takes it away. So a
//! newer program brings newer agents to every tenant that has said nothing about them.

use std::collections::BTreeMap;

use uuid::{Builder, Variant, Version};

use super::config::{Agent, AgentDraft};
use super::limit::TurnLimits;
use crate::id::AgentId;
use crate::money::{NanoUsd, Tokens};
use crate::time::{Millis, Timestamp};

/// The agent that is asked when no word of a message chooses another.
pub const ASSISTANT: &str = "assistant";

/// What a tenant says about an agent.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnAgent {
    /// Its id: that of the bundled agent with its key, where there is one.
    pub id: AgentId,
    /// How plans and models name it. Never changed.
    pub key: String,
    /// What was written down; `None` takes the bundled agent of that key away.
    pub draft: Option<AgentDraft>,
    /// Grows by one with each change; from 1, and from 2 of a bundled agent: the program's own is version 1.
    pub version: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// What is to change in an agent; what is `None` stays. Its key never changes, because plans name it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AgentChange {
    /// What people call it.
    pub name: Option<String>,
    pub description: Option<String>,
    /// A sign for it; an inner `None` takes it away.
    pub emoji: Option<Option<String>>,
    /// Where it is listed; an inner `None` takes it away.
    pub category: Option<Option<String>>,
    /// What it shall be told. It becomes a draft that somebody approves, and changes nothing by itself.
    pub system_prompt: Option<String>,
    /// The provider, or `default`.
    pub provider: Option<String>,
    /// The model, a routing strategy, or `default`.
    pub model: Option<String>,
    /// The most tokens of one reply.
    pub max_tokens: Option<u32>,
    /// From 0 to 2.
    pub temperature: Option<f64>,
    /// How much a turn may take.
    pub limits: LimitsChange,
    pub tools: Option<Vec<String>>,
    pub tool_groups: Option<Vec<String>>,
    /// Words by which it is chosen.
    pub triggers: Option<Vec<String>>,
}

/// What is to change in the limits of an agent's turns; what is `None` stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LimitsChange {
    /// How often the model is asked.
    pub iterations: Option<u32>,
    /// How many calls are made.
    pub calls: Option<u32>,
    /// How many tokens are read and written in all; an inner `None` takes the limit away.
    pub tokens: Option<Option<Tokens>>,
    /// What it may cost; an inner `None` takes the limit away.
    pub cost: Option<Option<NanoUsd>>,
    /// How long it may take.
    pub time: Option<Millis>,
    /// How far back the model may see.
    pub history: Option<Millis>,
}

impl LimitsChange {
    /// The limits with that change.
    #[must_use]
    pub fn applied_to(self, known: TurnLimits) -> TurnLimits {
        TurnLimits {
            iterations: self.iterations.unwrap_or(known.iterations),
            calls: self.calls.unwrap_or(known.calls),
            tokens: self.tokens.unwrap_or(known.tokens),
            cost: self.cost.unwrap_or(known.cost),
            time: self.time.unwrap_or(known.time),
            history: self.history.unwrap_or(known.history),
        }
    }
}

impl AgentChange {
    /// The agent as it is to be written down: everything but what it is told, which goes another way.
    #[must_use]
    pub fn applied_to(self, known: AgentDraft) -> AgentDraft {
        AgentDraft {
            key: known.key,
            name: self.name.unwrap_or(known.name),
            description: self.description.unwrap_or(known.description),
            emoji: self.emoji.unwrap_or(known.emoji),
            category: self.category.unwrap_or(known.category),
            system_prompt: known.system_prompt,
            provider: self.provider.unwrap_or(known.provider),
            model: self.model.unwrap_or(known.model),
            max_tokens: self.max_tokens.unwrap_or(known.max_tokens),
            temperature: self.temperature.unwrap_or(known.temperature),
            limits: self.limits.applied_to(known.limits),
            tools: self.tools.unwrap_or(known.tools),
            tool_groups: self.tool_groups.unwrap_or(known.tool_groups),
            triggers: self.triggers.unwrap_or(known.triggers),
        }
    }
}

/// The id of the bundled agent with that key: the same on every server and in every tenant.
#[must_use]
pub fn bundled_id(key: &str) -> AgentId {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&blake3::derive_key("kybern 2026 bundled agent", key.as_bytes())[..16]);
    let id = Builder::from_bytes(bytes).with_version(Version::Custom).with_variant(Variant::RFC4122);
    AgentId::from_uuid(id.into_uuid())
}

impl OwnAgent {
    /// Whether it stands for the bundled agent with its key, and is not the tenant's own under a key that a newer
    /// program has taken too.
    #[must_use]
    pub fn is_of_bundled(&self) -> bool {
        self.id == bundled_id(&self.key)
    }

    /// Whether it is the next version where `stored` is what is stored of the agent. Where nothing is, the program's own
    /// version of a bundled agent is the one before.
    #[must_use]
    pub fn follows(&self, stored: Option<u32>) -> bool {
        let before = stored.unwrap_or(u32::from(self.is_of_bundled()));
        before.checked_add(1) == Some(self.version)
    }
}

impl Agent {
    /// The row that writes down the next state of the agent, at that moment; without a draft it is taken away. It is
    /// refused if somebody has written the agent since it was read.
    #[must_use]
    pub fn next(&self, draft: Option<AgentDraft>, at: Timestamp) -> OwnAgent {
        // Nothing is stored yet of a bundled agent of which nothing was said.
        let created_at = if self.bundled { at } else { self.created_at };
        let (id, key, version) = (self.id, self.draft.key.clone(), self.version + 1);
        OwnAgent { id, key, draft, version, created_at, updated_at: at }
    }

    /// A bundled agent of which nothing was said. It was made at no time that a tenant knows, so its times are zero.
    #[must_use]
    pub fn as_bundled(draft: &AgentDraft) -> Self {
        let at = Timestamp::default();
        Self {
            id: bundled_id(&draft.key),
            draft: draft.clone(),
            bundled: true,
            version: 1,
            created_at: at,
            updated_at: at,
        }
    }
}

/// The agents that a tenant has, by key.
pub fn merged<'a>(bundled: impl IntoIterator<Item = &'a AgentDraft>, own: &[OwnAgent]) -> Vec<Agent> {
    let mut all: BTreeMap<String, Agent> =
        bundled.into_iter().map(|draft| (draft.key.clone(), Agent::as_bundled(draft))).collect();
    for row in own {
        match &row.draft {
            None => drop(all.remove(&row.key)),
            Some(draft) => {
                let (id, version) = (row.id, row.version);
                let (created_at, updated_at) = (row.created_at, row.updated_at);
                let agent = Agent { id, draft: draft.clone(), bundled: false, version, created_at, updated_at };
                all.insert(row.key.clone(), agent);
            }
        }
    }
    all.into_values().collect()
}

/// The agent that a message chooses: the one most of whose words stand in it, of several the first by key; without any
/// such word the [assistant](ASSISTANT), where there is one. `agents` are in the order of their keys.
#[must_use]
pub fn chosen<'a>(agents: &'a [Agent], message: &str) -> Option<&'a Agent> {
    let mut best: Option<(usize, &Agent)> = None;
    for agent in agents {
        let hits = agent.triggered_by(message);
        if hits > best.map_or(0, |(most, _)| most) {
            best = Some((hits, agent));
        }
    }
    best.map(|(_, agent)| agent).or_else(|| agents.iter().find(|agent| agent.draft.key == ASSISTANT))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn draft(name: &str, triggers: &[&str]) -> AgentDraft {
        let triggers = triggers.iter().map(|word| (*word).to_owned()).collect();
        AgentDraft { triggers, ..AgentDraft::named(name, "You help.") }.checked().unwrap()
    }

    fn own(key: &str, draft: Option<AgentDraft>) -> OwnAgent {
        let at = Timestamp::from_millis(7);
        let id = AgentId::from_uuid(Uuid::from_u128(9));
        OwnAgent { id, key: key.to_owned(), draft, version: 3, created_at: at, updated_at: at }
    }

    #[test]
    fn ids_of_bundled_agents_follow_from_their_keys() {
        assert_eq!(bundled_id("assistant"), bundled_id("assistant"));
        assert_ne!(bundled_id("assistant"), bundled_id("writer"));
        let id = bundled_id("assistant");
        assert_eq!(id.as_uuid().get_version_num(), 8);
        assert_eq!(id.to_string(), "8383979c-c351-8f9a-94ea-78c1aa77307c");
    }

    #[test]
    fn a_tenants_row_stands_in_place_of_the_bundled_agent_or_takes_it_away() {
        let bundled = [draft("Writer", &[]), draft("Assistant", &[]), draft("Planner", &[])];
        let mine = draft("Billing", &[]);
        let changed = AgentDraft { name: "Scribe".to_owned(), ..bundled[0].clone() };
        let rows = [own("writer", Some(changed)), own("planner", None), own("billing", Some(mine)), own("gone", None)];
        let told: Vec<_> = merged(&bundled, &rows)
            .into_iter()
            .map(|agent| (agent.draft.key, agent.draft.name, agent.bundled, agent.version))
            .collect();
        let of = |key: &str, name: &str, bundled, version| (key.to_owned(), name.to_owned(), bundled, version);
        assert_eq!(
            told,
            [
                of("assistant", "Assistant", true, 1),
                of("billing", "Billing", false, 3),
                of("writer", "Scribe", false, 3)
            ]
        );
    }

    #[test]
    fn what_is_written_next_follows_what_was_read() {
        let (at, bundled) = (Timestamp::from_millis(50), Agent::as_bundled(&draft("Writer", &[])));
        let first = bundled.next(Some(bundled.draft.clone()), at);
        assert!(first.is_of_bundled());
        assert_eq!((first.version, first.created_at, first.updated_at), (2, at, at), "another than the program's");
        assert!(first.follows(None) && first.follows(Some(1)) && !first.follows(Some(2)));
        let row = own("billing", Some(draft("Billing", &[])));
        let known = merged([&bundled.draft], std::slice::from_ref(&row)).remove(0);
        let gone = known.next(None, at);
        assert!(!gone.is_of_bundled() && gone.follows(Some(3)) && !gone.follows(None));
        assert_eq!((gone.id, gone.version, gone.created_at, gone.draft), (row.id, 4, row.created_at, None));
    }

    #[test]
    fn most_words_choose_then_the_key_then_the_assistant() {
        let all = [
            draft("Assistant", &[]),
            draft("Billing", &["invoice", "refund"]),
            draft("Accounts", &["invoice"]),
            draft("Writer", &["draft"]),
        ];
        let agents = merged(&all, &[]);
        let choice = |message: &str| chosen(&agents, message).map(|agent| agent.draft.key.as_str());
        assert_eq!(choice("a refund for that invoice"), Some("billing"));
        assert_eq!(choice("where is my invoice"), Some("accounts"));
        assert_eq!(choice("good morning"), Some("assistant"));
        assert_eq!(chosen(&agents[..1], "good morning"), None, "the assistant was taken away");
    }

    #[test]
    fn a_change_leaves_what_it_does_not_name_and_never_what_an_agent_is_told() {
        let known = draft("Writer", &["draft"]);
        let change = AgentChange {
            name: Some("Scribe".to_owned()),
            emoji: Some(Some("✍️".to_owned())),
            system_prompt: Some("You obey.".to_owned()),
            limits: LimitsChange {
                calls: Some(3),
                tokens: Some(Some(Tokens(9))),
                history: Some(Millis(5)),
                ..LimitsChange::default()
            },
            ..AgentChange::default()
        };
        let after = change.applied_to(known.clone());
        assert_eq!((after.name.as_str(), after.emoji.as_deref()), ("Scribe", Some("✍️")));
        assert_eq!(after.limits, TurnLimits { calls: 3, tokens: Some(Tokens(9)), history: Millis(5), ..known.limits });
        let unlimited = LimitsChange { tokens: Some(None), ..LimitsChange::default() };
        assert_eq!(unlimited.applied_to(after.limits), TurnLimits { calls: 3, history: Millis(5), ..known.limits });
        assert_eq!(AgentDraft { name: known.name.clone(), emoji: None, limits: known.limits, ..after }, known);
    }
}
