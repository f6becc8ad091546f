//! A message whose words stand in a letter that came with it: `please see the attached letter`. The letter is what its
//! writer says.

use kybern_core::list;
use kybern_core::model::ClassifyInput;

use super::acts::{self, SpeechAct};
use super::words::{Word, fold, words};

/// Words of a message beside which a letter says what is wanted.
const MAX_WORDS: usize = 60;
/// Bytes of a letter that are looked at.
const MAX_LETTER: usize = 4 * 1024;
/// What a letter is called.
const LETTERS: &[&str] = &["letter", "letters", "correspondence", "carta", "lettre", "courrier", "schreiben"];
/// How a letter begins, and how it ends.
const GREETINGS: &[&str] = &[
    "dear ",
    "ladies and gentlemen",
    "gentlemen",
    "to whom it may concern",
    "estimad",
    "a quien corresponda",
    "madame",
    "monsieur",
    "sehr geehrte",
];
/// How a letter begins that goes to customers: nobody of them wrote it.
const TO_CUSTOMERS: &[&str] = list!(
    "dear insured, dear policyholder, dear customer, dear valued, dear client, estimado asegurado, estimado cliente"
);
const CLOSINGS: &[&str] = list!(
    "sincerely, very truly yours, yours truly, respectfully, best regards, kind regards, regards, yours faithfully, \
     atentamente, veuillez agréer, cordialement, mit freundlichen"
);

/// The message with the words of its letter, where it has one and hardly says more than that it comes along.
pub(super) fn read_out(input: &ClassifyInput) -> Option<ClassifyInput> {
    let found = words(&input.text, 0);
    if found.len() > MAX_WORDS || input.document_text.is_empty() || !hands_over(&input.text, &found) {
        return None;
    }
    let letter = letter(&input.document_text)?;
    Some(ClassifyInput { text: format!("{}\n\n{letter}", input.text), ..input.clone() })
}

/// Whether a text hands a letter over.
fn hands_over(text: &str, found: &[Word]) -> bool {
    let acts = acts::acts(found, &acts::borders(text, found));
    let is_letter = |word: &Word| LETTERS.contains(&fold(&word.text).as_str());
    found.iter().zip(&acts).any(|(word, act)| *act == SpeechAct::Given && is_letter(word))
}

/// The body of the first letter in a text.
fn letter(text: &str) -> Option<String> {
    let begins = |line: &str, any: &[&str]| any.iter().any(|begin| line.trim().to_lowercase().starts_with(begin));
    let mut lines = text.lines().skip_while(|line| !begins(line, GREETINGS));
    let greeting = lines.next().filter(|line| !begins(line, TO_CUSTOMERS))?;
    let mut body = greeting.split_once([':', ',']).map_or("", |(_, rest)| rest.trim()).to_owned();
    body.push('\n');
    for line in lines.take_while(|line| !begins(line, CLOSINGS)) {
        if body.len() + line.len() > MAX_LETTER {
            break;
        }
        body.push_str(line);
        body.push('\n');
    }
    (!body.trim().is_empty()).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_says_what_its_message_does_not() {
        let paper = "Fern Hollow LLC\n12 Mill Row\n\nDear Desk:\n\nPlease order the loss runs.\n\nSincerely,\nAda Example\nPage 2";
        let read = |text: &str, paper: &str| {
            let input = ClassifyInput { text: text.into(), document_text: paper.into(), ..ClassifyInput::default() };
            read_out(&input).map(|input| input.text.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        assert_eq!(
            read("Please see the attached letter.", paper).as_deref(),
            Some("Please see the attached letter. Please order the loss runs.")
        );
        let line = "Dear Desk: please order them.\nRegards";
        assert!(read("Please see the attached letter.", line).is_some_and(|said| said.ends_with("please order them.")));
        let insurers = "Dear Insured:\n\nPlease send us the loss runs.\n\nSincerely,";
        assert_eq!(read("Please see the attached letter.", insurers), None);
        assert_eq!(read("Please see the attached report.", paper), None);
        assert_eq!(read("Did you get our letter?", paper), None, "it is not handed over");
        assert_eq!(read("Please see the attached letter.", "Policy AB-1204"), None);
        assert_eq!(read(&format!("Please see the attached letter. {}", "and so on ".repeat(30)), paper), None);
    }
}
