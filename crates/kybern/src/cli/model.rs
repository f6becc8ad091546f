//! `kybern model`: the language models, and whether they answer.

use clap::Subcommand;
use serde_json::{Value, json};

use super::{Context, Exit, Format};
use crate::client::{ClientError, PostedBody};
use crate::output::{Failure, Table, field, kybern, short};

/// `kybern model …`
#[derive(Subcommand, Debug)]
pub(super) enum ModelCommand {
    /// List the models of the configured providers, and the strategies that choose among them
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Ask a model for one word, or one model of each provider
    Test {
        /// The model, `provider/model`; one of each provider when it is left out
        model: Option<String>,
        #[command(flatten)]
        format: Format,
    },
}

pub(super) async fn run(command: ModelCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        ModelCommand::List { format } => list(format, context).await,
        ModelCommand::Test { model, format } => test(model, format, context).await,
    }
}

fn entries(list: &Value) -> &[Value] {
    list.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

async fn list(format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let Some(reply) = context.read("/v1/models", &[], format).await? else { return Ok(Exit::Done) };
    let models = entries(&reply.value);
    if one_of_each(models).is_empty() {
        let screen = context.screen();
        screen.line(
            "No provider of language models is configured: the built-in rules answer, and the built-in table embeds.",
        );
        screen.line("Set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY or OLLAMA_HOST, or a");
        screen.line("[providers.NAME], and start the server again. docs/models.md says more.");
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["MODEL", "OF"]);
    for model in models {
        table.row([field(model, "id").into(), field(model, "owned_by").into()]);
    }
    context.table(&table);
    Ok(Exit::Done)
}

/// The name of each provider that has a model. A question to it is answered by the model that the provider would be
/// asked for by strategies, not by one that hears or paints and happens to be its first.
fn one_of_each(models: &[Value]) -> Vec<String> {
    let mut providers: Vec<String> = Vec::new();
    for model in models {
        let owner = field(model, "owned_by");
        // Strategies are no models, and the built-in one only embeds.
        if owner != "kybern" && owner != "builtin" && !providers.contains(&owner) {
            providers.push(owner);
        }
    }
    providers
}

async fn test(model: Option<String>, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let models = match model {
        Some(model) => vec![model],
        None => one_of_each(entries(&client.get("/v1/models", &[]).await?.value)),
    };
    if models.is_empty() {
        return Err(Failure::usage("no model is known", format!("name one: {} model test provider/model", kybern())));
    }
    let paint = context.screen().paint();
    let (mut exit, mut results) = (Exit::Done, Vec::new());
    for model in models {
        let body = json!({
            "model": model,
            "messages": [{"role": "user", "content": "Answer with the one word: ready"}],
            "max_tokens": 64,
        });
        match client.post("/v1/chat/completions", PostedBody::Json(&body), None).await {
            Ok(reply) => {
                let message = &reply.value["choices"][0]["message"];
                let said = message.get("content").map(|text| short(text, 60)).unwrap_or_default();
                let usage = &reply.value["usage"];
                let tokens = format!("{} in, {} out", field(usage, "prompt_tokens"), field(usage, "completion_tokens"));
                results.push(json!({"model": model, "ok": true, "reply": message["content"], "usage": usage}));
                if !format.json {
                    let by = field(&reply.value, "model");
                    context.screen().line(format!("{} {by}  {said}  {}", paint.good("✓"), paint.dim(&tokens)));
                }
            }
            Err(ClientError::Api(error)) => {
                exit = Exit::Failed;
                results.push(json!({"model": model, "ok": false, "error": error.to_string()}));
                if !format.json {
                    context.screen().line(format!("{} {model}  {error}", paint.bad("✗")));
                }
            }
            Err(other) => return Err(other.into()),
        }
    }
    if format.json {
        context.screen().line(Value::Array(results).to_string());
    }
    Ok(exit)
}
