//! The facts. Where a provider's pages say nothing of a field, it is left out: most refuse what they do not know.

use super::{Auth, ChatQuirks, EffortFormat, Images, JsonAnswers, ProviderKind, Quirks, ToolChoices};
use crate::models::wire::WireFormat;

/// OpenAI's own chat completions: <https://developers.openai.com/api/reference/resources/chat>.
const OPENAI_CHAT: ChatQuirks = ChatQuirks {
    max_tokens: "max_completion_tokens",
    stream_usage: true,
    tools: ToolChoices::Full("required"),
    none_word: true,
    parallel: true,
    strict: true,
    json: JsonAnswers::Schema,
    images: Images::Any,
    seed: Some("seed"),
    user: Some("user"),
    efforts: EffortFormat::OpenAi,
    reasoning_back: None,
    openai_models: true,
    stop: true,
    nine_ids: false,
};

/// What those who copy them have in common.
const COPY: ChatQuirks = ChatQuirks {
    max_tokens: "max_tokens",
    parallel: false,
    strict: false,
    user: None,
    efforts: EffortFormat::No,
    openai_models: false,
    ..OPENAI_CHAT
};

const HOSTED: Quirks = Quirks {
    kind: ProviderKind::OpenAi,
    format: WireFormat::OpenaiChat,
    base_url: "",
    auth: Auth::Bearer,
    key_env: "",
    needs_key: true,
    embeddings: None,
    dimensions: "dimensions",
    models: Some("/models"),
    chat: COPY,
};

const LOCAL: Quirks = Quirks { needs_key: false, embeddings: Some("/embeddings"), ..HOSTED };

static OPENAI: Quirks = Quirks {
    kind: ProviderKind::OpenAi,
    base_url: "https://api.openai.com/v1",
    key_env: "OPENAI_API_KEY",
    embeddings: Some("/embeddings"),
    chat: OPENAI_CHAT,
    ..HOSTED
};

/// <https://platform.claude.com/docs/en/api/overview>
static ANTHROPIC: Quirks = Quirks {
    kind: ProviderKind::Anthropic,
    format: WireFormat::Anthropic,
    base_url: "https://api.anthropic.com/v1",
    auth: Auth::Header("x-api-key"),
    key_env: "ANTHROPIC_API_KEY",
    models: Some("/models?limit=1000"),
    ..HOSTED
};

/// <https://ai.google.dev/api>
static GOOGLE: Quirks = Quirks {
    kind: ProviderKind::Google,
    format: WireFormat::Gemini,
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    auth: Auth::Header("x-goog-api-key"),
    key_env: "GEMINI_API_KEY",
    embeddings: Some("/models"),
    models: Some("/models?pageSize=1000"),
    ..HOSTED
};

/// <https://api-docs.deepseek.com/api/create-chat-completion>: `json_object` only; reasoning goes back with calls.
static DEEPSEEK: Quirks = Quirks {
    kind: ProviderKind::DeepSeek,
    base_url: "https://api.deepseek.com",
    key_env: "DEEPSEEK_API_KEY",
    chat: ChatQuirks {
        json: JsonAnswers::Object,
        images: Images::No,
        seed: None,
        reasoning_back: Some("reasoning_content"),
        ..COPY
    },
    ..HOSTED
};

/// <https://console.groq.com/docs/api-reference>
static GROQ: Quirks = Quirks {
    kind: ProviderKind::Groq,
    base_url: "https://api.groq.com/openai/v1",
    key_env: "GROQ_API_KEY",
    chat: ChatQuirks {
        max_tokens: "max_completion_tokens",
        parallel: true,
        user: Some("user"),
        efforts: EffortFormat::Three,
        ..COPY
    },
    ..HOSTED
};

/// <https://docs.mistral.ai/api>: the word is `any`, the seed `random_seed`; usage comes unasked, and
/// other ids than nine letters and digits are refused.
static MISTRAL: Quirks = Quirks {
    kind: ProviderKind::Mistral,
    base_url: "https://api.mistral.ai/v1",
    key_env: "MISTRAL_API_KEY",
    embeddings: Some("/embeddings"),
    dimensions: "output_dimension",
    chat: ChatQuirks {
        stream_usage: false,
        tools: ToolChoices::Full("any"),
        parallel: true,
        strict: true,
        seed: Some("random_seed"),
        nine_ids: true,
        ..COPY
    },
    ..HOSTED
};

/// <https://docs.z.ai/api-reference/llm/chat-completion>: tools by `auto` only, no `stream_options`, no schema.
static ZHIPU: Quirks = Quirks {
    kind: ProviderKind::Zhipu,
    base_url: "https://open.bigmodel.cn/api/paas/v4",
    key_env: "ZAI_API_KEY",
    embeddings: Some("/embeddings"),
    models: None,
    chat: ChatQuirks {
        stream_usage: false,
        tools: ToolChoices::Auto,
        none_word: false,
        json: JsonAnswers::Object,
        seed: None,
        user: Some("user_id"),
        reasoning_back: Some("reasoning_content"),
        ..COPY
    },
    ..HOSTED
};

/// <https://docs.cohere.com/docs/compatibility-api>: `stream_options` and `parallel_tool_calls` are refused.
static COHERE: Quirks = Quirks {
    kind: ProviderKind::Cohere,
    base_url: "https://api.cohere.ai/compatibility/v1",
    key_env: "COHERE_API_KEY",
    embeddings: Some("/embeddings"),
    models: None,
    chat: ChatQuirks { stream_usage: false, tools: ToolChoices::Word("required"), ..COPY },
    ..HOSTED
};

/// <https://docs.together.ai/reference/chat-completions-1>
static TOGETHER: Quirks = Quirks {
    kind: ProviderKind::Together,
    base_url: "https://api.together.xyz/v1",
    key_env: "TOGETHER_API_KEY",
    embeddings: Some("/embeddings"),
    chat: ChatQuirks { efforts: EffortFormat::Three, ..COPY },
    ..HOSTED
};

/// <https://docs.fireworks.ai/api-reference/post-chatcompletions>
static FIREWORKS: Quirks = Quirks {
    kind: ProviderKind::Fireworks,
    base_url: "https://api.fireworks.ai/inference/v1",
    key_env: "FIREWORKS_API_KEY",
    embeddings: Some("/embeddings"),
    chat: ChatQuirks { user: Some("user"), efforts: EffortFormat::Three, ..COPY },
    ..HOSTED
};

/// <https://docs.perplexity.ai/api-reference/chat-completions-post>: no tools, and a schema is the only JSON answer.
static PERPLEXITY: Quirks = Quirks {
    kind: ProviderKind::Perplexity,
    base_url: "https://api.perplexity.ai",
    key_env: "PERPLEXITY_API_KEY",
    models: None,
    chat: ChatQuirks {
        stream_usage: false,
        tools: ToolChoices::NoTools,
        json: JsonAnswers::OnlySchema,
        seed: None,
        stop: false,
        efforts: EffortFormat::Four,
        ..COPY
    },
    ..HOSTED
};

/// <https://openrouter.ai/docs/api/api-reference/chat/send-chat-completion-request>
static OPENROUTER: Quirks = Quirks {
    kind: ProviderKind::OpenRouter,
    base_url: "https://openrouter.ai/api/v1",
    key_env: "OPENROUTER_API_KEY",
    embeddings: Some("/embeddings"),
    chat: ChatQuirks { parallel: true, strict: true, user: Some("user"), efforts: EffortFormat::Object, ..COPY },
    ..HOSTED
};

/// <https://docs.x.ai/docs/api-reference>
static XAI: Quirks = Quirks {
    kind: ProviderKind::Xai,
    base_url: "https://api.x.ai/v1",
    key_env: "XAI_API_KEY",
    chat: ChatQuirks {
        max_tokens: "max_completion_tokens",
        parallel: true,
        user: Some("user"),
        efforts: EffortFormat::Three,
        ..COPY
    },
    ..HOSTED
};

/// <https://docs.ollama.com/api/openai-compatibility>: no `tool_choice`, images in base64.
static OLLAMA: Quirks = Quirks {
    kind: ProviderKind::Ollama,
    base_url: "http://localhost:11434/v1",
    key_env: "OLLAMA_API_KEY",
    chat: ChatQuirks {
        tools: ToolChoices::Auto,
        none_word: false,
        images: Images::Data,
        efforts: EffortFormat::Three,
        ..COPY
    },
    ..LOCAL
};

/// <https://lmstudio.ai/docs/developer/openai-compat>: no tool by name, a schema is the only JSON answer.
static LM_STUDIO: Quirks = Quirks {
    kind: ProviderKind::LmStudio,
    base_url: "http://localhost:1234/v1",
    key_env: "LM_API_TOKEN",
    chat: ChatQuirks {
        tools: ToolChoices::Word("required"),
        json: JsonAnswers::OnlySchema,
        images: Images::Data,
        ..COPY
    },
    ..LOCAL
};

/// <https://docs.vllm.ai/en/latest/serving/openai_compatible_server/>
static VLLM: Quirks = Quirks {
    kind: ProviderKind::Vllm,
    base_url: "http://localhost:8000/v1",
    key_env: "VLLM_API_KEY",
    chat: ChatQuirks { parallel: true, efforts: EffortFormat::Three, ..COPY },
    ..LOCAL
};

/// <https://github.com/ggml-org/llama.cpp/tree/master/tools/server>: a tool by name is taken for `auto` silently.
static LLAMA_CPP: Quirks = Quirks {
    kind: ProviderKind::LlamaCpp,
    base_url: "http://localhost:8080/v1",
    key_env: "LLAMA_API_KEY",
    chat: ChatQuirks { tools: ToolChoices::Word("required"), parallel: true, ..COPY },
    ..LOCAL
};

static CUSTOM: Quirks = Quirks { kind: ProviderKind::Custom, ..LOCAL };

pub(super) const fn of(kind: ProviderKind) -> &'static Quirks {
    match kind {
        ProviderKind::OpenAi => &OPENAI,
        ProviderKind::Anthropic => &ANTHROPIC,
        ProviderKind::Google => &GOOGLE,
        ProviderKind::DeepSeek => &DEEPSEEK,
        ProviderKind::Groq => &GROQ,
        ProviderKind::Mistral => &MISTRAL,
        ProviderKind::Zhipu => &ZHIPU,
        ProviderKind::Cohere => &COHERE,
        ProviderKind::Together => &TOGETHER,
        ProviderKind::Fireworks => &FIREWORKS,
        ProviderKind::Perplexity => &PERPLEXITY,
        ProviderKind::OpenRouter => &OPENROUTER,
        ProviderKind::Xai => &XAI,
        ProviderKind::Ollama => &OLLAMA,
        ProviderKind::LmStudio => &LM_STUDIO,
        ProviderKind::Vllm => &VLLM,
        ProviderKind::LlamaCpp => &LLAMA_CPP,
        ProviderKind::Custom => &CUSTOM,
    }
}
