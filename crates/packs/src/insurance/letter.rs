//! What a loss-run request says to the insurer. It stands in the draft, so that whoever sends it has read it, and may have
//! changed it.

use kybern_core::id::RecordId;
use kybern_core::outbox::MailFile;
use serde_json::{Map, Value};

use crate::args::{text, texts};

/// The members of a request that hold its text, and to whom it would go.
pub(super) const SUBJECT: &str = "subject";
pub(super) const BODY: &str = "body";
pub(super) const TO: &str = "to";

/// Characters of a subject, and of one value in it.
const MAX_SUBJECT: usize = 200;
const MAX_VALUE: usize = 120;

/// Who asks, for whom, and under which token the answer finds back.
pub(super) struct Letter<'a> {
    /// The tenant's name.
    pub(super) sender: &'a str,
    /// The name of the company whose losses they are; empty when nobody knows.
    pub(super) insured: &'a str,
    /// The request.
    pub(super) id: RecordId,
}

impl Letter<'_> {
    /// The subject, with the token at its end.
    pub(super) fn subject(&self, request: &Map<String, Value>) -> String {
        let numbers = texts(request, "policy_numbers").iter().map(|number| plain(number)).collect::<Vec<_>>();
        let about = [plain(self.insured), numbers.join(", ")].into_iter().filter(|part| !part.is_empty());
        let words = format!("Loss run request: {}", about.collect::<Vec<_>>().join(", "));
        format!("{} {}", words.chars().take(MAX_SUBJECT).collect::<String>(), self.token())
    }

    /// The text, which ends with the token.
    pub(super) fn body(&self, request: &Map<String, Value>) -> String {
        let mut lines = vec!["Please send us currently valued loss runs.".to_owned(), String::new()];
        if !self.insured.is_empty() {
            lines.push(format!("Insured: {}", plain(self.insured)));
        }
        let numbers = texts(request, "policy_numbers");
        lines.extend(numbers.iter().map(|number| format!("Policy number: {}", plain(number))));
        let covers = texts(request, "lines").iter().map(|line| plain(line)).collect::<Vec<_>>();
        if !covers.is_empty() {
            lines.push(format!("Coverage: {}", covers.join(", ")));
        }
        lines.extend([
            String::new(),
            "Please answer this message, or keep the reference in the subject.".to_owned(),
            String::new(),
            self.sender.to_owned(),
            self.token(),
        ]);
        lines.join("\n")
    }

    /// The subject and the text of a reminder about these policies, as the thread goes on.
    pub(super) fn chase(&self, request: &Map<String, Value>, missing: &[String]) -> (String, String) {
        let (subject, _) = self.sent(request, &[]);
        let mut lines =
            vec!["We asked for currently valued loss runs and have not received them yet:".to_owned(), String::new()];
        if !self.insured.is_empty() {
            lines.push(format!("Insured: {}", plain(self.insured)));
        }
        lines.extend(missing.iter().map(|number| format!("Policy number: {}", plain(number))));
        lines.extend([
            String::new(),
            "Please answer this message with the loss runs, or tell us when we can expect them.".to_owned(),
            String::new(),
            self.sender.to_owned(),
            self.token(),
        ]);
        (format!("Re: {subject}"), lines.join("\n"))
    }

    /// Writes both into the props of a request that has neither yet.
    pub(super) fn write(&self, request: &mut Map<String, Value>) {
        let (subject, body) = (self.subject(request), self.body(request));
        request.insert(SUBJECT.to_owned(), subject.into());
        request.insert(BODY.to_owned(), body.into());
    }

    /// What becomes of the text of a draft whose props change: it is written anew, unless somebody has written it.
    pub(super) fn rewrite(&self, before: &Map<String, Value>, wanted: &mut Map<String, Value>) {
        let mut after = before.clone();
        after.extend(wanted.clone());
        let is_own = |name: &str, written: &str| text(before, name).is_none_or(|known| known == written);
        if is_own(SUBJECT, &self.subject(before)) {
            wanted.insert(SUBJECT.to_owned(), self.subject(&after).into());
        }
        if is_own(BODY, &self.body(before)) {
            wanted.insert(BODY.to_owned(), self.body(&after).into());
        }
    }

    /// The subject and the text as they are sent: as they stand in the request, with the token and with the names of the
    /// files that go along.
    pub(super) fn sent(&self, request: &Map<String, Value>, files: &[MailFile]) -> (String, String) {
        let with_token = |said: String| match said.contains(&self.token()) {
            true => said,
            false => format!("{said} {}", self.token()),
        };
        let subject = text(request, SUBJECT).map_or_else(|| self.subject(request), with_token);
        let mut body = text(request, BODY).unwrap_or_else(|| self.body(request));
        if !files.is_empty() {
            body.push('\n');
        }
        for file in files {
            body.push_str(&format!("\nAttached: {}", plain(&file.filename)));
        }
        (subject, body)
    }

    fn token(&self) -> String {
        format!("[Request:{}]", self.id)
    }
}

/// A value out of a document, on one line and without brackets: only the request's own token may look like one.
fn plain(value: &str) -> String {
    value.chars().map(|c| if c.is_control() || "[]".contains(c) { ' ' } else { c }).take(MAX_VALUE).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::args::fields;

    fn letter() -> Letter<'static> {
        Letter { sender: "Acme Brokers", insured: "Fern Hollow LLC", id: RecordId::from_uuid(Uuid::from_u128(7)) }
    }

    #[test]
    fn the_text_follows_the_draft_until_somebody_has_changed_it() {
        let mut draft = fields([("policy_numbers", json!(["PLM-1"])), ("lines", json!(["AL"]))]);
        letter().write(&mut draft);
        let mut wanted = fields([("policy_numbers", json!(["PLM-1", "PLM-2"]))]);
        letter().rewrite(&draft, &mut wanted);
        assert!(text(&wanted, BODY).unwrap().contains("Policy number: PLM-2"));
        assert!(text(&wanted, SUBJECT).unwrap().contains("PLM-1, PLM-2 [Request:"));
        draft.insert(BODY.to_owned(), "Dear desk, the usual please.".into());
        let mut wanted = fields([("policy_numbers", json!(["PLM-1", "PLM-2"]))]);
        letter().rewrite(&draft, &mut wanted);
        assert_eq!(text(&wanted, BODY), None, "somebody's own words stay");
        assert!(text(&wanted, SUBJECT).is_some());
    }

    #[test]
    fn what_is_sent_has_the_token_whatever_was_written() {
        let draft = fields([("subject", json!("The usual")), ("body", json!("Dear desk"))]);
        let (subject, body) = letter().sent(&draft, &[]);
        assert_eq!(subject, format!("The usual {}", letter().token()));
        assert_eq!(body, "Dear desk");
    }
}
