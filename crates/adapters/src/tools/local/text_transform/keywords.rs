//! The words that stand most often in a text, without those that stand in every English text.

use kybern_core::list;

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use unicode_segmentation::UnicodeSegmentation;

use super::super::fields;
use super::options::Options;

/// How many when the call does not say.
const COUNT: usize = 10;
/// Shorter words say little.
const MIN_LETTERS: usize = 3;
/// Different words that are counted.
const MAX_WORDS: usize = 50_000;

/// Words that stand in every English text.
const STOP_WORDS: &[&str] = list!(
    "about, above, after, again, all, also, although, always, and, another, any, are, aren't, around, because, been, \
     before, being, below, between, both, but, can, can't, cannot, could, couldn't, did, didn't, does, doesn't, doing, \
     don't, done, down, during, each, either, else, even, ever, every, few, for, from, further, get, gets, give, got, \
     had, has, hasn't, have, haven't, having, her, here, hers, herself, him, himself, his, how, however, i'd, i'll, \
     i'm, i've, into, isn't, it's, its, itself, just, let, like, made, make, many, may, might, more, most, much, must, \
     myself, neither, never, nor, not, now, off, often, once, one, only, onto, other, our, ours, out, over, own, per, \
     please, same, shall, she, should, since, some, still, such, than, that, that's, the, their, theirs, them, then, \
     there, there's, these, they, they're, this, those, though, through, thus, too, two, under, until, upon, use, \
     used, very, was, wasn't, way, we'll, we're, we've, well, were, weren't, what, when, where, whether, which, while, \
     who, whom, whose, why, will, with, within, without, won't, would, wouldn't, yet, you, you'll, you're, you've, \
     your, yours, yourself"
);

/// The most frequent words; among equals the one that came first.
pub(super) fn keywords(text: &str, options: &Options<'_>) -> Map<String, Value> {
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    for (place, word) in text.unicode_words().enumerate() {
        let word = word.to_lowercase().replace('’', "'");
        let word = word.strip_suffix("'s").unwrap_or(&word);
        let says_little = word.chars().count() < MIN_LETTERS && word.is_ascii()
            || !word.chars().any(char::is_alphabetic)
            || STOP_WORDS.contains(&word);
        if says_little || counts.len() >= MAX_WORDS && !counts.contains_key(word) {
            continue;
        }
        counts.entry(word.to_owned()).or_insert((0, place)).0 += 1;
    }
    let mut sorted: Vec<(String, (usize, usize))> = counts.into_iter().collect();
    sorted.sort_by_key(|(_, (count, place))| (std::cmp::Reverse(*count), *place));
    sorted.truncate(options.number("count").unwrap_or(COUNT));
    let keywords: Vec<Value> =
        sorted.into_iter().map(|(word, (count, _))| json!({"word": word, "count": count})).collect();
    fields([("keywords", json!(keywords)), ("method", json!("frequency"))])
}
