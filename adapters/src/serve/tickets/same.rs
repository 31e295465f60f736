//! The same problem, seen before: how often lately, for whom, and whether a ticket is open about it.

use bot::compose::ticket as say;
use bot::desk::{Right, SecondLine};
use bot::event::{Message, Person};
use bot::place::MessageRef;
use bot::reply::Reply;
use bot::store::inbox::Outcome;
use bot::store::ticketing::Query;
use bot::store::trouble::Trouble;
use bot::tickets::fingerprint::{Fingerprint, Sighting, spread};
use bot::tickets::rules::Step;
use bot::tickets::ticket::{Joined, Ticket};
use std::time::Duration;

use super::super::server::now;
use super::super::work::Work;
use super::open::is_one;
use super::{Back, answer, denied, named, remark, steps};

/// So far back equal bounces count as one problem.
const LATELY: Duration = Duration::from_secs(2 * 3_600);
/// Most of them that are counted.
const MOST: usize = 200;

/// Adds to an answer what is known of the same problem. What was seen now, to be written down with the answer.
pub async fn known(
    work: &Work<'_>,
    message: &Message,
    print: Option<Box<Fingerprint>>,
    reply: &mut Reply,
) -> Result<Option<Sighting>, Trouble> {
    // What is pasted where only some can see it is nobody else's business.
    let public = work.desk.names(&work.event.place.channel);
    let Some(print) = print.filter(|_| public) else {
        return Ok(None);
    };
    let desk = work.desk.name.clone();
    let seen = Sighting {
        desk: desk.clone(),
        fingerprint: print.text.clone(),
        paste: message.at.clone(),
        place: message.answer_at.clone(),
        person: message.author.id.clone(),
        recipient_domains: print.recipient_domains,
        at: now(),
    };
    let since = seen.at.minus(LATELY);
    let mut all = work
        .store()
        .sightings(desk, print.text.clone(), since, MOST)
        .await?;
    all.retain(|other| other.paste != seen.paste);
    all.push(seen.clone());
    reply.lead.extend(say::spread(&spread(&all)));
    if work.desk.second_line.is_some()
        && let Some(ticket) = open(work, &print.text).await?
        && !holds(&ticket, message)
    {
        let (text, button) = say::same(&ticket);
        reply.lead.push(text);
        if !reply.buttons.is_empty() {
            reply.buttons.push(button);
        }
    }
    Ok(Some(seen))
}

/// The newest ticket about that problem which somebody has to do something about.
async fn open(work: &Work<'_>, fingerprint: &str) -> Result<Option<Ticket>, Trouble> {
    let query = Query {
        desk: work.desk.name.clone(),
        live: true,
        fingerprint: Some(fingerprint.to_string()),
        most: 1,
        ..Query::default()
    };
    Ok(work.store().tickets(query).await?.pop())
}

fn holds(ticket: &Ticket, message: &Message) -> bool {
    ticket
        .threads
        .iter()
        .any(|thread| thread.place == message.answer_at)
}

/// The conversation in which the button was pressed joins a ticket.
pub async fn join(
    work: &Work<'_>,
    line: &SecondLine,
    number: u64,
    on: Option<&MessageRef>,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    if !work.may(Right::Escalate).await? {
        return answer(work, denied(work, Right::Escalate), to, Outcome::Refused).await;
    }
    let posted = match on {
        Some(on) => work.store().posted_as(on.clone()).await?,
        None => None,
    };
    let pasted = match &posted {
        Some(posted) => work.store().answered_by(posted.key.clone()).await?.pop(),
        None => None,
    };
    let Some(pasted) = pasted else {
        return answer(work, bot::compose::remark::too_old(), to, Outcome::Refused).await;
    };
    let person = Person {
        id: pasted.person.clone(),
        ..Person::default()
    };
    let joined = Joined {
        place: pasted.place,
        person: named(work, &person).await,
        paste: Some(pasted.paste),
        at: now(),
    };
    let known = work
        .store()
        .ticket_at(work.desk.name.clone(), joined.place.clone())
        .await?;
    // Made by a program that ended before it could say so, it is this one.
    if let Some(known) = known.filter(|known| known.is_live() && known.number != number) {
        return answer(work, remark(&is_one(&known)), to, Outcome::Refused).await;
    }
    steps::one(work, line, number, Step::Join(joined), to).await
}
