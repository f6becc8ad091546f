//! Service on a policy: certificates, changes, bills, claims, and its end.

use kybern_core::list;

use super::loss_runs::losses;
use crate::intent_words::{IntentWords, LanguageWords};

/// Why a policy is not ended because of a mail.
macro_rules! ended {
    ($phrase:literal) => {
        concat!($phrase, " => a policy is to be ended, and only its insured's signed request ends it")
    };
}
/// Why an accident waits for nobody.
macro_rules! hurt {
    ($phrase:literal) => {
        concat!($phrase, " => somebody was hurt in an accident, and the claim must be reported by a person now")
    };
}

/// Why a theft waits for nobody.
macro_rules! stolen {
    ($phrase:literal) => {
        concat!($phrase, " => something was stolen, and the claim must be reported by a person now")
    };
}

/// A client wants something done on a policy.
pub const SERVICE_REQUEST: IntentWords = IntentWords {
    key: "insurance.service_request",
    description: "A client, or somebody for a client, wants a certificate, an endorsement, ID cards, a policy copy, or asks about billing, audit or a claim.",
    keywords: &[
        losses!("ask:", "-1.6"),
        "ask:certificate|coi|cois|cert|proof of insurance|evidence of insurance|id card|insurance card|additional insured|loss payee|\
         lienholder|waiver of subrogation|endorsement|endorse|policy copy|copy of policy|binder|mcs 90^1.6",
        "ask:raise|increase|lower|reduce|higher & limit|cargo|liability|deductible|coverage^1.6",
        "ask:add coverage|add cargo|add liability|add physical damage^0.8",
        "ask:report accident|report claim|report loss|file claim|open claim|turn in claim|put in claim|set up claim^1.4",
        "open a claim|new claim|first notice|notice of loss|turn this in|put in a claim|start a claim^1.6",
        "adjuster & call|contact|assign|send|talk^1",
        stolen!("stolen|theft|was gone|were gone & truck|trailer|cargo|load|unit|tractor & !quote|not stolen^1.2"),
        "vandalized|burned|caught fire & truck|trailer|cargo|load|unit|tractor^1.2",
        "police report|state patrol|state trooper|highway patrol|sheriff & truck|trailer|driver|unit^1",
        "on its side|in the ditch|rolled over|overturned|flipped|totaled|total loss & truck|trailer|unit|driver|tractor^1.4",
        "who do i talk to|who do i call|who do we call & insurance|claim|policy^0.8",
        "autopay|auto pay|automatic draft|automatic payment|bank draft & twice|double|wrong|stop|late|missed|back^1.2",
        "payment plan^1.6",
        "insurance filing|bmc 91|form e filing|file bmc^1.6",
        "traded|sold|bought & policy|insurance^0.8",
        "charged|overcharged|double charged|billed|drafted|draft|refund|return premium|past due & insurance|policy|premium|account^1.4",
        "ask:add|remove|delete|take off|swap|replace|update|change & policy|coverage|insurance^1.2",
        "ask:add|remove|delete|take off|swap|replace & worth|valued at|stated value|stated amount|lienholder|lien holder|no lien^1.4",
        "wrong:vin^0 => a vehicle's number in the message cannot be right",
        ended!(
            "ask:cancel|terminate|flat cancel|request cancellation|end policy|end my policy|end our policy \
             & policy|policies|coverage|insurance^1.2"
        ),
        ended!(
            "ending my policy|ending our policy|cancellation request|request to cancel|policy cancellation request|\
             lost policy release^1.2"
        ),
        "accident|crash|wreck|rollover|rear ended|jackknifed|hit by^1.2",
        // Collision is a coverage too.
        "collision & !comp|comprehensive|deductible|coverage|physical damage^1.2",
        "accident|crash|wreck|hit & truck|driver|trailer|unit^0.8",
        hurt!(
            "accident|collision|crash|wreck|rollover|hit|claim|on its side|in the ditch|overturned|flipped \
             & injured|injury|injuries|hospital|ambulance|fatality|killed|died|hurt \
             & !no injuries|no injury|nobody hurt|nobody was hurt|no one hurt|no one was hurt|not hurt|not injured|\
             without injuries|nobody injured|no one injured^1"
        ),
        "doc:COI & one more|another|the same|like this|like last|like the last|made out to|new holder^1.2",
        "certificate of insurance^2.2",
        "insurance certificate^2",
        "certificate^1",
        "certificate please^0.6",
        "certificate & send^0.4",
        "certificate & need^0.4",
        "cert^1.3",
        "cert of ins^1.6",
        "cert & holder^0.8",
        "cert & send^0.4",
        "cert & need^0.4",
        "cert & issue^0.6",
        "cert holder^1.6",
        "acord 25^2",
        "wos^0.8",
        "medical certificate^-1.5",
        "training certificate^-1.5",
        "hazmat certificate^-1.5",
        "inspection certificate^-1.5",
        "certificate of title^-1.5",
        "certificate of completion^-1.5",
        "gift certificate^-2",
        "coi^2.2",
        "cois^2.2",
        "certificate holder^2",
        "certificate & holder^1",
        "certificate & insurance^0.8",
        "issue certificate^1.2",
        "send certificate^1",
        "update the certificate^1.2",
        "certificate renewal^0.8",
        "proof of insurance^2.2",
        "proof of coverage^1.8",
        "additional insured^2",
        "waiver of subrogation^1.8",
        "primary and noncontributory^1.5",
        "loss payee^2",
        "lienholder^1",
        "endorse^1.6",
        "endorsement^1",
        "policy change^1.8",
        "change request^1",
        "add & to my policy^2",
        "add & to our policy^2",
        "add & to the policy^2",
        "remove & from policy^2",
        "delete & from policy^2",
        "take off policy^1.6",
        "remove & from our insurance^1.8",
        "add & insurance^0.6",
        "my policy^1",
        "our policy^0.6",
        "id card^1.8",
        "insurance card^1.8",
        "policy copy^1.4",
        "copy of my policy^1.8",
        "copy of our policy^1.8",
        "copy of the policy^1.4",
        "billing^0.6",
        "invoice & policy^1.2",
        "premium & invoice^1",
        "premium bill^1.4",
        "premium payment^1.4",
        "make a payment^1.2",
        "pay & premium^1",
        "installment^1.4",
        "down payment^0.8",
        "owe & policy^1.2",
        "audit & premium^1.6",
        "premium audit^1.8",
        "audit & dispute^0.8",
        "cancel & policy^1.6",
        "cancellation notice^1.6",
        "notice of cancellation^1.6",
        "reinstate^1.6",
        "mcs 90^1.2",
        "filing & insurance^0.8",
        "report a claim^1.8",
        "file a claim^1.8",
        "deductible^0.8",
        "driver exclusion^1.6",
        "change of address & policy^1.2",
        "are we covered^1.2",
        "am i covered^1.2",
        "does & policy cover^1.4",
        "doc:COI^0.4",
        "loss run^-1.8",
        "loss history^-1",
        "quote^-0.4",
        "doc:INSPECTION^-1",
        "doc:CERTIFICATE^-1",
        "doc:RATE_CON^-1",
    ],
    examples: &[
        "A customer asks for our certificate of insurance, make them the holder.",
        "COI needed today for a new broker.",
        "Add a 2021 Freightliner to my policy, please.",
        "Please remove the truck that we sold from our insurance policy.",
        "Add them as additional insured with a waiver of subrogation.",
        "The bank wants to be named as loss payee.",
        "I need a copy of my policy and new ID cards.",
        "When is my next premium payment due and how much is it?",
        "We got a notice of cancellation, can you reinstate the policy?",
        "Please endorse the policy to raise the cargo limit to 250,000.",
        "I want to report a claim, our truck was hit yesterday.",
        "Please explain the premium audit, the bill looks wrong.",
        "Our mailing address has changed, please update the policy.",
        "Add this driver to our insurance policy.",
        "The broker needs proof of insurance before we can load.",
        "Does our policy cover hired trailers?",
        "Please take the old trailer off the insurance and refund the premium.",
    ],
    other_languages: OTHER_LANGUAGES,
};

/// The same in Spanish, French and German.
const OTHER_LANGUAGES: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: &[
            "ask:certificado|constancia|comprobante|asegurado adicional|endoso|tarjeta de seguro|copia de póliza^1.4",
            "ask:agregar|agregue|añadir|incluir|quitar|sacar|dar de baja|dar de alta & póliza|seguro|aseguranza^1.2",
            ended!(
                "ask:cancelar póliza|cancelar mi póliza|cancelar seguro|cancelen póliza|cancele póliza|cancelación de póliza^1.2"
            ),
            "ask:reportar accidente|reportar siniestro|reportar choque^1.4",
            "accidente|choque|chocó|volcadura|percance^1.2",
            hurt!(
                "accidente|choque|volcadura & herido|lesionado|hospital|ambulancia|falleció & !sin heridos|sin lesionados|no hubo heridos|nadie herido^1"
            ),
            "copia de la factura|copia de factura|copia del recibo|estado de cuenta^1.8",
            "factura & póliza^1",
            "cambio de domicilio|cambio de dirección|nuevo domicilio|nueva dirección^1.6",
            "certificado de seguro^2.2",
            "certificado de aseguranza^2.2",
            "constancia de seguro^2.2",
            "certificado & seguro^0.8",
            "certificado^1.2",
            "constancia^0.6",
            "titular del certificado^1.6",
            "asegurado adicional^2",
            "renuncia de subrogación^1.6",
            "comprobante de seguro^2",
            "prueba de seguro^2",
            "tarjeta de seguro^1.6",
            "endoso^1.6",
            "endosar^1.4",
            "agregar a la póliza^2",
            "agregar a mi póliza^2",
            "añadir a la póliza^2",
            "incluir en la póliza^2",
            "quitar de la póliza^2",
            "sacar de la póliza^1.6",
            "baja & póliza^1.6",
            "alta & póliza^1.6",
            "copia de la póliza^1.8",
            "copia de mi póliza^1.8",
            "mi póliza^1",
            "nuestra póliza^0.8",
            "cancelar la póliza^1.8",
            "pago de la póliza^1.4",
            "pago & prima^1.2",
            "reportar un siniestro^1.8",
            "reportar un accidente^1.8",
            "reportar un choque^1.8",
            "cotización^-0.6",
            "certificado médico^-2",
            "historial de siniestros^-1",
        ],
        examples: &[
            "¿Me puede mandar un certificado de seguro a este cliente? Lo piden como asegurado adicional.",
            "Necesito la constancia de seguro para entrar a la planta.",
            "Favor de agregar este camión a mi póliza y quitar el que vendimos.",
            "Quiero una copia de la póliza y las tarjetas de seguro.",
        ],
    },
    LanguageWords {
        language: "fr",
        keywords: &[
            "ask:certificat|attestation d'assurance|preuve d'assurance|assuré additionnel|avenant|copie de police|carte rose^1.4",
            "ask:ajouter|ajoutez|retirer|retirez|remplacer|modifier & police|assurance|protection^1.2",
            ended!(
                "ask:résilier police|résiliez police|annuler police|annulez police|résilier assurance|annuler assurance|résiliation^1.2"
            ),
            "ask:déclarer sinistre|déclarer accident|déclarer accrochage^1.4",
            "accident|accrochage|collision^1.2",
            hurt!(
                "accident|accrochage|collision & blessé|hôpital|ambulance|décédé & !aucun blessé|pas de blessé|sans blessé^1"
            ),
            "certificat d'assurance^2.4",
            "attestation d'assurance^2.4",
            "certificat & assurance^0.8",
            "émettre un certificat^1.6",
            "émettre une attestation^1.6",
            "titulaire du certificat^1.6",
            "assuré additionnel^2",
            "assuré supplémentaire^1.8",
            "renonciation à la subrogation^1.6",
            "preuve d'assurance^2.2",
            "carte d'assurance^1.6",
            "carte rose^1.2",
            "avenant^1.8",
            "ajouter à la police^2",
            "ajouter à notre police^2",
            "ajouter & police^1.2",
            "retirer de la police^2",
            "retirer & police^1.2",
            "copie de la police^1.8",
            "copie de notre police^1.8",
            "notre police^0.6",
            "résilier la police^1.8",
            "annuler la police^1.8",
            "paiement de la prime^1.4",
            "déclarer un sinistre^1.8",
            "déclarer un accident^1.8",
            "soumission^-0.6",
            "relevé de sinistres^-1",
        ],
        examples: &[
            "Pourriez-vous émettre une attestation d'assurance pour notre client, comme assuré additionnel ?",
            "Il nous faut un certificat d'assurance pour entrer sur le chantier.",
            "Merci d'ajouter ce tracteur à notre police et de retirer l'ancien.",
        ],
    },
    LanguageWords {
        language: "de",
        keywords: list!(
            "versicherungsbestätigung^2.2, versicherungsnachweis^2.2, versicherungsbescheinigung^2, in die police^1.4, \
             zur police^1.2, zum vertrag & fahrzeug^1.4, kopie der police^1.8, police kündigen^1.8, \
             schaden melden^1.8, nachtrag^1.2"
        ),
        examples: &[
            "Bitte senden Sie eine Versicherungsbestätigung an unseren Kunden.",
            "Bitte nehmen Sie das neue Fahrzeug in die Police auf.",
        ],
    },
];
