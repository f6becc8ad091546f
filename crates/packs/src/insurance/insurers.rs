//! Which insurers the tenant knows, and where papers and messages name them: by their NAIC code, by their name, or by the
//! beginning of it that no other insurer has.

use std::collections::BTreeMap;

use kybern_core::ports::ToolContext;
use kybern_core::tool::ToolFailure;

use super::kinds::ENTITY;
use crate::args::text;
use crate::company;
use crate::reading::ReadDocument;

/// The lookup under which all insurers are found.
const ALL: (&str, &str) = ("entity_type", "insurance_carrier");
/// Letters of a word that is enough to know an insurer by.
const ENOUGH: usize = 6;
/// Words that many insurers' names have.
const COMMON: &[&str] = &[
    "insurance",
    "assurance",
    "mutual",
    "casualty",
    "indemnity",
    "company",
    "national",
    "american",
    "general",
    "first",
    "united",
    "great",
    "state",
    "county",
    "farmers",
    "truckers",
    "commercial",
    "specialty",
    "southern",
    "northern",
    "western",
    "eastern",
    "pacific",
    "atlantic",
    "central",
    "old",
    "new",
    "the",
    "of",
    "and",
    "north",
    "south",
    "east",
    "west",
    "red",
    "blue",
    "green",
    "summit",
    "republic",
    "liberty",
    "progressive",
    "risk",
    "retention",
    "group",
    "fire",
];

/// The insurers of a tenant, as far as they matter for what was read.
#[derive(Debug, Default)]
pub(super) struct Insurers {
    /// Normalised names of all, with their spelling.
    names: Vec<(String, String)>,
    by_naic: BTreeMap<String, String>,
}

impl Insurers {
    /// Looks up the names, and those of the codes that were read.
    pub(super) async fn known(context: &ToolContext, read: &[ReadDocument]) -> Result<Self, ToolFailure> {
        let records = context.records()?;
        let names = records.lookup_values(context.scope, ENTITY, ALL, "name").await?;
        let mut insurers = Self::default();
        for (_, name) in names {
            insurers.names.push((name.clone(), name));
        }
        let codes = read.iter().flat_map(|document| &document.extraction.fields).filter(|field| field.name == "naic");
        let mut codes: Vec<String> = codes.filter_map(|field| field.value.as_str().and_then(company::naic)).collect();
        codes.sort();
        codes.dedup();
        for code in codes {
            let found = records.records_by_lookup(context.scope, ENTITY, "NAIC", &code).await?;
            if let [one] = found.as_slice()
                && let Some(name) = text(&one.props, "name")
            {
                insurers.spell(&name);
                insurers.by_naic.insert(code, name);
            }
        }
        Ok(insurers)
    }

    /// Remembers how a known name is spelt.
    fn spell(&mut self, name: &str) {
        let normal = company::normal_name(name);
        for known in self.names.iter_mut().filter(|(known, _)| *known == normal) {
            known.1 = name.to_owned();
        }
    }

    /// The name of the insurer with that code.
    pub(super) fn with_naic(&self, code: &str) -> Option<&str> {
        self.by_naic.get(code).map(String::as_str)
    }

    /// The insurers that a text names.
    pub(super) fn named_in(&self, text: &str) -> Vec<&str> {
        let normal = format!(" {} ", plain(text));
        let mut found = Vec::new();
        for (name, spelling) in &self.names {
            let whole = normal.contains(&format!(" {name} "));
            if (whole || self.short_of(name).is_some_and(|short| normal.contains(&format!(" {short} "))))
                && !found.contains(&spelling.as_str())
            {
                found.push(spelling.as_str());
            }
        }
        found
    }

    /// The beginning of a name that no other insurer has: a rare word, or two words.
    fn short_of<'n>(&self, name: &'n str) -> Option<&'n str> {
        let first = name.split(' ').next()?;
        let alone = |short: &str| self.names.iter().filter(|(other, _)| other.starts_with(short)).count() == 1;
        if first.chars().count() >= ENOUGH && !COMMON.contains(&first) && alone(first) {
            return Some(first);
        }
        let second = name.split(' ').nth(1)?;
        let both = name.get(..first.len() + 1 + second.len())?;
        let telling = !COMMON.contains(&second) || !COMMON.contains(&first);
        (telling && alone(both)).then_some(both)
    }
}

/// A text as names are compared, without cutting legal forms off its end.
fn plain(text: &str) -> String {
    company::normal_name(&format!("{text} x"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insurers(names: &[&str]) -> Insurers {
        let names = names.iter().map(|name| (company::normal_name(name), (*name).to_owned())).collect();
        Insurers { names, ..Insurers::default() }
    }

    #[test]
    fn an_insurer_is_known_by_the_beginning_of_its_name_that_no_other_has() {
        let known = insurers(&[
            "Prairie Lantern Mutual Insurance Company",
            "Prairie Gate Casualty Company",
            "Quillfeather Insurance Co.",
        ]);
        assert_eq!(
            known.named_in("Loss runs from Prairie Lantern, please."),
            ["Prairie Lantern Mutual Insurance Company"]
        );
        assert_eq!(known.named_in("we are with QUILLFEATHER"), ["Quillfeather Insurance Co."]);
        assert!(known.named_in("out on the prairie").is_empty());
    }
}
