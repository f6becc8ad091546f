//! The messages of the demonstration, inside the binary.

/// How a message comes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SampleChannel {
    /// As e-mail.
    Mail,
    /// As a web form's webhook.
    Form,
    /// As a text message.
    Sms,
}

/// One message.
pub(super) struct Sample {
    /// Its file name.
    pub(super) name: &'static str,
    /// How it comes in.
    pub(super) way: SampleChannel,
    pub(super) bytes: &'static [u8],
}

/// A sample of the folder `samples`, by its way in, its folder there and its name.
macro_rules! sample {
    ($way:ident, $folder:literal, $name:literal) => {
        Sample {
            name: $name,
            way: SampleChannel::$way,
            bytes: include_bytes!(concat!("../../../../samples/", $folder, "/", $name)),
        }
    };
}
pub(super) use sample;

/// All of them, in the order in which they come in.
pub(super) const SAMPLES: &[Sample] = &[
    sample!(Mail, "mail", "01-loss-run-renewal.eml"),
    sample!(Mail, "mail", "02-loss-run-form-inline-logo.eml"),
    sample!(Mail, "mail", "03-loss-run-fleet-schedule.eml"),
    sample!(Mail, "mail", "04-loss-run-forwarded.eml"),
    sample!(Mail, "mail", "05-loss-run-docx-windows-1252.eml"),
    sample!(Mail, "mail", "06-loss-run-wrong-vin.eml"),
    sample!(Mail, "mail", "07-new-lead-form.eml"),
    sample!(Mail, "mail", "08-new-lead-xlsx.eml"),
    sample!(Mail, "mail", "09-certificate-request.eml"),
    sample!(Mail, "mail", "10-loss-run-reply.eml"),
    sample!(Mail, "mail", "11-newsletter.eml"),
    sample!(Mail, "mail", "12-ambiguous.eml"),
    sample!(Mail, "mail", "13-duplicate-of-01.eml"),
    sample!(Mail, "mail", "14-scan.eml"),
    sample!(Mail, "mail", "15-encrypted.eml"),
    sample!(Mail, "mail", "16-broken-pdf.eml"),
    sample!(Mail, "mail", "17-unreadable-types.eml"),
    sample!(Mail, "mail", "18-driver-application.eml"),
    sample!(Mail, "mail", "19-rate-confirmation.eml"),
    sample!(Mail, "mail", "20-proof-of-delivery.eml"),
    sample!(Mail, "mail", "21-vehicle-registration.eml"),
    sample!(Mail, "mail", "22-compliance-iso-2022-jp.eml"),
    sample!(Mail, "mail", "23-new-load.eml"),
    sample!(Mail, "mail", "24-loss-run-txt-html.eml"),
    sample!(Form, "webhook", "lead.json"),
    sample!(Form, "webhook", "lead-incomplete.json"),
    sample!(Sms, "sms", "lead.txt"),
    sample!(Sms, "sms", "no-intent.txt"),
];
