//! What is known of each provider: where it is, how a key is shown, and how its chat completions differ from
//! OpenAI's. Each fact stands in the table with its source.

mod names;
mod table;

use super::wire::WireFormat;

pub use self::names::{ClaudeThinking, claude_takes_sampling, claude_thinking, openai_effort, thinks_always};

kybern_core::named! {
    /// Every provider that Kybern knows by name.
    pub enum ProviderKind {
        OpenAi = "openai",
        Anthropic = "anthropic",
        /// Google's Gemini.
        Google = "google",
        DeepSeek = "deepseek",
        Groq = "groq",
        Mistral = "mistral",
        /// Zhipu, also known as Z.ai.
        Zhipu = "zhipu",
        /// Cohere, through its compatibility API.
        Cohere = "cohere",
        Together = "together",
        Fireworks = "fireworks",
        Perplexity = "perplexity",
        OpenRouter = "openrouter",
        /// xAI.
        Xai = "xai",
        Ollama = "ollama",
        LmStudio = "lmstudio",
        /// vLLM.
        Vllm = "vllm",
        /// llama.cpp's server.
        LlamaCpp = "llamacpp",
        /// Any other that speaks one of the formats.
        Custom = "custom",
    }
}

/// How a key is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Auth {
    /// `Authorization: Bearer KEY`.
    Bearer,
    Header(&'static str),
}

/// What is known of one provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quirks {
    pub kind: ProviderKind,
    /// Its format, unless the configuration names another that it speaks too.
    pub format: WireFormat,
    /// Where it is; empty where only the configuration can know.
    pub base_url: &'static str,
    /// How the key is shown.
    pub auth: Auth,
    /// The environment variable in which its own tools look for the key.
    pub key_env: &'static str,
    /// Whether it cannot be asked without a key.
    pub needs_key: bool,
    /// The path for embeddings.
    pub embeddings: Option<&'static str>,
    /// The name of the field for an embedding's dimensions.
    pub dimensions: &'static str,
    /// The path of its list of models.
    pub models: Option<&'static str>,
    /// How its chat completions differ.
    pub chat: ChatQuirks,
}

/// Which images it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Images {
    /// None.
    No,
    /// Only those that are sent along.
    Data,
    /// Also those that it fetches.
    Any,
}

/// How a JSON answer is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonAnswers {
    /// Not at all.
    No,
    /// Any object, no schema.
    Object,
    /// By a schema, or any object.
    Schema,
    OnlySchema,
}

/// How it is told which tools must be called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToolChoices {
    /// It knows no tools.
    NoTools,
    /// It always chooses itself.
    Auto,
    /// With this word for "at least one", and no way to name one.
    Word(&'static str),
    /// With this word for "at least one", or by name.
    Full(&'static str),
}

/// How it is told how hard to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EffortFormat {
    /// It is not told.
    No,
    /// `reasoning_effort` with the words of OpenAI, which differ by model.
    OpenAi,
    /// `reasoning_effort`: `low`, `medium`, `high`.
    Three,
    /// `reasoning_effort`, also `minimal`.
    Four,
    /// OpenRouter's `reasoning` object.
    Object,
}

/// How a provider's chat completions differ from OpenAI's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChatQuirks {
    /// The name of the field for the most tokens.
    pub max_tokens: &'static str,
    /// Whether `stream_options.include_usage` is understood; where it is not, usage comes unasked.
    pub stream_usage: bool,
    pub tools: ToolChoices,
    /// Whether `tool_choice: "none"` is understood; where it is not, the tools are left out.
    pub none_word: bool,
    /// Whether `parallel_tool_calls` is understood.
    pub parallel: bool,
    /// Whether a tool's `strict` is understood.
    pub strict: bool,
    pub json: JsonAnswers,
    pub images: Images,
    /// The name of the field for a seed.
    pub seed: Option<&'static str>,
    /// The name of the field for the end user.
    pub user: Option<&'static str>,
    pub efforts: EffortFormat,
    /// The field in which an assistant's reasoning goes back within a turn that calls tools.
    pub reasoning_back: Option<&'static str>,
    /// Whether models that always think refuse sampling parameters, and call the system `developer`.
    pub openai_models: bool,
    /// Whether stop sequences are understood.
    pub stop: bool,
    /// Whether the ids of calls have nine letters and digits.
    pub nine_ids: bool,
}

impl ProviderKind {
    /// What is known of it.
    #[must_use]
    pub const fn quirks(self) -> &'static Quirks {
        table::of(self)
    }
}
