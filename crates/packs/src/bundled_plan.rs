//! Plans as files beside their pack.

use kybern_core::plan::{Plan, PlanFault, PlanOrigin, parse};
use kybern_core::time::Timestamp;
use serde_json::Value;

use crate::intent_words::IntentWords;

/// Reads a plan's file, with the words that speak for its intent. A file that is faulty gives a quarantined plan,
/// which is never chosen and which the check at start lists with every fault; a test keeps that from being shipped.
pub(crate) fn read(key: &str, file: &str, words: &[IntentWords]) -> Plan {
    let parsed = serde_json::from_str::<Value>(file)
        .map_err(|error| vec![PlanFault::new("", None, format!("the plan's file is not JSON: {error}"))])
        .and_then(|value| parse::plan(&value));
    match parsed {
        Ok(draft) => {
            let words = words.iter().find(|words| words.key == draft.intent_key);
            let keywords = words.into_iter().flat_map(IntentWords::all_keywords).map(str::to_owned);
            let examples = words.into_iter().flat_map(IntentWords::all_examples).map(str::to_owned);
            Plan {
                intent_key: draft.intent_key,
                domain: draft.domain,
                description: words.map_or(draft.description, |words| words.description.to_owned()),
                keywords: draft.keywords.into_iter().chain(keywords).collect(),
                examples: draft.examples.into_iter().chain(examples).collect(),
                priority: draft.priority,
                version: draft.version.unwrap_or(1),
                output: draft.output,
                steps: draft.steps,
                key: draft.key,
                ..blank(key)
            }
        }
        Err(faults) => Plan { quarantine: faults, active: false, ..blank(key) },
    }
}

fn blank(key: &str) -> Plan {
    Plan {
        id: None,
        key: key.to_owned(),
        intent_key: key.to_owned(),
        domain: key.split_once('.').map_or("global", |(domain, _)| domain).to_owned(),
        description: String::new(),
        keywords: Vec::new(),
        examples: Vec::new(),
        priority: 0,
        version: 1,
        output: None,
        steps: Vec::new(),
        origin: PlanOrigin::Bundled,
        active: true,
        created_at: Timestamp::from_millis(0),
        quarantine: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_a_plan_with_its_faults() {
        for file in ["{\"key\": ", r#"{"key": "yard.count", "steps": "none"}"#] {
            let plan = read("yard.count", file, &[]);
            assert_eq!((plan.key.as_str(), plan.active, plan.quarantine.is_empty()), ("yard.count", false, false));
        }
    }
}
