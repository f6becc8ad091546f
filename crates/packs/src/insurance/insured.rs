//! Whom the documents insure: the best of what they say, with the source of each field.

mod several;

use kybern_core::model::ExtractedField;
use serde_json::{Map, Value, json};

use crate::args::{as_text, text};
use crate::pattern::Pattern;
use crate::reading::{MESSAGE_NUMBER, ReadDocument, UNSURE, rounded};
use crate::{company, contact, named};

/// The fields, in their order, with the names under which extraction may give them.
const FIELDS: [(&str, &[&str]); 6] = [
    ("name", &["insured.name"]),
    ("dot_number", &["insured.dot_number", "insured.dot"]),
    ("mc_number", &["insured.mc_number", "insured.mc"]),
    ("email", &["insured.email"]),
    ("phone", &["insured.phone"]),
    ("address", &["insured.address"]),
];

/// From this confidence on, two documents with different DOT numbers are about two companies.
const SURE: f64 = 0.65;

/// A DOT number in the words of a message.
static SAID: Pattern =
    Pattern::new(r"(?i)\b(?:us\s?)?dot\b\s*(?:number|num|no\.?|nr\.?)?\s*#?\s*(?:is|es|est|:|=|-)?\s*#?\s*(\d{5,8})\b");

/// Words before the name of the company for which somebody writes.
const LEADS: [&str; 8] = ["for", "of", "by", "with", "para", "por", "pour", "de"];

/// Words of a name by which a message may call a company.
const TELLING: usize = 2;

/// How much a value gains by standing in one more place, and at most.
const GAIN: f64 = 0.02;
const MOST_GAIN: f64 = 0.06;

/// The insured, as far as it is known.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Insured {
    /// Every field of [`FIELDS`], `null` when it was not found.
    pub(super) fields: Map<String, Value>,
    /// Where each field that was found stood.
    pub(super) sources: Map<String, Value>,
    /// DOT numbers of different documents that contradict each other; where there are no two, MC numbers.
    pub(super) contradicting: Contradiction,
    /// Companies that the message and its papers insure, when there are several.
    pub(super) several: Vec<String>,
}

/// Identifiers that contradict each other.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Contradiction {
    /// Under what they are listed.
    pub(super) key: &'static str,
    pub(super) what: &'static str,
    /// The field that says which is right.
    pub(super) decides: &'static str,
    /// None, or several.
    pub(super) values: Vec<String>,
}

impl Insured {
    /// The best of all documents, with a person's corrections over it.
    ///
    /// The tenant, every agency that stands in a document, and an insurer that is known are never the insured.
    pub(super) fn read(
        read: &[ReadDocument],
        us: &str,
        insurers: &[String],
        corrections: Option<&Map<String, Value>>,
    ) -> Self {
        let mut insured = Self::default();
        let mut agencies = agencies(read, us);
        agencies.extend(insurers.iter().cloned());
        for (name, spellings) in FIELDS {
            let refused: &[String] = if name == "name" { &agencies } else { &[] };
            let best = best(read, name, spellings, refused).or_else(|| applicants(read, name));
            let best = match name {
                "name" => insured.of_papers(read, best, refused),
                _ => best,
            };
            let best = best.map(|(value, field, confidence)| match name {
                "name" => (with_owner(read, &value).unwrap_or(value), field, confidence),
                _ => (value, field, confidence),
            });
            let corrected = corrections.and_then(|corrections| text(corrections, name));
            let value = match (&corrected, &best) {
                (Some(said), _) => normalised(name, said),
                (None, Some((value, _, _))) => Some(value.clone()),
                (None, None) => None,
            };
            if corrected.is_some() {
                insured.sources.insert(name.to_owned(), json!({"corrected": true}));
            } else if let Some((_, field, confidence)) = best {
                let source = json!({
                    "document": field.source.document,
                    "page": field.source.page,
                    "words": field.source.words,
                    "confidence": rounded(confidence),
                    "foundBy": field.found_by,
                });
                insured.sources.insert(name.to_owned(), source);
            }
            insured.fields.insert(name.to_owned(), json!(value));
        }
        if corrections.is_none_or(|corrections| text(corrections, "dot_number").is_none()) {
            insured.contradicting = contradicting(read, corrections);
        }
        if corrections.is_some_and(|corrections| text(corrections, "name").is_some()) {
            insured.several.clear();
        } else if insured.several.is_empty() {
            insured.several = several::several(read, &agencies);
        }
        insured
    }

    /// The name that papers with a number of its own give, where the message names but the company of its sender: a
    /// consultant writes about somebody else. Where nothing of the message speaks for the papers, both are kept for a
    /// person.
    fn of_papers<'a>(
        &mut self,
        read: &'a [ReadDocument],
        best: Option<(String, &'a ExtractedField, f64)>,
        refused: &[String],
    ) -> Option<(String, &'a ExtractedField, f64)> {
        let (name, field, _) = best.as_ref()?;
        if field.source.document != MESSAGE_NUMBER {
            // Whoever numbers a policy of its own and sends another company's paper may have sent it by mistake.
            if let Some(own) = several::own_company(read, name, refused) {
                self.several = vec![own, name.clone()];
            }
            return best;
        }
        if said_in_message(read).is_some() {
            return best;
        }
        let numbered = |document: &&ReadDocument| {
            let sure = |field: &&ExtractedField| FIELDS[1].1.contains(&field.name.as_str()) && field.confidence >= SURE;
            document.n != MESSAGE_NUMBER && document.single().any(|field| sure(&field))
        };
        let papers: Vec<&ReadDocument> = read.iter().filter(numbered).collect();
        let own = company::normal_name(name);
        let own: Vec<&str> = own.split(' ').collect();
        let names = papers.iter().flat_map(|document| document.single());
        let names = names.filter(|field| FIELDS[0].1.contains(&field.name.as_str()) && field.confidence >= UNSURE);
        let mut others = names.filter_map(|field| {
            let other = as_text(&field.value)?;
            let normal = company::normal_name(&other);
            let apart =
                !several::may_be_one(&own, &normal.split(' ').collect::<Vec<_>>()) && !refused.contains(&normal);
            apart.then_some((other, field, field.confidence))
        });
        let Some(other) = others.next() else { return best };
        let normal = company::normal_name(&other.0);
        let short = normal.split(' ').take(TELLING).collect::<Vec<_>>().join(" ");
        let message = read.iter().find(|document| document.n == MESSAGE_NUMBER);
        let numbers = message.is_some_and(several::numbers_policies);
        let led = |text: &str| {
            let text = format!(" {} ", company::normal_name(text));
            LEADS.iter().any(|lead| text.contains(&format!(" {lead} {short} ")))
        };
        let in_subject = |text: &str| format!(" {} ", company::normal_name(text)).contains(&format!(" {short} "));
        let pages = || message.into_iter().flat_map(|message| &message.text.pages);
        let says = pages().any(|page| led(&page.text) || !page.label.is_empty() && in_subject(&page.text));
        let apart = !own.join(" ").starts_with(&short);
        if says && apart && !numbers {
            return Some(other);
        }
        self.several = vec![name.clone(), other.0];
        best
    }

    /// Whether anybody can tell which company it is: a name that is not a guess, or a DOT number.
    pub(super) fn is_known(&self) -> bool {
        let sure = self.sources.get("name").is_some_and(|source| {
            source.get("corrected").is_some() || source.get("confidence").and_then(Value::as_f64) >= Some(UNSURE)
        });
        sure || text(&self.fields, "dot_number").is_some()
    }
}

/// The name under which somebody trades together with the owner's, where any paper has both.
fn with_owner(read: &[ReadDocument], name: &str) -> Option<String> {
    let texts = read.iter().map(|document| document.text.full_text());
    texts.filter(|text| text.contains(name)).find_map(|text| named::with_owner(&text, name))
}

/// The names of the agencies in the documents, and the tenant's, as they are compared. Whom a paper names more surely as
/// the insured is no agency.
fn agencies(read: &[ReadDocument], us: &str) -> Vec<String> {
    let all = || read.iter().flat_map(ReadDocument::single);
    let normal = |field: &ExtractedField| as_text(&field.value).map(|name| company::normal_name(&name));
    let insures = |agency: &&ExtractedField| {
        let more_surely = |field: &ExtractedField| {
            FIELDS[0].1.contains(&field.name.as_str())
                && field.confidence > agency.confidence
                && normal(field) == normal(agency)
        };
        !as_text(&agency.value).is_some_and(|name| company::is_office(&name)) && all().any(more_surely)
    };
    let named = all().filter(|field| field.name == "agency.name").filter(|agency| !insures(agency));
    let named = named.filter_map(|field| as_text(&field.value)).chain([us.to_owned()]);
    named.map(|name| company::normal_name(&name)).filter(|name| !name.is_empty()).collect()
}

/// The value with the highest confidence, gaining a little with every further place; attachments before the message.
fn best<'a>(
    read: &'a [ReadDocument],
    name: &str,
    spellings: &[&str],
    refused: &[String],
) -> Option<(String, &'a ExtractedField, f64)> {
    let mut found: Vec<(String, &ExtractedField, f64, f64)> = Vec::new();
    for field in read.iter().flat_map(ReadDocument::single).filter(|field| spellings.contains(&field.name.as_str())) {
        let Some(value) = as_text(&field.value).and_then(|text| normalised(name, &text)) else { continue };
        if refused.contains(&company::normal_name(&value)) {
            continue;
        }
        match found.iter_mut().find(|(known, ..)| same(name, known, &value)) {
            Some((_, first, confidence, gain)) => {
                if field.confidence > *confidence {
                    (*first, *confidence) = (field, field.confidence);
                }
                *gain = (*gain + GAIN).min(MOST_GAIN);
            }
            None => found.push((value, field, field.confidence, 0.0)),
        }
    }
    let rank = |(_, field, confidence, gain): &(String, &ExtractedField, f64, f64)| {
        let attached = if field.source.document == 0 { 0.0 } else { GAIN / 2.0 };
        confidence + gain + attached
    };
    // The first of equals wins, so that the order of documents decides and not that of a sort.
    let mut winner: Option<(String, &ExtractedField, f64, f64)> = None;
    for candidate in found {
        if winner.as_ref().is_none_or(|best| rank(&candidate) > rank(best)) {
            winner = Some(candidate);
        }
    }
    winner.map(|(value, field, confidence, _)| (value, field, confidence))
}

/// How the one who fills in an application is reached: whoever asks to be insured.
fn applicants<'a>(read: &'a [ReadDocument], name: &str) -> Option<(String, &'a ExtractedField, f64)> {
    let wanted = match name {
        "email" => "contact.email",
        "phone" => "contact.phone",
        _ => return None,
    };
    let applications = read
        .iter()
        .filter(|document| document.n > 0 && document.extraction.analysis.category.as_deref() == Some("APPLICATION"));
    let field = applications.flat_map(ReadDocument::single).find(|field| field.name == wanted)?;
    Some((normalised(name, &as_text(&field.value)?)?, field, field.confidence))
}

fn normalised(name: &str, value: &str) -> Option<String> {
    match name {
        "dot_number" => company::dot_number(value),
        "mc_number" => company::mc_number(value),
        "email" => contact::email(value),
        "phone" => contact::phone(value),
        _ => Some(value.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|value| !value.is_empty()),
    }
}

fn same(name: &str, a: &str, b: &str) -> bool {
    if name == "name" { company::normal_name(a) == company::normal_name(b) } else { a.eq_ignore_ascii_case(b) }
}

/// The DOT numbers of the insured that different documents state with certainty, when they differ. Documents that
/// have none may still differ in its MC number, unless a person has said which it is.
fn contradicting(read: &[ReadDocument], corrections: Option<&Map<String, Value>>) -> Contradiction {
    let mut numbers = stated(read, FIELDS[1]);
    // A message that says one number says the company's; among several some are of others.
    if let Some(number) = said_in_message(read)
        && !numbers.is_empty()
        && !numbers.contains(&number)
    {
        numbers.push(number);
    }
    if numbers.len() > 1 {
        return Contradiction {
            key: "dot_numbers",
            what: "DOT numbers for the insured",
            decides: FIELDS[1].0,
            values: numbers,
        };
    }
    let said = corrections.is_some_and(|corrections| text(corrections, "mc_number").is_some());
    let numbers = if numbers.is_empty() && !said { stated(read, FIELDS[2]) } else { Vec::new() };
    let values = if numbers.len() > 1 { numbers } else { Vec::new() };
    Contradiction { key: "mc_numbers", what: "MC numbers for the insured", decides: FIELDS[2].0, values }
}

/// The number of a kind that each document states with certainty, each once.
fn stated(read: &[ReadDocument], (name, spellings): (&str, &[&str])) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::new();
    for document in read {
        let mut sure = document
            .single()
            .filter(|field| spellings.contains(&field.name.as_str()) && field.confidence >= SURE)
            .filter_map(|field| as_text(&field.value).and_then(|text| normalised(name, &text)));
        if let Some(number) = sure.next()
            && !numbers.contains(&number)
        {
            numbers.push(number);
        }
    }
    numbers
}

/// The only DOT number that the message says.
fn said_in_message(read: &[ReadDocument]) -> Option<String> {
    let message = read.iter().find(|document| document.n == MESSAGE_NUMBER)?;
    let mut said: Vec<String> =
        SAID.groups(&message.text.full_text()).into_iter().filter_map(company::dot_number).collect();
    said.sort();
    said.dedup();
    if said.len() == 1 { said.pop() } else { None }
}
