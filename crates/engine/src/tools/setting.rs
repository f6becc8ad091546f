//! What a tenant says about tools.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::ports::{Clock, PermissionStore};
use kybern_core::tenant::TenantScope;
use kybern_core::tool::{Risk, ToolPrice, ToolRateLimits, ToolSetting, ToolSpec};
use serde_json::{Value, json};

use super::catalogue::{CallableTool, ToolCatalogue};

/// A tool with what the tenant says about it.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolView {
    /// The tool's own words.
    pub spec: ToolSpec,
    /// A hash over everything that a model or a checker sees of it, in hex.
    pub hash: Arc<str>,
    /// The source that offers it; `None` for a bundled tool.
    pub source: Option<&'static str>,
    /// The least risk that may be said of it.
    pub least_risk: Risk,
    /// JSON Schema of what a call returns; `None` for anything.
    pub output_schema: Option<Value>,
    /// The tenant's.
    pub setting: Option<ToolSetting>,
}

/// What is to be said about a tool; what is `None` stays. An inner `None` goes back to the tool's own word.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToolChange {
    /// Whether it may be called.
    pub enabled: Option<bool>,
    /// How much harm a call can do.
    pub risk: Option<Option<Risk>>,
    /// How often each user may call it.
    pub limits: Option<Option<ToolRateLimits>>,
    /// What it costs.
    pub price: Option<Option<ToolPrice>>,
    /// Whether every call asks first.
    pub confirm: Option<bool>,
    /// Whether every call asks a second person first.
    pub four_eyes: Option<bool>,
}

impl ToolView {
    fn of(tool: &CallableTool, settings: &[ToolSetting]) -> Self {
        let spec = tool.spec().clone();
        let setting = settings.iter().find(|setting| setting.tool == spec.key).cloned();
        let output_schema = tool.output_schema().cloned();
        Self {
            spec,
            hash: Arc::clone(tool.hash()),
            source: tool.source(),
            least_risk: tool.least_risk(),
            output_schema,
            setting,
        }
    }

    /// Whether it may be called.
    #[must_use]
    pub fn enabled(&self) -> bool {
        self.setting.as_ref().is_none_or(|setting| setting.enabled)
    }

    /// How much harm a call can do; some tools say less of some calls.
    #[must_use]
    pub fn risk(&self) -> Risk {
        // What was said of a version that only looked is too little for one that writes.
        let said = self.setting.as_ref().and_then(|setting| setting.risk);
        said.map_or(self.spec.risk, |said| said.max(self.least_risk))
    }

    /// How often each user may call it.
    #[must_use]
    pub fn limits(&self) -> ToolRateLimits {
        self.setting.as_ref().and_then(|setting| setting.limits).unwrap_or(self.spec.rate)
    }

    /// What a call costs; `None` for nothing.
    #[must_use]
    pub fn price(&self) -> Option<&ToolPrice> {
        self.setting.as_ref().and_then(|setting| setting.price.as_ref()).or(self.spec.price.as_ref())
    }

    /// Whether every call asks first.
    #[must_use]
    pub fn confirm(&self) -> bool {
        self.setting.as_ref().is_some_and(|setting| setting.confirm)
    }

    /// Whether every call asks a second person first.
    #[must_use]
    pub fn four_eyes(&self) -> bool {
        self.setting.as_ref().is_some_and(|setting| setting.four_eyes)
    }
}

/// What tenants say about their tools.
#[derive(Clone)]
pub struct ToolSettings {
    pub(crate) store: Arc<dyn PermissionStore>,
    pub(crate) catalogue: Arc<ToolCatalogue>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl ToolSettings {
    /// Every tool as the tenant sees it, by key.
    pub async fn list(&self, scope: TenantScope) -> Result<Vec<ToolView>> {
        let settings = self.store.tool_settings(scope).await?;
        let tools = self.catalogue.of(scope).await;
        Ok(tools.tools().into_iter().map(|tool| ToolView::of(tool, &settings)).collect())
    }

    /// One tool as the tenant sees it, by key or alias.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, name: &str) -> Result<ToolView> {
        let tools = self.catalogue.of(scope).await;
        let tool = tools.find(name).ok_or_else(|| Error::not_found("tool", name))?;
        Ok(ToolView::of(tool, &self.store.tool_settings(scope).await?))
    }

    /// Says something about a tool. It holds from the next call on, in every process.
    ///
    /// # Errors
    /// `NOT_FOUND`; `VALIDATION_ERROR` with every fault.
    pub async fn set(&self, actor: &Actor, name: &str, change: ToolChange) -> Result<ToolView> {
        let known = self.get(actor.scope(), name).await?;
        let at = self.clock.now();
        let mut setting = known.setting.clone().unwrap_or_else(|| ToolSetting::of(&known.spec.key, at));
        setting.updated_at = at;
        setting.enabled = change.enabled.unwrap_or(setting.enabled);
        setting.confirm = change.confirm.unwrap_or(setting.confirm);
        setting.four_eyes = change.four_eyes.unwrap_or(setting.four_eyes);
        setting.risk = change.risk.unwrap_or(setting.risk);
        setting.limits = change.limits.unwrap_or(setting.limits);
        setting.price = change.price.unwrap_or(setting.price);
        let mut faults = setting.faults();
        let least = known.least_risk;
        if change.risk.flatten().is_some_and(|risk| risk < least) {
            faults.push(Detail::new("/risk", format!("is at least {least:?}, the risk of a request with its method")));
        }
        if !faults.is_empty() {
            return Err(Error::new(ErrorCode::Validation, "the setting is not usable").with_details(faults));
        }
        let event = AuditEvent::by(actor, "tool.set", format!("tool:{}", setting.tool), json!(setting));
        self.store.put_tool_setting(actor.scope(), &setting, event).await?;
        Ok(ToolView { setting: Some(setting), ..known })
    }
}
