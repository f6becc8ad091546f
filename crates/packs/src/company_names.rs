//! What the name of the company is called that a paper or a message is about.

use kybern_core::list;

/// Labels of a company's name, English, Spanish and French.
pub(crate) const COMPANY_NAMES: &[&str] = list!(
    "named insured, first named insured, named insureds, insured, insureds, insd, insd name, nmd insd, named insd, \
     name insd, named ins, insured name, insured s name, insured party, insured company, insured business, \
     our insured, your insured, mutual insured, our mutual insured, our client, our mutual client, my client, \
     mutual client, we represent, i represent, counsel to, counsel for, attorney for, attorneys for, representamos a, \
     nous representons, policies of, loss experience of, claims experience of, loss history of, loss runs of, \
     loss runs for, lost runs for, notre client commun, notre client, nuestro cliente, client commun, loss runs on, \
     loss run for, loss run on, losses for, losses on, loss history for, loss history on, loss runs asap for, \
     loss runs asap on, loss runs needed for, loss runs needed on, loss runs please for, loss runs please on, \
     losses asap for, losses needed for, losses needed on, lrs for, lrs on, quote for, quotes for, new opportunity, \
     nuestro asegurado, siniestros de, notre assuré, sinistres de, name of insured, name of the insured, \
     name of named insured, named insured and mailing address, named insured and mail address, \
     named insured and address, named insured mailing address, named insured name and address, \
     named insured and principal address, insured and mailing address, insured name and address, \
     insured name and mailing address, insured s name and mailing address, name and address of insured, \
     name and address of the insured, name and mailing address of insured, name insured, covered party, \
     covered entity, policyholder, policy holder, policyholder name, policyowner, issued to, policy issued to, \
     this policy is issued to, coverage is provided for, in the name of, company is, my company is, our company is, \
     company name is, business is, my business is, company name, name of company, company, business name, business, \
     name of business, legal name, legal name of business, legal name of your business, legal business name, \
     legal entity name, exact legal name, full legal name, carrier legal name, motor carrier, motor carrier name, \
     name of motor carrier, trucking company, trucking company name, account, account name, name of account, client, \
     client name, customer, customer name, applicant, applicant name, applicant s name, name of applicant, member, \
     member name, assured, assured name, registrant, registrant name, owner name, employer, asegurado, asegurada, \
     nombre del asegurado, asegurado nombrado, asegurado principal, tomador, tomador del seguro, titular de la póliza, \
     razón social, razon social, nombre de la empresa, nombre de la compañía, nombre legal, empresa, solicitante, \
     cliente, assuré, assuré désigné, assurée, nom de l assuré, nom et adresse de l assuré, preneur d assurance, \
     preneur, titulaire, titulaire de la police, titulaire du contrat, souscripteur, raison sociale, \
     nom de l entreprise, entreprise, proposant, versicherungsnehmer, versicherter, firma"
);
