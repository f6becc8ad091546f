//! Which of a message's policies some of its words mean: a number, an insurer, a line of coverage, a layer.

use kybern_core::list;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use jiff::civil::Date;

use super::super::insurers::COMMON;
use super::super::policies::{self, Policy};
use super::super::schema;
use super::sentences::{Sentence, compared, is_row};
use super::vocabulary::{AND, BETWEEN, LAYERS, NEEDED, NONE, THERE};
use crate::company;
use crate::reading::{MESSAGE_NUMBER, ReadDocument};

/// Words that a policy number may be written in.
const MAX_NUMBER_WORDS: usize = 6;
/// Words of the longest term.
const MAX_TERM_WORDS: usize = 6;
/// Words of a row by which somebody may mean it.
const MAX_ROW_WORDS: usize = 4;
/// Bytes of a table's row whose words are the policy's.
const MAX_ROW: usize = 400;

/// What people call a line that no paper calls so.
const SPOKEN: [(&str, &str); 4] = [
    ("comp", "Workers Compensation"),
    ("wc", "Workers Compensation"),
    ("work comp", "Workers Compensation"),
    ("excess", "Umbrella"),
];

/// Lines of coverage by the words for them.
static LINES: LazyLock<Vec<(Vec<String>, &'static str)>> = LazyLock::new(|| {
    let terms = schema::TERMS.iter().filter_map(|term| term.split_once('='));
    let terms = terms.filter(|(_, line)| !line.is_empty()).map(|(phrase, line)| (phrase.trim_end_matches('?'), line));
    let terms = terms.chain(SPOKEN);
    terms.map(|(phrase, line)| (phrase.split(' ').map(compared).collect(), line)).collect()
});

/// Words that a register marks a policy with, and what its dates say then.
const STATUSES: [(&str, Dates); 18] = [
    ("ntu", Dates::Unknown),
    ("not taken", Dates::Unknown),
    ("declined", Dates::Unknown),
    ("withdrawn", Dates::Unknown),
    ("active", Dates::InForce),
    ("in force", Dates::InForce),
    ("current", Dates::InForce),
    ("vigente", Dates::InForce),
    ("expired", Dates::Over),
    ("prior", Dates::Over),
    ("past", Dates::Over),
    ("vencida", Dates::Over),
    ("inactive", Dates::Unknown),
    ("cancelled", Dates::Unknown),
    ("canceled", Dates::Unknown),
    ("lapsed", Dates::Unknown),
    ("pending", Dates::Unknown),
    ("quoted", Dates::Unknown),
];
/// What such a word stands before, where it means policies: `current losses` means none.
const STATUS_OF: &[&str] = list!(
    "term, policy, policies, one, ones, row, line, carrier, insurer, company, companies, coverage, poliza, police"
);

/// What the dates of a policy say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dates {
    InForce,
    Over,
    Unknown,
}

impl Dates {
    /// Whether they say so on that day; `None` where nobody can tell.
    fn of(self, policy: &Policy, today: Date) -> Option<bool> {
        let day = |day: &Option<String>| day.as_deref()?.parse::<Date>().ok();
        let ends = day(&policy.expiration)?;
        match self {
            Self::InForce => Some(day(&policy.effective)? <= today && today < ends),
            Self::Over => Some(ends <= today),
            Self::Unknown => None,
        }
    }
}

/// How a status is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StatusMention {
    /// Before what has it: `the expired terms`.
    OfThing,
    /// Behind a turn that wants what is marked so.
    Alone,
}

/// What words mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Mention {
    /// The first of them, and the place behind them.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Which policies are meant, in their order; `None` where nobody can tell for certain.
    pub(super) policies: Option<Vec<bool>>,
}

/// The policies, as words may mean them.
pub(super) struct Mentions<'p> {
    policies: &'p [Policy],
    /// The places of the policies of each number. A paper may list thousands.
    numbers: HashMap<String, Vec<usize>>,
    /// The insurer of each, and how many words of its name no other one's begins with; 0 where there are none.
    insurers: Vec<(Vec<String>, usize)>,
    /// The words with which these names begin.
    openings: HashSet<String>,
    /// The words of the lines of each.
    lines: Vec<Vec<Vec<String>>>,
    /// What stands in the rows of each.
    rows: Vec<Vec<Vec<String>>>,
    /// The day on which the message was written, where it says so.
    today: Option<Date>,
}

impl<'p> Mentions<'p> {
    pub(super) fn new(read: &[ReadDocument], policies: &'p [Policy]) -> Self {
        let mut numbers: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, policy) in policies.iter().enumerate() {
            numbers.entry(policy.key()).or_default().push(at);
        }
        let names: Vec<Vec<String>> = policies
            .iter()
            .map(|policy| words_of(&company::normal_name(policy.insurer.as_deref().unwrap_or_default())))
            .collect();
        let mut beginnings: HashMap<&[String], usize> = HashMap::new();
        for name in names.iter().collect::<HashSet<_>>() {
            (1..=name.len()).for_each(|length| *beginnings.entry(&name[..length]).or_default() += 1);
        }
        let insurers = names.iter().map(|name| (name.clone(), short_of(name, &beginnings))).collect();
        let openings = names.iter().filter_map(|name| name.first().cloned()).collect();
        let mut rows = vec![Vec::new(); policies.len()];
        for document in read {
            rows_of(document, &numbers, &mut rows);
        }
        let message = read.iter().find(|document| document.n == MESSAGE_NUMBER);
        let today = message.and_then(|message| message.text.pages.first()?.written);
        let lines = policies.iter().map(|policy| policy.lines.iter().map(|line| words_of(line)).collect()).collect();
        Self { policies, numbers, insurers, openings, lines, rows, today }
    }

    /// What the words there mean; `None` when they mean no policy.
    pub(super) fn at(&self, sentence: &Sentence, at: usize) -> Option<Mention> {
        let named = self.named(sentence, at).or_else(|| self.coverage(sentence, at));
        named.or_else(|| self.status(sentence, at, StatusMention::OfThing))
    }

    /// What is named there by its number or its insurer.
    pub(super) fn named(&self, sentence: &Sentence, at: usize) -> Option<Mention> {
        self.number(sentence, at).or_else(|| self.insurer(sentence, at))
    }

    pub(super) fn number(&self, sentence: &Sentence, at: usize) -> Option<Mention> {
        let mut written = String::new();
        (at..sentence.words.len().min(at + MAX_NUMBER_WORDS)).find_map(|last| {
            written.push_str(&sentence.words[last].text.to_uppercase());
            let places = self.numbers.get(&written)?;
            let mut meant = vec![false; self.policies.len()];
            places.iter().for_each(|place| meant[*place] = true);
            Some(Mention { start: at, end: last + 1, policies: Some(meant) })
        })
    }

    fn insurer(&self, sentence: &Sentence, at: usize) -> Option<Mention> {
        let word = sentence.words.get(at)?;
        if ![&word.text, &word.written].iter().any(|word| self.openings.contains(*word)) {
            return None;
        }
        let stands = |(name, short): &(Vec<String>, usize)| {
            let words = name.iter().enumerate().take_while(|(n, word)| sentence.is(at + n, &[word.as_str()])).count();
            (words >= *short && *short > 0).then_some(words)
        };
        let longest = self.insurers.iter().filter_map(stands).max()?;
        let meant = self.insurers.iter().map(|name| stands(name) == Some(longest)).collect();
        // A policy whose insurer nobody knows may be theirs.
        let unknown = self.policies.iter().any(|policy| policy.insurer.is_none());
        Some(Mention { start: at, end: at + longest, policies: (!unknown).then_some(meant) })
    }

    /// Words for layers and for a line, one behind the other.
    fn coverage(&self, sentence: &Sentence, at: usize) -> Option<Mention> {
        let (mut end, mut line, mut layer) = (at, None, false);
        loop {
            if let Some((last, said)) = line_at(sentence, end).filter(|_| line.is_none()) {
                (end, line) = (last, Some(said));
            } else if sentence.is(end, LAYERS) {
                (end, layer) = (end + 1, true);
            } else {
                break;
            }
        }
        if end == at {
            return None;
        }
        let words: Vec<&str> = sentence.words[at..end].iter().map(|word| word.text.as_str()).collect();
        let shown = self.shown(&words);
        // `First` alone is any word.
        if line.is_none() && !shown.contains(&true) {
            return None;
        }
        let policies = match line {
            // Nothing but the very words tells a layer.
            _ if layer && shown.contains(&true) => Some(shown),
            Some(line) if !layer => {
                let has = |policy: &Policy| policy.lines.iter().any(|l| l == line);
                // A paper whose line nobody read may still call it by the very words.
                let meant = self.policies.iter().zip(&shown);
                let meant: Vec<bool> =
                    meant.map(|(policy, shown)| has(policy) || *shown && policy.lines.is_empty()).collect();
                let unread = |(policy, meant): (&Policy, &bool)| policy.lines.is_empty() && !meant;
                let unknown = self.policies.iter().zip(&meant).any(unread);
                let agrees = !shown.contains(&true) || shown == meant;
                // `The liability` may be any of those that are called so.
                let others = || self.called(&words).iter().zip(&meant).any(|(called, meant)| *called && !*meant);
                (meant.contains(&true) && !unknown && agrees && !others()).then_some(meant)
            }
            _ => None,
        };
        Some(Mention { start: at, end, policies })
    }

    /// The policies that a register marks so, or whose dates say it: `the expired terms`, `whatever is active`.
    pub(super) fn status(&self, sentence: &Sentence, at: usize, said: StatusMention) -> Option<Mention> {
        let last = STATUSES.iter().filter_map(|(word, _)| sentence.has(at, word)).max()?;
        let (_, by_dates) = STATUSES.iter().find(|(word, _)| sentence.has(at, word) == Some(last))?;
        let end = if sentence.is(last, STATUS_OF) { last + 1 } else { last };
        if said == StatusMention::OfThing && end == last {
            return None;
        }
        let words: Vec<&str> = sentence.words[at..last].iter().map(|word| word.text.as_str()).collect();
        let shown = self.shown(&words);
        let meant = if shown.contains(&true) {
            // A register has a mark in each row.
            let marked = |rows: &Vec<Vec<String>>| {
                let mark = |(word, _): &(&str, _)| {
                    let words: Vec<String> = word.split(' ').map(compared).collect();
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    rows.iter().any(|row| stand_in(&words, row))
                };
                STATUSES.iter().any(mark)
            };
            self.rows.iter().all(marked).then_some(shown)
        } else if said == StatusMention::Alone {
            // `Whatever is current as of today` may speak of the reports.
            None
        } else {
            self.today.and_then(|today| self.policies.iter().map(|policy| by_dates.of(policy, today)).collect())
        };
        let meant = meant.filter(|meant: &Vec<bool>| meant.contains(&true));
        Some(Mention { start: at, end, policies: meant })
    }

    /// The policies in whose rows stand the same two words or more: `the office building`. Not all rows have them.
    pub(super) fn in_rows(&self, sentence: &Sentence, at: usize) -> Option<Mention> {
        if self.rows.iter().any(Vec::is_empty) {
            return None;
        }
        let tells = |at: &usize| {
            let alphabetic = sentence.words.get(*at).is_some_and(|word| word.text.chars().all(char::is_alphabetic));
            alphabetic && !sentence.is(*at, BETWEEN) && !sentence.is(*at, AND)
        };
        let most = (at..at + MAX_ROW_WORDS).take_while(tells).count();
        (2..=most).rev().find_map(|count| {
            let words: Vec<&str> = sentence.words[at..at + count].iter().map(|word| word.text.as_str()).collect();
            let shown = self.shown(&words);
            let some = shown.contains(&true) && shown.contains(&false);
            some.then_some(Mention { start: at, end: at + count, policies: Some(shown) })
        })
    }

    /// The policies of a list that says in each row whether it is needed or there already, where both are said.
    pub(super) fn marked(&self) -> Option<Vec<bool>> {
        let says = |rows: &Vec<Vec<String>>, marks: &[&str]| {
            rows.iter().any(|row| row.iter().any(|word| marks.contains(&word.as_str())))
        };
        let mark = |rows: &Vec<Vec<String>>| match (says(rows, NEEDED), says(rows, THERE), says(rows, NONE)) {
            (true, false, false) => Some(true),
            (false, true, false) => Some(false),
            // `Not received` or `no need` says the opposite.
            _ => None,
        };
        let marked: Vec<bool> = self.rows.iter().map(mark).collect::<Option<_>>()?;
        (marked.contains(&true) && marked.contains(&false)).then_some(marked)
    }

    /// The policies of which a line has these words in its name.
    fn called(&self, words: &[&str]) -> Vec<bool> {
        self.lines.iter().map(|lines| lines.iter().any(|line| stand_in(words, line))).collect()
    }

    /// The policies in whose rows these words stand together.
    fn shown(&self, words: &[&str]) -> Vec<bool> {
        self.rows.iter().map(|rows| rows.iter().any(|row| stand_in(words, row))).collect()
    }
}

/// Whether words stand together among others.
fn stand_in(words: &[&str], others: &[String]) -> bool {
    !words.is_empty() && others.windows(words.len()).any(|there| there.iter().zip(words).all(|(a, b)| a == b))
}

/// The line of coverage whose longest term begins there.
fn line_at(sentence: &Sentence, at: usize) -> Option<(usize, &'static str)> {
    let spanish = |term: &Vec<String>| {
        term.len() == 1 && term[0] == "al" && sentence.words.get(at).is_some_and(|word| !word.capitals)
    };
    // `ref AL-2026-0093311` is a mark that somebody gave something.
    let is_mark =
        sentence.words.get(at + 1).is_some_and(|next| next.joined && next.text.bytes().all(|b| b.is_ascii_digit()));
    if is_mark {
        return None;
    }
    let stands = |term: &Vec<String>| {
        !spanish(term)
            && term.len() <= MAX_TERM_WORDS
            && term.iter().enumerate().all(|(n, word)| sentence.is(at + n, &[word.as_str()]))
    };
    let found = LINES.iter().filter(|(term, _)| stands(term)).max_by_key(|(term, _)| term.len())?;
    Some((at + found.0.len(), found.1))
}

fn words_of(text: &str) -> Vec<String> {
    Sentence::of(text).words.into_iter().map(|word| word.text).collect()
}

/// How many words of a name tell it from the others: up to one that not many insurers have. Of each beginning it is known
/// how many names have it.
fn short_of(name: &[String], beginnings: &HashMap<&[String], usize>) -> usize {
    let telling = |word: &String| word.len() > 2 && !COMMON.iter().any(|common| compared(common) == *word);
    let first = name.iter().position(telling).map_or(name.len(), |at| at + 1);
    (first..=name.len()).find(|length| beginnings.get(&name[..*length]) == Some(&1)).unwrap_or_default()
}

/// Adds the lines of a document in which a single policy's number stands; in a message, those of tables only.
fn rows_of(document: &ReadDocument, numbers: &HashMap<String, Vec<usize>>, rows: &mut [Vec<Vec<String>>]) {
    let places = policies::number_places(document);
    for page in &document.text.pages {
        let here = || places.iter().filter(|(source, _)| source.page == page.number && source.start < source.end);
        let mut starts: Vec<usize> = here().map(|(source, _)| source.start).collect();
        starts.sort_unstable();
        let before = |end: usize| starts.partition_point(|start| *start < end);
        for (source, number) in here() {
            let Some(ahead) = page.text.get(..source.start) else { continue };
            let from = ahead.rfind('\n').map_or(0, |at| at + 1);
            let to = page.text[source.start..].find('\n').map_or(page.text.len(), |at| source.start + at);
            let alone = before(to) - before(from) == 1;
            let line = &page.text[from..to];
            let at = numbers.get(&company::policy_number(number)).and_then(|places| places.first()).copied();
            if let Some(at) =
                at.filter(|_| alone && line.len() <= MAX_ROW && (document.n != MESSAGE_NUMBER || is_row(line)))
            {
                rows[at].push(words_of(line));
            }
        }
    }
}
