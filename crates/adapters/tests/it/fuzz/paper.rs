//! PDF. The maker writes content, fonts and page trees without packing them, so that damage reaches the interpreter.

use kybern_testkit::fuzz::{Chance, Target};

use super::documents::check;

const WORDS: &[&str] = &[
    "BT",
    "ET",
    "Tj",
    "TJ",
    "'",
    "\"",
    "Td",
    "TD",
    "Tm",
    "T*",
    "Tf",
    "Tc",
    "Tw",
    "Tz",
    "TL",
    "Ts",
    "Tr",
    "q",
    "Q",
    "cm",
    "Do",
    "re",
    "m",
    "l",
    "f",
    "S",
    "BI",
    "ID",
    "EI",
    "BDC",
    "EMC",
    "/F1",
    "/X1",
    "/Length",
    "/Filter",
    "/FlateDecode",
    "/LZWDecode",
    "/ASCII85Decode",
    "/ASCIIHexDecode",
    "/RunLengthDecode",
    "/JBIG2Decode",
    "/DCTDecode",
    "/Predictor",
    "/ObjStm",
    "/XRef",
    "/Kids",
    "/Parent",
    "/Count",
    "/Contents",
    "/Resources",
    "/MediaBox",
    "/Encrypt",
    "/ToUnicode",
    "/Widths",
    "/W",
    "/DW",
    "/Differences",
    "/Encoding",
    "/Prev",
    "/Root",
    "/Annots",
    "<<",
    ">>",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "1 0 R",
    "2 0 R",
    "4 0 R",
    "obj",
    "endobj",
    "stream\n",
    "\nendstream",
    "xref",
    "trailer",
    "startxref",
    "%%EOF",
    "%PDF-1.7\n",
    "beginbfchar",
    "beginbfrange",
    "begincodespacerange",
    "endcmap",
    "null",
    "true",
    "NaN",
    "\\377",
];

/// Operators with as many numbers, names and texts as they want, most of the time.
fn content(chance: &Chance) -> String {
    let mut out = String::from("BT /F1 12 Tf 72 700 Td (Hello) Tj ");
    for _ in 0..chance.below(60) {
        let number = || match chance.below(6) {
            0 => "1e30".to_owned(),
            1 => "-0.0001".to_owned(),
            2 => "99999999999".to_owned(),
            _ => format!("{}", chance.below(800)),
        };
        let numbers = |n: u64| (0..n).map(|_| number()).collect::<Vec<_>>().join(" ");
        let piece = match chance.below(16) {
            0 => format!("{} Tm", numbers(6)),
            1 => format!("{} Td", numbers(2)),
            2 => format!("/F{} {} Tf", chance.below(3), number()),
            3 => format!("[(ab) {} (c\\051) {}] TJ", number(), number()),
            4 => "(text with \\(parens\\) and \\101) Tj".to_owned(),
            5 => "<0041004200FF> Tj".to_owned(),
            6 => format!("q {} cm", numbers(6)),
            7 => "Q".to_owned(),
            // Forms that draw one another cost as much as the limit of forms allows; a few of those are enough.
            8 if chance.percent(8) => format!("/X{} Do", chance.below(3)),
            9 => format!("{} re f", numbers(4)),
            10 => format!("{} m {} l S", numbers(2), numbers(2)),
            11 => "ET BT".to_owned(),
            12 => format!("{} {}", number(), chance.one(&["Tc", "Tw", "Tz", "TL", "Ts", "Tr"])),
            13 => "BI /W 2 /H 2 /BPC 8 /CS /G ID abcd EI".to_owned(),
            14 => "(next line) '".to_owned(),
            _ => (*chance.one(WORDS)).to_owned(),
        };
        out.push_str(&piece);
        out.push(' ');
    }
    out + "ET"
}

/// A table from codes to letters.
fn codes(chance: &Chance) -> String {
    let mut out = String::from("begincmap 1 begincodespacerange <00> <FFFF> endcodespacerange ");
    for _ in 0..chance.below(8) {
        let code = || chance.one(&["<00>", "<0041>", "<FFFF>", "<FFFFFFFF>", "<>", "<D800>", "<41>"]);
        out.push_str(&match chance.below(3) {
            0 => format!("1 beginbfchar {} {} endbfchar ", code(), code()),
            1 => format!("1 beginbfrange {} {} {} endbfrange ", code(), code(), code()),
            _ => format!("1 beginbfrange {} {} [{} {}] endbfrange ", code(), code(), code(), code()),
        });
    }
    out + "endcmap"
}

/// A document with up to a few pages, two fonts and forms that may draw each other.
fn make(chance: &Chance) -> Vec<u8> {
    let pages = 1 + chance.below(3);
    let kids: Vec<String> = (0..pages).map(|n| format!("{} 0 R", 10 + n)).collect();
    let stream = |dict: &str, body: &str| format!("<< {dict} /Length {} >> stream\n{body}\nendstream", body.len());
    let form = "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources 4 0 R";
    let widths = (0..chance.below(300)).map(|n| (n * 7 % 900).to_string()).collect::<Vec<_>>().join(" ");
    let encoding = chance.one(&["/WinAnsiEncoding", "/Identity-H", "<< /Differences [65 /A /uni0042 /x] >>", "8 0 R"]);
    let kind = chance.one(&["/Type1", "/TrueType", "/Type0", "/Type3"]);
    let mut objects = vec![
        (1, "<< /Type /Catalog /Pages 2 0 R >>".to_owned()),
        (2, format!("<< /Type /Pages /Kids [{}] /Count {pages} /MediaBox [0 0 612 792] >>", kids.join(" "))),
        (4, "<< /Font << /F0 5 0 R /F1 6 0 R >> /XObject << /X0 7 0 R /X1 9 0 R >> >>".to_owned()),
        (5, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned()),
        (
            6,
            format!(
                "<< /Type /Font /Subtype {kind} /BaseFont /F /FirstChar 0 /Widths [{widths}] /Encoding {encoding} \
                 /ToUnicode 8 0 R /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /DW 500 /W [0 [{widths}]] >>] >>"
            ),
        ),
        (7, stream(form, &content(chance))),
        (8, stream("", &codes(chance))),
        (9, stream(form, &content(chance))),
    ];
    for n in 0..pages {
        let dict = "<< /Type /Page /Parent 2 0 R /Resources 4 0 R /Contents";
        objects.push((10 + n, format!("{dict} {} 0 R >>", 20 + n)));
        objects.push((20 + n, stream("", &content(chance))));
    }
    let mut out = "%PDF-1.7\n".to_owned();
    let mut table = String::new();
    for (id, body) in objects {
        table.push_str(&format!("{id} 1\n{:010} 00000 n \n", out.len()));
        out.push_str(&format!("{id} 0 obj\n{body}\nendobj\n"));
    }
    let at = out.len();
    out.push_str(&format!("xref\n{table}trailer\n<< /Size 40 /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n"));
    out.into_bytes()
}

#[test]
fn pdf() {
    let seeds = super::documents("pdf");
    Target::new("pdf", 1_500, check("a.pdf")).seeds(seeds).words(WORDS).made_by(make).within_megabytes(400).play();
}
