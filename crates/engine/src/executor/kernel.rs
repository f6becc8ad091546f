//! What the kernel works with.

use std::sync::Arc;

use kybern_core::ports::{Clock, IdSource, Random, Store, WakeUps};
use kybern_core::task::WorkerId;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::active::ActiveRuns;
use super::steps::StepKinds;
use super::tenant_names::TenantNames;
use super::view::TaskView;
use crate::clock::TaskClock;
use crate::events::{LiveReplies, TaskWatchers};
use crate::meter::Meter;
use crate::plan::FrozenPlans;
use crate::settings::Settings;
use crate::slots::Slots;
use crate::trouble::Trouble;

/// What is needed to claim tasks, to walk them and to tell of them, whatever their steps do.
pub(crate) struct Kernel {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) wake_ups: Arc<dyn WakeUps>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) time: Arc<TaskClock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) worker: WorkerId,
    pub(crate) settings: Settings,
    /// Who carries out the steps that reach outside.
    pub(crate) kinds: Arc<dyn StepKinds>,
    pub(crate) frozen: FrozenPlans,
    pub(crate) watchers: TaskWatchers<TaskView>,
    pub(crate) lives: Arc<LiveReplies>,
    pub(crate) active: ActiveRuns,
    pub(crate) tenants: TenantNames,
    pub(crate) slots: Arc<Slots>,
    /// What claims of tasks fail at.
    pub(crate) claims: Trouble,
    pub(crate) stopping: CancellationToken,
    pub(crate) spawned: TaskTracker,
    /// What this process counts of its work.
    pub(crate) meter: Arc<Meter>,
}

impl Kernel {
    /// Spawns something that ends when the engine stops.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        #[expect(clippy::disallowed_methods, reason = "the engine's one place for tracked background work")]
        tokio::spawn(self.spawned.track_future(work));
    }
}
