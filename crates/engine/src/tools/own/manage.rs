//! Who writes own tools, who approves them, and which version of each is in use.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::id::{OwnToolId, UserId};
use kybern_core::identity::AccountMakers;
use kybern_core::ports::{Clock, IdSource, IdentityStore, OwnToolStore, Page};
use kybern_core::tenant::TenantScope;
use kybern_core::tool::own::{
    NewOwnTool, OwnDefinition, OwnTool, OwnToolAct, OwnToolChange, OwnToolFilter, OwnToolStatus,
};
use serde_json::{Value, json};

use super::check;
use crate::command::{id_for, once};
use crate::tools::ToolCatalogue;

/// Versions that are read at once when one of them is looked for.
const AT_ONCE: u32 = 20;

/// Who it is that writes or approves: a person answers for it, so a channel or a workflow does neither.
fn author(actor: &Actor) -> Result<UserId> {
    let message = "tools are written and approved by users: use a user's key";
    actor.user().ok_or_else(|| Error::new(ErrorCode::PermissionDenied, message))
}

fn event(actor: &Actor, action: &'static str, key: &str, detail: Value) -> AuditEvent {
    AuditEvent::by(actor, action, format!("tool:{key}"), detail)
}

/// What the audit says of a version: which it was, never what it says.
fn named(definition: &OwnDefinition, version: Option<u32>) -> Value {
    let mut named = json!({"key": definition.key, "hash": definition.hash()});
    if let Some(version) = version {
        named["version"] = json!(version);
    }
    named
}

/// The HTTP tools that tenants have written.
#[derive(Clone)]
pub struct OwnTools {
    pub(crate) store: Arc<dyn OwnToolStore>,
    pub(crate) users: Arc<dyn IdentityStore>,
    pub(crate) catalogue: Arc<ToolCatalogue>,
    pub(crate) self_approval: bool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl OwnTools {
    /// Writes down a tool, or the next version of one. It cannot be called before it is active.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` with every fault, also for a key in a domain of the server's own; `PERMISSION_DENIED` for
    /// somebody who is no user; `UNPROCESSABLE` when the tool has as many versions as are kept.
    pub async fn draft(&self, actor: &Actor, definition: OwnDefinition) -> Result<OwnTool> {
        let mut faults = check::faults(&definition);
        let domain = definition.domain();
        if !domain.is_empty() && self.catalogue.bundled().is_bundled_domain(domain) {
            let message = format!("{domain} is a domain of the server's own tools: give the tool another one");
            faults.push(Detail::new("/key", message));
        }
        if !faults.is_empty() {
            return Err(Error::new(ErrorCode::Validation, "the tool is not usable").with_details(faults));
        }
        let (id, at) = (OwnToolId::from_uuid(id_for(self.ids.as_ref(), actor, "own tool")), self.clock.now());
        let new = NewOwnTool { id, definition, by: author(actor)?, at };
        // The store adds the number that it gives.
        let audit = event(actor, "own_tool.draft", &new.definition.key, named(&new.definition, None));
        let store = &self.store;
        once(actor, || store.own_tool(actor.scope(), id), store.draft_own_tool(actor.scope(), &new, audit)).await
    }

    /// A page of versions, the newest first.
    pub async fn list(
        &self,
        scope: TenantScope,
        filter: &OwnToolFilter,
        after: Option<OwnToolId>,
        limit: u32,
    ) -> Result<Page<OwnTool>> {
        self.store.own_tools(scope, filter, after, limit).await
    }

    /// One version.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, id: OwnToolId) -> Result<OwnTool> {
        self.store.own_tool(scope, id).await?.ok_or_else(|| Error::not_found("own tool", id))
    }

    /// Does something with a tool: hands in its newest draft, rejects the newest version in review, approves or
    /// activates the newest version that says what was read, or disables the active one. What is active, and what is
    /// not any more, holds for every step that begins afterwards, in every process.
    ///
    /// # Errors
    /// `NOT_FOUND` for a tool that nobody has written; `CONFLICT` for a bundled one, when no version stands so that
    /// the act fits, and when somebody else acts at the same time; `PERMISSION_DENIED` for somebody who is no user, or
    /// counts as the author and would approve; `VALIDATION_ERROR` for a note that cannot be one; `UNPROCESSABLE` when
    /// the tenant has no room for another active tool.
    pub async fn act(&self, actor: &Actor, key: &str, act: OwnToolAct) -> Result<OwnTool> {
        let (scope, by) = (actor.scope(), author(actor)?);
        self.refuse_bundled(key)?;
        let before = self.version_for(scope, key, &act).await?;
        // Who made whom is asked for where it matters only.
        let makers = match &act {
            OwnToolAct::Approve(_) => self.users.account_makers(&[before.author, by]).await?,
            OwnToolAct::Submit | OwnToolAct::Reject(_) | OwnToolAct::Activate(_) | OwnToolAct::Disable => {
                AccountMakers::default()
            }
        };
        let asked = (!self.self_approval).then_some(&makers);
        let after = before.clone().after(&act, by, asked, self.clock.now())?;
        let mut detail = named(&after.definition, Some(after.version));
        if after.status == OwnToolStatus::Approved {
            detail["selfApproval"] = json!(makers.are_one(after.author, by));
            let shared = makers.common(after.author, by);
            if !shared.is_empty() {
                detail["accountsMadeBy"] = json!(shared);
            }
        }
        let audit = event(actor, act.action(), key, detail);
        let change = OwnToolChange { before, after: after.clone() };
        self.store.change_own_tool(scope, &change, audit).await?;
        Ok(after)
    }

    /// Deletes every version of a tool.
    ///
    /// # Errors
    /// `NOT_FOUND` for a tool that nobody has written; `CONFLICT` for a bundled one.
    pub async fn delete(&self, actor: &Actor, key: &str) -> Result<()> {
        let scope = actor.scope();
        self.refuse_bundled(key)?;
        let newest = self.find_version(scope, key, &[None], None).await?;
        let mut detail = newest.map_or_else(|| json!({"key": key}), |tool| named(&tool.definition, Some(tool.version)));
        let active = self.store.active_own_tools(scope).await?;
        if let Some(active) = active.iter().find(|tool| tool.definition.key == key) {
            detail["active"] = named(&active.definition, Some(active.version));
        }
        let audit = event(actor, "own_tool.delete", key, detail);
        match self.store.delete_own_tool(scope, key, self.clock.now(), audit).await? {
            true => Ok(()),
            false => Err(Error::not_found("own tool", key)),
        }
    }

    fn refuse_bundled(&self, key: &str) -> Result<()> {
        if self.catalogue.bundled().find(key).is_none() {
            return Ok(());
        }
        let message =
            format!("tool {key} is bundled with the server: turn it off with PATCH and {{\"enabled\": false}}");
        Err(Error::new(ErrorCode::Conflict, message))
    }

    /// The version that an act means.
    async fn version_for(&self, scope: TenantScope, key: &str, act: &OwnToolAct) -> Result<OwnTool> {
        use OwnToolStatus::{Active, Approved, Disabled, Draft, Review};
        let (statuses, hash, only) = match act {
            OwnToolAct::Submit => (&[Some(Draft)][..], None, "a draft can be submitted"),
            OwnToolAct::Reject(_) => (&[Some(Review)][..], None, "what is in review can be rejected"),
            OwnToolAct::Approve(hash) => (&[Some(Review)][..], Some(hash), "what is in review can be approved"),
            OwnToolAct::Activate(hash) => {
                (&[Some(Approved), Some(Disabled)][..], Some(hash), "what is approved or disabled can be activated")
            }
            OwnToolAct::Disable => (&[Some(Active)][..], None, "the active version can be disabled"),
        };
        let hash = hash.map(String::as_str);
        if let Some(found) = self.find_version(scope, key, statuses, hash).await? {
            return Ok(found);
        }
        let Some(newest) = self.find_version(scope, key, &[None], None).await? else {
            return Err(Error::not_found("own tool", key));
        };
        let read = match hash {
            None => Some(newest),
            Some(hash) => self.find_version(scope, key, &[None], Some(hash)).await?,
        };
        let message = match read {
            Some(OwnTool { version, status, .. }) => {
                format!("version {version} of {key} has the status {}: only {only}", status.as_str())
            }
            None => format!("no version of {key} has that hash: read it again and send the hash that it shows"),
        };
        Err(Error::new(ErrorCode::Conflict, message))
    }

    /// The newest version that stands in one of those ways (`None` for any) and says what has that hash.
    async fn find_version(
        &self,
        scope: TenantScope,
        key: &str,
        statuses: &[Option<OwnToolStatus>],
        hash: Option<&str>,
    ) -> Result<Option<OwnTool>> {
        let mut newest: Option<OwnTool> = None;
        for status in statuses {
            let filter = OwnToolFilter { key: Some(key.to_owned()), status: *status };
            let mut after = None;
            loop {
                let page = self.store.own_tools(scope, &filter, after, AT_ONCE).await?;
                let mut read = page.items.into_iter();
                let found = read.find(|tool| hash.is_none_or(|hash| tool.definition.hash() == hash));
                if let Some(found) = found {
                    if newest.as_ref().is_none_or(|newest| newest.version < found.version) {
                        newest = Some(found);
                    }
                    break;
                }
                let Some(next) = page.next else { break };
                after = Some(next.parse().map_err(|_| Error::new(ErrorCode::Internal, "a page has no next id"))?);
            }
        }
        Ok(newest)
    }
}
