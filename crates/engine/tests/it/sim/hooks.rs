//! A receiver who wants to hear of the ends of tasks, and is away at first; and the messages that must reach it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use kybern_core::audit::AuditEvent;
use kybern_core::id::{TaskId, WebhookId};
use kybern_core::identity::OutboundWebhook;
use kybern_core::job::limits::DEFAULT_ATTEMPTS;
use kybern_core::outbox::{OutboxChannel, OutboxMessage, OutboxStatus};
use kybern_core::ports::{Clock as _, HttpFailure, HttpRequest, IdentityStore as _, OutboxStore as _};
use kybern_core::task::JournalEntry;
use kybern_core::time::{Millis, Timestamp};
use serde_json::json;
use uuid::Uuid;

use super::Case;
use super::dice::Dice;
use super::laws::nobody_dies;
use super::seen::Seen;
use super::world::SimWorld;
use crate::outside::{LifeClock, Wired, header};

const URL: &str = "http://hook.test/ends";
/// So many tries that are not answered in a row, and it is left alone.
const TRIES: usize = 5;
/// For so long.
const REST: Millis = Millis(30_000);

/// How a receiver is away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Away {
    /// There is nobody.
    Gone,
    /// It takes messages and does not say so.
    Silent,
    /// It says that it is busy.
    Busy,
}

#[derive(Clone, Copy, Debug)]
pub struct Hook {
    how: Away,
    span: Millis,
}

impl Hook {
    pub fn of(dice: &Dice) -> Self {
        let how = dice.one(&[Away::Gone, Away::Silent, Away::Busy]);
        Self { how, span: Millis(dice.one(&[0, 5_000, 60_000, 200_000])) }
    }
}

/// One try to deliver: when, which message, and whether it was taken with thanks.
struct Try {
    at: Timestamp,
    message: String,
    taken: bool,
}

pub struct Receiver {
    hook: Hook,
    clock: Arc<LifeClock>,
    back: Timestamp,
    tries: Mutex<Vec<Try>>,
}

impl Receiver {
    pub fn new(hook: Hook, clock: Arc<LifeClock>) -> Self {
        Self { hook, back: clock.now().plus(hook.span), clock, tries: Mutex::default() }
    }

    pub fn is_meant(request: &HttpRequest) -> bool {
        request.url == URL
    }

    pub fn answer(&self, request: &HttpRequest) -> Wired {
        let at = self.clock.now();
        let taken = at >= self.back;
        let message = header(request, "webhook-id").unwrap();
        self.tries.lock().unwrap().push(Try { at, message, taken });
        match self.hook.how {
            _ if taken => Wired::Answer(200, json!({})),
            Away::Gone => Wired::Fail(HttpFailure::Connect("nobody is there".to_owned())),
            Away::Silent => Wired::Fail(HttpFailure::NoAnswer("it took too long".to_owned())),
            Away::Busy => Wired::Answer(503, json!({})),
        }
    }
}

pub fn subscribe(world: &SimWorld) {
    let events = ["completed", "failed", "cancelled"].map(|end| format!("task.{end}")).to_vec();
    let id = WebhookId::from_uuid(Uuid::from_u128(1));
    let webhook = OutboundWebhook { id, url: URL.to_owned(), events, active: true, created_at: world.clock.now() };
    let audit = AuditEvent::by_executor("webhook.create", "webhook:1", json!({}));
    world.doom.look(world.store.create_webhook(world.actor.scope(), &webhook, audit)).unwrap();
}

/// What is wrong with what it was told.
pub fn faults(world: &SimWorld, case: &Case, all: &BTreeMap<TaskId, Seen>) -> Vec<String> {
    let Some(receiver) = &world.receiver else { return Vec::new() };
    let mut found: Vec<OutboxMessage> = Vec::new();
    loop {
        // A page of large messages ends before its limit.
        let before = found.last().map(|message| message.message.id);
        let page = world.doom.look(world.store.outbox(world.actor.scope(), None, before, 200)).unwrap();
        if page.items.is_empty() {
            break;
        }
        found.extend(page.items);
    }
    let is_end = |message: &&OutboxMessage| message.message.channel == OutboxChannel::Completion;
    let messages: Vec<&OutboxMessage> = found.iter().filter(is_end).collect();
    let mut faults = Vec::new();
    for (id, seen) in all {
        let ends = seen.rows.iter().filter_map(|row| match &row.entry {
            JournalEntry::Ended { status, .. } => Some(format!("task.{status}")),
            _ => None,
        });
        let told = messages.iter().filter(|message| message.task_id == Some(*id));
        let told = told.filter_map(|message| message.message.body["type"].as_str().map(str::to_owned));
        let [ends, told] = [sorted(ends), sorted(told)];
        if ends != told {
            faults.push(format!("task {id} ended with {ends:?}, and the receiver is told of {told:?}"));
        }
    }
    let tries = receiver.tries.lock().unwrap();
    for message in messages {
        let id = message.message.id.to_string();
        let taken = tries.iter().filter(|one| one.message == id && one.taken).count();
        let may_fail = message.attempts >= DEFAULT_ATTEMPTS || !nobody_dies(world, case) || world.doom.lost_job();
        let legal = match message.status {
            OutboxStatus::Sent => taken == 1 || (taken > 1 && (may_fail || !case.schedule.is_calm())),
            OutboxStatus::Failed => may_fail,
            _ => false,
        };
        if !legal {
            faults.push(format!("{message:?} was taken {taken} times"));
        }
    }
    // What is known of it is the process's own: another, and one that has been started again, begins anew.
    let is_steady = nobody_dies(world, case) && !case.schedule.stops() && !case.schedule.sets_a_clock();
    if is_steady && matches!(receiver.hook.how, Away::Gone | Away::Silent) {
        let vain: Vec<Timestamp> = tries.iter().filter(|one| !one.taken).map(|one| one.at).collect();
        let hurried = vain.windows(2).skip(TRIES - 1).find(|two| two[1].since(two[0]) < REST);
        faults.extend(hurried.map(|two| format!("a receiver that is away was tried at {} and at {}", two[0], two[1])));
    }
    faults
}

fn sorted(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut words: Vec<String> = words.collect();
    words.sort();
    words
}
