//! Everything that the packs register fits together.

use kybern_core::pack::{Pack, PackRegistry};
use kybern_core::plan::StepKind;
use kybern_core::record::Record;
use serde_json::Value;

use crate::assistant::AssistantPack;
use crate::fleet::FleetPack;
use crate::freight::FreightPack;
use crate::global::GlobalPack;
use crate::helpdesk::HelpdeskPack;
use crate::insurance::InsurancePack;
use crate::network::NetworkPack;

/// All packs, in the order in which a program registers them.
pub(crate) fn registry() -> PackRegistry {
    let mut registry = PackRegistry::default();
    let packs: [&dyn Pack; 7] =
        [&AssistantPack, &NetworkPack, &InsurancePack, &FleetPack, &FreightPack, &HelpdeskPack, &GlobalPack];
    for pack in packs {
        pack.register(&mut registry).unwrap();
    }
    registry
}

/// Fails when a record's props do not fit its kind.
pub(crate) fn check_record(record: &Record) {
    let registry = registry();
    let kind = registry.kinds().find(|kind| kind.key == record.kind).unwrap();
    let validator = jsonschema::validator_for(&kind.schema).unwrap();
    let props = Value::Object(record.props.clone());
    let faults: Vec<String> = validator.iter_errors(&props).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{} {}: {faults:?}", record.kind, record.key);
}

/// Tools that the engine brings and the plans of packs call. The check at start knows their arguments too, and a test of
/// the program says that no bundled plan is in quarantine.
const ENGINES_OWN: &[&str] = &["core.wait"];

#[test]
fn every_plan_is_sound_and_calls_tools_that_exist() {
    let registry = registry();
    for plan in registry.plans() {
        assert!(plan.quarantine.is_empty() && plan.active, "{}: {:?}", plan.key, plan.quarantine);
        assert!(!plan.steps.is_empty(), "{} would complete by doing nothing", plan.key);
        for step in &plan.steps {
            let StepKind::Tool { tool, args } = &step.kind else { panic!("{} {}", plan.key, step.id) };
            if ENGINES_OWN.contains(&tool.as_str()) {
                continue;
            }
            let Some(tool) = registry.registered_tool(tool) else {
                panic!("{} {}: there is no tool {tool:?}", plan.key, step.id)
            };
            let known = tool.spec().input_schema["properties"].as_object().unwrap();
            assert!(args.keys().all(|name| known.contains_key(name)), "{} {}: {args:?}", plan.key, step.id);
            for required in tool.spec().input_schema["required"].as_array().into_iter().flatten() {
                assert!(args.contains_key(required.as_str().unwrap()), "{} {}: {required}", plan.key, step.id);
            }
        }
    }
}

#[test]
fn every_intent_of_the_taxonomy_has_a_plan() {
    let registry = registry();
    for intent in [
        "insurance.loss_run_request",
        "insurance.loss_run_reply",
        "insurance.new_lead",
        "insurance.service_request",
        "fleet.new_driver",
        "fleet.vehicle_registration",
        "fleet.compliance_update",
        "freight.new_load",
        "freight.pod_received",
        "freight.rate_confirmation",
        "helpdesk.incident",
        "helpdesk.question",
        "helpdesk.access_request",
        "general_instruction",
    ] {
        assert_eq!(registry.plans().filter(|plan| plan.intent_key == intent).count(), 1, "{intent}");
    }
}

#[test]
fn every_schema_is_closed_and_compiles() {
    let registry = registry();
    for tool in registry.registered_tools() {
        let spec = tool.spec();
        jsonschema::validator_for(&spec.input_schema).unwrap();
        assert_eq!(spec.input_schema["additionalProperties"], false, "{}", spec.key);
        assert!(!spec.description.is_empty(), "{}", spec.key);
        assert!(!spec.untrusted_output || !spec.trusted_output, "{}", spec.key);
    }
    for kind in registry.kinds() {
        jsonschema::validator_for(&kind.schema).unwrap();
        assert_eq!(kind.schema["additionalProperties"], false, "{}", kind.key);
    }
}

#[test]
fn the_names_of_the_specification_find_their_tools() {
    let registry = registry();
    for (name, key) in [
        ("normalize_email_input", "normalize_email_input"),
        ("core.normalize_webhook", "normalize_webhook_input"),
        ("core.extract_documents", "extract_documents"),
        ("resolve_entity", "network.resolve_entity"),
        ("resolve_insurer", "network.resolve_insurer"),
        ("core.notify_agent", "notify_agent"),
    ] {
        assert_eq!(registry.registered_tool(name).unwrap().spec().key, key);
    }
}
