//! The inbox in rows: an event, its payload, its names, and whether it is finished.

use serde::{Deserialize, Serialize};

use super::draft::{Draft, Fault};
use super::keys::{Key, Kind};
use super::mind::{Mind, Set};
use crate::place::{DeskName, Place};
use crate::store::inbox::{Event, EventId, NewEvent, Outcome, Received};
use crate::store::memory::Cursor;
use crate::store::time::Time;
use crate::store::{MOST_KEYS, Prune};

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Row {
    desk: DeskName,
    place: Place,
    received: Time,
    resumed: u32,
    outcome: Option<Outcome>,
    keys: Vec<String>,
}

pub fn receive(draft: &mut Draft, mind: &mut Mind, new: NewEvent) -> Result<Received, Fault> {
    let mut names = Vec::new();
    let mut known = None;
    for name in new.keys.iter().take(MOST_KEYS) {
        let key = Key::new(Kind::EventKey).text(name).checked()?;
        if known.is_none() {
            known = draft.number(&key)?;
        }
        names.push(key);
    }
    if let Some(read) = new.read {
        let cursor = Cursor {
            channel: read.channel,
            message: read.id,
            at: new.received,
        };
        super::memory::read(draft, cursor)?;
    }
    if let Some(id) = known {
        let given = mind.has(Set::Given, id);
        if !given && draft.has(&Key::new(Kind::Open).number(id))? {
            mind.add(Set::Given, id);
            return Ok(Received::New(EventId(id)));
        }
        return Ok(Received::Known(EventId(id)));
    }
    let id = mind.next_event(draft)?;
    for name in names {
        draft.put_number(name, id);
    }
    draft.put_bytes(Key::new(Kind::Payload).number(id), &new.payload)?;
    draft.mark(Key::new(Kind::Open).number(id));
    let row = Row {
        desk: new.desk,
        place: new.place,
        received: new.received,
        keys: new.keys.into_iter().take(MOST_KEYS).collect(),
        ..Row::default()
    };
    draft.put_record(Key::new(Kind::Event).number(id), &row)?;
    mind.add(Set::Given, id);
    Ok(Received::New(EventId(id)))
}

pub fn resume(draft: &mut Draft, mind: &mut Mind, most: usize) -> Result<Vec<Event>, Fault> {
    let mut events = Vec::new();
    while events.len() < most {
        let from = Key::new(Kind::Open).number(mind.resume_from);
        let page = draft.keys(&Key::new(Kind::Open), Some(&from), most)?;
        if page.is_empty() {
            // The next call begins anew: what ended in trouble since then is found from the front.
            mind.resume_from = 0;
            break;
        }
        for key in page {
            let id = key.last_number().ok_or(Fault::Damaged)?;
            mind.resume_from = id.saturating_add(1);
            if mind.has(Set::Given, id) {
                continue;
            }
            let key = Key::new(Kind::Event).number(id);
            let mut row: Row = draft.record(&key)?.ok_or(Fault::Damaged)?;
            events.push(event_of(draft, id, &row)?);
            row.resumed = row.resumed.saturating_add(1);
            draft.put_record(key, &row)?;
            mind.add(Set::Given, id);
            if events.len() == most {
                break;
            }
        }
    }
    Ok(events)
}

pub fn event(draft: &Draft, id: EventId) -> Result<Option<Event>, Fault> {
    let row: Option<Row> = draft.record(&Key::new(Kind::Event).number(id.0))?;
    row.map(|row| event_of(draft, id.0, &row)).transpose()
}

fn event_of(draft: &Draft, id: u64, row: &Row) -> Result<Event, Fault> {
    let payload = draft.bytes(&Key::new(Kind::Payload).number(id))?;
    Ok(Event {
        id: EventId(id),
        desk: row.desk.clone(),
        place: row.place.clone(),
        payload: payload.ok_or(Fault::Damaged)?,
        received: row.received,
        resumed: row.resumed,
        outcome: row.outcome,
    })
}

pub fn finish(
    draft: &mut Draft,
    mind: &mut Mind,
    id: EventId,
    outcome: Outcome,
) -> Result<(), Fault> {
    let open = Key::new(Kind::Open).number(id.0);
    if !draft.has(&open)? {
        return Ok(());
    }
    let key = Key::new(Kind::Event).number(id.0);
    let mut row: Row = draft.record(&key)?.ok_or(Fault::Damaged)?;
    row.outcome = Some(outcome);
    draft.put_record(key, &row)?;
    draft.remove(&open)?;
    draft.mark(Key::new(Kind::Done).number(row.received.0).number(id.0));
    mind.remove(Set::Given, id.0);
    Ok(())
}

/// Takes finished events away, oldest first.
pub fn prune(draft: &mut Draft, what: &Prune, most: usize) -> Result<usize, Fault> {
    let mut taken = 0;
    for done in draft.keys(&Key::new(Kind::Done), None, most)? {
        let received = done.first_number().ok_or(Fault::Damaged)?;
        if received >= what.events_before.0 {
            break;
        }
        let id = done.last_number().ok_or(Fault::Damaged)?;
        let key = Key::new(Kind::Event).number(id);
        let row: Row = draft.record(&key)?.unwrap_or_default();
        for name in &row.keys {
            draft.remove(&Key::new(Kind::EventKey).text(name))?;
        }
        draft.remove(&Key::new(Kind::Payload).number(id))?;
        draft.remove(&key)?;
        draft.remove(&done)?;
        taken += 1;
    }
    Ok(taken)
}

/// Every unfinished event can be read.
pub fn verify(draft: &Draft) -> Result<usize, Fault> {
    let open = draft.keys(&Key::new(Kind::Open), None, usize::MAX)?;
    for key in &open {
        let id = EventId(key.last_number().ok_or(Fault::Damaged)?);
        event(draft, id)?.ok_or(Fault::Damaged)?;
    }
    Ok(open.len())
}
