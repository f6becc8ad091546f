//! Frames between the server and a child that reads for it: a tag, a length, and so many bytes. Neither side takes more
//! than the other may send, and memory grows only with what has arrived.

use std::io::{self, Read, Write};

/// What a frame carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(in crate::documents) enum Tag {
    /// To the child: what to do, as JSON.
    Order = 1,
    /// To the child: the document.
    Document,
    /// From the child a picture to read by OCR; to the child what it says, as JSON.
    Words,
    /// From the child, and to one that unpacks: a picture in JPEG 2000.
    Jpeg2000,
    /// The same in JBIG2.
    Jbig2,
    /// A picture that was unpacked; empty when it could not be.
    Unpacked,
    /// From the child: its answer, as JSON.
    Answer,
    /// From the child: a page, as PNG.
    Drawn,
}

impl Tag {
    const ALL: [Self; 8] = [
        Self::Order,
        Self::Document,
        Self::Words,
        Self::Jpeg2000,
        Self::Jbig2,
        Self::Unpacked,
        Self::Answer,
        Self::Drawn,
    ];
}

/// What was received.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Frame {
    pub(super) tag: Tag,
    pub(super) payload: Vec<u8>,
}

/// Sends a frame of these parts, one after the other.
///
/// # Errors
/// When the other side is gone, or the frame is longer than a frame can be.
pub(super) fn send(to: &mut impl Write, tag: Tag, parts: &[&[u8]]) -> io::Result<()> {
    let length = u32::try_from(parts.iter().map(|part| part.len()).sum::<usize>());
    let length = length.map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let [a, b, c, d] = length.to_be_bytes();
    to.write_all(&[tag as u8, a, b, c, d])?;
    parts.iter().try_for_each(|part| to.write_all(part))?;
    to.flush()
}

/// Receives a frame of at most so many bytes.
///
/// # Errors
/// `UnexpectedEof` when the other side ends before it, `InvalidData` when it is none or too long.
pub(super) fn receive(from: &mut impl Read, most: u64) -> io::Result<Frame> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [tag, length @ ..] = head;
    let length = u64::from(u32::from_be_bytes(length));
    let tag = Tag::ALL.into_iter().find(|known| *known as u8 == tag).filter(|_| length <= most);
    let tag = tag.ok_or(io::ErrorKind::InvalidData)?;
    let mut payload = Vec::new();
    if from.take(length).read_to_end(&mut payload)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Frame { tag, payload })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_arrives_as_it_was_sent() {
        let mut sent = Vec::new();
        send(&mut sent, Tag::Answer, &[b"one ", b"two"]).unwrap();
        let frame = Frame { tag: Tag::Answer, payload: b"one two".to_vec() };
        assert_eq!(receive(&mut &sent[..], 7).unwrap(), frame);
    }

    #[test]
    fn what_is_too_long_torn_or_no_frame_is_refused() {
        let mut sent = Vec::new();
        send(&mut sent, Tag::Answer, &[b"seven b"]).unwrap();
        let kind = |bytes: &[u8], most| receive(&mut &*bytes, most).unwrap_err().kind();
        assert_eq!(kind(&sent, 6), io::ErrorKind::InvalidData);
        assert_eq!(kind(&sent[..9], 7), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind(&[0, 0, 0, 0, 0], 7), io::ErrorKind::InvalidData);
        // A length that is only claimed takes no memory.
        assert_eq!(kind(&[1, 255, 255, 255, 255], u64::MAX), io::ErrorKind::UnexpectedEof);
    }
}
