//! What is looked for in the papers of a load: its numbers, the parties, the stops and the rate. Labels are English,
//! Spanish and French.

mod categories;

use std::sync::{Arc, LazyLock};

use kybern_core::list;
use kybern_core::model::{ExtractionSchema, ValueKind};

use crate::contact_fields::{COMPANY, CONTACT, FEINS, UNWANTED};
use crate::field::{self, Field, one, within};

/// Labels of when a load is picked up: the day, and the time beside it.
const PICKUPS: &[&str] = list!(
    "pickup, pick up, pickup date, pick up date, pickup on, pick, picks, pick on, picking up, loads on, ships, \
     ships on, pu date, pu, ship date, shipping date, load date, loading date, ready date, fecha de recogida, \
     fecha de recolección, recolección, recogida, fecha de carga, cueillette, date de cueillette, ramassage, \
     date de chargement, abholung, pickup time, pick up time, pickup date time, pickup date and time, \
     pick up date and time, pickup appointment, pick up appointment, pickup appt, pickup window, pu time, pu appt, \
     loading time, hora de recogida, heure de cueillette, heure de ramassage"
);

/// Labels of when a load is delivered: the day, and the time beside it.
const DELIVERIES: &[&str] = list!(
    "delivery, deliver, delivery date, deliver by, deliver on, delivered, delivered on, del date, drop, drop off, \
     drop date, drops, delivers, delivers on, delivering, unload date, due date, fecha de entrega, entrega, livraison, \
     date de livraison, lieferung, delivery time, delivery date time, delivery date and time, delivery appointment, \
     delivery appt, delivery window, del time, del appt, drop time, unload time, unloading time, hora de entrega, \
     heure de livraison"
);

/// A paper that says what the carrier is paid: to whoever drives, the customer is the broker.
const SECTIONS: &[(&str, &[&str])] = &[(
    "pays_carrier",
    list!(
        "carrier pay, total carrier pay, rate to carrier, carrier rate, paid to carrier, line haul, linehaul, \
         total rate, flat rate, agreed rate, all in rate, rate confirmation, rate agreement, load confirmation, \
         carrier confirmation, load sheet, load tender"
    ),
)];

/// What only such a paper calls by these words.
const PAID: &[Field] = &[
    Field {
        signs: &["brokers", "brokerage"],
        ..one(
            "broker",
            &["customer", "customer name", "booked with", "booked by", "brokered through"],
            ValueKind::Name,
            Some("pays_carrier"),
        )
    },
    within(0, 1_000_000, one("rate_amount", &["total", "all in"], ValueKind::Money, Some("pays_carrier"))),
];

const LOAD: &[Field] = &[
    one(
        "load_number",
        list!(
            "load, load number, load offer, load tender, load agreement, rate agreement, carrier rate agreement, \
             tender and rate agreement, load tender and rate agreement, order no, our order, load id, \
             load confirmation number, confirmation number, rate confirmation number, order, order number, shipment, \
             shipment number, shipment id, bol, bol number, b l number, b l, bill of lading number, pro, pro number, \
             trip, trip number, reference number, reference, our reference, your reference, carga número, \
             número de carga, orden, voyage, numéro de voyage, chargement, numéro de chargement, connaissement, \
             auftrag"
        ),
        ValueKind::Reference,
        None,
    ),
    Field {
        signs: &["brokers", "brokerage"],
        ..one(
            "broker",
            list!(
                "broker, broker name, freight broker, brokered by, tendered by, issued by, logistics company, \
                 third party logistics, corredor, courtier, courtier en transport"
            ),
            ValueKind::Name,
            None,
        )
    },
    one(
        "company_name",
        list!(
            "carrier, carrier name, motor carrier, truck line, trucker, tenders this load to, tenders the load to, \
             load tendered to, tendered to, trucking company, hauler, carrier information, assigned carrier, \
             transportista, transporteur, frachtführer"
        ),
        ValueKind::Name,
        None,
    ),
    Field {
        visited_on: Some("pickup_date"),
        ..one(
            "shipper",
            list!(
                "shipper, shipper name, ship from, from, origin, pickup location, pick up location, pickup at, \
                 pick up at, loading at, embarcador, remitente, origen, expéditeur, origine, absender"
            ),
            ValueKind::Name,
            None,
        )
    },
    Field {
        visited_on: Some("delivery_date"),
        ..one(
            "consignee",
            list!(
                "consignee, consignee name, receiver, ship to, to, deliver to, delivered to, destination, \
                 delivery location, destinatario, consignatario, destino, destinataire, empfänger"
            ),
            ValueKind::Name,
            None,
        )
    },
    one("pickup_date", PICKUPS, ValueKind::Date, None),
    one("pickup_time", PICKUPS, ValueKind::Time, None),
    one("delivery_date", DELIVERIES, ValueKind::Date, None),
    one("delivery_time", DELIVERIES, ValueKind::Time, None),
    within(
        0,
        1_000_000,
        one(
            "rate_amount",
            list!(
                "rate, total rate, all in, pays, paying, we pay, we have you at, agreed rate, flat rate, all in rate, \
                 total carrier pay, carrier pay, total pay, total amount, total charges, total due carrier, \
                 total to carrier, total rate to carrier, rate to carrier, carrier rate, carrier is paid, \
                 carrier will be paid, carrier total, paid to carrier, pay to carrier, total carrier rate, \
                 grand total, tarifa, tarifa total, taux, tarif, prix total"
            ),
            ValueKind::Money,
            None,
        ),
    ),
    one(
        "weight",
        &["weight", "total weight", "gross weight", "weight lb", "weight lbs", "peso", "poids"],
        ValueKind::Integer,
        None,
    ),
    one("mc_number", &["mc", "mc number", "docket number"], ValueKind::McNumber, None),
    one("dot_number", &["usdot", "dot", "us dot", "usdot number", "dot number"], ValueKind::DotNumber, None),
    one("fein", FEINS, ValueKind::Fein, None),
];

/// The schema. All of its fields are always looked for.
#[must_use]
pub fn schema() -> Arc<ExtractionSchema> {
    static SCHEMA: LazyLock<Arc<ExtractionSchema>> = LazyLock::new(|| Arc::new(made()));
    Arc::clone(&SCHEMA)
}

fn made() -> ExtractionSchema {
    ExtractionSchema {
        name: "freight".to_owned(),
        categories: field::categories(categories::CATEGORIES),
        sections: field::sections(SECTIONS),
        fields: field::patterns(&[LOAD, PAID, CONTACT, COMPANY, UNWANTED]),
        writer: Some("contact".to_owned()),
        ..ExtractionSchema::default()
    }
}
