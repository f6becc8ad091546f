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
    use uuid::Uuid;

    use super::*;
    use crate::workers::Stop;

    #[tokio::test]
    async fn a_message_is_taken_apart_beside_the_thread_that_asks() {
        let raw = Bytes::from_static(b"Subject: x\r\nContent-Type: text/html\r\n\r\n<p>text");
        let (reader, tenant) = (Reader::new(), TenantId::from_uuid(Uuid::nil()));
        let mut asked = reader.parse(tenant, raw.clone());
        assert!(futures::poll!(&mut asked).is_pending(), "it was taken apart where it was asked for");
        assert_eq!(asked.await, Mime.parse(&raw));
    }

    #[test]
    fn nobody_reads_on_when_nobody_waits() {
        let raw = b"Subject: x\r\nContent-Type: text/html\r\n\r\n<p>text";
        assert!(matches!(Mime.parse_until(raw, &Stop::set()), Err(MailFault::TooLarge(_))));
    }
}
