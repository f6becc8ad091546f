//! Pages as a person sees them, from files that are written here.

use kybern_core::document::FaultKind;

use super::*;

/// A file of one page: its objects from number 4 on, `4` being the content.
struct Paper {
    page: String,
    catalog: String,
    content: String,
    objects: Vec<String>,
}

fn paper(content: &str) -> Paper {
    let default = String::new;
    Paper { page: default(), catalog: default(), content: content.to_owned(), objects: Vec::new() }
}

/// A text at a place.
fn at(x: i32, y: i32, text: &str) -> String {
    format!("BT /F1 10 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET ")
}

impl Paper {
    fn page(mut self, attributes: &str) -> Self {
        self.page.push_str(attributes);
        self
    }

    /// The objects are numbered from 6 on.
    fn object(mut self, object: &str) -> Self {
        self.objects.push(object.to_owned());
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let stream = format!("<< /Length {} >> stream\n{}\nendstream", self.content.len(), self.content);
        let page = format!(
            "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R >> \
             /ExtGState << /Clear << /ca 0 >> >> /XObject << /Scan 6 0 R >> >> {} >>",
            self.page
        );
        let mut objects = vec![
            format!("<< /Type /Catalog /Pages 2 0 R {} >>", self.catalog),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 612 792] >>".to_owned(),
            page,
            stream,
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        ];
        objects.extend(self.objects.iter().cloned());
        let mut file = "%PDF-1.7\n".to_owned();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
        for (n, object) in objects.iter().enumerate() {
            table.push_str(&format!("{:010} 00000 n \n", file.len()));
            file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", n + 1));
        }
        let start = file.len();
        let size = objects.len() + 1;
        file.push_str(&format!("{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"));
        file.into_bytes()
    }

    fn read(&self) -> Result<String, DocumentFault> {
        read(&self.bytes(), &StopFlag::default(), None)
            .and_then(|read| read.text)
            .map(|mut document| document.pages.remove(0).text)
    }

    fn text(&self) -> String {
        self.read().unwrap()
    }
}

const FIELD: &str = "/Type /Annot /Subtype /Widget";

#[test]
fn a_value_stands_beside_its_label() {
    let mut form = paper(&[at(50, 700, "Company"), at(50, 680, "Policy No."), at(50, 660, "Line")].concat())
        .page("/Annots [6 0 R 7 0 R 8 0 R 10 0 R]")
        .object(&format!("<< {FIELD} /FT /Tx /Rect [200 695 400 712] /V (Elm & Oak Mutual) >>"))
        .object(&format!("<< {FIELD} /Parent 9 0 R /Rect [200 675 400 692] >>"))
        .object(&format!(
            "<< {FIELD} /FT /Ch /Rect [200 655 400 672] /V (al) /Opt [[(al) (Auto Liability)] [(gl) (General)]] >>"
        ))
        .object("<< /FT /Tx /V <FEFF0041004C002D0031> >>")
        .object(&format!("<< {FIELD} /FT /Tx /F 2 /Rect [200 635 400 652] /V (hidden) >>"));
    form.catalog = "/AcroForm << /NeedAppearances true /Fields [] >>".to_owned();
    assert_eq!(form.text(), "Company     Elm & Oak Mutual\nPolicy No.  AL-1\nLine        Auto Liability",);
}

#[test]
fn a_value_stands_under_its_label_and_is_what_its_stream_draws() {
    let form = paper(&at(50, 700, "Named Insured"))
        .page("/Annots [6 0 R]")
        .object(&format!("<< {FIELD} /FT /Tx /Rect [50 680 250 696] /V (old) /AP << /N 7 0 R >> >>"))
        .object(
            "<< /Type /XObject /Subtype /Form /BBox [0 0 200 16] /Resources << /Font << /F1 5 0 R >> >> /Length 46 >> \
             stream\nBT /F1 10 Tf 2 4 Td (Cedar Freight LLC) Tj ET \nendstream",
        );
    assert_eq!(form.text(), "Named Insured\nCedar Freight LLC");
}

#[test]
fn boxes_of_a_form_say_whether_they_are_ticked() {
    let states = "/AP << /N << /Yes 11 0 R /Off 11 0 R >> >>";
    let form =
        paper(&[at(70, 700, "Any auto"), at(170, 700, "Hired"), at(270, 700, "Owned"), at(370, 700, "Other")].concat())
            .page("/Annots [6 0 R 7 0 R 8 0 R 9 0 R]")
            .object(&format!("<< {FIELD} /FT /Btn /Rect [50 698 60 708] /AS /Yes {states} >>"))
            .object(&format!("<< {FIELD} /FT /Btn /Rect [150 698 160 708] /AS /Off {states} >>"))
            .object(&format!("<< {FIELD} /Parent 10 0 R /Rect [250 698 260 708] {states} >>"))
            .object(&format!("<< {FIELD} /FT /Btn /Rect [350 698 360 708] >>"))
            .object("<< /FT /Btn /Ff 32768 /V /Yes >>")
            .object("<< /Type /XObject /Subtype /Form /BBox [0 0 10 10] /Length 0 >> stream\n\nendstream");
    assert_eq!(form.text(), "[X] Any auto  [ ] Hired  [X] Owned  [ ] Other");
}

#[test]
fn what_is_cropped_is_not_read() {
    let page = [at(50, 700, "seen"), at(50, 20, "below the edge"), at(300, 700, "beyond the sheet")].concat();
    assert_eq!(paper(&page).page("/CropBox [0 100 900 900] /MediaBox [0 0 200 792]").text(), "seen");
}

#[test]
fn what_cannot_be_seen_is_not_read() {
    let unseen = [
        format!("1 g {} 0 g ", at(50, 680, "white")),
        format!("BT 3 Tr {} 0 Tr ", at(50, 660, "without ink")),
        format!("/Clear gs {} ", at(50, 640, "transparent")),
        "BT /F1 0.1 Tf 1 0 0 1 50 620 Tm (tiny) Tj ET ".to_owned(),
    ];
    for unseen in unseen {
        assert_eq!(paper(&format!("{}q {unseen} Q", at(50, 700, "seen"))).text(), "seen");
    }
    let on_dark = format!("0 0 .4 rg 40 690 200 20 re f 1 g {}", at(50, 700, "Premium"));
    assert_eq!(paper(&on_dark).text(), "Premium");
    let beside_a_clipped_area = format!("q 0 0 10 10 re W n 0 g 0 0 600 790 re f Q {}", at(50, 700, "black"));
    assert_eq!(paper(&beside_a_clipped_area).text(), "black");
}

#[test]
fn the_text_layer_of_a_scan_is_read() {
    let image = "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray \
                 /Length 1 >> stream\nx\nendstream";
    let layer = "Policy Number AL-1, issued to Cedar Freight LLC of Reno, Nevada";
    let scan = format!("q 612 0 0 792 0 0 cm /Scan Do Q BT 3 Tr ET {}", at(50, 700, layer));
    assert_eq!(paper(&scan).object(image).text(), layer);
    let only_picture = paper("q 612 0 0 792 0 0 cm /Scan Do Q").object(image).read();
    assert_eq!(only_picture.unwrap_err().kind, FaultKind::Scan);
}

#[test]
fn turned_text_is_not_mixed_into_lines() {
    let stamp = "BT /F1 10 Tf 0 1 -1 0 30 690 Tm (RECEIVED) Tj ET BT /F1 40 Tf .7 .7 -.7 .7 60 650 Tm (COPY) Tj ET ";
    let page = format!("{}{stamp}{}", at(50, 700, "Insured  Elm LLC"), at(50, 688, "Policy  AL-1"));
    let text = paper(&page).text();
    assert_eq!(
        text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(),
        ["Insured Elm LLC", "Policy AL-1", "RECEIVED", "COPY"]
    );
}

#[test]
fn a_page_on_its_side_is_read_as_it_is_shown() {
    let turned = |x: i32, y: i32, text: &str| format!("BT /F1 10 Tf 0 1 -1 0 {x} {y} Tm ({text}) Tj ET ");
    let page =
        [turned(100, 50, "Unit"), turned(100, 150, "VIN"), turned(112, 50, "1"), turned(112, 150, "1XK")].concat();
    assert_eq!(paper(&page).page("/Rotate 90").text(), "Unit  VIN\n1     1XK");
}

#[test]
fn a_ruled_row_with_cells_at_different_heights_is_one_line_under_its_head() {
    let frame = "24 24 564 744 re S 24 500 564 68 re S 24 432 564 68 re S 24 364 564 68 re S 24 296 564 68 re S ";
    let mut page = frame.to_owned();
    for (x, text) in [(30, "CO"), (60, "KIND"), (200, "POLICY NO."), (400, "EXPIRES")] {
        page.push_str(&at(x, 572, text));
    }
    for (n, y) in [558, 490, 422, 354].into_iter().enumerate() {
        page.push_str(
            &[at(30, y - 4, "A"), at(60, y, "AUTO"), at(200, y - 6, &format!("AL-{n}")), at(400, y - 6, "2027")]
                .concat(),
        );
    }
    let text = paper(&page).text();
    assert!(text.starts_with("CO  KIND  POLICY NO.  EXPIRES\nA   AUTO  AL-0        2027\n"), "{text}");
}

#[test]
fn a_table_with_empty_cells_and_a_narrow_column_stays_whole() {
    let mut page = String::new();
    for (x, text) in [(50, "Unit"), (90, "S"), (120, "VIN"), (300, "Value")] {
        page.push_str(&at(x, 700, text));
    }
    for n in 0..8 {
        let y = 685 - n * 15;
        page.push_str(&at(50, y, &n.to_string()));
        page.push_str(&at(120, y, "1XKYDP9XXNP413840"));
        if n % 3 == 0 {
            page.push_str(&at(90, y, "T"));
        } else {
            page.push_str(&at(300, y, "107,950"));
        }
    }
    let text = paper(&page).text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 9, "{text}");
    assert_eq!(lines[0], "Unit  S  VIN                Value");
    assert_eq!(lines[1], "0     T  1XKYDP9XXNP413840");
    assert_eq!(lines[2], "1        1XKYDP9XXNP413840  107,950");
}

#[test]
fn rows_of_two_shapes_keep_their_places() {
    let mono = |x: i32, y: i32, text: &str| at(x * 6, y, text);
    let mut page = String::new();
    for y in [700, 660] {
        for (x, text) in [(5, "H-56061"), (17, "10/28/25"), (40, "CLOSED")] {
            page.push_str(&mono(x, y, text));
        }
        for (x, text) in [(7, "PAID 435.33 IN ALL"), (40, "435.33")] {
            page.push_str(&mono(x, y - 12, text));
        }
    }
    let text = paper(&page).text();
    let column = |word: &str| text.lines().find_map(|line| line.find(word)).unwrap();
    assert_eq!(column("CLOSED"), text.lines().nth(1).unwrap().rfind("435.33").unwrap(), "{text}");
    assert!(column("PAID") > column("H-56061"), "{text}");
}

#[test]
fn blanks_of_another_text_do_not_split_words() {
    let padded = format!("{}{}", at(50, 700, "                              "), at(60, 700, "12,345,678"));
    assert_eq!(paper(&padded).text(), "12,345,678");
    // Each letter is a text of its own, moved a little closer to the one before it.
    let places = [('P', 500), ('o', 564), ('l', 618), ('i', 638), ('c', 659), ('y', 707)];
    let letters: String =
        places.iter().map(|(c, x)| format!("BT /F1 10 Tf 1 0 0 1 {}.{} 700 Tm ({c}) Tj ET ", x / 10, x % 10)).collect();
    assert_eq!(paper(&letters).text(), "Policy");
    let spaced = "BT /F1 10 Tf 6 Tc 1 0 0 1 50 700 Tm (AL-1) Tj ET";
    assert_eq!(paper(spaced).text(), "AL-1");
}

#[test]
fn fonts_say_what_they_show_in_many_ways() {
    let shown = |string: &str, font: &str, more: &[&str]| {
        let mut page = paper(&format!("BT /F2 10 Tf 50 700 Td {string} Tj ET")).object(font);
        page.objects.extend(more.iter().map(|object| (*object).to_owned()));
        page.text()
    };
    let wide = "/DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /DW 1000 >>]";
    let named = format!("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode /Identity-H {wide} >>");
    assert_eq!(shown("<0045006C006D>", &named, &[]), "Elm");
    let shift = format!("<< /Type /Font /Subtype /Type0 /Encoding /90ms-RKSJ-H {wide} >>");
    assert_eq!(shown("<836583588367>", &shift, &[]), "テスト");
    let program = "/FontFile 8 0 R";
    let built_in = format!("<< /Type /Font /Subtype /Type1 /FontDescriptor << /Type /FontDescriptor {program} >> >>");
    let head = "/Encoding 256 array dup 1 /E put dup 2 /l put dup 3 /m put readonly def currentfile eexec x";
    let filtered = format!("<< /Length 9 0 R /Filter 7 0 R >> stream\n{}>\nendstream", hex(head));
    let length = (head.len() * 2 + 1).to_string();
    assert_eq!(shown("<010203>", &built_in, &["/ASCIIHexDecode", &filtered, &length]), "Elm");
    let drawn = "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 10 10] /FontMatrix [.1 0 0 .1 0 0] /FirstChar 65 \
                 /Widths [6 6 6] /CharProcs << >> /Encoding << /Differences [65 /E /l /m] >> >>";
    assert_eq!(shown("(ABC)", drawn, &[]), "Elm");
    let dumb = format!("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H {wide} >>");
    let page = paper("BT /F2 10 Tf 50 700 Td <004500460047> Tj ET").object(&dumb);
    assert_eq!(page.read().unwrap_err().kind, FaultKind::Unsupported);
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_file_of_an_unknown_lock_is_locked_and_not_broken() {
    let mut locked = paper(&at(50, 700, "secret")).bytes();
    let at = locked.windows(7).rposition(|window| window == b"trailer").unwrap();
    let lock = b"trailer\n<< /Encrypt << /Filter /FOPN_fLock /V 9 /R 9 >> ";
    locked.splice(at..at + b"trailer\n<<".len(), lock.iter().copied());
    let fault = read(&locked, &StopFlag::default(), None).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Encrypted, "{fault}");
}

/// A text that runs in a direction, so many tenths of a degree from level.
fn leaning(x: f64, y: f64, tenths: i32, text: &str) -> String {
    let (sin, cos) = (f64::from(tenths) / 10.0).to_radians().sin_cos();
    // The page was laid on the glass crookedly: places turn with the text.
    let (px, py) = (x * cos - y * sin, x * sin + y * cos);
    format!("BT /F1 10 Tf {cos:.5} {sin:.5} {:.5} {cos:.5} {px:.2} {py:.2} Tm ({text}) Tj ET ", -sin)
}

#[test]
fn a_page_that_lies_crookedly_is_read_in_its_lines() {
    for tenths in [-40, -15, 8, 25, 50] {
        let mut page = String::new();
        for n in 0..12 {
            let y = 700.0 - f64::from(n) * 14.0;
            page.push_str(&leaning(60.0, y, tenths, &format!("Label number {n}")));
            page.push_str(&leaning(420.0, y, tenths, &format!("Value {n}")));
        }
        let text = paper(&page).text();
        let rows: Vec<Vec<&str>> =
            text.lines().map(|row| row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()).collect();
        let wanted: Vec<Vec<String>> =
            (0..12).map(|n| vec![format!("Label number {n}"), format!("Value {n}")]).collect();
        assert_eq!(rows, wanted, "{tenths} tenths of a degree");
    }
}

#[test]
fn text_that_runs_from_the_right_is_read_from_the_right() {
    // As a font draws it: the last letter stands at the left.
    let map = "1 begincodespacerange <00> <FF> endcodespacerange 4 beginbfchar <01> <05E9> <02> <05DC> <03> <05D5> <04> \
               <05DD> endbfchar";
    let map = format!("<< /Length {} >> stream\n{map}\nendstream", map.len());
    let font = "<< /Type /Font /Subtype /TrueType /FirstChar 1 /Widths [500 500 500 500] /ToUnicode 7 0 R >>";
    let page = format!("BT /F2 10 Tf 300 700 Td <04030201> Tj ET {}", at(50, 700, "Policy AL-12"));
    assert_eq!(paper(&page).object(font).object(&map).text(), "Policy AL-12  שלום");
}

#[test]
fn predefined_maps_that_stand_upright_or_name_unicode_are_read() {
    let shown = |encoding: &str, string: &str| {
        let wide = "/DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /DW 1000 >>]";
        let font = format!("<< /Type /Font /Subtype /Type0 /Encoding /{encoding} {wide} >>");
        paper(&format!("BT /F2 10 Tf 50 700 Td {string} Tj ET")).object(&font).text()
    };
    for (encoding, string, text) in [
        ("UniGB-UCS2-H", "<4FDD5355>", "保单"),
        ("UniJIS-UTF16-H", "<4FDD967A>", "保険"),
        ("UniKS-UCS2-H", "<BCF4D5D8>", "보험"),
        ("UniCNS-UTF16-H", "<D840DC0B>", "\u{2000b}"),
        ("UniGB-UTF8-H", "<E4BF9DE58D95>", "保单"),
        ("UniJIS-UTF32-H", "<00004FDD0000967A>", "保険"),
        ("GBK-EUC-H", "<B1A3B5A5>", "保单"),
    ] {
        assert_eq!(shown(encoding, string), text, "{encoding}");
    }
}

#[test]
fn pages_are_read_as_they_are_turned() {
    for (turn, matrix) in [(90, "0 1 -1 0 100 50"), (180, "-1 0 0 -1 500 100"), (270, "0 -1 1 0 100 700")] {
        let line = |down: &str, text: &str| format!("BT /F1 10 Tf {matrix} Tm {down} Td ({text}) Tj ET ");
        let page = [line("0 0", "Insured"), line("0 -14", "Elm LLC"), line("0 -28", "Policy AL-1")].concat();
        let text = paper(&page).page(&format!("/Rotate {turn}")).text();
        assert_eq!(text, "Insured\nElm LLC\nPolicy AL-1", "{turn}");
    }
}

#[test]
fn a_page_whose_packed_content_is_damaged_is_not_read_as_if_whole() {
    let words: String =
        (0..60).map(|n| at(40, 750 - 12 * n, &format!("Pallet {n} of {}", n * n * 7919 % 1000))).collect();
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packer, words.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let unread = |content: Vec<u8>| {
        let mut doc = Document::load_mem(&paper(&words).bytes()).unwrap();
        let stream = doc.get_object_mut((4, 0)).and_then(Object::as_stream_mut).unwrap();
        stream.set_content(content);
        stream.dict.set("Filter", "FlateDecode");
        let mut file = Vec::new();
        doc.save_to(&mut file).unwrap();
        let page = read(&file, &StopFlag::default(), None).unwrap().text.unwrap().pages.remove(0);
        assert!(page.text.starts_with("Pallet 0 of 0"), "{}", page.text);
        page.unread
    };
    let (half, end) = (packed.len() / 2, packed.len() - 4);
    let mut flipped = packed.clone();
    flipped[half] ^= 4;
    let mut sum = packed.clone();
    sum[end] ^= 1;
    assert!(unread(flipped) && unread(packed[..half].to_vec()) && unread(sum));
    for whole in [packed.clone(), packed[..end].to_vec(), [&packed[..], b"\r\n"].concat()] {
        assert!(!unread(whole));
    }
}
