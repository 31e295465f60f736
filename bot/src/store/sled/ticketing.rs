//! Tickets in rows: each under its desk and number, newest first; found by place, by words, by the time of their next reminder.

use super::draft::{Draft, Fault};
use super::keys::{Key, Kind};
use crate::place::{DeskName, MessageRef, Place};
use crate::store::ticketing::{Kept, Query, asked, marks};
use crate::store::trouble::Trouble;
use crate::tickets::fingerprint::Sighting;
use crate::tickets::mirror::Said;
use crate::tickets::rules::Entry;
use crate::tickets::ticket::Ticket;
use crate::time::Time;

/// Most steps of one search: words that nearly every ticket has could otherwise make it walk for seconds.
const MOST_STEPS: usize = 200_000;

/// The number of a ticket to be made under that name: the same name has the same number, always.
pub fn number(draft: &mut Draft, desk: &DeskName, name: &str) -> Result<u64, Fault> {
    let named = Key::new(Kind::TicketName)
        .text(&desk.0)
        .text(name)
        .checked()?;
    if let Some(number) = draft.number(&named)? {
        return Ok(number);
    }
    let last = Key::new(Kind::TicketLast).text(&desk.0).checked()?;
    let number = draft.number(&last)?.unwrap_or_default().saturating_add(1);
    draft.put_number(last, number);
    draft.put_number(named, number);
    Ok(number)
}

/// Puts a ticket in the place of the one before it.
pub fn put(draft: &mut Draft, kept: &Kept) -> Result<(), Fault> {
    let ticket = &kept.ticket;
    let old = get(draft, &ticket.desk, ticket.number)?;
    if old.as_ref().map_or(0, |old| old.version).saturating_add(1) != ticket.version {
        return Err(Fault::Refused(Trouble::Outdated));
    }
    for place in places(old.as_ref()) {
        let key = at_key(&ticket.desk, place);
        if !places(Some(ticket)).any(|new| new == place)
            && draft.number(&key)? == Some(ticket.number)
        {
            draft.remove(&key)?;
        }
    }
    for place in places(Some(ticket)) {
        let key = at_key(&ticket.desk, place).checked()?;
        let other = draft.number(&key)?.filter(|other| *other != ticket.number);
        let other = match other {
            Some(other) => get(draft, &ticket.desk, other)?.filter(Ticket::is_live),
            None => None,
        };
        match other {
            // Two who open one at once: the second is told.
            Some(_) if ticket.version == 1 => return Err(Fault::Refused(Trouble::Outdated)),
            // A conversation is about its newest ticket.
            Some(other) if other.number > ticket.number => {}
            Some(_) | None => draft.put_number(key, ticket.number),
        }
    }
    let before = old.as_ref().map(marks).unwrap_or_default();
    let after = marks(ticket);
    for word in before.iter().filter(|word| !after.contains(word)) {
        draft.remove(&word_key(&ticket.desk, word).number(!ticket.number))?;
    }
    for word in after.iter().filter(|word| !before.contains(word)) {
        draft.mark(
            word_key(&ticket.desk, word)
                .number(!ticket.number)
                .checked()?,
        );
    }
    if let Some(due) = old.as_ref().and_then(|old| old.remind) {
        draft.remove(&due_key(ticket, due))?;
    }
    if let Some(due) = ticket.remind {
        draft.mark(due_key(ticket, due));
    }
    let step = Key::new(Kind::TicketStep)
        .text(&ticket.desk.0)
        .number(ticket.number)
        .number(ticket.version);
    if let Some(entry) = &kept.entry {
        draft.put_record(step.checked()?, entry)?;
    }
    draft.put_record(key(&ticket.desk, ticket.number).checked()?, ticket)
}

fn places(ticket: Option<&Ticket>) -> impl Iterator<Item = &Place> {
    ticket
        .into_iter()
        .flat_map(|ticket| &ticket.threads)
        .map(|thread| &thread.place)
}

/// Larger numbers come first.
fn key(desk: &DeskName, number: u64) -> Key {
    Key::new(Kind::Ticket).text(&desk.0).number(!number)
}

fn word_key(desk: &DeskName, word: &str) -> Key {
    Key::new(Kind::TicketWord).text(&desk.0).text(word)
}

fn at_key(desk: &DeskName, place: &Place) -> Key {
    Key::new(Kind::TicketAt).text(&desk.0).place(place)
}

fn due_key(ticket: &Ticket, due: Time) -> Key {
    Key::new(Kind::TicketDue)
        .number(due.0)
        .text(&ticket.desk.0)
        .number(ticket.number)
}

pub fn get(draft: &Draft, desk: &DeskName, number: u64) -> Result<Option<Ticket>, Fault> {
    draft.record(&key(desk, number))
}

/// The newest ticket of a conversation.
pub fn at(draft: &Draft, desk: &DeskName, place: &Place) -> Result<Option<Ticket>, Fault> {
    match draft.number(&at_key(desk, place))? {
        Some(number) => get(draft, desk, number),
        None => Ok(None),
    }
}

/// The tickets that have all that is asked for. Each word has a list of the tickets with it, in one order: the lists are walked together,
/// each jumping to where the furthest one is.
pub fn find(draft: &Draft, query: &Query) -> Result<Vec<Ticket>, Fault> {
    let lists: Vec<Key> = asked(query)
        .iter()
        .map(|word| word_key(&query.desk, word))
        .collect();
    let mut at = query.before.map_or(0, |before| (!before).saturating_add(1));
    let mut found = Vec::new();
    let mut agreed = 0;
    for (list, _) in lists.iter().cycle().zip(0..MOST_STEPS) {
        if found.len() >= query.most {
            break;
        }
        let from = list.clone().number(at);
        let Some(next) = draft.keys(list, Some(&from), 1)?.pop() else {
            break;
        };
        let next = next.last_number().ok_or(Fault::Damaged)?;
        agreed = if next == at { agreed + 1 } else { 1 };
        at = next;
        if agreed >= lists.len() {
            found.push(get(draft, &query.desk, !at)?.ok_or(Fault::Damaged)?);
            at = at.saturating_add(1);
            agreed = 0;
        }
    }
    Ok(found)
}

/// The steps of a ticket from that version on.
pub fn history(
    draft: &Draft,
    desk: &DeskName,
    number: u64,
    from: u64,
    most: usize,
) -> Result<Vec<Entry>, Fault> {
    let all = Key::new(Kind::TicketStep).text(&desk.0).number(number);
    let from = all.clone().number(from);
    let keys = draft.keys(&all, Some(&from), most)?;
    keys.iter()
        .map(|key| draft.record(key)?.ok_or(Fault::Damaged))
        .collect()
}

/// The tickets whose reminder is due, the longest due first.
pub fn due(draft: &Draft, now: Time, most: usize) -> Result<Vec<Ticket>, Fault> {
    let mut found = Vec::new();
    for due in draft.keys(&Key::new(Kind::TicketDue), None, most)? {
        if due.first_number().ok_or(Fault::Damaged)? > now.0 {
            break;
        }
        // Behind the time stands what tells the ticket: the desk with its length, the number.
        let desk = due.0.get(11..due.0.len().saturating_sub(8));
        let desk = desk.and_then(|desk| std::str::from_utf8(desk).ok());
        let desk = DeskName(desk.ok_or(Fault::Damaged)?.to_string());
        let number = due.last_number().ok_or(Fault::Damaged)?;
        found.push(get(draft, &desk, number)?.ok_or(Fault::Damaged)?);
    }
    Ok(found)
}

/// Notes what was said. The same message again stands in its own place.
pub fn say(draft: &mut Draft, said: &Said) -> Result<(), Fault> {
    let of = Key::new(Kind::SaidOf)
        .text(&said.desk.0)
        .message(&said.message)
        .checked()?;
    let row = match said_row(draft, &of)? {
        Some(row) => row,
        None => said_key(&said.desk, said.ticket)
            .number(said.at.0)
            .then(&of)
            .checked()?,
    };
    draft.put_bytes(of, &row.0)?;
    draft.put_record(row, said)
}

fn said_row(draft: &Draft, of: &Key) -> Result<Option<Key>, Fault> {
    Ok(draft.bytes(of)?.map(Key))
}

fn said_key(desk: &DeskName, number: u64) -> Key {
    Key::new(Kind::Said).text(&desk.0).number(number)
}

/// What was said in that message about a ticket.
pub fn said_in(
    draft: &Draft,
    desk: &DeskName,
    message: &MessageRef,
) -> Result<Option<Said>, Fault> {
    let of = Key::new(Kind::SaidOf).text(&desk.0).message(message);
    match said_row(draft, &of)? {
        Some(row) => Ok(Some(draft.record(&row)?.ok_or(Fault::Damaged)?)),
        None => Ok(None),
    }
}

/// What was said about a ticket since then, oldest first.
pub fn said(
    draft: &Draft,
    desk: &DeskName,
    number: u64,
    since: Time,
    most: usize,
) -> Result<Vec<Said>, Fault> {
    let all = said_key(desk, number);
    let from = all.clone().number(since.0);
    let keys = draft.keys(&all, Some(&from), most)?;
    keys.iter()
        .map(|key| draft.record(key)?.ok_or(Fault::Damaged))
        .collect()
}

/// Notes a bounce that was seen. The same paste, seen again, stands once.
pub fn sight(draft: &mut Draft, seen: &Sighting) -> Result<(), Fault> {
    let of = Key::new(Kind::SightingOf).message(&seen.paste).checked()?;
    if let Some(old) = draft.record::<Sighting>(&of)? {
        draft.remove(&sighting_key(&old)?)?;
        draft.remove(&sighting_time(&old)?)?;
    }
    draft.put_record(sighting_key(seen)?, seen)?;
    draft.mark(sighting_time(seen)?);
    draft.put_record(of, seen)
}

/// The bounces with that fingerprint since then, oldest first.
pub fn sightings(
    draft: &Draft,
    desk: &DeskName,
    fingerprint: &str,
    since: Time,
    most: usize,
) -> Result<Vec<Sighting>, Fault> {
    let all = Key::new(Kind::Sighting).text(&desk.0).text(fingerprint);
    let from = all.clone().number(since.0);
    let keys = draft.keys(&all, Some(&from), most)?;
    keys.iter()
        .map(|key| draft.record(key)?.ok_or(Fault::Damaged))
        .collect()
}

fn sighting_key(seen: &Sighting) -> Result<Key, Fault> {
    let key = Key::new(Kind::Sighting)
        .text(&seen.desk.0)
        .text(&seen.fingerprint)
        .number(seen.at.0)
        .text(&seen.paste.id);
    Ok(key.checked()?)
}

fn sighting_time(seen: &Sighting) -> Result<Key, Fault> {
    let key = Key::new(Kind::SightingTime)
        .number(seen.at.0)
        .message(&seen.paste);
    Ok(key.checked()?)
}

/// Takes sightings from before that time away.
pub fn prune(draft: &mut Draft, before: Time, most: usize) -> Result<usize, Fault> {
    let mut taken = 0;
    for time in draft.keys(&Key::new(Kind::SightingTime), None, most)? {
        if time.first_number().ok_or(Fault::Damaged)? >= before.0 {
            break;
        }
        let mut of = vec![Kind::SightingOf as u8];
        of.extend_from_slice(time.0.get(9..).unwrap_or_default());
        let of = Key(of);
        let seen: Sighting = draft.record(&of)?.ok_or(Fault::Damaged)?;
        draft.remove(&sighting_key(&seen)?)?;
        draft.remove(&time)?;
        draft.remove(&of)?;
        taken += 1;
    }
    Ok(taken)
}
