//! The embedding model that is built in: it needs no network, no key and no download.
//!
//! It looks up a vector for each token and adds them up; `third_party/minilm-static` holds the table and how it was
//! made. So it knows words, not sentences: their order does not count. `docs/embeddings.md` tells how good that is.
//!
//! What always holds: a text has the same vector on every machine, because the sums are whole numbers and what follows
//! is rounded as IEEE 754 says; a vector is [`DIMENSIONS`] long and its length is 1.

mod table;
mod wordpiece;

use async_trait::async_trait;
use kybern_core::model::{
    Abilities, EmbedRequest, Embedded, ListedModel, ModelFailure, ModelFailureKind, ModelKind, ModelReply,
    ModelRequest, ModelSpec, ModelTimeouts, Prices, TokenUsage,
};
use kybern_core::ports::{LanguageModel, ModelStream};

use self::table::Table;

/// The provider's name in the configuration.
pub const PROVIDER: &str = "builtin";
/// The name of its one model.
pub const MODEL: &str = "minilm-static-160";
/// How long its vectors are.
pub const DIMENSIONS: usize = 160;
/// How many characters of a text are read. The rest is left out: a caller that wants all of it cuts it into passages.
pub const MAX_CHARACTERS: usize = 32_000;

/// Each component of the vector of a text that has no known word: 160 of them make a vector of length 1, whose axis
/// no word has.
const NOTHING_KNOWN: f32 = 0.079_056_94;

/// The built-in provider. Making one costs nothing: the table stays in the program's file until it is used.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    table: Table,
}

impl Default for Builtin {
    fn default() -> Self {
        Self::new()
    }
}

impl Builtin {
    /// The provider.
    #[must_use]
    pub fn new() -> Self {
        Self { table: Table::embedded() }
    }

    /// Embeds a text, and says how many tokens were read, unknown words included.
    ///
    /// Only the first [`MAX_CHARACTERS`] characters count. A text without a known word, or an empty one, gets the vector
    /// whose components are all equal.
    #[must_use]
    pub fn vector(&self, text: &str) -> (Vec<f32>, u64) {
        let end = text.char_indices().nth(MAX_CHARACTERS).map_or(text.len(), |(at, _)| at);
        let mut sums = [0_i64; DIMENSIONS];
        let mut tokens = 0_u64;
        wordpiece::each_token(&self.table, &text[..end], |place| {
            tokens += 1;
            let Some(place) = place else { return };
            let (scale, row) = self.table.row(place);
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += i64::from(scale) * i64::from(value.cast_signed());
            }
        });
        (unit(&sums), tokens)
    }
}

/// The vector of length 1 in the direction of the sums.
#[expect(clippy::cast_precision_loss, reason = "a sum stays below 2^53: 32,000 × 3 tokens × 65,535 × 127")]
#[expect(clippy::cast_possible_truncation, reason = "a component of a unit vector is rounded to an f32")]
fn unit(sums: &[i64]) -> Vec<f32> {
    let squares: f64 = sums.iter().map(|sum| *sum as f64 * *sum as f64).sum();
    if squares == 0.0 {
        return vec![NOTHING_KNOWN; sums.len()];
    }
    let length = squares.sqrt();
    sums.iter().map(|sum| (*sum as f64 / length) as f32).collect()
}

/// What is known of the model. It costs nothing and is never chosen for its quality.
#[must_use]
pub fn spec() -> ModelSpec {
    ModelSpec {
        name: MODEL.to_owned(),
        kind: ModelKind::Embedding,
        window: u64::try_from(MAX_CHARACTERS).ok(),
        max_output: None,
        prices: Some(Prices::default()),
        abilities: Abilities::default(),
        quality: None,
    }
}

fn failure(kind: ModelFailureKind, message: &str) -> ModelFailure {
    ModelFailure::new(kind, message).of(PROVIDER)
}

fn only_embeds() -> ModelFailure {
    failure(
        ModelFailureKind::Unsupported,
        "the built-in model only embeds; configure a provider for conversations, or a local OpenAI-compatible server",
    )
}

/// Whether the request is for the model, and for vectors as it has them.
fn check(request: &EmbedRequest) -> Result<(), ModelFailure> {
    if request.model != MODEL {
        let message = format!("there is no built-in model {:?}; there is {MODEL}", request.model);
        return Err(failure(ModelFailureKind::UnknownModel, &message));
    }
    match request.dimensions.map(usize::try_from) {
        None | Some(Ok(DIMENSIONS)) => Ok(()),
        Some(_) => {
            let message = format!("{MODEL} has {DIMENSIONS} dimensions; leave the number out");
            Err(failure(ModelFailureKind::Unsupported, &message))
        }
    }
}

#[async_trait]
impl LanguageModel for Builtin {
    fn provider(&self) -> &str {
        PROVIDER
    }

    async fn complete(&self, _request: &ModelRequest, _timeouts: ModelTimeouts) -> Result<ModelReply, ModelFailure> {
        Err(only_embeds())
    }

    async fn stream(
        &self,
        _request: &ModelRequest,
        _timeouts: ModelTimeouts,
    ) -> Result<Box<dyn ModelStream>, ModelFailure> {
        Err(only_embeds())
    }

    async fn embed(&self, request: &EmbedRequest, _timeouts: ModelTimeouts) -> Result<Embedded, ModelFailure> {
        check(request)?;
        let mut vectors = Vec::with_capacity(request.texts.len());
        let mut input = 0;
        for text in &request.texts {
            let (vector, tokens) = self.vector(text);
            vectors.push(vector);
            input += tokens;
            // Many long texts must not keep others from their turn; a caller who gives up ends it here.
            tokio::task::yield_now().await;
        }
        let usage = TokenUsage { input, ..TokenUsage::default() };
        Ok(Embedded { model: MODEL.to_owned(), vectors, usage: Some(usage) })
    }

    async fn models(&self, _timeouts: ModelTimeouts) -> Result<Vec<ListedModel>, ModelFailure> {
        Ok(vec![ListedModel::named(MODEL)])
    }
}

#[cfg(test)]
mod tests;
