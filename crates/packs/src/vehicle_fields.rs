//! The fields of a vehicle. Labels are English, Spanish and French.

use kybern_core::list;
use kybern_core::model::ValueKind;

use crate::field::{Field, VEHICLES, of, opens, within};

pub(crate) const VEHICLE: &[Field] = &[
    opens(of(
        VEHICLES,
        "has_vehicles",
        "vin",
        list!(
            "vin, vin number, v i n, serial number vin, serial no vin, vins, full vin, vehicle identification number, \
             vehicle identification number vin, vehicle identification, vehicle id number, identification number, \
             serial number, serial or vin, vin serial number, vehicle id, serial number of unit, niv, número de serie, \
             numero de serie, numéro de série, n° de série, fahrgestellnummer"
        ),
        ValueKind::Vin,
    )),
    of(
        VEHICLES,
        "has_vehicles",
        "year",
        &["year", "yr", "model year", "vehicle year", "my", "año", "ano", "année", "baujahr"],
        ValueKind::Year,
    ),
    of(
        VEHICLES,
        "has_vehicles",
        "make",
        &["make", "vehicle make", "manufacturer", "trade name", "marca", "marque"],
        ValueKind::Text,
    ),
    of(
        VEHICLES,
        "has_vehicles",
        "model",
        &["model", "vehicle model", "body type", "body", "type", "description", "modelo", "modèle"],
        ValueKind::Text,
    ),
    within(
        0,
        100_000_000,
        of(
            VEHICLES,
            "has_vehicles",
            "value",
            list!(
                "stated value, stated amount, value, cost new, insured value, acv, amount of insurance, valor, \
                 valor declarado, valeur"
            ),
            ValueKind::Money,
        ),
    ),
];
