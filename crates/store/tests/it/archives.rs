//! Backups: whole, of one moment, and restorable into either database.

use std::io::{Cursor, Read as _, Write as _};
use std::sync::Arc;

use bytes::Bytes;
use kybern_core::agent::{AgentDraft, OwnAgent};
use kybern_core::audit::ChainVerifier;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{
    AgentId, JobId, KeyId, LessonId, OutboxId, OwnToolId, PromptId, RecordId, TaskId, TenantId, UserId,
};
use kybern_core::identity::{ApiKey, Tenant, User};
use kybern_core::job::NewJob;
use kybern_core::lesson::{Lesson, LessonAct, LessonChange, LessonSource, Teaching};
use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::outbox::{NewOutbox, OutboxChannel};
use kybern_core::ports::{Clock, IdSource as _, Keys, Store};
use kybern_core::preference::Preferences;
use kybern_core::prompt::{NewPrompt, PromptAct, PromptChange, PromptFilter};
use kybern_core::record::{Expect, Lookup, Merge, PutRecord};
use kybern_core::secret::{SealedSecret, Secret};
use kybern_core::task::{Commit, Effect};
use kybern_core::tenant::TenantScope;
use kybern_core::tool::own::{NewOwnTool, OwnToolFilter};
use kybern_store::{Manifest, SqliteOptions, SqliteStore, StoreError, manifest, verify};
use kybern_testkit::{SeededIds, SimClock, TestKeys, actors};
use serde_json::json;
use zip::write::SimpleFileOptions;

use crate::support::{self, Database};
use crate::work;

/// Makes the tenant.
async fn be_there(store: &dyn Store, scope: TenantScope, seed: u64) {
    let ids = work::ids(seed + 1_000);
    let (name, slug) = (format!("tenant {seed}"), format!("tenant-{seed}"));
    let tenant = Tenant { id: scope.tenant(), name, slug, created_at: work::NOW };
    let admin = User {
        id: UserId::from_uuid(ids.next()),
        name: "Ada Park".to_owned(),
        email: "ada@example.com".to_owned(),
        roles: Vec::new(),
        timezone: "UTC".to_owned(),
        created_at: work::NOW,
        made_by_user_id: None,
    };
    let key = ApiKey {
        id: KeyId::from_uuid(ids.next()),
        user_id: admin.id,
        name: "first".to_owned(),
        prefix: "kyb_1234".to_owned(),
        roles: Vec::new(),
        scopes: Vec::new(),
        expires_at: None,
        revoked_at: None,
        created_at: work::NOW,
        made_by_key_id: None,
        made_by_user_id: None,
    };
    let made = work::event(kybern_core::audit::TENANT_CREATED);
    store.create_tenant(&tenant, &admin, &key, &format!("hash {seed}"), made).await.unwrap();
}

/// An agent of the tenant's own, a prompt with its approval, and a user's wishes.
async fn govern(store: &dyn Store, scope: TenantScope, seed: u64, ids: &SeededIds) {
    let user = UserId::from_uuid(work::ids(seed + 1_000).next());
    let draft = AgentDraft::named("Writer", "You write \"well\".").checked().unwrap();
    let (id, key) = (AgentId::from_uuid(ids.next()), draft.key.clone());
    let agent = OwnAgent { id, key, draft: Some(draft), version: 1, created_at: work::NOW, updated_at: work::NOW };
    let new = NewPrompt {
        id: PromptId::from_uuid(ids.next()),
        agent: Some("writer".to_owned()),
        text: "You write.".to_owned(),
        by: user,
        at: work::NOW,
    };
    let events = vec![work::event("agent.put"), work::event("prompt.draft")];
    let mut before = store.put_agent(scope, &agent, Some(&new), events).await.unwrap().unwrap();
    for act in [PromptAct::Submit, PromptAct::approval_of(&before)] {
        let after = before.clone().after(act, user, None, work::NOW).unwrap();
        let change = PromptChange { before, after: after.clone(), retires: None };
        store.change_prompt(scope, &change, work::event("prompt.step")).await.unwrap();
        before = after;
    }
    let definition = serde_json::from_value(json!({
        "key": "crm.ping", "description": "Pings.", "inputSchema": {"type": "object"}, "effect": "read",
        "http": {"method": "GET", "url": "https://crm.example.com/ping"},
    }));
    let new =
        NewOwnTool { id: OwnToolId::from_uuid(ids.next()), definition: definition.unwrap(), by: user, at: work::NOW };
    store.draft_own_tool(scope, &new, work::event("own_tool.draft")).await.unwrap();
    let said = Preferences { custom_instructions: vec!["Use metric units.".to_owned()], ..Preferences::default() };
    store.set_preferences(scope, user, Some(&said), work::NOW, work::event("preferences.set")).await.unwrap();
    let source = LessonSource { task_id: None, step_id: None, by: format!("user:{user}") };
    let teaching = Teaching::TrustedSender { address: "ada@example.com".to_owned() };
    let before = Lesson::suggested(LessonId::from_uuid(ids.next()), teaching, source, work::NOW);
    store.add_lesson(scope, &before, false, work::event("lesson.add")).await.unwrap();
    let after = before.clone().after(LessonAct::Accept, "user:1", 1, work::NOW).unwrap();
    store.change_lesson(scope, &LessonChange { before, after }, work::event("lesson.accept")).await.unwrap();
}

/// One task with something in most tables.
pub(crate) async fn fill(store: &dyn Store, scope: TenantScope, seed: u64) -> TaskId {
    let ids = work::ids(seed);
    be_there(store, scope, seed).await;
    let claimed = work::leased(store, scope, work::task(TaskId::from_uuid(ids.next()))).await;
    let put = PutRecord {
        id: RecordId::from_uuid(ids.next()),
        kind: "test.thing".to_owned(),
        key: "a".to_owned(),
        props: json!({"name": "Überfracht \"GmbH\"\n", "n": 1.5}).as_object().cloned().unwrap(),
        merge: Merge::Fill,
        expect: Expect::Absent,
        lookups: vec![Lookup::unique("DOT", "1")],
    };
    let message = NewOutbox {
        id: OutboxId::from_uuid(ids.next()),
        channel: OutboxChannel::Email,
        target: "a@example.com".to_owned(),
        key: "k".to_owned(),
        body: json!({"subject": "s"}),
    };
    let job = NewJob {
        id: JobId::from_uuid(ids.next()),
        kind: "test".to_owned(),
        payload: json!({}),
        dedupe_key: None,
        max_attempts: 3,
        due_at: work::NOW,
    };
    let usage = Usage { input_tokens: Tokens(7), output_tokens: Tokens(8), cost_nanos: NanoUsd(9) };
    let commit = Commit {
        effects: vec![Effect::Put(Box::new(put)), Effect::Send(Box::new(message)), Effect::Enqueue(Box::new(job))],
        usage,
        audit: vec![work::event("test.done"), work::event("test.done")],
        ..work::rows(&[1, 2])
    };
    store.commit(&claimed.lease, commit.into()).await.unwrap();
    let data_key = TestKeys::new().new_data_key("them").unwrap();
    let secret = Secret {
        name: "crm_token".parse().unwrap(),
        hosts: vec!["api.example.com".parse().unwrap()],
        description: String::new(),
        version: 1,
        created_by: "user:test".to_owned(),
        created_at: work::NOW,
        updated_at: work::NOW,
    };
    let sealed = SealedSecret { secret, sealed: vec![0, 1, 255], data_key };
    assert!(store.put_secret(scope, &sealed, work::event("secret.set")).await.unwrap());
    govern(store, scope, seed, &ids).await;
    store.put_blob(scope, Bytes::from_static(b"original bytes")).await.unwrap();
    claimed.lease.task()
}

/// What a restored store must show.
async fn shows(store: &dyn Store, scope: TenantScope, id: TaskId, old: &dyn Store) {
    assert_eq!(store.task(scope, id).await.unwrap(), old.task(scope, id).await.unwrap());
    assert!(store.task(scope, id).await.unwrap().is_some());
    assert_eq!(store.journal(scope, id, 0, 10).await.unwrap(), old.journal(scope, id, 0, 10).await.unwrap());
    let record = store.record(scope, "test.thing", "a").await.unwrap();
    assert_eq!(record, old.record(scope, "test.thing", "a").await.unwrap());
    assert_eq!(store.records_by_lookup(scope, "test.thing", "DOT", "1").await.unwrap().first(), record.as_ref());
    assert_eq!(
        store.outbox(scope, None, None, 10).await.unwrap().items,
        old.outbox(scope, None, None, 10).await.unwrap().items
    );
    let name = "crm_token".parse().unwrap();
    let secret = store.sealed_secret(scope, &name).await.unwrap();
    assert!(secret.is_some() && secret == old.sealed_secret(scope, &name).await.unwrap());
    let agents = store.agents(scope).await.unwrap();
    assert!(agents.len() == 1 && agents == old.agents(scope).await.unwrap());
    let prompts =
        async |store: &dyn Store| store.prompts(scope, &PromptFilter::default(), None, 10).await.unwrap().items;
    assert!(prompts(store).await[0].approved_by.is_some() && prompts(store).await == prompts(old).await);
    let tools =
        async |store: &dyn Store| store.own_tools(scope, &OwnToolFilter::default(), None, 10).await.unwrap().items;
    assert!(tools(store).await.len() == 1 && tools(store).await == tools(old).await);
    let user = prompts(store).await[0].authors[0];
    let wishes = store.preferences(scope, user).await.unwrap();
    assert!(wishes.updated_at.is_some() && wishes == old.preferences(scope, user).await.unwrap());
    let lessons = store.lessons_in_use(scope).await.unwrap();
    assert!(lessons.version() == 1 && lessons == old.lessons_in_use(scope).await.unwrap());
    let hash = blake3::hash(b"original bytes").to_hex().to_string();
    assert_eq!(store.blob(scope, &hash).await.unwrap().as_deref(), Some(b"original bytes".as_slice()));
    let mut chain = ChainVerifier::new(TestKeys::new().audit_key(scope.tenant()));
    store.audit_events(scope, 0, 100).await.unwrap().iter().for_each(|link| chain.push(link));
    let (length, faults) = chain.finish(store.audit_head(scope).await.unwrap());
    assert_eq!((length, faults), (12, vec![]));
}

fn other() -> TenantScope {
    actors::scope(TenantId::from_uuid(work::ids(99).next()))
}

#[tokio::test]
async fn a_sqlite_archive_restores_into_sqlite() {
    let (old, folder) = support::sqlite(Arc::new(SimClock::new())).await;
    let (first, second) = (fill(&old, work::home(), 11).await, fill(&old, other(), 12).await);
    let file = folder.path().join("backup.kybern");
    let made = old.backup(&file, Some("fingerprint")).await.unwrap();
    assert_eq!(manifest(&file).unwrap(), made);
    assert_eq!(made.key_fingerprint.as_deref(), Some("fingerprint"));
    let attempts = made.entries.iter().find(|entry| entry.name == "tables/attempt.jsonl").unwrap();
    assert!(attempts.columns.iter().any(|column| column == "tool_hash"), "a column of a later migration");
    let (new, _new_folder) = support::sqlite(Arc::new(SimClock::new())).await;
    new.restore(&file).await.unwrap();
    shows(&new, work::home(), first, &old).await;
    shows(&new, other(), second, &old).await;
    // A second archive of the restored store holds the same rows.
    let again = new.backup(folder.path().join("again.kybern"), Some("fingerprint")).await.unwrap();
    assert_eq!(Manifest { created_at: made.created_at, ..again }, made);
}

#[tokio::test]
async fn a_file_in_use_is_backed_up_as_of_one_moment_without_its_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    let (keys, clock): (Arc<dyn Keys>, Arc<dyn Clock>) = (Arc::new(TestKeys::new()), Arc::new(SimClock::new()));
    let back_up = async |name: &str| {
        let archive = folder.path().join(name);
        SqliteStore::back_up_file(&path, archive, Some("fingerprint"), keys.clone(), clock.clone()).await
    };
    assert!(back_up("none.kybern").await.is_err(), "there is no file");
    assert!(!path.exists(), "and none is made");
    let store = SqliteStore::open(&path, SqliteOptions::default(), keys.clone(), clock.clone()).await.unwrap();
    let first = fill(&store, work::home(), 51).await;
    let made = back_up("backup.kybern").await.unwrap();
    let locked = store.backup(folder.path().join("own.kybern"), Some("fingerprint")).await.unwrap();
    assert_eq!(made, locked, "the store itself would write the same");
    let (new, _new_folder) = support::sqlite(Arc::new(SimClock::new())).await;
    new.restore(folder.path().join("backup.kybern")).await.unwrap();
    shows(&new, work::home(), first, &store).await;
    drop(store);
    assert_eq!(back_up("stopped.kybern").await.unwrap(), made, "also when nobody has it");

    let other = rusqlite::Connection::open(&path).unwrap();
    let version: i64 = other.query_row("SELECT max(version) FROM schema_migration", [], |row| row.get(0)).unwrap();
    let count = || -> i64 { other.query_row("SELECT count(*) FROM schema_migration", [], |row| row.get(0)).unwrap() };
    let all = count();
    other.execute("INSERT INTO schema_migration VALUES (9999, 'later', '', 0)", []).unwrap();
    assert!(matches!(back_up("newer.kybern").await.unwrap_err(), StoreError::Newer { found: 9999, .. }));
    other.execute("DELETE FROM schema_migration WHERE version IN (9999, ?1)", [version]).unwrap();
    let refused = back_up("older.kybern").await.unwrap_err();
    assert!(matches!(refused, StoreError::Older { found, known } if found < version && known == version), "{refused}");
    assert_eq!(count(), all - 1, "nothing is migrated");
    assert!(!folder.path().join("older.kybern").exists() && !folder.path().join("older.kybern.part").exists());
}

#[tokio::test]
async fn archives_go_from_one_database_to_the_other_and_back() {
    let Some(server) = support::server() else { return };
    let (sqlite, folder) = support::sqlite(Arc::new(SimClock::new())).await;
    let (first, second) = (fill(&sqlite, work::home(), 21).await, fill(&sqlite, other(), 22).await);
    let file = folder.path().join("from-sqlite.kybern");
    let made = sqlite.backup(&file, None).await.unwrap();
    let database = Database::create(&server).await;
    let postgres = database.store(Arc::new(SimClock::new())).await;
    postgres.restore(&file).await.unwrap();
    shows(&postgres, work::home(), first, &sqlite).await;
    shows(&postgres, other(), second, &sqlite).await;
    let file = folder.path().join("from-postgres.kybern");
    let back = postgres.backup(&file, None).await.unwrap();
    assert_eq!(
        made.entries.iter().map(|entry| (&entry.name, entry.rows)).collect::<Vec<_>>(),
        back.entries.iter().map(|entry| (&entry.name, entry.rows)).collect::<Vec<_>>(),
    );
    let (again, _again_folder) = support::sqlite(Arc::new(SimClock::new())).await;
    again.restore(&file).await.unwrap();
    shows(&again, work::home(), first, &sqlite).await;
    shows(&again, other(), second, &sqlite).await;
}

#[tokio::test]
async fn a_store_that_is_not_empty_is_not_overwritten() {
    let (store, folder) = support::sqlite(Arc::new(SimClock::new())).await;
    fill(&store, work::home(), 31).await;
    let file = folder.path().join("backup.kybern");
    store.backup(&file, None).await.unwrap();
    let refused = store.restore(&file).await.unwrap_err();
    assert_eq!(Error::from(refused).code(), ErrorCode::Conflict);
    assert!(matches!(store.backup(&file, None).await.unwrap_err(), StoreError::Archive(_)));
}

#[tokio::test]
async fn a_damaged_archive_is_refused_and_leaves_the_store_empty() {
    let (store, folder) = support::sqlite(Arc::new(SimClock::new())).await;
    fill(&store, work::home(), 41).await;
    let file = folder.path().join("backup.kybern");
    store.backup(&file, None).await.unwrap();
    let whole = std::fs::read(&file).unwrap();
    let (mut refused, mut tried) = (0, 0);
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x20;
        let copy = folder.path().join(format!("damaged-{at}.kybern"));
        std::fs::write(&copy, &damaged).unwrap();
        let (new, _new_folder) = support::sqlite(Arc::new(SimClock::new())).await;
        tried += 1;
        // A few bytes of the container are never read, such as times; then the restore is whole, not wrong.
        match new.restore(&copy).await {
            Ok(restored) => assert_eq!(restored, manifest(&file).unwrap()),
            Err(_) => {
                refused += 1;
                assert!(is_empty(&new).await, "a damage at byte {at} was refused, and yet something was written");
            }
        }
    }
    assert!(refused * 2 > tried, "of {tried} damages only {refused} were found");
    let (new, _new_folder) = support::sqlite(Arc::new(SimClock::new())).await;
    std::fs::write(folder.path().join("cut.kybern"), &whole[..whole.len() / 2]).unwrap();
    assert!(new.restore(folder.path().join("cut.kybern")).await.is_err());
    new.restore(&file).await.unwrap();
}

/// The end of the central directory's entry of `name`: where its fields are, from its beginning on.
fn listed(archive: &[u8], name: &str) -> usize {
    const NAME: usize = 46;
    let is_it =
        |at: &usize| archive[*at..].starts_with(b"PK\x01\x02") && archive[at + NAME..].starts_with(name.as_bytes());
    (0..archive.len() - NAME).find(is_it).unwrap()
}

#[tokio::test]
async fn an_archive_that_unpacks_to_more_than_it_holds_is_refused() {
    let (store, folder) = support::sqlite(Arc::new(SimClock::new())).await;
    fill(&store, work::home(), 51).await;
    let file = folder.path().join("backup.kybern");
    let made = store.backup(&file, None).await.unwrap();
    let whole = std::fs::read(&file).unwrap();
    let mut zip = zip::ZipArchive::new(Cursor::new(&whole)).unwrap();
    // The same content, compressed; and the manifest naming an entry a second time.
    let packed = |zip: &mut zip::ZipArchive<Cursor<&Vec<u8>>>, method, twice: bool| {
        let mut copy = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for index in 0..zip.len() {
            let mut entry = zip.by_index(index).unwrap();
            let (name, mut bytes) = (entry.name().to_owned(), Vec::new());
            entry.read_to_end(&mut bytes).unwrap();
            if twice && name == "manifest.json" {
                let mut manifest = made.clone();
                manifest.entries.push(manifest.entries[0].clone());
                bytes = serde_json::to_vec(&manifest).unwrap();
            }
            copy.start_file(name, SimpleFileOptions::default().compression_method(method)).unwrap();
            copy.write_all(&bytes).unwrap();
        }
        copy.finish().unwrap().into_inner()
    };
    let compressed = packed(&mut zip, zip::CompressionMethod::Deflated, false);
    let twice = packed(&mut zip, zip::CompressionMethod::Stored, true);
    // Two entries of the directory that lead to one place in the file.
    let mut shared = packed(&mut zip, zip::CompressionMethod::Stored, false);
    let names: Vec<String> = made.entries.iter().map(|entry| entry.name.clone()).collect();
    let (one, other) = (listed(&shared, &names[0]), listed(&shared, &names[1]));
    for at in (16..28).chain(42..46) {
        // Checksum, sizes and place; the lengths of names and extra fields stay.
        shared[other + at] = shared[one + at];
    }
    for (bytes, why) in [(compressed, "is compressed"), (twice, "is listed twice"), (shared, "overlap")] {
        let copy = folder.path().join("given.kybern");
        std::fs::write(&copy, bytes).unwrap();
        let (new, _new_folder) = support::sqlite(Arc::new(SimClock::new())).await;
        for refused in [verify(&copy).await.unwrap_err(), new.restore(&copy).await.unwrap_err()] {
            assert!(refused.to_string().contains(why), "{why}: {refused}");
        }
        assert!(is_empty(&new).await);
    }
}

pub(crate) async fn is_empty(store: &dyn Store) -> bool {
    store.record_kinds(work::home()).await.unwrap().is_empty() && store.count_by_status().await.unwrap().is_empty()
}
