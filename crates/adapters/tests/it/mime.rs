//! Mail taken apart, over the samples.

use bytes::Bytes;
use kybern_adapters::documents::Reader;
use kybern_adapters::mail::parse::Mime;
use kybern_core::mail::ParsedMail;
use kybern_core::ports::DocumentReader;
use serde_json::Value;

use super::documents::{TENANT, json, samples};

/// All sample mails by name.
pub(crate) fn mails() -> Vec<(String, ParsedMail)> {
    let mut names: Vec<_> =
        std::fs::read_dir(samples().join("mail")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
        .into_iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let mail = Mime.parse(&std::fs::read(path).unwrap()).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            (name, mail)
        })
        .collect()
}

#[test]
fn every_sample_has_its_attachments() {
    let expected: [&[&str]; 24] = [
        &["Auto-Liability-Dec-2025.pdf", "Cargo-Dec-2025.pdf"],
        &["coverage-record.pdf"],
        &["Policy and Vehicle Schedule.pdf"],
        &["coverage-summary.pdf"],
        &["schedule-of-insurance.docx"],
        &["submission-letter.pdf", "vehicles.csv"],
        &[],
        &["Pecan Shoals vehicles.xlsx"],
        &["carrier-requirements.pdf"],
        &["loss-run-NRC-AL-204417-02.pdf"],
        &["spring-flyer.pdf"],
        &["list.csv"],
        &["Auto-Liability-Dec-2025.pdf", "Cargo-Dec-2025.pdf"],
        &["dec-page-scan.pdf"],
        &["dec-page-locked.pdf"],
        &["dec-page-part1.pdf", "vehicles.csv"],
        &["IMG_0417.heic", "documents.zip/00017.dat"],
        &["driver-application-A-2207.pdf"],
        &["rate-confirmation-BC-448120.pdf"],
        &["POD-61-20933.pdf"],
        &["cab-card.pdf"],
        &["annual-inspection.pdf"],
        &["BOL-SF-30218.pdf"],
        &["auto-liability.txt", "cargo.html"],
    ];
    let mails = mails();
    assert_eq!(mails.len(), expected.len());
    for ((name, mail), expected) in mails.iter().zip(expected) {
        let found: Vec<&str> =
            mail.parts.iter().filter(|part| !part.inline).map(|part| part.filename.as_str()).collect();
        assert_eq!(found, expected, "{name}");
        assert!(mail.message_id.as_deref().is_some_and(|id| !id.contains(['<', '>'])), "{name}");
        assert!(mail.from.address.contains('@') && !mail.to.is_empty() && mail.date.is_some(), "{name}");
        assert!(!mail.text.contains('\r'), "{name}");
    }
}

#[test]
fn samples_are_special_in_their_own_way() {
    let mails = mails();
    let mail = |number: &str| &mails.iter().find(|(name, _)| name.starts_with(number)).unwrap().1;
    assert!(mail("02").parts.iter().any(|part| part.inline && part.filename == "logo.png"));
    assert!(mail("03").from_html && mail("03").text.contains("- Fleet: 46 power units"));
    assert_eq!(mail("04").parts[0].depth, 1);
    assert!(mail("04").text.contains("Subject: Our current coverage"));
    assert!(mail("05").text.contains("“Côte Blanche Carriers” –"));
    assert_eq!(mail("01").message_id, mail("13").message_id);
    assert!(mail("20").text.is_empty());
    assert!(mail("22").text.contains("北ライン運輸"));
}

#[tokio::test]
async fn what_must_be_found_is_in_the_text() {
    let expected = json("expected.json");
    let reader = Reader::new();
    for sample in expected["samples"].as_array().unwrap() {
        let file = sample["file"].as_str().unwrap();
        if !file.starts_with("mail/") {
            continue;
        }
        let mail = Mime.parse(&std::fs::read(samples().join(file)).unwrap()).unwrap();
        let mut text = format!("{}\n{}", mail.subject, mail.text);
        for part in mail.parts.into_iter().filter(|part| !part.inline) {
            let unreadable = sample["waitNames"].as_array().into_iter().flatten().any(|name| *name == *part.filename);
            match reader.read(TENANT, &part.filename, &part.content_type, Bytes::clone(&part.bytes)).await {
                Ok(_) if unreadable => panic!("{file}: {} must not be readable", part.filename),
                Ok(document) => text.push_str(&document.full_text()),
                Err(_) if unreadable => {}
                Err(fault) => panic!("{file}: {}: {fault}", part.filename),
            }
        }
        // Words may be broken over lines, and numbers written with signs in between.
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let values = [&sample["entity"]["name"], &sample["entity"]["dotNumber"], &sample["entity"]["mcNumber"]]
            .into_iter()
            .chain(sample["insurers"].as_array().into_iter().flatten())
            .chain(sample["policies"].as_array().into_iter().flatten().map(|policy| &policy["policyNumber"]))
            .chain(sample["vins"].as_array().into_iter().flatten().map(|vin| &vin["vin"]))
            .filter_map(Value::as_str);
        for value in values {
            assert!(words.contains(&value.to_lowercase()), "{file}: {value} is not in the text");
        }
    }
}

#[test]
fn damaged_mail_never_panics() {
    for (name, _) in mails() {
        let raw = std::fs::read(samples().join("mail").join(&name)).unwrap();
        for round in 0..10usize {
            let mut damaged = raw.clone();
            let at = raw.len() * round / 10;
            damaged.drain(at..(at + 97).min(raw.len()));
            damaged.truncate(raw.len() - raw.len() * round / 40);
            // Any outcome is right; the parser turns panics of the library into this one.
            if let Err(fault) = Mime.parse(&damaged) {
                assert!(!fault.to_string().contains("structure"), "{name} round {round}");
            }
        }
    }
}
