//! Quotes wanted, in Spanish, French and German.

use kybern_core::list;

use crate::intent_words::LanguageWords;

/// Somebody wants to be insured.
pub(super) const NEW_LEAD: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: list!(
            "ask:cotización|cotizar|seguro|aseguranza|presupuesto|precio^1, cotización^1.6, cotización de seguro^1.4, \
             cotización & seguro^0.8, cotización & camiones^0.8, cotizar^1.4, cotícenme^1.6, cotizarme^1.6, \
             cotice^1.2, presupuesto & seguro^1.6, seguro para mi camión^1.8, seguro para mis camiones^1.8, \
             seguro para camiones^1.6, seguro para mi compañía^1.6, seguro para mi empresa^1.6, seguro comercial^1.2, \
             seguro de carga^0.8, busco seguro^1.6, busco aseguranza^1.6, aseguranza^1.2, aseguranza para^0.8, \
             necesito seguro^1.4, necesito aseguranza^1.4, quiero asegurar^1.6, queremos asegurar^1.6, \
             asegurar mi^1.2, asegurar nuestra flota^1.4, cuánto cuesta & seguro^1.4, cuánto sale & seguro^1.4, \
             cambiar de aseguradora^1.2, empezando mi compañía^1, qué papeles necesitan^0.6, \
             qué documentos necesitan^0.6, certificado^-1.2, mi póliza^-0.8, historial de siniestros^-0.8"
        ),
        examples: &[
            "Quisiera una cotización de seguro para mi compañía de transporte, tenemos tres camiones.",
            "Busco aseguranza comercial para un camión, acabo de sacar mi número DOT.",
            "¿Cuánto cuesta el seguro de responsabilidad civil y carga para dos tractocamiones?",
            "Queremos asegurar nuestra flota con ustedes, ¿qué documentos necesitan para cotizar?",
        ],
    },
    LanguageWords {
        language: "fr",
        keywords: list!(
            "tarif d'assurance|tarifs d'assurance|prix d'assurance^1, \
             ask:soumission|devis|assurance|proposition|prix|tarif^1, soumission^1.6, soumission d'assurance^1.2, \
             soumission & assurance^0.8, soumission & camions^0.8, devis^1.6, devis d'assurance^1.2, \
             proposition d'assurance^1.4, assurer nos camions^1.6, assurer mes camions^1.6, assurer mon camion^1.6, \
             assurer notre flotte^1.6, cherchons une assurance^1.6, cherche une assurance^1.6, \
             assurance pour mon camion^1.6, assurance pour nos camions^1.6, assurance pour notre flotte^1.4, \
             changer d'assureur^1.4, changer de courtier^1.2, combien coûte & assurance^1.4, \
             nouvelle entreprise & assurance^1, certificat d'assurance^-1.2, notre police^-0.6, \
             relevé de sinistres^-0.8"
        ),
        examples: &[
            "Nous aimerions obtenir une soumission d'assurance pour notre flotte de camions.",
            "Pourriez-vous nous faire un devis pour deux tracteurs et trois remorques ?",
            "Je démarre une entreprise de transport et je cherche une assurance commerciale.",
        ],
    },
    LanguageWords {
        language: "de",
        keywords: list!(
            "angebot & versicherung^1.8, versicherungsangebot^1.8, angebot für^0.6, lkw versicherung^1.4, \
             flotte versichern^1.6, versichern lassen^1.4, neue versicherung^1.2, was kostet & versicherung^1.4"
        ),
        examples: &[
            "Bitte machen Sie uns ein Angebot für die Versicherung unserer Lastwagen.",
            "Wir möchten unsere Flotte bei Ihnen versichern, was brauchen Sie dafür?",
        ],
    },
];
