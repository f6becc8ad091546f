//! What the stores can do, as figures with their goals: `cargo xtask perf`, or
//! `cargo bench -p kybern-store --bench store -- [--history N] [--seconds S] [--postgres URL]`.
//!
//! Two more calls serve the measurements of the server, which has no SQL of its own: `--grow FILE --megabytes N` fills
//! a SQLite database with finished tasks, and `--one-row-rate URL` prints one number, the rate of unbatched inserts.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a measurement stops at the first fault"
)]
#![expect(clippy::indexing_slicing, clippy::cast_precision_loss, clippy::print_stdout, reason = "a measuring program")]

mod history;
mod one_row;
mod rate;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kybern_core::ports::{Keys, Store};
use kybern_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use kybern_testkit::TestKeys;
use rate::Wall;

/// Clients at a time.
const CLIENTS: usize = 32;

struct Asked {
    history: u64,
    megabytes: u64,
    span: Duration,
    postgres: Option<String>,
    work: Work,
}

/// What is to be done.
enum Work {
    Measure,
    Grow(PathBuf),
    OneRowRate(String),
}

fn asked() -> Asked {
    let span = Duration::from_secs(5);
    let mut asked = Asked { history: 1_000_000, megabytes: 1_000, span, postgres: None, work: Work::Measure };
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        let value = args.next().unwrap_or_default();
        match arg.as_str() {
            "--history" => asked.history = value.parse().unwrap(),
            "--seconds" => asked.span = Duration::from_secs(value.parse().unwrap()),
            "--postgres" => asked.postgres = Some(value),
            "--megabytes" => asked.megabytes = value.parse().unwrap(),
            "--grow" => asked.work = Work::Grow(value.into()),
            "--one-row-rate" => asked.work = Work::OneRowRate(value),
            other => panic!("unknown option {other}"),
        }
    }
    asked
}

fn keys() -> Arc<dyn Keys> {
    Arc::new(TestKeys::new())
}

fn line(what: &str, measured: &str, goal: &str, met: Option<bool>) {
    let verdict = met.map_or("", |met| if met { "met" } else { "MISSED" });
    println!("| {what} | {measured} | {goal} | {verdict} |");
}

fn rates(database: &str, clients: usize, rate: &rate::Rate) {
    let (p50, p99) = (rate.p50, rate.p99);
    let measured = format!("{:.0} tasks/s, p50 {p50:.2?}, p99 {p99:.2?}, {:.1} a commit", rate.per_second, rate.shared);
    line(&format!("{database}: five durable steps, in process, {clients} clients"), &measured, "", None);
}

/// A history, measured without and with, against the goals.
fn histories(database: &str, n: u64, empty: &history::Medians, full: &history::Medians) {
    let ratio = full.claim.as_secs_f64() / empty.claim.as_secs_f64();
    let measured = format!("{:.2?} and {:.2?}, ratio {ratio:.2}", empty.claim, full.claim);
    let what = format!("{database}: claim p50, with none and with {n} finished tasks");
    line(&what, &measured, "ratio at most 1.5", Some(ratio <= 1.5));
    for (what, time) in [("list", full.list), ("list by status", full.list_failed), ("log", full.log)] {
        let met = Some(time < Duration::from_millis(5));
        line(&format!("{database}: {what} page p50 with {n}"), &format!("{time:.2?}"), "under 5 ms", met);
    }
}

async fn sqlite(asked: &Asked) {
    let folder = tempfile::tempdir_in(".").unwrap();
    let path = folder.path().join("bench.db");
    let open = async || SqliteStore::open(&path, SqliteOptions::default(), keys(), Arc::new(Wall)).await.unwrap();
    let store = Arc::new(open().await);
    tenant(&*store).await;
    for clients in [1, CLIENTS] {
        let (all, counted): (Arc<dyn Store>, _) = (store.clone(), store.clone());
        rates("SQLite", clients, &rate::measure(all, move || counted.commits(), clients, asked.span).await);
    }
    let all: Arc<dyn Store> = store.clone();
    let empty = history::measure(&all).await;
    drop((all, store));
    history::fill_sqlite(&path, 1..=asked.history);
    let size = std::fs::metadata(&path).unwrap().len();
    let begun = Instant::now();
    let store = Arc::new(open().await);
    let took = begun.elapsed();
    let what = format!("SQLite: opening a database of {} MB", size / 1_000_000);
    line(&what, &format!("{took:.2?}"), "under 1 s", Some(took < Duration::from_secs(1)));
    let all: Arc<dyn Store> = store.clone();
    histories("SQLite", asked.history, &empty, &history::measure(&all).await);
}

async fn postgres(asked: &Asked, url: &str) {
    let database = one_row::Database::create(url).await;
    let (url, pool) = (&database.url, database.pool.clone());
    let unbatched = one_row::rate(&pool, asked.span).await;
    let measured = format!("{unbatched:.0} rows/s");
    line("PostgreSQL: unbatched one-row inserts, 32 connections", &measured, "", None);
    let store = PostgresStore::connect(url, PostgresOptions::default(), keys(), Arc::new(Wall)).await.unwrap();
    let store = Arc::new(store);
    tenant(&*store).await;
    let (all, counted): (Arc<dyn Store>, _) = (store.clone(), store.clone());
    let rate = rate::measure(all.clone(), move || counted.commits(), CLIENTS, asked.span).await;
    rates("PostgreSQL", CLIENTS, &rate);
    let share = rate.per_second / (unbatched / 5.0);
    let measured = format!("{:.0} %", share * 100.0);
    line("PostgreSQL: of the unbatched rate divided by five", &measured, "at least 75 %", Some(share >= 0.75));
    let empty = history::measure(&all).await;
    history::fill_postgres(&pool, asked.history).await;
    histories("PostgreSQL", asked.history, &empty, &history::measure(&all).await);
    drop((all, store));
    database.drop().await;
}

/// The first tenant, which every task belongs to.
async fn tenant(store: &dyn Store) {
    use kybern_core::actor::Role;
    use kybern_core::audit::AuditEvent;
    use kybern_core::id::{KeyId, TenantId, UserId};
    use kybern_core::identity::{ApiKey, Tenant, User};
    use kybern_core::ports::Clock as _;
    let now = Wall.now();
    let tenant = Tenant { id: TenantId::DEFAULT, name: "bench".into(), slug: "bench".into(), created_at: now };
    let admin = User {
        id: UserId::from_uuid(uuid::Uuid::now_v7()),
        name: "Bench".to_owned(),
        email: "bench@example.com".to_owned(),
        roles: vec![Role::Admin],
        timezone: "UTC".to_owned(),
        created_at: now,
        made_by_user_id: None,
    };
    let key = ApiKey {
        id: KeyId::from_uuid(uuid::Uuid::now_v7()),
        user_id: admin.id,
        name: "bench".to_owned(),
        prefix: "kyb_bench".to_owned(),
        roles: Vec::new(),
        scopes: Vec::new(),
        expires_at: None,
        revoked_at: None,
        created_at: now,
        made_by_key_id: None,
        made_by_user_id: None,
    };
    let event = AuditEvent::by_executor("tenant.create", "tenant:bench", serde_json::json!({}));
    store.create_tenant(&tenant, &admin, &key, "no key has this hash", event).await.unwrap();
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let asked = asked();
    match &asked.work {
        Work::Measure => measure(&asked).await,
        Work::Grow(file) => history::grow_sqlite(file, asked.megabytes),
        Work::OneRowRate(url) => {
            let database = one_row::Database::create(url).await;
            println!("{:.1}", one_row::rate(&database.pool, asked.span).await);
            database.drop().await;
        }
    }
}

async fn measure(asked: &Asked) {
    let (seconds, history) = (asked.span.as_secs(), asked.history);
    println!("`cargo xtask perf --only store --seconds {seconds} --history {history}`\n");
    println!("| measured | figure | goal | |\n|---|---|---|---|");
    sqlite(asked).await;
    match &asked.postgres {
        Some(url) => postgres(asked, url).await,
        None => println!("\nPostgreSQL was not measured: name a server with --postgres URL"),
    }
}
