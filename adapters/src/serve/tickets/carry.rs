//! What people say on one side of a ticket, carried to the other.

use bot::compose::ticket as say;
use bot::desk::{Right, SecondLine};
use bot::event::{Message, What};
use bot::place::MessageRef;
use bot::reply::Reply;
use bot::store::Change;
use bot::store::inbox::Outcome;
use bot::store::outbox::{Act, NewPost, PostKey, To};
use bot::store::ticketing::Kept;
use bot::store::trouble::Trouble;
use bot::tickets::ask;
use bot::tickets::mirror::{self, Goal, Said, Side, goals};
use bot::tickets::rules::{Actor, Refusal, Step, apply};
use bot::tickets::ticket::{On, State, Ticket};

use super::super::server::now;
use super::super::work::Work;
use super::{Back, about, answer, denied, missing, named, remark, shown, steps};

/// Longest text that is kept and carried, in characters.
const LONGEST: usize = 3_000;
/// Most files that are named.
const MOST_FILES: usize = 10;
/// Longest name of a file, in characters.
const LONGEST_NAME: usize = 100;

/// What became of a message about a ticket.
pub enum Heard {
    /// It has nothing to do with one.
    Nothing,
    /// It was carried over; it may be a bounce as well.
    Carried,
    /// The work on it is done.
    Done(Outcome),
}

/// Somebody wrote something, or changed it.
pub async fn wrote(work: &Work<'_>, message: &Message) -> Result<Heard, Trouble> {
    let Some(line) = &work.desk.second_line else {
        return Ok(Heard::Nothing);
    };
    let places = [&message.answer_at, &work.event.place];
    let Some((ticket, side)) = about(work, places).await? else {
        return Ok(
            if work.desk.is_second_line(&work.event.place.channel) && !message.addressed {
                Heard::Done(work.end(Outcome::Silent).await?)
            } else {
                Heard::Nothing
            },
        );
    };
    let opened_it = ticket
        .threads
        .iter()
        .any(|thread| thread.paste.as_ref() == Some(&message.at));
    if opened_it {
        // The card shows what it is about.
        return Ok(Heard::Nothing);
    }
    let desk = work.desk.name.clone();
    let known = work.store().said_in(desk, message.at.clone()).await?;
    let text = cut(&message.text, LONGEST);
    let said = match side {
        Side::Asking => Ok((text, true)),
        Side::Working => worked(work, line, &ticket, known.as_ref(), text).await?,
    };
    let (text, crosses) = match said {
        Ok(said) => said,
        Err(outcome) => return Ok(Heard::Done(outcome)),
    };
    let crossed = known.as_ref().is_some_and(|known| known.crossed);
    let said = Said {
        desk: work.desk.name.clone(),
        ticket: ticket.number,
        message: message.at.clone(),
        side,
        by: named(work, &message.author).await,
        text,
        files: names(message),
        crossed: crosses,
        taken_back: crossed && !crosses || known.as_ref().is_some_and(|known| known.taken_back),
        at: known.as_ref().map_or_else(now, |known| known.at),
        edited: crossed,
        deleted: false,
    };
    let same = known.is_some_and(|known| {
        (known.text, known.files, known.crossed) == (said.text.clone(), said.files.clone(), crosses)
    });
    let posts = match (crossed, crosses) {
        // The words that sent it were taken out: what they sent is taken back.
        (true, false) => taken_back(work, &ticket, &said),
        // Made once more after a stop, it is the same post.
        (true | false, true) => carried(work, &ticket, &said, crossed && !same),
        (false, false) => Vec::new(),
    };
    let ends = side == Side::Working;
    work.commit(Change {
        finished: ends.then_some((work.id, Outcome::Answered)),
        posts,
        said: vec![said],
        ..Change::default()
    })
    .await?;
    if side == Side::Asking && ticket.state == State::Waiting(On::Sender) {
        go_on(work, line, &ticket).await?;
    }
    Ok(if ends {
        Heard::Done(Outcome::Answered)
    } else {
        Heard::Carried
    })
}

/// What is said in the thread of a card: its words, and whether those who asked are to read them. An order is carried out instead: then
/// what became of that.
async fn worked(
    work: &Work<'_>,
    line: &SecondLine,
    ticket: &Ticket,
    known: Option<&Said>,
    text: String,
) -> Result<Result<(String, bool), Outcome>, Trouble> {
    if !work.may(Right::Work).await? {
        return Ok(Err(work.end(Outcome::Refused).await?));
    }
    let to = Back::Thread(&work.event.place);
    let (text, crosses) = match ask::in_thread(&text, ticket.number) {
        Some(Ok(ask::Question::Reply(_, words))) => (words, true),
        // An order that is mended afterwards was carried out already.
        Some(_) if matches!(work.event.what, What::Edited(_)) => {
            return Ok(Err(work.end(Outcome::Silent).await?));
        }
        Some(Ok(question)) => return Ok(Err(super::ask(work, question, to).await?)),
        Some(Err(usage)) => {
            return Ok(Err(
                answer(work, remark(&usage), to, Outcome::Refused).await?
            ));
        }
        // A remark that was internal when it was made stays so, unless it is sent on purpose.
        None => {
            let internal = known.is_some_and(|known| !known.crossed);
            (text, line.back == mirror::Back::All && !internal)
        }
    };
    match unheard(ticket, known).filter(|_| crosses) {
        Some(why) => Ok(Err(answer(work, why, to, Outcome::Refused).await?)),
        None => Ok(Ok((text, crosses))),
    }
}

/// The beginning of what is longer than that, marked as such.
fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

/// The names of a message's files.
fn names(message: &Message) -> Vec<String> {
    let files = message.files.iter().take(MOST_FILES);
    files.map(|file| cut(&file.name, LONGEST_NAME)).collect()
}

/// The sender has written: what was waited for has come.
async fn go_on(work: &Work<'_>, line: &SecondLine, ticket: &Ticket) -> Result<(), Trouble> {
    let by = Actor {
        who: named(work, &work.person).await,
        works: false,
    };
    let Ok(next) = apply(ticket, &Step::Continue, &by, now()) else {
        return Ok(());
    };
    let kept: Kept = steps::kept(line, next, Step::Continue, &by);
    let change = Change {
        posts: shown(work, line, ticket, &kept.ticket),
        tickets: vec![kept],
        ..Change::default()
    };
    match work.commit(change).await {
        // Somebody was faster.
        Err(Trouble::Outdated) => Ok(()),
        made => made,
    }
}

/// A message is gone: so is what mirrored it.
pub async fn deleted(work: &Work<'_>, message: &MessageRef) -> Result<Heard, Trouble> {
    if work.desk.second_line.is_none() {
        return Ok(Heard::Nothing);
    }
    let desk = work.desk.name.clone();
    let Some(said) = work.store().said_in(desk.clone(), message.clone()).await? else {
        return Ok(Heard::Nothing);
    };
    let Some(ticket) = work.store().ticket(desk, said.ticket).await? else {
        return Ok(Heard::Nothing);
    };
    let posts = if said.crossed {
        taken_back(work, &ticket, &said)
    } else {
        Vec::new()
    };
    let said = Said {
        text: String::new(),
        files: Vec::new(),
        deleted: true,
        ..said
    };
    let ends = said.side == Side::Working;
    work.commit(Change {
        finished: ends.then_some((work.id, Outcome::Answered)),
        posts,
        said: vec![said],
        ..Change::default()
    })
    .await?;
    Ok(if ends {
        Heard::Done(Outcome::Answered)
    } else {
        Heard::Carried
    })
}

/// Something for those who asked, by command or form.
pub async fn reply(
    work: &Work<'_>,
    line: &SecondLine,
    number: u64,
    text: &str,
    to: Back<'_>,
) -> Result<Outcome, Trouble> {
    if !work.may(Right::Work).await? {
        return answer(work, denied(work, Right::Work), to, Outcome::Refused).await;
    }
    let Some(ticket) = work.store().ticket(work.desk.name.clone(), number).await? else {
        return answer(work, remark(&missing(number)), to, Outcome::Refused).await;
    };
    if let Some(why) = unheard(&ticket, None) {
        return answer(work, why, to, Outcome::Refused).await;
    }
    let said = Said {
        desk: work.desk.name.clone(),
        ticket: number,
        // It stands in no message: the event is its name.
        message: MessageRef {
            channel: line.channel.clone(),
            id: format!("event/{}", work.id.0),
        },
        side: Side::Working,
        by: named(work, &work.person).await,
        text: cut(text, LONGEST),
        files: Vec::new(),
        crossed: true,
        taken_back: false,
        at: now(),
        edited: false,
        deleted: false,
    };
    let mut posts = carried(work, &ticket, &said, false);
    // Those who work on it see what was said.
    let key = mirror::name(&ticket, &said.message, &Goal::Card);
    let act = Act::Send(To::ThreadOf(PostKey(ticket.card())));
    posts.push(work.post(PostKey(key), act, say::said(&said), 0));
    work.commit(Change {
        finished: to.ends(work),
        posts,
        said: vec![said],
        ..Change::default()
    })
    .await?;
    to.close(work, &remark("Those who asked have it.")).await
}

/// The posts that carry it over: new ones, or edits of those that did before.
fn carried(work: &Work<'_>, ticket: &Ticket, said: &Said, edited: bool) -> Vec<NewPost> {
    let goals = goals(ticket, said.side, said.crossed);
    let posts = goals.into_iter().map(|goal| {
        let key = mirror::name(ticket, &said.message, &goal);
        if edited {
            let act = Act::Edit(PostKey(key.clone()));
            let edit = PostKey(format!("{key}/e{}", work.id.0));
            return work.post(edit, act, say::said(said), work.id.0);
        }
        let to = match goal {
            Goal::Card => To::ThreadOf(PostKey(ticket.card())),
            Goal::Thread(_, place) => To::Place(place),
        };
        work.post(PostKey(key), Act::Send(to), say::said(said), 0)
    });
    posts.collect()
}

/// Takes away what mirrors it.
fn taken_back(work: &Work<'_>, ticket: &Ticket, said: &Said) -> Vec<NewPost> {
    let goals = goals(ticket, said.side, true).into_iter();
    let posts = goals.map(|goal| {
        let key = mirror::name(ticket, &said.message, &goal);
        let act = Act::Delete(PostKey(key.clone()));
        work.post(PostKey(format!("{key}/gone")), act, Reply::default(), 0)
    });
    posts.collect()
}

/// Why those who asked cannot be told: nobody is left in this ticket, or this message was taken back from them.
fn unheard(ticket: &Ticket, known: Option<&Said>) -> Option<Reply> {
    if let State::Merged(into) = ticket.state {
        return Some(say::refused(ticket.number, &Refusal::Merged(into)));
    }
    let again = known.is_some_and(|known| known.taken_back);
    again.then(|| {
        remark(
            "It was taken back from those who asked, and is not sent again. Write a new message.",
        )
    })
}
