"""Dates, money and vehicle numbers: plain functions without any state.

Promise: every date format of `DATES` turns an ISO date into a text that check.py can find again,
and `vin` gives numbers whose check digit is right.
"""
import datetime as dt

FR = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()
ES = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()
DE = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()


def day(s):
    return dt.date.fromisoformat(s)


def shift(s, days):
    return (day(s) + dt.timedelta(days=days)).isoformat()


def plus_year(s, n=1):
    x = day(s)
    return x.replace(year=x.year + n, day=min(x.day, 28) if x.month == 2 else x.day).isoformat()


def us(s):
    return day(s).strftime("%m/%d/%Y")


def us_bare(s):
    x = day(s)
    return f"{x.month}/{x.day}/{x.year}"


def us_short(s):
    x = day(s)
    return f"{x.month}/{x.day}/{x.year % 100:02d}"


def us_two(s):
    return day(s).strftime("%m/%d/%y")


def us_dash(s):
    return day(s).strftime("%m-%d-%Y")


def long_us(s):
    x = day(s)
    return f"{x:%B} {x.day}, {x.year}"


def abbr_us(s):
    x = day(s)
    return f"{x:%b} {x.day}, {x.year}"


def long_day(s):
    x = day(s)
    return f"{x.day} {x:%B} {x.year}"


def military(s):
    return day(s).strftime("%d-%b-%Y").upper()


def mixed(s):
    return day(s).strftime("%d-%b-%Y")


def iso(s):
    return s


def iso_slash(s):
    return s.replace("-", "/")


def french(s):
    x = day(s)
    return f"{'1er' if x.day == 1 else x.day} {FR[x.month - 1]} {x.year}"


def spanish(s):
    x = day(s)
    return f"{x.day} de {ES[x.month - 1]} de {x.year}"


def german(s):
    x = day(s)
    return f"{x.day}. {DE[x.month - 1]} {x.year}"


def ordinal(s):
    x = day(s)
    end = "th" if 10 < x.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(x.day % 10, "th")
    return f"{x:%B} {x.day}{end}, {x.year}"


DATES = {
    "en": [us, us, us, us_bare, us_two, us_dash, long_us, abbr_us, military, mixed, iso, iso_slash, long_day],
    "es": [us, us, spanish, us_bare, iso],
    "fr": [iso, french, french, iso],
    "de": [us, iso, german],
}
ALL_DATES = [us, us_bare, us_short, us_two, us_dash, long_us, abbr_us, long_day, military, mixed, iso, french, spanish,
             german, ordinal]


def usd(n, cents=False):
    return f"${n:,.2f}" if cents else f"${n:,.0f}"


# ---------------------------------------------------------------- vehicle numbers
VALUE = {**{str(d): d for d in range(10)}, **dict(zip("ABCDEFGH", range(1, 9))), **dict(zip("JKLMN", range(1, 6))),
         "P": 7, "R": 9, **dict(zip("STUVWXYZ", range(2, 10)))}
WEIGHT = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
YEAR = dict(zip(range(2010, 2028), "ABCDEFGHJKLMNPRSTV"))
TRUCKS = [("Freightliner", "Cascadia", "1FUJHHDR"), ("Freightliner", "Columbia 120", "3AKJGLDR"), ("Peterbilt", "389", "1XPXD40X"),
          ("Peterbilt", "567", "1XPCDP9X"), ("Kenworth", "W900L", "1XKWD49X"), ("Kenworth", "T880", "1XKZD40X"),
          ("Volvo", "VNR 640", "4V4WC9EH"), ("Volvo", "VNL 860", "4V4NC9EJ"), ("Mack", "Pinnacle", "1M1AW07Y"),
          ("International", "ProStar", "3HSDJSNR"), ("International", "LoneStar", "3HSCXAPR"), ("Western Star", "4900", "5KJJAEDR")]
TRAILERS = [("Great Dane", "Champion 53", "1GRAA062"), ("Wabash", "Arctic Lite", "1JJV532B"), ("Utility", "4000D-X", "1UYVS253"),
            ("Hyundai", "Translead 53", "3H3V532C"), ("Stoughton", "Z-Plate", "1DW1A532"), ("Manac", "Darkwing", "2M592146"),
            ("Reitnouer", "MaxMiser", "1RNF48A2"), ("Trail King", "TK110HDG", "1TKJ0482"), ("Heil", "9300 Tanker", "5HTAM452")]
LIGHT = [("Ford", "F-450", "1FD0W4HT"), ("Ram", "5500", "3C7WRMBL"), ("Chevrolet", "Silverado 6500", "1HTKHPVM"),
         ("Isuzu", "NRR", "JALE5W16"), ("Hino", "268A", "5PVNJ8JT"), ("GMC", "Savana 3500", "7GZ37TCG")]


def check_digit(v):
    r = sum(VALUE[c] * w for c, w in zip(v, WEIGHT)) % 11
    return "X" if r == 10 else str(r)


def vin_ok(v):
    return len(v) == 17 and not set(v) & set("IOQ") and check_digit(v) == v[8]


def vin(r, prefix, year):
    v = f"{prefix}0{YEAR[year]}{r.choice('ABDEGHKLMNPSTW')}{r.choice('ABCDEFGHJKLM') if r.random() < .5 else r.randrange(10)}"
    v += f"{r.randrange(100000):05d}"
    return v[:8] + check_digit(v) + v[9:]


def wrong_vin(r, v):
    """A number that cannot be right: two neighbours swapped, one digit changed, or a letter that no number has."""
    how = r.choice(["swap", "digit", "letter"])
    if how == "letter":
        for old, new in r.sample([("0", "O"), ("1", "I"), ("0", "Q")], 3):
            if old in v[9:]:
                i = v.rindex(old)
                return v[:i] + new + v[i + 1:]
    if how == "swap":
        for i in range(15, 9, -1):
            w = v[:i] + v[i + 1] + v[i] + v[i + 2:]
            if not vin_ok(w):
                return w
    while True:
        w = v[:13] + f"{r.randrange(10000):04d}"
        if not vin_ok(w):
            return w


def fleet(r, n, kinds="TTR"):
    """n vehicles as dicts; kinds: T tractor, R trailer, L light truck."""
    out, first = [], r.choice([1, 11, 101, 207, 300, 4410])
    for i in range(n):
        kind = kinds[i % len(kinds)]
        make, model, prefix = r.choice({"T": TRUCKS, "R": TRAILERS, "L": LIGHT}[kind])
        year = r.randrange(2012, 2027)
        base = {"T": 145000, "R": 52000, "L": 61000}[kind] * r.uniform(.8, 1.15)
        out.append(dict(year=year, make=make, model=model, vin=vin(r, prefix, year), unit=str(first + i), kind=kind,
                        value=round(base * (1 - (2026 - year) * .055) / 100) * 100,
                        plate=f"{r.choice('ABCDFHKLPRT')}{r.choice('BCDFGHKMNPR')}{r.randrange(10)} {r.randrange(1000, 9999)}",
                        body={"T": r.choice(["Tractor", "TR", "Truck tractor"]), "R": r.choice(["Trailer", "TL", "Semi-trailer"]),
                              "L": r.choice(["Truck", "Straight truck", "SV"])}[kind]))
    return out
