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
    assert_eq!(faults(&events, &with(&head, "seq", json!(1))), 1, "a head that nobody signed");
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
