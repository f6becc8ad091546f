//! Rates: the calls within a window that slides, judged and counted in one transaction.

use kybern_core::budget::{RateExceeded, RateRule};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use crate::db::{Tx, args, statements};
use crate::error::Result;
use crate::reservations;

statements! {
    KEY_TAKE = shared "rate_key_take";
    FORGET = shared "rate_forget";
    HITS = shared "rate_hits";
    HIT_ADD = shared "rate_hit_add";
}

/// Takes a place under every rule, or under none; then the rule is named whose place is free last.
pub(crate) async fn take(
    tx: &mut Tx,
    (scope, rules, at): &(TenantScope, Vec<RateRule>, Timestamp),
) -> Result<Option<RateExceeded>> {
    // Units of one tenant may share a transaction: all of them take the head of the audit first.
    reservations::lock_tenant(tx, *scope).await?;
    let mut rules: Vec<&RateRule> = rules.iter().collect();
    // Always in one order, so that two who take the same keys do not wait for each other.
    rules.sort_by(|a, b| a.key.cmp(&b.key));
    let mut worst: Option<RateExceeded> = None;
    let mut moments = Vec::with_capacity(rules.len());
    for rule in &rules {
        // The key's row is held from here on: nobody else judges the same window meanwhile. It answers the moment of
        // `RateRule::judged_at`.
        let moment = tx.write_row(&KEY_TAKE, args![*scope, rule.key.as_str(), *at, rule.window]).await?;
        let at = moment.map_or(Ok(*at), |mut row| row.time())?;
        let (gone, wrong) = (at.minus(rule.window), at.plus(rule.window));
        tx.execute(&FORGET, args![*scope, rule.key.as_str(), gone, wrong]).await?;
        let mut times = Vec::new();
        for mut row in tx.fetch_all(&HITS, args![*scope, rule.key.as_str()]).await? {
            let (time, hits) = (row.time()?, row.u32()?);
            times.extend((0..hits).map(|_| time));
        }
        moments.push(at);
        if let Err(exceeded) = rule.judge(&times, at)
            && worst.as_ref().is_none_or(|known| known.free_at < exceeded.free_at)
        {
            worst = Some(exceeded);
        }
    }
    if worst.is_none() {
        for (rule, at) in rules.into_iter().zip(moments) {
            tx.execute(&HIT_ADD, args![*scope, rule.key.as_str(), at]).await?;
        }
    }
    Ok(worst)
}
