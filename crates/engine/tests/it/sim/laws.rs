//! What holds for every task, whatever its program.

use std::collections::{BTreeMap, BTreeSet};

use kybern_core::approval::{Approval, ApprovalFilter, ApprovalStatus};
use kybern_core::id::TaskId;
use kybern_core::ports::CallbackOutcome::{Accepted, Kept, Late};
use kybern_core::ports::{ApprovalStore as _, RecordStore as _, TaskStore as _};
use kybern_core::task::{JournalEntry, JournalRow, Signal, StepStatus, Task, TaskStatus, WaitKind, limits};
use kybern_core::time::{Millis, Timestamp};
use serde_json::Value;

use super::Case;
use super::judge::{Judge, Verdict};
use super::ledger::{CalledBack, Reviewed};
use super::program::{Class, Kind, Program, Step};
use super::seen::{Seen, number_of};
use super::story::family;
use super::world::SimWorld;

/// How much later than its time a wait may end: workers look for what is due every 150 ms.
const LATE: Millis = Millis(300);

/// Everything that is wrong with how a case was played.
pub fn faults(world: &SimWorld, case: &Case) -> Vec<String> {
    let scope = world.actor.scope();
    let engine = world.engine();
    let mut faults = world.ledger.accusations();
    let mut all: BTreeMap<TaskId, Seen> = BTreeMap::new();
    for task in family(world) {
        let id = task.id;
        let view = world.doom.look(engine.tasks().get(&world.actor, id)).unwrap();
        let rows = world.doom.look(world.store.journal(scope, id, 0, 100_000)).unwrap();
        let replay = world.doom.look(engine.tasks().replay(&world.actor, id)).unwrap();
        if !replay.matches {
            faults.push(format!("task {id}: a replay differs: {:#?}", replay.differences));
        }
        let filter = ApprovalFilter { status: None, task: Some(id), talks_of: None, calls: true };
        let inbox = world.doom.look(world.store.approvals(scope, filter, None, 200)).unwrap().items;
        faults.extend(inbox_fits(&task, &inbox));
        let program = program_of(case, &task);
        all.insert(id, Seen::of(task, view, rows, program));
    }
    let parents: Vec<(TaskId, TaskId, String)> = all
        .iter()
        .filter_map(|(id, seen)| seen.task.parent.clone().map(|(parent, step)| (*id, parent, step)))
        .collect();
    for (child, parent, step) in parents {
        let parent = all.get_mut(&parent).unwrap();
        parent.children.entry(step).or_default().push(child);
    }
    for seen in all.values() {
        faults.extend(journal(seen, &all));
        if case.schedule.is_punctual() && !seen.retried {
            faults.extend(late(seen));
        }
    }
    let root = &all[&world.did().root.unwrap()];
    let cap = case.program.max_steps.unwrap_or(limits::DEFAULT_MAX_STEPS);
    let mut judge = Judge::new(&all, root, &world.ledger, cap);
    let verdict = judge.task(&case.program);
    faults.append(&mut judge.faults);
    faults.extend(holds(root, &verdict));
    if root.is_cancelled() && !world.did().cancel_wanted {
        faults.push("it was cancelled, and nobody wanted that".to_owned());
    }
    effects(world, case, &all, &mut faults);
    answers(world, &all, &mut faults);
    if nobody_dies(world, case) {
        faults.extend(recovered(&all));
    }
    faults.extend(super::crowd::faults(world, case));
    faults.extend(super::harm::faults(world, case));
    faults.extend(super::old::faults(world, case.schedule.purge));
    faults.extend(super::hooks::faults(world, case, &all));
    faults
}

/// What a task walks.
fn program_of(case: &Case, task: &Task) -> Program {
    let by = task.parent.as_ref().and_then(|(_, step)| case.step(number_of(step)));
    match by.map(|step| &step.kind) {
        Some(Kind::Child(program)) => program.clone(),
        _ => case.program.clone(),
    }
}

/// Whether nothing may have been recovered.
pub fn nobody_dies(world: &SimWorld, case: &Case) -> bool {
    case.schedule.never_dies() && !world.doom.lost_claim()
}

/// What was recovered although no process had died: a stop is no death, and nobody takes work from himself.
fn recovered(all: &BTreeMap<TaskId, Seen>) -> Vec<String> {
    let tells = |row: &JournalRow| matches!(row.entry, JournalEntry::Recovered { stopped: false, .. });
    let dead = all.values().filter(|seen| seen.task.recoveries > 0 || seen.rows.iter().any(tells));
    dead.map(|seen| format!("task {} was recovered, and no process has died", seen.task.id)).collect()
}

/// Every question of a task stands in the inbox once, and nothing is asked any more of which the task knows nothing.
fn inbox_fits(task: &Task, inbox: &[Approval]) -> Vec<String> {
    let open = |approval: &&Approval| approval.status == ApprovalStatus::Pending;
    let stale = inbox.iter().filter(open).filter(|approval| {
        task.status.is_terminal() || !task.waits.iter().any(|wait| wait.seq == approval.asked.wait_seq)
    });
    let mut faults: Vec<String> =
        stale.map(|approval| format!("task {}: {:?} is still asked", task.id, approval.asked.step)).collect();
    for wait in task.waits.iter().filter(|_| !task.status.is_terminal()) {
        let found = inbox.iter().filter(|approval| approval.asked.wait_seq == wait.seq).count();
        if found != 1 {
            faults.push(format!("task {}: {:?} stands in the inbox {found} times", task.id, wait.step_id));
        }
    }
    faults
}

/// The journals of all tasks, for people.
pub fn told(world: &SimWorld) -> String {
    let mut text = String::new();
    for task in family(world) {
        text.push_str(&format!("journal of {} ({}):\n", task.id, task.status));
        for row in world.doom.look(world.store.journal(world.actor.scope(), task.id, 0, 100_000)).unwrap() {
            let step = row.step.as_ref().map_or("-", |step| step.as_str());
            let what = match &row.entry {
                JournalEntry::Finished(end) => {
                    format!("{:?} {} {:?}", end.status, end.data, end.error.as_ref().map(|e| &e.message))
                }
                JournalEntry::Waiting(wait) => format!("{:?} until {:?}", wait.kind, wait.until),
                JournalEntry::Answered { signal, .. } => serde_json::json!(signal).to_string(),
                other => format!("{other:?}"),
            };
            let what: String = what.chars().take(400).collect();
            let at = row.at.as_millis() % 10_000_000;
            text.push_str(&format!(
                "  {} at {at} {step} gen {} try {}: {what}\n",
                row.seq, row.generation, row.attempt
            ));
        }
    }
    text
}

/// Whether a task is what it must be.
pub fn holds(seen: &Seen, verdict: &Verdict) -> Vec<String> {
    let (task, view) = (&seen.task, &seen.view);
    let mut faults = Vec::new();
    let mut say = |what: String| faults.push(format!("task {}: {what}", task.id));
    if task.status != verdict.status {
        say(format!("it is {}, and must be {}: {:?}", task.status, verdict.status, task.error));
    }
    if *view.state != verdict.state {
        say(format!(
            "its state is {}, and must be {}",
            Value::from((*view.state).clone()),
            Value::from(verdict.state.clone())
        ));
    }
    if task.status == TaskStatus::Completed && task.result.clone().unwrap_or_default() != verdict.last {
        say(format!("its result is {:?}, and must be {}", task.result, verdict.last));
    }
    if task.status != TaskStatus::Cancelled && task.usage.input_tokens.0 != verdict.used {
        say(format!("it used {} tokens, and must have used {}", task.usage.input_tokens.0, verdict.used));
    }
    faults
}

/// The journal has no gaps, no step ends twice, signals are taken in once and in order, and children are heard of.
fn journal(seen: &Seen, all: &BTreeMap<TaskId, Seen>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut say = |what: String| faults.push(format!("task {}: {what}", seen.task.id));
    let (mut signals, mut recoveries, mut ends) = (0, 0, 0);
    let mut ended: BTreeSet<(String, u32)> = BTreeSet::new();
    let mut heard: BTreeMap<TaskId, usize> = BTreeMap::new();
    for (row, expected) in seen.rows.iter().zip(1..) {
        if row.seq != expected {
            say(format!("row {} stands where {expected} should", row.seq));
        }
        match &row.entry {
            JournalEntry::Answered { number, signal } => {
                signals += 1;
                if *number != signals {
                    say(format!("signal {number} was taken in as the {signals}th"));
                }
                if let Signal::ChildEnded { child, .. } = &**signal {
                    *heard.entry(*child).or_default() += 1;
                }
            }
            JournalEntry::Recovered { stopped: true, .. } => {}
            JournalEntry::Recovered { recoveries: count, .. } => {
                if *count <= recoveries {
                    say(format!("recovery {count} after recovery {recoveries}"));
                }
                recoveries = *count;
            }
            JournalEntry::Ended { .. } => ends += 1,
            JournalEntry::Finished(_) => {
                let step = row.step.clone().unwrap().as_str().to_owned();
                let holds = seen.steps[&step].is_open;
                // What holds steps, waits for a child, or is answered late, ends once more after a person's retry.
                let was_handed_over = seen.steps[&step].waits.iter().any(|wait| wait.kind == WaitKind::Workflow);
                let again = seen.retried && (holds || was_handed_over || seen.children.contains_key(&step));
                if !ended.insert((step.clone(), row.generation)) && !again {
                    say(format!("step {step} ended twice"));
                }
            }
            _ => {}
        }
    }
    let last_ends = matches!(seen.rows.last().map(|row| &row.entry), Some(JournalEntry::Ended { .. }));
    let retries = seen.rows.iter().filter(|row| is_retry(&row.entry)).count();
    if !last_ends || ends != retries + 1 {
        say(format!("its journal has {ends} ends and {retries} retries, the last row ends it: {last_ends}"));
    }
    for (step, children) in &seen.children {
        for child in children {
            let told = all[child].rows.iter().filter(|row| matches!(row.entry, JournalEntry::Ended { .. })).count();
            let heard = heard.get(child).copied().unwrap_or(0);
            if heard != told && !seen.is_cancelled() {
                say(format!("step {step} heard {heard} times of the end of its child, which ended {told} times"));
            }
        }
    }
    faults
}

/// Waits for the clock that ended later than they should, whatever ran beside them.
fn late(seen: &Seen) -> Vec<String> {
    let mut due: BTreeMap<&str, Timestamp> = BTreeMap::new();
    let mut faults = Vec::new();
    for row in &seen.rows {
        let Some(step) = row.step.as_ref().map(|step| step.as_str()) else { continue };
        match &row.entry {
            JournalEntry::Waiting(wait) if wait.kind == WaitKind::Timer => due.extend(wait.until.map(|at| (step, at))),
            JournalEntry::Finished(_) => {
                if let Some(due) = due.remove(step).filter(|due| row.at.since(*due) > LATE) {
                    let by = row.at.since(due);
                    faults.push(format!("task {} step {step}: it ended {by} after its time", seen.task.id));
                }
            }
            _ => {}
        }
    }
    faults
}

fn is_retry(entry: &JournalEntry) -> bool {
    matches!(entry, JournalEntry::Answered { signal, .. } if matches!(**signal, Signal::Retry { .. }))
}

/// Every effect as often as its class promises, and every record as its steps left it.
fn effects(world: &SimWorld, case: &Case, all: &BTreeMap<TaskId, Seen>, faults: &mut Vec<String>) {
    let effects = world.ledger.effects();
    for (key, effect) in &effects {
        if effect.happened > 1 {
            faults.push(format!("the effect of {key} happened {} times", effect.happened));
        }
    }
    for key in effects.iter().filter(|(_, effect)| effect.happened > 0).map(|(key, _)| key) {
        hidden(key, case, all, faults);
    }
    let scope = world.actor.scope();
    let records = |kind| world.doom.look(world.store.records(scope, kind, None, 200)).unwrap().items;
    let mut owned: BTreeSet<String> = BTreeSet::new();
    let mut shared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for seen in all.values() {
        for row in &seen.rows {
            let (JournalEntry::Finished(end), Some(id)) = (&row.entry, &row.step) else { continue };
            let id = id.as_str();
            if end.status != StepStatus::Completed {
                continue;
            }
            let key = format!("v1:{}:{}:{id}:{}", seen.task.tenant, seen.task.id, row.generation);
            let was_answered = seen.told.contains(&row.seq);
            match case.step(number_of(id)).map(|step| &step.kind) {
                Some(Kind::Call(Class::Local, _)) => drop(owned.insert(key)),
                Some(Kind::Share(which)) => drop(shared.entry(format!("shared{which}")).or_default().insert(key)),
                Some(Kind::Call(Class::Keyed | Class::Queryable | Class::Unkeyed, _)) => {
                    let happened = effects.get(&key).map_or(0, |effect| effect.happened);
                    if happened != 1 && !was_answered {
                        faults.push(format!("{key} completed, and its effect happened {happened} times"));
                    }
                }
                _ => {}
            }
        }
    }
    let found: BTreeSet<String> = records("own").iter().map(|record| record.key.clone()).collect();
    if found != owned {
        faults.push(format!("the records are {found:?}, and should be {owned:?}"));
    }
    for record in records("own").iter().filter(|record| record.version != 1) {
        faults.push(format!("record {} was written {} times", record.key, record.version));
    }
    for record in records("shared") {
        let by: Vec<&str> = record.props["by"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let once: BTreeSet<String> = by.iter().map(|by| (*by).to_owned()).collect();
        let written = i64::try_from(by.len()).unwrap();
        if shared.remove(&record.key) != Some(once) || record.version != written {
            faults.push(format!("record {} was written {} times by {by:?}", record.key, record.version));
        }
    }
    if !shared.is_empty() {
        faults.push(format!("records are missing: {shared:?}"));
    }
}

/// What happened under nobody's key is known to the journal, whatever else became of the task.
fn hidden(key: &str, case: &Case, all: &BTreeMap<TaskId, Seen>, faults: &mut Vec<String>) {
    let [_, _, task, id, generation] = key.split(':').collect::<Vec<_>>()[..] else { return };
    let unkeyed = matches!(case.step(number_of(id)).map(|step| &step.kind), Some(Kind::Call(Class::Unkeyed, _)));
    let Some(seen) = all.values().find(|seen| seen.task.id.to_string() == task).filter(|_| unkeyed) else { return };
    let tells = |row: &JournalRow| {
        row.step.as_ref().is_some_and(|step| step.as_str() == id) && row.generation.to_string() == generation
    };
    if !seen.rows.iter().any(tells) {
        faults.push(format!("{key} happened, and its journal knows nothing of it"));
    }
}

/// No question is answered twice, what was journaled was said, and no delegation is answered twice.
fn answers(world: &SimWorld, all: &BTreeMap<TaskId, Seen>, faults: &mut Vec<String>) {
    let reviews = world.ledger.reviews();
    for seen in all.values() {
        for id in seen.steps.keys() {
            let place = format!("{}:{id}:", seen.task.id);
            let mine: Vec<_> = reviews.iter().filter(|review| review.wait.starts_with(&place)).collect();
            let taken = mine.iter().filter(|review| review.taken == Some(true)).count();
            let asks = |row: &&JournalRow| {
                let of_step = row.step.as_ref().is_some_and(|step| step.as_str() == id);
                of_step && matches!(&row.entry, JournalEntry::Waiting(wait) if wait.kind.is_person())
            };
            let asked = seen.rows.iter().filter(asks).count();
            // An answer names its step: one that is late answers the step's next question, when there is one.
            if taken > asked {
                faults.push(format!("step {place} asked {asked} times and took {taken} answers"));
            }
            let mut journaled: BTreeSet<i64> = BTreeSet::new();
            for row in &seen.rows {
                let JournalEntry::Answered { signal, .. } = &row.entry else { continue };
                let Signal::Review { step, wait_seq, corrections, resolution, .. } = &**signal else { continue };
                if step.as_str() != id {
                    continue;
                }
                let same = |said: &Reviewed| said.corrections == *corrections && said.resolution == *resolution;
                let sure = asked == 1 && taken == 1;
                let was_said = mine.iter().any(|said| same(said) && (said.taken == Some(true) || !sure));
                if !was_said || !journaled.insert(*wait_seq) {
                    faults.push(format!("question {place}{wait_seq} took what nobody said, or twice: {corrections:?}"));
                }
            }
        }
        let mut delegated: BTreeSet<String> = BTreeSet::new();
        for delegation in world.mem.delegations(seen.task.id) {
            let id = delegation.workflow_id;
            let first = |said: &&CalledBack| matches!(said.outcome, Some(Accepted | Kept | Late));
            let firsts = world.ledger.callbacks(&id).iter().filter(first).count();
            if firsts > 1 || !delegated.insert(id.clone()) {
                faults.push(format!("delegation {id} took {firsts} answers, or was made twice"));
            }
        }
    }
}

/// The step with that number, wherever it stands.
pub fn find(program: &Program, n: u32) -> Option<&Step> {
    fn within(steps: &[Step], n: u32) -> Option<&Step> {
        steps.iter().find_map(|step| {
            if step.n == n {
                return Some(step);
            }
            match &step.kind {
                Kind::Inject(steps) | Kind::Patch { steps, .. } | Kind::Child(Program { steps, .. }) => {
                    within(steps, n)
                }
                kind => kind.lists().into_iter().find_map(|list| within(list, n)),
            }
        })
    }
    within(&program.steps, n)
}
