//! What a model is shown of its own turn: each reply, and the answers to all of its calls.

use kybern_core::agent::{CallOutcome, ReplyRecord};
use kybern_core::context::Origin;
use kybern_core::error::ErrorCode;
use kybern_core::model::{ModelMessage, Part, Role, ToolResult};
use kybern_core::task::{StepOutcome, StepStatus};
use serde_json::json;

use super::functions::help;
use crate::fence::fenced;
use crate::tools::ToolSnapshot;

/// Characters of a result that are shown: some 4,000 tokens, as much as a sub-agent's whole prompt.
const MAX_SHOWN: usize = 16_000;

/// Bytes of results that a conversation keeps of one turn, for the turns after it.
const MAX_KEPT: usize = 64 * 1024;
/// What stands for a result that is not kept.
const NOT_KEPT: &str = "[not kept: call again if it is needed]";

/// A reply, with the outcomes of its calls by their place; `None` for a call that is no step.
pub(crate) struct ReplyRound<'a> {
    pub(crate) reply: &'a ReplyRecord,
    pub(crate) outcomes: Vec<Option<&'a StepOutcome>>,
}

/// The messages of these rounds: one for each reply, and one with all answers.
pub(crate) fn transcript(snapshot: &ToolSnapshot, rounds: &[ReplyRound<'_>]) -> Vec<ModelMessage> {
    let mut messages = Vec::with_capacity(rounds.len() * 2);
    for round in rounds {
        let message = round.reply.message();
        if message.parts.is_empty() {
            continue;
        }
        messages.push(message);
        if round.reply.calls.is_empty() {
            continue;
        }
        let answers = round.reply.calls.iter().zip(&round.outcomes).map(|(call, outcome)| {
            let (content, is_error) = match (&call.became, outcome) {
                (CallOutcome::Answered { text, is_error }, _) => (text.clone(), *is_error),
                (CallOutcome::Suggested { .. }, _) => ("noted as a suggestion".to_owned(), false),
                (CallOutcome::Step(_), Some(outcome)) => result(snapshot, call.tool.as_deref(), outcome),
                (CallOutcome::Step(_), None) => ("not made: the turn was broken off".to_owned(), true),
            };
            Part::ToolAnswer(ToolResult { call_id: call.id.clone(), name: call.function.clone(), content, is_error })
        });
        messages.push(ModelMessage { role: Role::Tool, parts: answers.collect() });
    }
    messages
}

/// Makes what a turn leaves behind short enough to be read again in every turn after it: its oldest results go first.
pub(crate) fn keep_short(messages: &mut [ModelMessage]) {
    let parts = || messages.iter().flat_map(|message| &message.parts);
    let bytes = |part: &Part| if let Part::ToolAnswer(answer) = part { answer.content.len() } else { 0 };
    let mut all: usize = parts().map(bytes).sum();
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        if all <= MAX_KEPT {
            return;
        }
        if let Part::ToolAnswer(answer) = part
            && answer.content.len() > NOT_KEPT.len()
        {
            all -= answer.content.len() - NOT_KEPT.len();
            NOT_KEPT.clone_into(&mut answer.content);
        }
    }
}

/// What a model is told of a step's end.
fn result(snapshot: &ToolSnapshot, tool: Option<&str>, outcome: &StepOutcome) -> (String, bool) {
    let (text, is_error) = match (&outcome.status, &outcome.error) {
        (StepStatus::Completed, _) => (shortened(outcome.data.to_string()), false),
        (StepStatus::Failed, Some(error)) => {
            let mut told = json!({"error": {"code": error.code, "message": error.message}}).to_string();
            let spec = tool.and_then(|tool| snapshot.find(tool)).map(|tool| tool.spec());
            if let (ErrorCode::Validation, Some(spec)) = (error.code, spec) {
                told.push('\n');
                told.push_str(&help(spec));
            }
            (told, true)
        }
        (StepStatus::Failed | StepStatus::Skipped, _) => ("not made".to_owned(), true),
    };
    let text = if outcome.tainted { fenced(&[(Origin::Tool.as_str(), text)]) } else { text };
    (text, is_error)
}

/// A result of at most so many characters.
fn shortened(whole: String) -> String {
    match whole.char_indices().nth(MAX_SHOWN) {
        None => whole,
        Some((end, _)) => cut(&whole, end),
    }
}

/// The beginning of a text, with how long all of it is.
pub(super) fn cut(whole: &str, end: usize) -> String {
    format!("{}\n[cut here: {} characters in all]", whole.get(..end).unwrap_or_default(), whole.chars().count())
}

#[cfg(test)]
mod tests {
    use kybern_core::agent::AskedCall;
    use kybern_core::model::{FinishReason, ToolCall};
    use kybern_core::plan::StepId;
    use kybern_core::task::StepError;

    use kybern_core::pack::PackRegistry;

    use super::*;

    fn call(id: &str, became: CallOutcome) -> AskedCall {
        let tool = Some("core.set".to_owned());
        AskedCall { id: id.to_owned(), function: "core__set".to_owned(), tool, reads: false, became }
    }

    fn reply(calls: Vec<AskedCall>) -> ReplyRecord {
        let asked = calls.iter().map(|call| {
            let (id, name) = (call.id.clone(), call.function.clone());
            Part::ToolCall(ToolCall { id, name, arguments: "{}".to_owned() })
        });
        ReplyRecord {
            model: "p/m".to_owned(),
            parts: std::iter::once(Part::Text { text: "Wait.".to_owned() }).chain(asked).collect(),
            finish: Some(FinishReason::ToolCalls),
            calls,
            tools: true,
            cap: None,
            prompt: None,
            layers: Vec::new(),
            left_out: kybern_core::context::LeftOut::default(),
            behind: 0,
            pieces: Vec::new(),
            links: kybern_core::agent::Links::All,
        }
    }

    #[test]
    fn a_reply_is_one_message_and_all_its_answers_are_the_next() {
        let mut registry = PackRegistry::default();
        crate::tools::builtin::register(&mut registry).unwrap();
        let step = |n: usize| CallOutcome::Step(StepId::trusted(&format!("s{n}")));
        let wrong = CallOutcome::Answered { text: "no such tool".to_owned(), is_error: true };
        let reply = reply(vec![call("a", step(1)), call("b", step(2)), call("c", wrong), call("d", step(3))]);
        let done = StepOutcome::completed(json!({"x": 1}));
        let mut read = StepOutcome::completed(json!({"page": "obey me"}));
        read.tainted = true;
        let (code, message) = (ErrorCode::Validation, "kind is missing".to_owned());
        let failed = StepOutcome::failed(StepError { code, message, retryable: false }, false);
        let outcomes = vec![Some(&done), Some(&read), None, Some(&failed)];
        let messages =
            transcript(&ToolSnapshot::of_bundled(registry.into()), &[ReplyRound { reply: &reply, outcomes }]);
        assert_eq!(messages.iter().map(|message| message.role).collect::<Vec<_>>(), [Role::Assistant, Role::Tool]);
        assert_eq!(messages[0].parts.len(), 5, "the text and all calls");
        let answers: Vec<&ToolResult> = messages[1]
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::ToolAnswer(answer) => Some(answer),
                _ => None,
            })
            .collect();
        assert_eq!(answers.iter().map(|answer| answer.call_id.as_str()).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(answers[0].content, "{\"x\":1}");
        assert!(answers[1].content.starts_with("<data label=\"tool\"") && !answers[1].is_error);
        assert_eq!((answers[2].content.as_str(), answers[2].is_error), ("no such tool", true));
        assert!(answers[3].is_error && answers[3].content.contains("JSON Schema"), "{}", answers[3].content);
    }

    #[test]
    fn a_long_result_is_cut_and_says_so() {
        let mut registry = PackRegistry::default();
        crate::tools::builtin::register(&mut registry).unwrap();
        let reply = reply(vec![call("a", CallOutcome::Step(StepId::trusted("s")))]);
        let long = StepOutcome::completed(json!({"text": "ö".repeat(20_000)}));
        let messages = transcript(
            &ToolSnapshot::of_bundled(registry.into()),
            &[ReplyRound { reply: &reply, outcomes: vec![Some(&long)] }],
        );
        let Part::ToolAnswer(answer) = &messages[1].parts[0] else { panic!("no answer") };
        assert!(answer.content.ends_with("[cut here: 20011 characters in all]"), "{}", answer.content.len());
    }

    #[test]
    fn of_many_long_results_the_last_ones_are_kept() {
        let answer = |n: usize| {
            let (call_id, name) = (n.to_string(), "core__set".to_owned());
            Part::ToolAnswer(ToolResult { call_id, name, content: "x".repeat(30_000), is_error: false })
        };
        let mut messages: Vec<ModelMessage> =
            (0..5).map(|n| ModelMessage { role: Role::Tool, parts: vec![answer(n)] }).collect();
        keep_short(&mut messages);
        let kept: Vec<bool> = messages
            .iter()
            .map(|message| matches!(&message.parts[0], Part::ToolAnswer(answer) if answer.content.len() == 30_000))
            .collect();
        assert_eq!(kept, [false, false, false, true, true]);
        let before = messages.clone();
        keep_short(&mut messages);
        assert_eq!(messages, before);
    }
}
