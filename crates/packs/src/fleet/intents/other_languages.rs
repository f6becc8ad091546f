//! The words of the fleet intents in Spanish, French and German.

use kybern_core::list;

use crate::intent_words::LanguageWords;

pub(super) const NEW_DRIVER: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: list!(
            "nuevo conductor^2.2, nuevo chofer^2.2, nuevo operador^2, chofer nuevo^2.2, conductor nuevo^2.2, \
             agregar conductor^1.4, agregar chofer^1.4, solicitud de empleo^2, solicitud & chofer^1.4, \
             solicitud & conductor^1.4, contratar & chofer^1.6, contratamos^1.2, contratación^1.2, busco trabajo^1.6, \
             quiero trabajar^1.4, años de experiencia^0.8, licencia comercial^0.6, licencia de conducir^0.5, \
             a mi póliza^-1.5, a la póliza^-1.5, renovó^-1, renovada^-1"
        ),
        examples: &[
            "Contratamos un chofer nuevo, adjunto su licencia, el examen médico y la solicitud.",
            "Quiero trabajar como chofer, tengo licencia clase A y cinco años de experiencia.",
            "El nuevo operador empieza el lunes, aquí están sus papeles.",
        ],
    },
    LanguageWords {
        language: "fr",
        keywords: list!(
            "nouveau chauffeur^2.2, \
             ajout d'un chauffeur|ajouter le chauffeur|ajouter ce chauffeur|ajouter un chauffeur|ajoutez le chauffeur^2.4, \
             chauffeur & embauche|permis^1.4, nouveau conducteur^2.2, nouveau camionneur^2, candidature^1.8, \
             demande d'emploi^2, embauche^1.4, embaucher^1.4, embauché & chauffeur^1.4, poste de chauffeur^1.8, \
             poste de camionneur^1.8, années d'expérience^0.8, permis de conduire^0.5, à notre police^-1.5, \
             renouvelé^-1"
        ),
        examples: &[
            "Nous avons embauché un nouveau chauffeur, son permis et son dossier de conduite sont joints.",
            "Je souhaite poser ma candidature pour le poste de camionneur.",
        ],
    },
    LanguageWords {
        language: "de",
        keywords: list!(
            "neuer fahrer^2.2, neuen fahrer^2.2, bewerbung^1.8, eingestellt^1, führerschein^0.5, berufserfahrung^0.8"
        ),
        examples: &["Wir stellen einen neuen Fahrer ein, Führerschein und Unterlagen sind beigefügt."],
    },
];

pub(super) const VEHICLE_REGISTRATION: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: list!(
            "tarjeta de circulación^2.2, registro del vehículo^1.8, registro del camión^1.8, registro & remolque^1.2, \
             título del vehículo^1.8, título del camión^1.8, título & remolque^1.4, placas^1.6, nuevas placas^0.8, \
             compramos & camión^1.6, compramos & remolque^1.6, camión nuevo^1.2, remolque nuevo^1.2, \
             factura de compra^1.4, a la flota^1, a la póliza^-1.8, a mi póliza^-1.8, cotización^-1.2"
        ),
        examples: &[
            "Compramos un camión, adjunto el título y la tarjeta de circulación para agregarlo a la flota.",
            "Ya llegaron las placas nuevas del remolque, mando el registro.",
        ],
    },
    LanguageWords {
        language: "fr",
        keywords: list!(
            "immatriculation^1.8, certificat d'immatriculation^1.4, carte grise^2, plaque^1.2, nouvelle plaque^1.2, \
             acheté & camion^1.6, acheté & remorque^1.6, nouveau camion^1.2, nouvelle remorque^1.2, à la flotte^1, \
             à notre police^-1.8, soumission^-1.2"
        ),
        examples: &[
            "Nous avons acheté un camion, le certificat d'immatriculation est joint, merci de l'ajouter à la flotte.",
        ],
    },
    LanguageWords {
        language: "de",
        keywords: list!(
            "zulassungsbescheinigung^2.2, fahrzeugschein^2, zulassung^1.4, kennzeichen^1.4, gekauft & lkw^1.4, \
             in die flotte^1"
        ),
        examples: &["Wir haben einen Lkw gekauft, die Zulassungsbescheinigung ist beigefügt."],
    },
];

pub(super) const COMPLIANCE_UPDATE: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: list!(
            "inspección anual^2.2, reporte de inspección^1.8, inspección^1.4, tarjeta médica^2, \
             certificado médico^2.2, examen médico^1.6, prueba de drogas^1.8, antidoping^1.8, licencia renovada^1.8, \
             renovó & licencia^1.8, renovación de la licencia^1.6, permiso & renovado^1.4, vencimiento^0.6, \
             para el expediente^1, certificado de seguro^-2"
        ),
        examples: &[
            "El chofer renovó su tarjeta médica, adjunto la copia nueva para el expediente.",
            "Adjunto la inspección anual del remolque.",
        ],
    },
    LanguageWords {
        language: "fr",
        keywords: list!(
            "inspection annuelle^2.2, rapport d'inspection^1.8, vérification mécanique^1.6, certificat médical^2.2, \
             carte médicale^2, examen médical^1.6, test de dépistage^1.8, permis renouvelé^1.8, \
             renouvelé & permis^1.8, renouvellement du permis^1.6, pour le dossier^0.8, certificat d'assurance^-2"
        ),
        examples: &[
            "Le chauffeur a renouvelé son certificat médical, nouvelle copie jointe pour le dossier.",
            "Ci-joint le rapport de l'inspection annuelle de la remorque.",
        ],
    },
    LanguageWords {
        language: "de",
        keywords: list!(
            "hauptuntersuchung^2, prüfbericht^1.8, ärztliches attest^1.8, drogentest^1.8, \
             führerschein & verlängert^1.8"
        ),
        examples: &["Der Prüfbericht der Hauptuntersuchung ist beigefügt."],
    },
];
