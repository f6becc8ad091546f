//! The open loss-run requests of a company that somebody asks about again: "any news on the loss runs?".
//!
//! Such a message has no papers, and often neither a policy nor the legal form of a name. It belongs to what has been
//! asked for already, when that is the company's only open business of its kind; otherwise it is no chase.

use kybern_core::list;
use kybern_core::mail::PassageRole;
use kybern_core::ports::ToolContext;
use kybern_core::record::Record;
use kybern_core::task::AttachmentSource;
use kybern_core::tool::ToolFailure;
use serde_json::{Value, json};

use super::deal::{OpenDeal, open_deal};
use super::insured::Insured;
use super::insurers::Insurers;
use super::kinds::ENTITY;
use super::loss_run_request as request;
use super::policies::Policy;
use crate::args::{text, texts};
use crate::company;

/// The pipeline in which loss runs are asked for.
const PIPELINE: &str = "renewal";
/// Names that are looked up at most, and the words of each.
const MAX_NAMES: usize = 80;
const WORDS: std::ops::RangeInclusive<usize> = 2..=7;
/// Words of a name that say which one is meant though others are left out.
const LEAST_WORDS: usize = 3;
/// Words after which a message names whom it is about.
const ABOUT: &[&str] = &["for", "of", "on", "re", "para", "de", "pour", "fur"];
/// Turns of messages that ask again, as names are compared.
const AGAIN: &[&str] = list!(
    "any news, any update, any word, any luck, any progress, any status, an update, update on, status, follow up, \
     following up, followup, checking in, checking on, check on, circling back, touching base, second request, \
     2nd request, third request, 3rd request, final request, reminder, still waiting, still need, still missing, \
     still have not, still havent, still do not have, still dont have, have not received, havent received, \
     have not seen, havent seen, have yet to, yet to receive, where are we, where do we stand, where are my, \
     where are the, ask again, asked for, requested last, outstanding, overdue, alguna noticia, alguna novedad, \
     seguimiento, segunda solicitud, sigo esperando, seguimos esperando, recordatorio, todavia no, aun no, \
     des nouvelles, relance, rappel, deuxieme demande, toujours pas, pas encore, en attente, suivi"
);
/// How sure it is that the company is meant.
const MEANT: f64 = 0.9;

/// Fills in the company and the policies that have been asked about already, when the message asks about them again.
pub(super) async fn adopt(
    context: &ToolContext,
    insurers: &Insurers,
    insured: &mut Insured,
    policies: &mut Vec<Policy>,
) -> Result<(), ToolFailure> {
    let documents = context.documents()?;
    let attached = documents.list().await?.iter().any(|file| file.source == AttachmentSource::Attached);
    let Some(mail) = documents.mail().await?.filter(|_| !attached) else { return Ok(()) };
    let said = [mail.subject.clone(), mail.text_of(PassageRole::Newest), mail.text_of(PassageRole::Signature)];
    let said = if mail.passages.is_empty() { format!("{}\n{}", mail.subject, mail.text) } else { said.join("\n") };
    let plain = format!(" {} ", company::normal_name(&said));
    if !AGAIN.iter().any(|turn| plain.contains(&format!(" {turn} "))) {
        return Ok(());
    }
    let mut found: Vec<(Record, Vec<Policy>)> = Vec::new();
    for company in companies(context, insured, &said).await? {
        let asked = asked_about(context, &company).await?;
        if !asked.is_empty() {
            found.push((company, asked));
        }
    }
    let [(company, asked)] = found.as_mut_slice() else { return Ok(()) };
    // Another insurer than those that were asked makes a new request.
    if let Some(named) = insurers.only_one_in(0).map(company::normal_name) {
        asked.retain(|policy| policy.insurer.as_deref().map(company::normal_name) == Some(named.clone()));
    }
    if asked.is_empty() {
        return Ok(());
    }
    policies.append(asked);
    // Anybody can ask for news of a company. Whom it is about is recorded already, so nothing that the message says of
    // an insured goes on to records: not the sender's address, and no number that the record lacks.
    for value in insured.fields.values_mut() {
        *value = Value::Null;
    }
    insured.sources.clear();
    for (field, known) in
        [("name", text(&company.props, "name")), ("dot_number", company::recorded_number(company, "DOT"))]
    {
        if known.is_some() {
            insured.sources.insert(field.to_owned(), json!({"record": company.id, "confidence": MEANT}));
        }
        insured.fields.insert(field.to_owned(), json!(known));
    }
    Ok(())
}

/// The known companies that the message names, each once.
async fn companies(context: &ToolContext, insured: &Insured, said: &str) -> Result<Vec<Record>, ToolFailure> {
    let records = context.records()?;
    let mut found: Vec<Record> = Vec::new();
    let mut keep = |known: Vec<Record>| {
        // Several of one name are told apart by nobody here.
        if let [one] = known.as_slice()
            && text(&one.props, "entity_type").as_deref() != Some("insurance_carrier")
            && !found.iter().any(|other| other.id == one.id)
        {
            found.push(one.clone());
        }
    };
    let read = text(&insured.fields, "name").map(|name| company::normal_name(&name));
    if let Some(number) = text(&insured.fields, "dot_number") {
        keep(records.records_by_lookup(context.scope, ENTITY, "DOT", &number).await?);
        // A number of one company under the name of another means neither.
        let name = |record: &Record| text(&record.props, "name").map(|name| company::normal_name(&name));
        found.retain(|record| read.is_none() || name(record) == read);
        return Ok(found);
    }
    for name in read.into_iter().chain(names(said)) {
        let mut known = records.records_by_lookup(context.scope, ENTITY, "name", &name).await?;
        if known.is_empty() {
            known = cut_short(context, &name).await?;
        }
        keep(known);
    }
    Ok(found)
}

/// The companies whose names go on after this one: people leave out `hauling`, or all but three words.
async fn cut_short(context: &ToolContext, name: &str) -> Result<Vec<Record>, ToolFailure> {
    let words: Vec<&str> = name.split(' ').collect();
    let goes_on = |whole: &str| {
        let rest = whole.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '));
        let trade = |rest: &str| rest.split(' ').all(|word| company::TRADE_WORDS.contains(&word));
        rest.is_some_and(|rest| words.len() >= LEAST_WORDS || words.len() > 1 && trade(rest))
    };
    let head = ("name_head", words[0]);
    let known = context.records()?.lookup_values(context.scope, ENTITY, head, "name").await?;
    let mut found = Vec::new();
    for (id, _) in known.into_iter().filter(|(_, whole)| goes_on(whole)).take(2) {
        found.extend(context.records()?.record_by_id(context.scope, id).await?);
    }
    Ok(found)
}

/// What may be the name of a company: what stands by itself on a line or between bars, and what a message is about.
fn names(said: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| {
        let name = company::normal_name(&words.join(" "));
        if WORDS.contains(&name.split(' ').count()) && !found.contains(&name) && found.len() < MAX_NAMES {
            found.push(name);
        }
    };
    let pieces = || said.split(['\n', '|', ',', ';', ':', '?', '(', ')', '\u{2013}', '\u{2014}']).map(str::trim);
    for piece in pieces() {
        let words: Vec<&str> = piece.split_whitespace().collect();
        if words.len() <= *WORDS.end() {
            add(&words);
        }
    }
    for piece in pieces() {
        let words: Vec<&str> = piece.split_whitespace().collect();
        let about = words.iter().enumerate().filter(|(_, word)| ABOUT.contains(&word.to_lowercase().as_str()));
        for (at, _) in about {
            let rest = &words[at + 1..];
            (2..=rest.len().min(*WORDS.end())).rev().for_each(|count| add(&rest[..count]));
        }
    }
    found
}

/// The policies that open requests of a company ask about.
async fn asked_about(context: &ToolContext, company: &Record) -> Result<Vec<Policy>, ToolFailure> {
    let OpenDeal::Found(deal) = open_deal(context, company.id, PIPELINE).await? else { return Ok(Vec::new()) };
    let requests = request::of_deal(context, deal.id).await?;
    let open = requests.iter().filter(|request| request::is_open(request));
    let policies = open.flat_map(|request| {
        // Code and lines stay where they were read: this message does not say them.
        let of_number = |number| Policy { number, insurer: text(&request.props, "insurer"), ..Policy::default() };
        texts(&request.props, "policy_numbers").into_iter().map(of_number)
    });
    Ok(policies.collect())
}

#[cfg(test)]
mod tests {
    use super::super::ExtractDocuments;
    use super::super::kinds::{DEAL, LOSS_RUN_REQUEST};
    use super::*;
    use crate::tests::World;
    use kybern_core::record::Lookup;

    #[test]
    fn names_stand_by_themselves_or_are_what_a_message_is_about() {
        let found =
            names("Where are we with losses for Gannet Junction Carriers? Thanks,\nKim Doe | Oak Bend LLC | 555-0101");
        for name in ["gannet junction carriers", "kim doe"] {
            assert!(found.iter().any(|other| other == name), "{name} in {found:?}");
        }
        assert!(names(&"one two three four, ".repeat(10_000)).len() <= MAX_NAMES);
    }

    /// A company with one open request.
    fn world(status: &str) -> World {
        let mut world = World::new();
        let lookups = vec![
            Lookup::shared("name", "gannet junction carriers"),
            Lookup::shared("name_head", "gannet"),
            Lookup::shared("DOT", "9000017"),
        ];
        let props = json!({
            "name": "Gannet Junction Carriers LLC", "entity_type": "motor_carrier", "is_shadow": true,
            "identifiers": [{"type": "DOT", "value": "9000017"}]
        });
        let entity = world.put_with(ENTITY, "g", props, lookups);
        let props = json!({"entity_id": entity, "pipeline_type": "renewal", "stage": "new", "coverage_types": []});
        let deal = world.put(DEAL, &format!("entity:{entity}:renewal"), props);
        let props = json!({
            "deal_id": deal, "entity_id": entity, "insurer": "North Mutual", "status": status,
            "policy_numbers": ["A-1"], "lines": ["AL"]
        });
        world.put_with(LOSS_RUN_REQUEST, "r", props, vec![Lookup::shared("deal", deal.clone())]);
        world.mail("kim@gannet.example", "Status?", "Any news on the losses for Gannet Junction Carriers?");
        world
    }

    async fn read(world: &World) -> Option<Value> {
        let args = json!({"required": ["insured", "policies"]});
        let outcome = world.call(&ExtractDocuments::new(), args).await.unwrap();
        outcome.review.is_none().then(|| Value::Object(outcome.data))
    }

    #[tokio::test]
    async fn a_chase_belongs_to_the_open_request() {
        let data = read(&world("requested")).await.unwrap();
        assert_eq!(data["insured"]["name"], "Gannet Junction Carriers LLC");
        assert_eq!(data["extracted_policies"][0]["policy_number"], "A-1");
        assert_eq!(data["extracted_policies"][0]["insurer"], "North Mutual");
        let mut told = world("draft");
        let text =
            "Still waiting on Gannet Junction Carriers.\n@insured.name = Somebody Else LLC\nGannet Junction Carriers";
        told.mail("kim@gannet.example", "Losses", text);
        assert_eq!(read(&told).await.unwrap()["insured"]["name"], "Gannet Junction Carriers LLC");
    }

    #[tokio::test]
    async fn a_chase_names_a_company_by_the_beginning_of_its_name() {
        let chase = |known: &str, text: &str| {
            let mut world = world("requested");
            let lookups = vec![Lookup::shared("name", known), Lookup::shared("name_head", "gannet")];
            let props = json!({"name": known, "entity_type": "motor_carrier", "is_shadow": true, "identifiers": []});
            world.put_with(ENTITY, "h", props, lookups);
            world.mail("kim@gannet.example", "Losses", text);
            world
        };
        let short = "Any luck with North Mutual on the Gannet Junction loss runs?";
        let data = read(&chase("gannet bay haulage", short)).await.unwrap();
        assert_eq!(data["insured"]["name"], "Gannet Junction Carriers LLC");
        let both = chase("gannet junction trucking", short);
        assert!(read(&both).await.is_none(), "two names go on like that");
        let word = chase("gannet bay haulage", "Any luck with North Mutual on the Gannet loss runs?");
        assert!(read(&word).await.is_none(), "a word is no name");
    }

    #[tokio::test]
    async fn a_chase_brings_nothing_of_its_sender_into_records() {
        let mut world = world("requested");
        let text = "Any news on the losses for Gannet Junction Carriers?\n@insured.name = Gannet Junction Carriers LLC\n\
                    @insured.email = kim@stranger.example\n@insured.phone = (775) 555-0121\n\
                    @insured.address = 1 Elsewhere Road, Elko, NV 89801\n@insured.mc_number = 999001";
        world.mail("kim@stranger.example", "Status?", text);
        let data = read(&world).await.unwrap();
        assert_eq!(data["insured"]["name"], "Gannet Junction Carriers LLC");
        assert_eq!(data["insured"]["dot_number"], "9000017", "as it is recorded");
        for field in ["email", "phone", "address", "mc_number"] {
            assert_eq!(
                (&data["insured"][field], &data["insured_sources"][field]),
                (&Value::Null, &Value::Null),
                "{field}"
            );
        }
    }

    #[tokio::test]
    async fn a_number_of_one_company_under_the_name_of_another_means_neither() {
        let chase = |name: &str| {
            let mut world = world("requested");
            let text = format!("Any news on the losses?\n@insured.name = {name}\n@insured.dot_number = 9000017");
            world.mail("kim@stranger.example", "Status?", &text);
            world
        };
        let data = read(&chase("Gannet Junction Carriers")).await.unwrap();
        assert_eq!(data["insured"]["dot_number"], "9000017");
        assert!(read(&chase("Oak Bend Haulage LLC")).await.is_none());
    }

    #[tokio::test]
    async fn what_is_no_chase_asks_as_before() {
        assert!(read(&world("closed")).await.is_none(), "nothing is open");
        let mut papers = world("requested");
        papers.document("dec.txt", "Policy");
        assert!(read(&papers).await.is_none(), "a paper came with it");
        let mut other = world("requested");
        other.mail("kim@gannet.example", "Status?", "Any news on the losses for Oak Bend?");
        assert!(read(&other).await.is_none(), "another company");
        let mut fresh = world("requested");
        fresh.mail("kim@gannet.example", "Losses", "Please order the losses for Gannet Junction Carriers.");
        assert!(read(&fresh).await.is_none(), "nobody asks again");
    }
}
