//! The journal's partitions in PostgreSQL: one per month of the task's UUIDv7.

use kybern_core::time::Timestamp;
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use crate::error::Result;

/// How many months exist ahead of the present one.
const MONTHS_AHEAD: i64 = 3;
/// The lock that processes take while they change partitions or migrate.
pub(crate) const SCHEMA_LOCK: i64 = 0x006b_7962_6572_6e00;

/// A month: years since 0 times 12, plus the month from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Month(i64);

impl Month {
    fn of(at: Timestamp) -> Self {
        let (year, month) = civil(at.as_millis().div_euclid(86_400_000));
        Self(year * 12 + month - 1)
    }

    fn name(self) -> String {
        format!("step_row_{:04}_{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }

    /// The smallest id that a task of this month can have.
    fn first_id(self) -> Uuid {
        let days = days_before(self.0.div_euclid(12), self.0.rem_euclid(12) + 1);
        let millis = u128::try_from(days * 86_400_000).unwrap_or(0);
        Uuid::from_u128(millis << 80)
    }
}

/// Year and month of a day counted from 1970-01-01 (Howard Hinnant's civil_from_days).
fn civil(days: i64) -> (i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day = shifted.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let place = (5 * (day - (365 * year + year / 4 - year / 100)) + 2) / 153;
    let month = if place < 10 { place + 3 } else { place - 9 };
    (year + era * 400 + i64::from(month <= 2), month)
}

/// Days from 1970-01-01 to the first of a month.
fn days_before(year: i64, month: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let place = (month + 9) % 12;
    let day = (153 * place + 2) / 5;
    let in_era = year.rem_euclid(400);
    era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + day - 719_468
}

/// Creates the partitions of this month and the next ones. A month whose rows already lie in the default partition
/// stays there: correct, only not apart.
pub(crate) async fn ensure(owner: &mut PgConnection, now: Timestamp) -> Result<()> {
    let this = Month::of(now);
    for month in (this.0..=this.0 + MONTHS_AHEAD).map(Month) {
        let (name, from, to) = (month.name(), month.first_id(), Month(month.0 + 1).first_id());
        let known: Option<i32> = sqlx::query_scalar("SELECT 1 FROM pg_class WHERE relname = $1 AND relkind = 'r'")
            .bind(&name)
            .fetch_optional(&mut *owner)
            .await?;
        if known.is_some() {
            continue;
        }
        let text = format!(
            "BEGIN; SELECT pg_advisory_xact_lock({SCHEMA_LOCK}); \
             CREATE TABLE IF NOT EXISTS {name} PARTITION OF step_row FOR VALUES FROM ('{from}') TO ('{to}'); COMMIT"
        );
        if let Err(error) = sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut *owner).await {
            sqlx::raw_sql("ROLLBACK").execute(&mut *owner).await?;
            tracing::warn!(%error, partition = name, "a partition was not created; its rows stay in the default one");
        }
    }
    Ok(())
}

/// Drops the partitions of past months that hold nothing any more: their tasks were removed, and the rows with them. The
/// month before this one stays, since its tasks may still be worked on; a row that comes late lies in the default one.
///
/// A partition holds nothing when it takes no space: a count would be that of whoever counts, and row-level security
/// hides rows from the owner. Space is given back by PostgreSQL's vacuum, so a partition may stay a day longer.
pub(crate) async fn drop_empty(owner: &mut PgConnection, now: Timestamp) -> Result<()> {
    let oldest_kept = Month(Month::of(now).0 - 1).name();
    let empty = "SELECT child.relname::text FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
        WHERE inhparent = 'step_row'::regclass AND child.relname ~ '^step_row_[0-9]{4}_[0-9]{2}$'
            AND child.relname < $1 AND pg_relation_size(child.oid) = 0 ORDER BY 1";
    let names: Vec<String> = sqlx::query_scalar(empty).bind(&oldest_kept).fetch_all(&mut *owner).await?;
    for name in names {
        // Whoever writes to the journal waits meanwhile, so it is not waited for long. What was empty is looked at again
        // when nobody can write.
        let text = format!(
            "BEGIN; SET LOCAL lock_timeout = '1s'; SELECT pg_advisory_xact_lock({SCHEMA_LOCK}); \
             LOCK TABLE step_row IN ACCESS EXCLUSIVE MODE; \
             DO $$ BEGIN IF pg_relation_size('{name}') = 0 THEN DROP TABLE {name}; END IF; END $$; COMMIT"
        );
        if let Err(error) = sqlx::raw_sql(AssertSqlSafe(text)).execute(&mut *owner).await {
            sqlx::raw_sql("ROLLBACK").execute(&mut *owner).await?;
            tracing::warn!(%error, partition = name, "an empty partition was not dropped, tried again tomorrow");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_named_and_bounded() {
        let month = Month::of(Timestamp::from_millis(1_790_000_000_123));
        assert_eq!(month.name(), "step_row_2026_09");
        assert_eq!(Month::of(Timestamp::from_millis(0)).first_id(), Uuid::nil());
        assert_eq!(days_before(2026, 9), 20_697);
        assert_eq!(Month(month.0 + 4).name(), "step_row_2027_01");
    }

    #[test]
    fn every_day_lies_in_its_month() {
        for day in 0..60_000 {
            let (year, month) = civil(day);
            let next = if month == 12 { days_before(year + 1, 1) } else { days_before(year, month + 1) };
            assert!((days_before(year, month)..next).contains(&day), "{day}");
        }
    }
}
