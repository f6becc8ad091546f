//! How good the offline rules model is: on labelled messages it has not seen, and on every sample.
//!
//! `cargo nextest run -p kybern --test it offline --no-capture` prints the tables of `docs/offline-model.md`.

mod covers;
mod fit;
mod layouts;
mod narrow;
#[path = "../../src/packs.rs"]
pub(crate) mod packs;
mod papers;
mod prose;
mod samples;
mod talk;

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use kybern_adapters::models::offline::RulesModel;
use kybern_core::model::{Classification, ClassifyInput, IntentSpec};
use kybern_core::pack::PackRegistry;
use kybern_core::plan::Plan;
use kybern_core::ports::IntentModel;
use serde_json::Value;

/// The intent of messages that ask for nothing we do.
const NONE: &str = "general_instruction";
/// From this confidence on nobody is asked.
const THRESHOLD: f64 = 0.8;

/// A message whose intent is known.
#[derive(Clone)]
struct Labelled {
    input: ClassifyInput,
    intent: String,
}

impl Labelled {
    fn is_general(&self) -> bool {
        self.intent == NONE
    }
}

fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn registry() -> PackRegistry {
    packs::registry(packs::USUAL).unwrap()
}

/// The intents of the bundled plans.
fn intents() -> &'static Arc<[IntentSpec]> {
    static INTENTS: LazyLock<Arc<[IntentSpec]>> = LazyLock::new(|| registry().plans().map(intent).collect());
    &INTENTS
}

fn intent(plan: &Arc<Plan>) -> IntentSpec {
    IntentSpec {
        key: plan.intent_key.clone(),
        description: plan.description.clone(),
        keywords: plan.keywords.clone(),
        examples: plan.examples.clone(),
    }
}

/// What a labelled message says beside its words: what sent it, and what it hands on or quotes.
fn read_mail(value: &Value) -> ClassifyInput {
    ClassifyInput {
        kind: serde_json::from_value(value["kind"].clone()).unwrap_or_default(),
        forwarded: text(&value["forwarded"]),
        earlier: text(&value["quoted"]),
        ..ClassifyInput::default()
    }
}

fn labelled(split: &str) -> Vec<Labelled> {
    let lines = fs::read_to_string(samples().join("intents/labelled.jsonl")).unwrap();
    let values = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let read = |value: Value| Labelled {
        input: ClassifyInput {
            subject: text(&value["subject"]),
            text: text(&value["text"]),
            document_categories: value["attachments"].as_array().into_iter().flatten().map(text).collect(),
            ..read_mail(&value)
        },
        intent: text(&value["intent"]),
    };
    values.filter(|value| value["split"] == split).map(read).collect()
}

async fn classify(input: &ClassifyInput) -> Classification {
    RulesModel.classify(input, intents()).await.unwrap()
}

/// What came out on one half.
#[derive(Default)]
struct Score {
    messages: usize,
    /// Messages that ask for something.
    asking: usize,
    /// Of these, the ones whose intent is right, whatever the confidence.
    right: usize,
    /// Of these, the ones that are right without asking anybody.
    right_alone: usize,
    /// Messages, of any kind, for which nobody is asked.
    alone: usize,
    /// What is wrong of these.
    wrong: Vec<String>,
    /// For each tenth of confidence: messages, right ones, sum of confidences.
    bins: [(usize, usize, f64); 10],
}

impl Score {
    async fn of(messages: &[Labelled]) -> Self {
        let mut score = Self { messages: messages.len(), ..Self::default() };
        for message in messages {
            let answer = classify(&message.input).await;
            let right = answer.intent.as_deref() == Some(message.intent.as_str());
            score.asking += usize::from(!message.is_general());
            score.right += usize::from(right);
            if answer.intent.is_none() {
                continue;
            }
            let sure = answer.confidence >= THRESHOLD;
            if sure && !right {
                score.wrong.push(format!("{answer:?} of {:?}, not {}", message.input, message.intent));
            }
            score.alone += usize::from(sure);
            score.right_alone += usize::from(sure && right);
            let upper = (1..10).find(|tenth| answer.confidence * 10.0 < f64::from(*tenth)).unwrap_or(10);
            let bin = &mut score.bins[usize::try_from(upper - 1).unwrap()];
            *bin = (bin.0 + 1, bin.1 + usize::from(right), bin.2 + answer.confidence);
        }
        score
    }

    fn share(part: usize, whole: usize) -> f64 {
        if whole == 0 {
            1.0
        } else {
            f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap())
        }
    }

    fn accuracy(&self) -> f64 {
        Self::share(self.right, self.asking)
    }

    fn precision(&self) -> f64 {
        Self::share(self.right_alone, self.alone)
    }

    fn coverage(&self) -> f64 {
        Self::share(self.right_alone, self.asking)
    }

    /// How far confidence and truth are apart, on average over messages.
    fn calibration_error(&self) -> f64 {
        let total: usize = self.bins.iter().map(|bin| bin.0).sum();
        let apart: f64 = self.bins.iter().map(|bin| (bin.2 - f64::from(u32::try_from(bin.1).unwrap())).abs()).sum();
        apart / f64::from(u32::try_from(total.max(1)).unwrap())
    }

    fn print(&self, name: &str) {
        println!("\n### {name}: {} messages, {} of them ask for something\n", self.messages, self.asking);
        println!("- right intent, whatever the confidence: {:.1} % of those that ask", 100.0 * self.accuracy());
        println!(
            "- right at 0.8 and above: {} of {} ({:.1} %)",
            self.right_alone,
            self.alone,
            100.0 * self.precision()
        );
        println!("- settled without a person: {:.1} % of those that ask", 100.0 * self.coverage());
        println!("- expected calibration error: {:.3}\n", self.calibration_error());
        println!("| confidence | messages | mean confidence | right |");
        println!("|---|---|---|---|");
        for (tenth, (count, right, sum)) in self.bins.iter().enumerate() {
            let range = format!(
                "{:.1} to {:.1}",
                0.1 * f64::from(u32::try_from(tenth).unwrap()),
                0.1 * f64::from(u32::try_from(tenth + 1).unwrap())
            );
            match count {
                0 => println!("| {range} | 0 | | |"),
                _ => {
                    let mean = sum / f64::from(u32::try_from(*count).unwrap());
                    println!("| {range} | {count} | {mean:.2} | {:.2} |", Self::share(*right, *count));
                }
            }
        }
    }
}

#[tokio::test]
async fn unseen_messages_are_classified_as_well_as_the_docs_say() {
    for split in ["train", "test"] {
        let score = Score::of(&labelled(split)).await;
        score.print(split);
        assert_eq!(score.wrong, [""; 0], "{split}: nobody would be asked about these");
        assert!(score.accuracy() >= 0.88, "{split}: accuracy is {}", score.accuracy());
        assert!(score.coverage() >= 0.80, "{split}: coverage is {}", score.coverage());
        assert!(score.calibration_error() <= 0.06, "{split}: calibration error is {}", score.calibration_error());
    }
}

#[tokio::test]
async fn the_same_message_has_the_same_answer() {
    for message in labelled("train").iter().take(20) {
        assert_eq!(classify(&message.input).await, classify(&message.input).await);
    }
}
