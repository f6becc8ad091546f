//! How the layers share a model's window.

use serde::Serialize;

use crate::money::Tokens;

/// What a prompt is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PromptPurpose {
    /// A turn of a conversation.
    Turn,
    /// A sub-agent inside a plan: its task, what steps before it gave, and nothing else.
    SubAgent,
    /// Whoever hands tasks to sub-agents.
    Orchestrator,
}

impl PromptPurpose {
    /// The most tokens of the whole prompt, where that is not the window's matter: 4,000 for a sub-agent and 8,000 for
    /// the orchestrator, after the planner's specification.
    const fn most(self) -> Option<u64> {
        match self {
            Self::Turn => None,
            Self::SubAgent => Some(4_000),
            Self::Orchestrator => Some(8_000),
        }
    }
}

/// The most tokens of each part of a prompt. They add up to the window at most.
///
/// A window of 128,000 gives the shares of the orchestrator's specification: 500 for the core, 2,000 for the prompt, 500
/// for preferences, 2,000 for memories, 8,000 for knowledge, 4,000 for the reply, and the rest for the conversation. In
/// smaller windows no layer takes more than its part, so that a conversation stays possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shares {
    /// The server's own rules.
    pub core: Tokens,
    /// The governed prompt and the sections beside it.
    pub prompt: Tokens,
    pub preferences: Tokens,
    pub memories: Tokens,
    pub knowledge: Tokens,
    pub conversation: Tokens,
    /// What is kept free for the reply.
    pub reply: Tokens,
    /// Whether a larger window would give more, or the purpose says how much there is.
    pub windowed: bool,
}

/// A model's window when nobody knows it: that of small local models.
const UNKNOWN: u64 = 8_192;

impl Shares {
    /// The shares of a window of so many tokens, with a reply of so many at most.
    #[must_use]
    pub fn of(window: Option<Tokens>, reply: Tokens, purpose: PromptPurpose) -> Self {
        let window = window.map_or(UNKNOWN, |window| window.0);
        // A share, and the part of the window that it never passes.
        let share = |most: u64, part: u64| most.min(window / part);
        let reply = reply.0.min(window / 4);
        let core = share(500, 8);
        let (mut prompt, mut preferences) = (share(2_000, 4), share(500, 16));
        let (mut memories, mut knowledge) = (share(2_000, 16), share(8_000, 8));
        let mut left = window - reply - core - prompt - preferences - memories - knowledge;
        if purpose == PromptPurpose::SubAgent {
            // It is told nothing of the user and of what is remembered.
            left += preferences + memories + knowledge;
            (preferences, memories, knowledge) = (0, 0, 0);
        }
        let mut windowed = true;
        if let Some(most) = purpose.most() {
            prompt = prompt.min(most / 2);
            let retrieved = most / 8;
            (memories, knowledge) = (memories.min(retrieved), knowledge.min(retrieved));
            let rest = most.saturating_sub(core + prompt + preferences + memories + knowledge);
            windowed = left < rest;
            left = left.min(rest);
        }
        Self {
            core: Tokens(core),
            prompt: Tokens(prompt),
            preferences: Tokens(preferences),
            memories: Tokens(memories),
            knowledge: Tokens(knowledge),
            conversation: Tokens(left),
            reply: Tokens(reply),
            windowed,
        }
    }

    /// The most tokens of the prompt, the reply aside.
    #[must_use]
    pub fn prompt_total(&self) -> Tokens {
        let all = [self.core, self.prompt, self.preferences, self.memories, self.knowledge, self.conversation];
        Tokens(all.iter().map(|share| share.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_window_of_128_000_has_the_shares_of_the_specification() {
        let shares = Shares::of(Some(Tokens(128_000)), Tokens(4_000), PromptPurpose::Turn);
        let parts = [shares.core, shares.prompt, shares.preferences, shares.memories, shares.knowledge, shares.reply];
        assert_eq!(parts.map(|share| share.0), [500, 2_000, 500, 2_000, 8_000, 4_000]);
        assert_eq!(shares.conversation, Tokens(111_000));
    }

    #[test]
    fn sub_agents_and_the_orchestrator_have_shares_of_their_own() {
        let of = |purpose| Shares::of(Some(Tokens(200_000)), Tokens(4_000), purpose);
        let sub = of(PromptPurpose::SubAgent);
        assert_eq!((sub.preferences, sub.memories, sub.knowledge), (Tokens(0), Tokens(0), Tokens(0)));
        assert_eq!(sub.prompt_total(), Tokens(4_000));
        assert_eq!(of(PromptPurpose::Orchestrator).prompt_total(), Tokens(8_000));
        assert!(!sub.windowed && of(PromptPurpose::Turn).windowed);
        assert!(
            Shares::of(Some(Tokens(4_000)), Tokens(4_000), PromptPurpose::SubAgent).windowed,
            "a window can be smaller"
        );
    }

    proptest! {
        #[test]
        fn shares_never_pass_the_window_and_leave_room_to_talk(
            window in 64_u64..2_000_000,
            reply in 1_u64..200_000,
            which in 0_usize..3,
        ) {
            let purpose = [PromptPurpose::Turn, PromptPurpose::SubAgent, PromptPurpose::Orchestrator][which];
            let shares = Shares::of(Some(Tokens(window)), Tokens(reply), purpose);
            prop_assert!(shares.prompt_total().0 + shares.reply.0 <= window);
            prop_assert!(shares.reply.0 <= reply);
            prop_assert!(shares.conversation.0 * 16 >= window.min(4_000), "{shares:?} of {window}");
        }
    }
}
