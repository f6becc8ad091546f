//! `GET /`: a plain page for people who open the server in a browser. It loads nothing from anywhere.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::health::{self, HealthDetail};
use crate::state::AppState;

const PAGE: &str = include_str!("status_page.html");
const STYLE: &str = include_str!("status_page.css");

/// Status page
///
/// What runs, whether it is ready, and where to go on.
#[utoipa::path(get, path = "/", operation_id = "show_status_page", responses(
    (status = 200, description = "The page", body = String, content_type = "text/html"),
))]
pub(crate) async fn show(State(state): State<AppState>) -> Response {
    let (ready, checks) = health::checks(&state, HealthDetail::Names).await;
    let rows: String = checks.iter().map(row).collect();
    let page = PAGE
        .replace("{style}", STYLE)
        .replace("{version}", env!("CARGO_PKG_VERSION"))
        .replace("{since}", &escape(&state.started_at.to_string()))
        .replace("{class}", if ready { "ok" } else { "bad" })
        .replace("{ready}", if ready { "ready" } else { "not ready" })
        .replace("{rows}", &rows);
    let mut response = Html(page).into_response();
    // Only the style that stands in the page may apply; nothing may be loaded, run or framed.
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let policy = format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; frame-ancestors 'none'");
    if let Ok(policy) = HeaderValue::try_from(policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

fn row(check: &Value) -> String {
    let text = |name: &str| escape(check.get(name).and_then(Value::as_str).unwrap_or_default());
    let (class, mark) = match (check["ok"] == true, check["required"] == true && check["state"] == "broken") {
        (true, _) => ("ok", "works"),
        (false, true) => ("bad", "fails"),
        (false, false) => ("warn", "needs a look"),
    };
    format!("<tr><td>{}</td><td class=\"{class}\">{mark}</td><td>{}</td></tr>\n", text("name"), text("message"))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_cannot_write_markup() {
        let check = json!({"name": "plans", "ok": false, "required": false, "message": "<script>alert(\"1\")"});
        let row = row(&check);
        assert!(row.contains("&lt;script&gt;alert(&quot;1&quot;)") && row.contains("needs a look"));
    }

    #[test]
    fn only_what_is_broken_and_required_fails() {
        let mark = |ok, state, required| row(&json!({"name": "disk", "ok": ok, "state": state, "required": required}));
        assert!(mark(true, "ok", true).contains("works"));
        assert!(mark(false, "warning", true).contains("needs a look"));
        assert!(mark(false, "broken", false).contains("needs a look"));
        assert!(mark(false, "broken", true).contains("fails"));
    }

    #[test]
    fn the_page_loads_nothing() {
        for word in ["http://", "https://", "src=", "<script", "@import", "url("] {
            assert!(!PAGE.contains(word) && !STYLE.contains(word), "{word}");
        }
    }
}
