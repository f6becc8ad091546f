//! What an agent is told of its own tools: which it has, how they are found where they are many, whether it can set up
//! automation, and what it can do with them.
//!
//! All of it follows from the snapshot, which says what a tool is whatever the tool's server claims. It depends on
//! nothing but the tools, so it is written once for each set of them, and a model that has seen it before finds it at
//! the same place. An agent without tools is told nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use kybern_core::context::{Section, SectionKind};
use kybern_core::policy::ToolCategory;
use kybern_core::tool::{Risk, ToolSpec};

use super::functions::are_many;
use super::gather::section;
use crate::made::LastMade;
use crate::models::prompt::{AUTOMATION, TOOLS_MANY};
use crate::tools::ToolSnapshot;

/// Groups of tools that are named; the rest is counted.
const NAMED: usize = 24;

/// What an agent can do with tools of a risk, the least first.
const ABILITIES: [(Risk, &str); 4] = [
    (Risk::R0, "look up and work out, without changing anything"),
    (Risk::R1, "change what can be changed back"),
    (Risk::R2, "reach the outside, or do what cannot be undone"),
    (Risk::R3, "run code, move money or administer"),
];

/// What agents are told of their tools, by the hashes of the tools' definitions: two tenants may have different tools
/// with the same key.
#[derive(Default)]
pub(crate) struct ToolSections(LastMade<Vec<Arc<str>>, (), Arc<Vec<Section>>>);

impl ToolSections {
    /// What an agent with these tools is told of them.
    pub(super) fn of(&self, snapshot: &ToolSnapshot, tools: &[String]) -> Arc<Vec<Section>> {
        if tools.is_empty() {
            return Arc::default();
        }
        let definitions = tools.iter().filter_map(|key| snapshot.find(key));
        let hashes = definitions.map(|tool| Arc::clone(tool.hash())).collect();
        self.0.get_or_make(hashes, (), || Arc::new(written(snapshot, tools)))
    }
}

/// Whether one of these tools works on files.
pub(super) fn work_on_files(snapshot: &ToolSnapshot, tools: &[String]) -> bool {
    let on_files = |spec: &ToolSpec| match spec.category {
        ToolCategory::FileRead | ToolCategory::FileWrite | ToolCategory::FileDelete => true,
        ToolCategory::CodeExecute
        | ToolCategory::NetworkRead
        | ToolCategory::NetworkWrite
        | ToolCategory::System
        | ToolCategory::Memory
        | ToolCategory::Custom => false,
    };
    specs(snapshot, tools).any(on_files)
}

fn specs<'a>(snapshot: &'a ToolSnapshot, tools: &'a [String]) -> impl Iterator<Item = &'a ToolSpec> {
    tools.iter().filter_map(|key| snapshot.find(key)).map(|tool| tool.spec())
}

fn written(snapshot: &ToolSnapshot, tools: &[String]) -> Vec<Section> {
    let specs: Vec<(&ToolSpec, String)> = specs(snapshot, tools).map(|spec| (spec, group_of(snapshot, spec))).collect();
    if specs.is_empty() {
        return Vec::new();
    }
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, group) in &specs {
        *groups.entry(group).or_default() += 1;
    }
    let counted = groups.into_iter().map(|(group, count)| format!("{group} ({count})"));
    let mut text = format!("Your tools, by what they are for: {}.", listed(counted.collect()));
    if are_many(snapshot, tools) {
        text.push_str("\n\n");
        text.push_str(TOOLS_MANY.text.trim());
    }
    let mut sections = vec![section(SectionKind::Tools, text)];
    let automation = AUTOMATION.iter().filter(|(domain, _)| specs.iter().any(|(spec, _)| spec.domain == *domain));
    let automation: Vec<&str> = automation.map(|(_, prompt)| prompt.text.trim()).collect();
    if !automation.is_empty() {
        sections.push(section(SectionKind::Automation, automation.join("\n")));
    }
    let abilities = ABILITIES.iter().filter_map(|(risk, ability)| {
        let mut with: Vec<String> =
            specs.iter().filter(|(spec, _)| spec.risk == *risk).map(|(_, group)| group.clone()).collect();
        with.sort();
        with.dedup();
        (!with.is_empty()).then(|| format!("- {ability}: {}", listed(with)))
    });
    let abilities = abilities.collect::<Vec<_>>().join("\n");
    sections.push(section(SectionKind::Capabilities, format!("With your tools you can:\n{abilities}")));
    sections
}

/// The first group by name that has the tool; where none has it, what stands before the dot of its key.
fn group_of(snapshot: &ToolSnapshot, spec: &ToolSpec) -> String {
    snapshot.group_of(spec).map_or_else(|| spec.domain.clone(), str::to_owned)
}

fn listed(names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let mut listed = names.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        listed.push_str(&format!(" and {more} more"));
    }
    listed
}

#[cfg(test)]
mod tests {
    use kybern_core::task::EffectClass;
    use kybern_testkit::tools::ScriptedTool;

    use kybern_core::pack::PackRegistry;

    use super::*;

    fn registry(tools: &[(&str, Risk)]) -> (ToolSnapshot, Vec<String>) {
        let mut registry = PackRegistry::default();
        for (key, risk) in tools {
            let tool = ScriptedTool::noop(key, EffectClass::Read).with_spec(|spec| spec.risk = *risk);
            registry.tool(Arc::new(tool)).unwrap();
        }
        registry.tool_group("records", ["core.get".to_owned(), "core.put".to_owned(), "core.later".to_owned()]);
        (ToolSnapshot::of_bundled(registry.into()), tools.iter().map(|(key, _)| (*key).to_owned()).collect())
    }

    fn told(tools: &[(&str, Risk)]) -> Vec<(SectionKind, String)> {
        let (registry, keys) = registry(tools);
        let sections = ToolSections::default().of(&registry, &keys);
        sections.iter().map(|section| (section.kind, section.text.clone())).collect()
    }

    #[test]
    fn an_agent_without_tools_is_told_nothing() {
        assert_eq!(told(&[]), []);
        let (registry, _) = registry(&[]);
        assert!(ToolSections::default().of(&registry, &["ghost".to_owned()]).is_empty());
    }

    #[test]
    fn tools_are_told_by_their_groups_and_by_what_can_be_done_with_them() {
        let told = told(&[("core.put", Risk::R1), ("core.get", Risk::R0), ("yard.gate", Risk::R2)]);
        let tools = "Your tools, by what they are for: records (2), yard (1).";
        let abilities = "With your tools you can:\n- look up and work out, without changing anything: records\n- change \
                         what can be changed back: records\n- reach the outside, or do what cannot be undone: yard";
        let expected = [(SectionKind::Tools, tools.to_owned()), (SectionKind::Capabilities, abilities.to_owned())];
        assert_eq!(told, expected);
    }

    #[test]
    fn automation_is_told_only_of_what_there_is() {
        let automation = |tools: &[(&str, Risk)]| {
            told(tools).into_iter().find(|(kind, _)| *kind == SectionKind::Automation).map(|(_, text)| text)
        };
        assert_eq!(automation(&[("core.get", Risk::R0)]), None);
        let triggers = automation(&[("triggers.create", Risk::R1)]).unwrap();
        assert!(triggers.starts_with("Triggers begin work") && !triggers.contains("Plans"), "{triggers}");
        let both = automation(&[("triggers.create", Risk::R1), ("plans.create", Risk::R1)]).unwrap();
        assert!(both.contains("Triggers begin work") && both.contains("\nPlans are steps"), "{both}");
    }

    #[test]
    fn many_tools_are_told_with_the_way_to_them_and_few_without() {
        let keys: Vec<String> = (0..41).map(|n| format!("g{n:02}.tool")).collect();
        let tools: Vec<(&str, Risk)> = keys.iter().map(|key| (key.as_str(), Risk::R0)).collect();
        let many = &told(&tools)[0].1;
        for says in ["g00 (1), g01 (1)", "g23 (1) and 17 more.", "`find_tools`", "`explain_tool`", "`use_tool`"] {
            assert!(many.contains(says), "{says}: {many}");
        }
        assert!(!told(&tools[..40])[0].1.contains("find_tools"));
    }

    #[test]
    fn the_same_tools_are_written_about_once() {
        let (registry, keys) = registry(&[("core.get", Risk::R0)]);
        let sections = ToolSections::default();
        assert!(Arc::ptr_eq(&sections.of(&registry, &keys), &sections.of(&registry, &keys)));
    }
}
