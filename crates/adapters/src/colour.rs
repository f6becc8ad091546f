//! Colours of mails and pages, as far as letters in the colour of their ground are looked for.

/// How much the three parts of two colours differ together when a reader sees no difference.
const SAME: u32 = 24;

/// A colour: red, green and blue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Colour([u8; 3]);

impl Colour {
    pub(crate) const WHITE: Self = Self([255; 3]);

    /// `None` when it cannot be told, so that nothing is taken for hidden by mistake.
    pub(crate) fn parse(value: &str) -> Option<Self> {
        let first = value.trim();
        if let Some(hex) = first.strip_prefix('#') {
            let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
            let part = |from: usize, to: usize| u8::from_str_radix(hex.get(from..to)?, 16).ok();
            return match end {
                3 | 4 => Some(Self([part(0, 1)? * 17, part(1, 2)? * 17, part(2, 3)? * 17])),
                6 | 8 => Some(Self([part(0, 2)?, part(2, 4)?, part(4, 6)?])),
                _ => None,
            };
        }
        if let Some(list) = first.strip_prefix("rgb(").or_else(|| first.strip_prefix("rgba(")) {
            let numbers: Vec<u8> = list.split([',', ')', ' ']).filter_map(|part| part.trim().parse().ok()).collect();
            return numbers.get(..3).and_then(|three| three.try_into().ok()).map(Self);
        }
        match first.split_whitespace().next()? {
            "white" => Some(Self::WHITE),
            "black" | "windowtext" => Some(Self([0; 3])),
            _ => None,
        }
    }

    /// Whether a reader sees no difference.
    pub(crate) fn looks_like(self, other: Self) -> bool {
        self.0.iter().zip(other.0).map(|(a, b)| u32::from(a.abs_diff(b))).sum::<u32>() <= SAME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_that_nobody_tells_apart_look_alike() {
        for pale in ["white", "#fff", "#FAFAFA", "#fefefe80", "rgb(250, 250, 255)", "rgba(255,255,255,1)"] {
            assert!(Colour::parse(&pale.to_ascii_lowercase()).unwrap().looks_like(Colour::WHITE), "{pale}");
        }
        for other in ["black", "#eee", "rgb(0,0,0)", "#123456"] {
            assert!(!Colour::parse(other).unwrap().looks_like(Colour::WHITE), "{other}");
        }
        assert!(["", "#12", "var(--pale)", "inherit"].iter().all(|none| Colour::parse(none).is_none()));
    }
}
