//! Pictures in JPEG 2000 and JBIG2, unpacked in a child process of their own.
//!
//! What a decoder of these takes in memory and time does not follow from the size of the picture: a few bytes ask for
//! millions of code blocks or symbols, each of which is set up before its data is missed. No header bounds that, and
//! a decoder cannot be stopped, so it runs where both end ([`super::super::process`]). It is not the process that reads
//! the document: a page whose picture cannot be unpacked is not read, and the others are.

use hayro_jpeg2000 as jpx;

use super::super::picture;
use super::super::process::Tag;
use super::rows::Rows;
use super::space::ColourSpace;

/// Bytes of a JPEG 2000 picture while it is unpacked, of the gigabyte that a child has. One that needs more is unpacked
/// to half its size, or a quarter: its format allows that.
const MAX_MEMORY: u64 = 640 * 1024 * 1024;
/// How often it is halved.
const MAX_HALVINGS: u32 = 5;

/// A picture as it lies in a document.
pub(in crate::documents) enum Packed<'a> {
    Jpeg2000(&'a [u8]),
    /// With what several pages share.
    Jbig2 {
        shared: &'a [u8],
        page: &'a [u8],
    },
}

/// A picture in grey pixels, 0 for black, from JPEG 2000; in rows of bits, of which each begins with a byte of its own,
/// from JBIG2.
#[derive(Debug)]
pub(in crate::documents) struct Unpacked {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) bytes: Vec<u8>,
}

impl<'a> Packed<'a> {
    /// The frame that carries it: its tag and its parts.
    pub(in crate::documents) fn to_wire(&self) -> (Tag, Vec<u8>, [&'a [u8]; 2]) {
        match self {
            Self::Jpeg2000(bytes) => (Tag::Jpeg2000, Vec::new(), [bytes, &[]]),
            Self::Jbig2 { shared, page } => {
                let length = u64::try_from(shared.len()).unwrap_or(u64::MAX).to_be_bytes();
                (Tag::Jbig2, length.to_vec(), [shared, page])
            }
        }
    }

    pub(in crate::documents) fn from_wire(tag: Tag, bytes: &'a [u8]) -> Option<Self> {
        match tag {
            Tag::Jpeg2000 => Some(Self::Jpeg2000(bytes)),
            Tag::Jbig2 => {
                let (length, bytes) = bytes.split_first_chunk()?;
                let (shared, page) = bytes.split_at_checked(usize::try_from(u64::from_be_bytes(*length)).ok()?)?;
                Some(Self::Jbig2 { shared, page })
            }
            Tag::Order | Tag::Document | Tag::Words | Tag::Unpacked | Tag::Answer | Tag::Drawn => None,
        }
    }

    /// Unpacks it in this process, which is to be one whose memory and time are limited.
    pub(in crate::documents) fn decode(&self) -> Option<Unpacked> {
        match self {
            Self::Jpeg2000(bytes) => jpeg_2000(bytes),
            Self::Jbig2 { shared, page } => jbig2(shared, page),
        }
    }
}

impl Unpacked {
    /// Width and height, and the bytes.
    pub(in crate::documents) fn into_wire(self) -> (Vec<u8>, Vec<u8>) {
        ([self.width.to_be_bytes(), self.height.to_be_bytes()].concat(), self.bytes)
    }

    pub(in crate::documents) fn from_wire(mut output: Vec<u8>) -> Option<Self> {
        let (width, rest) = output.split_first_chunk()?;
        let (height, rest) = rest.split_first_chunk()?;
        let (width, height) = (u32::from_be_bytes(*width), u32::from_be_bytes(*height));
        picture::check_size(width, height).ok()?;
        let from = output.len() - rest.len();
        output.drain(..from);
        Some(Self { width, height, bytes: output })
    }
}

fn jpeg_2000(packed: &[u8]) -> Option<Unpacked> {
    let image = (0..=MAX_HALVINGS).find_map(|halvings| fitting(packed, halvings))?;
    let (width, height) = (image.width(), image.height());
    let space = match image.color_space().num_channels() {
        3 => ColourSpace::Rgb,
        4 => ColourSpace::Cmyk,
        _ => ColourSpace::Grey,
    };
    let parts = parts(&image);
    let mut context = jpx::DecoderContext::default();
    let samples = image.decode(&mut context).ok()?.data_u8();
    let bytes: Vec<u8> = samples.chunks_exact(parts).map(|pixel| space.grey(pixel)).collect();
    (u64::try_from(bytes.len()).ok()? == u64::from(width) * u64::from(height)).then_some(())?;
    Some(Unpacked { width, height, bytes })
}

/// The picture halved so often, if that is small enough.
fn fitting(packed: &[u8], halvings: u32) -> Option<jpx::Image<'_>> {
    let mut settings = jpx::DecodeSettings::default();
    let mut image = jpx::Image::new(packed, &settings).ok()?;
    if halvings > 0 {
        settings.target_resolution = Some(((image.width() >> halvings).max(1), (image.height() >> halvings).max(1)));
        image = jpx::Image::new(packed, &settings).ok()?;
    }
    picture::check_size(image.width(), image.height()).ok()?;
    // Each part as four bytes, twice four bytes while one is worked on, then each part and the grey as a byte.
    let pixel = u64::try_from(5 * parts(&image) + 9).ok()?;
    (u64::from(image.width()) * u64::from(image.height()) * pixel <= MAX_MEMORY).then_some(image)
}

/// The numbers of a pixel.
fn parts(image: &jpx::Image<'_>) -> usize {
    (usize::from(image.color_space().num_channels()) + usize::from(image.has_alpha())).max(1)
}

fn jbig2(shared: &[u8], page: &[u8]) -> Option<Unpacked> {
    let settings = hayro_jbig2::DecodeSettings::default();
    let shared = match shared {
        [] => None,
        shared => Some(hayro_jbig2::Globals::new(shared, &settings).ok()?),
    };
    let page = hayro_jbig2::Page::new_embedded(page, shared.as_ref(), &settings).ok()?;
    let (width, height) = (page.width(), page.height());
    picture::check_size(width, height).ok()?;
    let mut rows = Rows::new(width, height, false)?;
    page.decode(&mut rows).ok()?;
    Some(Unpacked { width, height, bytes: rows.into_bytes() })
}
