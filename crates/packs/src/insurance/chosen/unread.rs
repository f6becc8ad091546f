//! What a message says of policies in words that nobody here knows: it is asked about.

use super::mentions::Mentions;
use super::picked::add;
use super::sentences::{Sentence, WordBorder};
use super::{Choice, turns as say, vocabulary as word};

/// Words of a sentence that may only point at what the one before names.
const POINTS: usize = 4;
/// Words beside what is named from which on a sentence says something of it.
const REMARK: usize = 3;

/// The first of such sentences; each comes with whether it stands in the message's body, and not in its subject.
pub(super) fn unread(said: &[(bool, Sentence)], mentions: &Mentions<'_>, count: usize) -> Option<Choice> {
    said.iter().enumerate().find_map(|(at, (in_body, sentence))| {
        // `Fern Casualty had us until 2021; skip them.`
        let before = at.checked_sub(1).filter(|_| sentence.words.len() <= POINTS).and_then(|before| said.get(before));
        let goes_on = before.is_some_and(|(_, before)| before.has_any(word::COMPANIES));
        if (restricts(sentence) || picks_some(sentence)) && !goes_on {
            return Some(Choice::Some(sentence.shown.clone()));
        }
        (*in_body && remarks(sentence, mentions, count)).then(|| Choice::Perhaps(sentence.shown.clone()))
    })
}

/// Whether a sentence leaves something out, and names no company beside the policies that it may mean.
fn restricts(sentence: &Sentence) -> bool {
    sentence.has_turn(say::RESTRICTS) && !sentence.has_any(word::COMPANIES)
}

/// Whether a sentence asks for some of what is meant: `loss runs for the first one on the attached list`. A period, such as
/// `the last two years`, is no choice of policies, and neither is `it is the first one`.
fn picks_some(sentence: &Sentence) -> bool {
    let tells = |at: usize| at > 1 && sentence.is(at - 2, word::IS) || at > 0 && sentence.is(at - 1, word::IS);
    let is_period = |end: usize| sentence.is(end + usize::from(sentence.is(end, word::OF_PERIODS)), word::PERIODS);
    let picks = |at: usize| sentence.any(at, say::PICKS_SOME).is_some_and(|end| !is_period(end) && !tells(at));
    sentence.has_any(word::ASKS) && (0..sentence.words.len()).any(picks)
}

/// Whether a sentence that asks for nothing says more of some of the policies than which they are: `the comp went to the
/// PEO in January`. Nobody can tell what that means for them.
fn remarks(sentence: &Sentence, mentions: &Mentions<'_>, count: usize) -> bool {
    let told = [word::ASKS, word::EVERY, word::WHOLE, word::RENEWS, word::CHASES];
    let tells = told.iter().any(|words| sentence.has_any(words));
    // `Fern Auto Transport` is a name.
    let is_name = sentence.shown.split(' ').all(|word| !word.starts_with(char::is_lowercase));
    if tells || is_name {
        return false;
    }
    let (mut at, mut free) = (0, 0);
    let mut meant: Option<Vec<bool>> = None;
    while at < sentence.words.len() {
        if mentions.number(sentence, at).is_some() {
            // It describes a policy.
            return false;
        }
        if let Some(mention) = mentions.at(sentence, at) {
            // `Fern Auto Transport` names a company, and no auto policy.
            let goes_on = |at: usize| {
                let open = sentence.words.get(at).is_some_and(|word| word.capital && !word.capitals);
                open && !sentence.is(at, word::AND) && !sentence.is(at, word::THINGS)
            };
            let is_part = sentence.words[at].capital
                && goes_on(mention.end)
                && sentence.words.get(mention.end).is_some_and(|word| word.before == WordBorder::Open);
            at = mention.end;
            match mention.policies {
                _ if is_part => {}
                Some(more) => add(&mut meant, more),
                // `Liability, general liability and cargo` may be all of them.
                None => return false,
            }
        } else {
            let idle = [word::BETWEEN, word::THINGS, word::AND].iter().any(|words| sentence.is(at, words));
            free += usize::from(!idle);
            at += 1;
        }
    }
    meant.is_some_and(|meant| meant.iter().filter(|meant| **meant).count() < count) && free >= REMARK
}
