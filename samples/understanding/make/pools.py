"""Words that names are made of. Nothing here names a real company, person or place on purpose."""
FIRST = """Adder Alderfen Amberley Anvil Arroyo Aspenfold Auburn Barrow Basalt Bellhook Birchwater Bittern Blackthorn Bluff Bowline
Brackish Bracken Bramling Brindle Broadaxe Buckthorn Burdock Calico Candlewick Cardinal Catkin Cedarholm Chalk Cinder Clearfork Clover
Cobalt Coldwater Coriander Cottonwood Crabapple Cutbank Dapple Dewberry Dogwood Driftline Dunlin Eastmarch Elderbrook Fallowmere
Fennel Fieldstone Flintlock Foxglove Furrow Galleon Gannet Garnet Goldfinch Goosefoot Granary Greywater Gristmill Halyard Harebell
Hawser Hazel Hickory Highmoor Hollow Ironbark Jackdaw Juniper Kestern Kindling Lantern Larch Lodestone Longacre Lupine Magpie
Marram Millpond Mossback Mulberry Nettle Nightjar Northfork Oakum Oldfield Osier Otterbank Oxbow Paddock Partridge Pebble Pennant
Persimmon Plover Quarrier Quillwort Ragwort Redstart Ridgeline Rockrose Rushmere Saddleback Sandpiper Sassafras Sawyer Shale Siskin
Skylark Slipstream Sorrel Southgate Spindle Spruce Stonebow Sumac Sundew Swallow Tamarack Teasel Tidewrack Timberline Tinder Trellis
Turnstone Umberfield Verbena Waxwing Wayfarer Westering Whinstone Whippoorwill Willowherb Windrow Wisteria Wren Yarrow Yellowtail""".split()
SECOND = """Creek Ridge Valley Basin Prairie Hollow Point Fork Canyon Harbor Meadow Summit Lake Rapids Crossing Junction Gap Bend Plains
& Sons|& Daughters|& Marsh|& Flint|Brothers|Family|& Pike|& Hollis|Star|Bay|Coast|State|River|Hill|Road|Gate|Line|North|South""".replace("|", "\n").split("\n")
SECOND = [w for line in SECOND for w in ([line] if line.startswith("&") else line.split())]
TRADE = """Trucking Transport Logistics Freight Carriers Hauling Express|Heavy Haul|Freight Lines|Bulk Transport|Tank Lines
Drayage|Flatbed Service|Reefer Lines|Auto Transport|Livestock Hauling|Grain Haulers|Hotshot|Expedited|Moving & Storage|Aggregates
Waste Hauling|Dump Service|Intermodal|Cartage|Motor Lines|Trucklines|Delivery|Couriers|Log Hauling|Specialized""".replace("\n", "|").split("|")
TRADE = [w for t in TRADE for w in ([t] if t.count(" ") < 2 or "&" in t else t.split())]
FORMS = ["LLC", "LLC", "LLC", ", LLC", "Inc.", "Inc", ", Inc.", "Corp.", "Corporation", "Co.", "L.P.", "L.L.C.", "Ltd.", "LLP", "Company", ""]
ES_NAMES = ["Transportes", "Fletes", "Autotransportes", "Acarreos", "Carga y Logística", "Transportación"]
ES_SECOND = ["Sierra Honda", "Río Seco", "Tres Mezquites", "Valle Pardo", "El Encinal", "La Noria", "Agua Zarca", "Cerro Bayo", "Dos Palmas",
             "Llano Grande", "Peña Blanca", "Arroyo Hondo", "Monte Alegre", "San Lino", "Puerto Escoba"]
ES_FORMS = ["S.A. de C.V.", "LLC", "Inc.", "S. de R.L. de C.V.", "LLC"]
FR_NAMES = ["Transport", "Camionnage", "Messagerie", "Les Transports", "Groupe Routier"]
FR_SECOND = ["Vaudrin-Lacelle", "Bois-Joli", "des Érables Noirs", "Grand-Portage", "Rive-Haute", "Lachambre & Fils", "Côte-Blanche", "Petit-Ruisseau",
             "Beauvallon", "du Vieux Moulin", "Clairefontaine"]
FR_FORMS = ["inc.", "inc.", "ltée"]
DE_NAMES = ["Haverkamp", "Lindner", "Brömme", "Krögel", "Waldeck", "Osterrieder", "Steinmetz", "Vossloh", "Hübner"]
DE_SECOND = ["Spedition", "Frachtdienst", "Transporte", "Logistik"]
DE_FORMS = ["USA LLC", "GmbH USA LLC", "of America Inc."]

GIVEN = {
    "en": """Adela Amos Arlo Beatrix Boyd Bridget Calvin Carmody Cecil Clementine Corbin Dahlia Darnell Delroy Dina Edith Elias Enid Esther
Felix Fern Gideon Glenda Harlan Hattie Horace Ida Ingrid Irving Jarvis Josie Judd Keenan Kirby Lavinia Leland Lorna Lucius Mabel Marlow
Mavis Merle Millicent Nadine Nolan Olive Orrin Otto Pearl Percy Phoebe Quincy Ramona Reuben Rhoda Roland Rosalie Rufus Selma Silas Sybil
Tabor Thea Tobias Tilda Ulric Vera Vernon Wade Wilma Winston Yvonne Zane Deshawn Priyanka Minh Farida Kwame Sunil Leilani Tomasz""".split(),
    "es": "Abelardo Amparo Benita Chabela Demetrio Elpidio Eulalia Fermín Gonzalo Hortensia Isidro Jacinta Leandro Maricruz Nicanor Ofelia Porfirio Rosaura Saúl Tránsito Úrsula Ventura Zenaida".split(),
    "fr": "Adélaïde Bastien Clothilde Didier Élodie Fabrice Ghislaine Hervé Isabelle Jérôme Lise Maxime Noémie Olivier Pascale Réjean Solange Thierry Yannick Zoé".split(),
    "de": "Annegret Bernd Dörte Egon Frauke Gisela Hartmut Ilse Jürgen Katrin Lothar Margarete Norbert Renate Sönke Ulrike Volker".split(),
}
FAMILY = {
    "en": """Abernathy Ashcombe Balfour Barlow Bexley Birdsong Blackwood Boggs Braddock Brisco Cantrell Carmichael Childers Cobb Colquitt
Crabtree Dabney Dillard Dunaway Eastman Ellery Fairbanks Farrar Fenwick Fontaine Gaines Gentry Goforth Grimsby Haddock Hargrove Hatcher
Holloway Ivey Jessup Kimbrough Kettering Lancaster Ledbetter Lockhart Mabry Maddox Merriweather Mobley Nettles Oakley Oldham Overby
Pettigrew Pickens Prewitt Quarles Rainey Redmond Rutledge Sapp Scarborough Shipley Stallings Strickland Swann Tarpley Thackeray Tolbert
Underhill Vickers Wainwright Weatherby Whitlow Winfield Yancey Okonjo Banerjee Nguyen-Hart Kowal Haddad""".split(),
    "es": "Arizpe Barrientos Cantú Dueñas Escamilla Farías Garibay Huerta Ibarra Jáquez Leal Montemayor Núñez Olvera Peñaloza Quintanilla Rentería Saldívar Treviño Urquidi Villegas Zertuche".split(),
    "fr": "Archambeault Beaugrand Charest Desrosiers Émond Fontenelle Gariépy Hébert Jolicoeur Lachance Marcotte Pellerin Quesnel Robichaud Sauvageau Thériault Vézina".split(),
    "de": "Ackermann Brandstätter Dierksen Eichhorn Fassbender Gottschalk Hövelmann Jansen Kersting Lüders Mühlbauer Petersen Rademacher Schürmann".split(),
}
TOWNS = """Alder Gulch|Ash Landing|Barley Cross|Bear Wallow|Bellwater|Big Elm|Bitter Spring|Bluestem|Bonnet Hill|Brick Church|Buffalo Ford
Burnt Mill|Cane Bottom|Carver Station|Cedar Knob|Clay Siding|Copper Wells|Cottage Lake|Cow Branch|Cutler|Dell Haven|Dry Fork|Duck Pond
Eagle Bench|East Harrow|Fallen Oak|Fiddler Bay|Finch Hollow|Five Elms|Flat Iron|Fort Amity|Garrison Mills|Gilt Edge|Glass Lake|Gopher Flat
Gray Gables|Halfmoon|Hatchet Creek|Hay Market|High Bridge|Honey Locust|Indigo|Iron Gate|Jasper Point|Kettle Run|Lamb Station|Lime Kiln
Lone Chimney|Lower Alder|Maple Siding|Marble Ford|Marsh Haven|Mint Spring|Mud Lick|New Tarrow|North Quarry|Oak Siding|Old Ferry|Orchard City
Otter Slide|Paint Rock|Pebble Beach Mills|Pigeon Roost|Pine Level|Plum Orchard|Port Lorne|Quail Run|Rabbit Hash Hill|Red Clay|Rice Bottom
Rocky Comfort|Rose Valley|Sable|Salt Lick|Sandy Hook Mills|Seven Springs|Sheep Camp|Silver Ford|Sleepy Eye Lake|Stone Arch|Sugar Notch
Swan Quarter Mills|Sycamore|Three Forks|Timber Lake|Tin Cup|Turkey Foot|Twin Silos|Upper Vale|Walnut Bottom|Wether Hill|White Bluff""".replace("\n", "|").split("|")
STATES = dict(AL="36 205", AR="72 501", AZ="85 602", CA="93 559", CO="81 970", FL="34 352", GA="30 706", IA="50 641", ID="83 208", IL="61 815",
              IN="46 260", KS="67 785", KY="40 859", LA="70 225", MD="21 410", MI="49 269", MN="56 218", MO="65 660", MS="39 662", MT="59 406",
              NC="27 336", ND="58 701", NE="68 308", NJ="08 856", NM="87 505", NV="89 775", NY="13 607", OH="44 740", OK="73 580", OR="97 541",
              PA="17 717", SC="29 839", SD="57 605", TN="37 423", TX="79 432", UT="84 435", VA="22 540", WA="98 509", WI="54 715", WV="26 304", WY="82 307")
STREETS = """Aggregate Rd|Axle St|Ballast Ave|Bearing Ct|Blacksmith Ln|Boxcar Dr|Brickyard Rd|Cattle Guard Rd|Commerce Loop|Cooperage Way|County Road 18
Culvert Rd|Depot St|Diesel Ln|Elevator Rd|Fairground Blvd|Feedlot Rd|Foundry St|Gantry Way|Gravel Pit Rd|Gin Rd|Highway 9 North|Industrial Pkwy|Kiln Rd
Levee Rd|Lumber Ave|Mill Race Rd|Millwright Ct|Packing House Rd|Pipeline Rd|Quarter Section Rd|Railhead Dr|Ranch Road 12|Sawdust Trl|Scale House Rd
Section Line Rd|Silo Ln|State Route 40|Terminal Dr|Threshing Rd|Trestle Way|Turnpike Rd|Warehouse Row|Weigh Station Rd|Yard Ave""".replace("\n", "|").split("|")
INSURER = """Aldersgate Anchorage Argentine Ballastone Beaconfield Bridgewarden Caldermoor Cardinalis Castlebar Cloverleaf Commonwealth-Hale Copperline Corvane
Crownfield Dunmarrow Eastlight Emberton Evenkeel Fairwarden Firmament Foxhall Gatewarden Glenhollow Granmere Greyfriar Hallmere Harborlight
Heartwood Highwarden Ironbridge Keystane Kingsferry Larkhall Lightkeeper Longbarrow Marchwarden Meridian-Vale Merrowdale Millstone Monarda
Northwarden Oakenshield Old-Colony-Vane Palisade-Rowe Pelham-Gray Pilgrimage Pinnacle-Moor Prairieguard Quayside Ravensgate Redoubt Riverguard
Rockhaven Sablewood Sentry-Lowe Silverkeep Southerley Stanchion Steelgate Stonewarden Stronghold-Ames Tallmast Thornbury Tidewarden Trellick
Truewater Unionvale Vanguardia Wagonmaster Watchfield Westmark Whitecrag Wickersham Winterhall Wolverton Yeomanry""".split()
INSURER_KIND = ["Insurance Company", "Insurance Company", "Mutual Insurance Company", "Casualty Company", "Indemnity Company", "Assurance Corporation",
                "Specialty Insurance Company", "National Insurance Company", "Fire & Marine Insurance Company", "Insurance Exchange",
                "Risk Retention Group, Inc.", "Surplus Insurance Company", "Property & Casualty Insurance Co.", "County Mutual Insurance Company",
                "General Insurance Corp.", "Underwriters Insurance Company", "Transportation Insurance Company", "Insurance Co. of America"]
OFFICE = ["Insurance Agency", "Insurance Services", "Risk Partners", "Insurance Group", "Insurance Brokers, Inc.", "& Associates Insurance", "Agency, LLC",
          "Insurance Center", "Transportation Insurance", "Wholesale Brokerage", "Risk Advisors", "Brokerage Partners"]
OFFICE_NAME = """Ambrose Ashlar Belfry Bexhill Bluewater Burrow Caraway Chantry Clearing Corbel Dovetail Eddystone Fairlight Finial Foxtail Gable Goodfellow
Hearthside Hollybush Inkwell Keel Lintel Lychgate Mantel Newel Oriel Pavilion Plinth Portico Quoin Rafter Roundtower Sextant Shingle Sundial
Tollhouse Transom Trivet Turret Vestry Wainscot Weathervane Wharfside Wicket""".split()
THINGS = """Cobblestone Marlin Pinecone Cornerstone Thimble Larder Parasol Cartwheel Almanac Barleycorn Harvestman Tinsmith Snowdrop Millrace Copperpot
Lamplight Featherstone Rosehip Greengate Butterchurn Drumlin Saltbox Weatherwood Honeycomb Woolpack Brassbell Riverstone Cloudberry""".split()
BUSINESS = ["Foods, Inc.", "Building Supply", "Steel Works LLC", "Distribution Co.", "Paper Mills Inc.", "Cold Storage Corp.", "Contractors, LLC", "Homes LLC",
            "Wholesale Grocers", "Farms Cooperative", "Plastics Inc.", "Beverage Company", "Quarry & Stone", "Packaging Corp.", "Furniture Mfg.", "Retail DC 4"]
BANK = ["Equipment Leasing", "Truck Finance LLC", "Savings Bank", "Capital Leasing Corp.", "Credit Union", "Commercial Bank, N.A.", "Asset Finance"]
ROLES = {"en": ["Owner", "Office Manager", "Safety Director", "Controller", "President", "CFO", "Fleet Manager", "Operations", "Risk Manager", "VP", "Secretary", "Member"],
         "es": ["Gerente", "Dueña", "Administración", "Propietario"], "fr": ["Directrice", "Président", "Comptabilité", "Adjointe"],
         "de": ["Geschäftsführer", "Prokuristin", "Disposition"]}
