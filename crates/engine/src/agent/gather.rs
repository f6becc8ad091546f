//! What a turn is told beside what is said in it: gathered once, at its first question, from everywhere it is kept.

use kybern_core::context::{Found, Origin, Purpose, Section, SectionKind, Spoken};
use kybern_core::error::Result;
use kybern_core::id::{ChatId, MessageId, PromptId};
use kybern_core::model::{ModelMessage, Part, Role};
use kybern_core::money::Tokens;
use kybern_core::policy::Autonomy;
use kybern_core::time::Timestamp;

use crate::context::fence::fenced;
use crate::models::prompt::AUTONOMY;
use crate::parts::Inner;

/// Bytes to a token. Four is the usual rule for English; JSON and other languages take more tokens, and a window that
/// is passed costs the whole question.
const BYTES_PER_TOKEN: u64 = 3;

/// About how many tokens a text is, rather too many than too few.
pub(crate) fn count(text: &str) -> Tokens {
    Tokens(u64::try_from(text.len()).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN))
}

/// About how many tokens a message is.
pub(crate) fn count_message(message: &ModelMessage) -> Tokens {
    Tokens(message.parts.iter().map(crate::models::estimate::part).sum::<u64>().div_ceil(BYTES_PER_TOKEN))
}

/// Who is spoken with.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) timezone: String,
}

/// What a turn is about.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// What is asked.
    pub(crate) text: String,
    /// The results of steps before it, by their ids.
    pub(crate) shown: Vec<(String, String)>,
    /// For whom.
    pub(crate) person: Option<Person>,
    /// What the agent is told to be.
    pub(crate) prompt: String,
    /// How far its user lets it go alone, as the server decides; `None` where nobody has said.
    pub(crate) autonomy: Option<Autonomy>,
    /// When the turn began.
    pub(crate) begun: Timestamp,
    /// The conversation in which it stands; `None` for a step of a plan.
    pub(crate) chat: Option<InChat>,
}

/// Where in a conversation a turn stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InChat {
    pub(crate) chat: ChatId,
    /// The message that is answered: what was said before it is the history.
    pub(crate) before: MessageId,
}

impl Subject {
    /// Whether a person reads the answer.
    pub(crate) fn is_conversation(&self) -> bool {
        self.chat.is_some()
    }
}

/// What was gathered.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    /// What the prompt is for.
    pub(crate) purpose: Purpose,
    /// The governed prompt that is used; `None` for the agent's own text.
    pub(crate) prompt: Option<PromptId>,
    pub(crate) sections: Vec<Section>,
    pub(crate) memories: Vec<Found>,
    pub(crate) knowledge: Vec<Found>,
    /// What was said before, and what is asked now.
    pub(crate) conversation: Vec<Spoken>,
}

/// Gathers what a turn is told.
///
/// # Errors
/// When the store fails.
#[expect(clippy::unused_async, reason = "what is remembered and what was said is looked up here")]
pub(crate) async fn gather(_inner: &Inner, subject: &Subject) -> Result<Gathered> {
    let mut sections = vec![section(SectionKind::Base, subject.prompt.clone())];
    if let Some(autonomy) = subject.autonomy {
        let text = AUTONOMY.get(autonomy as usize).map(|prompt| prompt.text.trim().to_owned()).unwrap_or_default();
        sections.push(section(SectionKind::Autonomy, text));
    }
    let zone = subject.person.as_ref().map_or("UTC", |person| person.timezone.as_str());
    sections.push(section(SectionKind::Time, format!("It is {}.", subject.begun.spoken_in(zone))));
    let mut asked = subject.text.clone();
    if let Some(person) = &subject.person {
        asked = format!("{asked}\n\nThe user is called {}.", person.name);
    }
    if !subject.shown.is_empty() {
        let shown: Vec<(&'static str, String)> = subject
            .shown
            .iter()
            .map(|(step, result)| (Origin::Tool.as_str(), format!("result of step {step}:\n{result}")))
            .collect();
        asked = format!("{asked}\n\n{}", fenced(&shown));
    }
    let message = ModelMessage { role: Role::User, parts: vec![Part::Text { text: asked }] };
    let now = Spoken { tokens: count_message(&message), message, at: subject.begun, redacted: false, tainted: false };
    Ok(Gathered {
        purpose: Purpose::SubAgent,
        prompt: None,
        sections,
        memories: Vec::new(),
        knowledge: Vec::new(),
        conversation: vec![now],
    })
}

pub(crate) fn section(kind: SectionKind, text: String) -> Section {
    Section { kind, tokens: count(&text), text }
}
