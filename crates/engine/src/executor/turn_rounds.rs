//! The rounds of a turn as the walk has them: each question, its reply, and how the calls ended that the reply asked for.

use std::sync::Arc;

use kybern_core::agent::{AskedCall, CallOutcome, ReplyRecord, Turn, TurnStart, batches};
use kybern_core::error::Result;
use kybern_core::memory::MAX_SUGGESTIONS;
use kybern_core::money::Usage;
use kybern_core::task::{ContainerOpening, StepStatus};
use kybern_core::time::Millis;

use super::node::Node;
use super::walk::Walk;

/// A turn's rounds: the question of each, with its reply and the outcomes of the calls by their place.
pub(crate) struct Rounds<'a> {
    pub(crate) start: &'a TurnStart,
    spent: Millis,
    pub(crate) rounds: Vec<TurnRound<'a>>,
}

/// A question, with what came of it.
pub(crate) struct TurnRound<'a> {
    pub(crate) question: &'a Node,
    pub(crate) reply: Option<&'a Arc<ReplyRecord>>,
    usage: Usage,
    pub(crate) calls: Vec<Option<&'a Node>>,
}

/// The rounds of an agent's turn; `None` before it was opened.
pub(crate) fn rounds(walk: &Walk, agent: usize) -> Option<Rounds<'_>> {
    let Some(ContainerOpening::Turn(start)) = &walk.node(agent).opening else { return None };
    let asked = |question: usize| {
        let question = walk.node(question);
        let outcome = question.outcome();
        let reply = outcome.and_then(|outcome| outcome.reply.as_ref());
        let node_of = |call: &AskedCall| match &call.became {
            CallOutcome::Step(id) => walk.find(id).map(|index| walk.node(index)),
            CallOutcome::Answered { .. } | CallOutcome::Suggested { .. } => None,
        };
        let calls = reply.map(|reply| reply.calls.iter().map(node_of).collect()).unwrap_or_default();
        TurnRound { question, reply, usage: outcome.map(|outcome| outcome.usage).unwrap_or_default(), calls }
    };
    Some(Rounds {
        start,
        spent: walk.node(agent).spent,
        rounds: walk.questions(agent).into_iter().map(asked).collect(),
    })
}

impl Rounds<'_> {
    /// The turn before its last question, or after it where that was answered.
    pub(crate) fn turn(&self) -> Result<Turn> {
        let mut turn = Turn::new(self.start.limits, !self.start.tools.is_empty());
        for round in &self.rounds {
            let Some(reply) = round.reply.filter(|_| round.completed()) else {
                // What broke off was paid for as well.
                turn.spend(round.usage);
                break;
            };
            turn.go_on(Millis(u64::MAX))?;
            turn.replied(reply.as_reply(round.usage))?;
            if turn.finish().is_none() {
                let used = |node: &&Node| node.outcome().map(|outcome| outcome.usage).unwrap_or_default();
                let used = round.calls.iter().flatten().map(used).fold(Usage::default(), Usage::plus);
                turn.answered(used)?;
            }
        }
        Ok(turn)
    }

    /// What is left of its time.
    pub(crate) fn left(&self) -> Millis {
        let took = self.took().0.saturating_sub(self.spent.0);
        Millis(self.start.limits.time.0.saturating_sub(took))
    }

    /// What its questions and calls have taken.
    pub(crate) fn took(&self) -> Millis {
        Millis(self.rounds.iter().map(TurnRound::took).sum())
    }

    /// Whether anything that it has read may come from strangers, besides what is remembered and was said before.
    pub(crate) fn tainted(&self) -> bool {
        let calls = self.rounds.iter().flat_map(|round| round.calls.iter().flatten());
        let outcomes = calls.filter_map(|node| node.outcome());
        let asked = self.rounds.iter().filter_map(|round| round.question.outcome());
        self.start.tainted || outcomes.chain(asked).any(|outcome| outcome.tainted)
    }

    /// What the model would remember, as people see it: a link in it goes as one in the reply beside it.
    pub(crate) fn suggestions(&self) -> Vec<String> {
        let mut suggestions: Vec<String> = Vec::new();
        for reply in self.rounds.iter().filter_map(|round| round.reply) {
            for call in &reply.calls {
                let CallOutcome::Suggested { memory } = &call.became else { continue };
                let memory = reply.links.shown(memory);
                if suggestions.len() < MAX_SUGGESTIONS && !suggestions.contains(&memory) {
                    suggestions.push(memory);
                }
            }
        }
        suggestions
    }
}

impl TurnRound<'_> {
    /// Whether its model has replied.
    pub(crate) fn completed(&self) -> bool {
        self.question.outcome().is_some_and(|outcome| outcome.status == StepStatus::Completed)
    }

    /// How long it took: the question, and of each batch of calls the longest.
    fn took(&self) -> u64 {
        let kinds: Vec<_> = self.reply.map(|reply| reply.as_reply(Usage::default()).calls).unwrap_or_default();
        let longest = |batch: Vec<usize>| {
            let nodes = batch.into_iter().filter_map(|place| self.calls.get(place).copied().flatten());
            nodes.map(|node| node.took.0).max().unwrap_or(0)
        };
        self.question.took.0 + batches(&kinds).into_iter().map(longest).sum::<u64>()
    }
}
