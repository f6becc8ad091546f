//! Users and their roles.

use axum::Json;
use kybern_core::actor::{Actor, Role};
use kybern_core::error::{Detail, Error};
use kybern_core::id::UserId;
use kybern_core::identity::User;
use kybern_engine::identity::NewUser;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, check_text};
use crate::idempotency::{KeyedRequest, SuccessAnswer};
use crate::page::{PageParams, Paging};
use crate::schema::identity::UserPage;
use crate::state::AppState;

/// A new user.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = NewUser, example = json!({"name": "Ada Park", "email": "ada.park@example.com", "roles": ["viewer"],
    "timezone": "Europe/Berlin"}))]
pub(crate) struct NewUserBody {
    /// Their name, in one line.
    #[schema(max_length = 200, pattern = "\\S")]
    name: String,
    /// Their address, unique in the tenant.
    #[schema(max_length = 254, pattern = r"^[^@\s]+@[^@\s]+$")]
    email: String,
    /// Their roles; without any they may do nothing.
    #[serde(default)]
    roles: Vec<Role>,
    /// Their IANA time zone; UTC when not given.
    #[schema(max_length = 100)]
    timezone: Option<String>,
}

impl NewUserBody {
    fn checked(self) -> ApiResult<NewUser> {
        let mut faults = Vec::new();
        if self.name.trim().is_empty() {
            faults.push(Detail::new("/name", "name is empty"));
        }
        faults.extend(check_text("/name", &self.name, 200));
        let well_formed = self.email.split_once('@').is_some_and(|(local, domain)| {
            !local.is_empty()
                && !domain.is_empty()
                && !domain.contains('@')
                && !self.email.contains(char::is_whitespace)
        });
        if !well_formed {
            faults.push(Detail::new(
                "/email",
                format!("email {:?} is not an address: a name, an @ and a host", self.email),
            ));
        }
        faults.extend(check_text("/email", &self.email, 254));
        faults.extend(check_text("/timezone", self.timezone.as_deref().unwrap_or_default(), 100));
        Problem::refuse(faults)?;
        Ok(NewUser {
            name: self.name,
            email: self.email,
            roles: self.roles,
            timezone: self.timezone.unwrap_or_default(),
        })
    }
}

/// Create a user
#[utoipa::path(post, path = "/api/users", operation_id = "create_user",
    request_body = NewUserBody,
    responses((status = 201, description = "The user", body = User)))]
pub(crate) async fn create(attempt: KeyedRequest, body: JsonBody<NewUserBody>) -> ApiResult {
    let user = body.value.checked()?;
    attempt
        .once(body.raw, move |engine, actor| async move {
            let user = engine.identity().create_user(&actor, user).await?;
            SuccessAnswer::created("/api/users", &user.id, &user)
        })
        .await
}

/// List users
#[utoipa::path(get, path = "/api/users", operation_id = "list_users",
    params(PageParams),
    responses((status = 200, description = "A page of users, oldest first", body = UserPage)))]
pub(crate) async fn list(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let paging = Paging::read(query, &[])?;
    let users = state.engine.identity().users(actor.scope()).await?;
    paging.cut(users, |user| user.id.to_string(), |user| user)
}

/// Show a user
#[utoipa::path(get, path = "/api/users/{id}", operation_id = "show_user",
    params(("id" = String, Path, format = "uuid", description = "The user")),
    responses((status = 200, description = "The user", body = User)))]
pub(crate) async fn show(CallerRequest { state, actor, path, .. }: CallerRequest) -> ApiResult<Json<User>> {
    Ok(Json(find(&state, &actor, path.parse("id")?).await?))
}

async fn find(state: &AppState, actor: &Actor, id: UserId) -> ApiResult<User> {
    let user = state.engine.store().user(actor.scope(), id).await?;
    user.ok_or_else(|| Error::not_found("user", id).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_a_user_is_named() {
        let body = |name: &str, email: &str| NewUserBody {
            name: name.to_owned(),
            email: email.to_owned(),
            roles: Vec::new(),
            timezone: None,
        };
        assert!(body("Ada", "ada@example.com").checked().is_ok());
        let problem = body(" ", "ada").checked().unwrap_err();
        assert_eq!(problem.0.details().len(), 2);
        for bad in ["", "@", "a@", "@b", "a b@c", "a@b@c"] {
            assert!(body("Ada", bad).checked().is_err(), "{bad:?}");
        }
    }
}
