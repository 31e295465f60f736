//! Is the chain what was written? Every entry is looked at once, a page at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use super::chain::{Head, Seal, holds, parts};
use super::entry::{EntryId, Kind, Piece, Written};
use super::{Audit, Failure};

/// Entries read at once.
const PAGE: usize = 500;

/// Faults and open attempts that are named; all are counted.
const MOST_NAMED: usize = 20;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// From the first to the last of these numbers there is nothing.
    Missing(EntryId, EntryId),
    /// Not what was written as that number after the one before it: changed, moved, or written with another key.
    Changed(EntryId),
    /// Written with the key, but not as this version writes.
    Unreadable(EntryId),
    /// The chain is shorter than it was.
    Shorter { was: u64, is: u64 },
    /// The entry that a kept head names is another one.
    OtherHead(EntryId),
    /// It names somebody whose key is gone, though nobody forgot him.
    KeyLost(EntryId),
    /// That entry says that somebody was forgotten, and his key is there again.
    KeyBack(EntryId),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(first, last) if first == last => {
                write!(f, "entry {first} is missing")
            }
            Self::Missing(first, last) => write!(f, "the entries {first} to {last} are missing"),
            Self::Changed(entry) => write!(
                f,
                "entry {entry} is not what was written there: it was changed or moved, or written with another key"
            ),
            Self::Unreadable(entry) => {
                write!(
                    f,
                    "entry {entry} was written by a newer version: use that one"
                )
            }
            Self::Shorter { was, is } => write!(
                f,
                "the chain had {was} entries when that head was taken, and has {is}: its end was cut off"
            ),
            Self::OtherHead(entry) => write!(
                f,
                "entry {entry} is not the one that the head was taken of: the chain was written anew"
            ),
            Self::KeyLost(entry) => write!(
                f,
                "entry {entry} names somebody whose key is gone, and no entry says that he was forgotten"
            ),
            Self::KeyBack(entry) => write!(
                f,
                "entry {entry} says that somebody was forgotten, and his key is there again, perhaps from a backup: forget him again"
            ),
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub head: Head,
    /// The first of them.
    pub faults: Vec<Fault>,
    pub fault_count: u64,
    /// Every entry is another one than the key says: it is the wrong key, most likely.
    pub all_changed: bool,
    pub intents: u64,
    /// Attempts without an outcome, the first of them: the program ended meanwhile, or they are still going on. No fault.
    pub open: Vec<EntryId>,
    pub open_count: usize,
}

impl Verified {
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.fault_count == 0
    }

    fn fault(&mut self, fault: Fault) {
        self.fault_count += 1;
        if self.faults.len() < MOST_NAMED {
            self.faults.push(fault);
        }
    }
}

/// What is known on the way along the chain.
#[derive(Default)]
struct Walk {
    verified: Verified,
    changed: u64,
    open: BTreeSet<EntryId>,
    /// Keys that are named and are not there, with the first entry that does so, until an entry says that they were dropped.
    lost: HashMap<String, EntryId>,
}

impl Audit {
    /// Looks at every entry; `kept` is a head that was taken earlier.
    ///
    /// # Errors
    /// When the store cannot be read. What is wrong with the chain is no error.
    pub async fn verify(&self, kept: Option<Head>) -> Result<Verified, Failure> {
        let mut walk = Walk::default();
        loop {
            let from = walk.verified.head.count.saturating_add(1);
            let rows = self.store.audited(from, PAGE).await?;
            if rows.is_empty() {
                break;
            }
            for (number, row) in rows {
                self.one(&mut walk, EntryId(number), &row, kept).await?;
            }
        }
        let Walk {
            mut verified,
            changed,
            open,
            lost,
        } = walk;
        let lost: BTreeMap<EntryId, String> = lost.into_iter().map(|(key, at)| (at, key)).collect();
        for at in lost.into_keys() {
            verified.fault(Fault::KeyLost(at));
        }
        if let Some(kept) = kept.filter(|kept| kept.count > verified.head.count) {
            verified.fault(Fault::Shorter {
                was: kept.count,
                is: verified.head.count,
            });
        }
        verified.all_changed = changed > 0 && changed == verified.head.count;
        verified.open_count = open.len();
        verified.open = open.into_iter().take(MOST_NAMED).collect();
        Ok(verified)
    }

    async fn one(
        &self,
        walk: &mut Walk,
        number: EntryId,
        row: &[u8],
        kept: Option<Head>,
    ) -> Result<(), Failure> {
        let before = walk.verified.head;
        let next = before.count.saturating_add(1);
        if number.0 != next {
            let last = EntryId(number.0.saturating_sub(1));
            walk.verified.fault(Fault::Missing(EntryId(next), last));
        }
        let seal = parts(row).map_or(Seal::default(), |(seal, _)| *seal);
        walk.verified.head = Head {
            count: number.0,
            seal,
        };
        let same = |kept: &Head| kept.count != number.0 || kept.seal == seal;
        if !kept.as_ref().is_none_or(same) {
            walk.verified.fault(Fault::OtherHead(number));
        }
        // After a gap the seal before is not known, so that this one cannot be told from a changed one.
        if !holds(number.0, &before.seal, row, &self.keys) {
            if number.0 == next {
                walk.verified.fault(Fault::Changed(number));
            }
            walk.changed += 1;
            return Ok(());
        }
        let body = parts(row).and_then(|(_, body)| Written::read(body));
        match body {
            Some(written) => self.said(walk, number, &written).await,
            None => {
                walk.verified.fault(Fault::Unreadable(number));
                Ok(())
            }
        }
    }

    async fn said(
        &self,
        walk: &mut Walk,
        number: EntryId,
        written: &Written<Piece>,
    ) -> Result<(), Failure> {
        let there = self.personal(written.keys()).await?;
        for key in written.keys().filter(|key| !there.contains_key(*key)) {
            walk.lost.entry(key.to_string()).or_insert(number);
        }
        match &written.kind {
            Kind::Intent { .. } => {
                walk.verified.intents += 1;
                walk.open.insert(number);
            }
            Kind::Outcome { of, .. } => {
                walk.open.remove(of);
            }
            Kind::Forgotten { of, keys } => {
                walk.open.remove(of);
                for key in keys {
                    walk.lost.remove(key);
                }
                if !self
                    .personal(keys.iter().map(String::as_str))
                    .await?
                    .is_empty()
                {
                    walk.verified.fault(Fault::KeyBack(number));
                }
            }
        }
        Ok(())
    }
}
