//! How much a message is like an intent's examples: overlap of stems and pairs of stems, rare ones counting more.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use kybern_core::cache::ByteCache;
use kybern_core::model::{ClassifyInput, IntentSpec};

use super::analyse::clip;
use super::keywords::hands_on;
use super::words::{fold, stem, words};

/// What is looked at of a message: what somebody wants is said early.
const MAX_TEXT: usize = 1_500;
/// Examples of one intent that are looked at.
const MAX_EXAMPLES: usize = 200;
/// What a pair of neighbours counts beside a single stem.
const PAIR: f64 = 1.3;
/// The best example and the average of the best three share the score so.
const BEST: f64 = 0.7;
/// Words that every message has.
const STOP: &str = "a an and are as at be been but by can could did do does for from had has have he hello hi her him his i if in is it its \
    me my no not of on or our please pls she so some than thank thanks that the their them there these they this those to too us was we were \
    what when which who will with would you your dear good morning day best regards all also am any just let know more new now one only out \
    up re fw fwd aw tr rv wg \
    de la el los las un una y o en con para por del al lo le les su sus mi mis nuestro nuestra me nos se que es son hola buenos dias buenas \
    tardes favor gracias saludos si mas como esta este ya muy le les des du au aux et ou dans pour par sur avec notre nos votre vos je nous \
    vous il elle est sont ce cette ces qui ne pas bonjour merci svp plait une mon ma mes der die das den dem ein eine und oder fur mit von zu \
    im ist sind wir ich sie uns unser ihre bitte danke hallo guten tag auf";

/// Words that only point at what is attached.
const POINTS: &str = "attach attached attachment attachments enclosed see find here file files document documents paper papers review info \
    below per send sent received adjunto adjuntos anexo archivo archivos documento documentos envio ver favor ci joint joints jointe piece \
    pieces fichier fichiers trouver veuillez anbei anhang datei beigefugt siehe";

/// Bytes of examples that are kept ready. There is one set of intents a tenant, and most tenants have the same.
const KEPT: usize = 64 * 1024 * 1024;
/// What a term takes beside its letters, about.
const BESIDE: usize = 64;

static READY: LazyLock<Mutex<ByteCache<blake3::Hash, Arc<Index>>>> = LazyLock::new(|| Mutex::new(ByteCache::new(KEPT)));
static STOPPED: LazyLock<HashSet<String>> = LazyLock::new(|| STOP.split_whitespace().map(stem).collect());

static POINTING: LazyLock<HashSet<String>> = LazyLock::new(|| POINTS.split_whitespace().map(stem).collect());

/// Terms with what each is worth, and the length of it all.
struct Vector {
    worth: HashMap<String, f64>,
    length: f64,
}

/// The examples of some intents, ready to be compared with.
struct Index {
    frequency: HashMap<String, f64>,
    total: f64,
    /// The examples of each intent, in the order of the intents.
    examples: Vec<Vec<Vector>>,
}

/// The similarity of a message to each intent, from 0 to 1.
pub(super) fn similarities(input: &ClassifyInput, intents: &[IntentSpec]) -> Vec<f64> {
    let index = Index::of(intents);
    let forwarded = if hands_on(input) { clip(&input.forwarded, MAX_TEXT) } else { "" };
    let text = format!("{}\n{}\n{forwarded}", input.subject, clip(&input.text, MAX_TEXT));
    let message = index.vector(&terms(&text));
    let of_intent = |examples: &Vec<Vector>| {
        let mut scores: Vec<f64> = examples.iter().map(|example| cosine(&message, example)).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let best = scores.first().copied().unwrap_or_default();
        let three: f64 = scores.iter().take(3).sum::<f64>() / 3.0;
        BEST * best + (1.0 - BEST) * three
    };
    index.examples.iter().map(of_intent).collect()
}

/// How many different words of a text say anything but that something is attached.
pub(super) fn telling(text: &str) -> usize {
    let single = terms(clip(text, MAX_TEXT)).into_iter().filter(|term| !term.contains(' '));
    single.filter(|stem| !POINTING.contains(stem)).collect::<HashSet<_>>().len()
}

impl Index {
    /// The index of these intents, made when they are first seen.
    fn of(intents: &[IntentSpec]) -> Arc<Self> {
        let mut hasher = blake3::Hasher::new();
        for intent in intents {
            for example in intent.examples.iter().take(MAX_EXAMPLES) {
                hasher.update(example.as_bytes()).update(&[0]);
            }
            hasher.update(&[1]);
        }
        let name = hasher.finalize();
        if let Some(ready) = lock(&READY).get(&name) {
            return ready;
        }
        let index = Arc::new(Self::new(intents));
        let mut ready = lock(&READY);
        ready.keep(name, Arc::clone(&index), index.bytes());
        index
    }

    fn new(intents: &[IntentSpec]) -> Self {
        let examples: Vec<Vec<Vec<String>>> = intents
            .iter()
            .map(|intent| intent.examples.iter().take(MAX_EXAMPLES).map(|example| terms(example)).collect())
            .collect();
        let mut index = Self { frequency: HashMap::new(), total: 1.0, examples: Vec::new() };
        for example in examples.iter().flatten() {
            index.total += 1.0;
            let mut seen: Vec<&String> = example.iter().collect();
            seen.sort_unstable();
            seen.dedup();
            for term in seen {
                *index.frequency.entry(term.clone()).or_insert(0.0) += 1.0;
            }
        }
        let of_intent = |examples: &Vec<Vec<String>>| examples.iter().map(|terms| index.vector(terms)).collect();
        index.examples = examples.iter().map(of_intent).collect();
        index
    }

    fn bytes(&self) -> usize {
        let of = |terms: &HashMap<String, f64>| terms.keys().map(|term| term.len() + BESIDE).sum::<usize>() + BESIDE;
        of(&self.frequency) + self.examples.iter().flatten().map(|vector| of(&vector.worth)).sum::<usize>()
    }

    fn weight(&self, term: &str) -> f64 {
        let pair = if term.contains(' ') { PAIR } else { 1.0 };
        self.frequency.get(term).map_or(0.0, |count| (self.total / count).ln() * pair)
    }

    fn vector(&self, terms: &[String]) -> Vector {
        let worth: HashMap<String, f64> =
            terms.iter().map(|term| (term.clone(), self.weight(term))).filter(|(_, worth)| *worth > 0.0).collect();
        let mut squares: Vec<f64> = worth.values().map(|worth| worth * worth).collect();
        squares.sort_by(f64::total_cmp);
        let length = squares.iter().sum::<f64>().sqrt();
        Vector { worth, length }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stems and pairs of stems; numbers and common words left out.
fn terms(text: &str) -> Vec<String> {
    let found = words(text, 0);
    let kept = found.iter().filter(|word| !word.text.bytes().any(|b| b.is_ascii_digit()) && word.text != "#");
    let stems: Vec<String> = kept.map(|word| stem(&fold(&word.text))).filter(|stem| !STOPPED.contains(stem)).collect();
    let pairs: Vec<String> = stems.windows(2).map(|pair| pair.join(" ")).collect();
    stems.into_iter().chain(pairs).collect()
}

/// Sums run in the order of what they add, so that the same message has the same score on every run.
fn cosine(left: &Vector, right: &Vector) -> f64 {
    let mut shared: Vec<f64> =
        right.worth.iter().filter_map(|(term, worth)| left.worth.get(term).map(|other| worth * other)).collect();
    shared.sort_by(f64::total_cmp);
    let length = left.length * right.length;
    if length > 0.0 { shared.iter().sum::<f64>() / length } else { 0.0 }
}
