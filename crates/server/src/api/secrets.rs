//! Secrets: written, listed by name, removed. No route gives a value back.

use axum::Json;
use axum::http::StatusCode;
use bytes::Bytes;
use kybern_core::error::{Detail, Error};
use kybern_core::secret::{HostRule, MAX_DESCRIPTION, MAX_HOSTS, Secret, SecretName, SecretValue};
use kybern_engine::secret::NewSecret;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, PathArgs, check_text};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::secret::SecretPage;
use crate::schema::texts::SecretHostSchema;
use crate::state::AppState;

/// A secret, or its next version.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewSecret, example = json!({"name": "crm_token", "value": "example-value-0123", "hosts": ["api.example.com"]}))]
pub(crate) struct NewSecretBody {
    /// A small letter, then up to 62 small letters, digits and underscores.
    #[schema(pattern = "^[a-z][a-z0-9_]{0,62}$")]
    name: String,
    /// 8 bytes to 64 KiB. Never shown again.
    #[schema(value_type = String, write_only, max_length = 65_536)]
    value: SecretValue,
    /// Where it may be sent: `api.example.com`, `*.example.com`, `host:port`; `http://host:port` for plain HTTP.
    #[schema(value_type = Vec<SecretHostSchema>, min_items = 1, max_items = 20)]
    hosts: Vec<String>,
    /// What it is for.
    #[serde(default)]
    #[schema(max_length = 500)]
    description: String,
}

impl NewSecretBody {
    fn check(self) -> Result<NewSecret, Problem> {
        let mut faults: Vec<Detail> =
            check_text("/description", &self.description, MAX_DESCRIPTION).into_iter().collect();
        let name: Option<SecretName> =
            self.name.parse().map_err(|error| faults.push(Detail::new("/name", format!("{error}")))).ok();
        if let Err(problem) = self.value.check() {
            faults.push(Detail::new("/value", problem));
        }
        if self.hosts.len() > MAX_HOSTS {
            faults.push(Detail::new("/hosts", format!("name 1 to {MAX_HOSTS} hosts to which the secret may be sent")));
        }
        let mut hosts: Vec<HostRule> = Vec::new();
        for (n, host) in self.hosts.iter().enumerate() {
            match host.parse() {
                Ok(host) if hosts.contains(&host) => {}
                Ok(host) => hosts.push(host),
                Err(problem) => faults.push(Detail::new(format!("/hosts/{n}"), problem)),
            }
        }
        Problem::refuse(faults)?;
        let name = name.ok_or_else(|| Problem::internal("a fault was lost"))?;
        Ok(NewSecret { name, value: self.value, hosts, description: self.description })
    }
}

/// What is compared of two requests under one idempotency key: all of them, the value by its keyed hash, so that
/// nothing that is kept tells anything of it.
fn said(state: &AppState, new: &NewSecret) -> Bytes {
    let value = state.engine.keys().api_key_hash(new.value.expose());
    let said = json!({"name": new.name, "value": value, "hosts": new.hosts, "description": new.description});
    said.to_string().into()
}

/// Write a secret
///
/// A new one, or the next version of the one with that name: the old value is gone. The value is sealed and never
/// shown; tools name it, and it goes to its hosts only.
#[utoipa::path(post, path = "/api/secrets", operation_id = "set_secret",
    request_body = NewSecretBody,
    responses((status = 201, description = "What is known of it", body = Secret)))]
pub(crate) async fn set(attempt: KeyedRequest, body: JsonBody<NewSecretBody>) -> ApiResult {
    let new = body.value.check()?;
    let said = said(&attempt.state, &new);
    attempt
        .once(said, move |engine, actor| async move {
            let secret = engine.secrets().set(&actor, new).await?;
            SuccessAnswer::created("/api/secrets", &secret.name, &secret)
        })
        .await
}

/// List secrets
#[utoipa::path(get, path = "/api/secrets", operation_id = "list_secrets",
    params(PageParams),
    responses((status = 200, description = "A page of secrets, by name", body = SecretPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let secrets = state.engine.secrets().list(actor.scope()).await?;
    paging.cut(secrets, |secret| secret.name.to_string(), |secret| secret)
}

/// Show a secret
///
/// All but its value.
#[utoipa::path(get, path = "/api/secrets/{name}", operation_id = "show_secret",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "What is known of it", body = Secret)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let name = named(&path)?;
    Ok(Json(shown(&state.engine.secrets().get(actor.scope(), &name).await?)?))
}

/// Remove a secret
///
/// Calls of tools that name it fail from now on.
#[utoipa::path(delete, path = "/api/secrets/{name}", operation_id = "delete_secret",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<StatusCode> {
    let name = named(&path)?;
    state.engine.secrets().delete(&actor, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The secret of the path. What can be no name is the name of none.
fn named(path: &PathArgs) -> ApiResult<SecretName> {
    let text = path.text("name")?;
    Ok(text.parse().map_err(|_| Error::not_found("secret", text))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_refused_place_by_place_and_never_repeated() {
        let read = |body: Value| serde_json::from_value::<NewSecretBody>(body).unwrap().check();
        let good =
            json!({"name": "crm_token", "value": "example-value", "hosts": ["api.example.com", "API.example.com"]});
        assert_eq!(read(good).map(|new| new.hosts.len()).ok(), Some(1), "the same host counts once");
        let bad =
            json!({"name": "CRM", "value": "short", "hosts": ["*.com", "b.example.com", "a b"], "description": ""});
        let problem = format!("{:?}", read(bad).err());
        for place in ["/name", "/value", "/hosts/0", "/hosts/2"] {
            assert!(problem.contains(place), "{place}: {problem}");
        }
        assert!(!problem.contains("short"), "{problem}");
    }
}
