//! The words of the freight intents in Spanish, French and German.

use kybern_core::list;

use crate::intent_words::LanguageWords;

pub(super) const NEW_LOAD: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: list!(
            "nueva carga^2, carga disponible^2, carga para mover^1.6, flete disponible^2, nuevo embarque^1.8, \
             embarque^0.8, necesito un camión^1.8, necesitamos un camión^1.8, necesitamos caja^1.4, \
             recoger & entregar^1.6, recolección & entrega^1.4, tarimas^1.4, caja seca & recoger^0.8, puede mover^1.4, \
             pueden mover^1.4, seguro^-0.8, cotización & seguro^-1.5, entregado^-1.2, prueba de entrega^-1.5, \
             confirmación de tarifa^-1.8"
        ),
        examples: &[
            "Tenemos una carga para el viernes, 20 tarimas de Laredo a Dallas, ¿la pueden mover?",
            "Necesitamos un camión con caja seca, recoger el lunes y entregar el miércoles.",
        ],
    },
    LanguageWords {
        language: "fr",
        keywords: list!(
            "nouveau chargement^2, chargement disponible^2, chargement à couvrir^1.8, expédition^0.6, \
             besoin d'un camion^1.8, ramassage & livraison^1.6, cueillette & livraison^1.6, palettes^1.4, livré^-1.2, \
             preuve de livraison^-1.5, confirmation de tarif^-1.8, assurance^-1"
        ),
        examples: &[
            "Nous avons un chargement de 22 palettes, ramassage lundi à Montréal et livraison mercredi à Toronto.",
            "Besoin d'un camion frigorifique pour jeudi, êtes-vous disponibles ?",
        ],
    },
    LanguageWords {
        language: "de",
        keywords: list!(
            "neue ladung^2, ladung & abholung^1.6, abholung & lieferung^1.4, brauchen einen lkw^1.8, paletten^1.4, \
             versicherung^-1"
        ),
        examples: &["Wir haben eine Ladung mit 20 Paletten, Abholung am Montag, können Sie fahren?"],
    },
];

pub(super) const POD_RECEIVED: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: list!(
            "prueba de entrega^2.4, comprobante de entrega^2.4, carta porte firmada^2, bol firmado^2, \
             remisión firmada^1.8, fue entregada^1.4, se entregó^1.4, entregado & firmado^1.4, acuse de entrega^1.8"
        ),
        examples: &["La carga se entregó hoy, adjunto el comprobante de entrega firmado."],
    },
    LanguageWords {
        language: "fr",
        keywords: list!(
            "preuve de livraison^2.4, bon de livraison signé^2.2, bon de livraison^1.4, connaissement signé^2, \
             a été livré^1.4, livré & signé^1.4"
        ),
        examples: &["Le chargement a été livré ce matin, la preuve de livraison signée est jointe."],
    },
    LanguageWords {
        language: "de",
        keywords: list!(
            "ablieferbeleg^2.2, abliefernachweis^2.2, lieferschein & unterschrieben^2, \
             unterschriebener lieferschein^1.6, zugestellt^1"
        ),
        examples: &["Die Ladung wurde zugestellt, der unterschriebene Lieferschein ist beigefügt."],
    },
];

pub(super) const RATE_CONFIRMATION: &[LanguageWords] = &[
    LanguageWords {
        language: "es",
        keywords: list!(
            "confirmación de tarifa^2.4, confirmación de carga^2.2, confirmación del flete^2, tarifa acordada^1.8, \
             tarifa & firmar^1.2, firmar y devolver^1.2, firme y regrese^1.2, tarifa^0.6"
        ),
        examples: &["Adjunto la confirmación de tarifa, favor de firmar y devolver."],
    },
    LanguageWords {
        language: "fr",
        keywords: list!(
            "confirmation de tarif^2.4, confirmation de taux^2.4, confirmation de chargement^2.2, \
             confirmation de transport^1.8, tarif convenu^1.8, signer et retourner^1.2, tarif^0.5"
        ),
        examples: &["Veuillez signer et retourner la confirmation de tarif pour le chargement de demain."],
    },
    LanguageWords {
        language: "de",
        keywords: list!(
            "transportauftrag^2, frachtbestätigung^2.2, ratenbestätigung^2.2, vereinbarte fracht^1.6, \
             unterschrieben zurück^1"
        ),
        examples: &["Anbei der Transportauftrag, bitte unterschrieben zurücksenden."],
    },
];
