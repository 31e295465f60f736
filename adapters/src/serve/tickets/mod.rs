//! Tickets in the chats: handed to the second line, worked on there, what is said on one side carried to the other.
//!
//! Each change is one of the store, with the posts that show it; who changes a ticket that somebody else has changed meanwhile looks
//! again. What is asked again after a crash finds its ticket, its post, its step by name.

pub mod carry;
pub mod keeper;
pub mod open;
pub mod same;
pub mod steps;

use bot::action::TicketPress;
use bot::compose::ticket as say;
use bot::compose::transcript;
use bot::desk::{Right, SecondLine};
use bot::event::{Handle, Person};
use bot::form::{self, Filled, FormName};
use bot::place::{MessageRef, Place};
use bot::reply::Reply;
use bot::store::Change;
use bot::store::inbox::{EventId, Outcome};
use bot::store::outbox::{Act, NewPost, PostKey, To};
use bot::store::ticketing::Query;
use bot::store::trouble::Trouble;
use bot::text::Text;
use bot::tickets::ask::{Format, Question, Which};
use bot::tickets::mirror::Side;
use bot::tickets::rules::{self, Actor, Step};
use bot::tickets::ticket::{self, On, Someone, State, Ticket};
use bot::time::Time;

use super::direct::tell;
use super::work::Work;

/// Where an answer goes: to who asked by command, button or form, or into the thread in which somebody wrote `!word`.
#[derive(Clone, Copy)]
pub enum Back<'w> {
    Handle(&'w Handle),
    Thread(&'w Place),
}

/// Something that was asked about tickets.
pub async fn ask(work: &Work<'_>, question: Question, to: Back<'_>) -> Result<Outcome, Trouble> {
    let Some(line) = &work.desk.second_line else {
        let reply = remark(
            "No second line is set up for this desk, so there are no tickets. Whoever runs the bot can name its channel in the config.",
        );
        return answer(work, reply, to, Outcome::Refused).await;
    };
    let number = match question {
        Question::Open(note) => return open::here(work, line, &note, to).await,
        Question::Do(number, step) => return steps::one(work, line, number, *step, to).await,
        Question::Snooze(number, wait) => {
            let until = super::server::now().plus(wait);
            let step = Step::Snooze(until);
            return steps::one(work, line, number, step, to).await;
        }
        Question::Merge(from, into) => return steps::merge(work, line, from, into, to).await,
        Question::Link(one, other) => return steps::link(work, line, one, other, to).await,
        Question::Reply(number, text) => return carry::reply(work, line, number, &text, to).await,
        Question::List(which) => return list(work, which, to).await,
        Question::Mine => return mine(work, to).await,
        Question::Search(words) => return search(work, words, to).await,
        Question::Show(number) | Question::Transcript(number, _) => number,
    };
    let ticket = work.store().ticket(work.desk.name.clone(), number).await?;
    let works = work.may(Right::Work).await?;
    let Some(ticket) = ticket.filter(|ticket| works || ticket.is_asked_by(&me(work))) else {
        return answer(work, remark(&missing(number)), to, Outcome::Refused).await;
    };
    if !works {
        // What the second line says among itself, and what others asked, is not for those who ask.
        let reply = match question {
            Question::Transcript(..) => denied(work, Right::Work),
            _ => Reply {
                private: true,
                ..say::card_for_asker(&ticket)
            },
        };
        return answer(work, reply, to, Outcome::Answered).await;
    }
    let steps = work
        .store()
        .ticket_steps(ticket.desk.clone(), number, 0, MOST_STEPS)
        .await?;
    let said = work
        .store()
        .said(ticket.desk.clone(), number, Time(0), MOST_SAID)
        .await?;
    let reply = match question {
        Question::Transcript(_, Format::Json) => {
            transcript::transcript_json(&ticket, &steps, &said)
        }
        Question::Transcript(_, Format::Text) => transcript::transcript(&ticket, &steps, &said),
        _ => transcript::show(&ticket, &steps, line.back),
    };
    answer(work, reply, to, Outcome::Answered).await
}

/// Most steps and messages of one transcript.
const MOST_STEPS: usize = 2_000;
const MOST_SAID: usize = 5_000;

/// Somebody has not that right.
fn denied(work: &Work<'_>, right: Right) -> Reply {
    bot::compose::remark::denied(right, work.desk.contact.as_deref())
}

async fn list(work: &Work<'_>, which: Which, to: Back<'_>) -> Result<Outcome, Trouble> {
    let (title, live, state) = match which {
        Which::Live => ("Tickets to be worked on", true, None),
        Which::All => ("All tickets", false, None),
        Which::In(state) => (
            match state {
                State::Open => "Tickets that nobody has taken on",
                State::Claimed => "Tickets that somebody works on",
                State::Waiting(_) => "Tickets that wait for somebody",
                State::Resolved | State::Merged(_) => "Tickets that are resolved",
            },
            false,
            Some(state),
        ),
    };
    let query = Query {
        live,
        state,
        ..Query::default()
    };
    found(work, title, query, to).await
}

async fn mine(work: &Work<'_>, to: Back<'_>) -> Result<Outcome, Trouble> {
    let query = Query {
        live: true,
        owner: Some(me(work)),
        ..Query::default()
    };
    found(work, "Your tickets", query, to).await
}

async fn search(work: &Work<'_>, words: String, to: Back<'_>) -> Result<Outcome, Trouble> {
    if !words.chars().any(char::is_alphanumeric) {
        let usage = remark("Name a word to search for, e.g. /ticket search contoso.com.");
        return answer(work, usage, to, Outcome::Refused).await;
    }
    let query = Query {
        words: vec![words],
        ..Query::default()
    };
    found(work, "Tickets with these words", query, to).await
}

async fn found(
    work: &Work<'_>,
    title: &str,
    query: Query,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    if !work.may(Right::Work).await? {
        return answer(work, denied(work, Right::Work), to, Outcome::Refused).await;
    }
    let query = Query {
        desk: work.desk.name.clone(),
        most: say::LISTED + 1,
        ..query
    };
    let mut tickets = work.store().tickets(query).await?;
    let more = tickets.len() > say::LISTED;
    tickets.truncate(say::LISTED);
    answer(
        work,
        say::list(title, &tickets, more),
        to,
        Outcome::Answered,
    )
    .await
}

impl Back<'_> {
    /// What ends with the change itself. A direct answer is given after it, and again after a stop in between.
    fn ends(self, work: &Work<'_>) -> Option<(EventId, Outcome)> {
        match self {
            Back::Handle(_) => None,
            Back::Thread(_) => Some((work.id, Outcome::Answered)),
        }
    }

    /// Says directly that it is done, and ends the work.
    async fn close(self, work: &Work<'_>, reply: &Reply) -> Result<Outcome, Trouble> {
        match self {
            Back::Handle(handle) => {
                work.respond(handle, reply, false).await?;
                work.end(Outcome::Answered).await
            }
            Back::Thread(_) => Ok(Outcome::Answered),
        }
    }
}

/// Says it where it was asked, and ends the work.
async fn answer(
    work: &Work<'_>,
    reply: Reply,
    to: Back<'_>,
    outcome: Outcome,
) -> Result<Outcome, Trouble> {
    match to {
        Back::Handle(handle) => tell(work, reply, handle, outcome).await,
        Back::Thread(place) => {
            let post = in_thread(work, place, reply);
            work.commit(Change {
                finished: Some((work.id, outcome)),
                posts: vec![post],
                ..Change::default()
            })
            .await?;
            Ok(outcome)
        }
    }
}

/// The answer to `!word`, in the thread where it was written: the people there all work on it.
fn in_thread(work: &Work<'_>, place: &Place, reply: Reply) -> NewPost {
    let reply = Reply {
        private: false,
        ..reply
    };
    work.post(
        work.key("answer"),
        Act::Send(To::Place(place.clone())),
        reply,
        0,
    )
}

fn remark(text: &str) -> Reply {
    Reply {
        title: Text::plain(text),
        private: true,
        ..Reply::default()
    }
}

fn missing(number: u64) -> String {
    format!("There is no ticket #{number} that you may see. /ticket list shows those there are.")
}

/// Who does it, without a name.
fn me(work: &Work<'_>) -> Someone {
    someone(work, &work.person, String::new())
}

fn someone(work: &Work<'_>, person: &Person, name: String) -> Someone {
    Someone {
        chat: work.event.place.channel.chat.clone(),
        id: person.id.clone(),
        name,
    }
}

/// Who does it, as the chat calls that person. Nothing waits for a name.
async fn named(work: &Work<'_>, person: &Person) -> Someone {
    let called = work.chat.called(person, &work.event.place.channel).await;
    someone(work, person, called.unwrap_or_default())
}

async fn actor(work: &Work<'_>) -> Result<Actor, Trouble> {
    Ok(Actor {
        who: named(work, &work.person).await,
        works: work.may(Right::Work).await?,
    })
}

/// The posts that show a ticket as it is now, on both sides. In conversations that have come since, it gets a card of its own.
fn shown(work: &Work<'_>, line: &SecondLine, before: &Ticket, ticket: &Ticket) -> Vec<NewPost> {
    let card = ticket.card();
    let edit = |card: &str, reply| {
        let act = Act::Edit(PostKey(card.to_string()));
        work.post(PostKey(ticket.shown(card)), act, reply, ticket.version)
    };
    let mut posts = vec![edit(&card, say::card(ticket, line.back))];
    for index in 0..before.threads.len() {
        posts.push(edit(&ticket.card_in(index), say::card_for_asker(ticket)));
    }
    for (index, thread) in ticket.threads.iter().enumerate().skip(before.threads.len()) {
        let at = Act::Send(To::Place(thread.place.clone()));
        let key = PostKey(ticket.card_in(index));
        posts.push(work.post(key, at, say::card_for_asker(ticket), ticket.version));
    }
    posts
}

/// Which ticket the thread of a message is about, and on which side it stands: the thread of a card, or a conversation.
pub async fn about(
    work: &Work<'_>,
    places: [&Place; 2],
) -> Result<Option<(Ticket, Side)>, Trouble> {
    let Some(line) = &work.desk.second_line else {
        return Ok(None);
    };
    let place = &work.event.place;
    if place.channel == line.channel {
        let Some(thread) = &place.thread else {
            return Ok(None);
        };
        let root = MessageRef {
            channel: place.channel.clone(),
            id: thread.clone(),
        };
        let Some(posted) = work.store().posted_as(root).await? else {
            return Ok(None);
        };
        let number = ticket::of_card(&work.desk.name, &posted.key.0);
        let Some(number) = number else {
            return Ok(None);
        };
        let ticket = work.store().ticket(work.desk.name.clone(), number).await?;
        return Ok(ticket.map(|ticket| (ticket, Side::Working)));
    }
    for place in places {
        let found = work
            .store()
            .ticket_at(work.desk.name.clone(), place.clone())
            .await?;
        // A conversation without threads is about a ticket while somebody works on it.
        if let Some(ticket) = found.filter(|ticket| place.thread.is_some() || ticket.is_live()) {
            return Ok(Some((ticket, Side::Asking)));
        }
    }
    Ok(None)
}

/// What a button of a card asks for. Those that ask for more first are filled in by their forms.
#[must_use]
pub fn pressed(press: TicketPress, number: u64) -> Question {
    let step = match press {
        TicketPress::Claim => Step::Claim,
        TicketPress::Release => Step::Release,
        TicketPress::Continue => Step::Continue,
        TicketPress::Reopen => Step::Reopen,
        TicketPress::Solved | TicketPress::Resolve => Step::Resolve(String::new()),
        TicketPress::Join | TicketPress::Wait | TicketPress::Reply => {
            return Question::Show(number);
        }
    };
    Question::Do(number, Box::new(step))
}

/// What a form of a card asks for.
#[must_use]
pub fn filled(name: FormName, number: u64, filled: &Filled) -> Option<Question> {
    let value = |key| form::value(filled, key).trim();
    Some(match name {
        FormName::Wait(_) => Question::Do(number, Box::new(Step::Wait(On::read(value("on"))?))),
        FormName::Resolve(_) => {
            Question::Do(number, Box::new(Step::Resolve(rules::note(value("how")))))
        }
        FormName::Reply(_) => Question::Reply(number, value("text").into()),
        FormName::Bounce | FormName::Wrong(_) | FormName::Trace | FormName::Escalate(_) => {
            return None;
        }
    })
}
