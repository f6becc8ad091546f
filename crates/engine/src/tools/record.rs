//! What the kinds of records that packs declare ask of every write, whichever tool or person makes it.

use std::collections::HashMap;

use jsonschema::Validator;
use kybern_core::error::Detail;
use kybern_core::pack::PackRegistry;
use kybern_core::record::{Expect, PutRecord, RecordKind};
use serde_json::{Map, Value, json};

use crate::schema;

/// The declared kinds, each compiled once. What is no kind of a pack is a kind of its users': nothing is asked of it.
pub(crate) struct DeclaredKinds {
    kinds: HashMap<String, Result<Declared, String>>,
}

/// The schema of one kind, for a record as a whole and for what is put into one that exists: that leaves out what it
/// does not change. Each prop is merged by itself, so a sound record stays sound when what is put in is.
struct Declared {
    whole: Validator,
    change: Validator,
    by_hand: Validator,
    /// The props that a person may change.
    names: Vec<String>,
    /// All that there are.
    props: Vec<String>,
}

impl DeclaredKinds {
    pub(crate) fn of(registry: &PackRegistry) -> Self {
        let kinds = registry.kinds().map(|kind| (kind.key.clone(), Declared::of(kind))).collect();
        Self { kinds }
    }

    /// Why a write is not taken, if its kind does not take it.
    pub(super) fn refusal(&self, put: &PutRecord) -> Option<String> {
        let faults: Vec<String> =
            self.faults(put).iter().map(|fault| format!("{}: {}", at(fault), fault.message)).collect();
        let (kind, key) = (&put.kind, &put.key);
        let stands = format!("the record {key:?} does not fit its kind {kind}, which a pack declares");
        (!faults.is_empty()).then(|| format!("{stands}: {}", faults.join("; ")))
    }

    /// The props that a kind declares; `None` for one that no pack declares.
    pub(crate) fn props(&self, kind: &str) -> Option<&[String]> {
        self.kinds.get(kind)?.as_ref().ok().map(|declared| declared.props.as_slice())
    }

    /// What is wrong with a change by hand that leaves the record with `after`; the places are those of its props.
    pub(crate) fn faults_by_hand(
        &self,
        kind: &str,
        changed: &Map<String, Value>,
        after: &Map<String, Value>,
    ) -> Vec<Detail> {
        let declared = match self.kinds.get(kind) {
            None => return Vec::new(),
            Some(Err(problem)) => return vec![Detail::new("", problem.clone())],
            Some(Ok(declared)) => declared,
        };
        let is_held = |name: &&String| !declared.names.contains(name);
        let held = changed.keys().filter(is_held).map(|name| {
            let these = declared.names.join(", ");
            Detail::new(format!("/{name}"), format!("{name} of {kind} is not changed by hand; these are: {these}"))
        });
        let mut faults: Vec<Detail> = held.collect();
        if faults.is_empty() {
            let given = changed.iter().filter(|(_, value)| !value.is_null());
            let given = given.map(|(name, value)| (name.clone(), value.clone())).collect();
            faults = schema::faults(&declared.by_hand, &Value::Object(given));
        }
        if faults.is_empty() {
            faults = schema::faults(&declared.whole, &Value::Object(after.clone()));
        }
        faults
    }

    fn faults(&self, put: &PutRecord) -> Vec<Detail> {
        let declared = match self.kinds.get(&put.kind) {
            None => return Vec::new(),
            Some(Err(problem)) => return vec![Detail::new("", problem.clone())],
            Some(Ok(declared)) => declared,
        };
        let validator = match put.expect {
            Expect::Version(_) => &declared.change,
            Expect::Absent | Expect::Any => &declared.whole,
        };
        schema::faults(validator, &Value::Object(put.props.clone()))
    }
}

/// Where a fault lies, as a caller would name it.
fn at(fault: &Detail) -> &str {
    if fault.path.is_empty() { "its props" } else { &fault.path }
}

impl Declared {
    fn of(kind: &RecordKind) -> Result<Self, String> {
        let names = |of: &Value| of.as_object().into_iter().flat_map(Map::keys).cloned().collect::<Vec<String>>();
        Ok(Self {
            whole: schema::compile_own(&kind.schema)?,
            change: schema::compile_own(&schema::partial(&kind.schema))?,
            by_hand: schema::compile_own(&json!({"type": "object", "properties": kind.by_hand}))?,
            names: names(&kind.by_hand),
            props: names(&kind.schema["properties"]),
        })
    }
}
