//! Keys: one letter for the kind of row, then its parts, each with its length before it, so that no part can reach into the next and
//! rows of one thing stand side by side.

use crate::place::{Channel, MessageRef, Place};
use crate::store::trouble::Trouble;

/// Longest key. Chats' ids are far shorter; index pages of the database hold hundreds of keys and must stay small.
pub const LONGEST_KEY: usize = 400;

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Format version, numbers that are reserved.
    Meta = b'm',
    /// An event, and its payload.
    Event = b'e',
    Payload = b'E',
    /// A name of an event -> its number.
    EventKey = b'k',
    /// Unfinished events.
    Open = b'o',
    /// Finished events by the time they were received.
    Done = b'd',
    /// A post's state, its reply, its files.
    Post = b'p',
    Content = b'P',
    File = b'F',
    /// A post's name -> its number.
    PostKey = b'n',
    /// What waits, by lane and number.
    Lane = b'l',
    /// Heads of lanes that may go, by chat and time.
    Ready = b'r',
    /// What is taken and not settled, by lane.
    Flying = b'f',
    Dead = b'x',
    /// Posts that died because of another.
    Because = b'b',
    /// A message of ours -> its post.
    Ours = b'g',
    /// Settled posts by time.
    Settled = b's',
    /// A paste -> its answer; pastes by post; by time; the last one of a person at a place.
    Answer = b'a',
    AnsweredBy = b'q',
    AnswerTime = b'u',
    LastPaste = b't',
    Cursor = b'c',
    /// Where a channel's cursor stood before what is not read yet.
    Gap = b'h',
    Feedback = b'v',
    /// Post and person -> the number of their feedback.
    FeedbackOf = b'V',
    /// A ticket, by desk, the newest first; the name of one to be made -> its number; the last number of a desk.
    Ticket = b'T',
    TicketName = b'N',
    TicketLast = b'L',
    /// A place -> the newest ticket about it; word and ticket; time of a reminder and ticket; what was done to it.
    TicketAt = b'A',
    TicketWord = b'W',
    TicketDue = b'R',
    TicketStep = b'S',
    /// What was said about a ticket, in its order; a message -> that row.
    Said = b'I',
    SaidOf = b'J',
    /// A bounce that was seen, by fingerprint and time; by time; by paste.
    Sighting = b'G',
    SightingTime = b'U',
    SightingOf = b'Q',
    /// An entry of the audit chain; a key by its name; a person -> the name of his key.
    Audit = b'i',
    AuditKey = b'y',
    AuditPerson = b'w',
    /// A piece of a value that is too large for one row.
    Chunk = b'~',
}

/// A key under construction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(pub Vec<u8>);

impl Key {
    pub fn new(kind: Kind) -> Self {
        Self(vec![kind as u8])
    }

    /// Adds a number; keys sort by it.
    #[must_use]
    pub fn number(mut self, number: u64) -> Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Adds text of any content.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
        self.0.extend_from_slice(&length.to_be_bytes());
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    #[must_use]
    pub fn channel(self, channel: &Channel) -> Self {
        self.text(&channel.chat)
            .text(&channel.space)
            .text(&channel.id)
    }

    #[must_use]
    pub fn message(self, message: &MessageRef) -> Self {
        self.channel(&message.channel).text(&message.id)
    }

    #[must_use]
    pub fn place(self, place: &Place) -> Self {
        self.channel(&place.channel)
            .text(place.thread.as_deref().unwrap_or_default())
    }

    /// Adds another key as it is.
    #[must_use]
    pub fn then(mut self, other: &Self) -> Self {
        self.0.extend_from_slice(&other.0);
        self
    }

    /// Refuses a key that only a made-up id can be long enough for.
    pub fn checked(self) -> Result<Self, Trouble> {
        if self.0.len() > LONGEST_KEY {
            return Err(Trouble::TooLarge {
                size: self.0.len(),
                most: LONGEST_KEY,
            });
        }
        Ok(self)
    }

    pub fn is_meta(&self) -> bool {
        self.0.first() == Some(&(Kind::Meta as u8))
    }

    /// The number that the key ends with.
    pub fn last_number(&self) -> Option<u64> {
        number(self.0.last_chunk::<8>()?)
    }

    /// The number after the kind.
    pub fn first_number(&self) -> Option<u64> {
        number(self.0.get(1..9)?)
    }
}

/// A number as values hold it.
pub fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
