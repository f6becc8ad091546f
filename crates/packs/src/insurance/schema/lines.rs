//! Lines of coverage as terms: the phrase, and the one name that it stands for.

/// Terms of insurance, as they may stand by themselves.
macro_rules! lines {
    ($($label:literal),* $(,)?) => {
        &[
            $($label,)*
            "auto liability=Auto Liability",
            "automobile liability=Auto Liability",
            "commercial auto liability=Auto Liability",
            "commercial automobile liability=Auto Liability",
            "truck liability=Auto Liability",
            "trucking liability=Auto Liability",
            "primary liability=Auto Liability",
            "business auto liability=Auto Liability",
            "liability=Auto Liability",
            "general liability=General Liability",
            "commercial general liability=General Liability",
            "truckers general liability=General Liability",
            "motor truck cargo=Motor Truck Cargo",
            "truck cargo=Motor Truck Cargo",
            "cargo=Motor Truck Cargo",
            "cargo insurance=Motor Truck Cargo",
            "physical damage=Physical Damage",
            "auto physical damage=Physical Damage",
            "truck physical damage=Physical Damage",
            "non trucking liability=Non-Trucking Liability",
            "bobtail=Non-Trucking Liability",
            "bobtail liability=Non-Trucking Liability",
            "trailer interchange=Trailer Interchange",
            "workers compensation=Workers Compensation",
            "workers comp=Workers Compensation",
            "workers compensation and employers liability=Workers Compensation",
            "occupational accident=Occupational Accident",
            "umbrella liability=Umbrella",
            "umbrella=Umbrella",
            "excess liability=Umbrella",
            "commercial property=Property",
        ]
    };
}
