"""The fictional world: insurers, insured companies, policies and vehicles.

Documents, mails and expected.json are all written from these values. Nothing in
here exists: domains are reserved, telephone numbers are 555-01xx, DOT numbers lie
above those issued, and NAIC codes are unassigned.
"""

from dataclasses import dataclass, field
from datetime import date

from . import vin as vins

AL, MTC = "Auto Liability", "Motor Truck Cargo"
APD, GL = "Physical Damage", "General Liability"


@dataclass(frozen=True)
class Insurer:
    name: str
    naic: str
    address: str
    domain: str


@dataclass(frozen=True)
class Company:
    name: str
    street: str
    city: str
    phone: str
    email: str
    dot: str = ""
    mc: str = ""

    @property
    def domain(self) -> str:
        return self.email.split("@")[1]


@dataclass(frozen=True)
class Policy:
    number: str
    insurer: Insurer
    lines: tuple
    effective: date
    premium: int
    limits: dict

    @property
    def expiration(self) -> date:
        return self.effective.replace(year=self.effective.year + 1)


@dataclass(frozen=True)
class Vehicle:
    year: int
    make: str
    model: str
    vin: str
    value: int

    @property
    def valid(self) -> bool:
        return vins.is_valid(self.vin)


@dataclass(frozen=True)
class Loss:
    day: date
    line: str
    what: str
    paid: int
    reserved: int
    status: str


@dataclass(frozen=True)
class Account:
    """One insured with all that its documents say."""

    insured: Company
    policies: tuple
    vehicles: tuple = ()
    losses: tuple = field(default=())


def fleet(years_and_models, serial: int) -> tuple:
    """Vehicles from (year, index into MODELS) pairs, with rising serial numbers."""
    out = []
    for n, (year, which) in enumerate(years_and_models):
        make, model, prefix, plant = vins.MODELS[which]
        value = (165_000 if which < 6 else 62_000) - (2026 - year) * (11_500 if which < 6 else 3_800)
        out.append(Vehicle(year, make, model, vins.make(prefix, year, plant, serial + n * 7), value))
    return tuple(out)


def money(amount: int) -> str:
    return f"${amount:,}"


def us(day: date) -> str:
    return day.strftime("%m/%d/%Y")


AGENCY = Company("Ironwood Lane Insurance Agency", "4120 Ironwood Lane, Suite 210",
                 "Austin, TX 78745", "(512) 555-0100", "service@ironwoodlane.example")
INTAKE = "intake@ironwoodlane.example"

NORTHFIELD = Insurer("Northfield Ridge Insurance Company", "99101",
                     "900 Ridge Parkway, Omaha, NE 68102", "northfieldridge.example")
COBALT = Insurer("Cobalt Harbor Casualty Company", "99214",
                 "17 Harbor Street, Duluth, MN 55802", "cobaltharbor.example")
PRAIRIE = Insurer("Prairie Lantern Mutual Insurance Company", "99338",
                  "5500 Lantern Road, Salina, KS 67401", "prairielantern.example")
REDMESA = Insurer("Red Mesa Specialty Insurance Company", "99457",
                  "210 Mesa Verde Plaza, Tempe, AZ 85281", "redmesaspecialty.example")
HERON = Insurer("Blue Heron Assurance Corporation", "99562",
                "48 Marsh Avenue, Mobile, AL 36602", "blueheronassurance.example")

JUNIPER = Account(
    Company("Juniper Flats Transport LLC", "2218 County Road 412", "Abilene, TX 79601",
            "(325) 555-0142", "office@juniperflats.example", "9104417", "1904417"),
    (Policy("NRC-AL-204417-02", NORTHFIELD, (AL,), date(2025, 3, 1), 48_612,
            {"Combined Single Limit": 1_000_000, "Uninsured Motorist": 100_000}),
     Policy("CHM-7710293", COBALT, (MTC,), date(2025, 3, 1), 7_940,
            {"Cargo Limit per Vehicle": 100_000, "Refrigeration Breakdown": 50_000})),
    fleet([(2021, 0), (2022, 1), (2020, 6), (2019, 8)], 914_201))

COPPER = Account(
    Company("Copper Kettle Hauling Inc.", "715 Foundry Row", "Pueblo, CO 81003",
            "(719) 555-0117", "dispatch@copperkettle.example", "9118320", "1911832"),
    (Policy("RMS-CA-55-018832", REDMESA, (AL, APD), date(2025, 6, 15), 61_250,
            {"Combined Single Limit": 1_000_000, "Stated Amount": 292_500}),),
    fleet([(2023, 3), (2022, 3), (2021, 7)], 921_340))

SALTGRASS = Account(
    Company("Saltgrass Prairie Trucking LLC", "16900 Farm Road 1187", "Lubbock, TX 79404",
            "(806) 555-0163", "safety@saltgrassprairie.example", "9127745", "1912774"),
    (Policy("PLM-AL-3300871", PRAIRIE, (AL,), date(2025, 4, 10), 214_900,
            {"Combined Single Limit": 1_000_000, "Medical Payments": 5_000}),
     Policy("PLM-PD-3300872", PRAIRIE, (APD,), date(2025, 4, 10), 88_375,
            {"Collision Deductible": 2_500, "Comprehensive Deductible": 2_500})),
    fleet([(2018 + n % 8, (n * 5) % 9) for n in range(46)], 930_100),
    (Loss(date(2022, 8, 19), AL, "Rear-end contact at a traffic light", 18_420, 0, "Closed"),
     Loss(date(2023, 1, 27), APD, "Jackknife on ice, tractor damage", 41_975, 0, "Closed"),
     Loss(date(2024, 11, 5), AL, "Lane change, third party vehicle", 6_300, 22_000, "Open")))

MESQUITE = Account(
    Company("Lone Mesquite Freight Lines LLC", "88 Stockyard Avenue", "Amarillo, TX 79101",
            "(806) 555-0128", "insurance@lonemesquite.example", "9133086", "1913308"),
    (Policy("NRC-AL-207720-01", NORTHFIELD, (AL,), date(2025, 9, 1), 73_480,
            {"Combined Single Limit": 1_000_000}),
     Policy("NRC-GL-207721-01", NORTHFIELD, (GL,), date(2025, 9, 1), 3_150,
            {"Each Occurrence": 1_000_000, "General Aggregate": 2_000_000}),
     Policy("BHA 40 118265", HERON, (MTC,), date(2025, 9, 12), 9_860,
            {"Cargo Limit per Vehicle": 250_000})),
    fleet([(2020, 2), (2024, 2), (2023, 7)], 940_505))

COTE = Account(
    Company("Côte Blanche Carriers LLC", "301 Bayou Landing Road", "Lafayette, LA 70501",
            "(337) 555-0155", "bureau@coteblanche.example", "9140952", "1914095"),
    (Policy("BHA 40 220417", HERON, (AL, MTC), date(2025, 7, 22), 57_035,
            {"Combined Single Limit": 1_000_000, "Cargo Limit per Vehicle": 100_000}),),
    fleet([(2019, 1), (2021, 1), (2022, 6)], 950_812))


def _windmill_vehicles() -> tuple:
    good = fleet([(2017, 4), (2019, 4), (2020, 5), (2021, 0), (2018, 7)], 961_033)
    bad = good[2]
    spoiled = Vehicle(bad.year, bad.make, bad.model, vins.spoil(bad.vin), bad.value)
    return good[:2] + (spoiled,) + good[3:]


WINDMILL = Account(
    Company("Windmill Draw Transport Inc.", "4402 Caprock Drive", "Clovis, NM 88101",
            "(575) 555-0109", "accounts@windmilldraw.example", "9152213", "1915221"),
    (Policy("CHC-CA-6100447", COBALT, (AL,), date(2025, 5, 1), 69_310,
            {"Combined Single Limit": 1_000_000}),
     Policy("CHC-PD-6100448", COBALT, (APD,), date(2025, 5, 1), 14_205,
            {"Deductible": 1_000})),
    _windmill_vehicles(),
    (Loss(date(2021, 10, 2), AL, "Backing into a dock door", 4_815, 0, "Closed"),
     Loss(date(2023, 7, 14), APD, "Hail, tractor hood and glass", 9_240, 0, "Closed"),
     Loss(date(2024, 2, 20), AL, "Side swipe in a construction zone", 27_600, 0, "Closed")))

TAMARACK = Account(
    Company("Tamarack Gap Logistics Inc.", "1275 Gap Road", "Missoula, MT 59801",
            "(406) 555-0131", "risk@tamarackgap.example", "9163378", "1916337"),
    (Policy("PLM-AL-3309114", PRAIRIE, (AL,), date(2025, 10, 1), 52_700,
            {"Combined Single Limit": 750_000}),
     Policy("RMS-MC-61-004410", REDMESA, (MTC,), date(2025, 10, 1), 6_480,
            {"Cargo Limit per Vehicle": 100_000})),
    fleet([(2022, 0), (2025, 0)], 972_450))

# Loss-run accounts whose documents nobody can read without help.
CULVERT = Account(
    Company("Blue Culvert Express LLC", "60 Culvert Street", "Joplin, MO 64801",
            "(417) 555-0174", "office@blueculvert.example", "9171809", "1917180"),
    (Policy("NRC-AL-219006-03", NORTHFIELD, (AL,), date(2025, 2, 15), 39_900,
            {"Combined Single Limit": 1_000_000}),),
    fleet([(2018, 1), (2019, 6)], 980_118))
HOLLOW = Account(
    Company("Hollow Reed Freight Inc.", "930 Reed Mill Road", "Macon, GA 31201",
            "(478) 555-0190", "admin@hollowreed.example", "9186641", "1918664"),
    (Policy("CHC-CA-6188205", COBALT, (AL,), date(2025, 8, 8), 44_120,
            {"Combined Single Limit": 1_000_000}),),
    fleet([(2021, 5), (2020, 7)], 990_064))

# Leads: a company without policies of ours.
GRAVEL = Account(
    Company("Gravel Bend Hauling LLC", "5 Quarry Lane", "San Marcos, TX 78666",
            "(512) 555-0142", "owner@gravelbend.example", "9190027", "1919002"), ())
PECAN = Account(
    Company("Pecan Shoals Trucking LLC", "1440 Shoals Ferry Road", "Albany, GA 31701",
            "(229) 555-0136", "ops@pecanshoals.example", "9201154", "1920115"), (),
    fleet([(2020, 1), (2021, 1), (2023, 0), (2019, 6), (2022, 8), (2024, 8)], 995_310))
SORREL = Company("Sorrel Canyon Carriers LLC", "77 Canyon Spur", "Elko, NV 89801",
                 "(775) 555-0121", "hello@sorrelcanyon.example", "9214460", "1921446")
DRYCREEK = Company("Dry Creek Hauling LLC", "", "Waco, TX",
                   "+12545550187", "", "9228815", "")
