//! Pictures in PDFs whose decoders would take what they are told to: the binary unpacks them in a process of its own, and
//! the server's own memory and time stay as they are.

use bytes::Bytes;
use kybern_adapters::documents::{Reader, ReaderProgram};
use kybern_core::document::{DocumentFault, FaultKind, PageImageRequest, PagePicture};
use kybern_core::id::TenantId;
use kybern_core::ports::DocumentReader as _;

const TENANT: TenantId = TenantId::from_uuid(uuid::Uuid::nil());
/// Megabytes that this process may hold: the largest picture in grey, the page, and the picture of the page. What the
/// pictures below ask for is from two to forty times as much.
const MOST: u64 = 400;
/// Sixteen by eight pixels in JPEG 2000, whose left half is black.
const JPEG_2000: &str = "ff4fff510029000000000010000000080000000000000000000000100000000800000000000000000001070101ff5200\
    0c00000001000004040001ff5c00044040ff90000a0000000000640001ff93df8298115053190aac5ccd73c2e6000061\
    21281a00000000308d61f63f453847dca688fb94d11f729a23ee53447dca688fb94d11f729a23ee53447dca688fb94d1\
    1f729a23ee53447dca688fb94d11f729a23ee53447ffd9";

async fn picture(pdf: Vec<u8>) -> Result<PagePicture, DocumentFault> {
    let reader = Reader::new().reading_by(ReaderProgram::new(env!("CARGO_BIN_EXE_kybern").into()));
    reader
        .picture(TENANT, "a.pdf", "application/pdf", Bytes::from(pdf), PageImageRequest { page: 1, longest: None })
        .await
}

/// A page that draws its picture so often.
fn page(dict: &str, bytes: &[u8], times: usize) -> Vec<u8> {
    let stream = |dict: &str, bytes: &[u8]| {
        let head = format!("<< {dict} /Length {} >> stream\n", bytes.len());
        [head.as_bytes(), bytes, b"\nendstream"].concat()
    };
    let draws = "q 612 0 0 792 0 0 cm /I Do Q\n".repeat(times);
    let objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>"
            .to_vec(),
        stream("", draws.as_bytes()),
        stream(&format!("/Type /XObject /Subtype /Image {dict}"), bytes),
    ];
    let (mut out, mut table) = (b"%PDF-1.7\n".to_vec(), "0000000000 65535 f \n".to_owned());
    for (at, body) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", out.len()));
        out.extend(format!("{} 0 obj\n", at + 1).bytes());
        out.extend(body);
        out.extend(b"\nendobj\n");
    }
    let at = out.len();
    out.extend(format!("xref\n0 6\n{table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n").bytes());
    out
}

fn grey(width: u32, height: u32, filter: &str) -> String {
    format!("/Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /{filter}")
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits.chunks(2).map(|two| u8::from_str_radix(&two.iter().collect::<String>(), 16).unwrap()).collect()
}

/// JPEG 2000 without any data: so many parts of a pixel, blocks of four by four, so many layers.
fn empty_jpeg_2000(side: u32, parts: u16, layers: u8) -> Vec<u8> {
    let mut bytes = vec![0xFF, 0x4F, 0xFF, 0x51];
    bytes.extend((38 + 3 * parts).to_be_bytes());
    bytes.extend([0, 0]);
    for number in [side, side, 0, 0, side, side, 0, 0] {
        bytes.extend(number.to_be_bytes());
    }
    bytes.extend(parts.to_be_bytes());
    bytes.extend([7, 1, 1].repeat(usize::from(parts)));
    bytes.extend([0xFF, 0x52, 0, 12, 0, 0, 0, layers, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0xFF, 0x5C, 0, 4, 0x40, 0x40]);
    bytes.extend([0xFF, 0x90, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0x93, 0xFF, 0xD9]);
    bytes
}

fn segment(number: u8, kind: u8, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    [&[0, 0, 0, number, kind, 0, 1][..], &length, data].concat()
}

/// A small page in JBIG2 that sets up regions of 65,535 by 65,535 black pixels, and draws none of them.
fn jbig2_with_regions(regions: u8) -> Vec<u8> {
    let size = [16u32.to_be_bytes(), 8u32.to_be_bytes()].concat();
    let huge = [65_535u32.to_be_bytes(), 65_535u32.to_be_bytes()].concat();
    let mut bytes = segment(0, 48, &[&size[..], &[0; 11]].concat());
    for number in 1..=regions {
        // Text without a letter, on black.
        bytes.extend(segment(number, 4, &[&huge[..], &[0; 9], &[0b10, 0], &[0; 4], &[0; 8]].concat()));
    }
    bytes
}

#[tokio::test]
async fn jpeg_2000_and_jbig2_are_unpacked_by_the_binary() {
    let seen = picture(page(&grey(16, 8, "JPXDecode"), &hex(JPEG_2000), 1)).await.unwrap();
    assert!(seen.bytes.starts_with(b"\x89PNG"));
    let seen = picture(page(&grey(16, 8, "JBIG2Decode"), &jbig2_with_regions(0), 1)).await.unwrap();
    assert!(seen.bytes.starts_with(b"\x89PNG"));
}

#[tokio::test]
async fn pictures_that_ask_for_gigabytes_take_none_of_the_server() {
    let hostile = [
        ("255 parts of a pixel", "JPXDecode", 6_000, empty_jpeg_2000(6_000, 255, 1)),
        ("two million blocks with 32 layers", "JPXDecode", 6_000, empty_jpeg_2000(6_000, 1, 32)),
        ("forty regions of half a gigabyte", "JBIG2Decode", 16, jbig2_with_regions(40)),
    ];
    for (what, filter, side, bytes) in hostile {
        let fault = picture(page(&grey(side, side, filter), &bytes, 1)).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Empty, "{what}: {fault:?}");
        let peak = kybern_testkit::fuzz::peak_megabytes();
        println!("{what}: {peak} MB at most until now");
        assert!(peak < MOST, "{what} took {peak} MB");
    }
}
