//! All that a tenant has learned, at one version.

use std::sync::Arc;

use super::{Lesson, Teaching, label_of};
use crate::id::LessonId;
use crate::model::{ExtractionSchema, OwnLabel};

/// A tenant's lessons as they are used at one version.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lessons {
    version: u32,
    /// Every lesson that was ever accepted.
    known: Arc<Vec<Lesson>>,
}

impl Lessons {
    /// What is used now, of all lessons that were ever accepted.
    #[must_use]
    pub fn new(known: Vec<Lesson>) -> Self {
        let versions = known.iter().flat_map(|lesson| [lesson.since_version, lesson.until_version]);
        Self { version: versions.flatten().max().unwrap_or_default(), known: Arc::new(known) }
    }

    /// What is used at a version, of those lessons that can be read: one that cannot has begun a version all the same.
    #[must_use]
    pub fn at(version: u32, readable: Vec<Lesson>) -> Self {
        Self { version, known: Arc::new(readable) }
    }

    /// Which version it is; 0 when nothing was ever accepted.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// How many lessons there are, also those that are used no more.
    #[must_use]
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// How many bytes their words have together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.known.iter().map(|lesson| lesson.teaching.bytes()).sum()
    }

    /// What was used at an earlier version.
    #[must_use]
    pub fn as_of(&self, version: u32) -> Self {
        Self { version: version.min(self.version), known: Arc::clone(&self.known) }
    }

    /// What would be used with one more.
    #[must_use]
    pub fn with(&self, lesson: &Lesson) -> Self {
        let version = self.version + 1;
        let mut known: Vec<Lesson> = self.in_use().cloned().collect();
        known.push(Lesson { since_version: Some(version), until_version: None, ..lesson.clone() });
        Self { version, known: Arc::new(known) }
    }

    /// What would be used without one.
    #[must_use]
    pub fn without(&self, id: LessonId) -> Self {
        let known = self.in_use().filter(|lesson| lesson.id != id).cloned().collect();
        Self { version: self.version, known: Arc::new(known) }
    }

    /// The lessons that are used.
    pub fn in_use(&self) -> impl Iterator<Item = &Lesson> {
        self.known.iter().filter(|lesson| lesson.is_used_at(self.version))
    }

    /// Messages that ask for intents, with the intents' keys.
    pub fn examples(&self) -> impl Iterator<Item = (&str, &str)> {
        self.in_use().filter_map(|lesson| {
            let Teaching::IntentExample { intent, text } = &lesson.teaching else { return None };
            Some((intent.as_str(), text.as_str()))
        })
    }

    /// Whether mail of that sender is taken as theirs.
    #[must_use]
    pub fn trusts(&self, sender: &str) -> bool {
        let sender = addressed(sender);
        self.in_use()
            .any(|lesson| matches!(&lesson.teaching, Teaching::TrustedSender { address } if *address == sender))
    }

    /// The companies that a sender answers for.
    pub fn answers_for(&self, sender: &str) -> impl Iterator<Item = &str> {
        let sender = addressed(sender);
        self.in_use().filter_map(move |lesson| {
            let Teaching::Speaker { address, company } = &lesson.teaching else { return None };
            (*address == sender).then_some(company.as_str())
        })
    }

    /// The value that is meant where `written` was read as a value of a field, by the field's schema and
    /// [path](crate::model::FieldPattern::path); `None` where lessons say different ones.
    #[must_use]
    pub fn meant_by(&self, schema: &str, path: &str, written: &str) -> Option<&str> {
        let written = label_of(written).ok()?;
        let mut meant = self.in_use().filter_map(|lesson| {
            let Teaching::Spelling { schema: of, field, label, value } = &lesson.teaching else { return None };
            (of == schema && field == path && *label == written).then_some(value.as_str())
        });
        let first = meant.next()?;
        meant.all(|other| other == first).then_some(first)
    }

    /// The schema with the tenant's own labels; `None` when there are none for it.
    #[must_use]
    pub fn taught(&self, schema: &ExtractionSchema) -> Option<ExtractionSchema> {
        let labels: Vec<OwnLabel> = self
            .in_use()
            .filter_map(|lesson| {
                let Teaching::Label { schema: of, field, label, value } = &lesson.teaching else { return None };
                let own = || OwnLabel { field: field.clone(), label: label.clone(), value: value.clone() };
                (*of == schema.name).then(own)
            })
            .collect();
        if labels.is_empty() { None } else { Some(ExtractionSchema { own_labels: labels, ..schema.clone() }) }
    }
}

/// An address as lessons have it.
fn addressed(sender: &str) -> String {
    sender.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::lesson::{LessonAct, LessonSource};
    use crate::time::Timestamp;

    fn lesson(n: u128, teaching: Teaching, versions: (u32, Option<u32>)) -> Lesson {
        let (id, at) = (LessonId::from_uuid(Uuid::from_u128(n)), Timestamp::from_millis(1));
        let source = LessonSource { task_id: None, step_id: None, by: "user:1".to_owned() };
        let accepted = Lesson::suggested(id, teaching, source, at).after(LessonAct::Accept, "user:1", versions.0, at);
        match versions.1 {
            Some(until) => accepted.unwrap().after(LessonAct::Withdraw, "user:1", until, at).unwrap(),
            None => accepted.unwrap(),
        }
    }

    fn example(text: &str) -> Teaching {
        Teaching::IntentExample { intent: "cars.sell".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_version_stays_what_it_was() {
        let now = Lessons::new(vec![
            lesson(1, example("sell it"), (1, Some(3))),
            lesson(2, example("buyer wanted"), (2, None)),
        ]);
        let texts = |lessons: &Lessons| lessons.examples().map(|(_, text)| text.to_owned()).collect::<Vec<_>>();
        assert_eq!((now.version(), texts(&now)), (3, vec!["buyer wanted".to_owned()]));
        assert_eq!(texts(&now.as_of(2)), ["sell it", "buyer wanted"]);
        assert_eq!(texts(&now.as_of(1)), ["sell it"]);
        assert!(texts(&now.as_of(0)).is_empty() && now.as_of(9) == now);
        let more = now.with(&lesson(3, example("on sale"), (9, None)));
        assert_eq!(texts(&more), ["buyer wanted", "on sale"]);
        assert_eq!(texts(&more.without(LessonId::from_uuid(Uuid::from_u128(2)))), ["on sale"]);
    }

    #[test]
    fn a_schema_gets_the_labels_that_are_its_own() {
        let label = |schema: &str| Teaching::Label {
            schema: schema.to_owned(),
            field: "owner.name".to_owned(),
            label: "keeper".to_owned(),
            value: None,
        };
        let lessons = Lessons::new(vec![lesson(1, label("cars"), (1, None)), lesson(2, label("ships"), (2, None))]);
        let cars = ExtractionSchema { name: "cars".to_owned(), ..ExtractionSchema::default() };
        let own = lessons.taught(&cars).unwrap().own_labels;
        assert_eq!(own, [OwnLabel { field: "owner.name".to_owned(), label: "keeper".to_owned(), value: None }]);
        assert_eq!(
            lessons.taught(&ExtractionSchema { name: "planes".to_owned(), ..ExtractionSchema::default() }),
            None
        );
    }

    #[test]
    fn one_address_is_trusted_in_any_spelling() {
        let trusted = Teaching::TrustedSender { address: "ada@example.com".to_owned() };
        let lessons = Lessons::new(vec![lesson(1, trusted, (1, None))]);
        assert!(lessons.trusts("Ada@example.com") && !lessons.trusts("bob@example.com"));
        assert!(!lessons.as_of(0).trusts("ada@example.com"));
    }

    #[test]
    fn whoever_answers_for_a_company_is_trusted_with_nothing_else() {
        let company = "Fern Hollow Mutual".to_owned();
        let speaker = Teaching::Speaker { address: "ada@example.com".to_owned(), company };
        let lessons = Lessons::new(vec![lesson(1, speaker, (1, None))]);
        assert!(!lessons.trusts("ada@example.com"));
        assert_eq!(lessons.answers_for(" Ada@example.com").collect::<Vec<_>>(), ["Fern Hollow Mutual"]);
        assert_eq!(lessons.answers_for("bob@example.com").next(), None);
    }

    #[test]
    fn another_spelling_is_a_value_and_no_label() {
        let spelled = |value: &str| Teaching::Spelling {
            schema: "cars".to_owned(),
            field: "cars/maker".to_owned(),
            label: "fern holow".to_owned(),
            value: value.to_owned(),
        };
        let (one, other) = (spelled("Fern Hollow Motors"), spelled("Fern Holow Works"));
        let lessons = Lessons::new(vec![lesson(1, one, (1, None)), lesson(2, other, (2, None))]);
        let cars = ExtractionSchema { name: "cars".to_owned(), ..ExtractionSchema::default() };
        assert_eq!(lessons.taught(&cars), None);
        assert_eq!(lessons.meant_by("cars", "cars/maker", " Fern Holow:"), None, "which of two, nobody knows");
        let first = lessons.as_of(1);
        assert_eq!(first.meant_by("cars", "cars/maker", " Fern Holow:"), Some("Fern Hollow Motors"));
        for (schema, path, written) in
            [("ships", "cars/maker", "Fern Holow"), ("cars", "owner", "Fern Holow"), ("cars", "cars/maker", "Fern")]
        {
            assert_eq!(first.meant_by(schema, path, written), None, "{schema} {path} {written}");
        }
    }
}
