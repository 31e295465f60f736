//! The outbox: what is to become visible in a chat, in order per thread, until it is delivered or given up.
//!
//! A sender does, for its chat: `take` (who may go now, durably noted as perhaps out there) → sends → `settle`.

use serde::{Deserialize, Serialize};

use crate::place::{Channel, DeskName, Place};
use crate::reply::Reply;
use crate::store::time::Time;

/// The number of a post: a later post of a thread has a larger one. People name dead letters by it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PostId(pub u64);

/// The name that the author of a post gives it, made from what caused it ("event/17/answer"). The same work done again after a crash
/// gives the same key, and a key that is known is not enqueued again. Edits, deletions and threads name their post by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PostKey(pub String);

/// Where a new message goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum To {
    Place(Place),
    /// The thread under a message of ours, which may not be delivered yet. Where that message stands in a thread itself: that thread.
    ThreadOf(PostKey),
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    Send(To),
    Edit(PostKey),
    Delete(PostKey),
}

/// A file that goes with a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// A post as its author writes it.
///
/// - Edits of one message that wait collapse into one with the newest text; an edit of a message that was not tried yet is folded
///   into it. The names of both lead to what is left.
/// - An edit with a smaller `version` than one that is stored for that message is left out.
/// - A deletion takes waiting edits with it, and the message as well where that was not tried yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPost {
    pub key: PostKey,
    pub desk: DeskName,
    pub act: Act,
    /// Empty for a deletion.
    pub reply: Reply,
    pub files: Vec<File>,
    /// Which state of a card this shows; 0 where there is only one.
    pub version: u64,
}

/// What a sender can take on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pull {
    pub chat: String,
    pub now: Time,
    /// Most posts.
    pub most: usize,
    /// Most posts of one channel.
    pub per_channel: usize,
    /// Channels that must wait for their rate limits: nothing of them.
    pub resting: Vec<Channel>,
}

/// A post that may go now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    pub id: PostId,
    pub post: NewPost,
    /// Where it goes, with the thread that `ThreadOf` stood for; for an edit or deletion, where its message stands.
    pub place: Place,
    /// The message to edit or delete.
    pub message: Option<String>,
    /// How often it was taken before.
    pub attempts: u32,
    /// It was taken before and nobody knows how that ended: look for it in `place` (by its key or nonce) before sending it again.
    pub unsure: bool,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is there. `message` is its id there: needed for `Send`, ignored otherwise.
    Delivered { message: Option<String> },
    /// It is certainly not there (refused, never sent): try again at `again`. Its thread waits with it.
    Failed { again: Time, why: String },
    /// Nobody knows (no answer came): try again at `again`, and look first.
    Unsure { again: Time, why: String },
    /// It will never work: it becomes a dead letter, and so does what needs its message. The rest of the thread goes on.
    GivenUp { why: String },
}

/// A dead letter. `why` is our own wording, never a stranger's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dead {
    pub id: PostId,
    pub post: NewPost,
    pub place: Option<Place>,
    pub why: String,
    pub attempts: u32,
    pub since: Time,
}

/// What is known of a post that was enqueued at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    pub id: PostId,
    pub key: PostKey,
    pub desk: DeskName,
    pub state: PostState,
    pub version: u64,
    /// `None` while a `ThreadOf` is open.
    pub place: Option<Place>,
    /// The id of the delivered message.
    pub message: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostState {
    #[default]
    Waiting,
    Delivered,
    Dead,
    /// Deleted, or withdrawn before it was sent.
    Gone,
}
