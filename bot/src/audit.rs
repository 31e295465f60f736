//! Who asked for what in other people's mail: an append-only chain of entries, an intent before each attempt and an outcome after it.
//!
//! Each entry is sealed with the one before it by a key that lies outside the store (`seal`), so that a change shows (`verify`); the number
//! of entries and the last seal, kept elsewhere, show a tail that was cut off. Addresses in an entry are encrypted with a key for each person
//! (`person`): when that key goes the entries stay as they are, and nobody can read the address any more.

pub mod chain;
pub mod entry;
mod person;
pub mod read;
mod seal;
pub mod verify;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::Mutex;

use self::chain::{Head, Linked};
use self::entry::{Act, Body, EntryId, Intent, Outcome, Part, What, Written};
use self::seal::Keys;
use crate::store::Store;
use crate::store::audit::{Addition, KeyOf, PersonKey};
use crate::store::trouble::Trouble;
use crate::time::Time;

/// Characters that the secret has at least.
pub const SHORTEST_SECRET: usize = 32;

/// How often an entry is tried again because another process wrote one first.
const MOST_TRIES: usize = 16;

/// Why nothing was written, or nothing could be read. No address and no key stands in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("the audit entry could not be written or read: {0}")]
    Store(#[from] Trouble),
    #[error("the audit key is too short: it takes at least {SHORTEST_SECRET} characters")]
    ShortKey,
    #[error(
        "the audit chain does not go on with this key: name the key that it was begun with, or let `audit verify` say what was changed"
    )]
    Head,
    #[error(
        "the audit chain could not be added to, because others write to it all the time: try again"
    )]
    Busy,
    #[error("this system gives no random numbers, and without them nothing can be encrypted")]
    Random,
}

/// The chain of one store.
pub struct Audit {
    store: Arc<dyn Store>,
    keys: Keys,
    /// `None` while it is not known which entry is the last.
    head: Mutex<Option<Head>>,
}

/// An intent that is written down. What is intended may be done now, and then has an outcome.
#[must_use = "an attempt has an outcome: give it to `Audit::outcome`"]
#[derive(Debug, PartialEq, Eq)]
pub struct Intended(EntryId);

/// What came of an attempt.
#[derive(Debug)]
pub struct Attempt<T> {
    pub done: T,
    /// Why its outcome could not be written: the chain shows the attempt as one without.
    pub unrecorded: Option<Failure>,
}

impl Intended {
    /// The number of its entry.
    #[must_use]
    pub fn id(&self) -> EntryId {
        self.0
    }
}

impl Audit {
    /// The chain of a store under a secret that does not lie in it. Nothing is looked at yet: `head` says whether they fit.
    ///
    /// # Errors
    /// When the secret is too short.
    pub fn new(store: Arc<dyn Store>, secret: &str) -> Result<Self, Failure> {
        Ok(Self {
            store,
            keys: Keys::derive(secret)?,
            head: Mutex::new(None),
        })
    }

    /// Does what is intended once the intent is durable, and writes down how it ended. Where the intent cannot be written nothing is done.
    ///
    /// # Errors
    /// Why the intent could not be written.
    pub async fn attempt<T, F>(
        &self,
        intent: Intent,
        work: impl FnOnce() -> F,
    ) -> Result<Attempt<T>, Failure>
    where
        F: Future<Output = (T, Outcome)>,
    {
        let intended = self.intend(intent).await?;
        let (done, outcome) = work().await;
        let unrecorded = self.outcome(intended, outcome).await.err();
        Ok(Attempt { done, unrecorded })
    }

    /// Writes down what somebody is about to do. It is durable when this returns.
    ///
    /// # Errors
    /// Why it could not be written: then it must not be done.
    pub async fn intend(&self, intent: Intent) -> Result<Intended, Failure> {
        let (id, _) = self.append(What::Intent(intent)).await?;
        Ok(Intended(id))
    }

    /// Writes down how an attempt ended.
    ///
    /// # Errors
    /// Why it could not be written: the attempt then stands there without an outcome.
    pub async fn outcome(&self, intended: Intended, outcome: Outcome) -> Result<(), Failure> {
        let of = intended.id();
        self.append(What::Outcome { of, outcome }).await?;
        Ok(())
    }

    /// Drops the keys of these addresses: in no entry written so far they can be read any more. How many of them were known. That it was
    /// done is an attempt as every other, without the addresses.
    ///
    /// # Errors
    /// Why it could not be written: then the keys are still there.
    pub async fn forget(&self, who: &str, addresses: &[String]) -> Result<usize, Failure> {
        let intended = self
            .intend(Intent {
                who: who.to_string(),
                act: Act::Forget,
                ..Intent::default()
            })
            .await?;
        let of = intended.id();
        let mut people: Vec<String> = addresses.iter().map(|a| self.keys.person(a)).collect();
        people.sort_unstable();
        people.dedup();
        let (_, dropped) = self.append(What::Forgotten { of, people }).await?;
        Ok(dropped)
    }

    /// How long the chain is, and its last seal: what has to be kept elsewhere. The last entry is looked at.
    ///
    /// # Errors
    /// When it was not written with this key.
    pub async fn head(&self) -> Result<Head, Failure> {
        let mut head = self.head.lock().await;
        let known = match head.take() {
            Some(known) => known,
            None => self.read_head().await?,
        };
        *head = Some(known);
        Ok(known)
    }

    /// The number of the new entry, and how many keys were dropped with it.
    async fn append(&self, what: What) -> Result<(EntryId, usize), Failure> {
        let body = Body {
            at: Time::from(SystemTime::now()),
            what,
        };
        let mut head = self.head.lock().await;
        for _ in 0..MOST_TRIES {
            // Whoever stops waiting for an answer, or gets none, leaves the head unknown: it is read again.
            let last = match head.take() {
                Some(last) => last,
                None => self.read_head().await?,
            };
            // Keys are looked up for each try, since the entry that came first may have brought or dropped some.
            let dropped = self.to_drop(&body.what).await?;
            let (written, keys) = self.sealed(body.written(&dropped)).await?;
            let linked = Linked::after(&last, &written, &self.keys);
            let count = dropped.len();
            let added = self.store.audit(Addition {
                number: linked.head.count,
                entry: linked.row,
                keys,
                dropped,
            });
            if added.await? {
                *head = Some(linked.head);
                return Ok((EntryId(linked.head.count), count));
            }
        }
        Err(Failure::Busy)
    }

    async fn to_drop(&self, what: &What) -> Result<Vec<PersonKey>, Failure> {
        match what {
            What::Forgotten { of: _, people } => {
                let known = self.keys_of(people).await?;
                Ok(known.into_iter().flatten().collect())
            }
            What::Intent(_) | What::Outcome { .. } => Ok(Vec::new()),
        }
    }

    /// The entry as it is stored, and the keys of people who are named for the first time.
    async fn sealed(&self, written: Written<Part>) -> Result<(Vec<u8>, Vec<PersonKey>), Failure> {
        let mut people: Vec<String> = Vec::new();
        for address in written.addresses() {
            let person = self.keys.person(address);
            if !people.contains(&person) {
                people.push(person);
            }
        }
        let known = self.keys_of(&people).await?;
        let mut new = Vec::new();
        let mut all = Vec::new();
        for (person, known) in people.into_iter().zip(known) {
            // A key that was wrapped with another secret cannot be used; the person gets a new one.
            let key = match known.and_then(|key| self.keys.unwrap(&key)) {
                Some(key) => key,
                None => {
                    let (stored, key) = self.keys.new_person(&person)?;
                    new.push(stored);
                    key
                }
            };
            all.push((person, key));
        }
        let sealed = written.sealed(|address| {
            let person = self.keys.person(address);
            let key = all.iter().find(|(of, _)| *of == person);
            key.ok_or(Failure::Random)
                .and_then(|(_, key)| self.keys.seal(key, address))
        })?;
        Ok((sealed, new))
    }

    async fn keys_of(&self, people: &[String]) -> Result<Vec<Option<PersonKey>>, Failure> {
        if people.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = people.iter().cloned().map(KeyOf::Person).collect();
        Ok(self.store.audit_keys(wanted).await?)
    }

    async fn read_head(&self) -> Result<Head, Failure> {
        let count = self.store.audit_length().await?;
        let last_two = count.saturating_sub(1).max(1);
        // Where another process adds in between, these are not the last ones any more, and the addition after them is refused.
        let rows = self.store.audited(last_two, 2).await?;
        chain::head(&rows, &self.keys).ok_or(Failure::Head)
    }
}
