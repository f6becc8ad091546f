//! The words of the helpdesk's intents.

use kybern_core::list;

use crate::intent_words::IntentWords;

/// What a helpdesk is asked for.
pub(super) const INTENTS: &[IntentWords] = &[INCIDENT, QUESTION, ACCESS_REQUEST];

/// Something does not work.
const INCIDENT: IntentWords = IntentWords {
    key: "helpdesk.incident",
    description: "Something that used to work does not: an error, an outage, a broken device, a login that fails.",
    keywords: list!(
        "not working^2, does not work|doesn't work|stopped working|won't start|will not start|no longer works^2.2, \
         is down|went down|are down^2, outage^2.4, crash^1.8, keeps crashing^1, error message^1.8, error^1.2, \
         error code^0.8, broken^1.6, frozen|freezes|hangs^1.6, very slow|extremely slow|so slow^1.6, \
         cannot log in|can't log in|cannot login|unable to log in|can't sign in|cannot sign in|locked out^2, \
         cannot print|can't print|paper jam^1.8, cannot connect|can't connect|unable to connect|no connection^1.8, \
         cannot open|can't open|fails to open^1.4, blue screen^1.8, timed out|times out^1.4, data loss^1.6, \
         nobody can|no one can|none of us can^1.6, offline^1, failed|fails^0.8, bug^1.2, virus|malware|phishing^1.8, \
         priority & error|down|working^0.6, ask:access|permission^-1, how do i|how can i^-1, \
         unsubscribe^-2, invoice attached^-1.5"
    ),
    examples: &[
        "The printer on the second floor does not work, it shows an error.",
        "I cannot log in to the portal since this morning.",
        "The payroll application is down for everybody in our office.",
        "My laptop crashes with a blue screen when I open the report.",
        "Email is very slow and sometimes times out.",
        "The VPN stopped working after the update.",
        "Nobody can open the shared calendar.",
        "The scanner is broken and we need it for today's shipments.",
    ],
    other_languages: &[],
};

/// Somebody wants to know something.
const QUESTION: IntentWords = IntentWords {
    key: "helpdesk.question",
    description: "Somebody asks how something is done, or whether and where it can be.",
    keywords: list!(
        "how do i|how can i|how do we|how can we|how does one|how to^2.2, where do i|where can i|where is the^1.6, \
         is it possible|is there a way|can i use^1.8, quick question|a question about|question on^1.8, \
         what is the difference|which version|which one should^1.4, instructions|manual|guide|documentation^1.2, \
         could you explain|please explain|can you tell me^1.4, wondering whether|wondering if|wondering how^1.6, \
         not working|does not work|is down|outage|error message^-1.2, access to|permission^-0.8, \
         unsubscribe^-2, price|quote|offer^-1.2"
    ),
    examples: &[
        "How do I set up an automatic reply for my holidays?",
        "Is there a way to export the report as a spreadsheet?",
        "Where can I find the manual of the label printer?",
        "Quick question: which version of the client should we use?",
        "How can we share a calendar with another team?",
        "Could you explain how the backup of my documents works?",
    ],
    other_languages: &[],
};

/// Somebody wants to be let in.
const ACCESS_REQUEST: IntentWords = IntentWords {
    key: "helpdesk.access_request",
    description: "Somebody asks for an account, a permission, a licence or access to a system, for themselves or another.",
    keywords: list!(
        "ask:access|permission|permissions|account|license|licence|rights^2, access request^2.4, request access^2.4, \
         need access|needs access|give access|grant access|have access^2.2, access to the^1.2, new account^1.8, \
         create an account|set up an account|set up a login^1.8, add me to|add her to|add him to|add them to^1.4, \
         read only access|write access|admin rights^1.6, new starter|new colleague|new hire & account|access^1, \
         revoke|remove access^1, mailing list|shared mailbox|shared folder & access|add^0.8, \
         cannot access|can't access^-0.6, is down|outage|error message|not working^-1.4, unsubscribe^-2"
    ),
    examples: &[
        "Please give me access to the finance folder.",
        "Our new colleague needs an account for the booking system by Monday.",
        "I need read only access to the sales dashboard.",
        "Could you add me to the shared mailbox of the warehouse?",
        "Access request: write permission for the project drive.",
        "Please create an account in the time sheet system for our intern.",
    ],
    other_languages: &[],
};
