//! The calibration: score and noise give the probability that a message asks for anything, the margin the probability
//! that it asks for the best intent; both are logistic, and their product is the probability of being right.
//!
//! It is fitted on the train half and on harder variants of it, because the keywords were written with the train half
//! in sight, so its own messages look easier than new ones: without subject, without attachments, and with every
//! third or every other word left out.

use kybern_adapters::models::offline::{CALIBRATION, Evidence, RulesModel};
use kybern_core::model::ClassifyInput;

use super::{Labelled, intents, labelled};

const ROUNDS: usize = 4_000;
const STEP: f64 = 0.5;
/// Keeps the constants from growing without bound where everything is right.
const RIDGE: f64 = 0.002;

/// What spoke for an intent, and whether it was right.
struct Point {
    evidence: Evidence,
    right: f64,
}

fn without_every(text: &str, nth: usize, from: usize) -> String {
    let kept = text.split_whitespace().enumerate().filter(|(index, _)| index % nth != from).map(|(_, word)| word);
    kept.collect::<Vec<_>>().join(" ")
}

fn variants(message: &Labelled) -> Vec<ClassifyInput> {
    let whole = &message.input;
    let bare = ClassifyInput { document_categories: Vec::new(), ..whole.clone() };
    let mut variants = vec![
        whole.clone(),
        bare.clone(),
        ClassifyInput { subject: String::new(), ..whole.clone() },
        ClassifyInput { subject: String::new(), ..bare.clone() },
    ];
    for (nth, from) in [(3, 0), (3, 1), (3, 2), (2, 0), (2, 1)] {
        variants.push(ClassifyInput { text: without_every(&whole.text, nth, from), ..whole.clone() });
        variants.push(ClassifyInput { text: without_every(&bare.text, nth, from), ..bare.clone() });
    }
    variants
}

fn points() -> Vec<Point> {
    let intents = intents();
    let mut points = Vec::new();
    for message in labelled("train") {
        for input in variants(&message) {
            let evidence = RulesModel.evidence(&input, intents);
            let right = !message.is_general() && evidence.intent.as_deref() == Some(message.intent.as_str());
            points.push(Point { evidence, right: f64::from(u8::from(right)) });
        }
    }
    points
}

fn logistic(sum: f64) -> f64 {
    1.0 / (1.0 + (-sum).exp())
}

/// Climbs the likelihood; the order of the weights is bias, score, margin, noise.
fn fit(points: &[Point]) -> [f64; 4] {
    let mut weights = [0.0; 4];
    let count = f64::from(u32::try_from(points.len()).unwrap());
    for _ in 0..ROUNDS {
        let [bias, score, margin, noise] = weights;
        let mut slope = [0.0; 4];
        for Point { evidence, right } in points {
            let asks = logistic(bias + score * evidence.score + noise * evidence.noise);
            let best = logistic(margin * evidence.margin);
            let both = (asks * best).min(1.0 - 1e-9);
            let pull = right - (1.0 - right) * both / (1.0 - both);
            slope[0] += pull * (1.0 - asks) / count;
            slope[1] += pull * (1.0 - asks) * evidence.score / count;
            slope[2] += pull * (1.0 - best) * evidence.margin / count;
            slope[3] += pull * (1.0 - asks) * evidence.noise / count;
        }
        for (weight, slope) in weights.iter_mut().zip(slope) {
            *weight += STEP * (slope - RIDGE * *weight);
        }
    }
    weights
}

#[test]
fn the_calibration_is_the_one_that_the_train_half_gives() {
    let fitted = fit(&points());
    println!("fitted: bias, score, margin, noise = {fitted:.2?}, in use: {CALIBRATION:.2?}");
    for (fitted, used) in fitted.into_iter().zip(CALIBRATION) {
        assert!((fitted - used).abs() < 0.25, "put the fitted constants into models/offline/classify.rs");
    }
}
