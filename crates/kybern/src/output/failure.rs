//! How a verb fails, and how that is told: the message, each detail, the remedy, the request.

use std::io::{self, Write};

use super::paint::Paint;
use super::text::clean;
use crate::client::ClientError;
use crate::config::ConfigError;

/// A verb that could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The server said no, or nothing.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The configuration is faulty.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// What was typed cannot be done.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to type instead.
        remedy: Option<String>,
    },
    /// A file cannot be read.
    #[error("{path} cannot be read: {source}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{path} {problem}")]
    Content {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Something inside this process.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl Failure {
    /// A fault in what was typed, and what to type instead.
    pub(crate) fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), remedy: Some(remedy.into()) }
    }

    /// Whether the command line itself is at fault.
    pub(crate) const fn is_usage(&self) -> bool {
        matches!(self, Self::Usage { .. })
    }

    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = vec![format!("{} {}", paint.bad("error:"), clean(&self.to_string()))];
        let mut detail = |text: String| lines.push(format!("  {}", clean(&text)));
        let mut remedy = None;
        match self {
            Self::Client(error) => {
                if let ClientError::Api(api) = error {
                    for fault in &api.details {
                        let place = if fault.path.is_empty() { String::new() } else { format!("{}: ", fault.path) };
                        detail(format!("{place}{}", fault.message));
                    }
                }
                remedy = error.remedy();
            }
            Self::Config(error) => {
                for fault in error.faults() {
                    detail(fault.to_string());
                    detail(format!("  {}", fault.remedy));
                }
            }
            Self::Usage { remedy: text, .. } => remedy.clone_from(text),
            Self::Other(error) => error.chain().skip(1).for_each(|cause| detail(cause.to_string())),
            Self::File { .. } | Self::Content { .. } => {}
        }
        if let Some(remedy) = remedy {
            lines.push(format!("  {} {}", paint.bold("try:"), clean(&remedy)));
        }
        if let Self::Client(ClientError::Api(api)) = self
            && let Some(id) = &api.request_id
        {
            lines.push(paint.dim(&format!("  request {}", clean(id))));
        }
        lines
    }
}

/// Tells a failure on standard error.
pub(crate) fn report(failure: &Failure, paint: Paint) {
    let text = failure.lines(paint).join("\n");
    // When standard error is closed there is nobody to tell.
    writeln!(io::stderr(), "{text}").unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::ApiError;

    #[test]
    fn everything_a_person_needs_is_told() {
        let api = ApiError {
            status: 403,
            code: Some(kybern_core::error::ErrorCode::PermissionDenied),
            message: "this key may not do that".to_owned(),
            details: vec![kybern_core::error::Detail::new("/roles", "needs \u{1b}admin")],
            request_id: Some("r-1".to_owned()),
            retry_after_s: None,
        };
        let lines = Failure::from(ClientError::from(Box::new(api))).lines(Paint::new(false));
        assert_eq!(lines[0], "error: this key may not do that");
        assert_eq!(lines[1], "  /roles: needs  admin");
        assert!(lines[2].starts_with("  try: use a key with the role"), "{lines:?}");
        assert_eq!(lines[3], "  request r-1");
    }
}
