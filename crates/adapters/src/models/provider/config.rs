//! How a provider is configured.

use std::sync::Arc;

use url::Url;

use super::exchange::Channel;
use crate::http::Egress;
use crate::models::quirks::{Auth, ProviderKind};
use crate::models::secret::Secret;
use crate::models::wire::WireFormat;

/// A provider as the configuration has it.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    pub name: String,
    pub kind: ProviderKind,
    /// A format other than its usual one, where it speaks several.
    pub format: Option<WireFormat>,
    /// Where it is, when not where it usually is.
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
    /// Headers that go along with every request, after all others.
    pub extra_headers: Vec<(String, Secret)>,
    /// Whether private addresses are open to it: for servers of one's own.
    pub trusted: bool,
}

/// Why a provider cannot be set up. No message holds a key.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// Only the configuration can know where it is.
    #[error("provider {name:?} needs a base URL")]
    NoBaseUrl {
        /// The provider.
        name: String,
    },
    /// The base URL cannot be used.
    #[error("the base URL of provider {name:?} must be http or https, without user, query and fragment")]
    BadBaseUrl {
        /// The provider.
        name: String,
    },
    /// It cannot be asked without a key.
    #[error("provider {name:?} needs a key, for instance from {env}")]
    NoKey {
        /// The provider.
        name: String,
        /// Where its own tools look.
        env: &'static str,
    },
    /// The key, or another header's value, has characters that no header may have.
    #[error(
        "the value of header {header:?} of provider {name:?} is empty or holds a space, a line break or another \
             character that cannot be sent"
    )]
    BadHeader {
        /// The provider.
        name: String,
        header: String,
    },
}

impl ProviderConfig {
    /// A provider of that kind where it usually is.
    pub fn new(name: impl Into<String>, kind: ProviderKind, api_key: Option<Secret>) -> Self {
        let (name, extra_headers) = (name.into(), Vec::new());
        Self { name, kind, format: None, base_url: None, api_key, extra_headers, trusted: false }
    }

    pub(super) fn into_channel(self, egress: Arc<Egress>) -> Result<Channel, ProviderError> {
        let Self { name, kind, format, base_url, api_key, extra_headers, trusted } = self;
        let quirks = kind.quirks();
        let is_elsewhere = base_url.is_some();
        let base_url = base_url.unwrap_or_else(|| quirks.base_url.to_owned());
        if base_url.is_empty() {
            return Err(ProviderError::NoBaseUrl { name });
        }
        let Some(base_url) = checked(&base_url) else { return Err(ProviderError::BadBaseUrl { name }) };
        if quirks.needs_key && api_key.is_none() && !is_elsewhere && extra_headers.is_empty() {
            return Err(ProviderError::NoKey { name, env: quirks.key_env });
        }
        let format = format.unwrap_or(quirks.format);
        let auth = if format == quirks.format { quirks.auth } else { usual_auth(format) };
        let mut headers = Vec::new();
        let mut secrets = Vec::new();
        if let Some(key) = api_key {
            let (header, value) = match auth {
                Auth::Bearer => ("authorization", format!("Bearer {}", key.expose())),
                Auth::Header(header) => (header, key.expose().to_owned()),
            };
            if key.expose().is_empty() || !key.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(ProviderError::BadHeader { name, header: header.to_owned() });
            }
            headers.push((header.to_owned(), value));
            secrets.push(key);
        }
        for (header, value) in extra_headers {
            if value.expose().bytes().any(|byte| byte.is_ascii_control()) {
                return Err(ProviderError::BadHeader { name, header });
            }
            headers.push((header.to_ascii_lowercase(), value.expose().to_owned()));
            secrets.push(value);
        }
        Ok(Channel::new(name, base_url, headers, secrets, trusted, egress))
    }
}

fn usual_auth(format: WireFormat) -> Auth {
    match format {
        WireFormat::OpenaiChat | WireFormat::OpenaiResponses => Auth::Bearer,
        WireFormat::Anthropic => Auth::Header("x-api-key"),
        WireFormat::Gemini => Auth::Header("x-goog-api-key"),
    }
}

/// The URL without its last slash.
fn checked(base_url: &str) -> Option<String> {
    let url = Url::parse(base_url).ok()?;
    let is_plain = matches!(url.scheme(), "http" | "https")
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    is_plain.then(|| url.as_str().trim_end_matches('/').to_owned())
}
