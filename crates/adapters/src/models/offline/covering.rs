//! The words that stand above a message which is handed on: whether they only hand it on, or ask for something else.
//!
//! "Please see below" and "can you take care of this?" ask for what stands beneath them. "Please order lunch for Friday"
//! does not, however short it is: what the message beneath asks for is then perhaps not wanted at all, and a person decides.

use std::collections::HashSet;
use std::sync::LazyLock;

use kybern_core::model::ClassifyInput;
use smol_str::SmolStr;

use super::acts::{self, SpeechAct, WordBorder};
use super::analyse::clip;
use super::message::{MAX_TEXT, hands_on};
use super::words::{Word, fold, folded, stem, words};

/// Words that hand something on, in four languages: courtesy, who is meant, what anybody does with a message, and what a
/// message and the people in it are called.
const HANDS_ON: &str = "a about above account action add address advise again agency agent ahead all already also am and another any anybody \
    anyone anything appropriate appreciate are arrange as asap asking ask assign assist at attach attached attachment attend attention away back \
    ball bank be been begin below best boss both bottom bring broker but by can carrier care chain chance chase check circle \
    client close company complete confirm contents continue copied copy could coverage cover customer d day deal desk detail did do document does done \
    draft driver each either else em email enclosed end enough enter eod ever every everything expedite fellow file find fine finish first \
    folk follow following followup for forward forwarded friday from front further generate gentleman get getting give go going good great \
    guy had hand handle happen has have he help her him his how i if in info inform information initiate insurance insured insurer into is issue \
    it item job jump just keep kind kindly know lady last later lender let letter like list little ll look loop m mail make man manage many \
    market matter may maybe me member message might mind mine minute moment monday month more morning move much must my name need needed \
    needful next nice no note noted now number o of off office ok okay on one onto open or order other our out over own owner papers \
    people person pick please pls plz point policy possible possibly posted prepare priority process proceed produce producer properly \
    provide pull push put quick quickly r re read record regarding reply request requested require resend resolve respond response rest review \
    right roll route rush s same saturday save scan second secure see send sent set shall she should side someone somebody something soon \
    sort standpoint start status step still stuff submit sunday sure t take taken taking team tell than thank thanks that the their them then there these \
    they thing think this those thought thread thursday time to today together tomorrow tonight too track trucker try tuesday turn \
    u ams arrived box bucket came crm folder hopper inbox pile pipeline queue system ticket tracker tray \
    under underwriter until up update upload urgent us use usual ve verify very via want was way we wednesday week well what whatever when \
    where whether which who whole will wish with without work would wrap write y yesterday yet you your yours \
    bandeja carpeta cola sistema abajo adjunto algo aqui asegurado asegurada asunto atencion atender atenderlo atiende atiendan atiendanlo ayuda ayudame ayudan ayudar ayudarle \
    ayudarlo ayudarme ayudarnos ayudas cliente como con correo cosa cual cuando de del dar darle demas el ella encargar encargarse encargarte \
    encargas encargate encarguen encarguese en es esa ese eso esta estas este esto estos favor gestionar gestionarlo gestione gracias haces hacer hacerle \
    hacerlo haga hagan haz hoy hoja la las le les lo los manana mano mensaje mi mira mirar necesario necesita necesitamos necesito nos o \
    para pasar pedido pendiente pide podemos podria podrian podrias por porfa porfavor proceder procesar procesarlo procesen que quien quiere puede pueden \
    puedes resolver responder responderle revisa revisar revisarlo revise revisen se seguimiento si solicita solicitar solicitarlo solicitud su sus te tema \
    tiene todo tramitar tramitarlo tramite tramiten tu ustedes usted urgente ver vea vean ve viene y ya \
    boite dossier systeme affaire aider ai apres aujourd au aux avec besoin bien ca cas ce cela cette charge charger chose ci client comme courriel dans demain demande \
    des dessous dessus donner du elle en est et etes faire faites faudrait fil gerer hui il ils j je l lui ma me meilleurs merci message moi mon \
    n ne necessaire notre nous occuper occupez on ou par peux plait pour pourrais pourriez pouvez prendre priere prochaine qu qui rapidement regarder regardez \
    requete si sa ses son sujet suite suivi suivre sur svp stp te toi tout traiter traitez un une urgence va veuillez verifier voir votre voudrais vous \
    ablage eingang anfrage anliegen antworten bearbeiten beantworten bitte bitten da danke darum das dem den der die dies diese diesem diesen dieses dringend \
    du einem einen eine erledigen euch fall fur gerne heute ich ihm ihn ihnen ihr im ist kann kannst konnen konnten kummern kunde kunden mal mich mir mit \
    nachricht oben prufen sache schauen sehen sich sie siehe sein uns unten ubernehmen um vielen vorgang weiter weiterleiten wir wurden zu";
/// After these stands for whom, when or from whom something is to be done, and not what.
const ADJUNCTS: [&str; 16] = [
    "for", "by", "from", "until", "til", "since", "asap", "thanks", "thank", "thx", "ty", "para", "pour", "fur",
    "gracias", "danke",
];
/// After these `for` leads to what is wanted.
const WANTING: [&str; 9] = ["look", "looking", "ask", "asking", "check", "send", "wait", "search", "need"];
/// These join a second thing to do.
const AND: [&str; 8] = ["and", "then", "also", "plus", "y", "et", "und", "tambien"];

static IDLE: LazyLock<HashSet<SmolStr>> = LazyLock::new(|| HANDS_ON.split_whitespace().map(stem).collect());

/// Whether the few words above a message that is handed on ask for something that it does not ask for.
pub(super) fn asks_for_other(input: &ClassifyInput) -> bool {
    if !hands_on(input) {
        return false;
    }
    let found = words(&input.text, 0);
    let found = folded(&found);
    let borders = acts::borders(&input.text, &found);
    let acts = acts::acts(&found, &borders);
    let beneath = QuotedMessage::of(input);
    let mut start = 0;
    for end in 1..=found.len() {
        if end == found.len() || matches!(borders[end], WordBorder::Sentence | WordBorder::Question) {
            let sentence = start..end;
            let says_which = found[sentence.clone()].iter().skip(2).any(|word| word.text == "what");
            let has_own = |at: usize| {
                let word = &found[at];
                let is_name = input.text[word.start..word.end].starts_with(char::is_uppercase);
                acts[at] == SpeechAct::Asked && is_telling(&word.text) && !beneath.has(&word.text, is_name)
            };
            if !says_which && objects(&found, &borders, sentence).into_iter().any(has_own) {
                return true;
            }
            start = end;
        }
    }
    false
}

/// Whether a word says anything of what is wanted: no number does.
fn is_telling(word: &str) -> bool {
    !word.bytes().any(|b| b.is_ascii_digit()) && word.chars().count() > 1 && !IDLE.contains(&stem(word))
}

/// The words of a sentence that can say what is wanted: not those for whom or when, and nobody who is spoken to at its end.
fn objects(found: &[Word], borders: &[WordBorder], sentence: std::ops::Range<usize>) -> Vec<usize> {
    let (mut kept, mut is_adjunct) = (Vec::new(), false);
    for at in sentence.clone() {
        let begins = at == sentence.start || borders[at] == WordBorder::Clause;
        let is_last = at + 1 == sentence.end;
        if begins || AND.contains(&found[at].text.as_str()) {
            is_adjunct = false;
        }
        let wants = at > sentence.start && WANTING.contains(&found[at - 1].text.as_str());
        is_adjunct |= ADJUNCTS.contains(&found[at].text.as_str()) && !wants;
        let is_called = is_last && at > sentence.start && borders[at] == WordBorder::Clause;
        if !is_adjunct && !is_called {
            kept.push(at);
        }
    }
    kept
}

/// What the message beneath says.
struct QuotedMessage {
    named: HashSet<SmolStr>,
    asked: HashSet<SmolStr>,
}

impl QuotedMessage {
    fn of(input: &ClassifyInput) -> Self {
        let text = clip(&input.forwarded, MAX_TEXT);
        let found = words(text, 0);
        let acts = acts::acts(&found, &acts::borders(text, &found));
        let stems = |word: &Word| stem(&fold(&word.text));
        let is_wish = |act: &SpeechAct| matches!(act, SpeechAct::Asked | SpeechAct::Wanted);
        let asked = found.iter().zip(&acts).filter(|(_, act)| is_wish(act)).map(|(word, _)| stems(word)).collect();
        let named = found.iter().chain(&words(&input.subject, 0)).map(stems).collect();
        Self { named, asked }
    }

    /// Whether it asks for this too, or names whoever is named.
    fn has(&self, word: &str, is_name: bool) -> bool {
        let stem = stem(word);
        self.asked.contains(&stem) || is_name && self.named.contains(&stem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(text: &str) -> bool {
        asks_for_other(&ClassifyInput {
            subject: "Fwd: Fern Hollow".to_owned(),
            text: text.to_owned(),
            forwarded: "Hello,\n\nplease get us the loss runs for Fern Hollow Transport by Friday.\n\nAda Moor"
                .to_owned(),
            ..ClassifyInput::default()
        })
    }

    #[test]
    fn a_short_text_that_asks_for_something_of_its_own_does_not_only_hand_on() {
        for text in [
            "Please order lunch for Friday.",
            "Can you book a table at the diner for noon?",
            "FYI below. Please water the plants while I am out.",
            "Could you send me the holiday schedule?",
            "Are you coming to the picnic?",
            "I need a new chair.",
            "Please hold off for now.",
            "Please look for my umbrella.",
            "Can you give Ada a call?",
            "pls cancel my dentist appointment",
            "Please handle this and order toner.",
            "Por favor pide flores para la oficina.",
            "Merci de commander du papier.",
            "Bitte bestellen Sie Kaffee.",
        ] {
            assert!(asks(text), "{text}");
        }
    }

    #[test]
    fn a_text_that_only_hands_on_asks_for_nothing_of_its_own() {
        for text in [
            "",
            "Please see below",
            "Please handle.",
            "FYI, can you take care of this?",
            "Can you do this one today?\nDawn",
            "can you handle? he's yours as of the 1st per our agreement",
            "Dawn can you get her what she wants. thx",
            "Could your office pull these? We cannot, you hold the agent of record letter.",
            "See below and please order. We're the retail on it.",
            "Please process for Oak Bend by Friday, thanks!",
            "Can you help this customer, Dawn?",
            "Please get the runs for Fern.",
            "Please review and let me know if you need the dec pages.",
            "Please take a look and advise on next steps. Thanks",
            "Please forward to the right person and keep me posted.",
            "please put this into the work queue, it came to my own inbox",
            "Thoughts?",
            "Puede encargarse de esto por favor?",
            "Favor de atender, gracias.",
            "Pourriez-vous vous en occuper ?",
            "K\u{f6}nnen Sie das bitte \u{fc}bernehmen?",
        ] {
            assert!(!asks(text), "{text}");
        }
    }

    #[test]
    fn a_longer_text_is_not_looked_at() {
        assert!(!asks(&"Please order lunch for all of us on Friday. ".repeat(5)));
    }
}
