//! What users want to be answered like, and what they have told about themselves.

use std::sync::Arc;

use kybern_core::actor::{Actor, Right};
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::UserId;
use kybern_core::ports::{Clock, IdentityStore, PreferenceStore};
use kybern_core::preference::Preferences;
use kybern_core::tenant::TenantScope;
use serde_json::json;

/// Whose preferences an actor speaks of when nobody is named.
fn self_of(actor: &Actor) -> Result<UserId> {
    let message = "preferences belong to users: use a user's key";
    actor.user().ok_or_else(|| Error::new(ErrorCode::PermissionDenied, message))
}

/// What users want to be answered like.
#[derive(Clone)]
pub struct PreferenceService {
    pub(crate) store: Arc<dyn PreferenceStore>,
    pub(crate) users: Arc<dyn IdentityStore>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl PreferenceService {
    /// A user's preferences, the default ones of who has said nothing. Answered from memory while nothing changes.
    pub async fn of(&self, scope: TenantScope, user: UserId) -> Result<Arc<Preferences>> {
        self.store.preferences(scope, user).await
    }

    /// The actor's own preferences, or those of another user, which only an administrator may read.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`; `NOT_FOUND` for an unknown user.
    pub async fn shown(&self, actor: &Actor, of: Option<UserId>) -> Result<(UserId, Arc<Preferences>)> {
        let user = match of {
            Some(user) if actor.user() != Some(user) => {
                if !actor.may(Right::Administer) {
                    let message = "only an administrator reads the preferences of others";
                    return Err(Error::new(ErrorCode::PermissionDenied, message));
                }
                user
            }
            Some(user) => user,
            None => self_of(actor)?,
        };
        self.users.user_to_keep(actor.scope(), user, actor.user()).await?;
        Ok((user, self.of(actor.scope(), user).await?))
    }

    /// Writes the actor's own preferences in place of those before. They hold from the next turn on.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with every fault; `PERMISSION_DENIED` for somebody who is no user; `NOT_FOUND` in a tenant that
    /// is not the user's own.
    pub async fn set(&self, actor: &Actor, said: Preferences) -> Result<(UserId, Arc<Preferences>)> {
        let (user, said) = (self_of(actor)?, said.trimmed());
        let faults = said.faults();
        if let Some(first) = faults.first() {
            return Err(Error::new(ErrorCode::Validation, first.message.clone()).with_details(faults));
        }
        // What users tell about themselves is theirs: the audit has counts only.
        let profile = &said.profile;
        let detail = json!({
            "responseLength": said.response_length,
            "formality": said.formality,
            "customInstructions": said.custom_instructions.len(),
            "profile": profile.interests.len() + profile.goals.len() + profile.facts.len(),
        });
        self.put_preferences(actor, user, Some(&said), "preferences.set", detail).await?;
        Ok((user, self.of(actor.scope(), user).await?))
    }

    /// Takes the actor's own preferences back.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for somebody who is no user; `NOT_FOUND` in a tenant that is not the user's own.
    pub async fn forget(&self, actor: &Actor) -> Result<()> {
        self.put_preferences(actor, self_of(actor)?, None, "preferences.delete", json!({})).await
    }

    async fn put_preferences(
        &self,
        actor: &Actor,
        user: UserId,
        said: Option<&Preferences>,
        action: &str,
        detail: serde_json::Value,
    ) -> Result<()> {
        self.users.user_to_keep(actor.scope(), user, actor.user()).await?;
        let event = AuditEvent::by(actor, action, format!("user:{user}"), detail);
        self.store.set_preferences(actor.scope(), user, said, self.clock.now(), event).await
    }
}
