//! What a sentence does with what it names: it asks for it, or hands it over.
//!
//! "Please order the loss runs" and "the loss runs are attached" have the same nouns. Who asks and who gives is told by
//! words that every trade has, so they may live here; what is asked for stays with the packs' keywords. A request that only
//! says what something else is for ("so that we can quote") asks for nothing.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::phrases::Phrases;
use super::words::{Word, folded};

/// What is done with a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum SpeechAct {
    /// It is only named.
    #[default]
    Named,
    Asked,
    /// Somebody else wants it: "the bank requires". It says what is asked for where nothing else does.
    Wanted,
    /// It is handed over.
    Given,
}

impl SpeechAct {
    /// Whether this answers to what a keyword wants: what somebody else wants is asked for too.
    pub(super) fn is(self, wanted: Self) -> bool {
        self == wanted || (wanted == Self::Asked && self == Self::Wanted)
    }
}

/// What stands between two words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WordBorder {
    /// Nothing that parts.
    Open,
    /// A comma, a colon, a bracket or a dash.
    Clause,
    /// The end of a sentence, of a list's item or of a paragraph.
    Sentence,
    /// A question mark.
    Question,
}

/// Words whose line is shorter than this do not go on in the next line.
const FULL_LINE: usize = 48;

/// What a cue says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cue {
    /// What follows is asked for: "please".
    Polite,
    /// What follows is asked for: "we need".
    Asks,
    /// What follows somebody else wants.
    Others,
    /// What follows is asked for where an order can stand: at the beginning of a clause, or after "please" or "and".
    Orders,
    /// What stands before it in its clause is asked for.
    Behind,
    /// What follows is handed over.
    Gives,
    /// What follows is handed over, or what stands before it where there is anything: "attached".
    Attached,
    /// What follows says why or when.
    Because,
    /// What follows may come about, or is courtesy: only "please" asks for anything there.
    Perhaps,
}

const POLITE: &str = "please|pls|plz|kindly|can you|can u|can we|can i|can someone|can somebody|can anyone|can your|could you|could u|\
    could we|could i|could someone|could somebody|could anyone|could your|would you|would u|would someone|will you|will someone|may i|may we|\
    might you|might i|might we|are you able|is it possible|is there any way|any chance|if you could|if you can|if you would|if possible|\
    grateful if|appreciate if|appreciate it if|appreciated if|be great if|nice if|por favor|favor de|porfa|podria|podrian|podriamos|podrias|\
    merci de|pourriez|pouvez|veuillez|svp|s il vous plait|bitte|konnen sie|konnten sie";
const ASKS: &str = "ask that|ask you to|would ask|request that|requests that|i d welcome|we d welcome|would welcome|d love|would love|be grateful for|be good enough|see to it|put in for|je le demande|je les demande|need|we require|i require|want|would like|d like|should like|be so kind|so good as to|be obliged|request to|\
    time to get|looking for|looking to get|looking to obtain|looking to have|in need of|must have|have to have|asking for|ask for|asking that|\
    asking you|authorize you|authorise you|requesting|we request|i request|hereby request|help me|help us|help with|hoping to|hope to|trouble you|in search of|\
    who do i|who do we|what do we need|i lack|we lack|short of|am after|are after|how do i|how do we|how can i|how can we|who can|where do i|where can i|what do you need|any news|any update|any word|any luck|any progress|any movement|any sign of|\
    update on|status of|status on|where are we|where do we stand|still waiting|waiting for|waiting on|awaiting|have not received|haven t received|\
    not yet received|have not seen|haven t seen|have not gotten|haven t gotten|have not had|have yet to receive|yet to receive|yet to see|follow up|\
    following up|followup|follow-up|checking in|checking on|check on|circling back|second request|2nd request|third request|3rd request|final request|\
    reminder|still need|still missing|we are missing|i am missing|still outstanding|outstanding|\
    necesito|necesitamos|necesitaria|necesitariamos|quisiera|quisieramos|quiero|queremos|requiero|\
    requerimos|ocupo|ocupamos|puede|pueden|puedes|podemos|me gustaria|nos gustaria|solicito|\
    solicitamos|solicita|solicitan|le solicito|les solicito|le pido|les pido|le pedimos|les pedimos|me ayuda|me ayudan|nos ayuda|nos ayudan|agradeceria|\
    agradeceriamos|le agradezco|les agradezco|hace falta|hacen falta|busco|buscamos|cuando|sigo esperando|seguimos esperando|pendiente de|en espera de|\
    todavia no|aun no|alguna noticia|segunda solicitud|\
    pourrais|pourrait|peux tu|puis je|pouvons nous|pourrions|besoin|j aimerais|aimerions|souhaite|souhaitons|\
    souhaiterions|souhaiterais|voudrions|voudrais|il nous faut|il me faut|faudrait|stp|priere de|serait il possible|est il possible|\
    seriez vous|auriez vous|ayez|je demande|nous demandons|cherche|cherchons|en attente|attendons|toujours pas recu|pas encore recu|des nouvelles|relance|rappel|\
    deuxieme demande|\
    konnen wir|wurden sie|brauchen|brauche|benotigen|benotige|mochten|mochte|bitten um|fehlen|warten auf";
const OTHERS: &str = "needs|wants|requires|requiring|asks for|is asking for|are asking for|requests that|has to have|has requested|have requested|wanting|\
    necesita|necesitan|quiere|quieren|pide|piden|requiere|requieren|exige|exigen|demande|demandent|exige|exigent|verlangt";
const ORDERS: &str = "order|pull|request|get|obtain|secure|gather|round up|dig up|track down|hunt down|fetch|send|resend|forward|email|mail|fax|provide|furnish|issue|prepare|run|reissue|produce|\
    generate|quote|requote|shop|market|price|ask|contact|reach out|have|chase|push|add|include|remove|delete|drop|take|cancel|change|update|increase|\
    raise|lower|reduce|amend|correct|endorse|reinstate|renew|bind|replace|swap|file|submit|insure|cover|set up|put in|go ahead|start|make|name|list|\
    confirm|verify|check|review|help|give|show|call|let us have|let me have|need|arrange|process|report|\
    pida|pidan|pidale|pidanle|pidelo|pidelos|pidalo|pidalos|consiguelo|consiguelos|consigalo|consigalos|solicitelo|solicitelos|mandelo|mandelos|pedir|solicite|soliciten|solicitar|mande|manden|mandenme|mandeme|mandar|envie|envien|envieme|enviar|consiga|consigan|\
    conseguir|agregue|agreguen|agregar|anada|anadan|incluya|incluyan|incluir|quite|quiten|quitar|cancele|cancelen|cancelar|cotice|coticen|coticenme|\
    cotizar|emita|emitan|emitir|haga|hagan|obtenga|obtengan|obtener|tramite|tramiten|gestione|gestionen|\
    demandez|demander|commandez|commander|obtenez|obtenir|envoyez|envoyer|faites|ajoutez|ajouter|retirez|retirer|annulez|annuler|emettez|emettre|\
    fournissez|fournir|resiliez|resilier|transmettez|\
    senden|schicken|fordern|bestellen|anfordern|erstellen|kundigen";
const BEHIND: &str = "please|pls|plz|needed|is needed|are needed|wanted|asap|a s a p|required|is required|urgent|rush|order needed|por favor|porfa|urge|\
    urgente|svp|s il vous plait|requis|bitte|benotigt|gebraucht|erforderlich|missing|outstanding|pending|pendiente|pendientes|manquant|manquants";
const GIVES: &str = "see attached|see the attached|see enclosed|see the enclosed|see our attached|review the attached|review attached|\
    refer to the attached|find the attached|here is|here are|heres|here s|please find|pls find|kindly find|find attached|find enclosed|please see|pls see|please accept|\
    we enclose|i enclose|enclosing|we attach|i attach|i m attaching|i am attaching|attaching|i attached|we attached|i have attached|we have attached|\
    i ve attached|i have included|we have included|i am sending|i m sending|we are sending|we re sending|we send|i send|sending you|sending over|\
    sending along|sent you|forwarding|we forward|sharing|i am providing|we are providing|we provide|providing you|we have loss|have included|\
    below are|below is|find below|see below|following are|in response to|in reply to|in answer to|per your|as per your|pursuant to your|as you requested|\
    as requested|you requested|you asked for|you ordered|we received your|we have received your|regarding your request|\
    le envio|les envio|te envio|envio|enviamos|le mando|les mando|mandamos|le adjunto|les adjunto|adjuntamos|anexamos|aqui esta|aqui estan|aqui tiene|\
    aqui va|aqui van|hago llegar|hacemos llegar|remitimos|remito|encontrara|encontraran|sirvase encontrar|en respuesta|segun su|segun lo solicitado|\
    veuillez trouver|vous trouverez|trouverez|voici|voila|je vous envoie|nous vous envoyons|je vous transmets|nous vous transmettons|je joins|nous joignons|\
    vous transmettre|vous faire parvenir|suite a votre|en reponse|comme demande|tel que demande|\
    anbei|im anhang|wir senden|ich sende|hier ist|hier sind|wie gewunscht|wie angefordert";
const ATTACHED: &str = "attached|enclosed|included|attachment|adjunto|adjunta|adjuntos|adjuntas|anexo|anexa|anexos|anexas|ci joint|ci jointe|ci joints|\
    ci jointes|ci inclus|joint|jointe|joints|jointes|en piece jointe|en pieces jointes|beigefugt|beiliegend|angehangt|to follow|is coming|are coming";
const BECAUSE: &str = "so|so that|in order to|in order|before|after|because|since|until|unless|without|once|when|while|as soon as|as they|as we|as i|\
    was told|were told|told us|told me|\
    any questions|with questions|questions about|questions regarding|questions concerning|questions on|confirm receipt|acknowledge receipt|confirm you received|confirm you have received|confirm that you received|confirm that you have received|\
    please note|please be advised|be advised|please disregard|please ignore|\
    looking forward|will send|will get|will order|will request|will follow|can get|we got|i got|we received|i received|already|\
    para que|para poder|porque|antes de|despues de|\
    afin|pour que|pour pouvoir|parce que|avant de|avant que|apres|car|veuillez agreer|veuillez recevoir|veuillez noter|\
    veuillez accepter|damit|weil|bevor";
const PERHAPS: &str = "if|should you need|should you want|should you require|let me know|let us know|feel free|please feel free|please let me know if|please let us know if|don t hesitate|do not hesitate|\
    please do not hesitate|thank you for|thanks for|thank you again|si necesita|si necesitan|si tiene|si tienen|gracias por|cualquier duda|quedo|\
    quedamos|si vous|n hesitez|merci pour|falls|wenn|danke fur|vielen dank";

/// After these an order stands as at the beginning of a clause.
const BEFORE_ORDERS: &[&str] =
    &["please", "pls", "plz", "kindly", "just", "also", "then", "so", "favor", "svp", "bitte"];
/// After these it does where somebody has asked or given something before.
const AND: &[&str] = &["and", "or", "y", "et", "und", "then"];
/// Behind a condition these lead to what is to be done: "if it is too much then pull the reports".
pub(super) const THEN: &[&str] = &["then", "entonces", "alors", "dann"];
/// Before "attached" these make it tell which thing is meant: "on the attached policies".
const WHICH: &[&str] = &[
    "the", "this", "these", "those", "our", "my", "an", "on", "in", "of", "for", "per", "to", "from", "with", "la",
    "las", "los", "el", "le", "les",
];
const ARTICLES: [&str; 10] = ["the", "this", "these", "those", "our", "my", "la", "las", "los", "el"];
/// Before "attached" these say where the thing stands that is asked for.
const PREPOSITIONS: [&str; 8] = ["on", "in", "from", "under", "per", "en", "sur", "auf"];
/// Before "requested" and the like: what was asked for in the past asks for nothing now.
const BEFORE_NOUNS: &[&str] = &["your", "our", "the", "this", "that", "his", "her", "their", "its", "su", "votre"];

/// After these nothing is asked for: `no need`, `we do not want`, `you don't have to go ask for them`.
const DENIED: &[&str] = &["no", "not", "t", "dont", "never", "nor"];
/// Words that may stand between, and how many are looked at.
const MAX_IDLE: usize = 8;
const IDLE: &[&str] =
    &["have", "to", "go", "really", "even", "need", "you", "us", "me", "for", "want", "any", "reason"];

/// What may follow "please" at the end of a request.
const THANKS: &[&str] = &["and", "thank", "thanks", "y", "gracias", "et", "merci", "danke"];

static CUES: LazyLock<(Phrases, Vec<Cue>)> = LazyLock::new(|| {
    let (mut phrases, mut kinds) = (Phrases::default(), Vec::new());
    let lists = [
        (Cue::Because, BECAUSE),
        (Cue::Perhaps, PERHAPS),
        (Cue::Gives, GIVES),
        (Cue::Attached, ATTACHED),
        (Cue::Polite, POLITE),
        (Cue::Asks, ASKS),
        (Cue::Others, OTHERS),
        (Cue::Orders, ORDERS),
        (Cue::Behind, BEHIND),
    ];
    for (cue, list) in lists {
        for phrase in list.split('|') {
            phrases.add(phrase.trim(), kinds.len());
            kinds.push(cue);
        }
    }
    (phrases, kinds)
});
static ITEM: LazyLock<HashSet<char>> = LazyLock::new(|| HashSet::from(['-', '*', '\u{2022}', '\u{b7}', '\u{2013}']));

/// What stands before each word, and after the last one.
pub(super) fn borders(text: &str, words: &[Word]) -> Vec<WordBorder> {
    let mut found = Vec::with_capacity(words.len() + 1);
    let mut end = 0;
    let mut line = 0;
    for start in words.iter().map(|word| word.start).chain([text.len()]) {
        let between = &text[end..start];
        found.push(border(between, end - line));
        if let Some(at) = between.rfind('\n') {
            line = end + at + 1;
        }
        end = words.get(found.len() - 1).map_or(text.len(), |word| word.end);
    }
    found
}

/// What these signs between two words are; `written` bytes of the line stand before them.
fn border(between: &str, written: usize) -> WordBorder {
    if between == " " {
        return WordBorder::Open;
    }
    let mut lines = between.split('\n');
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.collect();
    if between.contains('?') {
        return WordBorder::Question;
    }
    let apart = rest.len() > 1 || (rest.len() == 1 && written + first.len() < FULL_LINE);
    let item = rest.last().is_some_and(|line| line.trim_start().starts_with(|c| ITEM.contains(&c)));
    let stops = |(at, _): (usize, &str)| {
        let after = between.get(at + 1..).unwrap_or_default();
        after.is_empty() || after.starts_with(|c: char| c.is_whitespace() || ")\"'".contains(c))
    };
    // A full stop inside a number or an address has no space behind it.
    let stop = between.match_indices(['.', '!', ';']).any(|found| stops(found) && between.len() > found.0 + 1);
    if stop || apart || item || between.contains(['!', ';']) {
        return WordBorder::Sentence;
    }
    if between.contains([',', ':', '(', ')', '\u{2014}', '\u{2013}', '|'])
        || between.contains(" - ")
        || between.contains("--")
    {
        return WordBorder::Clause;
    }
    WordBorder::Open
}

/// What is done with each word. `words` are folded and in small letters.
pub(super) fn acts(words: &[Word], borders: &[WordBorder]) -> Vec<SpeechAct> {
    let plain = folded(words);
    let mut acts = vec![SpeechAct::Named; words.len()];
    let mut start = 0;
    for end in 1..=words.len() {
        let border = borders.get(end).copied().unwrap_or(WordBorder::Sentence);
        if end == words.len() || matches!(border, WordBorder::Sentence | WordBorder::Question) {
            sentence(&plain, borders, (start, end), &mut acts);
            let asks = || !acts[start..end].contains(&SpeechAct::Asked) && !asks_about(&plain[start..end]);
            if border == WordBorder::Question && asks() {
                let named = acts[start..end].iter_mut().filter(|act| **act == SpeechAct::Named);
                named.for_each(|act| *act = SpeechAct::Asked);
            }
            start = end;
        }
    }
    acts
}

fn sentence(words: &[Word], borders: &[WordBorder], (start, end): (usize, usize), acts: &mut [SpeechAct]) {
    let text = &words[start..end];
    let parted = |at: usize| borders[start + at] != WordBorder::Open;
    let acts = &mut acts[start..end];
    let mut act = SpeechAct::Named;
    // Where the clause begins, whether a word of it has said what is done, and whether that is only perhaps so.
    let (mut clause, mut said, mut perhaps) = (0, false, false);
    let mut at = 0;
    while at < text.len() {
        if at > 0 && parted(at) {
            (clause, said, perhaps) = (at, false, false);
        }
        if perhaps && THEN.contains(&text[at].text.as_str()) {
            (clause, said, perhaps, act) = (at + 1, false, false, SpeechAct::Named);
            at += 1;
            continue;
        }
        let cue = CUES.0.at(text, at).find(|found| (at + 1..found.last).all(|inner| !parted(inner)));
        let Some(found) = cue else {
            acts[at] = act;
            at += 1;
            continue;
        };
        // Before the first word that says anything, numbers of a list do not count.
        let begins = text[clause..at].iter().all(|word| word.text.bytes().all(|b| b.is_ascii_digit()));
        let before = at.checked_sub(1).filter(|_| !parted(at)).map(|before| text[before].text.as_str());
        let is = |words: &[&str]| before.is_some_and(|before| words.contains(&before));
        let said_before = said;
        let all = CUES.0.at(text, at).filter(|other| other.last == found.last).map(|found| CUES.1[found.phrase]);
        for cue in all {
            match cue {
                Cue::Because => (act, said) = (SpeechAct::Named, true),
                Cue::Perhaps => (act, said, perhaps) = (SpeechAct::Named, true, true),
                Cue::Gives => (act, said) = (SpeechAct::Given, true),
                // What a thing is asked for on, or from, is not asked for: "order the reports on the attached policies".
                Cue::Attached if is(WHICH) && !begins => {
                    if leads_to(&text[clause..at]) {
                        act = SpeechAct::Named;
                    }
                }
                Cue::Attached if begins => (act, said) = (SpeechAct::Given, true),
                Cue::Attached => {
                    if !said {
                        acts[clause..at].fill(SpeechAct::Given);
                    }
                    (act, said) = (SpeechAct::Given, true);
                }
                Cue::Asks
                    if is(BEFORE_NOUNS) || is_denied(&text[clause..at]) || denies(text.get(found.last)) || perhaps => {}
                Cue::Others if perhaps || act == SpeechAct::Asked || is_nobody(&text[..at]) => {}
                Cue::Others => (act, said) = (SpeechAct::Wanted, true),
                Cue::Asks | Cue::Polite => (act, said, perhaps) = (SpeechAct::Asked, true, false),
                Cue::Orders if perhaps => {}
                Cue::Orders if begins || is(BEFORE_ORDERS) || (is(AND) && (said || act != SpeechAct::Named)) => {
                    (act, said) = (SpeechAct::Asked, true);
                }
                Cue::Orders => {}
                Cue::Behind => {
                    let ends = found.last == text.len()
                        || parted(found.last)
                        || THANKS.contains(&text[found.last].text.as_str());
                    // "Reports for both, five years, please" wants what the whole sentence names.
                    let from = if begins && ends { 0 } else { clause };
                    let named = acts[from..at].iter_mut().filter(|act| **act == SpeechAct::Named && !said_before);
                    named.for_each(|act| *act = SpeechAct::Asked);
                }
            }
        }
        acts[at..found.last].fill(act);
        at = found.last;
    }
}

/// Whether a word denies what stands before it: `you need not look for it`.
fn denies(word: Option<&Word>) -> bool {
    word.is_some_and(|word| word.text == "not")
}

/// Whether words end with one that denies what follows.
fn is_denied(words: &[Word]) -> bool {
    let near = words.iter().rev().take(MAX_IDLE).map(|word| word.text.as_str());
    let mut told = near.filter(|word| !IDLE.contains(word));
    told.next().is_some_and(|word| DENIED.contains(&word))
}

/// Whether words end with one for nobody, who wants nothing: `no one wants that`.
fn is_nobody(words: &[Word]) -> bool {
    let mut before = words.iter().rev().map(|word| word.text.as_str());
    match before.next() {
        Some("nobody" | "none" | "nadie" | "personne") => true,
        Some("one") => before.next() == Some("no"),
        _ => false,
    }
}

/// Whether a question asks about something and not for it: `What is a report?`, `How long does it take?`, `Is there a fee?`
fn asks_about(words: &[Word]) -> bool {
    let said: Vec<&str> = words.iter().take(4).map(|word| word.text.as_str()).collect();
    matches!(
        said.as_slice(),
        ["what", "is" | "s" | "are", "a" | "an", ..]
            | ["whats", "a" | "an", ..]
            | ["how", "long" | "many" | "much", ..]
            | ["is" | "are", "there", "a" | "any", "fee" | "fees" | "charge" | "cost"]
            | ["que", "es", ..]
            | ["cuanto", "tarda" | "tardan" | "cuesta", ..]
            | ["qu", "est", "ce", ..]
            | ["combien", "de", "temps", ..]
    )
}

/// Whether words end with a preposition, with or without an article behind it.
fn leads_to(words: &[Word]) -> bool {
    let mut before = words.iter().rev().map(|word| word.text.as_str());
    let last = before.next().filter(|word| !ARTICLES.contains(word));
    last.or_else(|| before.next()).is_some_and(|word| PREPOSITIONS.contains(&word))
}

#[cfg(test)]
mod tests;
