//! A conversation becomes a ticket.

use bot::ask::Pasted;
use bot::classify::Diagnosis;
use bot::compose::ticket as say;
use bot::conversation::may_join;
use bot::desk::{Right, SecondLine};
use bot::event::{Event, Person, What};
use bot::form::{self, Filled};
use bot::place::{MessageRef, Place};
use bot::reply::Reply;
use bot::store::Change;
use bot::store::inbox::{EventId, Outcome};
use bot::store::outbox::{Act, PostKey, To};
use bot::store::ticketing::Kept;
use bot::store::trouble::Trouble;
use bot::tickets::fingerprint;
use bot::tickets::rules;
use bot::tickets::ticket::{About, Joined, Priority, Ticket};

use super::super::case;
use super::super::server::now;
use super::super::work::Work;
use super::steps::reminded;
use super::{Back, answer, denied, named, remark};

/// What a conversation is about, and who asked.
struct Asked {
    place: Place,
    person: Person,
    paste: Option<MessageRef>,
    about: About,
}

/// The form that goes with an escalation was sent.
pub async fn submitted(
    work: &Work<'_>,
    number: u64,
    filled: &Filled,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    let Some(line) = &work.desk.second_line else {
        return answer(
            work,
            remark("No second line is set up for this desk."),
            to,
            Outcome::Refused,
        )
        .await;
    };
    let Some(asked) = of_event(work, number).await? else {
        return answer(work, bot::compose::remark::too_old(), to, Outcome::Refused).await;
    };
    let priority = Priority::read(form::value(filled, "priority").trim()).unwrap_or_default();
    open(work, line, asked, form::value(filled, "note"), priority, to).await
}

/// A ticket of the place where somebody calls for it, without a bounce.
pub async fn here(
    work: &Work<'_>,
    line: &SecondLine,
    note: &str,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    let person = work.person.clone();
    let place = work.event.place.clone();
    let last = work
        .store()
        .last_paste(place.clone(), person.id.clone())
        .await?;
    let age = |at: bot::time::Time| std::time::Duration::from_millis(now().0.saturating_sub(at.0));
    let last = last.filter(|last| may_join(age(last.at), place.thread.is_some()));
    let asked = match last {
        Some(answer) => of_event(work, answer.event.0).await?,
        None => None,
    };
    let asked = asked.unwrap_or(Asked {
        place,
        person,
        paste: None,
        about: About::default(),
    });
    open(work, line, asked, note, Priority::default(), to).await
}

async fn open(
    work: &Work<'_>,
    line: &SecondLine,
    asked: Asked,
    note: &str,
    priority: Priority,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    if !work.may(Right::Escalate).await? {
        return answer(work, denied(work, Right::Escalate), to, Outcome::Refused).await;
    }
    if asked.place.thread.is_none() && work.desk.names(&asked.place.channel) {
        let usage = remark(
            "A ticket belongs to a thread. Paste the bounce here and press Escalate under its answer, or write to me directly.",
        );
        return answer(work, usage, to, Outcome::Refused).await;
    }
    let desk = work.desk.name.clone();
    let name = format!("event/{}", work.id.0);
    let known = work
        .store()
        .ticket_at(desk.clone(), asked.place.clone())
        .await?;
    let known = known.filter(Ticket::is_live);
    // Made by a program that ended before it could say so, it is this one.
    if let Some(known) = known.as_ref().filter(|_| !work.resumed) {
        return answer(work, remark(&is_one(known)), to, Outcome::Refused).await;
    }
    let number = work.store().ticket_number(desk.clone(), name).await?;
    if let Some(known) = known.filter(|known| known.number != number) {
        return answer(work, remark(&is_one(&known)), to, Outcome::Refused).await;
    }
    let place = asked.place.clone();
    let ticket = Ticket {
        desk: desk.clone(),
        number,
        priority,
        threads: vec![Joined {
            person: named(work, &asked.person).await,
            place: asked.place,
            paste: asked.paste,
            at: now(),
        }],
        about: asked.about,
        note: note.to_string(),
        ..Ticket::default()
    };
    let (ticket, entry) = rules::open(ticket, named(work, &work.person).await, now());
    let ticket = reminded(line, ticket);
    let card = Act::Send(To::Place(Place {
        channel: line.channel.clone(),
        thread: None,
    }));
    let mut posts = vec![work.post(
        PostKey(ticket.card()),
        card,
        say::card(&ticket, line.back),
        1,
    )];
    for (index, thread) in ticket.threads.iter().enumerate() {
        let at = Act::Send(To::Place(thread.place.clone()));
        let reply = Reply {
            private: false,
            ..say::card_for_asker(&ticket)
        };
        posts.push(work.post(PostKey(ticket.card_in(index)), at, reply, 1));
    }
    let made = work
        .commit(Change {
            finished: to.ends(work),
            posts,
            tickets: vec![Kept {
                ticket,
                entry: Some(entry),
            }],
            ..Change::default()
        })
        .await;
    match made {
        // It was made by a program that ended before it could say so, or somebody else was faster.
        Err(Trouble::Outdated) => {
            let there = work.store().ticket_at(desk, place).await?;
            if let Some(other) = there.filter(|there| there.number != number) {
                return answer(work, remark(&is_one(&other)), to, Outcome::Refused).await;
            }
        }
        made => made?,
    }
    let text = format!(
        "It is ticket #{number} now. What is written in its thread reaches the second line."
    );
    to.close(work, &remark(&text)).await
}

/// A conversation has one ticket at a time.
pub fn is_one(known: &Ticket) -> String {
    format!("This conversation is ticket #{} already.", known.number)
}

/// What the event of that number was about. `None`: it is not kept any more.
async fn of_event(work: &Work<'_>, number: u64) -> Result<Option<Asked>, Trouble> {
    let stored = work.store().event(EventId(number)).await?;
    let Some(stored) = stored.filter(|event| event.desk == work.desk.name) else {
        return Ok(None);
    };
    let Ok(event) = serde_json::from_slice::<Event>(&stored.payload) else {
        return Ok(None);
    };
    let Some(case) = case::of_event(work, number).await? else {
        return Ok(None);
    };
    let (place, person, paste) = match event.what {
        What::Wrote(message) | What::Edited(message) | What::Explain { message, .. } => {
            (message.answer_at, message.author, Some(message.at))
        }
        What::Command { .. } | What::Submitted { .. } | What::Pressed { .. } | What::Deleted(_) => {
            (event.place, event.person, None)
        }
    };
    Ok(Some(Asked {
        place,
        person,
        paste,
        about: about(work, &case.pasted),
    }))
}

/// What is known of a paste, for the card.
fn about(work: &Work<'_>, pasted: &Pasted) -> About {
    let diagnoses = work.bot.read(pasted, &work.asker(true));
    let top = diagnoses
        .iter()
        .min_by_key(|d| (d.whole.kind, std::cmp::Reverse(d.whole.confidence)));
    top.map(|top| of_diagnosis(work, top)).unwrap_or_default()
}

fn of_diagnosis(work: &Work<'_>, diagnosis: &Diagnosis<'_>) -> About {
    let whole = &diagnosis.whole;
    let report = work.bot.reply(diagnosis).unwrap_or_default();
    let print = fingerprint::of(diagnosis);
    About {
        headline: report.title.words(),
        cause: whole.cause.slug.clone(),
        code: whole.code.map(|code| code.to_string()),
        party: report.party.words(),
        first_move: report.first_move.words(),
        evidence: whole.evidence.clone(),
        sender_domain: whole.names.our_domain.clone(),
        recipient_domains: print
            .as_ref()
            .map(|print| print.recipient_domains.clone())
            .unwrap_or_default(),
        fingerprint: print.map(|print| print.text).unwrap_or_default(),
    }
}
