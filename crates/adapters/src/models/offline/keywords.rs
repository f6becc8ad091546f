//! Keywords: which of an intent's words a message has, and how much they weigh.
//!
//! A keyword is a phrase; between its words one other may stand but no comma or full stop, endings do not matter, and
//! a long word may have one slip. `phrase^2.5` gives a weight (1 without; below 0 it speaks against), `a & b` wants both, a keyword that begins
//! with neither letter nor digit is looked for letter by letter, `doc:CATEGORY` wants such a document, and `mail:KIND`
//! such a machine. `a|b` wants either, `=losses` wants the word as it is written, in capitals or not, and of several words that they follow one another, `ask:phrase` wants it asked for and
//! `unasked:` a message that asks for nothing, `wrong:vin` a vehicle's number that cannot be right, `give:phrase` handed over ([`super::acts`]), `a & !b` wants the one without the other. `phrase => reason` (after the weight) is a doubt: where the phrase is
//! there, a person is asked.
//! Accents do not matter, and words that are only named to be denied do not count.

use foldhash::HashMap;
use kybern_core::model::IntentSpec;
use smol_str::SmolStr;

use super::acts::SpeechAct;
use super::requests::FOR;
use super::search::Search;
use super::words::{as_written, fold, is_long, same, stem, words};

/// How keywords begin that want something asked for, and something handed over.
pub(super) const ASKED: &str = "ask:";
pub(super) const GIVEN: &str = "give:";
/// How keywords begin that want a phrase asked for, or handed over.
const ACTS: [(&str, SpeechAct); 2] = [(ASKED, SpeechAct::Asked), (GIVEN, SpeechAct::Given)];
/// Begins a phrase that must not be there.
const ABSENT: char = '!';
/// Begins a phrase whose words are wanted as they are written.
const EXACT: char = '=';
/// What a string or a list takes beside what is in it, about.
const BESIDE: usize = 64;
/// Stands for a vehicle's number in the message that cannot be right.
const WRONG_VIN: &str = "wrong:vin";
/// Stands for a message that asks for nothing: neither for what a keyword of the intent wants asked for, nor for anything
/// else.
pub(super) const UNASKED: &str = "unasked:";
/// Parts a keyword from the doubt that it raises.
const DOUBT: &str = " => ";

/// The keywords of intents, taken apart.
#[derive(Debug, Default)]
pub(super) struct Keywords {
    /// The keywords of each intent, in the order of the intents.
    pub(super) of_intents: Vec<Vec<Keyword>>,
    /// Every stem that a keyword has.
    pub(super) stems: Stems,
    /// Where the keywords stand that are there only with a stem, by its number.
    by_stem: Vec<Vec<KeywordRef>>,
    /// The same of words as they are written.
    by_word: HashMap<SmolStr, Vec<KeywordRef>>,
    /// Where those stand that may be there with any words.
    with_any: Vec<KeywordRef>,
}

/// Where a keyword stands: the number of its intent, and its own number there.
type KeywordRef = (usize, usize);

/// What a message must have for a keyword to be there.
enum Sign<'k> {
    Stem(usize),
    Word(&'k str),
}

/// A keyword, taken apart.
#[derive(Debug)]
pub(super) struct Keyword {
    /// It, without weight and doubt.
    pub(super) phrase: String,
    /// What it weighs.
    pub(super) weight: f64,
    /// The doubt that it raises.
    pub(super) doubt: Option<String>,
    /// What it wants of a message.
    pub(super) test: Test,
}

/// What is wanted of a message.
#[derive(Debug)]
pub(super) enum Test {
    /// A document of that category.
    Document(String),
    /// A machine of that kind.
    Mail(String),
    /// A vehicle's number that cannot be right.
    WrongVin,
    /// Nothing that a message has.
    Never,
    /// All of these.
    All(Vec<Self>),
    /// That this is not there.
    Absent(Box<Self>),
    /// These letters; small ones.
    Letters(String),
    /// One of these phrases, with which that is done.
    Phrases(Vec<Phrase>, Option<SpeechAct>),
}

/// A phrase that is wanted.
#[derive(Debug)]
pub(super) enum Phrase {
    /// Words as they are written, one behind the other.
    Exact(Vec<SmolStr>),
    /// Words by the numbers of their stems; of two of them perhaps also written as one.
    Stems(Vec<usize>, Option<usize>),
}

/// Stems with their numbers.
#[derive(Debug, Default)]
pub(super) struct Stems {
    numbers: HashMap<SmolStr, usize>,
    /// Those that one slip may change, by their first letter and their length.
    long: HashMap<(u8, usize), Vec<(SmolStr, usize)>>,
}

impl Keywords {
    /// The keywords of these intents.
    pub(super) fn new(intents: &[IntentSpec]) -> Self {
        let mut stems = Stems::default();
        let mut keywords =
            |intent: &IntentSpec| intent.keywords.iter().map(|keyword| Keyword::new(keyword, &mut stems)).collect();
        let of_intents: Vec<Vec<Keyword>> = intents.iter().map(&mut keywords).collect();
        let mut all = Self { by_stem: vec![Vec::new(); stems.len()], stems, ..Self::default() };
        for (intent, keywords) in of_intents.iter().enumerate() {
            for (n, keyword) in keywords.iter().enumerate() {
                let Some(signs) = keyword.signs() else {
                    all.with_any.push((intent, n));
                    continue;
                };
                for sign in signs {
                    match sign {
                        Sign::Stem(stem) => all.by_stem[stem].push((intent, n)),
                        Sign::Word(word) => all.by_word.entry(word.into()).or_default().push((intent, n)),
                    }
                }
            }
        }
        Self { of_intents, ..all }
    }

    /// Of each intent the keywords that may be in a message, in their order: hardly any of thousands. The others are not
    /// there.
    pub(super) fn possible(&self, search: &Search<'_>) -> Vec<Vec<&Keyword>> {
        let of_stems = search.stems().flat_map(|stem| &self.by_stem[stem]);
        let of_words = search.written().filter_map(|word| self.by_word.get(word)).flatten();
        let mut places: Vec<KeywordRef> = of_stems.chain(of_words).chain(&self.with_any).copied().collect();
        places.sort_unstable();
        places.dedup();
        let mut possible = vec![Vec::new(); self.of_intents.len()];
        for (intent, n) in places {
            possible[intent].push(&self.of_intents[intent][n]);
        }
        possible
    }

    /// About how many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        // A keyword's stems and letters are about as long as it is itself.
        // So are the places where it stands by its words.
        let of = |keyword: &Keyword| size_of::<Keyword>() + 5 * (keyword.phrase.len() + BESIDE);
        let keywords = self.of_intents.iter().flatten().map(of).sum::<usize>();
        keywords + self.stems.numbers.keys().map(|stem| 2 * (stem.len() + BESIDE)).sum::<usize>()
    }
}

impl Keyword {
    /// Takes a keyword apart.
    pub(super) fn new(keyword: &str, stems: &mut Stems) -> Self {
        let (phrase, weight) = split_weight(keyword);
        let doubt = keyword.split_once(DOUBT).map(|(_, reason)| reason.trim().to_owned());
        Self { phrase: phrase.to_owned(), weight, doubt, test: Test::new(phrase, stems) }
    }

    /// Of which signs a message must have one for this to be there; `None` when it may be there without any.
    fn signs(&self) -> Option<Vec<Sign<'_>>> {
        if self.phrase == UNASKED { None } else { self.test.signs() }
    }
}

impl Test {
    fn new(phrase: &str, stems: &mut Stems) -> Self {
        let phrase = phrase.trim();
        if let Some(category) = phrase.strip_prefix("doc:") {
            return Self::Document(category.trim().to_owned());
        }
        if let Some(kind) = phrase.strip_prefix("mail:") {
            return Self::Mail(kind.trim().to_owned());
        }
        if phrase == WRONG_VIN {
            return Self::WrongVin;
        }
        if phrase.starts_with(FOR) || phrase == UNASKED || phrase.is_empty() {
            return Self::Never;
        }
        if phrase.contains(" & ") {
            return Self::All(phrase.split(" & ").map(|part| Self::new(part, stems)).collect());
        }
        if let Some(absent) = phrase.strip_prefix(ABSENT) {
            return Self::Absent(Box::new(Self::new(absent, stems)));
        }
        if !phrase.starts_with(|c: char| c.is_alphanumeric() || c == EXACT) {
            return Self::Letters(phrase.to_lowercase());
        }
        let done = ACTS.iter().find_map(|(prefix, act)| Some((phrase.strip_prefix(prefix)?, *act)));
        let (phrases, act) = done.map_or((phrase, None), |(phrases, act)| (phrases, Some(act)));
        Self::Phrases(phrases.split('|').map(|phrase| Phrase::new(phrase.trim(), stems)).collect(), act)
    }

    fn signs(&self) -> Option<Vec<Sign<'_>>> {
        match self {
            Self::Document(_) | Self::Mail(_) | Self::WrongVin | Self::Letters(_) | Self::Absent(_) => None,
            Self::Never => Some(Vec::new()),
            Self::All(all) => all.iter().filter_map(Self::signs).min_by_key(Vec::len),
            Self::Phrases(phrases, _) => Some(phrases.iter().flat_map(Phrase::signs).collect()),
        }
    }
}

impl Phrase {
    fn new(phrase: &str, stems: &mut Stems) -> Self {
        if let Some(written) = phrase.strip_prefix(EXACT) {
            return Self::Exact(words(written, 0).iter().map(|word| as_written(&word.text)).collect());
        }
        let found: Vec<SmolStr> = words(phrase, 0).iter().map(|word| stem(&fold(&word.text))).collect();
        let glued = (found.len() == 2).then(|| stems.number(found.concat().into()));
        Self::Stems(found.into_iter().map(|stem| stems.number(stem)).collect(), glued)
    }

    fn signs(&self) -> Vec<Sign<'_>> {
        match self {
            Self::Exact(words) => words.first().into_iter().map(|word| Sign::Word(word)).collect(),
            // All of its stems must be there, or the one word that it may be written as.
            Self::Stems(stems, glued) => stems.first().into_iter().chain(glued).map(|stem| Sign::Stem(*stem)).collect(),
        }
    }
}

impl Stems {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a stem that is the word itself, and those of all that are the word but for a slip.
    pub(super) fn like<'s>(&'s self, word: &'s str) -> (Option<usize>, impl Iterator<Item = usize> + 's) {
        let itself = self.numbers.get(word).copied();
        let lengths = if is_long(word) { word.len() - 1..word.len() + 2 } else { 0..0 };
        let first = word.bytes().next().unwrap_or_default();
        let near = lengths.filter_map(move |length| self.long.get(&(first, length))).flatten();
        (
            itself,
            near.filter(move |(stem, number)| Some(*number) != itself && same(word, stem)).map(|(_, number)| *number),
        )
    }

    fn number(&mut self, stem: SmolStr) -> usize {
        if let Some(number) = self.numbers.get(&stem) {
            return *number;
        }
        let number = self.numbers.len();
        if is_long(&stem) {
            let first = stem.bytes().next().unwrap_or_default();
            self.long.entry((first, stem.len())).or_default().push((stem.clone(), number));
        }
        self.numbers.insert(stem, number);
        number
    }
}

/// A keyword's phrase and weight.
fn split_weight(keyword: &str) -> (&str, f64) {
    let keyword = keyword.split_once(DOUBT).map_or(keyword, |(keyword, _)| keyword.trim_end());
    let parsed =
        keyword.rsplit_once('^').and_then(|(phrase, weight)| Some((phrase, weight.trim().parse::<f64>().ok()?)));
    parsed.filter(|(_, weight)| weight.is_finite()).unwrap_or((keyword, 1.0))
}
