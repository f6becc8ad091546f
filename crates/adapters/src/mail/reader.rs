//! Mail behind [`MailParser`]: taken apart on slots like those where documents are read, because strangers write it, but
//! not on the same: papers that keep their readers busy keep no mail outside.

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::id::TenantId;
use kybern_core::mail::{MailFault, ParsedMail};
use kybern_core::ports::MailParser;

use super::parse::Mime;
use crate::documents::{Reader, TIME_LIMIT};

#[async_trait]
impl MailParser for Reader {
    async fn parse(&self, tenant: TenantId, raw: Bytes) -> Result<ParsedMail, MailFault> {
        self.mail.run(tenant, TIME_LIMIT, move |stop| Mime.parse_until(&raw, stop)).await?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError, mpsc};

    use futures::future::join_all;
    use uuid::Uuid;

    use super::*;
    use crate::workers::StopFlag;

    #[tokio::test]
    async fn a_message_waits_for_a_slot_to_be_taken_apart() {
        let raw = Bytes::from_static(b"Subject: x\r\nContent-Type: text/html\r\n\r\n<p>text");
        let (reader, tenant) = (Reader::new(), TenantId::from_uuid(Uuid::nil()));
        let (go_on, told) = mpsc::channel::<()>();
        let told = Arc::new(Mutex::new(told));
        // More than there are slots; see `Workers::new`.
        let many = 2 * std::thread::available_parallelism().map_or(2, usize::from) + 4;
        let mut others = join_all((0..many).map(|_| {
            let told = Arc::clone(&told);
            let wait = move |_: &StopFlag| told.lock().unwrap_or_else(PoisonError::into_inner).recv().is_err();
            reader.mail.run(tenant, TIME_LIMIT, wait)
        }));
        assert!(futures::poll!(&mut others).is_pending());
        let mut asked = reader.parse(tenant, raw.clone());
        assert!(futures::poll!(&mut asked).is_pending(), "it was taken apart where it was asked for");
        drop(go_on);
        assert!(others.await.iter().all(|waited| *waited == Ok(true)));
        assert_eq!(asked.await, Mime.parse(&raw));
    }

    #[test]
    fn nobody_reads_on_when_nobody_waits() {
        let raw = b"Subject: x\r\nContent-Type: text/html\r\n\r\n<p>text";
        assert!(matches!(Mime.parse_until(raw, &StopFlag::set()), Err(MailFault::TooLarge(_))));
    }
}
