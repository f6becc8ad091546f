//! What is looked for in the papers of a fleet: its drivers with their licences, and its vehicles. Labels are English,
//! Spanish and French.

mod categories;

use std::sync::{Arc, LazyLock};

use kybern_core::list;
use kybern_core::model::{ExtractionSchema, ValueKind};

use crate::contact_fields::{COMPANY, CONTACT, FEINS, UNWANTED};
use crate::driver_fields::DRIVER;
use crate::field::{self, DRIVERS, Field, of, one, opens};
use crate::vehicle_fields::VEHICLE;

const SECTIONS: &[(&str, &[&str])] = &[
    (
        "has_drivers",
        list!(
            "driver, drivers, cdl, license, licence, mvr, medical examiner, medical card, lic, class a, class b, \
             starts driving, will be driving, oln, operator license, motor vehicle record, driving record, conductor, \
             chofer, chauffeur, conducteur, fahrer"
        ),
    ),
    (
        "tells_of_driver",
        list!(
            "driver application, driver s application, driver employment application, application for employment, \
             application for qualification, driving record, driving history, motor vehicle record, convictions, \
             convicted"
        ),
    ),
    ("is_medical", &["doc:MEDICAL_CARD"]),
    ("has_vehicles", &["vin", "vehicle", "vehicles", "registration", "plate", "unit", "inspection", "serial number"]),
];

const FLEET: &[Field] = &[
    one(
        "company_name",
        list!(
            "company, company name, motor carrier, motor carrier name, carrier, carrier name, employer, applying to, \
             registrant, registrant name, legal name, empresa, empleador, transportista, entreprise, employeur, \
             transporteur, firma"
        ),
        ValueKind::Name,
        None,
    ),
    one(
        "dot_number",
        list!(
            "usdot, us dot, dot, usdot number, us dot number, dot number, u s dot number, usdot of registrant, \
             registrant usdot, registrant usdot number, carrier usdot, carrier usdot number, usdot of carrier"
        ),
        ValueKind::DotNumber,
        None,
    ),
    one("mc_number", &["mc", "mc number", "docket", "docket number", "mc docket number"], ValueKind::McNumber, None),
    one("fein", FEINS, ValueKind::Fein, None),
    one(
        "expiration",
        list!(
            "expires, expiration, expiration date, exp date, valid until, valid through, good until, next due, \
             medical expires, medical expiration, medical card expires, medical card good until, \
             medical card is good until, medical certificate expires, med card expires, med card good until, \
             med card good thru, med card good through, physical expires, physical good until, physical good thru, \
             physical good through, physical is good until, physical is good through, vence, expire le"
        ),
        ValueKind::Date,
        None,
    ),
];

/// When a medical certificate ends. On its own paper that is what a plain `Expires` means, and not a licence's end.
const MEDICAL: &[Field] = &[one(
    "expiration",
    list!(
        "expires, expires on, expiration, expiration date, exp date, exp, valid until, valid through, good until, \
         good through, good thru, good to, vence, expire le"
    ),
    ValueKind::Date,
    Some("is_medical"),
)];

/// Labels that are a driver's on papers about one driver only.
const ONE_DRIVER: &[Field] = &[
    opens(of(
        DRIVERS,
        "tells_of_driver",
        "name",
        &["subject", "full name", "full legal name", "first and last name", "nombre completo", "nom complet"],
        ValueKind::Person,
    )),
    of(DRIVERS, "tells_of_driver", "license_expiry", &["good to", "good thru", "good through"], ValueKind::Date),
];

#[must_use]
pub fn schema() -> Arc<ExtractionSchema> {
    static SCHEMA: LazyLock<Arc<ExtractionSchema>> = LazyLock::new(|| Arc::new(made()));
    Arc::clone(&SCHEMA)
}

fn made() -> ExtractionSchema {
    ExtractionSchema {
        name: "fleet".to_owned(),
        categories: field::categories(categories::CATEGORIES),
        sections: field::sections(SECTIONS),
        fields: field::patterns(&[FLEET, MEDICAL, CONTACT, COMPANY, DRIVER, ONE_DRIVER, VEHICLE, UNWANTED]),
        writer: Some("contact".to_owned()),
        about: Some("company_name".to_owned()),
        ..ExtractionSchema::default()
    }
}
