//! What is due without anybody asking: reminders of tickets, and each morning what there is to do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bot::compose::ticket as say;
use bot::desk::{Desk, SecondLine};
use bot::place::Place;
use bot::store::Change;
use bot::store::outbox::{Act, NewPost, PostKey, To};
use bot::store::ticketing::{Kept, Query};
use bot::store::trouble::Trouble;
use bot::tickets::remind::{Reminder, next};
use bot::tickets::rules::{Actor, Step, apply, entry};
use bot::tickets::ticket::{Someone, Ticket};
use bot::time::Time;
use tokio::time::sleep;
use tracing::{debug, warn};

use super::super::server::{Server, now};

/// How often it is looked at.
const PAUSE: Duration = Duration::from_secs(20);
/// Reminders in one go.
const MOST: usize = 50;
/// A summary that is later than this is left out: it says what there is to do this morning.
const LATEST: Duration = Duration::from_secs(2 * 3_600);

/// Reminds and sums up until the program stops.
pub async fn run(server: Arc<Server>) {
    let mut stop = server.stop.clone();
    let mut summed = HashMap::new();
    loop {
        if let Err(trouble) = remind(&server, now()).await {
            warn!(why = %trouble, "reminders are left for later");
        }
        if let Err(trouble) = sum_up(&server, now(), &mut summed).await {
            warn!(why = %trouble, "a summary is left for later");
        }
        tokio::select! {
            () = sleep(PAUSE) => {}
            _ = stop.changed() => return,
        }
    }
}

/// Sends the reminders that are due.
async fn remind(server: &Server, now: Time) -> Result<(), Trouble> {
    for ticket in server.store.due_tickets(now, MOST).await? {
        let world = server.world();
        let desk = world.desks.iter().find(|desk| desk.name == ticket.desk);
        let line = desk.and_then(|desk| desk.second_line.as_ref());
        match server.store.commit(step(&ticket, line, now)).await {
            Ok(_) => {}
            // Somebody did something about it meanwhile.
            Err(Trouble::Outdated) => debug!("a reminder is not needed any more"),
            Err(trouble) => {
                warn!(why = %trouble, ticket = ticket.number, "a reminder is left for later");
                continue;
            }
        }
        if let Some(line) = line {
            server.wake(&line.channel.chat);
        }
    }
    Ok(())
}

/// What a due ticket calls for: a reminder, or another time for it where the desk's promise has changed since.
fn step(ticket: &Ticket, line: Option<&SecondLine>, now: Time) -> Change {
    let due = line.and_then(|line| next(ticket, &line.promise));
    let reminds = due.filter(|(at, _)| *at <= now).map(|(_, what)| what);
    let mut after = match reminds {
        Some(_) => {
            apply(ticket, &Step::Remind, &Actor::default(), now).unwrap_or_else(|_| bumped(ticket))
        }
        None => bumped(ticket),
    };
    after.remind = match line {
        Some(line) => next(&after, &line.promise).map(|(at, _)| at),
        // The desk may get its second line back.
        None => Some(now.plus(Duration::from_secs(24 * 3_600))),
    };
    let posts = match (line, reminds) {
        (Some(line), Some(what)) => vec![post(&after, line, what)],
        _ => Vec::new(),
    };
    let entry = reminds.map(|_| entry(&after, Step::Remind, Someone::default()));
    Change {
        posts,
        tickets: vec![Kept {
            ticket: after,
            entry,
        }],
        now,
        ..Change::default()
    }
}

fn bumped(ticket: &Ticket) -> Ticket {
    Ticket {
        version: ticket.version + 1,
        ..ticket.clone()
    }
}

fn post(ticket: &Ticket, line: &SecondLine, what: Reminder) -> NewPost {
    let to = match what {
        // Where everybody sees it.
        Reminder::Unclaimed | Reminder::ResponseEnds => To::Place(Place {
            channel: line.channel.clone(),
            thread: None,
        }),
        Reminder::Waiting(_) => To::ThreadOf(PostKey(ticket.card())),
    };
    NewPost {
        key: PostKey(format!("{}/v{}/reminder", ticket.card(), ticket.version)),
        desk: ticket.desk.clone(),
        act: Act::Send(to),
        reply: say::reminder(ticket, what),
        files: Vec::new(),
        version: 0,
    }
}

/// Says in the morning what there is to do, once a day.
async fn sum_up(
    server: &Server,
    now: Time,
    summed: &mut HashMap<String, String>,
) -> Result<(), Trouble> {
    for desk in &server.world().desks {
        let Some((line, date, key)) = due(desk, now) else {
            continue;
        };
        if summed.get(&desk.name.0) == Some(&date) {
            continue;
        }
        let query = Query {
            desk: desk.name.clone(),
            live: true,
            most: say::LISTED + 1,
            ..Query::default()
        };
        let mut tickets = server.store.tickets(query).await?;
        let more = tickets.len() > say::LISTED;
        tickets.truncate(say::LISTED);
        if !tickets.is_empty() {
            let reply = say::list("Tickets to be worked on today", &tickets, more);
            let place = Place {
                channel: line.channel.clone(),
                thread: None,
            };
            server
                .store
                .commit(Change {
                    posts: vec![NewPost {
                        key,
                        desk: desk.name.clone(),
                        act: Act::Send(To::Place(place)),
                        reply: bot::reply::Reply {
                            private: false,
                            ..reply
                        },
                        files: Vec::new(),
                        version: 0,
                    }],
                    now,
                    ..Change::default()
                })
                .await?;
            server.wake(&line.channel.chat);
        }
        summed.insert(desk.name.0.clone(), date);
    }
    Ok(())
}

/// Is it the time of a desk's summary? Its date, and the name of the post.
fn due(desk: &Desk, now: Time) -> Option<(&SecondLine, String, PostKey)> {
    let line = desk.second_line.as_ref()?;
    let hours = &line.promise.hours;
    let date = hours.date(now)?;
    let at = hours.moment(date, line.summary?)?;
    let in_time = at <= now && now <= at.plus(LATEST);
    let date = date.to_string();
    let key = PostKey(format!("summary/{}/{date}", desk.name.0));
    in_time.then_some((line, date, key))
}
