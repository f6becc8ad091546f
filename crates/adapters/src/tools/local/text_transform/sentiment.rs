//! The mood of a text by the English words in it. A word list, not understanding: irony and context escape it, and
//! the answer says so by its method.

use kybern_core::list;

use serde_json::{Map, Value, json};
use unicode_segmentation::UnicodeSegmentation;

use super::super::fields;

const GOOD: &[&str] = list!(
    "accurate, amazing, appreciate, appreciated, awesome, beautiful, best, better, brilliant, comfortable, convenient, \
     delighted, easy, effective, efficient, enjoy, enjoyed, excellent, exceptional, excited, fantastic, fast, fine, \
     flawless, friendly, generous, glad, good, great, happy, helpful, helped, impressed, impressive, improved, kind, \
     love, loved, lovely, nice, outstanding, perfect, perfectly, pleasant, pleased, polite, positive, professional, \
     prompt, quick, quickly, recommend, recommended, reliable, resolved, satisfied, smooth, smoothly, solved, super, \
     superb, thank, thankful, thanks, top, useful, welcome, wonderful, worked, works, worth"
);

const BAD: &[&str] = list!(
    "angry, annoyed, annoying, appalling, awful, bad, broken, bug, buggy, cancel, cheated, complain, complaint, \
     confused, confusing, crash, crashed, damaged, defective, delay, delayed, difficult, dirty, disappointed, \
     disappointing, disaster, dissatisfied, error, errors, expensive, fail, failed, fails, failure, fault, faulty, \
     fraud, frustrated, frustrating, hate, hated, horrible, impossible, incompetent, incorrect, late, lost, mess, \
     missing, mistake, negative, nightmare, outage, overpriced, pain, painful, poor, poorly, problem, problems, \
     refund, ridiculous, rude, sad, scam, slow, sorry, stuck, terrible, trouble, unacceptable, unfortunately, unhappy, \
     unreliable, upset, useless, waste, worse, worst, wrong"
);

/// Words that turn the next ones round.
const NOT: &[&str] = &[
    "aren't", "barely", "can't", "cannot", "didn't", "doesn't", "don't", "hardly", "isn't", "never", "no", "none",
    "not", "nothing", "wasn't", "without", "won't", "wouldn't",
];

/// How many words on a turned-round word may stand.
const REACH: usize = 3;
/// From this score on either side a text is more than neutral.
const CLEAR: f64 = 0.2;

/// A score from -1 to 1, and the words that it comes from.
pub(super) fn sentiment(text: &str) -> Map<String, Value> {
    let (mut good, mut bad) = (0_u32, 0_u32);
    let mut turned = 0;
    // A turn does not reach into the next sentence.
    for sentence in text.split(['.', '!', '?', ';', '\n']) {
        for word in sentence.unicode_words() {
            let word = word.to_lowercase().replace('’', "'");
            let word = word.as_str();
            let value = i32::from(GOOD.contains(&word)) - i32::from(BAD.contains(&word));
            match if turned > 0 { -value } else { value } {
                1 => good += 1,
                -1 => bad += 1,
                _ => {}
            }
            turned = if NOT.contains(&word) { REACH } else { turned.saturating_sub(1) };
        }
        turned = 0;
    }
    let score = if good + bad == 0 { 0.0 } else { (f64::from(good) - f64::from(bad)) / f64::from(good + bad) };
    let label = match score {
        score if score >= CLEAR => "positive",
        score if score <= -CLEAR => "negative",
        _ => "neutral",
    };
    fields([
        ("sentiment", json!(label)),
        ("score", json!((score * 1000.0).round() / 1000.0)),
        ("positiveWords", json!(good)),
        ("negativeWords", json!(bad)),
        ("method", json!("lexicon")),
    ])
}
