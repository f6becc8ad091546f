//! Which processor does what: a figure for one core needs a server that has no more.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Whether processes can be held on cores: there are two at least, and `taskset` is there.
pub(crate) fn can_pin() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| {
        let told = Command::new("taskset").arg("--version").stdout(Stdio::null()).status();
        let can = count() > 1 && told.is_ok_and(|status| status.success());
        if !can {
            println!("(nothing is held on one core: that takes taskset and two cores)\n");
        }
        can
    })
}

/// How many there are; asked once, because a process that is held on one sees no other.
fn count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// A program that has the first core only.
pub(crate) fn on_the_first(program: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", "0", program]);
    command
}

/// Keeps this process off the first core until it is dropped.
pub(crate) struct Aside(());

impl Aside {
    pub(crate) fn step() -> Option<Self> {
        let last = count() - 1;
        can_pin().then(|| hold(&format!("1-{last}"))).map(Self)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        hold(&format!("0-{}", count() - 1));
    }
}

/// Holds all threads of this process on those cores; new ones inherit that.
fn hold(cores: &str) {
    let mut command = Command::new("taskset");
    command.args(["-apc", cores, &std::process::id().to_string()]).stdout(Stdio::null());
    assert!(command.status().unwrap().success(), "taskset cannot hold this process on cores {cores}");
}
