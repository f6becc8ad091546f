//! Which part of a conversation a model sees.

use crate::model::{ModelMessage, Part, Role};
use crate::money::Tokens;
use crate::time::Timestamp;

/// A message of a conversation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WindowMessage {
    /// What was said, and by whom.
    pub message: ModelMessage,
    pub at: Timestamp,
    /// How many tokens it takes.
    pub tokens: Tokens,
    /// Whether somebody has taken it back. It is never shown again.
    pub redacted: bool,
    /// Whether somebody else than the user, an operator or the server may have written some of it.
    pub tainted: bool,
    /// Whether it only stands beside the message before it: the files that came with that. It is left out alone.
    pub beside: bool,
}

/// How much of a conversation is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WindowLimits {
    /// The most messages: 100 after the specification of the agents.
    pub messages: usize,
    /// The most tokens, the message that is asked now included.
    pub tokens: Tokens,
    /// Nothing from before that moment.
    pub since: Option<Timestamp>,
}

impl WindowLimits {
    /// The most messages when nobody says.
    pub const MESSAGES: usize = 100;
}

/// The places of the messages that are shown, in their order, of a conversation whose last message is the one that is
/// asked now.
///
/// - That one is always there, however long it is: whoever asks has to refuse it when it does not fit.
/// - Before it stands an unbroken part of what was said last. It begins with something that the user said, so that no
///   answer stands without its question.
/// - What only stands beside a message, and is too long, is left out alone.
/// - A reply with calls and their results come together or not at all; calls that never got all their results, because
///   a turn was broken off, are left out.
/// - What was taken back is left out, a result with its call.
#[must_use]
pub fn window(conversation: &[WindowMessage], limits: &WindowLimits) -> Vec<usize> {
    let Some(last) = conversation.len().checked_sub(1) else { return Vec::new() };
    let now = conversation.get(last).map_or(0, |spoken| spoken.tokens.0);
    let (mut messages, mut tokens) = (1_usize, now);
    let mut shown = vec![last];
    // From the newest to the oldest; what was shown when a user's message was reached is what stays.
    let (mut pending, mut stays) = (Vec::new(), 1);
    for unit in units(conversation.get(..last).unwrap_or_default()).into_iter().rev() {
        let of = |places: &[usize]| places.iter().filter_map(|place| conversation.get(*place)).collect::<Vec<_>>();
        let spoken = of(&unit);
        if spoken.iter().any(|spoken| limits.since.is_some_and(|since| spoken.at < since)) {
            break;
        }
        if spoken.iter().any(|spoken| spoken.redacted) || !is_whole(&spoken) {
            continue;
        }
        let long = spoken.iter().map(|spoken| spoken.tokens.0).sum::<u64>();
        let beside = spoken.iter().any(|spoken| spoken.beside);
        if beside && tokens.saturating_add(long) > limits.tokens.0 {
            continue;
        }
        messages += unit.len();
        tokens = tokens.saturating_add(long);
        if messages > limits.messages || tokens > limits.tokens.0 {
            break;
        }
        let begins = !beside && spoken.first().is_some_and(|spoken| spoken.message.role == Role::User);
        pending.extend(unit.into_iter().rev());
        if begins {
            shown.append(&mut pending);
            stays = shown.len();
        }
    }
    shown.truncate(stays);
    shown.reverse();
    shown
}

/// The conversation in parts that stay together: a reply with calls and the results that follow it, anything else alone.
fn units(conversation: &[WindowMessage]) -> Vec<Vec<usize>> {
    let mut units: Vec<Vec<usize>> = Vec::new();
    for (place, spoken) in conversation.iter().enumerate() {
        match (spoken.message.role, units.last_mut()) {
            (Role::Tool, Some(unit)) => unit.push(place),
            (Role::System | Role::User | Role::Assistant | Role::Tool, _) => units.push(vec![place]),
        }
    }
    units
}

/// Whether every call has one result, and every result its call.
fn is_whole(unit: &[&WindowMessage]) -> bool {
    let parts = || unit.iter().flat_map(|spoken| &spoken.message.parts);
    let mut asked: Vec<&str> = parts().filter_map(call).collect();
    let mut answered: Vec<&str> = parts().filter_map(answer).collect();
    asked.sort_unstable();
    answered.sort_unstable();
    asked == answered
}

fn call(part: &Part) -> Option<&str> {
    match part {
        Part::ToolCall(call) => Some(&call.id),
        Part::Text { .. } | Part::Image(_) | Part::Reasoning(_) | Part::ToolAnswer(_) => None,
    }
}

fn answer(part: &Part) -> Option<&str> {
    match part {
        Part::ToolAnswer(answer) => Some(&answer.call_id),
        Part::Text { .. } | Part::Image(_) | Part::Reasoning(_) | Part::ToolCall(_) => None,
    }
}

#[cfg(test)]
mod tests;
