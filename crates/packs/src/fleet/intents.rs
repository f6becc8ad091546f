//! The words of the fleet intents.

use kybern_core::list;

mod other_languages;

use crate::intent_words::IntentWords;

/// The intents of a fleet.
pub const INTENTS: &[IntentWords] = &[NEW_DRIVER, VEHICLE_REGISTRATION, COMPLIANCE_UPDATE];

/// A driver is to be taken on.
pub const NEW_DRIVER: IntentWords = IntentWords {
    key: "fleet.new_driver",
    description: "A driver applies or is to be taken on: application, licence, driving record, medical card.",
    keywords: list!(
        "new driver^2.2, ask:add|hire|onboard|set up & driver|applicant|new hire^1.2, \
         give:driver|application|applicant|mvr|cdl & driver|application|mvr|cdl^0.8, \
         drivers to add|driver to add|add these drivers|new guy^1.6, \
         drivers to add|driver to add|driver change|new drivers & list|roster|new ones|these are the new|updated|attached^1.2, \
         roster^1, driver change^1.6, driver list^1.2, \
         ask:auto liability|general liability|umbrella|quote|coverage^-1, driver roster^1.4, driver addition^1.6, \
         driver & hire^0.6, add these driver^1.4, driver application^2.2, application & driver^1.5, \
         application & cdl^1.2, add driver^1.2, add this driver^1.2, onboard^1.8, \
         carrier onboarding|carrier packet|carrier setup|carrier set up|onboarding packet^-2.5, onboarding^0.8, \
         onboard & driver^1, hire^1.2, hiring^1.2, hired^1, hire & driver^0.8, job application^1.6, \
         apply & driver^1.6, applicant^1.8, candidate^1.4, recruit^1.4, recruiting & driver^0.8, \
         driver qualification file^1, driver file^1.2, qualification file & applicant^1, \
         owner operator & leasing on^1.6, leasing on^1.2, lease on & driver^1, road test^1.2, \
         employment verification^1.6, previous employer^1.4, pre employment^1.6, orientation^1.2, drive for^1.2, \
         experienced driver^1, class a^0.6, cdl & mvr^1.2, cdl & experience^1.2, years of experience^0.8, \
         start & driver^0.5, first day|starts on|start date & driver|licence|license|cdl^1.2, cdl^0.5, mvr^0.6, \
         doc:DRIVER_APPLICATION^2.2, doc:CDL_LICENSE^1, doc:MVR^1.2, doc:MEDICAL_CARD^0.6, renewed^-1.2, renew^-0.8, \
         renewal^-0.8, updated & !driver|drivers|roster|list^-0.8, expired^-0.8, to my policy^-1.5, \
         to our policy^-1.5, driver exclusion^-2, driver sent^-1.2, insurance^-0.4, quote^-0.8"
    ),
    examples: &[
        "A new driver joins us, his licence and driving record are enclosed.",
        "New driver starting on Monday, paperwork attached.",
        "I want to apply for the driver position, I have a class A CDL and five years of experience.",
        "We are hiring a driver, please start the onboarding and order the drug test.",
        "Driver application with medical card and licence copy.",
        "Owner operator wants to lease on with his own truck, documents attached.",
        "Applicant passed the road test, please set up the driver qualification file.",
        "Please verify previous employment for the candidate.",
        "Do you have any openings for drivers? Here is my application.",
        "Pre-employment clearinghouse query for a new hire, consent attached.",
        "Please set up the new hire for orientation next week.",
        "Attached is the licence and driving record of the man who starts Monday.",
    ],
    other_languages: other_languages::NEW_DRIVER,
};

/// A vehicle is to be taken on.
pub const VEHICLE_REGISTRATION: IntentWords = IntentWords {
    key: "fleet.vehicle_registration",
    description: "A vehicle was bought, leased or registered and is to be added to the fleet: title, cab card, plates.",
    keywords: list!(
        "wrong:vin^0 => a vehicle's number in the message cannot be right, ask:policy|coverage|insurance|insured^-1.8, \
         ask:=put|add & new truck|new trailer|new tractor|new unit|new vehicle^1, registration^1.4, \
         register & truck^1.2, register & trailer^1.2, register & vehicle^1.2, registered a truck^1.4, \
         vehicle registration^1.6, cab card^2.2, title & registration^1, title attached^1.2, title & truck^1, \
         title & trailer^1, title & unit^1, titles^0.8, title^0.6, title transfer^1.6, certificate of title^1.8, \
         bill of sale^2, irp^1.8, apportioned^1.6, license plate^1.6, plates^1.6, plate^1.2, temporary tag^1.8, \
         temp tag^1.8, temporary plate^1.5, bought & truck^1.4, bought & trailer^1.4, bought & tractor^1.4, \
         purchased & truck^1.4, purchased & trailer^1.4, purchased & tractor^1.4, purchased^0.5, new truck^1.2, \
         new trailer^1.2, new tractor^1.2, new unit^1.2, new vehicle^1.4, add & as unit^1.6, add the unit^1.2, \
         to the fleet^1, to our fleet^1, vehicle list^0.8, vehicle file^1.2, vehicle intake^1.8, leased & vin^1, \
         picked up & truck^0.8, dealer^0.8, auction^0.8, unit^0.4, vin^0.4, doc:VEHICLE_TITLE^2.2, \
         doc:REGISTRATION^2.2, to my policy^-1.8, to our policy^-1.8, my policy^-1, inspection^-1.2, quote^-1.2, \
         loss payee^-1.5, title sponsor^-2"
    ),
    examples: &[
        "We bought a new truck, title and registration are attached, please add it to the fleet.",
        "We received the cab cards for this year, scans enclosed.",
        "Registration renewal for trailer 8 with the new plate number.",
        "Attached is the bill of sale for the tractor that we purchased from the dealer.",
        "Please add this vehicle to our list, VIN and plate are on the registration.",
        "IRP registration for the new units is complete.",
        "Title for the trailer came in the mail.",
        "New license plates for the day cab, please update the vehicle record.",
        "We leased two tractors, registration papers are attached.",
        "The temporary tag is good for thirty days, the title will follow.",
        "Set up the new unit, it is a 2024 Volvo, title attached.",
        "Truck was transferred into our name, here is the title.",
    ],
    other_languages: other_languages::VEHICLE_REGISTRATION,
};

/// A paper that shows compliance was renewed, or failed.
pub const COMPLIANCE_UPDATE: IntentWords = IntentWords {
    key: "fleet.compliance_update",
    description: "A compliance document of a driver, a vehicle or the company is new: inspection, medical card, licence renewal, drug test, permit, filing.",
    keywords: &[
        "good thru|good through|good until|valid until|expires & physical|medical|med card|cdl|license|licence^1",
        "mvr & clean|came back|pulled^0.6",
        "for your file|for your files|for the file|for your records & physical|medical|mvr|cdl|inspection|license^0.8",
        "compliance^2",
        "came in the mail|got this in the mail|came today|came in today & update our records|update your records|for your records \
         |for the file|for your file^2.2",
        "your authority|operating authority|safety rating & reinstated|evidence|operate|satisfactory|conditional^1",
        "annual inspection^2.2",
        "periodic inspection^2.2",
        "unit passed|truck passed|trailer passed|tractor passed^1",
        "inspection report^1.8",
        "dot inspection^2",
        "roadside inspection^2",
        "inspection & passed^1.2",
        "inspection certificate^1.6",
        "inspection^1.4",
        "inspected^0.8",
        "out of service^1.2",
        "violation^1",
        "medical card^1.6",
        "medical certificate^1.6",
        "med card^1.6",
        "medical examiner^1.4",
        "dot physical^1.6",
        "cdl & renewed^1.8",
        "cdl & renewal^1.4",
        "licence & renewed^1.6",
        "license & renewed^1.6",
        "renewed^0.9",
        "updated & certificate^1.2",
        "updated & card^1.2",
        "new copy^0.8",
        "old one expired^1.2",
        "expired & current one^1.2",
        "expiration date^0.6",
        "expires^0.3",
        "drug test^1.8",
        "random test^1.2",
        "drug and alcohol^1.6",
        "random & drug^1",
        "clearinghouse^1.2",
        "annual & query^0.8",
        "annual mvr^1.2",
        "annual review^1.2",
        "mcs 150^2",
        "biennial update^1.8",
        "ucr^1.8",
        "ifta^1.8",
        "2290^1.6",
        "boc 3^1.6",
        "operating authority^1.2",
        "permit^1.2",
        "hazmat certificate^1.6",
        "hazmat registration^1.6",
        "hazmat & renewed^1",
        "eld^1.2",
        "hours of service^1.2",
        "safety rating^1.6",
        "authority letter|letter of operating authority|rating letter^1.4",
        "update our records|update your records|update the file|for your file^0.6",
        "safety audit^1.8",
        "new entrant audit^1.6",
        "csa^1.2",
        "qualification file^1",
        "training certificate^1.5",
        "dash cam^0.6",
        "for the file^0.6",
        "doc:INSPECTION^2.2",
        "doc:CERTIFICATE^2",
        "doc:MEDICAL_CARD^1.4",
        "doc:CDL_LICENSE^0.8",
        "doc:MVR^0.4",
        "doc:DRIVER_APPLICATION^-2",
        "new driver^-1.5",
        "applicant^-1.5",
        "hire^-1",
        "onboard^-1.2",
        "certificate of insurance^-2",
        "certificate holder^-2",
        "coi^-2",
        "policy^-0.3",
        "pickup^-0.5",
        "load^-0.4",
    ],
    examples: &[
        "The yearly inspection of the truck is done, here is the paper for the file.",
        "The driver renewed his medical card, new copy attached.",
        "Here is the renewed CDL for the qualification file.",
        "Roadside inspection report from yesterday, no violations.",
        "Drug test results for the random pool.",
        "Our MCS-150 biennial update was filed.",
        "UCR registration for this year is paid, receipt attached.",
        "IFTA license and decals for the new year.",
        "The hazmat permit was renewed, please replace the old one.",
        "The safety audit result letter is attached.",
        "Annual review of driving record completed for all drivers.",
        "Our certificate expired last month, here is the current one for your records.",
        "The trailer passed its annual DOT inspection.",
        "Form 2290 stamped schedule 1 attached.",
        "Driver finished the hazmat training, certificate is attached.",
        "Repairs from the inspection are done, signed report attached.",
    ],
    other_languages: other_languages::COMPLIANCE_UPDATE,
};
