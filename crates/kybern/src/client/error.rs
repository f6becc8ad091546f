//! What can go wrong between the command line and the server, each with what to do about it.

use std::fmt;

use kybern_core::error::{Detail, ErrorCode};
use serde_json::Value;

use crate::output::{kybern, kybern_here};

/// A call that did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The server answered with an error envelope.
    #[error(transparent)]
    Api(#[from] Box<ApiError>),
    /// No answer came.
    #[error("no answer from {url}: {reason}")]
    Unreachable {
        /// The server.
        url: String,
        /// What the connection says.
        reason: String,
    },
    /// The server speaks plain HTTP, and its URL says https.
    #[error("the server at {url} does not speak TLS")]
    Plain {
        /// The server.
        url: String,
    },
    /// Something answered that does not speak Kybern's API.
    #[error("{url} answered with something else than Kybern's API: {reason}")]
    Foreign {
        /// The server.
        url: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The address of the server cannot be used.
    #[error("{url:?} is not the URL of a server")]
    Url {
        /// What was given.
        url: String,
    },
    /// The address of the server names a user, whose name and password would be sent in place of the key.
    #[error("the URL of the server holds a user name or a password, and a server knows its callers by their API key")]
    User,
    /// No connection could be prepared.
    #[error("the HTTP client cannot be set up: {0}")]
    Setup(String),
}

impl ClientError {
    /// Whether the server does not know it, or does not show it to this key.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Api(error) if error.code == Some(ErrorCode::NotFound))
    }
}

/// The error envelope, with the status it came under.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ApiError {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The code; `None` for one that this program does not know.
    pub(crate) code: Option<ErrorCode>,
    /// What failed.
    pub(crate) message: String,
    /// Every single fault.
    pub(crate) details: Vec<Detail>,
    /// The request, as the server's log calls it.
    pub(crate) request_id: Option<String>,
    /// When to try again, in seconds.
    pub(crate) retry_after_s: Option<u64>,
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

impl ApiError {
    /// Reads `{"error":{…}}`; `None` when the body is something else.
    pub(super) fn read(status: u16, retry_after_s: Option<u64>, body: &Value) -> Option<Self> {
        let error = body.get("error")?;
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let details = error.get("details").cloned().unwrap_or_default();
        Some(Self {
            status,
            code: ErrorCode::parse(text("code")?),
            message: text("message")?.to_owned(),
            details: serde_json::from_value(details).unwrap_or_default(),
            request_id: text("requestId").map(str::to_owned),
            retry_after_s,
        })
    }

    fn remedy(&self) -> Option<String> {
        let remedy = match self.code? {
            ErrorCode::Unauthenticated => {
                return Some(format!(
                    "set KYBERN_API_KEY to a key of this server; \"{} key recover\" makes a new admin key for whoever \
                     can write its database (on SQLite stop the server first)",
                    kybern_here()
                ));
            }
            ErrorCode::PermissionDenied => {
                return Some(format!(
                    "use a key whose role allows it, or ask an admin to make one with \"{} key create\"",
                    kybern()
                ));
            }
            ErrorCode::NotFound if self.message.contains("picture of page") => {
                "only what was read from a picture, a scan, has pictures of its pages; leave --page out for the file"
            }
            ErrorCode::NotFound => "check the id or the name; the matching \"list\" verb shows what there is",
            ErrorCode::Conflict if self.message.to_ascii_lowercase().contains("idempotency") => {
                "take another --idempotency-key, or leave it out"
            }
            ErrorCode::Conflict if self.message.to_ascii_lowercase().contains("the task") => {
                return Some(format!("look at its state first: \"{} task show ID\"", kybern()));
            }
            // The message names the flag.
            ErrorCode::Conflict if self.message.contains("--") => return None,
            // The message says why, and what has to be so first.
            ErrorCode::Conflict if self.message.starts_with("nothing is removed: ") => return None,
            ErrorCode::Conflict => "look at what it is now first; the matching \"show\" or \"list\" verb says",
            ErrorCode::PayloadTooLarge => {
                "send less, or raise the limit in the server's settings: server.max_mail_bytes for an e-mail, \
                 server.max_body_bytes for everything else"
            }
            // The message says what to do: a second later the disk is as full.
            ErrorCode::Unavailable if self.message.contains("make room") => return None,
            ErrorCode::RateLimited | ErrorCode::Unavailable => {
                return Some(match self.retry_after_s {
                    Some(seconds) => format!("try again in {seconds} s"),
                    None => "try again in a moment".to_owned(),
                });
            }
            ErrorCode::BudgetExceeded => "raise the budget, or wait until its period ends",
            ErrorCode::Timeout => "try again, or wait longer",
            ErrorCode::Internal => "look for the request id in the server's log",
            ErrorCode::Validation
            | ErrorCode::Unprocessable
            | ErrorCode::Model
            | ErrorCode::Tool
            | ErrorCode::Workflow => return None,
        };
        Some(remedy.to_owned())
    }
}

impl ClientError {
    /// Whether it may be gone in a moment: the server starts, is busy, or the network hiccups.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Api(error) => matches!(error.status, 408 | 429 | 503 | 504),
            Self::Plain { .. } | Self::Foreign { .. } | Self::Url { .. } | Self::User | Self::Setup(_) => false,
        }
    }

    /// What to do about it.
    pub(crate) fn remedy(&self) -> Option<String> {
        match self {
            Self::Api(error) => error.remedy(),
            Self::Unreachable { .. } => {
                Some(format!("start it with \"{} serve\", or set KYBERN_URL to where it listens", kybern_here()))
            }
            Self::Plain { url } => Some(format!("set KYBERN_URL to {}", url.replacen("https:", "http:", 1))),
            Self::Foreign { .. } | Self::Url { .. } => {
                Some("set KYBERN_URL to a Kybern server, such as http://127.0.0.1:7171".to_owned())
            }
            Self::User => {
                Some("leave USER:PASSWORD@ out of KYBERN_URL, or --url, and set KYBERN_API_KEY to the key".to_owned())
            }
            Self::Setup(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_envelope_is_read() {
        let body = json!({"error": {"code": "VALIDATION_ERROR", "message": "two fields are wrong", "requestId": "r1",
            "details": [{"path": "/input", "message": "is missing"}, {"path": "/planKey", "message": "is unknown"}]}});
        let error = ApiError::read(400, None, &body).unwrap();
        assert_eq!(error.code, Some(ErrorCode::Validation));
        assert_eq!(error.details[1], Detail::new("/planKey", "is unknown"));
        assert_eq!(error.request_id.as_deref(), Some("r1"));
        assert!(ApiError::read(400, None, &json!({"message": "x"})).is_none());
    }

    #[test]
    fn every_kind_says_what_to_do() {
        let error = |code: &str| {
            let body = json!({"error": {"code": code, "message": "m"}});
            ClientError::from(Box::new(ApiError::read(400, Some(7), &body).unwrap())).remedy()
        };
        assert!(error("UNAUTHENTICATED").unwrap().contains("KYBERN_API_KEY"));
        assert_eq!(error("RATE_LIMITED").unwrap(), "try again in 7 s");
        // Lessons, plans and approvals conflict as well as tasks do.
        let conflict = error("CONFLICT").unwrap();
        assert!(conflict.contains("matching \"show\"") && !conflict.contains("task"), "{conflict}");
        assert_eq!(error("A_NEW_CODE"), None);
        let said = |code: &str, message: &str| {
            let body = json!({"error": {"code": code, "message": message}});
            ClientError::from(Box::new(ApiError::read(400, Some(1), &body).unwrap())).remedy()
        };
        assert_eq!(said("UNAVAILABLE", "the database's disk is full: make room, then try again"), None);
        assert_eq!(said("CONFLICT", "nothing is removed: [retention] holds names no tenant"), None);
        assert!(said("NOT_FOUND", "there is no picture of page 1").unwrap().contains("leave --page out"));
        let body = json!({"error": {"code": "CONFLICT", "message": "the idempotency key was used before"}});
        let reused = ClientError::from(Box::new(ApiError::read(409, None, &body).unwrap())).remedy().unwrap();
        assert!(reused.contains("another --idempotency-key"), "{reused}");
    }
}
