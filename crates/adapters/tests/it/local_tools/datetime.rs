//! Expected values were taken from calendars and the time zones' published rules, never from the tool.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{call, check_refusals, check_table};

const KIGALI: &str = "Africa/Kigali";
const NEW_YORK: &str = "America/New_York";

fn parse(date: &str, zone: &str) -> Value {
    json!({"operation": "parse", "date": date, "timezone": zone})
}

#[test]
fn now_is_the_clock_of_the_call_in_a_named_zone() {
    let now = json!({"operation": "now"});
    let there = json!({"operation": "now", "timezone": KIGALI});
    check_table(
        "datetime",
        &[
            (now.clone(), "/iso", json!("2026-11-22T14:30:00.250Z")),
            (now.clone(), "/formatted", json!("2026-11-22 14:30:00")),
            (now.clone(), "/timestamp", json!(1_795_357_800_250_i64)),
            (now.clone(), "/timezone", json!("UTC")),
            (now.clone(), "/offset", json!("+00:00")),
            (now, "/weekday", json!("Sunday")),
            (there.clone(), "/iso", json!("2026-11-22T14:30:00.250Z")),
            (there.clone(), "/formatted", json!("2026-11-22 16:30:00")),
            (there.clone(), "/local", json!("2026-11-22T16:30:00.25+02:00")),
            (there, "/timezone", json!(KIGALI)),
            (json!({"operation": "now", "timezone": "+2"}), "/timezone", json!("+02:00")),
            (json!({"operation": "now", "timezone": null}), "/timezone", json!("UTC")),
            (json!({"operation": "now", "timezone": "-05:30"}), "/formatted", json!("2026-11-22 09:00:00")),
            (json!({"operation": "now", "timezone": "america/new_york"}), "/timezone", json!(NEW_YORK)),
            (json!({"operation": "now", "now": "2025-01-01T00:00:00Z"}), "/timestamp", json!(1_735_689_600_000_i64)),
            (json!({"operation": "now", "now": "1735689600"}), "/iso", json!("2025-01-01T00:00:00.000Z")),
        ],
    );
}

#[test]
fn new_york_is_five_hours_behind_in_winter() {
    let there = json!({"operation": "now", "timezone": NEW_YORK});
    check_table(
        "datetime",
        &[
            (there, "/local", json!("2026-11-22T09:30:00.25-05:00")),
            (parse("2026-11-22 10:30", NEW_YORK), "/iso", json!("2026-11-22T15:30:00.000Z")),
            (parse("2026-11-22T10:30:00-05:00[America/New_York]", "UTC"), "/iso", json!("2026-11-22T15:30:00.000Z")),
        ],
    );
}

/// The same calls in a process whose machine has a file that puts New York nine hours ahead.
#[test]
fn zone_files_of_the_machine_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let header = |version: u8| {
        let counts: [u32; 6] = [0, 0, 0, 0, 1, 4];
        [b"TZif".as_slice(), &[version], &[0; 15], counts.map(u32::to_be_bytes).as_flattened()].concat()
    };
    let nine_hours = [32_400_i32.to_be_bytes().as_slice(), &[0, 0], b"ABC\0"].concat();
    let file = [header(b'2'), nine_hours.clone(), header(b'2'), nine_hours, b"\nABC-9\n".to_vec()].concat();
    std::fs::create_dir(folder.path().join("America")).unwrap();
    std::fs::write(folder.path().join(NEW_YORK), file).unwrap();
    let (_, module) = module_path!().split_once("::").unwrap();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{module}::new_york_is_five_hours_behind_in_winter")])
        .env("TZDIR", folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && told.contains("1 passed"), "{told}");
}

#[test]
fn dates_are_read_as_people_and_programs_write_them() {
    let midnight = json!("2026-11-22T00:00:00.000Z");
    let afternoon = json!("2026-11-22T15:30:00.000Z");
    let cases = [
        ("2026-11-22", &midnight),
        ("20261122", &midnight),
        ("2026/11/22", &midnight),
        ("22/11/2026", &midnight),
        ("11/22/2026", &midnight),
        ("22.11.2026", &midnight),
        ("22-11-2026", &midnight),
        ("22 Nov 2026", &midnight),
        ("22 november 2026", &midnight),
        ("22nd of November 2026", &midnight),
        ("November 22, 2026", &midnight),
        ("Nov. 22nd, 2026", &midnight),
        ("NOV 22 2026", &midnight),
        ("Sunday, November 22, 2026", &midnight),
        ("Sun 22 Nov 2026", &midnight),
        ("22-Nov-2026", &midnight),
        ("  2026-11-22  ", &midnight),
        ("2026-11-22T15:30:00Z", &afternoon),
        ("2026-11-22T15:30Z", &afternoon),
        ("2026-11-22T15:30:00", &afternoon),
        ("2026-11-22 15:30", &afternoon),
        ("2026-11-22T17:30:00+02:00", &afternoon),
        ("2026-11-22T17:30:00+02:00[Africa/Kigali]", &afternoon),
        ("2026-11-22T10:30:00.000-05:00", &afternoon),
        ("Sun, 22 Nov 2026 15:30:00 +0000", &afternoon),
        ("Sun, 22 Nov 2026 10:30:00 -0500", &afternoon),
        ("22 Nov 2026 15:30", &afternoon),
        ("22 Nov 2026 3:30 PM", &afternoon),
        ("22 Nov 2026 at 3:30pm", &afternoon),
        ("November 22, 2026 15:30:00 UTC", &afternoon),
        ("November 22, 2026 17:30 +02:00", &afternoon),
        ("Sun Nov 22 2026 17:30:00 GMT+0200 (Central Africa Time)", &afternoon),
        ("2026-11-22 3:30 PM", &afternoon),
        ("2026-11-22 15:30:00 UTC", &afternoon),
        ("2026-11-22 17:30:00 +0200", &afternoon),
        ("11/22/2026 3:30 PM", &afternoon),
        ("1795361400", &afternoon),
        ("1795361400000", &afternoon),
    ];
    let cases: Vec<(Value, &str, Value)> =
        cases.into_iter().map(|(date, iso)| (parse(date, "UTC"), "/iso", iso.clone())).collect();
    check_table("datetime", &cases);
    check_table(
        "datetime",
        &[
            (parse("29 Feb 2024", "UTC"), "/formatted", json!("2024-02-29 00:00:00")),
            (parse("2026-1-5", "UTC"), "/formatted", json!("2026-01-05 00:00:00")),
            (parse("04/04/2026", "UTC"), "/formatted", json!("2026-04-04 00:00:00")),
            (parse("22 Nov 2026 12 am", "UTC"), "/formatted", json!("2026-11-22 00:00:00")),
            (parse("22 Nov 2026 12 pm", "UTC"), "/formatted", json!("2026-11-22 12:00:00")),
            (parse("999999999", "UTC"), "/iso", json!("2001-09-09T01:46:39.000Z")),
            (parse("May 1 2026", "UTC"), "/weekday", json!("Friday")),
        ],
    );
}

#[test]
fn a_date_without_an_offset_is_read_in_the_zone() {
    check_table(
        "datetime",
        &[
            (parse("2026-11-22", KIGALI), "/iso", json!("2026-11-21T22:00:00.000Z")),
            (parse("2026-07-01 12:00", NEW_YORK), "/iso", json!("2026-07-01T16:00:00.000Z")),
            (parse("2026-12-01 12:00", NEW_YORK), "/iso", json!("2026-12-01T17:00:00.000Z")),
            (parse("2026-12-01T12:00Z", NEW_YORK), "/formatted", json!("2026-12-01 07:00:00")),
            (parse("2026-12-01 12:00", "Asia/Kathmandu"), "/offset", json!("+05:45")),
            (parse("2026-12-01 12:00", NEW_YORK), "/note", Value::Null),
        ],
    );
}

#[test]
fn where_clocks_change_the_answer_says_what_was_taken() {
    // New York: forward on 2026-03-08 at 02:00, back on 2026-11-01 at 02:00.
    let gap = parse("2026-03-08 02:30", NEW_YORK);
    let fold = parse("2026-11-01 01:30", NEW_YORK);
    check_table(
        "datetime",
        &[
            (gap.clone(), "/local", json!("2026-03-08T03:30:00-04:00")),
            (gap.clone(), "/iso", json!("2026-03-08T07:30:00.000Z")),
            (fold.clone(), "/local", json!("2026-11-01T01:30:00-04:00")),
            (fold.clone(), "/iso", json!("2026-11-01T05:30:00.000Z")),
            (parse("2026-11-01T01:30:00-05:00", NEW_YORK), "/iso", json!("2026-11-01T06:30:00.000Z")),
            (parse("2026-11-01T01:30:00-05:00", NEW_YORK), "/note", Value::Null),
        ],
    );
    let note = |args: &Value| call("datetime", args).unwrap()["note"].as_str().unwrap().to_owned();
    assert!(note(&gap).contains("does not exist in America/New_York"), "{}", note(&gap));
    assert!(note(&fold).contains("exists twice") && note(&fold).contains("-04:00"), "{}", note(&fold));
}

#[test]
fn formats_write_every_token() {
    let at = |format: &str| json!({"operation": "format", "date": "2026-03-04T05:06:07.089Z", "format": format, "timezone": NEW_YORK});
    let cases = [
        ("YYYY-MM-DD HH:mm:ss", "2026-03-04 00:06:07"),
        ("YY/M/D H:m:s", "26/3/4 0:6:7"),
        ("dddd, MMMM Do YYYY", "Wednesday, March 4th 2026"),
        ("ddd, DD MMM YYYY", "Wed, 04 Mar 2026"),
        ("h:mm A", "12:06 AM"),
        ("hh:mm a", "12:06 am"),
        ("ss.SSS", "07.089"),
        ("Z", "-05:00"),
        ("ZZ", "-0500"),
        ("z", "EST"),
        ("X", "1772600767"),
        ("x", "1772600767089"),
        ("[Q]Q YYYY", "Q1 2026"),
        ("YYYY-MM-DDTHH:mm:ssZ", "2026-03-04T00:06:07-05:00"),
        ("iso", "2026-03-04T00:06:07-05:00"),
        ("rfc2822", "Wed, 04 Mar 2026 00:06:07 -0500"),
        ("date", "2026-03-04"),
        ("time", "00:06:07"),
        ("[today is] dddd", "today is Wednesday"),
        ("YYYY年M月D日", "2026年3月4日"),
    ];
    let cases: Vec<(Value, &str, Value)> =
        cases.into_iter().map(|(format, text)| (at(format), "/formatted", json!(text))).collect();
    check_table("datetime", &cases);
    let days = [
        ("2026-01-01", "1st"),
        ("2026-01-02", "2nd"),
        ("2026-01-03", "3rd"),
        ("2026-01-11", "11th"),
        ("2026-01-22", "22nd"),
    ];
    let days: Vec<(Value, &str, Value)> = days
        .into_iter()
        .map(|(date, text)| (json!({"operation": "format", "date": date, "format": "Do"}), "/formatted", json!(text)))
        .collect();
    check_table("datetime", &days);
    check_table(
        "datetime",
        &[
            (json!({"operation": "format", "format": "date"}), "/formatted", json!("2026-11-22")),
            (json!({"operation": "format", "date": null, "format": "h A"}), "/formatted", json!("2 PM")),
        ],
    );
}

#[test]
fn an_input_format_says_the_order() {
    let read = |date: &str, format: &str| json!({"operation": "parse", "date": date, "inputFormat": format});
    let day = json!("2026-04-03T00:00:00.000Z");
    check_table(
        "datetime",
        &[
            (read("03/04/2026", "DD/MM/YYYY"), "/iso", day.clone()),
            (read("04/03/2026", "MM/DD/YYYY"), "/iso", day.clone()),
            (read("3.4.26", "D.M.YY"), "/iso", day.clone()),
            (read("3 April 2026", "D MMMM YYYY"), "/iso", day.clone()),
            (read("Fri Apr 3rd 2026", "ddd MMM Do YYYY"), "/iso", day),
            (read("20260403 0530 PM", "YYYYMMDD hhmm A"), "/iso", json!("2026-04-03T17:30:00.000Z")),
            (
                read("2026-04-03T05:30:01.500+02:00", "YYYY-MM-DDTHH:mm:ss.SSSZ"),
                "/iso",
                json!("2026-04-03T03:30:01.500Z"),
            ),
            (read("1775174400", "X"), "/iso", json!("2026-04-03T00:00:00.000Z")),
        ],
    );
    check_refusals(
        "datetime",
        &[
            (read("2026-04-03", "DD/MM/YYYY"), "does not fit inputFormat"),
            (read("31/02/2026", "DD/MM/YYYY"), "no day"),
            (read("03/04/2026 x", "DD/MM/YYYY"), "goes on after inputFormat"),
            (read("03/2026", "MM/YYYY"), "a year, a month and a day"),
            (read("Mon Apr 3rd 2026", "ddd MMM Do YYYY"), "is a Friday"),
            (read("13 PM 03/04/2026", "hh A DD/MM/YYYY"), "between 1 and 12"),
            (read("03/04/2026", "dd/mm/yyyy"), "no token"),
        ],
    );
}

#[test]
fn differences_are_signed_and_know_the_calendar() {
    let between = |date1: &str, date2: &str, unit: &str, zone: &str| json!({"operation": "diff", "date1": date1, "date2": date2, "unit": unit, "timezone": zone});
    let utc = |a: &str, b: &str, unit: &str| between(a, b, unit, "UTC");
    check_table(
        "datetime",
        &[
            (utc("2026-11-22", "2026-11-23", "hour"), "/difference", json!(24)),
            (utc("2026-11-23", "2026-11-22", "hours"), "/difference", json!(-24)),
            (utc("2026-11-22T10:00", "2026-11-22T11:30", "hour"), "/difference", json!(1.5)),
            (utc("2026-11-22T10:00", "2026-11-22T11:30", "minutes"), "/difference", json!(90)),
            (utc("2026-11-22T10:00", "2026-11-22T10:00:01.5", "second"), "/difference", json!(1.5)),
            (utc("2026-11-22T10:00", "2026-11-22T10:00:01.5", "millisecond"), "/difference", json!(1500)),
            (utc("2026-11-22", "2026-12-25", "day"), "/difference", json!(33)),
            (utc("2026-12-25", "2026-11-22", "day"), "/difference", json!(-33)),
            (utc("2024-02-28", "2024-03-01", "days"), "/difference", json!(2)),
            (utc("2026-11-22T12:00", "2026-11-24T06:00", "day"), "/difference", json!(1)),
            (utc("2026-11-22T12:00", "2026-11-24T06:00", "day"), "/remainder/hours", json!(18)),
            (utc("2026-11-22", "2026-12-25", "week"), "/difference", json!(4)),
            (utc("2026-11-22", "2026-12-25", "week"), "/remainder/days", json!(5)),
            (utc("2026-01-31", "2026-02-28", "month"), "/difference", json!(0)),
            (utc("2026-01-15", "2026-04-20", "month"), "/difference", json!(3)),
            (utc("2026-01-15", "2026-04-20", "month"), "/remainder/days", json!(5)),
            (utc("2026-01-15", "2026-09-20", "quarter"), "/difference", json!(2)),
            (utc("2026-01-15", "2026-09-20", "quarter"), "/remainder/months", json!(2)),
            (utc("2000-02-29", "2026-02-28", "year"), "/difference", json!(25)),
            (utc("1990-05-20", "2026-11-22", "years"), "/difference", json!(36)),
            (utc("1990-05-20", "2026-11-22", "year"), "/remainder/months", json!(6)),
            (utc("2026-11-22", "1990-05-20", "year"), "/difference", json!(-36)),
            // The day on which clocks jump forward has 23 hours, and is a day.
            (between("2026-03-08", "2026-03-09", "hour", NEW_YORK), "/difference", json!(23)),
            (between("2026-03-08", "2026-03-09", "day", NEW_YORK), "/difference", json!(1)),
            (between("2026-03-08", "2026-03-09", "day", NEW_YORK), "/milliseconds", json!(82_800_000)),
            (between("2026-11-01", "2026-11-02", "hour", NEW_YORK), "/difference", json!(25)),
            (between("2026-03-08", "2026-03-09", "day", NEW_YORK), "/from", json!("2026-03-08T00:00:00-05:00")),
            (between("2026-03-08", "2026-03-09", "day", NEW_YORK), "/unit", json!("day")),
        ],
    );
}

#[test]
fn moving_follows_the_calendar_and_months_end_where_they_end() {
    let add = |date: &str, amount: Value, unit: &str, zone: &str| json!({"operation": "add", "date": date, "amount": amount, "unit": unit, "timezone": zone});
    let utc = |date: &str, amount: i64, unit: &str| add(date, json!(amount), unit, "UTC");
    check_table(
        "datetime",
        &[
            (utc("2026-01-31", 1, "month"), "/formatted", json!("2026-02-28 00:00:00")),
            (utc("2024-01-31", 1, "month"), "/formatted", json!("2024-02-29 00:00:00")),
            (utc("2024-02-29", 1, "year"), "/formatted", json!("2025-02-28 00:00:00")),
            (utc("2024-02-29", 4, "years"), "/formatted", json!("2028-02-29 00:00:00")),
            (utc("2026-03-31", -1, "month"), "/formatted", json!("2026-02-28 00:00:00")),
            (utc("2026-11-30", 1, "quarter"), "/formatted", json!("2027-02-28 00:00:00")),
            (utc("2026-12-31", 1, "day"), "/formatted", json!("2027-01-01 00:00:00")),
            (utc("2026-11-22", -3, "weeks"), "/formatted", json!("2026-11-01 00:00:00")),
            (utc("2026-11-22", 36, "hours"), "/formatted", json!("2026-11-23 12:00:00")),
            (utc("2026-11-22", -1, "millisecond"), "/iso", json!("2026-11-21T23:59:59.999Z")),
            (utc("2026-11-22", 0, "month"), "/formatted", json!("2026-11-22 00:00:00")),
            (add("2026-11-22", json!(1.5), "hour", "UTC"), "/formatted", json!("2026-11-22 01:30:00")),
            (add("2026-11-22", json!(0.1), "second", "UTC"), "/iso", json!("2026-11-22T00:00:00.100Z")),
            (add("2026-11-22", json!(2.0), "day", "UTC"), "/formatted", json!("2026-11-24 00:00:00")),
            // A day later is the same time on the wall; 24 hours later is not.
            (add("2026-03-07 12:00", json!(1), "day", NEW_YORK), "/local", json!("2026-03-08T12:00:00-04:00")),
            (add("2026-03-07 12:00", json!(24), "hour", NEW_YORK), "/local", json!("2026-03-08T13:00:00-04:00")),
            (add("2026-03-07 02:30", json!(1), "day", NEW_YORK), "/local", json!("2026-03-08T03:30:00-04:00")),
            (add("2026-10-31 01:30", json!(1), "day", NEW_YORK), "/local", json!("2026-11-01T01:30:00-04:00")),
            (add("2026-11-22", json!(1), "day", "UTC"), "/original", json!("2026-11-22T00:00:00+00:00")),
            (add("2026-11-22", json!(1), "day", "UTC"), "/result", json!("2026-11-23T00:00:00+00:00")),
            (json!({"operation": "add", "amount": 1, "unit": "day"}), "/iso", json!("2026-11-23T14:30:00.250Z")),
        ],
    );
}

#[test]
fn what_is_no_date_or_may_be_two_is_refused() {
    let cases = [
        ("", "is empty"),
        ("03/04/2026", "day and month or month and day"),
        ("3-4-2026", "day and month or month and day"),
        ("03.04.2026 10:00", "day and month or month and day"),
        ("03/04/26", "no year of four digits"),
        ("31/02/2026", "no day"),
        ("2026-02-30", "no day"),
        ("2026-13-01", "no day"),
        ("29 Feb 2026", "no day"),
        ("13/13/2026", "no day"),
        ("Monday, 22 Nov 2026", "is a Sunday"),
        ("22 Nov", "has no year"),
        ("22 Nov 2026 (Monday)", "in parentheses"),
        ("Nov 22 2026 10:00:00 GMT+0200 (Mon)", "in parentheses"),
        ("22 Nov 2026 (3:30 PM)", "in parentheses"),
        ("22 Nov 2026 at 3:30 PM (America/New_York)", "in parentheses"),
        ("November 2026", "is no date"),
        ("tomorrow", "use operation now or add"),
        ("next friday", "is no date"),
        ("hello", "is no date"),
        ("12345", "is no date"),
        ("12345678901", "is no date"),
        ("2026-11", "is no date"),
        ("2026-W47-7", "is no date"),
        ("2026-13-1", "no day"),
        ("20261399", "no day"),
        ("2026-11-22T25:00:00Z", "is no date"),
        ("2026-11-22 14:61", "is no date"),
        ("22 Nov 2026 13pm", "is no date"),
        ("22 Nov 2026 noonish", "is no date"),
        ("99999-01-01", "is no date"),
        ("2026-11-22T10:00:00+99:00", "is no date"),
        ("2026-11-22T17:30:00+05:00[Africa/Kigali]", "is no date"),
    ];
    let mut cases: Vec<(Value, &str)> = cases.into_iter().map(|(date, words)| (parse(date, "UTC"), words)).collect();
    let with = |members: Value| {
        let mut args = json!({"operation": "add", "date": "2026-11-22", "amount": 1, "unit": "day"});
        args.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        args
    };
    cases.extend([
        (json!({"operation": "parse"}), "argument date is missing"),
        (json!({"operation": "diff", "date1": "2026-11-22", "unit": "day"}), "argument date2 is missing"),
        (json!({"operation": "diff", "date1": "2026-11-22", "date2": "2026-11-23"}), "argument unit is missing"),
        (json!({"operation": "add", "unit": "day"}), "argument amount is missing"),
        (json!({"operation": "now", "timezone": "Mars/Base"}), "no time zone"),
        (json!({"operation": "now", "timezone": "../../etc/passwd"}), "no time zone"),
        (json!({"operation": "now", "timezone": "+25:00"}), "no time zone"),
        (json!({"operation": "now", "format": "yyyy-MM-dd"}), "no token"),
        (json!({"operation": "now", "format": "%Y-%m-%d"}), "no token"),
        (json!({"operation": "now", "format": "[open"}), "without a ]"),
        (json!({"operation": "now", "format": "x".repeat(201)}), "between 1 and 200"),
        (json!({"operation": "now", "format": ""}), "between 1 and 200"),
        (json!({"operation": "now", "now": "later"}), "now: "),
        (with(json!({"amount": 1.5})), "must be whole"),
        (with(json!({"amount": 0.0001, "unit": "second"})), "no whole number of milliseconds"),
        (with(json!({"amount": 1e9, "unit": "year"})), "out of range"),
        (with(json!({"amount": 1e300, "unit": "hour"})), "out of range"),
        (with(json!({"amount": -9_000_000_000_000_000_000_i64, "unit": "month"})), "out of range"),
        (with(json!({"date": "9999-12-31", "unit": "month"})), "out of range"),
        (parse(&"1".repeat(101), "UTC"), "up to 100 characters"),
    ]);
    check_refusals("datetime", &cases);
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(seconds in -60_000_000_000_i64..250_000_000_000) {
        let first = call("datetime", &json!({"operation": "parse", "date": seconds.to_string(), "inputFormat": "X"})).unwrap();
        for member in ["iso", "local"] {
            let again = call("datetime", &json!({"operation": "parse", "date": first[member], "timezone": KIGALI})).unwrap();
            prop_assert_eq!(&again["timestamp"], &json!(seconds * 1000));
        }
    }

    #[test]
    fn exact_units_come_back(amount in -1_000_000_i64..1_000_000, start in 0_i64..4_000_000_000) {
        let at = |date: &Value, amount: i64| {
            let args = json!({"operation": "add", "date": date, "amount": amount, "unit": "minute", "timezone": NEW_YORK});
            call("datetime", &args).unwrap()
        };
        let date = json!(format!("{:010}", start));
        let there = at(&date, amount);
        prop_assert_eq!(&at(&there["iso"], -amount)["timestamp"], &json!(start * 1000));
        let args = json!({"operation": "diff", "date1": date, "date2": there["iso"], "unit": "minute"});
        prop_assert_eq!(&call("datetime", &args).unwrap()["difference"], &json!(amount));
    }

    #[test]
    fn any_text_is_a_date_or_refused(text in "[-0-9A-Za-z:+./, \\[\\]]{0,40}", format in "[YMDHhmsAaZzXxdoQ \\[\\]:/-]{0,20}") {
        for args in [
            json!({"operation": "parse", "date": &text, "timezone": NEW_YORK}),
            json!({"operation": "parse", "date": &text, "inputFormat": &format}),
            json!({"operation": "format", "format": &format, "timezone": &text}),
        ] {
            if let Ok(data) = call("datetime", &args) {
                prop_assert!(data["timestamp"].is_i64());
            }
        }
    }
}
