//! Vectors of texts, for whatever is searched by meaning.

use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::model::{EmbedRequest, Vector};
use kybern_core::money::Tokens;
use tokio::sync::OnceCell;

use super::{CallContext, ModelService, estimate};

/// The most texts that are embedded at once.
pub(crate) const BATCH: usize = 64;
/// The most characters of a question that are read.
const MAX_QUESTION: usize = 4_000;
/// What the frame around a text takes in a prompt.
const FRAME: u64 = 16;

/// About how many tokens a text takes in a prompt, its frame included.
pub(crate) fn tokens(text: &str) -> Tokens {
    Tokens(FRAME + estimate::of_bytes(u64::try_from(text.len()).unwrap_or(u64::MAX)))
}

fn beginning(question: &str) -> &str {
    let end = question.char_indices().nth(MAX_QUESTION).map_or(question.len(), |(at, _)| at);
    question.get(..end).unwrap_or(question).trim()
}

/// What is searched for. Its vector is made once, by whoever needs it first.
pub(crate) struct Query<'a> {
    text: &'a str,
    vector: OnceCell<Option<Vector>>,
}

impl<'a> Query<'a> {
    pub(crate) fn new(question: &'a str) -> Self {
        Self { text: beginning(question), vector: OnceCell::new() }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The vector; `None` where there is no model that makes any.
    pub(crate) async fn vector(&self, models: &ModelService, caller: &CallContext) -> Result<Option<&Vector>> {
        let made = self.vector.get_or_try_init(|| models.vector_of(caller, self.text)).await?;
        Ok(made.as_ref())
    }
}

impl ModelService {
    /// The vector of a text; `None` where there is no model that makes any.
    pub(crate) async fn vector_of(&self, caller: &CallContext, text: &str) -> Result<Option<Vector>> {
        let vectors = self.vectors_of(caller, vec![text.to_owned()]).await?;
        Ok(vectors.and_then(|vectors| vectors.into_iter().next()))
    }

    /// The vectors of texts, by the configured model; `None` where there is none, or the tenant does not allow its
    /// provider.
    pub(crate) async fn vectors_of(&self, caller: &CallContext, texts: Vec<String>) -> Result<Option<Vec<Vector>>> {
        let (wanted, model) = (texts.len(), self.settings().embedding.clone());
        let request = EmbedRequest { texts, ..EmbedRequest::default() };
        let (embedded, model) = match self.embed(caller, &model, request).await {
            Ok(embedded) => embedded,
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::PermissionDenied) => return Ok(None),
            Err(error) if error.code() == ErrorCode::Unprocessable => return Ok(None),
            Err(error) => return Err(error),
        };
        if embedded.vectors.len() != wanted {
            let message = format!("{model} gave {} vectors for {wanted} texts", embedded.vectors.len());
            return Err(Error::new(ErrorCode::Model, message));
        }
        let vector = |values| Vector { model: model.clone(), values };
        Ok(Some(embedded.vectors.into_iter().map(vector).collect()))
    }
}
