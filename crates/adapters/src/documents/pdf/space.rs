//! What the numbers of a pixel mean, and how light they make it.

use lopdf::{Document, Object};

use super::unpack::resolved;

/// How many numbers a pixel has, and what they mean.
pub(super) enum ColourSpace {
    /// 0 is black.
    Grey,
    /// Inks: 0 is the paper's white.
    Ink,
    Rgb,
    Cmyk,
    /// Numbers of grey values.
    Palette(Vec<u8>),
}

impl ColourSpace {
    pub(super) const fn parts(&self) -> usize {
        match self {
            Self::Grey | Self::Ink | Self::Palette(_) => 1,
            Self::Rgb => 3,
            Self::Cmyk => 4,
        }
    }

    /// A pixel of this space, whose parts are between 0 and 255; of a palette, numbers.
    pub(super) fn grey(&self, parts: &[u8]) -> u8 {
        match (self, parts) {
            (Self::Grey, [grey, ..]) => *grey,
            (Self::Ink, [ink, ..]) => 255 - ink,
            (Self::Rgb, [red, green, blue, ..]) => mix(*red, *green, *blue),
            (Self::Cmyk, [cyan, magenta, yellow, black, ..]) => {
                let light = |ink: u8| 255 - ink.saturating_add(*black);
                mix(light(*cyan), light(*magenta), light(*yellow))
            }
            (Self::Palette(values), [number, ..]) => values.get(usize::from(*number)).copied().unwrap_or(0),
            _ => 255,
        }
    }

    pub(super) fn read(doc: &Document, object: &Object, depth: usize) -> Option<Self> {
        let object = doc.dereference(object).ok()?.1;
        if let Ok(name) = object.as_name() {
            return Self::named(name);
        }
        let array = object.as_array().ok()?;
        let name = doc.dereference(array.first()?).ok()?.1.as_name().ok()?;
        match name {
            b"ICCBased" => {
                let profile = doc.dereference(array.get(1)?).ok()?.1.as_stream().ok()?;
                match profile.dict.get_deref(b"N", doc).ok()?.as_i64().ok()? {
                    1 => Some(Self::Grey),
                    3 => Some(Self::Rgb),
                    4 => Some(Self::Cmyk),
                    _ => None,
                }
            }
            b"Indexed" | b"I" if depth == 0 => {
                let base = Self::read(doc, array.get(1)?, 1)?;
                let table = match doc.dereference(array.get(3)?).ok()?.1 {
                    Object::String(bytes, _) => bytes.clone(),
                    Object::Stream(stream) => resolved(doc, stream).get_plain_content_with_limit(64 * 1024).ok()?,
                    _ => return None,
                };
                Some(Self::Palette(table.chunks_exact(base.parts()).take(256).map(|one| base.grey(one)).collect()))
            }
            b"Separation" => Some(Self::Ink),
            name => Self::named(name),
        }
    }

    fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"DeviceGray" | b"G" | b"CalGray" => Some(Self::Grey),
            b"DeviceRGB" | b"RGB" | b"CalRGB" => Some(Self::Rgb),
            b"DeviceCMYK" | b"CMYK" => Some(Self::Cmyk),
            _ => None,
        }
    }
}

fn mix(red: u8, green: u8, blue: u8) -> u8 {
    let light = u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114;
    u8::try_from(light / 1000).unwrap_or(u8::MAX)
}
