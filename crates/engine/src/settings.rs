//! What an operator may set.

use std::collections::BTreeMap;

use kybern_core::slots::TenantShare;
use kybern_core::task::limits;
use kybern_core::time::Millis;

use crate::check::Check;
use crate::retention::Retention;

/// An outside engine that can be named by `workflow` steps.
#[derive(Clone, PartialEq, Eq)]
pub struct WorkflowEndpoint {
    /// Where delegations are POSTed. From the configuration file, and so trusted.
    pub url: String,
    /// With what dispatches are signed; the tenant's own webhook secret otherwise.
    pub secret: Option<String>,
    /// How long its answer may take when the step says nothing; the server's default otherwise.
    pub deadline: Option<Millis>,
}

impl std::fmt::Debug for WorkflowEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WorkflowEndpoint({}, …)", self.url)
    }
}

kybern_core::named! {
    /// When a language model is asked what messages want and what documents say.
    #[derive(Default)]
    pub enum ModelUse {
        /// Never.
        Off = "off",
        /// Where the rules are unsure or find nothing.
        #[default]
        Unsure = "unsure",
        /// About every message and document.
        Always = "always",
    }
}

/// What an operator may set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Tasks of one tenant that run at the same time in this process when no other tenant has work. There are more
    /// slots than that, which is where other tenants find room.
    pub slots: usize,
    /// The same of jobs.
    pub job_slots: usize,
    /// What one tenant alone can hold of all slots.
    pub tenant_share: TenantShare,
    /// How long a lease holds without a heartbeat.
    pub lease: Millis,
    /// How often leases are renewed.
    pub heartbeat: Millis,
    /// How often due work is looked for when nothing wakes the worker.
    pub poll: Millis,
    /// Recoveries without progress before a task is given up.
    pub max_recoveries: u32,
    /// Rows of steps without any outside effect that one commit carries at most; 1 commits each by itself.
    pub steps_per_commit: u32,
    /// The server's own address as outside engines reach it, without a trailing slash.
    pub public_url: String,
    /// The outside engines by name.
    pub workflows: BTreeMap<String, WorkflowEndpoint>,
    /// The domain of intake addresses; mail to `slug@domain` belongs to the tenant with that slug.
    pub intake_domain: Option<String>,
    /// The mail server whose `Authentication-Results` are believed, by its authserv-id.
    pub trusted_authserv: Option<String>,
    /// When a language model is asked what messages want and what documents say, where one is configured.
    pub understanding: ModelUse,
    /// Steps that a task may schedule when it does not say.
    pub max_steps: u32,
    /// Below this confidence a person is asked, when the task does not say.
    pub confidence_threshold: f64,
    /// How long one try of a step that asks a model may take when the step does not say.
    pub step_timeout: Millis,
    /// How long an outside engine may take to answer when neither step nor engine says.
    pub delegation_deadline: Millis,
    /// How long a call waits for a person's yes.
    pub approval_time: Millis,
    /// Whether one person is enough where two are asked for, for prompts and calls: where an administrator is alone.
    pub self_approval: bool,
    /// How long what is over is kept.
    pub retention: Retention,
    /// Parts of the server that were looked at when it started: what readiness says of them.
    pub parts: Vec<Check>,
    /// Whether this process works on tasks at all; `false` for one that only answers requests.
    pub work: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            slots: limits::SLOTS,
            job_slots: limits::JOB_SLOTS,
            tenant_share: TenantShare::default(),
            lease: limits::LEASE,
            heartbeat: limits::HEARTBEAT,
            poll: Millis::from_secs(1),
            max_recoveries: limits::MAX_RECOVERIES,
            steps_per_commit: limits::STEPS_PER_COMMIT,
            public_url: "http://127.0.0.1:7171".to_owned(),
            workflows: BTreeMap::new(),
            intake_domain: None,
            trusted_authserv: None,
            understanding: ModelUse::default(),
            max_steps: limits::DEFAULT_MAX_STEPS,
            confidence_threshold: limits::DEFAULT_CONFIDENCE_THRESHOLD,
            step_timeout: limits::STEP_TIMEOUT,
            delegation_deadline: limits::DELEGATION_DEADLINE,
            approval_time: kybern_core::approval::TIME_TO_ANSWER,
            self_approval: false,
            retention: Retention::default(),
            parts: Vec::new(),
            work: true,
        }
    }
}
