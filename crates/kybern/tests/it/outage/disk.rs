//! The disk under a SQLite file is full.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::load::Load;
use crate::server::Site;

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
