//! What requests say of agents.

use kybern_core::agent::{
    AgentChange, AgentDraft, LimitsChange, MAX_DESCRIPTION, MAX_KEY, MAX_LABEL, MAX_NAME, MAX_NAMED, TurnLimits,
};
use kybern_core::error::{Detail, Error};
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::prompt::MAX_PROMPT;
use kybern_core::time::Millis;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::{ApiResult, Problem};
use crate::extract::{check_text, said};
use crate::schema::texts::AgentNameSchema;

/// A new agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewAgent, example = json!({"name": "Billing", "systemPrompt": "You answer questions about invoices.",
    "tools": ["core.get_record"], "triggers": ["invoice"]}))]
pub(crate) struct NewAgentBody {
    /// How plans and models name it: `[a-z][a-z0-9_]*`. Made of the name when left out.
    #[schema(max_length = 64, pattern = "^([a-z][a-z0-9_]*)?$")]
    key: Option<String>,
    /// What people call it.
    #[schema(max_length = 80, pattern = "\\S")]
    name: String,
    /// What it is for.
    #[schema(max_length = 2_000)]
    description: Option<String>,
    /// A sign for it.
    #[schema(max_length = 40)]
    emoji: Option<String>,
    /// Where it is listed.
    #[schema(max_length = 40)]
    category: Option<String>,
    /// What it is told.
    #[serde(alias = "system_prompt")]
    #[schema(max_length = 16_000, pattern = "\\S")]
    system_prompt: String,
    /// The provider, or `default`.
    #[schema(max_length = 200, pattern = "\\S")]
    provider: Option<String>,
    /// The model, a routing strategy, or `default`.
    #[schema(max_length = 200, pattern = "\\S")]
    model: Option<String>,
    /// The most tokens of one reply; 4,000 when left out.
    #[serde(alias = "max_tokens")]
    #[schema(minimum = 1, maximum = 200_000)]
    max_tokens: Option<u32>,
    /// From 0 to 2; 0.7 when left out.
    #[schema(minimum = 0, maximum = 2)]
    temperature: Option<f64>,
    /// How often the model is asked in a turn at most; 10 when left out.
    #[serde(alias = "max_turns", alias = "maxIterations", alias = "max_iterations")]
    #[schema(minimum = 1, maximum = 50)]
    max_turns: Option<u32>,
    /// How many calls a turn makes at most; 25 when left out.
    #[serde(alias = "max_tool_calls")]
    #[schema(maximum = 200)]
    max_tool_calls: Option<u32>,
    /// The model is asked no more once a turn has read and written so many tokens, so the last question may go
    /// beyond; no limit of its own when left out.
    #[serde(alias = "max_turn_tokens")]
    #[schema(maximum = 9_223_372_036_854_775_807_u64)]
    max_turn_tokens: Option<u64>,
    /// The model is asked no more once a turn has cost so much, so the last question may go beyond; no limit of its
    /// own when left out.
    #[serde(alias = "max_cost_nanos")]
    #[schema(maximum = 9_223_372_036_854_775_807_u64)]
    max_cost_nanos: Option<u64>,
    /// How long a turn may take while nobody is waited for; 120,000 when left out.
    #[serde(alias = "timeout_ms")]
    #[schema(minimum = 1, maximum = 9_223_372_036_854_775_807_u64)]
    timeout_ms: Option<u64>,
    /// How far back in its conversation the model may see; 2,592,000,000, which is 30 days, when left out.
    #[serde(alias = "history_ms")]
    #[schema(minimum = 1, maximum = 9_223_372_036_854_775_807_u64)]
    history_ms: Option<u64>,
    /// The tools it has, by key. Those that this server does not have are left out when it is asked.
    #[serde(default)]
    #[schema(value_type = Vec<AgentNameSchema>, max_items = 200)]
    tools: Vec<String>,
    /// The groups of tools it has.
    #[serde(default, alias = "tool_groups")]
    #[schema(value_type = Vec<AgentNameSchema>, max_items = 200)]
    tool_groups: Vec<String>,
    /// Words in a message by which it is chosen when nobody names an agent.
    #[serde(default)]
    #[schema(value_type = Vec<AgentNameSchema>, max_items = 200)]
    triggers: Vec<String>,
}

/// What changes in an agent. What is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = ChangeAgent, example = json!({"temperature": 0.2, "triggers": ["invoice", "refund"]}))]
pub(crate) struct ChangeAgentBody {
    /// What people call it.
    #[schema(max_length = 80, pattern = "\\S")]
    name: Option<String>,
    /// What it is for.
    #[schema(max_length = 2_000)]
    description: Option<String>,
    /// A sign for it; null takes it away.
    #[serde(default, deserialize_with = "said")]
    #[schema(value_type = Option<String>, max_length = 40)]
    emoji: Option<Option<String>>,
    /// Where it is listed; null takes it away.
    #[serde(default, deserialize_with = "said")]
    #[schema(value_type = Option<String>, max_length = 40)]
    category: Option<Option<String>>,
    /// What it shall be told. It becomes a draft prompt.
    #[serde(alias = "system_prompt")]
    #[schema(max_length = 16_000, pattern = "\\S")]
    system_prompt: Option<String>,
    /// The provider, or `default`.
    #[schema(max_length = 200, pattern = "\\S")]
    provider: Option<String>,
    /// The model, a routing strategy, or `default`.
    #[schema(max_length = 200, pattern = "\\S")]
    model: Option<String>,
    /// The most tokens of one reply.
    #[serde(alias = "max_tokens")]
    #[schema(minimum = 1, maximum = 200_000)]
    max_tokens: Option<u32>,
    /// From 0 to 2.
    #[schema(minimum = 0, maximum = 2)]
    temperature: Option<f64>,
    /// How often the model is asked in a turn at most.
    #[serde(alias = "max_turns", alias = "maxIterations", alias = "max_iterations")]
    #[schema(minimum = 1, maximum = 50)]
    max_turns: Option<u32>,
    /// How many calls a turn makes at most.
    #[serde(alias = "max_tool_calls")]
    #[schema(maximum = 200)]
    max_tool_calls: Option<u32>,
    /// The model is asked no more once a turn has read and written so many tokens, so the last question may go
    /// beyond; null takes the limit away.
    #[serde(default, alias = "max_turn_tokens", deserialize_with = "said")]
    #[schema(value_type = Option<u64>, maximum = 9_223_372_036_854_775_807_u64)]
    max_turn_tokens: Option<Option<u64>>,
    /// The model is asked no more once a turn has cost so much, so the last question may go beyond; null takes the
    /// limit away.
    #[serde(default, alias = "max_cost_nanos", deserialize_with = "said")]
    #[schema(value_type = Option<u64>, maximum = 9_223_372_036_854_775_807_u64)]
    max_cost_nanos: Option<Option<u64>>,
    /// How long a turn may take while nobody is waited for.
    #[serde(alias = "timeout_ms")]
    #[schema(minimum = 1, maximum = 9_223_372_036_854_775_807_u64)]
    timeout_ms: Option<u64>,
    /// How far back in its conversation the model may see.
    #[serde(alias = "history_ms")]
    #[schema(minimum = 1, maximum = 9_223_372_036_854_775_807_u64)]
    history_ms: Option<u64>,
    /// The tools it has, by key.
    #[schema(value_type = Option<Vec<AgentNameSchema>>, max_items = 200)]
    tools: Option<Vec<String>>,
    /// The groups of tools it has.
    #[serde(alias = "tool_groups")]
    #[schema(value_type = Option<Vec<AgentNameSchema>>, max_items = 200)]
    tool_groups: Option<Vec<String>>,
    /// Words by which it is chosen.
    #[schema(value_type = Option<Vec<AgentNameSchema>>, max_items = 200)]
    triggers: Option<Vec<String>>,
}

/// Collects what is wrong with texts.
struct Texts(Vec<Detail>);

impl Texts {
    fn one(&mut self, path: &str, text: Option<&String>, most: usize) {
        self.0.extend(text.and_then(|text| check_text(path, text, most)));
    }

    fn list(&mut self, path: &str, list: Option<&Vec<String>>) {
        for (n, text) in list.into_iter().flatten().enumerate() {
            self.one(&format!("{path}/{n}"), Some(text), MAX_NAMED);
        }
    }

    fn end(self) -> ApiResult<()> {
        Problem::refuse(self.0)
    }
}

fn cost(nanos: u64) -> ApiResult<NanoUsd> {
    let too_much = |_| Problem::invalid("/maxCostNanos", "that is more than all money");
    i64::try_from(nanos).map(NanoUsd).map_err(too_much)
}

/// More than this is not counted anywhere.
fn tokens(tokens: u64) -> ApiResult<Tokens> {
    let counted = i64::try_from(tokens).is_ok();
    counted
        .then_some(Tokens(tokens))
        .ok_or_else(|| Problem::invalid("/maxTurnTokens", "that is more than can be counted"))
}

fn time(path: &str, ms: u64) -> ApiResult<Millis> {
    let counted = i64::try_from(ms).is_ok();
    counted.then_some(Millis(ms)).ok_or_else(|| Problem::invalid(path, "that is longer than can be counted"))
}

impl NewAgentBody {
    /// The agent that it asks for. The core checks what it means.
    pub(super) fn draft(self) -> ApiResult<AgentDraft> {
        let mut texts = Texts(Vec::new());
        texts.one("/key", self.key.as_ref(), MAX_KEY);
        texts.one("/name", Some(&self.name), MAX_NAME);
        texts.one("/description", self.description.as_ref(), MAX_DESCRIPTION);
        texts.one("/emoji", self.emoji.as_ref(), MAX_LABEL);
        texts.one("/category", self.category.as_ref(), MAX_LABEL);
        texts.one("/systemPrompt", Some(&self.system_prompt), MAX_PROMPT);
        texts.one("/provider", self.provider.as_ref(), MAX_NAMED);
        texts.one("/model", self.model.as_ref(), MAX_NAMED);
        texts.list("/tools", Some(&self.tools));
        texts.list("/toolGroups", Some(&self.tool_groups));
        texts.list("/triggers", Some(&self.triggers));
        texts.end()?;
        let plain = AgentDraft::named(&self.name, &self.system_prompt);
        let span = |path, ms: Option<u64>| ms.map(|ms| time(path, ms)).transpose();
        let limits = TurnLimits {
            iterations: self.max_turns.unwrap_or(plain.limits.iterations),
            calls: self.max_tool_calls.unwrap_or(plain.limits.calls),
            tokens: self.max_turn_tokens.map(tokens).transpose()?,
            cost: self.max_cost_nanos.map(cost).transpose()?,
            time: span("/timeoutMs", self.timeout_ms)?.unwrap_or(plain.limits.time),
            history: span("/historyMs", self.history_ms)?.unwrap_or(plain.limits.history),
        };
        Ok(AgentDraft {
            key: self.key.unwrap_or_default(),
            description: self.description.unwrap_or_default(),
            emoji: self.emoji,
            category: self.category,
            provider: self.provider.unwrap_or(plain.provider),
            model: self.model.unwrap_or(plain.model),
            max_tokens: self.max_tokens.unwrap_or(plain.max_tokens),
            temperature: self.temperature.unwrap_or(plain.temperature),
            limits,
            tools: self.tools,
            tool_groups: self.tool_groups,
            triggers: self.triggers,
            name: plain.name,
            system_prompt: plain.system_prompt,
        })
    }
}

impl ChangeAgentBody {
    /// The change that it asks for.
    pub(super) fn change(self) -> ApiResult<AgentChange> {
        let mut texts = Texts(Vec::new());
        texts.one("/name", self.name.as_ref(), MAX_NAME);
        texts.one("/description", self.description.as_ref(), MAX_DESCRIPTION);
        texts.one("/emoji", self.emoji.as_ref().and_then(Option::as_ref), MAX_LABEL);
        texts.one("/category", self.category.as_ref().and_then(Option::as_ref), MAX_LABEL);
        texts.one("/systemPrompt", self.system_prompt.as_ref(), MAX_PROMPT);
        texts.one("/provider", self.provider.as_ref(), MAX_NAMED);
        texts.one("/model", self.model.as_ref(), MAX_NAMED);
        texts.list("/tools", self.tools.as_ref());
        texts.list("/toolGroups", self.tool_groups.as_ref());
        texts.list("/triggers", self.triggers.as_ref());
        texts.end()?;
        let span = |path, ms: Option<u64>| ms.map(|ms| time(path, ms)).transpose();
        let limits = LimitsChange {
            iterations: self.max_turns,
            calls: self.max_tool_calls,
            tokens: self.max_turn_tokens.map(|said| said.map(tokens).transpose()).transpose()?,
            cost: self.max_cost_nanos.map(|said| said.map(cost).transpose()).transpose()?,
            time: span("/timeoutMs", self.timeout_ms)?,
            history: span("/historyMs", self.history_ms)?,
        };
        Ok(AgentChange {
            name: self.name,
            description: self.description,
            emoji: self.emoji,
            category: self.category,
            system_prompt: self.system_prompt,
            provider: self.provider,
            model: self.model,
            max_tokens: self.max_tokens,
            temperature: self.temperature,
            limits,
            tools: self.tools,
            tool_groups: self.tool_groups,
            triggers: self.triggers,
        })
    }
}

/// The core's faults under the names of the API.
pub(super) fn with_names(error: Error) -> Problem {
    let names = [
        ("/iterations", "/maxTurns"),
        ("/calls", "/maxToolCalls"),
        ("/time", "/timeoutMs"),
        ("/history", "/historyMs"),
    ];
    names.into_iter().fold(error, |error, (from, to)| error.moved(from, to)).into()
}
