//! From which day on what a message wants holds, as its sentences say it. Words are English, Spanish and French.

use kybern_core::model::ValueKind;

use crate::field::{Field, one};

/// Words that say in a sentence from which day on cover is wanted.
const STARTS: &[&str] = &[
    "start",
    "starts",
    "starting",
    "start date",
    "effective",
    "eff",
    "effective date",
    "start hauling",
    "start running",
    "on the road",
    "goes active",
    "go active",
    "up and running",
    "coverage by",
    "insurance by",
    "is up",
    "a partir del",
    "à partir du",
    "à compter du",
    "-driver",
    "-hired",
    "-policy",
    "-expires",
    "-call",
    "-talk",
    "-quote by",
];

/// Words that say in a sentence from which day on a change holds.
const CHANGES: &[&str] = &[
    "as of",
    "effective",
    "eff",
    "effective date",
    "starting",
    "beginning",
    "a partir del",
    "à partir du",
    "à compter du",
    "-valued",
    "-losses",
    "-hired",
    "-driver",
];

/// From which day on what is wanted holds.
pub(super) const WANTED_FROM: &[Field] = &[
    Field { signs: STARTS, ..one("wanted_from", &[], ValueKind::Date, Some("wants_quote")) },
    Field { signs: CHANGES, ..one("wanted_from", &[], ValueKind::Date, Some("wants_change")) },
];
