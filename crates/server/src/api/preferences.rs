//! What users want to be answered like.

use axum::Json;
use axum::http::StatusCode;
use kybern_core::error::Detail;
use kybern_core::preference::{Formality, MAX_NAME, MAX_TEXT, Preferences, Profile, ResponseLength};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::api::shown;
use crate::error::{ApiResult, Problem};
use crate::extract::{CallerRequest, JsonBody, check_text, members};
use crate::schema::preference::PreferencesAnswer;
use crate::schema::texts::PreferenceTextSchema;

/// A user's preferences, all of them: what is left out is as if it had never been said.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
#[schema(as = SetPreferences, example = json!({"responseLength": "concise", "formality": "neutral",
    "customInstructions": ["Use metric units."], "profile": {"name": "Ada", "interests": ["logistics"]}}))]
pub(crate) struct PreferencesBody {
    /// How long answers are.
    #[serde(default, alias = "response_length")]
    response_length: ResponseLength,
    /// How they sound.
    #[serde(default)]
    formality: Formality,
    /// What the user always wants: at most 50 texts of at most 500 characters, 4,000 together.
    #[serde(default, alias = "custom_instructions")]
    #[schema(value_type = Vec<PreferenceTextSchema>, max_items = 50)]
    custom_instructions: Vec<String>,
    /// What the user tells about themselves.
    #[serde(default, deserialize_with = "members")]
    profile: ProfileBody,
    /// Not a preference. It is read so that whoever sends it is told where it belongs.
    #[serde(alias = "autonomyLevel", alias = "autonomy_level")]
    #[schema(ignore)]
    autonomy: Option<Value>,
}

/// What a user tells about themselves: each list at most 50 texts of at most 500 characters, 4,000 together.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object", default)]
#[schema(as = SetProfile)]
pub(crate) struct ProfileBody {
    /// What they want to be called.
    #[schema(max_length = 80)]
    name: Option<String>,
    /// What they care about.
    #[schema(value_type = Vec<PreferenceTextSchema>, max_items = 50)]
    interests: Vec<String>,
    /// What they want to reach.
    #[schema(value_type = Vec<PreferenceTextSchema>, max_items = 50)]
    goals: Vec<String>,
    /// Anything else.
    #[schema(value_type = Vec<PreferenceTextSchema>, max_items = 50)]
    facts: Vec<String>,
}

impl PreferencesBody {
    fn read(self) -> ApiResult<Preferences> {
        let mut faults = Vec::new();
        if self.autonomy.is_some() {
            let message = "how much happens without a yes is no preference: an administrator sets it with \
                PUT /api/users/{id}/permissions";
            faults.push(Detail::new("/autonomy", message));
        }
        let ProfileBody { name, interests, goals, facts } = self.profile;
        faults.extend(name.as_ref().and_then(|name| check_text("/profile/name", name, MAX_NAME)));
        for (path, list) in [
            ("/customInstructions", &self.custom_instructions),
            ("/profile/interests", &interests),
            ("/profile/goals", &goals),
            ("/profile/facts", &facts),
        ] {
            let texts = list.iter().enumerate();
            faults.extend(texts.filter_map(|(n, text)| check_text(&format!("{path}/{n}"), text, MAX_TEXT)));
        }
        Problem::refuse(faults)?;
        Ok(Preferences {
            response_length: self.response_length,
            formality: self.formality,
            custom_instructions: self.custom_instructions,
            profile: Profile { name, interests, goals, facts },
            updated_at: None,
        })
    }
}

/// Show preferences
///
/// The caller's own; an administrator may read those of others.
#[utoipa::path(get, path = "/api/preferences", operation_id = "show_preferences",
    params(("userId" = Option<String>, Query, format = "uuid", description = "Whose; the caller's own when not given")),
    responses((status = 200, description = "The preferences", body = PreferencesAnswer)))]
pub(crate) async fn show(CallerRequest { state, actor, query, .. }: CallerRequest) -> ApiResult<Json<Value>> {
    let of = query.only(&["userId"])?.id("userId")?;
    let (user_id, said) = state.engine.preferences().shown(&actor, of).await?;
    shown(&PreferencesAnswer { user_id, said: Preferences::clone(&said) }).map(Json)
}

/// Set the caller's preferences
///
/// In place of those before. They are wishes: a model is told them below the server's rules and an operator's prompt,
/// and they give no right.
#[utoipa::path(put, path = "/api/preferences", operation_id = "set_preferences",
    request_body = PreferencesBody,
    responses((status = 200, description = "The preferences", body = PreferencesAnswer)))]
pub(crate) async fn set(
    CallerRequest { state, actor, .. }: CallerRequest,
    body: JsonBody<PreferencesBody>,
) -> ApiResult<Json<Value>> {
    let (user_id, said) = state.engine.preferences().set(&actor, body.value.read()?).await?;
    shown(&PreferencesAnswer { user_id, said: Preferences::clone(&said) }).map(Json)
}

/// Take the caller's preferences back
#[utoipa::path(delete, path = "/api/preferences", operation_id = "remove_preferences",
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(CallerRequest { state, actor, .. }: CallerRequest) -> ApiResult<StatusCode> {
    state.engine.preferences().forget(&actor).await?;
    Ok(StatusCode::NO_CONTENT)
}
