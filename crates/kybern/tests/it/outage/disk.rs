//! The disk under a SQLite file, or under PostgreSQL, is full.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cluster::Cluster;
use super::load::Load;
use crate::server::Site;
use crate::server::client::{Ask, until};
use crate::server::postgres::Database;

/// Bytes of each task's input.
const BALLAST: usize = 100_000;

#[tokio::test]
async fn a_full_disk_refuses_and_recovers() {
    let site = Site::sqlite();
    let Some(disk) = Disk::mount(site.folder(), "8m") else { return };
    let server = site.start();
    let client = server.client();
    Load::prepare(&client).await;
    let load = Load::of(BALLAST);
    load.during(&client, async {
        load.turned_away(20).await;
        disk.grow("256m");
        load.served(5).await;
    })
    .await;
    println!("{} taken, {} refused", load.taken(), load.refused());
    load.settle(&client).await;
    drop((server, site));
}

/// Seen in each place where an operator looks.
#[tokio::test]
async fn a_full_disk_under_sqlite_shows_and_passes() {
    let site = Site::sqlite();
    let Some(disk) = Disk::mount(site.folder(), "96m") else { return };
    let server = site.start();
    let client = server.client();
    let ready = async || {
        let (status, health) = client.send(&Ask::get("/readyz")).await;
        let checks = health["checks"].as_array().unwrap();
        let of = checks.iter().find(|check| check["name"] == "disk").unwrap();
        (status.as_u16(), of["state"].clone(), of["message"].as_str().unwrap().to_owned())
    };
    let free = async || {
        let text = client.raw(&Ask::get("/metrics")).await.unwrap().text().await.unwrap();
        let line = text.lines().find(|line| line.starts_with("kybern_disk_free_bytes ")).map(str::to_owned);
        line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).unwrap_or_else(|| panic!("{text}"))
    };
    assert_eq!(ready().await.0, 200);
    assert!(free().await > 1e6);
    let ballast = disk.fill();
    until("the server is not ready", async || {
        let (status, state, message) = ready().await;
        (status == 503 && state == "broken" && message.starts_with("0 MiB free")).then_some(())
    })
    .await;
    until("the metrics say it", async || (free().await < 1e6).then_some(())).await;
    let doctor = site.command(&["doctor", "--database", &site.database()]).output().unwrap();
    assert!(!doctor.status.success() && String::from_utf8_lossy(&doctor.stdout).contains("disk"), "{doctor:?}");
    std::fs::remove_file(ballast).unwrap();
    until("the server is ready again", async || (ready().await.0 == 200).then_some(())).await;
    drop((server, site, disk));
}

/// Only PostgreSQL sees its disk. What is written to find out whether a write is taken must not fit where it was.
#[tokio::test]
async fn a_full_disk_under_postgres_shows_and_passes() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(folder.path(), "512m") else { return };
    let Some(cluster) = Cluster::start_in(folder).await else { return };
    let site = Site::on(Database::on(cluster.url()));
    let server = site.start();
    let client = server.client();
    let database = async || {
        let (status, health) = client.send(&Ask::get("/readyz")).await;
        let checks = health["checks"].as_array().unwrap();
        let of = checks.iter().find(|check| check["name"] == "database").unwrap();
        (status.as_u16(), of["message"].as_str().unwrap().to_owned())
    };
    assert_eq!(database().await.0, 200);
    let ballast = disk.fill();
    let said = until("the server is not ready", async || {
        let (status, said) = database().await;
        (status == 503).then_some(said)
    });
    assert!(said.await.contains("the database's disk is full"));
    std::fs::remove_file(ballast).unwrap();
    until("the server is ready again", async || (database().await.0 == 200).then_some(())).await;
    drop((server, site, cluster, disk));
}

/// A small disk in memory over a folder; taken off when it is dropped.
struct Disk(PathBuf);

impl Disk {
    /// `None`, said aloud, where this user may not mount.
    fn mount(folder: &Path, size: &str) -> Option<Self> {
        let options = format!("size={size},mode=700");
        if run(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder)) {
            return Some(Self(folder.to_owned()));
        }
        eprintln!("skipped: this user may not mount a file system, so there is no small disk to fill");
        None
    }

    /// Takes all the room that is left, in a file.
    fn fill(&self) -> PathBuf {
        let ballast = self.0.join("ballast");
        let mut file = File::create(&ballast).unwrap();
        let part = vec![b'x'; 64 * 1024];
        let full = std::iter::repeat_with(|| file.write_all(&part)).find_map(Result::err).unwrap();
        assert_eq!(full.kind(), ErrorKind::StorageFull);
        ballast
    }

    fn grow(&self, size: &str) {
        assert!(run(Command::new("mount").args(["-o", &format!("remount,size={size}")]).arg(&self.0)));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Also while something in it is still open.
        run(Command::new("umount").arg("-l").arg(&self.0));
    }
}

fn run(command: &mut Command) -> bool {
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
