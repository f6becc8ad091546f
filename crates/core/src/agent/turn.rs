//! What a turn does next.
//!
//! | it stands at | and then | it does |
//! |---|---|---|
//! | its beginning, or all results are there | time, tokens and money are left | asks the model, with tools |
//! | the same | this is the last question, or all calls are used | asks once more, without tools |
//! | the same | time, tokens or money are used up | ends |
//! | a reply with calls | there is room for some | makes those, and answers the others itself |
//! | a reply without calls | | ends, complete, or by the limit that kept tools away |
//! | anywhere | somebody wants it to end | ends |
//!
//! Every limit is looked at before anything is done, also before the calls of a reply are made. What was written until then stays, whatever ends the turn, and what
//! was used is added up on every path.

use serde::{Deserialize, Serialize};

use super::batch::{CallKind, batches};
use super::limit::{Cap, TurnFinish, TurnLimits};
use crate::error::{Error, ErrorCode};
use crate::model::FinishReason;
use crate::money::Usage;
use crate::time::{Millis, Timestamp};

/// The shortest time in which it makes sense to ask a model: what a child has less than its parent.
pub const SHORTEST: Millis = Millis::from_secs(2);

/// A reply of the model, as far as the turn goes by it.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// What it says.
    pub text: String,
    /// The calls that it asks for, in order.
    pub calls: Vec<CallKind>,
    /// Why it ended.
    pub finish: Option<FinishReason>,
    /// What it took.
    pub usage: Usage,
}

/// How the model is to be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AskOptions {
    /// Whether it is given its tools. If not, it is told to answer with what it has.
    pub tools: bool,
    /// What keeps the tools away.
    pub cap: Option<Cap>,
}

/// A call that is not made, because no call is left for it. The model is told so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnmadeCall {
    /// Its place in the reply.
    pub place: usize,
}

/// What is done next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TurnMove {
    /// The model is asked.
    Ask(AskOptions),
    /// Calls are made, one batch after the other, and each of the others is answered.
    Call {
        /// Places in the reply; those of one batch at the same time.
        batches: Vec<Vec<usize>>,
        /// Those that are not made.
        unmade: Vec<UnmadeCall>,
    },
    /// The turn is over.
    End(TurnFinish),
}

/// Where a turn stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TurnState {
    /// The model may be asked.
    Ready,
    /// It has been asked: so.
    Asked(ToolAvailability),
    /// Calls are being made.
    Calling,
    /// It is over.
    Ended(TurnFinish),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToolAvailability {
    WithTools,
    WithoutAny,
    AfterIterations,
    AfterCalls,
}

/// A turn. It can be written down between any two moves and goes on from there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    limits: TurnLimits,
    /// Whether there are tools at all.
    tools: bool,
    stand: TurnState,
    iterations: u32,
    calls: u32,
    usage: Usage,
    text: String,
}

impl Turn {
    /// A turn before its first question.
    #[must_use]
    pub const fn new(limits: TurnLimits, tools: bool) -> Self {
        let usage = Usage {
            input_tokens: crate::money::Tokens(0),
            output_tokens: crate::money::Tokens(0),
            cost_nanos: crate::money::NanoUsd(0),
        };
        Self { limits, tools, stand: TurnState::Ready, iterations: 0, calls: 0, usage, text: String::new() }
    }

    /// What it has used until now.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// How often the model was asked.
    #[must_use]
    pub const fn iterations(&self) -> u32 {
        self.iterations
    }

    /// How many calls were made.
    #[must_use]
    pub const fn calls(&self) -> u32 {
        self.calls
    }

    /// What was answered last: the answer of the turn at its end, what there is of it before.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Why it ended; `None` while it goes on.
    #[must_use]
    pub const fn finish(&self) -> Option<TurnFinish> {
        match self.stand {
            TurnState::Ended(finish) => Some(finish),
            TurnState::Ready | TurnState::Asked(_) | TurnState::Calling => None,
        }
    }

    /// Asks the model, or ends, with so much time `left`.
    ///
    /// # Errors
    /// `INTERNAL` when the turn is not there: while it waits for a reply or for results.
    pub fn go_on(&mut self, left: Millis) -> Result<TurnMove, Error> {
        match self.stand {
            TurnState::Ready => {}
            TurnState::Ended(finish) => return Ok(TurnMove::End(finish)),
            TurnState::Asked(_) | TurnState::Calling => return Err(misplaced("go on")),
        }
        let spent = self.usage.input_tokens.0.saturating_add(self.usage.output_tokens.0);
        if self.limits.tokens.is_some_and(|most| spent >= most.0) {
            return Ok(self.end(TurnFinish::MaxTokens));
        }
        if self.limits.cost.is_some_and(|most| self.usage.cost_nanos >= most) {
            return Ok(self.end(TurnFinish::Error));
        }
        if left < SHORTEST {
            return Ok(self.end(TurnFinish::Timeout));
        }
        let (how, asked) = if !self.tools {
            (ToolAvailability::WithoutAny, AskOptions { tools: false, cap: None })
        } else if self.calls >= self.limits.calls {
            (ToolAvailability::AfterCalls, AskOptions { tools: false, cap: Some(Cap::Calls) })
        } else if self.iterations + 1 >= self.limits.iterations {
            (ToolAvailability::AfterIterations, AskOptions { tools: false, cap: Some(Cap::Iterations) })
        } else {
            (ToolAvailability::WithTools, AskOptions { tools: true, cap: None })
        };
        self.stand = TurnState::Asked(how);
        Ok(TurnMove::Ask(asked))
    }

    /// Takes in what the model has replied.
    ///
    /// # Errors
    /// `INTERNAL` when it was not asked.
    pub fn replied(&mut self, reply: Reply) -> Result<TurnMove, Error> {
        let TurnState::Asked(how) = self.stand else { return Err(misplaced("take a reply")) };
        self.iterations += 1;
        self.usage = self.usage.plus(reply.usage);
        if !reply.text.is_empty() {
            self.text = reply.text;
        }
        match reply.finish {
            Some(FinishReason::ContentFilter | FinishReason::Refusal) => {
                return Ok(self.end(TurnFinish::ContentFilter));
            }
            Some(FinishReason::NoModel) => return Ok(self.end(TurnFinish::NoModel)),
            Some(FinishReason::Length) if reply.calls.is_empty() => return Ok(self.end(TurnFinish::MaxTokens)),
            Some(FinishReason::Stop | FinishReason::Length | FinishReason::ToolCalls) | None => {}
        }
        match how {
            ToolAvailability::WithTools if !reply.calls.is_empty() => {}
            // Calls of a model that was given no tools are not made.
            ToolAvailability::WithTools | ToolAvailability::WithoutAny => return Ok(self.end(TurnFinish::Complete)),
            ToolAvailability::AfterIterations => return Ok(self.end(Cap::Iterations.finish())),
            ToolAvailability::AfterCalls => return Ok(self.end(Cap::Calls.finish())),
        }
        let room = usize::try_from(self.limits.calls - self.calls).unwrap_or(usize::MAX);
        let made = reply.calls.get(..room).unwrap_or(&reply.calls);
        self.calls += u32::try_from(made.len()).unwrap_or(u32::MAX);
        self.stand = TurnState::Calling;
        let unmade = (made.len()..reply.calls.len()).map(|place| UnmadeCall { place }).collect();
        Ok(TurnMove::Call { batches: batches(made), unmade })
    }

    /// Takes in that all results are there, with what the calls themselves took.
    ///
    /// # Errors
    /// `INTERNAL` when no calls were made.
    pub fn answered(&mut self, took: Usage) -> Result<(), Error> {
        if self.stand != TurnState::Calling {
            return Err(misplaced("take results"));
        }
        self.usage = self.usage.plus(took);
        self.stand = TurnState::Ready;
        Ok(())
    }

    /// Adds what was used since the last move, such as for a reply that was broken off.
    pub fn spend(&mut self, took: Usage) {
        self.usage = self.usage.plus(took);
    }

    /// Ends it from outside, with what there is; one that has ended stays as it is. `took` is what was used since the
    /// last move.
    pub fn stop(&mut self, finish: TurnFinish, took: Usage) -> TurnFinish {
        self.spend(took);
        match self.stand {
            TurnState::Ended(ended) => ended,
            TurnState::Ready | TurnState::Asked(_) | TurnState::Calling => {
                self.stand = TurnState::Ended(finish);
                finish
            }
        }
    }

    /// What is left of its time.
    #[must_use]
    pub fn left(&self, begun: Timestamp, now: Timestamp) -> Millis {
        begun.plus(self.limits.time).since(now)
    }

    fn end(&mut self, finish: TurnFinish) -> TurnMove {
        self.stand = TurnState::Ended(finish);
        TurnMove::End(finish)
    }
}

fn misplaced(what: &str) -> Error {
    Error::new(ErrorCode::Internal, format!("a turn cannot {what} where it stands"))
}

#[cfg(test)]
mod tests;
