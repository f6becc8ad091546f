//! What mail programs and people write around a message, by language. Everything is in lower case.
//!
//! These are the manners of mail in any trade; no word of a domain stands here.

use kybern_core::list;

/// The last words of the line above a quotation: "On Monday, Ann wrote:".
pub(super) const WROTE: &[&str] =
    list!("wrote, writes, escribió, escribio, a écrit, a ecrit, schrieb, ha scritto, escreveu, skrev, schreef");
/// The first words of such a line.
pub(super) const WROTE_AT: [&str; 14] = [
    "on ",
    "el ",
    "le ",
    "am ",
    "il ",
    "em ",
    "den ",
    "op ",
    "at ",
    "in reply to ",
    "a la(s)",
    "> on ",
    "w dniu ",
    "vom ",
];
/// Between dashes above an older message.
pub(super) const ORIGINAL: &[&str] = list!(
    "original message, original appointment, mensaje original, message d'origine, message d’origine, message original, \
     ursprüngliche nachricht, original-nachricht, mensagem original"
);
/// Above a message that is handed on.
pub(super) const FORWARDED: &[&str] = list!(
    "forwarded message, begin forwarded message, message enclosed in this message, mensaje reenviado, \
     inicio del mensaje reenviado, message transféré, message transfere, début du message transféré, \
     début du message réexpédié, message réacheminé, weitergeleitete nachricht, anfang der weitergeleiteten nachricht, \
     anfang der weitergeleiteten e-mail, mensagem encaminhada, messaggio inoltrato, forwarded by, forwarded email"
);
/// The subject of a message that is handed on begins so.
pub(super) const FORWARD_PREFIXES: [&str; 9] = ["fw:", "fwd:", "fw :", "rv:", "reenv:", "tr:", "tr :", "wg:", "enc:"];
/// Names of header lines that say who wrote.
pub(super) const FROM: [&str; 7] = ["from", "de", "von", "da", "expéditeur", "remitente", "absender"];
/// Names of header lines that stand nowhere else in a text.
pub(super) const CERTAIN: &[&str] = list!(
    "sent, subject, enviado, enviado el, asunto, envoyé, envoye, objet, gesendet, betreff, inviato, oggetto, assunto"
);
/// Names of the other header lines.
pub(super) const OTHER: &[&str] = list!(
    "to, cc, bcc, date, para, cco, fecha, à, a, copie à, date d'envoi, an, datum, data, per, reply-to, attachments, \
     importance, pièces jointes, responder a"
);

/// Lines that end a letter.
pub(super) const CLOSINGS: &[&str] = list!(
    "regards, best regards, kind regards, warm regards, warmest regards, best, all the best, best wishes, sincerely, \
     yours sincerely, yours truly, respectfully, cordially, cheers, thanks, many thanks, thanks again, thanks so much, \
     thanks in advance, thank you, thank you so much, thank you very much, thanks and regards, thanks & regards, \
     respectfully yours, saludos, saludos cordiales, un saludo, un cordial saludo, cordialmente, atentamente, gracias, \
     muchas gracias, cordialement, bien cordialement, merci, merci beaucoup, merci d'avance, sincères salutations, \
     mit freundlichen grüßen, mit freundlichen gruessen, freundliche grüße, viele grüße, danke"
);
/// Notes that mail programs leave.
pub(super) const PROGRAM_NOTES: [&str; 15] = [
    "sent from my ",
    "sent from mail for ",
    "sent from outlook",
    "sent from yahoo",
    "sent via ",
    "get outlook for ",
    "enviado desde mi ",
    "enviado desde correo",
    "obtener outlook para ",
    "envoyé de mon ",
    "envoyé depuis mon ",
    "envoyé à partir de ",
    "télécharger outlook",
    "von meinem ",
    "gesendet von ",
];
/// Marks of a paragraph that stands beneath, or above, every mail of a sender or server.
pub(super) const FOOTERS: &[&str] = list!(
    "confidentiality notice, confidentiality statement, privileged and confidential, confidential and privileged, \
     this email and any attachments, this e-mail and any attachments, this email and any files, \
     this message and any attachments, this e-mail message is intended, this message is intended only, \
     this message is intended for, intended recipient, intended solely for, if you have received this email in error, \
     if you received this in error, received this message in error, consider the environment, virus-free, \
     scanned for viruses, this email originated from outside, this message originated from outside, external email, \
     external sender, do not click links or open attachments, aviso de confidencialidad, este mensaje y sus adjuntos, \
     este correo electrónico y, va dirigido exclusivamente, avis de confidentialité, ce message et ses pièces jointes, \
     ce courriel et, destiné exclusivement, diese e-mail enthält, vertrauliche informationen"
);
/// What a text part says when all it does is to point at the HTML.
pub(super) const STUBS: &[&str] = list!(
    "not support html, doesn't support html, cannot display html, can not display html, does not show html, \
     not display html, html-capable, html capable, html compatible, html-compatible, html-enabled, \
     html version of this, view this message in, view this email in, no muestra html, no admite html, \
     ne prend pas en charge"
);
