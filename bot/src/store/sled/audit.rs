//! The audit chain in rows: entries by number, keys by name and by person.

use super::draft::{Draft, Fault};
use super::keys::{Key, Kind};
use crate::store::audit::{Addition, KeyOf, PersonKey};

/// `false` where another entry has that number by now, or the one before it is missing.
pub fn add(draft: &mut Draft, addition: &Addition) -> Result<bool, Fault> {
    if addition.number != length(draft)?.saturating_add(1) {
        return Ok(false);
    }
    for key in &addition.keys {
        draft.put_record(by_person(&key.person).checked()?, &key.id)?;
        draft.put_record(by_id(&key.id).checked()?, key)?;
    }
    for key in &addition.dropped {
        draft.remove(&by_person(&key.person))?;
        draft.remove(&by_id(&key.id))?;
    }
    let row = Key::new(Kind::Audit).number(addition.number);
    draft.put_bytes(row, &addition.entry)?;
    Ok(true)
}

/// The number of the last entry.
pub fn length(draft: &Draft) -> Result<u64, Fault> {
    let last = draft.last_stored(&Key::new(Kind::Audit))?;
    last.map_or(Ok(0), |key| key.last_number().ok_or(Fault::Damaged))
}

pub fn entries(draft: &Draft, from: u64, most: usize) -> Result<Vec<(u64, Vec<u8>)>, Fault> {
    let from = Key::new(Kind::Audit).number(from);
    let mut entries = Vec::new();
    for key in draft.keys(&Key::new(Kind::Audit), Some(&from), most)? {
        let number = key.last_number().ok_or(Fault::Damaged)?;
        entries.push((number, draft.bytes(&key)?.ok_or(Fault::Damaged)?));
    }
    Ok(entries)
}

pub fn keys(draft: &Draft, wanted: &[KeyOf]) -> Result<Vec<Option<PersonKey>>, Fault> {
    let found = wanted.iter().map(|wanted| match wanted {
        KeyOf::Id(id) => draft.record(&by_id(id)),
        KeyOf::Person(person) => match draft.record::<String>(&by_person(person))? {
            Some(id) => draft.record(&by_id(&id)),
            None => Ok(None),
        },
    });
    found.collect()
}

fn by_person(person: &str) -> Key {
    Key::new(Kind::AuditPerson).text(person)
}

fn by_id(id: &str) -> Key {
    Key::new(Kind::AuditKey).text(id)
}
