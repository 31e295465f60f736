//! The inbox: events of the chats, written down before they are acknowledged.

use serde::{Deserialize, Serialize};

use crate::place::{DeskName, MessageRef, Place};
use crate::store::time::Time;

/// The number of an event in this store; later events have larger ones.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EventId(pub u64);

/// An event as an adapter received it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEvent {
    /// All names that the platform gives this event, prefixed with the chat and what they are ("…/event/Ev123",
    /// "…/message/C1/1700000000.000100"). An event is known when *any* of them is. At most `MOST_KEYS` count.
    pub keys: Vec<String>,
    pub desk: DeskName,
    pub place: Place,
    /// The event as it came over the wire, to be read again after a crash. At most `LARGEST_VALUE` bytes.
    pub payload: Vec<u8>,
    pub received: Time,
    /// Where the event is a message of a watched channel: that message. It moves the channel's cursor in the same commit.
    pub read: Option<MessageRef>,
}

/// What became of `Store::receive`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Written down, durable, and the caller's to work on: acknowledge it, then work. A redelivered event whose first `receive`
    /// ended in `Trouble` is given out here too, once.
    New(EventId),
    /// Somebody works on it, or has: acknowledge it and do nothing.
    Known(EventId),
}

/// A stored event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub id: EventId,
    pub desk: DeskName,
    pub place: Place,
    pub payload: Vec<u8>,
    pub received: Time,
    /// How often `Store::resume` has given it out before. An event that ends the program each time shows here: finish it unread.
    pub resumed: u32,
    /// `None` while it is unfinished.
    pub outcome: Option<Outcome>,
}

/// How the work on an event ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Something was said, changed or removed.
    Answered,
    /// Read, and nothing to say.
    Silent,
    /// Refused: no right, no such thing, not for us.
    Refused,
    /// Our own fault ended the work.
    Failed,
}
