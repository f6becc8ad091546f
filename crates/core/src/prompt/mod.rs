//! Governed prompts: what an agent is told to be, approved by somebody who has not written any of it.
//!
//! | status | act | then | who |
//! |---|---|---|---|
//! | `draft` | edit | `draft` | whoever may administer |
//! | `draft` | submit | `review` | whoever may administer |
//! | `review` | reject, with a note | `draft` | whoever may administer |
//! | `review` | approve | `approved` | somebody who counts as none of its [authors](crate::identity::AccountMakers); anybody where the operator allows that |
//! | `approved` | activate | `active`, and the one before it `retired` | whoever may administer |
//! | `retired` | activate | `active` again | whoever may administer |
//!
//! A text that was approved is never edited: a change is another version. Whoever approves or activates says by its hash
//! which text they have read, so that nobody approves one that was put in its place meanwhile. One prompt of an agent is active at a time.

mod draft;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use draft::{NewPrompt, OfAgent, PromptChange, PromptFilter};

use crate::approval::MAX_NOTE;
use crate::audit::AuditEvent;
use crate::error::{Error, ErrorCode, Result};
use crate::id::{PromptId, UserId};
use crate::identity::AccountMakers;
use crate::time::Timestamp;

/// The most characters of a prompt, after the specification of the composer. Whether one fits its share of a model's
/// window is seen when it is written down for that model.
pub const MAX_PROMPT: usize = 16_000;

words! {
    /// How a prompt stands.
    pub enum PromptStatus {
        /// It is being written.
        Draft = "draft",
        /// Somebody else is to read it.
        Review = "review",
        /// It may be used.
        Approved = "approved",
        /// It is what the agent is told.
        Active = "active",
        /// Another one is.
        Retired = "retired",
    }
}

/// What is done with a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PromptAct {
    /// Its text is changed.
    Edit(String),
    /// It is handed in for review.
    Submit,
    /// It goes back to its author.
    Reject(String),
    /// It is found good: the text with that [hash](Prompt::text_hash), which is the one that was read.
    Approve(String),
    /// It becomes what the agent is told: the text with that hash.
    Activate(String),
}

impl PromptAct {
    /// The approval of the text that a prompt has.
    #[must_use]
    pub fn approval_of(prompt: &Prompt) -> Self {
        Self::Approve(prompt.text_hash())
    }

    /// The activation of the text that a prompt has.
    #[must_use]
    pub fn activation_of(prompt: &Prompt) -> Self {
        Self::Activate(prompt.text_hash())
    }

    /// Its name in the audit.
    #[must_use]
    pub const fn action(&self) -> &'static str {
        match self {
            Self::Edit(_) => "prompt.edit",
            Self::Submit => "prompt.submit",
            Self::Reject(_) => "prompt.reject",
            Self::Approve(_) => "prompt.approve",
            Self::Activate(_) => "prompt.activate",
        }
    }

    const fn verb(&self) -> &'static str {
        match self {
            Self::Edit(_) => "edited",
            Self::Submit => "submitted",
            Self::Reject(_) => "rejected",
            Self::Approve(_) => "approved",
            Self::Activate(_) => "activated",
        }
    }
}

/// A prompt.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = in_place::Prompt))]
pub struct Prompt {
    pub id: PromptId,
    /// The key of the agent that it is for; null for all agents for which none of their own is active.
    #[cfg_attr(feature = "schema", schema(required))]
    pub agent: Option<String>,
    /// Grows by one with each prompt of the same agent.
    pub version: u32,
    /// What it says.
    pub text: String,
    /// How far it is.
    pub status: PromptStatus,
    /// Everybody who has written at it.
    pub authors: Vec<UserId>,
    /// Who approved it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub approved_by: Option<UserId>,
    /// What was said when it was rejected last.
    #[cfg_attr(feature = "schema", schema(required))]
    pub note: Option<String>,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

/// The text of a prompt, if it can be one.
///
/// # Errors
/// `VALIDATION_ERROR` for an empty one, and for one that is too long.
pub fn checked(text: &str) -> Result<String> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err(Error::invalid("/text", "a prompt says something")),
        1..=MAX_PROMPT => Ok(text.to_owned()),
        many => Err(Error::invalid("/text", format!("a prompt has at most {MAX_PROMPT} characters, not {many}"))),
    }
}

fn hash_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl Prompt {
    /// The BLAKE3 of its text, in hex: what an approval binds to.
    #[must_use]
    pub fn text_hash(&self) -> String {
        hash_of(&self.text)
    }

    /// The audit event of its draft with the number that the store has given it; another event as it is.
    #[must_use]
    pub fn numbers(&self, event: AuditEvent) -> AuditEvent {
        let is_about_it = event.subject == format!("prompt:{}", self.id);
        if is_about_it { event.telling("version", self.version.into()) } else { event }
    }

    /// Refuses an act on a text that is not the one that was read: it may have been edited in between.
    fn still_says(&self, read: &str) -> Result<()> {
        if self.text_hash() == read {
            return Ok(());
        }
        let message = "the text has changed since it was read, or textHash is another prompt's: read it again";
        Err(Error::new(ErrorCode::Conflict, message))
    }

    /// The prompt after an act by `by`. With `makers` it needs a second person to approve it: somebody who counts as
    /// none of its authors.
    ///
    /// # Errors
    /// `CONFLICT` for an act that its status does not allow, and for an approval or an activation of another text than
    /// it has; `PERMISSION_DENIED` for an author who would approve; `VALIDATION_ERROR` for a text or a note that cannot
    /// be one.
    pub fn after(self, act: PromptAct, by: UserId, makers: Option<&AccountMakers>, at: Timestamp) -> Result<Self> {
        use PromptStatus::{Active, Approved, Draft, Retired, Review};
        let wrong = |status: PromptStatus| {
            let message = format!("a prompt that is {} cannot be {}", status.as_str(), act.verb());
            Err(Error::new(ErrorCode::Conflict, message))
        };
        let updated = |prompt: Self, status| Self { status, updated_at: at, ..prompt };
        match (self.status, &act) {
            (Draft, PromptAct::Edit(text)) => {
                let (text, mut authors) = (checked(text)?, self.authors.clone());
                if !authors.contains(&by) {
                    authors.push(by);
                }
                Ok(updated(Self { text, authors, ..self }, Draft))
            }
            (Draft, PromptAct::Submit) => Ok(updated(self, Review)),
            (Review, PromptAct::Reject(note)) => {
                let note = note.trim();
                if note.is_empty() || note.chars().count() > MAX_NOTE {
                    let message = format!("say in 1 to {MAX_NOTE} characters why it is rejected");
                    return Err(Error::invalid("/note", message));
                }
                let note = Some(note.to_owned());
                Ok(updated(Self { note, ..self }, Draft))
            }
            (Review, PromptAct::Approve(_)) if makers.is_some_and(|makers| self.is_own_of(by, makers)) => {
                let message = "nobody approves a prompt of their own, of somebody whose account or key they made, or of \
                               somebody who made theirs: ask another administrator, or set [governance] \
                               self_approval = true";
                Err(Error::new(ErrorCode::PermissionDenied, message))
            }
            (Review, PromptAct::Approve(read)) => {
                self.still_says(read)?;
                Ok(updated(Self { approved_by: Some(by), note: None, ..self }, Approved))
            }
            (Approved | Retired, PromptAct::Activate(read)) => {
                self.still_says(read)?;
                Ok(updated(self, Active))
            }
            (status @ (Draft | Review | Approved | Active | Retired), _) => wrong(status),
        }
    }

    /// Whether that user counts as one of its authors.
    #[must_use]
    pub fn is_own_of(&self, user: UserId, makers: &AccountMakers) -> bool {
        self.authors.iter().any(|author| makers.are_one(*author, user))
    }

    /// Who made both that user and one of its authors.
    #[must_use]
    pub fn makers_shared_with(&self, user: UserId, makers: &AccountMakers) -> BTreeSet<UserId> {
        self.authors.iter().flat_map(|author| makers.common(*author, user)).collect()
    }

    /// The prompt when another one of its agent has become active.
    #[must_use]
    pub fn retired(self, at: Timestamp) -> Self {
        Self { status: PromptStatus::Retired, updated_at: at, ..self }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const AT: Timestamp = Timestamp::from_millis(5);

    fn user(n: u128) -> UserId {
        UserId::from_uuid(Uuid::from_u128(n))
    }

    fn prompt(status: PromptStatus) -> Prompt {
        Prompt {
            id: PromptId::from_uuid(Uuid::from_u128(9)),
            agent: None,
            version: 1,
            text: "You answer for Acme Freight.".to_owned(),
            status,
            authors: vec![user(1)],
            approved_by: None,
            note: None,
            created_at: Timestamp::from_millis(1),
            updated_at: Timestamp::from_millis(1),
        }
    }

    fn approve(prompt: &Prompt) -> PromptAct {
        PromptAct::approval_of(prompt)
    }

    fn acts() -> [PromptAct; 5] {
        let (edit, of) = (PromptAct::Edit("You are brief.".to_owned()), prompt(PromptStatus::Review));
        [edit, PromptAct::Submit, PromptAct::Reject("too long".to_owned()), approve(&of), PromptAct::activation_of(&of)]
    }

    #[test]
    fn every_status_allows_what_the_table_says_and_nothing_else() {
        use PromptStatus::{Active, Approved, Draft, Retired, Review};
        let table = [
            (Draft, [Some(Draft), Some(Review), None, None, None]),
            (Review, [None, None, Some(Draft), Some(Approved), None]),
            (Approved, [None, None, None, None, Some(Active)]),
            (Active, [None; 5]),
            (Retired, [None, None, None, None, Some(Active)]),
        ];
        for (status, after) in table {
            for (act, expected) in acts().into_iter().zip(after) {
                let done = prompt(status).after(act.clone(), user(2), Some(&AccountMakers::default()), AT);
                assert_eq!(done.as_ref().ok().map(|prompt| prompt.status), expected, "{status:?} {act:?}");
                match done {
                    Ok(prompt) => assert_eq!(prompt.updated_at, AT),
                    Err(error) => assert_eq!(error.code(), ErrorCode::Conflict),
                }
            }
        }
        assert_eq!(prompt(Active).retired(AT).status, Retired);
    }

    #[test]
    fn nobody_approves_their_own_unless_the_operator_allows_it() {
        let review = prompt(PromptStatus::Review);
        let makers = AccountMakers::default();
        let approve =
            |by, allowed: bool| review.clone().after(approve(&review), user(by), (!allowed).then_some(&makers), AT);
        assert_eq!(approve(1, false).unwrap_err().code(), ErrorCode::PermissionDenied);
        assert_eq!(approve(2, false).unwrap().approved_by, Some(user(2)));
        assert_eq!(approve(1, true).unwrap().approved_by, Some(user(1)));
    }

    #[test]
    fn nobody_who_has_written_at_it_can_approve_it_afterwards() {
        let edited =
            prompt(PromptStatus::Draft).after(acts()[0].clone(), user(2), Some(&AccountMakers::default()), AT).unwrap();
        let edited = edited.after(acts()[0].clone(), user(2), Some(&AccountMakers::default()), AT).unwrap();
        assert_eq!((edited.authors.as_slice(), edited.text.as_str()), (&[user(1), user(2)][..], "You are brief."));
        let review = edited.after(PromptAct::Submit, user(1), Some(&AccountMakers::default()), AT).unwrap();
        for author in [1, 2] {
            assert!(review.clone().after(approve(&review), user(author), Some(&AccountMakers::default()), AT).is_err());
        }
        assert!(review.clone().after(approve(&review), user(3), Some(&AccountMakers::default()), AT).is_ok());
    }

    #[test]
    fn an_approval_and_an_activation_hold_for_the_text_that_was_read() {
        let read = prompt(PromptStatus::Review);
        let edited = Prompt { text: "You are brief.".to_owned(), ..read.clone() };
        let refused = edited.clone().after(approve(&read), user(2), Some(&AccountMakers::default()), AT).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Conflict);
        assert!(refused.to_string().contains("read it again"), "{refused}");
        let good = edited.clone().after(approve(&edited), user(2), Some(&AccountMakers::default()), AT).unwrap();
        for read in [String::new(), read.text_hash(), good.text_hash().to_uppercase()] {
            assert!(
                good.clone().after(PromptAct::Activate(read), user(2), Some(&AccountMakers::default()), AT).is_err()
            );
        }
        assert!(
            good.clone().after(PromptAct::activation_of(&good), user(2), Some(&AccountMakers::default()), AT).is_ok()
        );
    }

    #[test]
    fn a_rejection_says_why_and_an_approval_forgets_it() {
        let reject = |note: &str| {
            prompt(PromptStatus::Review).after(
                PromptAct::Reject(note.to_owned()),
                user(2),
                Some(&AccountMakers::default()),
                AT,
            )
        };
        for note in ["", "  ", &"x".repeat(MAX_NOTE + 1)] {
            assert_eq!(reject(note).unwrap_err().details()[0].path, "/note");
        }
        let draft = reject(" too long ").unwrap();
        assert_eq!(draft.note.as_deref(), Some("too long"));
        let again = draft.after(PromptAct::Submit, user(1), Some(&AccountMakers::default()), AT).unwrap();
        assert_eq!(
            again.clone().after(approve(&again), user(2), Some(&AccountMakers::default()), AT).unwrap().note,
            None
        );
    }

    #[test]
    fn a_text_is_neither_empty_nor_endless() {
        assert_eq!(checked("  You answer. \n").unwrap(), "You answer.");
        for bad in [String::new(), " \n ".to_owned(), "x".repeat(MAX_PROMPT + 1)] {
            assert_eq!(checked(&bad).unwrap_err().details()[0].path, "/text");
        }
        let long = PromptAct::Edit("x".repeat(MAX_PROMPT + 1));
        assert!(prompt(PromptStatus::Draft).after(long, user(1), Some(&AccountMakers::default()), AT).is_err());
    }
}
