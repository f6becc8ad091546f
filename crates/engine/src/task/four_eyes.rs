//! Four eyes: where a tenant wants two persons to stand for each call of a tool, nobody says yes to a call that they
//! asked for.
//!
//! A task asks for its calls: in the name of its user and of whoever submitted it, and in the words of those who filled
//! in its forms or put something right in it. Of a task that a channel submitted the sender is nobody's account, so one
//! person who has said nothing in it is the second.

use std::collections::BTreeSet;

use kybern_core::actor::{Actor, Principal};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::UserId;
use kybern_core::task::{JournalEntry, Resolution, Signal, Task, Wait, WaitKind};
use kybern_core::tenant::TenantScope;
use serde_json::{Map, Value, json};

use super::Tasks;
use super::request::ReviewRequest;

impl Tasks {
    /// Whether the actor may give this answer, as far as two persons are asked for; and what the audit says about who
    /// they are. Anybody may say no.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` for whoever asked for the call or counts as one with them, for somebody who is no user, and for
    /// arguments that only one person would have seen.
    pub(crate) async fn second_person(
        &self,
        actor: &Actor,
        task: &Task,
        wait: &Wait,
        request: &ReviewRequest,
    ) -> Result<Map<String, Value>> {
        let scope = actor.scope();
        if request.resolution == Some(Resolution::Fail) || !self.asks_two_persons(scope, wait).await? {
            return Ok(Map::new());
        }
        let denied = |message: &str| Err(Error::new(ErrorCode::PermissionDenied, message));
        let Some(by) = actor.user() else {
            return denied("two persons stand for this call, and a person is a user: use a user's key");
        };
        let asked = self.who_asked(scope, task).await?;
        let persons: Vec<UserId> = asked.iter().copied().chain([by]).collect();
        let makers = self.kernel.store.account_makers(&persons).await?;
        let is_own = asked.iter().any(|one| makers.are_one(*one, by));
        let is_edited = request.replaces || !request.corrections.is_empty();
        if !self.kernel.settings.self_approval {
            if is_own {
                return denied(
                    "two persons stand for this call: nobody says yes to what they asked for themselves, or what somebody \
                     asked for whose account or key they made, or who made theirs; ask another reviewer, or deny it",
                );
            }
            if is_edited {
                return denied(
                    "two persons stand for this call, and nobody else has seen other arguments: say yes or no to it as it \
                     is",
                );
            }
        }
        let shared: BTreeSet<UserId> = asked.iter().flat_map(|one| makers.common(*one, by)).collect();
        let mut told = Map::from_iter([("selfApproval".to_owned(), json!(is_own))]);
        if !shared.is_empty() {
            told.insert("accountsMadeBy".to_owned(), json!(shared));
        }
        Ok(told)
    }

    /// Whether the question is about a call of a tool for whose calls two persons stand now.
    async fn asks_two_persons(&self, scope: TenantScope, wait: &Wait) -> Result<bool> {
        let tool = wait.details.get("tool").and_then(Value::as_str);
        let Some(tool) = tool.filter(|_| wait.kind == WaitKind::Confirmation) else { return Ok(false) };
        let settings = self.kernel.store.tool_settings(scope).await?;
        Ok(settings.iter().any(|setting| setting.tool == tool && setting.four_eyes))
    }

    /// The users in whose name or words a task asks, with the tasks that it was started by.
    async fn who_asked(&self, scope: TenantScope, task: &Task) -> Result<BTreeSet<UserId>> {
        let mut asked = BTreeSet::new();
        let mut next = Some(task.clone());
        while let Some(task) = next {
            asked.extend(task.user);
            asked.extend(user_of(&task.created_by));
            let rows = self.whole_journal(scope, task.id).await?;
            asked.extend(rows.iter().filter_map(|row| whose_words(&row.entry)));
            next = match task.parent {
                Some((parent, _)) => self.kernel.store.task(scope, parent).await?,
                None => None,
            };
        }
        Ok(asked)
    }
}

fn user_of(label: &str) -> Option<UserId> {
    Principal::of_label(label)?.user()
}

/// Who answered a question in words of their own.
fn whose_words(entry: &JournalEntry) -> Option<UserId> {
    let JournalEntry::Answered { signal, .. } = entry else { return None };
    match signal.as_ref() {
        Signal::Review { corrections, by, .. } if !corrections.is_empty() => user_of(by),
        Signal::Review { .. }
        | Signal::Callback { .. }
        | Signal::ChildEnded { .. }
        | Signal::Retry { .. }
        | Signal::Unreadable { .. } => None,
    }
}
