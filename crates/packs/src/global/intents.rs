//! What belongs to no domain is known by its structure.

use crate::intent_words::IntentWords;

/// Nothing that any other plan does: mail of machines.
pub(super) const GENERAL_INSTRUCTION: IntentWords = IntentWords {
    key: "general_instruction",
    description: "An instruction that no other plan covers, or mail of a machine: a bounce, an automatic answer, mail to many, an invitation.",
    keywords: &["mail:bounce^6", "mail:automatic_reply^6", "mail:bulk^6", "mail:invitation^6"],
    examples: &[],
    other_languages: &[],
};
