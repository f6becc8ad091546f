//! The entity: its props, its key, and under what it can be found.

use kybern_core::ports::ToolContext;
use kybern_core::record::{Lookup, Record, RecordKind};
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};

use crate::args::{fields, text};
use crate::{company, contact};

/// The kind of record.
pub(super) const KIND: &str = "network.entity";

/// The kinds of companies that are told apart.
pub(super) const TYPES: &[&str] =
    &["motor_carrier", "shipper", "freight_broker", "insurance_carrier", "insurance_agency", "business"];

/// The type of a company of which nothing more is known.
pub(super) const UNKNOWN_TYPE: &str = "business";

/// The type of an insurer.
pub(super) const INSURER: &str = "insurance_carrier";

/// The lookup under which all insurers of a tenant are found. Other packs look there too.
const INSURERS: &str = "entity_type";

/// Identifiers, as they are named in records and lookups. None is shared by two entities of a tenant.
pub(super) const IDENTIFIERS: [&str; 3] = ["DOT", "MC", "NAIC"];

/// What a call says about a company, normalised.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct DescribedCompany {
    pub(super) name: Option<String>,
    pub(super) entity_type: Option<String>,
    /// By [`IDENTIFIERS`], in that order.
    pub(super) identifiers: Vec<(&'static str, String)>,
    pub(super) email: Option<String>,
    pub(super) phone: Option<String>,
    pub(super) address: Option<String>,
    pub(super) state: Option<String>,
    /// Where fields were found: `{field: {document, confidence, …}}`, as far as the caller knows.
    pub(super) sources: Map<String, Value>,
}

impl DescribedCompany {
    /// Its name as it is compared; empty when it has none.
    pub(super) fn normal_name(&self) -> String {
        self.name.as_deref().map(company::normal_name).unwrap_or_default()
    }

    /// Its identifier of that type.
    pub(super) fn identifier(&self, kind: &str) -> Option<&str> {
        self.identifiers.iter().find(|(name, _)| *name == kind).map(|(_, value)| value.as_str())
    }

    /// Its state, stated or read from the address.
    pub(super) fn known_state(&self) -> Option<String> {
        self.state.clone().or_else(|| self.address.as_deref().and_then(contact::state_of_address))
    }

    /// The key of the record, if it is created: the strongest thing that is known, so that two tasks that meet the
    /// same new company at the same moment do not make two records.
    fn key(&self) -> String {
        match self.identifiers.first() {
            Some((kind, value)) => format!("{}:{value}", kind.to_lowercase()),
            None => {
                let state = self.known_state().unwrap_or_else(|| "-".to_owned());
                format!("name:{}:{state}", self.normal_name().chars().take(150).collect::<String>())
            }
        }
    }

    /// The props of a new record.
    pub(super) fn props(&self, context: &ToolContext) -> Map<String, Value> {
        let named: Vec<&str> = ["name", "entity_type", "email", "phone", "address", "state", "identifiers"]
            .into_iter()
            .filter(|field| self.says(field))
            .collect();
        fields([
            ("name", json!(self.name)),
            ("entity_type", json!(self.entity_type.as_deref().unwrap_or(UNKNOWN_TYPE))),
            ("identifiers", identifiers_json(&self.identifiers)),
            ("email", json!(self.email)),
            ("phone", json!(self.phone)),
            ("address", json!(self.address)),
            ("state", json!(self.known_state())),
            ("is_shadow", json!(true)),
            ("sources", json!(self.sources_of(&named, context))),
        ])
    }

    fn says(&self, field: &str) -> bool {
        match field {
            "name" => self.name.is_some(),
            "entity_type" => self.entity_type.is_some(),
            "email" => self.email.is_some(),
            "phone" => self.phone.is_some(),
            "address" => self.address.is_some(),
            "state" => self.known_state().is_some(),
            _ => !self.identifiers.is_empty(),
        }
    }

    /// Where these fields come from: the task and the step, and what the caller knows beyond that.
    pub(super) fn sources_of(&self, named: &[&str], context: &ToolContext) -> Map<String, Value> {
        let source = |field: &&str| {
            let mut source = fields([("task", json!(context.task)), ("step", json!(context.step))]);
            if let Some(known) = self.sources.get(*field).and_then(Value::as_object) {
                source.extend(known.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            ((*field).to_owned(), Value::Object(source))
        };
        named.iter().map(source).collect()
    }

    /// Under what a new record can be found.
    pub(super) fn lookups(&self) -> Vec<Lookup> {
        let mut lookups: Vec<Lookup> =
            self.identifiers.iter().map(|(kind, value)| Lookup::unique(*kind, value.clone())).collect();
        lookups.extend(name_lookups(&self.normal_name()));
        if self.entity_type.as_deref() == Some(INSURER) {
            lookups.push(Lookup::shared(INSURERS, INSURER));
        }
        lookups
    }
}

/// How many companies of one name a tenant can have whose names are all that is known of them.
const MAX_NAMESAKES: u32 = 100;

/// The key of a new record. A namesake that is another company (a person has said so) has the plain key already.
pub(super) async fn free_key(context: &ToolContext, described: &DescribedCompany) -> Result<String, ToolFailure> {
    let plain = described.key();
    for n in 1..=MAX_NAMESAKES {
        let key = if n == 1 { plain.clone() } else { format!("{plain}:{n}") };
        if context.records()?.record(context.scope, KIND, &key).await?.is_none() {
            return Ok(key);
        }
    }
    Err(ToolFailure::permanent(format!(
        "there are {MAX_NAMESAKES} companies of this name already; give a DOT or MC number to tell this one apart"
    )))
}

/// Lookups of a normalised name: the whole of it, its first word and the rest of it. A name with one wrong word or
/// letter still shares its first word or its rest, which is how candidates for the comparison are found.
pub(super) fn name_lookups(normal_name: &str) -> Vec<Lookup> {
    if normal_name.is_empty() {
        return Vec::new();
    }
    let (head, tail) = normal_name.split_once(' ').unwrap_or((normal_name, ""));
    let mut lookups = vec![Lookup::shared("name", normal_name), Lookup::shared("name_head", head)];
    if !tail.is_empty() {
        lookups.push(Lookup::shared("name_tail", tail));
    }
    lookups
}

/// Under what an entity stands that people call so: its number, alone or behind the name of its kind (`DOT 9104417`), as
/// records hold it; or its name.
pub(super) fn lookups_called(called: &str) -> Vec<Lookup> {
    let letters: String = called.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_uppercase).collect();
    let is_meant = |kind: &str| letters.is_empty() || letters.trim_start_matches("US") == kind;
    let numbers = [company::dot_number(called), company::mc_number(called), company::naic(called)];
    let meant = IDENTIFIERS.into_iter().zip(numbers).filter(|(kind, _)| is_meant(kind));
    let mut lookups: Vec<Lookup> =
        meant.filter_map(|(kind, number)| number.map(|number| Lookup::shared(kind, number))).collect();
    let name = company::normal_name(called);
    if !name.is_empty() {
        lookups.push(Lookup::shared("name", name));
    }
    lookups
}

/// A record's field, when it is not empty.
pub(super) fn field_of(record: &Record, name: &str) -> Option<String> {
    text(&record.props, name)
}

/// Identifiers as a record holds them.
pub(super) fn identifiers_json(identifiers: &[(&'static str, String)]) -> Value {
    identifiers.iter().map(|(kind, value)| json!({"type": kind, "value": value})).collect()
}

/// The kind of record that this pack declares.
pub(super) fn kind() -> RecordKind {
    let (nullable, text) = (json!({"type": ["string", "null"]}), json!({"type": "string"}));
    RecordKind {
        key: KIND.to_owned(),
        description: "A company: carrier, shipper, broker or insurer, with the source of every field".to_owned(),
        schema: json!({
            "type": "object",
            "required": ["name", "entity_type", "identifiers", "is_shadow"],
            "properties": {
                "name": nullable,
                "entity_type": {"enum": TYPES},
                "identifiers": {"type": "array", "items": {
                    "type": "object",
                    "required": ["type", "value"],
                    "properties": {"type": {"enum": IDENTIFIERS}, "value": {"type": "string", "pattern": "^[0-9]+$"}},
                    "additionalProperties": false
                }},
                "email": nullable,
                "phone": nullable,
                "address": nullable,
                "state": nullable,
                "is_shadow": {"type": "boolean"},
                "sources": {"type": "object", "additionalProperties": {"type": "object"}}
            },
            "additionalProperties": false
        }),
        by_hand: json!({"email": text, "phone": text, "address": text, "state": text}),
    }
}

#[cfg(test)]
mod tests {
    use super::lookups_called;

    #[test]
    fn a_company_is_called_by_its_number_or_its_name() {
        let all = |called: &str| -> Vec<String> {
            lookups_called(called).into_iter().map(|lookup| format!("{}={}", lookup.name, lookup.value)).collect()
        };
        assert_eq!(all("Acme Hauling, L.L.C."), ["name=acme hauling"]);
        assert_eq!(all("9104417"), ["DOT=9104417", "MC=9104417", "name=9104417"], "an NAIC code has five digits");
        assert_eq!(all("1234"), ["DOT=1234", "MC=1234", "NAIC=01234", "name=1234"]);
        assert_eq!((&*all("MC-0191832")[0], &*all("NAIC 1234")[0]), ("MC=191832", "NAIC=01234"), "as they are kept");
        for called in ["DOT 9104417", "usdot-9104417", "dot:9104417"] {
            assert_eq!(all(called)[0], "DOT=9104417", "{called}");
            assert_eq!(all(called).len(), 2, "{called}");
        }
        assert_eq!(all("Route 66 Freight"), ["name=route 66 freight"]);
        assert!(all(" ?! ").is_empty());
    }
}
