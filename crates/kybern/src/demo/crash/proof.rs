//! What the facts prove, claim by claim. Each claim is counted, and fails by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::{CrashFacts, TaskReport};
use super::world::Delivery;
use crate::output::count;

/// A claim, held against the facts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Claim {
    /// What is claimed.
    pub(super) says: &'static str,
    /// What was counted.
    pub(super) figure: String,
    /// Where it was counted.
    pub(super) counted: &'static str,
    /// What speaks against it; nothing where it holds.
    pub(super) against: Vec<String>,
}

impl Claim {
    pub(super) const fn holds(&self) -> bool {
        self.against.is_empty()
    }
}

/// Every claim, in the order in which it is told. `expected_kills` is how often the server should have been killed.
pub(super) fn claims(facts: &CrashFacts, expected_kills: usize) -> Vec<Claim> {
    vec![
        interrupted(facts, expected_kills),
        nothing_lost(facts),
        no_step_twice(facts),
        orders_once(facts),
        told_once(facts),
        drafts_once(facts),
        no_question_again(facts),
        journals_whole(facts),
    ]
}

fn interrupted(facts: &CrashFacts, expected: usize) -> Claim {
    let entries = facts.tasks.iter().flat_map(|task| &task.log);
    let taken_up = entries.filter(|entry| entry.event == "zombie_reset").count();
    let mut against = Vec::new();
    if facts.kills != expected {
        against.push(format!("{} kills, {expected} were meant", facts.kills));
    }
    if taken_up == 0 {
        against.push("no task was at work when the server died: nothing was interrupted".to_owned());
    }
    Claim {
        says: "killed in the middle of the work, resumed by itself",
        figure: format!("{} kills; work was cut off and taken up again {taken_up} times", facts.kills),
        counted: "SIGKILL as the exit status of each process; zombie_reset in the tasks' logs",
        against,
    }
}

fn nothing_lost(facts: &CrashFacts) -> Claim {
    let mut against = Vec::new();
    let mut of_message: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for taken in &facts.taken {
        of_message.entry(&taken.message).or_default().insert(&taken.task);
    }
    let mut known = BTreeSet::new();
    for (message, tasks) in &of_message {
        if tasks.len() != 1 {
            against.push(format!("{message} became {} tasks", tasks.len()));
        }
        for id in tasks {
            match facts.task(id).map(|task| task.status.as_str()) {
                Some("completed" | "needs_review") => {}
                Some(status) => against.push(format!("{message}: task {id} is {status}")),
                None => against.push(format!("{message} was acknowledged as task {id}, which is not there")),
            }
            if !known.insert(*id) {
                against.push(format!("task {id} stands for two messages"));
            }
        }
    }
    let unasked = facts.tasks.iter().filter(|task| !task.is_child && !known.contains(task.id.as_str()));
    against.extend(unasked.map(|task| format!("task {} came of no message that was handed in", task.id)));
    let mails = facts.taken.iter().filter(|taken| taken.is_mail).count();
    let orders = facts.taken.len() - mails;
    let again = facts.taken.iter().filter(|taken| taken.tries > 1).count();
    Claim {
        says: "nothing is lost, nothing is there twice",
        figure: format!(
            "{mails} mails (one came twice) and {orders} orders acknowledged, {again} of them sent again after a kill: \
             {} messages, {} tasks",
            of_message.len(),
            known.len()
        ),
        counted: "Message-IDs and order keys of what was answered with 202, against the list of tasks",
        against,
    }
}

fn no_step_twice(facts: &CrashFacts) -> Claim {
    let (mut steps, mut against) = (0, Vec::new());
    for task in &facts.tasks {
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in task.log.iter().filter(|entry| entry.event == "step_completed") {
            *times.entry(&entry.step).or_default() += 1;
        }
        steps += times.len();
        let twice = times.into_iter().filter(|(_, times)| *times > 1);
        against.extend(twice.map(|(step, times)| format!("step {step} of task {} was done {times} times", task.id)));
    }
    Claim {
        says: "no step is done twice",
        figure: format!("{steps} steps of {} tasks, each completed once", facts.tasks.len()),
        counted: "step_completed in the tasks' logs",
        against,
    }
}

/// One key and one effect for everything that a request is about; the requests, and how many of them were repeats.
fn each_once<'a>(deliveries: &[&Delivery], about: impl Iterator<Item = &'a str>, against: &mut Vec<String>) -> usize {
    let mut meant = BTreeSet::new();
    for what in about {
        meant.insert(what);
        let mine: Vec<&&Delivery> = deliveries.iter().filter(|one| one.about == what).collect();
        let effects = mine.iter().filter(|one| one.took_effect).count();
        let keys: BTreeSet<&str> = mine.iter().map(|one| one.key.as_str()).collect();
        let lives: BTreeSet<usize> = mine.iter().map(|one| one.life).collect();
        if effects != 1 {
            against.push(format!("{what} took effect {effects} times, under the keys {keys:?}"));
        }
        if lives.len() != mine.len() {
            against.push(format!("{what} was sent again by a process that was not killed"));
        }
    }
    let strangers = deliveries.iter().filter(|one| !meant.contains(one.about.as_str()));
    against.extend(strangers.map(|one| format!("a request about {:?}, which nobody has ended", one.about)));
    deliveries.iter().filter(|one| !one.took_effect).count()
}

fn orders_once(facts: &CrashFacts) -> Claim {
    let deliveries: Vec<&Delivery> = facts.deliveries.iter().filter(|one| one.is_order).collect();
    let mut against = Vec::new();
    let again = each_once(&deliveries, facts.orders().map(|(order, _)| order), &mut against);
    Claim {
        says: "every order is placed once",
        figure: format!(
            "{} orders, {} requests: {} took effect; {again} repeated a key after a kill and had none",
            facts.orders().count(),
            deliveries.len(),
            deliveries.len() - again
        ),
        counted: "requests at the receiver, which runs outside the process that was killed",
        against,
    }
}

fn told_once(facts: &CrashFacts) -> Claim {
    let deliveries: Vec<&Delivery> = facts.deliveries.iter().filter(|one| !one.is_order).collect();
    let completed = || facts.tasks.iter().filter(|task| task.status == "completed").map(|task| task.id.as_str());
    let mut against = Vec::new();
    let again = each_once(&deliveries, completed(), &mut against);
    Claim {
        says: "every completed task is announced once",
        figure: format!(
            "{} completed tasks, {} requests: {} took effect; {again} repeated a key after a kill and had none",
            completed().count(),
            deliveries.len(),
            deliveries.len() - again
        ),
        counted: "completion webhooks at the receiver",
        against,
    }
}

fn drafts_once(facts: &CrashFacts) -> Claim {
    let mut against = Vec::new();
    let mut known = BTreeSet::new();
    for message in &facts.outbox {
        if !known.insert(message) {
            against.push(format!("twice in the outbox: {message}"));
        }
    }
    Claim {
        says: "every notice that mails have made is there once",
        figure: format!("{} notices, each with a task, a receiver and a subject of its own", facts.outbox.len()),
        counted: "e-mails in the outbox; none leaves this machine",
        against,
    }
}

fn no_question_again(facts: &CrashFacts) -> Claim {
    let (mut answers, mut again, mut late, mut against) = (0, 0, 0, Vec::new());
    for (order, id) in facts.orders() {
        let asked: Vec<_> = facts.questions.iter().filter(|question| question.order == order).collect();
        let lives: BTreeSet<usize> = asked.iter().map(|question| question.life).collect();
        again += asked.len().saturating_sub(1);
        if lives.len() != asked.len() {
            against.push(format!("{order} was asked about twice by a process that was not killed"));
        }
        let journaled = facts.task(id).into_iter().flat_map(answered).collect::<Vec<_>>();
        match (journaled.as_slice(), asked.last()) {
            ([at], Some(last)) => {
                answers += 1;
                if last.at > *at {
                    late += 1;
                    against.push(format!("{order} was asked about after its answer was in the journal"));
                }
            }
            (found, _) => {
                against.push(format!("{order}: {}, {}", count(asked.len(), "question"), count(found.len(), "answer")))
            }
        }
    }
    Claim {
        says: "no model is asked again for what it has answered",
        figure: format!(
            "{}, {} in the journal; {again} asked again because the server died before there was an answer, {late} \
             after one was journaled",
            count(facts.questions.len(), "question"),
            count(answers, "answer"),
        ),
        counted: "questions at the model, which runs outside the process that was killed, against the times in the logs",
        against,
    }
}

/// When the journal of a task got the model's answer.
fn answered(task: &TaskReport) -> impl Iterator<Item = kybern_core::time::Timestamp> {
    let ended = task.log.iter().filter(|entry| entry.event == "step_completed" && entry.step == super::DECIDE);
    ended.map(|entry| entry.at)
}

fn journals_whole(facts: &CrashFacts) -> Claim {
    let completed = facts.tasks.iter().filter(|task| task.status == "completed");
    let (good, bad): (Vec<_>, Vec<_>) = completed.partition(|task| task.replays);
    let mut against: Vec<String> =
        bad.into_iter().map(|task| format!("the journal of task {} arrives elsewhere", task.id)).collect();
    let (valid, length) = &facts.audit;
    if !valid {
        against.push("the audit chain is broken".to_owned());
    }
    Claim {
        says: "the journals are whole",
        figure: format!("{} completed tasks replay to the same end; audit chain of {length} events", good.len()),
        counted: "a replay of each, with no model and no effect; the hashes of the audit trail",
        against,
    }
}

#[cfg(test)]
mod tests {
    use kybern_core::time::Timestamp;

    use super::*;
    use crate::demo::crash::facts::{Acknowledged, LogLine};
    use crate::demo::crash::world::AskedQuestion;

    fn entry(event: &str, step: &str, at: i64) -> LogLine {
        LogLine { event: event.to_owned(), step: step.to_owned(), at: Timestamp::from_millis(at) }
    }

    fn told(id: &str, log: Vec<LogLine>) -> TaskReport {
        TaskReport { id: id.to_owned(), status: "completed".to_owned(), is_child: false, log, replays: true }
    }

    fn taken(message: &str, is_mail: bool, task: &str) -> Acknowledged {
        Acknowledged { message: message.to_owned(), is_mail, task: task.to_owned(), tries: 1 }
    }

    fn sent(is_order: bool, about: &str, life: usize, took_effect: bool) -> Delivery {
        let key = format!("key of {about}");
        Delivery { is_order, about: about.to_owned(), key, life, took_effect }
    }

    fn asked(life: usize, at: i64) -> AskedQuestion {
        AskedQuestion { order: "ORDER-1".to_owned(), life, at: Timestamp::from_millis(at) }
    }

    /// A mail that came twice, and an order whose server died twice: asking, and having ordered.
    fn facts() -> CrashFacts {
        let order = vec![
            entry("zombie_reset", "", 20),
            entry("step_completed", "decide", 30),
            entry("step_completed", "place", 50),
        ];
        CrashFacts {
            kills: 2,
            taken: vec![
                taken("<a@example.com>", true, "t1"),
                taken("<a@example.com>", true, "t1"),
                taken("ORDER-1", false, "t2"),
            ],
            tasks: vec![told("t1", vec![entry("step_completed", "read", 5)]), told("t2", order)],
            questions: vec![asked(1, 10), asked(2, 25)],
            deliveries: vec![
                sent(true, "ORDER-1", 2, true),
                sent(true, "ORDER-1", 3, false),
                sent(false, "t1", 1, true),
                sent(false, "t2", 3, true),
            ],
            outbox: vec!["t1 a@example.com hello".to_owned()],
            audit: (true, "9".to_owned()),
        }
    }

    /// The claims that do not hold of the facts with that fault in them.
    fn broken(plant: impl Fn(&mut CrashFacts)) -> Vec<&'static str> {
        let mut facts = facts();
        plant(&mut facts);
        claims(&facts, 2).into_iter().filter(|claim| !claim.holds()).map(|claim| claim.says).collect()
    }

    #[test]
    fn facts_without_a_fault_prove_every_claim() {
        let claims = claims(&facts(), 2);
        assert!(claims.iter().all(Claim::holds), "{claims:?}");
        assert!(claims[6].figure.starts_with("2 questions, 1 answer in") && claims[6].figure.contains("1 asked again"));
    }

    #[test]
    fn what_is_lost_or_there_twice_is_found() {
        const LOST: &str = "nothing is lost, nothing is there twice";
        assert!(broken(|facts| facts.tasks.retain(|task| task.id != "t1")).contains(&LOST));
        assert_eq!(
            broken(|facts| facts.tasks.push(told("t3", Vec::new()))),
            [LOST, "every completed task is announced once"]
        );
        assert!(broken(|facts| facts.taken[1].task = "t2".to_owned()).contains(&LOST));
        assert!(broken(|facts| facts.tasks[0].status = "failed".to_owned()).contains(&LOST));
    }

    #[test]
    fn what_is_done_twice_is_found() {
        let again = |facts: &mut CrashFacts| facts.tasks[1].log.push(entry("step_completed", "place", 60));
        assert_eq!(broken(again), ["no step is done twice"]);
        let doubled = |facts: &mut CrashFacts| {
            facts.deliveries.push(Delivery { key: "another".to_owned(), ..sent(true, "ORDER-1", 4, true) })
        };
        assert_eq!(broken(doubled), ["every order is placed once"]);
        assert_eq!(
            broken(|facts| facts.deliveries.push(sent(true, "ORDER-1", 3, false))),
            ["every order is placed once"]
        );
        assert_eq!(broken(|facts| drop(facts.deliveries.remove(0))), ["every order is placed once"]);
        assert_eq!(broken(|facts| drop(facts.deliveries.pop())), ["every completed task is announced once"]);
        let notice = |facts: &mut CrashFacts| facts.outbox.push("t1 a@example.com hello".to_owned());
        assert_eq!(broken(notice), ["every notice that mails have made is there once"]);
    }

    #[test]
    fn a_question_that_was_answered_is_not_asked_again() {
        const AGAIN: &str = "no model is asked again for what it has answered";
        assert_eq!(broken(|facts| facts.questions.push(asked(3, 40))), [AGAIN]);
        assert_eq!(broken(|facts| facts.questions.push(asked(2, 26))), [AGAIN]);
        assert_eq!(broken(|facts| facts.questions.clear()), [AGAIN]);
    }

    #[test]
    fn a_storm_that_hit_nothing_proves_nothing() {
        const HIT: &str = "killed in the middle of the work, resumed by itself";
        assert_eq!(broken(|facts| facts.kills = 1), [HIT]);
        assert_eq!(broken(|facts| drop(facts.tasks[1].log.remove(0))), [HIT]);
        assert_eq!(broken(|facts| facts.audit.0 = false), ["the journals are whole"]);
        assert_eq!(broken(|facts| facts.tasks[0].replays = false), ["the journals are whole"]);
    }
}
