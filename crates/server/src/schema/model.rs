//! Language models, in OpenAI's shapes.

use std::borrow::Cow;

use serde_json::Value;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::words::{
    ChatCompletionObjectSchema, ChatFinishSchema, EmbeddingObjectSchema, ListObjectSchema, ModelObjectSchema,
};

/// Texts at which a reply ends.
pub(crate) const MAX_STOPS: usize = 4;
/// Texts of one request for vectors.
pub(crate) const MAX_TEXTS: usize = 2_048;

/// A reply.
#[derive(ToSchema)]
#[schema(as = ChatCompletion)]
pub struct ChatCompletionSchema {
    /// Its id; the request's id stands in it.
    pub id: String,
    /// Always `chat.completion`.
    pub object: ChatCompletionObjectSchema,
    /// When, in seconds since 1970.
    pub created: i64,
    /// `provider/model` that answered; of a turn of an agent, `agent:NAME`.
    pub model: String,
    /// One choice.
    pub choices: Vec<ChatChoiceSchema>,
    /// What it took.
    #[schema(value_type = Object)]
    pub usage: Value,
}

/// A choice.
#[derive(ToSchema)]
#[schema(as = ChatChoice)]
pub struct ChatChoiceSchema {
    /// 0.
    pub index: u32,
    /// The message: `role`, `content`, `refusal`, and `tool_calls` and `reasoning_content` where there are any.
    #[schema(value_type = Object)]
    pub message: Value,
    /// How likely the tokens were, when that was asked for.
    #[schema(required, value_type = Option<Object>)]
    pub logprobs: Option<Value>,
    /// Why it ended.
    pub finish_reason: ChatFinishSchema,
}

/// The models.
#[derive(ToSchema)]
#[schema(as = ModelList)]
pub struct ModelListSchema {
    /// Always `list`.
    pub object: ListObjectSchema,
    /// The models.
    pub data: Vec<ModelEntrySchema>,
}

/// A model.
#[derive(ToSchema)]
#[schema(as = ModelEntry)]
pub struct ModelEntrySchema {
    /// `provider/model`, or a strategy.
    pub id: String,
    /// Always `model`.
    pub object: ModelObjectSchema,
    /// 0.
    pub created: i64,
    /// The provider; `kybern` of a strategy.
    pub owned_by: String,
}

/// Which providers a tenant allows.
#[derive(ToSchema)]
#[schema(as = ModelPolicy)]
pub struct ModelPolicySchema {
    /// The allowed providers; null when all are.
    #[schema(required)]
    pub providers: Option<Vec<String>>,
    /// The configured providers, which may be named.
    pub configured: Vec<String>,
}

/// Vectors.
#[derive(ToSchema)]
#[schema(as = EmbeddingList)]
pub struct EmbeddingListSchema {
    /// Always `list`.
    pub object: ListObjectSchema,
    /// The vectors, in the order of the texts.
    pub data: Vec<EmbeddingSchema>,
    /// `provider/model` that answered.
    pub model: String,
    /// What it took.
    #[schema(value_type = Object)]
    pub usage: Value,
}

/// A vector.
#[derive(ToSchema)]
#[schema(as = Embedding)]
pub struct EmbeddingSchema {
    /// Always `embedding`.
    pub object: EmbeddingObjectSchema,
    /// The text's place.
    pub index: u32,
    /// Numbers, or base64 of little-endian 32-bit floats.
    #[schema(value_type = Value)]
    pub embedding: Value,
}

/// Where a reply ends.
pub struct ChatStopSchema;

impl PartialSchema for ChatStopSchema {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let many = ArrayBuilder::new().items(text()).max_items(Some(MAX_STOPS));
        OneOfBuilder::new()
            .description(Some("Where a reply ends."))
            .item(text().description(Some("At this text.")))
            .item(many.description(Some("At the first of these.")))
            .into()
    }
}

impl ToSchema for ChatStopSchema {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ChatStop")
    }
}

/// What is embedded.
pub struct EmbeddingInputSchema;

impl PartialSchema for EmbeddingInputSchema {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
        let token = || ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(u32::MAX));
        let tokens = || ArrayBuilder::new().items(token()).min_items(Some(1));
        let many = |of| ArrayBuilder::new().items(of).min_items(Some(1)).max_items(Some(MAX_TEXTS));
        OneOfBuilder::new()
            .description(Some("What is embedded."))
            .item(text().description(Some("A text.")))
            .item(many(RefOr::T(text().into())).description(Some("Texts.")))
            .item(tokens().description(Some("The tokens of a text.")))
            .item(many(RefOr::T(tokens().into())).description(Some("The tokens of texts.")))
            .into()
    }
}

impl ToSchema for EmbeddingInputSchema {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("EmbeddingInput")
    }
}
