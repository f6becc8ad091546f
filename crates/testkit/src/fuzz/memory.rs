//! What this process holds, without the pages of its own program: those come as its code is used, and a larger program
//! has more of them. Elsewhere than on Linux nothing is known, and nothing is watched.

/// The most megabytes that the process ever held, and those it holds now.
pub(super) fn megabytes() -> Option<(u64, u64)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().ok()?;
        Some(kilobytes / 1024)
    };
    let program = field("RssFile")?;
    Some((field("VmHWM")?.saturating_sub(program), field("VmRSS")?.saturating_sub(program)))
}

/// The most megabytes that the process ever held; 0 where nothing is known.
pub fn peak() -> u64 {
    megabytes().map_or(0, |(peak, _)| peak)
}

/// Forgets the most that the process held, so that [`peak`] tells of what comes next; where nobody can, it stays.
pub(super) fn forget_peak() {
    drop(std::fs::write("/proc/self/clear_refs", "5"));
}

/// The megabytes that the process holds now; 0 where nothing is known.
pub(super) fn now() -> u64 {
    megabytes().map_or(0, |(_, now)| now)
}
