//! One part of a message: its bytes as they were sent, its text, its name, and whether it is decoration.

use encoding_rs::Encoding as Charset;
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, Message, MessagePart, MimeHeaders, PartType};

use super::parameters::name_in_pieces;
use super::uuencode;
use crate::documents::decode_lenient;

/// The longest file name that is kept.
const MAX_NAME: usize = 150;
/// Pictures that the HTML of a message may show; the others count as files.
const MAX_SHOWN: usize = 1_000;

/// The file in a part that is declared to be uuencode.
pub(super) fn uuencoded(message: &Message<'_>, part: &MessagePart<'_>) -> Option<uuencode::UuencodedFile> {
    let declared = part.content_transfer_encoding()?.trim().to_ascii_lowercase();
    if !matches!(declared.as_str(), "x-uuencode" | "uuencode" | "x-uue" | "uue") {
        return None;
    }
    let raw = message.raw_message.get(part.offset_body as usize..part.offset_end as usize)?;
    uuencode::decode(raw)
}

/// The decoded bytes of a part. Text is not re-encoded, so that a file stays what was sent.
pub(super) fn bytes(message: &Message<'_>, part: &MessagePart<'_>) -> Vec<u8> {
    if let Some(found) = uuencoded(message, part) {
        return found.bytes;
    }
    if !matches!(part.body, PartType::Text(_) | PartType::Html(_)) {
        return part.contents().to_vec();
    }
    let range = part.offset_body as usize..part.offset_end as usize;
    // Where something was wrong with a part, the library has given up decoding it, and only its text is a guess.
    let raw = message.raw_message.get(range);
    let decoded = raw.and_then(|raw| match part.encoding {
        Encoding::None => Some(raw.to_vec()),
        Encoding::Base64 => base64_decode(raw),
        Encoding::QuotedPrintable => quoted_printable_decode(raw),
    });
    decoded.unwrap_or_else(|| part.contents().to_vec())
}

pub(super) fn text(message: &Message<'_>, part: &MessagePart<'_>) -> String {
    let label = part.content_type().and_then(|kind| kind.attribute("charset")).map(str::trim);
    match label {
        // Senders that declare ASCII send anything.
        Some(label) if label.to_ascii_lowercase().contains("ascii") => decode_lenient(&bytes(message, part), None),
        Some(label) if Charset::for_label(label.as_bytes()).is_none() => {
            part.text_contents().map_or_else(|| decode_lenient(&bytes(message, part), None), str::to_owned)
        }
        label => decode_lenient(&bytes(message, part), label),
    }
}

/// The declared type in lower case; what the standard says where there is none.
pub(super) fn content_type(part: &MessagePart<'_>) -> String {
    match part.content_type() {
        Some(kind) => match kind.subtype() {
            Some(subtype) => format!("{}/{subtype}", kind.ctype()).to_ascii_lowercase(),
            None => kind.ctype().to_ascii_lowercase(),
        },
        None if matches!(part.body, PartType::Text(_)) => "text/plain".to_owned(),
        None => "application/octet-stream".to_owned(),
    }
}

/// Whether a part only holds others, or is the signature of others.
pub(super) fn is_container(part: &MessagePart<'_>) -> bool {
    matches!(part.body, PartType::Multipart(_))
        || matches!(
            content_type(part).as_str(),
            "application/pgp-signature" | "application/pkcs7-signature" | "application/x-pkcs7-signature"
        )
}

/// The name of a file without folders and control characters; that `inside` of it, or made up, where it has none.
pub(super) fn filename(
    message: &Message<'_>,
    part: &MessagePart<'_>,
    inside: Option<&str>,
    content_type: &str,
    number: usize,
) -> String {
    let pieces = name_in_pieces(message, part);
    let given = pieces.as_deref().or_else(|| part.attachment_name()).or(inside).unwrap_or_default();
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
    let clean = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if !clean.is_empty() && !clean.chars().all(|c| c == '.') {
        return clean;
    }
    format!("attachment-{number}.{}", extension(content_type))
}

fn extension(content_type: &str) -> &str {
    match content_type {
        "application/pdf" => "pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "application/msword" => "doc",
        "application/vnd.ms-excel" => "xls",
        "application/zip" => "zip",
        "text/csv" => "csv",
        "text/html" => "html",
        "text/plain" => "txt",
        "text/calendar" => "ics",
        "image/jpeg" => "jpg",
        "image/tiff" => "tif",
        "image/png" | "image/gif" | "image/bmp" | "image/webp" | "image/heic" => &content_type[6..],
        _ => "bin",
    }
}

/// The content ids that the HTML of a message shows.
pub(super) fn referenced(message: &Message<'_>) -> Vec<String> {
    let mut ids = Vec::new();
    for part in &message.parts {
        let PartType::Html(html) = &part.body else { continue };
        for piece in html.split("cid:").skip(1) {
            if ids.len() == MAX_SHOWN {
                return ids;
            }
            let end = piece.find(['"', '\'', ')', '>', ' ', ';']).unwrap_or(piece.len());
            ids.push(piece[..end].replace("%40", "@"));
        }
    }
    ids
}

/// Whether a picture belongs to the text: the HTML shows it, or it is bound to it and not named an attachment.
///
/// A picture with `inline` alone is a file: telephones send photographs of documents that way.
pub(super) fn is_inline(
    message: &Message<'_>,
    id: u32,
    part: &MessagePart<'_>,
    content_type: &str,
    cids: &[String],
) -> bool {
    if !content_type.starts_with("image/") {
        return false;
    }
    let cid = part.content_id().map(|cid| cid.trim_matches(['<', '>']));
    let shown = cid.is_some_and(|cid| cids.iter().any(|other| other == cid));
    let attached = part.content_disposition().is_some_and(mail_parser::ContentType::is_attachment);
    shown || (!attached && is_related(message, id))
}

fn is_related(message: &Message<'_>, id: u32) -> bool {
    message.parts.iter().any(|parent| {
        matches!(&parent.body, PartType::Multipart(ids) if ids.contains(&id))
            && parent
                .content_type()
                .and_then(|kind| kind.subtype())
                .is_some_and(|sub| sub.eq_ignore_ascii_case("related"))
    })
}

#[cfg(test)]
mod tests {

    use super::super::parse::Mime;

    fn parts(raw: &str) -> Vec<kybern_core::mail::MailPart> {
        Mime.parse(raw.replace('\n', "\r\n").as_bytes()).unwrap().parts
    }

    #[test]
    fn names_are_decoded_and_safe() {
        let with = |header: &str| {
            let raw = format!(
                "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/pdf\n{header}\n\nx\n--b--\n"
            );
            parts(&raw).remove(0).filename
        };
        assert_eq!(with("Content-Disposition: attachment; filename*=utf-8''r%C3%A9sum%C3%A9.pdf"), "résumé.pdf");
        assert_eq!(
            with("Content-Disposition: attachment; filename=\"=?utf-8?q?r=C3=A9sum=C3=A9.pdf?=\""),
            "résumé.pdf"
        );
        assert_eq!(
            with("Content-Disposition: attachment;\n filename*0=\"long \";\n filename*1=\"name.pdf\""),
            "long name.pdf"
        );
        for (charset, name) in [
            ("utf-8", ["r%C3%A9sum%C3", "%A9 2026.pdf"]),
            ("utf-8", ["r%C3%A9sum", "%C3%A9 2026.pdf"]),
            ("iso-8859-1", ["r%E9sum", "%E9 2026.pdf"]),
        ] {
            let [one, two] = name;
            let header = format!(
                "Content-Disposition: attachment;\n filename*0*={charset}'fr'{one};\n filename*1*={}",
                two.replace(' ', "%20")
            );
            assert_eq!(with(&header), "résumé 2026.pdf", "{header}");
        }
        // Only some of the pieces are encoded, and they come in another order.
        let mixed =
            "Content-Disposition: attachment;\n filename*1=\" of May.pdf\";\n filename*0*=utf-8''r%C3%A9sum%C3%A9";
        assert_eq!(with(mixed), "résumé of May.pdf");
        assert_eq!(with("Content-Disposition: attachment; filename=\"../../etc/passwd\""), "passwd");
        assert_eq!(with("Content-Disposition: attachment"), "attachment-1.pdf");
    }

    #[test]
    fn a_picture_in_the_text_is_inline_and_a_photograph_is_not() {
        let raw = "Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/related; boundary=b\n\n\
            --b\nContent-Type: text/html\n\n<img src=\"cid:logo@x\">hello\n--b\nContent-Type: image/png; name=logo.png\n\
            Content-ID: <logo@x>\nContent-Disposition: inline\n\nx\n--b--\n\
            --a\nContent-Type: image/jpeg; name=photo.jpg\nContent-Disposition: inline\nContent-ID: <p@x>\n\ny\n--a--\n";
        let found: Vec<(String, bool)> = parts(raw).into_iter().map(|part| (part.filename, part.inline)).collect();
        assert_eq!(found, [("logo.png".to_owned(), true), ("photo.jpg".to_owned(), false)]);
    }

    #[test]
    fn a_torn_part_keeps_the_bytes_that_were_sent() {
        let raw = b"Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\n\
            Content-Type: text/csv; name=a.csv\r\n\r\nZo\xEB,1";
        let found = Mime.parse(raw).unwrap().parts;
        assert_eq!((found.len(), found[0].bytes.as_ref()), (1, &b"Zo\xEB,1"[..]));
    }

    #[test]
    fn a_message_that_is_only_a_file_has_one_attachment() {
        let raw =
            "Subject: x\nContent-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\nJVBERg==\n";
        let found = parts(raw);
        assert_eq!((found.len(), found[0].bytes.as_ref()), (1, &b"%PDF"[..]));
    }

    #[test]
    fn uuencoded_files_are_files() {
        // `%PDF`, and what a device that sends scans writes around it.
        let block = "begin 644 loss run.pdf\n$)5!$1@``\n`\nend\n";
        let plain = format!("Subject: x\nContent-Type: text/plain\n\nsee below\n\n{block}\nthe end\n");
        let mail = Mime.parse(plain.replace('\n', "\r\n").as_bytes()).unwrap();
        assert_eq!(mail.parts.len(), 1);
        let file = &mail.parts[0];
        assert_eq!((file.filename.as_str(), file.content_type.as_str()), ("loss run.pdf", "application/pdf"));
        assert_eq!(file.bytes.as_ref(), b"%PDF");
        assert!(mail.text.contains("see below") && mail.text.contains("the end"), "{}", mail.text);
        assert!(!mail.text.contains("begin"), "{}", mail.text);
        let declared = format!(
            "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nhello\n--b\nContent-Type: \
             application/pdf\nContent-Transfer-Encoding: x-uuencode\n\n{block}--b--\n"
        );
        let file = parts(&declared).remove(0);
        assert_eq!((file.filename.as_str(), file.bytes.as_ref()), ("loss run.pdf", &b"%PDF"[..]));
    }

    #[test]
    fn empty_multiparts_cost_nothing_but_themselves() {
        let with = |inner: &str| {
            format!(
                "Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n--a\n{inner}\n--a\nContent-Type: text/csv; \
                 name=a.csv\n\n1,2\n--a--\n"
            )
        };
        for inner in [
            "Content-Type: multipart/alternative; boundary=b\n\n--b--\n",
            "Content-Type: multipart/alternative; boundary=b\n\n",
            "Content-Type: multipart/alternative; boundary=b\n\n--b\n--b--\n",
            "Content-Type: multipart/alternative; boundary=b\n\n--b\n\n--b--\n",
            "Content-Type: multipart/mixed\n\n",
            "Content-Type: text/plain\n\n",
        ] {
            let found = parts(&with(inner));
            let files: Vec<(&str, &[u8])> =
                found.iter().map(|part| (part.filename.as_str(), part.bytes.as_ref())).collect();
            assert_eq!(files, [("a.csv", &b"1,2"[..])], "{inner:?}");
        }
        for all in [
            "Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n--a--\n",
            "Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n",
        ] {
            assert!(parts(all).is_empty(), "{all:?}");
        }
        // What stands in one that no boundary parts is kept.
        let kept = parts("Subject: x\nContent-Type: multipart/mixed; boundary=\"\"\n\nhello\n");
        assert_eq!((kept.len(), kept[0].bytes.trim_ascii()), (1, &b"hello"[..]));
    }
}
