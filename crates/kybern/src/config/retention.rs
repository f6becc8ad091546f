//! `[retention]`: how long what is over is kept.

use std::collections::BTreeMap;

use kybern_core::retention::RetentionKind;
use kybern_core::time::Millis;
use kybern_engine::retention::{Retention, RetentionPeriods};
use serde::{Deserialize, Serialize};

use super::error::{Fault, Faults};

/// The shortest time, in days: anything younger may be needed to drop a repeat.
const SHORTEST: u32 = 7;
/// The longest time, in days: a hundred years.
const LONGEST: u32 = 36_500;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// Days by kind; 0 keeps it for ever.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RetentionOptions {
    /// Tasks, with everything that belongs to them alone.
    pub(crate) tasks_days: u32,
    /// Conversations, with their messages.
    pub(crate) chats_days: u32,
    /// Messages of the outbox that have their end.
    pub(crate) messages_days: u32,
    /// Jobs that are done or dead.
    pub(crate) jobs_days: u32,
    /// Answers to idempotency keys that have expired.
    pub(crate) idempotency_keys_days: u32,
    /// Files that nothing names.
    pub(crate) files_days: u32,
    /// The tenants, by name or slug, of which nothing is removed.
    pub(crate) holds: Vec<String>,
    /// Tenants, by name or slug, with times of their own.
    pub(crate) tenants: BTreeMap<String, DaysKept>,
}

impl Default for RetentionOptions {
    fn default() -> Self {
        Self {
            tasks_days: 400,
            chats_days: 1095,
            messages_days: 1095,
            jobs_days: 90,
            idempotency_keys_days: 30,
            files_days: 7,
            holds: Vec::new(),
            tenants: BTreeMap::new(),
        }
    }
}

/// Days of a tenant, by kind; 0 keeps it for ever. What is not said is as for all.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DaysKept {
    /// Tasks, with everything that belongs to them alone.
    pub(crate) tasks_days: Option<u32>,
    /// Conversations, with their messages.
    pub(crate) chats_days: Option<u32>,
    /// Messages of the outbox that have their end.
    pub(crate) messages_days: Option<u32>,
    /// Jobs that are done or dead.
    pub(crate) jobs_days: Option<u32>,
    /// Answers to idempotency keys that have expired.
    pub(crate) idempotency_keys_days: Option<u32>,
    /// Files that nothing names.
    pub(crate) files_days: Option<u32>,
}

impl DaysKept {
    const fn of(&self, kept: RetentionKind) -> Option<u32> {
        match kept {
            RetentionKind::Files => self.files_days,
            RetentionKind::Chats => self.chats_days,
            RetentionKind::Tasks => self.tasks_days,
            RetentionKind::Messages => self.messages_days,
            RetentionKind::Jobs => self.jobs_days,
            RetentionKind::IdempotencyKeys => self.idempotency_keys_days,
        }
    }
}

impl RetentionOptions {
    const fn of(&self, kept: RetentionKind) -> u32 {
        match kept {
            RetentionKind::Files => self.files_days,
            RetentionKind::Chats => self.chats_days,
            RetentionKind::Tasks => self.tasks_days,
            RetentionKind::Messages => self.messages_days,
            RetentionKind::Jobs => self.jobs_days,
            RetentionKind::IdempotencyKeys => self.idempotency_keys_days,
        }
    }

    pub(super) fn check(&self, faults: &mut Faults) {
        let mut look = |key: String, days: u32| {
            if days != 0 && !(SHORTEST..=LONGEST).contains(&days) {
                faults.add(Fault::bad(&key, &days, format!("is neither 0 nor between {SHORTEST} and {LONGEST}")));
            }
        };
        for kept in RetentionKind::ALL {
            look(format!("retention.{kept}_days"), self.of(kept));
            for (name, own) in &self.tenants {
                own.of(kept).into_iter().for_each(|days| look(format!("retention.tenants.{name}.{kept}_days"), days));
            }
        }
    }

    /// What they say to the engine.
    pub(crate) fn settings(&self) -> Retention {
        let times = |days: &dyn Fn(RetentionKind) -> u32| -> RetentionPeriods {
            let named = RetentionKind::ALL.into_iter().map(|kept| (kept, days(kept))).filter(|(_, days)| *days > 0);
            named.map(|(kept, days)| (kept, Millis(u64::from(days) * DAY))).collect()
        };
        let of_tenant = |own: &DaysKept| times(&|kept| own.of(kept).unwrap_or_else(|| self.of(kept)));
        Retention {
            times: times(&|kept| self.of(kept)),
            tenants: self.tenants.iter().map(|(name, own)| (name.clone(), of_tenant(own))).collect(),
            holds: self.holds.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tenant_does_not_say_is_as_for_all() {
        let own = DaysKept { tasks_days: Some(3_650), jobs_days: Some(0), ..DaysKept::default() };
        let options = RetentionOptions { tenants: BTreeMap::from([("acme".to_owned(), own)]), ..Default::default() };
        let Retention { times, tenants, .. } = options.settings();
        assert_eq!(times[&RetentionKind::Tasks], Millis(400 * DAY));
        let acme = &tenants["acme"];
        assert_eq!((acme[&RetentionKind::Tasks], acme[&RetentionKind::Files]), (Millis(3_650 * DAY), Millis(7 * DAY)));
        assert_eq!(acme.get(&RetentionKind::Jobs), None, "for ever");
    }

    #[test]
    fn names_of_nobody_are_found_by_name_and_slug() {
        let tenants =
            BTreeMap::from([("acme".to_owned(), DaysKept::default()), ("acne".to_owned(), DaysKept::default())]);
        let holds = vec!["Fern Hall".to_owned(), "fern".to_owned()];
        let options = RetentionOptions { tenants, holds, ..Default::default() };
        let known = ["Acme", "acme", "Fern Hall", "fern-hall"].map(str::to_owned);
        let expected = [("holds", "fern"), ("tenants", "acne")]
            .map(|(key, name)| format!("retention.{key} names {name:?}, and no tenant is called so"));
        assert_eq!(options.settings().strangers(&known), expected);
    }

    #[test]
    fn times_are_told_for_all_and_for_each_tenant() {
        let own = DaysKept { tasks_days: Some(3_650), jobs_days: Some(0), ..DaysKept::default() };
        let tenants = BTreeMap::from([("acme".to_owned(), own)]);
        let options = RetentionOptions { tenants, holds: vec!["fern".to_owned()], chats_days: 0, ..Default::default() };
        let (all, each) = options.settings().told();
        for part in
            ["tasks 400 days", "chats for ever", "messages 1095 days", "idempotency keys 30 days", "files 7 days"]
        {
            assert!(all.contains(part), "{part}: {all}");
        }
        let mut acme: Vec<&str> = each[0].trim_start_matches("acme: ").split(", ").collect();
        acme.sort_unstable();
        assert_eq!(
            (acme, each[1].as_str()),
            (vec!["jobs for ever", "tasks 3650 days"], "fern: on hold, nothing is removed")
        );
    }

    #[test]
    fn times_of_tenants_have_the_same_limits() {
        let own = DaysKept { chats_days: Some(6), files_days: Some(0), ..DaysKept::default() };
        let options = RetentionOptions { tenants: BTreeMap::from([("acme".to_owned(), own)]), ..Default::default() };
        let mut faults = Faults::default();
        options.check(&mut faults);
        let told = format!("{:?}", faults.into_error().unwrap());
        assert!(told.contains("retention.tenants.acme.chats_days") && !told.contains("files_days"), "{told}");
    }
}
