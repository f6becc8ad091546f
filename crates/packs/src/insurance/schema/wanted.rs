//! What a quote is wanted for, and from which day on what a message wants holds. Labels and words are English, Spanish
//! and French.

use kybern_core::list;
use kybern_core::model::ValueKind;

use crate::field::{Field, one};

/// Words that say in a sentence from which day on cover is wanted.
const STARTS: &[&str] = list!(
    "start, starts, starting, start date, effective, eff, effective date, start hauling, start running, on the road, \
     goes active, go active, up and running, coverage by, insurance by, is up, a partir del, à partir du, \
     à compter du, -driver, -hired, -policy, -expires, -call, -talk, -quote by"
);

/// Words that say in a sentence from which day on a change holds.
const CHANGES: &[&str] = list!(
    "as of, effective, eff, effective date, starting, beginning, a partir del, à partir du, à compter du, -valued, \
     -losses, -hired, -driver"
);

/// Labels of the day from which on cover is wanted.
const WANTED_FROM: &[&str] = list!(
    "requested effective, requested effective date, requested start, requested start date, proposed effective date, \
     proposed effective, desired effective date, desired start date, effective date needed, effective date requested, \
     effective date wanted, start date needed, coverage start date, coverage to start, date coverage needed, \
     needed by, need by, needed from, when do you need it, when do you need coverage, when should coverage start, \
     start date, starting, starting on, to start on, begin on, to begin on, beginning on, fecha de inicio solicitada, \
     a partir del, à compter du, date d effet souhaitée"
);

/// What a message wants of an insurance.
pub(super) const WANTED: &[Field] = &[
    one(
        "coverage_requested",
        lines![
            "coverage needed",
            "coverages needed",
            "coverage requested",
            "coverages requested",
            "requested coverage",
            "requested coverages",
            "coverages wanted",
            "coverage wanted",
            "coverages desired",
            "which coverages",
            "which coverages would you like us to quote",
            "what do you need",
            "what coverage do you need",
            "coverage types",
            "coverage type",
            "type of coverage",
            "types of coverage",
            "type of insurance needed",
            "coverage",
            "coverages",
            "interested in",
            "looking for",
            "want",
            "wants",
            "lines needed",
            "lines requested",
            "coberturas",
            "coberturas solicitadas",
            "cobertura solicitada",
            "garanties demandées",
            "couvertures demandées",
        ],
        ValueKind::Text,
        Some("wants_quote"),
    ),
    Field { signs: STARTS, ..one("wanted_from", WANTED_FROM, ValueKind::Date, Some("wants_quote")) },
    Field { signs: CHANGES, ..one("wanted_from", &[], ValueKind::Date, Some("wants_change")) },
];
