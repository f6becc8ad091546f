//! The fields of a vehicle and of a loss.

use kybern_core::model::{FieldPattern, ValueKind};

use super::{LOSSES, VEHICLES, of, opens};

/// One vehicle.
pub(super) const VEHICLE: &[FieldPattern] = &[
    opens(of(
        VEHICLES,
        "has_vehicles",
        "vin",
        &[
            "vin",
            "vin number",
            "vehicle identification number",
            "vehicle id number",
            "serial number",
            "vin serial number",
            "vehicle id",
        ],
        ValueKind::Vin,
    )),
    of(VEHICLES, "has_vehicles", "year", &["year", "yr", "model year", "vehicle year"], ValueKind::Year),
    of(VEHICLES, "has_vehicles", "make", &["make", "vehicle make", "manufacturer", "trade name"], ValueKind::Text),
    of(VEHICLES, "has_vehicles", "model", &["model", "vehicle model", "body type", "description"], ValueKind::Text),
    of(
        VEHICLES,
        "has_vehicles",
        "value",
        &["stated value", "stated amount", "value", "cost new", "insured value", "acv", "amount of insurance"],
        ValueKind::Money,
    ),
];

/// One loss.
pub(super) const LOSS: &[FieldPattern] = &[
    opens(of(
        LOSSES,
        "has_claims",
        "date",
        &[
            "date of loss",
            "loss date",
            "accident date",
            "date of accident",
            "dol",
            "occurrence date",
            "date of occurrence",
        ],
        ValueKind::Date,
    )),
    of(LOSSES, "has_claims", "claim_number", &["claim number", "claim", "file number", "claim id"], ValueKind::Text),
    of(LOSSES, "has_claims", "line", &["line", "coverage", "line of business", "type", "lob"], ValueKind::Text),
    of(
        LOSSES,
        "has_claims",
        "description",
        &["description", "cause", "cause of loss", "loss description", "accident description", "description of loss"],
        ValueKind::Text,
    ),
    of(LOSSES, "has_claims", "paid", &["paid", "total paid", "amount paid", "paid to date"], ValueKind::Money),
    of(
        LOSSES,
        "has_claims",
        "reserve",
        &["reserve", "reserves", "reserved", "outstanding", "open reserve", "outstanding reserve"],
        ValueKind::Money,
    ),
    of(LOSSES, "has_claims", "status", &["status", "claim status"], ValueKind::Text),
];
