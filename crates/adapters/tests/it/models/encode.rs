//! Every request, as it goes out to every provider.

use kybern_adapters::models::quirks::ProviderKind;
use kybern_adapters::models::wire::{WireFormat, WireRequest, embedding};
use kybern_core::model::{
    Effort, EmbedRequest, FunctionChoice, FunctionSpec, Image, ModelFailure, ModelFailureKind, ModelMessage,
    ModelRequest, OutputSchema, Part, Reasoning, Role, ToolCall, ToolResult,
};
use serde_json::{Value, json};

fn function(name: &str) -> FunctionSpec {
    let parameters = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"],
        "additionalProperties": false});
    FunctionSpec { name: name.to_owned(), description: format!("Does {name}."), parameters, strict: Some(true) }
}

fn picture() -> Part {
    Part::Image(Image::Data { media_type: "image/png".to_owned(), data: "iVBORw0KGgo=".into(), detail: None })
}

fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() })
}

fn answer(call_id: &str, name: &str, content: &str, is_error: bool) -> Part {
    let (call_id, name, content) = (call_id.to_owned(), name.to_owned(), content.to_owned());
    Part::ToolAnswer(ToolResult { call_id, name, content, is_error })
}

fn thought(text: &str, opaque: &str) -> Part {
    Part::Reasoning(Reasoning { text: text.to_owned(), opaque: Some(opaque.to_owned()).filter(|it| !it.is_empty()) })
}

fn text(text: &str) -> Part {
    Part::Text { text: text.to_owned() }
}

fn plain(model: &str) -> ModelRequest {
    let messages =
        vec![ModelMessage::text(Role::System, "Be brief."), ModelMessage::text(Role::User, "Hello, \"you\"")];
    ModelRequest { model: model.to_owned(), messages, ..ModelRequest::default() }
}

/// A turn with everything in it that has happened before.
fn conversation(model: &str) -> ModelRequest {
    let said = vec![
        thought("Let me see.", "anthropic.signature:SIG-A"),
        thought("", "openai.item:rs_1 ENCRYPTED"),
        thought("", "gemini.signature:SIG-G"),
        text("I look."),
        call("call_a", "find", "{\"q\":\"x\"}"),
        call("call_1", "find", "not json"),
    ];
    let answers = vec![answer("call_a", "find", "Found.", false), answer("call_1", "find", "No such thing.", true)];
    let messages = vec![
        ModelMessage::text(Role::System, "Be brief."),
        ModelMessage::text(Role::User, "Hello"),
        ModelMessage { role: Role::Assistant, parts: said },
        ModelMessage { role: Role::Tool, parts: answers },
        ModelMessage::text(Role::System, "Answer now."),
    ];
    ModelRequest { messages, functions: vec![function("find")], function_choice: FunctionChoice::None, ..plain(model) }
}

fn with_image(model: &str, part: Part) -> ModelRequest {
    let messages = vec![ModelMessage { role: Role::User, parts: vec![text("What is this?"), part] }];
    ModelRequest { messages, ..plain(model) }
}

fn options(model: &str) -> ModelRequest {
    let extra = json!({"top_k": 40, "model": "not this one",
        "generationConfig": {"topK": 40, "temperature": 0.1, "maxOutputTokens": 9}});
    ModelRequest {
        max_output_tokens: Some(500),
        temperature: Some(1.5),
        top_p: Some(0.9),
        seed: Some(7),
        effort: Some(Effort::Low),
        user: Some("u-1".to_owned()),
        extra: extra.as_object().unwrap().clone(),
        ..plain(model)
    }
}

fn tools(model: &str, choice: FunctionChoice) -> ModelRequest {
    ModelRequest {
        functions: vec![function("find"), function("send")],
        function_choice: choice,
        parallel_calls: Some(false),
        ..plain(model)
    }
}

fn json_answer(model: &str, schema: Option<Value>) -> ModelRequest {
    ModelRequest { output: Some(OutputSchema { name: "place".to_owned(), schema, strict: true }), ..plain(model) }
}

/// What is asked, by name.
fn cases(model: &str) -> Vec<(&'static str, ModelRequest)> {
    let url = Part::Image(Image::Url { url: "https://example.com/a.png".to_owned(), detail: None });
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": false});
    vec![
        ("plain", plain(model)),
        ("conversation", conversation(model)),
        ("image", with_image(model, picture())),
        ("image by url", with_image(model, url)),
        ("options", options(model)),
        ("stop", ModelRequest { stop: vec!["END".to_owned()], ..plain(model) }),
        ("tools", tools(model, FunctionChoice::Auto)),
        ("a tool at least", tools(model, FunctionChoice::Required)),
        ("the tool send", tools(model, FunctionChoice::Named("send".to_owned()))),
        ("json by schema", json_answer(model, Some(schema))),
        ("json", json_answer(model, None)),
    ]
}

fn written(result: &Result<WireRequest, ModelFailure>) -> String {
    match result {
        Err(failure) => format!("{:?}: {}", failure.kind, failure.message),
        Ok(wire) => {
            let body: Value = serde_json::from_slice(&wire.body).unwrap();
            format!("{} {} {:?}\n{body}", wire.method, wire.path, wire.headers)
        }
    }
}

fn snapshot(name: &str, kind: ProviderKind, format: WireFormat, model: &str) {
    let mut out = String::new();
    for (case, request) in cases(model) {
        let stream = case == "plain";
        out += &format!("# {case}\n{}\n\n", written(&format.encode(&request, stream, kind.quirks())));
    }
    insta::assert_snapshot!(format!("encode_{name}"), out);
}

#[test]
fn every_provider_is_asked_in_its_own_words() {
    for kind in ProviderKind::ALL {
        let model = match kind {
            ProviderKind::Anthropic => "claude-sonnet-4-5",
            ProviderKind::Google => "gemini-2.5-flash",
            ProviderKind::OpenAi => "gpt-4o",
            _ => "some-model",
        };
        snapshot(kind.as_str(), kind, kind.quirks().format, model);
    }
    snapshot("openai_thinking", ProviderKind::OpenAi, WireFormat::OpenaiChat, "gpt-5");
    snapshot("openai_responses", ProviderKind::OpenAi, WireFormat::OpenaiResponses, "gpt-5");
    snapshot("openai_responses_plain", ProviderKind::OpenAi, WireFormat::OpenaiResponses, "gpt-4o");
    snapshot("anthropic_adaptive", ProviderKind::Anthropic, WireFormat::Anthropic, "claude-opus-4-7");
    snapshot("google_levels", ProviderKind::Google, WireFormat::Gemini, "gemini-3-pro-preview");
}

#[test]
fn images_of_tools_are_not_lost() {
    let parts = vec![answer("call_a", "shoot", "A picture.", false), picture()];
    let messages = vec![
        ModelMessage { role: Role::Assistant, parts: vec![call("call_a", "shoot", "{}")] },
        ModelMessage { role: Role::Tool, parts },
    ];
    let request = ModelRequest { messages, ..plain("m") };
    for format in WireFormat::ALL {
        let wire = format.encode(&request, false, ProviderKind::OpenAi.quirks()).unwrap();
        let body = String::from_utf8(wire.body.to_vec()).unwrap();
        assert!(body.contains("iVBORw0KGgo="), "{format:?} {body}");
    }
    let failure = WireFormat::OpenaiChat.encode(&request, false, ProviderKind::DeepSeek.quirks()).unwrap_err();
    assert_eq!(failure.kind, ModelFailureKind::Unsupported);
}

#[test]
fn images_of_the_model_itself_are_refused() {
    let messages = vec![ModelMessage { role: Role::Assistant, parts: vec![picture()] }];
    let request = ModelRequest { messages, ..plain("m") };
    for format in WireFormat::ALL {
        let failure = format.encode(&request, false, ProviderKind::OpenAi.quirks()).unwrap_err();
        assert_eq!(failure.kind, ModelFailureKind::Unsupported, "{format:?}");
    }
}

#[test]
fn calls_and_answers_keep_one_id_at_every_provider() {
    let id = "functions.find:0/of-another-provider-with-a-very-long-id-indeed-1234";
    let messages = vec![
        ModelMessage { role: Role::Assistant, parts: vec![call(id, "find", "{}")] },
        ModelMessage { role: Role::Tool, parts: vec![answer(id, "find", "Found.", false)] },
    ];
    let request = ModelRequest { messages, ..plain("m") };
    for kind in [ProviderKind::OpenAi, ProviderKind::Mistral, ProviderKind::Anthropic] {
        let wire = kind.quirks().format.encode(&request, false, kind.quirks()).unwrap();
        let body: Value = serde_json::from_slice(&wire.body).unwrap();
        let at = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let (called, answered) = match kind {
            ProviderKind::Anthropic => ("/messages/0/content/0/id", "/messages/1/content/0/tool_use_id"),
            _ => ("/messages/0/tool_calls/0/id", "/messages/1/tool_call_id"),
        };
        let called = at(called).unwrap();
        assert_eq!(Some(called.as_str()), at(answered).as_deref(), "{kind:?}");
        assert!(called != id && called.len() <= 40, "{called}");
        assert_eq!(called.len() == 9, kind == ProviderKind::Mistral);
    }
}

#[test]
fn a_choice_without_its_tool_contradicts_itself() {
    for format in WireFormat::ALL {
        let nothing = ModelRequest { function_choice: FunctionChoice::Required, ..plain("m") };
        let other = tools("m", FunctionChoice::Named("fly".to_owned()));
        for request in [nothing, other] {
            let failure = format.encode(&request, false, ProviderKind::Custom.quirks()).unwrap_err();
            assert_eq!(failure.kind, ModelFailureKind::Request, "{format:?}");
        }
    }
}

#[test]
fn a_model_name_cannot_leave_its_path() {
    for model in ["../v1/files", "a?key=1", "a#b", "a b"] {
        let failure = WireFormat::Gemini.encode(&plain(model), false, ProviderKind::Google.quirks()).unwrap_err();
        assert_eq!(failure.kind, ModelFailureKind::Request, "{model}");
    }
}

#[test]
fn texts_are_embedded_in_each_format() {
    let request = EmbedRequest {
        model: "m".to_owned(),
        texts: vec!["one".to_owned(), "two".to_owned()],
        dimensions: Some(256),
        user: Some("u-1".to_owned()),
        ..EmbedRequest::default()
    };
    let mut out = String::new();
    for kind in ProviderKind::ALL {
        let quirks = kind.quirks();
        out += &format!("# {}\n{}\n", kind.as_str(), written(&embedding::encode(&request, quirks.format, quirks)));
    }
    insta::assert_snapshot!("embeddings", out);
}
