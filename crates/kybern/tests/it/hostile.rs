//! Hostile input against a running server: bodies, plans and files that are built to exhaust it. Each is refused with a
//! code, or waits for a person who is told why, within its time; and while they arrive, another tenant's work goes on.

mod bodies;
mod bombs;
pub(crate) mod files;

use std::cell::Cell;
use std::time::{Duration, Instant};

use futures::future::join;
use kybern_adapters::mail::parse::Mime;
use serde_json::{Value, json};

use crate::samples::hire;
use crate::server::client::{Ask, pause, text};
use crate::server::{Client, Server, Site};

/// What anything hostile may take until it is answered, in a debug build on a busy machine. What is not bounded takes
/// for ever.
const LIMIT: Duration = Duration::from_secs(25);

/// Kilobytes that an allocator may keep of what was given back.
const MOST_LEFT: u64 = 30_000;

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}

/// One hostile request, and how it may be answered.
struct Attack {
    what: String,
    ask: Ask,
    expect: Expect,
}

enum Expect {
    /// An error of that status and code.
    Refused(&'static [u16], &'static str),
    /// A task that rests in one of these states.
    Rests(&'static [&'static str]),
    /// A task that waits because of a file, with one of these faults.
    Waits(&'static [&'static str]),
    /// A plan that is refused, or a task with that payload walks it and rests in one of these states.
    Walks(Value, &'static [&'static str]),
}

impl Attack {
    fn new(what: &str, ask: Ask, expect: Expect) -> Self {
        Self { what: what.to_owned(), ask, expect }
    }

    /// Sends it; gives what is wrong with what came of it.
    async fn strike(&self, client: &Client) -> Option<String> {
        let began = now();
        let fault = self.outcome(client).await.err();
        let took = began.elapsed();
        println!("{:>9.1?}  {}", took, self.what);
        let fault = fault.or_else(|| (took > LIMIT).then(|| format!("took {took:?}")));
        fault.map(|fault| format!("{}: {fault}", self.what))
    }

    async fn outcome(&self, client: &Client) -> Result<(), String> {
        let response = client.raw(&self.ask).await.map_err(|error| format!("no answer: {error:?}"))?;
        let status = response.status().as_u16();
        let body = response.text().await.map_err(|error| format!("half an answer: {error}"))?;
        let answer: Value = serde_json::from_str(&body).map_err(|_| format!("no JSON: {body:.200}"))?;
        if body.len() > 200_000 {
            return Err(format!("an answer of {} bytes", body.len()));
        }
        if let Expect::Refused(statuses, code) = &self.expect {
            let refused = statuses.contains(&status) && answer["error"]["code"] == *code;
            return if refused { Ok(()) } else { Err(format!("{status} {body:.300}")) };
        }
        if let Expect::Walks(payload, statuses) = &self.expect {
            return self.walk(client, status, &answer, payload, statuses).await;
        }
        let id = answer["taskId"].as_str().or_else(|| answer["id"].as_str());
        let id = id.ok_or_else(|| format!("no task: {status} {body:.300}"))?;
        let task = client.rest(id).await;
        let (status, fault) = (text(&task["status"]), text(&task["waits"][0]["details"]["files"][0]["fault"]));
        let error = &task["errorMessage"];
        match &self.expect {
            Expect::Waits(faults) if status == "needs_review" && faults.contains(&fault.as_str()) => Ok(()),
            Expect::Rests(statuses) if statuses.contains(&status.as_str()) => Ok(()),
            _ => Err(format!("the task is {status} ({error}), the file {fault:?}: {:.300}", task["waits"].to_string())),
        }
    }

    async fn walk(
        &self,
        client: &Client,
        status: u16,
        answer: &Value,
        payload: &Value,
        statuses: &[&str],
    ) -> Result<(), String> {
        let Some(key) = answer["key"].as_str() else {
            let refused = status == 422 && answer["error"]["code"] == "UNPROCESSABLE";
            return if refused { Ok(()) } else { Err(format!("{status} {answer:.300}")) };
        };
        let task = json!({"input": "go", "planKey": key, "payload": payload, "maxSteps": 200});
        let task = client.rest(&text(&client.post("/api/tasks", &task).await["id"])).await;
        let (status, error) = (text(&task["status"]), &task["errorMessage"]);
        let told = status != "failed" || !text(error).is_empty();
        if statuses.contains(&status.as_str()) && told { Ok(()) } else { Err(format!("the task is {status}: {error}")) }
    }
}

/// A client of the tenant that is attacked, and one of its neighbour.
async fn neighbours(server: &Server) -> (Client, Client) {
    let client = server.client();
    hire(&client).await;
    let neighbour = client.post("/api/admin/tenants", &json!({"name": "Neighbour"})).await;
    let next_door = client.with_key(&text(&neighbour["adminKey"]));
    let plan = json!({"key": "small.work", "steps": [{"id": "a", "tool": "core.set", "args": {"n": "{{ task.payload.n + 1 }}"}}]});
    next_door.post("/api/plans", &plan).await;
    (client, next_door)
}

/// Attacks one after the other while the neighbour works; everything must end well.
async fn under_attack(site: Site, attacks: Vec<Attack>) {
    let server = site.start();
    let (client, next_door) = neighbours(&server).await;
    let over = Cell::new(false);
    let attacking = async {
        let mut faults = Vec::new();
        for attack in &attacks {
            faults.extend(attack.strike(&client).await);
        }
        over.set(true);
        faults
    };
    let working = async {
        let mut took = Vec::new();
        while !over.get() {
            let began = now();
            let task = json!({"input": "x", "planKey": "small.work", "payload": {"n": took.len()}});
            let task = next_door.ok(&Ask::json("/api/tasks?waitMs=30000", &task)).await;
            assert_eq!(task["status"], "completed", "{task}");
            took.push(began.elapsed());
            pause(Duration::from_millis(20)).await;
        }
        took
    };
    let (faults, mut took) = join(attacking, working).await;
    took.sort();
    println!(
        "{} attacks; meanwhile the neighbour ended {} tasks: half of them within {:.1?}, the slowest took {:.1?}",
        attacks.len(),
        took.len(),
        took[took.len() / 2],
        took[took.len() - 1],
    );
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
    client.get("/healthz").await;
    client.audit_is_whole().await;
}

/// A database on the test server. No lease ends there because the machine is busy with the attacks.
fn postgres() -> Option<Site> {
    let leases = Site::postgres()?.with("KYBERN_WORKER__LEASE_MS", "30000");
    Some(leases.with("KYBERN_WORKER__HEARTBEAT_MS", "10000"))
}

#[tokio::test]
async fn bodies_that_are_too_much_are_refused_and_neighbours_work_on() {
    under_attack(Site::sqlite(), bodies::all()).await;
}

#[tokio::test]
async fn plans_that_are_bombs_fail_alone_and_neighbours_work_on() {
    under_attack(Site::sqlite(), bombs::all()).await;
}

#[tokio::test]
async fn files_that_are_bombs_wait_for_a_person_and_neighbours_work_on() {
    let attacks = files::all();
    for attack in &attacks {
        assert!(Mime.parse(&attack.ask.body).is_ok(), "{} is not even a mail", attack.what);
    }
    under_attack(Site::sqlite(), attacks).await;
}

/// What is refused at the door is refused alike; here are rows that are large, many, or about what cannot be read.
#[tokio::test]
async fn what_reaches_the_store_is_borne_by_postgres_too_and_neighbours_work_on() {
    let Some(site) = postgres() else { return };
    let mails = bodies::mails().into_iter().filter(|attack| matches!(attack.expect, Expect::Rests(_)));
    under_attack(site, mails.chain(bombs::loops()).chain(files::small()).collect()).await;
}

/// Kilobytes of memory that the server's process holds.
fn held(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Each of these schemas takes megabytes while it is compiled, and whoever may only read can have any number checked.
#[tokio::test]
async fn schemas_that_are_only_checked_leave_nothing_behind() {
    let site = Site::sqlite();
    let server = site.start();
    let admin = server.client();
    let user = json!({"name": "A Viewer", "email": "viewer@example.com", "roles": ["viewer"]});
    let user = admin.post("/api/users", &user).await;
    let key = admin.post("/api/keys", &json!({"name": "k", "userId": user["id"]})).await;
    let viewer = admin.with_key(&text(&key["key"]));
    let check = async |n: usize| {
        let field =
            |p: usize| (format!("p{p}"), json!({"type": "string", "pattern": format!("^\\p{{L}}{{3}}{n}x{p}$")}));
        let fields: serde_json::Map<String, Value> = (0..40).map(field).collect();
        let ask = json!({"id": "a", "kind": "input", "title": "t",
            "fields": {"type": "object", "properties": fields}});
        let checked = viewer.post("/api/plans/check", &json!({"key": "only.checked", "steps": [ask]})).await;
        assert_eq!(checked["valid"], true, "{checked:.300}");
    };
    for n in 0..6 {
        check(n).await;
    }
    let before = held(&server);
    for n in 6..26 {
        check(n).await;
    }
    let more = held(&server).saturating_sub(before);
    println!("{before} kB before, {more} kB more after 20 schemas");
    assert!(more < MOST_LEFT, "{more} kB are left of 20 schemas that were only checked");
}
