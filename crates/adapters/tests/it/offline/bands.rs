//! Rows of a certificate that take several lines.

use serde_json::{Value, json};

use super::rental::{dollars, plain, values};

const CERTIFICATE: &str = "\
LESSORS                                     CODE
LESSOR A:  Larch Leasing Company            11111
LESSOR B:  Rowan Leasing Company            22222

LTR  WHAT IS LET  NUMBER  FROM  UNTIL  AMOUNTS
     FULL SERVICE                                                                     ANNUAL FEE      $ 1,000
     [ ] BY DAY      [X] BY YEAR       LX 26                                          DEPOSIT           $ 300
B    with a driver                     4401 77       05/01/2025    05/01/2026         DEPOSIT           $ 200
     [X] WASHED
     NIGHT SERVICE                                                                    ANNUAL FEE      $ 2,000
A    [X] BY HOUR                       LXN/          06/01/2025    06/01/2026
     with a lamp                       44-02
     NIGHT SERVICE                                                                    ANNUAL FEE      $ 9,000
     WITHOUT A LAMP
";

#[tokio::test]
async fn a_row_takes_what_stands_on_all_of_its_lines() {
    assert_eq!(values(CERTIFICATE, "number").await, [(Some(0), json!("LX 26 4401 77")), (Some(1), json!("LXN/44-02"))]);
    let term = |start: &str, end: &str| json!({"start": start, "end": end});
    assert_eq!(plain(CERTIFICATE, "term").await, [term("2025-05-01", "2026-05-01"), term("2025-06-01", "2026-06-01")]);
    assert_eq!(
        values(CERTIFICATE, "kind").await,
        [(Some(0), json!("Full Service")), (Some(1), json!("Night Service"))]
    );
    assert_eq!(values(CERTIFICATE, "fee").await, [(Some(0), dollars(1000)), (Some(1), dollars(2000))]);
    assert_eq!(values(CERTIFICATE, "deposit").await, [(Some(0), dollars(300)), (Some(0), dollars(200))]);
}

#[tokio::test]
async fn each_row_has_the_name_of_its_letter() {
    let mut lessors = values(CERTIFICATE, "lessor").await;
    lessors.sort_by_key(|(item, _)| *item);
    assert_eq!(lessors, [(Some(0), json!("Rowan Leasing Company")), (Some(1), json!("Larch Leasing Company"))]);
}

#[tokio::test]
async fn dates_that_are_no_whole_term_make_no_row() {
    for dates in ["05/01/2025    05/09/2025", "05/01/2025    04/01/2024", "05/01/2025    09/17/2025"] {
        let text = format!("Full Service\nA    by hour       LX-4402          {dates}");
        assert_eq!(plain(&text, "number").await, Vec::<Value>::new(), "{dates}");
    }
    let alone = "Ada Example       LX-4402          05/01/2025    05/01/2026";
    assert_eq!(plain(alone, "number").await, Vec::<Value>::new());
}
