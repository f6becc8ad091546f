//! Loss runs, wanted and sent, in Spanish, French and German.

use kybern_core::list;

use crate::intent_words::LanguageWords;

/// Why an answer without loss runs goes to a person.
macro_rules! refused {
    ($phrase:literal) => {
        concat!($phrase, " => the insurer sends no loss runs but refuses, or asks for something first")
    };
}
pub(super) use refused;

/// What loss runs are called in four languages, with what is done with them before it and a weight behind it.
macro_rules! losses {
    ($act:literal, $weight:literal) => {
        concat!(
            $act,
            "loss run|loss history|loss record|loss report|loss experience|loss information|loss info|loss data|",
            "loss statement|loss letter|loss summary|loss listing|claim run|claim history|claims history|claim record|",
            "claim experience|claims experience|claim report|claim listing|statement of claim|statement of losses|",
            "claim information|claims information|claim info|claims info|claim data|claims data|record of claim|record of losses|report of claim|report of losses|history of claim|history of losses|",
            "summary of losses|prior losses|valued losses|valued runs|current runs|updated runs|hard copy runs|year runs|",
            "yr runs|prior runs|need runs|order runs|pull runs|get runs|=losses|experience letter|experience report|",
            "letter of experience|hard copy losses|=lrs|lr request|lr order|order lr|request lr|pull lr|need lr|get lr|",
            "paid out on us|paid on us|paid out for us|claimed under our|turned in on|paid or is pending|paid or pending|nothing s been paid|",
            "insurance losses|losses by policy|losses by year|claims letter|carrier loss letter|record of us|record on us|constancia de siniestros|constancia de reclamos|",
            "loss printout|claims printout|year of claim|yr of claim|year claim|claim summary|claims summary|",
            "historial de siniestros|historial de reclamos|historial de reclamaciones|historial de pérdidas|",
            "historial de siniestralidad|historia de siniestros|reporte de siniestros|reporte de siniestralidad|",
            "reporte de pérdidas|reporte de reclamos|informe de siniestros|informe de siniestralidad|",
            "relación de siniestros|registro de siniestros|récord de siniestros|récord de pérdidas|carta de siniestralidad|siniestralidad|corridas de pérdidas|",
            "relevé de sinistres|relevé des sinistres|relevé de pertes|relevé d'expérience|relevé de sinistralité|",
            "attestation d'expérience|attestation de sinistralité|historique de sinistres|historique des sinistres|",
            "historique de réclamations|historique des réclamations|historique de pertes|historique des pertes|",
            "dossier de sinistres|dossier de réclamations|dossier d'expérience|rapport de sinistres|rapport de pertes|",
            "lettre d'expérience|expérience de sinistres|antécédents de sinistres|état des sinistres|sinistralité|",
            "schadenverlauf|schadensverlauf|schadenverläufe|schadenhistorie|schadenaufstellung|schadenübersicht^",
            $weight
        )
    };
}
pub(super) use losses;

/// Loss runs are to be ordered.
pub(super) const REQUEST: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: list!(
            "historial de siniestros^1.8, historial de reclamos^1.8, historial de reclamaciones^1.8, \
             historial de pérdidas^1.8, historial de accidentes^1, \
             constancia|carta|certificación & reclamos|siniestros|siniestralidad|reclamaciones^1.8, \
             reportes de pérdidas|reportes de siniestros^1.6, reporte de siniestros^1.6, reporte de pérdidas^1.6, \
             reporte de reclamos^1.6, relación de siniestros^1.6, carta de siniestralidad^1.8, siniestralidad^1.4, \
             corridas de pérdidas^1.6, pedir a la aseguradora^1, solicitar a la aseguradora^1, solicitar historial^1, \
             solicitar los loss runs^1.4, pedir los loss runs^1.4, necesitamos los loss runs^1.4, \
             siniestros & renovación^0.6, últimos cinco años^0.3, adjunto historial de siniestros^-2, \
             adjuntamos historial de siniestros^-2, según lo solicitado^-1.5, su solicitud^-1, certificado^-0.8"
        ),
        examples: &[
            "Por favor soliciten el historial de siniestros a nuestras aseguradoras, adjunto las carátulas de las pólizas.",
            "Necesitamos los reportes de pérdidas de los últimos cinco años para la renovación.",
            "¿Me pueden pedir la siniestralidad con la compañía actual? Nos la piden para cotizar.",
            "Favor de conseguir los loss runs actualizados de todas las pólizas.",
        ],
    },
    LanguageWords {
        language: "fr",
        keywords: list!(
            "relevé de sinistres^1.8, relevé des sinistres^1.8, relevé de pertes^1.6, attestation d'expérience^1.8, \
             attestation de sinistralité^1.8, historique de sinistres^1.8, historique des sinistres^1.8, \
             historique de réclamations^1.8, historique des réclamations^1.8, dossier de sinistres^1.2, \
             sinistralité^1.4, rapport de sinistres^1.6, demander à l'assureur^1, demander & sinistres^0.8, \
             obtenir & sinistres^0.8, sinistres & renouvellement^0.6, ci-joint le relevé^-2, \
             veuillez trouver ci-joint le relevé^-1, votre demande^-1, certificat d'assurance^-1"
        ),
        examples: &[
            "Veuillez demander le relevé des sinistres à nos assureurs, les déclarations sont jointes.",
            "Il nous faut l'historique des sinistres des cinq dernières années pour le renouvellement.",
            "Pourriez-vous obtenir l'attestation d'expérience auprès de l'assureur actuel ?",
            "Merci de commander les relevés de sinistres à jour pour toutes nos polices.",
        ],
    },
    LanguageWords {
        language: "de",
        keywords: list!(
            "schadenverlauf^1.8, schadensverlauf^1.8, schadenverläufe^1.8, schadenhistorie^1.8, \
             schadenaufstellung^1.6, schadenübersicht^1.6, schadenrendement^1.4, rentabilität & schaden^0.8, \
             beim versicherer^0.8, anfordern^0.6, schadenverlauf anbei^-2, ihre anfrage^-1"
        ),
        examples: &[
            "Bitte fordern Sie die Schadenverläufe bei unseren Versicherern an, die Policen sind beigefügt.",
            "Für die Verlängerung brauchen wir die Schadenhistorie der letzten fünf Jahre.",
        ],
    },
];

/// Loss runs came, or the insurer says why they did not.
pub(super) const REPLY: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: &[
            "adjunto historial de siniestros^1.8",
            "adjuntamos historial de siniestros^1.8",
            "adjunto el reporte de siniestros^1.8",
            "adjunto & siniestralidad^1.4",
            "según su solicitud^1.2",
            "conforme a su solicitud^1.2",
            "en respuesta a su solicitud^1.4",
            "no registra siniestros^1.6",
            "no presenta siniestros^1.6",
            "no se han reportado siniestros^1.4",
            refused!("carta de autorización^0.8"),
            refused!("no podemos entregar^1"),
            refused!("no podemos proporcionar^1"),
            refused!("no encontramos la póliza^1.4"),
        ],
        examples: &[
            "Adjunto encontrará el historial de siniestros que solicitó.",
            "La póliza no registra siniestros en el periodo solicitado.",
            "No podemos entregar el historial sin una carta de autorización firmada por el asegurado.",
        ],
    },
    LanguageWords {
        language: "fr",
        keywords: &[
            "ci-joint le relevé de sinistres^1.8",
            "ci-joint le relevé^1.2",
            "suite à votre demande^1.4",
            "en réponse à votre demande^1.4",
            "aucun sinistre^1.2",
            "aucun sinistre déclaré^1.2",
            refused!("lettre d'autorisation^0.8"),
            refused!("ne pouvons pas transmettre^1"),
            refused!("ne pouvons transmettre^1"),
            refused!("police introuvable^1.4"),
        ],
        examples: &[
            "Veuillez trouver ci-joint le relevé de sinistres demandé.",
            "Aucun sinistre n'a été déclaré pendant la période d'assurance.",
            "Nous ne pouvons transmettre le relevé sans une lettre d'autorisation signée par l'assuré.",
        ],
    },
    LanguageWords {
        language: "de",
        keywords: &[
            "schadenverlauf anbei^1.8",
            "anbei der schadenverlauf^1.8",
            "anbei die schadenaufstellung^1.8",
            "wie angefordert^1.2",
            "schadenfrei^1",
            "keine schäden gemeldet^1.4",
            refused!("vollmacht^0.6"),
        ],
        examples: &[
            "Anbei erhalten Sie den angeforderten Schadenverlauf.",
            "Zu diesem Vertrag sind keine Schäden gemeldet.",
        ],
    },
];
