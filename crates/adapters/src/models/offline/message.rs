//! A message, ready to be searched for keywords: which of them it has, and how much they weigh where they stand.

use foldhash::HashMap;
use kybern_core::model::ClassifyInput;
use smol_str::SmolStr;

use super::acts::{self, SpeechAct};
use super::analyse::clip;
use super::chasing;
use super::negation::denied;
use super::pointing;
use super::words::{Word, as_written, stem, words};

/// What is looked at of the message, and of the documents.
pub(super) const MAX_TEXT: usize = 32 * 1024;
const MAX_DOCUMENTS: usize = 8 * 1024;
/// What a word counts in the subject, in the message, and in a document.
const IN_SUBJECT: f64 = 1.25;
pub(super) const IN_TEXT: f64 = 1.0;
const IN_DOCUMENTS: f64 = 0.3;
/// The same for the subject of an answer, which is of the first message; for a signature; for quoted text; and for
/// text that is handed on, by somebody who says much and by somebody who only says "see below".
pub(super) const IN_OLD_SUBJECT: f64 = 0.6;
const IN_HANDED_SUBJECT: f64 = 0.5;
const IN_SIGNATURE: f64 = 0.3;
const IN_EARLIER: f64 = 0.2;
const IN_FORWARDED: f64 = 0.4;
/// What words of others count beside newest words that ask for one thing.
const BESIDE_REQUEST: f64 = 0.5;
/// How the subject of a message begins that is handed on.
const FORWARDS: &[&str] = &["fw:", "fwd:", "wg:", "tr:", "rv:", "i:", "enc:"];
/// Whoever hands a message on says no more than this many words about it.
const HANDS_ON: usize = 25;
/// Bytes of a message in which it may ask for what it does not name.
const MAX_POINTING: usize = 1024;
/// How each request token begins.
const TOKEN: &str = "[request:";
/// How the subject of an answer begins.
const ANSWERS: &[&str] = &["re:", "re :", "aw:", "antw:", "sv:", "ré:", "ré :", "rép:", "resp:"];
/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) enum MessageToken {
    /// A comma, a full stop or the like.
    Break,
    /// A word that is denied: no word is like it.
    Denied,
    /// A word, by its number in the vocabulary, and what is done with it.
    Word(usize, SpeechAct),
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct MessagePart {
    /// What a word counts here.
    pub(super) factor: f64,
    pub(super) places: Vec<MessageToken>,
}

/// A message, ready to be searched.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) raw: String,
    pub(super) kind: &'static str,
    pub(super) documents: Vec<String>,
    pub(super) parts: Vec<MessagePart>,
    /// The number of each stem that the message has.
    pub(super) numbers: HashMap<SmolStr, usize>,
    /// The parts and the places in them where each stem stands, by its number.
    pub(super) found: Vec<Vec<(usize, usize)>>,
    /// The parts and the places in them where each word stands as it is written.
    pub(super) written: HashMap<SmolStr, Vec<(usize, usize)>>,
}

impl Message {
    /// Cuts a message into stems. `hands_on` says whether its newest words only hand on what is beneath them, `requests`
    /// whether they ask for one thing, which those that hand on do not: then what is not theirs counts less.
    pub(super) fn new(input: &ClassifyInput, hands_on: bool, requests: bool) -> Self {
        let beside = if requests { BESIDE_REQUEST } else { 1.0 };
        let again = is_answer(&input.subject) && chasing::asks_again(clip(&input.text, MAX_POINTING));
        let subject = match is_answer(&input.subject) {
            // "Re: the order. Any news yet?" is about nothing but the order.
            true if again => IN_TEXT,
            true => IN_OLD_SUBJECT,
            // It is the subject of what is handed on.
            false if is_forward(&input.subject) && !hands_on => IN_HANDED_SUBJECT,
            false => IN_SUBJECT,
        };
        let raw = format!("{}\n{}", input.subject, clip(&input.text, MAX_TEXT)).to_lowercase();
        let raw = if input.answers_request { format!("{raw}\n{TOKEN}") } else { raw };
        let documents = input.document_categories.iter().map(|key| key.to_uppercase()).collect();
        let mut message = Self { raw, kind: input.kind.as_str(), documents, ..Self::default() };
        // "Subject: the order. Can you send it?" asks for what the subject names.
        let text = clip(&input.text, MAX_TEXT);
        let found = words(text, 0);
        let (acts, by_subject, elsewhere) = acts_of(text, &found);
        let pointed = again || by_subject && !is_answer(&input.subject);
        // "See below. Can you order from the carriers?" asks for what is handed on.
        let forwarded = if hands_on || elsewhere { IN_TEXT } else { IN_FORWARDED * beside };
        message.add(clip(&input.subject, MAX_TEXT), subject, pointed.then_some(SpeechAct::Asked));
        message.add_done(text, &found, IN_TEXT, acts);
        message.add(clip(&input.forwarded, MAX_TEXT), forwarded, None);
        message.add(clip(&input.signature, MAX_DOCUMENTS), IN_SIGNATURE, None);
        message.add(clip(&input.earlier, MAX_DOCUMENTS), IN_EARLIER, None);
        message.add(clip(&input.document_text, MAX_DOCUMENTS), IN_DOCUMENTS * beside, None);
        message
    }

    /// Words that are asked for, by themselves.
    pub(super) fn of_wish(text: &str) -> Self {
        let mut message = Self { raw: text.to_lowercase(), ..Self::default() };
        message.add(text, IN_TEXT, Some(SpeechAct::Asked));
        message
    }

    /// A sentence by itself: what is done with its words is as it says.
    pub(super) fn of_sentence(text: &str) -> Self {
        let mut message = Self { raw: text.to_lowercase(), ..Self::default() };
        message.add(text, IN_TEXT, None);
        message
    }

    /// Adds the words of a text, parted where it is; what is denied is no word. `act` is what is done with all of them.
    fn add(&mut self, text: &str, factor: f64, act: Option<SpeechAct>) {
        let found = words(text, 0);
        let acts = match act {
            Some(act) => vec![act; found.len()],
            None => acts::acts(&found, &acts::borders(text, &found)),
        };
        self.add_done(text, &found, factor, acts);
    }

    /// The same where it is known what is done with each word.
    fn add_done(&mut self, text: &str, found: &[Word], factor: f64, acts: Vec<SpeechAct>) {
        let plain: Vec<SmolStr> = found.iter().map(|word| as_written(&word.text)).collect();
        let mut end = 0;
        let parts: Vec<bool> = found
            .iter()
            .map(|word| {
                let parted = text[end..word.start].contains([',', '.', ';', '!', '?']);
                end = word.end;
                parted
            })
            .collect();
        let denied = denied(&plain, &parts);
        let part = self.parts.len();
        let mut places = Vec::with_capacity(found.len());
        for (((word, parted), denied), act) in plain.into_iter().zip(parts).zip(denied).zip(acts) {
            if parted {
                places.push(MessageToken::Break);
            }
            if denied {
                places.push(MessageToken::Denied);
                continue;
            }
            let number = *self.numbers.entry(stem(&word)).or_insert(self.found.len());
            self.found.resize(self.found.len().max(number + 1), Vec::new());
            self.found[number].push((part, places.len()));
            self.written.entry(word).or_default().push((part, places.len()));
            places.push(MessageToken::Word(number, act));
        }
        self.parts.push(MessagePart { factor, places });
    }
}

/// What is done with each word of the newest text, whether it asks for what its subject names, and whether it wants from
/// somebody what was named elsewhere.
fn acts_of(text: &str, found: &[Word]) -> (Vec<SpeechAct>, bool, bool) {
    let borders = acts::borders(text, found);
    let mut acts = acts::acts(found, &borders);
    let looked = found.partition_point(|word| word.end <= MAX_POINTING);
    let pointed = pointing::pointed(text, &found[..looked], &acts[..looked], &borders);
    let elsewhere = !pointed.before.is_empty();
    for (from, to) in pointed.before {
        acts[from..to].fill(SpeechAct::Asked);
    }
    (acts, pointed.by_subject, elsewhere)
}

/// Whether a subject is that of an earlier message.
pub(super) fn is_answer(subject: &str) -> bool {
    let subject = subject.trim_start().to_lowercase();
    ANSWERS.iter().any(|prefix| subject.starts_with(prefix))
}

/// Whether a subject is that of a message that is handed on.
fn is_forward(subject: &str) -> bool {
    let subject = subject.trim_start().to_lowercase();
    FORWARDS.iter().any(|prefix| subject.starts_with(prefix))
}

/// Whether a message only hands another one on.
pub(super) fn hands_on(input: &ClassifyInput) -> bool {
    !input.forwarded.is_empty() && input.text.split_whitespace().take(HANDS_ON + 1).count() <= HANDS_ON
}

#[cfg(test)]
mod tests {
    use super::super::keywords::{Keyword, Stems};
    use super::super::search::Search;
    use super::*;

    fn weigh(keyword: &str) -> f64 {
        let input = ClassifyInput {
            subject: "RE: [Request:77]".to_owned(),
            text: "pls get lossruns, reqest the policies' copies".to_owned(),
            document_categories: vec!["DEC_PAGE".to_owned()],
            document_text: "premium".to_owned(),
            ..ClassifyInput::default()
        };
        weigh_in(&input, keyword)
    }

    fn weigh_in(input: &ClassifyInput, keyword: &str) -> f64 {
        let mut stems = Stems::default();
        let keyword = Keyword::new(keyword, &mut stems);
        Search::new(&Message::new(input, hands_on(input), false), &stems).weigh(&keyword)
    }

    #[test]
    fn words_count_by_where_they_stand() {
        let weigh = |input: ClassifyInput, keyword: &str| weigh_in(&input, keyword);
        let quoted = ClassifyInput { text: "thanks".into(), earlier: "loss runs".into(), ..ClassifyInput::default() };
        assert!(weigh(quoted, "loss run") < 0.3);
        let brief =
            ClassifyInput { text: "see below".into(), forwarded: "loss runs".into(), ..ClassifyInput::default() };
        assert!(weigh(brief, "loss run") > 0.9);
        let long =
            ClassifyInput { text: "word ".repeat(40), forwarded: "loss runs".into(), ..ClassifyInput::default() };
        assert!(weigh(long, "loss run") < 0.5);
        let answer = ClassifyInput { subject: "Re: loss runs".into(), ..ClassifyInput::default() };
        assert!(weigh(answer, "loss run") < 0.7);
        let denied = ClassifyInput { text: "we do not want a quote".into(), ..ClassifyInput::default() };
        assert!(weigh(denied, "quote") < 0.1);
        let plain = ClassifyInput { text: "una cotizacion, un relevé".into(), ..ClassifyInput::default() };
        assert!(weigh(plain.clone(), "cotización") > 0.9 && weigh(plain, "releve") > 0.9);
    }

    #[test]
    fn the_subject_of_what_is_handed_on_counts_no_more_because_the_newest_words_ask() {
        let text = "Please order the losses for this one.".to_owned();
        let input = ClassifyInput { subject: "Fwd: dec page".into(), text, ..ClassifyInput::default() };
        let mut stems = Stems::default();
        let keyword = Keyword::new("dec page", &mut stems);
        let weigh = |requests: bool| Search::new(&Message::new(&input, false, requests), &stems).weigh(&keyword);
        assert!((weigh(true) - weigh(false)).abs() < 1e-9, "{} {}", weigh(true), weigh(false));
    }

    #[test]
    fn whoever_asks_for_it_asks_for_what_the_subject_names() {
        let asks = |subject: &str, text: &str| {
            let input = ClassifyInput { subject: subject.into(), text: text.into(), ..ClassifyInput::default() };
            weigh_in(&input, "ask:=losses") > 0.9
        };
        for text in [
            "Could your office pull these? The other desk cannot.",
            "Please get them for me by Friday",
            "can you send it",
        ] {
            assert!(asks("Fern Hollow - losses", text), "{text}");
        }
        for text in ["These are attached.", "Please pull these policies.", "We got them."] {
            assert!(!asks("Fern Hollow - losses", text), "{text}");
        }
        assert!(!asks("Re: losses", "Could you pull these?"), "the subject is that of the first message");
    }

    #[test]
    fn whoever_asks_again_asks_for_what_the_old_subject_names() {
        let asks = |text: &str| {
            let input = ClassifyInput { subject: "Re: losses".into(), text: text.into(), ..ClassifyInput::default() };
            weigh_in(&input, "ask:=losses") > 0.9
        };
        for text in [
            "Any word from Northfield yet? The market wants them by Friday or its quote is gone.",
            "Hi Kim, any news on this?",
            "Still waiting.",
            "\u{bf}Alguna novedad de Northfield?",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in ["Any word on the certificate yet?", "Thanks for the losses.", "I am still waiting for my refund."]
        {
            assert!(!asks(text), "{text}");
        }
    }

    #[test]
    fn a_vehicles_number_that_cannot_be_right_is_seen() {
        let weighs = |text: &str| {
            let input = ClassifyInput { text: text.into(), ..ClassifyInput::default() };
            weigh_in(&input, "wrong:vin")
        };
        assert!(weighs("add the truck, VIN 1XKYD49X5MJ91420O, today") > 0.9);
        assert!(weighs("add 1xkyd49x6mj914201") > 0.9);
        assert!(weighs("add the truck, VIN 1XKYD49X5MJ914201, today") < 0.1);
    }

    #[test]
    fn keywords_say_what_is_done_what_either_is_and_what_must_be_absent() {
        let text = "Please order the losses, dec pages attached. No injuries. A date of loss.";
        let input = ClassifyInput { text: text.into(), ..ClassifyInput::default() };
        let says = |keyword: &str| weigh_in(&input, keyword) > 0.9;
        let exact = ["=loss", "=Losses", "ask:=LOSSES", "=dec pages", "=Date of Loss", "give:=dec pages"];
        let others = ["ask:=losses", "give:dec page", "certificate|dec page", "injury & !no fault"];
        for keyword in exact.into_iter().chain(others) {
            assert!(says(keyword), "{keyword}");
        }
        let exact = ["=losse", "=dec page", "=losses dec", "=order losses", "ask:=dec pages", "give:=losses", "="];
        let others = ["ask:dec page", "certificate|proof", "injury & !no injury", "for:a.b"];
        for keyword in exact.into_iter().chain(others) {
            assert!(!says(keyword), "{keyword}");
        }
    }

    #[test]
    fn keywords_forgive_and_weigh() {
        assert!(weigh("loss run") > 0.9);
        assert!(weigh("request policy copy^2") > 1.9);
        assert!(weigh("[request:^3") > 2.9);
        assert!(weigh("doc:dec_page") > 0.9);
        assert!(weigh("doc:COI") < 0.1);
        assert!(weigh("loss run & copy^-2") < -1.9);
        assert!((0.1..0.5).contains(&weigh("premium")));
        assert!(weigh("certificate") < 0.1);
        assert!(weigh("loss run reqest") < 0.1);
    }
}
