//! Watching the processes under test: one and its children.

use std::{collections::HashMap, fs};

fn tree(root: u32) -> Vec<u32> {
    let mut kids: HashMap<u32, Vec<u32>> = HashMap::new();
    for e in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if let Some(pid) = e.file_name().to_str().and_then(|s| s.parse::<u32>().ok()) {
            if let Some(st) = stat(pid) {
                kids.entry(st.0).or_default().push(pid);
            }
        }
    }
    let (mut out, mut todo) = (vec![], vec![root]);
    while let Some(p) = todo.pop() {
        out.push(p);
        todo.extend(kids.get(&p).into_iter().flatten());
    }
    out
}

/// parent pid, own CPU ticks, ticks of reaped children
fn stat(pid: u32) -> Option<(u32, u64, u64)> {
    let s = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let f: Vec<&str> = s[s.rfind(')')? + 2..].split(' ').collect();
    let g = |i: usize| f[i].parse::<u64>().unwrap_or(0);
    Some((f[1].parse().ok()?, g(11) + g(12), g(13) + g(14)))
}

pub fn cpu(root: u32) -> f64 {
    tree(root).into_iter().filter_map(stat).map(|s| s.1 + s.2).sum::<u64>() as f64 / 100.0
}

pub fn rss_mb(root: u32) -> f64 {
    tree(root)
        .into_iter()
        .filter_map(|p| fs::read_to_string(format!("/proc/{p}/statm")).ok())
        .filter_map(|s| s.split(' ').nth(1)?.parse::<f64>().ok())
        .sum::<f64>()
        * 4096.0
        / 1048576.0
}

pub fn write_bytes(root: u32) -> u64 {
    tree(root)
        .into_iter()
        .filter_map(|p| fs::read_to_string(format!("/proc/{p}/io")).ok())
        .filter_map(|s| s.lines().find_map(|l| l.strip_prefix("write_bytes: ")?.parse::<u64>().ok()))
        .sum()
}
