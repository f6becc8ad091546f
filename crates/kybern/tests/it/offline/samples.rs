//! Every sample: its intent, and what its documents say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use kybern_adapters::documents::Reader;
use kybern_adapters::mail::parse::Mime;
use kybern_adapters::models::offline::RulesModel;
use kybern_core::document::{DocumentFormat, DocumentText, PageText};
use kybern_core::id::TenantId;
use kybern_core::model::{ClassifyInput, Extraction, ExtractionSchema};
use kybern_core::ports::{DocumentReader, Extractor};
use serde_json::Value;

use super::{THRESHOLD, classify, registry, samples, text};

/// Whose documents they are.
const TENANT: TenantId = TenantId::from_uuid(uuid::Uuid::nil());

/// A sample with everything that was read in it.
struct Sample {
    expected: Value,
    input: ClassifyInput,
    extractions: Vec<Extraction>,
}

/// What the insurance pack looks for.
fn schema() -> Arc<ExtractionSchema> {
    let registry = registry();
    let (_, schema) = registry.extractions().find(|(name, _)| *name == "insurance").unwrap();
    Arc::clone(schema)
}

fn as_document(text: String) -> DocumentText {
    DocumentText { format: DocumentFormat::Text, pages: vec![PageText { number: 1, text, ..PageText::default() }] }
}

async fn read(expected: &Value) -> Sample {
    let schema = schema();
    let file = samples().join(text(&expected["file"]));
    let bytes = fs::read(&file).unwrap();
    let (mut input, mut documents, mut whole) = (ClassifyInput::default(), Vec::new(), None);
    if file.extension().is_some_and(|ending| ending == "eml") {
        let mail = Mime.parse(&bytes).unwrap();
        input = ClassifyInput::of_mail(mail.kind, &mail.subject, &mail.text, &mail.passages);
        input.answers_request = !mail.request_tokens.is_empty();
        whole = Some(mail.text);
        for part in mail.parts.into_iter().filter(|part| !part.inline) {
            documents.extend(Reader::new().read(TENANT, &part.filename, &part.content_type, part.bytes).await.ok());
        }
    } else if file.extension().is_some_and(|ending| ending == "json") {
        input.text = String::from_utf8(bytes).unwrap();
    } else {
        let form = String::from_utf8(bytes).unwrap();
        let body = form.split('&').find_map(|pair| pair.strip_prefix("Body=")).unwrap();
        input.text = decode(body);
    }
    let whole = whole.unwrap_or_else(|| input.text.clone());
    let mut extractions = Vec::new();
    for (number, document) in documents.iter().chain([&as_document(whole)]).enumerate() {
        let analysis = RulesModel.analyse(document, &schema).await.unwrap();
        let number = u32::try_from(number + 1).unwrap();
        let extraction = RulesModel.extract(number, document, &analysis, &schema).await.unwrap();
        check_sources(document, &extraction);
        extractions.push(extraction);
    }
    let categories = extractions.iter().take(documents.len());
    input.document_categories = categories.filter_map(|extraction| extraction.analysis.category.clone()).collect();
    input.document_text = documents.iter().map(DocumentText::full_text).collect::<Vec<_>>().join("\n");
    Sample { expected: expected.clone(), input, extractions }
}

/// Decodes a form's value.
fn decode(value: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let pair: String = rest.by_ref().take(2).map(char::from).collect();
                u8::from_str_radix(&pair, 16).unwrap()
            }
            other => other,
        });
    }
    String::from_utf8(bytes).unwrap()
}

/// Every source points at text that is there, and that a plain value begins like.
fn check_sources(document: &DocumentText, extraction: &Extraction) {
    for field in &extraction.fields {
        let page = document.pages.iter().find(|page| page.number == field.source.page).unwrap();
        let found = page.text.get(field.source.start..field.source.end).unwrap();
        assert!(!found.trim().is_empty(), "{} points at nothing", field.name);
        assert!((0.0..=1.0).contains(&field.confidence));
        if field.name == "vin" || field.name == "policy_number" || field.name == "insured.name" {
            assert_eq!(field.value.as_str().unwrap().to_lowercase(), found.to_lowercase());
        }
    }
}

async fn all() -> Vec<Sample> {
    let expected: Value = serde_json::from_slice(&fs::read(samples().join("expected.json")).unwrap()).unwrap();
    let mut read_samples = Vec::new();
    for sample in expected["samples"].as_array().unwrap() {
        read_samples.push(read(sample).await);
    }
    read_samples
}

impl Sample {
    fn file(&self) -> String {
        text(&self.expected["file"])
    }

    /// The surest value of a field over all documents.
    fn single(&self, name: &str) -> Option<String> {
        let fields = self.extractions.iter().flat_map(|extraction| &extraction.fields);
        let found = fields.filter(|field| field.group.is_none() && field.name == name);
        let mut best: Option<(f64, String)> = None;
        for field in found {
            if best.as_ref().is_none_or(|(sure, _)| field.confidence > *sure) {
                best = Some((field.confidence, text(&field.value)));
            }
        }
        best.map(|(_, value)| value)
    }

    /// Policies by number: insurer, lines, effective, expiration.
    fn policies(&self) -> BTreeMap<String, (String, Vec<String>, String, String)> {
        let mut found = BTreeMap::new();
        for extraction in &self.extractions {
            let mut items: BTreeMap<u32, BTreeMap<&str, Vec<&Value>>> = BTreeMap::new();
            for field in extraction.fields.iter().filter(|field| field.group.as_deref() == Some("policies")) {
                items.entry(field.item.unwrap()).or_default().entry(&field.name).or_default().push(&field.value);
            }
            for item in items.values() {
                let one = |name: &str| item.get(name).and_then(|values| values.first()).map(|value| text(value));
                let period = item.get("period").and_then(|values| values.first());
                let date = |name: &str, end: &str| {
                    one(name).or_else(|| period.map(|period| text(&period[end]))).unwrap_or_default()
                };
                let Some(number) = one("policy_number") else { continue };
                // What comes with a line is none.
                let parts = ["Uninsured Motorist", "Medical Payments"];
                let lines = item.get("line").into_iter().flatten().map(|value| text(value));
                let mut lines: Vec<String> = lines.filter(|line| !parts.contains(&line.as_str())).collect();
                lines.sort();
                let policy =
                    (one("insurer").unwrap_or_default(), lines, date("effective", "start"), date("expiration", "end"));
                // A mail may name a policy that its attachment describes.
                let known = found.entry(number).or_insert_with(|| policy.clone());
                if known.0.is_empty() || known.2.is_empty() {
                    *known = policy;
                }
            }
        }
        found
    }

    /// VINs, and whether each is valid.
    fn vins(&self) -> BTreeSet<(String, bool)> {
        let fields = self.extractions.iter().flat_map(|extraction| &extraction.fields);
        fields.filter(|field| field.name == "vin").map(|field| (text(&field.value), field.problem.is_none())).collect()
    }
}

#[tokio::test]
async fn samples_are_classified() {
    let mut faults = Vec::new();
    for sample in all().await {
        let answer = classify(&sample.input).await;
        let intent = sample.expected["intent"].as_str();
        let name = sample.file();
        println!("{name}: {:?} {:.2} ({})", answer.intent, answer.confidence, answer.reasoning);
        let right = match intent {
            Some(intent) => answer.intent.as_deref() == Some(intent) && answer.confidence >= THRESHOLD,
            None if sample.expected["waitKind"] == "intent" => answer.intent.is_none() && answer.confidence < THRESHOLD,
            // It waits for its document first; afterwards it is a loss-run request.
            None => answer.intent.as_deref() == Some("insurance.loss_run_request"),
        };
        if !right {
            faults.push(format!("{name}: {answer:?}, expected {intent:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn documents_of_samples_are_understood() {
    let mut faults = Vec::new();
    for sample in all().await.iter().filter(|sample| sample.expected["status"] == "completed") {
        let name = sample.file();
        let mut compare = |what: &str, found: String, expected: String| {
            if found != expected {
                faults.push(format!("{name}: {what} is {found}, expected {expected}"));
            }
        };
        let entity = &sample.expected["entity"];
        for (field, key) in
            [("insured.name", "name"), ("insured.dot_number", "dotNumber"), ("insured.mc_number", "mcNumber")]
        {
            if let Some(expected) = entity[key].as_str() {
                compare(field, sample.single(field).unwrap_or_default(), expected.to_owned());
            }
        }
        let expected: BTreeMap<_, _> = sample.expected["policies"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|policy| {
                let mut lines: Vec<String> = policy["lines"].as_array().unwrap().iter().map(text).collect();
                lines.sort();
                let rest = (text(&policy["insurer"]), lines, text(&policy["effective"]), text(&policy["expiration"]));
                (text(&policy["policyNumber"]), rest)
            })
            .collect();
        compare("policies", format!("{:#?}", sample.policies()), format!("{expected:#?}"));
        if let Some(vins) = sample.expected["vins"].as_array() {
            let expected: BTreeSet<(String, bool)> =
                vins.iter().map(|vin| (text(&vin["vin"]), vin["valid"] == Value::Bool(true))).collect();
            compare("VINs", format!("{:?}", sample.vins()), format!("{expected:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Work and memory are bounded, whatever a text says; at the limit of four megabytes it takes seconds.
#[tokio::test]
async fn long_documents_end_within_the_limits() {
    let schema = schema();
    let row = "1  2021  Kenworth  T680  1XKYD49X5MJ914201  $107,500\n";
    let wide = "Policy No.  VIN  Carrier  Premium  Effective Date  ".repeat(400);
    let labels = "Named Insured: ".repeat(20);
    let prose =
        "the insured of the policy may request a certificate of insurance or a loss run at any time ".repeat(30);
    let repeated = [
        row,
        &wide,
        &labels,
        &prose,
        "policy number\n",
        "((((((((((",
        "a@a@a@a@",
        "5125550142 ",
        "........ ",
        "1 1 1 1 ",
    ];
    let mut texts: Vec<String> = repeated.iter().map(|text| filled(|_| (*text).to_owned())).collect();
    // Every line says something else, so nothing is the same thing once more.
    texts.push(filled(|n| format!("General Liability limit ${n},000,000 deductible ${n},500\n")));
    texts.push(filled(|n| format!("Policy Number: HCX-{n:07}\n")));
    texts.push(filled(|n| format!("Policy Number: HCX-{n:07}  01/01/2026 - 01/01/2027\n")));
    texts.push(filled(|n| format!("Phone: (512) 555-{n:04}\n")));
    texts.push(filled(|n| format!("A{n}) Prairie Lantern Insurance Company\nPolicy Number: HCX-{n:07} A{n}\n")));
    texts.push(filled(|n| format!("Named Insured\nAcme {n} Haulage LLC\n")));
    texts.push(filled(|n| format!("Prairie Lantern {n} Insurance Company ")));
    for text in texts {
        let document = as_document(text);
        let analysis = RulesModel.analyse(&document, &schema).await.unwrap();
        let extraction = RulesModel.extract(1, &document, &analysis, &schema).await.unwrap();
        assert!(extraction.fields.len() <= 20_000);
    }
}

/// A mebibyte of lines, each with its number.
fn filled(line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < 1024 * 1024 {
        text.push_str(&line(number));
        number += 1;
    }
    text
}
