//! A ticket: a problem that was handed to the second line, and how it stands.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::place::{DeskName, MessageRef, Place};
use crate::time::Time;

/// Most threads of one ticket. An incident with more of them is told to join by hand.
pub const MOST_THREADS: usize = 100;
/// Most tickets that one is linked to.
pub const MOST_LINKS: usize = 50;
/// Longest text that a person adds to a ticket, in characters.
pub const LONGEST_NOTE: usize = 3_000;

/// A ticket. Unknown fields are tolerated, missing ones are empty: stored tickets outlive versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ticket {
    pub desk: DeskName,
    /// Counted in its desk, from 1.
    pub number: u64,
    /// Grows by one with each change, from 1: whoever changes it must have seen the one before.
    pub version: u64,
    pub state: State,
    pub priority: Priority,
    /// Who works on it.
    pub owner: Option<Someone>,
    /// The conversations that it is about; it was opened from the first.
    pub threads: Vec<Joined>,
    pub about: About,
    /// What the person who opened it added.
    pub note: String,
    /// Other tickets of the desk that have to do with it.
    pub links: Vec<u64>,
    pub opened: Time,
    pub changed: Time,
    /// When it came into the state that it is in.
    pub since: Time,
    /// When somebody of the second line first took it on.
    pub taken: Option<Time>,
    /// When it was last resolved.
    pub resolved: Option<Time>,
    /// No reminders before this.
    pub snoozed: Option<Time>,
    /// When to remind of it next.
    pub remind: Option<Time>,
    /// When it was reminded of last since then.
    pub reminded_at: Option<Time>,
    /// How many reminders were sent since the state last changed.
    pub reminded: u32,
}

/// How a ticket stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nobody has taken it on.
    #[default]
    Open,
    /// Its owner works on it.
    Claimed,
    /// Its owner can go on when somebody else has acted.
    Waiting(On),
    Resolved,
    /// It is about the same as that one, which goes on instead.
    Merged(u64),
}

/// Who has to act before it can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    Sender,
    SenderAdmin,
    DnsOwner,
    RecipientSide,
    Provider,
}

/// How urgent it is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    Low,
    #[default]
    Normal,
    High,
    Urgent,
}

/// A person of a chat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Someone {
    pub chat: String,
    /// The chat's id of that person.
    pub id: String,
    /// What the person is called there, as it was last heard. A stranger chose it.
    pub name: String,
}

impl Someone {
    /// The same person, whatever the name is by now?
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.chat == other.chat && self.id == other.id && !self.id.is_empty()
    }
}

/// A conversation that belongs to a ticket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Joined {
    /// The thread, or the channel where there are none.
    pub place: Place,
    /// Who asked.
    pub person: Someone,
    /// The message with the bounce, where there is one.
    pub paste: Option<MessageRef>,
    pub at: Time,
}

/// What the problem is, as it was judged when the ticket was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// One line of ours.
    pub headline: String,
    pub cause: String,
    pub code: Option<String>,
    pub party: String,
    pub first_move: String,
    /// The server's line: strangers' words.
    pub evidence: String,
    /// By what equal problems are known; empty where there was no bounce.
    pub fingerprint: String,
    /// The domains of the sender and of the recipients.
    pub sender_domain: Option<String>,
    pub recipient_domains: Vec<String>,
}

impl Ticket {
    /// Does anybody have to do anything about it?
    #[must_use]
    pub fn is_live(&self) -> bool {
        match self.state {
            State::Open | State::Claimed | State::Waiting(_) => true,
            State::Resolved | State::Merged(_) => false,
        }
    }

    /// Did that person ask, in any of its conversations?
    #[must_use]
    pub fn is_asked_by(&self, person: &Someone) -> bool {
        self.threads.iter().any(|thread| thread.person.is(person))
    }

    /// The name of its card on the second line's side. Its thread carries what is said about it.
    #[must_use]
    pub fn card(&self) -> String {
        format!("ticket/{}/{}/card", self.desk.0, self.number)
    }

    /// The name of the card in the conversation of that number.
    #[must_use]
    pub fn card_in(&self, thread: usize) -> String {
        format!("ticket/{}/{}/in/{thread}", self.desk.0, self.number)
    }

    /// The name of an edit of a card that shows this version.
    #[must_use]
    pub fn shown(&self, card: &str) -> String {
        format!("{card}/v{}", self.version)
    }
}

/// The number of the ticket whose card on the second line's side has that name.
#[must_use]
pub fn of_card(desk: &DeskName, name: &str) -> Option<u64> {
    let rest = name.strip_prefix("ticket/")?.strip_prefix(&desk.0)?;
    rest.strip_prefix('/')?.strip_suffix("/card")?.parse().ok()
}

/// Is that the name of a ticket's card, on any side? A desk's name may hold anything.
#[must_use]
pub fn is_card(name: &str) -> bool {
    let mut parts = name.split('/').rev();
    let last = parts.next().unwrap_or_default();
    name.starts_with("ticket/") && (last == "card" || parts.next() == Some("in"))
}

impl State {
    /// The word in lists, searches and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Claimed => "claimed",
            Self::Waiting(_) => "waiting",
            Self::Resolved => "resolved",
            Self::Merged(_) => "merged",
        }
    }
}

impl On {
    pub const ALL: [Self; 5] = [
        Self::Sender,
        Self::SenderAdmin,
        Self::DnsOwner,
        Self::RecipientSide,
        Self::Provider,
    ];

    /// The word in commands and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::SenderAdmin => "sender-admin",
            Self::DnsOwner => "dns-owner",
            Self::RecipientSide => "recipient",
            Self::Provider => "provider",
        }
    }

    /// Who that is, in a sentence.
    #[must_use]
    pub fn who(self) -> &'static str {
        match self {
            Self::Sender => "the sender",
            Self::SenderAdmin => "the sender's mail admin",
            Self::DnsOwner => "the owner of the DNS",
            Self::RecipientSide => "the recipient's side",
            Self::Provider => "the provider",
        }
    }

    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|on| on.word().eq_ignore_ascii_case(word))
    }
}

impl Priority {
    pub const ALL: [Self; 4] = [Self::Low, Self::Normal, Self::High, Self::Urgent];

    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Urgent => "urgent",
        }
    }

    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|one| one.word().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting(on) => write!(f, "waiting for {}", on.who()),
            Self::Merged(into) => write!(f, "merged into #{into}"),
            Self::Open | Self::Claimed | Self::Resolved => f.write_str(self.word()),
        }
    }
}
