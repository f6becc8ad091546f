//! How likely tokens were, and how closely images are looked at: wishes that few formats know.

use kybern_adapters::models::quirks::ProviderKind;
use kybern_adapters::models::wire::WireFormat;
use kybern_core::model::{Image, ImageDetail, ModelFailureKind, ModelMessage, ModelRequest, Part, Role};
use serde_json::{Value, json};

use super::{stream, streamed};

fn asking(logprobs: Option<u8>, detail: Option<ImageDetail>) -> ModelRequest {
    let image = Part::Image(Image::Url { url: "https://example.com/a.png".to_owned(), detail });
    let messages = vec![ModelMessage { role: Role::User, parts: vec![image] }];
    ModelRequest { model: "m".to_owned(), messages, logprobs, ..ModelRequest::default() }
}

fn body(format: WireFormat, request: &ModelRequest) -> Value {
    let wire = format.encode(request, false, ProviderKind::OpenAi.quirks()).unwrap();
    serde_json::from_slice(&wire.body).unwrap()
}

#[test]
fn likelihoods_are_asked_for_where_they_are_told_and_refused_elsewhere() {
    for (others, members) in
        [(None, [json!(null), json!(null)]), (Some(0), [json!(true), json!(null)]), (Some(5), [json!(true), json!(5)])]
    {
        let body = body(WireFormat::OpenaiChat, &asking(others, None));
        assert_eq!([body["logprobs"].clone(), body["top_logprobs"].clone()], members, "{others:?}");
    }
    for format in [WireFormat::OpenaiResponses, WireFormat::Anthropic] {
        let failure = format.encode(&asking(Some(0), None), false, ProviderKind::OpenAi.quirks()).unwrap_err();
        assert_eq!(failure.kind, ModelFailureKind::Unsupported, "{format:?}");
        assert!(failure.message.contains("logprobs"), "{}", failure.message);
    }
}

#[test]
fn likelihoods_come_back_whole_and_in_pieces() {
    let one = |token: &str| json!({"token": token, "logprob": -0.25, "bytes": null, "top_logprobs": []});
    let whole = json!({"id": "r", "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "ab"}, "logprobs": {"content": [one("a"), one("b")]}}]});
    let reply = WireFormat::OpenaiChat.decode(whole.to_string().as_bytes()).unwrap();
    assert_eq!(*reply.logprobs.unwrap(), json!({"content": [one("a"), one("b")]}));
    let mut bytes = String::new();
    for (text, finish) in [("a", Value::Null), ("b", json!("stop"))] {
        let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": finish,
            "logprobs": {"content": [one(text)], "refusal": null}});
        bytes += &format!("data: {}\n\n", json!({"id": "r", "model": "m", "choices": [choice]}));
    }
    bytes += "data: [DONE]\n\n";
    let reply = streamed(WireFormat::OpenaiChat, bytes.as_bytes()).unwrap();
    assert_eq!(reply.logprobs.unwrap()["content"], json!([one("a"), one("b")]));
    // Older servers have a form of their own under the same name.
    let legacy = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "a"},
        "logprobs": {"tokens": ["a"], "token_logprobs": [-1.0]}}]});
    assert_eq!(WireFormat::OpenaiChat.decode(legacy.to_string().as_bytes()).unwrap().logprobs, None);
    let (events, end) = stream(WireFormat::OpenaiChat, &[bytes.as_bytes()]);
    assert!(end.is_ok() && events.len() == 6, "{events:?}");
}

#[test]
fn how_closely_to_look_goes_along_where_the_format_has_a_word_for_it() {
    for (detail, word) in
        [(None, Value::Null), (Some(ImageDetail::Low), json!("low")), (Some(ImageDetail::High), json!("high"))]
    {
        let chat = body(WireFormat::OpenaiChat, &asking(None, detail));
        assert_eq!(chat["messages"][0]["content"][0]["image_url"]["detail"], word);
        let responses = body(WireFormat::OpenaiResponses, &asking(None, detail));
        assert_eq!(responses["input"][0]["content"][0]["detail"], word, "{responses}");
        assert!(!body(WireFormat::Anthropic, &asking(None, detail)).to_string().contains("detail"));
    }
}
