//! What was said, held against the truth.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};

use super::feed::Fed;
use super::normal::{normal, same};
use super::set::{ExpectedRequest, Mail, Part, Review, Set, name_of};
use super::told::{Claim, MailVerdict, Request};

/// Bins of confidence, a tenth each.
const BINS: usize = 10;

/// How often a confidence was right, by tenths of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Reliability {
    /// Answers, the sum of their confidence, and how many were right.
    pub(super) bins: [(usize, f64, usize); BINS],
}

impl Reliability {
    fn add(&mut self, confidence: f64, right: bool) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 9")]
        let bin = ((confidence * 10.0).clamp(0.0, 9.0)) as usize;
        self.bins[bin].0 += 1;
        self.bins[bin].1 += confidence;
        self.bins[bin].2 += usize::from(right);
    }
}

/// Counts of one field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// Values that had to be found, and those that were.
    pub(super) wanted: usize,
    pub(super) found: usize,
    /// Values that were claimed, those of them that are wrong, and those that the truth warns of.
    pub(super) claimed: usize,
    pub(super) wrong: usize,
    pub(super) traps: usize,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.wanted += other.wanted;
        self.found += other.found;
        self.claimed += other.claimed;
        self.wrong += other.wrong;
        self.traps += other.traps;
    }

    pub(super) fn recall(self) -> Option<f64> {
        share(self.found, self.wanted)
    }

    pub(super) fn precision(self) -> Option<f64> {
        share(self.claimed - self.wrong, self.claimed)
    }

    /// The harmonic mean of precision and recall; `None` when there was nothing to find and nothing was claimed wrongly.
    fn f1(self) -> Option<f64> {
        let missed = self.wanted - self.found;
        share(2 * self.found, 2 * self.found + self.wrong + missed)
    }
}

/// A share; `None` of nothing.
pub(super) fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What was wrong with one mail.
#[derive(Debug)]
pub(super) struct Notes {
    pub(super) mail: String,
    pub(super) about: String,
    /// How bad it is: a wrong decision weighs most.
    pub(super) weight: f64,
    pub(super) notes: Vec<String>,
}

/// The result.
#[derive(Debug, Default)]
pub(super) struct Score {
    pub(super) mails: usize,
    /// Mails that were decided without a person, and those of them with the right intent.
    pub(super) decided: usize,
    pub(super) right: usize,
    pub(super) confused: Vec<String>,
    /// Mails that a person had to see, and those that were not shown to anybody.
    pub(super) reviews_needed: usize,
    pub(super) missed: Vec<String>,
    pub(super) needless: Vec<String>,
    pub(super) fields: BTreeMap<String, Counts>,
    pub(super) all: Counts,
    /// Of each mail that has one.
    pub(super) f1: Vec<f64>,
    pub(super) wrong_vins: Vec<String>,
    pub(super) intents: Reliability,
    pub(super) values: Reliability,
    pub(super) requests: Requests,
    pub(super) notes: Vec<Notes>,
    times: Vec<Duration>,
}

/// Loss-run requests that were made.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub(super) expected: usize,
    pub(super) made: usize,
    pub(super) missing: Vec<String>,
    pub(super) unwanted: Vec<String>,
    pub(super) twice: usize,
    pub(super) policies_expected: usize,
    pub(super) policies_right: usize,
}

impl Score {
    /// Scores a part of a set.
    pub(super) fn of(set: &Set, part: Part, fed: &Fed) -> Self {
        let mut score = Self::default();
        let vocabulary: BTreeSet<&String> =
            set.truth.files.values().flat_map(|mail| mail.fields.keys().chain(mail.not_fields.keys())).collect();
        for path in &set.mails {
            let name = name_of(path);
            let Some(truth) = set.truth.files.get(&name).filter(|_| set.has(&name, part)) else { continue };
            let outcome = fed.outcomes.get(&name);
            let mut told = outcome.and_then(|outcome| outcome.task.as_ref()).map(MailVerdict::of).unwrap_or_default();
            for claim in told.fields.get_mut("request_token").into_iter().flatten() {
                if let Some(known) = claim.value.as_str().and_then(|id| fed.tokens.get(id)) {
                    claim.value = json!(known);
                }
            }
            told.fields.retain(|field, _| vocabulary.contains(&(*field).to_owned()));
            score.times.extend(outcome.map(|outcome| outcome.time));
            let mut notes = Notes { mail: name, about: truth.about.clone(), weight: 0.0, notes: Vec::new() };
            if outcome.is_some_and(|outcome| outcome.duplicate) {
                notes.note(5.0, "taken for a duplicate".to_owned());
            }
            score.decision(&mut notes, truth, &told);
            score.fields(&mut notes, truth, &told);
            score.notes.push(notes);
        }
        score.requests = requests(set, part, &fed.requests);
        score.notes.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        score
    }

    fn decision(&mut self, notes: &mut Notes, truth: &Mail, told: &MailVerdict) {
        self.mails += 1;
        let right = told.intent.as_ref().is_some_and(|intent| truth.accepts(intent));
        if let Some(intent) = &told.intent {
            self.intents.add(told.confidence, truth.accepts(intent));
        }
        self.reviews_needed += usize::from(truth.review() == Review::Needed);
        if told.review {
            let asked = told.asked.join("; ");
            if truth.review() == Review::Needless {
                self.needless.push(notes.mail.clone());
                notes.note(1.0, format!("needless review ({asked})"));
            } else {
                notes.note(0.0, format!("review ({asked})"));
            }
            return;
        }
        self.decided += 1;
        self.right += usize::from(right);
        if !right {
            let intent = told.intent.as_deref().unwrap_or("none");
            self.confused.push(format!("{}: {intent} instead of {}", notes.mail, truth.intent));
            notes.note(4.0, format!("intent {intent} instead of {}", truth.intent));
        }
        if truth.review() == Review::Needed {
            self.missed.push(notes.mail.clone());
            notes.note(4.0, format!("review missed: {}", truth.review_reason));
        }
    }

    fn fields(&mut self, notes: &mut Notes, truth: &Mail, told: &MailVerdict) {
        let mut all = Counts::default();
        let none = Vec::new();
        let names: BTreeSet<&str> =
            truth.fields.keys().map(String::as_str).chain(told.fields.keys().copied()).collect();
        for field in names {
            let claims = told.fields.get(field).unwrap_or(&none);
            let (counts, missing) = self.field(notes, truth, field, claims);
            if !missing.is_empty() {
                notes.note(0.0, format!("{field} missing {}", missing.join(", ")));
            }
            self.fields.entry(field.to_owned()).or_default().add(counts);
            all.add(counts);
        }
        if !told.review {
            let known = |name: &str| values(truth, name).map(|(value, _)| value).collect::<Vec<_>>();
            let suspects = known("vin_suspect");
            let claimed = told.fields.get("vin").unwrap_or(&none);
            let passed = claimed.iter().map(|claim| normal("vin", &claim.value)).filter(|vin| suspects.contains(vin));
            self.wrong_vins.extend(passed.map(|vin| format!("{}: {vin}", notes.mail)));
        }
        self.all.add(all);
        if let Some(f1) = all.f1() {
            notes.weight += 5.0 * (1.0 - f1);
            self.f1.push(f1);
        }
    }

    fn field(&mut self, notes: &mut Notes, truth: &Mail, field: &str, claims: &[Claim]) -> (Counts, Vec<String>) {
        let mut wanted: Vec<String> = Vec::new();
        let mut neutral: Vec<String> = Vec::new();
        for (value, is_neutral) in values(truth, field) {
            let list = if is_neutral { &mut neutral } else { &mut wanted };
            if !list.contains(&value) {
                list.push(value);
            }
        }
        if field == "vin" {
            neutral.extend(values(truth, "vin_suspect").map(|(value, _)| value));
        }
        let traps: Vec<String> =
            truth.not_fields.get(field).into_iter().flatten().map(|value| normal(field, value)).collect();
        let mut claimed: Vec<String> = Vec::new();
        let mut counts = Counts { wanted: wanted.len(), ..Counts::default() };
        let mut wrong = Vec::new();
        for claim in claims {
            let value = normal(field, &claim.value);
            if claimed.contains(&value) {
                continue;
            }
            let right = wanted.iter().chain(&neutral).any(|known| same(field, &value, known));
            if let Some(confidence) = claim.confidence {
                self.values.add(confidence, right);
            }
            if !right {
                counts.wrong += 1;
                counts.traps += usize::from(traps.contains(&value));
                wrong.push(value.clone());
            }
            claimed.push(value);
        }
        counts.claimed = claimed.len();
        let is_found = |value: &&String| claimed.iter().any(|claim| same(field, claim, value));
        counts.found = wanted.iter().filter(is_found).count();
        if !wrong.is_empty() {
            notes.note(2.0 * counts.traps as f64, format!("{field} wrong {}", wrong.join(", ")));
        }
        (counts, wanted.iter().filter(|value| !is_found(value)).cloned().collect())
    }

    /// The mean of the mails' F1.
    pub(super) fn mean_f1(&self) -> Option<f64> {
        (!self.f1.is_empty()).then(|| self.f1.iter().sum::<f64>() / self.f1.len() as f64)
    }

    /// The time of a mail in the middle, and of the slowest.
    pub(super) fn times(&self) -> (Duration, Duration) {
        let mut times = self.times.clone();
        times.sort();
        (times.get(times.len() / 2).copied().unwrap_or_default(), times.last().copied().unwrap_or_default())
    }
}

/// The values of a field as they are compared, and whether they are neutral.
fn values<'t>(truth: &'t Mail, field: &'t str) -> impl Iterator<Item = (String, bool)> + 't {
    let wanted = truth.fields.get(field).into_iter().flatten();
    wanted.map(move |wanted| (normal(field, &wanted.value), truth.is_neutral(wanted)))
}

impl Notes {
    fn note(&mut self, weight: f64, note: String) {
        self.weight += weight;
        self.notes.push(note);
    }
}

fn requests(set: &Set, part: Part, made: &[Request]) -> Requests {
    let all = &set.truth.after_all.loss_run_requests;
    let hidden = |request: &ExpectedRequest| {
        set.truth.files.get(&request.made_by).is_some_and(|mail: &Mail| mail.hides(request))
    };
    let expected: Vec<&ExpectedRequest> = all
        .iter()
        .filter(|request| request.is_expected() && set.has(&request.made_by, part) && !hidden(request))
        .collect();
    let is_made = |wanted: &ExpectedRequest| made.iter().any(|request| request.is_of(&wanted.insured, &wanted.insurer));
    let has = |wanted: &ExpectedRequest, policy: &String| {
        let number = |text: &str| normal("policy_number", &Value::from(text));
        made.iter().any(|request| {
            request.is_of(&wanted.insured, &wanted.insurer)
                && request.policies.iter().any(|other| number(other) == number(policy))
        })
    };
    let key = |request: &Request| {
        (normal("insured_name", &json!(request.insured)), normal("carrier", &json!(request.insurer)))
    };
    let told = |insured: &str, insurer: &str| format!("{insured} / {insurer}");
    let unwanted =
        made.iter().filter(|request| !all.iter().any(|wanted| request.is_of(&wanted.insured, &wanted.insurer)));
    Requests {
        expected: expected.len(),
        made: expected.iter().filter(|wanted| is_made(wanted)).count(),
        missing: expected
            .iter()
            .filter(|wanted| !is_made(wanted))
            .map(|wanted| format!("{} ({})", told(&wanted.insured, &wanted.insurer), wanted.made_by))
            .collect(),
        unwanted: unwanted.map(|request| told(&request.insured, &request.insurer)).collect(),
        twice: made.len() - made.iter().map(key).collect::<BTreeSet<_>>().len(),
        policies_expected: expected.iter().map(|wanted| wanted.policies.len()).sum(),
        policies_right: expected
            .iter()
            .flat_map(|wanted| wanted.policies.iter().map(move |policy| (wanted, policy)))
            .filter(|(wanted, policy)| has(wanted, policy))
            .count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(review: Value) -> Mail {
        serde_json::from_value(json!({
            "about": "a request", "intent": "insurance.loss_run_request", "review": review,
            "attachments": [{"filename": "scan.pdf", "readable": "ocr"}],
            "fields": {
                "insured_name": [{"value": "Acme Freight LLC", "where": ["body"]}],
                "dot_number": [{"value": "123456", "where": ["att:scan.pdf"]}],
                "limit": [{"value": 5, "optional": true}]
            },
            "not_fields": {"insured_name": ["Our Agency"]}
        }))
        .unwrap()
    }

    fn scored(truth: &Mail, told: &MailVerdict) -> Score {
        let mut score = Score::default();
        let mut notes = Notes { mail: "a.eml".to_owned(), about: String::new(), weight: 0.0, notes: Vec::new() };
        score.decision(&mut notes, truth, told);
        score.fields(&mut notes, truth, told);
        score
    }

    fn told(review: bool, intent: &str, name: &str) -> MailVerdict {
        let claim = Claim { value: json!(name), confidence: Some(0.9) };
        let fields = [("insured_name", vec![claim])].into_iter().collect();
        MailVerdict { intent: Some(intent.to_owned()), review, confidence: 0.95, fields, ..MailVerdict::default() }
    }

    #[test]
    fn what_is_right_is_counted_and_what_nobody_can_read_is_neutral() {
        let score = scored(&mail(json!(false)), &told(false, "insurance.loss_run_request", "ACME FREIGHT"));
        assert_eq!((score.decided, score.right, score.missed.len()), (1, 1, 0));
        assert_eq!(score.all, Counts { wanted: 1, found: 1, claimed: 1, wrong: 0, traps: 0 });
        assert_eq!(score.mean_f1(), Some(1.0));
        assert_eq!(score.values.bins[9], (1, 0.9, 1));
    }

    #[test]
    fn a_request_whose_policies_stand_in_a_scan_is_neutral() {
        let mut mail = mail(json!(false));
        let policies = json!([
            {"value": "AB-1", "where": ["att:scan.pdf"]}, {"value": "AB-2", "where": ["body", "att:scan.pdf"]}
        ]);
        mail.fields.insert("policy_number".to_owned(), serde_json::from_value(policies).unwrap());
        let request = |policies: &[&str]| -> ExpectedRequest {
            let request = json!({"insured": "A", "insurer": "B", "made_by": "a.eml", "policies": policies});
            serde_json::from_value(request).unwrap()
        };
        assert!(mail.hides(&request(&["AB 1"])));
        assert!(!mail.hides(&request(&["AB-2"])) && !mail.hides(&request(&["AB-1", "AB-2"])));
        assert!(!mail.hides(&request(&[])) && !mail.hides(&request(&["AB-3"])), "it may be told otherwise");
    }

    #[test]
    fn traps_missed_reviews_and_wrong_intents_are_counted() {
        let score = scored(&mail(json!(true)), &told(false, "insurance.new_lead", "Our Agency"));
        assert_eq!((score.decided, score.right, score.missed.len()), (1, 0, 1));
        assert_eq!((score.all.wrong, score.all.traps, score.all.found), (1, 1, 0));
        let asked = scored(&mail(json!(false)), &told(true, "insurance.new_lead", "Acme Freight"));
        assert_eq!((asked.decided, asked.needless.len()), (0, 1));
        assert_eq!(scored(&mail(json!("either")), &told(true, "x", "y")).needless.len(), 0);
    }
}
