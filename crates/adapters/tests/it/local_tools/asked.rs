//! The tools that ask a language model, over a desk that answers by script.

use std::future::Future;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kybern_core::error::ErrorCode;
use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::ports::{ModelAnswer, ModelDesk, ModelQuestion, ToolPrompt};
use kybern_core::tool::{ToolFailure, ToolOutcome};
use serde_json::{Value, json};

use super::{context, registry};

/// Gives one answer after the other and remembers the questions.
struct Scripted {
    answers: Mutex<Vec<Result<String, ToolFailure>>>,
    asked: Mutex<Vec<ModelQuestion>>,
}

#[async_trait]
impl ModelDesk for Scripted {
    async fn ask(&self, question: &ModelQuestion) -> Result<ModelAnswer, ToolFailure> {
        self.asked.lock().unwrap().push(question.clone());
        let text = self.answers.lock().unwrap().remove(0)?;
        let usage = Usage { input_tokens: Tokens(10), output_tokens: Tokens(5), cost_nanos: NanoUsd(7) };
        Ok(ModelAnswer { text, model: "one/small".to_owned(), usage })
    }
}

/// Calls a tool on a desk with these answers; what came of it, and what was asked.
async fn ask(tool: &str, args: Value, answers: &[&str]) -> (Result<ToolOutcome, ToolFailure>, Vec<ModelQuestion>) {
    let answers = answers.iter().map(|answer| Ok((*answer).to_owned())).collect();
    let desk = Arc::new(Scripted { answers: Mutex::new(answers), asked: Mutex::default() });
    let mut context = context();
    context.models = Some(desk.clone());
    let registry = registry();
    let called = registry.registered_tool(tool).unwrap().call(&context, args.as_object().unwrap().clone()).await;
    assert!(desk.answers.lock().unwrap().is_empty(), "every answer was asked for");
    let asked = desk.asked.lock().unwrap().clone();
    (called, asked)
}

fn said(called: Result<ToolOutcome, ToolFailure>) -> (Value, Usage) {
    let outcome = called.unwrap();
    assert!(!outcome.summary.is_empty());
    (Value::Object(outcome.data), outcome.usage)
}

#[tokio::test]
async fn a_problem_goes_out_with_its_context_and_comes_back_with_its_conclusion() {
    let args = json!({"problem": "2 + 2?", "context": "decimal"});
    let (called, asked) = ask("deep_reasoning", args, &["Two and two.\n\nAnswer: 4"]).await;
    let (data, usage) = said(called);
    assert_eq!(data, json!({"answer": "4", "reasoning": "Two and two.\n\nAnswer: 4", "model": "one/small"}));
    assert_eq!(usage.cost_nanos, NanoUsd(7));
    assert_eq!(asked[0].prompt, ToolPrompt::DeepReasoning);
    assert_eq!(asked[0].material, [("problem", "2 + 2?".to_owned()), ("context", "decimal".to_owned())]);
    let (called, asked) = ask("deep_reasoning", json!({"problem": "x", "context": null}), &["so"]).await;
    assert_eq!((said(called).0["answer"].clone(), asked[0].material.len()), (json!("so"), 1));
    let (called, _) = ask("deep_reasoning", json!({"problem": " "}), &[]).await;
    assert_eq!(called.unwrap_err().code, ErrorCode::Validation);
}

#[tokio::test]
async fn a_summary_keeps_to_its_length_by_a_second_try_or_by_a_cut() {
    let args = |most: u32| json!({"text": "A long story.", "operation": "summarize", "options": {"maxLength": most}});
    let (called, asked) = ask("text_transform", args(20), &["A story."]).await;
    assert_eq!(said(called).0, json!({"operation": "summarize", "result": "A story.", "model": "one/small"}));
    assert_eq!(asked[0].wishes, [("maxLength", "20".to_owned())]);
    let (called, asked) = ask("text_transform", args(8), &["A story that is too long", "A story."]).await;
    let (data, usage) = said(called);
    assert_eq!((&data["result"], data.get("truncated"), usage.input_tokens), (&json!("A story."), None, Tokens(20)));
    let (first, wrong) = asked[1].correction.clone().unwrap();
    assert!(first == "A story that is too long" && wrong.contains("at most 8"), "{wrong}");
    let (called, _) = ask("text_transform", args(8), &["A story too long", "Still too long"]).await;
    let data = said(called).0;
    assert_eq!((data["result"].as_str().unwrap(), &data["truncated"]), ("Still…", &json!(true)));
}

#[tokio::test]
async fn a_translation_needs_its_language() {
    let args = json!({"text": "Good day", "operation": "translate", "options": {"targetLanguage": "German"}});
    let (called, asked) = ask("text_transform", args, &["Guten Tag\n"]).await;
    assert_eq!(said(called).0["result"], "Guten Tag");
    assert_eq!((asked[0].prompt, &asked[0].wishes[0].1), (ToolPrompt::Translate, &"German".to_owned()));
    for options in [json!({}), json!(null), json!({"targetLanguage": " "})] {
        let args = json!({"text": "Good day", "operation": "translate", "options": options});
        let failure = ask("text_transform", args, &[]).await.0.unwrap_err();
        assert!(failure.code == ErrorCode::Validation && failure.message.contains("targetLanguage"), "{failure}");
    }
    let args = json!({"text": "x".repeat(30_000), "operation": "translate", "options": {"targetLanguage": "German"}});
    assert!(ask("text_transform", args, &[]).await.0.unwrap_err().message.contains("24576"));
}

#[tokio::test]
async fn what_is_taken_out_fits_its_schema_or_is_put_right_once() {
    let schema = json!({"type": "object", "properties": {"qty": {"type": "integer"}}, "required": ["qty"]});
    let args = json!({"text": "Seven boxes", "operation": "extract", "options": {"schema": schema}});
    let (called, asked) = ask("text_transform", args.clone(), &["```json\n{\"qty\": 7}\n```"]).await;
    assert_eq!(said(called).0, json!({"operation": "extract", "data": {"qty": 7}, "model": "one/small"}));
    assert_eq!((asked[0].prompt, asked[0].schema.as_ref()), (ToolPrompt::Extract, Some(&schema)));
    let (called, asked) = ask("text_transform", args.clone(), &["{\"qty\": \"seven\"}", "{\"qty\": 7}"]).await;
    assert_eq!(said(called).1.cost_nanos, NanoUsd(14), "both questions count");
    assert!(asked[1].correction.as_ref().unwrap().1.contains("/qty"));
    let (called, _) = ask("text_transform", args, &["seven", "{}"]).await;
    let failure = called.unwrap_err();
    assert!(failure.code == ErrorCode::Model && failure.message.contains("qty"), "{failure}");
    let args = json!({"text": "x", "operation": "extract"});
    assert!(ask("text_transform", args, &[]).await.0.unwrap_err().message.contains("options.schema"));
}

#[tokio::test]
async fn a_repair_happens_only_where_it_is_asked_for_and_nothing_fits() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let args = |text: &str, repair: bool| json!({"text": text, "schema": schema, "repair": repair});
    let (called, asked) = ask("json_parser", args("{\"a\": 1,}", true), &["{\"a\": 1}"]).await;
    let data = said(called).0;
    assert_eq!(
        (&data["data"], &data["method"], &data["model"]),
        (&json!({"a": 1}), &json!("repair"), &json!("one/small"))
    );
    assert_eq!(asked[0].prompt, ToolPrompt::RepairJson);
    // What is inside fits the text's grammar and not the schema.
    let (called, _) = ask("json_parser", args("{\"b\": {\"c\": 1}, }", true), &["{\"a\": 2}"]).await;
    assert_eq!(said(called).0["method"], "repair");
    for (text, repair, method) in [
        ("{\"a\": 1}", true, json!("direct_parse")),
        ("see {\"a\": 1}", true, json!("extraction")),
        // It is JSON: what it lacks nobody makes up.
        ("{\"b\": 1}", true, json!("direct_parse")),
        ("{\"a\": 1,", false, Value::Null),
    ] {
        let (called, asked) = ask("json_parser", args(text, repair), &[]).await;
        assert_eq!((said(called).0["method"].clone(), asked.len()), (method, 0), "{text}");
    }
    let failure = ask("json_parser", json!({"text": "{", "repair": true}), &[]).await.0.unwrap_err();
    assert!(failure.code == ErrorCode::Validation && failure.message.contains("schema"), "{failure}");
}

/// How often a call gave its thread back before it was done: it waits for nothing but threads that compute, since the
/// desk answers at once.
async fn pauses(tool: &str, args: Value, answer: &str) -> usize {
    let answers = [answer];
    let mut call = std::pin::pin!(ask(tool, args, &answers));
    let mut pauses = 0;
    let (called, _) = std::future::poll_fn(|waker| {
        let done = call.as_mut().poll(waker);
        pauses += usize::from(done.is_pending());
        done
    })
    .await;
    assert!(called.is_ok(), "{called:?}");
    pauses
}

#[tokio::test]
async fn schemas_and_answers_are_not_checked_on_the_threads_that_answer_requests() {
    let parts: Vec<Value> = (0..1_500).map(|least| json!({"minimum": -least})).collect();
    let schema = json!({"items": {"allOf": parts}});
    let answer = json!((0..200).collect::<Vec<u32>>()).to_string();
    let args = json!({"text": "Two hundred", "operation": "extract", "options": {"schema": schema}});
    assert!(pauses("text_transform", args, &answer).await >= 2);
    let args = json!({"text": "[0, 1,", "schema": schema, "repair": true});
    assert!(pauses("json_parser", args, &answer).await >= 2);
}
