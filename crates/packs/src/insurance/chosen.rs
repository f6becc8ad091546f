//! Which of the policies a message wants: `only the cargo`, `nothing for the umbrella`, `just from Northfield`.
//!
//! What is picked counts where the message's words mean certain policies and no others. Where it picks some and nobody
//! can tell which, a person is asked: a request that nobody wanted is worse than a question.

mod dates;
mod mentions;
mod picked;
mod sentences;
mod turns;
mod unread;
mod vocabulary;

use kybern_core::document::PageText;
use kybern_core::tool::Review;
use serde_json::{Map, Value, json};

use self::mentions::Mentions;
use self::picked::PickedPolicies;
use self::sentences::{Sentence, sentences};
use self::turns as say;
use self::vocabulary as word;
use super::policies::{self, Policy};
use crate::args::texts;
use crate::company;
use crate::papers::documents;
use crate::reading::{MESSAGE_NUMBER, ReadDocument};
use crate::review::form;

/// The state's name for the numbers of the policies that a person has chosen.
const WANTED: &str = "wanted_policies";

/// Policies that one question lists as choices. A paper may list thousands.
const MAX_CHOICES: usize = 200;

/// What a message says about which policies it wants.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Choice {
    /// Nothing, so all of them.
    All,
    /// These, in the policies' order.
    These(Vec<bool>),
    /// Some, and nobody can tell which; these words say so.
    Some(String),
    /// Perhaps not all: these words say something of some of them.
    Perhaps(String),
}

/// Leaves out the policies that are not wanted, as a person has said, or the message among the documents. Answers the
/// question where nobody can tell which they are.
pub(super) fn keep_wanted(
    state: &Map<String, Value>,
    read: &[ReadDocument],
    policies: &mut Vec<Policy>,
) -> Option<Review> {
    let numbers: Vec<String> = texts(state, WANTED).iter().map(|number| company::policy_number(number)).collect();
    let wanted: Vec<bool> = policies.iter().map(|policy| numbers.contains(&policy.key())).collect();
    let choice = if wanted.contains(&true) { Choice::These(wanted) } else { choice(read, policies) };
    match choice {
        Choice::All => None,
        Choice::Some(said) => {
            let count = policies.len();
            let reason =
                format!("the message wants only some of {count} policies ({said:?}); choose those that it wants");
            Some(ask(read, policies, reason))
        }
        Choice::Perhaps(said) => {
            let reason = format!(
                "the message says of some policies what was not understood ({said:?}); choose those that it wants"
            );
            Some(ask(read, policies, reason))
        }
        Choice::These(wanted) => {
            let mut wanted = wanted.into_iter();
            policies.retain(|_| wanted.next().unwrap_or(true));
            None
        }
    }
}

/// Asks which policies are those of the one of several companies that it is about.
pub(super) fn ask_of(
    state: &Map<String, Value>,
    read: &[ReadDocument],
    policies: &[Policy],
    companies: &[String],
) -> Option<Review> {
    let open = policies.len() > 1 && !state.contains_key(WANTED);
    let reason = format!("{} are insured; choose the policies of the company it is about", companies.join(" and "));
    open.then(|| ask(read, policies, reason))
}

/// The sentences of the message among the documents that ask for losses and leave nothing out, in the form in which names
/// are compared.
pub(super) fn asking(read: &[ReadDocument]) -> Vec<String> {
    let message = read.iter().find(|document| document.n == MESSAGE_NUMBER);
    let pages = message.iter().flat_map(|message| message.text.pages.iter().filter(|page| page.label.is_empty()));
    let said = pages.flat_map(|page| sentences(&page.text));
    let asks = |sentence: &Sentence| {
        sentence.has_any(word::ASKS) && sentence.has_any(word::LOSSES) && !sentence.has_any(word::NOT)
    };
    let words = |sentence: Sentence| sentence.words.into_iter().map(|word| word.written).collect::<Vec<_>>().join(" ");
    said.filter(asks).map(words).collect()
}

/// What the message among the documents says.
fn choice(read: &[ReadDocument], policies: &[Policy]) -> Choice {
    let message = read.iter().find(|document| document.n == MESSAGE_NUMBER);
    // Whoever typed them in has read the message.
    if policies.len() < 2 || policies.iter().all(|policy| policy.confidence.is_none()) {
        return Choice::All;
    }
    let pages = message.iter().flat_map(|message| &message.text.pages);
    let of_page = |page: &PageText| {
        sentences(&page.text).into_iter().map(|said| (page.label.is_empty(), said)).collect::<Vec<_>>()
    };
    // What stands beneath every mail speaks of the mail.
    let said: Vec<(bool, Sentence)> = pages.flat_map(of_page).filter(|(_, sentence)| !is_notice(sentence)).collect();
    let mentions = Mentions::new(read, policies);
    let mut picked = PickedPolicies::default();
    for (_, sentence) in &said {
        picked.read(sentence, &mentions, policies);
    }
    if let Some(marked) = mentions.marked() {
        let why = "some are marked as needed, others as received";
        // The words of a paper may be somebody else's.
        let is_writers = message.is_some_and(|message| !policies::number_places(message).is_empty());
        if is_writers || said.iter().any(|(_, sentence)| sentence.has_turn(say::MARKED_BY_HAND)) {
            picked.meet(why, marked);
        } else {
            picked.wonder(why);
        }
    }
    let is_read = picked.is_said();
    match picked.choice(policies.len()) {
        // Silence would mean all of them.
        Choice::All if !is_read => unread::unread(&said, &mentions, policies.len()).unwrap_or(Choice::All),
        choice => choice,
    }
}

/// Whether a sentence is of the notice beneath a mail that it is confidential.
fn is_notice(sentence: &Sentence) -> bool {
    (0..sentence.words.len()).filter(|at| sentence.is(*at, word::NOTICE)).count() >= word::LEAST_OF_NOTICE
}

/// Asks which policies are wanted.
fn ask(read: &[ReadDocument], policies: &[Policy], reason: String) -> Review {
    let numbers: Vec<&String> = policies.iter().map(|policy| &policy.number).collect();
    let number = if numbers.len() <= MAX_CHOICES {
        json!({"enum": numbers})
    } else {
        json!({"type": "string", "minLength": 1, "maxLength": 100})
    };
    let wanted = json!({WANTED: {"type": "array", "items": number, "minItems": 1, "uniqueItems": true}});
    let details = json!({"policies": policies, "documents": documents(read)});
    form("Which policies are wanted?", reason, wanted, details)
}

#[cfg(test)]
mod tests;
