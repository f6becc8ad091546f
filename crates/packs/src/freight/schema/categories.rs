//! How each kind of paper is known.

/// A kind of paper, and phrases that speak for it with their weights.
pub(super) const CATEGORIES: &[(&str, &[(&str, u8)])] = &[
    (
        "BOL",
        &[
            ("bill of lading", 5),
            ("straight bill of lading", 5),
            ("bol no", 3),
            ("shipper", 1),
            ("consignee", 1),
            ("ship to", 2),
            ("freight charges", 2),
            ("nmfc", 3),
            ("packing slip", 2),
        ],
    ),
    (
        "POD",
        &[
            ("proof of delivery", 5),
            ("delivery receipt", 5),
            ("pod no", 4),
            ("received in good order", 4),
            ("received in good condition", 4),
            ("consignee", 1),
            ("unloaded", 1),
            ("over short or damaged", 2),
        ],
    ),
    (
        "RATE_CON",
        &[
            ("rate confirmation", 5),
            ("load confirmation", 5),
            ("carrier confirmation", 5),
            ("rate agreement", 4),
            ("line haul", 2),
            ("linehaul", 2),
            ("total carrier pay", 4),
            ("carrier load sheet", 4),
            ("carrier load", 2),
            ("rate to carrier", 4),
            ("agreed rate", 2),
            ("total rate", 2),
            ("flat rate", 2),
            ("load tender", 2),
            ("fuel surcharge", 1),
            ("detention", 1),
        ],
    ),
];
