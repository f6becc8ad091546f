//! What is looked for in the documents of an insurance agency and of its clients, who run trucks.
//!
//! A label `phrase=Value` is a term: the phrase is itself the value, in a heading, in a table or behind a label.

mod categories;
#[macro_use]
mod lines;
mod losses;
mod parties;
mod policies;
mod terms;
mod wanted;

use std::sync::{Arc, LazyLock};

use kybern_core::list;
use kybern_core::model::ExtractionSchema;

pub(super) use self::lines::TERMS;
use crate::contact_fields::{COMPANY, CONTACT, UNWANTED};
use crate::driver_fields::DRIVER;
use crate::field;
use crate::vehicle_fields::VEHICLE;

/// The list of policies.
pub const POLICIES: &str = "policies";
/// The list of losses.
pub const LOSSES: &str = "losses";

const SECTIONS: &[(&str, &[&str])] = &[
    (
        "has_insured",
        list!(
            "named insured, insured, insured name, applicant, company name, business name, legal name, usdot, us dot, \
             dot number, dot, mc, mc number, motor carrier, registrant, company, business"
        ),
    ),
    (
        "has_policies",
        list!(
            "policy number, policy numbers, policy no, policy num, policy #, pol no, pol #, policy period, \
             policy term, policy id, policy, pol, póliza, poliza, pólizas, police, naic, insurer, insurers, \
             insurance company, insurance co, casualty, indemnity, indemnity company, casualty company, \
             assurance corporation, assurance company, insurance exchange, insurance corp, risk retention group, \
             carrier, aseguradora, assureur"
        ),
    ),
    (
        "has_coverages",
        list!(
            "coverage, coverages, line of coverage, lines of coverage, line of business, lines of business, \
             combined single limit, auto liability, general liability, motor truck cargo, physical damage, cargo, \
             liability, auto, automobile, auto liab, phys dam, mtc, apd, cgl, workers comp, work comp, umbrella, \
             cobertura, coberturas, couverture, garantie, garanties"
        ),
    ),
    (
        "has_vehicles",
        list!("vin, vehicle, vehicles, vehicle schedule, equipment, covered autos, trailer, tractor, serial number"),
    ),
    (
        "has_claims",
        list!(
            "date of loss, loss date, claim, claims, claim number, losses, dol, incurred, siniestro, siniestros, \
             sinistre, sinistres, loss run, loss runs, loss history, accident date"
        ),
    ),
    (
        "values_losses",
        list!(
            "loss run, loss runs, loss history, loss experience, loss summary, claims experience, claims history, \
             claims summary, claims report, claim number, claim history, date of loss, losses valued, valued as of, \
             valued on, valued at, valuation date, evaluation date, incurred, siniestros, siniestralidad, sinistres"
        ),
    ),
    (
        "has_drivers",
        &["driver", "drivers", "cdl", "mvr", "conductor", "conductores", "chofer", "chauffeur", "conducteur", "fahrer"],
    ),
    (
        "has_certificate",
        list!(
            "certificate, certificates, certificate holder, holder, coi, certificado, certificados, attestation, \
             certificat, evidence of"
        ),
    ),
    (
        "tells_of_accident",
        list!(
            "accident, wreck, wrecked, crash, crashed, collision, rolled, rollover, jackknifed, rear ended, struck, \
             sideswiped, stolen, theft, broken into, open a claim, report a loss, report a claim, accidente, chocó, \
             choque, robo, accidenté, volé"
        ),
    ),
    (
        "wants_change",
        list!(
            "endorse, endorsement, please add, add to, to add, please remove, please delete, to remove, take off, \
             swap, replace, change to, agregar, agreguen, quitar, ajouter, retirer, avenant"
        ),
    ),
    ("has_bill", &["amount due", "balance due", "invoice", "bill", "statement", "factura", "facture"]),
    ("has_agency", &["agency", "agent", "producer", "broker", "insurance agency"]),
    (
        "wants_quote",
        list!(
            "quote, quotes, quotation, proposal, coverage needed, coverages needed, coverage requested, \
             coverage types, looking for coverage, looking for insurance, looking for liability, need coverage, \
             need insurance, need liability, need primary liability, need auto liability, need cargo, \
             got my authority, got our authority, my own authority, our own authority, own numbers, new authority, \
             off lease, down payment, pricing, price on, a price, truck insurance, insurance for, needs liability, \
             needs insurance, like to compare, premium doubled, new venture, how much would, insure, asegurar, \
             necesito seguro, ocupo seguro, assurer, cotización, cotizar, soumission"
        ),
    ),
];

/// What an insurance agency looks for: in declarations, loss runs, certificates, applications and schedules, and in
/// the mails and forms that bring them.
#[must_use]
pub fn schema() -> Arc<ExtractionSchema> {
    static SCHEMA: LazyLock<Arc<ExtractionSchema>> = LazyLock::new(|| Arc::new(made()));
    Arc::clone(&SCHEMA)
}

fn made() -> ExtractionSchema {
    ExtractionSchema {
        name: "insurance".to_owned(),
        writer: Some("contact".to_owned()),
        about: Some("insured.name".to_owned()),
        categories: field::categories_sent_for(categories::CATEGORIES, categories::SENT_FOR),
        sections: field::sections(SECTIONS),
        fields: field::patterns(&[
            parties::INSURED,
            parties::OTHERS,
            CONTACT,
            parties::HOLDER,
            wanted::WANTED,
            COMPANY,
            policies::POLICY,
            terms::TERMS,
            VEHICLE,
            DRIVER,
            losses::LOSS,
            losses::TOLD,
            UNWANTED,
        ]),
        ..ExtractionSchema::default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::field::{COMPANIES, DRIVERS, VEHICLES};

    #[test]
    fn every_section_of_a_field_is_declared() {
        let schema = schema();
        for field in schema.fields.iter() {
            let declared =
                field.section.as_ref().is_none_or(|key| schema.sections.iter().any(|section| section.key == *key));
            assert!(declared, "{}", field.name);
        }
    }

    #[test]
    fn every_list_has_one_field_that_opens_an_item() {
        for group in [POLICIES, LOSSES, VEHICLES, DRIVERS, COMPANIES] {
            let schema = schema();
            let of_group = schema.fields.iter().filter(|field| field.group.as_deref() == Some(group));
            let openers: BTreeSet<&str> = of_group.filter(|field| field.opens_item).map(|f| f.name.as_str()).collect();
            assert_eq!(openers.len(), 1, "{group}");
        }
    }
}
