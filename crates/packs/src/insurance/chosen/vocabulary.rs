//! Single words that stand in and around such turns.

use kybern_core::list;

/// The word of [`super::turns::ONLY`] that is also said to soften a wish: "could you just order".
pub(super) const SOFT: &str = "just";
/// Words behind which `just` softens a wish.
pub(super) const DOES: &[&str] = &["order", "pull", "request", "get", "send", "run", "ask"];
/// Before those words they tell what somebody does.
pub(super) const WHO_DOES: &[&str] = &["they", "he", "she", "it", "who", "which", "that", "we", "i"];
/// Before those words they turn them around: "not just the cargo".
pub(super) const NOT: &[&str] = &["not", "isnt", "arent", "dont", "no", "pas", "nicht", "non"];
/// Before what is left out they deny that anything is.
pub(super) const NONE: &[&str] =
    &["no", "not", "nothing", "none", "never", "dont", "ningun", "ninguna", "aucun", "aucune"];
/// Words before a turn with which it begins all the same.
pub(super) const LEADS: &[&str] = list!(
    "and, but, please, pls, all, everything, everyone, so, also, y, pero, todo, todos, todas, et, mais, tout, tous, \
     toutes"
);
pub(super) const EVERY: &[&str] =
    &["all", "everything", "everyone", "every", "each", "both", "todo", "toda", "tout", "toute", "tous", "toutes"];
/// What has been asked for and has not come: it is wanted, and so is the rest.
pub(super) const CHASES: &[&str] =
    &["missing", "outstanding", "awaiting", "waiting", "overdue", "wanted", "falta", "faltan", "pendiente", "manque"];
/// The program as one.
pub(super) const WHOLE: &[&str] = &["entire", "whole", "complete", "entero", "entera", "entier", "entiere"];
/// What is said of policies that run out, and leaves none of them out.
pub(super) const RENEWS: &[&str] =
    &["renew", "renewal", "renewing", "expire", "expiring", "effective", "vence", "vencen", "renouvelle", "renueva"];
/// How that begins.
pub(super) const LEAVE: &str = "leave";
/// How what is to be left ends: `leave the cargo out`.
pub(super) const OUT: &[&str] = &["out", "off", "alone"];
/// Words by which loss runs are asked for.
pub(super) const ASKS: &[&str] = list!(
    "order, request, pull, get, obtain, need, want, require, ask, send, run, provide, secure, gather, please, pls, \
     pedir, pidan, pida, solicitar, soliciten, solicite, necesito, necesitamos, favor, demander, demandez, commander, \
     commandez, obtenir, besoin, merci, veuillez, can, could"
);
/// Words for what is asked for.
pub(super) const LOSSES: &[&str] =
    list!("loss, losses, claim, experience, siniestralidad, siniestro, perdida, sinistre, historial, historique");
/// Words that tell what something is.
pub(super) const IS: &[&str] = &["is", "its", "was", "are", "es", "est", "ist"];
/// What a length of time is counted in.
pub(super) const PERIODS: &[&str] = &[
    "year", "term", "period", "renewal", "month", "week", "day", "ano", "vigencia", "periodo", "mes", "annee", "an",
    "mois", "jahr", "monat",
];
/// What may stand before one of these.
pub(super) const OF_PERIODS: &[&str] = &["policy", "full", "calendar", "prior", "previous", "past"];
/// Words of the names of companies.
pub(super) const COMPANIES: &[&str] =
    &["company", "insurance", "mutual", "casualty", "indemnity", "assurance", "corp", "inc", "exchange", "group"];
/// Words between a turn and what it picks.
pub(super) const BETWEEN: &[&str] = list!(
    "need, want, require, order, request, pull, get, for, from, on, of, the, a, an, our, my, their, his, her, with, \
     to, at, loss, run, runs, losses, claim, history, report, those, these, one, in, about, any, experience, current, \
     currently, valued, please, necesito, necesitamos, quiero, la, el, las, los, de, del, para, por, con, le, les, du, \
     des, pour, avec, chez, l, d"
);
/// Words that join what is picked: one more of it.
pub(super) const AND: &[&str] = &["and", "or", "plus", "y", "e", "o", "et", "ou", "nor", "und"];
/// Words behind those with which the sentence goes on to other things.
pub(super) const GOES_ON: &[&str] = &[
    "nothing", "not", "thanks", "thank", "thx", "we", "i", "let", "no", "nobody", "none", "then", "that", "only",
    "will", "would", "call", "they", "he", "she", "it", "you", "gracias", "merci", "nada", "rien",
];
/// Words behind which a name says of whom: both must hold.
pub(super) const OF: &[&str] = &["from", "with", "by", "at", "de", "con", "avec", "chez"];
/// Words that belong to what is picked and say nothing of it.
pub(super) const THINGS: &[&str] =
    list!("policy, policies, coverage, line, insurance, program, poliza, seguro, police, assurance, piece, side, part");
/// What may follow where a turn ends.
pub(super) const AFTER: &[&str] = list!(
    "which, that, who, please, pls, plz, thanks, thank, thx, for, now, at, this, today, asap, by, since, because, as, \
     so, when, if, loss, losses, run, runs, history, experience, report, claim, will, would, is, are, needed, \
     required, wanted, time, out, off, alone, too, either, right, gracias, merci, por, esta, s, svp"
);
/// Words that tell layers of a program apart.
pub(super) const LAYERS: &[&str] = &[
    "primary", "lead", "first", "second", "third", "fourth", "1st", "2nd", "3rd", "4th", "buffer", "top", "bottom",
    "lower", "upper", "layer",
];
/// Words by which policies are picked that no paper says: which they are only a person can tell.
pub(super) const PICKS: &[&str] = list!(
    "first, last, top, bottom, highlighted, marked, checked, circled, yellow, bold, open, one, two, three, four, \
     other, same, latest, newest, oldest, biggest, primer, primera, ultima, ultimo, derniere, premiere"
);
/// The same, where the policies have different terms.
pub(super) const TERMS: &[&str] =
    &["current", "expiring", "present", "active", "expired", "prior", "actual", "vigente", "actuelle", "actuel"];
/// What is picked by such words.
pub(super) const PICKED: &[&str] = list!(
    "policy, policies, carrier, insurer, market, company, companies, one, ones, line, poliza, aseguradora, compania, \
     assureur, compagnie, police"
);
/// Behind or before a word of [`PICKED`] they say that all are meant: "only the carriers listed".
pub(super) const ALL_OF: &[&str] =
    list!("attached, listed, shown, above, below, following, adjunta, adjunto, ci, jointe, year, period, term");
/// What a list says of a report that is needed, and of one that is there already.
pub(super) const NEEDED: &[&str] = &["need", "needed", "needs", "missing", "outstanding", "falta", "manquant"];
pub(super) const THERE: &[&str] = &["have", "got", "received", "rcvd", "tenemos", "recibido", "recu"];
/// Words of the notice beneath a mail that it is confidential, and how many of them such a sentence has.
pub(super) const NOTICE: &[&str] = list!(
    "recipient, intended, addressee, dissemination, disclosure, disclose, privileged, confidential, confidentiality, \
     prohibited, unauthorized, destinatario, destinataire, error"
);
pub(super) const LEAST_OF_NOTICE: usize = 2;
/// What has dates that a sentence may speak of, and so many words before the word for them.
pub(super) const DATED: &[&str] =
    &["policy", "policies", "one", "ones", "those", "term", "terms", "anything", "everything", "poliza", "police"];
pub(super) const OF_DATES: usize = 4;
