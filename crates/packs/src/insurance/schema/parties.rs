//! Who is insured, by whose agency, who writes, who holds a certificate, and what is wanted. Labels are English, Spanish
//! and French.

use kybern_core::list;
use kybern_core::model::ValueKind;

use crate::contact_fields;
use crate::field::{Field, one};

/// Words by which the name of an agency or a broker is known.
pub(super) const AGENCY_SIGNS: &[&str] = list!(
    "agency, agencies, agents, brokers, brokerage, insurance services, insurance group, insurance advisors, \
     insurance partners, associates insurance, insurance associates, insurance center, insurance centre, \
     insurance office, insurance offices, insurance brokers, insurance solutions, insurance consultants, \
     transportation insurance, risk advisors, risk management, risk partners, wholesale partners, \
     underwriting managers, corredores, agencia de seguros, courtiers, cabinet d assurance, -company, \
     -freight brokers, -freight brokerage, -logistics"
);

/// The insured, or the company that asks to be.
pub(super) const INSURED: &[Field] = &[
    one("insured.name", contact_fields::COMPANY_NAMES, ValueKind::Name, None),
    one("insured.dot_number", contact_fields::DOT_NUMBERS, ValueKind::DotNumber, None),
    one("insured.mc_number", contact_fields::MC_NUMBERS, ValueKind::McNumber, None),
    one("insured.fein", contact_fields::FEINS, ValueKind::Fein, None),
    one(
        "insured.email",
        list!("email, e-mail, email address, e-mail address, insured email, insured e-mail, correo, courriel"),
        ValueKind::Email,
        None,
    ),
    one(
        "insured.phone",
        list!(
            "phone, telephone, phone number, telephone number, tel, insured phone, business phone, teléfono, telefono, \
             téléphone"
        ),
        ValueKind::Phone,
        None,
    ),
    one("insured.address", contact_fields::ADDRESSES, ValueKind::Address, None),
    one(
        "insured.power_units",
        list!(
            "power units, number of power units, number of trucks, trucks, how many trucks, fleet size, \
             number of vehicles"
        ),
        ValueKind::Integer,
        None,
    ),
    one("insured.years_in_business", &["years in business", "years of operation"], ValueKind::Integer, None),
];

/// What else a document says once.
pub(super) const OTHERS: &[Field] = &[
    Field {
        signs: AGENCY_SIGNS,
        ..one(
            "agency.name",
            list!(
                "agency, agency name, name of agency, agency name and address, agency and address, \
                 agent name and address, agency name address, producer name and address, servicing agent, \
                 servicing agency, producer, producer name, producer code, producing agent, agent, agent name, \
                 agent of record, broker of record, agency of record, insurance agent, insurance broker, your agent, \
                 your agency, your broker, broker, broker name, retail agent, wholesale broker, wholesaler, \
                 general agent, managing general agent, program administrator, insurance agency, prepared by, \
                 submitted by, requested by, agente, agencia, corredor, productor, agente de seguros, courtier, \
                 cabinet, agence, courtier d assurance"
            ),
            ValueKind::Name,
            None,
        )
    },
    one(
        "agency.phone",
        list!("agency phone, agent phone, producer phone, broker phone, agent s phone, phone, tel, telephone"),
        ValueKind::Phone,
        Some("has_agency"),
    ),
    one(
        "agency.email",
        &["agency email", "agent email", "producer email", "agency e-mail"],
        ValueKind::Email,
        Some("has_agency"),
    ),
    one(
        "lienholder.name",
        list!(
            "lienholder, lien holder, loss payee, loss payable to, additional interest, additional interests, \
             additional insured, additional insureds, mortgagee, lessor, bank, acreedor prendario, beneficiario, \
             créancier, bénéficiaire, bailleur"
        ),
        ValueKind::Name,
        None,
    ),
    one(
        "valuation_date",
        list!(
            "valuation date, valued as of, valued, valuation, as of, as of date, evaluation date, evaluated as of, \
             losses valued as of, valued through, data as of, data through, figures as of, loss date as of, run date, \
             report date, date of valuation, fecha de valuación, fecha de valoración, valuado al, date d évaluation, \
             évalué au, en date du"
        ),
        ValueKind::Date,
        Some("values_losses"),
    ),
    one(
        "request_token",
        &["request", "request id", "our request", "your request", "request number", "reference", "ref", "our ref"],
        ValueKind::RequestToken,
        None,
    ),
    one(
        "amount_due",
        list!(
            "amount due, balance due, total due, total amount due, please pay, pay this amount, minimum due, \
             payment due, current amount due, importe a pagar, montant dû"
        ),
        ValueKind::Money,
        Some("has_bill"),
    ),
];

/// Who holds a certificate.
pub(super) const HOLDER: &[Field] = &[Field {
    many: true,
    ..one(
        "certificate_holder",
        list!(
            "certificate holder, certificate holder name, certificate holders, name of certificate holder, \
             certificate holder name and address, certificate holder and address, holder, holders, holder name, \
             cert holder, certificate to, certificate naming, certificate made out to, certificates naming, \
             certificate for, certificates for, certificates to, certificate needed for, cert to, cert for, \
             cert needed for, coi to, coi for, coi please, coi needed for, cois for, cois needed, certs for, \
             certs needed, certs to, certificates needed, certificates of insurance for, certificates of insurance to, \
             certificate please, issue to, issue certificate to, address the certificate to, send the certificate to, \
             certificate of insurance for, certificate of insurance to, certificate in favor of, in favor of, \
             in favour of, make it out to, made out to, made out for, evidence of insurance for, \
             proof of insurance for, titular del certificado, tenedor del certificado, certificado para, \
             certificado de seguro para, constancia para, a favor de, a nombre de, titulaire du certificat, \
             détenteur du certificat, certificat pour, certificat d assurance pour, attestation d assurance pour, \
             en faveur de, attestation pour, au nom de"
        ),
        ValueKind::Name,
        Some("has_certificate"),
    )
}];
