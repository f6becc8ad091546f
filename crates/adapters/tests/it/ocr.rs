//! Scans and pictures, read by a real Tesseract.

use std::io::Write as _;
use std::path::PathBuf;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use kybern_adapters::documents::{Reader, Tesseract, TesseractFault};
use kybern_core::document::{DocumentFormat, DocumentText, FaultKind, PageImageRequest, PageLook, PageText};
use kybern_core::ports::DocumentReader;

use crate::documents::{TENANT, samples};

const VARIABLE: &str = "KYBERN_TEST_TESSERACT";

/// Where Tesseract is; `None`, said aloud, where it could not be had.
fn program() -> Option<PathBuf> {
    let Some(program) = std::env::var(VARIABLE).ok().filter(|program| !program.is_empty()).map(PathBuf::from) else {
        eprintln!("skipped: {VARIABLE} is not set; `cargo xtask test` sets it when it can");
        return None;
    };
    assert!(program.exists(), "there is no Tesseract at {}: install it, CONTRIBUTING.md says how", program.display());
    Some(program)
}

fn reader() -> Option<Reader> {
    let languages = ["eng".to_owned()];
    Some(Reader::with_ocr(Some(Tesseract::find(&program()?, &languages, true).unwrap())))
}

/// A page that a flatbed scanner saw: grey, specked and a little crooked.
fn scan() -> Vec<u8> {
    std::fs::read(samples().join("faults/pdf/scan.pdf")).unwrap()
}

/// Its picture alone, a PNG.
async fn png() -> Bytes {
    Reader::new().picture(TENANT, "scan.pdf", "application/pdf", Bytes::from(scan()), page(1)).await.unwrap().bytes
}

/// A page as it was read.
const fn page(page: u32) -> PageImageRequest {
    PageImageRequest { page, longest: None }
}

/// The pixels of that picture.
async fn grey() -> image::GrayImage {
    image::load_from_memory(&png().await).unwrap().to_luma8()
}

async fn read(reader: &Reader, name: &str, bytes: impl Into<Bytes>) -> DocumentText {
    reader.read(TENANT, name, "", bytes.into()).await.unwrap()
}

/// What stands in the picture of the scan, read from a page.
fn holds_the_paper(page: &PageText) {
    for words in ["Blue Culvert Express LLC", "9171809", "NRC-AL-219006-03", "02/15/2025 to 02/15/2026"] {
        assert!(page.text.contains(words), "{words} is not in\n{}", page.text);
    }
    let row = page.text.lines().find(|row| row.contains("9171809")).unwrap();
    assert!(row.trim_start().starts_with("DOT Number  "), "label and value are cells of one row: {row:?}");
    for word in &page.scan.as_ref().unwrap().words {
        let text = &page.text[word.start..word.end];
        assert!(!text.is_empty() && !text.contains(char::is_whitespace), "{text:?} is no word");
    }
}

/// A picture on a page: its matrix, what its dictionary says, its bytes.
type Drawn<'a> = (&'a str, &'a str, Vec<u8>);

/// A file of one page that draws these pictures.
fn pdf(page: &str, pictures: &[Drawn<'_>]) -> Vec<u8> {
    file(&[("", page, pictures)])
}

/// A file of pages: what each draws beside its pictures, what its dictionary says, and its pictures.
fn file(pages: &[(&str, &str, &[Drawn<'_>])]) -> Vec<u8> {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    let mut objects = vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(), Vec::new(), font.as_bytes().to_vec()];
    let mut kids = String::new();
    for (content, page, pictures) in pages {
        let first = objects.len() + 1;
        let draws: String =
            pictures.iter().enumerate().map(|(n, (matrix, ..))| format!("q {matrix} cm /P{n} Do Q ")).collect();
        let names: String = (0..pictures.len()).map(|n| format!("/P{n} {} 0 R ", first + 2 + n)).collect();
        let draws = format!("{content} {draws}");
        kids.push_str(&format!("{first} 0 R "));
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /Contents {} 0 R \
                 /Resources << /Font << /F1 3 0 R >> /XObject << {names} >> >> {page} >>",
                first + 1
            )
            .into_bytes(),
        );
        objects.push(format!("<< /Length {} >> stream\n{draws}\nendstream", draws.len()).into_bytes());
        for (_, about, bytes) in *pictures {
            let mut object = format!("<< /Subtype /Image {about} /Length {} >> stream\n", bytes.len()).into_bytes();
            object.extend(bytes);
            object.extend(b"\nendstream");
            objects.push(object);
        }
    }
    objects[1] =
        format!("<< /Type /Pages /Kids [{kids}] /Count {} /MediaBox [0 0 612 792] >>", pages.len()).into_bytes();
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (n, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.extend(format!("{} 0 obj\n", n + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    let size = objects.len() + 1;
    file.extend(format!("{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    file
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// What is lighter is paper.
const PAPER: u8 = 170;

/// One bit for each pixel, 1 for paper.
fn bits(picture: &image::GrayImage) -> Vec<u8> {
    let row = |row: &[u8]| -> Vec<u8> {
        row.chunks(8)
            .map(|eight| {
                eight.iter().enumerate().fold(0, |byte, (n, pixel)| byte | u8::from(*pixel > PAPER) << (7 - n))
            })
            .collect()
    };
    picture.as_raw().chunks(usize::try_from(picture.width()).unwrap()).flat_map(row).collect()
}

#[tokio::test]
async fn a_scan_is_read_with_the_place_of_every_word() {
    let Some(reader) = reader() else { return };
    let text = read(&reader, "scan.pdf", scan()).await;
    assert_eq!((text.format, text.pages.len(), text.is_scanned()), (DocumentFormat::Pdf, 1, true));
    let page = &text.pages[0];
    holds_the_paper(page);
    let at = page.text.find("9171809").unwrap();
    let place = page.place_in_picture(at, at + 7).unwrap();
    // The number stands a third of the way from the left, a quarter from the top, in print of a hundredth of the page.
    assert!((315..330).contains(&place.x) && (220..232).contains(&place.y), "{place:?}");
    assert!((60..80).contains(&place.width) && (8..16).contains(&place.height), "{place:?}");
    assert!((70..=100).contains(&place.confidence), "{place:?}");
}

#[tokio::test]
async fn a_picture_by_itself_is_read_like_a_scan() {
    let Some(reader) = reader() else { return };
    let text = read(&reader, "photo.png", png().await).await;
    assert_eq!(text.format, DocumentFormat::Picture);
    holds_the_paper(&text.pages[0]);
    let mut tiff = std::io::Cursor::new(Vec::new());
    grey().await.write_to(&mut tiff, image::ImageFormat::Tiff).unwrap();
    holds_the_paper(&read(&reader, "fax.tif", tiff.into_inner()).await.pages[0]);
}

#[tokio::test]
async fn pages_are_read_however_their_pictures_lie_on_them() {
    let Some(reader) = reader() else { return };
    let grey = grey().await;
    let (width, height) = grey.dimensions();
    let about = |height: u32| {
        format!("/Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode")
    };
    let whole = "612 0 0 792 0 0";
    let all = deflated(grey.as_raw());
    // Black and white at the resolution of a fax, at which no letter loses its thin strokes.
    let fine = image::imageops::resize(&grey, 2 * width, 2 * height, image::imageops::FilterType::Triangle);
    let fine_size = format!("/Width {} /Height {} /Filter /FlateDecode", 2 * width, 2 * height);
    let black = format!("{fine_size} /ColorSpace /DeviceGray /BitsPerComponent 1");
    let turned = image::imageops::rotate270(&grey);
    let turned_about =
        format!("/Width {height} /Height {width} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode");
    let half = usize::try_from(width * (height / 2)).unwrap();
    let (upper, lower) = grey.as_raw().split_at(half);
    let below = height - height / 2;
    let share = 792.0 * f64::from(below) / f64::from(height);
    let upper_place = format!("612 0 0 {} 0 {share}", 792.0 - share);
    let lower_place = format!("612 0 0 {share} 0 0");
    // A stencil paints where its bits are 0, so the letters.
    let stencil = format!("{fine_size} /ImageMask true");
    let files = [
        ("of grey pixels", pdf("", &[(whole, &about(height), all.clone())])),
        ("of black and white", pdf("", &[(whole, &black, deflated(&bits(&fine)))])),
        ("through a stencil", pdf("", &[(whole, &stencil, deflated(&bits(&fine)))])),
        (
            "in strips",
            pdf(
                "",
                &[(&upper_place, &about(height / 2), deflated(upper)), (&lower_place, &about(below), deflated(lower))],
            ),
        ),
        (
            "lying on its side on a page that is turned back",
            pdf("/Rotate 90 /MediaBox [0 0 792 612]", &[("792 0 0 612 0 0", &turned_about, deflated(turned.as_raw()))]),
        ),
    ];
    for (how, file) in files {
        let text = read(&reader, "scan.pdf", file).await;
        eprintln!("{how}");
        holds_the_paper(&text.pages[0]);
    }
}

/// A line of text.
const TEXT: &str =
    "BT /F1 10 Tf 1 0 0 1 50 700 Tm (Named Insured: Cedar Freight LLC, of Reno, Nevada, since 1998) Tj ET";
const WHOLE: &str = "612 0 0 792 0 0";
/// A picture in a packing that nobody knows.
const STRANGE: &str = "/Width 850 /Height 1100 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /Strange";

/// A page of paper with a few black strokes that are no letters.
fn scribbled(strokes: &[(usize, usize, usize, usize)]) -> Vec<u8> {
    let mut page = vec![255; 850 * 1100];
    for (x, y, width, height) in strokes {
        (*y..y + height).for_each(|y| page[850 * y + x..850 * y + x + width].fill(0));
    }
    deflated(&page)
}

#[tokio::test]
async fn pages_of_a_text_whose_pictures_nobody_reads_are_told() {
    let strange = |matrix| [(matrix, STRANGE, b"abc".to_vec())];
    let (whole, logo) = (strange(WHOLE), strange("120 0 0 60 246 600"));
    let stamped = "BT /F1 10 Tf 1 0 0 1 50 20 Tm (Page 3 of 5) Tj ET";
    let pages =
        [(TEXT, "", &[] as &[Drawn<'_>]), ("", "", &whole), (stamped, "", &whole), ("", "", &logo), ("", "", &[])];
    let bytes = Bytes::from(file(&pages));
    let text = read(&Reader::new(), "dec.pdf", bytes.clone()).await;
    assert_eq!(text.unread_pages(), [2, 3], "a logo on a page of its own and an empty page are nothing to read");
    assert_eq!((text.pages[2].text.as_str(), text.is_scanned()), ("Page 3 of 5", false));
    let looks = Reader::new().looks(TENANT, "dec.pdf", "", bytes.clone()).await.unwrap();
    let (other, picture, blank) = (PageLook::Other, PageLook::Picture, PageLook::Blank);
    assert_eq!(looks, [other, picture, picture, picture, blank]);
    let Some(reader) = reader() else { return };
    assert_eq!(read(&reader, "dec.pdf", bytes).await.unread_pages(), [2, 3]);
}

#[tokio::test]
async fn a_page_that_cannot_be_unpacked_is_told() {
    // The second page is what its own first part leaves of it.
    let broken =
        file(&[(TEXT, "", &[]), ("", "/Contents [5 0 R 8 0 R]", &[(WHOLE, "/Filter /Strange", b"no".to_vec())])]);
    assert_eq!(read(&Reader::new(), "dec.pdf", broken).await.unread_pages(), [2]);
}

#[tokio::test]
async fn of_a_scan_every_page_is_read_or_blank_or_told() {
    let Some(reader) = reader() else { return };
    let grey = grey().await;
    let (width, height) = grey.dimensions();
    let about = |width: u32, height: u32| {
        format!("/Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode")
    };
    let (of_paper, of_scribble) = (about(width, height), about(850, 1100));
    let paper = (WHOLE, of_paper.as_str(), deflated(grey.as_raw()));
    let scribble = (WHOLE, of_scribble.as_str(), scribbled(&[(200, 300, 400, 3), (300, 500, 3, 200)]));
    let empty = (WHOLE, of_scribble.as_str(), scribbled(&[]));
    let strange = (WHOLE, STRANGE, b"abc".to_vec());
    let both = [empty.clone(), strange.clone()];
    let of = std::slice::from_ref;
    let pages: [&[Drawn<'_>]; 5] = [of(&paper), of(&empty), of(&strange), of(&scribble), &both];
    let scan = read(&reader, "scan.pdf", file(&pages.map(|pictures| ("", "", pictures)))).await;
    holds_the_paper(&scan.pages[0]);
    assert_eq!(scan.unread_pages(), [3, 4, 5], "scribble may be handwriting; half of the last page is missing");
    assert_eq!(scan.pages.iter().filter(|page| page.is_shown()).count(), 5);
    // The back of a sheet makes no scan of a text.
    let text = read(&reader, "text.pdf", file(&[(TEXT, "", &[]), ("", "", &[empty])])).await;
    assert_eq!((text.is_scanned(), text.unread_pages().len()), (false, 0));
}

#[tokio::test]
async fn of_a_fax_with_several_pages_the_others_are_told() {
    let Some(reader) = reader() else { return };
    let mut fax = std::io::Cursor::new(Vec::new());
    grey().await.write_to(&mut fax, image::ImageFormat::Tiff).unwrap();
    let mut fax = fax.into_inner();
    // A second directory with nothing in it, behind the first.
    let first = usize::try_from(u32::from_le_bytes(fax[4..8].try_into().unwrap())).unwrap();
    let entries = usize::from(u16::from_le_bytes(fax[first..first + 2].try_into().unwrap()));
    let (next, end) = (first + 2 + 12 * entries, u32::try_from(fax.len()).unwrap());
    fax[next..next + 4].copy_from_slice(&end.to_le_bytes());
    fax.extend([0; 6]);
    let text = read(&reader, "fax.tif", fax).await;
    holds_the_paper(&text.pages[0]);
    assert_eq!(text.unread_pages(), [2]);
}

#[tokio::test]
async fn without_ocr_and_without_words_a_scan_is_a_scan() {
    let fault = Reader::new().read(TENANT, "scan.pdf", "", Bytes::from(scan())).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Scan);
    let Some(reader) = reader() else { return };
    let blank = pdf(
        "",
        &[(
            "612 0 0 792 0 0",
            "/Width 850 /Height 1100 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode",
            deflated(&[255; 850 * 1100]),
        )],
    );
    let fault = reader.read(TENANT, "blank.pdf", "", Bytes::from(blank)).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Scan);
}

#[tokio::test]
async fn a_picture_that_would_fill_the_memory_is_not_unpacked() {
    let bomb = pdf(
        "",
        &[(
            "612 0 0 792 0 0",
            "/Width 100000 /Height 100000 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode",
            deflated(&[0; 1000]),
        )],
    );
    let fault = Reader::new().picture(TENANT, "a.pdf", "", Bytes::from(bomb.clone()), page(1)).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Empty);
    let Some(reader) = reader() else { return };
    assert_eq!(reader.read(TENANT, "a.pdf", "", Bytes::from(bomb)).await.unwrap_err().kind, FaultKind::Scan);
}

#[tokio::test]
async fn a_page_of_text_has_no_picture() {
    let fault = Reader::new().picture(TENANT, "a.txt", "", Bytes::from_static(b"text"), page(1)).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Empty);
    let fault = Reader::new().picture(TENANT, "scan.pdf", "", Bytes::from(scan()), page(2)).await.unwrap_err();
    assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Empty, "page 2 is not a picture"));
}

#[test]
fn languages_that_are_not_there_are_named() {
    let Some(program) = program() else { return };
    let languages = ["eng".to_owned(), "tlh".to_owned()];
    assert_eq!(Tesseract::find(&program, &languages, false).unwrap().languages(), "eng");
    let fault = Tesseract::find(&program, &languages, true).unwrap_err();
    assert!(matches!(&fault, TesseractFault::NoLanguage { missing, .. } if missing == "tlh"), "{fault}");
}
