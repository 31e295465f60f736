//! Steps of a ticket: made on what is stored now, shown on both sides, told to who made them.

use bot::compose::ticket as say;
use bot::desk::SecondLine;
use bot::event::Person;
use bot::reply::Reply;
use bot::store::Change;
use bot::store::inbox::Outcome;
use bot::store::outbox::{Act, NewPost, PostKey, To};
use bot::store::ticketing::Kept;
use bot::store::trouble::Trouble;
use bot::tickets::mirror::Side;
use bot::tickets::remind;
use bot::tickets::rules::{Actor, Entry, Refusal, Step, apply, entry};
use bot::tickets::ticket::{Someone, Ticket};

use super::super::server::now;
use super::super::work::Work;
use super::{Back, actor, answer, missing, remark, shown};

/// So often a ticket is looked at again that others keep changing.
const TRIES: usize = 20;

/// One step of one ticket.
pub async fn one(
    work: &Work<'_>,
    line: &SecondLine,
    number: u64,
    step: Step,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    let by = actor(work).await?;
    let step = match step {
        Step::Assign(who) => match whom(work, &by.who, who).await {
            Some(who) => Step::Assign(who),
            None => {
                let usage = "That person is not known here. Write `!assign` in the card's thread with a mention behind it, or `me`.";
                return answer(work, remark(usage), to, Outcome::Refused).await;
            }
        },
        // One who asked speaks for that conversation, not to the others.
        Step::Resolve(_) if !by.works => Step::Resolve(String::new()),
        step => step,
    };
    make(work, line, &by, &[number], |_| vec![step.clone()], to).await
}

/// The first goes on in the second.
pub async fn merge(
    work: &Work<'_>,
    line: &SecondLine,
    from: u64,
    into: u64,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    let by = actor(work).await?;
    let steps = |tickets: &[Ticket]| {
        let threads = tickets.first().map(|ticket| ticket.threads.clone());
        vec![
            Step::Merge(into),
            Step::TakeOver(from, threads.unwrap_or_default()),
        ]
    };
    make(work, line, &by, &[from, into], steps, to).await
}

/// Each names the other.
pub async fn link(
    work: &Work<'_>,
    line: &SecondLine,
    one: u64,
    other: u64,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    let by = actor(work).await?;
    let steps = |_: &[Ticket]| vec![Step::Link(other), Step::Link(one)];
    make(work, line, &by, &[one, other], steps, to).await
}

/// A step of each of these tickets: all are made, or none.
async fn make(
    work: &Work<'_>,
    line: &SecondLine,
    by: &Actor,
    numbers: &[u64],
    steps: impl Fn(&[Ticket]) -> Vec<Step>,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    if let [one, other] = numbers
        && one == other
    {
        return refuse(work, *one, &Refusal::Itself, to).await;
    }
    for _ in 0..TRIES {
        let mut tickets = Vec::new();
        for number in numbers {
            let ticket = work.store().ticket(work.desk.name.clone(), *number);
            match ticket.await? {
                Some(ticket) => tickets.push(ticket),
                None => return answer(work, remark(&missing(*number)), to, Outcome::Refused).await,
            }
        }
        if let Some(first) = tickets.first()
            && done_before(work, first).await?
        {
            return answer(work, say::done(first), to, Outcome::Answered).await;
        }
        let steps = steps(&tickets);
        let mut made = Vec::new();
        for (ticket, step) in tickets.into_iter().zip(steps) {
            match apply(&ticket, &step, by, now()) {
                Ok(next) => made.push((ticket, kept(line, next, step, by))),
                Err(refusal) => return refuse(work, ticket.number, &refusal, to).await,
            }
        }
        match end(work, line, made, to).await {
            Err(Trouble::Outdated) => {}
            ended => return ended,
        }
    }
    Err(Trouble::Outdated)
}

/// Was the step of this event made by a program that ended before it could say so?
async fn done_before(work: &Work<'_>, ticket: &Ticket) -> Result<bool, Trouble> {
    if !work.resumed {
        return Ok(false);
    }
    Ok(work
        .store()
        .posted(told(work, ticket.number))
        .await?
        .is_some())
}

/// The name of what tells of this event's step: it is known once the step was made.
fn told(work: &Work<'_>, number: u64) -> PostKey {
    PostKey(format!("event/{}/step/{number}", work.id.0))
}

/// A ticket after a step, as it is stored.
pub fn kept(line: &SecondLine, ticket: Ticket, step: Step, by: &Actor) -> Kept {
    let ticket = reminded(line, ticket);
    Kept {
        entry: Some(entry(&ticket, step, by.who.clone())),
        ticket,
    }
}

/// With the time of its next reminder.
pub fn reminded(line: &SecondLine, ticket: Ticket) -> Ticket {
    let due = remind::next(&ticket, &line.promise);
    Ticket {
        remind: due.map(|(at, _)| at),
        ..ticket
    }
}

/// Makes the steps, each on the ticket as it was, shows them, and says so.
async fn end(
    work: &Work<'_>,
    line: &SecondLine,
    made: Vec<(Ticket, Kept)>,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    let first = made.first().map(|(_, kept)| kept.ticket.clone());
    let mut posts = Vec::new();
    for (before, kept) in &made {
        posts.extend(shown(work, line, before, &kept.ticket));
        if let Some(entry) = &kept.entry {
            posts.extend(news(work, &kept.ticket, entry));
        }
    }
    work.commit(Change {
        finished: to.ends(work),
        posts,
        tickets: made.into_iter().map(|(_, kept)| kept).collect(),
        ..Change::default()
    })
    .await?;
    // In its own thread the news are the answer.
    match first {
        Some(ticket) => to.close(work, &say::done(&ticket)).await,
        None => Ok(Outcome::Answered),
    }
}

/// What the threads hear of a step.
pub fn news(work: &Work<'_>, ticket: &Ticket, entry: &Entry) -> Vec<NewPost> {
    let mut posts = Vec::new();
    let reply = say::news(ticket, entry, Side::Working).unwrap_or_else(|| say::done(ticket));
    let reply = Reply {
        private: false,
        ..reply
    };
    let under = Act::Send(To::ThreadOf(PostKey(ticket.card())));
    posts.push(work.post(told(work, ticket.number), under, reply, 0));
    for (index, thread) in ticket.threads.iter().enumerate() {
        let Some(reply) = say::news(ticket, entry, Side::Asking) else {
            break;
        };
        let key = PostKey(format!(
            "{}/v{}/news",
            ticket.card_in(index),
            ticket.version
        ));
        posts.push(work.post(key, Act::Send(To::Place(thread.place.clone())), reply, 0));
    }
    posts
}

/// Whom an order names: `me`, or somebody by id. `None`: the chat knows nobody of that id.
async fn whom(work: &Work<'_>, me: &Someone, who: Someone) -> Option<Someone> {
    if who.id.is_empty() {
        return Some(me.clone());
    }
    let person = Person {
        id: who.id,
        ..Person::default()
    };
    let named = super::named(work, &person).await;
    (!named.name.is_empty()).then_some(named)
}

async fn refuse(
    work: &Work<'_>,
    number: u64,
    refusal: &Refusal,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    answer(work, say::refused(number, refusal), to, Outcome::Refused).await
}
