//! How much a message is like an intent's examples: overlap of stems and pairs of stems, rare ones counting more.

use std::collections::HashSet;
use std::sync::LazyLock;

use foldhash::HashMap;
use kybern_core::model::{ClassifyInput, IntentSpec};
use smol_str::{SmolStr, format_smolstr};

use super::analyse::clip;
use super::message::hands_on;
use super::words::{Word, fold, stem, words};

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

/// What a term takes beside its letters, about.
const BESIDE: usize = 64;

static STOPPED: LazyLock<HashSet<SmolStr>> = LazyLock::new(|| STOP.split_whitespace().map(stem).collect());

static POINTING: LazyLock<HashSet<SmolStr>> = LazyLock::new(|| POINTS.split_whitespace().map(stem).collect());

/// Terms, by their number, with what each is worth, and the length of it all.
#[derive(Debug)]
struct Vector {
    worth: Vec<(usize, f64)>,
    length: f64,
}

/// The examples of some intents, ready to be compared with.
#[derive(Debug)]
pub(super) struct Examples {
    /// The number of each term that examples have.
    numbers: HashMap<SmolStr, usize>,
    /// What each term is worth.
    worth: Vec<f64>,
    /// The examples of each intent, in the order of the intents.
    of_intents: Vec<Vec<Vector>>,
}

/// How many different words of a text say anything but that something is attached. Names say nothing: what begins with
/// a capital counts only where a sentence begins that goes on in small letters.
pub(super) fn telling(text: &str) -> usize {
    let text = clip(text, MAX_TEXT);
    let found = words(text, 0);
    let capital = |word: &Word| text[word.start..].starts_with(char::is_uppercase);
    let mut said = String::new();
    for (at, word) in found.iter().enumerate() {
        let end = at.checked_sub(1).map_or(0, |before| found[before].end);
        let opens = at == 0 || text[end..word.start].contains(['.', '!', '?', ':', '\n']);
        let names = capital(word) && (!opens || found.get(at + 1).is_some_and(capital));
        if !names {
            said.push_str(&word.text);
            said.push(' ');
        }
    }
    let single = terms(&said).into_iter().filter(|term| !term.contains(' '));
    single.filter(|stem| !POINTING.contains(stem)).collect::<HashSet<_>>().len()
}

impl Examples {
    /// The examples of these intents.
    pub(super) fn new(intents: &[IntentSpec]) -> Self {
        let all: Vec<Vec<Vec<SmolStr>>> = intents
            .iter()
            .map(|intent| intent.examples.iter().take(MAX_EXAMPLES).map(|example| terms(example)).collect())
            .collect();
        let mut examples = Self { numbers: HashMap::default(), worth: Vec::new(), of_intents: Vec::new() };
        let (mut counts, mut total) = (Vec::new(), 1.0);
        for example in all.iter().flatten() {
            total += 1.0;
            for term in example.iter().collect::<HashSet<_>>() {
                let number = *examples.numbers.entry(term.clone()).or_insert(counts.len());
                counts.resize(counts.len().max(number + 1), 0.0);
                counts[number] += 1.0;
            }
        }
        examples.worth = vec![0.0; counts.len()];
        for (term, number) in &examples.numbers {
            let pair = if term.contains(' ') { PAIR } else { 1.0 };
            examples.worth[*number] = f64::ln(total / counts[*number]) * pair;
        }
        let of_intent = |all: &Vec<Vec<SmolStr>>| all.iter().map(|terms| examples.vector(terms)).collect();
        examples.of_intents = all.iter().map(of_intent).collect();
        examples
    }

    /// The similarity of a message to each intent, from 0 to 1.
    pub(super) fn similarities(&self, input: &ClassifyInput) -> Vec<f64> {
        let forwarded = if hands_on(input) { clip(&input.forwarded, MAX_TEXT) } else { "" };
        let text = format!("{}\n{}\n{forwarded}", input.subject, clip(&input.text, MAX_TEXT));
        let message = self.vector(&terms(&text));
        let mut worth = vec![0.0; self.worth.len()];
        message.worth.iter().for_each(|(term, of_message)| worth[*term] = *of_message);
        let of_intent = |examples: &Vec<Vector>| {
            let mut scores: Vec<f64> = examples.iter().map(|example| example.cosine(&worth, message.length)).collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            let best = scores.first().copied().unwrap_or_default();
            let three: f64 = scores.iter().take(3).sum::<f64>() / 3.0;
            BEST * best + (1.0 - BEST) * three
        };
        self.of_intents.iter().map(of_intent).collect()
    }

    /// About how many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        let vectors = self.of_intents.iter().flatten().map(|vector| size_of_val(vector.worth.as_slice()) + BESIDE);
        self.numbers.keys().map(|term| term.len() + BESIDE).sum::<usize>() + vectors.sum::<usize>()
    }

    fn vector(&self, terms: &[SmolStr]) -> Vector {
        let mut known: Vec<usize> = terms.iter().filter_map(|term| self.numbers.get(term).copied()).collect();
        known.sort_unstable();
        known.dedup();
        let worth: Vec<(usize, f64)> =
            known.into_iter().map(|term| (term, self.worth[term])).filter(|(_, worth)| *worth > 0.0).collect();
        let mut squares: Vec<f64> = worth.iter().map(|(_, worth)| worth * worth).collect();
        squares.sort_by(f64::total_cmp);
        let length = squares.iter().sum::<f64>().sqrt();
        Vector { worth, length }
    }
}

impl Vector {
    /// How much alike this and a message are, which is given by what each term is worth in it. Sums run in the order of
    /// what they add, so that the same message has the same score on every run.
    fn cosine(&self, message: &[f64], length: f64) -> f64 {
        let products = self.worth.iter().map(|(term, worth)| message[*term] * worth);
        let mut shared: Vec<f64> = products.filter(|product| *product > 0.0).collect();
        shared.sort_by(f64::total_cmp);
        let length = self.length * length;
        if length > 0.0 { shared.iter().sum::<f64>() / length } else { 0.0 }
    }
}

/// Stems and pairs of stems; numbers and common words left out.
fn terms(text: &str) -> Vec<SmolStr> {
    let found = words(text, 0);
    let kept = found.iter().filter(|word| !word.text.bytes().any(|b| b.is_ascii_digit()) && word.text != "#");
    let stems: Vec<SmolStr> = kept.map(|word| stem(&fold(&word.text))).filter(|stem| !STOPPED.contains(stem)).collect();
    let pairs: Vec<SmolStr> = stems.windows(2).map(|pair| format_smolstr!("{} {}", pair[0], pair[1])).collect();
    stems.into_iter().chain(pairs).collect()
}
