//! Acting in another tenant: for platform admins with a reason, and for nobody else. Who may not, does not learn
//! whether the tenant is there.

use super::callers::REASON;
use super::ids::{NOBODY, fill};
use super::rows::Who;
use super::suite::Suite;

/// Every guarded route and every role, with the header that names another tenant.
pub(crate) async fn only_a_platform_admin_crosses(suite: &Suite) {
    let rows = suite.rows.iter().filter(|row| row.right().is_some());
    let pairs = rows.flat_map(|row| suite.callers.roles().map(move |caller| (row, caller)));
    suite
        .each(pairs, async |(row, caller)| {
            let about = |what: &str| format!("{} by {} in {what}", row.name(), caller.name);
            let ask = |tenant: &str| row.bad(&suite.ours).header("x-tenant-id", tenant);
            let bare = suite.ask(row, Some(&caller.key), &ask(&suite.theirs.tenant), &[&suite.theirs.tenant]).await;
            if caller.may("platform") {
                suite.refused(&bare, 400, "VALIDATION_ERROR", || about("theirs without a reason"));
                let ask = ask(NOBODY).header("x-sudo-reason", REASON);
                let answer = suite.ask(row, Some(&caller.key), &ask, &[]).await;
                suite.refused(&answer, 404, "NOT_FOUND", || about("no tenant"));
                return;
            }
            suite.refused(&bare, 403, "PERMISSION_DENIED", || about("theirs without a reason"));
            let theirs = ask(&suite.theirs.tenant).header("x-sudo-reason", REASON);
            let theirs = suite.ask(row, Some(&caller.key), &theirs, &[&suite.theirs.tenant]).await;
            suite.refused(&theirs, 403, "PERMISSION_DENIED", || about("theirs"));
            let nobodys = ask(NOBODY).header("x-sudo-reason", REASON);
            let nobodys = suite.ask(row, Some(&caller.key), &nobodys, &[]).await;
            let same = theirs.essence(&[&suite.theirs.tenant]) == nobodys.essence(&[NOBODY]);
            suite.expect(same, || about("theirs differs from no tenant"));
        })
        .await;
}

/// That what nobody else can reach is really there: its own tenant reads it under the same paths.
pub(crate) async fn theirs_are_there(suite: &Suite) {
    for row in suite.rows.iter().filter(|row| row.method == "GET" && matches!(row.who, Who::Key("read" | "administer")))
    {
        let path = fill(row, &suite.theirs);
        let answer = suite.platform.with_key(&suite.theirs.admin).raw(&row.bare(&path)).await.unwrap();
        suite.expect(answer.status() == 200, || format!("{path} is not there in its own tenant: {}", answer.status()));
    }
}
