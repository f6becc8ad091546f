//! What is known of the models of each provider, out of a table that comes with the program.
//!
//! Windows, prices and abilities are facts that others have gathered (`third_party/litellm-prices`). How good a model
//! is, is our own judgement: one number, by which strategies choose. A model without one is never chosen by itself.

use std::collections::BTreeMap;

use kybern_core::model::ModelSpec;

use super::quirks::ProviderKind;

const TABLE: &str = include_str!("../../../../third_party/litellm-prices/models.json");

/// Quality from 1 to 100, as of November 2026, of the models that strategies choose among. Judged by their makers' own
/// ranks and by public comparisons; an operator who judges otherwise lists the models of a provider with a quality.
const QUALITY: &[(ProviderKind, &str, u8)] = &[
    (ProviderKind::Anthropic, "claude-opus-5-5", 97),
    (ProviderKind::Anthropic, "claude-sonnet-5-5", 92),
    (ProviderKind::Anthropic, "claude-haiku-5-5", 80),
    (ProviderKind::OpenAi, "gpt-5.5", 95),
    (ProviderKind::OpenAi, "gpt-5.4", 91),
    (ProviderKind::OpenAi, "gpt-5.4-mini", 80),
    (ProviderKind::OpenAi, "gpt-5.4-nano", 66),
    (ProviderKind::Google, "gemini-pro-latest", 93),
    (ProviderKind::Google, "gemini-3.8-flash", 85),
    (ProviderKind::Google, "gemini-3.5-flash-lite", 70),
    (ProviderKind::DeepSeek, "deepseek-v4-pro", 88),
    (ProviderKind::DeepSeek, "deepseek-v4-flash", 78),
    (ProviderKind::Groq, "openai/gpt-oss-120b", 74),
    (ProviderKind::Groq, "openai/gpt-oss-20b", 62),
    (ProviderKind::Mistral, "mistral-large-latest", 84),
    (ProviderKind::Mistral, "mistral-medium-latest", 78),
    (ProviderKind::Mistral, "mistral-small-latest", 66),
    (ProviderKind::Xai, "grok-4.7", 91),
    (ProviderKind::Xai, "grok-4.3", 84),
    (ProviderKind::Cohere, "command-a-plus-05-2026", 76),
    (ProviderKind::Zhipu, "glm-4.5", 76),
    (ProviderKind::Zhipu, "glm-4.5-air", 68),
];

/// Models by provider.
pub type Table = BTreeMap<String, Vec<ModelSpec>>;

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the table of models cannot be read: {0}")]
pub struct TableError(#[from] serde_json::Error);

/// Reads a table: an object with a list of models for each provider.
///
/// # Errors
/// When it is no such JSON.
pub fn read(text: &str) -> Result<Table, TableError> {
    Ok(serde_json::from_str(text)?)
}

/// What is known of a provider's models: those of `own`, when it has the provider, and otherwise those of the table
/// that comes with the program. The best come first.
#[must_use]
pub fn models_of(kind: ProviderKind, own: &Table) -> Vec<ModelSpec> {
    let name = kind.as_str();
    let mut models = match own.get(name) {
        Some(models) => models.clone(),
        // The table is tested to be readable.
        None => read(TABLE).ok().and_then(|mut table| table.remove(name)).unwrap_or_default(),
    };
    for model in &mut models {
        let judged = QUALITY.iter().find(|(of, known, _)| *of == kind && *known == model.name);
        model.quality = model.quality.or(judged.map(|(_, _, quality)| *quality));
    }
    models.sort_by_key(|model| (model.kind, std::cmp::Reverse(model.quality)));
    models
}

#[cfg(test)]
mod tests {
    use kybern_core::model::ModelKind;

    use super::*;

    #[test]
    fn the_table_is_readable_and_every_provider_in_it_is_known() {
        let table = read(TABLE).unwrap();
        for (provider, models) in &table {
            assert!(ProviderKind::parse(provider).is_some(), "{provider}");
            assert!(models.iter().all(|model| model.prices.is_some()), "{provider}");
        }
        assert!(table.values().map(Vec::len).sum::<usize>() > 500);
    }

    #[test]
    fn every_judged_model_is_in_the_table_and_comes_before_the_others() {
        for (kind, name, quality) in QUALITY {
            let models = models_of(*kind, &Table::new());
            let model = models.iter().find(|model| model.name == *name);
            assert_eq!(model.and_then(|model| model.quality), Some(*quality), "{name}");
            assert!(model.is_some_and(|model| model.kind == ModelKind::Chat && model.abilities.functions), "{name}");
            assert!(models[0].quality >= Some(*quality), "{name}");
        }
    }

    #[test]
    fn an_own_table_takes_the_place_of_the_one_that_comes_along() {
        let own = read(r#"{"openai":[{"name":"mine","window":100,"prices":{"input":5,"output":6},"quality":9}]}"#);
        let models = models_of(ProviderKind::OpenAi, &own.unwrap());
        assert_eq!(models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), ["mine"]);
        assert!(read("[]").is_err());
    }
}
