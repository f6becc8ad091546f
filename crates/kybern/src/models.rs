//! The configured providers of language models.

use std::sync::Arc;

use anyhow::Context as _;
use kybern_adapters::http::Egress;
use kybern_adapters::models::builtin::{self, Builtin};
use kybern_adapters::models::quirks::ProviderKind;
use kybern_adapters::models::registry::{self, Table};
use kybern_adapters::models::tokens::Tokenizers;
use kybern_adapters::models::{Provider, ProviderConfig, Secret};
use kybern_core::model::{ModelFailure, ModelSpec, ModelTimeouts};
use kybern_core::policy::EgressPolicy;
use kybern_core::time::Millis;
use kybern_engine::models::{ModelParts, ModelSettings, ProviderParts, Route};

use crate::config::{Config, ConfigError, Fault, Faults, ProviderOptions};

/// The order in which providers are preferred when nothing else decides; others follow by their names.
const PREFERRED: [&str; 5] = ["anthropic", "openai", "google", "deepseek", "groq"];

/// What the engine gets of them.
///
/// # Errors
/// Everything that cannot be used as it is configured.
pub(crate) fn parts(config: &Config, egress: &Arc<Egress>) -> Result<ModelParts, ConfigError> {
    let own = own_table(config).map_err(ConfigError::one)?;
    let mut faults = Faults::default();
    let mut named: Vec<(&String, &ProviderOptions)> = config.providers.iter().collect();
    let rank = |name: &str| PREFERRED.iter().position(|known| *known == name).unwrap_or(PREFERRED.len());
    named.sort_by_key(|(name, _)| rank(name));
    let mut providers = Vec::new();
    for (name, options) in named {
        match provider(name, options, &own, egress) {
            Ok(part) => providers.push(part),
            Err(error) => {
                let remedy = format!("correct [providers.{name}], docs/models.md says more");
                let fault = Fault::missing(&format!("providers.{name}"), format!("{error:#}"));
                faults.add(Fault { remedy, ..fault });
            }
        }
    }
    // Otherwise each model of such a provider would be one more.
    if let Some(error) = faults.into_error() {
        return Err(error);
    }
    let mut faults = Faults::default();
    let builtin = Arc::new(Builtin::new());
    providers.push(ProviderParts { model: builtin, models: vec![builtin::spec()], others: false, free: true });
    let known = |key: &str| {
        let of = |part: &ProviderParts| {
            let name = part.model.provider();
            name == key
                || part.models.iter().any(|model| model.name == key)
                || key
                    .strip_prefix(name)
                    .and_then(|rest| rest.strip_prefix('/'))
                    .is_some_and(|model| part.others || part.models.iter().any(|known| known.name == model))
        };
        providers.iter().any(of)
    };
    for wrong in config.models.fallback.iter().filter(|key| !known(key)) {
        faults.add(Fault::bad("models.fallback", wrong, "is no model of a configured provider"));
    }
    let routes = [
        ("models.default", &config.models.default),
        ("models.reasoning", &config.models.reasoning),
        ("models.texts", &config.models.texts),
        ("models.understanding", &config.models.understanding),
    ];
    for (setting, route) in routes {
        if let Route::Named(wrong) = Route::parse(route)
            && !known(&wrong)
        {
            faults.add(Fault::bad(setting, &wrong, "is no strategy and no model of a configured provider"));
        }
    }
    if !known(&config.models.embedding) {
        let problem = "is no provider and no model of one that is configured";
        faults.add(Fault::bad("models.embedding", &config.models.embedding, problem));
    }
    if let Some(error) = faults.into_error() {
        return Err(error);
    }
    let settings = ModelSettings {
        fallback: config.models.fallback.clone(),
        default: Route::parse(&config.models.default),
        reasoning: Route::parse(&config.models.reasoning),
        texts: Route::parse(&config.models.texts),
        understanding: Route::parse(&config.models.understanding),
        embedding: config.models.embedding.clone(),
        timeouts: config.models.timeouts(),
    };
    Ok(ModelParts { providers, settings, counter: Some(Arc::new(Tokenizers)) })
}

/// The table of the operator; an empty one when there is none.
fn own_table(config: &Config) -> Result<Table, Fault> {
    let Some(path) = &config.models.file else { return Ok(Table::new()) };
    let bad = |problem: String| Fault::bad("models.file", &path.display(), problem);
    let text = std::fs::read_to_string(path).map_err(|error| bad(format!("cannot be read: {error}")))?;
    registry::read(&text).map_err(|error| bad(format!("is no table of models: {:#}", anyhow::Error::new(error))))
}

/// Whether the settings can be used, as far as that is known without asking anybody.
///
/// # Errors
/// The same as of [`parts`].
pub(crate) fn check(config: &Config) -> anyhow::Result<()> {
    let policy = EgressPolicy::new(&config.egress.allow).map_err(anyhow::Error::msg).context("[egress] allow")?;
    parts(config, &Arc::new(Egress::new(policy)?))?;
    Ok(())
}

fn provider(name: &str, options: &ProviderOptions, own: &Table, egress: &Arc<Egress>) -> anyhow::Result<ProviderParts> {
    let kind = options.kind(name).context("kind is no provider that is known")?;
    let api_key = options.api_key.as_ref().map(|key| Secret::new(key.expose()));
    let is_own = options.base_url.is_some() || is_local(kind);
    let mut config = ProviderConfig::new(name, kind, api_key);
    config.format = options.format();
    config.base_url.clone_from(&options.base_url);
    config.trusted = is_own;
    let model = Arc::new(Provider::new(config, Arc::clone(egress))?);
    let models: Vec<ModelSpec> = if !options.models.is_empty() {
        options.models.iter().map(crate::config::ModelOption::spec).collect()
    } else if is_own && own.get(kind.as_str()).is_none() {
        // What runs elsewhere is not what the table prices.
        Vec::new()
    } else {
        registry::models_of(kind, own)
    };
    Ok(ProviderParts { model, models, others: true, free: options.free.unwrap_or(is_own) })
}

/// Whether it runs on machines of one's own.
const fn is_local(kind: ProviderKind) -> bool {
    match kind {
        ProviderKind::Ollama
        | ProviderKind::LmStudio
        | ProviderKind::Vllm
        | ProviderKind::LlamaCpp
        | ProviderKind::Custom => true,
        ProviderKind::OpenAi
        | ProviderKind::Anthropic
        | ProviderKind::Google
        | ProviderKind::DeepSeek
        | ProviderKind::Groq
        | ProviderKind::Mistral
        | ProviderKind::Zhipu
        | ProviderKind::Cohere
        | ProviderKind::Together
        | ProviderKind::Fireworks
        | ProviderKind::Perplexity
        | ProviderKind::OpenRouter
        | ProviderKind::Xai => false,
    }
}

/// Asks each configured provider for the list of its models: their number, or why there is none.
///
/// # Errors
/// When one of them cannot be used as it is configured.
pub(crate) async fn probe(config: &Config) -> anyhow::Result<Vec<(String, Result<usize, ModelFailure>)>> {
    let policy = EgressPolicy::new(&config.egress.allow).map_err(anyhow::Error::msg).context("[egress] allow")?;
    let parts = parts(config, &Arc::new(Egress::new(policy)?))?;
    let timeouts = ModelTimeouts::DEFAULT.within(PATIENCE);
    let mut answers = Vec::new();
    // The one that is built in answers always, and is nobody's setting.
    for provider in parts.providers.into_iter().filter(|provider| provider.model.provider() != builtin::PROVIDER) {
        let listed = provider.model.models(timeouts).await;
        answers.push((provider.model.provider().to_owned(), listed.map(|names| names.len())));
    }
    Ok(answers)
}

/// How long a provider may take to list its models.
const PATIENCE: Millis = Millis::from_secs(10);
