//! How long a start takes on a database that has grown.

use crate::Bench;
use crate::kit::{self, Site};
use crate::table::at_most;

/// What the file is grown to: over a gigabyte in either way of counting.
const MEGABYTES: u64 = 1_100;
/// Starts that are measured.
const STARTS: usize = 3;

/// The slowest of several starts, after an end in good order and after `kill -9`.
pub(crate) fn measure(bench: &Bench) {
    let file = bench.folder.join("grown.db");
    let (path, megabytes) = (file.to_str().unwrap(), MEGABYTES.to_string());
    let site = Site::new(&bench.folder, &format!("sqlite:{path}"));
    // The server makes its tables and keys, and leaves no write-ahead log.
    site.start().process.terminate();
    drop(kit::store_bench(&["--grow", path, "--megabytes", &megabytes]));
    let size = std::fs::metadata(&file).unwrap().len() / 1_000_000;
    let starts = (0..STARTS).map(|_| site.start().started_in.as_secs_f64());
    let slowest = starts.fold(0.0, f64::max);
    at_most(&format!("SQLite: start to ready on {size} MB, the slowest of {STARTS}"), slowest, "s", 1.0);
}
