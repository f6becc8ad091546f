//! What models are asked, and what they answer: language models in words of no provider, and the two narrow questions
//! of the kernel, intents and extraction, which the offline rules answer too.

pub mod embedding;
pub mod extraction;
pub mod failure;
pub mod intent;
pub mod message;
pub mod own_schema;
pub mod pattern;
pub mod policy;
pub mod range;
pub mod reply;
pub mod request;
pub mod schema;
pub mod spec;

pub use embedding::{EmbedRequest, Embedded, Vector};
pub use extraction::{
    Claim, DocumentAnalysis, ExtractedField, Extraction, FieldSource, FoundBy, Located, RefusedClaim,
};
pub use failure::{ModelFailure, ModelFailureKind};
pub use intent::{Classification, ClassifyInput, IntentSpec};
pub use message::{Image, ImageDetail, ModelMessage, Part, Reasoning, Role, ToolCall, ToolResult};
pub use pattern::ValuePattern;
pub use policy::ModelPolicy;
pub use range::ValueRange;
pub use reply::{Assembly, FinishReason, ModelEvent, ModelReply, TokenUsage};
pub use request::{Abilities, Effort, FunctionChoice, FunctionSpec, ModelRequest, ModelTimeouts, OutputSchema};
pub use schema::{
    CategoryPattern, ExtractionSchema, FieldPattern, OwnLabel, SectionPattern, ValueKind, one_number_word,
};
pub use spec::{ListedModel, ModelKind, ModelSpec, Prices};
