//! Which of the tenant's insurers papers and messages name: by their NAIC code, by their name, or by the beginning of it
//! that no other insurer has.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use kybern_core::id::RecordId;
use kybern_core::list;
use kybern_core::ports::{RecordStore, ToolContext};
use kybern_core::tenant::TenantScope;
use kybern_core::tool::ToolFailure;

use super::beside::{PolicyInsurer, named_beside};
use super::broken;
use super::chosen;
use super::kinds::ENTITY;
use super::policies;
use crate::args::{add, text};
use crate::reading::ReadDocument;
use crate::{company, contact};

/// The lookup under which all insurers are found.
pub(super) const ALL: (&str, &str) = ("entity_type", "insurance_carrier");
/// Letters of a word that is enough to know an insurer by.
const ENOUGH: usize = 6;
/// Words that insurers' domains have behind the name.
const KINDS: &[&str] =
    list!("insurance, assurance, ins, mutual, casualty, indemnity, specialty, group, company, co, inc, usa");
/// Words that many insurers' names have.
pub(super) const COMMON: &[&str] = list!(
    "insurance, assurance, mutual, casualty, indemnity, company, national, american, general, first, united, great, \
     state, county, farmers, truckers, commercial, specialty, southern, northern, western, eastern, pacific, atlantic, \
     central, old, new, the, of, and, north, south, east, west, red, blue, green, summit, republic, liberty, \
     progressive, risk, retention, group, fire, underwriters, exchange, transportation, transport, trucking, property, \
     surplus, marine, america, reciprocal, services, security, preferred, protective, standard, premier, co, corp, \
     inc, ins"
);

/// The insurers of a tenant that what was read names.
#[derive(Debug, Default)]
pub(super) struct Insurers {
    by_naic: BTreeMap<String, String>,
    by_document: BTreeMap<u32, String>,
    by_policy: BTreeMap<(u32, String), String>,
    by_paragraph: BTreeMap<(u32, String), String>,
    /// The known insurers of whose names documents have only the end, by document and by that end.
    by_end: BTreeMap<(u32, String), String>,
    /// Numbers that nothing but the insurer beside them calls a policy's, with their documents and insurers.
    loose: Vec<(u32, String, String)>,
    /// The names read as the insured's that are insurers', as names are compared.
    insured: Vec<String>,
    /// Names that were read and are known insurers', as names are compared.
    read: BTreeSet<String>,
    /// The known insurers from whom the message asks for losses.
    asked: Vec<String>,
}

impl Insurers {
    /// Looks up the codes that were read, and the names that texts mention.
    pub(super) async fn named_in(context: &ToolContext, read: &[ReadDocument]) -> Result<Self, ToolFailure> {
        let records = context.records()?;
        let mut insurers = Self::default();
        let codes = read.iter().flat_map(|document| &document.extraction.fields).filter(|field| field.name == "naic");
        let codes = codes.flat_map(|field| field.rival.iter().chain([&field.value]));
        let mut codes: Vec<String> = codes.filter_map(|code| code.as_str().and_then(company::naic)).collect();
        codes.sort();
        codes.dedup();
        for code in codes {
            let found = records.records_by_lookup(context.scope, ENTITY, "NAIC", &code).await?;
            if let [one] = found.as_slice()
                && let Some(name) = text(&one.props, "name")
            {
                insurers.by_naic.insert(code, name);
            }
        }
        let known = records.lookup_values(context.scope, ENTITY, ALL, "name").await?;
        for name in policies::insurers_of(read).map(|name| company::normal_name(&name)) {
            if known.iter().any(|(_, insurer)| *insurer == name) {
                insurers.read.insert(name);
            }
        }
        for (end, id) in broken::all_in(read, &known) {
            if let Some(name) = spelling(records, context.scope, id).await? {
                insurers.by_end.insert(end, name);
            }
        }
        let named = read.iter().flat_map(|document| document.single()).filter(|field| field.name == "insured.name");
        let named = named.filter_map(|field| field.value.as_str().map(company::normal_name));
        let names = Names::of(known);
        insurers.insured = named.filter(|name| names.is_one(name)).collect();
        let mut asked: Vec<RecordId> = Vec::new();
        for id in chosen::asking(read).iter().flat_map(|sentence| names.in_order(sentence)) {
            if !asked.contains(&id) {
                asked.push(id);
                insurers.asked.extend(spelling(records, context.scope, id).await?);
            }
        }
        for document in read {
            if let Some(id) = names.only_one_in(&document.text.full_text())
                && let Some(name) = spelling(records, context.scope, id).await?
            {
                insurers.by_document.insert(document.n, name);
            }
            for PolicyInsurer { number, insurer, is_loose, in_sentence } in named_beside(&names, document) {
                if let Some(name) = spelling(records, context.scope, insurer).await? {
                    let place = (document.n, company::policy_number(&number));
                    let known = if in_sentence { &mut insurers.by_policy } else { &mut insurers.by_paragraph };
                    known.entry(place).or_insert_with(|| name.clone());
                    if is_loose {
                        insurers.loose.push((document.n, number, name));
                    }
                }
            }
        }
        Ok(insurers)
    }

    /// The known insurers from whom the message asks for losses and of whom none of these policies is.
    pub(super) fn asked_without(&self, policies: &[policies::Policy]) -> Vec<&str> {
        let has = |name: &str| {
            let mut insurers = policies.iter().filter_map(|policy| policy.insurer.as_deref());
            insurers.any(|insurer| policies::may_be_one(insurer, name))
        };
        self.asked.iter().map(String::as_str).filter(|name| !has(name)).collect()
    }

    /// The name of the insurer with that code.
    pub(super) fn with_naic(&self, code: &str) -> Option<&str> {
        self.by_naic.get(code).map(String::as_str)
    }

    /// Whether a name that was read is a known insurer's.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.read.contains(&company::normal_name(name))
    }

    /// Names that were read as the insured's and are insurers', as names are compared.
    pub(super) fn never_insured(&self) -> &[String] {
        &self.insured
    }

    /// The numbers of a document that nothing but the insurer beside them calls a policy's, with that insurer.
    pub(super) fn loose_in(&self, document: u32) -> impl Iterator<Item = (&str, &str)> {
        let there = self.loose.iter().filter(move |(n, ..)| *n == document);
        there.map(|(_, number, insurer)| (number.as_str(), insurer.as_str()))
    }

    /// The insurer that is meant by a name that was read in a document: itself, or the known one of whose name it is the
    /// end, where the line above has the rest or the code beside it is that one's.
    pub(super) fn meant_by(&self, document: u32, name: String, naic: Option<&str>) -> String {
        let end = company::normal_name(&name);
        let coded = naic.and_then(|code| self.with_naic(code));
        let coded = coded.filter(|whole| broken::ends_so(&company::normal_name(whole), &end)).map(str::to_owned);
        coded.or_else(|| self.by_end.get(&(document, end)).cloned()).unwrap_or(name)
    }

    /// The insurer that a document names in the sentence of that policy number, as numbers are compared.
    pub(super) fn beside(&self, document: u32, number: String) -> Option<&str> {
        self.by_policy.get(&(document, number)).map(String::as_str)
    }

    /// The only insurer that a document has named before that policy number in its paragraph.
    pub(super) fn before(&self, document: u32, number: String) -> Option<&str> {
        self.by_paragraph.get(&(document, number)).map(String::as_str)
    }

    /// The insurer that a document's words mean; `None` when they mean none, or several.
    pub(super) fn only_one_in(&self, document: u32) -> Option<&str> {
        self.by_document.get(&document).map(String::as_str)
    }
}

/// Whether an address is of an insurer's own domain: what its owner has registered is the insurer's name run together,
/// whole, or as far as it tells it from others, with nothing behind it but words that insurers are called by, as in
/// `quillfeathergroup`. A domain that only contains the name is not enough: anybody can have one.
pub(super) fn writes_from(address: &str, insurer: &str) -> bool {
    let Some(label) = contact::registered_label(address) else { return false };
    let name = company::normal_name(insurer);
    let words: Vec<&str> = name.split(' ').collect();
    let is_telling = |word: &&&str| !COMMON.contains(*word);
    // `Harrow and Mead` may be `harrowandmead` or `harrowmead`.
    [words.clone(), words.into_iter().filter(|word| *word != "and").collect()].iter().any(|words: &Vec<&str>| {
        let told = words.iter().rposition(|word| !COMMON.contains(word)).map_or(words.len(), |last| last + 1);
        let telling: String = words.iter().filter(is_telling).copied().collect();
        let whole = telling == label || (told..=words.len()).any(|count| words[..count].concat() == label);
        let told = [words[..told].concat(), telling].into_iter().filter(|told| told.chars().count() >= ENOUGH);
        whole || told.filter_map(|told| label.strip_prefix(&told)).any(is_kind_of_insurer)
    })
}

/// Whether all of it is words that insurers are called by, run together.
fn is_kind_of_insurer(rest: &str) -> bool {
    rest.is_empty() || KINDS.iter().any(|word| rest.strip_prefix(word).is_some_and(is_kind_of_insurer))
}

/// Whether an address is of the domain of any insurer that the tenant knows.
pub(super) async fn knows_sender(context: &ToolContext, address: &str) -> Result<bool, ToolFailure> {
    let known = context.records()?.lookup_values(context.scope, ENTITY, ALL, "name").await?;
    Ok(known.iter().any(|(_, name)| writes_from(address, name)))
}

/// A record's name as it is written.
async fn spelling(records: &dyn RecordStore, scope: TenantScope, id: RecordId) -> Result<Option<String>, ToolFailure> {
    Ok(records.record_by_id(scope, id).await?.and_then(|record| text(&record.props, "name")))
}

/// What insurers are called in running text.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Whole names and short ones, as names are compared, with whose they are.
    phrases: HashMap<String, RecordId>,
    /// The words that phrases begin with.
    openings: HashSet<String>,
    /// Words of the longest phrase.
    longest: usize,
}

impl Names {
    /// From the names of records, oldest first, as names are compared: of records of one name the oldest is meant.
    pub(super) fn of(known: Vec<(RecordId, String)>) -> Self {
        let mut whole: BTreeMap<String, RecordId> = BTreeMap::new();
        for (id, name) in known {
            whole.entry(name).or_insert(id);
        }
        let mut names = Self::default();
        for (name, id) in &whole {
            if let Some(short) = short_of(name, &whole) {
                names.add(short, *id);
            }
            names.add(name, *id);
        }
        names
    }

    fn add(&mut self, phrase: &str, id: RecordId) {
        let mut words = phrase.split(' ');
        self.openings.extend(words.next().map(str::to_owned));
        self.longest = self.longest.max(1 + words.count());
        self.phrases.insert(phrase.to_owned(), id);
    }

    /// The insurers that a text names, each once.
    pub(super) fn all_in(&self, text: &str) -> BTreeSet<RecordId> {
        self.in_order(text).into_iter().collect()
    }

    /// The insurers that a text names, each once, in their order.
    pub(super) fn in_order(&self, text: &str) -> Vec<RecordId> {
        let text = plain(text);
        let words: Vec<&str> = text.split(' ').collect();
        let begins = words.iter().enumerate().filter(|(_, word)| self.openings.contains(**word));
        let named = begins.flat_map(|(at, _)| {
            let lengths = 1..=self.longest.min(words.len() - at);
            let words = &words;
            lengths.filter_map(move |length| self.phrases.get(&words[at..at + length].join(" ")))
        });
        let mut found = Vec::new();
        add(&mut found, named.copied());
        found
    }

    /// Whether a name, as names are compared, is what an insurer is called.
    fn is_one(&self, name: &str) -> bool {
        self.phrases.contains_key(name)
    }

    /// The insurer that a text names, when it names one only.
    fn only_one_in(&self, text: &str) -> Option<RecordId> {
        only(&self.all_in(text))
    }
}

pub(super) fn only(named: &BTreeSet<RecordId>) -> Option<RecordId> {
    named.first().copied().filter(|_| named.len() == 1)
}

/// The beginning of a name that no other insurer has: a rare word, or two words.
fn short_of<'n>(name: &'n str, all: &BTreeMap<String, RecordId>) -> Option<&'n str> {
    let first = name.split(' ').next()?;
    let alone = |short: &str| {
        let mut from = all.range(short.to_owned()..).take_while(|(other, _)| other.starts_with(short));
        from.next().is_some() && from.next().is_none()
    };
    if first.chars().count() >= ENOUGH && !COMMON.contains(&first) && alone(first) {
        return Some(first);
    }
    let second = name.split(' ').nth(1)?;
    let both = name.get(..first.len() + 1 + second.len())?;
    let telling = !COMMON.contains(&second) || !COMMON.contains(&first);
    (telling && alone(both)).then_some(both)
}

/// A text as names are compared, without cutting legal forms off its end.
fn plain(text: &str) -> String {
    company::normal_name(&format!("{text} x"))
}

#[cfg(test)]
mod tests;
