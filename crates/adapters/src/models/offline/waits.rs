//! Who tells what is wanted, and not to do it yet: "don't contact Northfield Mutual", "please wait until she signs".
//!
//! One plain turn is enough, also with a name between its words; of weak ones it takes two. Who cannot wait, or tells of
//! waiting, says no such thing.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::acts::{WordBorder, borders};
use super::analyse::clip;
use super::phrases::Phrases;
use super::words::{TextWords, Word, folded};

/// Turns that say so by themselves (2), and those of which two do (1).
const SIGNS: &[(&str, u8)] = &[
    ("hold off", STRONG),
    ("but not before", STRONG),
    ("but not until", STRONG),
    ("not earlier than", STRONG),
    ("at the earliest", STRONG),
    ("no antes de", STRONG),
    ("pas avant", STRONG),
    ("do not contact", 1),
    ("don't contact", 1),
    ("do not contact anyone", STRONG),
    ("do not contact anybody", STRONG),
    ("don't contact anyone", STRONG),
    ("don't contact anybody", STRONG),
    ("do not order anything", STRONG),
    ("don't order anything", STRONG),
    ("do not request anything", STRONG),
    ("don't request anything", STRONG),
    ("do not send anything", 1),
    ("don't send anything", 1),
    ("do not order", 1),
    ("don't order", 1),
    ("do not request", 1),
    ("don't request", 1),
    ("do not do anything", 1),
    ("don't do anything", 1),
    ("wait until", 1),
    ("wait till", 1),
    ("wait for", 1),
    ("until i send", 1),
    ("until we send", 1),
    ("until i say", 1),
    ("until you hear from", 1),
    ("until you have", 1),
    ("until he signs", 1),
    ("until she signs", 1),
    ("until they sign", 1),
    ("has not signed", 1),
    ("hasn't signed", 1),
    ("have not signed", 1),
    ("haven't signed", 1),
    ("not yet signed", 1),
    ("no contacten", 1),
    ("no pidan nada", STRONG),
    ("no soliciten", 1),
    ("esperen a que", 1),
    ("espere a que", 1),
    ("hasta que", 1),
    ("ne contactez pas", 1),
    ("ne demandez rien", STRONG),
    ("attendez que", STRONG),
    ("veuillez attendre que", STRONG),
    ("merci d attendre que", STRONG),
    ("avant que je", 1),
    ("tant que", 1),
];
/// What a message must have.
const STRONG: u8 = 2;

/// Not to turn to somebody: said of a name, it is an order to wait.
const TURN_TO: &str = "do not contact|don t contact|dont contact|not to contact|do not reach out to|don t reach out to|\
    dont reach out to|not to reach out to|do not write to|don t write to|not to write to|do not approach|don t approach|\
    not to approach|do not go to|don t go to|no contacten a|no contacte a|no contacten con|no contacte con|no contacten|\
    no contacte|no se comuniquen con|no se comunique con|no se pongan en contacto con|no hablen con|no hable con|\
    no escriban a|no escriba a|no llamen a|no llame a|ne contactez pas|n ecrivez pas a|ne prenez pas contact avec|\
    ne vous adressez pas a|ne pas contacter";
/// Not to do something: it is an order to wait where the sentence says until when.
const DO: &str = "do not order|don t order|dont order|not to order|do not request|don t request|dont request|not to request|\
    do not send|don t send|dont send|not to send|do not submit|don t submit|do not ask|don t ask|not to ask|do not start|\
    don t start|do not do anything|don t do anything|no pidan|no pida|no soliciten|no solicite|no ordenen|no ordene|\
    no envien|no envie|no manden|no mande|no hagan|no haga|ne demandez pas|ne demandez rien|ne commandez pas|\
    ne commandez rien|n envoyez pas|n envoyez rien|ne faites rien|ne lancez pas|ne lancez rien|please hold|kindly hold";
/// To wait: an order where the sentence says for what.
const WAIT: &str = "please wait|kindly wait|just wait|better wait|you to wait|we should wait|you should wait|esperen|espere|\
    favor de esperar|por favor esperar|attendez|veuillez attendre|merci d attendre|veuillez patienter|merci de patienter";
/// Until when. Not what the clock or a calendar says alone: those are somebody's hours.
const UNTIL: &str = "until|till|til|before|yet|for now|for the moment|for the time being|at this time|at this point|hasta|\
    a que|todavia|por ahora|por el momento|antes de|jusqu|avant|tant que|pour l instant|pour le moment|encore";
/// Words between the order and its end.
const REACH: usize = 10;

/// Before these words somebody tells what is done, and orders nothing.
const TELLERS: &[&str] = &["we", "i", "they", "who", "which", "vous", "nous", "ils", "elles"];
/// What turns "wait" around: "we cannot wait until", "no need to hold off".
const NOT: &[&str] = &["cannot", "cant", "t", "not", "never", "unable", "no", "dont", "pas", "ne", "n"];
/// What is turned around so.
const WAITING: &[&str] = &["wait", "hold", "esperen", "espere", "esperar", "attendez", "attendre"];
/// Words between the order and a name.
const BEFORE_NAMES: &[&str] = &["the", "anyone", "anybody", "at", "a", "con", "la", "el", "le", "l", "les", "aux"];
/// After an order not to turn to somebody: what follows is when, and not whether.
const SENDERS: &[&str] = &["me", "us", "nos", "nous"];
/// After a name, these say how to turn to somebody, or that it is over.
const OTHERWISE: &[&str] = &["directly", "direct", "any", "anymore", "again", "directamente", "directement", "plus"];
/// A full stop behind these ends no sentence.
const TITLES: &[&str] = &["m", "mr", "mrs", "ms", "dr", "sr", "sra", "mme", "st", "jr", "co", "inc"];
/// Bytes of an order that are shown to a person.
const MAX_SHOWN: usize = 80;

static WEAK: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(SIGNS.iter().map(|(sign, _)| *sign)));
static ORDERS: LazyLock<(Phrases, Vec<WaitOrder>)> = LazyLock::new(|| {
    let lists = [(WaitOrder::TurnTo, TURN_TO), (WaitOrder::Do, DO), (WaitOrder::Wait, WAIT)];
    let all = || lists.iter().flat_map(|(order, list)| list.split('|').map(move |phrase| (*order, phrase)));
    (Phrases::of(all().map(|(_, phrase)| phrase)), all().map(|(order, _)| order).collect())
});
static ENDS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(UNTIL.split('|')));

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WaitOrder {
    TurnTo,
    Do,
    Wait,
}

/// What says to wait, as it is written; nothing when the message does not.
pub(super) fn said(parts: &[TextWords<'_>; 2]) -> Vec<String> {
    let parts = parts.each_ref().map(LoweredText::new);
    let mut signs: Vec<usize> = parts.iter().flat_map(LoweredText::signs).collect();
    signs.sort_unstable();
    signs.dedup();
    let mut said: Vec<String> = parts.iter().flat_map(LoweredText::orders).collect();
    let sum = signs.iter().map(|sign| SIGNS[*sign].1).fold(0, u8::saturating_add);
    if sum < STRONG && said.is_empty() {
        return said;
    }
    said.extend(signs.iter().map(|sign| SIGNS[*sign].0.to_owned()));
    said
}

/// A text with its words in small letters and without accents.
struct LoweredText<'t> {
    text: &'t str,
    words: Cow<'t, [Word]>,
    borders: Vec<WordBorder>,
}

impl<'t> LoweredText<'t> {
    fn new(of: &'t TextWords<'t>) -> Self {
        Self { text: of.text, words: folded(&of.words), borders: borders(of.text, &of.words) }
    }

    /// The turns of [`SIGNS`] that are not turned around.
    fn signs(&self) -> Vec<usize> {
        let turned = |at: usize| self.is(at, WAITING) && self.is_denied(at);
        let counts = |first: usize| !turned(first) && !first.checked_sub(1).is_some_and(turned);
        WEAK.find_all(&self.words).iter().filter(|found| counts(found.first)).map(|found| found.phrase).collect()
    }

    /// The orders to wait, as they are written.
    fn orders(&self) -> Vec<String> {
        let ends = |first: usize| {
            let begins = first == 0 || !self.is_open(first);
            if begins && self.is(first, &["wait"]) && self.is(first + 1, &["until", "till", "before"]) {
                return self.until(first + 1);
            }
            let found = ORDERS.0.at(&self.words, first).next()?;
            if !begins && self.is(first - 1, TELLERS) {
                return None;
            }
            match ORDERS.1[found.phrase] {
                WaitOrder::TurnTo if self.is(found.last, SENDERS) => None,
                WaitOrder::TurnTo => self.name(found.last).or_else(|| self.until(found.last)),
                WaitOrder::Do => self.until(found.last),
                WaitOrder::Wait => self.until(found.last).filter(|_| !self.is_denied(first)),
            }
        };
        let written = |first: usize| {
            let (from, to) = (self.words[first].start, self.words[ends(first)?].end);
            Some(clip(&self.text[from..to], MAX_SHOWN).split_whitespace().collect::<Vec<_>>().join(" "))
        };
        (0..self.words.len()).filter_map(written).collect()
    }

    /// Whether that word is one of these.
    fn is(&self, at: usize, any: &[&str]) -> bool {
        self.words.get(at).is_some_and(|word| any.contains(&word.text.as_str()))
    }

    /// Whether nothing parts that word from the one before it; a title's full stop does not.
    fn is_open(&self, at: usize) -> bool {
        self.borders[at] == WordBorder::Open || at.checked_sub(1).is_some_and(|before| self.is(before, TITLES))
    }

    /// Whether the word is turned around by those before it.
    fn is_denied(&self, at: usize) -> bool {
        let reach = if at > 0 && self.is(at - 1, &["to", "pour"]) { 4 } else { 2 };
        let before = (1..=reach).take_while(|back| *back <= at && self.is_open(at + 1 - back));
        before.map(|back| at - back).any(|before| self.is(before, NOT))
    }

    /// The last word of the name that begins there, behind words such as "the"; in a text of capitals nobody can tell.
    fn name(&self, from: usize) -> Option<usize> {
        let written = |at: usize| self.words.get(at).map(|word| &self.text[word.start..word.end]);
        let first = (from..self.words.len()).find(|at| !self.is(*at, BEFORE_NAMES))?;
        let is_name = |at: usize| {
            at < self.words.len()
                && self.is_open(at)
                && written(at).is_some_and(|word| word.starts_with(char::is_uppercase) && word != "I")
        };
        let in_capitals = |at: usize| written(at).is_some_and(|word| word.chars().all(char::is_uppercase));
        let parted = (from..first).any(|at| !self.is_open(at));
        if parted || !is_name(first) || in_capitals(from - 1) {
            return None;
        }
        let last = (first..self.words.len()).take_while(|at| is_name(*at)).last()?;
        (!self.is(last + 1, OTHERWISE)).then_some(last)
    }

    /// The last word of what says until when, in the same sentence; not an hour.
    fn until(&self, from: usize) -> Option<usize> {
        let in_sentence = |at: &usize| {
            let border = self.borders[*at];
            !matches!(border, WordBorder::Sentence | WordBorder::Question) || self.is(at.saturating_sub(1), TITLES)
        };
        let near = (from..self.words.len().min(from + REACH)).take_while(in_sentence);
        let found = near.filter_map(|at| ENDS.at(&self.words, at).next()).next()?;
        let is_hour = |at: usize| {
            let word = self.words.get(at).map_or("", |word| word.text.as_str());
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            is_number && (word.ends_with('m') || self.is(at + 1, &["am", "pm", "a", "p", "h", "o", "00", "30"]))
        };
        let hours = is_hour(found.last) || self.is(found.last, &["noon", "after"]);
        (!hours).then_some(found.last - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(subject: &str, text: &str) -> Vec<String> {
        super::said(&[TextWords::of(subject), TextWords::of(text)])
    }

    fn waits(text: &str) -> bool {
        !said("Loss runs", text).is_empty()
    }

    #[test]
    fn whoever_says_to_wait_is_heard() {
        for text in [
            "Please do NOT contact the carrier until I send the signed letter.",
            "Don't contact Fern Hollow until we send it.",
            "Set it up, but hold off on ordering.",
            "She hasn't signed, so wait for the letter.",
            "Don\u{2019}t contact anyone yet.",
            "Please don't contact Northfield Mutual.",
            "Draft it, but do not reach out to the Cedar Point Casualty for now.",
            "We ask you not to contact anyone at Northfield.",
            "Please hold off on Northfield Mutual.",
            "Please wait until Mr. Ortega has signed.",
            "Wait until Dana Whitmore calls back.",
            "Please wait with the Northfield Mutual request until Dana has signed.",
            "Please do not send anything to Northfield Mutual before she signs.",
            "Don't order the one from Northfield Mutual yet.",
            "Please hold the request to Northfield Mutual until Monday.",
            "Por favor no contacten a Northfield Mutual.",
            "No soliciten el historial a Northfield Mutual hasta que firme.",
            "Esperen la firma del se\u{f1}or Ortega antes de pedirlo.",
            "Merci de ne pas contacter Northfield Mutual.",
            "Ne contactez pas Northfield Mutual.",
            "Ne demandez pas encore le dossier de Northfield Mutual.",
            "Merci d'attendre la signature de M. Ortega avant de les contacter.",
        ] {
            assert!(waits(text), "{text}");
        }
    }

    #[test]
    fn whoever_waits_or_cannot_wait_is_not() {
        for text in [
            "We wait for your quote.",
            "Please do not contact our present broker.",
            "The policy runs until you have a new one.",
            "We cannot wait until you have time for it.",
            "We can't wait until Friday, please chase Northfield Mutual.",
            "We cannot afford to wait until Northfield Mutual answers.",
            "Please don't wait until Friday.",
            "There is no need to hold off.",
            "Don't hold off on Northfield Mutual.",
            "We do not contact Northfield Mutual ourselves.",
            "We did not contact Northfield Mutual until Monday.",
            "Please do not contact me until after 5 pm.",
            "Please do not contact us before 9 am.",
            "Please don't contact Dana directly.",
            "PLEASE DO NOT CONTACT OUR BROKER.",
            "No podemos esperar hasta el viernes.",
            "No esperen a que firme, p\u{ed}danlo hoy.",
            "Nous ne pouvons pas attendre jusqu'\u{e0} vendredi.",
            "N'attendez pas que Dana signe, demandez-le.",
            "Do not hesitate to contact Dana. The term is not over until May.",
        ] {
            assert!(!waits(text), "{text}: {:?}", said("Loss runs", text));
        }
    }

    #[test]
    fn what_says_so_is_shown_as_it_is_written() {
        let said = said(
            "Loss runs",
            "We need the loss runs for the renewal, but please don't contact\nNorthfield Mutual, she has not signed.",
        );
        assert_eq!(said[0], "don't contact Northfield Mutual");
    }
}
