use super::super::words::words;
use smol_str::SmolStr;

use super::*;

/// The words that are asked for or handed over, as they are said.
fn said(text: &str, wanted: SpeechAct) -> Vec<SmolStr> {
    let found = words(text, 0);
    let acts = acts(&found, &borders(text, &found));
    found.into_iter().zip(acts).filter(|(_, act)| *act == wanted).map(|(word, _)| word.text).collect()
}

fn asks(text: &str, word: &str) -> bool {
    said(text, SpeechAct::Asked).iter().any(|other| other == word)
}

fn gives(text: &str, word: &str) -> bool {
    said(text, SpeechAct::Given).iter().any(|other| other == word)
}

#[test]
fn what_is_asked_for_is_known_by_the_words_around_it() {
    for text in [
        "Please order the reports from both.",
        "Can someone on your end ask for the reports?",
        "We'd like you to get our reports.",
        "reports needed asap",
        "Reports please, papers attached.",
        "See the attached and pull the reports.",
        "Two things:\n1. add a driver\n2. order reports",
        "Any news on the reports?",
        "Favor de pedir los reports.",
        "Merci de commander les reports.",
        "Looking to move to you. Can we get the reports?",
        "Could I trouble you to obtain the five year reports",
    ] {
        assert!(asks(text, "reports") && !gives(text, "reports"), "{text}");
    }
}

#[test]
fn what_a_condition_leads_to_is_asked_for() {
    assert!(asks("If they come in over 95 thousand then pull the reports", "reports"));
    assert!(!asks("If they come in over 95 thousand they pull the reports", "reports"));
}

#[test]
fn what_is_handed_over_is_not_asked_for() {
    for text in [
        "Attached are the reports you requested.",
        "The reports are attached.",
        "Please find the reports enclosed.",
        "Reports attached, please call me with a price.",
        "Here are the reports for the account.",
        "On behalf of the insurer we send the reports.",
        "Adjunto los reports que solicitó.",
        "Veuillez trouver ci-joint les reports.",
        "In response to your request, reports are enclosed.",
    ] {
        assert!(gives(text, "reports") && !asks(text, "reports"), "{text}");
    }
    assert!(asks("Please order the reports on the attached policies.", "reports"));
    assert!(asks("Please order the reports, policies attached.", "reports"));
    assert!(!asks("Please order the reports on the attached policies.", "policies"));
    assert!(!asks("Please get the reports from attached policies.", "policies"));
    assert!(asks("Please file the attached policies.", "policies"));
    assert!(asks("Who do I send the reports to?", "reports"));
    assert!(gives("Please order the reports, policies attached.", "policies"));
}

#[test]
fn what_only_says_why_asks_for_nothing() {
    assert!(!asks("Please order the reports so that the market can quote.", "quote"));
    assert!(!asks("Thank you for the quote. If you need anything, call.", "quote"));
    assert!(!asks("We got the reports.", "reports"));
    assert!(!asks("Please confirm receipt of the reports.", "reports"));
    assert!(!asks("Please call us with any questions on the reports.", "reports"));
    assert_eq!(said("The market wants the reports.", SpeechAct::Wanted), ["wants", "the", "reports"]);
    assert!(!asks("Let me know if you want the reports.", "reports"));
}

#[test]
fn borders_part_sentences_clauses_and_items() {
    let text = "order both, today\n- one 1.5 tons\nshort line\nnext. Why? a.b";
    let found = words(text, 0);
    let of = |word: &str| borders(text, &found)[found.iter().position(|other| other.text == word).unwrap()];
    assert_eq!(of("both"), WordBorder::Open);
    assert_eq!(of("today"), WordBorder::Clause);
    assert_eq!(of("one"), WordBorder::Sentence);
    assert_eq!(of("5"), WordBorder::Open);
    assert_eq!(of("next"), WordBorder::Sentence);
    assert_eq!(of("why"), WordBorder::Sentence);
    assert_eq!(of("a"), WordBorder::Question);
    assert_eq!(of("b"), WordBorder::Open);
}
