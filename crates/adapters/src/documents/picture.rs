//! Pictures as OCR and people see them: grey, and never larger than the limits.
//!
//! A size is looked at before a picture is unpacked, because a few bytes can say that they are gigabytes.

use std::io::Cursor;

use bytes::Bytes;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageDecoder, ImageEncoder as _, ImageReader, Limits, imageops};
use kybern_core::document::{DocumentFault, FaultKind, PagePicture, limits};

/// Bytes that a decoder may take: three for each pixel, and what it holds beside them.
const MAX_MEMORY: u64 = 4 * limits::MAX_PIXELS;
/// What a picture that does not say its resolution is taken for.
pub(super) const USUAL_DPI: u32 = 200;

/// Bytes of an entry in a directory of a TIFF, and the one that says what kind of picture it is.
const ENTRY: usize = 12;
const SUBFILE_TYPE: usize = 254;
/// The part of a picture's width and height that is its edge.
const EDGE: usize = 10;
/// How much darker than paper ink is.
const CONTRAST: usize = 50;
/// One point of ink in so many is dust: a word written by hand on a letter page has four times as much.
const SPECKS: usize = 4_000;

/// A grey picture, row by row from the top, 0 for black.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Picture {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) pixels: Vec<u8>,
    /// Pixels of an inch.
    pub(super) dpi: u32,
}

impl Picture {
    /// How many pixels a picture says that it has; its dictionary in a document may say something else.
    pub(super) fn pixels_of(bytes: &[u8]) -> Option<u64> {
        let (width, height) =
            ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?.into_dimensions().ok()?;
        Some(u64::from(width) * u64::from(height))
    }

    /// Unpacks a PNG, JPEG, TIFF or WebP, turned as its camera says.
    ///
    /// # Errors
    /// `TooLarge` over the limit of pixels, `Unsupported` for another kind, `Broken` when it cannot be unpacked.
    pub(super) fn unpack(bytes: &[u8]) -> Result<Self, DocumentFault> {
        let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|_| broken())?;
        if reader.format().is_none() {
            return Err(DocumentFault::new(
                FaultKind::Unsupported,
                "it is a picture of a kind that cannot be unpacked",
            ));
        }
        let mut limit = Limits::no_limits();
        limit.max_alloc = Some(MAX_MEMORY);
        reader.limits(limit);
        let mut decoder = reader.into_decoder().map_err(|error| fault(&error))?;
        let (width, height) = decoder.dimensions();
        check_size(width, height)?;
        let turned = decoder.orientation().map_err(|error| fault(&error))?;
        let mut unpacked = image::DynamicImage::from_decoder(decoder).map_err(|error| fault(&error))?;
        unpacked.apply_orientation(turned);
        let grey = on_white(&unpacked);
        let (width, height) = grey.dimensions();
        Ok(Self { width, height, pixels: grey.into_raw(), dpi: USUAL_DPI })
    }

    /// The same picture, made smaller where its longer side has more pixels than that.
    pub(super) fn within(self, longest: u32) -> Self {
        let side = self.width.max(self.height);
        if side <= longest {
            return self;
        }
        let to = |size: u32| size_of_side(size, longest, side);
        let (width, height, dpi) = (to(self.width), to(self.height), to(self.dpi));
        let Some(grey) = image::GrayImage::from_raw(self.width, self.height, self.pixels) else {
            return Self { width: 1, height: 1, pixels: vec![255], dpi };
        };
        let pixels = imageops::resize(&grey, width, height, imageops::FilterType::Triangle).into_raw();
        Self { width, height, pixels, dpi }
    }

    /// Whether it shows nothing but paper. Its edges do not count: there are shadows and the holes of a punch.
    pub(super) fn is_blank(&self) -> bool {
        let size = |side: u32| usize::try_from(side).unwrap_or(0);
        let (width, height) = (size(self.width), size(self.height));
        let (beside, above) = (width / EDGE, height / EDGE);
        let rows = self.pixels.chunks_exact(width.max(1)).skip(above).take(height - 2 * above);
        let mut shades = [0usize; 256];
        rows.flat_map(|row| &row[beside..width - beside]).for_each(|pixel| shades[usize::from(*pixel)] += 1);
        let all: usize = shades.iter().sum();
        let mut lighter = 0;
        // Paper is what half of the page is as light as.
        let paper = (0..256).rev().find(|shade| {
            lighter += shades[*shade];
            2 * lighter >= all
        });
        let ink: usize = shades[..paper.unwrap_or(0).saturating_sub(CONTRAST)].iter().sum();
        ink * SPECKS <= all
    }

    /// As a PNG.
    ///
    /// # Errors
    /// `Broken` when it cannot be packed.
    pub(super) fn to_png(&self) -> Result<PagePicture, DocumentFault> {
        let mut bytes = Vec::new();
        let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Up);
        encoder
            .write_image(&self.pixels, self.width, self.height, ExtendedColorType::L8)
            .map_err(|error| fault(&error))?;
        Ok(png(bytes))
    }

    /// Width, height and resolution, as they go from one process to another before the pixels.
    pub(super) fn wire_head(&self) -> Vec<u8> {
        [self.width.to_be_bytes(), self.height.to_be_bytes(), self.dpi.to_be_bytes()].concat()
    }

    /// A picture as it came from another process; `None` when its pixels are not as many as it says.
    pub(super) fn from_wire(mut bytes: Vec<u8>) -> Option<Self> {
        let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let (width, height, dpi) = (number(0)?, number(4)?, number(8)?);
        check_size(width, height).ok()?;
        bytes.drain(..12);
        let pixels = u64::from(width) * u64::from(height);
        (u64::try_from(bytes.len()) == Ok(pixels)).then_some(Self { width, height, pixels: bytes, dpi })
    }
}

/// A page that was packed as a PNG.
pub(super) fn png(bytes: Vec<u8>) -> PagePicture {
    PagePicture { media_type: "image/png", bytes: Bytes::from(bytes) }
}

/// How many pages a picture has: a TIFF, which is what a fax machine sends, may have several.
pub(super) fn pages(bytes: &[u8]) -> usize {
    tiff_pages(bytes).unwrap_or(1).clamp(1, limits::MAX_PAGES)
}

/// The pages of a TIFF, as far as its chain of directories holds together. Small copies of pages do not count.
fn tiff_pages(bytes: &[u8]) -> Option<usize> {
    let from_small = match bytes.get(..4)? {
        [b'I', b'I', 42, 0] => true,
        [b'M', b'M', 0, 42] => false,
        _ => return None,
    };
    let number = |at: usize, size: usize| -> Option<usize> {
        let digits = bytes.get(at..at.checked_add(size)?)?.iter();
        let add = |sum: usize, digit: &u8| sum << 8 | usize::from(*digit);
        Some(if from_small { digits.rev().fold(0, add) } else { digits.fold(0, add) })
    };
    let (mut pages, mut at) = (0, number(4, 4)?);
    // A chain may lead back to where it came from.
    for _ in 0..2 * limits::MAX_PAGES {
        let Some(entries) = number(at, 2).filter(|_| at > 0) else { break };
        let first = at + 2;
        let is_copy = (0..entries).map(|n| first + ENTRY * n).any(|entry| {
            number(entry, 2) == Some(SUBFILE_TYPE) && number(entry + 8, 4).is_some_and(|kind| kind & 1 == 1)
        });
        pages += usize::from(!is_copy);
        match number(first + ENTRY * entries, 4) {
            Some(next) => at = next,
            None => break,
        }
    }
    Some(pages)
}

/// A size of a picture whose longer side becomes `longest`.
fn size_of_side(size: u32, longest: u32, side: u32) -> u32 {
    let scaled = u64::from(size) * u64::from(longest) / u64::from(side.max(1));
    u32::try_from(scaled).unwrap_or(longest).max(1)
}

/// Whether a picture may be unpacked.
///
/// # Errors
/// `TooLarge`, or `Broken` when it has no pixels.
pub(super) fn check_size(width: u32, height: u32) -> Result<(), DocumentFault> {
    if width == 0 || height == 0 {
        return Err(broken());
    }
    if u64::from(width) * u64::from(height) > limits::MAX_PIXELS {
        let most = limits::MAX_PIXELS / 1_000_000;
        let message = format!("its picture has {width} x {height} pixels, over the limit of {most} million");
        return Err(DocumentFault::new(FaultKind::TooLarge, message));
    }
    Ok(())
}

/// Grey, with what is transparent on white, as on a screen: black letters on nothing would else be black on black.
fn on_white(picture: &image::DynamicImage) -> image::GrayImage {
    if !picture.color().has_alpha() {
        return picture.to_luma8();
    }
    let mut white = image::RgbaImage::from_pixel(picture.width(), picture.height(), image::Rgba([255; 4]));
    imageops::overlay(&mut white, &picture.to_rgba8(), 0, 0);
    imageops::grayscale(&white)
}

fn fault(error: &image::ImageError) -> DocumentFault {
    match error {
        image::ImageError::Limits(_) => {
            DocumentFault::new(FaultKind::TooLarge, "its picture unpacks to far more than its own size")
        }
        image::ImageError::Unsupported(_) => {
            DocumentFault::new(FaultKind::Unsupported, "it is a picture of a kind that cannot be unpacked")
        }
        _ => broken(),
    }
}

fn broken() -> DocumentFault {
    DocumentFault::new(FaultKind::Broken, "its picture is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot() -> Picture {
        Picture { width: 2, height: 2, pixels: vec![0, 255, 255, 128], dpi: USUAL_DPI }
    }

    #[test]
    fn a_picture_survives_being_packed() {
        assert_eq!(Picture::unpack(&dot().to_png().unwrap().bytes).unwrap(), dot());
    }

    #[test]
    fn a_picture_is_made_smaller_and_never_larger() {
        let wide = Picture { width: 400, height: 100, pixels: [0, 255].repeat(20_000), dpi: 300 };
        let small = wide.clone().within(40);
        assert_eq!((small.width, small.height, small.dpi, small.pixels.len()), (40, 10, 30, 400));
        assert!(
            small.pixels.iter().all(|pixel| (100..156).contains(pixel)),
            "black and white lines are grey from afar"
        );
        assert_eq!(wide.clone().within(400), wide);
        let line = Picture { width: 5_000, height: 1, pixels: vec![0; 5_000], dpi: 300 };
        assert_eq!(line.within(100).height, 1);
    }

    #[test]
    fn a_size_is_looked_at_before_anything_is_unpacked() {
        let mut png = dot().to_png().unwrap().bytes.to_vec();
        // The width of a PNG, and the checksum of the chunk that it stands in.
        png[16..20].copy_from_slice(&100_000u32.to_be_bytes());
        png[20..24].copy_from_slice(&100_000u32.to_be_bytes());
        let sum = flate2::Crc::new();
        let mut sum = sum;
        sum.update(&png[12..29]);
        let sum = sum.sum().to_be_bytes();
        png[29..33].copy_from_slice(&sum);
        let fault = Picture::unpack(&png).unwrap_err();
        assert_eq!(fault.kind, FaultKind::TooLarge);
        assert_eq!(check_size(0, 5).unwrap_err().kind, FaultKind::Broken);
    }

    #[test]
    fn the_pages_of_a_fax_are_counted() {
        // Directories with one entry each: which kind it is.
        let fax = |kinds: &[u32], last: u32| {
            let mut file = b"II*\0\x08\0\0\0".to_vec();
            for (n, kind) in kinds.iter().enumerate() {
                let next = if n + 1 == kinds.len() { last } else { 8 + 18 * (u32::try_from(n).unwrap() + 1) };
                file.extend([1, 0, 254, 0, 4, 0, 1, 0, 0, 0]);
                file.extend(kind.to_le_bytes());
                file.extend(next.to_le_bytes());
            }
            file
        };
        assert_eq!(pages(&fax(&[0], 0)), 1);
        assert_eq!(pages(&fax(&[2, 1, 2, 2], 0)), 3, "the second is a small copy");
        assert_eq!(pages(&fax(&[0, 0], 8)), limits::MAX_PAGES, "it bites its tail");
        assert_eq!((pages(&fax(&[0, 0], 9_999)), pages(b"II*\0"), pages(b"\x89PNG")), (2, 1, 1));
    }

    #[test]
    fn a_page_with_a_word_on_it_is_not_blank() {
        // A letter page of 100 dots an inch, on grey paper with a black edge and dust.
        let paper = |shade: u8| {
            let mut page = Picture { width: 850, height: 1100, pixels: vec![shade; 850 * 1100], dpi: 100 };
            page.pixels.chunks_mut(850).for_each(|row| row[..20].fill(0));
            (0..50).for_each(|n| page.pixels[850 * (200 + 10 * n) + 300] = 0);
            page
        };
        assert!(paper(255).is_blank() && paper(120).is_blank());
        let mut written = paper(230);
        (500..520).for_each(|y| written.pixels[850 * y + 400..850 * y + 440].fill(120));
        assert!(!written.is_blank());
        assert!(!Picture { width: 1, height: 2, pixels: vec![0, 255], dpi: 100 }.is_blank());
    }

    #[test]
    fn what_is_transparent_is_white() {
        let mut bytes = Vec::new();
        PngEncoder::new(&mut bytes).write_image(&[0, 0, 0, 0], 1, 1, ExtendedColorType::Rgba8).unwrap();
        assert_eq!(Picture::unpack(&bytes).unwrap().pixels, [255]);
    }

    #[test]
    fn damage_and_strange_kinds_are_told_apart() {
        assert_eq!(Picture::unpack(&dot().to_png().unwrap().bytes[..40]).unwrap_err().kind, FaultKind::Broken);
        assert_eq!(Picture::unpack(b"\0\0\0\x18ftypheic").unwrap_err().kind, FaultKind::Unsupported);
    }
}
