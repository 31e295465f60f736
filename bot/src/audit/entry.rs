//! What an entry says: who intends what, how it ended, whose key was dropped.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Failure;
use super::person::parts;
use crate::place::DeskName;
use crate::store::audit::PersonKey;
use crate::time::Time;

/// Most bytes of who asks, of a desk, a tenant or a reason.
const LONGEST_WORD: usize = 400;

/// Most bytes of what is asked.
const LONGEST_QUESTION: usize = 2_000;

/// The number of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub u64);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is attempted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// To search a tenant's messages.
    #[default]
    Trace,
    /// To see what happened to one message.
    Details,
    /// To see further rows of what was found.
    Page,
    /// To take what was found along as a file.
    Export,
    /// To show others what was found.
    Share,
    /// To let somebody else's attempt go on.
    Approve,
    /// To drop people's keys.
    Forget,
}

/// What somebody is about to do. Addresses in any of its texts are encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intent {
    /// The chat and its id of the person, or the user of the terminal.
    pub who: String,
    pub desk: DeskName,
    pub tenant: String,
    pub act: Act,
    /// In the words of the question, never of what was found.
    pub asked: String,
    /// Why, where a reason has to be given.
    pub reason: Option<String>,
}

/// How an attempt ended. The words say why, never what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done, and answered whole.
    Done,
    /// A part of the answer is missing.
    Partial(String),
    Denied(String),
    Failed(String),
}

/// An entry before it is written.
pub(super) struct Body {
    pub at: Time,
    pub what: What,
}

pub(super) enum What {
    Intent(Intent),
    Outcome {
        of: EntryId,
        outcome: Outcome,
    },
    /// Whose keys go with it, as digests.
    Forgotten {
        of: EntryId,
        people: Vec<String>,
    },
}

/// A piece of text before it is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Address(String),
}

/// The same as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Piece {
    Text(String),
    Sealed { key: String, sealed: String },
}

/// An entry in which texts are made of `T`: of parts before it is sealed, of pieces in the store.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Written<T> {
    pub at: Time,
    #[serde(flatten)]
    pub kind: Kind<T>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind<T> {
    Intent {
        who: Vec<T>,
        desk: Vec<T>,
        tenant: Vec<T>,
        act: Act,
        asked: Vec<T>,
        reason: Option<Vec<T>>,
    },
    Outcome {
        of: EntryId,
        how: How,
        why: Vec<T>,
    },
    Forgotten {
        of: EntryId,
        keys: Vec<String>,
    },
}

/// How an attempt ended, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Done,
    Partial,
    Denied,
    Failed,
}

impl Body {
    /// `dropped`: the keys that go with it.
    pub fn written(&self, dropped: &[PersonKey]) -> Written<Part> {
        let word = |text: &str| parts(text, LONGEST_WORD);
        let kind = match &self.what {
            What::Intent(intent) => Kind::Intent {
                who: word(&intent.who),
                desk: word(&intent.desk.0),
                tenant: word(&intent.tenant),
                act: intent.act,
                asked: parts(&intent.asked, LONGEST_QUESTION),
                reason: intent.reason.as_deref().map(word),
            },
            What::Outcome { of, outcome } => {
                let (how, why) = match outcome {
                    Outcome::Done => (How::Done, ""),
                    Outcome::Partial(why) => (How::Partial, why.as_str()),
                    Outcome::Denied(why) => (How::Denied, why.as_str()),
                    Outcome::Failed(why) => (How::Failed, why.as_str()),
                };
                Kind::Outcome {
                    of: *of,
                    how,
                    why: word(why),
                }
            }
            What::Forgotten { of, people: _ } => Kind::Forgotten {
                of: *of,
                keys: dropped.iter().map(|key| key.id.clone()).collect(),
            },
        };
        Written { at: self.at, kind }
    }
}

impl<T> Written<T> {
    /// Every piece of its texts.
    pub fn pieces(&self) -> impl Iterator<Item = &T> {
        let texts: Vec<&Vec<T>> = match &self.kind {
            Kind::Intent {
                who,
                desk,
                tenant,
                act: _,
                asked,
                reason,
            } => [who, desk, tenant, asked]
                .into_iter()
                .chain(reason)
                .collect(),
            Kind::Outcome { of: _, how: _, why } => vec![why],
            Kind::Forgotten { of: _, keys: _ } => Vec::new(),
        };
        texts.into_iter().flatten()
    }
}

impl Written<Part> {
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.pieces().filter_map(|part| match part {
            Part::Address(address) => Some(address.as_str()),
            Part::Text(_) => None,
        })
    }

    /// As it is stored, every address by way of `seal`.
    pub fn sealed(self, seal: impl Fn(&str) -> Result<Piece, Failure>) -> Result<Vec<u8>, Failure> {
        let text = |parts: Vec<Part>| -> Result<Vec<Piece>, Failure> {
            let pieces = parts.into_iter().map(|part| match part {
                Part::Text(text) => Ok(Piece::Text(text)),
                Part::Address(address) => seal(&address),
            });
            pieces.collect()
        };
        let kind = match self.kind {
            Kind::Intent {
                who,
                desk,
                tenant,
                act,
                asked,
                reason,
            } => Kind::Intent {
                who: text(who)?,
                desk: text(desk)?,
                tenant: text(tenant)?,
                act,
                asked: text(asked)?,
                reason: reason.map(text).transpose()?,
            },
            Kind::Outcome { of, how, why } => Kind::Outcome {
                of,
                how,
                why: text(why)?,
            },
            Kind::Forgotten { of, keys } => Kind::Forgotten { of, keys },
        };
        let written = Written { at: self.at, kind };
        // Nothing in it can fail to be JSON.
        Ok(serde_json::to_vec(&written).unwrap_or_default())
    }
}

impl Written<Piece> {
    /// `None` for what this version cannot read.
    pub fn read(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }

    /// The names of the keys that its addresses are encrypted with.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.pieces().filter_map(|piece| match piece {
            Piece::Sealed { key, sealed: _ } => Some(key.as_str()),
            Piece::Text(_) => None,
        })
    }
}
