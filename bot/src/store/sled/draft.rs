//! A change in the making: it reads the tree as the change will leave it, and is applied whole or not at all.
//!
//! Values that are too large for one row are cut into chunks. Small rows are a matter of safety, not of taste: the database writes a page of
//! up to 17 rows as one message, and a message of more than 128 KB goes into a file of its own that it never syncs.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sled::{Batch, Tree};

use super::keys::{Key, Kind};
use crate::store::LARGEST_VALUE;
use crate::store::trouble::Trouble;

/// Most bytes in one row: 17 of them and their keys stay below 128 KB.
const LARGEST_ROW: usize = 6_000;

/// First byte of a value: JSON or bytes as they are, or the head of chunks. Encrypted values will get marks of their own.
const WHOLE: u8 = 1;
const CHUNKED: u8 = 2;

/// What reading and applying can meet.
#[derive(Debug)]
pub enum Fault {
    /// The operation is refused; the database is well.
    Refused(Trouble),
    /// The database failed.
    Broken(sled::Error),
    /// A row is missing or cannot be read.
    Damaged,
}

impl From<sled::Error> for Fault {
    fn from(error: sled::Error) -> Self {
        Self::Broken(error)
    }
}

impl From<Trouble> for Fault {
    fn from(trouble: Trouble) -> Self {
        Self::Refused(trouble)
    }
}

/// How many rows of three kinds there are, or how that changes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub open: i64,
    pub waiting: i64,
    pub dead: i64,
}

impl Counts {
    fn of(&mut self, key: &Key) -> Option<&mut i64> {
        let kind = *key.0.first()?;
        [
            (Kind::Open, &mut self.open),
            (Kind::Lane, &mut self.waiting),
            (Kind::Dead, &mut self.dead),
        ]
        .into_iter()
        .find_map(|(counted, count)| (counted as u8 == kind).then_some(count))
    }

    pub fn add(&mut self, change: Self) {
        self.open += change.open;
        self.waiting += change.waiting;
        self.dead += change.dead;
    }
}

/// Staged writes over a tree.
pub struct Draft<'a> {
    tree: &'a Tree,
    staged: BTreeMap<Key, Option<Vec<u8>>>,
}

impl<'a> Draft<'a> {
    pub fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            staged: BTreeMap::new(),
        }
    }

    /// Does it change anything?
    pub fn is_empty(&self) -> bool {
        self.staged.is_empty()
    }

    /// Applies what is staged, atomically. It is not durable yet. How the numbers of unfinished, waiting and dead rows change.
    pub fn apply(self) -> Result<Counts, Fault> {
        let mut batch = Batch::default();
        let mut counts = Counts::default();
        for (key, value) in self.staged {
            if let Some(count) = counts.of(&key) {
                let before = self.tree.contains_key(&key.0)?;
                *count += i64::from(value.is_some()) - i64::from(before);
            }
            match value {
                Some(value) => batch.insert(key.0, value),
                None => batch.remove(key.0),
            }
        }
        self.tree.apply_batch(batch)?;
        Ok(counts)
    }

    pub fn has(&self, key: &Key) -> Result<bool, Fault> {
        Ok(self.row(key)?.is_some())
    }

    /// A value of bytes.
    pub fn bytes(&self, key: &Key) -> Result<Option<Vec<u8>>, Fault> {
        let Some(row) = self.row(key)? else {
            return Ok(None);
        };
        match row.split_first() {
            Some((&WHOLE, bytes)) => Ok(Some(bytes.to_vec())),
            Some((&CHUNKED, head)) => {
                let length = super::keys::number(head).ok_or(Fault::Damaged)?;
                let length = usize::try_from(length).map_err(|_| Fault::Damaged)?;
                let mut bytes = Vec::with_capacity(length.min(LARGEST_VALUE));
                for n in 0..chunks(length) {
                    let piece = self.row(&chunk(key, n))?.ok_or(Fault::Damaged)?;
                    bytes.extend_from_slice(&piece);
                }
                if bytes.len() == length {
                    Ok(Some(bytes))
                } else {
                    Err(Fault::Damaged)
                }
            }
            _ => Err(Fault::Damaged),
        }
    }

    /// A record.
    pub fn record<T: DeserializeOwned>(&self, key: &Key) -> Result<Option<T>, Fault> {
        let Some(bytes) = self.bytes(key)? else {
            return Ok(None);
        };
        Ok(Some(
            serde_json::from_slice(&bytes).map_err(|_| Fault::Damaged)?,
        ))
    }

    /// A number.
    pub fn number(&self, key: &Key) -> Result<Option<u64>, Fault> {
        match self.bytes(key)? {
            None => Ok(None),
            Some(bytes) => super::keys::number(&bytes).map(Some).ok_or(Fault::Damaged),
        }
    }

    /// Up to `most` keys that start with `prefix`, from `from` on (or from the first).
    pub fn keys(&self, prefix: &Key, from: Option<&Key>, most: usize) -> Result<Vec<Key>, Fault> {
        let start = from.unwrap_or(prefix);
        let mut stored = self
            .tree
            .range::<&[u8], _>((Bound::Included(start.0.as_slice()), Bound::Unbounded))
            .keys()
            .map(|key| key.map(|key| Key(key.to_vec())))
            .take_while(|key| {
                key.as_ref()
                    .map_or(true, |key| key.0.starts_with(&prefix.0))
            });
        let mut staged = self
            .staged
            .range(start.clone()..)
            .take_while(|(key, _)| key.0.starts_with(&prefix.0))
            .peekable();
        let mut found = Vec::new();
        let mut next = stored.next().transpose()?;
        while found.len() < most {
            let (key, lives) = match (next.take(), staged.peek()) {
                (None, None) => break,
                (Some(old), Some((new, _))) if old < **new => {
                    next = stored.next().transpose()?;
                    (old, true)
                }
                (Some(old), None) => {
                    next = stored.next().transpose()?;
                    (old, true)
                }
                (old, Some(_)) => {
                    let Some((key, value)) = staged.next() else {
                        break;
                    };
                    next = match old {
                        Some(old) if old == *key => stored.next().transpose()?,
                        old => old,
                    };
                    (key.clone(), value.is_some())
                }
            };
            if lives {
                found.push(key);
            }
        }
        Ok(found)
    }

    /// The last key that starts with `prefix`, as it is stored, without what is staged.
    pub fn last_stored(&self, prefix: &Key) -> Result<Option<Key>, Fault> {
        let last = self.tree.scan_prefix(&prefix.0).keys().next_back();
        Ok(last.transpose()?.map(|key| Key(key.to_vec())))
    }

    /// Stages a row that says only that it is there.
    pub fn mark(&mut self, key: Key) {
        self.staged.insert(key, Some(vec![WHOLE]));
    }

    pub fn put_number(&mut self, key: Key, number: u64) {
        let mut value = vec![WHOLE];
        value.extend_from_slice(&number.to_be_bytes());
        self.staged.insert(key, Some(value));
    }

    pub fn put_record<T: Serialize>(&mut self, key: Key, record: &T) -> Result<(), Fault> {
        let json = serde_json::to_vec(record).map_err(|_| Fault::Damaged)?;
        self.put_bytes(key, &json)
    }

    /// Stages a value of any length up to the largest; pieces of a longer one before it go.
    pub fn put_bytes(&mut self, key: Key, bytes: &[u8]) -> Result<(), Fault> {
        if bytes.len() > LARGEST_VALUE {
            return Err(Fault::Refused(Trouble::TooLarge {
                size: bytes.len(),
                most: LARGEST_VALUE,
            }));
        }
        self.remove(&key)?;
        let mut value = Vec::with_capacity(bytes.len().min(LARGEST_ROW) + 9);
        if bytes.len() <= LARGEST_ROW {
            value.push(WHOLE);
            value.extend_from_slice(bytes);
        } else {
            value.push(CHUNKED);
            value.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
            for (n, piece) in (0..).zip(bytes.chunks(LARGEST_ROW)) {
                self.staged.insert(chunk(&key, n), Some(piece.to_vec()));
            }
        }
        self.staged.insert(key, Some(value));
        Ok(())
    }

    /// Stages the end of a value, with its chunks.
    pub fn remove(&mut self, key: &Key) -> Result<(), Fault> {
        let Some(row) = self.row(key)? else {
            return Ok(());
        };
        if let Some((&CHUNKED, head)) = row.split_first() {
            let length = super::keys::number(head).ok_or(Fault::Damaged)?;
            let length = usize::try_from(length).map_err(|_| Fault::Damaged)?;
            for n in 0..chunks(length) {
                self.staged.insert(chunk(key, n), None);
            }
        }
        self.staged.insert(key.clone(), None);
        Ok(())
    }

    fn row(&self, key: &Key) -> Result<Option<Vec<u8>>, Fault> {
        if let Some(staged) = self.staged.get(key) {
            return Ok(staged.clone());
        }
        Ok(self.tree.get(&key.0)?.map(|value| value.to_vec()))
    }
}

fn chunks(length: usize) -> u64 {
    length.div_ceil(LARGEST_ROW) as u64
}

fn chunk(key: &Key, n: u64) -> Key {
    Key::new(Kind::Chunk).then(key).number(n)
}
