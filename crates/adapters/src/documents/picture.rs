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
        Ok(PagePicture { media_type: "image/png", bytes: Bytes::from(bytes) })
    }
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
