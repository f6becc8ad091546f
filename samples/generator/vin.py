"""Vehicle identification numbers with a correct (or knowingly wrong) check digit."""

VALUES = dict(zip("ABCDEFGH", range(1, 9))) | dict(zip("JKLMN", range(1, 6)))
VALUES |= {"P": 7, "R": 9} | dict(zip("STUVWXYZ", range(2, 10)))
VALUES |= {str(n): n for n in range(10)}
WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
YEAR_CODES = {2016: "G", 2017: "H", 2018: "J", 2019: "K", 2020: "L", 2021: "M",
              2022: "N", 2023: "P", 2024: "R", 2025: "S", 2026: "T"}

# make, model, first eight characters, plant
MODELS = (
    ("Kenworth", "T680", "1XKYD49X", "J"),
    ("Freightliner", "Cascadia", "1FUJGLDR", "L"),
    ("Volvo", "VNL 760", "4V4NC9EH", "N"),
    ("Peterbilt", "579", "1XPBDP9X", "D"),
    ("International", "LT625", "3HSDZAPR", "N"),
    ("Mack", "Anthem", "1M1AN4GY", "M"),
    ("Wabash", "53 ft Dry Van", "1JJV532D", "L"),
    ("Great Dane", "53 ft Reefer", "1GRAA062", "B"),
    ("Utility", "3000R Reefer", "1UYVS253", "U"),
)


def check_digit(vin: str) -> str:
    """The ninth character that the other sixteen ask for."""
    rest = sum(VALUES[c] * w for c, w in zip(vin, WEIGHTS)) % 11
    return "X" if rest == 10 else str(rest)


def is_valid(vin: str) -> bool:
    """True if the number is well formed and its check digit is right."""
    return len(vin) == 17 and all(c in VALUES for c in vin) and vin[8] == check_digit(vin)


def make(prefix: str, year: int, plant: str, serial: int) -> str:
    """A number with the right check digit."""
    draft = f"{prefix}0{YEAR_CODES[year]}{plant}{serial:06d}"
    return draft[:8] + check_digit(draft) + draft[9:]


def spoil(vin: str) -> str:
    """The same number with a wrong check digit."""
    return vin[:8] + ("4" if vin[8] != "4" else "7") + vin[9:]
