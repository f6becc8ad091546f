//! A language model that answers from the truth, over HTTP, in a provider's own format.
//!
//! It knows all that is true of the mail that is fed, and not which paper says what: it claims everything of every paper.
//! So a run with it shows how much of what a perfect reader says arrives, and that what a paper does not say is refused.
//! A name it writes as far as the paper does, and of a list it tells together what the truth tells together: a policy's
//! number, its insurer and that insurer's code, and otherwise values of which there are as many as items.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::set::{Mail, Review, Set};
use super::told::truth_of;

/// The largest question.
const MAX_BODY: usize = 8 * 1024 * 1024;
/// How sure it is of an intent, and where a person has to look.
const SURE: f64 = 0.95;
const UNSURE: f64 = 0.5;

/// A provider's wire format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    Gemini,
}

impl Format {
    pub(super) fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "openai_chat" => Self::OpenAiChat,
            "openai_responses" => Self::OpenAiResponses,
            "anthropic" => Self::Anthropic,
            "gemini" => Self::Gemini,
            other => bail!("there is no format {other:?}; use openai_chat, openai_responses, anthropic or gemini"),
        })
    }

    /// The kind of provider that speaks it, and its name in the settings.
    fn kind(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAiChat => ("custom", "openai_chat"),
            Self::OpenAiResponses => ("openai", "openai_responses"),
            Self::Anthropic => ("anthropic", "anthropic"),
            Self::Gemini => ("google", "gemini"),
        }
    }

    /// A reply of that text.
    fn reply(self, text: &str) -> Value {
        match self {
            Self::OpenAiChat => json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": "small",
                "choices": [{
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop"
                }],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            }),
            Self::OpenAiResponses => json!({
                "id": "resp_1", "object": "response", "created_at": 1_790_000_000, "status": "completed",
                "model": "small",
                "output": [{
                    "id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
                    "content": [{"type": "output_text", "annotations": [], "text": text}]
                }],
                "usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
            }),
            Self::Anthropic => json!({
                "id": "msg_1", "type": "message", "role": "assistant", "model": "small",
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn", "stop_sequence": null,
                "usage": {"input_tokens": 100, "output_tokens": 10}
            }),
            Self::Gemini => json!({
                "candidates": [{
                    "content": {"parts": [{"text": text}], "role": "model"},
                    "index": 0,
                    "finishReason": "STOP"
                }],
                "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
                "modelVersion": "small"
            }),
        }
    }
}

/// Who is asked about a set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Reader {
    /// The model that knows the truth, in this format.
    Scripted(Format),
    /// A model behind a server that speaks OpenAI's format.
    Real {
        /// Its base URL.
        url: String,
        /// Its name there.
        name: String,
    },
}

impl Reader {
    /// Reads a format, or `URL#NAME`.
    pub(super) fn named(text: &str) -> Result<Self> {
        if !text.starts_with("http") {
            return Format::named(text).map(Self::Scripted);
        }
        let (url, name) = text.split_once('#').with_context(|| format!("{text:?} names no model; write URL#NAME"))?;
        Ok(Self::Real { url: url.to_owned(), name: name.to_owned() })
    }

    /// The settings of a server that asks a real model.
    pub(super) fn settings(url: &str, name: &str, when: &str) -> String {
        format!(
            "[intake]\nlanguage_model = \"{when}\"\n[models]\nunderstanding = \"real/{name}\"\n\
             first_ms = 300000\nwhole_ms = 600000\n\
             [providers.real]\nkind = \"custom\"\nbase_url = \"{url}\"\napi_key = \"none\"\nmodels = [\"{name}\"]\n"
        )
    }
}

/// What is true of the mail that is fed.
#[derive(Debug, Default)]
struct Current {
    intent: String,
    unsure: bool,
    /// Values by their names in the truth.
    values: Vec<(String, Vec<String>)>,
    /// Of each policy of `values`, its insurer and that insurer's code, as far as they are known.
    insurers: Vec<[Option<String>; 2]>,
    questions: usize,
}

/// The running model; it ends with the process.
#[derive(Clone, Debug)]
pub(super) struct Scripted {
    format: Format,
    port: u16,
    current: Arc<Mutex<Current>>,
}

impl Scripted {
    /// Starts it.
    ///
    /// # Errors
    /// When there is no port to listen on.
    pub(super) fn start(format: Format) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
        let scripted = Self { format, port: listener.local_addr()?.port(), current: Arc::default() };
        let model = scripted.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(std::result::Result::ok) {
                let model = model.clone();
                std::thread::spawn(move || drop(model.serve(&stream)));
            }
        });
        Ok(scripted)
    }

    /// The settings of a server that asks it, as `[intake] language_model` has it.
    pub(super) fn settings(&self, when: &str) -> String {
        let (kind, format) = self.format.kind();
        let address = format!("127.0.0.1:{}", self.port);
        format!(
            "[egress]\nallow = [\"{address}\"]\n[intake]\nlanguage_model = \"{when}\"\n\
             [models]\nunderstanding = \"scripted/small\"\n\
             [providers.scripted]\nkind = \"{kind}\"\nformat = \"{format}\"\nbase_url = \"http://{address}/v1\"\n\
             api_key = \"none\"\nmodels = [{{ name = \"small\", input_price = 1, output_price = 1 }}]\n"
        )
    }

    /// What the next mail says.
    pub(super) fn feed(&self, set: &Set, name: &str) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let questions = current.questions;
        *current = set.truth.files.get(name).map(|mail| of_mail(set, mail)).unwrap_or_default();
        current.questions = questions;
    }

    /// How often it was asked.
    pub(super) fn questions(&self) -> usize {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).questions
    }

    fn serve(&self, stream: &TcpStream) -> Result<()> {
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse::<usize>()?;
            }
            if line.trim().is_empty() {
                break;
            }
        }
        if length > MAX_BODY {
            bail!("a question of {length} bytes");
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let question: Value = serde_json::from_slice(&body)?;
        let answer = self.format.reply(&self.answer(&question).to_string()).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            answer.len()
        );
        let mut stream = stream;
        stream.write_all(head.as_bytes())?;
        stream.write_all(answer.as_bytes())?;
        Ok(())
    }

    /// The answer, by what its schema asks for.
    fn answer(&self, question: &Value) -> Value {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        current.questions += 1;
        if let Some(choices) = choices(question, "intent") {
            let known = choices.contains(&current.intent);
            let intent = if known { current.intent.as_str() } else { "none" };
            let confidence = if current.unsure { UNSURE } else { SURE };
            return json!({"intent": intent, "confidence": confidence, "also": [], "reason": "the truth says so"});
        }
        let material = letters(&material(question));
        if choices(question, "category").is_some() {
            let mut sections = choices(question, "sections").unwrap_or_default();
            sections.retain(|section| has_section(section, &material, &current));
            return json!({"category": "other", "confidence": 0.5, "sections": sections});
        }
        json!({"values": claims(&choices(question, "field").unwrap_or_default(), &material, &current)})
    }
}

fn of_mail(set: &Set, mail: &Mail) -> Current {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let values = mail.fields.iter().map(|(name, wanted)| {
        let spelled = wanted.iter().map(|wanted| wanted.written.clone().unwrap_or_else(|| text(&wanted.value)));
        (name.clone(), spelled.collect())
    });
    let code_of = |insurer: &str| {
        let known = set.truth.preconditions.seed_records.iter().find(|known| known.name == insurer);
        known.map(|known| known.naic.clone())
    };
    let policies = mail.fields.get("policy_number").into_iter().flatten();
    let insurers = policies.map(|policy| {
        let insurer = policy.value.as_str().and_then(|number| mail.insurer_of(number));
        [insurer.map(str::to_owned), insurer.and_then(code_of)]
    });
    Current {
        intent: mail.intent.clone(),
        unsure: mail.review() == Review::Needed,
        values: values.collect(),
        insurers: insurers.collect(),
        questions: 0,
    }
}

/// What can be chosen for a property of the answer, wherever the format has its schema.
fn choices(question: &Value, property: &str) -> Option<Vec<String>> {
    let texts = |choices: &Value| {
        let choices = choices.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned);
        Some(choices.collect())
    };
    match question {
        Value::Object(members) => {
            if let Some(schema) = members.get("properties").and_then(|properties| properties.get(property))
                && let Some(choices) = schema.get("enum").or_else(|| schema.get("items")?.get("enum")).and_then(texts)
            {
                return Some(choices);
            }
            members.values().find_map(|member| choices(member, property))
        }
        Value::Array(items) => items.iter().find_map(|item| choices(item, property)),
        _ => None,
    }
}

/// What strangers wrote, of all that a question says.
fn material(question: &Value) -> String {
    match question {
        Value::String(text) => text.find("<data ").map(|at| text[at..].to_owned()).unwrap_or_default(),
        Value::Object(members) => members.values().map(material).collect(),
        Value::Array(items) => items.iter().map(material).collect(),
        _ => String::new(),
    }
}

/// Its letters and digits, in small letters.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Names in the truth whose values show that a section is there, by what its name ends with.
const SECTIONS: &[(&str, &[&str])] = &[
    ("_insured", &["insured_name", "dot_number", "mc_number", "address"]),
    ("_policies", &["policy_number", "carrier", "naic_number"]),
    ("_coverages", &["policy_number", "carrier"]),
    ("_vehicles", &["vin", "vin_suspect"]),
    ("_claims", &["claim_number"]),
    ("values_losses", &["claim_number"]),
    ("_drivers", &["driver_name", "license_number"]),
    ("tells_of_driver", &["driver_name", "license_number"]),
    ("_certificate", &["certificate_holder"]),
];

/// Whether a paper has one of the values that show a section.
fn has_section(section: &str, material: &str, current: &Current) -> bool {
    let shown_by = SECTIONS.iter().filter(|(ending, _)| section.ends_with(ending)).flat_map(|(_, names)| *names);
    let mut values = shown_by
        .flat_map(|name| current.values.iter().filter(move |known| known.0 == **name))
        .flat_map(|known| &known.1);
    values.any(|value| !letters(value).is_empty() && material.contains(&letters(value)))
}

/// Fields that are names of companies: papers may leave out how such a name ends.
const COMPANIES: [&str; 2] = ["insured_name", "carrier"];
/// Words that a company's name keeps at least.
const LEAST_WORDS: usize = 2;

/// A company's name as far as the paper writes it.
fn as_written(name: &str, material: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let shorter = (LEAST_WORDS..words.len()).rev().map(|count| words[..count].join(" "));
    [name.to_owned()]
        .into_iter()
        .chain(shorter)
        .find(|name| material.contains(&letters(name)))
        .unwrap_or(name.to_owned())
}

/// The field that tells the items of a list apart, by its name in the truth.
fn key_of(list: &str) -> &'static str {
    match list {
        "policies" => "policy_number",
        "vehicles" => "vin",
        "drivers" => "driver_name",
        _ => "claim_number",
    }
}

/// Everything that is true, under every field that can hold it.
fn claims(fields: &[String], material: &str, current: &Current) -> Vec<Value> {
    let of = |name: &str| current.values.iter().find(|(known, _)| known == name).map_or(&[][..], |(_, values)| values);
    let mut claims = Vec::new();
    let mut next = current.values.iter().map(|(_, values)| values.len()).max().unwrap_or_default();
    for field in fields {
        let Some(name) = truth_of(&field.replace("[]", "")) else { continue };
        let values = of(name);
        let keys = field.split_once("[]").map(|(list, _)| of(key_of(list)).len());
        for (at, value) in values.iter().enumerate() {
            let of_insurer = |known: &[Option<String>; 2]| known.iter().flatten().any(|known| known == value);
            let told: Vec<usize> = match keys {
                None => vec![0],
                Some(_) if name == "carrier" || name == "naic_number" => {
                    let known = current.insurers.iter().enumerate().filter(|(_, known)| of_insurer(known));
                    known.map(|(item, _)| item).collect()
                }
                Some(keys) if keys == values.len() => vec![at],
                Some(_) => Vec::new(),
            };
            // What belongs nobody knows where is an item of its own.
            let own = told.is_empty().then_some(next);
            next += usize::from(own.is_some());
            let value = if COMPANIES.contains(&name) { as_written(value, material) } else { value.clone() };
            for item in told.into_iter().chain(own) {
                claims.push(json!({"field": field, "item": item, "value": value}));
            }
        }
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current(values: &[(&str, &[&str])]) -> Current {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let values = values.iter().map(|(name, values)| ((*name).to_owned(), owned(values))).collect();
        Current { values, ..Current::default() }
    }

    #[test]
    fn it_claims_what_is_true_under_the_names_that_it_is_asked_for() {
        let current = current(&[("policy_number", &["A-1", "B-2"])]);
        let schema = json!({"properties": {"values": {"items": {"properties": {"field": {"enum":
            ["policies[].policy_number", "insured.name"]}}}}}});
        let fields = choices(&json!({"text": {"format": {"schema": schema}}}), "field").unwrap();
        let expected = json!([
            {"field": "policies[].policy_number", "item": 0, "value": "A-1"},
            {"field": "policies[].policy_number", "item": 1, "value": "B-2"}
        ]);
        assert_eq!(json!(claims(&fields, "", &current)), expected);
    }

    #[test]
    fn it_puts_together_only_what_the_truth_does() {
        let mut current = current(&[
            ("policy_number", &["A-1", "B-2"]),
            ("carrier", &["Fern Mutual", "Oak Mutual"]),
            ("naic_number", &["12345"]),
            ("effective_date", &["2026-01-01"]),
            ("limit", &["1000", "2000"]),
        ]);
        let insurer = |name: &str, code: Option<&str>| [Some(name.to_owned()), code.map(str::to_owned)];
        current.insurers = vec![insurer("Oak Mutual", Some("12345")), insurer("Oak Mutual", Some("12345"))];
        let items = |field: &str| -> Vec<String> {
            let claims = claims(&[format!("policies[].{field}")], "", &current);
            claims.iter().map(|claim| format!("{} {}", claim["item"], claim["value"].as_str().unwrap())).collect()
        };
        assert_eq!(items("insurer"), ["2 Fern Mutual", "0 Oak Mutual", "1 Oak Mutual"]);
        assert_eq!(items("naic"), ["0 12345", "1 12345"]);
        assert_eq!(items("effective"), ["2 2026-01-01"]);
        assert_eq!(items("limit"), ["0 1000", "1 2000"]);
    }

    #[test]
    fn it_reads_of_a_paper_what_is_there() {
        let question = json!({"messages": [{"content": "fields: vin\n\n<data id=1>Bent Axle Trucking, A-1</data>"}]});
        let material = letters(&material(&question));
        assert_eq!(as_written("Bent Axle Trucking Co.", &material), "Bent Axle Trucking");
        assert_eq!(as_written("Fern Hall Haulers LLC", &material), "Fern Hall Haulers LLC");
        let current = current(&[("policy_number", &["A-1"]), ("vin", &["X9"])]);
        assert!(has_section("insurance/has_policies", &material, &current));
        assert!(!has_section("insurance/has_vehicles", &material, &current));
    }
}
