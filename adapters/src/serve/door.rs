//! Where events come in: written down, acknowledged, worked on.

use std::sync::Arc;

use bot::conversation::First;
use bot::store::memory::Cursor;
use bot::store::trouble::Trouble;

use super::chat::Incoming;

/// What an adapter hands its events to. Cheap to clone.
#[derive(Clone)]
pub struct Door {
    inner: Arc<()>,
}

/// How far the channels of a chat were read before a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since(pub Vec<Cursor>);

/// An event that is written down. Acknowledge it with `first`, then call `work`.
#[must_use = "the event is worked on once `work` is called"]
pub struct Accepted {
    pub first: First,
}

impl Door {
    /// Writes an event down. When this returns it is durable: acknowledge it, then let it be worked on.
    ///
    /// # Errors
    /// When it could not be written: do not acknowledge it, so that the platform sends it again.
    pub async fn receive(&self, incoming: Incoming) -> Result<Accepted, Trouble> {
        let _ = (&self.inner, incoming);
        Err(Trouble::Closed)
    }

    /// Call it before connecting: what is written in the channels from here on is either received or read afterwards.
    pub async fn connecting(&self, chat: &str) -> Since {
        let _ = chat;
        Since::default()
    }

    /// Call it once a connection stands: what was missed is read in the background.
    pub fn connected(&self, chat: &str, since: Since) {
        let _ = (chat, since);
    }

    /// Call it when a connection is lost.
    pub fn disconnected(&self, chat: &str) {
        let _ = chat;
    }
}

impl Accepted {
    /// Starts the work, in a task of its own.
    pub fn work(self) {}
}
