//! What users want to be answered like.

use utoipa::ToSchema;

use super::words::{FormalitySchema, ResponseLengthSchema};
/// A user's preferences.
#[derive(ToSchema)]
#[schema(as = Preferences, rename_all = "camelCase")]
pub struct PreferencesSchema {
    /// Whose.
    #[schema(format = "uuid")]
    pub user_id: String,
    /// How long answers are.
    pub response_length: ResponseLengthSchema,
    /// How they sound.
    pub formality: FormalitySchema,
    /// What they always want.
    pub custom_instructions: Vec<String>,
    /// What they have told about themselves.
    pub profile: ProfileSchema,
    /// When they were set last; null when never.
    #[schema(required, format = "date-time")]
    pub updated_at: Option<String>,
}

/// What a user has told about themselves.
#[derive(ToSchema)]
#[schema(as = Profile)]
pub struct ProfileSchema {
    /// What they want to be called.
    #[schema(required)]
    pub name: Option<String>,
    /// What they care about.
    pub interests: Vec<String>,
    /// What they want to reach.
    pub goals: Vec<String>,
    /// Anything else.
    pub facts: Vec<String>,
}
