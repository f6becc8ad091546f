//! E-mails without attachments on one core: from the post of the first one until the last one rests.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Bench;
use crate::client::Client;
use crate::cores::{self, Aside};
use crate::kit::{self, Server, Site};
use crate::mails;
use crate::table::{at_least, line};

/// Connections that post.
const CLIENTS: usize = 8;
/// Mails for each second that the measurement shall take.
const EACH_SECOND: usize = 250;
/// Mails before: the first ones find cold caches.
const WARM_UP: usize = 100;
/// How often it is looked whether all rest.
const LOOK: Duration = Duration::from_millis(20);
/// What a task is in before it rests, in order; it never goes back.
const UNDER_WAY: [&str; 5] = ["pending", "extracting", "detecting_intent", "planning", "executing"];

pub(crate) fn measure(bench: &Bench) {
    let server = Site::new(&bench.folder, "sqlite:intake.db").on_one_core().start();
    let _aside = Aside::step();
    let mut client = server.client();
    post(&server, 0, WARM_UP);
    until_all_rest(&mut client);
    let count = usize::try_from(bench.seconds).unwrap() * EACH_SECOND;
    let (begun, cpu) = (Instant::now(), server.process.cpu_ms());
    post(&server, WARM_UP, count);
    let taken = begun.elapsed().as_secs_f64();
    until_all_rest(&mut client);
    let (took, cpu) = (begun.elapsed().as_secs_f64(), server.process.cpu_ms() - cpu);
    let mails = count as f64;
    let cores = if cores::can_pin() { "on one core" } else { "on all cores" };
    at_least(&format!("SQLite, {cores}: {count} e-mails from intake to rest"), mails / took, "a second", 200.0);
    line("SQLite: of them taken in by HTTP", &format!("{:.0} a second", mails / taken), "", None);
    line("SQLite: CPU an e-mail", &format!("{:.2} ms", cpu / mails), "", None);
    let [completed, waiting] = ["completed", "needs_review"].map(|status| tasks(&mut client, status));
    assert_eq!(completed + waiting, WARM_UP + count, "every mail is one task that ended well or waits for a person");
    line("SQLite: of all e-mails, ended and in review", &format!("{completed} and {waiting}"), "", None);
}

/// Posts the mails from that number on, over several connections.
fn post(server: &Server, from: usize, count: usize) {
    std::thread::scope(|scope| {
        for connection in 0..CLIENTS {
            scope.spawn(move || {
                let mut client = server.client();
                for n in (from + connection..from + count).step_by(CLIENTS) {
                    client.mail(&mails::mail(n));
                }
            });
        }
    });
}

fn until_all_rest(client: &mut Client) {
    for status in UNDER_WAY {
        let path = format!("/api/tasks?status={status}&limit=1");
        kit::until("every task rests", LOOK, || items(&client.get(&path)) == 0);
    }
}

fn tasks(client: &mut Client, status: &str) -> usize {
    let (mut count, mut cursor) = (0, String::new());
    loop {
        let page = client.get(&format!("/api/tasks?status={status}&limit=200{cursor}"));
        count += items(&page);
        let Some(next) = page["nextCursor"].as_str() else { return count };
        cursor = format!("&cursor={next}");
    }
}

fn items(page: &Value) -> usize {
    page["items"].as_array().unwrap().len()
}
