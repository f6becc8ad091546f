//! The terms of a policy: its dates, its premium, and what is insured up to and from which amount.

use kybern_core::list;
use kybern_core::model::{ValueKind, ValueRange};

use super::POLICIES;
use crate::field::{Field, of, within};

/// Labels of what the insured bears, as an amount or as a percentage.
const DEDUCTIBLES: &[&str] = list!(
    "deductible, deductibles, ded, deductible amount, your deductible, less deductible of, retention, \
     self insured retention, deducible, franchise, selbstbehalt"
);

/// What follows a policy's number and insurer.
pub(super) const TERMS: &[Field] = &[
    Field {
        signs: list!(
            "started, took effect, went into effect, incepted, entró en vigor, -driver, -business, -claim, -company, \
             -hauling"
        ),
        ..of(
            POLICIES,
            "has_policies",
            "effective",
            list!(
                "date effective, effective, eff date, eff, effective from, period from, good from, runs from, \
                 policy period begins, coverage begins, policy effective date, policy eff, policy eff date, \
                 policy effective, coverage effective, coverage effective date, took effect, took effect on, \
                 takes effect, takes effect on, became effective on, in effect from, in force since, with effect from, \
                 inception date, policy inception, policy inception date, attaches, attachment date, attachment, \
                 commences, commencement, commencement date, commencing, commencing on, commences on, began, began on, \
                 begins on, started, started on, starts on, term from, date from, policy from, inception, incepts, \
                 start date, start, starts, begin, begins, begin date, beginning, from, policy start, \
                 policy start date, valid from, in force from, policy period from, vigente desde, desde, inicio, \
                 inicio de vigencia, fecha de inicio, fecha de vigencia, fecha efectiva, date d effet, \
                 date d entrée en vigueur, en vigueur, en vigueur le, entrée en vigueur, début, du, beginn, \
                 effective date"
            ),
            ValueKind::Date,
        )
    },
    of(
        POLICIES,
        "has_policies",
        "expiration",
        list!(
            "expiration date, anniversary, anniversary date, date of expiration, expiration, expires, expires on, \
             expiring, exp date, exp, expiry date, expiry, policy expiration date, policy expiration, policy expires, \
             policy exp, policy exp date, policy expiry, coverage expiration, coverage ends, runs through, runs until, \
             runs to, runs out, good through, good until, good to, policy period ends, and ends, continues through, \
             in effect until, in force through, expire on, ends on, end date, end, ends, ending, to, through, until, \
             termination date, terminates, terminates on, lapse, lapses, lapses on, lapse date, will end, will end on, \
             end on, ended on, will expire, will expire on, expired, expired on, term to, date to, policy to, \
             when does it expire, when does it end, x date, xdate, policy end, policy end date, valid to, valid until, \
             in force until, vence, vencimiento, fecha de vencimiento, hasta, fin de vigencia, expira, échéance, \
             date d échéance, date d expiration, expire le, fin, au, ablauf, ende"
        ),
        ValueKind::Date,
    ),
    Field {
        many: true,
        range: Some(ValueRange::between(1_000, 1_000_000_000)),
        signs: &["csl", "limit", "each occurrence", "occurrence", "per accident", "aggregate"],
        ..of(
            POLICIES,
            "has_policies",
            "limit",
            list!(
                "limit, limits, limit of liability, limits of liability, limit of insurance, limits of insurance, \
                 our limit, sum insured, insured amount, maximum we pay, the most we will pay, we pay no more than, \
                 we will pay no more than, most we pay, we pay up to, pays up to, pay up to, plafond, liability limit, \
                 coverage limit, policy limit, combined single limit, csl, each occurrence, each accident, \
                 any one truck, any one vehicle, any one occurrence, amount of insurance, límite, limite, límites, \
                 límite de responsabilidad, suma asegurada, limites, montant de garantie, montant d assurance, \
                 deckungssumme"
            ),
            ValueKind::Money,
        )
    },
    Field {
        many: true,
        signs: &["deductible", "deductibles", "ded", "deduct", "retention", "sir", "deducible", "franchise"],
        range: Some(ValueRange::between(0, 100_000_000)),
        ..of(POLICIES, "has_policies", "deductible", DEDUCTIBLES, ValueKind::Money)
    },
    Field {
        many: true,
        range: Some(ValueRange::between(0, 100)),
        ..of(POLICIES, "has_policies", "deductible_percentage", DEDUCTIBLES, ValueKind::Percentage)
    },
    within(
        0,
        1_000_000_000,
        of(
            POLICIES,
            "has_policies",
            "premium",
            list!(
                "premium, annual premium, total premium, total annual premium, policy premium, total policy premium, \
                 written premium, estimated premium, estimated annual premium, deposit premium, charge, annual charge, \
                 annual prem, prem, total prem, prima, prima anual, prima total, prime, prime annuelle, prime totale, \
                 prämie"
            ),
            ValueKind::Money,
        ),
    ),
];
