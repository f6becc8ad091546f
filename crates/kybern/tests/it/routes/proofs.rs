//! Whoever proves nothing gets nothing, and does not learn what is there.

use super::rows::Who;
use super::suite::Suite;

/// Every route, without a key and with every kind of key that does not hold.
pub(crate) async fn without_a_proof_nothing_is_answered(suite: &Suite) {
    let mut proofs: Vec<(&str, Option<String>)> = vec![
        ("no key", None),
        ("Basic", Some("Basic a2V5OmtleQ==".to_owned())),
        ("no scheme", Some(suite.ours.admin.clone())),
        ("an empty key", Some("Bearer ".to_owned())),
        ("an unknown key", Some("Bearer kyb_this_key_was_never_made_by_anybody".to_owned())),
        ("half a key", Some(format!("Bearer {}", &suite.ours.admin[..40]))),
    ];
    proofs.extend(suite.callers.dead.iter().map(|(what, key)| (*what, Some(format!("Bearer {key}")))));
    let pairs = suite.rows.iter().flat_map(|row| proofs.iter().map(move |proof| (row, proof)));
    suite
        .each(pairs, async |(row, (what, proof))| {
            let path = row.path_with(|part| part.value(&suite.ours));
            // A request that would do its work, and one that is wrong in everything: neither is looked at.
            for mut ask in [row.good(&path, &suite.ours, 0), row.bad(&suite.ours)] {
                ask.headers.retain(|(name, _)| *name != "x-callback-secret");
                if let Some(proof) = proof {
                    ask = ask.header("authorization", proof);
                }
                let answer = suite.ask(row, None, &ask, &[]).await;
                let about = || format!("{} with {what}", row.name());
                if row.who == Who::Anyone {
                    suite.expect(answer.status == 200, || format!("{}: {}", about(), answer.status));
                    continue;
                }
                suite.refused(&answer, 401, "UNAUTHENTICATED", about);
                let asks = answer.header("www-authenticate") == "Bearer realm=\"kybern\"";
                suite.expect(asks, || format!("{}: does not say how to prove it", about()));
            }
        })
        .await;
}
