//! Messages that say one or two things again and again: one that is four times as long takes about four times as long.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kybern_testkit::fuzz::{Chance, Target};

use super::agency::{Agencies, Walked};
use super::letters::{Letter, PAPERS};
use super::trade::{PIECES, filled};

/// How long a flood is, and the longer one that it is compared with.
const SHORT: usize = if cfg!(debug_assertions) { 1024 } else { 12 * 1024 };
const LONG: usize = 4 * SHORT;
/// How many times as long the longer one may take: what is linear takes four times as long, what is quadratic sixteen.
const MOST_GROWTH: u32 = 7;
/// Whatever takes no longer is quick enough.
const QUICK: Duration = Duration::from_millis(100);
/// Any machine is slow once: the quickest of so many counts.
const TRIES: usize = 3;
/// Letters that one input stands for.
const LETTERS: u32 = 6;
/// Stands between the pieces of a recipe.
const AND: char = '\u{1e}';
/// What the messages are about, whatever else they say.
const ASK: &str = "Please send the loss runs.\r\n\r\n";
/// Characters of a subject.
const SUBJECT: usize = 500;
const INTENT: &str = "insurance.loss_run_request";

/// How a message is flooded. A recipe begins with it, as a byte.
#[derive(Clone, Copy, Debug)]
struct Way {
    place: u8,
    /// Whether each thing that a piece names is another one each time.
    varied: bool,
    /// Whether the pieces come in turn; else a flood of each comes behind that of the one before.
    mixed: bool,
}

/// In the text, in HTML, in a paper of either kind, in what is quoted, in a letter that is handed on, or in the subject,
/// too.
const PLACES: u8 = 7;

impl Way {
    fn of(byte: u8) -> Self {
        let odd = |times: u8| (byte / PLACES / times) % 2 == 1;
        Self { place: byte % PLACES, varied: !odd(1), mixed: !odd(2) }
    }

    fn byte(self) -> u8 {
        self.place + PLACES * (u8::from(!self.varied) + 2 * u8::from(!self.mixed))
    }

    /// A letter of about that many bytes.
    fn letter(self, pieces: &[&str], bytes: usize) -> Letter {
        let flood = self.flood(pieces, bytes);
        match self.place {
            0 => Letter::new(format!("{ASK}{flood}")),
            1 => {
                let text = format!("<p>{ASK}</p>{}", flood.replace("\r\n", "<br>\r\n"));
                Letter { kind: "text/html", ..Letter::new(text) }
            }
            2 | 3 => Letter { paper: Some((&PAPERS[usize::from(self.place - 2)], flood)), ..Letter::new(ASK) },
            4 => Letter::new(format!("{ASK}On Monday, Ada Moor wrote:\r\n> {}", flood.replace("\r\n", "\r\n> "))),
            5 => Letter::new(format!(
                "{ASK}---------- Forwarded message ---------\r\nFrom: Ada Moor <ada@larkspurvalley.example>\r\n\
                 Date: Mon, 2 Mar 2026\r\nSubject: loss runs\r\nTo: office@agency.example\r\n\r\n{flood}"
            )),
            _ => {
                let subject = flood.replace(char::is_control, " ").chars().take(SUBJECT).collect();
                Letter { subject, ..Letter::new(format!("{ASK}{flood}")) }
            }
        }
    }

    fn flood(self, pieces: &[&str], bytes: usize) -> String {
        let mut flood = String::new();
        let mut n = 0;
        let mut add = |flood: &mut String, piece: &str| {
            n += 1;
            flood.push_str(&filled(piece, || if self.varied { n } else { 1 }));
        };
        if self.mixed {
            while flood.len() < bytes {
                pieces.iter().for_each(|piece| add(&mut flood, piece));
            }
        } else {
            for (at, piece) in pieces.iter().enumerate() {
                while flood.len() < bytes * (at + 1) / pieces.len() {
                    add(&mut flood, piece);
                }
            }
        }
        flood
    }
}

/// The way and the pieces of a recipe; none without a piece.
fn read(recipe: &[u8]) -> Option<(Way, String)> {
    let (way, pieces) = recipe.split_first()?;
    let pieces = String::from_utf8_lossy(pieces).into_owned();
    pieces.split(AND).all(|piece| !piece.is_empty()).then(|| (Way::of(*way), pieces))
}

fn recipe(way: Way, pieces: &[&str]) -> Vec<u8> {
    [vec![way.byte()], pieces.join(&AND.to_string()).into_bytes()].concat()
}

/// Up to three pieces, in any way.
fn make(chance: &Chance) -> Vec<u8> {
    let way = Way { place: chance.byte() % PLACES, varied: chance.percent(70), mixed: chance.percent(50) };
    recipe(way, &[(); 3].map(|()| *chance.one(PIECES))[..=chance.index(3)])
}

/// Whether time is measured: not where tests run beside each other, on any machine.
fn is_strict() -> bool {
    std::env::var_os("KYBERN_FUZZ_COUNT").is_some()
}

fn withstands(agencies: &mut Agencies, recipe: &[u8]) -> Result<(), String> {
    let Some((way, pieces)) = read(recipe) else { return Ok(()) };
    let pieces: Vec<&str> = pieces.split(AND).collect();
    let mut took = |bytes: usize| {
        let letter = way.letter(&pieces, bytes);
        // Whoever says it a second time finds what the first has made.
        let again = Letter { n: 2, ..letter.clone() };
        agencies.walk(&[&letter.raw(), &again.raw()], INTENT)
    };
    let Some(mut long) = took(LONG)? else { return Ok(()) };
    if !is_strict() || long.computed <= QUICK {
        return Ok(());
    }
    let Some(mut short) = took(SHORT)? else { return Ok(()) };
    for _ in 0..TRIES {
        if is_alike(&short, &long) {
            return Ok(());
        }
        for (bytes, known) in [(SHORT, &mut short), (LONG, &mut long)] {
            if let Some(again) = took(bytes)?.filter(|again| again.computed < known.computed) {
                *known = again;
            }
        }
    }
    Err(format!("{LONG} bytes take {:?}, and {SHORT} take {:?}", long.computed, short.computed))
}

/// Whether the time grows as the message does. Where one takes another way, the two say nothing of each other.
fn is_alike(short: &Walked, long: &Walked) -> bool {
    long.computed <= QUICK || long.computed <= short.computed * MOST_GROWTH || long.steps != short.steps
}

#[test]
fn message_floods() {
    let agencies = Mutex::new(Agencies::new());
    let plain = Way { place: 0, varied: true, mixed: true };
    let ways = [plain, Way { varied: false, ..plain }, Way { place: 3, ..plain }];
    // Of many pieces first, so that few inputs say much.
    let all = PIECES.chunks(8).map(|pieces| recipe(Way { mixed: false, ..plain }, pieces));
    let each = ways.into_iter().flat_map(|way| PIECES.iter().map(move |piece| recipe(way, &[*piece])));
    let known = [["cargo ", "foo cargo x not needed ", "loss runs for policy number {policy}, "]];
    let known = known.into_iter().map(|pieces| recipe(Way { mixed: false, ..plain }, &pieces));
    Target::new("message-floods", 16, move |recipe| {
        withstands(&mut agencies.lock().unwrap_or_else(PoisonError::into_inner), recipe)
    })
    .seeds(known.chain(all).chain(each))
    .words(PIECES)
    .made_by(make)
    .within_times(LETTERS)
    .play();
}
