//! `[providers.NAME]`: who is asked for language models.

use std::fmt;

use kybern_adapters::models::quirks::ProviderKind;
use kybern_adapters::models::wire::WireFormat;
use kybern_core::model::{Abilities, ModelKind, ModelSpec, Prices};
use kybern_core::policy::place::is_http;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::environment::Environment;
use super::error::{Fault, Faults};
use super::secret::Secret;
use super::webhooks::check_name;

/// A provider. Its endpoint comes from the configuration, so its address may be private.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProviderOptions {
    /// Which one it is, such as `openai`; the section's own name when it is not stated.
    pub(crate) kind: Option<String>,
    /// Another wire format that it speaks: `openai_chat`, `openai_responses`, `anthropic` or `gemini`.
    pub(crate) format: Option<String>,
    /// Where it is, when not where it usually is.
    pub(crate) base_url: Option<String>,
    /// The key. Better in an environment variable, see `api_key_env`.
    pub(crate) api_key: Option<Secret>,
    /// The environment variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    /// Its models, when not those that are known of it: names, or what is known of each.
    pub(crate) models: Vec<ModelOption>,
    /// Whether what has no price costs nothing. True of servers of one's own, those with a `base_url`.
    pub(crate) free: Option<bool>,
}

/// A model of a provider.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ModelOption {
    Name(String),
    Known(Box<ModelFacts>),
}

/// By hand, because of two forms neither of which fits nobody is told what is wrong.
impl<'de> Deserialize<'de> for ModelOption {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = ModelOption;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a model, or a table with name and what is known of it")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<ModelOption, E> {
                Ok(ModelOption::Name(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, facts: A) -> Result<ModelOption, A::Error> {
                Ok(ModelOption::Known(Box::new(ModelFacts::deserialize(MapAccessDeserializer::new(facts))?)))
            }
        }
        from.deserialize_any(Either)
    }
}

/// What an operator knows of a model.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ModelFacts {
    name: String,
    embedding: bool,
    window: Option<u64>,
    max_output: Option<u64>,
    quality: Option<u8>,
    functions: Option<bool>,
    images: Option<bool>,
    json_schema: Option<bool>,
    reasoning: Option<bool>,
    /// Nano-dollars per million tokens read; with `output_price` it makes a price.
    input_price: Option<u64>,
    cached_price: Option<u64>,
    cache_write_price: Option<u64>,
    output_price: Option<u64>,
}

impl ModelOption {
    /// What is known of it. Strategies choose it, unless it says otherwise by a quality of 0.
    pub(crate) fn spec(&self) -> ModelSpec {
        let facts = match self {
            Self::Name(name) => &ModelFacts { name: name.clone(), ..ModelFacts::default() },
            Self::Known(facts) => facts.as_ref(),
        };
        let prices = facts.input_price.map(|input| Prices {
            input,
            cached: facts.cached_price,
            cache_write: facts.cache_write_price,
            output: facts.output_price.unwrap_or(0),
        });
        ModelSpec {
            name: facts.name.clone(),
            kind: if facts.embedding { ModelKind::Embedding } else { ModelKind::Chat },
            window: facts.window,
            max_output: facts.max_output,
            prices,
            abilities: Abilities {
                functions: facts.functions.unwrap_or(true),
                images: facts.images.unwrap_or(true),
                json_schema: facts.json_schema.unwrap_or(true),
                reasoning: facts.reasoning.unwrap_or(false),
            },
            quality: Some(facts.quality.unwrap_or(50)).filter(|quality| *quality > 0),
        }
    }
}

impl ProviderOptions {
    pub(crate) fn kind(&self, name: &str) -> Option<ProviderKind> {
        ProviderKind::parse(self.kind.as_deref().unwrap_or(name))
    }

    /// The format that it is told to speak.
    pub(crate) fn format(&self) -> Option<WireFormat> {
        match self.format.as_deref()? {
            "openai_chat" => Some(WireFormat::OpenaiChat),
            "openai_responses" => Some(WireFormat::OpenaiResponses),
            "anthropic" => Some(WireFormat::Anthropic),
            "gemini" => Some(WireFormat::Gemini),
            _ => None,
        }
    }

    pub(super) fn check(&mut self, name: &str, env: &Environment, faults: &mut Faults) {
        check_name("providers", name, faults);
        let key = |part: &str| format!("providers.{name}.{part}");
        match (self.kind(name), &self.kind) {
            (Some(_), _) => {}
            (None, Some(kind)) => faults.add(Fault::bad(&key("kind"), kind, "is no provider that is known")),
            (None, None) => {
                faults.add(Fault::missing(&key("kind"), format!("{name:?} is no provider that is known by itself")));
            }
        }
        if let Some(format) = &self.format
            && self.format().is_none()
        {
            faults.add(Fault::bad(&key("format"), format, "is no wire format"));
        }
        faults.web(&key("base_url"), self.base_url.as_ref());
        env.secret_beside(&key("api_key"), &mut self.api_key, self.api_key_env.as_deref(), faults);
        for model in &self.models {
            let spec = model.spec();
            if spec.name.is_empty() {
                faults.add(Fault::bad(&key("models"), "", "has a model without a name"));
            }
            if let ModelOption::Known(facts) = model
                && !facts.embedding
                && facts.input_price.is_some() != facts.output_price.is_some()
            {
                let problem = "has only one of input_price and output_price: what is not priced would cost nothing";
                faults.add(Fault::bad(&key("models"), &spec.name, problem));
            }
            if spec.quality.is_some_and(|quality| quality > 100) {
                faults.add(Fault::bad(&key("models"), &spec.name, "has a quality over 100"));
            }
        }
    }
}

/// The variables of the environment that turn a provider on by themselves, in the order in which they are preferred.
const BY_THEMSELVES: [(&str, &str); 4] = [
    ("anthropic", "ANTHROPIC_API_KEY"),
    ("openai", "OPENAI_API_KEY"),
    ("google", "GEMINI_API_KEY"),
    ("openrouter", "OPENROUTER_API_KEY"),
];

/// Where OpenAI's own clients look for another address than OpenAI's.
const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";
const OPENAI: &str = "https://api.openai.com/v1";

/// The providers that the environment turns on, and that no section has named.
pub(super) fn of_environment(
    env: &Environment,
    named: impl Fn(&str) -> bool,
    faults: &mut Faults,
) -> Vec<(String, ProviderOptions)> {
    let by_key = BY_THEMSELVES.into_iter().filter_map(|(name, variable)| {
        let api_key = Some(Secret::new(env.get(variable)?));
        let base_url = if name == "openai" { openai_url(env) } else { None };
        Some((name.to_owned(), ProviderOptions { api_key, base_url, ..ProviderOptions::default() }))
    });
    let ollama = env.get("OLLAMA_HOST").map(|host| {
        let base_url = Some(ollama_url(host));
        ("ollama".to_owned(), ProviderOptions { base_url, ..ProviderOptions::default() })
    });
    let found: Vec<_> = by_key.chain(ollama).filter(|(name, _)| !named(name)).collect();
    for (name, provider) in &found {
        if provider.base_url.as_deref().is_some_and(|url| name == "openai" && !is_http(url)) {
            let remedy = "write it whole, such as http://127.0.0.1:8080/v1, or unset it";
            faults.add(Fault::variable(OPENAI_BASE_URL, "is not an http or https URL", remedy));
        }
    }
    found
}

/// The address in the environment, unless it is the usual one, whose models and prices are known.
fn openai_url(env: &Environment) -> Option<String> {
    env.get(OPENAI_BASE_URL).map(|url| url.trim().trim_end_matches('/')).filter(|url| *url != OPENAI).map(str::to_owned)
}

/// `OLLAMA_HOST` is a host, a host with a port, or a URL; its own tools add what is missing.
fn ollama_url(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.replace("0.0.0.0", "127.0.0.1");
    let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port || scheme.eq_ignore_ascii_case("https") { "" } else { ":11434" };
    format!("{scheme}://{rest}{port}/v1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_the_environment_turns_its_provider_on_unless_a_section_names_it() {
        let env = Environment::from([
            ("OPENAI_API_KEY", "k1"),
            ("GEMINI_API_KEY", "k2"),
            ("OLLAMA_HOST", "0.0.0.0"),
            ("ANTHROPIC_API_KEY", ""),
        ]);
        let mut faults = Faults::default();
        let found = of_environment(&env, |name| name == "google", &mut faults);
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["openai", "ollama"]);
        assert_eq!(found[1].1.base_url.as_deref(), Some("http://127.0.0.1:11434/v1"));
    }

    #[test]
    fn the_address_that_openais_clients_read_counts_here_too() {
        let found = |url: &str, named: bool| {
            let env = Environment::from([("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", url)]);
            let mut faults = Faults::default();
            let mut found = of_environment(&env, |_| named, &mut faults);
            (found.pop().map(|(_, provider)| provider.base_url), faults.into_error().is_some())
        };
        let other = Some(Some("http://127.0.0.1:8080/v1".to_owned()));
        assert_eq!(found("http://127.0.0.1:8080/v1/", false), (other, false));
        assert_eq!(found("https://api.openai.com/v1", false), (Some(None), false));
        assert!(found("127.0.0.1:8080", false).1);
        // A section says everything itself.
        assert_eq!(found("127.0.0.1:8080", true), (None, false));
    }

    #[test]
    fn an_address_of_ollama_is_completed() {
        for (host, url) in [
            ("127.0.0.1:9999", "http://127.0.0.1:9999/v1"),
            ("gpu.example.com", "http://gpu.example.com:11434/v1"),
            ("https://gpu.example.com/", "https://gpu.example.com/v1"),
            ("http://gpu.example.com:80", "http://gpu.example.com:80/v1"),
        ] {
            assert_eq!(ollama_url(host), url);
        }
    }

    #[test]
    fn a_models_facts_are_taken_as_they_are_and_a_bare_name_is_free_to_be_chosen() {
        let bare = ModelOption::Name("small".to_owned()).spec();
        assert_eq!((bare.name.as_str(), bare.quality, bare.prices), ("small", Some(50), None));
        let text = "models = [{ name = \"big\", window = 9, input_price = 5, output_price = 7, quality = 0 }]";
        let options: ProviderOptions = toml::from_str(text).unwrap();
        let big = options.models[0].spec();
        let prices = Prices { input: 5, output: 7, ..Prices::default() };
        assert_eq!((big.window, big.prices, big.quality), (Some(9), Some(prices), None));
        let wrong = |models: &str| toml::from_str::<ProviderOptions>(models).unwrap_err().to_string();
        assert!(
            wrong("models = [{ name = \"big\", context = 9 }]").contains("unknown field `context`, expected one of")
        );
        assert!(wrong("models = [7]").contains("the name of a model, or a table"));
    }
}
