//! The fields of a loss. Labels are English, Spanish and French.

use kybern_core::list;
use kybern_core::model::ValueKind;

use super::LOSSES;
use crate::field::{Field, of, opens, within};

/// Words that say in a sentence that something happened on a day.
const HAPPENED: &[&str] = list!(
    "tonight, last night, this morning, this afternoon, yesterday, accident, collision, crash, crashed, wreck, \
     wrecked, struck, sideswiped, rear ended, got hit, was hit, hit a, hit the, rolled, rolled over, rollover, \
     jackknifed, went over, stolen, theft, broke into, broken into, vandalized, caught fire, happened, occurred, \
     parked, damaged, accidente, chocó, choque, robo, robaron, anoche, accidenté, collisions, survenu, volé, \
     hier soir, -policy, -since, -until, -renewal, -reported, -valued"
);

/// A loss that is told in a sentence.
pub(super) const TOLD: &[Field] =
    &[opens(Field { signs: HAPPENED, ..of(LOSSES, "tells_of_accident", "date", &[], ValueKind::Date) })];

pub(super) const LOSS: &[Field] = &[
    opens(of(
        LOSSES,
        "has_claims",
        "date",
        list!(
            "date of loss, loss date, loss dt, loss, date loss, dt of loss, date lost, accident date, \
             date of accident, acc date, dol, d o l, occurrence, occ date, occurrence date, date of occurrence, \
             occurred, incident date, date of incident, event date, fecha del siniestro, fecha de siniestro, \
             fecha de pérdida, date du sinistre, date de sinistre, date de perte, schadendatum, schadentag"
        ),
        ValueKind::Date,
    )),
    of(
        LOSSES,
        "has_claims",
        "claim_number",
        list!(
            "claim number, claim, claims, clm, clm number, claim id, claim ref, claim reference, claim file, \
             loss number, loss no, loss id, loss reference, file number, file, occurrence number, siniestro, \
             número de siniestro, número de reclamo, reclamo, sinistre, numéro de sinistre, n° de sinistre, dossier, \
             schadennummer, schaden"
        ),
        ValueKind::Reference,
    ),
    of(LOSSES, "has_claims", "line", &["line", "coverage", "line of business", "type", "lob"], ValueKind::Text),
    of(
        LOSSES,
        "has_claims",
        "description",
        list!(
            "description, cause, cause of loss, loss description, accident description, description of loss, \
             descripción"
        ),
        ValueKind::Text,
    ),
    of(
        LOSSES,
        "has_claims",
        "paid",
        list!(
            "paid, total paid, amount paid, paid to date, paid loss, paid losses, net paid, gross paid, payments, \
             pagado, payé, bezahlt"
        ),
        ValueKind::Money,
    ),
    within(
        0,
        1_000_000_000,
        of(
            LOSSES,
            "has_claims",
            "reserve",
            list!(
                "reserve, reserves, reserved, outstanding, o s, os reserve, open reserve, outstanding reserve, \
                 case reserve, remaining reserve, reserva, reservas, réserve, réserves, rückstellung"
            ),
            ValueKind::Money,
        ),
    ),
    of(
        LOSSES,
        "has_claims",
        "incurred",
        list!(
            "incurred, total incurred, net incurred, gross incurred, total, total claim, total cost, \
             total net incurred, total inc, tot inc, incurrido, total incurrido, encouru, total encouru"
        ),
        ValueKind::Money,
    ),
    of(LOSSES, "has_claims", "status", &["status", "claim status", "st", "estado", "statut"], ValueKind::Text),
];
