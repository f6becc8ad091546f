//! Whether a message has a keyword, and how much that weighs where it stands.

use smol_str::SmolStr;

use super::acts::SpeechAct;
use super::keywords::{Keyword, Phrase, Stems, Test};
use super::message::{IN_OLD_SUBJECT, IN_TEXT, Message, MessageToken};
use super::values;

/// Other words that may stand between two of a phrase.
const MAX_GAP: usize = 1;

/// A message that is searched for the keywords with these stems.
pub(super) struct Search<'m> {
    message: &'m Message,
    /// For each stem where it stands among those that the message has, counted from 1; 0 when it is not there. A list,
    /// because it is looked into thousands of times for each message.
    places: Vec<usize>,
    /// The stems that it has.
    had: Vec<FoundStem>,
}

/// A stem that a message has.
#[derive(Default)]
struct FoundStem {
    stem: usize,
    /// The message's words that are it, by their numbers.
    alike: Vec<usize>,
    /// The one that is spelt like it.
    itself: Option<usize>,
}

impl<'m> Search<'m> {
    /// Looks up which words of a message these stems are.
    pub(super) fn new(message: &'m Message, stems: &Stems) -> Self {
        let mut search = Self { message, places: vec![0; stems.len()], had: Vec::new() };
        for (word, number) in &message.numbers {
            let (same, near) = stems.like(word);
            for stem in same.into_iter().chain(near) {
                let had = search.had_of(stem);
                had.alike.push(*number);
                if Some(stem) == same {
                    had.itself = Some(*number);
                }
            }
        }
        search
    }

    /// What is known of a stem, to be added to.
    fn had_of(&mut self, stem: usize) -> &mut FoundStem {
        if self.places[stem] == 0 {
            self.had.push(FoundStem { stem, ..FoundStem::default() });
            self.places[stem] = self.had.len();
        }
        &mut self.had[self.places[stem] - 1]
    }

    /// The stems that the message has.
    pub(super) fn stems(&self) -> impl Iterator<Item = usize> {
        self.had.iter().map(|had| had.stem)
    }

    /// Its words as they are written.
    pub(super) fn written(&self) -> impl Iterator<Item = &str> {
        self.message.written.keys().map(SmolStr::as_str)
    }

    /// The message's words that are a stem, by their numbers.
    fn alike(&self, stem: usize) -> &[usize] {
        self.had(stem).map_or(&[], |had| &had.alike)
    }

    fn had(&self, stem: usize) -> Option<&FoundStem> {
        self.places[stem].checked_sub(1).map(|place| &self.had[place])
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
    fn presence_of(&self, phrase: &Phrase, act: Option<SpeechAct>) -> f64 {
        let fits = |done: SpeechAct| act.is_none_or(|act| done.is(act));
        let factor = |part: usize| self.message.parts[part].factor;
        match phrase {
            Phrase::Exact(words) => {
                let Some((first, rest)) = words.split_first() else { return 0.0 };
                let starts = self.message.written.get(first).into_iter().flatten();
                let there = starts.filter(|(part, at)| self.follow(*part, *at, rest) && fits(self.act(*part, *at)));
                there.map(|(part, _)| factor(*part)).fold(0.0, f64::max)
            }
            Phrase::Stems(stems, glued) => {
                let glued = glued.and_then(|stem| self.had(stem)?.itself);
                let known = stems.iter().all(|stem| !self.alike(*stem).is_empty());
                // Of the phrases of a keyword hardly any has all its words in the message.
                let Some((first, rest)) = stems.split_first().filter(|_| known || glued.is_some()) else { return 0.0 };
                let glued = glued.into_iter().flat_map(|word| &self.message.found[word]);
                let first = if known { self.alike(*first) } else { &[] };
                let starts = first.iter().flat_map(|word| &self.message.found[*word]);
                let starts = starts.filter(|(part, at)| self.goes_on(*part, *at, rest));
                let places = glued.chain(starts).filter(|(part, at)| fits(self.act(*part, *at)));
                places.map(|(part, _)| factor(*part)).fold(0.0, f64::max)
            }
        }
    }

    /// What is done with the word at a place.
    fn act(&self, part: usize, at: usize) -> SpeechAct {
        match self.message.parts[part].places[at] {
            MessageToken::Word(_, act) => act,
            MessageToken::Break | MessageToken::Denied => SpeechAct::Named,
        }
    }

    /// Whether these words follow a place as they are written, one behind the other.
    fn follow(&self, part: usize, at: usize, words: &[SmolStr]) -> bool {
        let stands = |word: &SmolStr, at: usize| {
            self.message.written.get(word).is_some_and(|places| places.binary_search(&(part, at)).is_ok())
        };
        words.iter().zip(at + 1..).all(|(word, at)| stands(word, at))
    }

    /// Whether these stems follow a place.
    fn goes_on(&self, part: usize, mut at: usize, stems: &[usize]) -> bool {
        let places = &self.message.parts[part].places;
        stems.iter().all(|stem| {
            let alike = self.alike(*stem);
            let window = places.iter().enumerate().skip(at + 1).take(MAX_GAP + 1);
            let mut whole = window.take_while(|(_, place)| !matches!(place, MessageToken::Break));
            let is = |place: &MessageToken| matches!(place, MessageToken::Word(word, _) if alike.contains(word));
            let next = whole.find(|(_, place)| is(place));
            at = next.map_or(at, |(next, _)| next);
            next.is_some()
        })
    }
}
