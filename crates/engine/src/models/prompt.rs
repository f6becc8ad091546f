//! What models are told by the server itself: files of the folder `prompts`, each known by the hash of its text.

/// A prompt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prompt {
    /// Its file's name, without the ending.
    pub(crate) name: &'static str,
    /// Its text.
    pub(crate) text: &'static str,
}

macro_rules! prompt {
    ($name:literal) => {
        Prompt { name: $name, text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/prompts/", $name, ".md")) }
    };
}

/// A decision by a schema.
pub(crate) const DECISION: Prompt = prompt!("decision");
/// What is said when a decision does not fit.
pub(crate) const DECISION_REPAIR: Prompt = prompt!("decision_repair");

impl Prompt {
    /// Its name and the beginning of its hash: what the audit keeps of it.
    pub(crate) fn mark(&self) -> String {
        let hash = blake3::hash(self.text.as_bytes()).to_hex();
        format!("{}@{}", self.name, hash.get(..16).unwrap_or_default())
    }
}
