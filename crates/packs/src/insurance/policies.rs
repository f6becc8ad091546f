//! The policies that documents describe, each once, merged over all documents by policy number.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use kybern_core::list;
use kybern_core::model::{ExtractedField, FieldSource};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::insurers::Insurers;
use super::{near, term, underlying};
use crate::args::{add, as_text, objects, text, texts};
use crate::reading::{MESSAGE_NUMBER, ReadDocument, UNSURE, rounded};
use crate::{company, coverage};

/// The list in which extraction gives them.
pub(super) const GROUP: &str = "policies";

/// What a field of a policy may be called.
const NUMBER: &[&str] = &["policy_number", "number"];
const INSURER: &[&str] = &["insurer", "insurer_name", "carrier", "insurer.name"];
pub(super) const NAIC: &[&str] = &["naic", "naic_number", "insurer_naic", "insurer.naic"];
const LINE: &[&str] = &["line", "lines", "coverage", "coverages", "coverage_type", "line_of_business"];
const PREMIUM: &[&str] = &["premium", "premium_nanos", "annual_premium", "total_premium"];

/// What a register says of a policy's loss runs, and the first words that say they are not wanted.
const LOSS_RUNS: &str = "loss_runs";
const DECLINES: [&str; 8] = ["n", "no", "non", "not", "none", "nein", "have", "received"];

/// The line of policies that stand above other insurance.
const ABOVE: &str = "Umbrella";

/// Coverages that come with a line and are none that losses are asked about by.
const PARTS: [&str; 2] = ["Uninsured Motorist", "Medical Payments"];

/// Slips that one question tells of.
const MAX_SLIPS: usize = 20;

/// How sure a number is that only the insurer beside it calls a policy's.
const LOOSE: f64 = 0.6;

/// Words that say what an insurer is, and not which.
const NOBODYS: &[&str] = list!(
    "insurance, assurance, casualty, indemnity, mutual, property, company, co, fire, marine, surety, exchange, \
     insurer, carrier, motor, and, underwriters, corporation, group"
);

/// One policy, as it stands in the state too.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub(super) struct Policy {
    #[serde(rename = "policy_number")]
    pub(super) number: String,
    pub(super) insurer: Option<String>,
    pub(super) naic: Option<String>,
    pub(super) lines: Vec<String>,
    pub(super) effective: Option<String>,
    pub(super) expiration: Option<String>,
    pub(super) premium_nanos: Option<i64>,
    /// How sure its number is; `None` when a person wrote it.
    pub(super) confidence: Option<f64>,
    /// The documents that describe it, in order.
    pub(super) documents: Vec<u32>,
    /// Insurers of whom the rules read one and a language model another: a person says whose it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) contested: Vec<String>,
}

impl Policy {
    /// The number as it is compared.
    pub(super) fn key(&self) -> String {
        company::policy_number(&self.number)
    }

    /// Whether nothing may be made of its number before a person has said that it is right.
    pub(super) fn is_doubtful(&self) -> bool {
        self.confidence.is_some_and(|confidence| confidence < UNSURE)
    }

    /// Reads back how it stands in the state; `None` when it has no number.
    pub(super) fn from_json(from: &Map<String, Value>) -> Option<Self> {
        let number = text(from, "policy_number").filter(|number| !company::policy_number(number).is_empty())?;
        let mut lines = Vec::new();
        add(&mut lines, texts(from, "lines").iter().flat_map(|line| coverage::lines_of(line)));
        let documents = from.get("documents").and_then(Value::as_array).into_iter().flatten();
        Some(Self {
            number,
            insurer: text(from, "insurer"),
            naic: text(from, "naic").and_then(|code| company::naic(&code)),
            lines,
            effective: text(from, "effective"),
            expiration: text(from, "expiration"),
            premium_nanos: from.get("premium_nanos").and_then(Value::as_i64),
            confidence: from.get("confidence").and_then(Value::as_f64),
            documents: documents.filter_map(|n| n.as_u64().and_then(|n| u32::try_from(n).ok())).collect(),
            contested: texts(from, "contested"),
        })
    }

    /// Takes over what the other knows and this one does not.
    fn learn(&mut self, other: Self) {
        // What one paper says plainly settles what is contested in another.
        let (open, settled) = (
            |policy: &Self| !policy.contested.is_empty(),
            |policy: &Self| policy.contested.is_empty() && policy.insurer.is_some(),
        );
        if open(self) && settled(&other) {
            (self.insurer, self.naic) = (None, None);
            self.contested.clear();
        } else if self.insurer.is_none() {
            self.contested.extend(other.contested);
        }
        self.insurer = self.insurer.take().or(other.insurer);
        self.naic = self.naic.take().or(other.naic);
        self.effective = self.effective.take().or(other.effective);
        self.expiration = self.expiration.take().or(other.expiration);
        self.premium_nanos = self.premium_nanos.or(other.premium_nanos);
        // A number that one paper shows faintly and another plainly is plain; one that a person wrote stays theirs.
        self.confidence = self.confidence.map(|one| other.confidence.map_or(one, |another| one.max(another)));
        add(&mut self.lines, other.lines);
        add(&mut self.documents, other.documents);
    }
}

/// All policies of all documents, after a person's corrections, which come first and so win.
pub(super) fn merged(read: &[ReadDocument], insurers: &Insurers, corrections: &[Map<String, Value>]) -> Vec<Policy> {
    let mut all = ByNumber::default();
    let corrected = corrections.iter().filter_map(Policy::from_json);
    for policy in corrected.chain(read.iter().flat_map(|document| insured_by(document, insurers))) {
        // What a person has said settles what else was a slip, or doubtful.
        let is_slip =
            || swapped(&policy.key()).any(|other| all.get(&other).is_some_and(|one| one.confidence.is_none()));
        let is_doubtful = || policy.is_doubtful() && !corrections.is_empty();
        if policy.confidence.is_some() && all.get(policy.key().as_bytes()).is_none() && (is_doubtful() || is_slip()) {
            continue;
        }
        all.add(policy);
    }
    let mut all = all.policies;
    // A message that names one insurer means it, where its papers name none.
    if let Some(only) = insurers.only_one_in(0) {
        all.iter_mut().for_each(|policy| {
            policy.insurer.get_or_insert_with(|| only.to_owned());
        });
    }
    all
}

/// Pairs of numbers in different places of which one is the other with two neighbours swapped, as a slip of the pen
/// makes it; the first [`MAX_SLIPS`].
pub(super) fn slips(policies: &[Policy]) -> Vec<(&Policy, &Policy)> {
    let places: HashMap<Vec<u8>, usize> =
        policies.iter().enumerate().map(|(at, policy)| (policy.key().into_bytes(), at)).collect();
    let pairs = policies.iter().enumerate().flat_map(|(at, policy)| {
        let others = swapped(&policy.key()).filter_map(|other| places.get(&other).copied());
        let later: BTreeSet<usize> = others.filter(|other| *other > at).collect();
        later.into_iter().map(move |other| (policy, &policies[other]))
    });
    let is_slip = |(one, other): &(&Policy, &Policy)| {
        let apart = one.documents.iter().all(|n| !other.documents.contains(n));
        apart && (one.confidence.is_some() || other.confidence.is_some())
    };
    pairs.filter(is_slip).take(MAX_SLIPS).collect()
}

/// What a key becomes when two neighbours of it are swapped that differ.
fn swapped(key: &str) -> impl Iterator<Item = Vec<u8>> + use<> {
    let key = key.as_bytes().to_vec();
    (1..key.len()).filter_map(move |at| {
        let mut other = key.clone();
        other.swap(at - 1, at);
        (other != key).then_some(other)
    })
}

/// Policies in their order, each number once. A paper may list thousands.
#[derive(Default)]
struct ByNumber {
    policies: Vec<Policy>,
    places: HashMap<Vec<u8>, usize>,
}

impl ByNumber {
    fn get(&self, key: &[u8]) -> Option<&Policy> {
        self.places.get(key).map(|at| &self.policies[*at])
    }

    /// Adds a policy, or takes over what is new in it.
    fn add(&mut self, policy: Policy) {
        match self.places.entry(policy.key().into_bytes()) {
            Entry::Occupied(known) => self.policies[*known.get()].learn(policy),
            Entry::Vacant(free) => {
                free.insert(self.policies.len());
                self.policies.push(policy);
            }
        }
    }
}

/// The policies of one document, with the insurers that their codes or the document's words mean.
fn insured_by(document: &ReadDocument, insurers: &Insurers) -> Vec<Policy> {
    let mut policies = of_document(document);
    let read: HashSet<String> = policies.iter().map(Policy::key).collect();
    for (number, insurer) in insurers.loose_in(document.n) {
        if read.contains(&company::policy_number(number)) {
            continue;
        }
        let (number, insurer) = (number.to_owned(), Some(insurer.to_owned()));
        let documents = vec![document.n];
        policies.push(Policy { number, insurer, confidence: Some(LOOSE), documents, ..Policy::default() });
    }
    let unnamed = |policy: &Policy| policy.insurer.is_none();
    if document.n == MESSAGE_NUMBER {
        // In a letter a label of the next sentence may lead to another insurer than that of the number's own.
        for policy in &mut policies {
            let Some(own) = insurers.beside(document.n, policy.key()) else { continue };
            let read = policy.insurer.replace(own.to_owned());
            // One that nobody knows, and that is not this one cut short, may be the number's all the same.
            if let Some(read) = read.filter(|read| !insurers.knows(read) && !near::is_short_for(read, own)) {
                policy.contested.extend([read, own.to_owned()]);
            }
        }
    }
    for policy in &mut policies {
        let read = policy.insurer.take();
        policy.insurer = read.map(|name| insurers.meant_by(document.n, name, policy.naic.as_deref()));
    }
    policies.iter_mut().for_each(|policy| contest(policy, document.n, insurers));
    // The only insurer that an umbrella's paper names, or names beside its number, may be that of the insurance beneath it.
    let tells = underlying::tells_of(document);
    let above = |policy: &Policy| tells && policy.lines.iter().any(|line| line == ABOVE);
    for policy in policies.iter_mut().filter(|policy| unnamed(policy)) {
        let coded = policy.naic.as_deref().and_then(|code| insurers.with_naic(code));
        let beside = || insurers.beside(document.n, policy.key()).or_else(|| insurers.before(document.n, policy.key()));
        let beside = || beside().filter(|_| !above(policy));
        policy.insurer = coded.or_else(beside).map(str::to_owned);
    }
    if policies.iter().any(unnamed)
        && let Some(only) = insurers.only_one_in(document.n)
    {
        let open = policies.iter_mut().filter(|policy| unnamed(policy) && !above(policy));
        open.for_each(|policy| policy.insurer = Some(only.to_owned()));
    }
    policies
}

/// Names whom a policy's contested readings mean, and those of its name and its code where they are two known insurers'.
/// Readings that mean one insurer are no contest.
fn contest(policy: &mut Policy, document: u32, insurers: &Insurers) {
    let coded = policy.naic.as_deref().and_then(|code| insurers.with_naic(code));
    let named = policy.insurer.as_deref().filter(|name| insurers.knows(name));
    let by_code = named.zip(coded).map(|(name, coded)| [name.to_owned(), coded.to_owned()]);
    let mut meant: Vec<String> = Vec::new();
    for read in policy.contested.iter().cloned().chain(by_code.into_iter().flatten()) {
        let coded = insurers.with_naic(&read).map(str::to_owned);
        let name = coded.unwrap_or_else(|| insurers.meant_by(document, read, None));
        if !meant.iter().any(|known| may_be_one(known, &name)) {
            meant.push(name);
        }
    }
    policy.contested = if meant.len() > 1 { meant } else { Vec::new() };
}

/// Whether two names may be one insurer's, of which one is written shorter.
pub(super) fn may_be_one(one: &str, other: &str) -> bool {
    let (one, other) = (company::normal_name(one), company::normal_name(other));
    let is_part = |part: &str, whole: &str| {
        let rest = whole.strip_prefix(part).map(|rest| rest.starts_with(' '));
        rest == Some(true) || whole.strip_suffix(part).is_some_and(|before| before.ends_with(' '))
    };
    one == other || is_part(&one, &other) || is_part(&other, &one)
}

/// The insurers of policies that documents name.
pub(super) fn insurers_of(read: &[ReadDocument]) -> impl Iterator<Item = String> {
    let read = read.iter().flat_map(insurers_in).flat_map(|field| field.rival.iter().chain([&field.value]));
    read.filter_map(as_text)
}

/// The fields by which a document names insurers of policies.
pub(super) fn insurers_in(document: &ReadDocument) -> impl Iterator<Item = &ExtractedField> {
    let is_insurer = |field: &&ExtractedField| {
        field.group.as_deref().is_none_or(|group| group == GROUP) && INSURER.contains(&field.name.as_str())
    };
    document.extraction.fields.iter().filter(is_insurer)
}

/// The policy numbers of a document, and where they stand in it.
pub(super) fn number_places(document: &ReadDocument) -> Vec<(&FieldSource, &str)> {
    let is_number = |field: &&ExtractedField| {
        field.group.as_deref().is_none_or(|group| group == GROUP) && NUMBER.contains(&field.name.as_str())
    };
    let numbers = document.extraction.fields.iter().filter(is_number);
    numbers.filter_map(|field| Some((&field.source, field.value.as_str()?))).collect()
}

/// The policies of one document. What the document says once, outside the list, holds for all of them; an item
/// without a number belongs to the only policy that has one, or to none.
fn of_document(document: &ReadDocument) -> Vec<Policy> {
    let mut numbered = ByNumber::default();
    let mut nameless: Vec<Policy> = Vec::new();
    for item in document.items(GROUP).into_iter().filter(|item| !is_declined(item)) {
        let policy = of_fields(&item, document);
        if policy.key().is_empty() { nameless.push(policy) } else { numbered.add(policy) }
    }
    let mut numbered = numbered.policies;
    let single: Vec<&ExtractedField> = document.single().collect();
    let mut shared = of_fields(&single, document);
    if numbered.is_empty() && !shared.key().is_empty() {
        numbered.push(shared.clone());
    }
    if numbered.len() > 1 {
        // Lines and dates outside the list belong to one of several policies, and nobody knows to which.
        shared = Policy { insurer: shared.insurer, naic: shared.naic, ..Policy::default() };
        nameless.clear();
    }
    for policy in &mut numbered {
        nameless.iter().cloned().for_each(|other| policy.learn(other));
        policy.learn(shared.clone());
    }
    numbered
}

/// Whether a register says of a policy that nothing is wanted for it: `N`, or `no, we have it`.
fn is_declined(item: &[&ExtractedField]) -> bool {
    let said = item.iter().filter(|field| field.name == LOSS_RUNS).filter_map(|field| as_text(&field.value));
    let first = |text: String| text.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_lowercase();
    said.map(first).any(|word| DECLINES.contains(&word.as_str()))
}

fn of_fields(found: &[&ExtractedField], document: &ReadDocument) -> Policy {
    let own =
        |field: &&ExtractedField| !INSURER.contains(&field.name.as_str()) || !underlying::is_beneath(document, field);
    let found: Vec<&ExtractedField> = found.iter().copied().filter(own).collect();
    let values =
        |names: &'static [&'static str]| found.iter().filter(move |field| names.contains(&field.name.as_str()));
    let first = |names: &'static [&'static str]| values(names).find_map(|field| as_text(&field.value));
    let number = values(NUMBER).find_map(|field| as_text(&field.value).map(|text| (text, field.confidence)));
    let whose = || values(INSURER).chain(values(NAIC));
    let rivals = whose().filter_map(|field| Some([as_text(&field.value)?, as_text(field.rival.as_ref()?)?])).flatten();
    let lines = values(LINE).filter_map(|field| as_text(&field.value));
    let lines: Vec<String> = lines.filter(|line| !PARTS.contains(&line.as_str())).collect();
    let (effective, expiration) = term::of(&found);
    Policy {
        confidence: number.as_ref().map(|(_, confidence)| rounded(*confidence)),
        number: number.map(|(number, _)| number).unwrap_or_default(),
        insurer: first(INSURER).filter(|name| names_somebody(name)),
        naic: first(NAIC).and_then(|code| company::naic(&code)),
        lines: coverage::lines_of_all(lines.iter().map(String::as_str)),
        effective,
        expiration,
        premium_nanos: values(PREMIUM).find_map(|field| field.value.as_i64()),
        documents: vec![document.n],
        contested: rivals.collect(),
    }
}

/// Whether a name has a word of its own: the rest of a name that went on elsewhere is nobody's.
fn names_somebody(name: &str) -> bool {
    let is_labelled = name.contains(": ");
    !is_labelled && company::normal_name(name).split(' ').any(|word| !word.is_empty() && !NOBODYS.contains(&word))
}

/// The policies that a step before has left in the state, or that the arguments name.
pub(super) fn given(args: &Map<String, Value>, state: &Map<String, Value>) -> Vec<Policy> {
    let named = objects(args, "policies");
    let list = if named.is_empty() { objects(state, "extracted_policies") } else { named };
    list.iter().filter_map(Policy::from_json).collect()
}

/// JSON Schema of a list of policies as a person or a plan writes them.
pub(super) fn json_schema() -> Value {
    let text = json!({"type": ["string", "null"], "maxLength": 300});
    let date = json!({"type": ["string", "null"], "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"});
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["policy_number"],
            "properties": {
                "policy_number": {"type": "string", "minLength": 1, "maxLength": 100},
                "insurer": text,
                "naic": text,
                "lines": {"type": "array", "items": {"type": "string"}},
                "effective": date,
                "expiration": date,
                "premium_nanos": {"type": ["integer", "null"]},
                "confidence": {"type": ["number", "null"]},
                "documents": {"type": "array", "items": {"type": "integer"}},
                "contested": {"type": "array", "items": {"type": "string"}}
            },
            "additionalProperties": false
        }
    })
}
