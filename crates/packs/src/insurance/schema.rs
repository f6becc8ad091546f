//! What is looked for in the documents of an insurance agency and of its clients, who run trucks.
//!
//! A label `phrase=Value` is a term: the phrase is itself the value, in a heading, in a table or behind a label.

mod categories;
#[macro_use]
mod lines;
mod parties;
mod policies;
mod vehicles;

use kybern_core::model::{CategoryPattern, ExtractionSchema, FieldPattern, SectionPattern, ValueKind};

/// The list of policies.
pub const POLICIES: &str = "policies";
/// The list of vehicles.
pub const VEHICLES: &str = "vehicles";
/// The list of losses.
pub const LOSSES: &str = "losses";

const SECTIONS: &[(&str, &[&str])] = &[
    (
        "has_insured",
        &[
            "named insured",
            "insured",
            "insured name",
            "applicant",
            "company name",
            "business name",
            "legal name",
            "usdot",
            "us dot",
            "dot number",
            "dot",
            "mc number",
            "motor carrier",
            "registrant",
            "company",
            "business",
        ],
    ),
    (
        "has_policies",
        &[
            "policy number",
            "policy numbers",
            "policy no",
            "policy num",
            "policy #",
            "pol no",
            "pol #",
            "policy period",
            "policy term",
            "policy id",
            "policy",
        ],
    ),
    (
        "has_coverages",
        &[
            "coverage",
            "coverages",
            "line of coverage",
            "lines of coverage",
            "line of business",
            "lines of business",
            "combined single limit",
            "auto liability",
            "general liability",
            "motor truck cargo",
            "physical damage",
        ],
    ),
    (
        "has_vehicles",
        &[
            "vin",
            "vehicle",
            "vehicles",
            "vehicle schedule",
            "equipment",
            "covered autos",
            "trailer",
            "tractor",
            "serial number",
        ],
    ),
    (
        "has_claims",
        &[
            "date of loss",
            "loss date",
            "claim",
            "claims",
            "claim number",
            "losses",
            "loss run",
            "loss runs",
            "loss history",
            "accident date",
        ],
    ),
    ("has_agency", &["agency", "agent", "producer", "broker", "insurance agency"]),
    (
        "wants_quote",
        &[
            "quote",
            "quotes",
            "quotation",
            "proposal",
            "coverage needed",
            "coverages needed",
            "coverage requested",
            "coverage types",
            "looking for coverage",
            "insure",
        ],
    ),
];

const fn one(
    name: &'static str,
    labels: &'static [&'static str],
    value: ValueKind,
    section: Option<&'static str>,
) -> FieldPattern {
    FieldPattern { name, labels, value, section, group: None, opens_item: false }
}

const fn of(
    group: &'static str,
    section: &'static str,
    name: &'static str,
    labels: &'static [&'static str],
    value: ValueKind,
) -> FieldPattern {
    FieldPattern { name, labels, value, section: Some(section), group: Some(group), opens_item: false }
}

const fn opens(pattern: FieldPattern) -> FieldPattern {
    FieldPattern { opens_item: true, ..pattern }
}

/// What an insurance agency looks for: in declarations, loss runs, certificates, applications and schedules, and in
/// the mails and forms that bring them. Papers of fleets and freight are told apart too, because they arrive in the
/// same mailbox.
#[must_use]
pub fn schema() -> ExtractionSchema {
    ExtractionSchema {
        categories: categories::CATEGORIES.iter().map(|(key, markers)| CategoryPattern { key, markers }).collect(),
        sections: SECTIONS.iter().map(|(key, markers)| SectionPattern { key, markers }).collect(),
        fields: [parties::INSURED, parties::OTHERS, policies::POLICY, vehicles::VEHICLE, vehicles::LOSS].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_a_field_is_declared() {
        let schema = schema();
        for field in &schema.fields {
            let declared = field.section.is_none_or(|key| schema.sections.iter().any(|section| section.key == key));
            assert!(declared, "{}", field.name);
        }
    }

    #[test]
    fn every_list_has_one_field_that_opens_an_item() {
        for group in [POLICIES, VEHICLES, LOSSES] {
            let openers = schema().fields.iter().filter(|field| field.group == Some(group) && field.opens_item).count();
            assert_eq!(openers, 1, "{group}");
        }
    }
}
