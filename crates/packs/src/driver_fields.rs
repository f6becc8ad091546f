//! The fields of a driver. Labels are English, Spanish and French.

use kybern_core::list;
use kybern_core::model::ValueKind;

use crate::field::{DRIVERS, Field, of, opens};

/// Words behind a person's name that say in a sentence that this is a driver.
const DRIVES: &[&str] = list!(
    "starts driving, started driving, will drive, will be driving, was driving, is driving, drives for, drives our, \
     to our drivers, to the drivers, to our driver list, to the driver list, to our driver schedule, \
     to the driver schedule, to our list of drivers, to our roster, as a driver, as a new driver, our driver, \
     our new driver, is a driver, class a, class b, his cdl, her cdl, cdl, had his mvr, had her mvr, \
     passed his physical, passed her physical, passed the road test, passed his road test, passed her road test, \
     jackknifed, rolled the, rolled his, rolled her, as operator, a la lista de choferes, a nuestros choferes, \
     como chofer, como conductor, nuestro chofer, licencia, comme chauffeur, à nos chauffeurs, notre chauffeur, \
     permis"
);

/// Words that say in a sentence that a licence ends on a day, and those by which the day is another one.
const LICENSE_ENDS: &[&str] = list!(
    "cdl, license, licence, lic, dl, licencia, permis, führerschein, -issued, -issue, -since, -mvr, -pulled, -ran, \
     -run, -born, -dob, -hired, -starts, -start, -started, -physical, -medical, -med card, -got, -obtained, -received, \
     -renewed, -suspended, -revoked, -reinstated, -policy"
);

/// Words that say in a sentence that somebody's work begins on a day.
const BEGINS: &[&str] = list!(
    "first day, he starts, she starts, they start, starts driving, start driving, starts work, starts working, \
     begins work, starts with us, started with us, joins us, joined us, hired, date of hire, new hire, empieza, \
     empezará, comienza, ingresa, primer día, commence, débute, premier jour, embauché, embauchée"
);

pub(crate) const DRIVER: &[Field] = &[
    opens(Field {
        signs: DRIVES,
        ..of(
            DRIVERS,
            "has_drivers",
            "name",
            list!(
                "driver, driver name, drivers, driver s name, name of driver, driver full name, employee, \
                 employee name, operator, operator name, applicant name, applicant, name, name last first, last first, \
                 last name first name, conductor, nombre del conductor, chofer, se llama, operador, chauffeur, \
                 conducteur, nom du conducteur, nom du chauffeur, fahrer"
            ),
            ValueKind::Person,
        )
    }),
    of(
        DRIVERS,
        "has_drivers",
        "license_number",
        list!(
            "license, license number, licence, licence number, lic, lic number, driver license, driver license number, \
             driver s license, driver s license number, drivers license, drivers license number, dl, dl number, cdl, \
             cdl number, cdl license number, license state and number, state and license number, \
             operator license number, oln, licencia, número de licencia, licencia de conducir, permis, \
             permis de conduire, numéro de permis, n° de permis, führerschein, führerscheinnummer"
        ),
        ValueKind::License,
    ),
    Field {
        signs: LICENSE_ENDS,
        ..of(
            DRIVERS,
            "has_drivers",
            "license_expiry",
            list!(
                "license expiration, license expiration date, license expires, license expiry, license exp, \
                 license exp date, license valid until, license valid to, licence valid to, licence valid until, \
                 valid to, cdl valid to, cdl valid until, licencia válida hasta, permis valide jusqu au, \
                 license valid through, license good to, license good through, cdl expiration, cdl expires, cdl exp, \
                 dl expiration, dl exp, expires, expiration, expiration date, exp date, exp, vence, vencimiento, \
                 expire le, date d expiration, gültig bis"
            ),
            ValueKind::Date,
        )
    },
    Field {
        signs: BEGINS,
        ..of(
            DRIVERS,
            "has_drivers",
            "hire_date",
            list!(
                "hire date, date of hire, hired, hired on, hired today, hired him on, hired her on, hired him today, \
                 hired her today, hired them today, starting, starting on, he starts, she starts, he starts on, \
                 she starts on, they start on, starts work, starts work on, first day of work, date hired, doh, \
                 start date, first day, employed since, fecha de contratación, fecha de ingreso, date d embauche, \
                 embauché le, eingestellt"
            ),
            ValueKind::Date,
        )
    },
    of(
        DRIVERS,
        "has_drivers",
        "birth_date",
        list!(
            "date of birth, birth date, birthdate, dob, d o b, born, fecha de nacimiento, date de naissance, né le, \
             geburtsdatum"
        ),
        ValueKind::Date,
    ),
];
