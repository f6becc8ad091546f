//! A message, ready to be searched for keywords: which of them it has, and how much they weigh where they stand.

use std::collections::HashMap;

use kybern_core::model::ClassifyInput;

use super::acts::{self, Act};
use super::analyse::clip;
use super::chasing;
use super::keywords::{Keyword, Phrase, Stems, Test};
use super::negation::denied;
use super::pointing;
use super::values;
use super::words::{fold, stem, twice, words};

/// What is looked at of the message, and of the documents.
pub(super) const MAX_TEXT: usize = 32 * 1024;
const MAX_DOCUMENTS: usize = 8 * 1024;
/// What a word counts in the subject, in the message, and in a document.
const IN_SUBJECT: f64 = 1.25;
const IN_TEXT: f64 = 1.0;
const IN_DOCUMENTS: f64 = 0.3;
/// The same for the subject of an answer, which is of the first message; for a signature; for quoted text; and for
/// text that is handed on, by somebody who says much and by somebody who only says "see below".
const IN_OLD_SUBJECT: f64 = 0.6;
const IN_HANDED_SUBJECT: f64 = 0.5;
const IN_SIGNATURE: f64 = 0.3;
const IN_EARLIER: f64 = 0.2;
const IN_FORWARDED: f64 = 0.4;
/// What words of others count beside newest words that ask for one thing.
const BESIDE_WISH: f64 = 0.5;
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
/// Other words that may stand between two of a phrase.
const MAX_GAP: usize = 1;

/// A place in a text.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A comma, a full stop or the like.
    Break,
    /// A word that is denied: no word is like it.
    Denied,
    /// A word, by its number in the vocabulary, and what is done with it.
    Word(usize, Act),
}

/// A part of a message.
#[derive(Debug)]
struct Part {
    /// What a word counts here.
    factor: f64,
    places: Vec<Place>,
}

/// A message, ready to be searched.
#[derive(Debug, Default)]
pub(super) struct Message {
    raw: String,
    kind: &'static str,
    documents: Vec<String>,
    parts: Vec<Part>,
    /// The number of each stem that the message has.
    numbers: HashMap<String, usize>,
    /// The parts and the places in them where each stem stands, by its number.
    found: Vec<Vec<(usize, usize)>>,
    /// The parts in which each word stands as it is written, and what is done with it there.
    written: HashMap<String, Vec<(usize, Act)>>,
}

/// A message that is searched for the keywords with these stems.
pub(super) struct Search<'m> {
    message: &'m Message,
    /// For each stem that the message has the words that are it, by their numbers.
    alike: HashMap<usize, Vec<usize>>,
    /// For each of them the word that is spelt like it.
    itself: HashMap<usize, usize>,
}

impl Message {
    /// Cuts a message into stems. `hands_on` says whether its newest words only hand on what is beneath them, `wishes`
    /// whether they ask for one thing: then what is not theirs counts less.
    pub(super) fn new(input: &ClassifyInput, hands_on: bool, wishes: bool) -> Self {
        let beside = if wishes { BESIDE_WISH } else { 1.0 };
        let again = is_answer(&input.subject) && chasing::asks_again(clip(&input.text, MAX_POINTING));
        let subject = match is_answer(&input.subject) || wishes && is_forward(&input.subject) {
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
        let mut message = Self { raw, kind: input.kind.name(), documents, ..Self::default() };
        // "Subject: the order. Can you send it?" asks for what the subject names.
        let text = clip(&input.text, MAX_TEXT);
        let (acts, by_subject, elsewhere) = acts_of(text);
        let pointed = again || by_subject && !is_answer(&input.subject);
        // "See below. Can you order from the carriers?" asks for what is handed on.
        let forwarded = match (hands_on, elsewhere) {
            (_, true) => IN_TEXT,
            (true, _) => IN_TEXT * beside,
            (false, _) => IN_FORWARDED * beside,
        };
        message.add(clip(&input.subject, MAX_TEXT), subject, pointed.then_some(Act::Asked));
        message.add_done(text, IN_TEXT, acts);
        message.add(clip(&input.forwarded, MAX_TEXT), forwarded, None);
        message.add(clip(&input.signature, MAX_DOCUMENTS), IN_SIGNATURE, None);
        message.add(clip(&input.earlier, MAX_DOCUMENTS), IN_EARLIER, None);
        message.add(clip(&input.document_text, MAX_DOCUMENTS), IN_DOCUMENTS * beside, None);
        message
    }

    /// Words that are asked for, by themselves.
    pub(super) fn of_wish(text: &str) -> Self {
        let mut message = Self { raw: text.to_lowercase(), ..Self::default() };
        message.add(text, IN_TEXT, Some(Act::Asked));
        message
    }

    /// A sentence by itself: what is done with its words is as it says.
    pub(super) fn of_sentence(text: &str) -> Self {
        let mut message = Self { raw: text.to_lowercase(), ..Self::default() };
        message.add(text, IN_TEXT, None);
        message
    }

    /// Adds the words of a text, parted where it is; what is denied is no word. `act` is what is done with all of them.
    fn add(&mut self, text: &str, factor: f64, act: Option<Act>) {
        let found = words(text, 0);
        let acts = match act {
            Some(act) => vec![act; found.len()],
            None => acts::acts(&found, &acts::borders(text, &found)),
        };
        self.add_done(text, factor, acts);
    }

    /// The same where it is known what is done with each word.
    fn add_done(&mut self, text: &str, factor: f64, acts: Vec<Act>) {
        let found = words(text, 0);
        let plain: Vec<String> = found.iter().map(|word| twice(fold(&word.text))).collect();
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
                places.push(Place::Break);
            }
            if denied {
                places.push(Place::Denied);
                continue;
            }
            let number = *self.numbers.entry(stem(&word)).or_insert(self.found.len());
            self.found.resize(self.found.len().max(number + 1), Vec::new());
            self.found[number].push((part, places.len()));
            self.written.entry(word).or_default().push((part, act));
            places.push(Place::Word(number, act));
        }
        self.parts.push(Part { factor, places });
    }
}

impl<'m> Search<'m> {
    /// Looks up which words of a message these stems are.
    pub(super) fn new(message: &'m Message, stems: &Stems) -> Self {
        let (mut alike, mut itself) = (HashMap::<usize, Vec<usize>>::new(), HashMap::new());
        for (word, number) in &message.numbers {
            let (same, near) = stems.like(word);
            if let Some(stem) = same {
                itself.insert(stem, *number);
                alike.entry(stem).or_default().push(*number);
            }
            near.for_each(|stem| alike.entry(stem).or_default().push(*number));
        }
        Self { message, alike, itself }
    }

    /// The stems that the message has.
    pub(super) fn stems(&self) -> impl Iterator<Item = usize> {
        self.alike.keys().copied()
    }

    /// Its words as they are written.
    pub(super) fn written(&self) -> impl Iterator<Item = &str> {
        self.message.written.keys().map(String::as_str)
    }

    /// The message's words that are a stem, by their numbers.
    fn alike(&self, stem: usize) -> &[usize] {
        self.alike.get(&stem).map_or(&[], Vec::as_slice)
    }

    /// Whether a keyword's phrase stands in what is said now, or in what is handed on.
    pub(super) fn says(&self, keyword: &Keyword) -> bool {
        self.presence(&keyword.test) >= IN_OLD_SUBJECT
    }

    /// What a keyword weighs here; 0 when it is not there.
    pub(super) fn weigh(&self, keyword: &Keyword) -> f64 {
        let presence = self.presence(&keyword.test);
        if keyword.weight < 0.0 {
            keyword.weight * f64::from(u8::from(presence >= IN_TEXT))
        } else {
            keyword.weight * presence
        }
    }

    fn presence(&self, test: &Test) -> f64 {
        let is = |is: bool| f64::from(u8::from(is));
        match test {
            Test::Document(category) => {
                is(self.message.documents.iter().any(|other| other.eq_ignore_ascii_case(category)))
            }
            Test::Mail(kind) => is(self.message.kind == kind),
            Test::WrongVin => {
                let vins = values::find_vins(&self.message.raw.to_uppercase());
                is(vins.iter().any(|read| read.problem.is_some()))
            }
            Test::Never => 0.0,
            Test::All(all) => all.iter().map(|test| self.presence(test)).fold(f64::INFINITY, f64::min),
            Test::Absent(test) => is(self.presence(test) <= 0.0),
            Test::Letters(letters) => is(self.message.raw.contains(letters)),
            Test::Phrases(phrases, act) => {
                phrases.iter().map(|phrase| self.presence_of(phrase, *act)).fold(0.0, f64::max)
            }
        }
    }

    /// The most that a phrase counts where it stands, or where that is done with it.
    fn presence_of(&self, phrase: &Phrase, act: Option<Act>) -> f64 {
        let fits = |done: Act| act.is_none_or(|act| done.is(act));
        let factor = |part: usize| self.message.parts[part].factor;
        match phrase {
            Phrase::Exact(word) => {
                let there = self.message.written.get(word).into_iter().flatten();
                there.filter(|(_, done)| fits(*done)).map(|(part, _)| factor(*part)).fold(0.0, f64::max)
            }
            Phrase::Stems(stems, glued) => {
                let glued = glued.and_then(|stem| self.itself.get(&stem));
                let glued = glued.into_iter().flat_map(|word| &self.message.found[*word]);
                let known = stems.iter().all(|stem| !self.alike(*stem).is_empty());
                let (first, rest) = stems
                    .split_first()
                    .filter(|_| known)
                    .map_or((&[][..], &[][..]), |(first, rest)| (self.alike(*first), rest));
                let starts = first.iter().flat_map(|word| &self.message.found[*word]);
                let starts = starts.filter(|(part, at)| self.goes_on(*part, *at, rest));
                let places = glued.chain(starts).filter(|(part, at)| fits(self.act(*part, *at)));
                places.map(|(part, _)| factor(*part)).fold(0.0, f64::max)
            }
        }
    }

    /// What is done with the word at a place.
    fn act(&self, part: usize, at: usize) -> Act {
        match self.message.parts[part].places[at] {
            Place::Word(_, act) => act,
            Place::Break | Place::Denied => Act::Named,
        }
    }

    /// Whether these stems follow a place.
    fn goes_on(&self, part: usize, mut at: usize, stems: &[usize]) -> bool {
        let places = &self.message.parts[part].places;
        stems.iter().all(|stem| {
            let alike = self.alike(*stem);
            let window = places.iter().enumerate().skip(at + 1).take(MAX_GAP + 1);
            let mut whole = window.take_while(|(_, place)| !matches!(place, Place::Break));
            let is = |place: &Place| matches!(place, Place::Word(word, _) if alike.contains(word));
            let next = whole.find(|(_, place)| is(place));
            at = next.map_or(at, |(next, _)| next);
            next.is_some()
        })
    }
}

/// What is done with each word of the newest text, whether it asks for what its subject names, and whether it wants from
/// somebody what was named elsewhere.
fn acts_of(text: &str) -> (Vec<Act>, bool, bool) {
    let found = words(text, 0);
    let borders = acts::borders(text, &found);
    let mut acts = acts::acts(&found, &borders);
    let looked = found.partition_point(|word| word.end <= MAX_POINTING);
    let pointed = pointing::pointed(text, &found[..looked], &acts[..looked], &borders);
    let elsewhere = !pointed.before.is_empty();
    for (from, to) in pointed.before {
        acts[from..to].fill(Act::Asked);
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
        for keyword in ["ask:=losses", "give:dec page", "certificate|dec page", "injury & !no fault", "=loss"] {
            assert!(says(keyword), "{keyword}");
        }
        for keyword in ["give:=losses", "ask:dec page", "certificate|proof", "injury & !no injury", "=losse", "for:a.b"]
        {
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
