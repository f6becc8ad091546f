//! What a page hides from the person who looks at it, by the attributes of its elements.

use super::tags::Attributes;
use crate::colour::Colour;

/// Whether an element with these attributes is not shown. `painted` says that the page has a background that is not
/// white, so that white text may be seen somewhere.
pub(super) fn is_hidden(attributes: &Attributes, painted: bool) -> bool {
    let lower = |name| attributes.get(name).map(str::to_ascii_lowercase);
    if attributes.get("hidden").is_some() {
        return true;
    }
    let Some(style) = lower("style") else {
        // `font color=white` is the way of old pages.
        return !painted && lower("color").is_some_and(|colour| is_white(&colour));
    };
    let (mut colour, mut ground) = (None, None);
    let (mut small, mut cut) = (0, false);
    for (name, value) in style.split(';').filter_map(|rule| rule.split_once(':')) {
        let (name, value) = (name.trim(), value.trim().trim_end_matches("!important").trim());
        match name {
            "display" if value == "none" => return true,
            "visibility" if matches!(value, "hidden" | "collapse") => return true,
            "opacity" | "font-size" if is_nothing(value) => return true,
            "mso-hide" if value == "all" => return true,
            "width" | "height" | "max-width" | "max-height" if is_nothing(value) => small += 1,
            "overflow" if value == "hidden" => cut = true,
            "color" => colour = Some(value),
            "background" | "background-color" => ground = Some(value),
            _ => {}
        }
    }
    let attribute = lower("bgcolor");
    let ground = ground.or(attribute.as_deref());
    let unseen = match (colour, ground) {
        (Some(colour), Some(ground)) => look_alike(colour, ground) || (is_white(colour) && is_white(ground)),
        (Some(colour), None) => colour == "transparent" || (!painted && is_white(colour)),
        (None, _) => false,
    };
    unseen || (cut && small > 0)
}

/// Whether a page paints something in another colour than white.
pub(super) fn is_painted(html: &str) -> bool {
    let lower = html.to_ascii_lowercase();
    ["background", "bgcolor"].iter().any(|key| {
        lower.match_indices(key).any(|(at, _)| {
            let rest = lower[at + key.len()..].trim_start_matches("-color");
            let rest = rest.trim_start_matches([' ', ':', '=', '"', '\'']);
            let end = rest.find([';', '"', '\'', '>', '}', ' ', '!']).unwrap_or(rest.len().min(20));
            let colour = rest.get(..end).unwrap_or_default();
            !(is_white(colour) || matches!(colour, "none" | "transparent" | "inherit" | "initial" | ""))
        })
    })
}

/// Whether a reader sees no difference to white. Old pages write a colour without its `#`.
fn is_white(colour: &str) -> bool {
    let parsed = Colour::parse(colour).or_else(|| Colour::parse(&format!("#{colour}")));
    parsed.is_some_and(|colour| colour.looks_like(Colour::WHITE))
}

/// Whether a reader sees no difference between two colours.
fn look_alike(one: &str, other: &str) -> bool {
    one == other || Colour::parse(one).zip(Colour::parse(other)).is_some_and(|(one, other)| one.looks_like(other))
}

fn is_nothing(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    number.parse::<f32>().is_ok_and(|number| number.abs() < 0.02)
}
