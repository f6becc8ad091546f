//! The files that come with a submission.

use kybern_core::document::limits as documents;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::task::AttachmentSource;

use super::submit::SubmittedFile;

/// Whether a submission's files are inside their limits.
///
/// # Errors
/// `PAYLOAD_TOO_LARGE` naming the file.
pub(super) fn within_limits(parts: &[SubmittedFile]) -> Result<()> {
    // The message itself is kept beside what came with it, and is none of its attachments.
    let attachments = || parts.iter().filter(|part| part.source != AttachmentSource::Original);
    let count = attachments().count();
    if count > documents::MAX_ATTACHMENTS {
        let message = format!("{count} attachments are over the limit of {}", documents::MAX_ATTACHMENTS);
        return Err(Error::new(ErrorCode::PayloadTooLarge, message));
    }
    if let Some(part) = attachments().find(|part| part.bytes.len() > documents::MAX_BYTES) {
        let message = format!("{} is over the limit of {} bytes", part.filename, documents::MAX_BYTES);
        return Err(Error::new(ErrorCode::PayloadTooLarge, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn file(n: usize, source: AttachmentSource) -> SubmittedFile {
        SubmittedFile {
            filename: format!("{n}.pdf"),
            content_type: "application/pdf".to_owned(),
            bytes: Bytes::new(),
            source,
        }
    }

    #[test]
    fn what_is_shown_inside_a_message_may_be_as_large_as_what_is_attached_to_it() {
        let of = |source, size| within_limits(&[SubmittedFile { bytes: vec![0; size].into(), ..file(1, source) }]);
        for source in [AttachmentSource::Attached, AttachmentSource::Inline] {
            of(source, documents::MAX_BYTES).unwrap();
            let refused = of(source, documents::MAX_BYTES + 1).unwrap_err();
            assert_eq!(refused.code(), ErrorCode::PayloadTooLarge, "{source:?}");
            assert!(refused.to_string().contains("1.pdf is over the limit"), "{refused}");
        }
        of(AttachmentSource::Original, documents::MAX_BYTES + 1).unwrap();
    }

    #[test]
    fn a_hundred_attachments_are_taken_whether_they_came_in_a_message_or_alone() {
        let attached = |count: usize| -> Vec<SubmittedFile> {
            let source =
                |n: usize| if n.is_multiple_of(2) { AttachmentSource::Attached } else { AttachmentSource::Inline };
            (0..count).map(|n| file(n, source(n))).collect()
        };
        let with_message = |mut parts: Vec<SubmittedFile>| {
            parts.insert(0, file(0, AttachmentSource::Original));
            parts
        };
        within_limits(&attached(100)).unwrap();
        within_limits(&with_message(attached(100))).unwrap();
        for over in [attached(101), with_message(attached(101))] {
            let refused = within_limits(&over).unwrap_err();
            assert_eq!(refused.code(), ErrorCode::PayloadTooLarge);
            assert!(refused.to_string().contains("101 attachments are over the limit of 100"), "{refused}");
        }
    }
}
