//! What models are told by the server itself: files of the folder `prompts`, each known by the hash of its text.

use kybern_core::ports::ToolPrompt;

/// A prompt that is the server's own, not a tenant's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnPrompt {
    /// Its file's name, without the ending.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! prompt {
    ($name:literal) => {
        OwnPrompt { name: $name, text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/prompts/", $name, ".md")) }
    };
}

/// The rules above everything that follows.
pub(crate) const CORE: OwnPrompt = prompt!("core");
/// How tools are used.
pub(crate) const TOOL_RULES: OwnPrompt = prompt!("tool_rules");

/// How tools are found where they are many.
pub(crate) const TOOLS_MANY: OwnPrompt = prompt!("tools_many");
/// What can be set up to happen by itself, by the part of the tools' keys before the dot.
pub(crate) const AUTOMATION: [(&str, OwnPrompt); 2] =
    [("triggers", prompt!("automation_triggers")), ("plans", prompt!("automation_plans"))];

/// What is said when a turn has used all its calls or questions.
pub(crate) const TURN_CLOSING: OwnPrompt = prompt!("turn_closing");
/// What an agent is told that was made again while its text waits for approval, and none was ever approved.
pub(crate) const UNAPPROVED: OwnPrompt = prompt!("unapproved");
/// What is answered where no language model is configured.
pub(crate) const OFFLINE: OwnPrompt = prompt!("offline");
/// What the agent may do without asking, by the autonomy of its user.
pub(crate) const AUTONOMY: [OwnPrompt; 5] = [
    prompt!("autonomy_none"),
    prompt!("autonomy_low"),
    prompt!("autonomy_medium"),
    prompt!("autonomy_high"),
    prompt!("autonomy_full"),
];
/// What an agent is told whose user may let tools look only.
pub(crate) const AUTONOMY_LOOKING: OwnPrompt = prompt!("autonomy_looking");

/// A decision by a schema.
pub(crate) const DECISION: OwnPrompt = prompt!("decision");
/// What is said when a decision does not fit.
pub(crate) const DECISION_REPAIR: OwnPrompt = prompt!("decision_repair");

/// Which intent a message has.
pub(crate) const UNDERSTAND_INTENT: OwnPrompt = prompt!("understand_intent");
/// What kind of document it is.
pub(crate) const UNDERSTAND_KIND: OwnPrompt = prompt!("understand_kind");
/// What is written in a picture.
pub(crate) const UNDERSTAND_PICTURE: OwnPrompt = prompt!("understand_picture");
/// Which values a document has.
pub(crate) const UNDERSTAND_FIELDS: OwnPrompt = prompt!("understand_fields");

/// What is said when an answer to a tool does not fit.
pub(crate) const TOOL_CORRECTION: OwnPrompt = prompt!("tool_correction");

impl OwnPrompt {
    /// The prompt with which a tool asks.
    pub(crate) const fn of(prompt: ToolPrompt) -> Self {
        match prompt {
            ToolPrompt::DeepReasoning => prompt!("tool_deep_reasoning"),
            ToolPrompt::Summarize => prompt!("tool_summarize"),
            ToolPrompt::Translate => prompt!("tool_translate"),
            ToolPrompt::Extract => prompt!("tool_extract"),
            ToolPrompt::RepairJson => prompt!("tool_repair_json"),
        }
    }

    /// Its name and the beginning of its hash: what the audit keeps of it.
    pub(crate) fn mark(&self) -> String {
        let hash = blake3::hash(self.text.as_bytes()).to_hex();
        format!("{}@{}", self.name, hash.get(..16).unwrap_or_default())
    }
}
