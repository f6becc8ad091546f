//! The intents that plans serve. Every message asks for them, and they change only when plans do.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use kybern_core::error::Result;
use kybern_core::id::TenantId;
use kybern_core::lesson::Lessons;
use kybern_core::model::{Classification, ClassifyInput, IntentSpec};
use kybern_core::pack::PackRegistry;
use kybern_core::plan::Plan;
use kybern_core::ports::IntentModel;

use crate::made::{ByIdentity, LastMade};

/// The intents of a tenant.
pub(crate) struct Intents {
    /// Every one's key, in alphabetical order.
    pub(crate) keys: Vec<String>,
    /// Those for which words can speak. What nothing speaks for cannot be recognised: it is a person's choice.
    pub(crate) by_words: Arc<[IntentSpec]>,
    /// The same without what the tenant has learned; empty where that is nothing about intents.
    untaught: Arc<[IntentSpec]>,
}

/// The intents of tenants, each with what it was made of.
#[derive(Default)]
pub(crate) struct KnownIntents {
    /// Those of every tenant that has no plans of its own and has learned nothing about intents.
    bundled: OnceLock<Arc<Intents>>,
    /// Those of the others, by their own plans and the version of what they have learned.
    of: LastMade<TenantId, (ByIdentity<Vec<Plan>>, u32), Arc<Intents>>,
}

impl KnownIntents {
    /// The intents that the bundled plans and exactly these serve, with the examples of that version of
    /// the tenant's lessons.
    pub(crate) fn get(
        &self,
        registry: &PackRegistry,
        tenant: TenantId,
        own: &Arc<Vec<Plan>>,
        lessons: &Lessons,
    ) -> Arc<Intents> {
        let make = || Arc::new(Intents::of(registry, own, lessons));
        if own.is_empty() && lessons.examples().next().is_none() {
            return Arc::clone(self.bundled.get_or_init(make));
        }
        self.of.get_or_make(tenant, (ByIdentity(Arc::clone(own)), lessons.version()), make)
    }
}

impl Intents {
    /// The intents that the bundled plans and these serve, with the examples of these lessons.
    pub(crate) fn of(registry: &PackRegistry, own: &[Plan], lessons: &Lessons) -> Self {
        let mut intents: BTreeMap<String, IntentSpec> = BTreeMap::new();
        let bundled = registry.plans().map(AsRef::as_ref);
        for plan in bundled.chain(own).filter(|plan| plan.active) {
            let intent = intents.entry(plan.intent_key.clone()).or_insert_with(|| IntentSpec {
                key: plan.intent_key.clone(),
                description: plan.description.clone(),
                keywords: Vec::new(),
                examples: Vec::new(),
            });
            intent.keywords.extend(plan.keywords.iter().cloned());
            intent.examples.extend(plan.examples.iter().cloned());
        }
        let speaks = |intent: &IntentSpec| !intent.keywords.is_empty() || !intent.examples.is_empty();
        let mut untaught = Vec::new();
        if lessons.examples().next().is_some() {
            untaught.extend(intents.values().filter(|intent| speaks(intent)).cloned());
        }
        // An example of what no plan serves any more teaches nothing.
        for (intent, text) in lessons.examples() {
            if let Some(intent) = intents.get_mut(intent) {
                intent.examples.push(text.to_owned());
            }
        }
        let keys = intents.keys().cloned().collect();
        Self { keys, by_words: intents.into_values().filter(speaks).collect(), untaught: untaught.into() }
    }

    /// The intents by words as language models are told them: without what the tenant has learned, which is made of
    /// strangers' words.
    pub(crate) fn for_models(&self) -> Cow<'_, [IntentSpec]> {
        if self.untaught.is_empty() {
            return Cow::Borrowed(&self.by_words);
        }
        let own = |key: &str| self.untaught.iter().find(|intent| intent.key == key).cloned();
        let unspoken = |intent: &IntentSpec| IntentSpec { examples: Vec::new(), ..intent.clone() };
        Cow::Owned(self.by_words.iter().map(|intent| own(&intent.key).unwrap_or_else(|| unspoken(intent))).collect())
    }

    /// What a message wants. A lesson may make an intent surer; the doubts that there are without it stay.
    ///
    /// # Errors
    /// When the model cannot be asked.
    pub(crate) async fn classify(&self, model: &dyn IntentModel, input: &ClassifyInput) -> Result<Classification> {
        let mut answer = model.classify(input, &self.by_words).await?;
        if !self.untaught.is_empty() && model.answers_at_once() {
            let doubts = model.classify(input, &self.untaught).await?.doubts;
            answer.doubts.extend(doubts.into_iter().filter(|doubt| !answer.doubts.contains(doubt)).collect::<Vec<_>>());
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use kybern_core::id::LessonId;
    use kybern_core::lesson::{Lesson, LessonAct, LessonSource, Teaching};
    use kybern_core::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn tenant(n: u128) -> TenantId {
        TenantId::from_uuid(Uuid::from_u128(n))
    }

    #[test]
    fn tenants_share_the_bundled_intents_until_they_have_learned_some() {
        let (known, registry, none) = (KnownIntents::default(), PackRegistry::default(), Arc::default());
        let of = |n: u128, lessons: &Lessons| known.get(&registry, tenant(n), &none, lessons);
        let (first, second) = (of(1, &Lessons::default()), of(2, &Lessons::default()));
        assert!(Arc::ptr_eq(&first, &second));
        let (id, at) = (LessonId::from_uuid(Uuid::from_u128(1)), Timestamp::from_millis(1));
        let source = LessonSource { task_id: None, step_id: None, by: "user:1".to_owned() };
        let teaching = Teaching::IntentExample { intent: "cars.sell".to_owned(), text: "sell it".to_owned() };
        let lesson = Lesson::suggested(id, teaching, source, at).after(LessonAct::Accept, "user:1", 1, at).unwrap();
        let learned = of(2, &Lessons::new(vec![lesson]));
        assert!(!Arc::ptr_eq(&second, &learned) && Arc::ptr_eq(&first, &of(2, &Lessons::default())));
    }
}
