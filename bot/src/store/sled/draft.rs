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

/// How many rows there are. It stands in the database and changes in the same batch as they do: where it does not agree with them, the
/// database lost some. It loses the rest of a damaged segment without a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Changes that were made since the beginning.
    pub changes: u64,
    pub rows: u64,
    pub open: u64,
    pub waiting: u64,
    pub dead: u64,
}

impl Counts {
    fn count(&mut self, key: &Key, before: bool, after: bool) {
        let own = match key.0.first() {
            Some(&kind) if kind == Kind::Open as u8 => Some(&mut self.open),
            Some(&kind) if kind == Kind::Lane as u8 => Some(&mut self.waiting),
            Some(&kind) if kind == Kind::Dead as u8 => Some(&mut self.dead),
            _ => None,
        };
        for count in own.into_iter().chain([&mut self.rows]) {
            match (before, after) {
                (false, true) => *count += 1,
                (true, false) => *count = count.saturating_sub(1),
                (true, true) | (false, false) => {}
            }
        }
    }

    fn write(self) -> Vec<u8> {
        let Self {
            changes,
            rows,
            open,
            waiting,
            dead,
        } = self;
        let numbers = [changes, rows, open, waiting, dead];
        numbers.into_iter().flat_map(u64::to_be_bytes).collect()
    }

    fn read(row: &[u8]) -> Option<Self> {
        let mut numbers = row.chunks_exact(8).filter_map(super::keys::number);
        Some(Self {
            changes: numbers.next()?,
            rows: numbers.next()?,
            open: numbers.next()?,
            waiting: numbers.next()?,
            dead: numbers.next()?,
        })
    }
}

fn counts_key() -> Key {
    Key::new(Kind::Meta).text("counts")
}

/// Keys, and what stands under them after the first byte.
pub type Rows = Vec<(Key, Vec<u8>)>;

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

    /// Applies what is staged, atomically, together with how many rows there are then. It is not durable yet.
    pub fn apply(self, counts: &mut Counts) -> Result<(), Fault> {
        let mut batch = Batch::default();
        let mut after = *counts;
        after.changes += 1;
        for (key, value) in self.staged {
            if !key.is_meta() {
                let before = self.tree.contains_key(&key.0)?;
                after.count(&key, before, value.is_some());
            }
            match value {
                Some(value) => batch.insert(key.0, value),
                None => batch.remove(key.0),
            }
        }
        batch.insert(counts_key().0, after.write());
        self.tree.apply_batch(batch)?;
        *counts = after;
        Ok(())
    }

    /// How many rows the store says it has.
    pub fn counts(&self) -> Result<Option<Counts>, Fault> {
        let row = self.row(&counts_key())?;
        row.map(|row| Counts::read(&row).ok_or(Fault::Damaged))
            .transpose()
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

    /// How many rows there are, counted. Reading them checks every page.
    pub fn count_stored(&self) -> Result<u64, Fault> {
        let mut rows = 0;
        for key in self.tree.iter().keys() {
            if !Key(key?.to_vec()).is_meta() {
                rows += 1;
            }
        }
        Ok(rows)
    }

    /// Up to `most` keys that start with `prefix`, from `from` on (or from the first).
    pub fn keys(&self, prefix: &Key, from: Option<&Key>, most: usize) -> Result<Vec<Key>, Fault> {
        let rows = self.rows(prefix, from, most)?;
        Ok(rows.into_iter().map(|(key, _)| key).collect())
    }

    /// The same with what `mark_with` noted under them.
    pub fn rows(&self, prefix: &Key, from: Option<&Key>, most: usize) -> Result<Rows, Fault> {
        let start = from.unwrap_or(prefix);
        let mut stored = self
            .tree
            .range::<&[u8], _>((Bound::Included(start.0.as_slice()), Bound::Unbounded))
            .map(|row| row.map(|(key, value)| (Key(key.to_vec()), value)))
            .take_while(|row| {
                row.as_ref()
                    .map_or(true, |(key, _)| key.0.starts_with(&prefix.0))
            });
        let mut staged = self
            .staged
            .range(start.clone()..)
            .take_while(|(key, _)| key.0.starts_with(&prefix.0))
            .peekable();
        let mut found = Vec::new();
        let mut next = stored.next().transpose()?;
        while found.len() < most {
            let new = staged.peek().map(|(key, _)| *key);
            let is_stored = match (&next, new) {
                (None, None) => break,
                (Some((old, _)), Some(new)) => old < new,
                (old, _) => old.is_some(),
            };
            if is_stored {
                if let Some((key, value)) = next.take() {
                    found.push((key, value.get(1..).unwrap_or_default().to_vec()));
                }
                next = stored.next().transpose()?;
            } else if let Some((key, value)) = staged.next() {
                // What is staged stands for what is stored.
                if next.as_ref().is_some_and(|(old, _)| old == key) {
                    next = stored.next().transpose()?;
                }
                if let Some(value) = value {
                    found.push((key.clone(), value.get(1..).unwrap_or_default().to_vec()));
                }
            }
        }
        Ok(found)
    }

    /// The last key that starts with `prefix`, as it is stored, without what is staged.
    pub fn last_stored(&self, prefix: &Key) -> Result<Option<Key>, Fault> {
        let last = self.tree.scan_prefix(&prefix.0).keys().next_back();
        Ok(last.transpose()?.map(|key| Key(key.to_vec())))
    }

    /// The last keys that start with `prefix`, the last one first, as they are stored, without what is staged.
    pub fn newest_stored(&self, prefix: &Key, most: usize) -> Result<Vec<Key>, Fault> {
        let keys = self.tree.scan_prefix(&prefix.0).keys().rev().take(most);
        let keys: Result<Vec<Key>, _> = keys.map(|key| key.map(|key| Key(key.to_vec()))).collect();
        Ok(keys?)
    }

    /// Stages a row that says only that it is there.
    pub fn mark(&mut self, key: Key) {
        self.staged.insert(key, Some(vec![WHOLE]));
    }

    /// The same with a few bytes that a scan can look at.
    pub fn mark_with(&mut self, key: Key, note: &[u8]) {
        let value = [WHOLE].iter().chain(note).copied().collect();
        self.staged.insert(key, Some(value));
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
