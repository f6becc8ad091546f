//! Why the door stays shut.

use kybern_core::actor::Right;
use kybern_core::error::{Detail, Error, ErrorCode};
use kybern_core::policy::PolicyDenial;

/// Why a call may not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no such tool.
    #[error("tool {0:?} is not registered")]
    Unknown(String),
    /// The tenant has turned it off.
    #[error("tool {0} is turned off; an administrator turns it on with PATCH /api/tools/{0}")]
    Disabled(String),
    /// The arguments do not fit.
    #[error("the arguments do not fit the tool's schema: {}", .0.iter().map(|fault| format!("{} {}", fault.path, fault.message)).collect::<Vec<_>>().join("; "))]
    Arguments(Vec<Detail>),
    /// The caller may not.
    #[error("tool {tool} needs the right {right:?}")]
    Permission {
        tool: String,
        /// What it asks for.
        right: Right,
    },
    /// What was said about the user does not allow it.
    #[error("{0}; an administrator changes that with PUT /api/users/{{id}}/permissions")]
    Policy(#[from] PolicyDenial),
}

impl Refusal {
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown(_) => ErrorCode::NotFound,
            Self::Arguments(_) => ErrorCode::Validation,
            Self::Disabled(_) | Self::Permission { .. } | Self::Policy(_) => ErrorCode::PermissionDenied,
        }
    }

    /// The error at the edge. The arguments are those at `path` of the caller's input.
    #[must_use]
    pub fn at(self, path: &str) -> Error {
        match self {
            Self::Arguments(details) => {
                let placed = details
                    .into_iter()
                    .map(|detail| Detail::new(format!("{path}{}", detail.path), detail.message))
                    .collect();
                Error::new(ErrorCode::Validation, "the input does not fit the tool's schema").with_details(placed)
            }
            Self::Unknown(_) | Self::Disabled(_) | Self::Permission { .. } | Self::Policy(_) => {
                Error::new(self.code(), self.to_string())
            }
        }
    }

    /// Whether it is worth an audit event: somebody wanted what they may not.
    #[must_use]
    pub const fn is_denial(&self) -> bool {
        match self {
            Self::Disabled(_) | Self::Permission { .. } | Self::Policy(_) => true,
            Self::Unknown(_) | Self::Arguments(_) => false,
        }
    }
}
