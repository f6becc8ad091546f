//! How much a turn may take, and why it ended.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::money::{NanoUsd, Tokens};
use crate::time::Millis;

words! {
    /// Why a turn ended; with `no_model` none is configured, and the content says so.
    pub enum TurnFinish {
        /// The model has answered, and wanted nothing more.
        Complete = "complete",
        /// The model wants calls that whoever asked makes themselves.
        ToolUse = "tool_use",
        /// A reply was cut at its limit, or the turn has used all its tokens.
        MaxTokens = "max_tokens",
        /// The model was asked as often as it may be, and had to answer with what it had.
        IterationLimit = "iteration_limit",
        /// As many calls were made as may be, and the model had to answer with what it had.
        ToolLimit = "tool_limit",
        /// Its time was over.
        Timeout = "timeout",
        /// The provider's filter, or the model itself, refused.
        ContentFilter = "content_filter",
        /// Somebody wanted it to end.
        Cancelled = "cancelled",
        /// Something failed; the error beside it says what.
        Error = "error",
        /// No model is configured. What stands there as the answer says so.
        NoModel = "no_model",
    }
}

/// A limit that a turn has reached and after which the model is asked once more, without tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// Of questions to the model.
    Iterations,
    Calls,
}

impl Cap {
    /// How a turn ends that had to answer because of it.
    #[must_use]
    pub const fn finish(self) -> TurnFinish {
        match self {
            Self::Iterations => TurnFinish::IterationLimit,
            Self::Calls => TurnFinish::ToolLimit,
        }
    }
}

/// How much a turn may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TurnLimits {
    /// How often the model is asked, from 1 to 50; 10 when nobody says. The last time it is given no tools.
    pub iterations: u32,
    /// How many calls are made, at most 200; 25 when nobody says.
    pub calls: u32,
    /// How many tokens are read and written in all; no limit of its own when nobody says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// What it may cost; no limit of its own when nobody says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoUsd>,
    /// How long it may take while nobody is waited for: 120 s when nobody says.
    pub time: Millis,
    /// How far back in its conversation the model may see: 30 days when nobody says. What was said before that is not
    /// shown to it.
    pub history: Millis,
}

/// The most questions of any turn.
const MOST_ITERATIONS: u32 = 50;
/// The most calls of any turn.
const MOST_CALLS: u32 = 200;
/// 30 days: what was said in another month is seldom meant, and costs tokens in each turn.
const HISTORY: Millis = Millis::from_secs(30 * 24 * 60 * 60);

impl Default for TurnLimits {
    fn default() -> Self {
        Self { iterations: 10, calls: 25, tokens: None, cost: None, time: Millis::from_secs(120), history: HISTORY }
    }
}

impl TurnLimits {
    /// Checks them.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with the field.
    pub fn check(self) -> Result<Self> {
        if !(1..=MOST_ITERATIONS).contains(&self.iterations) {
            let message = format!("iterations is a number from 1 to {MOST_ITERATIONS}, not {}", self.iterations);
            return Err(Error::invalid("/iterations", message));
        }
        if self.calls > MOST_CALLS {
            return Err(Error::invalid("/calls", format!("calls is at most {MOST_CALLS}, not {}", self.calls)));
        }
        if self.time == Millis(0) {
            return Err(Error::invalid("/time", "a turn takes at least a millisecond"));
        }
        if self.history == Millis(0) {
            let message = "a conversation is seen at least a millisecond back: 1 shows nothing of what was said before";
            return Err(Error::invalid("/history", message));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_ceilings() {
        let of =
            |iterations, calls, time| TurnLimits { iterations, calls, time: Millis(time), ..TurnLimits::default() };
        assert!(of(1, 0, 1).check().is_ok() && of(50, 200, 1).check().is_ok() && TurnLimits::default().check().is_ok());
        for (limits, field) in [
            (of(0, 1, 1), "/iterations"),
            (of(51, 1, 1), "/iterations"),
            (of(1, 201, 1), "/calls"),
            (of(1, 1, 0), "/time"),
        ] {
            assert_eq!(limits.check().unwrap_err().details()[0].path, field);
        }
        let blind = TurnLimits { history: Millis(0), ..TurnLimits::default() };
        assert_eq!(blind.check().unwrap_err().details()[0].path, "/history");
    }

    #[test]
    fn limits_that_were_written_down_before_there_was_one_more_have_its_default() {
        let known: TurnLimits = serde_json::from_str(r#"{"iterations": 3, "calls": 4, "time": 5}"#).unwrap();
        assert_eq!(known.history, Millis(2_592_000_000));
    }

    #[test]
    fn reasons_have_the_names_of_the_contract() {
        for reason in [TurnFinish::Complete, TurnFinish::MaxTokens, TurnFinish::ContentFilter, TurnFinish::ToolUse] {
            assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{}\"", reason.as_str()));
        }
        assert_eq!(Cap::Calls.finish().as_str(), "tool_limit");
        assert_eq!(Cap::Iterations.finish().as_str(), "iteration_limit");
    }
}
