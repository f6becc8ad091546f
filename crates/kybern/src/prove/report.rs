//! What a proof has found, for people and for machines.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::fault::Fault;

/// What would happen to somebody's work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FindingKind {
    /// Something is not done, and the task says that it is completed.
    Lost,
    /// Something is done twice.
    Doubled,
    /// The task waits for a person who has to find out what happened.
    LeftToPerson,
    /// The task does not end, or only by a limit.
    NeverEnds,
    /// What the plan tolerates stops the task all the same.
    Stops,
    /// Something is done that a person has not agreed to.
    Unguarded,
    /// One value takes the place of another that is still wanted.
    Overwritten,
    /// The task fails although nothing goes wrong.
    Fails,
    /// No run came to the step.
    NotReached,
}

impl FindingKind {
    /// As people read it.
    pub(crate) const fn told(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Doubled => "doubled",
            Self::LeftToPerson => "left to a person",
            Self::NeverEnds => "never ends",
            Self::Stops => "stops the task",
            Self::Unguarded => "done without a yes",
            Self::Overwritten => "overwritten",
            Self::Fails => "fails",
            Self::NotReached => "not reached",
        }
    }
}

/// One thing that a proof found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding {
    pub(crate) kind: FindingKind,
    /// The step as the plan writes it; `None` for the output, or the plan as a whole.
    pub(crate) step: Option<String>,
    /// In which run; `None` for what the plan alone shows.
    pub(crate) run: Option<String>,
    pub(crate) message: String,
    pub(crate) remedy: String,
    /// Whether it is for information: the plan itself says so, or nothing is sure.
    pub(crate) is_note: bool,
}

/// One run that was made.
#[derive(Clone, Debug)]
pub(crate) struct RunReport {
    pub(crate) fault: Fault,
    pub(crate) step: Option<String>,
    /// In a sentence.
    pub(crate) told: String,
}

/// What was found of one plan.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    pub(crate) plan: String,
    pub(crate) runs: Vec<RunReport>,
    /// Runs that were not made, because there would have been too many.
    pub(crate) left_out: usize,
    /// Calls that the recorders saw in all runs.
    pub(crate) calls: usize,
    /// Of every run, findings first, then notes.
    pub(crate) findings: Vec<Finding>,
}

impl Proof {
    /// Everything that is no note.
    pub(crate) fn faults(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| !finding.is_note)
    }

    /// What people read: of each step one finding of a kind, from the first run that showed it, and no note beside it.
    pub(crate) fn in_short(&self) -> Vec<&Finding> {
        let mut seen = BTreeSet::new();
        self.findings.iter().filter(|finding| seen.insert((finding.kind, &finding.step, in_plan(finding)))).collect()
    }

    pub(crate) fn to_json(&self) -> Value {
        let (notes, findings): (Vec<&Finding>, Vec<&Finding>) =
            self.findings.iter().partition(|finding| finding.is_note);
        let run = |run: &RunReport| json!({"fault": run.fault.name(), "step": run.step, "told": run.told});
        json!({
            "plan": self.plan,
            "runs": self.runs.iter().map(run).collect::<Vec<_>>(),
            "runsLeftOut": self.left_out,
            "calls": self.calls,
            "findings": findings,
            "notes": notes,
        })
    }
}

/// JUnit's XML: a suite for each plan, a test case for each run and one for what the plan alone shows. Notes are no
/// failures.
pub(crate) fn junit(proofs: &[Proof]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plan prove\">\n");
    for proof in proofs {
        let mut cases = vec![("the plan as it is written".to_owned(), None)];
        cases.extend(proof.runs.iter().map(|run| (run.told.clone(), Some(&run.told))));
        let failures = cases.iter().filter(|(_, told)| !failed(proof, *told).is_empty()).count();
        xml.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">\n",
            escaped(&proof.plan),
            cases.len()
        ));
        for (name, told) in &cases {
            xml.push_str(&format!("    <testcase classname=\"{}\" name=\"{}\"", escaped(&proof.plan), escaped(name)));
            let found = failed(proof, *told);
            let Some(first) = found.first() else {
                xml.push_str("/>\n");
                continue;
            };
            let lines: Vec<String> = found.iter().map(|finding| line_of(finding)).collect();
            xml.push_str(&format!(
                ">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                escaped(first.kind.told()),
                escaped(&first.message),
                escaped(&lines.join("\n"))
            ));
        }
        xml.push_str("  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// What the plan alone shows of a step may be several things.
fn in_plan(finding: &Finding) -> Option<&str> {
    finding.run.is_none().then_some(finding.message.as_str())
}

/// The findings of one run, or those that the plan alone shows.
fn failed<'a>(proof: &'a Proof, told: Option<&String>) -> Vec<&'a Finding> {
    proof.faults().filter(|finding| finding.run.as_ref() == told).collect()
}

/// A finding in one line: step, what happens, in which run, remedy.
pub(crate) fn line_of(finding: &Finding) -> String {
    let step = finding.step.as_deref().unwrap_or("the plan");
    let run = finding.run.as_ref().map(|run| format!(", when {run}")).unwrap_or_default();
    format!("{step}: {}: {}{run}. Remedy: {}", finding.kind.told(), finding.message, finding.remedy)
}

/// A text inside XML: what XML cannot hold at all becomes a replacement character.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            '\t' => safe.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_holds_every_text() {
        let finding = Finding {
            kind: FindingKind::Lost,
            step: Some("send".to_owned()),
            run: Some("a < b".to_owned()),
            message: "\"x\" & \u{1}".to_owned(),
            remedy: "none".to_owned(),
            is_note: false,
        };
        let run = RunReport { fault: Fault::FailsOnce, step: None, told: "a < b".to_owned() };
        let proof =
            Proof { plan: "test.x".to_owned(), runs: vec![run], left_out: 0, calls: 1, findings: vec![finding] };
        let xml = junit(&[proof]);
        assert!(xml.contains("tests=\"2\" failures=\"1\""), "{xml}");
        assert!(xml.contains("name=\"a &lt; b\"") && xml.contains("message=\"&quot;x&quot; &amp; \u{fffd}\""), "{xml}");
    }
}
