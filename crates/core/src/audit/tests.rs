use super::*;

fn chain(n: i64) -> (AuditKey, Vec<ChainedEvent>) {
    let key = AuditKey::new([7; 32]);
    let mut prev = GENESIS.to_owned();
    let links = (1..=n)
        .map(|seq| {
            let event = AuditEvent::by_executor("task.review", format!("task:{seq}"), json!({"n": seq}));
            let link = key.chain(seq, Timestamp::from_millis(seq), event, &prev);
            prev.clone_from(&link.hash);
            link
        })
        .collect();
    (key, links)
}

fn verify(key: AuditKey, links: &[ChainedEvent], head: &ChainedEvent) -> usize {
    let mut verifier = ChainVerifier::new(key);
    links.iter().for_each(|link| verifier.push(link));
    verifier.finish(Some((head.seq, head.hash.clone()))).1.len()
}

#[test]
fn numbers_at_the_end_of_their_range_are_faults() {
    for seq in [i64::MIN, i64::MAX] {
        for at in 0..3 {
            let (key, mut links) = chain(3);
            links[at].seq = seq;
            let events: Vec<_> = links.into_iter().map(|value| Exported { value, is_as_written: true }).collect();
            let report = check_export(key, TenantId::DEFAULT, &events, None);
            assert!(report.faults.iter().any(|fault| fault.seq == seq), "{seq} at {at}: {:?}", report.faults);
        }
    }
}

#[test]
fn an_untouched_chain_is_whole() {
    let (key, links) = chain(5);
    assert_eq!(verify(key, &links, &links[4]), 0);
}

#[test]
fn what_is_chained_holds_no_secret_and_is_whole() {
    let key = AuditKey::new([7; 32]);
    let detail = json!({"reason": "asked by bob@example.com", "names": ["a"], "inputHash": "00ff", "token": "abc"});
    let event = AuditEvent::by_executor("tenant.sudo", "tenant:1", detail);
    let link = key.chain(1, Timestamp::from_millis(1), event, GENESIS);
    let left = json!({"reason": "asked by [redacted:email]", "names": ["a"], "inputHash": "00ff",
        "token": "[redacted:token]"});
    assert_eq!(link.event.detail, left);
    assert_eq!(verify(key, std::slice::from_ref(&link), &link), 0);
}

#[test]
fn a_head_is_signed_for_one_tenant_and_place() {
    let (key, links) = chain(3);
    let tenant = TenantId::DEFAULT;
    let head = key.sign_head(tenant, (3, links[2].hash.clone()), Timestamp::from_millis(5));
    assert!(key.has_signed(&head));
    let other = TenantId::from_uuid(uuid::Uuid::from_u128(7));
    for forged in [
        AuditHead { tenant_id: other, ..head.clone() },
        AuditHead { seq: 2, ..head.clone() },
        AuditHead { hash: links[1].hash.clone(), ..head.clone() },
        AuditHead { at: Timestamp::from_millis(6), ..head.clone() },
        AuditHead { signature: String::new(), ..head.clone() },
    ] {
        assert!(!key.has_signed(&forged), "{forged:?}");
    }
    assert!(!AuditKey::new([9; 32]).has_signed(&head));
}

#[test]
fn what_no_hash_covers_is_found_in_an_export() {
    let (key, links) = chain(2);
    let tenant = TenantId::DEFAULT;
    let head = key.sign_head(tenant, (2, links[1].hash.clone()), Timestamp::from_millis(5));
    let faults = |events: &[Value], head: &Value| {
        let events: Vec<Exported<ChainedEvent>> = serde_json::from_value(json!(events)).unwrap();
        let head: Exported<AuditHead> = serde_json::from_value(head.clone()).unwrap();
        check_export(key, tenant, &events, Some(&head)).faults.len()
    };
    let (events, head) = (links.iter().map(|link| json!(link)).collect::<Vec<_>>(), json!(head));
    assert_eq!(faults(&events, &head), 0);
    let with = |value: &Value, name: &str, member: Value| {
        let mut changed = value.clone();
        changed[name] = member;
        changed
    };
    for changed in [
        with(&events[0], "note", json!("approved by the board")),
        with(&events[0], "unreadable", json!("it was spoilt")),
        with(&events[0], "unreadable", Value::Null),
        with(&events[0], "at", json!("1970-01-01T00:00:00.001000001Z")),
    ] {
        assert_eq!(faults(&[changed.clone(), events[1].clone()], &head), 1, "{changed}");
    }
    assert_eq!(faults(&events, &with(&head, "note", json!("x"))), 1);
    let capitals = head["signature"].as_str().unwrap().to_uppercase();
    assert_eq!(faults(&events, &with(&head, "signature", json!(capitals))), 1, "another writing of the same number");
    assert_eq!(faults(&events, &with(&head, "seq", json!(1))), 1, "a head that nobody signed");
}

#[test]
fn a_number_that_the_form_writes_as_another_is_found() {
    let key = AuditKey::new([7; 32]);
    let detail = json!({"count": 1, "share": 0.5, "none": 0, "micro": 1e-7, "most": u64::MAX, "sums": [1e22]});
    let link = key.chain(1, Timestamp::from_millis(1), AuditEvent::by_executor("a.b", "task:1", detail), GENESIS);
    assert_eq!(verify(key, std::slice::from_ref(&link), &link), 0, "{link:?}");
    for (name, other) in
        [("count", json!(1.0)), ("none", json!(-0.0)), ("most", json!(u64::MAX - 1)), ("sums", json!([1e22, 3]))]
    {
        let mut edited = link.clone();
        edited.event.detail[name] = other;
        assert_eq!(verify(key, std::slice::from_ref(&edited), &link), 1, "{name}: {}", edited.event.detail);
    }
}

/// What a reader finds between the lines of an export, page by page.
fn read(lines: &[String], page: usize) -> std::result::Result<(Vec<usize>, ExportEnds), String> {
    let mut reader = ExportReader::new(page);
    let mut pages = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let events = reader.line(line, n + 1 == lines.len())?;
        pages.extend((!events.is_empty()).then_some(events.len()));
    }
    Ok((pages, reader.finish()?))
}

/// The lines of an export of so many events, and its head.
fn exported(n: i64) -> Vec<String> {
    let (key, links) = chain(n);
    let hash = links.last().map_or(GENESIS, |last| &last.hash).to_owned();
    let head = key.sign_head(TenantId::DEFAULT, (n, hash), Timestamp::from_millis(5));
    links.iter().map(|link| json!(link).to_string()).chain([json!(head).to_string()]).collect()
}

#[test]
fn an_export_is_read_in_pages_and_its_ends_are_told() {
    let lines = exported(5);
    let (pages, ends) = read(&lines, 2).unwrap();
    assert_eq!((pages, ends.from, ends.head["seq"].as_i64()), (vec![2, 2, 1], 1, Some(5)));
    assert_eq!(ends.faults, []);
    let gap = [&lines[..2], &lines[3..]].concat();
    assert_eq!(read(&gap, 2).unwrap().1.faults.len(), 1, "between two pages nobody else looks");
    let cut = read(&lines[..5], 2).unwrap_err();
    assert!(cut.contains("cut off"), "{cut}");
    let long = lines.iter().map(|line| line.replace("task.review", &"x".repeat(600_000))).collect::<Vec<_>>();
    assert_eq!(read(&long, 200).unwrap().0, [2, 2, 1], "a page has its limit in bytes too");
}

#[test]
fn a_head_without_its_events_is_no_whole_export() {
    let lines = exported(5);
    let ends = read(&lines[5..], 200).unwrap().1;
    assert_eq!((ends.from, ends.faults.len()), (1, 1), "{:?}", ends.faults);
}

#[test]
fn nothing_follows_the_greatest_number() {
    let event = |seq: i64, prev: &str| json!({"seq": seq, "prevHash": prev, "hash": "b"}).to_string();
    let head = json!({"seq": i64::MAX, "hash": "b", "signature": ""}).to_string();
    for next in [event(i64::MAX, "b"), event(1, "b")] {
        let ends = read(&[event(i64::MAX, "a"), next, head.clone()], 1).unwrap().1;
        assert!(ends.faults.iter().any(|fault| fault.problem.contains("does not follow")), "{:?}", ends.faults);
    }
    assert!(read(&[event(i64::MIN, "a"), head], 1).is_err());
}

#[test]
fn an_edited_event_is_found() {
    let (key, mut links) = chain(5);
    let head = links[4].clone();
    links[2].event.detail = json!({"n": 99});
    assert!(verify(key, &links, &head) > 0);
}

#[test]
fn a_removed_a_swapped_and_a_cut_event_are_found() {
    let (key, links) = chain(5);
    let mut removed = links.clone();
    removed.remove(1);
    assert!(verify(key, &removed, &links[4]) > 0);
    let mut swapped = links.clone();
    swapped.swap(1, 2);
    assert!(verify(key, &swapped, &links[4]) > 0);
    assert!(verify(key, &links[..4], &links[4]) > 0);
}
