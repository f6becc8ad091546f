//! The units that may be named. The table that knows their sizes also knows functions, dice, dates and constants by
//! name, so only what stands here reaches it.

/// Units, as the table writes them, with blanks between.
const NAMES: &[&str] = &[
    // Length.
    "m meter meters metre metres km kilometer kilometers kilometre kilometres cm centimeter centimeters \
     centimetre centimetres mm millimeter millimeters millimetre millimetres um µm micron microns nm \
     nanometer nanometers inch inches ft foot feet yd yard yards mi mile miles nmi furlong furlongs \
     fathom fathoms league leagues au AU lightyear lightyears parsec parsecs",
    // Area and volume.
    "acre acres hectare hectares ha sqft l L liter liters litre litres ml mL milliliter milliliters cl dl \
     cc gallon gallons gal quart quarts qt pint pints pt cup cups floz tablespoon tablespoons tbsp \
     teaspoon teaspoons tsp",
    // Mass.
    "kg kilogram kilograms g gram grams mg milligram milligrams ug µg microgram micrograms tonne tonnes \
     lb lbs pound pounds oz ounce ounces stone stones st grain grains carat carats",
    // Time and frequency.
    "ns us µs ms nanosecond nanoseconds microsecond microseconds millisecond milliseconds s sec secs \
     second seconds min mins minute minutes h hr hrs hour hours day days week weeks wk fortnight \
     fortnights month months year years yr decade decades century centuries Hz kHz MHz GHz hertz rpm",
    // Speed.
    "mph kph kmh fps knot knots",
    // Data.
    "bit bits byte bytes B kB KB MB GB TB PB KiB MiB GiB TiB PiB kb Mb Gb bps kbps Mbps Gbps kilobyte \
     kilobytes megabyte megabytes gigabyte gigabytes terabyte terabytes kibibyte kibibytes mebibyte \
     mebibytes gibibyte gibibytes kilobit kilobits megabit megabits gigabit gigabits",
    // Energy, power, force, pressure, electricity.
    "J kJ MJ GJ joule joules cal kcal calorie calories BTU Wh kWh MWh eV W kW MW GW watt watts kilowatt \
     kilowatts megawatt megawatts hp horsepower N kN newton newtons lbf Pa hPa kPa MPa GPa pascal pascals \
     bar psi atm torr mmHg inHg V mV kV volt volts A mA ampere amperes ohm ohms",
    // Angles and temperatures.
    "degree degrees rad radian radians arcmin arcminute arcsecond gradian turn turns revolution \
     revolutions K kelvin C celsius F fahrenheit",
];

/// Units by other names than the table's.
const ALIASES: &[(&str, &str)] = &[
    ("ac", "acre"),
    ("c", "celsius"),
    ("degC", "celsius"),
    ("degF", "fahrenheit"),
    ("f", "fahrenheit"),
    ("gals", "gallon"),
    ("in", "inch"),
    ("k", "kelvin"),
    ("kelvins", "kelvin"),
    ("kgs", "kg"),
    ("kms", "km"),
    ("mbar", "hPa"),
    ("mcg", "ug"),
    ("millilitre", "ml"),
    ("millilitres", "ml"),
    ("sqm", "m^2"),
    ("tbsps", "tbsp"),
    ("tsps", "tsp"),
];

/// Units of two words.
const PAIRS: &[(&str, &str, &str)] = &[
    ("fluid", "ounce", "floz"),
    ("light", "year", "lightyear"),
    ("metric", "ton", "tonne"),
    ("nautical", "mile", "nmi"),
    ("short", "ton", "short_ton"),
];

fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().flat_map(|group| group.split(' '))
}

/// How the table writes a unit; any case of letters that leaves one unit only is understood.
pub(super) fn known(name: &str) -> Option<&'static str> {
    let name = name.replace('μ', "µ");
    let exact = names().find(|known| *known == name);
    let alias = || ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, text)| *text);
    let lower = || {
        // Short names differ by case: Mb is not MB.
        let long = name.len() > 3 && name.is_ascii();
        names().find(|known| long && known.eq_ignore_ascii_case(&name))
    };
    exact.or_else(alias).or_else(lower)
}

/// How the table writes a unit of two words.
pub(super) fn pair(first: &str, second: &str) -> Option<&'static str> {
    let singular = second.strip_suffix('s').unwrap_or(second);
    PAIRS
        .iter()
        .find(|(a, b, _)| a.eq_ignore_ascii_case(first) && b.eq_ignore_ascii_case(singular))
        .map(|(.., text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_knows_every_unit_that_may_be_named() {
        let others = ALIASES.iter().map(|(_, text)| *text).chain(PAIRS.iter().map(|(.., text)| *text));
        let unknown: Vec<&str> = names()
            .chain(others)
            .filter(|text| {
                let mut context = fend_core::Context::new();
                let question = format!("(1 ({text})) to ({text}) to fraction");
                let answer = fend_core::evaluate(&question, &mut context);
                !answer.is_ok_and(|answer| answer.get_main_result().trim_start_matches("approx. ").starts_with("1 "))
            })
            .collect();
        assert_eq!(unknown, Vec::<&str>::new());
    }

    #[test]
    fn only_long_names_may_have_any_case() {
        assert_eq!(
            (known("Kilograms"), known("MB"), known("Mb"), known("mB")),
            (Some("kilograms"), Some("MB"), Some("Mb"), None)
        );
        assert_eq!(
            (known("sin"), known("i"), known("today"), pair("Nautical", "Miles")),
            (None, None, None, Some("nmi"))
        );
    }
}
