//! What can be done to a ticket, by whom, and what it is then. Pure: the store sees to it that nobody works on an old one.

use serde::{Deserialize, Serialize};

use super::ticket::{
    Joined, LONGEST_NOTE, MOST_LINKS, MOST_THREADS, On, Priority, Someone, State, Ticket,
};
use crate::place::DeskName;
use crate::time::Time;

/// Something that is done to a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// It was made.
    Open,
    /// Who does it takes it on.
    Claim,
    Assign(Someone),
    /// Its owner gives it back.
    Release,
    Wait(On),
    /// What was waited for has come.
    Continue,
    /// It is done, with what helped.
    Resolve(String),
    Reopen,
    Prioritize(Priority),
    /// Another ticket goes on in its place.
    Merge(u64),
    /// The conversations of that ticket belong to this one from now on.
    TakeOver(u64, Vec<Joined>),
    Link(u64),
    /// One more conversation about it.
    Join(Joined),
    /// No reminders until then.
    Snooze(Time),
    /// A reminder was sent.
    Remind,
}

/// Who does it, as far as that decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actor {
    pub who: Someone,
    /// Does the desk let this person work on its tickets?
    pub works: bool,
}

/// A step of the history of a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub desk: DeskName,
    pub ticket: u64,
    /// The version that the ticket had then.
    pub version: u64,
    pub at: Time,
    pub by: Someone,
    pub step: Step,
}

/// Why a step is not made: one sentence for the person who tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("You have not been given the right to work on this desk's tickets.")]
    NotAllowed,
    #[error("It is yours already.")]
    Yours,
    /// The name was chosen by whoever bears it: who shows this keeps it apart.
    #[error("Somebody else has taken it on: {}. Assign it to yourself if that was agreed.", .0.name)]
    Taken(Someone),
    #[error("It is resolved. Reopen it first.")]
    Resolved,
    #[error("It was merged into #{0}. Go on there.")]
    Merged(u64),
    #[error("Nobody has taken it on, so nobody can give it back.")]
    Unclaimed,
    #[error("It is not waiting for anybody.")]
    NotWaiting,
    #[error("It is not resolved.")]
    NotResolved,
    #[error("It is so already.")]
    SoAlready,
    #[error("A ticket cannot be merged with or linked to itself.")]
    Itself,
    #[error(
        "It has as many conversations as one ticket can have ({MOST_THREADS}): open another one and link the two."
    )]
    TooManyThreads,
    #[error("It is linked to as many tickets as one can be ({MOST_LINKS}).")]
    TooManyLinks,
    #[error("Name a time to come, e.g. snooze 4h.")]
    Past,
}

/// The ticket after the step.
///
/// # Errors
/// Where the rules do not allow it; nothing has changed then.
pub fn apply(ticket: &Ticket, step: &Step, by: &Actor, now: Time) -> Result<Ticket, Refusal> {
    if !may(ticket, step, by) {
        return Err(Refusal::NotAllowed);
    }
    let mut next = ticket.clone();
    next.version += 1;
    // The clock of another machine, or one set back: a history never runs backwards.
    next.changed = now.max(ticket.changed);
    match (step, ticket.state) {
        (Step::Reopen, State::Resolved) => {
            let state = if ticket.owner.is_some() {
                State::Claimed
            } else {
                State::Open
            };
            enter(&mut next, state);
            next.resolved = None;
        }
        (Step::Reopen, _) if ticket.is_live() => return Err(Refusal::NotResolved),
        (Step::Link(other), State::Open | State::Claimed | State::Waiting(_) | State::Resolved) => {
            link(&mut next, *other)?;
        }
        (_, State::Merged(into)) => return Err(Refusal::Merged(into)),
        (_, State::Resolved) => return Err(Refusal::Resolved),
        (_, State::Open | State::Claimed | State::Waiting(_)) => live(&mut next, step, by)?,
    }
    Ok(next)
}

/// Is that person allowed to do it? Who asked may say that it is solved, or that it is not; everything else is for the desk's own people.
/// Conversations join and reminders go by the program itself.
fn may(ticket: &Ticket, step: &Step, by: &Actor) -> bool {
    by.works
        || match step {
            Step::Resolve(_) | Step::Reopen => ticket.is_asked_by(&by.who),
            Step::Open | Step::Join(_) | Step::Remind => true,
            // What was waited for has come: the requester has written.
            Step::Continue => {
                ticket.state == State::Waiting(On::Sender) && ticket.is_asked_by(&by.who)
            }
            Step::Claim
            | Step::Assign(_)
            | Step::Release
            | Step::Wait(_)
            | Step::Prioritize(_)
            | Step::Merge(_)
            | Step::TakeOver(..)
            | Step::Link(_)
            | Step::Snooze(_) => false,
        }
}

/// A step of a ticket that somebody has to do something about.
fn live(next: &mut Ticket, step: &Step, by: &Actor) -> Result<(), Refusal> {
    match step {
        Step::Open => return Err(Refusal::SoAlready),
        Step::Claim => match &next.owner {
            Some(owner) if owner.is(&by.who) && next.state == State::Claimed => {
                return Err(Refusal::Yours);
            }
            Some(owner) if !owner.is(&by.who) => return Err(Refusal::Taken(owner.clone())),
            Some(_) | None => take(next, by.who.clone(), State::Claimed),
        },
        Step::Assign(who) => {
            if next.owner.as_ref().is_some_and(|owner| owner.is(who)) {
                return Err(Refusal::SoAlready);
            }
            let state = match next.state {
                State::Waiting(on) => State::Waiting(on),
                State::Open | State::Claimed | State::Resolved | State::Merged(_) => State::Claimed,
            };
            take(next, who.clone(), state);
        }
        Step::Release => {
            if next.owner.take().is_none() {
                return Err(Refusal::Unclaimed);
            }
            enter(next, State::Open);
        }
        Step::Wait(on) => {
            if next.state == State::Waiting(*on) {
                return Err(Refusal::SoAlready);
            }
            let owner = next.owner.take().unwrap_or_else(|| by.who.clone());
            take(next, owner, State::Waiting(*on));
        }
        Step::Continue => {
            if !matches!(next.state, State::Waiting(_)) {
                return Err(Refusal::NotWaiting);
            }
            let state = if next.owner.is_some() {
                State::Claimed
            } else {
                State::Open
            };
            enter(next, state);
        }
        Step::Resolve(_) => {
            enter(next, State::Resolved);
            next.resolved = Some(next.changed);
        }
        Step::Reopen => return Err(Refusal::NotResolved),
        Step::Prioritize(priority) => {
            if next.priority == *priority {
                return Err(Refusal::SoAlready);
            }
            next.priority = *priority;
        }
        Step::Merge(into) => {
            if *into == next.number {
                return Err(Refusal::Itself);
            }
            // Its conversations are the other's from now on.
            next.threads.clear();
            enter(next, State::Merged(*into));
        }
        Step::TakeOver(from, threads) => {
            if *from == next.number {
                return Err(Refusal::Itself);
            }
            for thread in threads {
                join(next, thread.clone())?;
            }
            if !next.links.contains(from) && next.links.len() < MOST_LINKS {
                next.links.push(*from);
            }
        }
        Step::Link(other) => link(next, *other)?,
        Step::Join(thread) => {
            if next.threads.iter().any(|known| known.place == thread.place) {
                return Err(Refusal::SoAlready);
            }
            join(next, thread.clone())?;
        }
        Step::Snooze(until) => {
            if *until <= next.changed {
                return Err(Refusal::Past);
            }
            next.snoozed = Some(*until);
        }
        Step::Remind => {
            next.reminded = next.reminded.saturating_add(1);
            next.reminded_at = Some(next.changed);
        }
    }
    Ok(())
}

fn take(next: &mut Ticket, owner: Someone, state: State) {
    next.owner = Some(owner);
    next.taken = next.taken.or(Some(next.changed));
    enter(next, state);
}

/// Whatever was put off or said about the state before is over.
fn enter(next: &mut Ticket, state: State) {
    next.state = state;
    next.since = next.changed;
    next.snoozed = None;
    next.reminded = 0;
    next.reminded_at = None;
}

fn link(next: &mut Ticket, other: u64) -> Result<(), Refusal> {
    if other == next.number {
        return Err(Refusal::Itself);
    }
    if next.links.contains(&other) {
        return Err(Refusal::SoAlready);
    }
    if next.links.len() >= MOST_LINKS {
        return Err(Refusal::TooManyLinks);
    }
    next.links.push(other);
    Ok(())
}

fn join(next: &mut Ticket, thread: Joined) -> Result<(), Refusal> {
    if next.threads.iter().any(|known| known.place == thread.place) {
        return Ok(());
    }
    if next.threads.len() >= MOST_THREADS {
        return Err(Refusal::TooManyThreads);
    }
    next.threads.push(thread);
    Ok(())
}

/// What a person added, cut to what is kept.
#[must_use]
pub fn note(text: &str) -> String {
    text.trim().chars().take(LONGEST_NOTE).collect()
}

/// A new ticket, and the first entry of its history.
#[must_use]
pub fn open(mut ticket: Ticket, by: Someone, now: Time) -> (Ticket, Entry) {
    ticket.version = 1;
    ticket.state = State::Open;
    ticket.opened = now;
    ticket.since = now;
    ticket.changed = now;
    ticket.note = note(&ticket.note);
    let entry = entry(&ticket, Step::Open, by);
    (ticket, entry)
}

/// What the history holds of the step that led to this ticket.
#[must_use]
pub fn entry(ticket: &Ticket, step: Step, by: Someone) -> Entry {
    Entry {
        desk: ticket.desk.clone(),
        ticket: ticket.number,
        version: ticket.version,
        at: ticket.changed,
        by,
        step,
    }
}
