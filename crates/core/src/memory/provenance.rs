//! Where a memory comes from.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::id::{ChatId, MessageId, TaskId};
use crate::plan::StepId;
use crate::policy::redact::has_secret;

/// The most characters of the place where a memory stands in what was read.
pub const MAX_PLACE: usize = 200;

/// Where a memory comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Provenance {
    /// The task in which it was said.
    #[cfg_attr(feature = "schema", schema(required))]
    pub task: Option<TaskId>,
    /// The conversation.
    #[cfg_attr(feature = "schema", schema(required))]
    pub chat: Option<ChatId>,
    /// The message.
    #[cfg_attr(feature = "schema", schema(required))]
    pub message: Option<MessageId>,
    /// The tool that said it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub tool: Option<String>,
    /// The step of the task in which the tool said it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub step: Option<StepId>,
    /// Where it stands in what was read, for instance a file and its page.
    #[cfg_attr(feature = "schema", schema(required))]
    pub place: Option<String>,
}

impl Provenance {
    /// Refuses a place that is too long, or in which a secret is found: it is shown wherever the memory is.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` at `/place`.
    pub fn check(&self) -> Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        if place.chars().count() > MAX_PLACE {
            return Err(Error::invalid("/place", format!("a place has at most {MAX_PLACE} characters")));
        }
        if has_secret(place) {
            let message =
                "this looks like a password, a key or the number of a card or an account: name the place only";
            return Err(Error::invalid("/place", message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_short_and_holds_no_secret() {
        let check = |place: &str| Provenance { place: Some(place.to_owned()), ..Provenance::default() }.check();
        assert!(check("loss-run.pdf, page 2").is_ok() && Provenance::default().check().is_ok());
        for wrong in [&*"x".repeat(MAX_PLACE + 1), "page 2, password: hunter2hunter2", "beside 4111 1111 1111 1111"] {
            assert_eq!(check(wrong).unwrap_err().details()[0].path, "/place", "{wrong:.40}");
        }
    }
}
