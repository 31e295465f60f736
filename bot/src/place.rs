//! Where something is said: the desk, the channel, the thread, the single message. Ids are the chat's own and opaque here.

use serde::{Deserialize, Serialize};

/// The name of a help desk, as the config spells it. Every stored record carries one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeskName(pub String);

/// A channel, a direct conversation, or whatever else messages stand in.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Channel {
    /// Which adapter speaks there.
    pub chat: String,
    /// The workspace or server within the chat; empty where channel ids are unique without it.
    pub space: String,
    pub id: String,
}

/// A channel, or a thread of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    pub channel: Channel,
    /// The id of the thread: the id of the message that it hangs on.
    pub thread: Option<String>,
}

/// One message.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageRef {
    pub channel: Channel,
    pub id: String,
}
