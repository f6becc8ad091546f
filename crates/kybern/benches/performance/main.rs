//! The server against its goals, each figure beside the floor that was measured in the same run: `cargo xtask perf`,
//! or `cargo bench -p kybern --bench performance -- [--only PART]… [--seconds S] [--postgres URL]`.
//!
//! `bench/` holds the floor: the least that any server must do which makes five steps durable, one after the other.
#![expect(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "it stops at the first fault")]
#![expect(clippy::indexing_slicing, clippy::print_stdout, reason = "a measuring program")]

mod client;
mod cores;
mod documents;
mod fleet;
mod gateway;
mod in_process;
mod intake;
mod kit;
mod late;
mod mails;
mod over_http;
mod recovery;
mod start;
mod table;
mod talk;

/// The tests' way to a database of its own: the store has all SQL libraries.
#[path = "../../tests/it/server/postgres.rs"]
#[expect(dead_code, reason = "the tests use all of it")]
mod postgres;

use std::path::PathBuf;

use url::Url;

use crate::postgres::Database;

/// A part of the program, which can be measured alone.
struct Part {
    name: &'static str,
    /// Whether it is about PostgreSQL only.
    on_postgres: bool,
    measure: fn(&Bench),
}

const fn part(name: &'static str, measure: fn(&Bench)) -> Part {
    Part { name, on_postgres: false, measure }
}

const fn on_postgres(name: &'static str, measure: fn(&Bench)) -> Part {
    Part { name, on_postgres: true, measure }
}

/// All of them, as `cargo xtask perf` knows them too.
const PARTS: &[Part] = &[
    part("client", in_process::measure),
    part("sqlite", over_http::sqlite),
    part("memory", over_http::memory),
    part("intake", intake::measure),
    part("documents", documents::measure),
    part("recovery", recovery::measure),
    part("start", start::measure),
    part("gateway", gateway::measure),
    part("chat", talk::measure),
    on_postgres("postgres", over_http::postgres),
    on_postgres("fleet", fleet::measure),
];

/// What every part is told.
struct Bench {
    /// A folder of its own, deleted afterwards.
    folder: PathBuf,
    /// How long each rate is measured.
    seconds: u64,
    /// A PostgreSQL server.
    postgres: Option<Url>,
}

impl Bench {
    /// An empty database on the PostgreSQL server, where there is one.
    fn database(&self) -> Option<Database> {
        self.postgres.clone().map(Database::on)
    }
}

struct Asked {
    only: Vec<String>,
    seconds: u64,
    postgres: Option<Url>,
}

fn asked() -> Asked {
    let mut asked = Asked { only: Vec::new(), seconds: 5, postgres: None };
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        let value = args.next().unwrap_or_default();
        match arg.as_str() {
            "--only" => asked.only.push(value),
            "--seconds" => asked.seconds = value.parse().unwrap(),
            "--postgres" => asked.postgres = Some(Url::parse(&value).unwrap()),
            other => panic!("unknown option {other}"),
        }
    }
    let known = |name: &String| PARTS.iter().any(|part| part.name == name);
    assert!(asked.only.iter().all(known), "there is no such part: {}", asked.only.join(", "));
    asked
}

fn main() {
    let asked = asked();
    for part in PARTS {
        if !asked.only.is_empty() && !asked.only.iter().any(|name| name == part.name) {
            continue;
        }
        if part.on_postgres && asked.postgres.is_none() {
            println!("\n{} was not measured: name a PostgreSQL server with --postgres URL", part.name);
            continue;
        }
        let folder = tempfile::tempdir_in(".").unwrap();
        let place = std::path::absolute(folder.path()).unwrap();
        table::head(part.name, asked.seconds);
        (part.measure)(&Bench { folder: place, seconds: asked.seconds, postgres: asked.postgres.clone() });
    }
}
