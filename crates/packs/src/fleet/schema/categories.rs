//! How each kind of paper is known.

/// A kind of paper, and phrases that speak for it with their weights.
pub(super) const CATEGORIES: &[(&str, &[(&str, u8)])] = &[
    (
        "DRIVER_APPLICATION",
        &[
            ("driver application", 5),
            ("driver s application", 5),
            ("application for employment", 4),
            ("driver qualification", 4),
            ("employment history", 2),
            ("years of experience", 1),
            ("applicant no", 2),
        ],
    ),
    (
        "CDL_LICENSE",
        &[
            ("commercial driver license", 5),
            ("commercial driver s license", 5),
            ("commercial driver licence", 5),
            ("cdl number", 2),
            ("class a cdl", 2),
            ("endorsements", 1),
            ("restrictions", 1),
        ],
    ),
    (
        "MVR",
        &[
            ("motor vehicle record", 3),
            ("motor vehicle report", 5),
            ("driving record", 4),
            ("driver record abstract", 5),
            ("violation", 1),
            ("points", 1),
            ("license status", 2),
        ],
    ),
    (
        "MEDICAL_CARD",
        &[
            ("medical examiner s certificate", 5),
            ("medical examiner", 4),
            ("medical card", 2),
            ("physical qualification", 3),
        ],
    ),
    (
        "VEHICLE_TITLE",
        &[
            ("certificate of title", 5),
            ("title certificate", 5),
            ("vehicle title", 4),
            ("bill of sale", 4),
            ("odometer", 2),
            ("lienholder", 2),
            ("title no", 1),
        ],
    ),
    (
        "REGISTRATION",
        &[
            ("cab card", 5),
            ("apportioned registration", 5),
            ("registration card", 5),
            ("vehicle registration", 4),
            ("registrant", 3),
            ("certificate of registration", 3),
            ("registered to", 2),
            ("registered owner", 2),
            ("yr make", 1),
            ("tag", 1),
            ("plate", 1),
            ("license plate", 2),
            ("gross weight", 1),
            ("international registration plan", 4),
        ],
    ),
    (
        "INSPECTION",
        &[
            ("annual vehicle inspection", 5),
            ("annual inspection", 4),
            ("inspection certificate", 3),
            ("inspection report", 4),
            ("vehicle examination report", 5),
            ("roadside inspection", 4),
            ("inspected", 1),
            ("no defects", 2),
            ("next due", 1),
        ],
    ),
    (
        "CERTIFICATE",
        &[
            ("certificate of registration", 3),
            ("hazardous materials certificate", 5),
            ("unified carrier registration", 5),
            ("drug and alcohol", 2),
            ("clearinghouse query", 2),
            ("certificate of completion", 4),
            ("operating authority", 3),
            ("safety rating", 4),
            ("dear carrier", 1),
        ],
    ),
];
