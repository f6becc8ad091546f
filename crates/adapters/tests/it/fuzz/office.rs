//! Office packages. Damage to a packed file is found by its checksums; so the makers here damage the parts and pack
//! them afterwards.

use std::io::{Cursor, Read as _, Write as _};

use kybern_testkit::fuzz::{Chance, Target, mutate};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::documents::check;

type Parts = Vec<(String, Vec<u8>)>;

/// The parts of a package; `None` when it is damaged.
fn unpack(bytes: &[u8]) -> Option<Parts> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    (0..archive.len())
        .map(|n| {
            let mut part = archive.by_index(n).ok()?;
            let mut content = Vec::new();
            part.by_ref().take(1 << 20).read_to_end(&mut content).ok()?;
            Some((part.name().to_owned(), content))
        })
        .collect()
}

fn pack(parts: &Parts, chance: &Chance) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let packed = chance.percent(30);
    let method = if packed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    for (name, content) in parts {
        // A name that is there already is refused; the package then lacks the second.
        if writer.start_file(name.as_str(), SimpleFileOptions::default().compression_method(method)).is_ok() {
            writer.write_all(content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

/// A maker of packages like these, with damage inside the parts that are read.
fn maker(
    packages: Vec<Vec<u8>>,
    read: &'static [&'static str],
    words: &'static [&'static str],
) -> impl Fn(&Chance) -> Vec<u8> + Send + Sync {
    // What is never read, pictures and themes, only makes inputs long.
    let sound: Vec<Parts> = packages
        .iter()
        .filter_map(|package| unpack(package))
        .map(|parts| parts.into_iter().filter(|(name, part)| !name.contains("theme") && part.len() < 30_000).collect())
        .collect();
    assert!(!sound.is_empty(), "no package can be unpacked");
    let words: Vec<&'static [u8]> = words.iter().map(|word| word.as_bytes()).collect();
    move |chance| {
        let mut parts = chance.one(&sound).clone();
        let other = chance.one(&sound);
        let lent = other.get(chance.index(other.len())).map_or(&[][..], |(_, content)| content.as_slice());
        for _ in 0..=chance.below(4) {
            let main = chance.percent(85);
            let of_interest: Vec<usize> =
                (0..parts.len()).filter(|n| !main || read.iter().any(|name| parts[*n].0.contains(name))).collect();
            if of_interest.is_empty() {
                continue;
            }
            let at = *chance.one(&of_interest);
            match chance.below(20) {
                0 => drop(parts.remove(at)),
                1 => parts[at].0.push('x'),
                _ => (0..=chance.below(4)).for_each(|_| mutate(&mut parts[at].1, lent, &words, chance)),
            }
        }
        pack(&parts, chance)
    }
}

#[test]
fn docx() {
    const WORDS: &[&str] = &[
        "<w:tbl>",
        "</w:tbl>",
        "<w:tr>",
        "</w:tr>",
        "<w:tc>",
        "</w:tc>",
        "<w:p>",
        "</w:p>",
        "<w:t>x</w:t>",
        "<w:t>",
        "</w:t>",
        "<w:tab/>",
        "<w:txbxContent>",
        "</w:txbxContent>",
        "<w:del>",
        "</w:del>",
        "<![CDATA[x]]>",
        "&#x0;",
        "&amp;",
        "&lol;",
        "<!DOCTYPE a [<!ENTITY l \"x\">]>",
        "<!--",
        "-->",
        "<?x ?>",
        "<mc:Fallback>",
        "<w:tr/>",
        "<w:tc/>",
        "encoding=\"UTF-16\"",
        "\u{feff}",
    ];
    let packages = super::documents("docx");
    let maker = maker(packages.clone(), &["document.xml", "header", "footer", "footnotes"], WORDS);
    Target::new("docx", 1_000, check("a.docx")).seeds(packages).words(&["PK\u{3}\u{4}", "word/"]).made_by(maker).play();
}

#[test]
fn xlsx() {
    const WORDS: &[&str] = &[
        "<row r=\"1048576\">",
        "<row>",
        "</row>",
        "<c r=\"XFD1048576\" t=\"s\"><v>0</v></c>",
        "<c><v>1</v></c>",
        "<v>",
        "</v>",
        "t=\"inlineStr\"",
        "t=\"e\"",
        "t=\"b\"",
        "t=\"d\"",
        "s=\"99999\"",
        "<f>",
        "<is><t>x</t></is>",
        "<si><t>y</t></si>",
        "<si/>",
        "uniqueCount=\"4294967295\"",
        "count=\"4294967295\"",
        "r:id=\"rId99\"",
        "<mergeCell ref=\"A1:XFD1048576\"/>",
        "<dimension ref=\"A1:XFD1048576\"/>",
        "date1904=\"1\"",
        "-1e308",
        "&amp;",
        "<numFmt numFmtId=\"164\" formatCode=\"yyyy\"/>",
        "Target=\"../../x\"",
        "<f t=\"shared\" si=\"0\" ref=\"A1:Z99\">",
    ];
    let packages = super::documents("xlsx");
    let maker = maker(packages.clone(), &["sheet", "sharedStrings", "workbook", "styles"], WORDS);
    Target::new("xlsx", 1_200, check("a.xlsx")).seeds(packages).words(&["PK\u{3}\u{4}", "xl/"]).made_by(maker).play();
}
