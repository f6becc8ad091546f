//! Knowledge: documents of a tenant that agents may quote.
//!
//! A document is read, cut into [pieces](mod@pieces) and embedded by a job; until that is done it is `indexing`. It is a
//! draft until somebody publishes it, and only published ones are ever found. What it says is material and never an
//! instruction, whoever published it.
//!
//! | act | needs | then |
//! |---|---|---|
//! | upload, reindex | | `indexing`, then `ready`, or `failed` with the reason |
//! | publish | `ready` | it is found |
//! | unpublish | | it is not found |

mod pieces;

use serde::Serialize;

pub use pieces::{MAX_PIECE, OVERLAP, pieces};

use crate::error::{Error, ErrorCode, Result};
use crate::id::{KnowledgeId, UserId};
use crate::model::Vector;
use crate::time::Timestamp;

/// The maximum length of a title, in characters.
pub const MAX_TITLE: usize = 200;
/// The most documents of a tenant.
pub const MAX_DOCUMENTS: u32 = 1_000;
/// The most pieces of all documents of a tenant. All published ones are compared in a search, so this bounds what one
/// reads.
pub const MAX_PIECES: u32 = 20_000;

words! {
    /// How far a document is.
    pub enum KnowledgeStatus {
        /// It is being read and embedded.
        Indexing = "indexing",
        /// It can be found once it is published.
        Ready = "ready",
        /// It could not be read or embedded.
        Failed = "failed",
    }
}

/// A document.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Knowledge))]
pub struct KnowledgeDocument {
    pub id: KnowledgeId,
    /// What people call it.
    pub title: String,
    /// The name of the file.
    pub filename: String,
    /// Its declared type.
    pub content_type: String,
    /// The hash of its bytes, under which they are kept.
    #[serde(skip)]
    pub hash: String,
    /// How many bytes it has.
    pub size: u64,
    /// How far it is.
    pub status: KnowledgeStatus,
    /// Whether it may be found.
    pub published: bool,
    /// Why it failed.
    #[cfg_attr(feature = "schema", schema(required))]
    pub error: Option<String>,
    /// In how many pieces it is.
    pub pieces: u32,
    /// The model that made the vectors of its pieces; null when there was none.
    #[cfg_attr(feature = "schema", schema(required))]
    pub model: Option<String>,
    /// Grows with each indexing.
    pub version: u32,
    /// Who uploaded it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub created_by: Option<UserId>,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

crate::named! {
    /// What is done with a document. Its names stand in the audit.
    pub enum KnowledgeAct {
        /// It may be found from now on.
        Publish = "knowledge.publish",
        /// It is not found any more.
        Unpublish = "knowledge.unpublish",
        /// It is read and embedded anew.
        Reindex = "knowledge.reindex",
    }
}

impl KnowledgeDocument {
    /// The document after an act.
    ///
    /// # Errors
    /// `CONFLICT` when it is not so far.
    pub fn after(self, act: KnowledgeAct, at: Timestamp) -> Result<Self> {
        let conflict = |message: String| Err(Error::new(ErrorCode::Conflict, message));
        match (act, self.status) {
            (KnowledgeAct::Publish, KnowledgeStatus::Ready) => Ok(Self { published: true, updated_at: at, ..self }),
            (KnowledgeAct::Publish, status @ (KnowledgeStatus::Indexing | KnowledgeStatus::Failed)) => {
                conflict(format!("a document that is {} cannot be published", status.as_str()))
            }
            (KnowledgeAct::Unpublish, _) => Ok(Self { published: false, updated_at: at, ..self }),
            (KnowledgeAct::Reindex, KnowledgeStatus::Indexing) => {
                conflict("the document is being indexed already".to_owned())
            }
            (KnowledgeAct::Reindex, KnowledgeStatus::Ready | KnowledgeStatus::Failed) => {
                let (status, version) = (KnowledgeStatus::Indexing, self.version + 1);
                Ok(Self { status, version, error: None, updated_at: at, ..self })
            }
        }
    }
}

/// A piece of a document that was indexed.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexedPiece {
    /// The page that it stands on, from 1.
    pub page: u32,
    /// What it says.
    pub text: String,
    pub vector: Option<Vector>,
}

/// How an indexing ended.
#[derive(Clone, PartialEq, Debug)]
pub enum Indexed {
    /// In these pieces, in their order.
    Ready(Vec<IndexedPiece>),
    /// Not at all.
    Failed(String),
}

/// A piece that may be found.
#[derive(Clone, PartialEq, Debug)]
pub struct PublishedPiece {
    pub document: KnowledgeId,
    /// What people call the document.
    pub title: String,
    /// Its place in the document, from 0.
    pub n: u32,
    /// What stands there.
    pub piece: IndexedPiece,
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn document(status: KnowledgeStatus, published: bool) -> KnowledgeDocument {
        KnowledgeDocument {
            id: KnowledgeId::from_uuid(Uuid::nil()),
            title: "Terms".to_owned(),
            filename: "terms.txt".to_owned(),
            content_type: "text/plain".to_owned(),
            hash: String::new(),
            size: 5,
            status,
            published,
            error: Some("it rained".to_owned()),
            pieces: 1,
            model: None,
            version: 1,
            created_by: None,
            created_at: Timestamp::default(),
            updated_at: Timestamp::default(),
        }
    }

    #[test]
    fn only_what_is_ready_is_published_and_what_is_indexed_is_left_alone() {
        use KnowledgeAct::{Publish, Reindex, Unpublish};
        use KnowledgeStatus::{Failed, Indexing, Ready};
        let at = Timestamp::from_millis(5);
        for (status, act, then) in [
            (Ready, Publish, Some((Ready, true, 1))),
            (Indexing, Publish, None),
            (Failed, Publish, None),
            (Ready, Unpublish, Some((Ready, false, 1))),
            (Indexing, Unpublish, Some((Indexing, false, 1))),
            (Ready, Reindex, Some((Indexing, true, 2))),
            (Failed, Reindex, Some((Indexing, true, 2))),
            (Indexing, Reindex, None),
        ] {
            let after = document(status, true).after(act, at);
            let told = after.as_ref().ok().map(|after| (after.status, after.published, after.version));
            assert_eq!(told, then, "{status:?} {act:?}");
            match after {
                Ok(after) => assert_eq!(after.updated_at, at),
                Err(error) => assert_eq!(error.code(), ErrorCode::Conflict),
            }
        }
        assert_eq!(document(Failed, false).after(Reindex, at).unwrap().error, None);
    }
}
