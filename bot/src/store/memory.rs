//! What is remembered about answers: which paste got which, how far a channel is read, what people thought of them.

use serde::{Deserialize, Serialize};

use crate::place::{Channel, DeskName, MessageRef, Place};
use crate::store::inbox::EventId;
use crate::store::outbox::PostKey;
use crate::store::time::Time;

/// A paste and the post that answers it. Several pastes that were read together share one post.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// The message with the paste.
    pub paste: MessageRef,
    pub desk: DeskName,
    /// Where the answer stands.
    pub place: Place,
    /// Where it was pasted, if that is another place: the person's last paste is found there, too.
    pub pasted_at: Option<Place>,
    /// Who pasted: the chat's id of that person.
    pub person: String,
    /// A digest of what was pasted: an edit that changes nothing needs no work.
    pub digest: String,
    /// Somebody asked for it: it is answered again when the paste changes, however little is in it.
    pub asked: bool,
    /// The post that answers it.
    pub post: PostKey,
    /// The event it came with, whose payload is kept for a while.
    pub event: EventId,
    pub at: Time,
}

/// How far a watched channel is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cursor {
    pub channel: Channel,
    /// The latest message that was received. Ids are compared by length, then by letter, which orders both numbers and time stamps.
    pub message: String,
    pub at: Time,
}

/// What somebody thought of an answer. No addresses, no text of the bounce.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Feedback {
    /// Saying it again replaces what was said: the answer's post and the person make the row.
    pub post: PostKey,
    pub person: String,
    pub desk: DeskName,
    pub at: Time,
    pub right: bool,
    /// The knowledge entry that decided.
    pub entry: String,
    pub cause: String,
    pub code: Option<String>,
    pub note: Option<String>,
}
