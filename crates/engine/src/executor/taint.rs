//! Where values come from. What mail, documents, webhooks and the web say is untrusted, and so is everything made of
//! it. The grain is a name in the state or a step's result: coarse, and never too trusting.

use kybern_core::task::Channel;

use super::walk::Walk;
use crate::templates::Path;

/// Whether a value made of these names may come from untrusted sources.
pub(crate) fn is_tainted(walk: &Walk, index: usize, channel: Channel, paths: &[Path]) -> bool {
    paths.iter().any(|path| path_is_tainted(walk, index, channel, path))
}

/// Whether anything that a step can read may come from untrusted sources.
pub(crate) fn anything_is_tainted(walk: &Walk, index: usize, channel: Channel) -> bool {
    channel.is_untrusted()
        || walk.tainted().values().any(|tainted| *tainted)
        || walk.outcomes().any(|(_, outcome)| outcome.tainted)
        || walk.node(index).round.as_ref().is_some_and(|round| round.tainted)
        || walk.node(index).tainted_args
}

fn path_is_tainted(walk: &Walk, index: usize, channel: Channel, path: &Path) -> bool {
    let part = |n: usize| path.get(n).map(String::as_str);
    match part(0) {
        Some("state") => match part(1) {
            Some(name) => walk.tainted().get(name).copied().unwrap_or(false),
            None => walk.tainted().values().any(|tainted| *tainted),
        },
        Some("steps") => {
            let named = |id: &str| {
                walk.in_plan_order().into_iter().any(|node| {
                    let node = walk.node(node);
                    let hit = node.id.as_str() == id || node.spec.id.as_str() == id;
                    hit && node.outcome().is_some_and(|outcome| outcome.tainted)
                })
            };
            match part(1) {
                Some(id) => named(id),
                None => walk.outcomes().any(|(_, outcome)| outcome.tainted),
            }
        }
        Some("task") => match part(1) {
            Some("input" | "payload") | None => channel.is_untrusted(),
            Some(_) => false,
        },
        Some("item") => walk.node(index).round.as_ref().is_some_and(|round| round.tainted),
        Some("tenant" | "user" | "index") => false,
        // `context` by itself, or a name that does not exist: as bad as the worst of them.
        Some(_) | None => anything_is_tainted(walk, index, channel),
    }
}

/// Whether the value of an argument as written may come from untrusted sources.
pub(crate) fn argument_is_tainted(run: &super::run::TaskRun, index: usize, written: &serde_json::Value) -> bool {
    let node = run.walk.node(index);
    if node.literal_args {
        return node.tainted_args;
    }
    if !crate::templates::has_expression(written) {
        return false;
    }
    // A plan that was checked compiles; one that does not is treated as the worst.
    crate::templates::expressions_in(written)
        .map_or(true, |paths| is_tainted(&run.walk, index, run.task.channel, &paths))
}
