//! ToolService: exists → schema → permission → risk and taint → rate → cost → confirmation → reservation → attempt →
//! result limits and label → settlement → audit.
//!
//! [`ToolService::prepare`] does what can be judged at once: existence, schema, permission, risk, the price and the
//! rates that hold. Where arguments come from is the executor's to know, and so is asking a person
//! (`steps/confirm.rs`). `budget::admit` takes the places and reserves the money just before the attempt, because
//! nothing is held while a person thinks. What the call cost is settled when it has ended.

use std::sync::Arc;

use kybern_core::error::ErrorCode;
use kybern_core::job::NewJob;
use kybern_core::money::Usage;
use kybern_core::pack::PackRegistry;
use kybern_core::policy::place::host_of;
use kybern_core::policy::{CallFacts, ToolPolicy};
use kybern_core::ports::ToolContext;
use kybern_core::task::limits;
use kybern_core::time::Millis;
use kybern_core::tool::{ToolFailure, ToolOutcome, ToolReach, ToolSpec};
use serde_json::{Map, Value};

use super::catalogue::{CallableTool, ToolSnapshot};
use super::grant::Grant;
use super::prepared::{Asks, PreparedCall};
use super::record::DeclaredKinds;
use super::refusal::Refusal;
use crate::beside::polled_beside_the_runtime;
use crate::size;

/// The one door.
pub struct ToolService {
    kinds: DeclaredKinds,
}

impl ToolService {
    /// A door for calls whose records are of these kinds.
    #[must_use]
    pub fn new(registry: &PackRegistry) -> Self {
        Self { kinds: DeclaredKinds::of(registry) }
    }

    /// Checks a call: exists, schema, permission, and what follows from its risk, its rates and its price.
    ///
    /// # Errors
    /// Why it may not be made.
    pub fn prepare(
        &self,
        tools: &ToolSnapshot,
        name: &str,
        args: Map<String, Value>,
        grant: &Grant,
    ) -> Result<PreparedCall, Refusal> {
        let definition = tools.find(name).ok_or_else(|| Refusal::Unknown(name.to_owned()))?;
        let (spec, tool) = (definition.spec(), definition.tool());
        let as_value = Value::Object(args);
        let faults = definition.schema_faults(&as_value);
        if !faults.is_empty() {
            return Err(Refusal::Arguments(faults));
        }
        let Value::Object(args) = as_value else { return Err(Refusal::Arguments(Vec::new())) };
        let faults = tool.faults(&args);
        if !faults.is_empty() {
            return Err(Refusal::Arguments(faults));
        }
        if !grant.may(spec.right) {
            return Err(Refusal::Permission { tool: spec.key.clone(), right: spec.right });
        }
        let setting = grant.setting(&spec.key);
        if setting.is_some_and(|setting| !setting.enabled) {
            return Err(Refusal::Disabled(spec.key.clone()));
        }
        let own = tool.reach_of(&args);
        let said = setting.and_then(|setting| setting.risk).map(|risk| risk.max(definition.least_risk()));
        let reach = ToolReach { risk: said.unwrap_or(own.risk), ..own };
        let policy = grant.policy();
        let mut hosts = None;
        if let Some(policy) = &policy {
            policy.permits(&facts(spec, reach, &args))?;
            hosts = policy.allowed_hosts.as_deref().map(Arc::from);
        }
        let by_hand = grant.stands_for_user();
        let asks = match (&policy, setting) {
            (_, Some(setting)) if setting.four_eyes => Some(Asks::FourEyes),
            (_, Some(setting)) if setting.confirm => Some(Asks::Setting),
            (Some(policy), _) if by_hand && policy.asks(reach.risk) => Some(Asks::Risk),
            (Some(_) | None, Some(_) | None) => None,
        };
        let limits = setting.and_then(|setting| setting.limits).unwrap_or(spec.rate);
        let rates = limits.rules(|| grant.counted_as(), &spec.key).chain(grant.overall()).collect();
        let price = setting.and_then(|setting| setting.price.clone()).or_else(|| spec.price.clone());
        let effect = tool.effect_of(&args);
        Ok(PreparedCall { definition: Arc::clone(definition), args, effect, reach, asks, price, rates, hosts })
    }

    /// Whether any call of a tool may be made under that grant: a model is not told of one that may not.
    #[must_use]
    pub fn is_open(definition: &CallableTool, grant: &Grant) -> bool {
        let (spec, reach) = (definition.spec(), definition.tool().least_reach());
        let permits = |policy: &ToolPolicy| policy.permits(&facts(spec, reach, &Map::new())).is_ok();
        grant.may(spec.right)
            && grant.setting(&spec.key).is_none_or(|setting| setting.enabled)
            && grant.policy().is_none_or(|policy| permits(&policy))
    }

    /// Makes the call, at most `timeout` long, and checks the result: its limits, and that each record fits its kind.
    ///
    /// # Errors
    /// The tool's own failure; `TIMEOUT` when the time is up, of which nobody knows whether the effect happened.
    ///
    /// # Cancel safety
    /// Dropping the future is the same as a crash during the call.
    pub async fn call(
        &self,
        prepared: &PreparedCall,
        context: &ToolContext,
        timeout: Millis,
    ) -> Result<ToolOutcome, ToolFailure> {
        let call = prepared.definition.tool().call(context, prepared.args.clone());
        // What reads a task's message and documents computes over what strangers wrote, and may for a while.
        let needs = &prepared.spec().needs;
        let outcome = if needs.task || needs.documents {
            tokio::time::timeout(timeout.as_duration(), polled_beside_the_runtime(call)).await
        } else {
            tokio::time::timeout(timeout.as_duration(), call).await
        };
        let outcome = match outcome {
            Ok(outcome) => outcome?,
            Err(_elapsed) => {
                let message = format!("{} took longer than {timeout}", prepared.spec().key);
                return Err(ToolFailure::transient(message).code(ErrorCode::Timeout).unknown());
            }
        };
        let outcome = limited(outcome)?;
        match outcome.records.iter().find_map(|change| self.kinds.refusal(&change.put)) {
            None => Ok(outcome),
            Some(problem) => Err(unkept(problem, ErrorCode::Validation, outcome.usage)),
        }
    }
}

/// The failure of a call whose result cannot be kept.
fn unkept(problem: String, code: ErrorCode, usage: Usage) -> ToolFailure {
    ToolFailure::permanent(problem).code(code).lost().used(usage)
}

/// A call as policies see it.
fn facts<'a>(spec: &'a ToolSpec, reach: ToolReach, args: &'a Map<String, Value>) -> CallFacts<'a> {
    let texts = |names: &'a [String]| names.iter().filter_map(|name| args.get(name)).flat_map(texts_in);
    let receivers = |names: &'a [String]| {
        let named = names.iter().filter_map(|name| args.get(name));
        named.filter(|value| !value.is_object()).flat_map(texts_in)
    };
    CallFacts {
        tool: &spec.key,
        level: reach.level,
        category: reach.category,
        paths: texts(&spec.paths).collect(),
        // What names no host at all is not a host that could be allowed. An object names a secret, and goes nowhere.
        hosts: receivers(&spec.destinations).map(|text| host_of(text).unwrap_or_else(|| text.to_owned())).collect(),
    }
}

/// The texts of an argument: itself, or each of a list's.
fn texts_in(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts_in).collect(),
        Value::Object(members) => members.values().flat_map(texts_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Refuses a result that is too large, or nested too deep, to keep. The effect of the call has happened; saying so is
/// honest, keeping half of the result would not be.
pub(crate) fn limited(outcome: ToolOutcome) -> Result<ToolOutcome, ToolFailure> {
    if let Err((what, deep)) = outcome.check_value() {
        let message = format!("{what} cannot be kept: {deep}");
        return Err(unkept(message, ErrorCode::Unprocessable, outcome.usage));
    }
    let size = size::of_members(&outcome.data);
    if size > limits::MAX_STEP_DATA {
        let message = format!("the result is {size} bytes, over the limit of {}", limits::MAX_STEP_DATA);
        return Err(unkept(message, ErrorCode::PayloadTooLarge, outcome.usage));
    }
    let mut records = outcome.records.iter().map(|change| change.put.check());
    let mut jobs = outcome.jobs.iter().map(NewJob::check);
    if let Some(problem) = records.find_map(Result::err).or_else(|| jobs.find_map(Result::err)) {
        return Err(unkept(problem, ErrorCode::Validation, outcome.usage));
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use kybern_core::actor::Role;
    use kybern_core::policy::{PermissionLevel, Preset, ToolPolicy};
    use kybern_core::ports::UserRules;
    use kybern_core::task::EffectClass;
    use kybern_core::time::Timestamp;
    use kybern_core::tool::{Risk, ToolRateLimits, ToolSetting};
    use serde_json::json;

    use super::*;
    use crate::tools::CallOrigin;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    /// The door, and what goes through it.
    struct Door(ToolService, ToolSnapshot);

    impl Door {
        fn prepare(&self, name: &str, args: Map<String, Value>, grant: &Grant) -> Result<PreparedCall, Refusal> {
            self.0.prepare(&self.1, name, args, grant)
        }
    }

    fn door() -> Door {
        let mut registry = PackRegistry::default();
        crate::tools::builtin::register(&mut registry).unwrap();
        Door(ToolService::new(&registry), ToolSnapshot::of_bundled(registry.into()))
    }

    fn by_hand(policy: Option<ToolPolicy>, settings: Vec<ToolSetting>) -> Grant {
        let user = Some(kybern_core::id::UserId::from_uuid(uuid::Uuid::nil()));
        let rules = Some(Arc::new(UserRules { roles: vec![Role::Operator], policy }));
        let rights = kybern_core::actor::Rights::OPERATOR;
        Grant { origin: CallOrigin::Direct, user, rules, rights, settings: Arc::new(settings) }
    }

    fn get() -> Map<String, Value> {
        object(json!({"method": "GET", "url": "https://api.example.com/x"}))
    }

    fn post() -> Map<String, Value> {
        object(json!({"method": "POST", "url": "https://api.example.com/x"}))
    }

    #[test]
    fn a_call_is_refused_by_existence_then_arguments_then_permission() {
        let (door, grant) = (door(), by_hand(None, Vec::new()));
        let refused = |name: &str, args: Value| door.prepare(name, object(args), &grant).err().unwrap();
        assert_eq!(refused("ghost", json!({})).code(), ErrorCode::NotFound);
        assert_eq!(refused("core.put_record", json!({"kind": 5})).code(), ErrorCode::Validation);
        let write = json!({"kind": "note", "key": "n", "props": {}});
        assert_eq!(refused("core.put_record", write.clone()).code(), ErrorCode::PermissionDenied);
        assert!(door.prepare("core.put_record", object(write), &Grant::plan()).is_ok(), "its plan stands for it");
        assert!(door.prepare("core.wait", object(json!({"ms": 1})), &grant).is_ok());
    }

    #[test]
    fn the_real_tool_is_judged_whatever_name_was_used_and_by_its_arguments() {
        let (door, grant) = (door(), by_hand(None, Vec::new()));
        assert_eq!(door.prepare("http_request", get(), &grant).unwrap().effect, EffectClass::Read);
        let refused = door.prepare("http_request", post(), &grant).err().unwrap();
        assert!(matches!(refused, Refusal::Policy(kybern_core::policy::PolicyDenial::Level { .. })), "{refused:?}");
        let mut policy = ToolPolicy::preset(Preset::Permissive);
        policy.denied_tools.insert("core.http_request".to_owned());
        let refused = door.prepare("http_request", get(), &by_hand(Some(policy), Vec::new())).err().unwrap();
        assert_eq!(refused.code(), ErrorCode::PermissionDenied);
    }

    #[test]
    fn hosts_of_destinations_are_held_against_the_list() {
        let mut policy = ToolPolicy::preset(Preset::Permissive);
        policy.allowed_hosts = Some(vec!["*.example.com".to_owned()]);
        let (door, grant) = (door(), by_hand(Some(policy), Vec::new()));
        let prepared = door.prepare("core.http_request", post(), &grant).unwrap();
        assert_eq!(prepared.hosts.as_deref(), Some(["*.example.com".to_owned()].as_slice()));
        for url in ["https://evil.test/?a=api.example.com", "https://api.example.com@evil.test/", "nonsense"] {
            let args = object(json!({"method": "GET", "url": url}));
            assert!(door.prepare("core.http_request", args, &grant).is_err(), "{url}");
        }
    }

    #[test]
    fn autonomy_asks_for_calls_by_hand_and_a_setting_for_every_call() {
        let door = door();
        let writer = ToolPolicy {
            level: PermissionLevel::Execute,
            categories: kybern_core::policy::ToolCategory::ALL.into(),
            ..ToolPolicy::preset(Preset::ReadOnly)
        };
        let asks = |grant: &Grant, args| door.prepare("core.http_request", args, grant).unwrap().asks;
        let hand = by_hand(Some(writer.clone()), Vec::new());
        assert_eq!((asks(&hand, get()), asks(&hand, post())), (None, Some(Asks::Risk)));
        let plan = Grant { origin: CallOrigin::Plan, ..hand.clone() };
        assert_eq!(asks(&plan, post()), None, "a stored plan is trusted");
        let at = Timestamp::default();
        let always = ToolSetting { confirm: true, ..ToolSetting::of("core.http_request", at) };
        assert_eq!(asks(&Grant { settings: Arc::new(vec![always]), ..plan }, get()), Some(Asks::Setting));
        let harmless = ToolSetting { risk: Some(Risk::R0), ..ToolSetting::of("core.http_request", at) };
        assert_eq!(asks(&by_hand(Some(writer), vec![harmless]), post()), None);
    }

    #[test]
    fn a_tenant_turns_tools_off_and_limits_them() {
        let door = door();
        let at = Timestamp::default();
        let off = ToolSetting { enabled: false, ..ToolSetting::of("core.noop", at) };
        let refused = door.prepare("core.noop", Map::new(), &by_hand(None, vec![off.clone()])).err().unwrap();
        assert!(matches!(refused, Refusal::Disabled(_)) && refused.is_denial());
        let limits = Some(ToolRateLimits::per_minute(3));
        let few = ToolSetting { limits, ..ToolSetting::of("core.noop", at) };
        let keys = |grant: &Grant| -> Vec<(String, u32)> {
            let rates = door.prepare("core.noop", Map::new(), grant).unwrap().rates;
            rates.into_iter().map(|rule| (rule.key, rule.most)).collect()
        };
        let own = by_hand(None, vec![few]);
        let user = own.counted_as();
        let expected = [(format!("{user}/tool:core.noop/minute"), 3), (format!("{user}/tools/minute"), 60)];
        assert_eq!(keys(&own), expected);
        assert_eq!(keys(&Grant { origin: CallOrigin::Plan, ..own }), expected[..1]);
    }
}
