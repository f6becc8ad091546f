//! Whether whoever sent an answer may give it.

use kybern_core::identity::User;
use kybern_core::lesson::Teaching;
use kybern_core::mail::{ParsedMail, PassageRole};
use kybern_core::ports::ToolContext;
use kybern_core::record::Record;
use kybern_core::tool::ToolFailure;

use super::super::insurers;
use crate::args::text;
use crate::{company, contact};

/// Who answers: the sender, and, last, whoever wrote the message that a user of the tenant hands on. Only its first header
/// was written by the user's own program: what stands below that, also another header, is its author's text.
pub(super) fn senders<'m>(mail: &'m ParsedMail, users: &[User]) -> Vec<&'m str> {
    let handed_on = mail.passages.iter().find(|passage| passage.role == PassageRole::Forwarded);
    let colleague = is_user(&mail.from.address, users);
    let author = handed_on.and_then(|passage| passage.author.as_ref()).filter(|_| colleague);
    [mail.from.address.as_str()].into_iter().chain(author.map(|author| author.address.as_str())).collect()
}

/// Whose answer it is, as a person is told and as is learned from their yes.
pub(super) fn author<'m>(senders: &[&'m str]) -> &'m str {
    senders.last().copied().unwrap_or_default()
}

fn is_user(address: &str, users: &[User]) -> bool {
    users.iter().any(|user| user.email.eq_ignore_ascii_case(address))
}

/// Whether one of them writes from the domain of an insurer that the tenant knows.
pub(super) async fn knows_one_of(context: &ToolContext, senders: &[&str]) -> Result<bool, ToolFailure> {
    for sender in senders {
        if insurers::knows_sender(context, sender).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The insurers that were asked and for which none of the senders may answer: neither by their domain, nor because the
/// request was sent to that very address, nor because the tenant has learned so. Where a request went to the insurer's own
/// domain, that is the one: a domain that reads like it anybody can have registered under another ending.
pub(super) fn strangers(context: &ToolContext, senders: &[&str], requests: &[Record]) -> Vec<String> {
    let may = |sender: &str, request: &Record, insurer: &str| {
        let asked = text(&request.props, "sent_to").unwrap_or_default();
        let of_insurer = |address: &str| insurers::writes_from(address, insurer);
        let elsewhere = of_insurer(&asked) && contact::registered_domain(&asked) != contact::registered_domain(sender);
        let own = asked.eq_ignore_ascii_case(sender) || of_insurer(sender) && !elsewhere;
        let learned = |company: &str| company::normal_name(company) == company::normal_name(insurer);
        own || context.lessons.answers_for(sender).any(learned)
    };
    let stranger = |request: &Record| {
        let insurer = text(&request.props, "insurer")?;
        (!senders.iter().any(|sender| may(sender, request, &insurer))).then_some(insurer)
    };
    requests.iter().filter_map(stranger).collect()
}

/// That the address which the question named, when that is no colleague's, answers for these insurers.
pub(super) fn taught(senders: &[&str], users: &[User], insurers: Vec<String>) -> Vec<Teaching> {
    let address = author(senders);
    if is_user(address, users) {
        return Vec::new();
    }
    let speaks = |insurer| Teaching::Speaker { address: address.to_lowercase(), company: insurer };
    insurers.into_iter().map(speaks).collect()
}
