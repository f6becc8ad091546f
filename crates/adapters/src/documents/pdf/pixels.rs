//! The pictures inside a PDF as grey pixels, whatever they are packed in: plain, JPEG, fax, JBIG2, JPEG 2000.
//!
//! Sizes are looked at before anything is unpacked, and nothing unpacks to more than its size says. What says no size
//! that holds is unpacked in a child process of its own ([`super::packed`]).

use hayro_ccitt::EncodingMode;
use kybern_core::document::DocumentFault;
use lopdf::{Dictionary, Document, Object, Stream};

use super::super::picture::{self, Picture};
use super::super::process::ReaderServices;
use super::packed::{Packed, Unpacked};
use super::rows::Rows;
use super::space::ColourSpace;
use super::unpack::resolved;
use crate::workers::StopFlag;

/// Bytes of one picture before its pixels are taken out.
const MAX_BYTES: usize = 128 * 1024 * 1024;
/// What starting a child process is worth, in pixels, whatever becomes of it.
const CHILD: usize = 4_000_000;
/// Filters of one stream.
const MAX_FILTERS: usize = 16;

/// What unpacks pictures, and says when nobody waits for them any more.
#[derive(Clone, Copy)]
pub(super) struct Tools<'a> {
    pub(super) aids: &'a dyn ReaderServices,
    pub(super) stop: &'a StopFlag,
}

/// How many more pixels may be unpacked and looked at.
#[derive(Debug)]
pub(super) struct PixelBudget {
    left: u64,
    over: bool,
}

impl PixelBudget {
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
    work: &mut PixelBudget,
) -> Result<Option<Grey>, DocumentFault> {
    let unpacked = unpack_whole(doc, stream, tools, work);
    tools.stop.check()?;
    Ok(unpacked)
}

fn unpack_whole(doc: &Document, stream: &Stream, tools: Tools<'_>, work: &mut PixelBudget) -> Option<Grey> {
    let about = PictureHeader::read(doc, stream)?;
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
struct PictureHeader {
    width: u32,
    height: u32,
    bits: u32,
    space: ColourSpace,
    inverted: bool,
    mask: bool,
}

impl PictureHeader {
    fn read(doc: &Document, stream: &Stream) -> Option<Self> {
        let dict = &stream.dict;
        let found = |long: &[u8], short: &[u8]| dict.get_deref(long, doc).or_else(|_| dict.get_deref(short, doc)).ok();
        let size = |long: &[u8], short: &[u8]| u32::try_from(found(long, short)?.as_i64().ok()?).ok();
        let (width, height) = (size(b"Width", b"W")?, size(b"Height", b"H")?);
        picture::check_size(width, height).ok()?;
        let mask = found(b"ImageMask", b"IM").is_some_and(|mask| mask.as_bool().unwrap_or(false));
        let bits = if mask { 1 } else { size(b"BitsPerComponent", b"BPC").unwrap_or(8) };
        let space =
            if mask { None } else { found(b"ColorSpace", b"CS").and_then(|space| ColourSpace::read(doc, space, 0)) };
        let decode = found(b"Decode", b"D").and_then(|decode| decode.as_array().ok());
        let first = decode.and_then(|decode| doc.dereference(decode.first()?).ok()?.1.as_float().ok());
        let inverted = first.is_some_and(|first| first > 0.5);
        matches!(bits, 1 | 2 | 4 | 8 | 16).then(|| Self {
            width,
            height,
            bits,
            space: space.unwrap_or(ColourSpace::Grey),
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
        if matches!(self.space, ColourSpace::Palette(_)) { value } else { value * (255 / most) }
    }

    /// A picture that was unpacked to grey already.
    fn finished(&self, width: u32, height: u32, mut pixels: Vec<u8>) -> Grey {
        // Inks in a JPEG are turned round by its own mark, and by a list that only repeats it.
        if self.inverted && !matches!(self.space, ColourSpace::Cmyk) {
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

fn fax(doc: &Document, packed: &[u8], parms: &Dictionary, about: &PictureHeader) -> Option<Vec<u8>> {
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
mod tests;
