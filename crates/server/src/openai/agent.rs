//! An agent behind OpenAI's API: `model: "agent:NAME"` is a turn of a conversation. The history that the client sends is
//! what the turn is shown; the turn itself is a task like any, with the agent's own prompt and tools.

use axum::Json;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::BytesMut;
use kybern_core::agent::TurnFinish;
use kybern_core::chat::{Speaker, TurnEvent};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::model::{FinishReason, Image, ModelEvent, ModelReply, Part, Role, TokenUsage};
use kybern_core::money::Usage;
use kybern_core::task::TaskStatus;
use kybern_engine::chat::{ImportedMessage, TurnReader, TurnView, check_content};
use kybern_engine::models::AnsweredCall;
use kybern_engine::task::AttachmentRequest;
use serde_json::Value;

use super::chunk::Frames;
use super::request::ChatBody;
use crate::error::{ApiResult, Problem};
use crate::sse::{self, PolledSource, Step};
use crate::state::AppState;
use crate::streams::StreamPlace;

/// Stands for the pictures of what was said before.
const SHOWN_BEFORE: &str = "\n[pictures came with this, and are not shown again]";

/// What a client says to an agent.
pub(crate) struct AgentMessage {
    /// What was said before.
    pub(crate) before: Vec<ImportedMessage>,
    /// What is said now.
    pub(crate) content: String,
    /// The pictures that come with it.
    pub(crate) pictures: Vec<AttachmentRequest>,
}

impl ChatBody {
    /// What was said before, and what is said now.
    ///
    /// # Errors
    /// When the last message is not the user's or cannot be said in a chat, tools are brought along (an agent has its own),
    /// or a picture is named by an address: what an agent is shown is kept with its turn.
    pub(crate) fn turn(self) -> ApiResult<AgentMessage> {
        let place = format!("/messages/{}/content", self.messages.len().saturating_sub(1));
        let mut request = self.request()?;
        if !request.functions.is_empty() {
            return Err(Problem::invalid("/tools", "an agent has tools of its own: leave tools out"));
        }
        let last = request.messages.pop().filter(|message| message.role == Role::User);
        let now = last.ok_or_else(|| Problem::invalid("/messages", "the last message is the user's"))?;
        let content = now.joined_text();
        check_content(&place, &content)?;
        let images = now.parts.into_iter().filter_map(|part| match part {
            Part::Image(image) => Some(image),
            Part::Text { .. } | Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolAnswer(_) => None,
        });
        let pictures = images.zip(1..).map(|(image, n)| picture(image, n)).collect::<ApiResult<_>>()?;
        let before = request.messages.into_iter().filter_map(|message| {
            let mut content = message.joined_text();
            let role = match message.role {
                Role::Assistant => Speaker::Assistant,
                // Whoever calls speaks for the user: their system message is a wish, and no rule of this server.
                Role::System | Role::User => Speaker::User,
                Role::Tool => return None,
            };
            if message.parts.iter().any(|part| matches!(part, Part::Image(_))) {
                content.push_str(SHOWN_BEFORE);
            }
            (!content.trim().is_empty()).then_some(ImportedMessage { role, content })
        });
        Ok(AgentMessage { before: before.collect(), content, pictures })
    }
}

/// A picture as it is attached to a message.
fn picture(image: Image, n: usize) -> ApiResult<AttachmentRequest> {
    let Image::Data { media_type, data, .. } = image else {
        let message = "send an agent a picture as a data URL; a link is not fetched";
        return Err(Problem::invalid("/messages", message));
    };
    let bytes = STANDARD
        .decode(&*data)
        .map_err(|_| Problem::invalid("/messages", "the data of a picture is not valid base64"))?;
    let kind = media_type.strip_prefix("image/").unwrap_or_default().to_owned();
    Ok(AttachmentRequest { filename: format!("picture-{n}.{kind}"), content_type: media_type, bytes: bytes.into() })
}

fn finish_of(finish: Option<TurnFinish>) -> FinishReason {
    match finish {
        Some(TurnFinish::MaxTokens | TurnFinish::IterationLimit | TurnFinish::ToolLimit | TurnFinish::Timeout) => {
            FinishReason::Length
        }
        Some(TurnFinish::ContentFilter) => FinishReason::ContentFilter,
        Some(
            TurnFinish::Complete
            | TurnFinish::ToolUse
            | TurnFinish::NoModel
            | TurnFinish::Cancelled
            | TurnFinish::Error,
        )
        | None => FinishReason::Stop,
    }
}

fn tokens(usage: &Usage) -> TokenUsage {
    TokenUsage { input: usage.input_tokens.0, output: usage.output_tokens.0, ..TokenUsage::default() }
}

/// What a client is told that cannot be asked: who has to say yes.
fn waits_for(approval: &str) -> String {
    format!("A call needs a person's yes before it is made: approval {approval}, to be decided at /api/approvals.")
}

fn cancelled() -> Error {
    Error::new(ErrorCode::Conflict, "the turn was cancelled before it had an answer")
}

/// A whole turn as a completion.
///
/// # Errors
/// Why it has no answer: it has failed, was cancelled, or goes on for longer than a request waits.
pub(crate) fn completed(turned: &TurnView, model: &str, request: &str, created: i64) -> Result<Response, Error> {
    if let Some(error) = &turned.error {
        // The turn may have made calls: another one would make them again.
        return Err(Error::new(error.code, error.message.clone()).without_retry());
    }
    if turned.status == TaskStatus::Cancelled {
        return Err(cancelled());
    }
    if !turned.status.is_terminal() && turned.approval_id.is_none() {
        let message = format!("the turn goes on as task {}, read its answer at /api/tasks/{0}", turned.task_id);
        return Err(Error::new(ErrorCode::Timeout, message));
    }
    let text = match &turned.approval_id {
        Some(approval) => waits_for(&approval.to_string()),
        None => turned.content.clone(),
    };
    let reply = ModelReply {
        id: String::new(),
        model: model.to_owned(),
        parts: vec![Part::Text { text }],
        finish: finish_of(turned.finish_reason),
        usage: None,
        logprobs: None,
    };
    let (usage, cost) = (tokens(&turned.usage), turned.usage.cost_nanos);
    let answered = AnsweredCall { reply, model: model.to_owned(), usage, cost, tries: Vec::new() };
    Ok(Json(super::completion(&answered, request, created)).into_response())
}

struct Reader {
    state: AppState,
    following: TurnReader,
    frames: Frames,
    tells_usage: bool,
    _place: StreamPlace,
}

/// A turn in pieces.
pub(crate) fn turn_events(
    state: &AppState,
    following: TurnReader,
    (model, request, created): (&str, &str, i64),
    tells_usage: bool,
    place: StreamPlace,
) -> Response {
    let frames = Frames::new(request, created, model);
    let reader = Reader { state: state.clone(), following, frames, tells_usage, _place: place };
    sse::answer(Box::new(reader), next, None)
}

async fn next(mut reader: Box<Reader>) -> Step<Box<Reader>> {
    let mut out = BytesMut::new();
    let looked = sse::look_until(&reader.state.shutdown, reader.following.next()).await;
    let ends = match looked {
        PolledSource::Silent => return Some((sse::ALIVE, Some(reader))),
        PolledSource::Over => return None,
        PolledSource::Failed(error) => {
            reader.frames.error(&error, &mut out);
            true
        }
        PolledSource::Found(events) if events.is_empty() => return None,
        PolledSource::Found(events) => events.iter().any(|event| reader.wrote_end(event, &mut out)),
    };
    Some((out.freeze(), (!ends).then_some(reader)))
}

impl Reader {
    /// Writes an event; whether it was the last.
    fn wrote_end(&self, event: &TurnEvent, out: &mut BytesMut) -> bool {
        let text = |name: &str| event.data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let piece = |event: ModelEvent, out: &mut BytesMut| self.frames.piece(&event, out);
        match event.name {
            "message.start" => piece(ModelEvent::Started { id: String::new(), model: String::new() }, out),
            "message.delta" => piece(ModelEvent::Text(text("content")), out),
            "approval.required" => {
                // A client of this API cannot be asked, so the stream ends; the turn waits on.
                piece(ModelEvent::Text(waits_for(&text("approvalId"))), out);
                self.end(None, &Usage::default(), out);
                return true;
            }
            "message.complete" => {
                let of = |name: &str| event.data.get(name).cloned().unwrap_or_default();
                let finish = serde_json::from_value(of("finishReason")).ok();
                // What was broken off is no answer: its error follows, or the end that says so.
                if matches!(finish, Some(TurnFinish::Error | TurnFinish::Timeout | TurnFinish::Cancelled)) {
                    return false;
                }
                self.end(finish, &serde_json::from_value(of("usage")).unwrap_or_default(), out);
                return true;
            }
            "error" => {
                let code = serde_json::from_value(event.data.get("code").cloned().unwrap_or_default());
                self.frames.error(&Error::new(code.unwrap_or(ErrorCode::Model), text("message")), out);
                return true;
            }
            "done" => {
                self.frames.error(&cancelled(), out);
                return true;
            }
            _ => {}
        }
        false
    }

    fn end(&self, finish: Option<TurnFinish>, usage: &Usage, out: &mut BytesMut) {
        self.frames.piece(&ModelEvent::Finished { finish: finish_of(finish), usage: None }, out);
        if self.tells_usage {
            self.frames.usage(&tokens(usage), out);
        }
        Frames::done(out);
    }
}
