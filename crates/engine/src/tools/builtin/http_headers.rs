//! The headers of `core.http_request`: texts, and secrets that are named. A value is put in here, after the call was
//! journaled, and nowhere before.

use kybern_core::error::ErrorCode;
use kybern_core::policy::TRAVELLING_HEADERS;
use kybern_core::ports::ToolContext;
use kybern_core::secret::{Destination, SecretName};
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};
use url::Url;

use super::text;
use crate::secret::Scrub;

/// Schema of a secret that is named.
pub(super) fn reference() -> Value {
    json!({
        "type": "object",
        "description": "A secret of this tenant by its name. Its value is put in when the request is sent, and only \
                        when the secret's hosts cover where it goes.",
        "properties": {"secret": {"type": "string", "pattern": SecretName::PATTERN}},
        "required": ["secret"],
        "additionalProperties": false
    })
}

/// The headers of a call, and what must not come back from it.
pub(super) async fn of(
    context: &ToolContext,
    args: &Map<String, Value>,
) -> Result<(Vec<(String, String)>, Scrub), ToolFailure> {
    let (mut headers, mut scrub) = (Vec::new(), Scrub::default());
    for (name, value) in args.get("headers").and_then(Value::as_object).into_iter().flatten() {
        match (value.as_str(), value.get("secret").and_then(Value::as_str)) {
            (Some(plain), _) => headers.push((name.clone(), plain.to_owned())),
            (None, Some(secret)) => {
                // These go along when a redirect leads elsewhere.
                if TRAVELLING_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                    let message = format!("header {name} follows redirects to other hosts, so it takes no secret");
                    return Err(ToolFailure::permanent(message).code(ErrorCode::Validation));
                }
                let value = value_of(context, args, secret, &mut scrub).await?;
                headers.push((name.clone(), value));
            }
            (None, None) => {}
        }
    }
    if let Some(secret) = args.get("auth").and_then(|auth| auth.get("secret")).and_then(Value::as_str) {
        if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            let message = "auth and a header Authorization are both given; leave one out";
            return Err(ToolFailure::permanent(message).code(ErrorCode::Validation));
        }
        let value = value_of(context, args, secret, &mut scrub).await?;
        headers.push(("Authorization".to_owned(), format!("Bearer {value}")));
    }
    Ok((headers, scrub))
}

async fn value_of(
    context: &ToolContext,
    args: &Map<String, Value>,
    name: &str,
    scrub: &mut Scrub,
) -> Result<String, ToolFailure> {
    let invalid = |message: String| ToolFailure::permanent(message).code(ErrorCode::Validation);
    let name: SecretName = name.parse().map_err(|error| invalid(format!("{error}")))?;
    let value = context.secrets()?.value_for(&name, &destination(text(args, "url")?)?).await?;
    scrub.add(&name, &value);
    Ok(value.expose().to_owned())
}

/// Where a URL leads, read by the same rules as the client reads it.
fn destination(url: &str) -> Result<Destination, ToolFailure> {
    let unreadable = || ToolFailure::permanent("the URL cannot be read, or names no host").code(ErrorCode::Validation);
    let url = Url::parse(url).map_err(|_| unreadable())?;
    match (url.host_str(), url.port_or_known_default()) {
        (Some(host), Some(port)) if !host.is_empty() => {
            Ok(Destination { scheme: url.scheme().to_owned(), host: host.to_ascii_lowercase(), port })
        }
        _ => Err(unreadable()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_leads_where_the_client_would_go() {
        let to = |url: &str| destination(url).map(|to| to.to_string()).ok();
        for (url, place) in [
            ("https://API.example.com/x", Some("https://api.example.com:443")),
            ("https://api.example.com@evil.test/", Some("https://evil.test:443")),
            ("https://evil.test\\@api.example.com/", Some("https://evil.test:443")),
            ("http://[::1]:8080", Some("http://[::1]:8080")),
            ("http://2130706433/", Some("http://127.0.0.1:80")),
            ("https://api.example.com./", Some("https://api.example.com.:443")),
            ("file:///etc/hostname", None),
            ("not a url", None),
        ] {
            assert_eq!(to(url).as_deref(), place, "{url}");
        }
    }
}
