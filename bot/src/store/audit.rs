//! What is kept for the audit chain: its entries, and the keys of the people named in them. The store can read neither.

use serde::{Deserialize, Serialize};

/// What one change adds to the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addition {
    /// The number of the entry; the first is 1.
    pub number: u64,
    pub entry: Vec<u8>,
    /// Keys of people who are named for the first time.
    pub keys: Vec<PersonKey>,
    /// Keys that go with it for good.
    pub dropped: Vec<PersonKey>,
}

/// The key that a person's addresses are encrypted with, itself encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonKey {
    /// A digest of the address that only the holder of the audit key can make.
    pub person: String,
    /// The name of the key in the entries. It has nothing to do with the person.
    pub id: String,
    pub wrapped: Vec<u8>,
}

/// Which key is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOf {
    Person(String),
    Id(String),
}
