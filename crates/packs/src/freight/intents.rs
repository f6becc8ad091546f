//! The words of the freight intents.

use kybern_core::list;

mod other_languages;

use crate::intent_words::IntentWords;

/// The intents of freight.
pub const INTENTS: &[IntentWords] = &[NEW_LOAD, POD_RECEIVED, RATE_CONFIRMATION];

/// A load is offered.
pub const NEW_LOAD: IntentWords = IntentWords {
    key: "freight.new_load",
    description: "Somebody has freight to move: a load is offered or tendered, perhaps with its bill of lading.",
    keywords: list!(
        "new load^2, load to cover^1.8, load to move^1.6, cover & load^1.2, cover it^0.6, load available^1.6, \
         available load^1.6, tender^1.8, load tender^1, shipment request^2, new shipment^1.8, ready for pickup^1.6, \
         ready to ship^1.6, freight is ready^1.2, freight & ready^0.8, need a truck^2, truck needed^2, need truck^1.8, \
         looking for a truck^1.8, truck available^1.2, do you have a truck^1.8, have a truck^1, can you haul^1.6, \
         can you move^1.6, can you pick up^1.4, pick up & deliver^1, pickup & delivery^0.8, pick up^0.6, pickup^0.5, \
         book this freight^1.6, book & freight^1.2, book & load^0.6, backhaul^1.8, pallets^1, skids^1.2, ltl^1.4, \
         ftl^1.2, full truckload^1.4, truckload^1, expedite^1.4, hot load^1.4, reefer load^1.2, flatbed^0.7, \
         dry van^0.7, reefer^0.5, liftgate^1.2, commodity^1, weight^0.6, lb^0.6, lbs^0.6, freight^0.6, load^0.6, \
         shipment^0.8, loads^0.3, lane^0.4, drop trailer^0.8, doc:BOL^2, delivered^-1.2, pod^-1.5, \
         proof of delivery^-1.5, rate confirmation^-1.8, rate con^-1.8, load confirmation^-1.5, signed^-0.8, \
         load board^-2, doc:RATE_CON^-2, doc:POD^-2, insurance^-1, truck ins|trucking ins|liability|liab^-2, \
         quote & insurance^-1.5, coverage^-0.8"
    ),
    examples: &[
        "New load for tomorrow, eighteen pallets, who can take it?",
        "Need a truck for Friday, Dallas to Memphis, 42,000 lbs.",
        "Load tender: pick up Monday, deliver Wednesday, dry van.",
        "Shipment is ready for pickup, bill of lading attached.",
        "Do you have a reefer available in Fresno on Thursday?",
        "Please book this shipment, 10 skids, LTL, liftgate required.",
        "Flatbed needed for steel coils from Gary to Detroit.",
        "Can you haul a full truckload of lumber next week?",
        "We have three loads out of the plant, let me know which ones you can take.",
        "Expedited freight, needs to go out today.",
        "Looking for a truck to pick up 18 pallets of beverages.",
        "New shipment request with pickup and delivery appointments, commodity and weight below.",
        "What would you charge to move 20 pallets from here to Ohio on Monday?",
    ],
    other_languages: other_languages::NEW_LOAD,
};

/// A load was delivered.
pub const POD_RECEIVED: IntentWords = IntentWords {
    key: "freight.pod_received",
    description: "A load was delivered: the signed proof of delivery came in.",
    keywords: list!(
        "pod^2.4, proof of delivery^2.4, signed bol^1.8, bol signed^1.8, signed bill^1.8, signed bills^1.5, \
         signed bill of lading^1.8, signed delivery^1.8, delivery receipt^2, signed paperwork^1.6, delivered^1.4, \
         load delivered^1.2, delivered & signed^1, was delivered^0.6, unloaded^1.2, consignee signed^1.5, \
         receiver signed^1.5, signed by receiver^1.5, =lumper^1.4, shortage^0.8, no damage^0.8, damaged^0.6, \
         over short^1, empty in^0.8, paperwork^0.5, billing packet^1.2, detention^0.3, doc:POD^2.6, pick up^-0.5, \
         rate confirmation^-1, could not be delivered^-2.5, not be delivered^-1, delivery failed^-2, \
         mail delivery^-2.5, package^-1, if not delivered^-1"
    ),
    examples: &[
        "POD attached for the load delivered this morning.",
        "Signed proof of delivery for order 20.",
        "Load was delivered on time, signed BOL attached.",
        "Signed bill of lading from the receiver, no damage.",
        "Delivered and unloaded, see the attached paperwork.",
        "POD and lumper receipt for your billing.",
        "The consignee signed for 22 pallets, two short, see the delivery receipt.",
        "Driver is empty, POD is in the attachment.",
        "Please find the delivery receipt with the receiver's signature and process our invoice.",
        "Freight bill and POD attached for payment.",
        "Sending the signed delivery papers for yesterday's load.",
    ],
    other_languages: other_languages::POD_RECEIVED,
};

/// A rate was agreed.
pub const RATE_CONFIRMATION: IntentWords = IntentWords {
    key: "freight.rate_confirmation",
    description: "A rate confirmation came in, to be signed, signed, or changed.",
    keywords: list!(
        "rate confirmation^2.4, rate con^2.4, ratecon^2.4, load confirmation^2.2, load confirmed^2, \
         confirmation & load^1.4, carrier confirmation^2.2, confirmation sheet^1.6, confirmation & rate^1, \
         confirmation & sign^1, confirmation attached^1, confirmation^0.7, sign and return^1, \
         sign and shoot|sign and send|sign it and^0.8, \
         confirming we have you|confirm we have you|we have you at|have you booked|have you confirmed^1.4, \
         confirming|confirmed & shipper|receiver|consignee|pickup|pick up & rate|at|pay|paying^0.6, \
         sign and send back^1, sign & return^0.6, signed confirmation^1.4, countersigned^1, pls sign^0.6, \
         please sign^0.5, agreed rate^1.6, rate agreement^2, rate agreed^1.4, as agreed & rate^0.8, rate is^0.8, \
         rate of^0.8, revised rate^1.6, updated rate^1.4, rate^0.6, a mile^0.8, per mile^0.8, all in^0.6, \
         including fuel^0.8, line haul^1, fuel surcharge^0.8, detention approved^1, layover^0.6, doc:RATE_CON^2.6, \
         doc:POD^-1.5, proof of delivery^-0.6, insurance^-0.8, quote & insurance^-1.5, copier^-1"
    ),
    examples: &[
        "The rate confirmation is ready, sign it and send it back.",
        "Rate con attached for tomorrow's load.",
        "Here is the signed rate confirmation.",
        "Load confirmation with the agreed rate of 2,400 all in.",
        "Please send the carrier confirmation before you dispatch the driver.",
        "Updated rate confirmation with detention added.",
        "Attached is the revised rate agreement for the lane.",
        "We agreed on 3 dollars a mile, the confirmation is attached, please sign.",
        "Rate sheet signed and sent back for load 4471.",
        "The rate on the confirmation is wrong, please send a revised one.",
        "Confirming the rate for the load on Friday, paperwork attached.",
        "TONU of 250 approved, see the new rate con.",
    ],
    other_languages: other_languages::RATE_CONFIRMATION,
};
