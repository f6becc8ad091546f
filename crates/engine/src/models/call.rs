//! What is asked of the models, by whom, and what came of it.

use kybern_core::actor::{Actor, Principal};
use kybern_core::budget::Limits;
use kybern_core::id::{TaskId, UserId};
use kybern_core::model::{ModelFailure, ModelReply, ModelRequest, ModelTimeouts, TokenUsage};
use kybern_core::money::NanoUsd;
use kybern_core::tenant::TenantScope;
use kybern_core::trace::traceparent_of;

use super::route::Route;

/// For whom a model is asked.
#[derive(Clone, Debug)]
pub struct CallContext {
    pub scope: TenantScope,
    /// The user, when there is one.
    pub user: Option<UserId>,
    /// Who it is, for the audit.
    pub label: String,
    /// The request at the edge.
    pub request: Option<String>,
    /// The first task of the tree for which it happens, with what the task may spend.
    pub tree: Option<(TaskId, Option<Limits>)>,
    /// The W3C `traceparent` that goes along to whoever is asked.
    pub traceparent: Option<String>,
}

impl CallContext {
    /// A caller at the edge.
    #[must_use]
    pub fn of(actor: &Actor) -> Self {
        Self {
            scope: actor.scope(),
            user: actor.user(),
            label: actor.principal().label(),
            request: Some(actor.request().to_string()),
            tree: None,
            traceparent: traceparent_of(actor.request().as_uuid()),
        }
    }

    /// The executor, for a user or for nobody, in the trace that `traceparent` says.
    #[must_use]
    pub fn executor(scope: TenantScope, user: Option<UserId>, traceparent: Option<String>) -> Self {
        Self { scope, user, label: Principal::Executor.label(), request: None, tree: None, traceparent }
    }
}

/// One question to the models.
#[derive(Clone, Debug)]
pub struct Ask {
    /// By what the model is chosen.
    pub route: Route,
    /// The request. Its model is filled in.
    pub request: ModelRequest,
    /// How long it may take, all tries together.
    pub timeouts: ModelTimeouts,
    /// Whether other models may be asked when the first one fails.
    pub may_fall_back: bool,
    /// Which of the server's own prompts stands in it, for the audit.
    pub prompt: Option<String>,
    /// A digest of all that is asked, under the tenant's key, where one is known; else one is made of the request.
    pub digest: Option<String>,
}

/// One call that was made for a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Try {
    /// `provider/model`.
    pub model: String,
    /// Why it failed; `None` for the one that answered.
    pub failure: Option<ModelFailure>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct AnsweredCall {
    pub reply: ModelReply,
    /// `provider/model` that gave it.
    pub model: String,
    /// What it took; estimated where the provider said nothing.
    pub usage: TokenUsage,
    /// What it cost, with all calls that failed on the way.
    pub cost: NanoUsd,
    /// The calls that were made, the answered one last.
    pub tries: Vec<Try>,
}
