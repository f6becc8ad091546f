//! The pictures inside a PDF as grey pixels, whatever they are packed in: plain, JPEG, fax, JBIG2, JPEG 2000.
//!
//! Sizes are looked at before anything is unpacked, and nothing unpacks to more than its size says. What says no size
//! that holds is unpacked in a child process of its own ([`super::packed`]).

use hayro_ccitt::EncodingMode;
use kybern_core::document::DocumentFault;
use lopdf::{Dictionary, Document, Object, Stream};

use super::super::picture::{self, Picture};
use super::super::process::Aids;
use super::packed::{Packed, Unpacked};
use super::rows::Rows;
use super::space::Space;
use super::unpack::resolved;
use crate::workers::Stop;

/// Bytes of one picture before its pixels are taken out.
const MAX_BYTES: usize = 128 * 1024 * 1024;
/// What starting a child process is worth, in pixels, whatever becomes of it.
const CHILD: usize = 4_000_000;
/// Filters of one stream.
const MAX_FILTERS: usize = 16;

/// What unpacks pictures, and says when nobody waits for them any more.
#[derive(Clone, Copy)]
pub(super) struct Tools<'a> {
    pub(super) aids: &'a dyn Aids,
    pub(super) stop: &'a Stop,
}

/// How many more pixels may be unpacked and looked at.
#[derive(Debug)]
pub(super) struct Work {
    left: u64,
    over: bool,
}

impl Work {
    pub(super) const fn of(pixels: u64) -> Self {
        Self { left: pixels, over: false }
    }

    /// Whether something was left out.
    pub(super) const fn is_over(&self) -> bool {
        self.over
    }

    /// `None` when there is not as much left: then it is not to be done.
    pub(super) fn pay(&mut self, pixels: usize) -> Option<()> {
        let left = self.left.checked_sub(u64::try_from(pixels).unwrap_or(u64::MAX));
        self.over |= left.is_none();
        self.left = left?;
        Some(())
    }
}

/// A picture as it is drawn: 0 for black.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Grey {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixels: Vec<u8>,
    /// Whether only its black pixels are painted, as through a stencil.
    pub(super) mask: bool,
}

impl Grey {
    /// What covers this place; `None` outside of it and where a stencil has no hole.
    pub(super) fn at(&self, x: f32, y: f32) -> Option<u8> {
        if x < 0.0 || y < 0.0 {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative; what is too large is looked up in vain"
        )]
        let (x, y) = (x as u32, y as u32);
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = usize::try_from(u64::from(y) * u64::from(self.width) + u64::from(x)).ok()?;
        self.pixels.get(at).copied().filter(|pixel| !self.mask || *pixel < 128)
    }
}

/// Unpacks a picture; `None` when it is damaged, over a limit, packed in a way that nobody uses, or more work than is
/// left.
///
/// # Errors
/// When nobody waits any more.
pub(super) fn unpack(
    doc: &Document,
    stream: &Stream,
    tools: Tools<'_>,
    work: &mut Work,
) -> Result<Option<Grey>, DocumentFault> {
    let unpacked = unpack_whole(doc, stream, tools, work);
    tools.stop.check()?;
    Ok(unpacked)
}

fn unpack_whole(doc: &Document, stream: &Stream, tools: Tools<'_>, work: &mut Work) -> Option<Grey> {
    let about = About::read(doc, stream)?;
    work.pay(about.pixels()?)?;
    let (packed, last) = outer(doc, stream)?;
    // What a small picture does not need was unpacked all the same.
    work.pay(packed.len())?;
    tools.stop.check().ok()?;
    let samples = match last.as_ref().map(|(name, parms)| (name.as_slice(), parms)) {
        None => packed,
        Some((b"DCTDecode" | b"DCT", _)) => {
            let its_own = usize::try_from(Picture::pixels_of(&packed)?).ok()?;
            work.pay(its_own.saturating_sub(about.pixels()?))?;
            let Picture { width, height, pixels, .. } = Picture::unpack(&packed).ok()?;
            return Some(about.finished(width, height, pixels));
        }
        Some((b"JPXDecode", _)) => {
            work.pay(CHILD)?;
            let picture = tools.aids.unpack(&Packed::Jpeg2000(&packed), tools.stop)?;
            work.pay(picture.bytes.len())?;
            return Some(about.finished(picture.width, picture.height, picture.bytes));
        }
        Some((b"CCITTFaxDecode" | b"CCF", parms)) => fax(doc, &packed, parms, &about)?,
        Some((b"JBIG2Decode", parms)) => {
            let shared = shared(doc, parms);
            work.pay(CHILD)?;
            let packed = Packed::Jbig2 { shared: shared.as_deref().unwrap_or_default(), page: &packed };
            let Unpacked { width, bytes, .. } = tools.aids.unpack(&packed, tools.stop)?;
            (width.div_ceil(8) == about.width.div_ceil(8)).then_some(bytes)?
        }
        Some(_) => return None,
    };
    about.grey(&samples)
}

/// What pictures in JBIG2 of one document share.
fn shared(doc: &Document, parms: &Dictionary) -> Option<Vec<u8>> {
    let shared = parms.get_deref(b"JBIG2Globals", doc).and_then(Object::as_stream).ok()?;
    let shared = resolved(doc, shared);
    Some(shared.get_plain_content_with_limit(MAX_BYTES).unwrap_or_else(|_| shared.content.clone()))
}

/// What the dictionary of a picture says.
struct About {
    width: u32,
    height: u32,
    bits: u32,
    space: Space,
    inverted: bool,
    mask: bool,
}

impl About {
    fn read(doc: &Document, stream: &Stream) -> Option<Self> {
        let dict = &stream.dict;
        let found = |long: &[u8], short: &[u8]| dict.get_deref(long, doc).or_else(|_| dict.get_deref(short, doc)).ok();
        let size = |long: &[u8], short: &[u8]| u32::try_from(found(long, short)?.as_i64().ok()?).ok();
        let (width, height) = (size(b"Width", b"W")?, size(b"Height", b"H")?);
        picture::check_size(width, height).ok()?;
        let mask = found(b"ImageMask", b"IM").is_some_and(|mask| mask.as_bool().unwrap_or(false));
        let bits = if mask { 1 } else { size(b"BitsPerComponent", b"BPC").unwrap_or(8) };
        let space = if mask { None } else { found(b"ColorSpace", b"CS").and_then(|space| Space::read(doc, space, 0)) };
        let decode = found(b"Decode", b"D").and_then(|decode| decode.as_array().ok());
        let first = decode.and_then(|decode| doc.dereference(decode.first()?).ok()?.1.as_float().ok());
        let inverted = first.is_some_and(|first| first > 0.5);
        matches!(bits, 1 | 2 | 4 | 8 | 16).then(|| Self {
            width,
            height,
            bits,
            space: space.unwrap_or(Space::Grey),
            inverted,
            mask,
        })
    }

    fn pixels(&self) -> Option<usize> {
        usize::try_from(u64::from(self.width) * u64::from(self.height)).ok()
    }

    /// Grey pixels out of rows of samples, of which each begins with a byte of its own.
    fn grey(&self, rows: &[u8]) -> Option<Grey> {
        let (width, parts) = (usize::try_from(self.width).ok()?, self.space.parts());
        let bits = usize::try_from(self.bits).ok()?;
        let row_bytes = (width * parts * bits).div_ceil(8);
        let pixel_count = self.pixels()?;
        let mut pixels = Vec::with_capacity(pixel_count);
        let mut pixel = [0u8; 4];
        for row in rows.chunks(row_bytes).take(usize::try_from(self.height).ok()?) {
            for x in 0..width {
                for (part, value) in pixel.iter_mut().enumerate().take(parts) {
                    *value = self.sample(row, x * parts + part);
                }
                pixels.push(self.space.grey(&pixel[..parts]));
            }
        }
        // What is missing at the end is white paper.
        pixels.resize(pixel_count, 255);
        Some(Grey { width: self.width, height: self.height, pixels, mask: self.mask })
    }

    /// The sample of this number in a row, from 0 to 255; of a palette, as it is.
    fn sample(&self, row: &[u8], number: usize) -> u8 {
        let byte = |at: usize| row.get(at).copied().unwrap_or(u8::MAX);
        let (value, most) = match self.bits {
            1 => (byte(number / 8) >> (7 - number % 8) & 1, 1),
            2 => (byte(number / 4) >> (6 - number % 4 * 2) & 3, 3),
            4 => (byte(number / 2) >> (4 - number % 2 * 4) & 15, 15),
            8 => (byte(number), 255),
            // The upper byte is fine enough.
            _ => (byte(number * 2), 255),
        };
        let value = if self.inverted { most - value } else { value };
        if matches!(self.space, Space::Palette(_)) { value } else { value * (255 / most) }
    }

    /// A picture that was unpacked to grey already.
    fn finished(&self, width: u32, height: u32, mut pixels: Vec<u8>) -> Grey {
        // Inks in a JPEG are turned round by its own mark, and by a list that only repeats it.
        if self.inverted && !matches!(self.space, Space::Cmyk) {
            pixels.iter_mut().for_each(|pixel| *pixel = 255 - *pixel);
        }
        Grey { width, height, pixels, mask: self.mask }
    }
}

type Filter = (Vec<u8>, Dictionary);

/// The bytes of a stream as far as plain filters lead, with the picture's own filter that is left.
fn outer(doc: &Document, stream: &Stream) -> Option<(Vec<u8>, Option<Filter>)> {
    let stream = resolved(doc, stream);
    let list = |key: &[u8], short: &[u8]| match stream.dict.get(key).or_else(|_| stream.dict.get(short)) {
        Ok(Object::Array(items)) => items.iter().take(MAX_FILTERS).cloned().collect(),
        Ok(one) => vec![one.clone()],
        Err(_) => Vec::new(),
    };
    let (mut filters, mut parms): (Vec<Object>, Vec<Object>) = (list(b"Filter", b"F"), list(b"DecodeParms", b"DP"));
    parms.resize(filters.len(), Object::Null);
    let own = |filter: &Object| {
        let names: [&[u8]; 6] = [b"DCTDecode", b"DCT", b"JPXDecode", b"CCITTFaxDecode", b"CCF", b"JBIG2Decode"];
        filter.as_name().is_ok_and(|name| names.contains(&name))
    };
    let last = match filters.last() {
        Some(filter) if own(filter) => {
            let name = filters.pop()?.as_name().ok()?.to_vec();
            let parms = parms.pop()?;
            Some((name, doc.dereference(&parms).ok()?.1.as_dict().cloned().unwrap_or_default()))
        }
        _ => None,
    };
    if filters.is_empty() {
        return Some((stream.content.clone(), last));
    }
    let mut dict = Dictionary::new();
    dict.set("Filter", Object::Array(filters));
    dict.set("DecodeParms", Object::Array(parms));
    let outer = Stream { dict, ..stream.into_owned() };
    Some((outer.get_plain_content_with_limit(MAX_BYTES).ok()?, last))
}

fn fax(doc: &Document, packed: &[u8], parms: &Dictionary, about: &About) -> Option<Vec<u8>> {
    let number = |key: &[u8], usual: i64| parms.get_deref(key, doc).and_then(Object::as_i64).unwrap_or(usual);
    let flag = |key: &[u8], usual: bool| parms.get_deref(key, doc).and_then(Object::as_bool).unwrap_or(usual);
    let columns = u32::try_from(number(b"Columns", 1728)).ok()?;
    picture::check_size(columns, about.height).ok()?;
    let encoding = match number(b"K", 0) {
        ..0 => EncodingMode::Group4,
        0 => EncodingMode::Group3_1D,
        1.. => EncodingMode::Group3_2D,
    };
    let mut rows = Rows::new(columns, about.height, flag(b"BlackIs1", false))?;
    let settings = hayro_ccitt::DecodeSettings {
        columns,
        rows: about.height,
        end_of_block: flag(b"EndOfBlock", true),
        end_of_line: flag(b"EndOfLine", false),
        rows_are_byte_aligned: flag(b"EncodedByteAlign", false),
        encoding,
        strict: false,
    };
    // What was unpacked before the damage counts.
    let _ = hayro_ccitt::decode(packed, &mut rows, &mut hayro_ccitt::DecoderContext::new(settings));
    let bytes = rows.into_bytes();
    (!bytes.is_empty() && columns.div_ceil(8) == about.width.div_ceil(8)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use fax::encoder::Encoder;
    use fax::{Color, VecWriter};
    use lopdf::dictionary;

    use super::super::super::process::ServerAids;
    use super::*;

    const WIDTH: u16 = 16;
    const HEIGHT: u16 = 8;
    /// The picture of the tests in JPEG 2000, without loss: its left half is black.
    const JPEG_2000: &str = "ff4fff510029000000000010000000080000000000000000000000100000000800000000000000000001070101ff5200\
        0c00000001000004040001ff5c00044040ff90000a0000000000640001ff93df8298115053190aac5ccd73c2e6000061\
        21281a00000000308d61f63f453847dca688fb94d11f729a23ee53447dca688fb94d11f729a23ee53447dca688fb94d1\
        1f729a23ee53447dca688fb94d11f729a23ee53447ffd9";

    fn half() -> Vec<u8> {
        (0..HEIGHT).flat_map(|_| (0..WIDTH).map(|x| if x < WIDTH / 2 { 0 } else { 255 })).collect()
    }

    /// Without a child.
    struct InThisProcess;

    impl Aids for InThisProcess {
        fn words(&self, _: &Picture, _: &Stop) -> Result<Option<kybern_core::document::PageText>, String> {
            Ok(None)
        }

        fn unpack(&self, packed: &Packed<'_>, _: &Stop) -> Option<Unpacked> {
            packed.decode()
        }
    }

    fn unpacked_here(stream: &Stream, work: &mut Work) -> Option<Grey> {
        let tools = Tools { aids: &InThisProcess, stop: &Stop::default() };
        unpack(&Document::new(), stream, tools, work).unwrap()
    }

    #[test]
    fn no_picture_is_unpacked_that_there_is_no_work_left_for() {
        let dict = || dictionary! { "Width" => 16, "Height" => 8, "BitsPerComponent" => 8 };
        let mut work = Work::of(256);
        assert!(unpacked_here(&Stream::new(dict(), vec![0; 128]), &mut work).is_some() && !work.is_over());
        assert!(unpacked_here(&Stream::new(dict(), vec![0; 128]), &mut work).is_none() && work.is_over());
        // A small picture out of many bytes is work, too.
        let mut work = Work::of(1_000);
        assert!(unpacked_here(&Stream::new(dict(), vec![0; 2_000]), &mut work).is_none() && work.is_over());
    }

    #[test]
    fn a_picture_is_paid_at_its_own_size_and_a_child_process_whatever_it_does() {
        let claims = |filter: &str| dictionary! { "Width" => 1, "Height" => 1, "Filter" => filter };
        let mut jpeg = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new(&mut jpeg);
        image::GrayImage::new(300, 200).write_with_encoder(encoder).unwrap();
        let packed = u64::try_from(jpeg.len()).unwrap();
        let paper = Stream::new(claims("DCTDecode"), jpeg);
        let mut work = Work::of(packed + 300 * 200);
        assert!(unpacked_here(&paper, &mut work).is_some() && !work.is_over());
        let mut work = Work::of(packed + 300 * 200 - 1);
        assert!(unpacked_here(&paper, &mut work).is_none() && work.is_over(), "it says that it has one pixel");
        for filter in ["JPXDecode", "JBIG2Decode"] {
            let damaged = Stream::new(claims(filter), vec![0; 10]);
            let mut work = Work::of(11 + u64::try_from(CHILD).unwrap());
            assert!(unpacked_here(&damaged, &mut work).is_none() && !work.is_over());
            assert!(unpacked_here(&damaged, &mut work).is_none() && work.is_over(), "{filter} has paid");
        }
    }

    #[test]
    fn no_picture_is_unpacked_when_nobody_waits_any_more() {
        let stream = Stream::new(dictionary! { "Width" => 16, "Height" => 8, "BitsPerComponent" => 8 }, vec![0; 128]);
        let tools = Tools { aids: &InThisProcess, stop: &Stop::set() };
        unpack(&Document::new(), &stream, tools, &mut Work::of(u64::MAX)).unwrap_err();
    }

    #[test]
    fn without_a_program_for_them_hard_packings_are_not_unpacked() {
        let dict = dictionary! { "Width" => 16, "Height" => 8, "Filter" => "JPXDecode" };
        let tools = Tools { aids: &ServerAids::default(), stop: &Stop::default() };
        let stream = Stream::new(dict, hex(JPEG_2000));
        assert_eq!(unpack(&Document::new(), &stream, tools, &mut Work::of(u64::MAX)).unwrap(), None);
    }

    fn unpacked(filter: &str, parms: Dictionary, bits: i64, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let dict = dictionary! {
            "Width" => i64::from(WIDTH), "Height" => i64::from(HEIGHT), "BitsPerComponent" => bits,
            "ColorSpace" => "DeviceGray", "Filter" => filter, "DecodeParms" => parms,
        };
        let grey = unpacked_here(&Stream::new(dict, bytes), &mut Work::of(u64::MAX))?;
        assert_eq!((grey.width, grey.height), (u32::from(WIDTH), u32::from(HEIGHT)));
        Some(grey.pixels)
    }

    fn group_4() -> Vec<u8> {
        let mut encoder = Encoder::new(VecWriter::new());
        for _ in 0..HEIGHT {
            let row = (0..WIDTH).map(|x| if x < WIDTH / 2 { Color::Black } else { Color::White });
            encoder.encode_line(row, WIDTH).unwrap();
        }
        encoder.finish().unwrap().finish()
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        digits.chunks(2).map(|two| u8::from_str_radix(&two.iter().collect::<String>(), 16).unwrap()).collect()
    }

    #[test]
    fn a_fax_is_unpacked() {
        let parms = || dictionary! { "K" => -1, "Columns" => i64::from(WIDTH) };
        assert_eq!(unpacked("CCITTFaxDecode", parms(), 1, group_4()), Some(half()));
        let mut turned = parms();
        turned.set("BlackIs1", true);
        let light: Vec<u8> = half().iter().map(|pixel| 255 - pixel).collect();
        assert_eq!(unpacked("CCITTFaxDecode", turned, 1, group_4()), Some(light));
        let other = dictionary! { "K" => -1, "Columns" => 64 };
        assert_eq!(unpacked("CCITTFaxDecode", other, 1, group_4()), None);
    }

    #[test]
    fn jbig2_is_unpacked() {
        let size = [u32::from(WIDTH).to_be_bytes(), u32::from(HEIGHT).to_be_bytes()].concat();
        let segment = |number: u8, kind: u8, data: &[u8]| {
            let length = u32::try_from(data.len()).unwrap().to_be_bytes();
            [&[0, 0, 0, number, kind, 0, 1][..], &length, data].concat()
        };
        let page = segment(0, 48, &[&size[..], &[0; 11]].concat());
        // A region that is packed as a fax is.
        let region = segment(1, 38, &[&size[..], &[0; 9], &[1], &group_4()].concat());
        assert_eq!(unpacked("JBIG2Decode", Dictionary::new(), 1, [page, region].concat()), Some(half()));
        assert_eq!(unpacked("JBIG2Decode", Dictionary::new(), 1, b"torn".to_vec()), None);
    }

    #[test]
    fn jpeg_2000_is_unpacked() {
        assert_eq!(unpacked("JPXDecode", Dictionary::new(), 8, hex(JPEG_2000)), Some(half()));
        assert_eq!(unpacked("JPXDecode", Dictionary::new(), 8, hex(JPEG_2000)[..60].to_vec()), None);
    }

    #[test]
    fn samples_of_every_width_and_space_are_read() {
        let rows = |row: &[u8]| row.repeat(usize::from(HEIGHT));
        let plain = |space: Object, bits: i64, row: &[u8]| {
            let dict = dictionary! {
                "Width" => 2, "Height" => i64::from(HEIGHT), "BitsPerComponent" => bits, "ColorSpace" => space,
            };
            unpacked_here(&Stream::new(dict, rows(row)), &mut Work::of(u64::MAX)).unwrap().pixels[..2].to_vec()
        };
        let name = |name: &str| Object::Name(name.as_bytes().to_vec());
        assert_eq!(plain(name("DeviceGray"), 1, &[0b0100_0000]), [0, 255]);
        assert_eq!(plain(name("DeviceGray"), 2, &[0b0110_0000]), [85, 170]);
        assert_eq!(plain(name("DeviceGray"), 4, &[0x0F]), [0, 255]);
        assert_eq!(plain(name("DeviceGray"), 16, &[7, 0, 9, 0]), [7, 9]);
        assert_eq!(plain(name("DeviceRGB"), 8, &[0, 0, 0, 255, 255, 255]), [0, 255]);
        assert_eq!(plain(name("DeviceCMYK"), 8, &[0, 0, 0, 255, 0, 0, 0, 0]), [0, 255]);
        let palette = Object::Array(vec![
            name("Indexed"),
            name("DeviceRGB"),
            Object::Integer(1),
            Object::string_literal(b"\xFF\xFF\xFF\0\0\0".to_vec()),
        ]);
        assert_eq!(plain(palette, 1, &[0b0100_0000]), [255, 0]);
    }
}
