//! Clients of OpenAI's API, unchanged, against a real server whose provider speaks OpenAI's format over real HTTP: OpenAI's
//! own, LangChain's, and Vercel's AI SDK. And, where it is asked for, the server before a real model.

mod provider;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::server::client::{Ask, text, until};
use crate::server::{Client, KEY, Server, Site};
use provider::Provider;

/// What each client has to say, line by line.
const CHECKS: &[&str] = &[
    "chat",
    "stream",
    "routed",
    "agent",
    "tools",
    "streamed_tools",
    "json_schema",
    "embeddings",
    "models",
    "unauthenticated",
    "not_found",
    "invalid",
    "over_budget",
    "rate_limited",
    "retried",
    "cut",
    "no_model",
];

/// The provider's key.
const PROVIDERS_KEY: &str = "sk-example-0123456789abcdef";

/// A variable that `cargo xtask test` sets; `None`, said aloud, where it does not.
pub(crate) fn found(variable: &str) -> Option<String> {
    let value = std::env::var(variable).ok().filter(|value| !value.is_empty());
    if value.is_none() {
        eprintln!("skipped: {variable} is not set; `cargo xtask test` sets it when it can");
    }
    value
}

/// The provider's models as a configuration names them.
fn named() -> String {
    let prices = "input_price = 150000000, output_price = 600000000";
    format!(
        "models = [\n\
         {{ name = \"echo\", quality = 50, functions = true, json_schema = true, {prices} }},\n\
         {{ name = \"tools\", quality = 0, functions = true, {prices} }},\n\
         {{ name = \"json\", quality = 0, json_schema = true, {prices} }},\n\
         {{ name = \"busy\", quality = 0, {prices} }},\n\
         {{ name = \"cut\", quality = 0, {prices} }},\n\
         {{ name = \"vectors\", embedding = true, input_price = 20000000 }},\n]\n"
    )
}

/// A gateway before a provider.
struct Gateway {
    provider: Provider,
    /// A patient server, one that leaves no time for tries of its own, so that callers have to come again, and one
    /// without any provider.
    patient: Server,
    impatient: Server,
    offline: Server,
    client: Client,
    /// A key whose user may spend next to nothing.
    poor: String,
    _sites: [Site; 3],
}

impl Gateway {
    /// A gateway whose provider has these `models` in the configuration; without any its own list counts.
    async fn start(models: &str) -> Self {
        let provider = Provider::start();
        let settings = format!(
            "[providers.fake]\nkind = \"openai\"\nformat = \"openai_chat\"\nbase_url = \"{}\"\n\
             api_key = \"{PROVIDERS_KEY}\"\n{models}",
            provider.url()
        );
        let site = |settings: &str| {
            let site = Site::sqlite();
            site.file("kybern.toml", settings);
            site
        };
        // Two seconds of pause and one for the call do not fit.
        let hurried = format!("{settings}[models]\nwhole_ms = 2900\n");
        let sites = [settings.as_str(), &hurried, ""].map(site);
        let [patient, impatient, offline] = sites.each_ref().map(Site::start);
        let client = patient.client();
        let user = json!({"name": "A poor user", "email": "poor@example.com", "roles": ["operator"]});
        let user = text(&client.post("/api/users", &user).await["id"]);
        let key = json!({"name": "poor", "userId": user, "roles": ["operator"]});
        let poor = text(&client.post("/api/keys", &key).await["key"]);
        let budget = json!({"subject": {"type": "user", "id": user}, "period": "day", "tokens": 1});
        client.post("/api/budgets", &budget).await;
        Self { provider, patient, impatient, offline, client, poor, _sites: sites }
    }

    /// Lets a client's script ask. Blocking is fine: the servers are processes, and the provider has a thread.
    fn ask(&self, mut script: Command) -> Output {
        for (name, server) in [("", &self.patient), ("IMPATIENT_", &self.impatient), ("OFFLINE_", &self.offline)] {
            script.env(format!("KYBERN_{name}URL"), format!("{}/v1", server.url()));
        }
        script.env("KYBERN_KEY", KEY).env("KYBERN_POOR_KEY", &self.poor);
        for proxy in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            script.env_remove(proxy);
        }
        script.output().unwrap()
    }

    /// What has to be so after a client has asked everything.
    async fn holds(&self, output: &Output) {
        let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let lines: Vec<&str> = said.lines().collect();
        assert!(output.status.success(), "{} after {lines:?}:\n{errors}", output.status);
        assert_eq!(lines, CHECKS);
        for call in self.provider.all() {
            assert_eq!(call.key, format!("Bearer {PROVIDERS_KEY}"), "{}", call.path);
        }
        let first = &self.provider.calls("echo")[0].body;
        assert_eq!((&first["temperature"], &first["messages"][0]["content"]), (&json!(0.5), &json!("hello")));
        let tools = self.provider.calls("tools");
        assert_eq!(tools.len(), 3);
        assert_eq!(tools[0].body["parallel_tool_calls"], true);
        let answers: Vec<&Value> = tools[1].body["messages"].as_array().unwrap().iter().collect();
        assert_eq!(answers[1]["tool_calls"].as_array().unwrap().len(), 2, "{answers:?}");
        assert_eq!(answers[2]["tool_call_id"], answers[1]["tool_calls"][0]["id"]);
        let schema = &self.provider.calls("json")[0].body["response_format"]["json_schema"];
        assert_eq!((&schema["strict"], &schema["schema"]["required"]), (&json!(true), &json!(["city", "degrees"])));
        assert_eq!(self.provider.calls("busy").len(), 3, "two refusals and an answer, and no tries in between");
        // A whole and a streamed chat, three routed ones, two turns of an agent, three of tools, one of JSON, one that was
        // cut, two of vectors.
        counted_calls(&self.client, 14).await;
        self.client.audit_is_whole().await;
    }
}

/// Waits until exactly so many calls are counted: settlements follow the answers.
async fn counted_calls(client: &Client, calls: u64) {
    let counted = || async {
        let usage = client.get("/api/usage?by=model").await;
        let counted: u64 = usage["items"].as_array()?.iter().filter_map(|item| item["calls"].as_u64()).sum();
        (counted == calls).then_some(())
    };
    until(&format!("{calls} calls are counted"), counted).await;
}

/// A client for Python, asked to do everything; `named` are the models that the configuration names.
async fn python(variable: &str, script: &str, named: &str) {
    let Some(python) = found(variable) else { return };
    let gateway = Gateway::start(named).await;
    let mut program = Command::new(python);
    program.arg(folder().join(script));
    let output = gateway.ask(program);
    gateway.holds(&output).await;
}

/// A client for Node, asked to do everything.
async fn node(variable: &str, modules: &str, script: &str, named: &str) {
    let (Some(node), Some(modules)) = (found(variable), found(modules)) else { return };
    // A program finds its packages beside itself.
    let beside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(modules, beside.path().join("node_modules")).unwrap();
    let copy = beside.path().join(script);
    std::fs::copy(folder().join(script), &copy).unwrap();
    let gateway = Gateway::start(named).await;
    let mut program = Command::new(node);
    program.arg(copy);
    let output = gateway.ask(program);
    gateway.holds(&output).await;
}

/// Where the clients' scripts lie.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/clients")
}

async fn openai_python(named: &str) {
    python("KYBERN_TEST_OPENAI_PYTHON", "openai_client.py", named).await;
}

async fn openai_node(named: &str) {
    node("KYBERN_TEST_OPENAI_NODE", "KYBERN_TEST_OPENAI_NODE_MODULES", "openai_client.mjs", named).await;
}

#[tokio::test]
async fn openais_client_for_python_works_unchanged() {
    openai_python(&named()).await;
}

#[tokio::test]
async fn openais_client_for_node_works_unchanged() {
    openai_node(&named()).await;
}

#[tokio::test]
async fn openais_client_for_python_needs_no_list_of_the_providers_models() {
    openai_python("").await;
}

#[tokio::test]
async fn openais_client_for_node_needs_no_list_of_the_providers_models() {
    openai_node("").await;
}

#[tokio::test]
async fn langchain_works_unchanged_and_needs_no_list_of_the_providers_models() {
    python("KYBERN_TEST_LANGCHAIN_PYTHON", "langchain_client.py", "").await;
}

#[tokio::test]
async fn the_ai_sdk_works_unchanged_and_needs_no_list_of_the_providers_models() {
    node("KYBERN_TEST_AI_SDK_NODE", "KYBERN_TEST_AI_SDK_NODE_MODULES", "ai_sdk_client.mjs", "").await;
}

/// What a real model says is its own affair; that it says something, counts it, and keeps to a schema is not.
#[tokio::test]
async fn a_real_model_answers_whole_in_pieces_and_by_schema() {
    let Some(url) = found("KYBERN_TEST_LLM_URL") else { return };
    let site = Site::sqlite();
    site.file(
        "kybern.toml",
        format!("[providers.small]\nkind = \"llamacpp\"\nbase_url = \"{url}\"\nmodels = [\"small\"]\n"),
    );
    let server = site.start();
    let client = server.client();
    let hello = json!([{"role": "user", "content": "Say hello in one short sentence."}]);
    let ask = json!({"model": "small/small", "messages": hello, "max_tokens": 24, "temperature": 0});
    let whole = client.post("/v1/chat/completions", &ask).await;
    let said = text(&whole["choices"][0]["message"]["content"]);
    let counted = |usage: &Value, name: &str| usage[name].as_u64().unwrap_or_default();
    assert!(!said.trim().is_empty() && counted(&whole["usage"], "completion_tokens") > 0, "{whole}");
    eprintln!("the model said {said:?}");
    let mut streamed = ask.clone();
    streamed["stream"] = json!(true);
    streamed["stream_options"] = json!({"include_usage": true});
    let body = client.raw(&Ask::json("/v1/chat/completions", &streamed)).await.unwrap().text().await.unwrap();
    let data: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data.last(), Some(&"[DONE]"), "{body}");
    let chunks: Vec<Value> = data.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let pieces: Vec<&str> =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    // At temperature 0 the same question has the same answer, however it is handed over.
    assert_eq!(pieces.concat(), said, "{body}");
    assert!(chunks.iter().any(|chunk| counted(&chunk["usage"], "prompt_tokens") > 0), "{body}");
    let properties = json!({"city": {"type": "string"}, "degrees": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["city", "degrees"],
        "additionalProperties": false});
    let question = json!([{"role": "user", "content": "It is 21 degrees in Lisbon. Answer as JSON: city, degrees."}]);
    let format = json!({"type": "json_schema", "json_schema": {"name": "weather", "schema": schema, "strict": true}});
    let ask = json!({"model": "small/small", "messages": question, "max_tokens": 200, "temperature": 0,
        "response_format": format});
    let answer = client.ok(&Ask::json("/v1/chat/completions", &ask)).await;
    let read: Value = serde_json::from_str(&text(&answer["choices"][0]["message"]["content"])).unwrap();
    assert!(read["city"].is_string() && read["degrees"].is_i64(), "{answer}");
    counted_calls(&client, 3).await;
    client.audit_is_whole().await;
}
