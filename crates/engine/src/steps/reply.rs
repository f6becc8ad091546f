//! What a reply of the model becomes: words, and calls as far as the turn may make them.

use std::sync::Arc;

use kybern_core::agent::{CallKind, Reply, ReplyRecord, SHORTEST, Turn, TurnFinish, TurnMove};
use kybern_core::error::Result;
use kybern_core::model::Part;
use kybern_core::money::Usage;
use kybern_core::task::{JournalEntry, StepOutcome, StepStatus};
use kybern_core::time::Millis;

use super::question_call::QuestionCall;
use crate::agent::interpret;
use crate::executor::step::{Draft, RowDraft};
use crate::executor::turn_rounds::rounds;
use crate::executor::{Node, TaskRun};

/// What a call has less than its turn, so that the model can still be asked about its result.
const KEPT_BACK: Millis = Millis::from_secs(2);

/// What is known of a reply beside its words.
pub(super) struct ReplyFacts {
    pub(super) usage: Usage,
    pub(super) tainted: bool,
    pub(super) duration: Millis,
}

/// What becomes of the calls that a reply asks for.
enum CallsFate {
    /// They are made, as far as there is room.
    Made,
    /// None of them is, because the turn has used up what it may: the model's words stay, and it is over.
    Unmade(TurnFinish),
    /// There are none, or the turn has ended with the reply.
    Over,
}

/// Looks what follows a reply, before anything of it is done.
fn fate(turn: &Turn, replied: &ReplyRecord, usage: Usage, left: Millis) -> Result<CallsFate> {
    let asked = replied.parts.iter().filter(|part| matches!(part, Part::ToolCall(_))).count();
    let calls = vec![CallKind::Acts; asked];
    let mut after = turn.clone();
    after.go_on(Millis(u64::MAX))?;
    let reply = Reply { text: String::new(), calls, finish: replied.finish, usage };
    if !matches!(after.replied(reply)?, TurnMove::Call { .. }) {
        return Ok(CallsFate::Over);
    }
    after.answered(Usage::default())?;
    Ok(match after.go_on(left)? {
        TurnMove::End(finish) => CallsFate::Unmade(finish),
        TurnMove::Ask(_) | TurnMove::Call { .. } => CallsFate::Made,
    })
}

/// What a reply becomes: what it says, and the steps that it asks for.
pub(super) fn replied_with(run: &TaskRun, call: &QuestionCall, mut replied: ReplyRecord, answer: &ReplyFacts) -> Draft {
    let node = run.walk.node(call.facts.index);
    let known = node.turn.and_then(|agent| rounds(&run.walk, agent));
    let (Some(known), true) = (known, replied.tools) else { return answered(node, call, replied, answer) };
    let left = Millis(known.left().0.saturating_sub(answer.duration.0));
    let turn = known.turn();
    let looked = turn.as_ref().ok().and_then(|turn| Some((turn, fate(turn, &replied, answer.usage, left).ok()?)));
    let Some((turn, fate)) = looked else { return answered(node, call, replied, answer) };
    let over = match fate {
        CallsFate::Over => return answered(node, call, replied, answer),
        CallsFate::Unmade(finish) => Some(finish),
        CallsFate::Made => None,
    };
    // What it was asked with, also when something else can be called by now.
    let given = (&*call.question.tools, call.question.open.as_slice());
    let interpreted = interpret(given, known.start, turn, &node.id, &replied.parts, (with_answer(left), over));
    replied.calls = interpreted.calls;
    let mut draft = answered(node, call, replied, answer);
    if let Some(outcome) = draft.rows.first_mut().and_then(|row| row.entry.outcome_mut()) {
        outcome.injected = interpreted.steps;
    }
    draft
}

/// What a call may take of what is left of its turn: the model is still to be asked about its result.
fn with_answer(left: Millis) -> Millis {
    Millis(left.0.saturating_sub(KEPT_BACK.0)).max(KEPT_BACK)
}

/// How long a call of a turn may take now, or that the turn has no time left for it; any other step what it says.
pub(super) fn time_for(run: &TaskRun, node: &Node, own: Millis) -> Option<Millis> {
    let Some(known) = node.turn.and_then(|agent| rounds(&run.walk, agent)) else { return Some(own) };
    let left = known.left();
    (left >= SHORTEST).then(|| own.min(with_answer(left)))
}

fn answered(node: &Node, call: &QuestionCall, replied: ReplyRecord, answer: &ReplyFacts) -> Draft {
    let calls = replied.calls.len();
    let summary = match calls {
        0 => format!("answered by {}", replied.model),
        1 => format!("{} asks for a call", replied.model),
        _ => format!("{} asks for {calls} calls", replied.model),
    };
    let mut outcome = StepOutcome::bare(StepStatus::Completed);
    outcome.tainted = answer.tainted;
    outcome.usage = answer.usage;
    outcome.reply = Some(Arc::new(replied));
    let row = RowDraft::of(node, call.attempt, summary, JournalEntry::Finished(Arc::new(outcome)));
    Draft { usage: answer.usage, ..Draft::row(row) }
}
