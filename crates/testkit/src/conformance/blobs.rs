//! Original bytes, named by their content.

use bytes::Bytes;

use super::{Harness, World};

pub async fn bytes_come_back_under_their_hash(h: Harness) {
    let (w, home) = World::new(h).await;
    let long: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    for bytes in [Bytes::new(), Bytes::from_static(b"\0\xff\n"), Bytes::from(long)] {
        let hash = w.store().put_blob(home.scope, bytes.clone()).await.unwrap();
        assert_eq!(hash, blake3::hash(&bytes).to_hex().as_str());
        assert_eq!(w.store().put_blob(home.scope, bytes.clone()).await.unwrap(), hash);
        assert_eq!(w.store().blob(home.scope, &hash).await.unwrap(), Some(bytes));
    }
}

pub async fn what_was_not_stored_is_not_found(h: Harness) {
    let (w, home) = World::new(h).await;
    let missing = blake3::hash(b"missing").to_hex().to_string();
    for name in [missing.as_str(), "", "../../etc/passwd", "zz"] {
        assert_eq!(w.store().blob(home.scope, name).await.unwrap(), None);
    }
}

pub async fn parallel_stores_of_the_same_bytes_agree(h: Harness) {
    let (w, home) = World::new(h).await;
    let bytes = Bytes::from(vec![7_u8; 100_000]);
    let puts = (0..10).map(|_| {
        let (store, bytes) = (w.shared(), bytes.clone());
        async move { store.put_blob(home.scope, bytes).await.unwrap() }
    });
    let names = futures::future::join_all(puts).await;
    assert!(names.iter().all(|name| *name == names[0]));
    assert_eq!(w.store().blob(home.scope, &names[0]).await.unwrap(), Some(bytes));
}
