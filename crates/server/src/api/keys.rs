//! API keys: shown once, revoked at once.

use axum::Json;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use kybern_core::actor::{Right, Role};
use kybern_core::error::Detail;
use kybern_core::id::{KeyId, UserId};
use kybern_core::time::Timestamp;
use kybern_engine::identity::{NewKey, Revoke};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, check_text};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::identity::{KeyPage, NewKeySchema, RevokedSchema};
use crate::schema::words::ScopeSchema;

/// What a key can be narrowed to.
const SCOPES: [&str; 6] = [
    Right::Read.as_str(),
    Right::Operate.as_str(),
    Right::Review.as_str(),
    Right::Administer.as_str(),
    Right::Platform.as_str(),
    "*",
];

/// A new key.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewKey, example = json!({"name": "nightly import", "scopes": ["read", "operate"]}))]
pub(crate) struct NewKeyBody {
    /// What it is for.
    #[schema(max_length = 200, pattern = "\\S")]
    name: String,
    /// Whose it is; the caller's when not given.
    #[serde(alias = "user_id")]
    #[schema(value_type = Option<String>, format = "uuid")]
    user_id: Option<UserId>,
    /// Roles it is limited to; its user's when empty.
    #[serde(default)]
    roles: Vec<Role>,
    /// Rights it is narrowed to; all when empty.
    #[serde(default)]
    #[schema(value_type = Vec<ScopeSchema>)]
    scopes: Vec<String>,
    /// When it ends; never when not given. Where the key it is made with ends earlier, it ends with that one.
    #[serde(alias = "expires_at")]
    #[schema(value_type = Option<String>, format = "date-time")]
    expires_at: Option<Timestamp>,
}

impl NewKeyBody {
    fn checked(self, now: Timestamp) -> ApiResult<NewKey> {
        let mut faults = Vec::new();
        if self.name.trim().is_empty() {
            faults.push(Detail::new("/name", "name is empty, say what the key is for"));
        }
        faults.extend(check_text("/name", &self.name, 200));
        for (n, scope) in self.scopes.iter().enumerate().filter(|(_, scope)| !SCOPES.contains(&scope.as_str())) {
            let shown: String = scope.chars().take(64).collect();
            let message = format!("scope {shown:?} is none of {}", SCOPES.join(", "));
            faults.push(Detail::new(format!("/scopes/{n}"), message));
        }
        if self.expires_at.is_some_and(|end| end <= now) {
            faults.push(Detail::new("/expiresAt", "expiresAt is not in the future"));
        }
        Problem::refuse(faults)?;
        Ok(NewKey {
            name: self.name,
            user_id: self.user_id,
            roles: self.roles,
            scopes: self.scopes,
            expires_at: self.expires_at,
        })
    }
}

/// Create a key
///
/// The answer is the only place where the key itself is shown.
#[utoipa::path(post, path = "/api/keys", operation_id = "create_key",
    request_body = NewKeyBody,
    responses((status = 201, description = "The key", body = NewKeySchema)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewKeyBody>) -> ApiResult {
    let new = body.value.checked(attempt.state.engine.clock().now())?;
    attempt
        .once(body.raw, move |engine, actor| async move {
            let (stored, secret) = engine.identity().create_key(&actor, new).await?;
            let mut shown = shown(&stored)?;
            shown["key"] = Value::String(secret);
            SuccessAnswer::created("/api/keys", &stored.id, &shown)
        })
        .await
}

/// List keys
#[utoipa::path(get, path = "/api/keys", operation_id = "list_keys",
    params(PageParams),
    responses((status = 200, description = "A page of keys, oldest first, without the keys themselves", body = KeyPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let keys = state.engine.identity().keys(actor.scope()).await?;
    paging.cut(keys, |key| key.id.to_string(), |key| key)
}

/// Revoke a key
///
/// Once this is answered every process on the same database refuses it, and so it does the keys that were made with it,
/// with those, and so on, in every organisation: the answer lists those of this one. Ask with `cascade=false` to be told
/// of them first, of those in other organisations how many there are. The last working key of a platform admin that no scope narrows is refused with 409 but with `force=true`,
/// because after it only `kybern key recover`, or another `KYBERN_ADMIN_KEY` at the next start, makes another.
#[utoipa::path(delete, path = "/api/keys/{id}", operation_id = "revoke_key",
    params(
        ("id" = String, Path, format = "uuid", description = "The key's id"),
        ("cascade" = Option<bool>, Query, description = "`false`: when keys were made with it, 409 lists them, \
            counts those of other organisations, and nothing is revoked. `true`: also when your own is among them; that is refused when this is not given"),
        ("force" = Option<bool>, Query, description = "`true`: also the last working key of a \
            platform admin with all rights"),
    ),
    responses(
        (status = 200, description = "Revoked, and these keys with it", body = RevokedSchema),
        (status = 204, description = "Revoked, and no other key of this organisation with it"),
    ))]
pub(crate) async fn revoke(CallerRequest { state, actor, path, query }: CallerRequest) -> ApiResult {
    let id: KeyId = path.parse("id")?;
    let query = query.only(&["cascade", "force"])?;
    let how = Revoke { cascade: query.flag("cascade")?, force: query.flag("force")?.unwrap_or_default() };
    let fell = state.engine.identity().revoke_key(&actor, id, how).await?;
    if fell.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(Json(json!({"revokedWith": fell})).into_response())
}
