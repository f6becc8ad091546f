//! The fields of a policy. Labels are English, Spanish and French.

use kybern_core::list;
use kybern_core::model::ValueKind;

use super::POLICIES;
use crate::field::{Field, of, opens};

/// Words by which the name of an insurer is known.
const INSURER_SIGNS: &[&str] = list!(
    "insurance company, insurance co, insurance corporation, insurance corp, insurance ltd, insurance limited, \
     insurance inc, insurance exchange, insurance association, ins co, assurance, assurance company, \
     assurance corporation, indemnity, casualty, mutual, surety, reinsurance, underwriters at, underwriters insurance, \
     lloyd s, lloyds, reciprocal, reciprocal exchange, truckers exchange, interinsurance exchange, \
     risk retention group, rrg, fire insurance, compañía de seguros, compania de seguros, aseguradora, seguros s a, \
     compagnie d assurance, compagnie d assurances, société d assurance, versicherung, -agency, -agencies, -agents, \
     -broker, -brokers, -brokerage, -services, -advisors, -partners, -management, -transport, -trucking, -freight, \
     -logistics, -carriers, -hauling, -policy, -declarations, -coverage, -certificate, -liability, -department, \
     -schedule, -summary, -application, -commissioner, -producer"
);

pub(super) const POLICY: &[Field] = &[
    of(
        POLICIES,
        "has_coverages",
        "line",
        lines![
            "line",
            "coverage",
            "coverages",
            "coverage type",
            "coverage part",
            "coverage parts",
            "coverage description",
            "type of coverage",
            "kind of coverage",
            "coverage form",
            "coverage forms",
            "form of coverage",
            "description of coverage",
            "insurance provided",
            "type of insurance",
            "kind of insurance",
            "type of policy",
            "policy type",
            "cover",
            "covers",
            "line of coverage",
            "lines of coverage",
            "line of business",
            "lines of business",
            "lines of insurance",
            "lob",
            "covg",
            "product",
            "cobertura",
            "coberturas",
            "tipo de cobertura",
            "tipo de seguro",
            "ramo",
            "garantie",
            "garanties",
            "couverture",
            "couvertures",
            "protections",
            "nature de la garantie",
        ],
        ValueKind::Text,
    ),
    Field {
        signs: INSURER_SIGNS,
        respelled: true,
        ..of(
            POLICIES,
            "has_policies",
            "insurer",
            list!(
                "insurer, insurers, insurer name, name of insurer, insurance company, insurance company name, \
                 company affording coverage, companies affording coverage, name of insurance company, \
                 insurance carrier, carrier, carrier name, current carrier, current insurer, present carrier, \
                 incumbent, incumbent carrier, expiring carrier, insuring company, insurance provider, \
                 insurance company you have now, insurance company now, current insurance company, \
                 present insurance company, insured now with, now insured with, issuing company, issuing carrier, \
                 issuing insurer, issued by, policy issued by, writing company, company affording coverage, \
                 affording company, underwriting insurer, company, companies, companies affording coverage, \
                 insurers affording coverage, underwriting company, underwritten by, coverage provided by, \
                 coverage is provided by, carried by, carried with, written by, written with, placed with, \
                 insured with, insured by, ins co, ins co name, insurance co, insurance co name, ins company, \
                 insurance provided by, provided by, market, paper, aseguradora, compañía, compañía aseguradora, \
                 compañía de seguros, compania de seguros, asegurador, emitida por, assureur, compagnie, \
                 compagnie d assurance, nom de l assureur, émise par, versicherer"
            ),
            ValueKind::Name,
        )
    },
    of(
        POLICIES,
        "has_policies",
        "naic",
        list!(
            "naic, naic number, naic code, naic id, naic company, naic company code, naic co code, \
             naic company number, naic co number, co naic, co naic number, naic company id, naic code of the company, \
             naic number of the company, company naic, company naic number, company code, company number, co code, \
             insurer naic, insurer naic number, código naic, codigo naic, code naic"
        ),
        ValueKind::Naic,
    ),
    opens(of(
        POLICIES,
        "has_policies",
        "policy_number",
        list!(
            "policy number, policy, policy id, policy identifier, policy is numbered, policy is number, \
             document number, document number policy, certificate policy, pol, pol number, policy nbr, \
             policy reference, policy certificate number, policy symbol and number, insurance policy number, \
             insurance policy, policy prefix and number, current policy number, expiring policy number, \
             present policy number, current policy, expiring policy, present policy, number of policy, \
             our reference number of policy, policy contract number, contract number, present contract, \
             current contract, policy ref, pol ref, certificate policy number, your policy, our policy, \
             our policy number, póliza, poliza, número de póliza, numero de poliza, núm de póliza, no de póliza, \
             póliza número, police, numéro de police, numéro de la police, no de police, n° de police, police n°, \
             numéro de contrat, contrat numéro, contrato número, número de contrato, póliza núm, police d assurance, \
             policennummer, versicherungsschein, vertragsnummer"
        ),
        ValueKind::PolicyNumber,
    )),
    // The column of a register that says of which policies the losses are wanted.
    Field {
        signs: list!(
            "pull losses, pull loss run, pull loss runs, order losses, order loss run, order loss runs, \
             request losses, request loss runs, need losses, need loss runs, losses needed, loss run needed, \
             loss runs needed, losses wanted, loss runs wanted"
        ),
        section: None,
        ..of(
            POLICIES,
            "",
            "loss_runs",
            list!(
                "lr, lrs, lr wanted, lr needed, order lr, runs needed, runs wanted, need runs, lrs needed, need lrs, \
                 siniestralidad requerida, sinistres requis"
            ),
            ValueKind::Text,
        )
    },
    of(
        POLICIES,
        "has_policies",
        "period",
        list!(
            "policy period, policy period from, policy term, term, term of policy, period, period of insurance, \
             coverage period, coverage term, coverage dates, policy dates, effective dates, policy effective, \
             effective, policy effective dates, runs, runs from, term runs, attaches, term from, good from, from, \
             period from, beginning, desde, du, valid, valid from, in force, dates, vigencia, vigencia de la póliza, \
             período de vigencia, período de cobertura, periodo de cobertura, vigencia del contrato, \
             período de la póliza, periodo, plazo, période, période d assurance, durée, durée du contrat, terme, \
             laufzeit, vertragslaufzeit"
        ),
        ValueKind::DateRange,
    ),
];
