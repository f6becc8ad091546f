//! What models are asked, and what they answer, as far as intents and extraction go.

pub mod extraction;
pub mod intent;

pub use extraction::{
    CategoryPattern, DocumentAnalysis, ExtractedField, Extraction, ExtractionSchema, FieldPattern, FieldSource,
    SectionPattern, ValueKind,
};
pub use intent::{Classification, ClassifyInput, IntentSpec};
