//! `Idempotency-Key`: the same request twice is one effect and one answer.
//!
//! | the key is | the answer |
//! |---|---|
//! | new | the work is done; a success is kept for 24 hours |
//! | at work in this process | 409 with `Retry-After` |
//! | taken, and not answered | the work is done again as the same command, which finds what was made already |
//! | answered, same body | the first answer again, with `Idempotency-Replayed: true` |
//! | used with another body | 409 |
//!
//! So a repeat after a crash is answered at once, and one thing exists. A failure that surely wrote nothing gives the key
//! free: the same key then serves another request. After any other, the next try goes on as the same command. After 24
//! hours a key is as good as new. Answers are kept sealed, because some of them carry a key that is shown once.

use std::collections::HashSet;
use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use kybern_core::actor::Actor;
use kybern_core::digest::DigestKey;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::TenantId;
use kybern_core::json as bounded;
use kybern_core::ports::Idempotent;
use kybern_core::task::limits;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use kybern_engine::Engine;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tracing::Instrument;

use crate::auth::Caller;
use crate::error::{ApiResult, Problem};
use crate::request::RequestInfo;
use crate::state::AppState;

pub(crate) const KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Characters of a key.
const MAX_KEY: usize = 255;

/// The caller's key, when there is one.
fn key(headers: &HeaderMap) -> ApiResult<Option<String>> {
    let Some(value) = headers.get(KEY_HEADER) else { return Ok(None) };
    let key = value.to_str().map(str::trim).unwrap_or_default();
    if key.is_empty() || key.len() > MAX_KEY {
        let message = format!("header Idempotency-Key must be 1 to {MAX_KEY} visible ASCII characters");
        return Err(Problem::invalid("", message));
    }
    Ok(Some(key.to_owned()))
}

/// A success.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SuccessAnswer {
    status: u16,
    location: Option<String>,
    body: Box<RawValue>,
}

impl SuccessAnswer {
    /// 201 with the new thing, which is found below `place` under that name.
    pub(crate) fn created(place: &str, name: &impl Display, body: &impl Serialize) -> ApiResult<Self> {
        Ok(Self { status: 201, location: Some(format!("{place}/{name}")), body: written(body)? })
    }

    /// 202 with the new task, which is found below `place` under that id.
    pub(crate) fn accepted(place: &str, id: &impl Display, body: &impl Serialize) -> ApiResult<Self> {
        Ok(Self { status: 202, location: Some(format!("{place}/{id}")), body: written(body)? })
    }

    /// 200.
    pub(crate) fn done(body: &impl Serialize) -> ApiResult<Self> {
        Ok(Self { status: 200, location: None, body: written(body)? })
    }
}

fn written(body: &impl Serialize) -> ApiResult<Box<RawValue>> {
    to_raw_value(body).map_err(|error| Problem::internal(format!("an answer cannot be written: {error}")))
}

impl IntoResponse for SuccessAnswer {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        let mut response = (status, json, String::from(Box::<str>::from(self.body))).into_response();
        if let Some(location) = self.location.and_then(|location| HeaderValue::try_from(location).ok()) {
            response.headers_mut().insert(header::LOCATION, location);
        }
        response
    }
}

/// A request that is done once for each key of its caller.
pub(crate) struct KeyedRequest {
    pub(crate) state: AppState,
    pub(crate) actor: Actor,
    pub(crate) asked: RequestInfo,
    /// The caller's key, when there is one.
    pub(crate) key: Option<String>,
}

impl FromRequestParts<AppState> for KeyedRequest {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Caller(actor) = Caller::from_request_parts(parts, state).await?;
        let asked = RequestInfo::from_request_parts(parts, state).await?;
        Ok(Self { state: state.clone(), actor, asked, key: key(&parts.headers)? })
    }
}

impl SuccessAnswer {
    /// What was made.
    ///
    /// # Errors
    /// When it is none of these.
    pub(crate) fn read<'a, T: Deserialize<'a>>(&'a self) -> ApiResult<T> {
        serde_json::from_str(self.body.get())
            .map_err(|error| Problem::internal(format!("an answer cannot be read: {error}")))
    }
}

impl KeyedRequest {
    /// Does the work, unless the same has been done before: with `said`, the body. It is done by the actor who is handed
    /// to it, of whom the engine knows which command this is.
    ///
    /// # Cancel safety
    /// With a key the work goes on when this is dropped, so that a caller who lost the connection and asks again gets
    /// the answer.
    pub(crate) async fn once<W, F>(&self, said: Bytes, work: W) -> ApiResult
    where
        W: FnOnce(Engine, Actor) -> F + Send + 'static,
        F: Future<Output = ApiResult<SuccessAnswer>> + Send,
    {
        let (made, again) = self.made(said, work).await?;
        let response = made.into_response();
        Ok(if again { replayed(response) } else { response })
    }

    /// The same, with what was made and whether that was done before, for whoever goes on with it.
    ///
    /// # Cancel safety
    /// As above.
    pub(crate) async fn made<W, F>(&self, said: Bytes, work: W) -> ApiResult<(SuccessAnswer, bool)>
    where
        W: FnOnce(Engine, Actor) -> F + Send + 'static,
        F: Future<Output = ApiResult<SuccessAnswer>> + Send,
    {
        match self.key.clone() {
            None => work(self.state.engine.clone(), self.actor.clone()).await.map(|made| (made, false)),
            // Boxed, so that who has no key does not carry it along.
            Some(key) => Box::pin(self.made_for_its_key(key, &said, work)).await,
        }
    }

    async fn made_for_its_key<W, F>(&self, key: String, said: &[u8], work: W) -> ApiResult<(SuccessAnswer, bool)>
    where
        W: FnOnce(Engine, Actor) -> F + Send + 'static,
        F: Future<Output = ApiResult<SuccessAnswer>> + Send,
    {
        let Self { state, actor, asked, .. } = self;
        let (principal, route) = (actor.principal().label(), format!("{} {}", asked.method, asked.route));
        let place = KeyOwner { tenant: actor.tenant(), principal, route, key };
        let fingerprint = fingerprint(&state.engine.keys().digest_key(actor.tenant()), &asked.path, said);
        let slot = KeySlot { state: state.clone(), scope: actor.scope(), place: place.clone() };
        let actor = actor.clone();
        // From the taking of the key on, so that a caller who leaves meanwhile leaves no key that nobody answers.
        let finish = async move {
            // Whoever is not the only one at work only looks whether there is an answer.
            let at_work = slot.state.commands.begin(place);
            let command = match slot.take(&fingerprint, at_work.is_some()).await? {
                Idempotent::Taken(command) => command,
                Idempotent::Unanswered => return Err(in_progress()),
                Idempotent::OtherBody => return Err(other_body()),
                Idempotent::Answered(_, sealed) => return slot.replay(&sealed).map(|made| (made, true)),
            };
            let made = work(slot.state.engine.clone(), actor.commanding(command)).await;
            match &made {
                Ok(made) => slot.answer(Some(made)).await,
                Err(problem) if wrote_nothing(problem.0.code(), command.is_repeated()) => slot.answer(None).await,
                // The next try goes on as the same command.
                Err(_) => {}
            }
            drop(at_work);
            made.map(|made| (made, false))
        };
        let made = state.background.spawn(finish.in_current_span()).await;
        made.map_err(|error| Problem::internal(format!("the work of a request panicked: {error}")))?
    }
}

/// Whether a failure says for certain that nothing was written. When an earlier try may have done it, a conflict may be
/// one with what that try has done.
fn wrote_nothing(code: ErrorCode, is_repeated: bool) -> bool {
    match code {
        ErrorCode::Conflict => !is_repeated,
        ErrorCode::Validation
        | ErrorCode::Unauthenticated
        | ErrorCode::PermissionDenied
        | ErrorCode::NotFound
        | ErrorCode::PayloadTooLarge
        | ErrorCode::Unprocessable
        | ErrorCode::RateLimited
        | ErrorCode::BudgetExceeded => true,
        ErrorCode::Timeout
        | ErrorCode::Model
        | ErrorCode::Tool
        | ErrorCode::Workflow
        | ErrorCode::Unavailable
        | ErrorCode::Internal => false,
    }
}

fn in_progress() -> Problem {
    let message = "a request with this Idempotency-Key is in progress, ask again in a moment";
    Error::new(ErrorCode::Conflict, message).retry_after(Millis::from_secs(1)).into()
}

fn other_body() -> Problem {
    let message = "this Idempotency-Key was used with another body, use a new key for another request";
    Error::new(ErrorCode::Conflict, message).into()
}

/// Whose key it is, and for what.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct KeyOwner {
    tenant: TenantId,
    principal: String,
    route: String,
    key: String,
}

/// The commands that this process carries out. Those of another process are no matter: whatever two tries make has the
/// same id.
#[derive(Debug, Default)]
pub(crate) struct Commands(Arc<Mutex<HashSet<KeyOwner>>>);

impl Commands {
    fn at_work(&self) -> MutexGuard<'_, HashSet<KeyOwner>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, place: KeyOwner) -> Option<AtWork> {
        let is_new = self.at_work().insert(place.clone());
        is_new.then(|| AtWork { commands: Self(Arc::clone(&self.0)), place })
    }
}

/// A command that is being carried out, until this is dropped.
struct AtWork {
    commands: Commands,
    place: KeyOwner,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.commands.at_work().remove(&self.place);
    }
}

/// A key in its place.
struct KeySlot {
    state: AppState,
    scope: TenantScope,
    place: KeyOwner,
}

impl KeySlot {
    fn place(&self) -> (&str, &str, &str) {
        (&self.place.principal, &self.place.route, &self.place.key)
    }

    fn purpose(&self) -> String {
        let KeyOwner { tenant, principal, route, key } = &self.place;
        format!("idempotency/{tenant}/{principal}/{route}/{key}")
    }

    async fn take(&self, fingerprint: &str, may_begin: bool) -> ApiResult<Idempotent> {
        let engine = &self.state.engine;
        let (seed, now) = (may_begin.then(|| engine.ids().next()), engine.clock().now());
        Ok(engine.store().take_key(self.scope, self.place(), fingerprint, seed, now).await?)
    }

    async fn answer(&self, made: Option<&SuccessAnswer>) {
        let engine = &self.state.engine;
        let kept = made.and_then(|made| {
            let plain = serde_json::to_vec(made).ok()?;
            Some((made.status, STANDARD.encode(engine.keys().seal(&self.purpose(), &plain))))
        });
        let answer = kept.as_ref().map(|(status, sealed)| (*status, sealed.as_str()));
        let now = engine.clock().now();
        if let Err(error) = engine.store().answer_key(self.scope, self.place(), answer, limits::KEY_LIFE, now).await {
            tracing::warn!(error.code = %error.code(), "the answer of an idempotent request was not kept");
        }
    }

    fn replay(&self, sealed: &str) -> ApiResult<SuccessAnswer> {
        let plain = STANDARD.decode(sealed).ok();
        let plain = plain.and_then(|sealed| self.state.engine.keys().open(&self.purpose(), &sealed));
        let made = plain.and_then(|plain| serde_json::from_slice::<SuccessAnswer>(&plain).ok());
        made.ok_or_else(|| {
            let message = "this Idempotency-Key was answered, and the answer can no longer be read";
            Problem::from(Error::new(ErrorCode::Conflict, message))
        })
    }
}

/// An answer that says of itself that it is a repeat.
pub(crate) fn replayed(mut response: Response) -> Response {
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

/// What a request asks, as a hash: the path, and the body without regard to spaces and the order of names. It is keyed,
/// because a body may hold little that is not known, such as a short secret, which a plain hash lets be guessed.
fn fingerprint(key: &DigestKey, path: &str, raw: &[u8]) -> String {
    let canonical = bounded::read(raw).ok().map(|value| bounded::canonical(&value));
    key.digest_of_bytes(&[path.as_bytes(), &[0], canonical.as_deref().unwrap_or(raw)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_cannot_be_guessed_from_its_fingerprint() {
        let print = |key: u8, body: &str| fingerprint(&DigestKey::new([key; 32]), "/api/secrets", body.as_bytes());
        let body = r#"{"name":"pin","value":"1234"}"#;
        assert_eq!(print(1, body), print(1, r#"{ "value": "1234", "name": "pin" }"#));
        assert_ne!(print(1, body), print(1, r#"{"name":"pin","value":"1235"}"#));
        assert_ne!(print(1, body), print(2, body), "without the key nobody can try values");
    }

    #[test]
    fn two_great_integers_are_two_requests() {
        let print = |account: u64| {
            fingerprint(&DigestKey::new([1; 32]), "/api/tasks", format!(r#"{{"account":{account}}}"#).as_bytes())
        };
        assert_ne!(print(9_007_199_254_740_992), print(9_007_199_254_740_993));
    }

    #[test]
    fn a_conflict_of_a_repeated_command_says_nothing_of_what_was_written() {
        assert!(wrote_nothing(ErrorCode::Conflict, false) && !wrote_nothing(ErrorCode::Conflict, true));
        assert!(wrote_nothing(ErrorCode::Validation, true) && !wrote_nothing(ErrorCode::Unavailable, false));
    }
}
