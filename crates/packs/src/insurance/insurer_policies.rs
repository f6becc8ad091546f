//! Policies by the insurer that is asked about them.

use serde_json::{Map, Value};

use super::policies::Policy;
use crate::args::{add, text};
use crate::company;

/// The policies of one insurer.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct InsurerPolicies {
    pub(super) insurer: String,
    pub(super) naic: Option<String>,
    pub(super) numbers: Vec<String>,
    pub(super) lines: Vec<String>,
    pub(super) documents: Vec<u32>,
    /// What goes along, as the request lists it.
    pub(super) letters: Vec<Value>,
}

/// A policy whose insurer nobody knows.
pub(super) struct OrphanPolicy {
    pub(super) number: String,
    pub(super) documents: Vec<u32>,
    /// Insurers of whom nobody knows which it is; none where none was found.
    pub(super) contested: Vec<String>,
}

impl InsurerPolicies {
    /// What tells this insurer from others in a key: its code, else its name as it is compared.
    pub(super) fn identity(&self) -> String {
        match &self.naic {
            Some(code) => format!("naic:{code}"),
            None => format!("name:{}", company::normal_name(&self.insurer).chars().take(150).collect::<String>()),
        }
    }

    pub(super) fn is(&self, insurer: &str, naic: Option<&str>) -> bool {
        let codes = self.naic.as_deref().zip(naic);
        match codes {
            Some((has, said)) => has == said,
            None => company::normal_name(&self.insurer) == company::normal_name(insurer),
        }
    }
}

/// Groups policies by their insurer, in order of appearance. `named` are insurers that a person has supplied, by
/// policy number: they count before what was read, and so before the code that was read with it. The second list holds
/// the policies whose insurer nobody knows.
pub(super) fn by_insurer(policies: &[Policy], named: &Map<String, Value>) -> (Vec<InsurerPolicies>, Vec<OrphanPolicy>) {
    let mut groups: Vec<InsurerPolicies> = Vec::new();
    let mut unknown = Vec::new();
    // As names are compared: a paper may list thousands of policies, and as many insurers.
    let mut names: Vec<String> = Vec::new();
    for policy in policies {
        let said = text(named, &policy.number);
        let naic = if said.is_some() { None } else { policy.naic.as_deref() };
        let read = policy.insurer.clone().filter(|_| policy.contested.is_empty());
        let Some(insurer) = said.or(read) else {
            let (number, documents) = (policy.number.clone(), policy.documents.clone());
            unknown.push(OrphanPolicy { number, documents, contested: policy.contested.clone() });
            continue;
        };
        let name = company::normal_name(&insurer);
        let is_it = |(group, known): (&InsurerPolicies, &String)| match group.naic.as_deref().zip(naic) {
            Some((has, said)) => has == said,
            None => *known == name,
        };
        let at = groups.iter().zip(&names).position(is_it).unwrap_or_else(|| {
            groups.push(InsurerPolicies { insurer: insurer.clone(), ..InsurerPolicies::default() });
            names.push(name);
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.naic = group.naic.take().or_else(|| naic.map(str::to_owned));
        add(&mut group.numbers, [policy.number.clone()]);
        add(&mut group.lines, policy.lines.iter().cloned());
        add(&mut group.documents, policy.documents.iter().copied());
    }
    (groups, unknown)
}
