//! Who is it? A bearer key, or the signature of a configured source, becomes an actor. Actors themselves are made by
//! the engine.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use kybern_core::actor::{Actor, Right};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::TenantId;
use kybern_core::policy::webhook::{self, WebhookHeaders};

use crate::answers::AnswerBudget;
use crate::error::{ApiResult, Problem};
use crate::extract::no_query;
use crate::request::RequestInfo;
use crate::router::{Access, Query};
use crate::standing::KeyStanding;
use crate::state::{AppState, InboundSource};

const TENANT: HeaderName = HeaderName::from_static("x-tenant-id");
const REASON: HeaderName = HeaderName::from_static("x-sudo-reason");

/// The layer of each route. Behind one that asks for a right, a handler has a [`Caller`]; behind one that takes no
/// parameters of the query, there are none.
pub(crate) async fn guard(
    State((state, access, query)): State<(AppState, Access, Query)>,
    mut request: Request,
    next: Next,
) -> Response {
    let refused = match query {
        Query::None => no_query(request.uri()).err(),
        Query::Own | Query::Any => None,
    };
    let Access::Needs(right) = access else {
        return match refused {
            Some(problem) => problem.into_response(),
            None => next.run(request).await,
        };
    };
    let Some(asked) = request.extensions().get::<RequestInfo>().cloned() else {
        return Problem::internal("a route without its request layer").into_response();
    };
    let actor = match authenticate(&state, request.headers(), &asked).await {
        Ok(actor) => actor,
        Err(problem) => return problem.into_response(),
    };
    if let Err(problem) = demand(&actor, right) {
        return problem.into_response();
    }
    // Like any other input, it is looked at once the caller may.
    if let Some(problem) = refused {
        return problem.into_response();
    }
    let room = match AnswerBudget::of(&state, actor.tenant(), request.method()) {
        Ok(room) => room,
        Err(error) => return Problem::from(error).into_response(),
    };
    let standing = KeyStanding::of(&state, request.headers(), &actor);
    request.extensions_mut().insert(Caller(actor));
    let Some(standing) = standing else { return room.hold(next.run(request).await) };
    match standing.clone().keep(next.run(request)).await {
        Ok(response) => room.hold(standing.bound(&asked.path, response)),
        Err(problem) => problem.into_response(),
    }
}

/// The authenticated caller of a guarded route.
#[derive(Clone)]
pub(crate) struct Caller(pub(crate) Actor);

impl FromRequestParts<AppState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &AppState) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| Problem::internal("a route without its guard"))
    }
}

/// Authenticates the key of a request, and carries out a platform admin's crossing into another tenant. An address that
/// sends many wrong keys is braked.
pub(crate) async fn authenticate(state: &AppState, headers: &HeaderMap, asked: &RequestInfo) -> ApiResult<Actor> {
    let bearer = bearer(headers)?;
    let Some(peer) = asked.peer else { return prove(state, headers, bearer, asked).await };
    let client = || state.limits.proxies.client(peer, headers);
    if state.brake.is_on() {
        state.brake.check(client(), bearer, asked.at)?;
    }
    let proven = prove(state, headers, bearer, asked).await;
    match &proven {
        Ok(_) if state.brake.is_on() => state.brake.right(client(), bearer, asked.at),
        Err(problem) if problem.0.code() == ErrorCode::Unauthenticated => state.brake.wrong(client(), asked.at),
        Ok(_) | Err(_) => {}
    }
    proven
}

/// Who comes with a key that may read: what is open to everybody shows them more.
///
/// # Errors
/// When a key came, and nobody can say now whose it is.
pub(crate) async fn reader(state: &AppState, headers: &HeaderMap, asked: &RequestInfo) -> ApiResult<Option<Actor>> {
    if !has_key(headers) {
        return Ok(None);
    }
    match authenticate(state, headers, asked).await {
        Ok(actor) => Ok(Some(actor).filter(|actor| actor.may(Right::Read))),
        Err(problem) if problem.0.code() == ErrorCode::Unavailable => Err(problem),
        Err(_no_key_of_ours) => Ok(None),
    }
}

async fn prove(state: &AppState, headers: &HeaderMap, bearer: &str, asked: &RequestInfo) -> ApiResult<Actor> {
    let actor = match tenant(headers)? {
        None if state.is_local(bearer) => state.engine.identity().local_actor(asked.id).await?,
        None => state.engine.identity().authenticate(bearer, asked.id, None).await?,
        Some(tenant) => {
            let reason = headers.get(REASON).and_then(|value| value.to_str().ok()).unwrap_or_default();
            state.engine.identity().authenticate(bearer, asked.id, Some((tenant, reason))).await?
        }
    };
    tracing::Span::current().record("tenant.id", tracing::field::display(actor.tenant()));
    Ok(actor)
}

/// The actor of a configured source whose signature has just held.
pub(crate) fn source_actor(state: &AppState, source: &str, configured: &InboundSource, asked: &RequestInfo) -> Actor {
    tracing::Span::current().record("tenant.id", tracing::field::display(configured.tenant));
    state.engine.identity().channel_actor(configured.tenant, &format!("webhook/{source}"), asked.id)
}

/// Refuses an actor without the right.
pub(crate) fn demand(actor: &Actor, right: Right) -> ApiResult<()> {
    if actor.may(right) {
        return Ok(());
    }
    let message = format!("this key does not hold the right {:?} that this route asks for", right.as_str());
    Err(Error::new(ErrorCode::PermissionDenied, message).into())
}

/// A caller who proved nothing.
pub(crate) fn unauthenticated(message: impl Into<String>) -> Problem {
    Error::new(ErrorCode::Unauthenticated, message).into()
}

/// Whether the request says that it is signed.
pub(crate) fn is_signed(headers: &HeaderMap) -> bool {
    headers.contains_key(webhook::SIGNATURE_HEADER)
}

/// The three headers of a signature.
pub(crate) fn signature(headers: &HeaderMap) -> ApiResult<WebhookHeaders<'_>> {
    let get = |name: &'static str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.ok_or_else(|| unauthenticated(format!("a signed request needs the header {name}")))
    };
    Ok(WebhookHeaders {
        id: get(webhook::ID_HEADER)?,
        timestamp: get(webhook::TIMESTAMP_HEADER)?,
        signature: get(webhook::SIGNATURE_HEADER)?,
    })
}

/// Whether an `Authorization` header is there at all.
pub(crate) fn has_key(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION)
}

pub(crate) fn bearer(headers: &HeaderMap) -> ApiResult<&str> {
    let missing = || unauthenticated("send the header Authorization: Bearer <api key>");
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    let (first, second) = (sent.next(), sent.next());
    // Whoever stands between may have looked at either.
    if second.is_some() {
        return Err(unauthenticated(
            "send one header Authorization: there are several, and which one counts is unclear",
        ));
    }
    let value = first.and_then(|value| value.to_str().ok()).ok_or_else(missing)?;
    let (scheme, key) = value.trim().split_once(' ').ok_or_else(missing)?;
    let key = key.trim();
    if scheme.eq_ignore_ascii_case("bearer") && !key.is_empty() { Ok(key) } else { Err(missing()) }
}

fn tenant(headers: &HeaderMap) -> ApiResult<Option<TenantId>> {
    let Some(value) = headers.get(TENANT) else { return Ok(None) };
    let parsed = value.to_str().unwrap_or_default().trim().parse::<TenantId>();
    parsed.map(Some).map_err(|error| Problem::invalid("", format!("header X-Tenant-Id: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn with(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn only_a_bearer_key_is_read() {
        let read = |value| bearer(&with(header::AUTHORIZATION, value)).map(str::to_owned).ok();
        assert_eq!(read("Bearer kyb_a").as_deref(), Some("kyb_a"));
        assert_eq!(read("bearer  kyb_a ").as_deref(), Some("kyb_a"));
        for bad in ["", "Bearer", "Bearer ", "Basic a2V5", "kyb_a"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn of_several_keys_none_counts() {
        let mut headers = with(header::AUTHORIZATION, "Bearer kyb_a");
        headers.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer kyb_a"));
        let problem = bearer(&headers).unwrap_err();
        assert_eq!(problem.0.code(), ErrorCode::Unauthenticated);
        assert!(problem.0.to_string().contains("there are several"), "{}", problem.0);
    }

    #[test]
    fn a_tenant_that_is_no_id_is_named() {
        let problem = tenant(&with(TENANT, "acme")).unwrap_err();
        assert_eq!(problem.0.to_string(), "header X-Tenant-Id: \"acme\" is not a valid tenant id, expected a UUID");
    }
}
