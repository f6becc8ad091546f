//! Four processes on one PostgreSQL against one.
//!
//! All tasks are submitted beforehand, to a process whose only slot is taken and which is gone when the others start.
//! So no driver takes processors from them, and no process has more work because more was submitted to it: what is
//! seen is how processes share one queue.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Bench;
use crate::kit::{self, Server, Site};
use crate::late::{LATE_MS, Service};
use crate::table::{at_least, line};

/// Processes of the fleet.
const FLEET: usize = 4;
/// Tasks that each process walks at once.
const SLOTS: usize = 32;
/// Connections that submit.
const CLIENTS: u64 = 8;
/// Before the rate is looked at: until every process is in the work.
const SETTLE: Duration = Duration::from_secs(1);
/// How often the ends are counted.
const LOOK: Duration = Duration::from_millis(100);
/// What tasks are made of, and how many a second that many processes can end at most.
struct Work {
    what: &'static str,
    steps: fn(&Service) -> Vec<Value>,
    at_most: fn(usize) -> u64,
    /// The rate of the fleet, as a multiple of one process's.
    goal: f64,
}

/// A step that waits inside its call keeps its slot, and costs little else. `core.wait` gives the slot back.
const WAITING: Work = Work {
    what: "five steps that wait 50 ms in their call",
    steps: |service| ["a", "b", "c", "d", "e"].map(|id| service.step(id, "/late")).to_vec(),
    at_most: |processes| 1_000 / (5 * LATE_MS) * (processes * SLOTS) as u64,
    goal: 3.0,
};

const EMPTY: Work =
    Work { what: "five steps that do nothing", steps: |_| kit::five_steps(), at_most: |_| 2_500, goal: 0.9 };

pub(crate) fn measure(bench: &Bench) {
    for work in [WAITING, EMPTY] {
        let (one, fleet) = (rate(bench, &work, 1), rate(bench, &work, FLEET));
        let what = work.what;
        let measured = format!("{one:.0} and {fleet:.0} tasks/s");
        line(&format!("PostgreSQL, {what}: one process and {FLEET}, {SLOTS} slots each"), &measured, "", None);
        at_least(&format!("PostgreSQL, {what}: {FLEET} processes of one"), fleet / one, "×", work.goal);
    }
}

/// Tasks that so many processes end in a second.
fn rate(bench: &Bench, work: &Work, processes: usize) -> f64 {
    let (Some(database), service) = (bench.database(), Service::open()) else { return f64::NAN };
    let site = Site::new(&bench.folder, &database.url()).with("KYBERN_EGRESS__ALLOW", &service.allowed());
    let tasks = (work.at_most)(processes) * (bench.seconds + 4);
    let site = queue(site, &service, &(work.steps)(&service), tasks);
    service.release();
    let servers: Vec<Server> = (0..processes).map(|_| site.start()).collect();
    std::thread::sleep(SETTLE);
    let ended = || -> u64 {
        let rows = database.rows("select count(*) from task where status = 'completed'");
        rows[0][0].parse().unwrap()
    };
    let (before, begun) = (ended(), Instant::now());
    let span = Duration::from_secs(bench.seconds);
    while begun.elapsed() < span && ended() < tasks * 9 / 10 {
        std::thread::sleep(LOOK);
    }
    let (after, took) = (ended(), begun.elapsed());
    assert!(after < tasks, "the queue ran dry");
    drop(servers);
    (after - before) as f64 / took.as_secs_f64()
}

/// Submits the tasks to a process that can walk none of them. It is killed, and so keeps the one that it walks until
/// its lease expires, which is after all is over.
fn queue(site: Site, service: &Service, steps: &[Value], tasks: u64) -> Site {
    let site = site.with("KYBERN_WORKER__SLOTS", "1");
    let server = site.start();
    server.put_plan("bench.held", &[service.step("held", "/held")]);
    server.put_plan("bench.queued", steps);
    server.client().post("/api/tasks", &json!({"input": "", "planKey": "bench.held"}));
    service.until_held(1);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = server.client();
                for _ in 0..tasks / CLIENTS {
                    client.post("/api/tasks", &json!({"input": "", "planKey": "bench.queued"}));
                }
            });
        }
    });
    site.with("KYBERN_WORKER__SLOTS", &SLOTS.to_string())
}
