//! What a task came with, and what it made.

use axum::Json;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use kybern_core::document::limits;
use kybern_core::id::TaskId;
use serde_json::{Value, json};

use crate::error::{ApiResult, Problem};
use crate::extract::CallerRequest;
use crate::schema::operation::ErrorSchema;
use crate::schema::task::{ArtifactPage, AttachmentPage};

/// It was written by strangers: a browser must neither guess its type nor run anything in it.
const SANDBOX: HeaderValue = HeaderValue::from_static("default-src 'none'; sandbox");

/// List a task's artifacts
///
/// The records that the task created, changed, found or was about, oldest first.
#[utoipa::path(get, path = "/api/tasks/{id}/artifacts", operation_id = "list_task_artifacts",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    responses((status = 200, description = "The links", body = ArtifactPage)))]
pub(crate) async fn artifacts(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let id: TaskId = path.parse("id")?;
    let links = state.engine.tasks().artifacts(&actor, id).await?;
    Ok(Json(json!({"items": links, "nextCursor": null})))
}

/// List a task's attachments
#[utoipa::path(get, path = "/api/tasks/{id}/attachments", operation_id = "list_task_attachments",
    params(("id" = String, Path, format = "uuid", description = "The task")),
    responses((status = 200, description = "What is known of them", body = AttachmentPage)))]
pub(crate) async fn attachments(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let id: TaskId = path.parse("id")?;
    let attachments = state.engine.tasks().attachments(&actor, id).await?;
    Ok(Json(json!({"items": attachments, "nextCursor": null})))
}

/// Download an attachment
///
/// The original bytes, always as a download; with `page`, the picture of a page that is read from its picture (a scan),
/// as a PNG: the places of words that were read are places in it; with `text=true`, the text that was read of it, or that
/// a person typed or confirmed.
#[utoipa::path(get, path = "/api/tasks/{id}/attachments/{n}", operation_id = "download_task_attachment",
    params(
        ("id" = String, Path, format = "uuid", description = "The task"),
        ("n" = u32, Path, description = "Its number: 0 is a mail itself, files begin at 1"),
        ("page" = Option<u32>, Query, minimum = 1, maximum = 500,
            description = "The picture of this page, from 1, instead of the original"),
        ("text" = Option<bool>, Query, description = "What it says as plain text, instead of the original"),
    ),
    responses(
        (status = 200, description = "The bytes", body = String, content_type = "*/*"),
        (status = 422, description = "Its text cannot be given, or the picture cannot be made: the message says why", body = ErrorSchema),
    ))]
pub(crate) async fn attachment(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult<Response> {
    let (id, n): (TaskId, u32) = (path.parse("id")?, path.parse("n")?);
    let query = query.only(&["page", "text"])?;
    if query.flag("text")? == Some(true) {
        if query.get("page").is_some() {
            return Err(Problem::invalid("/text", "the text is that of all pages: leave page out"));
        }
        let text = state.engine.tasks().attachment_text(&actor, id, n).await?;
        let kind = HeaderValue::from_static("text/plain; charset=utf-8");
        return Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_SECURITY_POLICY, SANDBOX)], text).into_response());
    }
    let most = u64::try_from(limits::MAX_PAGES).unwrap_or(u64::MAX);
    if let Some(page) = query.number("page", 1..=most)? {
        let page = u32::try_from(page).unwrap_or(u32::MAX);
        let picture = state.engine.tasks().page_picture(&actor, id, n, page).await?;
        // It was made here out of pixels, so a browser may show it.
        let kind = HeaderValue::from_static(picture.media_type);
        return Ok(([(header::CONTENT_TYPE, kind)], picture.bytes).into_response());
    }
    let (attachment, bytes) = state.engine.tasks().attachment(&actor, id, n).await?;
    let kind = HeaderValue::try_from(&attachment.content_type).ok();
    let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let name = HeaderValue::try_from(disposition(&attachment.filename)).ok();
    let name = name.unwrap_or(HeaderValue::from_static("attachment"));
    let headers =
        [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name), (header::CONTENT_SECURITY_POLICY, SANDBOX)];
    Ok((headers, bytes).into_response())
}

/// `attachment` with the name as plain ASCII, and whole after RFC 8187.
fn disposition(filename: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_ ()".contains(c) { c } else { '_' };
    let ascii: String = filename.chars().map(plain).collect();
    let mut whole = String::new();
    for byte in filename.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => whole.push(char::from(byte)),
            _other => whole.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("attachment; filename=\"{ascii}\"; filename*=UTF-8''{whole}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        let header = disposition("Rechnung \"für\"\r\nX: y.pdf");
        let ascii = "attachment; filename=\"Rechnung _f_r___X_ y.pdf\"";
        assert_eq!(header, format!("{ascii}; filename*=UTF-8''Rechnung%20%22f%C3%BCr%22%0D%0AX%3A%20y.pdf"));
        assert!(HeaderValue::try_from(header).is_ok());
    }
}
