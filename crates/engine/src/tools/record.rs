//! What the kinds of records that packs declare ask of every write, whichever tool makes it.

use std::collections::HashMap;

use jsonschema::Validator;
use kybern_core::error::Detail;
use kybern_core::pack::PackRegistry;
use kybern_core::record::{Expect, PutRecord, RecordKind};
use serde_json::Value;

use crate::schema;

/// The declared kinds, each compiled once. What is no kind of a pack is a kind of its users': nothing is asked of it.
pub(super) struct DeclaredKinds {
    kinds: HashMap<String, Result<Declared, String>>,
}

/// The schema of one kind, for a record as a whole and for what is put into one that exists: that leaves out what it
/// does not change. Each prop is merged by itself, so a sound record stays sound when what is put in is.
struct Declared {
    whole: Validator,
    change: Validator,
}

impl DeclaredKinds {
    pub(super) fn of(registry: &PackRegistry) -> Self {
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
        let change = schema::compile_own(&schema::partial(&kind.schema))?;
        Ok(Self { whole: schema::compile_own(&kind.schema)?, change })
    }
}
