//! Who writes, which companies are named, and labels that are known so that they are nobody's values. Labels are English,
//! Spanish and French.

use kybern_core::list;
use kybern_core::model::ValueKind;

pub(crate) use crate::company_names::COMPANY_NAMES;
use crate::field::{COMPANIES, Field, of, one, opens};

/// Whoever writes a message, or is to be asked about it.
pub(crate) const CONTACT: &[Field] = &[
    one(
        "contact.name",
        list!(
            "contact, contact name, contact person, primary contact, name of contact, point of contact, attention, \
             attn, your name, full name, first and last name, name, owner, caller, caller name, prospect, \
             prospect name, person to contact, contacto, nombre, nombre completo, persona de contacto, nom, \
             nom complet, personne ressource, ansprechpartner"
        ),
        ValueKind::Person,
        None,
    ),
    one(
        "contact.email",
        &["contact email", "contact e-mail", "your email", "email", "e-mail", "email address", "reach you at"],
        ValueKind::Email,
        None,
    ),
    one(
        "contact.phone",
        list!(
            "contact phone, contact number, your phone, phone, mobile, mobile number, cell, cell phone, direct, \
             direct line, best number, best phone, callback number, call back number, reach you at, celular, móvil, \
             cellulaire, portable"
        ),
        ValueKind::Phone,
        None,
    ),
];

/// Every company that is named; who each of them is is found out later.
pub(crate) const COMPANY: &[Field] =
    &[opens(Field { section: None, ..of(COMPANIES, "", "name", &[], ValueKind::Name) })];

/// Labels that are known so that they are nobody's values.
pub(crate) const UNWANTED: &[Field] = &[one(
    "other",
    list!(
        "fax, street, city, state, zip, zip code, city state zip, city state, country, county, entity, entity type, \
         type of entity, form of business, legal entity, legal form, business type, ssn, website, web, page, \
         form number, form, forms, forms attached, forms and endorsements, forms made part of this policy, \
         forms made a part of this policy, forms and endorsements made part of this policy, \
         forms and endorsements attached to this policy, endorsements attached to this policy, forms applicable, \
         endorsement number, change number, transaction, printed, print date, issue date, issued, date issued, date, \
         signature, authorized signature, authorized representative, title, notes, comments, remarks, payment plan, \
         billing, commodities, commodities hauled, radius, radius of operation, garaging, garaging zip, lessor, \
         lessor name, owner lessor, vehicle owner, registered owner, owner of vehicle, operations, \
         description of operations, gross receipts, annual mileage, mileage, drivers, number of drivers, trailers, \
         number of trailers, status, reason, cancellation, renewal, renewal of, prior policy, prior policy number, \
         previous policy, previous policy number, renews, renews policy, renewal of policy, replaces, replaces policy, \
         replacement of, quote number, binder, binder number, account number, account id, client number, client id, \
         customer number, customer id, póliza anterior, police antérieure, número de cuenta, numéro de compte, \
         new venture, subject, sent, cc, bcc"
    ),
    ValueKind::Nothing,
    None,
)];

/// Labels of a USDOT number, English, Spanish and French.
pub(crate) const DOT_NUMBERS: &[&str] = list!(
    "usdot, us dot, dot, u s dot, usdot number, us dot number, dot number, u s dot number, dot id, usdot id, \
     dot registration, usdot registration number, fmcsa number, fmcsa id, fmcsa dot, fmcsa dot number, \
     fmcsa usdot number, fed dot, federal dot, federal dot number, número dot, numero dot, número usdot, n° dot, \
     numéro dot, numéro usdot"
);

/// Labels of an employer's federal number, English, Spanish and French.
pub(crate) const FEINS: &[&str] = list!(
    "fein, f e i n, fein number, ein, ein number, ein or ssn, fein or ssn, federal ein, federal id, federal id number, \
     fed id, fed id number, fed tax id, federal tax id, federal tax id number, tax id, tax id number, \
     tax identification number, taxpayer id, taxpayer id number, taxpayer identification number, irs number, \
     employer id, employer id number, employer identification number, federal employer id, federal employer id number, \
     federal employer identification number, federal identification number, número de identificación del empleador, \
     número de identificación patronal, número ein, identificación fiscal, numéro d identification d employeur, \
     numéro d identification de l employeur, numéro ein"
);

/// Labels of a motor carrier number, English, Spanish and French.
pub(crate) const MC_NUMBERS: &[&str] = list!(
    "mc, mc number, mc docket, mc docket number, docket, docket number, fmcsa docket, fmcsa docket number, fmcsa mc, \
     fmcsa mc number, motor carrier number, motor carrier docket, motor carrier docket number, mc ff number, \
     mc authority, mc mx number, icc mc number, icc number, authority number, operating authority, \
     operating authority number, número mc, numero mc, numéro mc"
);

/// Labels of a company's address, English, Spanish and French.
pub(crate) const ADDRESSES: &[&str] = list!(
    "mailing address, mail address, mail to, address of insured, address, addr, insured address, \
     insured mailing address, business address, physical address, principal address, street address, \
     principal place of business, garaging address, garaged at, garaging location, terminal, \
     named insured and mailing address, named insured and address, named insured mailing address, \
     name and address of insured, insured and mailing address, insured name and address, \
     insured name and mailing address, dirección, direccion, domicilio, dirección postal, adresse, adresse postale, \
     adresse de l assuré, anschrift"
);
