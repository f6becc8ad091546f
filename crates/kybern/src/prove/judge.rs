//! What a run shows, held against the run in which nothing goes wrong.

use std::collections::BTreeMap;

use kybern_core::plan::step::LoopSource;
use kybern_core::plan::{StepKind, limits};
use kybern_core::task::{TaskStatus, WaitKind};
use serde_json::Value;

use super::answers::base_of;
use super::facts::{Facts, HTTP_NAMES};
use super::fault::Fault;
use super::report::{Finding, FindingKind};
use super::run::{AskedQuestion, RunEnd};
use super::stage::Call;

/// A run, as it is judged.
pub(super) struct Judged<'a> {
    pub(super) facts: &'a Facts,
    pub(super) clean: &'a RunEnd,
    pub(super) fault: Fault,
    /// The step that the fault strikes, under its derived id.
    pub(super) target: &'a str,
    /// The steps that did not run because of it.
    pub(super) skipped: &'a [String],
    /// What happens, in a sentence.
    pub(super) told: &'a str,
}

/// What a call did, by which two calls are the same to whoever is called.
type Deed = (String, String);

fn deed(call: &Call) -> Deed {
    (call.tool.clone(), call.args.to_string())
}

fn deeds(end: &RunEnd) -> BTreeMap<Deed, usize> {
    let mut deeds = BTreeMap::new();
    for call in end.calls.iter().filter(|call| call.took_effect) {
        *deeds.entry(deed(call)).or_insert(0) += 1;
    }
    deeds
}

impl Judged<'_> {
    /// Everything that the run shows.
    pub(super) fn findings(&self, end: &RunEnd) -> Vec<Finding> {
        let mut all = Vec::new();
        all.extend(self.never_ended(end));
        all.extend(self.left_to_person(end));
        if !matches!(self.fault, Fault::Skipped | Fault::OtherWay) {
            all.extend(self.doubled(end));
        }
        if end.is_completed() {
            all.extend(self.lost(end));
        }
        if end.status == Some(TaskStatus::Failed) {
            all.extend(self.stopped(end));
        }
        if matches!(self.fault, Fault::Refused | Fault::Unanswered | Fault::AnsweredNo) {
            all.extend(self.unguarded(end));
        }
        all
    }

    fn base(&self) -> &str {
        base_of(self.target)
    }

    fn finding(&self, kind: FindingKind, step: &str, message: impl Into<String>, remedy: &str) -> Finding {
        Finding {
            kind,
            step: Some(step.to_owned()),
            run: Some(self.told.to_owned()),
            message: message.into(),
            remedy: remedy.to_owned(),
            is_note: false,
        }
    }

    fn never_ended(&self, end: &RunEnd) -> Option<Finding> {
        if end.status.is_some() {
            return None;
        }
        let (kind, step) = (FindingKind::NeverEnds, self.base());
        if self.fault == Fault::Unanswered {
            let remedy =
                "nothing, if somebody looks after the inbox; an input step with timeoutMs fails after that time";
            let message = "the task waits for a person without an end";
            return Some(Finding { is_note: true, ..self.finding(kind, step, message, remedy) });
        }
        Some(self.finding(kind, step, "the task does not end", "give every wait an end"))
    }

    fn left_to_person(&self, end: &RunEnd) -> Vec<Finding> {
        let in_doubt = |asked: &&AskedQuestion| asked.kind == WaitKind::Ambiguous;
        let told = |asked: &AskedQuestion| {
            let step = base_of(&asked.step);
            let is_declared = self.facts.step(step).is_some_and(|fact| match &fact.spec.kind {
                StepKind::Tool { args, .. } => args.get("effect").and_then(Value::as_str) == Some("unkeyed"),
                _ => false,
            });
            let remedy = "call a tool whose receiver recognises an idempotency key (effect keyed); where there is none \
                          and a person is to look, say so in the plan with core.http_request and \"effect\": \"unkeyed\"";
            let message = "nobody knows whether the call had its effect, and the task waits until a person has looked";
            Finding { is_note: is_declared, ..self.finding(FindingKind::LeftToPerson, step, message, remedy) }
        };
        end.asked.iter().filter(in_doubt).map(told).collect()
    }

    fn doubled(&self, end: &RunEnd) -> Vec<Finding> {
        let clean = deeds(self.clean);
        let mut all = Vec::new();
        for (deed_done, times) in deeds(end) {
            let allowed = clean.get(&deed_done).copied().unwrap_or(1).max(1);
            if times <= allowed {
                continue;
            }
            let Some(last) = end.calls.iter().rfind(|call| call.took_effect && deed(call) == deed_done) else {
                continue;
            };
            let step = base_of(&last.step);
            let message = format!("{} has the same effect {times} times, under different keys", last.tool);
            let remedy = "let the step be tried again (retry) instead of doing the same in another step, or look \
                          outside first whether it happened";
            all.push(self.finding(FindingKind::Doubled, step, message, remedy));
        }
        all
    }

    fn lost(&self, end: &RunEnd) -> Option<Finding> {
        let done = deeds(end);
        let is_missing = |call: &&Call| call.took_effect && !done.contains_key(&deed(call));
        let missing = self.clean.calls.iter().find(is_missing)?;
        let step = base_of(&missing.step);
        let message = format!("{} is not done, and the task says that it is completed", missing.tool);
        if self.fault.is_survived() {
            let remedy = "let the step be tried more than once, or let its failure stop the task";
            return Some(self.finding(FindingKind::Lost, step, message, remedy));
        }
        let failed = matches!(self.fault, Fault::FailsForGood | Fault::CalledBackFailed | Fault::NotCalledBack);
        if !failed || self.base() != step {
            return None;
        }
        let holders = self.facts.with_holders(step);
        if holders.iter().any(|holder| self.facts.is_read(holder)) {
            return None;
        }
        let in_loop = self.facts.step(step).is_some_and(|fact| fact.in_loop.is_some());
        let remedy = if in_loop {
            "let the failure of an item stop the task, or read the loop's results, so that somebody learns which items \
             are missing"
        } else {
            "nothing, if it may be left out; else leave out \"stopOnFailure\": false, or read the step's status later"
        };
        // Of one step its author has decided that; of some items of a list nobody can have.
        Some(Finding { is_note: !in_loop, ..self.finding(FindingKind::Lost, step, message, remedy) })
    }

    fn stopped(&self, end: &RunEnd) -> Option<Finding> {
        let at = end.step.as_deref().map(base_of);
        let step = at.unwrap_or("output");
        let why = end.error.as_deref().unwrap_or("it fails");
        let target = self.facts.step(self.base());
        match self.fault {
            Fault::None => None,
            Fault::Skipped | Fault::OtherWay => {
                let reads = self.skipped.iter().any(|skipped| self.facts.needs(at, skipped));
                let message = format!("the task fails: {why}");
                let remedy = "write `… if steps.ID is defined else …` or `| default(…)` for what a skipped step leaves \
                              out, or give the step that reads it the same condition";
                Some(Finding { is_note: !reads, ..self.finding(FindingKind::Stops, step, message, remedy) })
            }
            // With one try the plan itself says that the first failure counts.
            Fault::FailsOnce | Fault::AnswerLost => {
                let one_try = target.and_then(|fact| fact.spec.retry).is_some_and(|retry| retry.max_attempts == 1);
                (!one_try).then(|| {
                    let message = format!("the task fails: {why}");
                    Finding {
                        is_note: true,
                        ..self.finding(FindingKind::Stops, step, message, "let the step be tried more than once")
                    }
                })
            }
            fault if fault.is_survived() => {
                let message = format!("the task fails: {why}");
                Some(self.finding(FindingKind::Stops, step, message, "let every step that can fail be tried again"))
            }
            _fails => target.is_some_and(|fact| fact.is_tolerated).then(|| {
                let message = format!("the failure of {} is tolerated, and the task fails here: {why}", self.base());
                let remedy = "read what a failed step may not have left with `| default(…)`, give this step a condition \
                              on the status of the other, or let the failure stop the task where it happens";
                self.finding(FindingKind::Stops, step, message, remedy)
            }),
        }
    }

    fn unguarded(&self, end: &RunEnd) -> Option<Finding> {
        let (target, clean) = (self.base(), deeds(self.clean));
        let asked = self.clean.asked.iter().find(|asked| base_of(&asked.step) == target)?;
        let behind = |call: &&Call| {
            let step = base_of(&call.step);
            call.took_effect && self.facts.is_behind(step, target) && !self.facts.runs_always(step)
        };
        let is_in_clean = |call: &&Call| clean.contains_key(&deed(call));
        let first = end.calls.iter().filter(behind).find(is_in_clean);
        let prevents_nothing = asked.is_approval && !clean.is_empty() && deeds(end) == clean;
        if self.fault == Fault::AnsweredNo {
            // A no that something reads may change more than what is done outside.
            let call = first.filter(|_| prevents_nothing && !self.is_looked_at())?;
            let message =
                format!("{} is done although {target} was answered with no: nothing reads the answer", call.tool);
            let remedy = "give the step a condition on the answer";
            return Some(self.finding(FindingKind::Unguarded, base_of(&call.step), message, remedy));
        }
        let refused = if self.fault == Fault::Refused { "was refused" } else { "was never answered" };
        if let Some(call) = first.filter(|call| !self.facts.reads_from(Some(base_of(&call.step)), target)) {
            let message = format!("{} is done although {target} {refused}", call.tool);
            let remedy = "let a refusal stop the task, or give the step a condition on the status of the question";
            return Some(self.finding(FindingKind::Unguarded, base_of(&call.step), message, remedy));
        }
        if self.fault == Fault::Refused && prevents_nothing {
            let call = end.calls.iter().find(|call| call.took_effect)?;
            let message = format!("{} is done before {target} asks: refusing prevents nothing", call.tool);
            return Some(self.finding(FindingKind::Unguarded, base_of(&call.step), message, "ask first"));
        }
        None
    }

    /// Whether an expression reads what the person answered.
    fn is_looked_at(&self) -> bool {
        let fields = self.facts.step(self.base()).map(|fact| match &fact.spec.kind {
            StepKind::Input { fields, .. } => fields.clone(),
            StepKind::Tool { args, .. } => args.get("fields").cloned().unwrap_or_default(),
            _ => Value::Null,
        });
        let form = kybern_engine::schema::form(&fields.unwrap_or_default());
        let names = form.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let in_state = |name: &String| {
            let path = ["state".to_owned(), name.clone()];
            self.facts.reads.iter().any(|read| read.path.starts_with(&path))
        };
        self.facts.is_read(self.base()) || names.keys().any(in_state)
    }
}

/// What the run shows in which nothing goes wrong.
pub(super) fn of_clean(facts: &Facts, clean: &RunEnd) -> Vec<Finding> {
    let finding = |kind, step: Option<&str>, message: String, remedy: &str| Finding {
        kind,
        step: step.map(str::to_owned),
        run: Some(Fault::None.told("", "")),
        message,
        remedy: remedy.to_owned(),
        is_note: false,
    };
    let mut all = Vec::new();
    if !clean.is_completed() {
        let at = clean.step.as_deref().map(base_of);
        let why = clean.error.as_deref().unwrap_or("it does not end");
        let in_while = at.into_iter().flat_map(|step| facts.with_holders(step)).find(|step| {
            let kind = facts.step(step).map(|fact| &fact.spec.kind);
            matches!(kind, Some(StepKind::Loop { source: LoopSource::While(_), .. }))
        });
        all.push(match in_while {
            Some(holder) => {
                let remedy = format!(
                    "let a step in the loop change what its condition reads; without that it ends at its maxIterations \
                     ({} when not given) or at the task's maxSteps",
                    limits::DEFAULT_ITERATIONS
                );
                let message = format!("the loop does not end by its condition: {why}");
                finding(FindingKind::NeverEnds, Some(&holder), message, &remedy)
            }
            None => {
                let kind = if clean.status.is_none() { FindingKind::NeverEnds } else { FindingKind::Fails };
                let remedy = "correct the step, or say with --payload and --answers what really comes: values that \
                              nobody gave are made up";
                finding(kind, at, why.to_owned(), remedy)
            }
        });
    }
    for call in clean.calls.iter().filter(|call| call.was_swallowed) {
        let message = format!("{} carries the idempotency key of another call, and its receiver drops it", call.tool);
        let remedy = "leave the header Idempotency-Key to the server, which has one for each step and round, or put what \
                      is different into it";
        all.push(finding(FindingKind::Lost, Some(base_of(&call.step)), message, remedy));
    }
    let mut done: Vec<&Call> = Vec::new();
    for call in clean.calls.iter().filter(|call| call.took_effect) {
        let step = base_of(&call.step);
        let is_same =
            |known: &&&Call| known.step != call.step && base_of(&known.step) == step && deed(known) == deed(call);
        let over = facts.step(step).and_then(|fact| facts.step(fact.in_loop.as_deref()?)).map(|fact| &fact.spec.kind);
        let is_over = matches!(over, Some(StepKind::Loop { source: LoopSource::Over(_), .. }));
        if is_over && done.iter().any(|known| is_same(&known)) {
            let message = format!("{} does the same in every round of its loop", call.tool);
            let remedy = "use the item in the arguments, or take the step out of the loop";
            all.push(finding(FindingKind::Doubled, Some(step), message, remedy));
        }
        done.push(call);
    }
    all
}

/// What the plan alone shows: parallel branches that write one name, of which the last one stays.
pub(super) fn of_plan(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    for holder in facts.steps.iter().filter(|step| matches!(step.spec.kind, StepKind::Parallel { .. })) {
        let mut by_name: BTreeMap<String, (usize, String)> = BTreeMap::new();
        for step in &facts.steps {
            let Some((_, branch)) = step.around.iter().find(|(id, _)| *id == holder.id) else { continue };
            let mut names = facts.written_by(step);
            if step.is_http && step.spec.save_as.is_none() {
                names.extend(HTTP_NAMES.map(str::to_owned));
            }
            for name in names {
                let is_read = facts.reads.iter().any(|read| {
                    let is_outside = match read.step.as_deref() {
                        Some(reader) => facts.is_behind(reader, &holder.id),
                        None => true,
                    };
                    is_outside && read.path.starts_with(&["state".to_owned(), name.clone()])
                });
                match by_name.get(&name) {
                    Some((other, first)) if other != branch && is_read => all.push(Finding {
                        kind: FindingKind::Overwritten,
                        step: Some(step.id.clone()),
                        run: None,
                        message: format!(
                            "it writes state.{name}, and so does {first} in another branch of {}: only the last \
                             branch's value is left",
                            holder.id
                        ),
                        remedy: "give each its own name with saveAs, or read steps.ID.result".to_owned(),
                        is_note: false,
                    }),
                    Some(_) => {}
                    None => drop(by_name.insert(name, (*branch, step.id.clone()))),
                }
            }
        }
    }
    all
}
