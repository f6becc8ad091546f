//! Identifiers. Each noun has its own type, so that a task's id can never be passed where a tenant's is meant.
//!
//! All are UUIDv7 on the wire. They are minted through [`crate::ports::IdSource`], never here: this crate holds
//! neither clock nor randomness.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A text that should have been an identifier and is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid {noun} id, expected a UUID")]
pub struct IdError {
    noun: &'static str,
    text: String,
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $noun:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that is known to name this noun (from the store, or freshly minted).
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The bare UUID, for the store.
            #[must_use]
            pub const fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        #[cfg(feature = "schema")]
        crate::schema::scalars!($name = String, "uuid";);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($noun, ":{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text)
                    .map(Self)
                    .map_err(|_| IdError { noun: $noun, text: text.chars().take(64).collect() })
            }
        }
    };
}

id_type!(
    /// A customer of this server. Everything that is stored belongs to one.
    TenantId, "tenant"
);
id_type!(
    /// A person, or a program that acts as one.
    UserId, "user"
);
id_type!(
    /// A question to a person: may this happen?
    ApprovalId, "approval"
);
id_type!(
    /// An API key (the record of it; the key itself is never stored).
    KeyId, "key"
);
id_type!(
    /// A unit of work.
    TaskId, "task"
);
id_type!(
    /// One stored version of a plan.
    PlanId, "plan"
);
id_type!(
    /// A domain object.
    RecordId, "record"
);
id_type!(
    /// A background job.
    JobId, "job"
);
id_type!(
    /// One call of a tool.
    InvocationId, "invocation"
);
id_type!(
    /// A message that leaves the house.
    OutboxId, "outbox message"
);
id_type!(
    /// A subscription to the ends of tasks.
    WebhookId, "webhook"
);
id_type!(
    /// One version of a governed prompt.
    PromptId, "prompt"
);
id_type!(
    /// A version of a tool that a tenant has made itself.
    OwnToolId, "own tool"
);
id_type!(
    /// A named configuration of a model that works with tools.
    AgentId, "agent"
);
id_type!(
    /// A conversation.
    ChatId, "chat"
);
id_type!(
    /// One message of a conversation.
    MessageId, "message"
);
id_type!(
    /// Something that is remembered.
    MemoryId, "memory"
);
id_type!(
    /// A document of a tenant's knowledge.
    KnowledgeId, "knowledge"
);
id_type!(
    /// Something that a tenant has learned from an answer.
    LessonId, "lesson"
);
id_type!(
    /// A limit of what may be spent.
    BudgetId, "budget"
);
id_type!(
    /// An amount that is promised to one call.
    ReservationId, "reservation"
);
id_type!(
    /// One request at the edge; echoed as `X-Request-Id`.
    RequestId, "request"
);

impl TenantId {
    /// The tenant that exists from the first start on.
    pub const DEFAULT: Self = Self(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_the_way_through_text() {
        let id = TaskId::from_uuid(Uuid::from_u128(7));
        assert_eq!(id.to_string().parse::<TaskId>(), Ok(id));
    }

    #[test]
    fn a_text_that_is_no_uuid_is_refused_with_its_noun() {
        let error = "nope".parse::<TaskId>().unwrap_err();
        assert_eq!(error.to_string(), "\"nope\" is not a valid task id, expected a UUID");
    }
}
