//! What users want to be answered like.

use kybern_core::id::UserId;
use kybern_core::preference::Preferences;
use serde::Serialize;
use utoipa::ToSchema;

/// A user's preferences.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Preferences)]
pub struct PreferencesAnswer {
    /// Whose.
    pub user_id: UserId,
    /// What they are.
    #[serde(flatten)]
    pub said: Preferences,
}
