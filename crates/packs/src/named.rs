//! The company that a message is about, by how it is named: right before its DOT number, by the one who writes for it
//! ("this is Ada from Fern Hollow Hauling"), behind a label some words on ("loss runs from both, for Fern Hollow
//! Hauling"), or in the subject and again in the text.
//!
//! No legal form is needed: small companies leave theirs out. Who is refused (an agency, an insurer, the tenant) is the
//! caller's to say.

use kybern_core::list;

use std::borrow::Cow;

use crate::company;
use crate::names::{NameInText, names};
use crate::pattern::Pattern;

/// How sure the name before a DOT number is, one by which the writer is introduced, one some words behind a label, and one
/// that the subject repeats.
const NUMBERED: f64 = 0.8;
const INTRODUCED: f64 = 0.75;
const LED_TO: f64 = 0.72;
const REPEATED: f64 = 0.7;
/// Bytes between a label and the word that leads to its name.
const MAX_BETWEEN: usize = 120;
/// The most bytes of a text in which a name is looked for that begins there: a text says such words without an end.
const LONGEST_NAME: usize = 256;
/// The most places at which a label is looked behind, or a name that the subject has is looked at.
const MAX_PLACES: usize = 200;
/// Words with which labels end that a name follows.
const LEADS: [&str; 3] = [" for", " on", " de"];
/// Words that end no name.
const JOINTS: [&str; 4] = [" and", " &", " y", " et"];
/// What stands between the name of an owner and the one under which he trades.
const TRADES_AS: [&str; 4] = [" dba ", " d/b/a ", " d.b.a. ", " t/a "];
/// What stands between the legal name of a company and another one of it.
const KNOWN_AS: [&str; 9] = [
    " you know us as ",
    " you may know us as ",
    " also known as ",
    " better known as ",
    " known as ",
    " aka ",
    " a.k.a. ",
    " we go by ",
    " or just ",
];
/// Bytes before a DOT number in which its company's name is looked for.
const MAX_BEFORE: usize = 160;
/// Letters of a company's name that a subject has by itself.
const LEAST_LETTERS: usize = 6;

/// A DOT number with its label.
static DOT: Pattern = Pattern::new(
    r"(?i)(?:^|[^a-z])((?:us)?[ -]?dot\b\s{0,2}(?:number|num|no\.?|nr\.?)?\s{0,2}#?\s{0,2}(?:is|es|est|:|=|-)?\s{0,2}#?\s{0,2}\d{5,8}\b)",
);
/// Whoever says a name and for whom: `it's Ada with`, `my name is Ada Example and I am from`.
static INTRODUCTION: Pattern = Pattern::new(
    r"(?:^|[\s,.;:!?(])(?i:this is|it is|it[’']?s|i am|i[’']?m|my name is|soy|me llamo|mi nombre es|ici)\s+(?:\p{Lu}[\w.'’-]*,?\s+){1,3}(?i:(?:and i am |and i[’']m |y soy )?(?:with|w/|from|of|at|over at|here at|de|con|chez))\s+(?i:the\s+)?(\p{Lu})",
);
/// The same with `here` behind the name: `Ada at Fern Hollow Hauling here`.
static HERE: Pattern = Pattern::new(
    r"(?:^|[\n,.;:!?(]\s*)(?:\p{Lu}[\w'’-]*\s+){1,2}(?:with|w/|from|of|at|over at)\s+(?i:the\s+)?(\p{Lu})",
);
/// Whoever runs a company.
static RUNS: Pattern = Pattern::new(
    r"(?:^|[\s,.;:!?(])(?i:i|we|and)\s+(?i:run|own|operate|manage|also own|am the owner of|am owner of|am the manager of|am the safety manager (?:at|for)|am the office manager (?:at|for))\s+(?i:the\s+)?(\p{Lu})",
);

/// Words of subjects that name no company.
const OF_SUBJECTS: &[&str] = list!(
    "loss, losses, lost, run, runs, lr, lrs, claim, claims, history, experience, request, requests, requested, quote, \
     quotes, renewal, renewals, policy, policies, cert, certificate, coi, account, accounts, order, needed, need, new, \
     business, submission, insurance, info, information, update, updated, urgent, follow, up, second, please, \
     attached, the, our, your, my, for, auto, liability, cargo, truck, trucking, commercial, question, call, meeting, \
     help, letter, currently, valued, fleet, dot"
);

/// Words of subjects that name somebody else than the company that a message is about.
const OF_OTHERS: &[&str] = list!(
    "cert, certs, certificate, certificates, coi, cois, holder, load, pickup, delivery, invoice, lienholder, rate, \
     driver"
);

/// The company that a message is about, where it stands in `body`, and how sure that is.
///
/// `labels` are those of its name: of `reports for` the name may stand some words on, as in `reports from both, for …`.
pub(crate) fn company(
    body: &str,
    subject: &str,
    labels: &[String],
    refused: impl Fn(&str) -> bool,
) -> Option<(NameInText, f64)> {
    let ok = |named: &NameInText| !refused(&named.name) && !is_of_subjects(&named.name);
    let unquoted = unquoted(body);
    let body = unquoted.as_ref();
    let introduced = || introduced(body).into_iter().find(|named| ok(named)).map(|named| (named, INTRODUCED));
    let repeated = || repeated(body, subject).into_iter().find(|named| ok(named)).map(|named| (named, REPEATED));
    let led_to = || led_to(body, labels).into_iter().find(|named| ok(named)).map(|named| (named, LED_TO));
    introduced().or_else(led_to).or_else(repeated)
}

/// The company whose name stands right before its DOT number, and how sure that is.
pub(crate) fn numbered(body: &str, refused: impl Fn(&str) -> bool) -> Option<(NameInText, f64)> {
    let ok = |named: &NameInText| !refused(&named.name) && !is_of_subjects(&named.name);
    before_dot(&unquoted(body)).into_iter().find(ok).map(|named| (named, NUMBERED))
}

/// A message with blanks for the lines that it quotes, unless it quotes all: who is named there is another message's.
fn unquoted(body: &str) -> Cow<'_, str> {
    let is_quoted = |line: &&str| line.trim_start().starts_with('>');
    let says = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('>');
    if !body.lines().any(|line| is_quoted(&line)) || !body.lines().any(says) {
        return Cow::Borrowed(body);
    }
    let blank =
        |line: &str| line.chars().map(|c| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) }).collect();
    let lines = body.split_inclusive('\n');
    Cow::Owned(lines.map(|line| if is_quoted(&line) { blank(line) } else { line.to_owned() }).collect::<String>())
}

/// Names that end right before a DOT number, on its line.
fn before_dot(body: &str) -> Vec<NameInText> {
    let mut found = Vec::new();
    for (at, _) in DOT.spans(body) {
        let line = body[..at].rfind('\n').map_or(0, |end| end + 1);
        let from = body.ceil_char_boundary(line.max(at.saturating_sub(MAX_BEFORE)));
        let before = body[from..at].trim_end_matches(|c: char| c.is_whitespace() || "(,-–—:/|#;".contains(c));
        // The stop of `, Inc.` may be none of the name's.
        let bare = before.strip_suffix('.').unwrap_or(before);
        let ends = ends_with_name(before).map(|start| (before, start));
        let ends = ends.or_else(|| ends_with_name(bare).map(|start| (bare, start)));
        let Some((before, mut start)) = ends else { continue };
        // `Ada Example dba Fern Hollow Hauling` is one name.
        let small = before[..start].to_ascii_lowercase();
        if let Some(owner) = TRADES_AS.iter().find_map(|trades| small.strip_suffix(trades)) {
            start = ends_with_name(&before[..owner.len()]).unwrap_or(start);
        }
        // `For Fern Hollow Hauling (DOT …)` is not called For.
        while let Some((first, rest)) = before[start..].split_once(' ').filter(|(first, _)| leads(first)) {
            start += first.len() + 1 + rest.len() - rest.trim_start().len();
        }
        found.push(NameInText { name: before[start..].to_owned(), start: from + start });
    }
    found
}

/// Whether a word only leads to the name behind it.
fn leads(word: &str) -> bool {
    const WORDS: &[&str] = list!(
        "for, re, fw, fwd, from, with, and, about, regarding, insured, client, account, para, de, pour, für, attn, \
         new, somos, soy, we're, we’re, i'm, i’m, it's, it’s, here's, here’s"
    );
    WORDS.contains(&word.trim_end_matches(':').to_lowercase().as_str())
}

/// The legal name in front of the one by which a company says that it is known: `Fern Hollow Hauling LLC, also known as Big F`.
pub(crate) fn legal(body: &str, short: &NameInText) -> Option<NameInText> {
    let before = body.get(..short.start)?;
    let small = before.to_ascii_lowercase();
    let said = KNOWN_AS.iter().find_map(|turn| small.strip_suffix(turn))?;
    let before =
        before[..said.len()].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '(' | '-' | '–'));
    let start = ends_with_name(before)?;
    let name = &before[start..];
    company::has_legal_form(name).then(|| NameInText { name: name.to_owned(), start })
}

/// The company names on a line that carry a legal form, such as `LLC`.
pub(crate) fn formed(line: &str) -> impl Iterator<Item = String> {
    let whole = |mut name: String| {
        // Behind `LLC` a dot ends the sentence.
        if ["LLC.", "LLP.", "LP."].iter().any(|end| name.ends_with(end)) {
            name.pop();
        }
        name
    };
    names(line).map(move |named| whole(named.name)).filter(|name| company::has_legal_form(name))
}

/// The name of an owner together with that under which he trades, where a text has both: `Ada Example dba Fern Hollow`.
/// Neither may be told from the other by a line break.
pub(crate) fn with_owner(text: &str, name: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.match_indices(name).find_map(|(at, _)| {
        let before = &text.as_bytes()[..at];
        let trades_as = |trades: &&&str| {
            before
                .len()
                .checked_sub(trades.len())
                .is_some_and(|from| before[from..].eq_ignore_ascii_case(trades.as_bytes()))
        };
        let owner = &text[..at - TRADES_AS.iter().find(trades_as)?.len()];
        // What is longer than a name is not looked at: a text says so without an end.
        let from = owner.ceil_char_boundary(owner.len().saturating_sub(LONGEST_NAME));
        let from = if from == 0 { 0 } else { from + owner[from..].find(' ')? + 1 };
        let start = from + ends_with_name(&owner[from..])?;
        Some(text[start..at + name.len()].to_owned())
    })
}

/// Where the longest name begins with which a text ends.
fn ends_with_name(text: &str) -> Option<usize> {
    let ends = names(text).filter(|named| named.start + named.name.len() == text.len());
    // A state with its ZIP code is no name.
    let worded = |named: &NameInText| {
        let words = || named.name.split(' ');
        let is_word = |word: &&str| word.chars().all(char::is_alphabetic);
        words().any(|word| word.chars().any(char::is_lowercase)) || words().filter(is_word).count() > 1
    };
    ends.filter(worded).map(|named| named.start).min()
}

/// Names of companies for which somebody says to write.
fn introduced(body: &str) -> Vec<NameInText> {
    let at = |pattern: &Pattern| pattern.spans(body).into_iter().filter_map(|(start, _)| name_at(body, start));
    let ends_here = |named: &NameInText| body[named.start + named.name.len()..].trim_start().starts_with("here");
    at(&INTRODUCTION).chain(at(&HERE).filter(ends_here)).chain(at(&RUNS)).collect()
}

/// Names that a label leads to in its sentence, with other words between the two.
fn led_to(body: &str, labels: &[String]) -> Vec<NameInText> {
    let small = body.to_ascii_lowercase();
    let mut found: Vec<NameInText> = Vec::new();
    let heads = labels.iter().filter_map(|label| LEADS.iter().find_map(|lead| Some((label.strip_suffix(lead)?, lead))));
    // A label of one word, such as `quote for`, is too common to lead far.
    for (head, lead) in heads.filter(|(head, _)| head.contains(' ')) {
        for (at, _) in small.match_indices(head).take(MAX_PLACES) {
            let from = at + head.len();
            let end = small.floor_char_boundary(from + MAX_BETWEEN);
            let sentence = small[from..end].split(['?', '!', ';']).next().unwrap_or_default();
            let sentence = sentence.split("\n\n").next().unwrap_or_default();
            let sentence = sentence.split(". ").next().unwrap_or_default();
            let lead = format!("{lead} ");
            let leads = sentence.match_indices(&lead).map(|(place, lead)| from + place + lead.len());
            found.extend(leads.filter_map(|start| name_at(body, start)));
        }
    }
    found.sort_by_key(|named| named.start);
    found
}

/// Names in a text that begin with a part of its subject.
fn repeated(body: &str, subject: &str) -> Vec<NameInText> {
    let is_of_others = |word: &str| OF_OTHERS.contains(&word.to_lowercase().as_str());
    if subject.split(|c: char| !c.is_alphanumeric()).any(is_of_others) {
        return Vec::new();
    }
    let parts = subject.split([':', '|', '/', '(', ')', '–', '—', ';', ',']).flat_map(|part| part.split(" - "));
    let mut found = Vec::new();
    for part in parts.map(str::trim).filter(|part| part.contains(' ')) {
        let own = || part.split(' ').filter(|word| !OF_SUBJECTS.contains(&word.to_lowercase().as_str()));
        let letters: usize = own().map(|word| word.chars().filter(|c| c.is_alphabetic()).count()).sum();
        let Some(first) = own().next().filter(|word| word.starts_with(char::is_uppercase)) else { continue };
        let name = part[part.find(first).unwrap_or(0)..].trim();
        let told = name.split(' ').any(|word| OF_SUBJECTS.contains(&word.to_lowercase().as_str()));
        if told && own().count() < 2 || !name.contains(' ') || letters < LEAST_LETTERS {
            continue;
        }
        // The longest of the places where it stands is its whole name.
        let there = body.match_indices(name).take(MAX_PLACES).filter_map(|(at, _)| name_at(body, at));
        let longest = there.filter(|named| named.name.starts_with(name)).max_by_key(|named| named.name.len());
        found.extend(longest);
    }
    found
}

/// The name that begins at a byte, as far as it goes on its line.
fn name_at(body: &str, at: usize) -> Option<NameInText> {
    let rest = body.get(at..)?;
    let line = rest.get(..rest.floor_char_boundary(LONGEST_NAME))?.split('\n').next()?;
    let whole = names(line).filter(|named| named.start == 0).max_by_key(|named| named.name.len())?;
    // Whoever goes on with `I` speaks of himself.
    let name = whole.name.strip_suffix(" I").unwrap_or(&whole.name);
    let name = JOINTS.iter().find_map(|joint| name.strip_suffix(joint)).unwrap_or(name);
    name.contains(' ').then(|| NameInText { name: name.to_owned(), start: at })
}

/// Whether a name has no word of its own.
fn is_of_subjects(name: &str) -> bool {
    name.split(' ').all(|word| OF_SUBJECTS.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(body: &str, subject: &str) -> String {
        let refused = |name: &str| name.contains("Casualty");
        let found =
            numbered(body, refused).or_else(|| company(body, subject, &["trip reports for".to_owned()], refused));
        let named = found.map(|(named, _)| named);
        assert!(named.iter().all(|named| body[named.start..].starts_with(&named.name)));
        named.map(|named| named.name).unwrap_or_default()
    }

    #[test]
    fn a_name_right_before_a_dot_number_is_the_companys() {
        for text in [
            "need runs for Fern Hollow Hauling (DOT 2211887), thanks",
            "Fern Hollow Hauling\u{a0}  DOT#: 2211887   Client since 2019",
            "reports on Fern Hollow Hauling, USDOT 2211887 please",
            "Fern Hollow Hauling - US DOT No. 2211887",
            "it is for Fern Hollow Hauling dot 2211887",
        ] {
            assert_eq!(name(text, ""), "Fern Hollow Hauling", "{text}");
        }
        assert_eq!(name("about Fern Hollow Hauling Co., DOT 2211887", ""), "Fern Hollow Hauling Co.");
        for none in [
            "Our DOT 2211887",
            "Fern Hollow\nDOT 2211887",
            "Lodestar Casualty, DOT 2211887",
            "DOT 2211887 is us",
            "12 Mill Row, Waco, TX 76701, DOT 2211887",
        ] {
            assert_eq!(name(none, ""), "", "{none}");
        }
    }

    #[test]
    fn whoever_writes_for_a_company_says_so() {
        for text in [
            "Hi, this is Ada from Fern Hollow Hauling, we talked on Monday",
            "hey its Ada with Fern Hollow Hauling and I need the reports",
            "Ada Example at Fern Hollow Hauling here. Could you help?",
            "I'm Ada, I run Fern Hollow Hauling out of Waco",
            "My name is Ada Example and I am with Fern Hollow Hauling",
            "soy Ada de Fern Hollow Hauling, necesito ayuda",
        ] {
            assert_eq!(name(text, ""), "Fern Hollow Hauling", "{text}");
        }
        for none in [
            "this is due at Fern Hollow Hauling on Monday",
            "Ada from Fern Hollow Hauling called me",
            "it's Ada with Lodestar Casualty",
            "I'm with Fern Hollow Hauling's friends",
        ] {
            assert_eq!(name(none, ""), "", "{none}");
        }
    }

    #[test]
    fn a_label_leads_to_a_name_some_words_on() {
        for text in [
            "Please order trip reports from Oak Bend, number 77, for Fern Hollow Hauling Inc. Thanks",
            "need trip reports asap for Fern Hollow Hauling Inc. they are renewing",
        ] {
            assert_eq!(name(text, ""), "Fern Hollow Hauling Inc.", "{text}");
        }
        for none in
            ["the trip reports came. Oak was here for Fern Hollow Hauling Inc.", "trip reports from both for Monday"]
        {
            assert_eq!(name(none, ""), "", "{none}");
        }
    }

    #[test]
    fn a_name_in_the_subject_and_in_the_text_is_whom_a_message_is_about() {
        let text = "Could you order reports on Fern Hollow Hauling Partners? They renew in May.";
        assert_eq!(name(text, "Reports - Fern Hollow Hauling"), "Fern Hollow Hauling Partners");
        assert_eq!(name(text, "RE: Fern Hollow / reports"), "Fern Hollow Hauling Partners");
        assert_eq!(name("For Fern Hollow Hauling I need reports", "Fern Hollow Hauling"), "Fern Hollow Hauling");
        for subject in ["Loss Runs Needed", "Fern", "Oak Bend Haulage"] {
            assert_eq!(name(&format!("{text} Loss Runs Needed."), subject), "", "{subject}");
        }
    }

    #[test]
    fn a_name_under_which_many_trade_is_found_in_time() {
        let text = |times: usize| "as they say dba Fern Hollow Hauling ".repeat(times);
        let owned = format!("{}. Ada Example dba Fern Hollow Hauling", text(30).trim_end());
        assert_eq!(with_owner(&owned, "Fern Hollow Hauling").as_deref(), Some("Ada Example dba Fern Hollow Hauling"));
        assert!(kybern_testkit::growth(60, |times| drop(with_owner(&text(times), "Fern Hollow Hauling"))) < 24.0);
    }
}
